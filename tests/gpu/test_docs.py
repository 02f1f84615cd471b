"""Pages whose code runs on a device."""

from pathlib import Path

import pytest

import pages
import rgraph

ON_A_DEVICE = [page for page in pages.pages() if pages.device_part(page)]


@pytest.mark.parametrize("page", ON_A_DEVICE, ids=lambda page: page.relative_to(pages.ROOT).as_posix())
def test_code_of_a_page_runs_and_prints_what_the_page_says(
    device: rgraph.Device, page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """`device` is asked for so that this skips where there is none."""
    del device
    monkeypatch.chdir(tmp_path)
    assert pages.run_python(page, device=True) == len(pages.python_blocks(page, device=True))
