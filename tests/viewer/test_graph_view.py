"""The graph: lines cross no pass, all of it fits the window, the pointer zooms and pans, a pass can be seen alone."""

import random
import re
from pathlib import Path

import pytest

import rgraph as rg

# Lays a graph out with the viewer's own source, and returns the passes that some piece of a line runs through.
CROSSED = """([source, count, flows, width, height]) => {
    const [from, to] = [0, 1].map(side => flows.map(one => one[side]));
    const plan = { flows: { from, to, resource: flows.map(() => 0) } };
    const { layOut, NODE } = new Function('plan', `${source}; return { layOut, NODE };`)(plan);
    const passes = Array.from({ length: count }, (_, at) => at);
    const drawing = layOut(passes, { width, height });
    const crossed = [];
    const overlapping = [];
    const { nodes, wires } = drawing;
    for (const piece of wires) {
        const { from, to, around } = piece;
        const x1 = from.x + NODE.width;
        const spans = [];
        if (from.pass === undefined) spans.push([from.x, from.y, x1, from.y]);
        if (around) spans.push([x1, from.y, around.right, from.y], [around.right, from.y, around.right, around.below],
            [around.left, around.below, around.right, around.below], [around.left, around.below, around.left, to.y],
            [around.left, to.y, to.x, to.y]);
        else for (let at = 0; at < 20; at += 1) {
            const x = t => (1 - t) ** 3 * x1 + 3 * t * (1 - t) * ((x1 + to.x) / 2) + t ** 3 * to.x;
            const y = t => from.y + (to.y - from.y) * (3 * t * t - 2 * t ** 3);
            spans.push([x(at / 20), y(at / 20), x((at + 1) / 20), y((at + 1) / 20)]);
        }
        for (const node of nodes) {
            if (node === from || node === to) continue;
            const [left, right] = [node.x, node.x + NODE.width];
            const [top, bottom] = [node.y - NODE.height / 2, node.y + NODE.height / 2];
            const hit = spans.some(([a, b, c, d]) => Math.max(a, c) > left && Math.min(a, c) < right
                && Math.max(b, d) > top && Math.min(b, d) < bottom);
            if (hit) crossed.push([from.pass ?? from.source, node.pass]);
        }
    }
    nodes.forEach((one, at) => nodes.slice(at + 1).forEach(other => {
        const apart = Math.abs(one.x - other.x) >= NODE.width || Math.abs(one.y - other.y) >= NODE.height;
        if (!apart) overlapping.push([one.pass, other.pass]);
    }));
    const outside = nodes.filter(({ x, y }) => x < 0 || y < 0 || x + NODE.width > drawing.width || y > drawing.height);
    return { crossed, overlapping, outside: outside.length, wires: wires.length };
}"""


@pytest.mark.parametrize("seed", range(24))
def test_lines_cross_no_pass(browser, root: Path, seed: int):
    chance = random.Random(seed)
    count = chance.choice([1, 2, 9, 40, 90])
    flows = [
        (before, at)
        for at in range(1, count)
        for before in {chance.randrange(max(0, at - chance.choice([3, 30])), at) for _ in range(chance.randrange(0, 4))}
    ]
    source = (root / "rust/rgraph-report/src/viewer/layers.js").read_text()
    page = browser.new_page()
    found = page.evaluate(CROSSED, [source, count, flows, chance.choice([500, 1200]), chance.choice([300, 800])])
    page.close()
    assert found["crossed"] == []
    assert found["overlapping"] == []
    assert found["outside"] == 0
    assert bool(flows) == (found["wires"] > 0)


def nodes(opened) -> dict[str, dict[str, float]]:
    return dict(
        opened.page.locator("#view-graph .node").evaluate_all("""all => all.map(one => {
            const { x, y, width, height } = one.getBoundingClientRect();
            return [one.getAttribute('aria-label'), { x, y, width, height }];
        })""")
    )


def test_the_graph_opens_whole(show, rich: str, frame: rg.Plan):
    opened = show(rich, fragment="#view=graph")
    window = opened.page.locator("#view-graph .frame").bounding_box()
    found = nodes(opened)
    assert len(found) == len(frame.passes) + len(frame.culled)
    for label, at in found.items():
        assert window["x"] <= at["x"] <= window["x"] + window["width"] - at["width"], label
        assert window["y"] <= at["y"] <= window["y"] + window["height"] - at["height"], label


