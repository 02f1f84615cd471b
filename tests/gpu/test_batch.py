"""Batches on threads and processes: every task once and right, whatever happens to workers."""

import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import rgraph as rg
from batch_graph import counted, dies, dies_once, is_right, refuses, seeded
from clitool import run
from rgraph import batch

pytestmark = pytest.mark.usefixtures("device")


@pytest.fixture(scope="module")
def pool():
    """Two processes of this machine."""
    with batch.Processes(2) as pool:
        yield pool


def test_results_come_in_order_from_threads_and_processes(pool: batch.Processes):
    spawned = ProcessPoolExecutor(2, mp_context=get_context("spawn"))
    with spawned, ThreadPoolExecutor(3) as threads:
        for on in (None, threads, pool, spawned):
            results = list(batch.run(seeded(), batch.seeds(40, "draw.seed"), on=on))
            assert [result.key for result in results] == list(range(40))
            assert all(is_right(result["out"], result.key) for result in results)


def test_results_come_as_they_are_done(pool: batch.Processes):
    seen = []
    results = batch.run(
        seeded(),
        batch.seeds(40, "draw.seed"),
        on=pool,
        ordered=False,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert sorted(result.key for result in results) == list(range(40))
    assert seen == [(at, 40) for at in range(1, 41)]


def test_a_graph_travels_to_a_worker_once(pool: batch.Processes, monkeypatch: pytest.MonkeyPatch):
    carried = []
    submit = pool.submit
    monkeypatch.setattr(pool, "submit", lambda *call: (carried.append(call[2] is not None), submit(*call))[1])
    list(batch.run(seeded(), batch.seeds(60, "draw.seed"), on=pool, chunk=1))
    assert sum(carried) <= 2 * pool.workers < len(carried)


def test_tiles_are_joined_and_sweeps_are_products():
    size = (20, 12)
    whole = batch.join(batch.run(seeded(), batch.tiles(size, (8, 8), "draw.origin")), size, "out")
    y, x = np.indices((12, 20))
    assert (whole[..., 1] == x).all()
    assert (whole[..., 2] == y).all()
    swept = batch.run(seeded(), batch.sweep({"draw.seed": [3, 5], "draw.origin": [[1, 2], [3, 4]]}))
    assert [tuple(result["out"][0, 0, :3]) for result in swept] == [(21, 1, 2), (21, 3, 4), (35, 1, 2), (35, 3, 4)]


def test_all_push_data_of_a_pass_may_be_set():
    tasks = [batch.Task("all", {"draw": {"seed": 2, "origin": [5, 6]}}), batch.Task("none")]
    results = list(batch.run(seeded(), tasks))
    assert [tuple(result["out"][0, 0, :3]) for result in results] == [(14, 5, 6), (0, 0, 0)]


def test_each_task_begins_as_a_first_frame_does(pool: batch.Processes):
    tasks = [batch.Task(frames, frames=frames) for frames in (1, 5, 2, 3)]
    for on in (None, pool):
        counts = [int(result["count"].view(np.uint32)[0]) for result in batch.run(counted(), tasks, on=on)]
        assert counts == [1, 5, 2, 3]


def test_a_lost_process_is_replaced_and_its_task_runs_again(tmp_path: Path):
    then = partial(dies_once, str(tmp_path / "mark"), 17)
    results = list(batch.run(seeded(), batch.seeds(60, "draw.seed"), on=1, then=then, chunk=4))
    assert (tmp_path / "mark").exists()
    assert [(result.key, result.value) for result in results] == [(seed, seed) for seed in range(60)]
    assert results[0].worker != results[-1].worker


def test_a_task_that_ends_every_process_is_an_error_that_names_it():
    with pytest.raises(rg.BatchError, match=r"RG-E602 worker lost while task 0 ran \(try 2\)") as caught:
        list(batch.run(seeded(), batch.seeds(1, "draw.seed"), on=1, then=dies, retries=1))
    assert [task.key for task in caught.value.remaining] == [0]
    assert "status 7" in str(caught.value)


def test_a_broken_executor_of_the_callers_is_an_error_with_what_is_left(tmp_path: Path):
    then = partial(dies_once, str(tmp_path / "mark"), 30)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        done: list[int] = []
        results = batch.run(seeded(), batch.seeds(40, "draw.seed"), on=executor, then=then, chunk=4)
        with pytest.raises(rg.BatchError, match="its executor is broken") as caught:
            done.extend(result.value for result in results)
    rest = batch.run(seeded(), caught.value.remaining, then=then)
    assert done + [result.value for result in rest] == list(range(40))
    assert done


def test_a_task_that_fails_ends_the_run_or_is_a_result(pool: batch.Processes):
    tasks = batch.seeds(12, "draw.seed")
    values: list[int] = []
    results = batch.run(seeded(), tasks, on=pool, then=refuses, chunk=1)
    with pytest.raises(rg.BatchError, match="RG-E601 task 5 failed: ValueError: no five") as caught:
        values.extend(result.value for result in results)
    assert isinstance(caught.value.__cause__, ValueError)
    left = [task.key for task in caught.value.remaining]
    assert sorted([*values, *left]) == list(range(12))
    assert 5 in left
    results = list(batch.run(seeded(), tasks, on=pool, then=refuses, errors="return"))
    assert [result.value for result in results] == [0, 1, 2, 3, 4, None, 6, 7, 8, 9, 10, 11]
    with pytest.raises(ValueError, match="no five"):
        results[5]["out"]


def test_workers_without_a_driver_are_one_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("VK_DRIVER_FILES", "/none")
    with pytest.raises(rg.BatchError, match="RG-E603 no worker has a device") as caught:
        list(batch.run(seeded(), batch.seeds(9, "draw.seed"), on=2))
    assert "RG-E101" in caught.value.notes[0]
    assert len(caught.value.remaining) == 9


def test_workers_write_files(tmp_path: Path, pool: batch.Processes):
    template = tmp_path / "out" / "{key:03}.npy"
    results = list(batch.run(seeded(), batch.seeds(6, "draw.seed"), on=pool, write=template))
    assert [Path(result.files["out"]).name for result in results] == [f"{seed:03}.npy" for seed in range(6)]
    assert all(is_right(np.load(result.files["out"]), result.key) for result in results)
    assert not results[0].arrays
    assert len(list((tmp_path / "out").iterdir())) == 6


def test_mistakes_are_refused_before_anything_runs(tmp_path: Path):
    g, tasks = seeded(), batch.seeds(3, "draw.seed")
    for wrong, options in [
        ('no pass is called "darw"', {"tasks": [batch.Task(0, {"darw.seed": 1})]}),
        ("two tasks have the key 1", {"tasks": [*tasks, batch.Task(1)]}),
        ('no root called "in"', {"read": "in"}),
        ("one file for several tasks", {"write": tmp_path / "a.npy"}),
        ("use {key}", {"write": tmp_path / "{name}.npy"}),
    ]:
        with pytest.raises(rg.GraphError, match=wrong):
            batch.run(g, **{"tasks": tasks} | options)
    with pytest.raises(TypeError, match="on= is"):
        batch.run(g, tasks, on=object())


def test_a_graph_with_functions_runs_on_threads_and_says_so():
    g = rg.Graph("host")
    out = g.buffer("out", 4)
    g.cpu("fill", lambda arrays: arrays["out"].__setitem__(slice(None), b"\7\7\7\7"), writes=out)
    g.root(out)
    with pytest.raises(rg.GraphError, match=r"cannot travel to other processes[\s\S]*ThreadPoolExecutor"):
        batch.run(g, [batch.Task(0)], on=1)
    assert [bytes(result["out"].tobytes()) for result in batch.run(g, [batch.Task(0)])] == [b"\7\7\7\7"]


def test_an_iteration_that_ends_early_ends_its_processes():
    results = batch.run(seeded(), batch.seeds(1000, "draw.seed"), on=2)
    worker = int(next(results).worker.rpartition(":")[2])
    results.close()
    assert list(results) == []
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"chunk": 0}, "RG-E213 a chunk has 0 tasks"),
        ({"retries": -1}, "RG-E213 a task runs again -1 times"),
        ({"errors": "ignore"}, "RG-E202 there is no handling of errors called 'ignore'"),
        ({"write": "{key:99999999999}.npy"}, "RG-E225 .*'99999999999' is too wide"),
        ({"write": "{key:{key}}.npy"}, "RG-E225 .*'{key}' is too wide"),
    ],
)
def test_wrong_options_of_a_batch_are_refused(options: dict, message: str):
    with pytest.raises(rg.GraphError, match=message):
        batch.run(seeded(), batch.seeds(2, "draw.seed"), **options)


