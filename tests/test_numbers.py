"""Numbers that are no whole numbers, and what is no number at all, where a whole number is meant."""

import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import rgraph as rg

WHOLE: list[Callable[[rg.Graph, object], object]] = [
    lambda g, n: g.image("a", (4, 4), "rgba8unorm", mips=n),  # type: ignore[arg-type]
    lambda g, n: g.image("a", (4, 4), "rgba8unorm", layers=n),  # type: ignore[arg-type]
    lambda g, n: g.image("a", (4, 4), "rgba8unorm", samples=n),  # type: ignore[arg-type]
    lambda g, n: g.image("a", (n, 4), "rgba8unorm"),
    lambda g, n: g.image("a", {"x": n, "y": 4}, "rgba8unorm"),
    lambda g, n: g.buffer("a", n),  # type: ignore[arg-type]
    lambda g, n: g.buffer("a", shape=n, dtype="float32"),  # type: ignore[arg-type]
    lambda g, n: g.buffer("a", shape=(2, n), dtype="float32"),  # type: ignore[arg-type]
    lambda g, n: g.import_buffer("a", n),  # type: ignore[arg-type]
    lambda g, n: g.image("a", (4, 4), "rgba8unorm").previous(n),  # type: ignore[arg-type]
    lambda g, n: g.image("a", (4, 4), "rgba8unorm").mip(n),  # type: ignore[arg-type]
    lambda g, n: rg.Graph(size=(n, 4)),  # type: ignore[arg-type]
    lambda g, n: g.fill("a", g.buffer("b", 16), n),  # type: ignore[arg-type]
]


def test_a_word_has_32_bits_and_is_no_bool():
    g = rg.Graph()
    for word in (2**32, 2**63):
        with pytest.raises(rg.GraphError, match=f"RG-E213 word: {word} is out of range") as caught:
            g.fill("a", g.buffer(f"b{word}", 16), word)
        assert caught.value.hint == "a word has 32 bits: give -2147483648 to 4294967295"
    with pytest.raises(TypeError, match="expected a number, not a bool"):
        g.fill("a", g.buffer("b", 16), True)


@pytest.mark.parametrize("call", WHOLE)
@pytest.mark.parametrize("number", [1e6, 2.5, np.float32(3), Fraction(7, 2)], ids=str)
def test_a_number_that_is_not_whole_is_refused_with_its_value(call: Callable[..., object], number: object):
    g = rg.Graph()
    with pytest.raises(rg.GraphError, match="RG-E213") as caught:
        call(g, number)
    text = str(caught.value)
    assert "where a whole number is meant" in text
    assert "help: " in text


def test_a_whole_float_is_shown_as_the_number_to_write():
    with pytest.raises(rg.GraphError, match=r"help: write 1000000$"):
        rg.Graph().image("a", (4, 4), "rgba8unorm", mips=1e6)  # type: ignore[arg-type]
    with pytest.raises(rg.GraphError, match=r"round it with int\(\), or divide with //"):
        rg.Graph().buffer("a", 5 / 2)  # type: ignore[arg-type]


@pytest.mark.parametrize("call", WHOLE)
@pytest.mark.parametrize("number", [10**30, 10**5000, -(10**30), -1], ids=["large", "huge", "negative", "minus one"])
def test_a_number_out_of_range_is_refused_at_once(call: Callable[..., object], number: int):
    began = time.process_time()
    if number == -1 and call is WHOLE[-1]:
        pytest.skip("a fill takes signed numbers")
    with pytest.raises(rg.GraphError, match="RG-E213"):
        call(rg.Graph(), number)
    assert time.process_time() - began < 5


@pytest.mark.parametrize("mips", [10**6, 2**31, 2**32 - 2])
def test_more_mips_than_a_size_has_are_refused_by_the_bake_at_once(mips: int):
    g = rg.Graph()
    out = g.image("out", (64, 64), "rgba8unorm", mips=mips)
    g.add_pass("draw", queue="compute").storage_write(out)
    g.root(out)
    began = time.process_time()
    with pytest.raises(rg.GraphError, match="out"):
        g.bake()
    assert time.process_time() - began < 5


@pytest.mark.parametrize("layers", [10**6, 2**31, 2**32 - 2])
def test_more_layers_than_devices_have_are_refused_by_the_bake_at_once(layers: int):
    g = rg.Graph()
    out = g.image("out", (64, 64), "rgba8unorm", layers=layers)
    g.add_pass("draw").color(out)
    g.root(out)
    began = time.process_time()
    with pytest.raises(rg.GraphError, match="out"):
        g.bake()
    assert time.process_time() - began < 5


@pytest.mark.parametrize("call", WHOLE[:-1])
@pytest.mark.parametrize("value", ["4", None, object(), True], ids=["text", "none", "object", "bool"])
def test_what_is_no_number_is_a_type_error_or_an_absent_argument(call: Callable[..., object], value: object):
    if value is None:
        pytest.skip("None leaves an argument out")
    with pytest.raises((TypeError, rg.GraphError)) as caught:
        call(rg.Graph(), value)
    assert "interpreted as an integer" not in str(caught.value)
