"""Objects that are no numpy arrays, and hold what one holds."""

import array
import copy
import ctypes
import operator
import pickle
import sys
from typing import Any

import numpy as np
import pytest
from PIL import Image

import rgraph as rg

PIXELS = np.arange(4 * 6 * 4, dtype=np.uint8).reshape(4, 6, 4)


class Interface:
    """An array by `__array_interface__` alone."""

    def __init__(self, array: np.ndarray):
        self._array = array
        self.__array_interface__ = array.__array_interface__


class Converted:
    """An array by `__array__` alone, as tensors have it."""

    def __init__(self, array: np.ndarray):
        self._array = array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self._array


class Exported:
    """An array by DLPack alone."""

    def __init__(self, array: np.ndarray):
        self._array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[Any, Any]:
        return self._array.__dlpack_device__()


def of_ctypes(pixels: np.ndarray) -> Any:
    kind = ctypes.c_uint8
    for axis in reversed(pixels.shape):
        kind = kind * axis
    return kind.from_buffer_copy(pixels.tobytes())


PICTURES = {
    "memoryview": memoryview(PIXELS.tobytes()).cast("B", PIXELS.shape),
    "ctypes": of_ctypes(PIXELS),
    "pillow": Image.fromarray(PIXELS),
    "interface": Interface(PIXELS),
    "converted": Converted(PIXELS),
    "exported": Exported(PIXELS),
}


def copied(source: Any, **options: Any) -> rg.Graph:
    g = rg.Graph()
    src = g.import_array("src", source, **options)
    dst = g.buffer("dst", like=src) if options else g.image("dst", like=src)
    g.copy("copy", src, dst)
    g.root(dst)
    return g


@pytest.mark.parametrize("picture", PICTURES.values(), ids=PICTURES)
def test_a_picture_may_be_any_object_that_has_one(device: rg.Device, picture: Any):
    assert np.array_equal(device.run(copied(picture))["dst"], PIXELS)
    compiled = device.compile(copied(np.zeros_like(PIXELS)))
    assert np.array_equal(compiled.run(inputs={"src": picture})["dst"], PIXELS)
    image = device.image("image", (6, 4), "rgba8unorm")
    image.write(picture)
    assert np.array_equal(image.read(), PIXELS)
    rg.Graph().image("state", (6, 4), "rgba8unorm", persistent=picture)


@pytest.mark.parametrize(
    "numbers",
    [
        array.array("f", [1, 2, 3]),
        (ctypes.c_float * 3)(1, 2, 3),
        Interface(np.float32([1, 2, 3])),
        Converted(np.float32([1, 2, 3])),
        Exported(np.float32([1, 2, 3])),
    ],
    ids=lambda numbers: type(numbers).__name__,
)
def test_so_may_a_buffer(device: rg.Device, numbers: Any):
    result = device.run(copied(numbers, as_buffer=True))["dst"]
    assert result.dtype == "float32"
    assert result.tolist() == [1, 2, 3]


@pytest.mark.parametrize("mode", ["1", "L", "RGB"])
def test_pictures_of_pillow_have_their_channels(device: rg.Device, mode: str):
    picture = Image.fromarray(PIXELS).convert(mode)
    expected = np.asarray(picture)
    expected = expected.astype(np.uint8) * 255 if mode == "1" else expected
    assert np.array_equal(device.run(copied(picture))["dst"], expected)


@pytest.mark.parametrize("mode", ["P", "CMYK", "HSV"])
def test_numbers_that_are_no_colours_are_refused(mode: str):
    picture = Image.fromarray(PIXELS[..., :3]).convert(mode)
    with pytest.raises(rg.GraphError, match=f'RG-E320 .* mode "{mode}"') as caught:
        copied(picture)
    assert "convert" in str(caught.value)


def test_what_would_only_fill_a_copy_is_refused(device: rg.Device):
    compiled = device.compile(copied(PIXELS))
    with pytest.raises(rg.GraphError, match="cannot be written"):
        compiled.run(into={"dst": Converted(np.empty_like(PIXELS))})


def test_an_object_says_itself_why_it_is_none():
    class Elsewhere:
        def __array__(self, *args: Any, **options: Any) -> Any:
            raise RuntimeError("the tensor is on another device")

    with pytest.raises(RuntimeError, match="on another device"):
        copied(Elsewhere())


@pytest.mark.parametrize("numbers", [[1, 2], range(3), np.zeros(3, "M8[s]"), np.float32(1)])
def test_what_holds_no_numbers_of_these_kinds_is_refused(numbers: Any):
    with pytest.raises((TypeError, rg.GraphError)):
        copied(numbers, as_buffer=True)


def test_an_array_of_another_kind_is_refused_with_its_dtype():
    with pytest.raises(rg.GraphError, match=r"RG-E320 .* has elements of datetime64\[s\]"):
        copied(np.zeros(3, "M8[s]"), as_buffer=True)


@pytest.mark.parametrize("dtype", ["int32", "float64", "int64", "float16"])
def test_a_buffer_of_floats_takes_no_bytes_of_other_numbers(device: rg.Device, dtype: str):
    compiled = device.compile(copied(np.zeros(8, np.float32), as_buffer=True))
    other = np.zeros(32 // np.dtype(dtype).itemsize, dtype)
    with pytest.raises(rg.GraphError, match=f"RG-E320 .* of {dtype}, and the buffer of float32") as caught:
        compiled.run(inputs={"src": other})
    assert 'array.astype("float32")' in str(caught.value)
    assert compiled.run(inputs={"src": other.view(np.uint8)})["dst"].tolist() == [0] * 8


def test_integers_with_and_without_a_sign_are_the_same_bytes(device: rg.Device):
    compiled = device.compile(copied(np.zeros(2, np.uint32), as_buffer=True))
    assert compiled.run(inputs={"src": np.int32([-1, 1])})["dst"].tolist() == [2**32 - 1, 1]


@pytest.fixture
def result(device: rg.Device) -> rg.Array:
    return device.run(copied(np.int32([3, 5, 8]), as_buffer=True))["dst"]


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_"])
def test_results_calculate_as_numpys_arrays_do(result: rg.Array, name: str):
    calculate, plain, other = getattr(operator, name), np.int32([3, 5, 8]), np.int32([1, 2, 3])
    assert np.array_equal(calculate(result, other), calculate(plain, other))
    assert np.array_equal(calculate(other, result), calculate(other, plain))
    if name != "matmul":
        assert np.array_equal(calculate(result, 2), calculate(plain, 2))
        assert np.array_equal(calculate(2, result), calculate(2, plain))


def test_results_compare_number_by_number(result: rg.Array):
    assert (result == 5).tolist() == [False, True, False]
    assert (result != 5).tolist() == [True, False, True]
    assert (result > 4).tolist() == [False, True, True]
    assert (result <= 5).tolist() == [True, True, False]
    assert (-result).tolist() == [-3, -5, -8]
    assert abs(-result).tolist() == [3, 5, 8]
    with pytest.raises(TypeError):
        result + "text"


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_result_is_copied_and_pickled_as_numpys(result: rg.Array, make: Any):
    made = make(result)
    assert type(made) is np.ndarray
    assert made.dtype == np.int32
    assert made.tolist() == [3, 5, 8]
    made[0] = 1
    assert result[0] == 3


def test_without_numpy_a_result_says_what_brings_it(result: rg.Array, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(ModuleNotFoundError, match="pip install numpy"):
        result[0]
    assert result.tolist() == [3, 5, 8]
