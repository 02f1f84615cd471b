"""The gallery: every example runs alone, asserts its texels, and makes the picture and the plan that the page shows."""

import io
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import rgraph as rg

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import gallery


@pytest.mark.parametrize("example", gallery.EXAMPLES, ids=lambda example: example.stem)
def test_example_makes_the_picture_and_the_plan_of_the_page(device: rg.Device, example: Path):
    del device  # without one there is nothing to run
    if example.stem == "49_matplotlib":
        pytest.importorskip("matplotlib")
    found = gallery.made(example)
    made = np.asarray(Image.open(io.BytesIO(found.picture)).convert("RGB"), np.int16)
    kept = np.asarray(Image.open(gallery.PICTURES / f"{example.stem}.png").convert("RGB"), np.int16)
    # Drivers round differently, and rasterize edges differently: a few texels may.
    assert made.shape == kept.shape
    assert np.abs(made - kept).mean() < 2
    # Plans are those for a discrete GPU, whatever runs here.
    assert gallery.section(example, found.plan) in gallery.PAGE.read_text(), "run python scripts/gallery.py"


def test_examples_are_short_assert_what_they_show_and_say_what_they_teach():
    assert len(gallery.EXAMPLES) >= 40
    assert [int(path.name[:2]) for path in gallery.EXAMPLES] == list(range(1, len(gallery.EXAMPLES) + 1))
    for path in gallery.EXAMPLES:
        text = path.read_text()
        assert len(text.splitlines()) <= 60, path
        assert re.search(r"^ *assert ", text, re.MULTILINE), path
        assert all(gallery.described(path)), path
    assert sum(path.stat().st_size for path in gallery.PICTURES.glob("*.png")) < 2 << 20