def views(*counts: int) -> rg.Plan:
    """A frame of views that share nothing: chains of passes with names as engines have them."""
    graph = rg.Graph("views", size=(64, 64))
    for view, count in enumerate(counts):
        before = None
        for at in range(count):
            image = graph.image(f"View{view}.Stage{at // 6}.Image{at}", format="rgba8unorm")
            made = graph.add_pass(f"View{view}.Stage{at // 6}.KawaseBlur{at}Pass").color(image)
            if before is not None:
                made.sampled(before)
            before = image
        graph.root(before)
    return graph.bake("single_queue")


def test_ninety_passes_of_three_views_open_whole_and_legible(show):
    opened = show(views(35, 33, 24).to_html(), fragment="#view=graph", width=1440, height=900)
    window = opened.page.locator("#view-graph .frame").bounding_box()
    found = nodes(opened)
    assert len(found) == 92
    for label, at in found.items():
        assert window["x"] <= at["x"] <= window["x"] + window["width"] - at["width"], label
        assert window["y"] <= at["y"] <= window["y"] + window["height"] - at["height"], label
    # Each pass has a name that tells it from the others of its view.
    texts = opened.page.locator("#view-graph .node .label").all_inner_texts()
    assert len(texts) == 92
    for text in texts:
        assert re.search(r"\d", text), text
    # Views stand below each other, none among the passes of another.
    spans = []
    for view in range(3):
        heights = [at["y"] for label, at in found.items() if f"View{view}." in label.split(",")[0]]
        spans.append((min(heights), max(heights)))
    assert spans[0][1] < spans[1][0]
    assert spans[1][1] < spans[2][0]


def test_passes_leave_out_the_name_that_their_area_has(show):
    opened = show(views(35, 33, 24).to_html(), fragment="#view=graph", width=1440, height=900)
    assert "View0" in " ".join(opened.page.locator("#view-graph .region").all_inner_texts())
    texts = opened.page.locator("#view-graph .node .label").all_inner_texts()
    assert [text for text in texts if "View" in text] == []
    labels = opened.page.locator("#view-graph .node").evaluate_all("all => all.map(one => one.title)")
    assert all(label.startswith("View") for label in labels), "the whole name on hover"


def test_a_small_window_opens_at_the_beginning_with_columns_that_can_be_read(show):
    opened = show(views(70, 60, 50).to_html(), fragment="#view=graph", width=800, height=600)
    found = nodes(opened).values()
    assert len({round(at["x"]) for at in found}) >= 3
    assert min(at["height"] for at in found) >= 30, "room for two lines"


def test_all_of_a_graph_is_in_a_corner_while_a_part_is_in_view(show):
    opened = show(views(70, 60, 50).to_html(), fragment="#view=graph", width=800, height=600)
    page = opened.page
    corner, part = page.locator("#view-graph .overview"), page.locator("#view-graph .overview .window")
    around, window = corner.bounding_box(), page.locator("#view-graph .frame").bounding_box()
    assert window["x"] < around["x"]
    assert around["x"] + around["width"] <= window["x"] + window["width"]
    assert around["y"] + around["height"] <= window["y"] + window["height"]
    for label, at in nodes(opened).items():
        assert at["x"] + at["width"] <= around["x"], f"it covers no pass: {label}"
    assert not any("View2." in label for label in nodes(opened))
    # A press at its end shows the end; dragging goes back to the beginning.
    page.mouse.move(around["x"] + around["width"] / 2, around["y"] + around["height"] - 6)
    page.mouse.down()
    opened.settled()
    low = part.bounding_box()["y"]
    assert any("View2." in label for label in nodes(opened))
    page.mouse.move(around["x"] + around["width"] / 2, around["y"] + 4, steps=3)
    page.mouse.up()
    opened.settled()
    assert part.bounding_box()["y"] < low
    assert any("View0." in label for label in nodes(opened))
    page.locator("#view-graph").get_by_role("button", name="Fit", exact=True).click()
    opened.settled()
    assert corner.is_hidden(), "all of it is in view"


