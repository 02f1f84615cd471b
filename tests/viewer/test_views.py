"""Costs, images, the tip at the pointer, filters of time, and paper."""

import re

import pytest

import rgraph as rg

from .test_stack import engine


def test_costs_name_what_is_longest_and_link_to_it(show, rich: str, frame: rg.Plan):
    opened = show(rich, fragment="#view=costs")
    page = opened.page
    path = page.locator(".cost", has=page.get_by_role("heading", name="Critical path"))
    longest = max(frame.passes, key=lambda one: one.duration_us)
    assert path.get_by_role("button").first.inner_text() == longest.name
    memory = page.locator(".cost", has=page.get_by_role("heading", name="Memory at the peak"))
    assert memory.get_by_role("button").first.inner_text() == "shadow"
    unmerged = page.locator(".cost", has=page.get_by_role("heading", name="Passes that did not merge"))
    assert 'Their depth attachments differ. pass_.depth("shadow", layers=(' in unmerged.inner_text().replace("'", '"')
    assert all(line.locator("code").count() for line in unmerged.get_by_role("listitem").all()), (
        "each has a fix to type"
    )
    path.get_by_role("button").first.click()
    assert opened.pinned == longest.name


def test_costs_are_ranked_by_what_a_run_measured(show, frame: rg.Plan):
    usual, slow = {"gbuffer": 900.0, "lighting": 100.0}, {"gbuffer": 100.0, "lighting": 1500.0}

    def spans(times: dict[str, float]) -> list[dict[str, object]]:
        begin, out = 0.0, []
        for one in frame.passes:
            took = times.get(one.name, 10.0)
            out.append({"name": one.name, "queue": one.queue, "begin_us": begin, "end_us": begin + took})
            begin += took
        return out

    opened = show(frame.to_html(report=rg.Series(map(spans, [usual, slow, usual]))), fragment="#view=costs")
    page = opened.page
    path = page.locator(".cost", has=page.get_by_role("heading", name="Critical path"))
    assert "measured" in path.locator(".note").first.inner_text()
    first = path.locator("li").first
    assert re.match(r"900\.0 µs\s+gbuffer takes", first.inner_text())
    # The other frame, once it is chosen, is what the costs are of.
    opened.view("frames")
    page.get_by_role("button", name="Slowest", exact=True).click()
    opened.view("costs")
    assert re.match(r"1\.50 ms\s+lighting takes", first.inner_text())


def test_costs_name_async_work_that_nothing_overlaps(show):
    graph = rg.Graph("alone", size=(256, 256))
    shade, blurred = graph.image("shade", format="rgba16float"), graph.image("blurred", format="rgba16float")
    out = graph.image("out", format="rgba8unorm")
    graph.add_pass("draw", weight_us=200).color(shade)
    graph.add_pass("blur", queue="async_compute", weight_us=50).sampled(shade).storage_write(blurred)
    graph.add_pass("tonemap", weight_us=100).sampled(blurred).color(out)
    graph.root(out)
    opened = show(graph.bake("discrete").to_html(), fragment="#view=costs")
    page = opened.page
    cost = page.locator(".cost", has=page.get_by_role("heading", name="Async that does not pay"))
    assert re.search(r"blur on compute: 0\.0 µs of 50\.0 µs run beside other work, for 2 waits", cost.inner_text())
    assert cost.locator("code").inner_text() == 'add_pass("blur", queue="graphics")'
    cost.get_by_role("button", name="blur").click()
    assert opened.pinned == "blur"


def test_costs_name_what_timing_isolates(show, frame: rg.Plan):
    class Report:
        measure = "passes"
        timeline = tuple(
            {"name": one.name, "queue": one.queue, "begin_us": 10.0 * at, "end_us": 10.0 * at + 8}
            for at, one in enumerate(frame.passes)
        )

    opened = show(frame.to_html(report=Report()), fragment="#view=costs")
    page = opened.page
    cost = page.locator(".cost", has=page.get_by_role("heading", name="Timing that isolates passes"))
    assert cost.locator("code").first.inner_text() == 'device.run(graph, measure="batches")'
    names = cost.locator("li").first.get_by_role("button").all_inner_texts()
    assert len(names) >= 2
    order = [one.name for one in frame.passes]
    for name in names[1:]:
        assert not [one for one in frame.barriers if one.before == name], "no barrier stands before it"
    assert [order.index(name) for name in names] == sorted(order.index(name) for name in names)
    Report.measure = "batches"
    assert (
        "isolates" not in show(frame.to_html(report=Report()), fragment="#view=costs").page.locator("body").inner_text()
    )


