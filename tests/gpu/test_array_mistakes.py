"""Arrays that cannot be used, each refused with a repair that works; and functions of passes that would not run."""

import warnings

import numpy as np
import pytest

import rgraph as rg

GRID = np.arange(24, dtype=np.float32).reshape(4, 6)


def copied(array: object, *, as_buffer: bool = False) -> rg.Graph:
    g = rg.Graph("copied")
    source = g.import_array("source", array, as_buffer=as_buffer)
    target = (g.buffer if as_buffer else g.image)("target", like=source)
    g.copy("copy", source, target)
    g.root(target)
    return g


def test_an_array_to_read_into_is_contiguous_itself(device: rg.Device):
    compiled = device.compile(copied(GRID))
    wide = np.zeros((4, 12), np.float32)
    with pytest.raises(rg.GraphError, match=r'RG-E320 the array for "target" .* is not contiguous') as caught:
        compiled.run(into={"target": wide[:, ::2]})
    # The hint of inputs is a copy, into which results would vanish.
    assert caught.value.hint == "read into a contiguous array, as numpy.empty(…), and assign that to it"
    with pytest.raises(rg.GraphError, match="is not contiguous") as caught:
        compiled.run(inputs={"source": wide[:, ::2]})
    assert caught.value.hint == "give numpy.ascontiguousarray(…) of it"
    image = device.image("image", (6, 4), "r32float")
    with pytest.raises(rg.GraphError, match="is not contiguous") as caught:
        image.read(into=wide[:, ::2])
    assert caught.value.hint.startswith("read into a contiguous array")


@pytest.mark.parametrize("as_buffer", [False, True])
def test_a_number_and_elements_without_a_format_are_refused_as_what_they_are(as_buffer: bool):
    for number in (np.float32(3), np.array(3.0, np.float32)):
        with pytest.raises(
            rg.GraphError, match=r'RG-E320 the array of "source" has no axes: it is one number'
        ) as caught:
            copied(number, as_buffer=as_buffer)
        assert caught.value.hint == "give numpy.reshape(…, 1) of it"
    assert copied(np.reshape(np.float32(3), 1), as_buffer=True)
    with pytest.raises(rg.GraphError, match=r"RG-E320 .* has elements of datetime64\[s\]"):
        copied(GRID.astype("M8[s]"), as_buffer=as_buffer)
    with pytest.raises(TypeError, match="is of type list, which has no buffer"):
        copied([[1, 2], [3, 4]], as_buffer=as_buffer)


async def later(views: object) -> None:
    """Runs only where it is awaited."""


def bit_by_bit(views: object):
    """Runs only where it is iterated."""
    yield views


async def bits(views: object):
    """Runs only where it is iterated by a coroutine."""
    yield views


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (later, "returned a coroutine, so none of its lines ran; write it with def, not async def"),
        (bit_by_bit, "returned a generator, so none of its lines ran; write it without yield"),
        (bits, "returned an asynchronous generator, so none of its lines ran; write it with def and without yield"),
    ],
)
def test_a_function_of_a_pass_that_would_not_run_is_refused(device: rg.Device, function, message: str):
    for declare in ("cpu", "callback"):
        g = rg.Graph("asynchronous")
        out = g.buffer("out", 16)
        if declare == "cpu":
            g.cpu("work", function, writes=out)
        else:
            g.callback("work", function, writes={out: "storage_write"}, queue="compute")
        g.root(out)
        with warnings.catch_warnings(record=True) as warned, pytest.raises(TypeError, match=message):
            device.run(g)
        assert not warned


def test_ready_made_passes_take_numbers_of_numpy():
    g = rg.Graph("numbers", size=(16, 16))
    picture = g.image("picture", format="rgba16float")
    g.clear("clear", picture, (1, 0, 0, 1))
    blurred = rg.passes.blur(g, "blur", picture, radius=np.int64(3))
    g.root(rg.passes.bloom(g, "bloom", blurred, intensity=np.float32(0.5)))
    assert g.bake().check() == []
    with pytest.raises(rg.GraphError, match="RG-E213"):
        rg.passes.blur(g, "other", picture, radius=np.float32(2.5))


