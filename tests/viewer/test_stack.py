"""The stacked page: panes on one axis, one cursor line, panes that fold and resize, names that stay legible."""

import re
from itertools import pairwise

import pytest

import rgraph as rg

# Middles of the marks of the pinned pass in each pane, in pixels of the page.
MIDDLES = """() => Object.fromEntries(['timeline', 'resources'].map(pane => [pane,
    [...document.querySelectorAll(`#view-frame .${pane} .lit.box, #view-frame .${pane} .glyph.on`)].map(mark => {
        const { left, width } = mark.getBoundingClientRect();
        return left + width / 2;
    })]))"""


def box(opened, pane: str) -> dict[str, float]:
    return opened.page.locator(f"#view-frame .pane.{pane}").bounding_box()


@pytest.mark.parametrize("axis", ["Order", "Modelled time", "Measured time"])
def test_panes_share_one_axis(show, rich: str, axis: str):
    opened = show(rich, fragment="#pin=p:lighting")
    page = opened.page
    page.locator("#view-frame").get_by_label(axis).check()
    opened.settled()
    whole = page.evaluate(MIDDLES)
    for zoomed in (False, True):
        if zoomed:
            page.keyboard.press("z")
            opened.settled()
        middles = page.evaluate(MIDDLES)
        assert middles["resources"], "accesses of the pinned pass are lit"
        for at in middles["resources"]:
            assert abs(at - middles["timeline"][0]) < 2
    assert middles != whole


def test_panes_fold_and_resize_by_mouse_and_by_keys(show, rich: str):
    opened = show(rich)
    page = opened.page
    before = box(opened, "memory")["height"]
    page.locator("#view-frame .folder", has_text="Resources").click()
    assert page.locator("#view-frame .resources .frame").is_hidden()
    assert box(opened, "memory")["height"] > before
    page.locator("#view-frame .folder", has_text="Resources").press("Enter")
    assert page.locator("#view-frame .resources .frame").is_visible()
    height = box(opened, "timeline")["height"]
    handle = page.get_by_role("separator", name="Height of Timeline")
    handle.focus()
    handle.press("ArrowUp")
    opened.settled()
    assert box(opened, "timeline")["height"] == pytest.approx(height - 16, abs=2)
    at = handle.bounding_box()
    page.mouse.move(at["x"] + 300, at["y"] + 2)
    page.mouse.down()
    page.mouse.move(at["x"] + 300, at["y"] + 62)
    page.mouse.up()
    opened.settled()
    assert box(opened, "timeline")["height"] == pytest.approx(height + 44, abs=3)


def test_names_can_be_given_more_room(show, rich: str):
    opened = show(rich)
    page = opened.page
    divider = page.locator("#view-frame").get_by_role("separator", name="Width of names")
    before = int(divider.get_attribute("aria-valuenow"))
    divider.press("ArrowRight")
    opened.settled()
    assert int(divider.get_attribute("aria-valuenow")) == before + 16


def test_cursor_line_names_the_pass(show, rich: str):
    opened = show(rich)
    page = opened.page
    at = page.locator("#view-frame").get_by_role("gridcell", name=re.compile("^pass lighting on")).bounding_box()
    panes = page.locator("#view-frame .panes").bounding_box()
    page.mouse.move(at["x"] + at["width"] / 2, panes["y"] + panes["height"] - 30)
    assert "lighting" in page.locator("#view-frame .cursor-sign").inner_text()
    assert page.locator("#view-frame .cursor").bounding_box()["height"] == pytest.approx(panes["height"], abs=2)


def test_map_moves_and_stretches_the_window(show, rich: str):
    opened = show(rich)
    page = opened.page
    page.keyboard.press("f")
    opened.settled()
    area = page.locator("#view-frame .area").bounding_box()
    window = page.locator("#view-frame .window")

    def share() -> tuple[float, float]:
        style = window.evaluate("one => [parseFloat(one.style.left), parseFloat(one.style.width)]")
        return style[0], style[1]

    page.mouse.move(area["x"] + area["width"] * 0.25, area["y"] + 20)
    page.mouse.down()
    page.mouse.move(area["x"] + area["width"] * 0.5, area["y"] + 20, steps=4)
    page.mouse.up()
    opened.settled()
    left, width = share()
    assert (left, width) == (pytest.approx(25, abs=2), pytest.approx(25, abs=2))
    page.mouse.move(area["x"] + area["width"] * 0.375, area["y"] + 20)
    page.mouse.down()
    page.mouse.move(area["x"] + area["width"] * 0.575, area["y"] + 20, steps=4)
    page.mouse.up()
    opened.settled()
    assert share() == (pytest.approx(45, abs=3), pytest.approx(width, abs=1))


def test_dragging_with_shift_measures(show, rich: str):
    opened = show(rich)
    page = opened.page
    panes = page.locator("#view-frame .resources .frame").bounding_box()
    page.keyboard.down("Shift")
    page.mouse.move(panes["x"] + 400, panes["y"] + 60)
    page.mouse.down()
    page.mouse.move(panes["x"] + 600, panes["y"] + 60, steps=3)
    page.mouse.up()
    page.keyboard.up("Shift")
    assert re.match(r"[\d.]+ (µs|ms), \d+ pass", page.locator("#view-frame .range").inner_text())


