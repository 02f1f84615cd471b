"""Draws: vertices, indices, instances, tests, blending, samples, mips, several targets."""

import numpy as np
import pytest

import rgraph as rg
from gpu.shaders import FLAT, MESH


def corners(x0: float, y0: float, x1: float, y1: float, depth: float, colour: tuple) -> np.ndarray:
    """Four vertices of a rectangle, as a strip."""
    return np.array([[x, y, depth, *colour] for y in (y0, y1) for x in (x0, x1)], np.float32)


RED, GREEN = (1.0, 0.0, 0.0, 1.0), (0.0, 1.0, 0.0, 0.5)


def drawn(device: rg.Device, vertices: np.ndarray, **how: object) -> np.ndarray:
    """A picture of a mesh."""
    g = rg.Graph("mesh")
    mesh = g.import_array("mesh", vertices, as_buffer=True)
    out = g.image("out", (8, 8), "rgba8unorm")
    how = {"topology": "triangle_strip", "vertices": 4} | how
    g.raster("draw", MESH, color=out, clear=(0, 0, 0, 0), vertex_buffers=mesh, **how)
    g.root(out)
    return np.asarray(device.run(g)["out"])


def test_vertices_come_from_a_buffer(device: rg.Device):
    picture = drawn(device, corners(-1, -1, 0, 1, 0.5, RED))
    assert (picture[:, :4] == (255, 0, 0, 255)).all()
    assert (picture[:, 4:] == 0).all()


SOLID = """
struct In { @location(0) position: vec3<f32>, @location(1) normal: vec3<f32> }
struct Out { @builtin(position) position: vec4<f32>, @location(0) normal: vec3<f32> }
@vertex fn vs(in: In) -> Out { return Out(vec4<f32>(in.position, 1.0), in.normal); }
@fragment fn fs(in: Out) -> @location(0) vec4<f32> { return vec4(in.normal * 0.5 + 0.5, 1.0); }
"""


def solid(x0: float, x1: float, normal: tuple) -> list[list[float]]:
    """Four corners of a rectangle with a normal, as a strip: six floats each."""
    return [[x, y, 0.5, *normal] for y in (-1, 1) for x in (x0, x1)]


def test_positions_and_normals_have_three_components(device: rg.Device):
    g = rg.Graph("solid")
    vertices = np.array(solid(-1, 0, (1, -1, -1)) + solid(0, 1, (-1, 1, -1)), np.float32)
    mesh = g.import_array("mesh", vertices, as_buffer=True)
    index = g.import_array("index", np.array([0, 1, 2, 2, 1, 3, 4, 5, 6, 6, 5, 7], np.uint32), as_buffer=True)
    out = g.image("out", (8, 8), "rgba8unorm")
    g.raster("draw", SOLID, color=out, clear=(0, 0, 0, 0), vertex_buffers=mesh, index=index, vertices=12)
    g.root(out)
    picture = np.asarray(device.run(g)["out"])
    assert (picture[:, :4] == (255, 0, 0, 255)).all()
    assert (picture[:, 4:] == (0, 255, 0, 255)).all()


PARTS = """
struct In { @location(0) position: vec3<f32>, @location(1) colour: vec3<f32>, @location(2) shift: vec2<f32> }
struct Out { @builtin(position) position: vec4<f32>, @location(0) colour: vec3<f32> }
@vertex fn vs(in: In) -> Out { return Out(vec4(in.position.xy + in.shift, in.position.z, 1.0), in.colour); }
@fragment fn fs(in: Out) -> @location(0) vec4<f32> { return vec4(in.colour, 1.0); }
"""


def parts(buffers: object) -> rg.Graph:
    """A rectangle whose positions, colours and shifts are in buffers of their own; `buffers` says which has what."""
    g = rg.Graph("parts")
    place, paint, whole = (
        np.array([[x, y, 0.5] for y in (-1, 1) for x in (-1, 0)], np.float32),
        np.array([[0, 1, 0]] * 4, np.float32),
        np.array([[0, 1, 0, 1, 0]] * 4, np.float32),
    )
    g.import_array("place", place, as_buffer=True)
    g.import_array("paint", paint, as_buffer=True)
    g.import_array("shift", np.array([[1, 0]] * 4, np.float32), as_buffer=True)
    g.import_array("whole", whole, as_buffer=True)
    out = g.image("out", (8, 8), "rgba8unorm")
    options = {"topology": "triangle_strip", "vertices": 4, "clear": (0, 0, 0, 0)}
    g.raster("draw", PARTS, color=out, vertex_buffers=buffers(g), **options)
    g.root(out)
    return g


