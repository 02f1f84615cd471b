"""What a plan notes of declarations that are right and still suspicious."""

from __future__ import annotations

import pytest

import rgraph as rg


def draws(g: rg.Graph, name: str, target: rg.Image) -> None:
    g.add_pass(name).color(target, clear=(0, 0, 0, 1))


def test_a_read_over_mips_that_nothing_writes_is_noted():
    g = rg.Graph(size=(64, 64))
    pyramid = g.image("pyramid", format="rgba8unorm", mips="full")
    out = g.image("out", format="rgba8unorm")
    g.add_pass("base").color(pyramid, mips=0, clear=(0, 0, 0, 1))
    g.add_pass("third").color(pyramid, mips=2, clear=(0, 0, 0, 1))
    g.add_pass("blur").sampled(pyramid).color(out)
    g.root(out)
    (note,) = g.bake().notes
    assert note.startswith('pass "blur" reads mip 1, mips 3 to 6 of "pyramid", which nothing writes')


def test_a_read_over_layers_that_nothing_writes_is_noted_once():
    g = rg.Graph(size=(8, 8))
    stack = g.image("stack", format="rgba8unorm", layers=4)
    out = g.image("out", format="rgba8unorm")
    g.add_pass("first").color(stack, layers=0, clear=(0, 0, 0, 1))
    g.add_pass("one").sampled(stack).color(out)
    g.add_pass("two").sampled(stack).color(out)
    g.root(out)
    (note,) = g.bake().notes
    assert 'pass "one" reads layers 1 to 3 of "stack"' in note


@pytest.mark.parametrize("narrow", [True, False])
def test_reads_of_what_is_written_have_no_note(narrow: bool):
    g = rg.Graph(size=(8, 8))
    pyramid = g.image("pyramid", format="rgba8unorm", mips=2)
    out = g.image("out", format="rgba8unorm")
    g.add_pass("base").color(pyramid, mips=0, clear=(0, 0, 0, 1))
    if not narrow:
        g.add_pass("next").sampled(pyramid, mips=0).color(pyramid, mips=1)
    g.add_pass("blur").sampled(pyramid, mips=0 if narrow else (0, 2)).color(out)
    g.root(out)
    assert g.bake().notes == []


def test_a_culled_reader_has_no_note():
    g = rg.Graph(size=(8, 8))
    pyramid = g.image("pyramid", format="rgba8unorm", mips=2)
    stray = g.image("stray", format="rgba8unorm")
    g.add_pass("base").color(pyramid, mips=0, clear=(0, 0, 0, 1))
    g.add_pass("blur").sampled(pyramid).color(stray)
    g.root(pyramid)
    assert g.bake().notes == []


def test_a_result_that_is_replaced_before_a_read_is_noted():
    g = rg.Graph(size=(8, 8))
    out = g.image("out", format="rgba8unorm")
    draws(g, "first", out)
    draws(g, "second", out)
    g.root(out)
    plan = g.bake()
    assert plan.pass_names == ["second"]
    (note,) = plan.notes
    assert note.startswith('pass "second" replaces "out" before anything reads what pass "first" writes to it')


def test_results_that_are_read_or_drawn_over_have_no_note():
    g = rg.Graph(size=(8, 8))
    out, other = g.image("out", format="rgba8unorm"), g.image("other", format="rgba8unorm")
    depth = g.image("depth", format="depth32float")
    g.add_pass("first").color(out, clear=(0, 0, 0, 1)).depth(depth, clear=1.0)
    g.add_pass("seen").sampled(out).color(other)
    g.add_pass("second").color(out, clear=(0, 0, 0, 1)).depth(depth, clear=1.0)
    g.add_pass("over").color(out)
    g.root(out)
    g.root(other)
    assert g.bake().notes == []


def test_a_resolved_image_is_replaced_without_a_note():
    g = rg.Graph(size=(8, 8))
    fine = g.image("fine", format="rgba8unorm", samples=4)
    a, b = g.image("a", format="rgba8unorm"), g.image("b", format="rgba8unorm")
    g.add_pass("first").color(fine, clear=(0, 0, 0, 1)).resolve(a)
    g.add_pass("second").color(fine, clear=(0, 0, 0, 1)).resolve(b)
    g.root(a)
    g.root(b)
    assert g.bake().notes == []


def test_size_and_format_in_each_others_place_are_named():
    g = rg.Graph()
    with pytest.raises(TypeError, match=r"each other's place: write size=\(8, 8\), format='rgba8unorm'"):
        g.image("a", "rgba8unorm", (8, 8))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="give the format by its name, format='rgba8unorm'"):
        g.image("a", "rgba8unorm")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match='format is a name such as "rgba8unorm", not a tuple'):
        g.image("a", format=(8, 8))  # type: ignore[arg-type]
    g.image("a", (8, 8), "rgba8unorm")
