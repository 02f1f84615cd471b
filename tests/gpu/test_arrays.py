"""Arrays as people have them: what goes in comes out with its shape and dtype."""

import numpy as np
import pytest

import rgraph as rg
from gpu.shaders import SCALE

RANDOM = np.random.default_rng(7)


def copied(format: str, layers: bool = False) -> str:
    """A shader that copies an image texel by texel."""
    array, at = ("_array", "id.xy, id.z") if layers else ("", "id.xy")
    return f"""
    @group(0) @binding(0) var src: texture_2d{array}<f32>;
    @group(0) @binding(1) var dst: texture_storage_2d{array}<{format}, write>;
    @compute @workgroup_size(8, 8)
    fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
        if (any(id.xy >= textureDimensions(dst))) {{ return; }}
        textureStore(dst, {at}, textureLoad(src, {at}, 0));
    }}
    """


def through(device: rg.Device, array: np.ndarray, format: str, **options: object) -> rg.Array:
    """An array, copied by a shader into an image like the one it was imported as."""
    g = rg.Graph()
    src = g.import_array("src", array, **options)
    dst = g.image("dst", like=src)
    layers = src.layer_count > 1
    g.compute("copy", copied(format, layers), src=src, dst=dst)
    g.root(dst)
    return device.run(g)["dst"]


@pytest.mark.parametrize(
    ("shape", "dtype", "format"),
    [
        ((5, 7), "uint8", "r8unorm"),
        ((5, 7, 1), "uint8", "r8unorm"),
        ((5, 7, 3), "uint8", "rgba8unorm"),
        ((5, 7, 4), "uint8", "rgba8unorm"),
        ((5, 7), "float32", "r32float"),
        ((5, 7, 2), "float32", "rg32float"),
        ((5, 7, 3), "float32", "rgba32float"),
        ((5, 7, 3), "float16", "rgba16float"),
        ((2, 5, 7, 1), "float32", "r32float"),
        ((2, 5, 7, 3), "uint8", "rgba8unorm"),
        ((1, 3), "float32", "r32float"),
    ],
)
def test_an_image_like_an_array_gives_an_array_of_that_shape(
    device: rg.Device, shape: tuple[int, ...], dtype: str, format: str
):
    array = RANDOM.integers(0, 255, shape).astype(dtype)
    result = through(device, array, format)
    assert (result.shape, result.dtype) == (shape, dtype)
    np.testing.assert_array_equal(np.asarray(result), array)
    assert result.tobytes() == array.tobytes()
    np.testing.assert_array_equal(result[0], array[0])


def test_a_batch_of_one_stays_a_batch(device: rg.Device):
    g = rg.Graph()
    g.root(g.import_array("src", np.zeros((1, 5, 7, 3), np.uint8)))
    g.copy("copy", "src", g.image("dst", like="src"))
    g.root("dst")
    assert device.run(g)["dst"].shape == (1, 5, 7, 3)


def test_alpha_of_a_picture_without_one_is_opaque(device: rg.Device):
    for dtype, one in (("uint8", 255), ("float16", 1), ("float32", 1), ("uint16", 1), ("int8", 127), ("int32", 1)):
        g = rg.Graph()
        rgb = np.full((2, 3, 3), 5, dtype)
        src = g.import_array("src", rgb)
        dst = g.image("dst", src.size, src.format)
        g.copy("copy", src, dst)
        g.root(dst)
        result = np.asarray(device.run(g)["dst"])
        assert result.shape == (2, 3, 4)
        assert (result[..., :3] == 5).all()
        assert (result[..., 3] == one).all()
    rgba = np.array(result)
    rgba[..., 3] = 9
    assert (np.asarray(device.run(g, inputs={"src": rgba})["dst"]) == rgba).all(), "four channels are taken as well"


