"""The page for everybody: axe finds nothing in any view of either theme, at any width. Themes differ in colors."""

import pytest

VIEWS = ["frame", "timeline", "resources", "memory", "graph", "matrix", "costs", "tables", "images", "diff"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(show, violations, rich: str, scheme: str):
    opened = show(rich, scheme=scheme)
    for view in VIEWS:
        opened.view(view)
        assert violations(opened.page, colors=scheme == "dark") == [], view
    assert violations(opened.page, whole=True) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_cards_search_and_help(show, violations, rich: str, scheme: str):
    opened = show(rich, scheme=scheme)
    page = opened.page
    for key in ("p:lighting", "r:lit", "p:debug_view", "b5", "c4", "s3", "w1", "a7"):
        page.evaluate("key => { location.hash = `#pin=${encodeURIComponent(key)}` }", key)
        page.locator(".card .close").wait_for()
        assert violations(page, colors=scheme == "dark") == [], key
    page.evaluate("location.hash = '#q=down'")
    opened.settled()
    assert violations(page, colors=scheme == "dark") == []
    page.locator("body").press("?")
    assert violations(page, colors=scheme == "dark") == []
    assert violations(page, whole=True) == []


def test_themes_can_be_chosen_and_stay(show, rich: str):
    opened = show(rich, scheme="light")
    page = opened.page
    back = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(back)
    for name in ("Light", "Dark", "System"):
        page.locator("#theme").click()
        assert page.locator("#theme").inner_text() == f"Theme: {name.lower()}"
        assert (page.evaluate(back) == light) == (name != "Dark")
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(back) != light


@pytest.mark.parametrize("width", [360, 640])
def test_narrow_pages_can_be_used(show, violations, rich: str, width: int):
    opened = show(rich, width=width, height=740)
    page = opened.page
    for view in VIEWS:
        opened.view(view)
        assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), view
        assert violations(page) == [], view
    opened.view("timeline")
    page.locator("#view-timeline .box").first.click()
    assert opened.pinned


def test_paper_has_no_controls(show, rich: str):
    opened = show(rich)
    opened.page.emulate_media(media="print")
    assert not opened.page.locator(".tools").first.is_visible()
    assert not opened.page.locator("#search").is_visible()
    assert opened.page.locator("#view-frame .box").first.is_visible()


def test_forced_colours_keep_outlines(show, rich: str):
    opened = show(rich)
    opened.page.emulate_media(forced_colors="active")
    border = "getComputedStyle(document.querySelector('#view-frame .box')).borderTopStyle"
    assert opened.page.evaluate(border) == "solid"
