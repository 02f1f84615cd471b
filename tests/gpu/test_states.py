"""First contents of what lives from frame to frame, and setting and resetting it."""

from pathlib import Path

import numpy as np
import pytest

import rgraph as rg

LIFE = """
@group(0) @binding(0) var before: texture_2d<u32>;
@group(0) @binding(1) var now: texture_storage_2d<r8uint, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(before);
    if (any(id.xy >= size)) { return; }
    var count = 0u;
    for (var n = 0u; n < 9u; n++) {
        if (n != 4u) { count += textureLoad(before, (id.xy + size + vec2(n % 3u, n / 3u) - 1u) % size, 0).r; }
    }
    let alive = textureLoad(before, id.xy, 0).r;
    textureStore(now, id.xy, vec4(u32(count == 3u || (count == 2u && alive == 1u)), 0u, 0u, 0u));
}
""".replace("r8uint", "r32uint")

COUNT = """
@group(0) @binding(0) var<storage, read_write> total: array<u32>;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { total[id.x] += 1u; }
"""

ADD = """
@group(0) @binding(0) var before: texture_2d<f32>;
@group(0) @binding(1) var now: texture_storage_2d<r32float, write>;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    textureStore(now, id.xy, textureLoad(before, id.xy, 0) + 1.0);
}
"""

GLIDER = np.zeros((12, 12), np.uint32)
GLIDER[[1, 2, 3, 3, 3], [2, 3, 1, 2, 3]] = 1


def lived(cells: np.ndarray) -> np.ndarray:
    """The next generation."""
    around = [np.roll(cells, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1) if (x, y) != (0, 0)]
    count = np.sum(around, axis=0)
    return ((count == 3) | ((count == 2) & (cells == 1))).astype(np.uint32)


def generations(cells: np.ndarray, number: int) -> list[np.ndarray]:
    """So many generations that follow."""
    all_ = []
    for _ in range(number):
        all_.append(cells := lived(cells))
    return all_


def life(**first: object) -> rg.Graph:
    """Game of Life on a texture that remembers."""
    g = rg.Graph("life", size=(12, 12))
    cells = g.image("cells", format="r32uint")
    g.compute("live", LIFE, before=cells.previous(**first), now=cells)
    g.root(cells)
    return g


def counter(**how: object) -> rg.Graph:
    """Four counters that go on in place."""
    g = rg.Graph("count")
    total = g.buffer("total", **({"size": 16, "persistent": True} | how))
    g.compute("count", COUNT, total=total, groups=1)
    g.root(total)
    return g


def test_a_history_begins_with_an_array(device: rg.Device):
    g = life(first_frame=GLIDER)
    with_run = [np.asarray(device.run(g)["cells"])[..., 0] for _ in range(5)]
    compiled = device.compile(g)
    compiled_run = [np.asarray(compiled.run()["cells"])[..., 0] for _ in range(5)]
    np.testing.assert_array_equal(with_run, generations(GLIDER, 5))
    np.testing.assert_array_equal(compiled_run, generations(GLIDER, 5))


def test_the_first_array_is_what_it_was_when_it_was_given(device: rg.Device):
    cells = GLIDER.copy()
    g = life(first_frame=cells)
    cells[:] = 0
    np.testing.assert_array_equal(np.asarray(device.run(g)["cells"])[..., 0], lived(GLIDER))


def test_every_remembered_frame_begins_with_the_array(device: rg.Device):
    g = rg.Graph(size=(4, 4))
    now = g.image("now", format="r32float")
    first = np.full((4, 4), 5, np.float32)
    g.compute("add", ADD, before=now.previous(3, first_frame=first), now=now)
    g.root(now)
    compiled = device.compile(g)
    seen = [compiled.run()["now"].tolist()[0][0][0] for _ in range(8)]
    assert seen == [6, 6, 6, 7, 7, 7, 8, 8]
    compiled.set(now, first * 20)
    assert [compiled.run()["now"].tolist()[0][0][0] for _ in range(4)] == [101, 101, 101, 102]


