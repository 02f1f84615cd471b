"""What people stumbled over once, each held by a test of its own."""

import random
import re
from pathlib import Path

import pytest

import rgraph as rg

from .test_stack import engine


@pytest.mark.parametrize("width", [1440, 1000, 800])
def test_every_button_of_the_head_can_be_reached(show, rich: str, width: int):
    for html in (rich, engine().to_html()):
        page = show(html, width=width, height=600).page
        for button in page.locator(".top button:visible").all():
            box = button.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width, button.inner_text()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        hidden = page.locator("#view-frame .pane-tools:not([hidden]) button").evaluate_all(UNDER)
        assert hidden == []


# Buttons whose middle is covered or cut off.
UNDER = """all => all.filter((one) => {
  const { left, top, width, height } = one.getBoundingClientRect();
  return !one.contains(document.elementFromPoint(left + width / 2, top + height / 2));
}).map((one) => one.innerText)"""

# Narrow cells that do not show their text whole.
CUT = """all => all.filter((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth < 380)
  .map((one) => one.textContent)"""


def test_cells_of_tables_are_not_cut(show, rich: str):
    page = show(rich, fragment="#view=diff", width=1440, height=900).page
    cut = page.locator("#view-diff .td").evaluate_all(CUT)
    assert cut == []
    assert "~ changed" in page.locator("#view-diff .td").all_inner_texts()


def test_differences_of_few_bytes_are_told(show):
    def plan(bytes_: int) -> rg.Plan:
        graph = rg.Graph("few", size=(2048, 2048))
        image, words = graph.image("image", format="rgba16float"), graph.buffer("words", bytes_)
        graph.add_pass("fill", queue="compute").storage_write(words).storage_write(image)
        graph.add_pass("read", queue="compute", side_effects=True).storage_read(words).sampled(image)
        return graph.bake("single_queue")

    small, large = plan(256), plan(4096)
    change = large.memory.total - small.memory.total
    assert change > 0
    assert f"memory 32.0 MiB → 32.0 MiB ({change:+} B)" in small.diff(large)
    page = show(small.to_html(against=large), fragment="#view=diff").page
    figures = page.get_by_role("list", name="Figures of both plans").inner_text()
    assert f"memory 32.0 MiB → 32.0 MiB (+{change:,} B)" in figures


def test_bytes_of_a_part_are_those_of_the_part_or_of_the_whole(show):
    from rgraph.demo import deferred

    page = show(deferred.build((320, 180)).bake(rg.Profile.discrete()).to_html()).page
    parts = 0
    for _ in range(20):
        page.keyboard.press("b")
        text = page.locator(".card").inner_text()
        if re.search(r"\[mips? ", text):
            parts += 1
            assert "all of it" not in text, text
    assert parts > 0


def test_wording_of_waits_is_that_of_the_field(show):
    from rgraph.demo import deferred

    page = show(deferred.build((320, 180)).bake(rg.Profile.discrete()).to_html(), width=1440, height=900).page
    labels = page.locator("#view-frame .wait").evaluate_all("all => all.map((one) => one.getAttribute('aria-label'))")
    assert labels
    assert any(re.search("^graphics waits for [A-Za-z ]+ of the previous frame at ", label) for label in labels)
    assert not any("host 1" in label or "run before" in label for label in labels)


def test_waits_for_the_cpu_say_so(show):
    graph = rg.Graph("waits", size=(8, 8))
    given, out = graph.buffer("given", 64), graph.buffer("out", 64)
    graph.cpu("fill", lambda views: None, writes=[given])
    graph.add_pass("use", queue="compute").storage_read(given).storage_write(out)
    graph.root(out)
    page = show(graph.bake("single_queue").to_html()).page
    labels = page.locator("#view-frame .wait").evaluate_all("all => all.map((one) => one.getAttribute('aria-label'))")
    assert any(re.match("(graphics|compute) waits for the CPU work", label) for label in labels)


def test_names_of_tabs_and_choices_say_what_they_do(show, rich: str):
    page = show(rich, width=1440, height=900).page
    shown = page.locator("body").inner_text()
    assert "Spread out" not in shown
    assert re.search(r"Theme: (system|light|dark)", page.locator("#theme").inner_text())


def test_culled_chips_show_one_whole_line(show, rich: str):
    page = show(rich, width=1440, height=900).page
    for chip in page.locator("#view-frame .timeline .culled.box").all():
        text = chip.locator(".text").all()
        assert len(text) <= 1
        assert chip.evaluate("one => one.scrollHeight <= one.clientHeight + 1")