@pytest.mark.parametrize("as_buffer", [False, True])
def test_a_mask_is_not_lost(device: rg.Device, as_buffer: bool):
    whole = np.ma.masked_array(GRID, mask=False)
    hidden = np.ma.masked_array(GRID, mask=GRID > 5)
    compiled = device.compile(copied(whole, as_buffer=as_buffer))
    for call in (lambda: copied(hidden, as_buffer=as_buffer), lambda: compiled.run(inputs={"source": hidden})):
        with pytest.raises(rg.GraphError, match=r"RG-E320 .* has masked elements") as caught:
            call()
        assert caught.value.hint == "give array.filled(0), or another number in their place"
    results = np.ma.masked_array(np.zeros_like(GRID), mask=True)
    with pytest.raises(rg.GraphError, match=r"RG-E320 .* has masked elements") as caught:
        compiled.run(into={"target": results})
    assert caught.value.hint == "give array.data: results would stay hidden"
    frame = compiled.run(inputs={"source": hidden.filled(0)}, into={"target": results.data})
    frame.wait()
    assert np.array_equal(results.data.ravel(), hidden.filled(0).ravel())
    assert np.array_equal(np.asarray(frame["target"]), np.where(GRID > 5, 0, GRID).astype(np.float32))


def test_two_results_are_not_read_into_the_same_memory(device: rg.Device):
    g = rg.Graph("filled")
    for name, value in (("a", 1), ("b", 2)):
        g.fill(name, g.buffer(name, 16), value)
        g.root(name)
    compiled, both = device.compile(g), np.zeros(8, np.uint32)
    frame = compiled.run(into={"a": both[:4], "b": both[4:]})
    frame.wait()
    assert both.tolist() == [1] * 4 + [2] * 4
    for other in (both[:4], both[3:7]):
        with pytest.raises(rg.GraphError, match='RG-E225 results "a" and "b" are read into the same memory') as caught:
            compiled.run(into={"a": both[:4], "b": other})
        assert caught.value.hint == "give each an array of its own"
    assert both.tolist() == [1] * 4 + [2] * 4


def test_a_timeout_is_not_negative_and_may_be_endless(device: rg.Device):
    g = rg.Graph("filled")
    g.fill("fill", g.buffer("out", 16), 1)
    g.root("out")
    frame, preparation = device.run(g), device.prepare(g)
    for wait in (frame.wait, preparation.wait, preparation.result, lambda timeout: device.close(timeout=timeout)):
        for timeout, shown in ((-1, "-1"), (float("nan"), "NaN"), (-1e300, "-1")):
            with pytest.raises(rg.GraphError, match=f"RG-E213 timeout is {shown}") as caught:
                wait(timeout)
            assert caught.value.hint == "give 0 or more seconds, or None for no limit"
    for timeout in (float("inf"), 1e300, None):
        assert frame.wait(timeout)
        assert preparation.wait(timeout)


def test_the_memory_of_a_plan_is_a_word_or_a_number():
    for wrong, kind in ((None, "NoneType"), (b"fast", "bytes"), ([1], "list")):
        with pytest.raises(TypeError, match=f"memory is one of least, balanced, fast, or .* not {kind}"):
            rg.Graph().bake(memory=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("array", "says", "hint"),
    [
        (np.zeros((2, 2), ">f4"), "of >f4, which is another byte order", 'array.astype(array.dtype.newbyteorder("="))'),
        (np.zeros((2, 2), "c8"), "elements of complex64", 'array[..., None].view("float32")'),
        (np.zeros((2, 2), "c16"), "elements of complex128", 'array[..., None].view("float64")'),
        (np.zeros((2, 2), "S3"), "elements of |S3", "convert it to one of"),
        (
            np.zeros(2, np.dtype({"names": ["a", "b"], "formats": ["u1", "f4"], "offsets": [8, 0], "itemsize": 16})),
            'field "b" of a dtype overlaps',
            "in the order of their offsets",
        ),
    ],
)
def test_elements_that_no_buffer_has_are_called_by_their_dtype(array: np.ndarray, says: str, hint: str):
    with pytest.raises(rg.GraphError) as caught:
        rg.Graph().import_array("a", array, as_buffer=True)
    assert says in str(caught.value)
    assert hint in caught.value.hint


def test_the_parts_of_complex_numbers_are_channels(device: rg.Device):
    waves = np.array([[1 + 2j, 3 - 4j]], np.complex64)
    frame = device.run(copied(waves[..., None].view("float32")))
    assert frame["target"].tolist() == [[[1, 2], [3, -4]]]


