"""M5: a signal of a binary semaphore goes to another device or process as a sync_fd.

No driver here has them, so the loader in front of it makes them of events: what rgraph asks for, in which order, and
what becomes of descriptors is the same.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

import rgraph as rg
from gpu.test_semaphore_descriptors import ADD, adding, asked, words
from gpu.test_share import descriptors

if TYPE_CHECKING:
    from seeds.interposed import Interposer


def run(device: rg.Device, **outward: object) -> tuple[rg.Frame, rg.DeviceResource]:
    """Add one to a buffer of zeros."""
    numbers = device.buffer("numbers", 256)
    numbers.write(np.zeros(64, np.uint32))
    return device.run(adding(), inputs={"numbers": numbers}, read=[], **outward), numbers  # type: ignore[arg-type]


def messages(*devices: rg.Device) -> list[str]:
    """What the layer says of devices, without its own time-out: 1.3.239 waits ten seconds for a thread of its own that
    follows timelines, and says of itself "most likely a validation bug" if that thread missed a value."""
    every_message = [message for device in devices for message in device.messages]
    return [message for message in every_message if "UNASSIGNED-VkSemaphore-state-timeout" not in message]


def shared(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith(("export", "import"))]


def test_m05_a_signal_that_was_submitted_is_exported_and_waited_for_once(interposer: Interposer) -> None:
    with interposer.sharing(), rg.Device(loader=interposer.path) as device, rg.Device(loader=interposer.path) as other:
        before = descriptors()
        semaphore, gate = device.binary_semaphore(shared="sync_fd"), device.semaphore()
        with pytest.raises(rg.GraphError, match="nothing signals"):
            semaphore.export()
        for turn in (1, 2, 3):
            signalling, _ = run(device, wait=[(gate, turn)], signal=[(semaphore, None)])
            # All that the signal waits for has to be on its way (VUID-VkSemaphoreGetFdInfoKHR-handleType-03254).
            message = f"cannot be exported yet: its signal is behind a wait until a timeline has {turn}, which"
            with pytest.raises(rg.GraphError, match=message):
                semaphore.export()
            gate.signal(turn)
            exported = semaphore.export()
            assert (exported.kind, exported.fd >= 0) == ("sync_fd", True)
            # The export took the signal, as a wait does.
            with pytest.raises(rg.GraphError, match="nothing signals"):
                semaphore.export()
            imported = other.import_binary_semaphore(exported)
            os.close(exported.fd)
            waiting, numbers = run(other, wait=[(imported, None)])
            assert waiting.wait(30)
            assert signalling.wait(30)
            assert words(numbers.read()) == {1}
            # An import is one signal.
            with pytest.raises(rg.GraphError, match="nothing signals"):
                run(other, wait=[(imported, None)])
        assert shared(interposer.log()) == ["export sync_fd", "import sync_fd"] * 3
        assert messages(device, other) == []
        assert descriptors() == before


def test_m05_a_signal_that_is_over_is_a_descriptor_of_none(interposer: Interposer) -> None:
    with interposer.sharing(), rg.Device(loader=interposer.path) as device:
        over = rg.Exported("sync_fd", -1, 0, 0, device.info.uuid, device.info.driver_uuid)
        # Drivers of other devices take it, too.
        for record in (over, over._replace(driver_uuid="0" * 32)):
            waiting, numbers = run(device, wait=[(device.import_binary_semaphore(record), None)])
            assert waiting.wait(30)
            assert words(numbers.read()) == {1}
        assert messages(device) == []


def test_m05_descriptors_that_are_none_are_refused(interposer: Interposer) -> None:
    with interposer.sharing(), rg.Device(loader=interposer.path) as device:
        record = rg.Exported("sync_fd", 0, 0, 0, device.info.uuid, device.info.driver_uuid)
        reader, writer = os.pipe()
        for fd in (reader, writer):
            with pytest.raises(rg.GraphError, match="the descriptor for a semaphore is a pipe"):
                device.import_binary_semaphore(record._replace(fd=fd))
            os.close(fd)
        with pytest.raises(rg.GraphError, match="cannot be used"):
            device.import_binary_semaphore(record._replace(fd=writer))
        assert shared(interposer.log()) == []
        with pytest.raises(rg.GraphError, match="was not made to be exported"):
            device.binary_semaphore().export()


CHILD = """
import ctypes, json, socket, sys
import numpy as np
import rgraph as rg

ADD = {add!r}
loader = sys.argv[2]
ctypes.CDLL(loader).interposer_share(1)
channel = socket.socket(fileno=int(sys.argv[1]))
data, (fd,), _, _ = socket.recv_fds(channel, 1 << 16, 1)
g = rg.Graph("adding")
g.compute("add", ADD, groups=1, numbers=g.import_buffer("numbers", 256))
with rg.Device(loader=loader) as device:
    semaphore = device.import_binary_semaphore(rg.Exported(**json.loads(data))._replace(fd=fd))
    numbers = device.buffer("numbers", 256)
    numbers.write(np.zeros(64, np.uint32))
    frame = device.run(g, inputs={{"numbers": numbers}}, wait=[(semaphore, None)], read=[])
    assert frame.wait(60)
    assert set(np.asarray(numbers.read()).view(np.uint32).ravel()) == {{1}}
channel.sendall(b"done")
"""


def test_m05_another_process_waits_for_a_signal(interposer: Interposer) -> None:
    here, there = socket.socketpair()
    here.settimeout(120)
    program = CHILD.format(add=ADD)
    with here, there, interposer.sharing(), rg.Device(loader=interposer.path) as device:
        semaphore = device.binary_semaphore(shared="sync_fd")
        signalling, _ = run(device, signal=[(semaphore, None)])
        exported = semaphore.export()
        command = [sys.executable, "-c", program, str(there.fileno()), str(interposer.path)]
        child = subprocess.Popen(command, pass_fds=[there.fileno()])
        try:
            socket.send_fds(here, [json.dumps(exported._asdict()).encode()], [exported.fd])
            os.close(exported.fd)
            there.close()
            assert here.recv(100) == b"done"
            assert child.wait(60) == 0
        finally:
            child.kill()
            child.wait()
        assert signalling.wait(30)
        assert messages(device) == []


def test_m05_a_release_that_fails_gives_the_value_of_its_signal_back(interposer: Interposer) -> None:
    with rg.Device(loader=interposer.path) as device:
        memory = asked(lambda: device.shared_memory("block", 1 << 16))
        numbers, timeline = memory.buffer("numbers", 256), device.semaphore()
        numbers.write(np.zeros(64, np.uint32))
        device.wait_idle()
        interposer.library.interposer_fail(1)
        with pytest.raises(rg.DeviceError, match="vkQueueSubmit2 returned ERROR_OUT_OF_HOST_MEMORY"):
            numbers.release("the other", signal=(timeline, 1))
        assert numbers.holder is None
        assert timeline.value == 0
        numbers.release("the other", signal=(timeline, 1))
        assert timeline.wait(1, 30)
        numbers.acquire()
        with pytest.raises(rg.GraphError, match="it has or will have 1"):
            numbers.release("the other", signal=(timeline, 1))
        assert messages(device) == []
