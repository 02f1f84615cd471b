"""Plans searched and measured by workers: threads, processes, a cluster of Dask; lost ones, and none at all."""

import json
import os
import random
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import rgraph as rg
from clitool import run
from rgraph import batch
from rgraph.batch import _search, _tune

STEP = """
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] = data[id.x] * 3u + 1u; }"""


def chains(count: int = 3, length: int = 3, queue: str = "any") -> rg.Graph:
    """Chains of dispatches that need nothing of each other."""
    g = rg.Graph("chains")
    for chain in range(count):
        data = g.buffer(f"data {chain}", 4096)
        g.fill(f"zero {chain}", data, 0)
        for step in range(length):
            g.compute(f"step {chain} {step}", STEP, data=data, groups=16, queue=queue)
        g.root(data)
    return g


def uneven() -> rg.Graph:
    """Two chains of small passes: on one queue each waits at barriers for the longer pass of the other."""
    g = rg.Graph("uneven", size=(64, 64))
    for chain, lengths in enumerate(((100, 400, 50), (300, 100, 300))):
        last = None
        for at, us in enumerate(lengths):
            image = g.image(f"image {chain} {at}", format="rgba8unorm")
            one = g.add_pass(f"pass {chain} {at}", queue="compute", weight_us=us).storage_write(image)
            if last is not None:
                one.sampled(last)
            last = image
        g.root(last)
    return g


