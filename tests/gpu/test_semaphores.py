"""Semaphores that are not the graph's: runs wait for them and signal them."""

import os

import numpy as np
import pytest

import rgraph as rg
from gpu.conftest import opened
from gpu.test_semaphore_descriptors import asked

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
        ([(True, 1)], [], "a semaphore is True"),
        ([(1, 1, ["compute", "computing"])], [], "a wait names 'computing', which is no usage and no stage"),
        ([(1, 1, ["compute", 3])], [], "a wait names 3, which is no usage"),
        ([(1, 1, [])], [], "a wait names no usage and no stage"),
        ([(0, 1)], [], "a semaphore is 0"),
        ([7], [], "given as int"),
        ([(1, 1, "src", 4)], [], "with 4 values"),
        ([(1, -1)], [], "the value of a semaphore is -1"),
        ([(1, 1 << 64)], [], "values are integers from 0 to"),
        ([], [(1, 1.5)], "the value of a semaphore is 1.5"),
        ([(1, 7)], [(1, 7)], "waits until a timeline has 7 and signals it with 7, so it would never end"),
        ([(1, 7)], [(1, 6)], "wait for a value below 6, or signal one above 7"),
        ([(1, 7, "src")], [(1, 6)], "would never end"),
        ([(1, 1, "other")], [], 'called "other"'),
        ([(1, 1, "dst")], [], "not imported"),
        ([], [(1, 1, "src")], "not declared to be signalled"),
        ([], [(1, 1, "other")], 'called "other"'),
    ],
)
def test_wrong_semaphores_are_refused(wait: list, signal: list, message: str):
    with opened() as device, pytest.raises(rg.GraphError, match=message):
        device.run(adding(), inputs={"src": np.zeros(64, np.uint32)}, wait=wait, signal=signal)


FILL = """
@group(0) @binding(0) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { dst[id.x] += 7u; }"""


def test_another_user_goes_on_behind_the_last_use_while_the_run_waits_for_a_third_one():
    g = rg.Graph("two users")
    early = g.import_buffer("early", 256, signal=True)
    late = g.import_buffer("late", 256, wait=True, signal=True)
    g.compute("first", FILL, groups=1, dst=early, weight_us=500)
    g.compute("second", FILL, groups=1, dst=late, weight_us=500, after="first")
    with opened() as device:
        plan = device.compile(g).plan
        assert [line.strip() for line in str(plan).splitlines() if "other user" in line] == [
            "signal the other user of early",
            "wait for the other user of late at compute_shader",
            "signal the other user of late",
        ]
        assert plan.check(g) == []
        mine, theirs = device.semaphore(), device.semaphore()
        one, two = device.buffer("one", 256), device.buffer("two", 256)
        for buffer in (one, two):
            buffer.write(np.zeros(64, np.uint32))
        frame = device.run(
            g,
            inputs={"early": one, "late": two},
            read=[],
            wait=[(theirs, 1, "late")],
            signal=[(mine, 1, "early"), (mine, 2, "late")],
        )
        assert mine.wait(1, 10), "the first pass waits for nobody"
        assert not frame.wait(0.05)
        assert mine.value == 1
        theirs.signal(1)
        assert mine.wait(2, 10)
        assert set(np.asarray(two.read()).view(np.uint32).ravel()) == {7}


def test_an_import_that_is_read_back_is_signalled_behind_the_read_back():
    g = rg.Graph("read back")
    dst = g.import_buffer("dst", 256, signal=True)
    g.compute("fill", FILL, groups=1, dst=dst)
    g.root(dst)
    with opened() as device:
        semaphore = device.semaphore()
        frame = device.run(g, inputs={"dst": np.zeros(64, np.uint32)}, signal=[(semaphore, 1, "dst")])
        assert semaphore.wait(1, 10)
        assert set(np.asarray(frame["dst"]).view(np.uint32).ravel()) == {7}