def test_an_imported_array_is_said_to_become_a_cube_by_a_copy():
    g = rg.Graph("cube")
    faces = g.import_array("faces", np.zeros((6, 4, 4, 4), np.float32))
    code = """
@group(0) @binding(0) var faces: texture_cube<f32>;
@group(0) @binding(1) var how: sampler;
@group(0) @binding(2) var<storage, read_write> out: array<vec4<f32>>;
@compute @workgroup_size(1)
fn main() { out[0] = textureSampleLevel(faces, how, vec3(1.0, 0.0, 0.0), 0.0); }"""
    with pytest.raises(rg.GraphError, match="no cube") as caught:
        g.compute("look", code, faces=faces, out=g.buffer("out", 16), groups=1)
    assert "import_array" in caught.value.hint
    assert "like=" in caught.value.hint
    cube = g.image("cube", like=faces, cube=True)
    g.copy("copy", faces, cube)
    g.compute("look", code, faces=cube, out="out", groups=1)
    g.root("out")
    g.bake()


@pytest.mark.parametrize(
    ("given", "shader", "fits"),
    [
        ("float64", "f32", False),
        ("float16", "f32", False),
        ("int64", "i32", False),
        ("float32", "f32", True),
        ("float32", "vec4<f32>", True),
        ("uint64", "u32", True),
        ("float64", "u32", False),
        ("float64", "vec2<u32>", True),
        ("int64", "u32", False),
        ("int64", "f32", False),
        ("float32", "u32", True),
        ("float16", "u32", True),
        ("int64", "vec2<u32>", True),
        ("uint8", "f32", True),
    ],
)
def test_numbers_of_another_size_than_the_shader_has_are_refused(
    device: rg.Device, given: str, shader: str, fits: bool
):
    g = rg.Graph("sizes")
    source = g.import_array("source", np.arange(16).astype(given), as_buffer=True)
    target = g.buffer("target", like=source)
    code = f"""
@group(0) @binding(0) var<storage, read> source: array<{shader}>;
@group(0) @binding(1) var<storage, read_write> target_: array<{shader}>;
@compute @workgroup_size(1)
fn main() {{ for (var n = 0u; n < arrayLength(&source); n++) {{ target_[n] = source[n]; }} }}"""
    g.compute("take", code, source=source, target_=target, groups=1)
    g.root(target)
    if fits:
        assert np.array_equal(np.asarray(device.run(g)["target"]), np.arange(16))
        return
    with pytest.raises(rg.GraphError, match=f'RG-E310 .* buffer "source" has {given}') as caught:
        device.run(g)
    assert "array.astype(" in caught.value.hint
    assert "test_array_mistakes.py" in str(caught.value)


POINTS = """
struct Point { at: vec3<f32>, id: u32, uv: vec2<f32> }
@group(0) @binding(0) var<storage, read> source: array<Point>;
@group(0) @binding(1) var<storage, read_write> target_: array<Point>;
@compute @workgroup_size(1)
fn main() { for (var n = 0u; n < arrayLength(&source); n++) { target_[n] = source[n]; } }"""


def record(size: int, **fields: tuple[object, int]) -> np.dtype:
    """A dtype of fields with their offsets."""
    formats, offsets = zip(*fields.values(), strict=True)
    return np.dtype({"names": list(fields), "formats": formats, "offsets": offsets, "itemsize": size})


V2, V3 = ("f4", 2), ("f4", 3)
POINT = record(32, at=(V3, 0), id=("u4", 12), uv=(V2, 16))
PACKED = record(24, at=(V3, 0), id=("u4", 12), uv=(V2, 16))


def pointed(device: rg.Device, array: np.ndarray):
    """A copy of an array, made by a shader that reads points."""
    g = rg.Graph("points")
    source = g.import_array("source", array, as_buffer=True)
    target = g.buffer("target", array.nbytes)
    g.compute("take", POINTS, source=source, target_=target, groups=1)
    g.root(target)
    return device.run(g)["target"].numpy()


