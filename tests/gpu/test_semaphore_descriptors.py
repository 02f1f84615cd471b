"""Semaphores that a second device and a second process have, too, by file descriptors: timelines, opaque_fd, sync_fd.

lavapipe shares no semaphores and SwiftShader only binary ones, so the tests skip there, with the device's own words.
"""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
import pytest

import rgraph as rg
from gpu.conftest import opened
from gpu.test_share import descriptors

ROUNDS = 50
T = TypeVar("T")

ADD = """
@group(0) @binding(0) var<storage, read_write> numbers: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { numbers[id.x] += 1u; }"""


def adding() -> rg.Graph:
    """A graph that adds one to each word of an imported buffer."""
    g = rg.Graph("adding")
    g.compute("add", ADD, groups=1, numbers=g.import_buffer("numbers", 256))
    return g


def asked(make: Callable[[], T]) -> T:
    """What a device shares; if it shares no such thing, the test is skipped with the device's reason."""
    try:
        return make()
    except rg.DeviceError as error:
        if error.code != "RG-E102":
            raise
        pytest.skip(str(error).splitlines()[0])


@pytest.fixture
def sharing() -> Iterator[rg.Device]:
    """A device with memory and timelines that others can have; it must stay silent."""
    with opened() as device:
        asked(lambda: (device.semaphore(shared=True), device.shared_memory("probe", 4096)))
        device.wait_idle()
        yield device
        device.wait_idle()
        assert device.messages == []


def words(data: Any) -> set[int]:
    """Different words of a buffer."""
    return set(np.asarray(data).view(np.uint32).ravel().tolist())


def settled() -> int:
    """Open descriptors, once none was closed for half a second."""
    count, since = descriptors(), time.monotonic()
    while time.monotonic() < since + 0.5:
        time.sleep(0.05)
        if descriptors() != count:
            count, since = descriptors(), time.monotonic()
    return count


def take_turns(sharing: rg.Device) -> None:
    """Two devices add to a buffer that both have, one after the other."""
    memory = sharing.shared_memory("block", 1 << 16)
    mine = memory.buffer("mine", 256)
    mine.write(np.zeros(64, np.uint32))
    exported, to_there = memory.export(), sharing.semaphore(shared=True)
    with opened() as other:
        block = other.import_memory("block", exported)
        theirs = block.buffer("theirs", 256, offset=mine.offset)
        to_here = other.semaphore(shared=True)
        records = to_there.export(), to_here.export()
        from_here, from_there = other.import_semaphore(records[0]), sharing.import_semaphore(records[1])
        for record in (exported, *records):
            os.close(record.fd)
        here, there = sharing.compile(adding()), other.compile(adding())
        for turn in range(1, ROUNDS + 1):
            here.run(inputs={"numbers": mine}, read=[])
            mine.release("the other device", signal=(to_there, turn))
            theirs.acquire(wait=(from_here, turn))
            there.run(inputs={"numbers": theirs}, read=[])
            theirs.release("the first device", signal=(to_here, turn))
            mine.acquire(wait=(from_there, turn))
        assert words(mine.read()) == {2 * ROUNDS}
        assert (from_here.value, from_there.value) == (ROUNDS, ROUNDS)
        with pytest.raises(rg.GraphError, match="an imported semaphore cannot be signalled"):
            there.run(inputs={"numbers": other.buffer("own", 256)}, signal=[(from_here, ROUNDS + 1)], read=[])
        assert other.messages == []
        # Semaphores keep their device, too.
        del block, theirs, there, to_here, from_here
    del memory, mine, here, to_there, from_there


def test_two_devices_take_turns_by_timelines_and_no_host_waits(sharing: rg.Device):
    # A driver may keep what it opens for the first further device, pipeline or block of memory.
    take_turns(sharing)
    sharing.wait_idle()
    before = settled()
    take_turns(sharing)
    sharing.wait_idle()
    # A device whose last object goes ends on a thread of its own.
    deadline = time.monotonic() + 10
    while descriptors() != before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert descriptors() == before


def test_a_run_waits_for_a_timeline_of_another_device_that_its_host_signals(sharing: rg.Device):
    semaphore = sharing.semaphore(3, shared=True)
    exported = semaphore.export()
    with opened() as other:
        imported = other.import_semaphore(exported)
        os.close(exported.fd)
        numbers = other.buffer("numbers", 256)
        numbers.write(np.zeros(64, np.uint32))
        frame = other.run(adding(), inputs={"numbers": numbers}, wait=[(imported, 4)], read=[])
        assert not frame.wait(0.05)
        assert imported.value == 3
        semaphore.signal(4)
        assert frame.wait(10)
        assert words(numbers.read()) == {1}


def test_a_timeline_outlives_the_device_that_made_it(sharing: rg.Device):
    with opened() as other:
        exported = other.semaphore(7, shared=True).export()
    imported = sharing.import_semaphore(exported)
    os.close(exported.fd)
    assert imported.value == 7
    assert not imported.wait(8, 0.01)


CHILD = """
import json, socket, sys
import numpy as np
import rgraph as rg

ADD = {add!r}
channel = socket.socket(fileno=int(sys.argv[1]))
data, fds, _, _ = socket.recv_fds(channel, 1 << 16, 8)
about = json.loads(data)
records = [rg.Exported(**record)._replace(fd=fd) for record, fd in zip(about["records"], fds)]

def adding():
    g = rg.Graph("adding")
    g.compute("add", ADD, groups=1, numbers=g.import_buffer("numbers", 256))
    return g

with rg.Device() as device:
    body = {body!r}
    exec(body)
channel.sendall(b"done")
"""