def test_a_persistent_resource_begins_with_an_array(device: rg.Device):
    first = np.array([[1, 20], [300, 4000]], np.uint32)
    g = counter(size=None, persistent=first)
    compiled = device.compile(g)
    assert [compiled.run()["total"].tolist() for _ in range(2)] == [(first + 1).tolist(), (first + 2).tolist()]
    again = device.run(g)["total"]
    assert again.tolist() == (first + 1).tolist(), "another compilation has a state of its own"


def test_a_persistent_image_has_size_and_format_of_its_array(device: rg.Device):
    g = rg.Graph()
    first = np.arange(12, dtype=np.float32).reshape(3, 4)
    state = g.image("state", persistent=first)
    assert (state.size, state.format) == ((4, 3), "r32float")
    out = g.image("out", like=state)
    g.copy("show", state, out)
    g.root(out)
    np.testing.assert_array_equal(np.asarray(device.run(g)["out"]), first)


def test_a_state_is_set_and_reset_between_frames(device: rg.Device):
    compiled = device.compile(counter(size=None, persistent=np.full(4, 10, np.uint32)))
    assert compiled.run()["total"].tolist() == [11] * 4
    compiled.set("total", np.array([7, 8, 9, 10], np.uint32))
    assert [compiled.run()["total"].tolist() for _ in range(2)] == [[8, 9, 10, 11], [9, 10, 11, 12]]
    compiled.reset()
    assert [compiled.run()["total"].tolist()[0] for _ in range(2)] == [11, 12]
    compiled.run(inputs={"total": np.zeros(4, np.uint32)})
    assert compiled.run()["total"].tolist() == [2] * 4
    compiled.set("total", np.zeros(4, np.uint32))
    compiled.reset("total")
    assert compiled.run()["total"].tolist() == [11] * 4


def test_a_state_without_a_first_array_is_reset_to_zeros(device: rg.Device):
    compiled = device.compile(counter())
    assert [compiled.run()["total"].tolist()[0] for _ in range(3)] == [1, 2, 3]
    compiled.reset()
    assert compiled.run()["total"].tolist() == [1] * 4
    compiled.reset("total")
    assert compiled.run()["total"].tolist() == [1] * 4


def test_frames_under_way_keep_what_they_had(device: rg.Device):
    compiled = device.compile(counter())
    frames = []
    for n in range(6):
        compiled.set("total", np.full(4, 100 * n, np.uint32))
        frames.append(compiled.run())
    assert [frame["total"].tolist()[2] for frame in frames] == [100 * n + 1 for n in range(6)]


def test_a_chaos_run_begins_as_the_frame_does(device: rg.Device):
    g = life(first_frame=GLIDER)
    compiled = device.compile(g)
    np.testing.assert_array_equal(np.asarray(compiled.run(chaos=3)["cells"])[..., 0], lived(GLIDER))


def test_what_is_no_state_is_refused(device: rg.Device):
    g = counter()
    g.buffer("plain", 16)
    g.compute("other", COUNT, total=g.import_array("given", np.zeros(4, np.uint32), as_buffer=True), groups=1)
    compiled = device.compile(g)
    for name in ("given", "plain"):
        with pytest.raises(rg.GraphError, match=f'"{name}" does not live from frame to frame'):
            compiled.set(name, np.zeros(4, np.uint32))
        with pytest.raises(rg.GraphError, match="does not live"):
            compiled.reset(name)
    with pytest.raises(rg.GraphError, match='the state of "total" has 8 bytes') as caught:
        compiled.set("total", np.zeros(2, np.uint32))
    assert caught.value.hint == "the buffer has 16 bytes: (4,) of uint32"
    with pytest.raises(rg.GraphError, match='no image or buffer called "totl"'):
        compiled.set("totl", np.zeros(4, np.uint32))