def test_memory_of_others_is_not_used_without_their_semaphore():
    g = rg.Graph("forgotten")
    g.compute("fill", FILL, groups=1, dst=g.import_buffer("dst", 256, wait=True))
    with opened() as device:
        # An array is copied into memory that nobody else has.
        device.run(g, inputs={"dst": np.zeros(64, np.uint32)}).wait()
        owner = device.buffer("owner", 256)
        buffer = device.borrow_resource("borrowed", owner.handle, 256)
        with pytest.raises(rg.GraphError, match=r'"dst" is declared to wait .* no semaphore') as error:
            device.run(g, inputs={"dst": buffer})
        assert error.value.code == "RG-E225"
        assert 'wait=(semaphore, value, "dst")' in str(error.value.hint)
        semaphore = device.semaphore(1)
        device.run(g, inputs={"dst": buffer}, wait=[(semaphore, 1, "dst")], read=[]).wait()


def test_a_semaphore_of_another_device_is_refused():
    with opened() as device, opened() as other:
        semaphore = other.semaphore()
        with pytest.raises(rg.GraphError, match="of another device"):
            device.run(adding(), inputs={"src": np.zeros(64, np.uint32)}, wait=[(semaphore, 0)])
        assert repr(semaphore).startswith("Semaphore(handle=0x")
        assert semaphore.device is other


def started(g: rg.Graph, device: rg.Device, **arguments: object) -> rg.Frame:
    return device.run(g, inputs={"src": np.zeros(64, np.uint32)}, **arguments)


@pytest.mark.parametrize("third", ["compute", "storage_read", ("compute", "copy"), ["uniform"]])
def test_a_wait_names_usages_or_stages(third: object):
    with opened() as device:
        semaphore = device.semaphore()
        frame = started(adding(), device, wait=[(semaphore, 1, third)])
        assert not frame.wait(0.05)
        semaphore.signal(1)
        assert set(np.asarray(frame["dst"]).view(np.uint32).ravel()) == {1}
        with pytest.raises(rg.GraphError, match='called "computing"'):
            started(adding(), device, wait=[(semaphore, 1, "computing")])


def test_a_binary_semaphore_is_signalled_by_one_run_and_waited_for_by_another():
    with opened() as device:
        semaphore = device.binary_semaphore()
        with pytest.raises(rg.GraphError, match="nothing signals a binary semaphore"):
            started(adding(), device, wait=[(semaphore, None)])
        with pytest.raises(rg.GraphError, match="a binary semaphore has no values"):
            started(adding(), device, wait=[(semaphore, 3)])
        for _ in range(3):
            started(adding(), device, signal=[(semaphore, None)], read=[])
            with pytest.raises(rg.GraphError, match="signalled twice"):
                started(adding(), device, signal=[(semaphore, None)])
            frame = started(adding(), device, wait=[(semaphore, None, "src")])
            assert set(np.asarray(frame["dst"]).view(np.uint32).ravel()) == {1}
        with pytest.raises(rg.GraphError, match="was not made to be exported"):
            semaphore.export()
        with opened() as other, pytest.raises(rg.GraphError, match="of another device"):
            started(adding(), other, wait=[(semaphore, None)])
        assert semaphore.device is device
        assert repr(semaphore) == f"BinarySemaphore(handle={semaphore.handle:#x})"


@pytest.mark.parametrize("kind", ["opaque_fd", "sync_fd"])
def test_binary_semaphores_are_shared_as_descriptors_where_the_driver_has_them(kind: str):
    with opened() as device, opened() as other:
        try:
            semaphore = device.binary_semaphore(shared=kind)
        except rg.DeviceError as refused:
            error = refused
        else:
            error = None
        if error is not None:
            lacks = "VK_KHR_external_semaphore_fd", f"binary semaphores as {kind}"
            assert error.code == "RG-E102"
            assert any(f"cannot share semaphores: it has no {one}" in str(error) for one in lacks)
            record = rg.Exported(kind, 0, 0, 0, device.info.uuid, device.info.driver_uuid)
            with pytest.raises(rg.DeviceError, match=r"RG-E102 .* cannot share semaphores"):
                device.import_binary_semaphore(record)
            return
        if kind == "sync_fd":
            with pytest.raises(rg.GraphError, match="nothing signals"):
                semaphore.export()
            started(adding(), device, signal=[(semaphore, None)], read=[])
        exported = semaphore.export()
        assert exported.kind == kind
        try:
            imported = other.import_binary_semaphore(exported)
            if kind == "opaque_fd":
                with pytest.raises(rg.DeviceError, match="RG-E131"):
                    other.import_binary_semaphore(exported._replace(driver_uuid="0" * 32))
                started(adding(), device, signal=[(semaphore, None)], read=[])
            frame = started(adding(), other, wait=[(imported, None)])
            assert set(np.asarray(frame["dst"]).view(np.uint32).ravel()) == {1}
        finally:
            if exported.fd >= 0:
                os.close(exported.fd)


