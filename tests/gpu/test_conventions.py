"""The conventions page, line by line: clip space, windings, origins, matrices, sRGB, texels, sizes and shapes."""

import numpy as np
import pytest

import format_table
import rgraph as rg

WGSL = """
@vertex fn vs(@location(0) at: vec4<f32>) -> @builtin(position) vec4<f32> { return at; }
@fragment fn fs(@builtin(position) here: vec4<f32>) -> @location(0) vec4<f32> { return RESULT; }
"""
GLSL = (
    """#version 450
layout(location = 0) in vec4 at;
void main() { gl_Position = at; }
""",
    """#version 450
layout(location = 0) out vec4 colour;
void main() { vec4 here = gl_FragCoord; colour = RESULT; }
""",
)
LANGUAGES = {"wgsl": WGSL, "glsl": GLSL}


def shader(language: str, result: str) -> str | tuple[str, ...]:
    """Vertices in clip space; `result` is the colour, of `here`, the fragment's position."""
    code = LANGUAGES[language]
    return code.replace("RESULT", result) if isinstance(code, str) else (code[0], code[1].replace("RESULT", result))


def strip(x0: float, y0: float, x1: float, y1: float, z: float = 0.5) -> np.ndarray:
    """Four corners of a rectangle in clip space, as a strip."""
    return np.array([[x, y, z, 1] for y in (y0, y1) for x in (x0, x1)], np.float32)


