"""CPU time of the page's main thread: for opening it, and for a step of the wheel while a pass is pinned.

`.venv/bin/python scripts/viewer_times.py [PASSES…]` prints milliseconds for 41, 1,024, 4,096 and 10,000 passes.
It counts the thread's own time, so that other load on the machine changes it little. The goals are 300 ms for opening
1,000 passes and 700 ms for 10,000, and 16, 30, 60 and 100 ms for a step. Tests hold counted budgets in place of these
times (tests/viewer/test_work.py).
"""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from viewer_sheets import layered

SIZES = (41, 1_024, 4_096, 10_000)
VIEWS = ("frame", "timeline", "resources", "memory", "graph")
STEPS = 16

# Zooms in and out again around a place of a view, and waits for each picture.
ZOOM = """async ([selector, steps]) => {
    const frame = document.querySelector(selector);
    const { left, top, width, height } = frame.getBoundingClientRect();
    const place = { clientX: left + width * 0.55, clientY: top + height / 2 };
    for (let step = 0; step < steps; step += 1) {
        const deltaY = step < steps / 2 ? -40 : 40;
        const turn = { deltaY, ctrlKey: true, bubbles: true, cancelable: true, ...place };
        frame.dispatchEvent(new WheelEvent('wheel', turn));
        await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
    }
}"""


def times(browser: Any, file: Path) -> tuple[float, dict[str, float]]:
    """Milliseconds of opening a page, and of a step in each view.

    Parameters
    ----------
    browser
        Chromium.
    file
        The page.
    """
    tab = browser.new_page(viewport={"width": 1440, "height": 900})
    tab.set_default_timeout(180_000)
    session = tab.context.new_cdp_session(tab)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def busy() -> float:
        found = session.send("Performance.getMetrics")["metrics"]
        return next(1e3 * one["value"] for one in found if one["name"] == "TaskDuration")

    tab.goto(file.as_uri())
    tab.locator("html[data-ready]").wait_for(state="attached")
    opened = busy()
    for _ in range(4):
        tab.keyboard.press("]")
    steps = {}
    for view in VIEWS:
        tab.locator(f"#tab-{view}").click()
        tab.keyboard.press("f")
        tab.wait_for_timeout(400)
        before = busy()
        tab.evaluate(ZOOM, [f"#view-{view} {'.frame' if view == 'graph' else '.panes'}", STEPS])
        steps[view] = (busy() - before) / STEPS
    tab.close()
    return opened, steps


def main() -> int:
    """Print the times; returns the exit status."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        print("there is no Chromium: scripts/browser.sh installs one", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        print("passes  open" + "".join(f"{view:>11}" for view in VIEWS))
        for passes in [int(text) for text in sys.argv[1:]] or SIZES:
            file = Path(folder) / "page.html"
            file.write_text(layered(passes).bake("discrete").to_html(), encoding="utf-8")
            opened, steps = times(browser, file)
            print(f"{passes:6} {opened:5.0f}" + "".join(f"{steps[view]:11.0f}" for view in VIEWS))
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