def test_marks_never_shine_through_the_head_of_a_pane(show, rich: str):
    opened = show(rich, width=1440, height=700)
    page = opened.page
    page.locator("#view-frame .resources .frame").evaluate("one => { one.scrollTop = 60; }")
    opened.settled()
    for head in page.locator("#view-frame .pane-head").all():
        colour = head.evaluate("one => getComputedStyle(one).backgroundColor")
        assert re.fullmatch(r"rgb\(.*\)", colour), "nothing shines through"
        box = head.bounding_box()
        top = page.evaluate(
            "([x, y]) => document.elementFromPoint(x, y).closest('.pane-head') !== null",
            [box["x"] + box["width"] - 40, box["y"] + box["height"] / 2],
        )
        assert top


def test_the_memory_map_has_an_axis_of_bytes(show, rich: str):
    page = show(rich, fragment="#view=memory", width=1440, height=900).page
    ticks = page.locator("#view-memory text.byte").all_text_contents()
    assert len(ticks) >= 2
    assert all(re.fullmatch(r"\d+(\.\d)? (B|KiB|MiB|GiB)", tick) for tick in ticks)


def test_tabs_out_of_sight_are_reached_by_scrolling_and_by_keys(show, rich: str):
    opened = show(rich, width=390, height=800)
    page = opened.page
    page.keyboard.press("8")
    tab = page.locator("#tab-tables")
    assert tab.get_attribute("aria-selected") == "true"
    opened.settled()
    box = tab.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    shades = page.locator(".tabs").evaluate("one => getComputedStyle(one).backgroundAttachment").split(", ")
    assert {"local", "scroll"} <= set(shades), "shades tell that there are more"


# Chips and entries of legends that are seen in part only.
PARTLY = """all => all.filter((one) => {
  const [own, frame] = [one, one.closest('.figures, .pane-tools')].map((of) => of.getBoundingClientRect());
  const out = own.top >= frame.bottom - 1;
  return !out && (own.right > frame.right + 1 || own.bottom > frame.bottom + 1);
}).map((one) => one.textContent)"""


@pytest.mark.parametrize("width", [1440, 1100, 1000, 800])
def test_chips_and_legends_are_whole_or_out_of_sight(show, rich: str, width: int):
    page = show(rich, width=width, height=900).page
    assert page.locator(".figures li, #view-frame .pane-tools .entry").evaluate_all(PARTLY) == []
    if width > 1000:
        assert page.locator(".figures li").first.inner_text() == "2 findings"
        assert page.locator(".figures li").nth(2).inner_text().endswith("measured")


def test_commas_stand_in_the_box_of_the_name_before_them(show):
    graph = rg.Graph("lists", size=(64, 64))
    parts = [graph.image(f"Lighting.Reflections.ScreenSpace.Part{at}", format="rgba8unorm") for at in range(4)]
    for at, part in enumerate(parts):
        graph.add_pass(f"Lighting.Reflections.ScreenSpace.Trace{at}").color(part)
    out = graph.image("out", format="rgba8unorm")
    last = graph.add_pass("compose").color(out)
    for part in parts:
        last.sampled(part)
    graph.root(out)
    page = show(graph.bake("single_queue").to_html(), fragment="#pin=p:compose").page
    names = page.locator(".card .listed")
    assert names.count() == 4
    places = names.evaluate_all("all => all.map(one => one.getBoundingClientRect().height)")
    alone = page.locator(".card .listed:last-child").bounding_box()["height"]
    assert max(places) <= alone + 2, "no line is a comma alone"
    commas = names.evaluate_all(
        "all => all.map(one => getComputedStyle(one.querySelector('.link'), '::after').content.includes(','))"
    )
    assert commas == [True, True, True, False]
    assert page.locator(".card dd wbr").count() > 8, "names break at separators"


def test_row_names_stand_at_the_height_of_their_bars(show, rich: str):
    for view in ("frame", "resources"):
        page = show(rich, fragment=f"#view={view}", width=1440, height=900).page
        apart = page.locator(f"#view-{view} .resources .row").evaluate_all("""all => all.flatMap((row) => {
            const middle = (one) => { const { top, height } = one.getBoundingClientRect(); return top + height / 2; };
            const bar = row.querySelector('.bar');
            return bar ? [Math.abs(middle(row.querySelector('.name span')) - middle(bar))] : [];
        })""")
        assert len(apart) > 5
        assert max(apart) <= (2 if view == "frame" else 6)


