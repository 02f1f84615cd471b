"""Semaphores that are not the graph's: runs wait for them and signal them."""

import numpy as np
import pytest

import rgraph as rg
from gpu.conftest import opened

ADD = """
@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { dst[id.x] = src[id.x] + 1u; }"""


def adding() -> rg.Graph:
    g = rg.Graph("adding")
    src, dst = g.import_buffer("src", 256), g.buffer("dst", 256)
    g.compute("add", ADD, groups=1, src=src, dst=dst)
    g.root(dst)
    return g


@pytest.mark.parametrize("before", [None, "src"])
def test_a_run_waits_for_a_semaphore_and_signals_it(before: str | None):
    with opened() as device:
        semaphore = device.semaphore(5)
        source = device.buffer("source", 256)
        source.write(np.full(64, 41, np.uint32))
        frame = device.run(adding(), inputs={"src": source}, wait=[(semaphore, 6, before)], signal=[(semaphore, 7)])
        assert not frame.wait(0.05)
        assert semaphore.value == 5
        with pytest.raises(rg.GraphError, match="a run signals 7"):
            semaphore.signal(7)
        semaphore.signal(6)
        assert semaphore.wait(7, 10)
        assert set(np.asarray(frame["dst"]).view(np.uint32).ravel()) == {42}
        assert semaphore.value == 7
        assert not semaphore.wait(8, 0.01)
        # Its handle is as good.
        assert device.run(adding(), inputs={"src": source}, wait=[(semaphore.handle, 7)]).wait(10)


def test_runs_of_several_graphs_are_ordered_by_a_semaphore():
    with opened() as device:
        semaphore, numbers = device.semaphore(), device.buffer("numbers", 256)
        numbers.write(np.zeros(64, np.uint32))
        compiled = device.compile(adding())
        for run in range(4):
            frame = compiled.run(inputs={"src": numbers}, wait=[(semaphore, run)], signal=[(semaphore, run + 1)])
            numbers.write(np.asarray(frame["dst"]))
        assert semaphore.value == 4
        assert set(np.asarray(numbers.read()).view(np.uint32).ravel()) == {4}


def test_values_only_grow():
    with opened() as device:
        semaphore = device.semaphore(3)
        with pytest.raises(rg.GraphError, match="cannot be signalled with 3: it has 3"):
            semaphore.signal(3)
        device.run(adding(), inputs={"src": np.zeros(64, np.uint32)}, signal=[(semaphore, 9)]).wait()
        with pytest.raises(rg.GraphError, match="has or will have 9"):
            device.run(adding(), inputs={"src": np.zeros(64, np.uint32)}, signal=[(semaphore, 9)])
        assert semaphore.value == 9


@pytest.mark.parametrize(
    ("wait", "signal", "message"),
    [
        ([("x", 1)], [], "a semaphore is 'x'"),
        ([(0, 1)], [], "a semaphore is 0"),
        ([7], [], "given as int"),
        ([(1, 1, "src", 4)], [], "with 4 values"),
        ([(1, 1, "other")], [], 'called "other"'),
        ([(1, 1, "dst")], [], "not imported"),
        ([], [(1, 1, "src")], "a signal names a semaphore and a value"),
    ],
)
def test_wrong_semaphores_are_refused(wait: list, signal: list, message: str):
    with opened() as device, pytest.raises(rg.GraphError, match=message):
        device.run(adding(), inputs={"src": np.zeros(64, np.uint32)}, wait=wait, signal=signal)


def test_a_semaphore_of_another_device_is_refused():
    with opened() as device, opened() as other:
        semaphore = other.semaphore()
        with pytest.raises(rg.GraphError, match="of another device"):
            device.run(adding(), inputs={"src": np.zeros(64, np.uint32)}, wait=[(semaphore, 0)])
        assert repr(semaphore).startswith("Semaphore(handle=0x")
        assert semaphore.device is other
