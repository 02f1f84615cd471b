"""Batches on Dask: workers that die, workers without a driver, schedulers that are gone."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import rgraph as rg
from batch_graph import dies_once, hide_drivers, is_right, seeded, show_drivers
from clitool import run, surroundings
from rgraph import batch

distributed = pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.usefixtures("device"),
    # Dask's own: sockets of processes that were killed.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A cluster of four processes on this machine."""
    os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "error")
    with (
        distributed.LocalCluster(
            n_workers=4, threads_per_worker=1, dashboard_address=":0", env={"PYTHONPATH": ":".join(sys.path)}
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_workers_without_a_driver_are_left_out(client: Any):
    first = next(iter(client.nthreads()))
    client.run(hide_drivers, workers=[first])
    results = list(batch.run(seeded(), batch.seeds(12, "draw.seed"), on=client, device=0, chunk=1))
    assert [result.key for result in results] == list(range(12))
    assert all(is_right(result["out"], result.key) for result in results)
    assert first not in {result.worker for result in results}


def test_no_worker_with_a_driver_is_one_error(client: Any):
    client.run(hide_drivers)
    with pytest.raises(rg.BatchError, match="RG-E603 no worker has a device") as caught:
        list(batch.run(seeded(), batch.seeds(12, "draw.seed"), on=client, device="0"))
    assert len(caught.value.notes) == 4
    assert len(caught.value.remaining) == 12
    client.run(show_drivers)


def test_one_of_four_workers_dies_and_every_frame_is_right_and_there_once(client: Any, tmp_path: Path):
    then = partial(dies_once, str(tmp_path / "mark"), 117)
    results = list(batch.run(seeded(), batch.seeds(240, "draw.seed"), on=client, then=then))
    assert (tmp_path / "mark").exists()
    assert [(result.key, result.value) for result in results] == [(seed, seed) for seed in range(240)]


def test_arrays_come_back_as_they_are_done(client: Any):
    results = list(batch.run(seeded(), batch.seeds(50, "draw.seed"), on=client, ordered=False, chunk=3))
    assert sorted(result.key for result in results) == list(range(50))
    assert all(is_right(result["out"], result.key) for result in results)
    assert len({result.worker for result in results}) > 1


def test_render_uses_a_scheduler(client: Any, tmp_path: Path):
    seeded().save(tmp_path / "seeded.rgraph.json")
    text = 'graph = "seeded.rgraph.json"\nseeds = 9\noutput = "out/{key}.npy"\nset = { "draw.seed" = "@seed" }\n'
    (tmp_path / "film.toml").write_text(text)
    address = client.scheduler_info()["address"]
    done = run("render", "film.toml", "--scheduler", address, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    tasks = json.loads(done.stdout)["tasks"]
    assert [task["key"] for task in tasks] == list(range(9))
    assert all(Path(task["files"]["out"]).exists() for task in tasks)


def test_a_scheduler_that_dies_is_one_error_with_what_is_left(tmp_path: Path):
    found = tmp_path / "scheduler.json"
    options = ["--scheduler-file", str(found)]
    modules = {
        "dask_scheduler": ["--port", "0", "--no-dashboard"],
        "dask_worker": ["--nthreads", "1", "--no-dashboard"],
    }
    started = []
    for module, more in modules.items():
        line = [sys.executable, "-m", f"distributed.cli.{module}", *options, *more]
        started.append(subprocess.Popen(line, env=surroundings(), stderr=subprocess.DEVNULL))
        while not found.exists():
            time.sleep(0.05)
    try:
        address = json.loads(found.read_text())["address"]
        with distributed.Client(address, set_as_default=False) as client:
            client.wait_for_workers(1)
        done: list[int] = []
        results = batch.run(seeded(), batch.seeds(100000, "draw.seed"), on=address, patience=4, chunk=4)
        done.extend(next(results).key for _ in range(20))
        started[0].kill()
        with pytest.raises(rg.BatchError, match=r"RG-E603 the scheduler at tcp:\S+ is gone") as caught:
            done.extend(result.key for result in results)
        left = [task.key for task in caught.value.remaining]
        assert done == list(range(len(done)))
        assert done + left == list(range(100000))
    finally:
        for process in started:
            process.kill()
            process.wait()


def test_no_scheduler_is_one_error():
    with pytest.raises(rg.BatchError, match=r"RG-E603 no scheduler answers at tcp://127\.0\.0\.1:9"):
        batch.run(seeded(), batch.frames(3), on="tcp://127.0.0.1:9", patience=0.3)


def test_an_address_without_a_port_is_one_error_and_the_process_ends():
    command = [sys.executable, "-m", "rgraph", "fuzz", "--seconds", "0.1", "--scheduler", "nonsense"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "RG-E603 no scheduler answers at nonsense\n  missing port number" in done.stderr