def test_tiles_have_two_sizes():
    for size, tile in (((8,), (4,)), ((8, 8, 8), (4, 4, 4)), ((8, 8), (4,)), ((8, 8), (0, 4))):
        with pytest.raises(rg.GraphError, match=r"RG-E205 no picture has \(8"):
            batch.tiles(size, tile, "draw.seed")


FILM = """
graph = "seeded.rgraph.json"
frames = [2, 8]
output = { out = "out/{key:02}.npy" }
[set]
draw.seed = "@frame"
"""


def test_render_writes_every_frame_and_then_what_is_missing(tmp_path: Path):
    seeded().save(tmp_path / "seeded.rgraph.json")
    (tmp_path / "film.toml").write_text(FILM)
    done = run("render", "film.toml", "--workers", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "6 of 6 tasks on 1 workers" in done.stderr
    files = sorted((tmp_path / "out").iterdir())
    assert [file.name for file in files] == [f"{number:02}.npy" for number in range(2, 8)]
    assert all(is_right(np.load(file), number) for number, file in enumerate(files, 2))
    files[3].unlink()
    done = run("render", "film.toml", "--workers", "1", "--missing", cwd=tmp_path)
    assert "1 of 1 tasks on 1 workers" in done.stderr
    assert "5 were there" in done.stderr
    assert is_right(np.load(files[3]), 5)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (("frames = [2, 8]", "frmaes = 3"), 'no key "frmaes"'),
        (("frames = [2, 8]", ""), "no tasks"),
        (("draw.seed", "darw.seed"), 'did you mean "draw"'),
        (("{ out =", "{ ot ="), 'did you mean "out"'),
        (("seeded.rgraph.json", "missing.rgraph.json"), "no such file"),
        (('"@frame"', "="), "film.toml"),
        (("[2, 8]", "10_000_000_000"), "makes 10000000000 tasks"),
        (("[2, 8]", "[8, 2]"), "makes -6 tasks"),
        (("frames = [2, 8]", 'sweep = { "draw.seed" = [] }'), "makes 0 tasks"),
        (("frames = [2, 8]", 'tiles = { size = [1e9, 1], tile = [1, 1], set = "a" }'), '"size" of "tiles" is'),
        (("frames = [2, 8]", 'tiles = { size = [1024, 1], tile = [1], set = "a" }'), '"tile" of "tiles" is'),
        (("frames = [2, 8]", 'tiles = { size = [8388608, 1], tile = [1, 1], set = "a" }'), "makes 8388608 tasks"),
        (("frames = [2, 8]", "tiles = { size = [8, 8], tile = [1, 1], set = 1 }"), '"set" of "tiles"'),
        (("[set]", "fps = 0\n[set]"), '"fps" is a number above 0'),
        (("[set]", "fps = nan\n[set]"), '"fps" is a number above 0'),
        (("[set]", "repeat = 1.5\n[set]"), '"repeat" is a whole number above 0'),
        (("[set]", "inputs = { out = 3 }\n[set]"), '"out" is no path'),
        (("[set]", 'flags = { on = "no" }\n[set]'), '"on" is true or false'),
        (('"out/{key:02}.npy"', "3"), '"out" is no path'),
    ],
)
def test_render_says_what_is_wrong_with_a_file(tmp_path: Path, wrong: tuple[str, str], message: str):
    seeded().save(tmp_path / "seeded.rgraph.json")
    (tmp_path / "film.toml").write_text(FILM.replace(*wrong))
    done = run("render", "film.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
