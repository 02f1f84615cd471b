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
    assert "their areas, samples or layers differ" in unmerged.inner_text()
    path.get_by_role("button").first.click()
    assert opened.pinned == longest.name


def test_images_are_looked_at_closely(show, rich: str):
    opened = show(rich, fragment="#view=images")
    page = opened.page
    page.get_by_role("button", name="lit: look closer").click()
    canvas = page.locator("#view-images canvas")
    page.wait_for_function("document.querySelector('#view-images canvas').width === 32")
    at = canvas.bounding_box()
    page.mouse.move(at["x"] + at["width"] - 2, at["y"] + at["height"] - 2)
    assert page.locator(".value").inner_text().startswith("(31, 31)  248")
    corner = "document.querySelector('#view-images canvas').getContext('2d').getImageData(31, 31, 1, 1).data"
    assert page.evaluate(f"[...{corner}]")[0] == 248
    page.get_by_label("Exposure").fill("-1")
    assert page.evaluate(f"[...{corner}]")[0] == pytest.approx(124, abs=1)
    before = canvas.bounding_box()["width"]
    page.mouse.move(at["x"] + 20, at["y"] + 20)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -300)
    page.keyboard.up("Control")
    page.wait_for_timeout(100)
    assert canvas.bounding_box()["width"] > before
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
    assert declared(opened), "where it was declared"
    page.keyboard.press("Escape")
    type_search("critical")
    assert re.match(r"\d+ passes", page.locator("#found").inner_text()), "what is on the critical path"
    page.keyboard.press("Escape")
    page.keyboard.press("7")
    peak = page.locator(".cost", has=page.get_by_role("heading", name="Memory at the peak"))
    peak.get_by_role("button").first.focus()
    page.keyboard.press("Enter")
    assert opened.pinned == "shadow", "what holds the peak"
    page.keyboard.press("x")
    assert page.locator("#view-diff").is_visible()
    assert page.locator("#view-diff").get_by_role("row").count() > 5, "what a change did"


def test_five_questions_are_answered_by_the_mouse_alone(show, rich: str):
    opened = show(rich)
    page, card = opened.page, opened.page.locator(".card")
    page.locator("#view-frame").get_by_role("gridcell", name=re.compile("^pass lighting on")).click()
    assert "graphics waits for compute 1" in card.inner_text(), "why it waits"
    assert declared(opened), "where it was declared"
    card.get_by_role("button", name="Unpin").click()
    page.locator("#view-frame").get_by_role("button", name="Critical path").click()
    assert re.match(r"\d+ passes", page.locator("#found").inner_text()), "what is on the critical path"
    page.locator("#view-frame .block").first.click()
    assert opened.pinned == "shadow", "what holds the peak"
    opened.view("diff")
    assert page.locator("#view-diff").get_by_role("row").count() > 5, "what a change did"