def test_wrong_descriptors_of_binary_semaphores_are_refused():
    with opened() as device:
        with pytest.raises(rg.GraphError, match='no kind of descriptor called "win32"'):
            device.binary_semaphore(shared="win32")
        record = rg.Exported("memory", 3, 0, 0, device.info.uuid, device.info.driver_uuid)
        with pytest.raises(rg.GraphError, match="imported from an exported memory"):
            device.import_binary_semaphore(record)
        with pytest.raises(rg.GraphError, match="descriptor -1 is none"):
            device.import_binary_semaphore(record._replace(kind="opaque_fd", fd=-1))


def test_a_fence_is_signalled_when_a_run_is_done():
    with opened() as device:
        semaphore, fence = device.semaphore(), device.fence()
        assert (fence.signalled, fence.wait(0), fence.device) == (False, False, device)
        for run in range(1, 4):
            frame = started(adding(), device, wait=[(semaphore, run)], fence=fence)
            assert not fence.wait(0.01)
            with pytest.raises(rg.GraphError, match="the fence belongs to a run that is not done"):
                started(adding(), device, fence=fence)
            semaphore.signal(run)
            assert fence.wait(10)
            assert fence.signalled
            assert frame.wait(10)
        assert repr(fence) == f"Fence(handle={fence.handle:#x})"
        for wrong, message in ((0, "a fence of 0 is none"), ("x", "a fence is 'x'"), (True, "a fence is True")):
            with pytest.raises(rg.GraphError, match=message):
                started(adding(), device, fence=wrong)
        with opened() as other, pytest.raises(rg.GraphError, match="a fence of another device"):
            started(adding(), other, fence=fence)


def test_a_run_that_is_refused_gives_semaphores_and_fence_back():
    with opened() as device:
        timeline, binary, fence = device.semaphore(), device.binary_semaphore(), device.fence()
        started(adding(), device, signal=[(binary, None)], read=[])
        refused = [
            {"inputs": {}},
            {"inputs": {"src": np.zeros(7, np.uint32)}},
            {"inputs": {"src": np.zeros(64, np.uint32)}, "flags": {"none": True}},
        ]
        outward = {"wait": [(binary, None)], "signal": [(timeline, 5)], "fence": fence}
        for wrong in refused:
            with pytest.raises(rg.GraphError):
                device.run(adding(), **wrong, **outward)
        for wait, signal in (([(binary, None), 7], []), ([(binary, None)], [(timeline, 5), (timeline, 4)])):
            with pytest.raises(rg.GraphError):
                started(adding(), device, wait=wait, signal=signal, fence=fence)
        timeline.signal(2)
        assert not fence.wait(0)
        assert started(adding(), device, **outward).wait(10)
        assert fence.wait(10)
        assert timeline.value == 5
        # What a run before signalled stays, too.
        with pytest.raises(rg.GraphError, match="has or will have 5"):
            started(adding(), device, signal=[(timeline, 5)], fence=fence)
        assert fence.signalled
        assert fence.wait(0)


def test_semaphores_and_fences_of_a_closed_device_are_one_clear_error():
    with opened() as device:
        semaphore, binary, fence = device.semaphore(), device.binary_semaphore(), device.fence()
        started(adding(), device, signal=[(semaphore, 1)], fence=fence, read=[]).wait()
    calls = [
        lambda: semaphore.value,
        lambda: semaphore.signal(2),
        lambda: semaphore.wait(1, 0),
        binary.export,
        lambda: fence.signalled,
        lambda: fence.wait(0),
        device.binary_semaphore,
        device.fence,
    ]
    for call in calls:
        with pytest.raises(rg.DeviceError, match="RG-E130"):
            call()


