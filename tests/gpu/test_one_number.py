"""Results of one element are numbers, and results of several are not."""

import numpy as np
import pytest

import rgraph as rg


def filled(device: rg.Device, word: int, count: int = 1, dtype: str = "uint32") -> rg.Array:
    g = rg.Graph("filled")
    words = g.buffer("words", shape=count, dtype=dtype)
    g.fill("fill", words, word)
    g.root(words)
    return device.run(g)["words"]


def test_the_bytes_of_one_number_are_not_digits(device: rg.Device):
    digits = int.from_bytes(b"1234", "little")
    assert int(filled(device, digits)) == digits
    assert float(filled(device, digits)) == float(digits)
    assert float(filled(device, 0x3FC00000, dtype="float32")) == 1.5
    assert complex(filled(device, 0x3FC00000, dtype="float32")) == 1.5


def test_one_zero_is_false(device: rg.Device):
    assert not filled(device, 0)
    assert filled(device, 7)


def test_several_numbers_are_not_one(device: rg.Device):
    several = filled(device, 7, 4)
    for call, error, hint in ((int, TypeError, "index"), (float, TypeError, "index"), (bool, ValueError, "numpy.any")):
        with pytest.raises(error, match=f'"words" has several elements.*{hint}'):
            call(several)


def test_what_only_numpy_has_is_said_to_be_there(device: rg.Device):
    array = filled(device, 7)
    with pytest.raises(AttributeError, match=r"no attribute 'mean'; numpy.asarray\(…\) of it has mean"):
        array.mean()  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"no attribute 'men'$"):
        array.men()  # type: ignore[attr-defined]
    assert not hasattr(array, "__array_interface__")
    assert np.asarray(array).mean() == 7
