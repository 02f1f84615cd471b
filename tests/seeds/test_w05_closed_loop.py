"""W5, the closed loop: plans are tried while frames run; a faster one stays, and every frame computes the same."""

import gc
import json
import weakref
from pathlib import Path

import numpy as np
import pytest

import rgraph as rg
from clitool import run
from gpu.shaders import SCALE


def chains(*, lasting: bool = False) -> rg.Graph:
    """Two chains, declared one behind the other: other policies make other orders of them."""
    g = rg.Graph("chains")
    src = g.import_array("src", np.arange(64, dtype=np.uint32), as_buffer=True)
    for chain in "ab":
        last = src
        for at in range(3):
            made = g.buffer(f"{chain}{at}", 256)
            g.compute(f"{chain}/{at}", SCALE, src=last, dst=made, params={"factor": 3, "offset": 1})
            last = made
        g.root(last)
        if lasting:
            last.previous(name=f"{chain} before")
    return g


def interleaved(plan: rg.Plan) -> bool:
    first, second = (one.name for one in plan.passes[:2])
    return first[0] != second[0]


def adapt(**more: object) -> rg.Adapt:
    def times(plan: rg.Plan, report: rg.Report) -> float:
        assert report.measure != "off"
        return 50.0 if interleaved(plan) else 100.0

    return rg.Adapt(**{"sample": 1, "frames": 4, "background": False, "times": times} | more)


def settle(device: rg.Device, g: rg.Graph | rg.Compiled, given: rg.Adapt, most: int = 400) -> rg.Trials:
    want = None
    for _ in range(most):
        frame = device.run(g, adapt=given)
        got = [np.asarray(frame[name]).copy() for name in ("a2", "b2")]
        want = want or got
        assert all(np.array_equal(one, other) for one, other in zip(got, want, strict=True))
        if device.trials(g).phase == "settled":
            break
    return device.trials(g)


def test_a_faster_plan_stays_and_images_are_equal(device: rg.Device):
    compiled = device.compile(chains(), policy="declared")
    assert not interleaved(compiled.plan)
    found = settle(device, compiled, adapt())
    assert found.phase == "settled"
    assert [one.kept for one in found.trials].count(True) == 1
    assert interleaved(found.plan)
    kept = next(one for one in found.trials if one.kept)
    assert (kept.measured_us, kept.kept_us, kept.frames, kept.round) == (50.0, 100.0, 4, 1)
    assert "faster by 50" in kept.why
    assert set(found.weights) == {f"{chain}/{at}" for chain in "ab" for at in range(3)}
    assert "predicted µs" in str(found)
    assert found.plan.check() == []
    # What was found is taken up elsewhere: the plan as it is, or of a file with the durations for which it was made.
    assert np.asarray(device.run(found.plan)["a2"])[0] == 13
    read = rg.Plan.from_json(found.plan.to_json())
    again = device.compile(read, of=chains(), weights=found.to_dict())
    assert interleaved(again.plan)
    assert np.asarray(again.run()["a2"])[0] == 13
    with pytest.raises(rg.GraphError, match="bake the graph again"):
        device.compile(read, of=chains())


def test_the_devices_own_times_decide_too(device: rg.Device):
    compiled = device.compile(chains(), policy="declared")
    found = settle(device, compiled, rg.Adapt(sample=1, frames=4, background=False))
    if found.phase == "blind":
        pytest.skip("the device measures nothing")
    assert found.phase == "settled"
    ran = [one for one in found.trials if one.measured_us is not None]
    assert ran
    for one in ran:
        assert one.measured_us > 0
        assert one.kept_us > 0
        # Which plan is faster is the machine's affair; one that stays was measured to be.
        assert one.measured_us < one.kept_us or not one.kept


def test_a_graph_of_one_order_has_nothing_to_try(device: rg.Device):
    g = rg.Graph("chain")
    last = g.import_array("src", np.arange(64, dtype=np.uint32), as_buffer=True)
    for at in range(3):
        made = g.buffer(f"b{at}", 256)
        g.compute(f"p{at}", SCALE, src=last, dst=made, params={"factor": 3, "offset": 1})
        last = made
    g.root(last)
    compiled = device.compile(g)
    for _ in range(64):
        assert np.asarray(compiled.run(adapt=rg.Adapt(sample=1, frames=4, background=False))["b2"])[1] == 40
    assert device.trials(compiled).trials == []
    assert device.trials(compiled).phase in ("settled", "blind")


