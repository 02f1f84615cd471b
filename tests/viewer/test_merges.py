"""What would let two passes be one render pass: each reason has a fix to type, and the fix helps."""

from collections.abc import Callable

import pytest

import rgraph as rg


def base(name: str) -> tuple[rg.Graph, rg.Image]:
    graph = rg.Graph(name, size=(64, 64))
    color = graph.image("color", format="rgba8unorm")
    graph.root(color)
    return graph, color


def area(fixed: bool) -> rg.Graph:
    graph, color = base("area")
    small = graph.image("small", None if fixed else (32, 32), "rgba8unorm", like=color if fixed else None)
    graph.add_pass("one").color(color)
    graph.add_pass("two").input_attachment(color).color(small) if fixed else graph.add_pass("two").color(small)
    graph.root(small)
    return graph


def depth(fixed: bool) -> rg.Graph:
    graph, color = base("depth")
    near, far = graph.image("near", format="depth32float"), graph.image("far", format="depth32float")
    graph.add_pass("one").color(color).depth(near)
    graph.add_pass("two").color(color, load="load").depth(near if fixed else far, load="load" if fixed else "clear")
    return graph


def not_local(fixed: bool) -> rg.Graph:
    graph, color = base("not_local")
    out = graph.image("out", format="rgba8unorm")
    graph.add_pass("one").color(color)
    two = graph.add_pass("two").color(out)
    _ = two.input_attachment(color) if fixed else two.sampled(color)
    graph.root(out)
    return graph


def conditional(fixed: bool) -> rg.Graph:
    graph, color = base("conditional")
    graph.add_pass("one").color(color)
    graph.add_pass("two", conditional=None if fixed else "overlay").color(color, load="load")
    return graph


def too_many(fixed: bool) -> rg.Graph:
    graph, color = base("too_many")
    first = [graph.image(f"first{at}", format="rgba8unorm") for at in range(4)]
    own = [graph.image(f"own{at}", format="rgba8unorm") for at in range(4)]
    graph.add_pass("one").color(color, *first)
    two = graph.add_pass("two").color(color, load="load").color(*own[1:])
    _ = two.storage_write(own[0]) if fixed else two.color(own[0])
    graph.root(*first, *own)
    return graph


def reloaded(fixed: bool) -> rg.Graph:
    graph, color = base("reloaded")
    near = graph.image("near", format="depth32float")
    graph.add_pass("one").color(color).depth(near)
    graph.add_pass("two").color(color, load="load").depth(near, load="load" if fixed else "clear")
    return graph


def one_aspect(fixed: bool) -> rg.Graph:
    graph, color = base("one_aspect")
    near = graph.image("near", format="depth32float" if fixed else "depth32float-stencil8")
    out = graph.image("out", format="rgba8unorm")
    graph.add_pass("one").color(color).depth(near, aspects="depth")
    graph.add_pass("two").input_attachment(color).color(out)
    graph.root(out)
    return graph


def other_part(fixed: bool) -> rg.Graph:
    graph = rg.Graph("other_part", size=(64, 64))
    image = graph.image("image", format="rgba8unorm", layers=4)
    graph.add_pass("one").color(image, layers=(0, 2))
    graph.add_pass("two").color(image, layers=(0, 2) if fixed else (1, 3), load="load")
    graph.root(image)
    return graph


CASES: list[tuple[Callable[[bool], rg.Graph], str]] = [
    (area, 'image("small", like="color")'),
    (depth, 'pass_.depth("near")'),
    (not_local, 'pass_.input_attachment("color")'),
    (conditional, 'add_pass("two", conditional=None)'),
    (too_many, 'pass_.storage_write("own0")'),
    (reloaded, 'pass_.depth("near", load="load")'),
    (one_aspect, 'image("near", format="depth32float")'),
    (other_part, 'pass_.color("image", layers=(0, 2))'),
]


@pytest.mark.parametrize(("declare", "fix"), CASES, ids=lambda one: getattr(one, "__name__", ""))
def test_the_fix_lets_them_merge(show, declare: Callable[[bool], rg.Graph], fix: str):
    plan = declare(False).bake("single_queue")
    reasons = {one["why"] for one in plan.to_dict()["unmerged"]}
    assert reasons == {declare.__name__}
    page = show(plan.to_html(), fragment="#view=costs").page
    cost = page.locator(".cost", has=page.get_by_role("heading", name="Passes that did not merge"))
    assert cost.locator("code").all_inner_texts() == [fix]
    assert declare(True).bake("single_queue").to_dict()["unmerged"] == []
