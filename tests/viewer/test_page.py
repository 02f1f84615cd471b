"""The page: opens alone, shows everything that a plan has, can be walked, searched, linked to and compared."""

import re
from pathlib import Path
from typing import Literal

import pytest

import rgraph as rg

VIEWS = ["frame", "timeline", "resources", "memory", "graph", "matrix", "costs", "tables"]

# One queue and several, merged passes, aliases, split barriers, culled passes, ownership transfers.
GOLDEN = ["async_compute", "culled", "alias", "merge", "ownership"]


def golden(root: Path, name: str) -> tuple[rg.Graph, rg.Plan]:
    graph = rg.Graph.load(root / "tests" / "plans" / f"{name}.rgraph.json")
    return graph, graph.bake(rg.Profile.discrete())


def cells(opened, view: str) -> list[str]:
    """Labels of all marks of a view that are in the page."""
    marks = opened.page.locator(f"#view-{view} [data-key]")
    return marks.evaluate_all("all => all.map(one => one.getAttribute('aria-label') || one.textContent)")


def test_page_opens_from_disk_alone(show, rich: str):
    opened = show(rich)
    assert len(opened.requests) == 1
    policy = opened.page.locator("meta[http-equiv]").get_attribute("content")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for view in [*VIEWS, "diff"]:
        opened.view(view)
        assert opened.page.locator(f"#view-{view} .frame").first.is_visible()


def test_policy_lets_no_other_script_run(show, frame: rg.Plan):
    opened = show(frame.to_html())
    opened.page.evaluate("""
        const script = document.createElement('script');
        script.textContent = 'window.ran = true';
        document.body.append(script);
    """)
    assert opened.page.evaluate("window.ran") is None
    assert any("Content Security Policy" in line for line in opened.messages)
    opened.messages.clear()


@pytest.mark.parametrize("name", GOLDEN)
def test_every_pass_and_barrier_is_found_by_role_and_name(show, root: Path, name: str):
    _, plan = golden(root, name)
    opened = show(plan.to_html(), fragment="#view=timeline")
    grid = opened.page.locator("#view-timeline").get_by_role("grid")
    for one in plan.passes:
        queue = one.queue or "host"
        mark = grid.get_by_role("gridcell", name=re.compile(rf"^pass {re.escape(one.name)} on {queue}"))
        assert mark.count() == 1, one.name
    for culled, reason in plan.culled.items():
        assert grid.get_by_role("gridcell", name=f"culled pass {culled}: {reason}", exact=True).count() == 1
    opened.view("resources")
    grid = opened.page.locator("#view-resources").get_by_role("grid")
    for barrier in plan.barriers:
        if barrier.op == "wait_events" or barrier.resource is None:
            continue
        change = f": {short(barrier.old_layout)} → {short(barrier.new_layout)}" if barrier.new_layout else ""
        if barrier.old_layout == barrier.new_layout:
            change = f": stays {short(barrier.new_layout)}" if barrier.new_layout else ""
        text = re.compile(rf"barrier on {re.escape(barrier.resource)}[^:]*{re.escape(change)}, ")
        assert grid.get_by_role("gridcell", name=text).count() >= 1, text
    opened.view("tables")
    opened.page.get_by_label(f"Barriers {len(rows(plan))}").check()
    table = opened.page.locator("#view-tables").get_by_role("grid")
    assert table.get_by_role("rowheader").count() == len(rows(plan))


def rows(plan: rg.Plan) -> list[rg.Barrier]:
    return [barrier for barrier in plan.barriers if barrier.op != "wait_events"]


def short(layout: str | None) -> str:
    return (layout or "").removesuffix("_optimal")


