"""Names of resources on the lines of the graph: they cover nothing, come with zoom, and are there for what is lit."""

import re

import pytest

import rgraph as rg
from rgraph.demo import deferred

from .test_page import large

# Names on lines, and all that a name may not cover: boxes of passes, names of areas, other names; those that meet.
COVERED = """() => {
    const frame = document.querySelector('#view-graph .frame').getBoundingClientRect();
    const boxes = which => [...document.querySelectorAll(`#view-graph ${which}`)].map(one => {
        const { left, right, top, bottom } = one.getBoundingClientRect();
        return { left, right, top, bottom, text: one.textContent };
    });
    const meet = (a, b) => a.left < b.right - 0.6 && b.left < a.right - 0.6
        && a.top < b.bottom - 0.6 && b.top < a.bottom - 0.6;
    const names = boxes('.carried');
    const others = [...boxes('.node'), ...boxes('.region')];
    const covered = [];
    names.forEach((name, at) => {
        for (const other of [...others, ...names.slice(at + 1)]) {
            if (meet(name, other)) covered.push([name.text, other.text]);
        }
    });
    const seen = names.filter(one => meet(one, frame));
    return { covered, names: names.map(one => one.text), seen: seen.length };
}"""


def zoomed(opened, turns: int) -> None:
    """Turn the wheel over the middle of the graph."""
    box = opened.page.locator("#view-graph .frame").bounding_box()
    opened.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    opened.page.keyboard.down("Control")
    for _ in range(abs(turns)):
        opened.page.mouse.wheel(0, -120 if turns > 0 else 120)
        opened.settled()
    opened.page.keyboard.up("Control")
    # The pointer highlights nothing outside of the graph.
    opened.page.mouse.move(3, 3)
    opened.settled()


@pytest.mark.parametrize("width", [1440, 800])
def test_names_on_lines_cover_nothing_and_grow_with_zoom(show, rich: str, width: int):
    opened = show(rich, fragment="#view=graph", width=width, height=900 if width > 800 else 600)
    opened.page.mouse.move(3, 3)
    opened.settled()
    whole = opened.page.evaluate(COVERED)
    assert whole["covered"] == []
    for _ in range(6):
        zoomed(opened, 1)
        found = opened.page.evaluate(COVERED)
        assert found["covered"] == []
    assert found["seen"] >= 3
    zoomed(opened, -6)
    assert opened.page.evaluate(COVERED)["covered"] == []


@pytest.mark.parametrize("passes", [129, 1_024, 10_000])
def test_names_on_lines_of_large_graphs_cover_nothing(show, passes: int):
    opened = show(large(passes).to_html(), fragment="#view=graph", width=1440, height=900)
    for turns in (0, 2, 2):
        zoomed(opened, turns)
        assert opened.page.evaluate(COVERED)["covered"] == []
    assert opened.page.evaluate(COVERED)["seen"] >= 3


def bundle() -> rg.Plan:
    """A pass that hands three images to the next, of long names, and one to the last."""
    graph = rg.Graph("bundle", size=(64, 64))
    names = ["albedo_and_roughness", "normals_and_flags", "motion_vectors"]
    images = [graph.image(name, format="rgba8unorm") for name in names]
    lit, out = graph.image("lit", format="rgba16float"), graph.image("out", format="rgba8unorm")
    graph.add_pass("gbuffer", queue="compute").storage_write(*images)
    graph.add_pass("lighting", queue="compute").storage_read(*images).storage_write(lit)
    graph.add_pass("tonemap", queue="compute").storage_read(lit).storage_write(out)
    graph.root(out)
    return graph.bake("single_queue")


def test_a_line_of_several_resources_says_how_many_and_lists_them(show):
    opened = show(bundle().to_html(), fragment="#view=graph")
    page = opened.page
    names = page.locator("#view-graph .carried")
    assert names.all_inner_texts() == ["3 resources", "lit"]
    names.first.hover()
    tip = page.locator(".tip")
    assert tip.locator("p").all_inner_texts()[:2] == [
        "3 resources",
        "albedo_and_roughness, normals_and_flags, motion_vectors",
    ]
    assert page.locator("#view-graph .carried.on").count() == 1
    pinned = []
    for _ in range(3):
        names.first.click()
        pinned.append(opened.pinned)
    assert pinned == ["albedo_and_roughness", "normals_and_flags", "motion_vectors"]


def test_the_lines_of_a_pass_under_the_pointer_have_names(show, rich: str):
    opened = show(rich, fragment="#view=graph", width=1440, height=900)
    page = opened.page
    page.locator("#view-graph").get_by_role("gridcell", name=re.compile("^pass temporal")).hover()
    opened.settled()
    lit = page.locator("#view-graph .carried.on")
    assert lit.count() >= 2
    assert lit.count() == page.locator("#view-graph .carried").count(), "the names of other lines make room"
    page.mouse.move(3, 3)
    opened.settled()
    assert lit.count() == 0


def test_a_line_under_the_pointer_lights_up_and_is_pinned(show):
    opened = show(bundle().to_html(), fragment="#view=graph")
    page = opened.page
    first, second = (
        page.locator("#view-graph").get_by_role("gridcell", name=re.compile(f"^pass {name}")).bounding_box()
        for name in ("lighting", "tonemap")
    )
    page.mouse.move(first["x"] + first["width"] + 3, first["y"] + first["height"] / 2)
    opened.settled()
    assert "lit" in page.locator(".tip p").first.inner_text()
    page.mouse.click(second["x"] - 9, second["y"] + second["height"] / 2)
    assert opened.pinned == "lit"


def test_in_a_small_window_forty_passes_and_their_lines_have_names(show):
    plan = deferred.build((480, 270)).bake("discrete")
    assert len(plan.passes) > 40
    opened = show(plan.to_html(), fragment="#view=graph", width=800, height=600)
    opened.settled()
    boxes = opened.page.locator("#view-graph .node").all_inner_texts()
    assert len(boxes) > 12
    assert [text for text in boxes if "…" in text] == []
    found = opened.page.evaluate(COVERED)
    assert found["covered"] == []
    assert found["seen"] >= 5
