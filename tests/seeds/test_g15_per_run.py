"""G15: clear values, load choice and viewport per run, by parameter or by function, without another plan."""

import numpy as np
import pytest

import rgraph as rg

FILL = """
@group(0) @binding(0) var<uniform> color: vec4<f32>;
@fragment fn main() -> @location(0) vec4<f32> { return color; }
"""
ADD = """
@fragment fn main() -> @location(0) vec4<f32> { return vec4<f32>(0.25, 0.0, 0.0, 0.0); }
"""
DEPTH = """
@vertex fn vs(@builtin(vertex_index) at: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(f32(at & 1u) * 4.0 - 1.0, f32(at >> 1u) * 4.0 - 1.0, 0.5, 1.0);
}
@fragment fn fs() -> @location(0) vec4<f32> { return vec4<f32>(0.0, 1.0, 0.0, 1.0); }
"""
RED, GREEN, BLUE, BLACK = (255, 0, 0, 255), (0, 255, 0, 255), (0, 0, 255, 255), (0, 0, 0, 0)


@pytest.fixture(scope="module")
def device():
    with rg.Device() as device:
        yield device
        assert device.messages == []


def window(**arguments) -> rg.Graph:
    """Draw green into a viewport of an image of 8x8 texels."""
    g = rg.Graph("window", size=(8, 8))
    out = g.image("out", format="rgba8unorm")
    g.raster("draw", FILL, color=out, bindings={"color": (0, 1, 0, 1)}, **arguments)
    g.root(out)
    return g


def pictures(frame) -> np.ndarray:
    return np.asarray(frame["out"])


def test_parameters_change_clear_value_and_viewport_for_one_run(device):
    compiled = device.compile(window(clear=(1, 0, 0, 1), viewport=(0, 0, 4, 4)))
    plan = compiled.plan.hash

    def run(params=None):
        return pictures(compiled.run(params=params))

    declared = run()
    assert tuple(declared[0, 0]) == GREEN
    assert tuple(declared[7, 7]) == RED
    given = run({("draw", "clear"): (0, 0, 1, 1), ("draw", "viewport"): (4, 4, 4, 4)})
    assert tuple(given[0, 0]) == BLUE
    assert tuple(given[7, 7]) == GREEN
    assert tuple(given[3, 7]) == BLUE
    assert (run() == declared).all(), "a parameter is for one run"
    assert compiled.plan.hash == plan


def test_functions_are_called_at_each_run(device):
    frames = iter([((1, 0, 0, 1), (0, 0, 4, 4)), ((0, 0, 1, 1), (4, 4, 4, 4))])
    now = {}
    g = window(clear=lambda: now["clear"], viewport=lambda: now["viewport"])
    for corner in ((0, 0), (7, 7)):
        now["clear"], now["viewport"] = next(frames)
        out = pictures(device.run(g))
        assert tuple(out[corner]) == GREEN
        assert tuple(out[7 - corner[0], 7 - corner[1]]) == (BLUE if corner[0] else RED)
    out = pictures(device.run(g, params={("draw", "clear"): (1, 0, 0, 1)}))
    assert tuple(out[0, 0]) == RED, "parameters come before functions"


def accumulation(load) -> rg.Graph:
    g = rg.Graph("sum", size=(4, 4))
    out = g.image("out", format="rgba8unorm", persistent=True)
    g.raster("add", ADD, color=out, load=load, blend="add")
    g.root(out)
    return g


def test_a_pass_that_loads_may_clear_in_a_run(device):
    compiled = device.compile(accumulation("load"))
    reds = []
    for params in [
        None,
        None,
        {("add", "load"): "clear"},
        None,
        {("add", "clear"): (0.5, 0, 0, 1)},
        {("add", "load"): "load"},
    ]:
        reds.append(int(pictures(compiled.run(params=params))[0, 0, 0]))
    assert reds == pytest.approx([64, 128, 64, 128, 192, 255], abs=2)


def test_a_load_of_a_function_is_planned_for_both(device):
    choice = {"load": "load"}
    g = accumulation(lambda: choice["load"])
    plan = g.bake(device.profile)
    assert plan.check() == []
    attachments = [one for batch in plan.to_dict()["batches"] for one in batch["commands"] if "attachments" in one]
    assert attachments[0]["attachments"][0]["load"] == "load", "earlier contents are kept"
    reds = []
    for choice["load"] in ("clear", "load", "load", "clear"):
        reds.append(int(pictures(device.run(g))[0, 0, 0]))
    assert reds == pytest.approx([64, 128, 192, 64], abs=2)


def test_a_clear_value_beside_a_function_for_the_load_is_used_when_it_clears(device):
    choice = {"load": "clear"}
    g = rg.Graph("sum", size=(4, 4))
    out = g.image("out", format="rgba8unorm", persistent=True)
    g.raster("add", ADD, color=out, load=lambda: choice["load"], clear=(0.5, 0, 0, 1), blend="add")
    g.root(out)
    reds = []
    for choice["load"] in ("clear", "load", "clear"):
        reds.append(int(pictures(device.run(g))[0, 0, 0]))
    assert reds == pytest.approx([192, 255, 192], abs=2)


