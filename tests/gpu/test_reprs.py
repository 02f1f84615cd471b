"""What results say of themselves: files, notebooks, notes."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import rgraph as rg
from test_graph_pickle import declared


def shown(device: rg.Device, array: np.ndarray, **options: object) -> rg.Array:
    """An array that went through an image."""
    g = rg.Graph()
    src = g.import_array("src", array, **options)
    if options.get("as_buffer"):
        g.copy("copy", src, g.buffer("dst", like=src))
    else:
        g.copy("copy", src, g.image("dst", like=src))
    g.root("dst")
    return device.run(g)["dst"]


def test_a_pickled_graph_runs_as_the_one_it_was(device: rg.Device):
    for g in (declared(), pickle.loads(pickle.dumps(declared()))):
        frame = device.run(g)
        assert frame["dst"].tolist() == [[10, 12], [14, 16]]
        assert frame["out"].shape == (2, 3, 3)


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "int32"])
def test_arrays_are_saved_for_numpy(device: rg.Device, tmp_path: Path, dtype: str):
    array = np.arange(24).reshape(2, 3, 4).astype(dtype)
    shown(device, array, as_buffer=True).save(tmp_path / "a.npy")
    saved = np.load(tmp_path / "a.npy")
    assert saved.dtype == array.dtype
    np.testing.assert_array_equal(saved, array)


def test_records_are_saved_for_numpy(device: rg.Device, tmp_path: Path):
    records = np.zeros(3, [("at", "f4", 3), ("id", "u4")])
    records["id"] = [1, 2, 3]
    shown(device, records, as_buffer=True).save(tmp_path / "a.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), records)


def test_pictures_are_saved_by_pillow(device: rg.Device, tmp_path: Path):
    image = pytest.importorskip("PIL.Image")
    rgb = np.full((8, 8, 3), (200, 100, 50), np.uint8)
    array = shown(device, rgb)
    for name in ("a.jpg", "a.bmp", "a.tif", "a.webp", "a.png"):
        array.save(tmp_path / name)
        saved = np.asarray(image.open(tmp_path / name).convert("RGB")).astype(int)
        assert np.abs(saved - rgb).max() < 4
    shown(device, np.full((8, 8, 4), 200, np.uint8)).save(tmp_path / "b.jpg")
    with pytest.raises(rg.GraphError, match="JPG has 8 bits a channel"):
        shown(device, np.full((8, 8), 200, np.uint16)).save(tmp_path / "c.jpg")


def test_arrays_that_a_file_cannot_hold_are_refused(device: rg.Device, tmp_path: Path):
    g = rg.Graph()
    five = g.buffer("five", shape=(4, 4, 5), dtype="float32")
    wide, block = g.image("wide", (16384, 1), "r8unorm"), g.image("block", (4, 4), "bc1-rgba-unorm")
    g.fill("fill", five)
    g.clear("clear", wide, (0, 0, 0, 0))
    g.copy("copy", g.import_array("data", np.zeros(2, np.uint32), as_buffer=True), block)
    g.root(five, wide, block)
    frame = device.run(g)
    for name, file, package in (("five", "a.exr", "OpenEXR"), ("block", "a.exr", "OpenEXR"), ("wide", "a.webp", "PIL")):
        pytest.importorskip(package)
        with pytest.raises(rg.GraphError, match="RG-E320"):
            frame[name].save(tmp_path / file)
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_is_an_error_of_the_system(device: rg.Device, tmp_path: Path):
    pytest.importorskip("OpenEXR")
    array = shown(device, np.zeros((4, 4), np.float32))
    for suffix in ("exr", "png", "npy", "jpg"):
        for path in (tmp_path / "nowhere" / f"a.{suffix}", tmp_path / f"a\0.{suffix}"):
            with pytest.raises((OSError, ValueError)):
                array.save(path)
    assert not list(tmp_path.iterdir())


def test_pictures_are_saved_as_exr(device: rg.Device, tmp_path: Path):
    openexr = pytest.importorskip("OpenEXR")
    for channels in (1, 2, 3, 4):
        array = np.random.default_rng(1).random((4, 6, channels)).astype(np.float32)
        shown(device, array).save(tmp_path / "a.exr")
        with openexr.File(str(tmp_path / "a.exr")) as file:
            planes = [one.pixels for one in file.channels().values()]
        planes = [plane if plane.ndim == 3 else plane[..., None] for plane in planes]
        # OpenEXR sorts channels by name: Y; G, R; RGB; RGBA.
        saved = np.concatenate(planes[::-1] if channels == 2 and len(planes) == 2 else planes, axis=-1)
        assert sorted(saved.ravel()) == sorted(array.ravel())


def test_suffixes_that_no_array_has_are_refused(device: rg.Device, tmp_path: Path):
    with pytest.raises(rg.GraphError, match=r'no suffix of arrays called "\.gif"') as caught:
        shown(device, np.zeros((2, 2), np.uint8)).save(tmp_path / "a.gif")
    assert ".npy" in caught.value.hint


def test_notebooks_show_frames_reports_and_devices(device: rg.Device):
    g = declared()
    frame = device.run(g, measure="batches")
    html = frame._repr_html_()
    assert "data:image/png;base64," in html
    assert "(2, 3, 3) of uint8" in html
    assert ">scale</td>" in frame.report._repr_html_()
    assert "no GPU times" in device.run(g).report._repr_html_()
    assert device.info.name in device._repr_html_()


def test_notebooks_show_what_a_compiled_graph_runs_and_is_given(device: rg.Device):
    g = rg.Graph("<b>frame</b>", size=(8, 4))
    src = g.import_array("src", np.zeros((4, 8, 4), np.uint8))
    state = g.buffer("state", shape=(2, 3), dtype="float32", persistent=True)
    out = g.image("out", like=src)
    g.copy("copy", src, out)
    g.fill("count", state, 1, conditional="counted")
    g.add_pass("idle").sampled(src).uses(g.buffer("b", 4), "storage_write")
    g.root(out, state, "b")
    compiled = device.compile(g)
    html = compiled._repr_html_()
    rows = re.findall(r"<tr>(.*?)</tr>", html.replace(' style="text-align:left"', ""))
    assert any(row.startswith("<td>copy</td><td>graphics</td><td>0</td>") for row in rows)
    assert "<td>src</td><td>input</td><td>8 × 4 of rgba8unorm</td><td>(4, 8, 4) of uint8</td>" in rows
    assert "<td>state</td><td>state, result</td><td>24 bytes</td><td>(2, 3) of float32</td>" in rows
    assert "<td>out</td><td>result</td><td>8 × 4 of rgba8unorm</td><td>(4, 8, 4) of uint8</td>" in rows
    assert "<p>flags: counted</p>" in html
    assert "<p>pass &quot;idle&quot; has neither shader nor function" in html
    assert "<b>frame" not in html
    assert device.info.name in html


def test_a_pass_without_work_has_a_note(device: rg.Device):
    g = rg.Graph(size=(8, 8))
    scene, out = g.image("scene", format="rgba8unorm"), g.image("out", format="rgba8unorm")
    g.add_pass("clear").color(scene, clear=(0, 0, 0, 1))
    g.add_pass("tonemap").sampled(scene).color(out)
    g.root(out)
    (note,) = device.run(g).report.notes
    assert note.startswith('pass "tonemap" has neither shader nor function')


def test_an_image_that_has_its_size_from_nobody_has_a_note(device: rg.Device):
    def notes(g: rg.Graph, *sizes: tuple[int, int]) -> list[str]:
        out = g.image("out", *sizes, format="rgba8unorm")
        g.clear("clear", out, (0, 0, 0, 1))
        g.root(out)
        return list(device.compile(g).run().report.notes)

    (note,) = notes(rg.Graph())
    assert note.startswith('"out" is 1920x1080 only because no size is declared')
    assert notes(rg.Graph(size=(8, 8))) == []
    assert notes(rg.Graph(), (8, 8)) == []
    assert notes(rg.Graph(size=(8, 8)).clone()) == []


def test_handles_show_what_they_are():
    g = rg.Graph("frame")
    image = g.image("picture", (8, 4), "rgba8unorm", layers=3, mips=2)
    assert repr(image) == '<Image "picture" 8x4 rgba8unorm 3 layers 2 mips>'
    assert repr(g.image("smooth", (8, 4), "rgba8unorm", samples=4)) == '<Image "smooth" 8x4 rgba8unorm 4 samples>'
    assert repr(image.mip(1)) == '<View of "picture" 8x4 rgba8unorm 3 layers 2 mips, mip 1>'
    g.clear("clear", image, (0, 0, 0, 1))
    assert repr(g) == '<Graph "frame" 1920x1080, 1 pass, 2 resources>'