def test_a_handle_of_ours_is_the_object():
    with opened() as device:
        timeline, binary, fence = device.semaphore(5), device.binary_semaphore(), device.fence()
        for signal, message in (
            ([(timeline.handle, 5)], "cannot signal a semaphore with 5: it has or will have 5"),
            ([(timeline.handle, None)], "a timeline is signalled with a value"),
            ([(timeline, 7), (timeline.handle, 6)], "it has or will have 7"),
            ([(binary.handle, 1)], "a binary semaphore has no values"),
            ([(binary, None), (binary.handle, None)], "signalled twice"),
        ):
            with pytest.raises(rg.GraphError, match=message):
                started(adding(), device, signal=signal)
        with pytest.raises(rg.GraphError, match="nothing signals a binary semaphore"):
            started(adding(), device, wait=[(binary.handle, None)])
        frame = started(adding(), device, wait=[(timeline.handle, 6)], fence=fence.handle)
        with pytest.raises(rg.GraphError, match="the fence belongs to a run that is not done"):
            started(adding(), device, fence=fence.handle)
        timeline.signal(6)
        assert fence.wait(10)
        assert frame.wait(10)
        started(adding(), device, signal=[(binary.handle, None), (timeline.handle, 7)], fence=fence.handle, read=[])
        assert started(adding(), device, wait=[(binary, None), (timeline, 7)]).wait(10)
        assert fence.wait(10)


def test_runs_that_would_wait_for_each_other_are_refused():
    with opened() as device:
        first, second = device.semaphore(), device.semaphore()
        frame = started(adding(), device, wait=[(second, 2)], signal=[(first, 1)], read=[])
        if sum(queue["count"] for queue in device.profile.to_dict()["queues"]) == 1:
            for value in (1, 2):
                with pytest.raises(rg.GraphError, match="a run before it on the same queue waits until it has 2"):
                    started(adding(), device, wait=[(first, 1)], signal=[(second, value)], read=[])
        # One above is none that it waits for: the host may still signal that.
        last = started(adding(), device, wait=[(first, 1)], signal=[(second, 3)], read=[])
        assert not frame.wait(0.05)
        second.signal(2)
        assert last.wait(10)
        assert (first.value, second.value) == (1, 3)


def test_a_binary_signal_behind_an_open_wait_is_not_waited_for():
    with opened() as device:
        timeline, binary = device.semaphore(), device.binary_semaphore()
        started(adding(), device, wait=[(timeline, 2)], signal=[(binary, None)], read=[])
        with pytest.raises(rg.GraphError, match="its signal is behind a wait until a timeline has 2, which nothing"):
            started(adding(), device, wait=[(binary, None)])
        timeline.signal(2)
        frame = started(adding(), device, wait=[(binary, None)])
        assert set(np.asarray(frame["dst"]).view(np.uint32).ravel()) == {1}


def test_a_signal_behind_a_wait_for_what_another_user_has_is_refused():
    with opened() as device:
        memory = asked(lambda: device.shared_memory("block", 1 << 16))
        numbers, gate = memory.buffer("numbers", 256), device.semaphore(5)
        numbers.write(np.zeros(64, np.uint32))
        numbers.release("the other", until=(gate, 6))
        compiled = device.compile(adding())
        # Its own signal comes behind the use that waits for it.
        with pytest.raises(rg.GraphError, match="waits until a timeline has 6 and signals it with 6, so it"):
            compiled.run(inputs={"src": numbers}, signal=[(gate, 6)], read=[])
        frame = compiled.run(inputs={"src": numbers}, read=[])
        if sum(queue["count"] for queue in device.profile.to_dict()["queues"]) == 1:
            # So does the signal of a later run on the only queue.
            with pytest.raises(rg.GraphError, match="a run before it on the same queue waits until it has 6"):
                started(adding(), device, signal=[(gate, 6)], read=[])
        assert not frame.done
        gate.signal(6)
        assert frame.wait(10)
