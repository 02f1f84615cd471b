"""Batches with wrong arguments, failures that hardly travel, and more of them at once than workers keep graphs."""

import errno
import io
import math
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

import rgraph as rg
from batch_graph import fails, is_right, seeded
from rgraph import batch

pytestmark = pytest.mark.usefixtures("device")


def test_more_batches_than_a_worker_keeps_graphs_may_be_open_at_once():
    several = [batch.run(seeded(), batch.seeds(3, "draw.seed")) for _ in range(6)]
    for results in zip(*several, strict=True):
        assert all(is_right(result["out"], result.key) for result in results)


def test_call_that_fails_raises_its_own_exception_and_keeps_its_worker():
    with batch.Processes(1) as pool:
        process = pool.submit(os.getpid).result()
        with pytest.raises(FileNotFoundError, match="No such file"):
            pool.submit(fails, "file").result()
        with pytest.raises(RuntimeError, match="TwoParts: onetwo"):
            pool.submit(fails, "two").result()
        with pytest.raises(SystemExit, match="3"):
            pool.submit(fails, "exit").result()
        with pytest.raises(Exception, match="the result cannot travel back: cannot pickle 'generator'"):
            pool.submit(fails, "generator").result()
        assert pool.submit(os.getpid).result() == process
        with pytest.raises(batch.WorkerLost, match="ended with status 7"):
            pool.submit(fails, "status").result()
        assert pool.submit(os.getpid).result() != process


@pytest.mark.parametrize("on", [None, 1])
def test_task_that_fails_names_the_kind_of_its_failure(on: int | None):
    for kind, text in (("file", "FileNotFoundError: "), ("two", "TwoParts: onetwo"), ("exit", "SystemExit: 3")):
        with pytest.raises(rg.BatchError, match=f"RG-E601 task 0 failed: {text}"):
            list(batch.run(seeded(), batch.seeds(2, "draw.seed"), then=partial(fails, kind), on=on))


def test_value_that_cannot_travel_is_refused_with_what_can():
    with pytest.raises(rg.BatchError, match=r"RG-E601 .*the result cannot travel back") as caught:
        list(batch.run(seeded(), batch.seeds(2, "draw.seed"), then=partial(fails, "generator"), on=1))
    assert caught.value.hint == "return numbers, texts or arrays from then="


@pytest.mark.parametrize("kind", [batch.Processes, ThreadPoolExecutor])
def test_an_executor_that_was_shut_down_is_said_to_be_that(kind: type[batch.Processes] | type[ThreadPoolExecutor]):
    with kind(1) as executor:
        pass
    with pytest.raises(rg.BatchError, match=r"RG-E601 .*after shutdown") as caught:
        list(batch.run(seeded(), batch.seeds(2, "draw.seed"), on=executor))
    assert caught.value.hint == "the executor was shut down: run inside of its `with`, or give on=4"


def test_device_of_workers_is_one_name_or_several():
    for devices, name in ((0, "0"), ("name:llvm", "name:llvm"), (["1"], "1")):
        with batch.Processes(1, devices=devices) as pool:
            assert pool.submit(os.getenv, "RGRAPH_DEVICE").result() == name


def test_numbers_of_numpy_are_numbers_of_tasks_and_workers():
    two = np.int64(2)
    assert [task.key for task in batch.frames(two)] == [task.key for task in batch.seeds(two, "draw.seed")] == [0, 1]
    assert len(batch.tiles((two, 4), (two, two), "draw.origin")) == 2
    with batch.Processes(np.int64(1)) as pool:
        assert pool.workers == 1
    results = batch.run(seeded(), batch.seeds(2, "draw.seed"), on=np.int64(1))
    assert [is_right(result["out"], result.key) for result in results] == [True, True]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: batch.frames(-1), "RG-E213 the number of tasks is -1"),
        (lambda: batch.frames(2.5), "RG-E213 the number of tasks is 2.5, and not a whole number"),
        (lambda: batch.seeds(-2, "draw.seed"), "RG-E213 the number of tasks is -2"),
        (lambda: batch.tiles((4, math.inf), (2, 2), "draw.origin"), "RG-E213 size is inf, and not a whole number"),
        (lambda: batch.Processes(1.5), "RG-E213 workers is 1.5, and not a whole number"),
        (lambda: batch.Processes(10**9), "RG-E213 1000000000 workers, and a machine runs at most 1024 of them"),
        (lambda: run(chunk=1.5), "RG-E213 chunk is 1.5, and not a whole number"),
        (lambda: run(retries=0.5), "RG-E213 retries is 0.5, and not a whole number"),
        (lambda: run(patience=math.nan), "RG-E213 patience is nan seconds"),
        (lambda: run(task=batch.Task(0, frames=1.5)), "RG-E213 frames of task 0 is 1.5"),
    ],
)
def test_numbers_that_no_batch_has_are_refused(wrong, message: str):
    with pytest.raises(rg.GraphError, match=message):
        wrong()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: batch.sweep(5), "sweep takes a dict of lists, not int"),
        (lambda: batch.Processes("2"), "workers is a whole number, not str"),
        (lambda: run(graph=5), "a batch runs a Graph, not int"),
        (lambda: run(graph=seeded().bake()), "a batch runs a Graph, not Plan"),
        (lambda: run(read=5), "read= is the name of a root or a list of names, not int"),
        (lambda: run(then=5), "then= is a function of key and frame, not int"),
        (lambda: run(planning=5), "planning= is a dict by name, not int"),
        (lambda: run(inputs=[1]), "inputs= is a dict by name, not list"),
        (lambda: run(progress=5), r"progress= is a bool or a function of \(done, total\), not int"),
        (lambda: run(patience="x"), "patience= is a number of seconds, not str"),
        (lambda: run(validate=5), "validate= is a bool, not int"),
        (lambda: run(plan=5), "plan= is a Plan of the graph, not int"),
        (lambda: run(write=5), 'write= of "out" is the path of a file with {key}, not int'),
        (
            lambda: batch.run(seeded(), 5),
            r"tasks are a list of rgraph\.batch\.Task, not int\n  help: rgraph\.batch\.frames",
        ),
        (lambda: batch.run(seeded(), [5]), r"a task is a rgraph\.batch\.Task, not int"),
        (lambda: run(task=batch.Task([1])), "the key of a task is a number, a text or a tuple of them, not list"),
        (lambda: run(task=batch.Task(0, 5)), "values of task 0 is a dict by name, not 5"),
        (lambda: run(task=batch.Task(0, {5: 1})), "values of task 0 is a dict by name, not {5: 1}"),
        (lambda: run(task=batch.Task(0, flags=5)), "flags of task 0 is a dict by name, not 5"),
        (lambda: run(task=batch.Task(0, inputs=5)), "inputs of task 0 is a dict by name, not 5"),
    ],
)
def test_arguments_of_another_kind_are_refused_before_anything_runs(wrong, message: str):
    with pytest.raises(TypeError, match=message):
        wrong()