def test_heat_colours_passes_by_their_time_on_request(show, rich: str, frame: rg.Plan):
    opened = show(rich, width=1440, height=900)
    page = opened.page
    page.locator("#view-frame").get_by_label("Modelled time").check()
    boxes = page.locator("#view-frame .timeline .box[data-key^=p]:not(.culled)")
    assert not [name for name in boxes.evaluate_all("all => all.map(one => one.className)") if "heat-" in name]
    page.locator("#view-frame").get_by_role("button", name="Heat").click()
    opened.settled()
    shown = boxes.evaluate_all("""all => all.map((one) => [one.getAttribute('aria-label').split(' ')[1],
        Number(/heat-(\\d)/.exec(one.className)[1]), getComputedStyle(one).backgroundColor])""")
    times = {one.name: one.duration_us for one in frame.passes}
    longest = max(times.values())
    assert len({step for _, step, _ in shown}) >= 5
    assert 7 in {step for _, step, _ in shown}
    assert len({colour for _, _, colour in shown}) == len({step for _, step, _ in shown})
    for name, step, _ in shown:
        assert step == min(7, int((times[name] / longest) ** 0.5 * 8)), name
    page.locator("#view-frame").get_by_role("button", name="Heat").click()
    opened.settled()
    assert page.locator("#view-frame .box[class*=heat-]").count() == 0


def test_a_pinned_barrier_is_a_line_from_its_producer_to_its_consumer(show, rich: str):
    opened = show(rich, width=1440, height=900)
    page = opened.page
    page.locator("#view-frame").get_by_label("Order").check()
    seen = 0
    for _ in range(12):
        page.keyboard.press("b")
        opened.settled()
        sides = page.locator(".card .sides td").evaluate_all(
            "all => all.map(one => one.querySelector('button')?.textContent)"
        )
        lines = page.locator("#view-frame .timeline path.cause:not(.tip-of)")
        if None in sides:
            assert lines.count() == 0, "a side outside of the frame has no box"
            continue
        seen += 1
        assert lines.count() == 1
        begin, end = lines.evaluate("""one => {
            const at = (length) => one.getPointAtLength(length).matrixTransform(one.getScreenCTM()).x;
            return [at(0), at(one.getTotalLength())];
        }""")
        boxes = [
            page.locator("#view-frame .timeline").get_by_role(
                "gridcell", name=re.compile(f"^pass {re.escape(name)} on")
            )
            for name in sides
        ]
        producer, consumer = (box.bounding_box() for box in boxes)
        assert begin == pytest.approx(producer["x"] + producer["width"], abs=4)
        assert end == pytest.approx(consumer["x"], abs=4)
    assert seen >= 4


def test_passes_are_stepped_through_in_the_memory_map(show, rich: str):
    opened = show(rich, fragment="#view=memory")
    page = opened.page
    page.keyboard.press("]")
    page.keyboard.press("]")
    opened.settled()
    assert opened.pinned == "shadow0"
    assert page.locator("#view-memory").is_visible(), "the view stays"
    assert page.locator("#view-memory .band").is_visible()


def test_images_are_looked_at_closely(show, rich: str):
    opened = show(rich, fragment="#view=images")
    page = opened.page
    page.get_by_role("button", name="lit: look closer").click()
    canvas = page.locator("#view-images canvas")
    page.wait_for_function("document.querySelector('#view-images canvas').width === 32")
    at = canvas.bounding_box()
    page.mouse.move(at["x"] + at["width"] - 2, at["y"] + at["height"] - 2)
    assert page.locator(".note.value").inner_text() == "(31, 31)  0.9385", "the value itself, as it is in the array"
    corner = "document.querySelector('#view-images canvas').getContext('2d').getImageData(31, 31, 1, 1).data"
    assert page.evaluate(f"[...{corner}]")[0] == 248, "light is encoded for the eye"
    page.get_by_label("Exposure").fill("-1")
    assert page.evaluate(f"[...{corner}]")[0] == pytest.approx(182, abs=1), "half of the light"
    before = canvas.bounding_box()["width"]
    page.mouse.move(at["x"] + 20, at["y"] + 20)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -300)
    page.keyboard.up("Control")
    page.wait_for_function("before => document.querySelector('#view-images canvas').clientWidth > before", arg=before)
    page.get_by_role("button", name="All images").click()
    assert page.get_by_role("button", name="lit: look closer").is_visible()


