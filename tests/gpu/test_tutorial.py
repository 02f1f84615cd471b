"""Tutorial and cookbook: each page runs alone, and makes the picture that it shows."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import rgraph as rg
import tutorial_pictures


@pytest.mark.parametrize("page", tutorial_pictures.PAGES + tutorial_pictures.COOKBOOK, ids=lambda page: page.stem)
def test_page_makes_the_picture_that_it_shows(device: rg.Device, page: Path, tmp_path: Path):
    del device  # without one there is nothing to run
    shown = tutorial_pictures.shown(page)
    assert f"(../pictures/{page.parent.name}/{shown.name})" in page.read_text()
    made = np.asarray(Image.open(tutorial_pictures.make(page, tmp_path)).convert("RGB"), np.int16)
    kept = np.asarray(Image.open(shown).convert("RGB"), np.int16)
    # Drivers round differently, and rasterize edges differently: a few texels may.
    assert made.shape == kept.shape
    assert np.abs(made - kept).mean() < 2
    assert kept.std() > 10


def test_every_page_is_a_step_of_the_index():
    index = (tutorial_pictures.PAGES[0].parent / "index.md").read_text()
    for page in tutorial_pictures.PAGES:
        assert index.count(f"({page.name})") == 1
        assert f"\n{page.stem}\n" in index