def run(*, graph: object = None, task: batch.Task | None = None, **arguments: object) -> batch.Results:
    """A batch of one task, with one argument changed."""
    return batch.run(seeded() if graph is None else graph, [task or batch.Task(0)], **arguments)


class Gone(io.StringIO):
    """A terminal whose connection ended."""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        raise OSError(errno.EIO, "Input/output error")


def test_a_terminal_that_is_gone_ends_the_bar_and_not_the_batch(monkeypatch: pytest.MonkeyPatch):
    for stream in (Gone(), None):
        monkeypatch.setattr(sys, "stderr", stream)
        results = list(batch.run(seeded(), batch.seeds(3, "draw.seed"), progress=True))
        assert [result.key for result in results] == [0, 1, 2]


def test_names_that_the_graph_lacks_are_refused_before_anything_runs():
    lit = seeded()
    lit.clear("dark", "out", (0, 0, 0, 0), conditional="night")
    for wrong, message, hint in (
        (lambda: run(inputs={"photo": np.zeros(3)}), 'inputs= has input "photo"', "there are out"),
        (lambda: run(task=batch.Task(3, inputs={"photo": 5})), 'task 3 has input "photo"', "there are out"),
        (lambda: run(task=batch.Task(3, flags={"day": True})), 'task 3 has flag "day"', "conditional= of a pass"),
        (lambda: run(graph=lit, task=batch.Task(3, flags={"day": True})), 'task 3 has flag "day"', "there are night"),
    ):
        with pytest.raises(rg.GraphError, match=f"RG-E202 {message}, and the graph has none") as caught:
            wrong()
        assert hint in caught.value.hint


def test_tasks_are_keys_of_sets():
    tasks = batch.seeds(3, "draw.seed")
    assert len({*tasks, *tasks}) == 3
    assert len({*tasks, batch.Task(0, inputs={"a": np.zeros(3)})}) == 4


def test_a_result_without_an_array_says_which_it_has():
    for read, hint in (("out", "there is out"), ([], "name the root in read=")):
        (result,) = batch.run(seeded(), [batch.Task(0)], read=read)
        with pytest.raises(rg.GraphError, match='RG-E202 the result of task 0 has no array called "nope"') as caught:
            result["nope"]
        assert caught.value.hint == hint
    with pytest.raises(rg.GraphError, match=r"RG-E225 \{nope\}\.png: there is no field 'nope'"):
        run(write="{nope}.png")


def notes(error: BaseException | None) -> str:
    return "\n".join(getattr(error, "__notes__", ()))


def test_a_failure_in_a_worker_names_file_and_line_of_the_caller():
    tasks = batch.seeds(2, "draw.seed")
    for kind in ("file", "two", "exit"):
        with pytest.raises(rg.BatchError) as caught:
            list(batch.run(seeded(), tasks, then=partial(fails, kind), on=1))
        assert "in worker " in notes(caught.value.__cause__)
        assert 'batch_graph.py", line ' in notes(caught.value.__cause__)
        results = list(batch.run(seeded(), tasks, then=partial(fails, kind), on=1, errors="return"))
        assert all('batch_graph.py", line ' in notes(result.error) for result in results)
    with batch.Processes(1) as pool, pytest.raises(FileNotFoundError) as raised:
        pool.submit(fails, "file").result()
    assert 'batch_graph.py", line ' in notes(raised.value)


def test_a_failure_in_this_process_has_its_traceback_once():
    with pytest.raises(rg.BatchError) as caught:
        list(batch.run(seeded(), batch.seeds(2, "draw.seed"), then=partial(fails, "file")))
    assert caught.value.__cause__.__traceback__ is not None
    assert notes(caught.value.__cause__) == ""


def test_a_file_for_results_has_a_suffix(tmp_path):
    with pytest.raises(rg.GraphError, match=r"RG-E225 .*: a name without a suffix"):
        batch.run(seeded(), batch.seeds(2, "draw.seed"), write=tmp_path / "{key}")
