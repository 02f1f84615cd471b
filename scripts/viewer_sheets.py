"""Contact sheets of the viewer: every view of frames of several sizes, in two windows, light and dark, and printed.

`.venv/bin/python scripts/viewer_sheets.py [GRAPH…]` writes `out/sheets/FRAME-WINDOW.png` and the pictures that they are
made of. Graph files are added to the frames that it makes. `--only TEXT` keeps those of that name.
"""

import argparse
import array
import base64
import math
import random
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import rgraph as rg
from rgraph.cli import main as command
from rgraph.demo import deferred

ROOT = Path(__file__).resolve().parent.parent
VIEWS = ("frame", "timeline", "resources", "memory", "graph", "matrix", "costs", "tables", "frames", "images", "diff")
#: Name, width, height, colour scheme; on paper everything is drawn at the width of the page.
WINDOWS = (
    ("wide-light", 1440, 900, "light"),
    ("wide-dark", 1440, 900, "dark"),
    ("small-light", 800, 600, "light"),
    ("small-dark", 800, 600, "dark"),
    ("paper", 1040, 720, "light"),
)
#: As much of a page on paper as a sheet shows, in pixels.
PAPER = 1100


def engine(passes: int) -> rg.Graph:
    """A frame as engines declare it: long dotted names, groups in groups, few passes that take most of the time.

    Parameters
    ----------
    passes
        How many.
    """
    chance = random.Random(passes)
    graph = rg.Graph(f"engine_{passes}", size=(1920, 1080))
    stages = {
        "Shadows.ProjectedESM": ("KawaseBlur", "Exponentiation", "Downsample"),
        "GBuffer.Opaque": ("Depth", "Albedo", "Normal"),
        "Lighting.DiffuseProbeGrid": ("RayTrace", "BlendIrradiance", "BlendDistance", "BorderUpdate"),
        "Lighting.Reflections.ScreenSpace": ("Trace", "Filter", "Composite"),
        "PostProcess.DepthOfField": ("Coc", "Bokeh", "Composite"),
        "PostProcess.Bloom": ("Downsample", "Upsample"),
    }
    images: list[rg.Image] = []
    per_stage = -(-passes // len(stages))
    for at in range(passes):
        prefix, kinds = list(stages.items())[min(at // per_stage, len(stages) - 1)]
        name = f"{prefix}.{kinds[at % len(kinds)]}{at % per_stage}"
        compute = "Probe" in prefix or "Coc" in name or chance.random() < 0.15
        image = graph.image(f"{name}.Output", (1920 >> at % 4, 1080 >> at % 4), "rgba16float")
        queue = "async_compute" if compute and chance.random() < 0.6 else "compute" if compute else "graphics"
        made = graph.add_pass(name, queue=queue, weight_us=chance.choice((8, 15, 30, 60, 400)))
        made = made.storage_write(image) if compute else made.color(image)
        for source in chance.sample(images[-9:], min(len(images), 2)):
            made.sampled(source)
        images.append(image)
    out = graph.image("Swapchain", format="rgba8unorm")
    last = graph.add_pass("PostProcess.DisplayMapper", weight_us=40).color(out)
    for image in images[-per_stage:]:
        last.sampled(image)
    graph.root(out)
    return graph


def layered(passes: int) -> rg.Graph:
    """Layers of twelve passes; each reads up to three images of the two layers before.

    Parameters
    ----------
    passes
        How many.
    """
    chance = random.Random(passes)
    graph = rg.Graph(f"layered_{passes}", size=(256, 256))
    layers: list[list[rg.Image]] = [[]]
    for at in range(passes):
        if len(layers[-1]) == 12:
            layers.append([])
        image = graph.image(f"layer{len(layers)}/image{at % 12}", (64 << at % 4, 64), "rgba8unorm")
        compute = at % 7 == 3
        name = f"layer{len(layers)}/pass{at % 12}"
        made = graph.add_pass(name, queue="async_compute" if compute else "graphics", weight_us=5 + at * 37 % 50)
        made = made.storage_write(image) if compute else made.color(image)
        before = [one for layer in layers[-3:-1] for one in layer]
        for source in chance.sample(before, min(len(before), chance.choice((1, 2, 3)))):
            made.sampled(source)
        layers[-1].append(image)
    graph.root(*(one for layer in layers[-2:] for one in layer))
    return graph


def demo(folder: Path) -> str:
    """The page of the demo's frame: with pictures and measured times, where there is a device.

    Parameters
    ----------
    folder
        Where the demo may write its files.
    """
    size = ["--size", "240x135", "--frames", "2"]
    if command(["demo", "deferred", *size, "--report", "-o", str(folder / "demo.png")]):
        return page(deferred.build((480, 270)))
    return (folder / "demo.html").read_text(encoding="utf-8")


def page(graph: rg.Graph) -> str:
    """The page of a graph, with its differences from a device of one queue.

    Parameters
    ----------
    graph
        The graph.
    """
    plan = graph.bake("discrete")
    times = rg.Series(spans(plan, at) for at in range(90)) if len(plan.passes) < 200 else None
    return plan.to_html(graph, report=times, findings=plan.check(graph), against=graph.bake("single_queue"))


def compared() -> str:
    """The page of two plans whose runs left images: alike, different, and of one of them only."""

    def plan(names: tuple[str, ...]) -> rg.Plan:
        graph = rg.Graph("compared", size=(96, 54))
        before: list[rg.Image] = []
        for name in names:
            image = graph.image(name, format="r32float")
            made = graph.add_pass(f"make {name}", queue="compute", weight_us=40).storage_write(image)
            for other in before[-2:]:
                made.storage_read(other)
            before.append(image)
        graph.root(before[-1])
        return graph.bake("single_queue")

    def picture(turn: float) -> memoryview:
        texels = (0.5 + 0.5 * math.sin(turn * x / 9) * math.cos(y / 7) for y in range(54) for x in range(96))
        return memoryview(array.array("f", texels)).cast("B").cast("f", (54, 96))

    earlier, later = ("depth", "light", "fog", "out"), ("depth", "light", "bloom", "out")
    return plan(earlier).to_html(
        images={name: picture(1 + at) for at, name in enumerate(earlier)},
        against=plan(later),
        against_images={name: picture(1 + at * 1.5) for at, name in enumerate(later)},
    )


def spans(plan: rg.Plan, frame: int) -> list[dict[str, Any]]:
    """Times of a frame: the modelled ones with noise, and a spike in every thirtieth.

    Parameters
    ----------
    plan
        The plan.
    frame
        Its number, the seed of the noise.
    """
    noise = random.Random(frame)
    out = []
    # A queue begins a pass when the one before it has ended.
    free: dict[str, float] = {}
    for one in plan.passes:
        if one.queue is None:
            continue
        took = one.duration_us * noise.uniform(0.95, 1.1) * (6 if frame % 30 == 29 and noise.random() < 0.1 else 1)
        begin = max(one.start_us, free.get(one.queue, 0.0))
        free[one.queue] = begin + took
        out.append({"name": one.name, "queue": one.queue, "begin_us": begin, "end_us": begin + took})
    return out


def shots(browser: Any, file: Path, folder: Path) -> dict[str, list[tuple[str, bytes]]]:
    """Pictures of every view of a page by window.

    Parameters
    ----------
    browser
        Chromium.
    file
        The page.
    folder
        Where the pictures are kept.
    """
    out: dict[str, list[tuple[str, bytes]]] = {}
    for window, width, height, scheme in WINDOWS:
        tab = browser.new_page(
            viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
        )
        tab.set_default_timeout(180_000)
        tab.goto(file.as_uri())
        tab.locator("html[data-ready]").wait_for(state="attached")
        for view in VIEWS:
            if tab.locator(f"#tab-{view}").count() == 0:
                continue
            tab.evaluate("view => document.getElementById(`tab-${view}`).click()", view)
            if window == "paper":
                tab.emulate_media(media="print")
            else:
                point(tab, view)
            tab.wait_for_timeout(250)
            clip = {"x": 0, "y": 0, "width": width, "height": PAPER}
            paper = {"full_page": True, "clip": clip} if window == "paper" else {}
            picture = tab.screenshot(**paper)
            tab.emulate_media(media="screen")
            (folder / f"{file.stem}-{window}-{view}.png").write_bytes(picture)
            out.setdefault(window, []).append((view, picture))
        tab.close()
    return out


def point(tab: Any, view: str) -> None:
    """Pin the pass in the middle of the frame in every other view, so that cards and lit marks are seen too.

    Parameters
    ----------
    tab
        The open page.
    view
        The view that is shown.
    """
    pinned = tab.locator(".card .close").count() > 0
    if (VIEWS.index(view) % 2 == 1) != pinned:
        for key in ["Escape"] if pinned else ["]"] * 6:
            tab.keyboard.press(key)
    tab.mouse.move(3, 3)


def sheet(browser: Any, pictures: list[tuple[str, bytes]], title: str, file: Path) -> None:
    """Put pictures side by side, each under its name.

    Parameters
    ----------
    browser
        Chromium.
    pictures
        Their names and PNGs.
    title
        What stands above.
    file
        The sheet.
    """
    figures = "".join(
        f'<figure><figcaption>{name}</figcaption><img src="data:image/png;base64,{base64.b64encode(png).decode()}">'
        "</figure>"
        for name, png in pictures
    )
    style = (
        "body{margin:16px;font:600 20px system-ui;background:#888;display:grid;grid-template-columns:1fr 1fr;gap:16px}"
        "h1{grid-column:1/3;font-size:22px;margin:0}figure{margin:0}img{width:100%}"
    )
    tab = browser.new_page(viewport={"width": 1920, "height": 900})
    tab.set_content(f"<!doctype html><style>{style}</style><h1>{title}</h1>{figures}")
    tab.screenshot(path=file, full_page=True)
    tab.close()


def main() -> int:
    """Write the sheets; returns the exit status."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graphs", nargs="*", type=Path, metavar="GRAPH", help="graph files to add")
    parser.add_argument("--only", default="", metavar="TEXT", help="frames whose name holds it")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "out" / "sheets", metavar="FOLDER")
    arguments = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        print("there is no Chromium: scripts/browser.sh installs one", file=sys.stderr)
        return 1
    arguments.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        pages = {
            "demo-41": lambda: demo(folder),
            "engine-82": lambda: page(engine(81)),
            "engine-129": lambda: page(engine(128)),
            "layered-1024": lambda: page(layered(1024)),
            "layered-10000": lambda: page(layered(10_000)),
            "compared-4": compared,
        } | {path.name.split(".")[0]: lambda path=path: page(rg.Graph.load(path)) for path in arguments.graphs}
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for frame, make in pages.items():
            if arguments.only not in frame:
                continue
            file = folder / f"{frame}.html"
            file.write_text(make(), encoding="utf-8")
            for window, pictures in shots(browser, file, arguments.output).items():
                target = arguments.output / f"{frame}-{window}.png"
                sheet(browser, pictures, f"{frame}, {window}", target)
                print(target)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