def test_red_green_and_blue_may_be_given_and_taken_wherever_there_is_a_fourth(device: rg.Device):
    g = rg.Graph()
    src, dst = g.import_image("src", (3, 2), "rgba8unorm"), g.image("dst", (3, 2), "rgba8unorm", channels=3)
    g.copy("copy", src, dst)
    g.root(dst)
    rgb = RANDOM.integers(0, 255, (2, 3, 3), np.uint8)
    into, four = np.zeros_like(rgb), np.zeros((2, 3, 4), np.uint8)
    result = device.run(g, inputs={"src": rgb}, into={"dst": into})["dst"]
    device.run(g, inputs={"src": rgb}, into={"dst": four})
    np.testing.assert_array_equal(into, rgb)
    np.testing.assert_array_equal(result.numpy(copy=True), rgb)
    np.testing.assert_array_equal(four, np.dstack([rgb, np.full((2, 3), 255, np.uint8)]))
    np.testing.assert_array_equal(result.numpy(channels=2), rgb[..., :2])
    assert memoryview(result).strides == (12, 4, 1)
    assert memoryview(result).tolist() == rgb.tolist()
    resource = device.image("own", (3, 2), "rgba8unorm")
    resource.write(rgb)
    np.testing.assert_array_equal(np.asarray(resource.read()), four)
    into[:] = 0
    resource.read(into=into)
    np.testing.assert_array_equal(into, rgb)
    with pytest.raises(rg.GraphError, match="no 5 channels"):
        result.numpy(channels=5)
    with pytest.raises(rg.GraphError, match="r8unorm has no 3 channels"):
        g.image("grey", (3, 2), "r8unorm", channels=3)


def test_a_picture_of_three_channels_is_saved_as_one(device: rg.Device, tmp_path):
    image = pytest.importorskip("PIL.Image")
    rgb = RANDOM.integers(0, 255, (5, 7, 3), np.uint8)
    through(device, rgb, "rgba8unorm").save(tmp_path / "picture.png")
    saved = image.open(tmp_path / "picture.png")
    assert saved.mode == "RGB"
    np.testing.assert_array_equal(np.asarray(saved), rgb)


def test_a_mask_of_bools_is_black_and_white(device: rg.Device):
    mask = RANDOM.integers(0, 2, (4, 6)).astype(bool)
    result = through(device, mask, "r8unorm")
    assert (result.shape, result.dtype) == ((4, 6), "uint8")
    np.testing.assert_array_equal(np.asarray(result), mask * np.uint8(255))
    g = rg.Graph()
    src = g.import_array("src", mask)
    g.copy("copy", src, g.image("dst", like=src))
    g.root("dst")
    with pytest.raises(rg.GraphError, match='the array for "dst" is of bool'):
        device.run(g, into={"dst": np.zeros_like(mask)})
    with pytest.raises(rg.GraphError, match=r"has shape \(4, 6\) of float32") as caught:
        device.run(g, inputs={"src": mask.astype(np.float32)})
    assert caught.value.hint == 'it is (4, 6) of uint8 here: array.astype("uint8")'


def test_kinds_that_no_image_has_say_what_to_call():
    g = rg.Graph()
    for array, call in (
        (np.zeros((4, 4)), 'array.astype("float32")'),
        (np.zeros((4, 4), np.int64), 'array.astype("int32")'),
        (np.zeros((4, 4), np.uint64), 'array.astype("uint32")'),
        (np.zeros((20, 64, 96), np.float32), "array[..., None]"),
    ):
        with pytest.raises(rg.GraphError, match="no format has texels") as caught:
            g.import_array("a", array)
        assert call in caught.value.hint
    assert g.resources == []


DOUBLE = """
struct Ball { at: vec3<f32>, mass: f32, colour: vec4<f32>, tag: u32 }
@group(0) @binding(0) var<storage, read> numbers: array<f32>;
@group(0) @binding(1) var<storage, read_write> rows: array<vec3<f32>>;
@group(0) @binding(2) var<storage, read_write> pairs: array<vec2<i32>>;
@group(0) @binding(3) var<storage, read_write> balls: array<Ball>;
@group(0) @binding(4) var<storage, read_write> turns: array<mat3x3<f32>>;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let n = f32(id.x);
    rows[id.x] = vec3(n, numbers[id.x], 2.0);
    pairs[id.x] = vec2(i32(id.x), -1);
    balls[id.x] = Ball(vec3(n, 1.0, 2.0), 0.5, vec4(n), 7u + id.x);
    turns[id.x] = mat3x3(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, n);
}
"""


