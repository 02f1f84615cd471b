"""What drivers would crash, hang or misbehave on is refused with a reason, and the device goes on working."""

import re

import numpy as np
import pytest

import rgraph as rg
from gpu.shaders import FLAT, MESH

WORDS = "@group(0) @binding(0) var<storage, read_write> dst: array<u32>;\n"


def works(device: rg.Device) -> bool:
    """Whether the device still runs a graph."""
    g = rg.Graph()
    a = g.buffer("a", 16)
    g.fill("fill", a, 7)
    g.root(a)
    return np.asarray(device.run(g)["a"]).view("u4").tolist() == [7] * 4


def computed(text: str, **data: object) -> rg.Graph:
    """A graph of one dispatch."""
    g = rg.Graph()
    dst = g.buffer("dst", 256)
    g.fill("fill", dst)
    g.compute("compute", WORDS + text, dst=dst, groups=1, **data)
    g.root(dst)
    return g


@pytest.mark.parametrize("space", ["workgroup", "private", "function"])
def test_variables_larger_than_the_device_has_place_for_are_refused(device: rg.Device, space: str):
    inside = "var p: array<u32, 10000000>;" if space == "function" else ""
    outside = "" if inside else f"var<{space}> p: array<u32, 10000000>;\n"
    main = "p[dst[0]] = 1u; dst[1] = p[dst[2]];"
    with pytest.raises(rg.DeviceError, match="40000000 bytes of"):
        device.run(computed(f"{outside}@compute @workgroup_size(1) fn main() {{ {inside} {main} }}"))
    assert works(device)


def test_no_more_indices_are_drawn_than_there_are(device: rg.Device):
    g = rg.Graph()
    mesh = g.import_array("mesh", np.zeros((3, 7), np.float32), as_buffer=True)
    index = g.import_array("index", np.arange(3, dtype=np.uint32), as_buffer=True)
    out = g.image("out", (4, 4), "rgba8unorm")
    g.raster("draw", MESH, color=out, clear=(0, 0, 0, 0), vertex_buffers=mesh, index=index, vertices=4)
    g.root(out)
    with pytest.raises(rg.GraphError, match=r'reads indices from bytes 0..16 of "index"'):
        device.run(g)


CORNERS = np.array([[-1, -1], [1, -1], [-1, 1], [1, 1]], np.float32)
CORNER = """
@vertex fn vs(@location(0) corner: vec2f) -> @builtin(position) vec4f { return vec4f(corner, 0, 1); }
@fragment fn fs() -> @location(0) vec4f { return vec4f(1); }"""


def cornered(corners: np.ndarray, **how: object) -> rg.Graph:
    """A graph that draws a strip of these corners."""
    g = rg.Graph()
    mesh = g.import_array("mesh", corners, as_buffer=True)
    out = g.image("out", (4, 4), "rgba8unorm")
    draw = {"vertex_buffers": mesh, "topology": "triangle_strip", "vertices": 4} | how
    g.raster("draw", CORNER, color=out, clear=(0, 0, 0, 0), **draw)
    g.root(out)
    return g


def test_no_more_vertices_are_drawn_than_there_are(device: rg.Device):
    with pytest.raises(rg.GraphError, match=r'reads vertices from bytes 0..40 of "mesh"'):
        device.run(cornered(CORNERS, vertices=5))
    with pytest.raises(rg.GraphError, match=r'reads vertices from bytes 0..40 of "mesh"'):
        device.run(cornered(CORNERS, first_vertex=1))
    buffers = [{"buffer": "mesh", "attributes": ["corner"], "per_instance": True}]
    with pytest.raises(rg.GraphError, match=r'reads vertices from bytes 0..48 of "mesh"'):
        device.run(cornered(CORNERS, instances=6, vertex_buffers=buffers))