def test_hostile_names_are_text(show):
    names = [
        "</script><script>window.ran=1</script>",
        "\"'&<b>",
        "\u202egnp.cilbup",
        "x" * 300,
        "a\nb\tc",
        "{to} {from}",
    ]
    graph = rg.Graph("</title><img src=x onerror=window.ran=1>", size=(64, 64))
    before = None
    for name in names:
        image = graph.image(name, format="rgba8unorm")
        made = graph.add_pass(name).color(image)
        if before is not None:
            made.sampled(before)
        before = image
    graph.add_pass("culled " + names[0]).color(graph.image("unread " + names[0], format="rgba8unorm"))
    graph.root(before)
    plan = graph.bake(rg.Profile.discrete())
    findings = [rg.Finding(names[0], names[1], names[2], names[0])]
    opened = show(plan.to_html(findings=findings, against=plan))
    shown = [name.replace("\n", "\\u{a}").replace("\t", "\\u{9}").replace("\u202e", "\\u{202e}") for name in names]
    for view in [*VIEWS, "diff"]:
        opened.view(view)
        if view not in ("diff", "frame", "costs"):
            labels = "\n".join(cells(opened, view))
            assert all(name in labels for name in shown), view
    opened.page.keyboard.press("n")
    assert opened.pinned == names[1]
    assert "\u202e" not in opened.page.locator("body").inner_text(), "no name turns the text around it"
    assert opened.page.evaluate("window.ran") is None
    assert opened.page.locator("img, b").count() == 0
    assert opened.page.title() == "</title><img src=x onerror=window.ran=1> · rgraph"
    assert opened.page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")


def walk(opened, view: str, rows: int) -> set[str]:
    """Every key that arrows come by, row by row."""
    opened.view(view)
    page = opened.page
    page.locator(f"#view-{view} [data-cell][tabindex='0']").focus()
    for _ in range(rows):
        page.keyboard.press("ArrowUp")
    seen = set()
    here = "document.activeElement.dataset.cell"
    for _ in range(rows):
        page.keyboard.press("Home")
        row = page.evaluate(here)
        while True:
            seen.add(page.evaluate("document.activeElement.dataset.key"))
            before = page.evaluate(here)
            page.keyboard.press("ArrowRight")
            if page.evaluate(here) == before:
                break
        page.keyboard.press("Home")
        page.keyboard.press("ArrowDown")
        if page.evaluate(here) == row:
            break
    return seen


def test_arrows_walk_to_everything(show, root: Path):
    graph, plan = golden(root, "async_compute")
    opened = show(plan.to_html())
    passes = {f"p{at}" for at in range(len(plan.passes) + len(plan.culled))}
    resources = {f"r{at}" for at in range(len(graph.resources))}
    barriers = {f"b{at}" for at in range(len(rows(plan)))}
    calls = {f"c{at}" for at in range(len({one.call for one in plan.barriers}))}
    waits = {f"w{at}" for at in range(sum(len(batch.waits) for batch in plan.batches))}
    assert walk(opened, "timeline", 4) >= passes | calls | waits | {f"s{at}" for at in range(len(plan.batches))}
    assert walk(opened, "resources", len(resources)) >= resources | barriers
    assert walk(opened, "graph", 8) == passes
    assert walk(opened, "matrix", len(passes) + 1) >= passes | resources
    placed = {
        f"r{at}"
        for at, one in enumerate(graph.resources)
        if any(p.resource == one.name for p in plan.memory.placements)
    }
    assert walk(opened, "memory", 2) == placed


def test_tab_reaches_every_panel_and_is_not_held(show, rich: str):
    opened = show(rich)
    reached = []
    for _ in range(60):
        opened.page.keyboard.press("Tab")
        reached.append(
            opened.page.evaluate("""(() => {
                const at = document.activeElement;
                const place = at.closest('.card, .choice, .tools, .strip')?.className;
                return at.id || (at.dataset.cell && 'cell') || place || at.tagName;
            })()""")
        )
        if reached[-1] == "BODY":
            break
    text = " ".join(reached)
    for place in ("search", "theme", "tab-frame", "choice", "cell", "card"):
        assert place in text, (place, reached)
    assert reached[-1] == "BODY", "the focus leaves the page"