@pytest.mark.parametrize("view", ["tables", "diff", "matrix"])
def test_wide_grids_are_as_wide_as_the_page_on_paper(show, rich: str, view: str):
    opened = show(rich, fragment=f"#view={view}", width=1040, height=720)
    opened.page.emulate_media(media="print")
    opened.settled()
    marks = opened.page.locator(f"#view-{view} [data-key]")
    right = marks.evaluate_all("all => Math.max(...all.map(one => one.getBoundingClientRect().right))")
    assert right <= 1060
    rows = opened.page.locator(f"#view-{view}").get_by_role("row").count()
    assert rows == int(opened.page.locator(f"#view-{view} .grid").get_attribute("aria-rowcount"))
    opened.page.emulate_media(media="screen")
    opened.settled()
    assert opened.page.locator(f"#view-{view} .grid").evaluate("one => one.style.zoom") == ""


def test_times_of_seconds_are_told_in_seconds(show, frame: rg.Plan):
    times = [{"name": one.name, "queue": "graphics", "begin_us": 0.0, "end_us": 5.4e6} for one in frame.passes]
    page = show(frame.to_html(report=times), width=1440).page
    assert "5.40 s measured" in page.locator(".figures").inner_text()


@pytest.mark.parametrize("view", ["diff", "frames"])
def test_figures_that_are_compared_are_whole(show, frame: rg.Plan, deferred: Path, view: str):
    spans = [
        [
            {"name": one.name, "queue": "graphics", "begin_us": one.start_us, "end_us": one.start_us + 1.0 + at}
            for one in frame.passes
        ]
        for at in range(12)
    ]
    other = rg.Graph.load(deferred).bake(rg.Profile.single_queue())
    page = show(frame.to_html(report=rg.Series(spans), against=other), fragment=f"#view={view}", width=1440).page
    chips = page.locator(f"#view-{view} .figures li")
    assert chips.count() > 2
    outside = chips.evaluate_all("""all => all.filter((one) => {
        const [own, list] = [one, one.parentElement].map((of) => of.getBoundingClientRect());
        return own.bottom > list.bottom + 1 || own.right > list.right + 1;
    }).map((one) => one.textContent)""")
    assert outside == []


def test_boxes_of_two_plans_one_above_the_other_stay_apart(show, rich: str):
    page = show(rich, fragment="#view=diff", width=1000).page
    overlap = page.locator("#view-diff .pair").evaluate("""pair => {
        const boxes = [...pair.querySelectorAll('.box')].map((one) => one.getBoundingClientRect());
        const rows = [...Map.groupBy(boxes, (one) => one.top).values()];
        return rows.flatMap((row) => row.sort((a, b) => a.left - b.left)
            .filter((one, at) => at && row[at - 1].right > one.left + 2.5).map((one) => one.left));
    }""")
    assert overlap == []


def test_a_short_title_is_whole_beside_a_long_profile(show, rich: str):
    page = show(rich, width=800, height=600).page
    page.evaluate("document.querySelector('h1 .note').textContent = 'for llvmpipe (LLVM 15.0.6, 256 bits)'")
    cut = page.locator("h1 > span").first.evaluate("one => one.scrollWidth > one.clientWidth")
    assert not cut


def test_what_was_not_timed_has_no_measured_time(show, frame: rg.Plan):
    spans = [
        {"name": one.name, "queue": "graphics", "begin_us": one.start_us, "end_us": one.start_us + one.duration_us}
        for one in list(frame.passes)[1:]
    ]
    name = next(iter(frame.passes)).name
    page = show(frame.to_html(report=spans), fragment=f"#view=tables&pin=p:{name}").page
    row = page.locator("#view-tables").get_by_role("row").nth(1).locator(".td").all_inner_texts()
    assert row[1] == name
    assert row[6] == ""
    assert page.locator(".card dt:text-is('Measured')").count() == 0