def test_a_tip_is_beside_the_pointer(show, rich: str):
    opened = show(rich)
    page = opened.page
    box = page.locator("#view-frame").get_by_role("gridcell", name=re.compile("^pass lighting on")).bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    tip = page.locator(".tip")
    tip.wait_for()
    assert re.search(r"lighting\s+graphics · raster · [\d.]+ µs measured", tip.inner_text())
    assert tip.locator("img").count() == 1, "the image that it writes"
    place = tip.bounding_box()
    assert abs(place["x"] - box["x"] - 20) < 30
    assert place["x"] + place["width"] <= 1280
    page.keyboard.press("]")
    assert tip.is_hidden()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("us>1ms", "1 pass"),
        ("us>500us", "3 passes"),
        ("us>0.5k", "3 passes"),
        ("us>1parsec", "unknown filter us>1parsec"),
    ],
)
def test_times_are_those_of_the_axis_in_view(show, rich: str, query: str, found: str):
    opened = show(rich)
    opened.page.locator("#search").fill(query)
    assert opened.page.locator("#found").inner_text() == found


def test_paper_shows_every_row_and_every_mark(show, rich: str):
    opened = show(rich)
    page = opened.page
    page.emulate_media(media="print")
    opened.settled()
    rows = page.locator("#view-frame .resources").get_by_role("row")
    assert rows.count() == int(page.locator("#view-frame .resources .grid").get_attribute("aria-rowcount"))
    adjust = "getComputedStyle(document.querySelector('#view-frame .glyph'), '::before').printColorAdjust"
    assert page.evaluate(adjust) == "exact"
    assert page.locator("#view-frame .legend").first.is_visible()
    right = page.locator("#view-frame .box").evaluate_all(
        "all => Math.max(...all.map(one => one.getBoundingClientRect().right))"
    )
    assert right <= 1060
    page.emulate_media(media="screen")
    opened.settled()
    assert rows.count() < 100
    opened.view("graph")
    page.emulate_media(media="print")
    opened.settled()
    nodes = page.locator("#view-graph .node")
    assert nodes.count() == 23
    page.set_viewport_size({"width": 1280, "height": 3000})
    opened.settled()
    assert nodes.evaluate_all(SEEN) == [True] * 23


# Whether the middle of each element is seen, or lies under something that cuts it off.
SEEN = """all => all.map((one) => {
  const { left, top, width, height } = one.getBoundingClientRect();
  return one.contains(document.elementFromPoint(left + width / 2, top + height / 2));
})"""


def test_rows_are_drawn_before_pages_are_counted(show, rich: str):
    opened = show(rich)
    page = opened.page
    rows = page.locator("#view-frame .resources").get_by_role("row")
    every = int(page.locator("#view-frame .resources .grid").get_attribute("aria-rowcount"))
    assert rows.count() < every
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert rows.count() == every
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    opened.settled()
    assert rows.count() < every
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")


def test_names_have_room_on_paper(show):
    opened = show(engine().to_html())
    page = opened.page
    page.emulate_media(media="print")
    opened.settled()
    names = page.locator("#view-frame .resources .name .strong").all_inner_texts()
    assert names
    assert not [name for name in names if "…" in name]
    tops = (
        page.locator("#view-frame .resources")
        .get_by_role("row")
        .evaluate_all("all => all.map((row) => row.getBoundingClientRect().top)")
    )
    assert tops == sorted(set(tops)), "rows follow each other, so that pages break between them"
    assert page.locator(".card").is_hidden(), "without anything pinned there is no page for it"


def test_causes_of_a_pinned_pass_are_lines(show, rich: str):
    opened = show(rich)
    page = opened.page
    page.locator("#view-frame").get_by_role("gridcell", name=re.compile("^pass lighting on")).click()
    needs = page.locator(".card dd", has=page.get_by_role("button", name="ao_blur")).first.get_by_role("button").count()
    assert page.locator("#view-frame .timeline path.cause:not(.tip-of)").count() == needs
    page.keyboard.press("Escape")
    page.mouse.move(5, 5)
    opened.settled()
    assert page.locator("#view-frame path.cause").count() == 0


def declared(opened) -> str:
    return opened.page.locator(".card dt:text-is('Declared') + dd").inner_text()


