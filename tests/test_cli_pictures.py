"""Arrays in files: PNG against pillow and against what libpng's test pictures exercise, NPY against numpy, EXR."""

import contextlib
import random
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

import rgraph as rg
from rgraph._core import _png_samples as decode
from rgraph.cli import UsageError, _pictures

pillow = pytest.importorskip("PIL.Image")

ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def packed(samples: np.ndarray, depth: int) -> bytes:
    """A row of samples as PNG packs them."""
    flat = samples.reshape(-1)
    if depth == 16:
        return flat.astype(">u2").tobytes()
    if depth == 8:
        return flat.astype("u1").tobytes()
    bits = "".join(f"{int(one):0{depth}b}" for one in flat)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits), 8))


def filtered(rows: list[bytes], step: int, choose: random.Random) -> bytes:
    """Rows with filters as any writer may choose them; straight from the specification, one byte after the other."""
    out, above = bytearray(), bytes(len(rows[0]) if rows else 0)
    for row in rows:
        kind = choose.randrange(5)
        out.append(kind)
        for at, value in enumerate(row):
            left = row[at - step] if at >= step else 0
            corner = above[at - step] if at >= step else 0
            up = above[at]
            guess = left + up - corner
            nearest = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
            out.append((value - (0, left, up, (left + up) // 2, nearest)[kind]) % 256)
        above = row
    return bytes(out)


def png(
    samples: np.ndarray, color: int, depth: int, *, interlaced: bool = False, more: bytes = b"", seed: int = 1
) -> bytes:
    """A PNG file of samples (height, width, samples)."""
    height, width = samples.shape[:2]
    step = max(1, depth * SAMPLES[color] // 8)
    parts = [samples] if not interlaced else [samples[top::down, left::right] for left, top, right, down in ADAM7]
    choose = random.Random(seed)
    body = b"".join(filtered([packed(row, depth) for row in part], step, choose) for part in parts if part.size)
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, int(interlaced))
    middle = zlib.compress(body)
    cut = len(middle) // 2
    data = chunk(b"IDAT", middle[:cut]) + chunk(b"IDAT", middle[cut:])
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + more + data + chunk(b"IEND", b"")


@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize(
    ("color", "depth"),
    [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16), (4, 8), (4, 16), (6, 8), (6, 16)],
)
@pytest.mark.parametrize("size", [(1, 1), (5, 3), (17, 9)])
def test_png_of_every_kind(color: int, depth: int, interlaced: bool, size: tuple[int, int]):
    width, height = size
    samples = np.random.default_rng(depth).integers(0, 1 << depth, (height, width, SAMPLES[color]))
    got = decode(png(samples, color, depth, interlaced=interlaced))
    assert got[:4] == (width, height, SAMPLES[color], 2 if depth == 16 else 1)
    scaled = samples if depth >= 8 else samples * 255 // ((1 << depth) - 1)
    kind = np.uint16 if depth == 16 else np.uint8
    assert np.array_equal(np.frombuffer(got[4], kind).reshape(samples.shape), scaled)


@pytest.mark.parametrize("depth", [1, 2, 4, 8])
@pytest.mark.parametrize("alpha", [b"", b"\x00\x80"])
def test_png_with_palette(depth: int, alpha: bytes):
    entries = np.random.default_rng(1).integers(0, 256, (1 << depth, 3), np.uint8)
    samples = np.random.default_rng(2).integers(0, 1 << depth, (6, 7, 1))
    more = chunk(b"PLTE", entries.tobytes()) + (chunk(b"tRNS", alpha) if alpha else b"")
    width, height, channels, _, data = decode(png(samples, 3, depth, more=more))
    pixels = np.frombuffer(data, np.uint8).reshape(height, width, channels)
    assert np.array_equal(pixels[..., :3], entries[samples[..., 0]])
    if alpha:
        opaque = np.full(1 << depth, 255)
        opaque[:2] = 0, 128
        assert np.array_equal(pixels[..., 3], opaque[samples[..., 0]])


@pytest.mark.parametrize(("color", "depth"), [(0, 2), (0, 8), (0, 16), (2, 8), (2, 16)])
def test_png_with_a_clear_colour(color: int, depth: int):
    samples = np.random.default_rng(3).integers(0, 1 << depth, (5, 6, SAMPLES[color]))
    key = samples[2, 3]
    width, height, channels, _, data = decode(
        png(samples, color, depth, more=chunk(b"tRNS", key.astype(">u2").tobytes()))
    )
    kind = np.uint16 if depth == 16 else np.uint8
    pixels = np.frombuffer(data, kind).reshape(height, width, channels)
    assert channels == SAMPLES[color] + 1
    assert np.array_equal(pixels[..., -1] == 0, (samples == key).all(axis=2))
    assert pixels[..., -1].max() == np.iinfo(kind).max
    assert np.array_equal(pixels[..., 0], samples[..., 0] if depth >= 8 else samples[..., 0] * 85)


@pytest.mark.parametrize("mode", ["L", "LA", "RGB", "RGBA", "P", "1", "I;16"])
def test_png_as_pillow_writes_it(mode: str, tmp_path: Path):
    values = np.random.default_rng(4).integers(0, 256, (13, 11, 4), np.uint8)
    picture = (
        pillow.fromarray(values, "RGBA") if mode != "I;16" else pillow.fromarray(values[..., 0].astype(np.uint16) * 257)
    )
    # With transparent palette entries pillow warns of itself.
    picture = picture.convert("RGB").convert("P") if mode == "P" else picture
    picture = picture.convert(mode) if mode not in ("P", "I;16") else picture
    picture.save(tmp_path / "x.png")
    width, height, channels, wide, data = decode((tmp_path / "x.png").read_bytes())
    got = np.frombuffer(data, np.uint16 if wide == 2 else np.uint8).reshape(height, width, channels)
    with pillow.open(tmp_path / "x.png") as read:
        wanted = np.asarray(read.convert("RGB") if mode == "P" else read.convert("L") if mode == "1" else read)
    assert np.array_equal(got.squeeze(), wanted)


HEAD = b"\x89PNG\r\n\x1a\n"
END = chunk(b"IEND", b"")


def headed(header: bytes) -> bytes:
    """A PNG file of nothing but a header."""
    return HEAD + chunk(b"IHDR", header) + END


GOOD = png(np.zeros((2, 2, 1), int), 0, 8)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "cannot be read as PNG"),
        (GOOD[:44], "cannot be read as PNG"),
        (GOOD[:33], "cannot be read as PNG"),
        (GOOD.replace(b"\x08\x00\x00\x00\x00", b"\x07\x00\x00\x00\x00", 1), "cannot be read as PNG"),
        (HEAD + END, "cannot be read as PNG"),
        (headed(b"\0\0\0\1\0\0\0\1\3\0\0\0\0"), "cannot be read as PNG"),
        (headed(b"\0\1\0\0\0\1\0\0\x10\6\0\0\0"), "cannot be read as PNG"),
        (headed(b"\0\0\0\1\0\0\0\1\10\0\0\0\0"), "cannot be read as PNG"),
    ],
)
def test_damaged_png_is_told(data: bytes, message: str):
    with pytest.raises(ValueError, match=f"^{message}"):
        decode(data)


