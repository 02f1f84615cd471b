"""The examples that run on a device."""

import subprocess
import sys
from pathlib import Path

import pytest

import rgraph as rg

FOLDER = Path(__file__).resolve().parents[2] / "examples"
ON_A_DEVICE = sorted(path for path in FOLDER.glob("[0-9]*.py") if "Device(" in path.read_text())


@pytest.mark.parametrize("path", ON_A_DEVICE, ids=[path.stem for path in ON_A_DEVICE])
def test_example_runs(device: rg.Device, path: Path, tmp_path: Path):
    """`device` is asked for so that this skips where there is none."""
    del device
    command = [sys.executable, path]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert not done.stderr
