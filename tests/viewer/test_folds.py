"""Names that begin alike fold in every view: timeline, resources, graph, matrix and memory map."""

import random
import re
from pathlib import Path

import pytest

import rgraph as rg

from .test_graph_view import layers
from .test_stack import engine

# Joins the passes of folded groups with the viewer's own source: the clusters in their order.
CLUSTERS = """([source, names, flows, folded]) => {
    const [from, to] = [0, 1].map(side => flows.map(one => one[side]));
    const plan = { passes: { name: names }, resources: { name: [] }, isCulled: () => false, flows: { from, to },
        needs: pass => flows.flatMap((one, at) => one[1] === pass ? [at] : []) };
    const run = new Function('plan', 'folded', `${source}; for (const one of folded) folds.add(one);
        return clusters(plan.passes.name.map((_, at) => at)).map(({ members }) => members);`);
    return run(plan, folded);
}"""


@pytest.mark.parametrize("seed", range(30))
def test_folded_passes_keep_every_line_forward(browser, root: Path, seed: int):
    chance = random.Random(seed)
    count = chance.choice([2, 5, 20, 60])
    names = [f"{chance.choice('ABC')}.{at}" for at in range(count)]
    flows = [
        (before, at)
        for at in range(1, count)
        for before in {chance.randrange(max(0, at - 8), at) for _ in range(chance.randrange(0, 4))}
    ]
    folded = chance.sample(["p:A", "p:B", "p:C"], chance.choice([0, 1, 3]))
    source = (root / "rust/rgraph-report/src/viewer/folds.js").read_text()
    page = browser.new_page()
    clusters = page.evaluate(CLUSTERS, [source, names, flows, folded])
    page.close()
    place = {one: at for at, members in enumerate(clusters) for one in members}
    assert sorted(place) == list(range(count))
    for before, behind in flows:
        assert place[before] <= place[behind], (before, behind)
    for members in clusters:
        assert len({names[one][0] for one in members}) == 1
        assert len(members) == 1 or f"p:{names[members[0]][0]}" in folded
    for group in ("A", "B", "C"):
        own = [place[at] for at, name in enumerate(names) if name[0] == group]
        if f"p:{group}" not in folded:
            assert len(own) == len(set(own))
        elif len(own) > 1 and not flows:
            assert len(set(own)) == 1


def test_a_group_stays_in_parts_where_a_line_would_run_backwards(show):
    graph = rg.Graph("loop", size=(64, 64))
    before = None
    for name in ("A.one", "A.two", "B.one", "A.three", "A.four"):
        image = graph.image(f"{name}.out", format="rgba8unorm")
        made = graph.add_pass(name, weight_us=10).color(image)
        if before is not None:
            made.sampled(before)
        before = image
    graph.root(before)
    opened = show(graph.bake("single_queue").to_html(), fragment="#view=graph")
    opened.page.get_by_role("button", name="Fold names").click()
    opened.settled()
    nodes = opened.page.locator("#view-graph .node")
    labels = nodes.evaluate_all(
        "all => all.map(one => [one.getBoundingClientRect(), one.getAttribute('aria-label')])"
        ".sort(([a], [b]) => a.y - b.y || a.x - b.x).map(([, label]) => label)"
    )
    assert [label.split(",")[0].removeprefix("pass ").split(" on ")[0] for label in labels] == [
        "A (2)",
        "B.one",
        "A (2)",
    ]


def test_groups_fold_in_the_graph(show):
    opened = show(engine().to_html(), fragment="#view=graph")
    page = opened.page
    nodes = page.locator("#view-graph .node")
    assert nodes.count() == 5
    button = page.locator("#view-graph").get_by_role("button", name="Fold names")
    button.click()
    opened.settled()
    assert button.get_attribute("aria-pressed") == "true"
    assert nodes.count() == 2
    group = page.locator("#view-graph").get_by_role("gridcell", name=re.compile(r"^Shadows \(4\), 80.0 µs: unfold$"))
    assert group.get_attribute("aria-expanded") == "false"
    page.evaluate("location.hash = '#view=graph&pin=p%3AShadows.ProjectedESM.KawaseBlurPass1'")
    opened.settled()
    assert "on" in group.get_attribute("class").split(), "what holds the pinned pass is lit"
    group.hover()
    group.press("Enter")
    opened.settled()
    assert nodes.count() == 5
    assert button.get_attribute("aria-pressed") == "false"