def test_vertices_have_the_numbers_and_the_rows_that_their_shader_reads(device: rg.Device):
    with pytest.raises(rg.GraphError, match=r"RG-E310.*float32 where buffer \"mesh\" has float64"):
        device.run(cornered(CORNERS.astype(np.float64)))
    wide = np.concatenate([CORNERS, np.zeros((4, 1), np.float32)], axis=1)
    with pytest.raises(rg.GraphError, match='vertices of 8 bytes from buffer "mesh", whose rows have 12') as caught:
        device.run(cornered(wide))
    assert "test_mistakes.py:" in str(caught.value)
    record = np.zeros(4, [("corner", np.float32, 2), ("more", np.float32)])
    record["corner"] = CORNERS
    with pytest.raises(rg.GraphError, match='vertices of 8 bytes where buffer "mesh" has records of 12 bytes'):
        device.run(cornered(record))
    rows = [{"buffer": "mesh", "attributes": ["corner"], "stride": 12}]
    for corners, how in (
        (CORNERS, {}),
        (CORNERS.ravel(), {}),
        (CORNERS.reshape(2, 2, 2), {}),
        (CORNERS.reshape(2, 4), {}),
        (wide, {"vertex_buffers": rows}),
        (record, {"vertex_buffers": rows}),
    ):
        assert np.all(device.run(cornered(corners, **how))["out"] == 255), corners.shape


@pytest.mark.parametrize(
    "viewport", [(0, 0, 0, 4), (0, 0, -4, 4), (0, 0, 1e9, 4), (float("nan"), 0, 4, 4), (-1e6, 0, 4, 4)]
)
def test_viewports_have_an_area_where_the_device_draws(device: rg.Device, viewport: tuple):
    g = rg.Graph()
    out = g.image("out", (4, 4), "rgba8unorm")
    g.raster("draw", FLAT, color=out, push=[1, 1, 1, 1], viewport=viewport)
    g.root(out)
    with pytest.raises(rg.GraphError, match="viewport"):
        device.run(g)


def test_a_function_on_the_cpu_cannot_wait_for_a_resource_of_its_device(device: rg.Device):
    mine = device.buffer("mine", 16)
    for use in (lambda _: mine.write(bytes(16)), lambda _: mine.read()):
        g = rg.Graph()
        out = g.buffer("out", 16)
        g.cpu("host", use, writes=out)
        g.root(out)
        with pytest.raises(rg.BusyError) as caught:
            device.run(g)["out"]
        assert caught.value.code == "RG-E402"
    assert works(device)


def test_what_was_compiled_for_another_device_is_refused(device: rg.Device, own_device: rg.Device):
    compiled = own_device.compile(computed("@compute @workgroup_size(1) fn main() { dst[1] = 1u; }"))
    with pytest.raises(rg.DeviceError) as caught:
        device.run(compiled)
    assert caught.value.code == "RG-E131"


def test_families_and_mips_that_do_not_exist_are_refused(device: rg.Device):
    with pytest.raises(rg.GraphError, match="queue family 99"):
        device.buffer("a", 16).set_state(family=99)
    with pytest.raises(rg.GraphError, match="1 to 3 mips"):
        device.image("a", (4, 4), "rgba8unorm", mips=4)


def test_buffers_are_no_larger_than_the_driver_makes_them(device: rg.Device):
    most = device.profile.to_dict()["limits"]["max_buffer"]
    with pytest.raises(rg.GraphError, match=f"1 to {most} bytes"):
        device.buffer("a", most + 1)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"flags": {"lit": 1}}, 'the flag "lit" is True or False, not int'),
        ({"flags": {3: True}}, "expected the name of a flag, not int"),
        ({"inputs": {3: np.zeros(4)}}, "expected a resource or its name, not int"),
        ({"read": 5}, "expected a resource or its name, not int"),
    ],
)
def test_what_a_run_is_given_by_the_wrong_type_is_called_by_its_meaning(device: rg.Device, arguments: dict, says: str):
    g = rg.Graph()
    a = g.buffer("a", 16)
    g.fill("fill", a, 7)
    g.compute("add", WORDS + "@compute @workgroup_size(1) fn main() { dst[0] = 9u; }", dst=a, conditional="lit")
    g.root(a)
    with pytest.raises(TypeError, match=says):
        device.run(g, **arguments)
    assert works(device)


