import re
from pathlib import Path

import numpy as np
import pytest

import rgraph

README = Path(__file__).resolve().parents[2] / "README.md"


def test_what_the_readme_runs_runs(
    device: rgraph.Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """`device` is asked for so that this skips where there is none."""
    code = re.search(r"## Running it\s+```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert code
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(compile(code[1], "readme.py", "exec"), names)
    picture, pixels = names["picture"], names["pixels"]
    assert isinstance(picture, np.ndarray)
    assert isinstance(pixels, np.ndarray)
    assert pixels.shape == picture.shape
    assert pixels.std() < picture.std() * 0.9
    assert (tmp_path / "blurred.png").read_bytes().startswith(b"\x89PNG")
    assert "compose" in capsys.readouterr().out