def test_folded_groups_keep_their_names_where_the_count_has_no_room(show):
    opened = show(layers(80).to_html(), fragment="#view=graph", width=800, height=600)
    opened.page.locator("#view-graph").get_by_role("button", name="Fit", exact=True).click()
    opened.settled()
    texts = opened.page.locator("#view-graph .node .label").all_inner_texts()
    assert len(texts) == 80
    assert all(re.fullmatch(r"layer\d+( \(\d\))?", text) for text in texts), texts


def layers(count: int) -> rg.Plan:
    """Layers of four passes, each of which reads two of the layer before."""
    graph = rg.Graph("layers", size=(64, 64))
    before: list[rg.Image] = []
    for layer in range(count):
        images = []
        for at in range(4):
            image = graph.image(f"layer{layer}/image{at}", format="rgba8unorm")
            made = graph.add_pass(f"layer{layer}/pass{at}").color(image)
            for source in before[at % 2 : at % 2 + 2]:
                made.sampled(source)
            images.append(image)
        before = images
    graph.root(*before)
    return graph.bake("single_queue")


def test_groups_of_a_large_graph_are_folded_when_it_opens_and_nowhere_else(show):
    opened = show(layers(120).to_html(), fragment="#view=graph", width=1440, height=900)
    page = opened.page
    labels = list(nodes(opened))
    assert len(labels) == 120, "a place for each layer, all of them in view"
    assert all(": unfold" in label for label in labels)
    button = page.locator("#view-graph").get_by_role("button", name="Fold names")
    assert button.get_attribute("aria-pressed") == "true"
    # One unfolds alone; the button brings all back.
    page.locator("#view-graph .node").first.click()
    opened.settled()
    assert button.get_attribute("aria-pressed") == "false"
    button.click()
    opened.settled()
    button.click()
    opened.settled()
    assert not any(": unfold" in label for label in nodes(opened))
    page.locator("#tab-timeline").click()
    assert page.locator("#view-timeline .box[aria-expanded=false]").count() == 0


def test_parts_that_are_narrow_stand_beside_each_other(show):
    opened = show(views(*[2] * 12).to_html(), fragment="#view=graph", width=1440, height=900)
    found = nodes(opened)
    assert len({round(at["y"]) for at in found.values()}) < 12


def test_fit_wraps_anew_so_that_all_is_as_large_as_can_be(show):
    opened = show(views(95, 95).to_html(), fragment="#view=graph", width=1440, height=900)
    window = opened.page.locator("#view-graph .frame").bounding_box()
    assert len(nodes(opened)) < 190, "so many open at their beginning, where they can be read"
    opened.page.locator("#view-graph").get_by_role("button", name="Fit", exact=True).click()
    opened.settled()
    found = nodes(opened).values()
    assert len(found) == 190
    across = max(at["x"] + at["width"] for at in found) - min(at["x"] for at in found)
    down = max(at["y"] + at["height"] for at in found) - min(at["y"] for at in found)
    assert across > window["width"] * 0.7
    assert down > window["height"] * 0.7


def test_the_pointer_zooms_and_pans(show, rich: str):
    opened = show(rich, fragment="#view=graph")
    page = opened.page
    before = nodes(opened)
    window = page.locator("#view-graph .frame").bounding_box()
    x, y = window["x"] + window["width"] / 2, window["y"] + window["height"] - 15
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 40, y - 30, steps=3)
    page.mouse.up()
    opened.settled()
    moved = nodes(opened)
    label = next(one for one in moved if one.startswith("pass lighting"))
    assert moved[label]["x"] == pytest.approx(before[label]["x"] - 40, abs=2)
    assert moved[label]["y"] == pytest.approx(before[label]["y"] - 30, abs=2)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    wider = "width => document.querySelector('#view-graph .node').getBoundingClientRect().width > width"
    page.wait_for_function(wider, arg=before[label]["width"] * 1.2)
    page.keyboard.press("f")
    opened.settled()
    assert nodes(opened)[label]["x"] == pytest.approx(before[label]["x"], abs=2)