def test_a_pass_within_a_merged_render_pass_clears_there(device):
    """Two passes are one render pass; the second clears what the first drew, in its own viewport or not."""
    g = rg.Graph("merged", size=(8, 8))
    out = g.image("out", format="rgba8unorm")
    g.raster("under", FILL, color=out, bindings={"color": (1, 0, 0, 1)}, clear=(0, 0, 0, 0))
    g.raster("over", FILL, color=out, bindings={"color": (0, 1, 0, 1)}, load="load", viewport=(0, 0, 4, 8))
    g.root(out)
    compiled = device.compile(g)
    began = [one for batch in compiled.plan.to_dict()["batches"] for one in batch["commands"] if "attachments" in one]
    assert len(began) == 1, "one render pass"
    kept = pictures(compiled.run())
    assert tuple(kept[0, 0]) == GREEN
    assert tuple(kept[0, 7]) == RED
    gone = pictures(compiled.run(params={("over", "load"): "clear"}))
    assert tuple(gone[0, 0]) == GREEN
    assert tuple(gone[0, 7]) == BLACK
    blue = pictures(compiled.run(params={("over", "clear"): (0, 0, 1, 1), ("under", "clear"): (1, 1, 1, 1)}))
    assert tuple(blue[0, 0]) == GREEN
    assert tuple(blue[0, 7]) == BLUE


@pytest.mark.parametrize("format", ["depth32float", "depth24plus-stencil8", "depth32float-stencil8"])
def test_depth_is_cleared_to_the_value_of_the_run(device, format):
    g = rg.Graph("depth", size=(4, 4))
    out, depth = g.image("out", format="rgba8unorm"), g.image("depth", format=format)
    g.raster("draw", DEPTH, color=out, depth=depth, clear=(1, 0, 0, 1), clear_depth=1.0)
    g.root(out)
    try:
        compiled = device.compile(g)
    except rg.RgError as error:
        pytest.skip(str(error))
    assert tuple(pictures(compiled.run())[0, 0]) == GREEN
    assert tuple(pictures(compiled.run(params={("draw", "clear_depth"): 0.25}))[0, 0]) == RED
    assert tuple(pictures(compiled.run())[0, 0]) == GREEN


def test_each_target_has_values_of_its_own(device):
    g = rg.Graph("two", size=(4, 4))
    a, out = (g.image(name, format="rgba8unorm") for name in ("a", "out"))
    two = "struct O { @location(0) a: vec4<f32>, @location(1) b: vec4<f32> }"
    two += "@fragment fn main() -> O { discard; return O(vec4<f32>(0.0), vec4<f32>(0.0)); }"
    g.raster("draw", two, color=[a, out], clear=[(1, 0, 0, 1), (0, 1, 0, 1)])
    g.root(a, out)
    frame = device.run(g, params={("draw", "clear"): [None, (0, 0, 1, 1)]})
    assert tuple(np.asarray(frame["a"])[0, 0]) == RED
    assert tuple(np.asarray(frame["out"])[0, 0]) == BLUE


@pytest.mark.parametrize(
    ("arguments", "params", "says"),
    [
        ({"clear": (1, 0, 0, 1)}, {("draw", "load"): "load"}, "keeps no contents"),
        ({}, {("draw", "load"): "load"}, "keeps no contents"),
        ({"clear": (1, 0, 0, 1)}, {("draw", "load"): "discard"}, "cannot discard"),
        ({}, {("draw", "clear"): (float("nan"), 0, 0, 1)}, "clears"),
        ({}, {("draw", "clear"): 0.5}, "to a depth"),
        ({}, {("draw", "clear_depth"): 0.5}, "no depth attachment"),
        ({}, {("draw", "viewport"): (0, 0, -4, 4)}, "viewport"),
    ],
)
def test_what_a_plan_does_not_hold_for_is_refused(device, arguments, params, says):
    compiled = device.compile(window(**arguments))
    with pytest.raises(rg.GraphError, match=says) as caught:
        compiled.run(params=params)
    assert caught.value.code == "RG-E225"
    assert caught.value.hint
    compiled.run()


def test_depth_that_is_only_tested_is_not_cleared(device):
    g = rg.Graph("tested", size=(4, 4))
    out, depth = g.image("out", format="rgba8unorm"), g.image("depth", format="depth32float")
    g.raster("first", DEPTH, color=out, depth=depth, clear=(0, 0, 0, 0), clear_depth=1.0)
    g.raster("second", DEPTH, color=out, depth=depth, depth_write=False)
    g.root(out)
    with pytest.raises(rg.GraphError, match="only tests"):
        device.run(g, params={("second", "load_depth"): "clear"})


def test_graph_files_take_parameters_and_hold_no_functions(device, tmp_path):
    path = tmp_path / "window.rgraph.json"
    window(clear=(1, 0, 0, 1)).save(path)
    g = rg.Graph.load(path)
    out = pictures(device.run(g, params={("draw", "viewport"): (4, 4, 4, 4), ("draw", "clear"): (0, 0, 1, 1)}))
    assert tuple(out[0, 0]) == BLUE
    assert tuple(out[7, 7]) == GREEN
    with pytest.raises(rg.GraphError, match="hold no functions"):
        window(clear=lambda: (0, 0, 0, 1)).save(path)
    window(clear=lambda: (0, 0, 0, 1)).save(path, callbacks="skip")


def test_captures_hold_the_values_of_each_run(device, tmp_path):
    path = tmp_path / "run.rcapture"
    choice = {"load": "load"}
    compiled = device.compile(accumulation(lambda: choice["load"]))
    compiled.run()
    reds = []
    with compiled.capture(path, frames=3):
        for choice["load"] in ("load", "clear", "load"):
            frame = compiled.run(params={("add", "viewport"): (0, 0, 2, 2)})
            reds.append([int(pictures(frame)[at, at, 0]) for at in (0, 3)])
    assert reds[1] == [64, 0]
    assert device.replay(path).equal


def test_what_a_function_raises_or_returns_is_reported(device):
    def fails():
        raise KeyError("no sky today")

    with pytest.raises(KeyError, match="no sky today"):
        device.run(window(clear=fails))
    with pytest.raises(TypeError, match='pass "draw" returned None'):
        device.run(window(clear=lambda: None))
    with pytest.raises(TypeError):
        device.run(window(viewport=lambda: (1, 2)))