@pytest.mark.parametrize(
    "buffers",
    [
        lambda g: [g.find("place"), g.find("paint"), g.find("shift")],
        lambda g: [g.find("place"), {"buffer": g.find("shift"), "attributes": ["shift"]}, g.find("paint")],
        lambda g: [g.find("whole"), {"buffer": g.find("place"), "attributes": ["position"]}],
    ],
    ids=["a buffer for each", "one is named", "the rest is in one"],
)
def test_buffers_that_name_no_inputs_share_those_that_are_left(device: rg.Device, buffers: object):
    picture = np.asarray(device.run(parts(buffers))["out"])
    assert (picture[:, 4:] == (0, 255, 0, 255)).all()
    assert (picture[:, :4] == 0).all()


def test_buffers_and_inputs_that_do_not_fit_are_refused():
    with pytest.raises(rg.GraphError, match=r"RG-E316 .* has 2 vertex buffers that name no inputs") as caught:
        parts(lambda g: [g.find("place"), g.find("whole")])
    assert '"position", "colour", "shift"' in str(caught.value)
    assert "attributes" in caught.value.hint
    twice = {"attributes": ["position"]}
    with pytest.raises(rg.GraphError, match=r'RG-E316 .* has vertex input "position" in two places'):
        parts(lambda g: [{"buffer": g.find("place")} | twice, {"buffer": g.find("paint")} | twice, g.find("whole")])


@pytest.mark.parametrize(
    ("scalar", "stored", "format"),
    [
        ("vec3<f32>", np.array([[0, 127, -127, 0]], np.int8), "snorm8x4"),
        ("vec3<f32>", np.array([[0, 255, 0, 0]], np.uint8), "unorm8x4"),
        ("vec3<f32>", np.array([[0, 65535, 0, 0]], np.uint16), "unorm16x4"),
        ("vec3<f32>", np.array([[0, 1, 0, 0]], np.float16), "float16x4"),
        ("vec3<f32>", np.array([[0, 1, 0]], np.float32), "float32x3"),
        ("vec3<f32>", np.array([[0, 1, 0]], np.float32), "R32G32B32_SFLOAT"),
        ("vec3<u32>", np.array([[0, 1, 0]], np.uint32), "uint32x3"),
        ("vec3<i32>", np.array([[0, 1, 0]], np.int32), "sint32x3"),
        ("vec3<i32>", np.array([[0, 1, 0]], np.int32), None),
    ],
)
def test_vertex_formats_have_the_names_of_webgpu(
    device: rg.Device, scalar: str, stored: np.ndarray, format: str | None
):
    shader = f"""
    struct Out {{ @builtin(position) position: vec4<f32>, @location(0) colour: vec4<f32> }}
    @vertex fn vs(@builtin(vertex_index) index: u32, @location(0) colour: {scalar}) -> Out {{
        return Out(vec4<f32>(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0, 0.0, 1.0),
                   vec4<f32>(vec3<f32>(colour), 1.0));
    }}
    @fragment fn fs(in: Out) -> @location(0) vec4<f32> {{ return in.colour; }}
    """
    g = rg.Graph()
    mesh = g.import_array("mesh", stored.repeat(3, axis=0), as_buffer=True)
    out = g.image("out", (4, 4), "rgba8unorm")
    attribute = "colour" if format is None else ("colour", format, 0)
    g.raster("draw", shader, color=out, vertex_buffers=[{"buffer": mesh, "attributes": [attribute]}])
    g.root(out)
    assert (np.asarray(device.run(g)["out"]) == (0, 255, 0, 255)).all()


