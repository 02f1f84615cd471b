"""Five questions about a large frame, answered by keys alone and by the mouse alone, each as the plan answers it."""

import linecache
import random
import re

import pytest

import rgraph as rg

from .test_views import declared, tab_to

STAGES = ("Shadows.ProjectedESM.KawaseBlur", "GBuffer.Opaque.Albedo", "Lighting.DiffuseProbeGrid.BlendDistance")


def built(largest: int) -> rg.Graph:
    """A frame of 120 passes on two queues, with names as engines have them; one image is `largest` pixels wide."""
    chance = random.Random(5)
    graph = rg.Graph("frame", size=(640, 360))
    images: list[rg.Image] = []
    for at in range(120):
        name = f"{STAGES[at // 40]}{at}"
        size = (largest, largest) if at == 60 else (640 >> at % 4, 360)
        image = graph.image(f"{name}.Output", size, "rgba16float")
        queue = "async_compute" if at % 9 == 4 else "graphics"
        made = graph.add_pass(name, queue=queue, weight_us=20 + at % 7 * 10)
        made = made.storage_write(image) if at % 9 == 4 else made.color(image)
        for source in chance.sample(images[-6:], min(2, len(images))):
            made.sampled(source)
        images.append(image)
    graph.root(*images[-6:])
    return graph


@pytest.fixture(scope="module")
def before() -> rg.Plan:
    return built(512).bake("discrete")


@pytest.fixture(scope="module")
def asked(before: rg.Plan) -> dict[str, str]:
    """The pass that is asked about, which waits for another queue; the largest resource of the peak; the edited one."""
    values = before.to_dict()
    placed = {one["resource"]: one["size"] for one in values["memory"]["placements"]}
    lives = [
        (one["lifetime"]["first"], one["lifetime"]["last"], placed[one["id"]], one["name"])
        for one in values["resources"]
        if one["id"] in placed
    ]
    alive = {at: sum(size for first, last, size, _ in lives if first <= at <= last) for at in range(len(before.passes))}
    peak = max(alive, key=lambda at: alive[at])
    largest = max((size, name) for first, last, size, name in lives if first <= peak <= last)
    answer = re.compile(r"waits +its batch waits for \w+ \d+, at")
    waits = [one.name for one in before.passes if answer.search(before.explain(one.name))]
    return {"waits": waits[len(waits) // 2], "largest": largest[1], "edited": f"{STAGES[1]}60"}


@pytest.fixture(scope="module")
def page(before: rg.Plan) -> str:
    return before.to_html(built(512), against=built(2048).bake("discrete"))


def place_is_right(opened) -> None:
    file, line = re.fullmatch(r"(.+):(\d+)", declared(opened).replace("\n", "")).groups()
    assert "add_pass" in linecache.getline(file, int(line)), "the line that declares it"


def critical_is_right(opened) -> None:
    found = opened.page.locator("#found").inner_text()
    assert int(re.match(r"(\d+) passes", found)[1]) > 5
    assert opened.page.locator("#view-frame .box.hit").count() > 0


def change_is_right(opened) -> None:
    shown = opened.page.locator("#view-diff .compared").inner_text()
    assert re.search(r"memory .* MiB", shown)


def test_a_large_frame_answers_by_keys_alone(show, page: str, asked: dict[str, str]):
    opened = show(page, width=1440, height=900)
    keys, card = opened.page.keyboard, opened.page.locator(".card")

    def look_for(text: str) -> None:
        keys.press("/")
        keys.press("Control+a")
        keys.type(text)
        keys.press("Enter")

    look_for(f"p:{asked['waits']}")
    assert opened.pinned == asked["waits"]
    assert re.search(r"(graphics|compute) waits for (compute|graphics)", card.inner_text()), "why it waits"
    place_is_right(opened)
    keys.press("Escape")
    look_for("critical")
    critical_is_right(opened)
    keys.press("Escape")
    keys.press("Escape")
    keys.press("7")
    peak = opened.page.locator(".cost", has=opened.page.get_by_role("heading", name="Memory at the peak"))
    tab_to(opened.page, peak.get_by_role("button").first)
    keys.press("Enter")
    assert opened.pinned == asked["largest"], "what holds the peak"
    keys.press("x")
    change_is_right(opened)
    tab_to(opened.page, opened.page.locator("#view-diff [data-cell][tabindex='0']"))
    for _ in range(60):
        keys.press("Enter")
        row = opened.page.evaluate("document.activeElement.closest('[role=row]').textContent")
        if asked["edited"] in row and (opened.pinned or "").startswith(asked["edited"]):
            break
        keys.press("ArrowDown")
    else:
        raise AssertionError("what was edited is among the largest changes")


def test_a_large_frame_answers_by_the_mouse_alone(show, page: str, asked: dict[str, str]):
    opened = show(page, width=1440, height=900)
    window, card = opened.page, opened.page.locator(".card")
    box = window.locator("#view-frame").get_by_role(
        "gridcell", name=re.compile(f"^pass {re.escape(asked['waits'])} on")
    )
    box.click()
    assert opened.pinned == asked["waits"]
    assert re.search(r"(graphics|compute) waits for (compute|graphics)", card.inner_text()), "why it waits"
    place_is_right(opened)
    card.get_by_role("button", name="Unpin").click()
    window.locator("#view-frame").get_by_role("button", name="Critical path").click()
    critical_is_right(opened)
    window.locator("#view-frame").get_by_role("button", name="Critical path").click()
    opened.view("costs")
    peak = window.locator(".cost", has=window.get_by_role("heading", name="Memory at the peak"))
    peak.get_by_role("button").first.click()
    assert opened.pinned == asked["largest"], "what holds the peak"
    card.get_by_role("button", name="Unpin").click()
    opened.view("diff")
    change_is_right(opened)
    window.locator("#view-diff").get_by_role("rowheader", name=asked["edited"]).first.click()
    assert opened.pinned.startswith(asked["edited"]), "what it changed"