@pytest.mark.parametrize(
    ("dtype", "wrong"),
    [
        (PACKED, 'structs of 32 bytes where buffer "source" has records of 24 bytes'),
        (record(64, at=(("f8", 3), 0), id=("u8", 24), uv=(V2, 32)), "has records of 64 bytes"),
        (record(32, id=("u4", 0), at=(V3, 4), uv=(V2, 16)), '"id" at byte 12 where buffer "source" has "id" at byte 0'),
        (
            record(32, at=(V3, 0), uv=(V2, 16), id=("u4", 24)),
            '"id" at byte 12 where buffer "source" has "id" at byte 24',
        ),
        (record(32, a=(("u4", 3), 0), b=("u4", 12)), 'float32 "at" at byte 0 where buffer "source" has uint32 "a"'),
    ],
)
def test_records_that_are_not_those_of_the_shader_are_refused(device: rg.Device, dtype: np.dtype, wrong: str):
    with pytest.raises(rg.GraphError, match="RG-E310 ") as caught:
        pointed(device, np.zeros(4, dtype))
    assert wrong in str(caught.value)
    assert "test_array_mistakes.py" in str(caught.value)
    found = np.zeros(4, eval(caught.value.hint.split("does: ")[1], {"numpy": np}))
    found["at"], found["id"], found["uv"] = 1.5, 7, 2.5
    assert np.array_equal(pointed(device, found), found)


@pytest.mark.parametrize(
    "dtype",
    [
        record(32, position=(V3, 0), key=("u4", 12), uv=(V2, 16)),
        record(32, at=(V3, 0), id=(("u1", 4), 12)),
        record(32, at=(V3, 0), id=("i4", 12), note=("f4", 28)),
        record(32, id=("f4", 12)),
    ],
)
def test_records_with_the_places_of_the_shader_are_taken(device: rg.Device, dtype: np.dtype):
    assert pointed(device, np.zeros(4, dtype)).shape == (4,)


@pytest.mark.parametrize("dtype", ["float64", "int64", "float16"])
def test_numbers_of_another_size_than_those_of_a_struct_are_refused(device: rg.Device, dtype: str):
    with pytest.raises(rg.GraphError, match=f'RG-E310 .*buffer "source" has {dtype} at byte 0'):
        pointed(device, np.zeros((4, 16), dtype))


@pytest.mark.parametrize("dtype", ["float32", "uint32", "uint8", "uint64"])
def test_words_may_be_those_of_a_struct(device: rg.Device, dtype: str):
    array = np.arange(256, dtype="uint8").reshape(4, 64).view(dtype)
    copied = pointed(device, array)
    assert copied["id"].tolist() == array.view("uint32").reshape(8, 8)[:, 3].tolist()


def test_records_within_one_record_are_compared(device: rg.Device):
    nested = np.zeros(2, [("points", POINT, 4)])
    nested["points"]["id"] = np.arange(8).reshape(2, 4)
    assert pointed(device, nested)["id"].tolist() == list(range(8))
    with pytest.raises(rg.GraphError, match="has records of 24 bytes"):
        pointed(device, np.zeros(2, [("points", PACKED, 4)]))


CORNERS = """
struct Out { @builtin(position) place: vec4<f32>, @location(0) color: vec4<f32> }
@vertex fn corner(@location(0) at: vec3<f32>, @location(1) color: vec4<f32>, @location(2) layer: u32) -> Out {
    return Out(vec4(at, 1.0), color + f32(layer));
}
@fragment fn paint(given: Out) -> @location(0) vec4<f32> { return given.color; }"""


def painted(device: rg.Device, dtype: np.dtype, **places: object) -> list[float]:
    """A texel of a triangle whose corners are records."""
    corners = np.zeros(3, dtype)
    corners["at"][:, :2] = [(-1, -1), (3, -1), (-1, 3)]
    corners["color"], corners["layer"] = (0.5, 0.25, 0.125, 1), 2
    g = rg.Graph("corners")
    mesh = g.import_array("mesh", corners, as_buffer=True)
    out = g.image("out", (4, 4), "rgba32float")
    g.raster("draw", CORNERS, color=out, vertex_buffers=[{"buffer": mesh, **places}] if places else mesh)
    g.root(out)
    return device.run(g)["out"][0, 0].tolist()


