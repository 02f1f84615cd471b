"""W6: what a frame would be under other choices, planned without a device."""

import json
import time
from pathlib import Path

import pytest

import rgraph as rg
from clitool import run

EXAMPLE = Path(__file__).parents[2] / "examples" / "deferred.rgraph.json"


def frame() -> rg.Graph:
    g = rg.Graph("frame", size=(1024, 1024))
    depth, shadow = g.image("depth", format="depth32float"), g.image("shadow", format="depth32float")
    ao, lit = g.image("ao", format="r8unorm"), g.image("lit", format="rgba16float")
    g.add_pass("depth", weight_us=300).depth(depth, clear=1.0)
    g.add_pass("ssao", weight_us=500).sampled(depth).storage_write(ao)
    g.add_pass("shadows", weight_us=600).depth(shadow, clear=1.0)
    g.add_pass("lighting", weight_us=200).sampled(depth, shadow, ao).color(lit)
    g.root(lit)
    return g


def test_another_queue_is_planned_and_bounded():
    plan = frame().bake()
    answer = plan.what_if(queue={"ssao": "async_compute"})
    assert {p.name: p.queue for p in answer.plan.passes}["ssao"] == "compute"
    assert answer.before is plan
    assert answer.plan.check() == []
    assert answer.gain_us == plan.frame_us - answer.plan.frame_us
    # An upper bound of what queues gain holds for the queues that were asked for.
    assert answer.one_queue_us == pytest.approx(plan.frame_us)
    assert answer.queue_bound_us <= answer.plan.frame_us
    assert answer.queue_gain_us >= answer.one_queue_us - answer.plan.frame_us
    values = answer.to_dict()
    assert [one["pass"] for one in values["timeline"] if one["critical"]] == answer.plan.critical_path
    assert not values["diff"]["equal"]
    assert "ssao" in str(answer)
    assert "at most" in str(answer)


def test_a_change_is_the_plan_of_the_changed_declaration():
    plan = frame().bake()
    weights = {"depth": 1.0, "ssao": 900.0}
    assert plan.what_if(weights=weights).plan == frame().bake(weights=weights)
    fast = plan.what_if(policy="declared", memory="fast").plan
    assert (fast.policy, fast.memory_budget) == ("declared", "fast")
    without = plan.what_if(drop="shadows")
    assert without.plan.pass_names == ["depth", "ssao", "lighting"]
    assert without.plan.memory.total < plan.memory.total
    assert any("'shadow' comes from outside" in note for note in without.notes)


def test_roots_that_only_dropped_passes_write_are_none_of_the_new_frame():
    g = frame()
    g.add_pass("debug").sampled("ao").color(g.image("overlay", format="rgba8unorm"))
    g.root("overlay")
    plan = g.bake()
    without = plan.what_if(drop="debug")
    assert without.plan.pass_names == frame().bake().pass_names
    assert without.plan.frame_us == frame().bake().frame_us
    assert "'overlay' is no root: no other pass writes it" in without.notes
    # What others read of it comes from outside, and is asked for no more.
    g.add_pass("late").sampled("overlay").color(g.image("shown", format="rgba8unorm"))
    g.root("shown")
    again = g.bake().what_if(drop="debug")
    assert "late" in again.plan.pass_names
    assert "'overlay' comes from outside: no other pass writes it" in again.notes


def test_a_saved_report_gives_weights(tmp_path):
    file = tmp_path / "times.json"
    report = {"measure": "passes", "passes": [{"pass": "ssao", "us": 900.0}, {"pass": "ssao/mips/ao.1", "us": 3.0}]}
    file.write_text(json.dumps(report))
    plan = frame().bake(weights=file)
    assert plan.critical_path_us > 1200
    assert plan == frame().bake(weights=report) == frame().bake(weights={"ssao": 900.0})
    assert frame().bake().what_if(weights=file).plan == plan
    with pytest.raises(rg.GraphError, match="no GPU times") as caught:
        frame().bake(weights={"measure": "off", "passes": []})
    assert caught.value.code == "RG-E225"


def test_mistakes_name_the_nearest():
    plan = frame().bake()
    for changes in ({"drop": ["sao"]}, {"queue": {"sao": "compute"}}, {"weights": {"sao": 3.0}}):
        with pytest.raises(rg.GraphError, match="did you mean 'ssao'") as caught:
            plan.what_if(**changes)
        assert caught.value.code == "RG-E202"
    with pytest.raises(rg.GraphError, match='did you mean "async_compute"'):
        plan.what_if(queue={"ssao": "async_comput"})
    with pytest.raises(rg.GraphError) as caught:
        plan.what_if(queue={"lighting": "async_compute"})
    assert caught.value.code == "RG-E211"
    with pytest.raises(rg.GraphError) as caught:
        plan.what_if(heap_limit=1 << 20)
    assert caught.value.code == "RG-E221"
    with pytest.raises(rg.GraphError, match="profile=") as caught:
        rg.Plan.from_json(plan.to_json()).what_if(graph=frame())
    assert caught.value.code == "RG-E202"


def test_an_answer_takes_milliseconds():
    plan = rg.Graph.load(EXAMPLE).bake()
    begin = time.process_time()
    plan.what_if(queue={plan.pass_names[0]: "graphics"})
    assert time.process_time() - begin < 2  # CPU time of a bake and a bound, not of a search of seconds


def test_the_command_prints_text_and_json(tmp_path):
    name = rg.Graph.load(EXAMPLE).bake().pass_names[0]
    done = run("what-if", EXAMPLE, "--policy", "declared", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["after"]["policy"] == "declared"
    done = run("what-if", EXAMPLE, "--queue", f"{name}=graphics", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "timeline" in done.stdout
    assert "difference" in done.stdout
    done = run("what-if", EXAMPLE, "--drop", f"{name}x", cwd=tmp_path)
    assert done.returncode == 1
    assert "did you mean" in done.stderr