def test_a_buffer_has_the_type_that_its_shaders_have_for_it(device: rg.Device):
    g = rg.Graph()
    numbers = g.import_array("numbers", np.arange(4, dtype=np.float32) * 10, as_buffer=True)
    rows, pairs = g.buffer("rows", 64), g.buffer("pairs", 32)
    balls, turns = g.buffer("balls", 4 * 48), g.buffer("turns", 4 * 48)
    g.compute("double", DOUBLE, numbers=numbers, rows=rows, pairs=pairs, balls=balls, turns=turns, groups=1)
    g.root(rows, pairs, balls, turns)
    frame = device.run(g)
    np.testing.assert_array_equal(np.asarray(frame["rows"]), [[0, 0, 2], [1, 10, 2], [2, 20, 2], [3, 30, 2]])
    assert (frame["rows"].shape, frame["rows"].dtype) == ((4, 3), "float32")
    np.testing.assert_array_equal(np.asarray(frame["pairs"]), [[n, -1] for n in range(4)])
    ball = np.asarray(frame["balls"])
    assert ball.dtype.names == ("at", "mass", "colour", "tag")
    assert ball.dtype.itemsize == 48
    assert ball.dtype == np.dtype(frame["balls"].dtype)
    np.testing.assert_array_equal(ball["at"], [[n, 1, 2] for n in range(4)])
    np.testing.assert_array_equal(frame["balls"]["tag"], [7, 8, 9, 10])
    np.testing.assert_array_equal(frame["turns"][3], [[1, 2, 3], [4, 5, 6], [7, 8, 3]])
    assert frame["balls"].tolist()[1][1] == 0.5
    into = np.zeros((4, 3), np.float32)
    device.run(g, into={"rows": into})
    np.testing.assert_array_equal(into, frame["rows"][:])


def test_rows_of_three_floats_are_spread_as_the_shader_wants_them(device: rg.Device):
    shader = """
    @group(0) @binding(0) var<storage, read> points: array<vec3<f32>>;
    @group(0) @binding(1) var<storage, read_write> sums: array<f32>;
    @compute @workgroup_size(4)
    fn main(@builtin(global_invocation_id) id: vec3<u32>) { sums[id.x] = dot(points[id.x], vec3(1.0)); }
    """
    g = rg.Graph()
    points, sums = g.import_buffer("points", 64), g.buffer("sums", 16)
    g.compute("sum", shader, points=points, sums=sums, groups=1)
    g.root(sums)
    given = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.testing.assert_array_equal(np.asarray(device.run(g, inputs={"points": given})["sums"]), given.sum(1))
    with pytest.raises(rg.GraphError, match="has 40 bytes") as caught:
        device.run(g, inputs={"points": np.zeros(10, np.float32)})
    assert caught.value.hint == "the buffer has 64 bytes: (4, 3) of float32"


def test_a_buffer_that_shaders_see_differently_is_bytes(device: rg.Device):
    g = rg.Graph()
    src = g.import_array("src", np.arange(4, dtype=np.uint32), as_buffer=True)
    dst = g.buffer("dst", 16)
    g.compute("scale", SCALE, src=src, dst=dst, params={"factor": 1, "offset": 0})
    g.compute(
        "again",
        SCALE.replace("array<u32>", "array<i32>")
        .replace("src[id.x] *", "src[id.x] * i32(")
        .replace("params.factor +", "params.factor) + i32(")
        .replace("params.offset;", "params.offset);"),
        src=dst,
        dst=g.buffer("last", 16),
        params={"factor": 1, "offset": 0},
    )
    g.root(dst, "last")
    frame = device.run(g)
    assert frame["dst"].dtype == "uint8"
    assert frame["dst"].view("uint32").tolist() == [0, 1, 2, 3]
    assert frame["last"].tolist() == [0, 1, 2, 3]


def test_a_buffer_may_be_declared_with_shape_and_dtype(device: rg.Device):
    g = rg.Graph()
    src = g.import_array("src", np.arange(6, dtype=np.uint32).reshape(2, 3), as_buffer=True)
    grid = g.buffer("grid", shape=(3, 2), dtype=np.uint32)
    alike, flat = g.buffer("alike", like=src), g.buffer("flat", 24, dtype="<u2")
    assert [buffer.size for buffer in (grid, alike, flat)] == [24, 24, 24]
    for dst in (grid, alike, flat):
        g.compute(f"to {dst.name}", SCALE, src=src, dst=dst, params={"factor": 2, "offset": 0})
        g.root(dst)
    frame = device.run(g)
    assert frame["grid"].tolist() == [[0, 2], [4, 6], [8, 10]]
    assert frame["alike"].tolist() == [[0, 2, 4], [6, 8, 10]]
    assert (frame["flat"].shape, frame["flat"].dtype) == ((12,), "uint16")