def test_every_column_of_the_passes_is_in_view(show):
    graph = rg.Graph("names", size=(64, 64))
    before = None
    for at in range(24):
        name = f"Lighting.DiffuseProbeGrid.BlendIrradiance{at}"
        image = graph.image(f"{name}.Output", format="rgba8unorm")
        made = graph.add_pass(name, weight_us=1000.0).color(image)
        before = image if before is None else (made.sampled(before), image)[1]
    graph.add_pass("unseen").color(graph.image("unseen", format="rgba8unorm"))
    graph.root(before)
    page = show(graph.bake("discrete").to_html(), fragment="#view=tables", width=1440, height=900).page
    frame = page.locator("#view-tables .frame")
    assert frame.evaluate("one => one.scrollWidth <= one.clientWidth")
    heads = page.locator("#view-tables .th").all_inner_texts()
    assert heads[-1] == "Why there"
    assert "Measured µs" not in heads, "nothing was measured"
    assert page.locator("#view-tables .td").evaluate_all(CUT) == []
    name = page.locator("#view-tables").get_by_role("rowheader").nth(3)
    assert "BlendIrradiance" in name.inner_text()
    assert name.get_attribute("title") == "Lighting.DiffuseProbeGrid.BlendIrradiance3"
    frame.evaluate("one => { one.scrollTop = one.scrollHeight }")
    assert "is never read" in page.locator("#view-tables .row", has_text="unseen").inner_text(), "its reason is whole"


@pytest.mark.parametrize("width", [1440, 1000, 800])
def test_both_sides_of_a_difference_are_in_view(show, width: int):
    graph = rg.Graph("names", size=(64, 64))
    before = None
    for at in range(24):
        name = f"Shadows.ProjectedESM.Exponentiation{at}"
        image = graph.image(f"{name}.Output", format="rgba8unorm")
        made = graph.add_pass(name, queue=("async_compute", "graphics")[at % 2], weight_us=1000.0)
        made.storage_write(image)
        before = image if before is None else (made.sampled(before), image)[1]
    graph.root(before)
    one, other = (graph.bake(profile) for profile in ("discrete", "single_queue"))
    page = show(one.to_html(against=other), fragment="#view=diff", width=width, height=900).page
    frame = page.locator("#view-diff .frame")
    assert frame.evaluate("one => one.scrollWidth <= one.clientWidth")
    assert page.locator("#view-diff .th").all_inner_texts()[-2:] == ["Before", "After"]
    cells = page.locator("#view-diff .row:has(.td) .td:last-child")
    whole = [text for text in cells.all_inner_texts() if text]
    assert whole
    assert all(len(text) > 12 or "…" not in text for text in whole), (
        "a cut text keeps enough of itself to differ from others"
    )
    assert page.locator("#view-diff .td").evaluate_all(CUT) == []


# What the memory map draws as the bound of a heap whose resources are given as (first pass, last pass, offset, bytes).
BOUND = """([source, given]) => {
    const lives = { begin: given.map(one => one[0]), end: given.map(one => one[1] + 1) };
    const resources = { root: given.map(() => 0), offset: given.map(one => one[2]) };
    const plan = { resources, scales: {}, livesOn: () => lives };
    const mostAlive = new Function('plan', 'Pane', `${source}; return mostAlive;`)(plan, class {});
    return mostAlive(given.map((one, resource) => ({ resource, size: one[3] })));
}"""


@pytest.mark.parametrize("seed", range(8))
def test_the_bound_of_a_heap_is_what_is_alive_at_once(browser, root: Path, seed: int):
    chance = random.Random(seed)
    given = []
    for at in range(12):
        first = chance.randrange(20)
        given.append((first, first + chance.randrange(6), at * 4096, chance.choice((64, 256, 1024))))
    # A second name of one memory is no second memory.
    first, last, *memory = given[3]
    alive = [sum(size for begin, end, _, size in given if begin <= at <= end) for at in range(26)]
    source = (root / "rust/rgraph-report/src/viewer/memory.js").read_text()
    page = browser.new_page()
    assert page.evaluate(BOUND, [source, [*given, (first, last, *memory)]]) == max(alive)
    page.close()


def named(passes: int) -> rg.Plan:
    """Passes of a few groups whose names begin alike and end alike, as engines call them."""
    groups = ("Shadows.CascadesESM", "Shadows.ProjectedESM", "LightAdaptation.LookModificationTransformPass")
    graph = rg.Graph("names", size=(64, 64))
    before = None
    for at in range(passes):
        name = f"{groups[at % 3]}.KawaseBlur{at // 3}"
        image = graph.image(f"{name}.Output", format="rgba8unorm")
        made = graph.add_pass(name, weight_us=1000.0 + at).color(image)
        before = image if before is None else (made.sampled(before), image)[1]
    graph.root(before)
    return graph.bake("discrete")