def test_declarations_have_a_place_that_opens_in_an_editor(show, rich: str):
    opened = show(rich, fragment="#pin=p:lighting")
    place = declared(opened)
    assert re.search(r"deferred\.rgraph\.json:\d+$", place)
    link = opened.page.locator(".card dd a")
    assert link.get_attribute("href") == f"vscode://file{place}"


def test_the_demo_tells_where_it_declares(show):
    from rgraph.demo import deferred

    plan = deferred.build((320, 180)).bake(rg.Profile.discrete())
    for name in ("lighting", "sky/level1", "overlay"):
        opened = show(plan.to_html(), fragment=f"#pin=p:{name}")
        assert re.search(r"rgraph/demo/deferred\.py:\d+$", declared(opened)), name


def test_a_search_dims_arrows_and_crowds_that_it_did_not_find(show, rich: str):
    opened = show(rich, fragment="#q=p:lighting")
    opened.settled()
    arrows = opened.page.locator("#view-frame .over path.arrow")
    assert arrows.count() > 0
    assert arrows.evaluate_all("all => all.filter(one => !one.classList.contains('dim')).length") == 0
    crowds = opened.page.locator("#view-frame .resources .glyph.crowd")
    assert crowds.evaluate_all("all => all.filter(one => one.classList.contains('on')).length") == 0


def tab_to(page, wanted) -> None:
    """Press Tab until an element has the focus."""
    for _ in range(200):
        if wanted.evaluate("one => one === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError("Tab does not reach it")


def test_five_questions_are_answered_by_keys_alone(show, rich: str):
    opened = show(rich, fragment="#view=frame")
    page, card = opened.page, opened.page.locator(".card")

    def type_search(text: str) -> None:
        page.keyboard.press("/")
        page.keyboard.press("Control+a")
        page.keyboard.type(text)
        page.keyboard.press("Enter")

    type_search("p:lighting")
    assert "graphics waits for compute 1" in card.inner_text(), "why it waits"
    assert re.search(r"deferred\.rgraph\.json:\d+$", declared(opened)), "where it was declared"
    page.keyboard.press("Escape")
    page.keyboard.press("p")
    place = card.locator("dd a")
    tab_to(page, place)
    assert place.get_attribute("href").startswith("vscode://file/"), "Enter opens it in an editor"
    page.keyboard.press("Escape")
    type_search("critical")
    assert re.match(r"\d+ passes", page.locator("#found").inner_text()), "what is on the critical path"
    page.keyboard.press("Escape")
    page.keyboard.press("7")
    peak = page.locator(".cost", has=page.get_by_role("heading", name="Memory at the peak"))
    tab_to(page, peak.get_by_role("button").first)
    page.keyboard.press("Enter")
    assert opened.pinned == "shadow", "what holds the peak"
    page.keyboard.press("x")
    assert page.locator("#view-diff").is_visible()
    assert "frame" in page.locator("#view-diff .compared").inner_text(), "what it changed, in one line"
    tab_to(page, page.locator("#view-diff [data-cell][tabindex='0']"))
    while not (opened.pinned or "").startswith("lighting"):
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        row = page.evaluate("document.activeElement.closest('[role=row]').textContent")
        if re.search("pass lighting", row):
            break
    assert opened.pinned == "lighting", "and of each pass"


def test_five_questions_are_answered_by_the_mouse_alone(show, rich: str):
    opened = show(rich)
    page, card = opened.page, opened.page.locator(".card")
    page.locator("#view-frame").get_by_role("gridcell", name=re.compile("^pass lighting on")).click()
    assert "graphics waits for compute 1" in card.inner_text(), "why it waits"
    assert re.search(r"deferred\.rgraph\.json:\d+$", declared(opened)), "where it was declared"
    card.get_by_role("button", name="Unpin").click()
    page.locator("#view-frame").get_by_role("button", name="Critical path").click()
    assert re.match(r"\d+ passes", page.locator("#found").inner_text()), "what is on the critical path"
    page.locator("#view-frame .block").first.click()
    assert opened.pinned == "shadow", "what holds the peak"
    opened.view("diff")
    assert "frame" in page.locator("#view-diff .compared").inner_text(), "what it changed, in one line"
    # Rows that come into view are drawn into the elements of those that left it.
    row = page.locator("#view-diff").get_by_role("rowheader", name="pass lighting").first
    row.scroll_into_view_if_needed()
    opened.settled()
    row.click()
    assert opened.pinned == "lighting", "and of each pass"
