"""Zooming costs a bounded number of operations, whatever is lit and however many passes there are.

The budgets count elements made and sizes read, because times depend on the machine.
"""

from pathlib import Path

import pytest

import rgraph as rg

from .test_page import large

# Counts what one turn of the wheel does in a view: elements put into the page, and reads that force a layout.
COUNTED = """async selector => {
    const frame = document.querySelector(selector);
    const work = { made: 0, read: 0, animated: 0, moved: 0, painted: 0, lit: 0 };
    const count = owner => name => {
        const real = Object.getOwnPropertyDescriptor(owner.prototype, name);
        const counted = function (...given) { work.read += 1; return (real.get || real.value).apply(this, given); };
        const watched = real.get ? { ...real, get: counted } : { ...real, value: counted };
        Object.defineProperty(owner.prototype, name, watched);
        return () => Object.defineProperty(owner.prototype, name, real);
    };
    const undo = [
        ...['clientWidth', 'clientHeight', 'scrollTop', 'scrollLeft', 'getBoundingClientRect'].map(count(Element)),
        ...['offsetWidth', 'offsetHeight', 'offsetTop', 'offsetLeft'].map(count(HTMLElement)),
    ];
    const clear = CanvasRenderingContext2D.prototype.clearRect;
    CanvasRenderingContext2D.prototype.clearRect = function (...given) { work.painted += 1; clear.apply(this, given); };
    const next = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    const { left, top, width, height } = frame.getBoundingClientRect();
    work.read = 0;
    const seen = new MutationObserver(list => list.forEach(one => { work.made += one.addedNodes.length; }));
    seen.observe(document.body, { childList: true, subtree: true });
    const moves = new MutationObserver(list => { work.moved += list.length; });
    moves.observe(frame, { attributes: true, attributeFilter: ['style'], subtree: true });
    for (let step = 0; step < 8; step += 1) {
        frame.dispatchEvent(new WheelEvent('wheel', { deltaY: step < 4 ? -40 : 40, ctrlKey: true, bubbles: true,
            cancelable: true, clientX: left + width * 0.55, clientY: top + height / 2 }));
        await next();
        work.animated = Math.max(work.animated, document.getAnimations().length);
        work.lit = Math.max(work.lit, frame.querySelectorAll('[data-key].on').length);
    }
    seen.disconnect();
    moves.disconnect();
    CanvasRenderingContext2D.prototype.clearRect = clear;
    undo.forEach(one => one());
    return work;
}"""


@pytest.fixture(scope="module")
def pages() -> dict[int, str]:
    return {passes: large(passes).to_html() for passes in (41, 1_024, 4_096, 10_000)}


@pytest.mark.parametrize("passes", [41, 1_024, 4_096, 10_000])
@pytest.mark.parametrize("view", ["frame", "timeline", "resources", "memory"])
def test_zooming_moves_what_is_there(show, pages: dict[int, str], view: str, passes: int):
    opened = show(pages[passes])
    page = opened.page
    page.emulate_media(reduced_motion="no-preference")
    for _ in range(4):
        page.keyboard.press("]")
    opened.view(view)
    page.keyboard.press("f")
    opened.settled()
    marks = page.locator(f"#view-{view} [data-key]").count()
    # Bytes too small for elements are painted on a canvas.
    painted = view == "memory" and passes > 41
    assert (0 if painted else 10) <= marks <= 1_000
    assert opened.pinned
    sheet = page.locator(f"#view-{view} .window")
    before = sheet.evaluate("one => one.style.width")
    work = page.evaluate(COUNTED, f"#view-{view} .panes")
    assert work["animated"] == 0, "marks are moved, not animated"
    assert work["read"] <= 8 * 16, "a step reads sizes once, not for every mark"
    assert work["made"] <= 8 * 160, "a step makes the marks that are new, not all"
    assert work["painted" if painted else "lit"] > 0, "something is lit all the while"
    assert work["moved"] + work["made"] + work["painted"] >= 8, "every step moves marks, makes or paints them"
    assert work["moved"] <= 8 * 2_400, "a step moves what is in view, at most a few times"
    page.locator(f"#view-{view} .panes").dispatch_event("wheel", {"deltaY": -200, "ctrlKey": True, "bubbles": True})
    opened.settled()
    assert sheet.evaluate("one => one.style.width") != before, "the wheel zooms"


