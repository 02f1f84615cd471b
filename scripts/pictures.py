"""Make the pictures of README and manual again: the demos, the viewer, the gallery, the tutorial.

`make pictures` builds, and runs it under a driver; `.venv/bin/python scripts/pictures.py viewer` makes one kind. The
charts of the page on performance are drawn by `make bench`, which measures.
"""

import argparse
import runpy
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import rgraph as rg
from rgraph.cli import main as command
from rgraph.demo import deferred

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
VIEWER = {"width": 1440, "height": 860}
#: Where the photo is cut out of the demo's frame (left, top, right, bottom), and what it lacks of light.
PHOTO = (330, 20, 850, 420)
DARKER = 0.95


def demos() -> None:
    """The deferred frame and the fluid, by the command that users type."""
    for demo, size, name in (("deferred", "1120x630", "frame.png"), ("fluid", "640x360", "fluid.png")):
        if status := command(["demo", demo, "--size", size, "-o", str(PICTURES / name)]):
            raise SystemExit(status)


def photo() -> None:
    """A noisy photo, and the result of the photo laboratory."""
    import numpy as np
    from PIL import Image

    from rgraph.demo import photo as laboratory

    frame = Image.open(PICTURES / "frame.png").convert("RGB").crop(PHOTO)
    noise = np.random.default_rng(3).normal(0.0, 11.0, (frame.height, frame.width, 3))
    before = np.clip(np.asarray(frame, np.float32) * DARKER + noise, 0, 255).astype(np.uint8)
    after = laboratory.develop(before, denoise=0.65, grain=0.0, film="warm", vignette=0.1)[..., :3]
    gap = np.full((frame.height, 4, 3), 255, np.uint8)
    Image.fromarray(np.concatenate([before, gap, after], axis=1)).save(PICTURES / "photo.png", optimize=True)


def viewer() -> None:
    """The viewer on the demo's plan for a device with three queues, in a headless Chromium."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("there is no Chromium: scripts/browser.sh installs one")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "frame.html"
        deferred.build().bake("discrete").save(file)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport=VIEWER, color_scheme="light")
        page.goto(file.as_uri() + "#pin=p%3Alighting")
        page.locator("html[data-ready]").wait_for(state="attached")
        page.wait_for_timeout(300)
        page.screenshot(path=PICTURES / "viewer.png")
        browser.close()


def script(path: str) -> Callable[[], None]:
    """What runs another script.

    Parameters
    ----------
    path
        Its path from the root.
    """

    def run() -> None:
        sys.path.insert(0, str((ROOT / path).parent))
        runpy.run_path(str(ROOT / path), run_name="__main__")

    return run


KINDS: dict[str, Callable[[], None]] = {
    "demos": demos,
    "photo": photo,
    "viewer": viewer,
    "gallery": script("scripts/gallery.py"),
    "tutorial": script("tests/tutorial_pictures.py"),
}


def main() -> None:
    """Make the kinds that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    for kind in parser.parse_args().kinds or KINDS:
        if kind not in KINDS:
            parser.error(f'no pictures are called "{kind}": {", ".join(KINDS)}')
        print(f"{kind} of {rg.__version__}", file=sys.stderr)
        KINDS[kind]()


if __name__ == "__main__":
    main()
