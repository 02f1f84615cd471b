"""What tests of the page share: one headless Chromium, pages that may ask nothing of any network, plans to show.

Without Chromium they are skipped with the reason, unless RGRAPH_REQUIRE_BROWSER=1 or CI says that there must be one.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import rgraph as rg


def wanted(reason: str) -> None:
    """Skip, or fail where a browser is required."""
    if os.environ.get("RGRAPH_REQUIRE_BROWSER") == "1" or os.environ.get("CI"):
        pytest.fail(f"{reason}: scripts/browser.sh installs what is missing")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser():
    """Debian's Chromium; no browser is downloaded."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        wanted("playwright is not installed")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        wanted("there is no Chromium")
    with sync_playwright() as playwright:
        # Containers have no user name spaces for the sandbox, and little shared memory.
        flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        made = playwright.chromium.launch(executable_path=path, args=flags)
        yield made
        made.close()


#: Axe looks at every node of a document, shown or not: most of its time goes into views that nobody sees.
AXE = """async ({whole, options}) => {
    const hidden = whole ? [] : [...document.querySelectorAll("[id^=view-][hidden]")];
    const away = hidden.map(view => [view, document.createComment("")]);
    away.forEach(([view, mark]) => view.replaceWith(mark));
    try {
        return (await axe.run(document, options)).violations;
    } finally {
        away.forEach(([view, mark]) => mark.replaceWith(view));
    }
}"""


@pytest.fixture(scope="session")
def violations():
    """What axe finds in a page, one line each."""
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        wanted("axe-playwright-python is not installed")
    axe = Axe()

    def violations(page, *, whole: bool = False, colors: bool = False) -> list[str]:
        """All of them, or those of colors; views out of sight, of which axe only compares ids, with the whole page."""
        options: dict[str, object] = {"resultTypes": ["violations"]}
        if colors:
            options["runOnly"] = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
        if page.evaluate("typeof axe") == "undefined":
            page.evaluate(axe.axe_script)
        found = page.evaluate(AXE, {"whole": whole, "options": options})
        nodes = [json.dumps([node["html"][:160] for node in one["nodes"][:3]]) for one in found]
        return [f"{one['id']}: {one['help']}: {places}" for one, places in zip(found, nodes, strict=True)]

    return violations


@dataclass
class Opened:
    """An open page, and its messages and requests."""

    page: object
    requests: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)

    def view(self, name: str) -> None:
        """Show a view."""
        self.page.locator(f"#tab-{name}").click()
        self.page.locator(f"#view-{name}:not([hidden])").wait_for()
        # A view scrolls to what is pinned: until it has drawn that, a click can meet the row that stood there before.
        self.settled()

    def settled(self) -> None:
        """Wait until what was asked for is drawn: a view draws, scrolls, hears of its scroll, and draws again."""
        self.page.evaluate("""new Promise(done => {
            let frames = 5;
            const next = () => (frames -= 1) ? requestAnimationFrame(next) : done();
            next();
        })""")

    @property
    def pinned(self) -> str | None:
        """The title of the pinned thing."""
        close = self.page.locator(".card .close")
        return self.page.locator(".card h2").inner_text() if close.count() else None


Open = Callable[..., Opened]


@pytest.fixture
def show(browser, tmp_path: Path) -> Iterator[Open]:
    """Open a page from disk, with every way to a network closed; nothing may go wrong until the test ends."""
    contexts, all_opened = [], []

    def show(html: str, *, fragment: str = "", scheme: str = "light", width: int = 1280, height: int = 800) -> Opened:
        path = tmp_path / f"page{len(contexts)}.html"
        path.write_text(html, encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, offline=True, reduced_motion="reduce"
        )
        contexts.append(context)
        page = context.new_page()
        # Long enough for a machine that has much else to do: only what never comes fails.
        page.set_default_timeout(120_000)
        opened = Opened(page)
        all_opened.append((opened, path.as_uri()))
        page.on("request", lambda request: opened.requests.append(request.url.split("#")[0]))
        page.on("console", lambda message: opened.messages.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: opened.messages.append(f"error: {error}"))
        page.goto(path.as_uri() + fragment)
        page.locator("html[data-ready]").wait_for(state="attached")
        return opened

    yield show
    for opened, address in all_opened:
        assert opened.messages == []
        assert set(opened.requests) <= {address}, "a page asks for nothing but itself"
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def frame(deferred: Path) -> rg.Plan:
    """A whole frame for a device with three queues."""
    return rg.Graph.load(deferred).bake(rg.Profile.discrete())


@pytest.fixture(scope="session")
def rich(deferred: Path, frame: rg.Plan) -> str:
    """A page with everything that a page can have."""
    times = {one.name: (one.start_us * 1.1 + 3, one.duration_us * 1.2) for one in frame.passes}
    spans = [
        {"name": name, "queue": "graphics", "begin_us": begin, "end_us": begin + took}
        for name, (begin, took) in times.items()
    ]

    class Report:
        timeline = spans
        calibrated = True
        host_spans = (
            {"name": "record", "begin_us": -300.0, "end_us": -40.0},
            {"name": "submit", "begin_us": -40.0, "end_us": 5.0},
        )

    import array

    picture = memoryview(array.array("f", [x * y / 1024 for y in range(32) for x in range(32)])).cast("B")
    findings = [
        rg.Finding("missing_barrier", "lighting", "lit", "'lighting' writes 'lit' before 'temporal' of the run before"),
        rg.Finding("unordered", None, "shadow", "'shadow' is used by nobody in particular"),
    ]
    return frame.to_html(
        report=Report(),
        images={"lit": picture.cast("f", (32, 32))},
        findings=findings,
        against=rg.Graph.load(deferred).bake(rg.Profile.single_queue()),
    )