def test_indices_choose_vertices(device: rg.Device):
    g = rg.Graph()
    mesh = g.import_array("mesh", corners(-1, -1, 1, 1, 0.5, RED), as_buffer=True)
    out = g.image("out", (8, 8), "rgba8unorm")
    for dtype in ("uint16", "uint32"):
        index = g.import_array(dtype, np.array([0, 1, 2, 2, 1, 3], dtype), as_buffer=True)
        g.raster(
            dtype, MESH, color=out, clear=(0, 0, 0, 0), vertex_buffers=mesh, index=index, index_format=dtype, vertices=6
        )
        g.root(out)
        assert (np.asarray(device.run(g)["out"]) == (255, 0, 0, 255)).all()


def test_instances_have_data_of_their_own(device: rg.Device):
    shader = """
    struct Out { @builtin(position) position: vec4<f32>, @location(0) colour: vec4<f32> }
    @vertex fn vs(@location(0) corner: vec2<f32>, @location(1) offset: vec2<f32>,
                  @location(2) colour: vec4<f32>) -> Out {
        return Out(vec4<f32>(corner + offset, 0.0, 1.0), colour);
    }
    @fragment fn fs(in: Out) -> @location(0) vec4<f32> { return in.colour; }
    """
    g = rg.Graph()
    square = np.array([[-1, -1], [0, -1], [-1, 0], [0, 0]], np.float32)
    each = np.array([[0, 0, *RED], [1, 1, 0, 0, 1, 1]], np.float32)
    corner, offset = g.import_array("corner", square, as_buffer=True), g.import_array("each", each, as_buffer=True)
    out = g.image("out", (8, 8), "rgba8unorm")
    buffers = [
        {"buffer": corner, "attributes": ["corner"]},
        {"buffer": offset, "attributes": ["offset", "colour"], "per_instance": True},
    ]
    options = {"vertices": 4, "instances": 2, "topology": "triangle_strip"}
    g.raster("draw", shader, color=out, clear=(0, 0, 0, 0), vertex_buffers=buffers, **options)
    g.root(out)
    picture = np.asarray(device.run(g)["out"])
    assert (picture[:4, :4] == (255, 0, 0, 255)).all()
    assert (picture[4:, 4:] == (0, 0, 255, 255)).all()
    assert (picture[:4, 4:] == 0).all()


def test_a_buffer_may_say_what_is_drawn(device: rg.Device):
    g = rg.Graph()
    mesh = g.import_array("mesh", corners(-1, -1, 1, 1, 0.5, RED), as_buffer=True)
    counts = g.import_array("counts", np.array([0, 0, 0, 0, 4, 1, 0, 0], np.uint32), as_buffer=True)
    out = g.image("out", (8, 8), "rgba8unorm")
    how = {"topology": "triangle_strip", "vertex_buffers": mesh}
    g.raster("draw", MESH, color=out, clear=(0, 0, 0, 0), indirect=counts[16:32], **how)
    g.root(out)
    assert (np.asarray(device.run(g)["out"]) == (255, 0, 0, 255)).all()


def test_depth_decides_who_is_in_front(device: rg.Device):
    both = np.concatenate([corners(-1, -1, 1, 1, 0.2, RED), corners(-1, -1, 1, 1, 0.8, GREEN)])
    g = rg.Graph()
    mesh = g.import_array("mesh", both, as_buffer=True)
    index = g.import_array("index", np.array([0, 1, 2, 2, 1, 3, 4, 5, 6, 6, 5, 7], np.uint32), as_buffer=True)
    out, depth = g.image("out", (8, 8), "rgba8unorm"), g.image("depth", (8, 8), "depth32float")
    how = {"vertex_buffers": mesh, "index": index, "vertices": 12, "depth": depth}
    g.raster("draw", MESH, color=out, clear=(0, 0, 0, 0), clear_depth=1.0, **how)
    g.root(out, depth)
    frame = device.run(g)
    assert (np.asarray(frame["out"]) == (255, 0, 0, 255)).all()
    result = frame["depth"]
    assert (result.dtype, result.shape) == ("float32", (8, 8, 1))
    np.testing.assert_allclose(np.asarray(result), 0.2, atol=1e-6)


def test_blending_mixes_with_what_is_there(device: rg.Device):
    g = rg.Graph()
    out = g.image("out", (4, 4), "rgba8unorm")
    g.raster("base", FLAT, color=out, push=[1, 0, 0, 1], clear=(0, 0, 0, 0))
    g.raster("over", FLAT, color=out, push=[0, 0, 1, 0.5], blend="alpha")
    g.raster("mask", FLAT, color=out, push=[0, 1, 0, 0], write_mask="g")
    g.root(out)
    picture = np.asarray(device.run(g)["out"])[0, 0].astype(int)
    np.testing.assert_allclose(picture, (127.5, 255, 127.5, 255), atol=1)