def test_vertices_that_are_records_have_the_numbers_of_the_shader(device: rg.Device):
    fields = [("at", "f4", 3), ("color", "f4", 4), ("layer", "u4")]
    right = [2.5, 2.25, 2.125, 3.0]
    assert painted(device, np.dtype(fields)) == right
    turned = np.dtype([fields[2], *fields[:2]])
    with pytest.raises(
        rg.GraphError, match=r'RG-E310 .*"location 0" at byte 0 where buffer "mesh" has uint32 "layer"'
    ) as caught:
        painted(device, turned)
    places = eval(caught.value.hint.split("places: ")[1], {"mesh": None})
    del places["buffer"]
    assert painted(device, turned, **places) == right
    wrong = [("at", "float32x3", 0), ("color", "float32x4", 16), ("layer", "uint32", 28)]
    with pytest.raises(
        rg.GraphError, match='"location 1" at byte 28 where buffer "mesh" has uint32 "layer" at byte 28'
    ):
        painted(device, np.dtype(fields), attributes=wrong, stride=32)
    with pytest.raises(rg.GraphError, match=r"RG-E310 .*float64") as caught:
        painted(device, np.dtype([("at", "f8", 3), ("color", "f8", 4), ("layer", "u8")]))
    assert "at most 32 bits" in caught.value.hint


PLACES = """
@vertex fn corner(@location(0) at: vec2<f32>) -> @builtin(position) vec4<f32> { return vec4(at, 0.0, 1.0); }
@fragment fn paint() -> @location(0) vec4<f32> { return vec4(1.0); }"""


def covered(device: rg.Device, corners: np.ndarray, **places: object) -> bool:
    """Whether corners of which a shader reads the place alone draw a triangle that covers the target."""
    g = rg.Graph("covered")
    mesh = g.import_array("mesh", corners, as_buffer=True)
    out = g.image("out", (4, 4), "r32float")
    buffers = [{"buffer": mesh, **places}] if places else mesh
    g.raster("draw", PLACES, color=out, clear=(0, 0, 0, 0), vertex_buffers=buffers)
    g.root(out)
    return bool(np.all(device.run(g)["out"].numpy() == 1))


TRIANGLE = [(-1, -1), (3, -1), (-1, 3)]


@pytest.mark.parametrize(
    "fields",
    [
        [("at", "f4", 2), ("color", "f4", 4)],
        [("at", "f4", 2), ("uv", "f4", 2)],
        [("place", "f4", 2), ("color", "f4", 4)],
    ],
)
def test_vertices_with_fields_that_the_shader_does_not_read_are_not_several(device: rg.Device, fields):
    corners = np.zeros(3, fields)
    corners[fields[0][0]] = TRIANGLE
    size = corners.dtype.itemsize
    with pytest.raises(
        rg.GraphError, match=f'RG-E310 .* has vertices of 8 bytes where buffer "mesh" has records of {size} bytes'
    ) as caught:
        covered(device, corners)
    if fields[0][0] == "at":
        places = eval(caught.value.hint.split("places: ")[1], {"mesh": None})
        assert places["attributes"] == [("at", "float32x2", 0)]
        assert covered(device, corners, attributes=places["attributes"], stride=places["stride"])


def test_records_and_rows_of_several_vertices_are_told_by_their_axes(device: rg.Device):
    lines = np.zeros(1, [("a", "f4", 2), ("b", "f4", 2), ("c", "f4", 2)])
    lines["a"], lines["b"], lines["c"] = TRIANGLE
    assert covered(device, lines)
    assert covered(device, np.array([(TRIANGLE,)], [("corners", "f4", (3, 2))]))
    rows = np.float32([TRIANGLE])
    assert covered(device, rows)
    assert covered(device, rows.reshape(-1))
    assert covered(device, rows.reshape(1, 6))


ROWS = """
struct Pair { one: vec3<f32>, two: vec3<f32> }
@group(0) @binding(0) var<storage, read> rows: array<KIND>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1) fn main() { out[0] = rows[1]PART; }"""


def second(device: rg.Device, array: np.ndarray, kind: str, part: str) -> float:
    """What a shader reads as a part of the second element of an array."""
    g = rg.Graph("rows")
    rows = g.import_array("rows", array, as_buffer=True)
    out = g.buffer("out", shape=(1,), dtype="float32")
    g.compute("take", ROWS.replace("KIND", kind).replace("PART", part), rows=rows, out=out, groups=1)
    g.root(out)
    return float(device.run(g)["out"])