def test_a_png_of_too_many_bytes_is_refused():
    size = (1 << 16).to_bytes(4, "big")
    header = chunk(b"IHDR", size + size + b"\x10\6\0\0\0")
    with pytest.raises(ValueError, match="is too large a picture: at most 2 GiB are read"):
        decode(HEAD + header + chunk(b"IDAT", zlib.compress(b"")) + END)


def test_no_bytes_of_a_png_do_harm():
    base = png(np.random.default_rng(5).integers(0, 256, (6, 5, 4)), 6, 8, interlaced=True)
    choose = random.Random(1)
    for _ in range(500):
        data = bytearray(base)
        for _ in range(choose.randrange(1, 4)):
            data[choose.randrange(len(data))] = choose.randrange(256)
        # With checksums that hold, so that what is behind them is tried too.
        out, at = bytes(data[:8]), 8
        while at + 12 <= len(data):
            length = min(int.from_bytes(data[at : at + 4], "big"), 10_000)
            out += chunk(bytes(data[at + 4 : at + 8]), bytes(data[at + 8 : at + 8 + length]))
            at += 12 + length
        try:
            width, height, channels, wide, samples = decode(out)
        except ValueError:
            continue
        assert len(samples) == width * height * channels * wide


@pytest.mark.parametrize("kind", ["u1", "i1", "u2", "i2", "u4", "f2", "f4", "f8"])
@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 3, 4)])
def test_npy_is_numpys(kind: str, shape: tuple[int, ...], tmp_path: Path):
    values = np.arange(np.prod(shape)).reshape(shape).astype(kind)
    np.save(tmp_path / "x.npy", values)
    got = _pictures.read(str(tmp_path / "x.npy"))
    assert np.array_equal(np.frombuffer(got.data, kind).reshape(got.shape), values)
    assert got.picture is False


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.asfortranarray(np.zeros((2, 3))), "holds its columns first"),
        (np.zeros(2, ">f4"), 'holds numbers of kind ">f4"'),
        (np.zeros(2, "c8"), 'holds numbers of kind "<c8"'),
        (np.zeros(2, [("a", "u1")]), "holds records, but must hold numbers"),
        (np.zeros((0, 4, 4), "u1"), r"holds no numbers: its shape is \(0, 4, 4\)"),
    ],
)
def test_npy_that_is_not_understood(values: np.ndarray, message: str, tmp_path: Path):
    np.save(tmp_path / "x.npy", values)
    with pytest.raises(UsageError, match=f"x.npy: {message}"):
        _pictures.read(str(tmp_path / "x.npy"))