class Lossy(Executor):
    """Runs calls in this process; those that a function picks lose their worker."""

    workers = 2

    def __init__(self, loses: Any) -> None:
        self.loses, self.calls = loses, 0

    def submit(self, fn: Any, /, *args: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.calls += 1
        if self.loses(self.calls, fn, args):
            future.set_exception(batch.WorkerLost("gone"))
        else:
            try:
                future.set_result(fn(*args, **named))
            except Exception as error:
                future.set_exception(error)
        return future


def same(one: rg.Trials, other: rg.Trials) -> bool:
    return one == other and str(one) == str(other)


def test_workers_of_every_kind_find_the_same_plan_of_the_model():
    alone = batch.tune(uneven(), profile="discrete", plans=20, queues=True)
    assert alone.phase == "modelled"
    assert set(alone.queues) == {f"pass {chain} {at}" for chain in range(2) for at in range(3)}
    assert all(one.measured_us is None for one in alone.trials)
    assert alone.plan.check() == []
    first = uneven().bake("discrete")
    assert alone.plan.frame_us < 0.99 * first.frame_us, "a chain on a queue of its own ends earlier"
    assert sum(one.kept for one in alone.trials) >= 1
    with batch.Processes(2) as pool, ThreadPoolExecutor(3) as threads:
        for on in (2, pool, threads):
            assert same(batch.tune(uneven(), profile="discrete", plans=20, queues=True, on=on), alone)


def test_lost_workers_change_nothing():
    alone = batch.tune(uneven(), profile="discrete", plans=12, queues=True)
    tries: dict[str, int] = {}

    def loses(at: int, fn: Any, args: Any) -> bool:
        tries[str(args[2])] = tries.get(str(args[2]), 0) + 1
        return tries[str(args[2])] < 3

    lossy = Lossy(loses)
    assert same(batch.tune(uneven(), profile="discrete", plans=12, queues=True, on=lossy), alone)
    assert lossy.calls == 3 * len(tries) == 18


def test_a_plan_that_loses_each_worker_is_named():
    lossy = Lossy(lambda at, fn, args: fn is _search.found and 4 in args[2])
    with pytest.raises(
        rg.BatchError, match="RG-E602 each worker that searched plans 4 to 5 was lost\n  gone"
    ) as caught:
        batch.tune(uneven(), profile="discrete", plans=12, on=lossy)
    assert caught.value.hint


def test_passes_leave_only_queues_that_they_do_not_name_unless_asked():
    found = batch.tune(uneven(), profile="discrete", plans=20)
    assert found.queues == {}
    assert {one.queue for one in found.plan.passes} == {uneven().bake("discrete").passes[0].queue}


def test_climbs_propose_what_the_planner_permits_and_never_end_worse(session_device: rg.Device):
    del session_device
    for seed in range(1, 7):
        graph, profile = rg._core.generate(1000 + seed)
        own = graph.bake(profile)
        climb = _search.Climb(seed)
        plan = graph.bake(profile, propose=climb)
        assert all(not one.refused for one in plan.tried or []), seed
        assert plan.frame_us <= own.frame_us
        assert plan.check() == []
        assert graph.bake(profile, propose=_search.Climb(seed)).tried == plan.tried


def test_an_order_of_a_climb_keeps_what_each_pass_waits_for():
    source = random.Random(5)
    names = [f"pass {at}" for at in range(30)]
    after = {name: source.sample(names[:at], min(at, 2)) for at, name in enumerate(names)}
    problem = {
        "passes": [{"name": name, "after": after[name], "queues": ["graphics"]} for name in names],
        "order": names,
        "queue": dict.fromkeys(names, "graphics"),
        "frame_us": 100.0,
    }
    climb, tried, orders = _search.Climb(3), [], set()
    while (proposal := climb(problem, tried)) is not None:
        order = proposal["order"]
        assert sorted(order) == sorted(names)
        assert all(order.index(before) < order.index(name) for name in names for before in after[name])
        orders.add(tuple(order))
        tried.append(rg.Tried(100.0 - len(tried), True, ""))
    assert len(tried) == 48
    assert len(orders) > 40


@pytest.mark.parametrize("on", [None, 2], ids=["this process", "processes"])
def test_plans_are_measured_beside_the_first_one_and_compute_the_same(session_device: rg.Device, on: Any):
    graph = chains()
    found = batch.tune(graph, plans=10, trials=2, on=on, device=session_device.info.index)
    assert found.phase == "settled"
    assert set(found.weights) >= {f"step {chain} {step}" for chain in range(3) for step in range(3)}
    assert 1 <= len(found.trials) <= 2
    for one in found.trials:
        assert one.measured_us is not None, one.why
        assert one.measured_us > 0
        assert one.kept_us is not None
        assert one.kept_us > 0
        assert (one.frames, one.round) == (108, 1)
    assert [one.predicted_us for one in found.trials] == sorted(one.predicted_us or 0.0 for one in found.trials)
    frame = session_device.run(found.plan)
    assert np.array_equal(np.asarray(frame["data 2"]), np.asarray(session_device.run(graph)["data 2"]))


def test_plans_are_kept_by_what_is_measured_beyond_the_noise():
    first = _search.Found(0, "as declared", 100.0, "a")
    chosen = [_search.Found(at, f"climb {at}", 90.0 + at, str(at)) for at in range(1, 5)]
    times = [
        _search.Timed(50.0, 60.0, 15.0, 9),  # within the noise
        _search.Timed(50.0, 60.0, 1.0, 9),  # kept
        _search.Timed(refused="the worker has another device"),
        _search.Timed(99.0, 120.0, 1.0, 9),  # as good as the kept one
    ]
    kept, trials = _tune._decided(first, chosen, times, 0.01)
    assert kept == 2
    assert [one.kept for one in trials] == [False, True, False, False]
    assert trials[0].why == "16.7 % shorter than the first plan: measured"
    assert (trials[2].measured_us, trials[2].why) == (None, "the worker has another device")
    kept, trials = _tune._decided(first, chosen, None, 0.01)
    assert (kept, [one.kept for one in trials]) == (1, [True, False, False, False])


def test_plans_of_one_kind_of_work_are_measured_once():
    found = [_search.Found(at, f"plan {at}", us, same) for at, (us, same) in enumerate([(9.0, "a"), (3.0, "b")] * 2)]
    found.append(_search.Found(4, "plan 4", 2.0, "c"))
    assert [one.number for one in _tune._chosen(found, 12)] == [4, 1]
    assert [one.number for one in _tune._chosen(found, 1)] == [4]


def test_workers_without_a_device_are_one_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("VK_ICD_FILENAMES", "/nowhere.json")
    monkeypatch.setenv("VK_DRIVER_FILES", "/nowhere.json")
    with pytest.raises(rg.BatchError, match="RG-E603 no worker has a device for this graph\n  RG-E10") as caught:
        batch.tune(chains(), plans=4, on=2)
    assert 'give profile="discrete"' in caught.value.hint
    assert len(caught.value.notes) == 1
    assert batch.tune(chains(), plans=4, on=2, profile="discrete").phase == "modelled"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"plans": 0}, "RG-E213 plans: 0 is out of range"),
        ({"trials": 0}, "RG-E213 trials: 0 is out of range"),
        ({"margin": -0.1}, "RG-E213 margin: -0.1 is out of range"),
        ({"profile": "nowhere.json"}, "nowhere.json"),
        ({"planning": {"policy": "best"}}, "best"),
    ],
)
def test_tune_refuses_options_by_name(options: dict[str, Any], message: str):
    with pytest.raises((rg.RgError, OSError, ValueError), match=message):
        batch.tune(uneven(), **{"profile": "discrete", **options})