def test_blending_may_be_spelt_out(device: rg.Device):
    g = rg.Graph()
    out = g.image("out", (4, 4), "rgba16float")
    g.raster("base", FLAT, color=out, push=[0.25, 0.5, 0, 1], clear=(0, 0, 0, 0))
    least = {"color": ("one", "one", "max"), "alpha": ("zero", "one", "add")}
    g.raster("most", FLAT, color=out, push=[0.5, 0.25, 0, 0], blend=least)
    g.root(out)
    np.testing.assert_allclose(np.asarray(device.run(g)["out"])[0, 0], (0.5, 0.5, 0, 1), atol=1e-3)


def test_samples_are_resolved(device: rg.Device):
    g = rg.Graph()
    mesh = g.import_array(
        "mesh", np.array([[-1, -1, 0, *RED], [1, -1, 0, *RED], [-1, 1, 0, *RED]], "f4"), as_buffer=True
    )
    msaa = g.image("msaa", (8, 8), "rgba8unorm", samples=4)
    out = g.image("out", (8, 8), "rgba8unorm")
    g.raster("draw", MESH, color=msaa, resolve=out, clear=(0, 0, 0, 0), vertex_buffers=mesh)
    g.root(out)
    red = np.asarray(device.run(g)["out"])[:, :, 0]
    assert red[0, 0] == 255
    assert red[7, 7] == 0
    diagonal = red[np.arange(8), 7 - np.arange(8)]
    assert ((diagonal > 0) & (diagonal < 255)).all()


def test_several_targets_and_their_masks(device: rg.Device):
    shader = """
    struct Out { @location(0) first: vec4<f32>, @location(1) second: vec4<u32> }
    @fragment fn fs(@location(0) uv: vec2<f32>) -> Out {
        return Out(vec4<f32>(uv, 0.0, 1.0), vec4<u32>(u32(uv.x * 8.0), 1u, 2u, 3u));
    }
    """
    g = rg.Graph()
    first, second = g.image("first", (8, 8), "rgba32float"), g.image("second", (8, 8), "rgba8uint")
    g.raster("draw", shader, color=[first, second])
    g.root(first, second)
    frame = device.run(g)
    centres = (np.arange(8) + 0.5) / 8
    np.testing.assert_allclose(np.asarray(frame["first"])[:, :, 0], np.tile(centres, (8, 1)), atol=1e-5)
    np.testing.assert_allclose(np.asarray(frame["first"])[:, :, 1], np.tile(centres, (8, 1)).T, atol=1e-5)
    np.testing.assert_array_equal(np.asarray(frame["second"])[0, :, 0], np.arange(8))


def test_mips_are_targets_and_sources(device: rg.Device):
    g = rg.Graph()
    chain = g.image("chain", (8, 8), "rgba8unorm", mips=3)
    out = g.image("out", (2, 2), "rgba8unorm")
    g.raster("one", FLAT, color=chain.mip(1), push=[0, 1, 0, 1])
    g.raster("two", FLAT, color=chain.mip(2), push=[0, 0, 1, 1])
    g.copy("out", chain.mip(2), out)
    g.root(out)
    assert (np.asarray(device.run(g)["out"]) == (0, 0, 255, 255)).all()


def test_faces_are_culled_and_viewports_kept(device: rg.Device):
    mesh = corners(-1, -1, 1, 1, 0.5, RED)
    assert (drawn(device, mesh, cull="back", front="cw") != drawn(device, mesh, cull="back", front="ccw")).any()
    assert (drawn(device, mesh, cull="none") == (255, 0, 0, 255)).all()
    part = drawn(device, mesh, viewport=(2, 2, 4, 4))
    assert (part[2:6, 2:6] == (255, 0, 0, 255)).all()
    assert part[:2].max() == 0