def test_records_go_in_and_out(device: rg.Device):
    kind = np.dtype({"names": ["at", "id"], "formats": [("f4", 3), "u4"], "offsets": [0, 12], "itemsize": 16})
    records = np.zeros(3, kind)
    records["at"], records["id"] = RANDOM.random((3, 3)), [5, 6, 7]
    g = rg.Graph()
    src = g.import_array("src", records, as_buffer=True)
    dst = g.buffer("dst", shape=3, dtype=kind)
    g.copy("copy", src, dst)
    g.root(dst)
    result = np.asarray(device.run(g)["dst"])
    assert result.dtype == kind
    np.testing.assert_array_equal(result, records)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"shape": 4}, TypeError, "shape= needs dtype="),
        ({"dtype": "float32"}, TypeError, "dtype= needs shape="),
        ({"size": 10, "dtype": "float32"}, rg.GraphError, "has 8 bytes, not 10"),
        ({"size": 16, "shape": (3,), "dtype": "float32"}, rg.GraphError, "has 12 bytes, not 16"),
        ({"shape": 4, "dtype": "float23"}, rg.GraphError, 'no dtype called "float23"'),
        ({"shape": 4, "dtype": np.dtype(">f4")}, rg.GraphError, "another byte order"),
        ({"like": "nobody"}, rg.GraphError, "a buffer that is declared before"),
    ],
)
def test_typed_buffers_that_contradict_themselves_are_refused(arguments: dict, error: type, text: str):
    g = rg.Graph()
    with pytest.raises(error, match=text):
        g.buffer("b", **arguments)
    assert g.resources == []


def test_an_image_like_another_has_its_layers_and_its_depth(device: rg.Device):
    g = rg.Graph()
    batch = g.import_array("batch", np.zeros((20, 4, 6, 1), np.float32))
    solid = g.import_array("solid", np.zeros((4, 6, 8, 1), np.float32), volume=True)
    assert g.image("a", like=batch).layer_count == 20
    assert g.image("b", like=batch, layers=1).layer_count == 1
    g.image("c", like="late")
    g.image("late", like=batch, format="r8unorm")
    assert g.find("c").layer_count == 20
    assert g.image("d", like=solid, scale=0.5).size == (4, 3, 2)
    assert g.image("e", like=solid, scale=(0.5, 0.5)).size == (4, 3)


SAMPLED = """
@group(0) @binding(0) var packed: texture_2d_array<f32>;
@group(0) @binding(1) var texels: texture_storage_2d_array<rgba32float, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (any(id.xy >= textureDimensions(texels))) { return; }
    for (var layer = 0u; layer < textureNumLayers(packed); layer++) {
        textureStore(texels, id.xy, layer, textureLoad(packed, id.xy, layer, 0));
    }
}"""


def of_one_channel(blocks: np.ndarray) -> np.ndarray:
    """Texels of BC4 blocks (layers, rows, columns, 8), (layers, height, width): two ends, then three bits per texel."""
    layers, rows, columns, _ = blocks.shape
    first, last = blocks[..., 0].astype(np.float64), blocks[..., 1].astype(np.float64)
    steps = [first, last]
    steps += [
        np.where(first > last, ((7 - n) * first + n * last) / 7, ((5 - n) * first + n * last) / 5) for n in range(1, 5)
    ]
    steps += [
        np.where(first > last, (2 * first + 5 * last) / 7, 0),
        np.where(first > last, (first + 6 * last) / 7, 255),
    ]
    bits = sum(blocks[..., 2 + n].astype(np.uint64) << np.uint64(8 * n) for n in range(6))
    out = np.empty((layers, rows, 4, columns, 4))
    for n in range(16):
        which = (bits >> np.uint64(3 * n)) & np.uint64(7)
        out[:, :, n // 4, :, n % 4] = np.choose(which.astype(int), steps) / 255
    return out.reshape(layers, 4 * rows, 4 * columns)


@pytest.mark.parametrize("layers", [1, 3])
def test_blocks_of_a_compressed_format_are_an_image(device: rg.Device, layers: int):
    blocks = np.random.default_rng(4).integers(0, 256, (layers, 2, 3, 8), np.uint8)
    g = rg.Graph("blocks")
    packed = g.import_array("packed", blocks, format="bc4-r-unorm")
    assert packed.size == (12, 8)
    texels = g.image("texels", packed.size, "rgba32float", layers=layers)
    g.compute("look", SAMPLED, packed=packed, texels=texels, groups=(2, 1))
    g.root(texels)
    compiled = device.compile(g)
    for given in (blocks, blocks[:, ::-1].copy()):
        found = compiled.run(inputs={"packed": given})["texels"].numpy().reshape(layers, 8, 12, 4)
        # Drivers may decode to 8 bits, and an H200 is 1.6 of 255 away between the ends of a block.
        assert np.allclose(found[..., 0], of_one_channel(given), atol=2 / 255)
    with pytest.raises(rg.GraphError, match="RG-E320") as caught:
        g.import_array("other", blocks[..., :6].copy(), format="bc4-r-unorm")
    assert caught.value.hint == "bc4-r-unorm is (rows, columns, 8) of uint8, block by block"