def drawn(
    device: rg.Device, code: object, vertices: np.ndarray, format: str = "rgba8unorm", **how: object
) -> np.ndarray:
    """Eight by eight texels, zero where nothing is drawn."""
    g = rg.Graph("conventions")
    mesh = g.import_array("mesh", vertices, as_buffer=True)
    out = g.image("out", (8, 8), format)
    how = {"topology": "triangle_strip", "vertices": len(vertices), "clear": (0, 0, 0, 0)} | how
    g.raster("draw", code, color=out, vertex_buffers=mesh, **how)
    g.root(out)
    return np.array(device.run(g)["out"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_clip_space_is_vulkans_y_points_down(device: rg.Device, language: str):
    picture = drawn(
        device, shader(language, "vec4(1.0)" if language == "glsl" else "vec4<f32>(1.0)"), strip(-1, -1, 0, 0)
    )
    assert (picture[:4, :4] == 255).all()
    assert (picture[4:] == 0).all()
    assert (picture[:, 4:] == 0).all()


@pytest.mark.parametrize("language", LANGUAGES)
def test_fragments_have_their_centres_in_texels_from_the_upper_left_corner(device: rg.Device, language: str):
    picture = drawn(device, shader(language, "here"), strip(-1, -1, 1, 1, 0.25), "rgba32float")
    y, x = np.mgrid[:8, :8]
    assert (picture[..., 0] == x + 0.5).all()
    assert (picture[..., 1] == y + 0.5).all()
    assert (picture[..., 2] == 0.25).all()


def test_depth_is_from_0_near_to_1_far_and_clipped_outside(device: rg.Device):
    code = shader("wgsl", "vec4<f32>(1.0)")
    for z, visible in ((0.0, True), (1.0, True), (-0.25, False), (1.25, False)):
        assert (drawn(device, code, strip(-1, -1, 1, 1, z)) == (255 if visible else 0)).all(), z
    g = rg.Graph("depth")
    mesh = g.import_array("mesh", strip(-1, -1, 1, 1, 0.25), as_buffer=True)
    depth = g.image("depth", (8, 8), "depth32float")
    code = (
        "@vertex fn vs(@location(0) at: vec4<f32>) -> @builtin(position) vec4<f32> { return at; } @fragment fn fs() {}"
    )
    how = {"topology": "triangle_strip", "vertices": 4, "depth_test": "less", "clear_depth": 1.0}
    g.raster("draw", code, depth=depth, vertex_buffers=mesh, **how)
    g.root(depth)
    assert (np.array(device.run(g)["depth"]) == 0.25).all()


@pytest.mark.parametrize(("cull", "front", "visible"), [
    ("back", "ccw", True), ("front", "ccw", False), ("back", "cw", False), ("front", "cw", True), ("none", "ccw", True),
])  # fmt: skip
def test_winding_is_as_seen_in_the_picture(device: rg.Device, cull: str, front: str, visible: bool):
    # Upper left, lower left, lower right: counter-clockwise for who looks at the picture.
    corner = np.array([[-1, -1, 0, 1], [-1, 1, 0, 1], [1, 1, 0, 1]], np.float32)
    code = shader("wgsl", "vec4<f32>(1.0)")
    picture = drawn(device, code, corner, topology="triangles", cull=cull, front=front)
    assert (picture[6, 1] == 255).all() == visible
    assert (picture[1, 6] == 0).all()


def test_front_faces_are_counter_clockwise_by_default(device: rg.Device):
    corner = np.array([[-1, -1, 0, 1], [-1, 1, 0, 1], [1, 1, 0, 1]], np.float32)
    picture = drawn(device, shader("wgsl", "vec4<f32>(1.0)"), corner, topology="triangles", cull="back")
    assert (picture[6, 1] == 255).all()


def test_the_supplied_triangle_has_uv_0_at_the_upper_left_corner(device: rg.Device):
    g = rg.Graph("uv")
    out = g.image("out", (8, 4), "rg32float")
    g.raster("uv", "@fragment fn fs(@location(0) uv: vec2<f32>) -> @location(0) vec2<f32> { return uv; }", color=out)
    g.root(out)
    uv = np.array(device.run(g)["out"])
    y, x = np.mgrid[:4, :8]
    assert np.allclose(uv[..., 0], (x + 0.5) / 8)
    assert np.allclose(uv[..., 1], (y + 0.5) / 4)


def test_viewports_begin_at_the_upper_left_corner(device: rg.Device):
    code = shader("wgsl", "vec4<f32>(1.0)")
    picture = drawn(device, code, strip(-1, -1, 1, 1), viewport=(2, 1, 3, 2))
    assert (picture[1:3, 2:5] == 255).all()
    assert picture.astype(bool).all(-1).sum() == 6


SAMPLE = """
@group(0) @binding(0) var src: texture_2d<f32>;
@group(0) @binding(1) var tiles: sampler;
@group(0) @binding(2) var<storage, read> at: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read_write> dst: array<vec4<f32>>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    dst[id.x] = textureSampleLevel(src, tiles, at[id.x], 0.0);
}
"""


def sampled(device: rg.Device, picture: np.ndarray, points: list, **how: object) -> np.ndarray:
    """What a sampler reads at some points; `how` is the sampler's."""
    g = rg.Graph("sampled")
    srgb = bool(how.pop("srgb", False))
    src = g.import_array("src", picture, srgb=srgb)
    at = g.import_array("at", np.array(points, np.float32), as_buffer=True)
    dst = g.buffer("dst", 16 * len(points))
    g.compute("sample", SAMPLE, src=src, at=at, dst=dst, tiles=rg.Sampler(**how), groups=len(points))
    g.root(dst)
    return np.array(device.run(g)["dst"].view("float32").numpy(copy=True)).reshape(-1, 4)


def test_texture_coordinates_begin_at_the_upper_left_and_texels_have_their_centres_at_one_half(
    device: rg.Device,
):
    picture = np.arange(8, dtype=np.float32).reshape(2, 4, 1)
    points = [((x + 0.5) / 4, (y + 0.5) / 2) for y in range(2) for x in range(4)]
    assert (sampled(device, picture, points)[:, 0] == np.arange(8)).all()
    assert sampled(device, picture, [(0.25, 0.25)])[0, 0] == 0.5  # between texels 0 and 1
    assert sampled(device, picture, [(0.0, 0.0)], filter="nearest")[0, 0] == 0
    assert sampled(device, picture, [(0.99, 0.99)], filter="nearest")[0, 0] == 7


LOAD = """
@group(0) @binding(0) var src: KIND;
@group(0) @binding(1) var<storage, read_write> dst: array<f32>;
@compute @workgroup_size(1) fn main() { dst[0] = LOADED.x; }
"""


@pytest.mark.parametrize(("kind", "loaded", "shape", "at", "how"), [
    ("texture_2d<f32>", "textureLoad(src, vec2(3, 1), 0)", (2, 4, 1), (1, 3), {}),
    ("texture_2d_array<f32>", "textureLoad(src, vec2(3, 1), 2, 0)", (3, 2, 4, 1), (2, 1, 3), {}),
    ("texture_3d<f32>", "textureLoad(src, vec3(3, 1, 2), 0)", (3, 2, 4, 1), (2, 1, 3), {"volume": True}),
])  # fmt: skip
def test_shaders_index_x_y_and_arrays_row_and_column(
    device: rg.Device, kind: str, loaded: str, shape: tuple, at: tuple, how: dict
):
    array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    g = rg.Graph("order")
    src = g.import_array("src", array, **how)
    dst = g.buffer("dst", 4)
    g.compute("load", LOAD.replace("KIND", kind).replace("LOADED", loaded), src=src, dst=dst, groups=1)
    g.root(dst)
    assert device.run(g)["dst"].view("float32").numpy(copy=True)[0] == array[at]


@pytest.mark.parametrize(("how", "shape"), [
    ({"size": (5, 3)}, (3, 5, 4)),
    ({"size": (5, 3), "layers": 2}, (2, 3, 5, 4)),
    ({"size": (5, 3, 2)}, (2, 3, 5, 4)),
    ({"size": (4, 4), "cube": True}, (6, 4, 4, 4)),
])  # fmt: skip
def test_sizes_are_width_and_height_and_arrays_height_and_width(device: rg.Device, how: dict, shape: tuple):
    g = rg.Graph("shape")
    out = g.image("out", format="rgba8unorm", **how)
    g.clear("clear", out, (1, 1, 1, 1))
    g.root(out)
    assert device.run(g)["out"].shape == shape


def test_faces_of_cubes_are_in_the_order_of_vulkan(device: rg.Device):
    faces = np.arange(6, dtype=np.float32).reshape(6, 1, 1, 1) * np.ones((6, 4, 4, 1), np.float32)
    code = """
    @group(0) @binding(0) var src: texture_cube<f32>;
    @group(0) @binding(1) var tiles: sampler;
    @group(0) @binding(2) var<storage, read> at: array<vec4<f32>>;
    @group(0) @binding(3) var<storage, read_write> dst: array<f32>;
    @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        dst[id.x] = textureSampleLevel(src, tiles, at[id.x].xyz, 0.0).x;
    }"""
    axes = np.array([[1, 0, 0, 0], [-1, 0, 0, 0], [0, 1, 0, 0], [0, -1, 0, 0], [0, 0, 1, 0], [0, 0, -1, 0]], np.float32)
    g = rg.Graph("cube")
    src = g.import_image("src", (4, 4), "r32float", cube=True)
    at = g.import_array("at", axes, as_buffer=True)
    dst = g.buffer("dst", 24)
    g.compute("look", code, src=src, at=at, dst=dst, groups=6)
    g.root(dst)
    found = device.run(g, inputs={"src": faces})["dst"].view("float32").numpy(copy=True)
    assert found.tolist() == [0, 1, 2, 3, 4, 5]


MULTIPLY = """
struct Push { m: mat4x4<f32> }
var<push_constant> push: Push;
@group(0) @binding(0) var<uniform> uniform_m: mat4x4<f32>;
@group(0) @binding(1) var<storage, read> buffer_m: mat4x4<f32>;
@group(0) @binding(2) var<storage, read_write> dst: array<vec4<f32>>;
@compute @workgroup_size(1) fn main() {
    let v = vec4<f32>(1.0, 2.0, 3.0, 4.0);
    dst[0] = push.m * v;
    dst[1] = uniform_m * v;
    dst[2] = buffer_m * v;
}
"""


def test_matrices_are_lists_of_columns_so_numpys_are_transposed(device: rg.Device):
    matrix = np.arange(16, dtype=np.float32).reshape(4, 4)
    columns = np.ascontiguousarray(matrix.T)
    g = rg.Graph("matrix")
    stored = g.import_array("stored", columns, as_buffer=True)
    dst = g.buffer("dst", 48)
    g.compute("m", MULTIPLY, uniform_m=columns, buffer_m=stored, dst=dst, groups=1, push={"m": matrix.T})
    g.root(dst)
    found = device.run(g)["dst"].view("float32").numpy(copy=True).reshape(3, 4)
    assert (found == matrix @ np.array([1, 2, 3, 4], np.float32)).all()


def encoded(linear: float) -> float:
    """The sRGB transfer function, in bytes."""
    return 255 * (1.055 * linear ** (1 / 2.4) - 0.055 if linear > 0.0031308 else 12.92 * linear)


def test_srgb_images_hold_encoded_bytes_and_shaders_see_linear_light(device: rg.Device):
    g = rg.Graph("srgb")
    out = g.image("out", (4, 4), "rgba8unorm-srgb")
    g.clear("clear", out, (0.5, 0.25, 0.0, 0.5))
    g.root(out)
    # A half of a byte is rounded up or down, as the device likes.
    cleared = np.array(device.run(g)["out"])[0, 0]
    assert cleared.tolist() == pytest.approx([encoded(0.5), encoded(0.25), 0, 127.5], abs=0.6)
    picture = np.full((2, 2, 4), 188, np.uint8)
    linear = sampled(device, picture, [(0.5, 0.5)], srgb=True)[0]
    # Devices decode as exactly as eight bits are, and not more.
    assert np.allclose(linear, [0.5029, 0.5029, 0.5029, 188 / 255], atol=0.5 / 255)
    assert np.allclose(sampled(device, picture, [(0.5, 0.5)])[0], 188 / 255, atol=1e-3)


def test_blending_into_srgb_images_is_linear(device: rg.Device):
    code = "@fragment fn fs() -> @location(0) vec4<f32> { return vec4<f32>(1.0, 1.0, 1.0, 0.5); }"
    g = rg.Graph("blend")
    out = g.image("out", (4, 4), "rgba8unorm-srgb")
    g.raster("half", code, color=out, clear=(0, 0, 0, 1), blend="alpha")
    g.root(out)
    assert abs(int(np.array(device.run(g)["out"])[0, 0, 0]) - encoded(0.5)) <= 1


@pytest.mark.parametrize(("dtype", "channels", "format"), [
    (np.uint8, 1, "r8unorm"), (np.uint8, 2, "rg8unorm"), (np.uint8, 4, "rgba8unorm"), (np.int8, 4, "rgba8snorm"),
    (np.uint16, 4, "rgba16uint"), (np.int16, 4, "rgba16sint"), (np.uint32, 1, "r32uint"), (np.int32, 2, "rg32sint"),
    (np.float16, 4, "rgba16float"), (np.float32, 1, "r32float"),
])  # fmt: skip
def test_arrays_become_images_of_these_formats(dtype: type, channels: int, format: str):
    g = rg.Graph()
    g.import_array("a", np.zeros((2, 2, channels), dtype))
    assert g.to_dict()["images"]["a"]["format"] == format


def test_the_table_of_formats_is_the_codes_own(device: rg.Device):
    rows = format_table.table(device)
    shown = format_table.shown().removeprefix(format_table.HEAD).splitlines(keepends=True)
    assert len(shown) == sum(not vulkan.endswith("_BLOCK") for _, vulkan in format_table.names())
    assert [row for row in shown if row in rows] == rows
    assert len(rows) > 40  # some drivers lack depth of 24 bits


def test_the_table_of_compressed_formats_is_the_codes_own():
    assert format_table.shown_blocks() == format_table.blocks()
