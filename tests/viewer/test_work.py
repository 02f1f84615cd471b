"""Zooming costs a bounded number of operations, whatever is lit and however many passes there are.

The budgets count elements made and sizes read, because times depend on the machine.
"""

import pytest

from .test_page import large

# Counts what one turn of the wheel does in a view: elements put into the page, and reads that force a layout.
COUNTED = """async selector => {
    const frame = document.querySelector(selector);
    const work = { made: 0, read: 0, animated: 0 };
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
    const next = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    const { left, top, width, height } = frame.getBoundingClientRect();
    work.read = 0;
    const seen = new MutationObserver(list => list.forEach(one => { work.made += one.addedNodes.length; }));
    seen.observe(document.body, { childList: true, subtree: true });
    for (let step = 0; step < 8; step += 1) {
        frame.dispatchEvent(new WheelEvent('wheel', { deltaY: step < 4 ? -40 : 40, ctrlKey: true, bubbles: true,
            cancelable: true, clientX: left + width * 0.55, clientY: top + height / 2 }));
        await next();
        work.animated = Math.max(work.animated, document.getAnimations().length);
    }
    seen.disconnect();
    undo.forEach(one => one());
    return work;
}"""


@pytest.fixture(scope="module")
def pages() -> dict[int, str]:
    return {passes: large(passes).to_html() for passes in (1_000, 10_000)}


@pytest.mark.parametrize("passes", [1_000, 10_000])
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
    assert marks <= 1_000
    work = page.evaluate(COUNTED, f"#view-{view} .panes")
    assert work["animated"] == 0, "marks are moved, not animated"
    assert work["read"] <= 8 * 16, "a step reads sizes once, not for every mark"
    assert work["made"] <= 8 * 450, "a step makes the marks that are new, not all"


def test_lighting_touches_what_is_lit(show, pages: dict[int, str]):
    opened = show(pages[1_000])
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