def test_a_pass_can_be_looked_at_alone(show, rich: str):
    opened = show(rich, fragment="#view=graph&pin=p:shadow0")
    page = opened.page
    whole = set(nodes(opened))
    page.get_by_role("button", name=re.compile("^Only what the pinned")).click()
    opened.settled()
    kept = {label.split(" ")[1] for label in nodes(opened)}
    assert "shadow0" in kept
    assert "lighting" in kept
    assert "shadow1" not in kept
    page.get_by_role("button", name="Only what shadow0 needs and feeds").click()
    opened.settled()
    assert set(nodes(opened)) == whole


def grouped(names: list[str]) -> rg.Plan:
    """A chain of passes with these names."""
    graph = rg.Graph("grouped", size=(64, 64))
    before = None
    for name in names:
        image = graph.image(f"{name}.Output", format="rgba8unorm")
        made = graph.add_pass(name).color(image)
        before = image if before is None else (made.sampled(before), image)[1]
    graph.root(before)
    return graph.bake("single_queue")


def test_areas_name_what_begins_alike_and_fold_it(show):
    names = [f"Shadows.Esm.{at}" for at in "abc"] + ["gbuffer"] + [f"Post.{at}" for at in "xy"]
    opened = show(grouped(names).to_html(), fragment="#view=graph")
    page = opened.page
    areas = page.locator("#view-graph .region")
    assert areas.all_inner_texts() == ["Shadows.Esm", "Post"]
    found = nodes(opened)
    area = areas.first.bounding_box()
    first = next(at for label, at in found.items() if label.startswith("pass Shadows.Esm.a "))
    assert area["y"] + area["height"] <= first["y"] + 1
    assert area["x"] == pytest.approx(first["x"], abs=8)
    areas.first.click()
    opened.settled()
    assert areas.all_inner_texts() == ["Post"]
    folded = page.locator("#view-graph").get_by_role("gridcell", name=re.compile(r"^Shadows \(3\)"))
    assert folded.count() == 1


def test_an_area_holds_no_pass_of_another_name(browser, root: Path):
    viewer = root / "rust/rgraph-report/src/viewer"
    source = "\n".join((viewer / name).read_text() for name in ("layers.js", "regions.js"))
    page, areas = browser.new_page(), 0
    for seed in range(30):
        chance = random.Random(seed)
        count = chance.choice([6, 30, 80])
        flows = [
            (before, at)
            for at in range(1, count)
            for before in {chance.randrange(max(0, at - 9), at) for _ in range(chance.randrange(0, 3))}
        ]
        groups = [chance.choice(["p:a", "p:b", "p:c", None]) for _ in range(count)]
        inside, regions = page.evaluate(INSIDE, [source, groups, flows])
        assert inside == []
        areas += regions
    page.close()
    assert areas > 30


# Lays a graph out, and returns passes in an area of another group, and the number of areas.
INSIDE = """([source, groups, flows]) => {
    const [from, to] = [0, 1].map(side => flows.map(one => one[side]));
    const name = groups.map((one, at) => `${one}/${at}`);
    const plan = { flows: { from, to, resource: flows.map(() => 0) }, passes: { name } };
    const given = { plan, groupOf: (kind, at) => groups[at], shown: (text) => text };
    const load = new Function(...Object.keys(given), `${source}; return { layOut, regionsOf, NODE };`);
    const made = load(...Object.values(given));
    const [wide, half] = [made.NODE.width, made.NODE.height / 2];
    const { nodes } = made.layOut(groups.map((_, at) => at), { width: 900, height: 600 });
    const regions = made.regionsOf(nodes);
    const inside = [];
    for (const { group, runs, bridges, passes } of regions) {
        for (const node of nodes) {
            if (groups[node.pass] === group) continue;
            const hit = [...runs, ...bridges].some(({ left, right, top, bottom }) =>
                node.x < right && node.x + wide > left && node.y - half < bottom && node.y + half > top);
            if (hit) inside.push([group, node.pass]);
        }
        if (passes.some(pass => groups[pass] !== group)) inside.push(passes);
    }
    return [inside, regions.length];
}"""