@pytest.mark.parametrize(
    ("kind", "part", "shape", "rows"),
    [
        ("vec3<f32>", ".x", (8, 3), (16, 12)),
        ("vec3<f32>", ".x", (2, 4, 3), (16, 12)),
        ("mat3x3<f32>", "[0].x", (8, 3, 3), (16, 12)),
        ("Pair", ".one.x", (8, 6), (32, 24)),
        ("Pair", ".one.x", (8, 2, 3), (32, 24)),
    ],
)
def test_rows_without_the_padding_of_a_vec3_are_refused(device: rg.Device, kind: str, part: str, shape, rows):
    array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    message = f'rows of {rows[0]} bytes where buffer "rows" has rows of {rows[1]} bytes'
    with pytest.raises(rg.GraphError, match=f'RG-E310 the shader of pass "take" has {message}') as caught:
        second(device, array, kind, part)
    assert "test_array_mistakes.py" in str(caught.value)
    if kind == "Pair":
        padded = np.zeros(8, eval(caught.value.hint.split("does: ")[1], {"numpy": np}))
        padded["one"] = array.reshape(8, 2, 3)[:, 0]
    else:
        padded = eval(caught.value.hint.partition(": ")[2].partition(";")[0], {"numpy": np, "array": array})
    assert (
        second(device, padded, kind, part)
        == array.reshape(-1, *shape[-2 if "mat" in kind else -1 :]).reshape(
            -1, 6 if kind == "Pair" else 9 if "mat" in kind else 3
        )[1][0]
    )


def test_a_buffer_of_rows_that_declares_no_dtype_pads_them(device: rg.Device):
    rows = np.arange(24, dtype=np.float32).reshape(8, 3)
    g = rg.Graph("rows")
    source, out = g.buffer("rows", 128, imported=True), g.buffer("out", shape=(1,), dtype="float32")
    g.compute("take", ROWS.replace("KIND", "vec3<f32>").replace("PART", ".x"), rows=source, out=out, groups=1)
    g.root(out)
    assert float(device.run(g, inputs={"rows": rows})["out"]) == 3


def test_arrays_of_four_or_flat_numbers_are_taken_as_they_lie(device: rg.Device):
    rows = np.arange(32, dtype=np.float32)
    assert second(device, rows.reshape(8, 4), "vec3<f32>", ".x") == 4
    assert second(device, rows, "vec3<f32>", ".x") == 4
    assert second(device, rows.reshape(4, 8), "Pair", ".one.x") == 8


UNIFORM = """
struct Lamp { at: vec3<f32>, power: f32, kind: u32 }
struct Params { gain: f32, lamps: array<Lamp, 2> }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
struct Push { scale: f32, shift: vec2<f32> }
var<immediate> push: Push;
@compute @workgroup_size(1) fn main() {
    let lamp = params.lamps[1];
    out[0] = params.gain;
    out[1] = lamp.at.z;
    out[2] = lamp.power;
    out[3] = f32(lamp.kind);
    out[4] = push.scale + push.shift.y;
}"""


def test_records_are_data_of_a_shader_by_the_names_of_their_fields(device: rg.Device):
    # Packed, in another order and with other numbers than the shader's: each field goes to the member of its name.
    lamp = np.dtype([("kind", "u1"), ("at", "f8", 3), ("power", "f4")])
    lamps = np.array([(1, (1, 2, 3), 4), (2, (5, 6, 7), 8)], lamp)
    params = np.array((0.5, lamps), np.dtype([("gain", "f4"), ("lamps", lamp, 2)]))
    push = np.array([(2, (3, 4))], [("scale", "f4"), ("shift", "f4", 2)])[0]
    g = rg.Graph("records")
    out = g.buffer("out", shape=(5,), dtype="float32")
    g.compute("take", UNIFORM, params=params, out=out, push=push, groups=1)
    g.root(out)
    assert device.run(g)["out"].tolist() == [0.5, 7, 8, 2, 6]
    lamps["power"], push["scale"] = 80, 20
    changed = {("take", "params"): {"gain": 1, "lamps": lamps}, "take": push}
    assert device.run(g, params=changed)["out"].tolist() == [1, 7, 80, 2, 24]
    wrong = np.array([(1, (1, 2, 3), 4)] * 2, [("kind", "u1"), ("place", "f8", 3), ("power", "f4")])
    with pytest.raises(rg.ShaderError, match=r"RG-E306 .*'params\.lamps\[0\]' .* no member 'place'"):
        device.run(g, params={("take", "params"): {"gain": 1, "lamps": wrong}})