def test_keys_do_what_the_help_says(show, rich: str):
    opened = show(rich)
    page = opened.page
    for at, view in enumerate([*VIEWS, "images"], 1):
        page.keyboard.press(str(at))
        assert page.locator(f"#view-{view}").is_visible()
    page.keyboard.press("1")
    page.keyboard.press("]")
    assert opened.pinned == "gbuffer"
    page.keyboard.press("]")
    assert opened.pinned == "shadow0"
    page.keyboard.press("[")
    assert opened.pinned == "gbuffer"
    page.keyboard.press("b")
    assert page.locator(".card .kind").inner_text().lower() == "barrier"
    page.keyboard.press("n")
    assert opened.pinned == "lighting"
    assert "missing_barrier" in page.locator("#announcement").inner_text()
    page.keyboard.press("n")
    assert opened.pinned == "shadow"
    page.keyboard.press("1")
    page.keyboard.press("]")
    window = "parseFloat(document.querySelector('.window').style.width)"
    page.keyboard.press("z")
    opened.settled()
    assert page.evaluate(window) < 50
    page.keyboard.press("f")
    opened.settled()
    assert page.evaluate(window) == 100
    page.keyboard.press("w")
    opened.settled()
    assert page.evaluate(window) < 100
    page.keyboard.press("f")
    page.keyboard.press("c")
    opened.settled()
    assert page.get_by_role("gridcell", name=re.compile("^culled pass")).count() == 0
    page.keyboard.press("c")
    opened.settled()
    assert page.locator("#view-frame").get_by_role("gridcell", name=re.compile("^culled pass")).count() == 1
    page.keyboard.press("p")
    assert page.evaluate("document.activeElement.className") == "card"
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    assert not page.get_by_role("dialog").is_visible()
    page.keyboard.press("Escape")
    assert opened.pinned is None
    page.keyboard.press("x")
    assert page.locator("#view-diff").is_visible()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("down", "5 passes, 5 resources"),
        ("p:down", "5 passes"),
        ("r:down", "5 resources"),
        ("q:compute", "3 passes"),
        ("culled", "1 pass"),
        ("unmerged p:up", "4 passes"),
        ("fmt:depth", "2 resources"),
        ("size>40M", "1 resource"),
        ("size>15m r:lit", "1 resource"),
        ("us>500", "3 passes"),
        ("b:alias", "10 barriers"),
        ("life:history", "2 resources"),
        ("nothing-like-it", "nothing found"),
        ("found", "1 pass, 2 resources"),
    ],
)
def test_search_finds(show, rich: str, query: str, found: str):
    opened = show(rich, fragment=f"#q={query.replace('>', '%3E').replace(' ', '+')}")
    assert opened.page.locator("#found").inner_text() == found
    assert opened.page.locator("#search").input_value() == query


def test_search_cycles_and_clears(show, rich: str):
    opened = show(rich, fragment="#view=timeline")
    page = opened.page
    page.keyboard.press("/")
    page.keyboard.type("p:shadow")
    assert page.locator("#found").inner_text() == "4 passes"
    assert page.locator("#view-timeline .box.hit").count() == 4
    assert page.locator("#view-timeline .lighting .box:not(.on)").count() > 10
    seen = []
    for _ in range(4):
        page.keyboard.press("Enter")
        seen.append(opened.pinned)
    assert seen == ["shadow0", "shadow1", "shadow2", "shadow3"]
    page.keyboard.press("Shift+Enter")
    assert opened.pinned == "shadow2"
    page.keyboard.press("Escape")
    assert page.locator("#search").input_value() == ""
    assert page.locator(".hit").count() == 0


def test_links_bring_back_view_pin_and_search(show, rich: str):
    opened = show(rich)
    page = opened.page
    opened.view("resources")
    page.locator("#view-resources").get_by_role("rowheader", name=re.compile("^resource shadow,")).click()
    assert opened.pinned == "shadow"
    page.keyboard.press("/")
    page.keyboard.type("p:ao")
    opened.settled()
    address = page.url
    assert "view=resources" in address
    assert "pin=r%3Ashadow" in address
    page.reload()
    page.locator("html[data-ready]").wait_for(state="attached")
    assert page.locator("#view-resources").is_visible()
    assert opened.pinned == "shadow"
    assert page.locator("#found").inner_text() == "2 passes"
    opened.requests[:] = opened.requests[:1]