def test_npy_of_truth_keeps_its_kind(tmp_path: Path):
    np.save(tmp_path / "x.npy", np.array([[True, False]]))
    got = _pictures.read(str(tmp_path / "x.npy"))
    assert (got.letter, got.shape, got.data) == ("?", (1, 2), b"\1\0")


def test_npy_that_ends_early(tmp_path: Path):
    np.save(tmp_path / "x.npy", np.zeros(8))
    (tmp_path / "x.npy").write_bytes((tmp_path / "x.npy").read_bytes()[:-1])
    with pytest.raises(UsageError, match="has 63 bytes of numbers rather than 64"):
        _pictures.read(str(tmp_path / "x.npy"))


def test_jpeg_and_exr_by_packages(tmp_path: Path):
    pillow.new("RGB", (8, 4), (255, 0, 0)).save(tmp_path / "x.jpg", quality=95)
    assert _pictures.read(str(tmp_path / "x.jpg")).shape == (4, 8, 3)
    openexr = pytest.importorskip("OpenEXR")
    values = np.random.default_rng(6).random((4, 8, 4), np.float32)
    header = {"compression": openexr.PIZ_COMPRESSION, "type": openexr.scanlineimage}
    openexr.File(header, {"RGBA": values}).write(str(tmp_path / "x.exr"))
    got = _pictures.read(str(tmp_path / "x.exr"))
    assert np.array_equal(np.frombuffer(got.data, np.float32).reshape(got.shape), values)


@pytest.mark.parametrize("at", range(8, 320, 13))
def test_a_damaged_exr_is_told(at: int, tmp_path: Path):
    openexr = pytest.importorskip("OpenEXR")
    path = tmp_path / "x.exr"
    openexr.File({"type": openexr.scanlineimage}, {"RGBA": np.ones((4, 8, 4), np.float32)}).write(str(path))
    data = path.read_bytes()
    for broken in (data[:at] + b"\xd7" + data[at + 1 :], data[:at]):
        path.write_bytes(broken)
        with contextlib.suppress(UsageError):
            assert _pictures.read(str(path)).shape == (4, 8, 4)


def test_a_bitmap_that_would_fill_the_memory_is_told(tmp_path: Path):
    path = tmp_path / "x.bmp"
    pillow.new("RGB", (8, 4)).save(path)
    data = path.read_bytes()
    path.write_bytes(data[:18] + (1 << 20).to_bytes(4, "little") * 2 + data[26:])
    with pytest.raises(UsageError, match=r"x.bmp: Image size \(1099511627776 pixels\)"):
        _pictures.read(str(path))