def engine() -> rg.Plan:
    """Names as engines make them: long, and alike at their beginning."""
    graph = rg.Graph("engine", size=(512, 512))
    before = None
    for name in ("ExponentiationPass", "KawaseBlurPass0", "KawaseBlurPass1", "EsmShadowmaps"):
        image = graph.image(f"Shadows.ProjectedESM.{name}.Output", format="r16float")
        made = graph.add_pass(f"Shadows.ProjectedESM.{name}", weight_us=20).color(image)
        if before is not None:
            made.sampled(before)
        before = image
    out = graph.image("ForwardPass.Output", format="rgba8unorm")
    graph.add_pass("ForwardPass.Main", weight_us=200).sampled(before).color(out)
    graph.root(out)
    return graph.bake(rg.Profile.discrete())


def test_names_break_at_separators_only(show):
    opened = show(engine().to_html())
    for width in (1280, 900):
        opened.page.set_viewport_size({"width": width, "height": 800})
        opened.settled()
        labels = opened.page.locator("#view-frame .timeline .box .label").evaluate_all(
            "all => all.map(one => [one.closest('[data-key]').getAttribute('aria-label'), "
            "[...one.querySelectorAll('.text')].map(line => line.textContent)])"
        )
        assert len(labels) >= 3
        for label, lines in labels:
            name = label.removeprefix("pass ").split(" on ")[0]
            if any("…" in line for line in lines):
                assert name.endswith(lines[-1].split("…")[-1]), "the end of the name stays"
                continue
            assert name.endswith("".join(lines))
            for line, following in pairwise(lines):
                hump = re.match(r"[A-Z]", following) and re.search(r"[a-z\dA-Z]$", line)
                assert hump or re.search(r"[/._\- ]$", line), (line, following)


def test_prefixes_fold_and_whole_names_are_told(show):
    opened = show(engine().to_html())
    page = opened.page
    rows = page.locator("#view-frame .resources").get_by_role("rowheader")
    before = rows.count()
    group = rows.filter(has_text="Shadows")
    group.first.focus()
    opened.settled()
    assert page.locator(".card h2").inner_text() == "engine", "a group has no card of its own"
    assert group.first.get_attribute("aria-expanded") == "true"
    group.first.click()
    opened.settled()
    assert group.first.get_attribute("aria-expanded") == "false"
    assert rows.count() < before
    assert page.locator("#view-frame .resources .glyph").count() > 0, "what is folded still shows its accesses"
    group.first.press("Enter")
    opened.settled()
    assert rows.count() == before
    assert rows.evaluate_all(
        "all => all.some(one => (one.title || one.textContent).includes('ExponentiationPass.Output'))"
    )


def test_a_group_of_resources_has_a_bar_as_long_as_its_members(show):
    page = show(engine().to_html(), fragment="#view=resources").page
    group = page.locator("#view-resources .group-bar").first
    assert group.evaluate("one => getComputedStyle(one).backgroundColor") not in ("rgba(0, 0, 0, 0)", "transparent")
    bars = page.locator("#view-resources .bar:not(.group-bar)")
    inside = [one.bounding_box() for one in bars.all()[:4]]
    box = group.bounding_box()
    assert box["x"] == pytest.approx(min(one["x"] for one in inside), abs=1)
    assert box["x"] + box["width"] == pytest.approx(max(one["x"] + one["width"] for one in inside), abs=1)


def test_brackets_of_the_timeline_fold_and_are_found_again(show):
    opened = show(engine().to_html())
    page = opened.page
    boxes = page.locator("#view-frame .timeline").get_by_role("gridcell", name=re.compile("^pass Shadows"))
    assert boxes.count() == 4
    bracket = page.locator("#view-frame .timeline").get_by_role("gridcell", name=re.compile("^Shadows: 4 passes, fold"))
    bracket.click()
    opened.settled()
    assert boxes.count() == 0
    page.evaluate("location.hash = '#pin=p%3AShadows.ProjectedESM.KawaseBlurPass1'")
    opened.settled()
    folded = page.locator("#view-frame .timeline").get_by_role("gridcell", name="Shadows: 4 passes, magnify")
    assert "on" in folded.get_attribute("class").split(), "what holds the pinned pass is lit"
    page.locator("#view-frame .timeline").get_by_role("gridcell", name=re.compile("^Shadows: .* unfold")).press("Enter")
    opened.settled()
    assert boxes.count() == 4


def test_passes_without_a_time_are_shown_as_such(show, frame: rg.Plan):
    class Report:
        timeline = tuple(
            {"name": one.name, "queue": "graphics", "begin_us": one.start_us, "end_us": one.start_us + one.duration_us}
            for one in list(frame.passes)[2:]
        )
        calibrated = False
        host_spans = ()

    opened = show(frame.to_html(report=Report()))
    cells = opened.page.locator("#view-frame").get_by_role("gridcell", name=re.compile("not timed$"))
    names = [one.name for one in list(frame.passes)[:2]]
    assert [label.split(" ")[1] for label in cells.evaluate_all("all => all.map(one => one.ariaLabel)")] == names