def test_cards_say_why(show, rich: str):
    opened = show(rich, fragment="#view=timeline")
    page = opened.page
    card = page.locator(".card")
    page.locator("#view-timeline").get_by_role("gridcell", name=re.compile("^pass lighting on")).click()
    text = card.inner_text()
    for part in (
        "the declaration names it",
        "Together with sky",
        "reuses the memory that 'ao_blur' used for 'ao'",
        "graphics waits for compute 1 at fragment",
        "missing_barrier",
        "their areas, samples or layers differ",
    ):
        assert part in text, part
    card.get_by_role("button", name="lit", exact=True).first.click()
    assert opened.pinned == "lit"
    assert "before it" in card.inner_text()
    assert card.get_by_role("img").get_attribute("src").startswith("data:image/png;base64,")
    opened.view("timeline")
    page.get_by_role("gridcell", name=re.compile("^culled pass debug_view")).click()
    assert "is never read" in card.inner_text()
    opened.view("resources")
    page.locator("#view-resources").get_by_role("rowheader", name=re.compile("^resource velocity,")).click()
    assert "the memory is as small as it can be" in card.inner_text() or "everything else is alive" in card.inner_text()


def test_differences_are_those_of_the_planner(show, deferred: Path, frame: rg.Plan):
    other = rg.Graph.load(deferred).bake(rg.Profile.single_queue())
    diff = frame.diff_dict(other)
    opened = show(frame.to_html(against=other), fragment="#view=diff")
    page = opened.page
    for kind in ("added", "removed", "moved", "changed"):
        expected = sum(change["kind"] == kind for change in diff["changes"])
        assert page.get_by_label(re.compile(rf"{kind} {expected}$")).count() == 1, (kind, expected)
    grid = page.locator("#view-diff").get_by_role("grid")
    assert grid.get_attribute("aria-rowcount") == str(len(diff["changes"]) + 1)
    figures = page.get_by_role("list", name="Figures of both plans").inner_text()
    for figure in diff["figures"]:
        assert (figure["what"] in figures) == (figure["before"] != figure["after"]), figure
    page.get_by_label(re.compile("removed")).uncheck()
    left = sum(change["kind"] != "removed" for change in diff["changes"])
    assert grid.get_attribute("aria-rowcount") == str(left + 1)
    same = show(frame.to_html(against=frame), fragment="#view=diff")
    assert "The plans are equal." in same.page.locator("#view-diff").inner_text()


def test_tables_sort_and_copy(show, rich: str):
    opened = show(rich, fragment="#view=tables")
    page = opened.page
    head = page.get_by_role("columnheader", name=re.compile("^Takes"))
    head.get_by_role("button").click()
    assert page.get_by_role("columnheader", name=re.compile("^Takes")).get_attribute("aria-sort") == "descending"
    first = page.locator("#view-tables").get_by_role("rowheader").first
    assert first.inner_text() == "gbuffer"
    head.get_by_role("button").click()
    assert first.inner_text() != "debug_view", "what has no time comes last"
    page.get_by_role("button", name="Copy").click()
    announcement = page.locator("#announcement", has_text=re.compile("rows copied|does not let"))
    announcement.wait_for(state="attached")
    assert announcement.count() == 1


def test_a_plan_that_was_read_tells_what_it_can(show, frame: rg.Plan):
    opened = show(rg.Plan.from_json(frame.to_json()).to_html())
    assert "without its graph" in opened.page.locator(".card").inner_text()
    opened.view("matrix")
    assert opened.page.locator("#view-matrix .glyph").count() > 40


def test_a_plan_with_next_to_nothing_can_be_shown(show):
    graph = rg.Graph("small")
    graph.add_pass("only", side_effects=True)
    opened = show(graph.bake().to_html())
    for view in VIEWS:
        opened.view(view)
    assert opened.page.locator("#view-tables").get_by_role("rowheader").count() == 1
    opened.view("memory")
    assert "Nothing of this plan needs memory" in opened.page.locator("#view-memory .frame").inner_text()
    assert "No pass uses a resource." in opened.page.locator("#view-frame .resources").inner_text()