def test_a_slow_plan_goes(device: rg.Device):
    compiled = device.compile(chains(), policy="declared")
    slow = adapt(times=lambda plan, report: 300.0 if interleaved(plan) else 100.0)
    found = settle(device, compiled, slow)
    assert found.trials
    assert not any(one.kept for one in found.trials)
    assert not interleaved(found.plan)
    assert any("slower" in one.why for one in found.trials)
    # Runs that do not ask go on with what is kept.
    assert np.asarray(compiled.run()["a2"])[0] == 13
    assert device.trials(compiled).trials == found.trials


def test_graphs_are_found_again_and_true_is_enough(device: rg.Device):
    for _ in range(60):
        frame = device.run(chains(), adapt=True)
    frame.wait()
    assert device.trials(chains()).phase in ("weighing", "searching", "trying", "settled")
    assert device.trials(chains(lasting=True)).phase == "off"
    device.run(chains(), adapt="queues")
    with pytest.raises(rg.GraphError, match='did you mean "queues"'):
        device.run(chains(), adapt="queue")
    with pytest.raises(TypeError, match=r"rgraph\.Adapt"):
        device.run(chains(), adapt=3)
    with pytest.raises(TypeError, match="function"):
        device.run(chains(lasting=True), adapt=rg.Adapt(times=3))


def test_a_hook_proposes_and_what_it_raises_arrives(device: rg.Device):
    seen = []

    def propose(problem, tried):
        seen.append(problem)
        names = [one["name"] for one in problem["passes"]]
        return {"order": sorted(names, key=lambda name: name[-1])} if not tried else None

    found = settle(device, device.compile(chains(), policy="declared"), adapt(propose=propose, trials=64))
    assert seen[0]["passes"][0]["weight_us"] == pytest.approx(found.weights[seen[0]["passes"][0]["name"]], rel=1e-5)
    assert any(one.what == "proposal 1" and one.kept for one in found.trials) or interleaved(found.plan)

    def broken(problem, tried):
        raise KeyError("mine")

    compiled = device.compile(chains(), policy="declared")
    with pytest.raises(KeyError, match="mine"):
        settle(device, compiled, adapt(propose=broken))
    with pytest.raises(ZeroDivisionError):
        settle(device, compiled, adapt(times=lambda plan, report: 1 / 0))
    assert np.asarray(compiled.run()["a2"])[0] == 13


def test_what_a_tuner_holds_is_collected(device: rg.Device):
    held = [device.compile(chains())]

    def times(plan, report, held=held):
        return float(len(held))

    held[0].run(adapt=rg.Adapt(times=times))
    gone = weakref.ref(held[0])
    del held, times
    gc.collect()
    assert gone() is None


def test_tune_writes_what_run_takes(session_device: rg.Device, tmp_path: Path):
    del session_device
    (tmp_path / "two.py").write_text(
        "import numpy as np\nimport rgraph as rg\n"
        f"SCALE = '''{SCALE}'''\n"
        "graph = rg.Graph('two')\n"
        "src = graph.import_array('src', np.arange(64, dtype=np.uint32), as_buffer=True)\n"
        "for name in 'ab':\n"
        "    made = graph.buffer(name, 256)\n"
        "    graph.compute(f'scale {name}', SCALE, src=src, dst=made, params={'factor': 3, 'offset': 1})\n"
        "    graph.root(made)\n"
    )
    files = ["--plan", "tuned.plan.json", "--weights", "times.json"]
    done = run("tune", "two.py", "--frames", "300", *files, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "plans tried" in done.stdout
    times = json.loads((tmp_path / "times.json").read_text())
    assert {one["pass"] for one in times["passes"]} == {"scale a", "scale b"}
    again = run("run", "two.py", *files, "-o", "out", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert np.load(tmp_path / "out" / "b.npy").view(np.uint32)[1] == 4
    plain = run("tune", "two.py", "--frames", "8", "--json", "--queues", cwd=tmp_path)
    assert json.loads(plain.stdout)["frames"] == 8


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("sample", 0), ("sample", -1), ("frames", 1), ("frames", 10**30), ("trials", -1)]
    + [("margin", wrong) for wrong in (-0.1, float("nan"), float("inf"))],
)
def test_w05_numbers_that_no_search_can_have_are_refused_by_name(device: rg.Device, name: str, wrong: float) -> None:
    compiled = device.compile(chains(lasting=True))
    with pytest.raises(rg.GraphError, match=rf"^RG-E213 {name}: .* is out of range"):
        compiled.run(adapt=rg.Adapt(**{name: wrong}))