def test_a_word_of_the_wrong_type_is_called_by_its_meaning():
    g = rg.Graph()
    with pytest.raises(TypeError, match="expected the word for the queue, not int"):
        g.add_pass("p", queue=3)


def test_results_are_not_assigned_and_say_how_to_write_instead(device: rg.Device):
    g = rg.Graph()
    a = g.buffer("a", 16)
    g.fill("fill", a, 7)
    g.root(a)
    frame = device.run(g)
    own = device.buffer("own", 16)
    for wrong, help in (
        (lambda: frame["a"].__setitem__(0, 1), 'copy = frame["a"].numpy(copy=True)'),
        (lambda: frame.__setitem__("a", 1), "results = dict(frame.items())"),
        (lambda: own.__setitem__(0, 1), "resource.write(array)"),
        (lambda: frame["a"].__delitem__(0), "take a part of it, array[…]"),
        (lambda: frame.__delitem__("a"), "del results[name]"),
        (lambda: own.__delitem__(0), "resource.write(array)"),
        (lambda: a.__delitem__(0), "graph.remove(resource)"),
        (lambda: a[0:4].__delitem__(0), "graph.remove(resource)"),
    ):
        with pytest.raises(TypeError, match=r"\n  help: ") as caught:
            wrong()
        assert type(caught.value) is TypeError
        assert help in str(caught.value)
    copy = frame["a"].numpy(copy=True)
    copy[...] = 1
    np.testing.assert_array_equal(copy, 1)


def test_a_page_locked_array_has_a_shape_and_is_filled_afterwards(device: rg.Device):
    data = np.ones((3, 4), np.float32)
    with pytest.raises(TypeError, match=r"takes a shape, not the contents\n  help: .*page\[\.\.\.\] = data"):
        device.array(data)
    assert device.array(np.array(data.shape), data.dtype).shape == (3, 4)
    for call, meant in ((device.array, "dtype"), (device.semaphore, "shared"), (device.capture, "frames")):
        with pytest.raises(TypeError, match=f"did you mean '{meant}'"):
            call(*[] if meant == "shared" else ["x"], **{meant[:-1]: 1})  # type: ignore[operator]


def test_data_of_a_run_that_is_none_names_the_line_of_its_pass(device: rg.Device):
    g = computed("var<immediate> scale: u32;\n@compute @workgroup_size(1) fn main() { dst[0] = scale; }", push=1)
    with pytest.raises(TypeError, match=r"data of pass \"compute\": 'scale' is of type NoneType") as caught:
        device.run(g, params={"compute": None})
    assert "test_mistakes.py:" in str(caught.value)


def test_a_mode_in_which_the_device_resolves_no_depth_is_refused(device: rg.Device):
    def resolved(mode: str) -> rg.Graph:
        g = rg.Graph(size=(8, 8))
        many, drawn = (g.image(name, format=of, samples=4) for name, of in (("many", "depth32float"), ("c", "r8unorm")))
        z = g.image("z", format="depth32float")
        draw = g.raster("draw", FLAT, color=drawn, depth=many, clear=(0, 0, 0, 0), clear_depth=0.5, push=[0, 0, 0, 0])
        draw.resolve(z, resolves=many, mode=mode)
        g.root(z)
        return g

    def outcome(mode: str) -> str | np.ndarray:
        try:
            return np.array(device.run(resolved(mode))["z"])
        except rg.DeviceError as error:
            return str(error)

    first = outcome("sample_zero")
    assert isinstance(first, np.ndarray)
    for mode in ("min", "max", "average"):
        other = outcome(mode)
        if isinstance(other, str):
            assert re.match(
                rf'RG-E102 "z" is resolved by {mode}, in which .* resolves no depth\n.*use .*sample_zero', other
            )
        else:
            np.testing.assert_array_equal(other, first, strict=True)
    assert works(device)
