"""Images of captures and of folders in pages: before, after and their difference."""

import array
import json
from pathlib import Path
from typing import Any

import pytest

import rgraph as rg
from rgraph.cli import main

from .test_images import Looked


def graph(red: float) -> rg.Graph:
    made = rg.Graph("scene", size=(16, 8))
    lit, mask = made.image("post/lit", format="rgba16float"), made.image("mask", format="r8unorm")
    made.clear("light", lit, (red, 0.5, 0.25, 1.0))
    made.clear("cover", mask, (1.0, 0.0, 0.0, 0.0))
    made.root(lit, mask)
    return made


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two captures of the same frame in other light; in each the second run is the one that counts."""
    folder = tmp_path_factory.mktemp("captures")
    try:
        device = rg.Device()
    except rg.DeviceError as error:
        pytest.skip(str(error))
    with device:
        for name, red in (("before", 2.0), ("after", 3.5)):
            with device.capture(folder / f"{name}.rcapture", frames=2):
                device.run(graph(9.0)).wait()
                device.run(graph(red)).wait()
    return folder / "before.rcapture", folder / "after.rcapture"


def test_captures_are_compared_with_their_images(captures, show, capsys: Any, tmp_path: Path):
    before, after = map(str, captures)
    assert main(["diff", before, after, "--nth", "1"]) == 0
    output = capsys.readouterr().out
    assert "image post/lit  " in output
    assert "1 image is equal" in output
    assert main(["diff", before, after, "--nth", "1", "--exit-code", "--json"]) == 1
    images = json.loads(capsys.readouterr().out)["images"]
    assert [one["name"] for one in images] == ["post/lit", "mask"]
    assert images[0]["differs"] > 0
    assert images[1]["differs"] == 0
    page = tmp_path / "changes.html"
    assert main(["diff", before, after, "--nth", "1", "-o", str(page)]) == 0
    opened = show(page.read_text(encoding="utf-8"), fragment="#view=images")
    cards = opened.page.locator("#view-images .gallery li")
    assert [card.split("\n")[-1] for card in cards.all_inner_texts()] == ["differs", "equal"]
    looked = Looked(opened, "post/lit")
    assert looked.value(3, 3) == [2, 0.5, 0.25, 1]
    looked.choose("After")
    assert looked.value(3, 3) == [3.5, 0.5, 0.25, 1]
    looked.choose("Difference")
    assert looked.value(3, 3)[:3] == [1.5, 0, 0]


def test_a_capture_is_shown_with_the_images_of_its_last_run(captures, show, tmp_path: Path):
    page = tmp_path / "frame.html"
    assert main(["view", str(captures[0]), "--nth", "1", "-o", str(page)]) == 0
    looked = Looked(show(page.read_text(encoding="utf-8"), fragment="#view=images"), "mask")
    assert looked.value(0, 0) == [255]


def test_a_capture_that_runs_again_shows_what_is_between_its_passes(show, capsys: Any, tmp_path: Path):
    made = rg.Graph("chain", size=(16, 8))
    first, later, out = (made.image(name, format="rgba16float") for name in ("first", "later", "out"))
    made.clear("light", first, (2.0, 0.5, 0.25, 1.0))
    made.copy("move", first, later)
    made.copy("show", later, out)
    made.root(out)
    capture, page = tmp_path / "frames.rcapture", tmp_path / "frame.html"
    try:
        device = rg.Device()
    except rg.DeviceError as error:
        pytest.skip(str(error))
    with device, device.capture(capture):
        device.run(made).wait()
    assert main(["replay", str(capture), "--view", str(page)]) == 0
    assert "equal: 1 frame" in capsys.readouterr().out
    opened = show(page.read_text(encoding="utf-8"), fragment="#view=images")
    cards = opened.page.locator("#view-images .gallery li")
    assert [card.split("\n")[0] for card in cards.all_inner_texts()] == ["first", "later", "out"]
    assert Looked(opened, "first").value(3, 3) == [2, 0.5, 0.25, 1]
    # What is shown is the captured plan, in which nothing but the last image is kept.
    data = json.loads(opened.page.evaluate("document.getElementById('data').textContent"))
    assert sum(map(bool, data["plan"]["resources"]["root"])) == 1
    assert main(["replay", str(capture), "--nth", "0"]) == 2
    assert "add --view FILE.html" in capsys.readouterr().err
    assert main(["replay", str(capture), "--view", str(page), "--nth", "1"]) == 2
    assert "the capture has 1 graphs" in capsys.readouterr().err


def test_images_of_plan_files_come_from_folders(show, capsys: Any, tmp_path: Path):
    plan = graph(1.0).bake("single_queue")
    for name, grey in (("before", 10), ("after", 30)):
        folder = tmp_path / name
        folder.mkdir()
        plan.save(folder / "frame.rplan.json")
        (folder / "mask.npy").write_bytes(npy(array.array("B", [grey] * 128).tobytes(), (8, 16)))
    files = [str(tmp_path / name / "frame.rplan.json") for name in ("before", "after")]
    folders = [str(tmp_path / name) for name in ("before", "after")]
    assert main(["diff", *files, "--images", *folders]) == 0
    assert "image mask  128 of 128 bytes differ" in capsys.readouterr().out
    page = tmp_path / "changes.html"
    assert main(["diff", *files, "--images", *folders, "-o", str(page)]) == 0
    looked = Looked(show(page.read_text(encoding="utf-8"), fragment="#view=images"), "mask")
    looked.choose("Difference")
    assert looked.value(2, 2) == [20]
    assert main(["diff", *files, "--images", str(tmp_path / "nowhere"), folders[1]]) == 2
    assert "no such folder" in capsys.readouterr().err
    empty = tmp_path / "empty"
    empty.mkdir()
    assert main(["diff", *files, "--images", str(empty), folders[1]]) == 2
    assert "no file has the name of an image" in capsys.readouterr().err


def npy(data: bytes, shape: tuple[int, ...]) -> bytes:
    """Bytes as an NPY file."""
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data
