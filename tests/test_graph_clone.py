"""Copies of graphs: the same declaration, each on its own from there on."""

import copy

import pytest

import rgraph as rg


def declared() -> tuple[rg.Graph, rg.Image, rg.Image]:
    """A graph of two passes, of which one makes what nobody wants."""
    g = rg.Graph("frame", size=(64, 32))
    seen, unseen = g.image("seen", format="rgba8unorm"), g.image("unseen", format="rgba16float")
    g.add_pass("draw").color(seen, clear=(0, 0, 0, 1))
    g.add_pass("debug").sampled(seen).color(unseen)
    g.root(seen)
    return g, seen, unseen


def test_a_copy_is_the_same_graph():
    g, _, _ = declared()
    made = g.clone()
    assert (made.name, made.size, made.hash) == (g.name, g.size, g.hash)
    assert made.to_dict() == g.to_dict()
    assert made.bake() == g.bake()
    assert copy.copy(g).hash == g.hash


def test_neither_sees_what_the_other_declares_later():
    g, _, unseen = declared()
    made = g.clone()
    made.root(unseen)
    assert made.bake().pass_names == ["draw", "debug"]
    assert g.bake().pass_names == ["draw"]
    g.add_pass("later").color("seen")
    assert [one.name for one in made.passes] == ["draw", "debug"]
    assert [one.name for one in g.passes] == ["draw", "debug", "later"]


def test_handles_of_the_original_fit_the_copy_and_not_the_reverse():
    g, seen, unseen = declared()
    first = next(one for one in g.passes if one.name == "draw")
    made = g.clone().clone()
    made.add_pass("more", after=first).sampled(unseen).color(made.image("own", like=seen))
    made.root("own")
    assert made.bake().pass_names == ["draw", "debug", "more"]
    mine = made.image("mine", format="r8unorm")
    with pytest.raises(rg.GraphError, match="belongs to another graph"):
        g.root(mine)
    later = g.image("later", format="r8unorm")
    with pytest.raises(rg.GraphError, match="belongs to another graph"):
        made.root(later)
    with pytest.raises(rg.GraphError, match="belongs to another graph"):
        made.add_pass("wrong", after=g.add_pass("new"))


def test_names_and_setup_functions_that_wait_go_along():
    g = rg.Graph()
    out = g.image("out", format="rgba8unorm")
    g.add_pass("late").sampled("comes later").color(out)
    g.add_pass("set up", setup=lambda one: one.color(out, load="load"))
    g.root(out)
    g.extension_point("here")
    made = g.clone()
    for graph in (g, made):
        with pytest.raises(rg.GraphError, match="comes later"):
            graph.bake()
        graph.image("comes later", format="r8unorm", imported=True)
        graph.extend("here").add_pass("extended").color("out", load="load")
        assert graph.bake().pass_names == ["late", "set up", "extended"]