def test_groups_fold_in_the_diagram(show):
    opened = show(engine().to_html(), fragment="#view=matrix")
    page = opened.page
    view = page.locator("#view-matrix")
    rows, columns, glyphs = view.get_by_role("rowheader"), view.get_by_role("columnheader"), view.locator(".glyph")
    sizes = [rows.count(), columns.count(), view.locator(".row .glyph").count()]
    view.get_by_role("button", name="Fold names").click()
    opened.settled()
    assert (rows.count(), columns.count()) == (2, 2)
    assert rows.first.inner_text() == "Shadows (4)"
    assert columns.first.inner_text() == "Shadows (4)"
    assert "both" in glyphs.nth(3).get_attribute("class"), (
        "the group writes and reads its own (behind the legend's three)"
    )
    page.locator("#view-matrix [data-cell][tabindex='0']").focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowLeft", "ArrowUp"):
        page.keyboard.press(key)
    rows.first.click()
    opened.settled()
    assert (rows.count(), columns.count()) == (5, 2)
    columns.first.press("Enter")
    opened.settled()
    assert [rows.count(), columns.count(), view.locator(".row .glyph").count()] == sizes


def test_groups_fold_in_the_memory_map(show):
    opened = show(engine().to_html(), fragment="#view=memory")
    page = opened.page
    blocks = page.locator("#view-memory .block")
    places = """all => all.map((one) => {
        const { x, y, width, height } = one.getBoundingClientRect();
        return [x, y, width, height];
    }).sort()"""
    before = blocks.evaluate_all(places)
    assert page.locator("#view-memory .block .text").count() >= 4
    page.locator("#view-memory").get_by_role("button", name="Fold names").click()
    opened.settled()
    assert blocks.evaluate_all(places) == before, "bytes stay where they are"
    texts = page.locator("#view-memory .block.folded .text").all_inner_texts()
    assert "".join(texts).replace(" ", "") == "Shadows(4)"
    blocks.locator("nth=0").hover()
    page.locator("#view-memory .block.folded").first.click()
    opened.settled()
    assert page.locator("#view-memory .block.folded").count() == 0


def test_a_group_folds_from_the_card_in_every_view(show):
    opened = show(engine().to_html(), fragment="#pin=p:Shadows.ProjectedESM.KawaseBlurPass0")
    page = opened.page
    button = page.locator(".card").get_by_role("button", name="Fold Shadows (4)")
    button.press("Enter")
    opened.settled()
    assert page.locator(".card").get_by_role("button", name="Unfold Shadows (4)").count() == 1
    assert page.locator("#view-frame .timeline .group-box").count() == 1
    opened.view("graph")
    assert page.locator("#view-graph .node").count() == 2
    opened.view("matrix")
    assert page.locator("#view-matrix").get_by_role("rowheader").count() == 2
    page.locator(".card").get_by_role("button", name="Unfold Shadows (4)").click()
    opened.settled()
    assert page.locator("#view-matrix").get_by_role("rowheader").count() == 5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_folded_views(show, violations, scheme: str):
    opened = show(engine().to_html(), fragment="#view=matrix", scheme=scheme)
    page = opened.page
    page.locator("#view-matrix").get_by_role("button", name="Fold names").click()
    page.evaluate("location.hash = '#view=matrix&pin=p%3AShadows.ProjectedESM.KawaseBlurPass1'")
    for view in ("matrix", "graph", "memory", "frame", "timeline", "resources"):
        opened.view(view)
        opened.settled()
        assert violations(page) == [], view


def test_hostile_groups_are_text(show):
    prefix = "<img src=x onerror=ran=1>"
    graph = rg.Graph("hostile", size=(16, 16))
    out = graph.image("out", format="rgba8unorm")
    last = graph.add_pass("last").color(out)
    for at in range(3):
        image = graph.image(f"{prefix}/{at}", format="rgba8unorm")
        graph.add_pass(f"{prefix}/{at}").color(image)
        last.sampled(image)
    graph.root(out)
    opened = show(graph.bake("single_queue").to_html(), fragment="#view=matrix")
    page = opened.page
    page.locator("#view-matrix").get_by_role("button", name="Fold names").click()
    for view in ("matrix", "graph", "memory", "frame"):
        opened.view(view)
        opened.settled()
        marks = page.locator(f"#view-{view} [data-key^=m], #view-{view} .group-box")
        labels = marks.evaluate_all("all => all.map(one => one.getAttribute('aria-label') || one.textContent)")
        assert any(prefix in label for label in labels), view
    assert page.evaluate("window.ran") is None
    assert page.locator("img").count() == 0


def test_resources_of_a_large_frame_open_folded_in_their_rows_and_nowhere_else(show):
    opened = show(layers(60).to_html(), fragment="#view=resources", width=1440, height=900)
    page = opened.page
    rows = page.locator("#view-resources .prefix-row")
    assert rows.count() > 4
    assert page.locator("#view-resources .prefix-row.open").count() == 0
    rows.first.click()
    opened.settled()
    assert page.locator("#view-resources .prefix-row.open").count() == 1, "one unfolds alone"
    assert page.locator("#view-resources .prefix-row.folded").count() > 0
    opened.view("matrix")
    assert page.locator("#view-matrix [aria-expanded=false]").count() == 0