def test_stencil_keeps_what_was_marked(device: rg.Device):
    g = rg.Graph()
    left = g.import_array("left", corners(-1, -1, 0, 1, 0.5, RED), as_buffer=True)
    whole = g.import_array("whole", corners(-1, -1, 1, 1, 0.5, GREEN), as_buffer=True)
    out, depth = g.image("out", (8, 8), "rgba8unorm"), g.image("depth", (8, 8), "depth32float-stencil8")
    how = {"topology": "triangle_strip", "vertices": 4, "depth": depth, "depth_test": "always"}
    mark = {"compare": "always", "pass": "replace", "reference": 1}
    clear = {"clear": (0, 0, 0, 0), "clear_depth": (1.0, 0)}
    g.raster("mark", MESH, color=out, stencil=mark, vertex_buffers=left, **clear, **how)
    test = {"compare": "not_equal", "reference": 1}
    g.raster("test", MESH, color=out, stencil=test, vertex_buffers=whole, **how)
    g.root(out)
    picture = np.asarray(device.run(g)["out"])
    assert (picture[:, :4] == (255, 0, 0, 255)).all()
    assert (picture[:, 4:, 1] == 255).all()


def test_a_pass_draws_several_meshes_each_with_its_own_shader(device: rg.Device):
    g = rg.Graph()
    left = g.import_array("left", corners(-1, -1, 0, 1, 0.5, RED), as_buffer=True)
    right = g.import_array("right", corners(0, -1, 1, 1, 0.25, RED), as_buffer=True)
    out, depth = g.image("out", (8, 8), "rgba8unorm"), g.image("depth", (8, 8), "depth32float")
    strip = {"topology": "triangle_strip", "vertices": 4}
    drawing = g.raster(
        "draw", MESH, color=out, depth=depth, clear=(0, 0, 0, 0), clear_depth=1.0, vertex_buffers=left, **strip
    )
    assert drawing.draw(MESH, vertex_buffers=right, **strip) is drawing
    # In front of the one and behind the other: nothing of the right half.
    drawing.draw(FLAT, push=[0, 0, 1, 1], viewport=(0, 0, 8, 4), depth_test="always")
    drawing.draw(FLAT, push=[1, 1, 1, 1], depth_test="greater")
    g.root(out)
    assert [one.name for one in g.passes] == ["draw"]
    picture = np.asarray(device.run(g)["out"])
    assert (picture[:4] == (0, 0, 255, 255)).all()
    assert (picture[4:] == (255, 0, 0, 255)).all()
    clone = np.asarray(device.run(g.clone())["out"])
    np.testing.assert_array_equal(clone, picture)
    with pytest.raises(rg.GraphError, match="has several draws"):
        device.run(g, params={"draw": [0, 0, 0, 0]})


def test_further_draws_are_for_passes_that_draw(device: rg.Device):
    del device
    g = rg.Graph()
    out = g.image("out", (8, 8), "rgba8unorm")
    with pytest.raises(TypeError, match=r"draw\(\) is for passes that raster\(\) declared"):
        g.add_pass("plain").color(out).draw(FLAT, push=[0, 0, 0, 0])
    drawing = g.raster("draw", FLAT, color=out, push=[0, 0, 0, 0])
    before = g.to_dict()
    with pytest.raises(rg.RgError, match="push"):
        drawing.draw(FLAT)
    assert g.to_dict() == before


def test_viewports_beyond_the_image_are_cut_off_at_its_edge(device: rg.Device):
    g = rg.Graph()
    out = g.image("out", (8, 8), "rgba8unorm")
    g.raster("draw", FLAT, color=out, clear=(0, 0, 0, 0), push=[1, 0, 0, 1], viewport=(4, -4, 100, 8))
    g.root(out)
    picture = np.asarray(device.run(g)["out"])
    assert (picture[:4, 4:] == (255, 0, 0, 255)).all()
    assert (picture[4:] == 0).all()
    assert (picture[:, :4] == 0).all()


def test_a_place_without_a_target_before_one_is_refused():
    g = rg.Graph()
    out = g.image("out", (8, 8), "rgba8unorm")
    with pytest.raises(rg.GraphError, match="there is no colour target at 0, and one at 1") as caught:
        g.raster("draw", FLAT, color=[None, out], push=[0, 0, 0, 0])
    assert caught.value.hint == "give an image for each output of the shader up to the last that is kept"
    assert g.passes == []
