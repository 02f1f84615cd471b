"""Make docs/pictures/viewer.png anew: the demo's plan for a device with three queues, in a headless Chromium.

Run it from the root of the repository after the viewer changed: `.venv/bin/python scripts/viewer_picture.py`.
"""

import shutil
import sys
import tempfile
from pathlib import Path

import rgraph as rg
from rgraph.demo import deferred

SIZE = {"width": 1440, "height": 860}


def main() -> int:
    """Write the picture; returns the exit status."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        print("there is no Chromium: scripts/browser.sh installs one", file=sys.stderr)
        return 1
    target = Path(__file__).parents[1] / "docs" / "pictures" / "viewer.png"
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "frame.html"
        deferred.build().bake(rg.Profile.discrete()).save(file)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto(file.as_uri() + "#pin=p%3Alighting")
        page.wait_for_function("document.documentElement.dataset.ready")
        page.wait_for_timeout(300)
        page.screenshot(path=target)
        browser.close()
    print(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