@contextmanager
def child(body: str, records: list[rg.Exported], **about: object) -> Iterator[socket.socket]:
    """A process with a device of its own, which got exported things and runs `body`; it must end well."""
    here, there = socket.socketpair()
    here.settimeout(60)
    with here, there:
        program = CHILD.format(add=ADD, body=body)
        process = subprocess.Popen([sys.executable, "-c", program, str(there.fileno())], pass_fds=[there.fileno()])
        try:
            data = json.dumps({"records": [record._asdict() for record in records], **about}).encode()
            socket.send_fds(here, [data], [record.fd for record in records])
            there.close()
            yield here
            assert here.recv(100) == b"done"
            assert process.wait(60) == 0
        finally:
            process.kill()
            process.wait()


TAKE_TURNS = """
memory, from_parent = device.import_memory("block", records[0]), device.import_semaphore(records[1])
numbers = memory.buffer("numbers", 256, offset=about["offset"])
to_parent = device.semaphore(shared=True)
exported = to_parent.export()
socket.send_fds(channel, [json.dumps(exported._asdict()).encode()], [exported.fd])
compiled = device.compile(adding())
for turn in range(1, about["rounds"] + 1):
    numbers.acquire(wait=(from_parent, turn))
    compiled.run(inputs={"numbers": numbers}, read=[])
    numbers.release("the parent", signal=(to_parent, turn))
device.wait_idle()
"""


def test_two_processes_take_turns_by_timelines_and_no_host_waits(sharing: rg.Device):
    memory, to_child = sharing.shared_memory("block", 1 << 16), sharing.semaphore(shared=True)
    numbers = memory.buffer("numbers", 256)
    numbers.write(np.zeros(64, np.uint32))
    records = [memory.export(), to_child.export()]
    with child(TAKE_TURNS, records, offset=numbers.offset, rounds=ROUNDS) as channel:
        data, (fd,), _, _ = socket.recv_fds(channel, 1 << 16, 1)
        from_child = sharing.import_semaphore(rg.Exported(**json.loads(data))._replace(fd=fd))
        for one in (fd, *(record.fd for record in records)):
            os.close(one)
        compiled = sharing.compile(adding())
        for turn in range(1, ROUNDS + 1):
            compiled.run(inputs={"numbers": numbers}, read=[])
            numbers.release("the child", signal=(to_child, turn))
            numbers.acquire(wait=(from_child, turn))
        assert words(numbers.read()) == {2 * ROUNDS}


WAIT_ONCE = """
semaphore = device.import_binary_semaphore(records[0])
numbers = device.buffer("numbers", 256)
numbers.write(np.zeros(64, np.uint32))
frame = device.run(adding(), inputs={"numbers": numbers}, wait=[(semaphore, None)], read=[])
early = frame.wait(0.3)
channel.sendall(b"early" if early else b"waits")
assert frame.wait(30)
assert set(np.asarray(numbers.read()).view(np.uint32).ravel()) == {1}
"""


@pytest.mark.parametrize("kind", ["opaque_fd", "sync_fd"])
def test_a_run_in_another_process_waits_for_a_binary_semaphore(kind: str):
    with opened() as device:
        semaphore = asked(lambda: device.binary_semaphore(shared=kind))
        gate, numbers = device.semaphore(), device.buffer("numbers", 256)
        numbers.write(np.zeros(64, np.uint32))

        def signalling() -> rg.Frame:
            """A run that signals it once the host opens the gate."""
            signal = [(semaphore, None)]
            return device.run(adding(), inputs={"numbers": numbers}, wait=[(gate, 1)], signal=signal, read=[])

        # A sync_fd is a signal that is on its way, an opaque_fd the semaphore itself.
        if kind == "sync_fd":
            frame = signalling()
            with pytest.raises(rg.GraphError, match="cannot be exported yet"):
                semaphore.export()
            gate.signal(1)
            exported = semaphore.export()
        else:
            exported = semaphore.export()
            frame = signalling()
        with child(WAIT_ONCE, [exported]) as channel:
            if exported.fd >= 0:
                os.close(exported.fd)
            received = channel.recv(5)
            if kind == "opaque_fd":
                assert received == b"waits"
                gate.signal(1)
            assert frame.wait(10)
        assert device.messages == []


def test_a_sync_fd_whose_signal_is_over_can_be_waited_for():
    with opened() as device, opened() as other:
        semaphore = asked(lambda: device.binary_semaphore(shared="sync_fd"))
        numbers = device.buffer("numbers", 256)
        device.run(adding(), inputs={"numbers": numbers}, signal=[(semaphore, None)], read=[]).wait()
        exported = semaphore.export()
        # A driver may give -1 for a signal that is over, which an importer takes as such.
        imported = other.import_binary_semaphore(exported)
        if exported.fd >= 0:
            os.close(exported.fd)
        assert other.run(adding(), inputs={"numbers": np.zeros(64, np.uint32)}, wait=[(imported, None)]).wait(10)
        with pytest.raises(rg.GraphError, match="nothing signals"):
            semaphore.export()
        assert device.messages == other.messages == []
