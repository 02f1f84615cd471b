"""Frames of other shapes: eight queues, names without a break, nothing that runs, nothing at all."""

import random
import re

import pytest

import rgraph as rg

from .test_page import VIEWS


def engine(passes: int, queues: list[str]) -> rg.Graph:
    """A frame of long dotted names, spread over queues.

    Parameters
    ----------
    passes
        How many.
    queues
        Where they may run.
    """
    chance = random.Random(passes)
    graph = rg.Graph("engine", size=(512, 512))
    images: list[rg.Image] = []
    for at in range(passes):
        group = ("Shadows.ProjectedESM", "Lighting.DiffuseProbeGrid", "PostProcess.Bloom")[at * 3 // passes]
        image = graph.image(f"{group}.Image{at}", format="rgba16float")
        made = graph.add_pass(
            f"{group}.Pass{at}", queue=queues[at % len(queues)], weight_us=chance.choice((8, 60, 400))
        )
        made.storage_write(image)
        for source in chance.sample(images[-6:], min(2, len(images))):
            made.sampled(source)
        images.append(image)
    graph.root(*images[-3:])
    return graph


def many_queues() -> rg.Profile:
    """A device with eight queues of three kinds."""
    return rg.Profile.from_dict(
        rg.Profile.discrete().to_dict()
        | {
            "queues": [
                {"name": "graphics", "family": 0, "count": 2, "capabilities": ["graphics", "compute"]},
                {"name": "compute", "family": 1, "count": 4, "capabilities": ["compute"]},
                {"name": "transfer", "family": 2, "count": 2, "capabilities": ["transfer"]},
            ]
        }
    )


def test_every_lane_of_many_queues_has_a_name_and_its_boxes_stay_apart(show):
    plan = engine(60, ["graphics", "async_compute", "compute"]).bake(many_queues())
    used = {one.queue for one in plan.passes}
    assert len(used) > 1
    page = show(plan.to_html(), fragment="#view=timeline", width=1440, height=900).page
    lanes = page.locator("#view-timeline .name .strong").all_inner_texts()
    assert used <= set(lanes)
    overlap = page.locator("#view-timeline .row").evaluate_all("""all => all.flatMap((row) => {
        const boxes = [...row.querySelectorAll('.box')].map((one) => one.getBoundingClientRect());
        const rows = Map.groupBy(boxes, (one) => one.top);
        return [...rows.values()].flatMap((list) => list.sort((a, b) => a.left - b.left)
            .flatMap((one, at) => (at && list[at - 1].right > one.left + 2.5 ? [one.left] : [])));
    })""")
    assert overlap == []


def test_what_does_not_run_is_listed_in_full(show):
    graph = rg.Graph("culled", size=(64, 64))
    for at in range(10):
        graph.add_pass(f"Unused.Pass{at}").color(graph.image(f"Unused.Image{at}", format="rgba8unorm"))
    graph.add_pass("only", side_effects=True)
    plan = graph.bake("single_queue")
    assert len(plan.culled) == 10
    opened = show(plan.to_html(), width=1440, height=900)
    for view in VIEWS:
        opened.view(view)
    opened.view("timeline")
    chips = opened.page.locator("#view-timeline .culled.box")
    assert chips.count() == 10, "all ten have a place where there is room"
    opened.view("graph")
    tops = opened.page.locator("#view-graph .node").evaluate_all(
        "all => [...new Set(all.map(one => Math.round(one.getBoundingClientRect().top)))]"
    )
    assert 1 <= len(tops) < 5, "rows, not one column"


def test_views_without_anything_say_so(show):
    graph = rg.Graph("one")
    graph.add_pass("only", side_effects=True)
    opened = show(graph.bake().to_html(), width=1440, height=900)
    texts = {
        "resources": "No pass uses a resource.",
        "memory": "Nothing of this plan needs memory of its own.",
    }
    for view, text in texts.items():
        opened.view(view)
        assert text in opened.page.locator(f"#view-{view}").inner_text()


def test_a_name_without_a_break_stays_in_its_place(show):
    graph = rg.Graph("long", size=(64, 64))
    image, out = graph.image("y" * 300, format="rgba8unorm"), graph.image("out", format="rgba8unorm")
    graph.add_pass("x" * 300, weight_us=9).color(image)
    graph.add_pass("last", weight_us=9).sampled(image).color(out)
    graph.root(out)
    page = show(graph.bake("single_queue").to_html(), fragment="#view=costs", width=1440, height=900).page
    longest = page.locator("#view-costs .link").evaluate_all("all => Math.max(...all.map(one => one.innerText.length))")
    assert longest <= 125
    whole = page.locator("#view-costs .link").evaluate_all("all => all.map(one => one.title)")
    assert "x" * 300 in whole
    assert page.locator("#view-costs").evaluate("one => one.scrollWidth <= one.clientWidth")


def test_the_not_timed_lane_is_seen_whole(show):
    graph = engine(40, ["graphics", "async_compute"])
    graph.add_pass("Debug.Unused").color(graph.image("Debug.Unread", format="rgba8unorm"))
    plan = graph.bake("discrete")
    spans = [
        {"name": one.name, "queue": "graphics", "begin_us": one.start_us, "end_us": one.start_us + one.duration_us}
        for one in list(plan.passes)[6:]
    ]

    class Report:
        timeline = spans
        calibrated = True
        host_spans = ({"name": "record", "begin_us": -300.0, "end_us": -40.0},)

    page = show(plan.to_html(report=Report()), width=1440, height=900).page
    window = page.locator("#view-frame .timeline .frame").bounding_box()
    bottom = window["y"] + window["height"]
    chips = page.locator("#view-frame .timeline .untimed").all()
    assert len(chips) == 6
    right = window["x"] + window["width"]
    for chip in [*chips, page.locator("#view-frame .timeline .culled.box").first]:
        box = chip.bounding_box()
        assert box["y"] + box["height"] <= bottom
        assert box["x"] + box["width"] <= right


def test_names_of_close_lines_of_the_memory_map_stand_apart(show):
    opened = show(engine(60, ["graphics"]).bake("single_queue").to_html(), width=1440, height=900)
    texts = opened.page.locator("#view-frame .memory .over text:is(.peak, .bound)")
    lines = opened.page.locator("#view-frame .memory .over line:is(.peak, .bound)")
    crossed = [
        (text["y"], line["y"])
        for text in (one.bounding_box() for one in texts.all())
        for line in (one.bounding_box() for one in lines.all())
        if text["y"] + 3 < line["y"] < text["y"] + text["height"] - 3
    ]
    assert crossed == []


def test_a_large_graph_is_as_wide_as_the_window(show):
    page = show(engine(150, ["graphics"]).bake("single_queue").to_html(), fragment="#view=graph", width=1440).page
    window = page.locator("#view-graph .frame").bounding_box()
    boxes = page.locator("#view-graph .node").evaluate_all(
        "all => all.map(one => { const { left, right } = one.getBoundingClientRect(); return [left, right]; })"
    )
    assert min(left for left, _ in boxes) >= window["x"]
    assert max(right for _, right in boxes) <= window["x"] + window["width"]


def test_a_pass_pinned_later_is_looked_at_alone(show):
    page = show(engine(12, ["graphics"]).bake("single_queue").to_html(), fragment="#view=graph").page
    button = page.get_by_role("button", name=re.compile("^Only what"))
    button.click()
    every = page.locator("#view-graph .node").count()
    assert every == 12
    page.locator("#view-graph .node").last.click()
    page.get_by_role("button", name=re.compile("^Only what (?!the pinned needs)")).wait_for()
    assert page.locator("#view-graph .node").count() <= every


def test_costs_begin_at_one_height(show, rich: str):
    page = show(rich, fragment="#view=costs", width=1440, height=900).page
    tops = page.locator("#view-costs h2").evaluate_all("""all => {
        const boxes = all.map(one => one.getBoundingClientRect());
        const columns = [...Map.groupBy(boxes, one => Math.round(one.left)).values()];
        return columns.map(list => Math.min(...list.map(one => one.top)));
    }""")
    assert len(tops) == 2
    assert max(tops) - min(tops) < 2


@pytest.mark.parametrize("passes", [250, 4_000])
def test_a_graph_of_any_size_is_on_paper(show, passes: int):
    opened = show(engine(passes, ["graphics"]).bake("single_queue").to_html(), fragment="#view=graph", width=1040)
    page = opened.page
    page.emulate_media(media="print")
    opened.settled()
    canvas = page.locator("#view-graph canvas.specks")
    inked = canvas.evaluate("""one => {
        const { width, height } = one;
        const { data } = one.getContext('2d').getImageData(0, 0, width, Math.min(height, 600));
        return data.some((value, at) => at % 4 === 3 && value > 0) && height < 16384;
    }""")
    assert inked, "lines are drawn"
    names = page.locator("#view-graph .node").count()
    assert (names > 150) == (passes < 1_000), "every pass has its name, or all are an overview"
    page.emulate_media(media="screen")
    opened.settled()
    assert page.locator("#view-graph .node").count() > 3