def test_one_number_is_no_image(tmp_path: Path):
    np.save(tmp_path / "x.npy", np.uint8(3))
    with pytest.raises(UsageError, match=r'x\.npy: holds one number, and "a" is an image'):
        _pictures.fit(_pictures.read(str(tmp_path / "x.npy")), rg.Graph().image("a", (1, 1), "r8uint"), "x.npy")


@pytest.mark.parametrize(
    ("name", "package", "message"),
    [("x.exr", "OpenEXR", "EXR"), ("x.jpg", "PIL.Image", "JPG")],
)
def test_missing_package_is_told(
    name: str, package: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / name).touch()
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(UsageError, match=f"^{message} needs a package that is not installed$") as raised:
        _pictures.read(str(tmp_path / name))
    assert raised.value.hint == 'pip install "rgraph-vulkan[io]"'


def image(format: str, size: tuple[int, int] = (2, 1)) -> rg.Image:
    return rg.Graph().import_image("x", size, format)


def linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


@pytest.mark.parametrize(
    ("format", "wanted"),
    [
        ("rgba8unorm", [[0, 51, 255, 255], [102, 0, 0, 255]]),
        ("rgba8unorm-srgb", [[0, 51, 255, 255], [102, 0, 0, 255]]),
        ("bgra8unorm", [[255, 51, 0, 255], [0, 0, 102, 255]]),
        ("rgba16unorm", [[0, 51 * 257, 65535, 65535], [102 * 257, 0, 0, 65535]]),
        ("rgba8snorm", [[0, 25, 127, 127], [51, 0, 0, 127]]),
        ("rgba8uint", [[0, 51, 255, 255], [102, 0, 0, 255]]),
        ("rgba32float", [[0, linear(0.2), 1, 1], [linear(0.4), 0, 0, 1]]),
        ("rgba16float", [[0, linear(0.2), 1, 1], [linear(0.4), 0, 0, 1]]),
    ],
)
def test_picture_becomes_what_an_image_holds(format: str, wanted: list[list[float]]):
    numbers = _pictures.Numbers((1, 2, 3), "B", bytes([0, 51, 255, 102, 0, 0]), picture=True)
    got = np.asarray(_pictures.fit(numbers, image(format), "x.png"))
    assert got.shape == (1, 2, 4)
    assert np.allclose(got[0], wanted, atol=1e-3)


def test_picture_of_16_bits_loses_half_of_them():
    data = np.array([0, 128, 257 * 7, 65535], np.uint16).tobytes()
    got = np.asarray(
        _pictures.fit(_pictures.Numbers((1, 4, 1), "H", data, picture=True), image("r8unorm", (4, 1)), "x.png")
    )
    assert got.ravel().tolist() == [0, 0, 7, 255]


def test_grey_becomes_colour_and_keeps_alpha():
    grey = _pictures.Numbers((1, 2, 2), "B", bytes([10, 20, 30, 40]), picture=True)
    got = np.asarray(_pictures.fit(grey, image("rgba8unorm"), "x.png"))
    assert got[0].tolist() == [[10, 10, 10, 20], [30, 30, 30, 40]]


@pytest.mark.parametrize(
    ("shape", "format", "message"),
    [
        (
            (1, 3, 4),
            "rgba8unorm",
            'x.png: the picture is 3 × 1, and "x" 2 × 1\n  help: resize one of them: 2 × 1 for the picture',
        ),
        (
            (1, 2, 3),
            "r8unorm",
            'x.png: the picture is colour, and "x" has 1 channel\n  help: convert the picture to grey, or',
        ),
        (
            (1, 2, 1),
            "rg8unorm",
            'x.png: the picture is grey, and "x" has 2 channels\n  help: convert the picture to grey and alpha',
        ),
        ((1, 2, 4), "rgb10a2unorm", 'x.png: a picture does not fit "x", which is rgb10a2unorm'),
    ],
)
def test_picture_that_does_not_fit(shape: tuple[int, ...], format: str, message: str):
    numbers = _pictures.Numbers(shape, "B", bytes(int(np.prod(shape))), picture=True)
    with pytest.raises(UsageError) as raised:
        _pictures.fit(numbers, image(format), "x.png")
    assert "\n  help: ".join(filter(None, (str(raised.value), raised.value.hint))).startswith(message)