def test_tune_names_what_on_may_be_and_the_keyword_that_was_meant():
    with pytest.raises(TypeError, match="on= is a number of processes"):
        batch.tune(uneven(), profile="discrete", on=1.5)
    with pytest.raises(TypeError, match="trials"):
        batch.tune(uneven(), profile="discrete", trails=3)


def test_a_graph_that_calls_functions_does_not_travel():
    g = rg.Graph("host")
    made = g.buffer("made", 64)
    g.cpu("fill", lambda views: None, writes=made)
    g.root(made)
    with pytest.raises(rg.GraphError, match="RG-E225"):
        batch.tune(g, profile="discrete", on=2)


def test_tune_by_processes_writes_what_run_takes(session_device: rg.Device, tmp_path):
    del session_device
    chains().save(tmp_path / "chains.rgraph.json")
    files = ["--plan", "tuned.rplan.json", "--weights", "times.json"]
    done = run("tune", "chains.rgraph.json", "--workers", "2", "--plans", "9", "--trials", "1", *files, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "9 plans searched" in done.stderr
    times = json.loads((tmp_path / "times.json").read_text())
    assert {one["pass"] for one in times["passes"]} >= {"step 0 0", "step 2 2"}
    again = run("run", "chains.rgraph.json", *files, "-o", "out", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert np.load(tmp_path / "out" / "data-1.npy").view(np.uint32)[5] == 13


def test_tune_by_the_model_prints_json_and_refuses_what_does_not_go_together(tmp_path):
    uneven().save(tmp_path / "uneven.rgraph.json")
    model = ["tune", "uneven.rgraph.json", "--profile", "discrete", "--plans", "9"]
    done = run(*model, "--workers", "2", "--queues", "--json", cwd=tmp_path)
    values = json.loads(done.stdout)
    assert (values["phase"], values["plans"], values["device"]) == ("modelled", 9, "discrete")
    for more, message in (
        ([], "--plans is for a search by workers"),
        (["--workers", "2", "--scheduler", "tcp://127.0.0.1:9"], "give one"),
        (["--workers", "2", "--costs", "x.json"], "--costs is for a device of this process"),
    ):
        refused = run(*model, *more, cwd=tmp_path)
        assert refused.returncode == 2
        assert message in str(refused.stderr)
    gone = run(*model, "--scheduler", "tcp://127.0.0.1:9", "--patience", "0.5", cwd=tmp_path)
    assert gone.returncode == 1
    assert "RG-E603 no scheduler answers" in str(gone.stderr) or "Dask is not" in str(gone.stderr)


def exits_once(path: str, payload: bytes, of: Any, numbers: Any) -> Any:
    """`found`, but for the first worker that gets plan 6."""
    if 6 in numbers:
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            pass
        else:
            os._exit(1)
    return _search.found(payload, of, numbers)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A cluster of two processes on this machine."""
    distributed = pytest.importorskip("distributed")
    os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "error")
    environment = {"PYTHONPATH": ":".join(sys.path)}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", env=environment) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_cluster_finds_what_this_process_finds_and_measures(session_device: rg.Device, client: Any):
    del session_device
    alone = batch.tune(uneven(), profile="discrete", plans=16, queues=True)
    assert same(batch.tune(uneven(), profile="discrete", plans=16, queues=True, on=client), alone)
    address = client.scheduler.address
    measured = batch.tune(chains(), plans=10, trials=2, on=address, device=0)
    assert measured.phase == "settled"
    assert all(one.measured_us is not None for one in measured.trials)


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_worker_of_a_cluster_that_dies_is_replaced(client: Any, tmp_path, monkeypatch: pytest.MonkeyPatch):
    from functools import partial

    alone = batch.tune(uneven(), profile="discrete", plans=12, queues=True)
    mark = tmp_path / "mark"
    monkeypatch.setattr(_tune, "found", partial(exits_once, str(mark)))
    assert same(batch.tune(uneven(), profile="discrete", plans=12, queues=True, on=client), alone)
    assert mark.exists()
