"""Many frames on one page: a strip with spikes, times of all frames per pass, any two frames compared."""

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

import rgraph as rg
from rgraph.cli import main as command

FRAMES = 60
SPIKE = 41


def spans(plan: rg.Plan, frame: int) -> list[dict[str, Any]]:
    """Times of a frame: noise, and one pass that takes far longer in one of them."""
    noise = random.Random(frame)
    out, at = [], 0.0
    for one in plan.passes:
        if one.queue is None:
            continue
        took = one.duration_us * noise.uniform(0.95, 1.1) + (900.0 if (frame, one.name) == (SPIKE, "lighting") else 0.0)
        out.append({"name": one.name, "queue": one.queue, "begin_us": at, "end_us": at + took})
        at += took
    return out


@pytest.fixture(scope="module")
def series(frame: rg.Plan) -> rg.Series:
    return rg.Series(spans(frame, at) for at in range(FRAMES))


@pytest.fixture(scope="module")
def page(frame: rg.Plan, series: rg.Series) -> str:
    return frame.to_html(report=series)


def text(opened: Any, selector: str) -> str:
    return opened.page.locator(selector).inner_text()


def test_series_know_least_median_and_spikes(frame: rg.Plan, series: rg.Series):
    assert len(series) == FRAMES
    assert series.spikes == [SPIKE]
    [lighting] = [one for one in series.passes if one.name == "lighting"]
    times = sorted(
        one["end_us"] - one["begin_us"] for at in range(FRAMES) for one in spans(frame, at) if one["name"] == "lighting"
    )
    assert lighting.min_us == pytest.approx(times[0], abs=0.01)
    assert lighting.median_us == pytest.approx(times[FRAMES // 2 - 1], abs=0.01)
    assert lighting.p99_us == lighting.max_us == pytest.approx(times[-1], abs=0.01)
    assert "1 spike" in str(series)
    values = series.to_dict()
    assert values["spikes"] == [SPIKE]
    assert len(values["passes"][0]["us_by_frame"]) == FRAMES


def test_a_written_series_serves_as_weights(frame: rg.Plan, series: rg.Series, deferred, tmp_path):
    file = tmp_path / "series.json"
    file.write_text(json.dumps(series.to_dict()), encoding="utf-8")
    weighed = rg.Graph.load(deferred).bake(rg.Profile.discrete(), weights=file)
    median = {one.name: one.median_us for one in series.passes}
    for one in weighed.passes:
        if one.name in median:
            assert one.duration_us == pytest.approx(median[one.name], rel=1e-3)


def test_series_without_times_are_refused(frame: rg.Plan):
    with pytest.raises(rg.GraphError, match="no frames"):
        rg.Series([])
    with pytest.raises(TypeError, match="timeline"):
        rg.Series([3])


def test_the_page_opens_with_the_median_frame(show, page: str, series: rg.Series):
    opened = show(page)
    median = sorted(series.gpu_us)[FRAMES // 2 - 1]
    took = opened.page.evaluate("document.querySelector('.top .figures').innerText")
    assert f"{FRAMES} frames" in took
    opened.view("frames")
    shown, against = opened.page.locator("#view-frames .value").all_inner_texts()
    assert f"{median:.1f}" in shown or f"{median / 1000:.2f}" in shown
    assert shown.startswith(f"run {series.gpu_us.index(median)}")
    assert against.startswith(f"run {SPIKE}")
    assert "1 spike" in text(opened, "#view-frames .compared")


def test_passes_that_follow_each_other_stand_in_one_row(show, frame: rg.Plan):
    def one_queue(at: int) -> list[dict[str, Any]]:
        begin, out = 0.0, []
        for number, one in enumerate(one for one in frame.passes if one.queue == "graphics"):
            took = 10 + math.sqrt(number + at + 2) / 7
            out.append({"name": one.name, "queue": "graphics", "begin_us": begin, "end_us": begin + took})
            begin += took
        return out

    page = show(frame.to_html(report=rg.Series([one_queue(at) for at in range(7)])), fragment="#view=timeline").page
    boxes = page.locator("#view-timeline .box:not(.untimed):not(.culled)")
    assert boxes.count() > 10
    assert len(set(boxes.evaluate_all("all => all.map(one => one.style.top)"))) == 1


def test_two_frames_are_compared_by_keys_and_by_mouse(show, page: str):
    opened = show(page)
    opened.view("frames")
    page_ = opened.page
    assert "lighting" in page_.locator("#view-frames .pair .changed").first.inner_text()
    slider = page_.locator("#view-frames input[name=shows]")
    slider.focus()
    page_.keyboard.press("Home")
    page_.keyboard.press("ArrowRight")
    assert text(opened, "#view-frames .value >> nth=0").startswith("run 1,")
    page_.get_by_role("button", name="Next spike").click()
    assert text(opened, "#view-frames .value >> nth=0").startswith(f"run {SPIKE},")
    box = page_.locator(".frames-strip").bounding_box()
    page_.mouse.click(box["x"] + box["width"] * 10.5 / FRAMES, box["y"] + 30)
    assert text(opened, "#view-frames .value >> nth=0").startswith("run 10,")
    page_.keyboard.down("Shift")
    page_.mouse.click(box["x"] + box["width"] * 20.5 / FRAMES, box["y"] + 30)
    page_.keyboard.up("Shift")
    assert text(opened, "#view-frames .value >> nth=1").startswith("run 20,")
    assert {"Run 10 µs", "Run 20 µs"} <= set(page_.locator("#view-frames [role=columnheader]").all_inner_texts())


def test_the_chosen_frame_is_the_one_of_the_measured_axis(show, page: str, frame: rg.Plan):
    opened = show(page, fragment="#pin=p%3Alighting")
    before = text(opened, ".card")
    opened.view("frames")
    opened.page.get_by_role("button", name="Next spike").click()
    opened.view("frame")
    opened.settled()
    after = text(opened, ".card")
    assert "In all frames" in before
    [spike] = [one for one in spans(frame, SPIKE) if one["name"] == "lighting"]
    took = spike["end_us"] - spike["begin_us"]
    assert f"{took / 1000:.2f} ms" in after
    assert f"{took / 1000:.2f} ms from" not in before


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_frames(show, violations, page: str, scheme: str):
    opened = show(page, scheme=scheme)
    opened.view("frames")
    assert violations(opened.page) == []


def test_a_saved_series_is_shown_by_the_command(show, series: rg.Series, deferred: Path, tmp_path: Path):
    file, out = tmp_path / "times.json", tmp_path / "frames.html"
    file.write_text(json.dumps({"report": {"series": series.to_dict()}}), encoding="utf-8")
    assert command(["view", str(deferred), "--profile", "discrete", "--report", str(file), "-o", str(out)]) == 0
    html = out.read_text(encoding="utf-8")
    data = html.split('<script type="application/json" id="data">', 1)[1].split("</script>", 1)[0]
    assert json.loads(data)["frames"] == json.loads(series._json())
    opened = show(html)
    assert f"{FRAMES} frames" in text(opened, ".top .figures")
    opened.view("frames")


def test_a_saved_report_is_shown_by_the_command(show, frame: rg.Plan, deferred: Path, tmp_path: Path):
    file, out = tmp_path / "report.json", tmp_path / "frame.html"
    passes = [
        {"pass": one["name"], "queue": one["queue"], "start_us": one["begin_us"], "us": 2.0, "group": 1}
        for one in spans(frame, 0)
    ]
    file.write_text(json.dumps({"measure": "passes", "passes": passes, "host": [], "calibrated": False}))
    assert command(["view", str(deferred), "--profile", "discrete", "--report", str(file), "-o", str(out)]) == 0
    opened = show(out.read_text(encoding="utf-8"), fragment="#view=costs")
    assert "Timing that isolates passes" in text(opened, "#view-costs")
    file.write_text(json.dumps({"passes": []}))
    assert command(["view", str(deferred), "--report", str(file), "-o", str(out)]) == 2
    assert command(["view", str(deferred.parent), "--report", str(file), "-o", str(out)]) == 2