def test_lighting_touches_what_is_lit(show, pages: dict[int, str]):
    opened = show(pages[1_024])
    page = opened.page
    opened.view("memory")
    touched = page.evaluate("""async () => {
        let touched = 0;
        const seen = new MutationObserver(list => { touched += list.length; });
        seen.observe(document.querySelector('#view-memory .grid'), { attributes: true, subtree: true });
        const box = document.querySelector('#view-memory .block');
        box.dispatchEvent(new PointerEvent('pointerover', { bubbles: true, pointerType: 'mouse' }));
        await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
        seen.disconnect();
        return touched;
    }""")
    assert 0 < touched < 60


# Counts what the opening of a page does: elements made by its script, before it says that it is ready.
OPENED = """() => {
    const make = Document.prototype.createElement;
    const vector = Document.prototype.createElementNS;
    window.made = 0;
    Document.prototype.createElement = function (...given) { window.made += 1; return make.apply(this, given); };
    Document.prototype.createElementNS = function (...given) { window.made += 1; return vector.apply(this, given); };
    window.read = 0;
    for (const name of ['clientWidth', 'clientHeight', 'scrollTop']) {
        const real = Object.getOwnPropertyDescriptor(Element.prototype, name);
        const get = function () { window.read += 1; return real.get.call(this); };
        Object.defineProperty(Element.prototype, name, { ...real, get });
    }
}"""


@pytest.mark.parametrize("passes", [41, 1_024, 4_096, 10_000])
def test_opening_makes_what_is_in_sight(browser, pages: dict[int, str], tmp_path: Path, passes: int):
    path = tmp_path / "page.html"
    path.write_text(pages[passes], encoding="utf-8")
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.add_init_script(f"({OPENED})()")
    page.goto(path.as_uri())
    page.locator("html[data-ready]").wait_for(state="attached")
    made, read = page.evaluate("[window.made, window.read]")
    page.close()
    assert 300 <= made <= 3_000, "elements do not grow with the frame"
    assert 3 <= read <= 60, "sizes are read once for a pane"


@pytest.mark.parametrize("passes", [41, 1_024, 4_096, 10_000])
def test_zooming_the_graph_makes_what_is_in_sight(show, pages: dict[int, str], passes: int):
    opened = show(pages[passes])
    opened.page.emulate_media(reduced_motion="no-preference")
    opened.page.keyboard.press("]")
    opened.view("graph")
    opened.settled()
    work = opened.page.evaluate(COUNTED, "#view-graph .frame")
    assert work["animated"] == 0
    assert work["painted"] >= 8, "every step draws the lines anew"
    assert work["painted"] <= 8 * 2
    assert work["read"] <= 8 * 8
    assert work["made"] <= 8 * 520


def test_arrows_of_many_waits_are_few_elements(show):
    graph = rg.Graph("waits", size=(64, 64))
    before = None
    for at in range(400):
        image = graph.image(f"image{at}", format="rgba8unorm")
        made = graph.add_pass(f"pass{at}", queue="async_compute" if at % 2 else "graphics", weight_us=10)
        made = made.storage_write(image) if at % 2 else made.color(image)
        if before is not None:
            made.sampled(before)
        before = image
    graph.root(before)
    opened = show(graph.bake("discrete").to_html(), fragment="#view=timeline")
    page = opened.page
    arrows = page.locator("#view-timeline .over path.arrow")
    assert max(arrows.evaluate_all("all => all.map(one => one.getAttribute('d').split('M').length - 1)")) > 20
    page.evaluate("location.hash = '#view=timeline&pin=w60'")
    page.keyboard.press("f")
    opened.settled()
    assert page.locator("#view-timeline .over path").count() <= 6
    bright, dim = (
        page.locator(f"#view-timeline .over path.arrow{which}").evaluate_all(
            "all => all.reduce((sum, one) => sum + one.getAttribute('d').split('M').length - 1, 0)"
        )
        for which in (":not(.dim)", ".dim")
    )
    assert 1 <= bright < dim, "those of the pinned wait stay bright"
