"""Small pictures of arrays of every kind."""

import base64
import struct
import zlib

import numpy as np
import pytest

import rgraph
from rgraph._core import preview
from rgraph._preview import data_uri, values


def pixels(png: bytes) -> np.ndarray:
    """Decode an RGB picture of eight bits, as the specification says, with nothing of ours."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, data = 8, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        body = png[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, color = struct.unpack(">IIBB", body[:10])
            assert (depth, color) == (8, 2)
        data += body if kind == b"IDAT" else b""
        at += length + 12
    raw = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + width * 3)
    out = np.zeros((height, width * 3), np.int32)
    for y, line in enumerate(raw):
        up = out[y - 1] if y else np.zeros(width * 3, np.int32)
        for x in range(width * 3):
            left, above = (out[y, x - 3] if x > 2 else 0), up[x]
            corner = up[x - 3] if x > 2 else 0
            guess = left + above - corner
            near = min((left, above, corner), key=lambda one: (abs(guess - one), (left, above, corner).index(one)))
            add = [0, left, above, (left + above) // 2, near][line[0]]
            out[y, x] = (line[1 + x] + add) & 255
    return out.reshape(height, width, 3)


def test_bytes_are_shown_as_they_are():
    array = np.arange(4 * 5 * 4, dtype=np.uint8).reshape(4, 5, 4)
    assert (pixels(preview(array)) == array[..., :3]).all()
    swapped = pixels(preview(array, "bgra8unorm"))
    assert (swapped == array[..., 2::-1]).all()
    assert (pixels(preview(array[..., :2].copy()))[..., 2] == 0).all()
    grey = pixels(preview(array[..., 0].copy()))
    assert (grey == array[..., :1]).all()


def test_large_arrays_shrink_to_their_mean():
    array = np.zeros((512, 1024), np.uint8)
    array[:, 512:] = 200
    picture = pixels(preview(array))
    assert picture.shape == (128, 256, 3)
    assert (picture[:, :128] == 0).all()
    assert (picture[:, 128:] == 200).all()
    stripes = np.tile(np.array([0, 100], np.uint8), (64, 256))
    assert np.isin(pixels(preview(stripes, size=128)), [50]).all()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floats_are_linear_light_with_the_brightest_near_white(dtype):
    array = np.linspace(0, 1, 64, dtype=dtype).reshape(8, 8)
    picture = pixels(preview(array))
    srgb = np.where(array <= 0.0031308, 12.92 * array, 1.055 * np.float64(array) ** (1 / 2.4) - 0.055)
    assert np.abs(picture[..., 0] - srgb * 255).max() <= 1
    assert (pixels(preview(array * dtype(16)))[..., 0][-1, -1]) >= 250
    normals = np.array([[-1.0, 0.0, 1.0]], dtype)
    assert pixels(preview(normals))[0, :, 0].tolist() == [0, 128, 255]


def test_what_is_not_finite_is_magenta():
    array = np.array([[0.5, np.nan, np.inf, 1.0]], np.float32)
    assert pixels(preview(array))[0, 1:3].tolist() == [[255, 0, 255]] * 2


def test_depths_and_integers_are_stretched_and_the_far_plane_is_white():
    depth = np.array([[0.9, 0.95, 0.99, 1.0]], np.float32)
    row = pixels(preview(depth, "depth32float"))[0, :, 0].tolist()
    assert row[0] == 0
    assert row == sorted(row)
    assert row[-1] == 255
    assert row[2] == round(0.92 * 255)
    ids = np.array([[0, 3, 6]], np.uint32)
    assert pixels(preview(ids, "r32uint"))[0, :, 0].tolist() == [0, 128, 255]


def test_packed_formats_are_taken_apart():
    ten = np.array([[1023 | 512 << 10]], np.uint32)
    assert pixels(preview(ten, "rgb10a2unorm"))[0, 0].tolist() == [255, 128, 0]
    # Eleven bits: exponent 15 is 1.0; ten bits: five of the exponent, five of the fraction.
    eleven = np.array([[(15 << 6) | (15 << 6) << 11 | (15 << 5) << 22]], np.uint32)
    assert pixels(preview(eleven, "rg11b10ufloat"))[0, 0].tolist() == [255] * 3
    nine = np.array([[256 | 256 << 9 | 0 << 18 | 16 << 27]], np.uint32)
    assert pixels(preview(nine, "rgb9e5ufloat"))[0, 0].tolist() == [255, 255, 0]


def test_layers_stand_beside_each_other():
    array = np.stack([np.full((4, 4, 1), value, np.uint8) for value in (10, 20, 30)])
    assert pixels(preview(array))[0, :, 0].tolist() == [10] * 4 + [20] * 4 + [30] * 4


def test_what_is_no_picture_says_so():
    with pytest.raises(rgraph.GraphError, match=r"an array of shape \(3,\) of uint8 is no picture"):
        preview(np.zeros(3, np.uint8))
    with pytest.raises(rgraph.GraphError, match="is no picture"):
        preview(np.zeros((0, 4), np.uint8))
    with pytest.raises(rgraph.GraphError, match="format"):
        preview(np.zeros((4, 4), np.uint8), "rgba8unrm")
    with pytest.raises(TypeError, match="buffer"):
        preview("text")


def test_data_uris_are_pictures_and_need_no_numpy():
    uri = data_uri(memoryview(bytes(range(16))).cast("B", (4, 4)))
    head, _, body = uri.partition(",")
    assert head == "data:image/png;base64"
    assert pixels(base64.b64decode(body))[..., 0].tolist() == np.arange(16).reshape(4, 4).tolist()


def decoded(array: np.ndarray, size: int = 256) -> np.ndarray:
    """The values that a page gets of an array: (layers, height, width, channels)."""
    uri, (width, height), _, layers, channels, *_ = values(array, size=size)
    planes = pixels(base64.b64decode(uri.partition(",")[2])).astype(np.uint32)
    parts = planes.reshape(-1, height, len(layers), width, 3)
    words = parts[0] << 24 | parts[1] << 16 | parts[2] << 8
    if channels == 4:
        alpha = parts[3][..., :1] << 24 | parts[3][..., 1:2] << 16 | parts[3][..., 2:3] << 8
        words = np.concatenate([words, alpha], axis=-1)
    return words.astype(np.uint32).view(np.float32).transpose(1, 0, 2, 3)[..., :channels]


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32, np.uint32])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_pages_get_values_to_twelve_bits(dtype, channels):
    array = (np.random.default_rng(channels).random((3, 5, 7, channels)) * 200).astype(dtype)
    found = decoded(array)
    assert found.shape == array.shape
    assert np.allclose(found, array, rtol=2.0**-12, atol=0)


def test_pages_get_what_is_not_finite():
    array = np.array([[np.nan, np.inf, -np.inf, 3.4e38]], np.float32)
    found = decoded(array)[0, 0, :, 0]
    assert np.isnan(found[0])
    assert found[1:3].tolist() == [np.inf, -np.inf]


def test_pages_get_means_of_long_sides():
    array = np.zeros((4, 1024), np.float32)
    array[:, ::2] = 1.0
    assert (decoded(array) == 0.5).all()
    assert values(array)[1:4] == ((256, 1), (1024, 4, 1), [0])
    assert values(array)[4:6] == (1, "float")