def test_first_arrays_that_do_not_fit_are_refused(device: rg.Device):
    with pytest.raises(rg.GraphError, match=r'the first array of "cells\.previous" has shape') as caught:
        device.run(life(first_frame=np.zeros((3, 3), np.uint32)))
    assert caught.value.hint == "it is (12, 12, 1) of uint32 here, that is (height, width, channels)"
    assert caught.value.resource == "cells.previous"
    side = caught.value.mistakes[0].sides[0]
    assert (side.name, side.says) == ("cells.previous", "declared here, size (12, 12) of r32uint")
    assert side.file is not None
    assert side.file.endswith("test_states.py")
    assert f"{side.file}:{side.line}" in str(caught.value)
    g = rg.Graph()
    with pytest.raises(rg.GraphError, match="first_frame= of what is no history"):
        g.image("a", (4, 4), "r32float", first_frame=np.zeros((4, 4), np.float32))
    with pytest.raises(TypeError, match="persistent="):
        g.buffer("b", 16, persistent="yes")
    assert g.resources == []
    assert g.image("c", (4, 4), "r32float").previous(first_frame="zeros").name == "c.previous"


def test_a_first_array_of_width_and_height_is_turned(device: rg.Device):
    g = rg.Graph()
    layers = g.image("layers", (8, 4), "r32float", layers=2).previous(first_frame=np.zeros((2, 8, 4, 1), np.float32))
    g.clear("clear", "layers", (0, 0, 0, 0))
    g.copy("copy", layers, g.image("out", (8, 4), "r32float", layers=2))
    g.root("out")
    with pytest.raises(rg.GraphError) as caught:
        device.run(g)
    assert caught.value.hint == (
        "it is (2, 4, 8, 1) of float32 here, that is (layers, height, width, channels): "
        "numpy.ascontiguousarray(array.swapaxes(1, 2))"
    )
    g = rg.Graph()
    state = g.image("state", (8, 4), "r32float", persistent=np.zeros((4, 8), np.float32))
    g.copy("copy", state, g.image("out", like=state))
    g.root("out")
    compiled = device.compile(g)
    with pytest.raises(rg.GraphError, match=r"\(height, width\): numpy.ascontiguousarray\(array\.T\)"):
        compiled.set(state, np.zeros((8, 4), np.float32))


def test_a_graph_from_a_file_begins_with_the_arrays_of_the_graph_that_was_saved(device: rg.Device, tmp_path: Path):
    g = life(first_frame=GLIDER)
    total = g.buffer("total", persistent=np.arange(4, dtype=np.uint32))
    g.compute("count", COUNT, total=total, groups=1)
    g.root(total)
    g.save(tmp_path / "life.rgraph.json")
    compiled = device.compile(rg.Graph.load(tmp_path / "life.rgraph.json"))
    for number, expected in enumerate(generations(GLIDER, 3)):
        frame = compiled.run()
        assert np.array_equal(frame["cells"].numpy().reshape(12, 12), expected), number
        assert np.array_equal(frame["total"].numpy(), np.arange(4) + number + 1)
    compiled.reset()
    assert np.array_equal(compiled.run()["cells"].numpy().reshape(12, 12), lived(GLIDER))


def test_results_of_a_file_have_the_shape_that_it_says(device: rg.Device):
    values = {
        "rgraph": 1,
        "buffers": {"total": {"shape": [2, 2], "dtype": "uint32"}},
        "passes": [
            {"name": "fill", "fill": {"buffer": "total", "word": 7}},
            {
                "name": "count",
                "compute": {"shader": {"wgsl": COUNT}, "bindings": {"total": "total"}, "groups": [1, 1, 1]},
            },
        ],
        "roots": ["total"],
    }
    result = device.run(rg.Graph.from_dict(values))["total"].numpy()
    assert (result.shape, result.dtype) == ((2, 2), np.uint32)
    assert result.tolist() == [[8, 8], [8, 8]]
