"""The demos, small: what they show, what they leave out, what they say."""

import logging

import numpy as np
import pytest

import rgraph as rg
from rgraph.cli import UsageError
from rgraph.demo import _show, deferred

SIZE = (160, 90)


@pytest.fixture(scope="module")
def graph() -> rg.Graph:
    return deferred.build(SIZE, shadow_texels=256)


def test_the_frame_is_a_picture_and_says_its_exposure(device: rg.Device, graph: rg.Graph, caplog):
    renderer = deferred.Renderer(device, SIZE, shadow_texels=256, graph=graph)
    with caplog.at_level(logging.INFO, logger="rgraph.demo"):
        for _ in range(4):
            frame = renderer.render()
            frame.wait()
    picture = np.asarray(frame["frame"])
    assert picture.shape == (90, 160, 4)
    colours = picture[..., :3].astype(float)
    assert 40 < colours.mean() < 200
    assert colours.std() > 25
    assert (picture[..., 3] == 255).all()
    # A sunset: more red than blue, the sun brighter than all.
    assert colours[..., 0].mean() > colours[..., 2].mean()
    assert colours.max() > 240
    said = [record.getMessage() for record in caplog.records]
    assert [line.split(":")[0] for line in said] == ["frame 1", "frame 2", "frame 3", "frame 4"]
    assert frame.report.pass_us["log"] > 0


def test_accumulated_frames_are_steadier_than_single_ones(device: rg.Device, graph: rg.Graph):
    renderer = deferred.Renderer(device, SIZE, shadow_texels=256, graph=graph)
    pictures = [np.array(renderer.render()["frame"]).astype(float)[..., :3] for _ in range(12)]
    first = np.abs(pictures[1] - pictures[0]).mean()
    last = np.abs(pictures[11] - pictures[10]).mean()
    assert 0 < last < first / 2


def test_the_debug_view_is_left_out_and_async_work_is_on_its_queue(graph: rg.Graph):
    plan = graph.bake("discrete")
    assert list(plan.culled) == ["debug_view"]
    assert plan.check(graph) == []
    queues = {planned.name: planned.queue for planned in plan.passes}
    beside = ("clusters/cull", "ssao/sample", "ssao/across", "ssao/down")
    assert {queues[name] for name in beside} == {"compute"}
    assert queues["lighting"] == queues["gbuffer"] == "graphics"
    assert queues["log"] is None
    # Light, sky and bubbles are one render pass, the picture and what is drawn upon it another.
    merged = {planned.name: planned.physical_pass for planned in plan.passes}
    assert merged["lighting"] == merged["backdrop"] == merged["transparent"]
    assert merged["tonemap"] == merged["overlay"]


@pytest.mark.parametrize("what", ["depth", "normal", "velocity", "shadow", "shadow.layer2", "sky.mip1", "debug_view"])
def test_any_image_can_be_shown(device: rg.Device, what: str):
    g = deferred.build(SIZE, shadow_texels=128)
    shown = _show.add(g, what)
    renderer = deferred.Renderer(device, SIZE, shadow_texels=128, graph=g)
    picture = np.asarray(renderer.render(0.1)[shown.name])
    assert picture.shape[1] >= 160
    assert (picture[..., 3] == 255).all()
    assert picture[..., :3].std() > 2


def test_what_is_not_there_is_refused_with_what_is(graph: rg.Graph):
    g = graph.clone()
    for wrong, message, hint in (
        ("normla", 'no image "normla"', 'did you mean "normal"'),
        ("sky.mip9", "no mip9", "mip0 to mip5"),
        ("depth.layer1", "no layer1", "only layer0"),
    ):
        with pytest.raises(UsageError, match=message) as caught:
            _show.add(g, wrong)
        assert hint in caught.value.hint