def large(passes: int) -> rg.Plan:
    graph = rg.Graph("large", size=(256, 256))
    images: list[rg.Image] = []
    for at in range(passes):
        image = graph.image(f"image{at}", (64 + 8 * (at % 17), 64), "rgba8unorm")
        compute = at % 7 == 3
        made = graph.add_pass(f"pass{at}", queue="async_compute" if compute else "graphics", weight_us=5 + at * 37 % 50)
        made = made.storage_write(image) if compute else made.color(image)
        if images:
            made.sampled(images[-1])
        if at > 20 and at % 5 == 0:
            made.sampled(images[-13])
        images.append(image)
    graph.root(images[-1])
    return graph.bake(rg.Profile.discrete())


@pytest.mark.parametrize("passes", [1_000, 10_000])
def test_large_plans_are_drawn_where_they_are_looked_at(show, passes: int, capsys: pytest.CaptureFixture[str]):
    opened = show(large(passes).to_html())
    page = opened.page
    times = {"open": int(page.evaluate("document.documentElement.dataset.ready"))}
    for view in VIEWS:
        begin = page.evaluate("performance.now()")
        opened.view(view)
        opened.settled()
        times[view] = round(page.evaluate("performance.now()") - begin)
        assert page.locator(f"#view-{view} [data-key]").count() < 2500, view
    with capsys.disabled():
        print(f"\n{passes} passes, ms: " + ", ".join(f"{what} {took}" for what, took in times.items()))
    opened.view("timeline")
    page.keyboard.press("/")
    page.keyboard.type(f"pass{passes - 7}")
    page.keyboard.press("Enter")
    assert opened.pinned == f"pass{passes - 7}"
    opened.settled()
    assert page.locator("#view-timeline .box.lit").count() == 1
    opened.view("resources")
    page.keyboard.press("Enter")
    page.locator("#view-resources [data-cell][tabindex='0']").focus()
    page.keyboard.press("End")
    assert page.evaluate("Boolean(document.activeElement.dataset.cell)")


def test_pages_in_a_notebook_are_alive(show, frame: rg.Plan):
    output = frame._repr_html_()
    assert output.startswith("<iframe")
    assert 'sandbox="allow-scripts"' in output
    opened = show(f"<!doctype html><html data-ready=1><body>{output}</body></html>")
    inside = opened.page.frame_locator("iframe")
    inside.locator("html[data-ready]").wait_for()
    inside.locator("#tab-matrix").click()
    assert inside.locator("#view-matrix").is_visible()
    inside.locator("#view-matrix").get_by_role("rowheader", name=re.compile("^pass lighting")).click()
    assert inside.locator(".card h2").inner_text() == "lighting"
    opened.requests[:] = [request for request in opened.requests if request != "about:srcdoc"]


def test_notebooks_get_text_picture_and_page(frame: rg.Plan):
    bundle = frame._repr_mimebundle_()
    assert bundle["text/plain"] == str(frame)
    assert bundle["image/svg+xml"] == frame.to_svg() == frame._repr_svg_()
    assert bundle["text/html"] == frame._repr_html_()
    assert set(frame._repr_mimebundle_(include=["text/plain"])) == {"text/plain"}
    assert "text/html" not in frame._repr_mimebundle_(exclude=["text/html"])


def test_large_plans_are_still_pictures_in_notebooks():
    plan = large(5_000)
    output = plan._repr_html_()
    assert output.startswith("<svg")
    assert 'plan.save("plan.html")' in output
    assert len(output) < 500_000


@pytest.mark.parametrize("policy", ["overlap", "declared"])
def test_advice_about_a_barrier_is_not_the_policy_that_the_plan_has(show, policy: Literal["overlap", "declared"]):
    g = rg.Graph("pair", size=(64, 64))
    first, second = (g.image(name, format="rgba8unorm") for name in ("first", "second"))
    g.clear("fill", first, (0, 0, 0, 1))
    g.copy("copy", first, second)
    g.root(second)
    page = show(g.bake("single_queue", policy=policy).to_html(), fragment="#view=costs").page
    cost = page.locator(".cost", has=page.get_by_role("heading", name="Barriers with nothing to hide them"))
    shown = cost.inner_text()
    assert "'copy' reads what 'fill' wrote." in shown
    assert ('policy="overlap"' in shown) == (policy != "overlap")
    assert ("The overlap schedule found no other pass" in shown) == (policy == "overlap")