def times_of(plan: rg.Plan, runs: int) -> rg.Series:
    """The modelled times as those of some runs, each a little longer."""
    spans = [{"name": one.name, "queue": one.queue, "begin_us": one.start_us} for one in plan.passes]
    return rg.Series(
        [{**span, "end_us": one.start_us + one.duration_us + run} for span, one in zip(spans, plan.passes, strict=True)]
        for run in range(runs)
    )


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (800, 600)])
@pytest.mark.parametrize("view", ["tables", "frames"])
def test_names_of_passes_in_tables_tell_them_apart(show, view: str, width: int, height: int):
    plan = named(24)
    html = plan.to_html(report=times_of(plan, 12))
    page = show(html, fragment=f"#view={view}", width=width, height=height).page
    heads = page.locator(f"#view-{view}").get_by_role("rowheader")
    texts = heads.all_inner_texts()
    assert len(texts) > 3
    assert len(set(texts)) == len(texts)
    for head, text in zip(heads.all(), texts, strict=True):
        name = head.get_attribute("title") or text
        own = name.rsplit(".", 1)[1]
        assert own in text.replace("\n", ""), "its last part is whole"
        assert head.evaluate(
            "one => one.scrollHeight <= one.clientHeight + 1 && one.scrollWidth <= one.clientWidth + 1"
        )


def test_columns_of_tables_are_as_wide_as_one_wants(show):
    page = show(named(24).to_html(), fragment="#view=tables", width=1440, height=900).page
    head = page.locator("#view-tables").get_by_role("columnheader", name="Pass", exact=True)
    first = page.locator("#view-tables").get_by_role("rowheader").first

    def wide() -> float:
        return head.bounding_box()["width"]

    start = wide()
    box = head.bounding_box()
    page.mouse.move(box["x"] + box["width"], box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] + 300, box["y"] + 8, steps=3)
    page.mouse.up()
    assert wide() == pytest.approx(start + 300, abs=2)
    assert first.inner_text().replace("\n", "") == "Shadows.CascadesESM.KawaseBlur0"
    head.get_by_role("button").focus()
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Shift+ArrowLeft")
    assert wide() == pytest.approx(start + 268, abs=2)
    box = head.bounding_box()
    page.mouse.dblclick(box["x"] + box["width"], box["y"] + 8)
    assert wide() == pytest.approx(start, abs=2)


def test_the_map_is_as_wide_as_the_axis_where_the_host_began_earlier(show, frame: rg.Plan):
    class Report:
        timeline = tuple(
            {"name": one.name, "queue": "graphics", "begin_us": one.start_us, "end_us": one.start_us + 2}
            for one in frame.passes
        )
        calibrated = True
        host_spans = ({"name": "record", "begin_us": -40.0, "end_us": -4.0},)

    opened = show(frame.to_html(report=Report()))
    page = opened.page

    def edges(selector: str) -> list[float]:
        box = page.locator(f"#view-frame {selector}").first.bounding_box()
        return [box["x"], box["x"] + box["width"]]

    assert edges(".minimap .window") == pytest.approx(edges(".minimap .area"), abs=1)
    page.keyboard.press("f")
    opened.settled()
    assert edges(".minimap .window") == pytest.approx(edges(".minimap .area"), abs=1), "with what the host did before"
    page.keyboard.press("w")
    opened.settled()
    left, right = edges(".minimap .window")
    assert right - left == pytest.approx((edges(".minimap .area")[1] - edges(".minimap .area")[0]) / 1.5, rel=0.03)


def test_a_pane_that_waits_for_room_is_on_paper(show, rich: str):
    opened = show(rich, width=800, height=600)
    page = opened.page
    memory = page.locator("#view-frame").get_by_role("button", name="Memory", exact=True)
    assert memory.get_attribute("aria-expanded") == "false"
    page.emulate_media(media="print")
    opened.settled()
    assert page.locator("#view-frame .pane.memory .block:visible").count() > 3
    page.emulate_media(media="screen")
    opened.settled()
    assert memory.get_attribute("aria-expanded") == "false"
    memory.click()
    page.emulate_media(media="print")
    page.emulate_media(media="screen")
    opened.settled()
    assert memory.get_attribute("aria-expanded") == "true", "what was opened by hand stays open"
