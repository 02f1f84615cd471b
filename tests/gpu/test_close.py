"""The end of a device whose GPU waits for somebody else: one clear error, nothing destroyed, nothing that hangs."""

import os
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import rgraph as rg
from gpu.conftest import opened
from gpu.test_semaphore_descriptors import asked
from gpu.test_semaphores import adding, started

WAITS = r'RG-E404 the device cannot be closed: graph "adding" waits until semaphore 0x[0-9a-f]+ has 2, and it has 0\n'


def test_close_names_the_wait_that_never_ends_and_goes_on_once_it_ended():
    with opened() as device:
        gate = device.semaphore()
        frame = started(adding(), device, wait=[(gate, 2)], read=[])
        with pytest.raises(rg.BusyError, match=WAITS) as caught:
            device.close(timeout=0.1)
        # `started` is in another file, whose line asks for the run.
        assert re.search(r"\n  \S*test_semaphores\.py:\d+  it was run here\n  help: have its other", str(caught.value))
        assert caught.value.code == "RG-E404"
        assert not device.closed
        assert not frame.done
        gate.signal(2)
        assert frame.wait(10)
        device.close(timeout=0)
        assert device.closed


def test_the_handle_of_a_foreign_timeline_is_told_apart_and_several_waits_are_listed():
    # A run waits for the frame before it whose memory it takes.
    with opened(frames_in_flight=8) as device:
        gates = [device.semaphore() for _ in range(6)]
        for gate in gates:
            started(adding(), device, wait=[(gate.handle, 1, "src")], read=[])
        gates[0].signal(1)
        with pytest.raises(rg.BusyError) as caught:
            device.close(timeout=0.1)
        message = str(caught.value)
        # Each names its own; which of them are behind others does not matter.
        named = [int(one, 16) for one in re.findall(r"semaphore (0x[0-9a-f]+) has 1, and it has 0", message)]
        open_waits = {gate.handle for gate in gates[1:]}
        assert len(named) == 4
        assert set(named) < open_waits
        assert "\n  and 1 further waits\n" in message
        for gate in gates[1:]:
            gate.signal(1)
        device.close(timeout=0)


def test_a_function_that_waits_for_another_user_ends_with_its_device():
    g = rg.Graph("hosted")
    words = g.import_buffer("words", 64)
    g.cpu("count", lambda views: None, reads=words, writes=g.buffer("out", 64))
    g.root("out")
    with opened() as device:
        gate, failed = device.semaphore(), []

        def run() -> None:
            try:
                device.run(g, inputs={"words": np.zeros(16, np.uint32)}, wait=[(gate, 1, "words")])
            except rg.RgError as error:
                failed.append(error.code)

        # The run waits for its functions, so another thread runs it. Nothing on the GPU waits for them.
        thread = threading.Thread(target=run)
        thread.start()
        device.close(timeout=10)
        thread.join(60)
        assert not thread.is_alive()
        assert failed == ["RG-E130"]


def test_close_waits_for_work_of_the_gpu_as_long_as_it_takes():
    with opened() as device:
        gate = device.semaphore()
        for run in range(40):
            started(adding(), device, wait=[(gate, run)], signal=[(gate, run + 1)], read=[])
        device.close(timeout=0)


def test_another_thread_may_signal_while_the_device_closes():
    with opened(frames_in_flight=8) as device:
        gate = device.semaphore()
        for value in (1, 2, 3):
            started(adding(), device, wait=[(gate, value)], read=[])

        def signal_all() -> None:
            for value in (1, 2, 3):
                time.sleep(0.1)
                gate.signal(value)

        thread = threading.Thread(target=signal_all)
        thread.start()
        device.close(timeout=None)
        thread.join()
        assert device.closed


def test_a_block_that_is_left_ends_with_the_error_and_the_process_ends():
    program = """
import numpy as np, rgraph as rg
g = rg.Graph("waiting")
g.fill("fill", g.buffer("words", 64), 1)
g.root("words")
try:
    with rg.Device() as device:
        gate = device.semaphore()
        frame = device.run(g, wait=[(gate, 1)], read=[])
except rg.BusyError as error:
    print(error.code, device.closed)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "RG-E404 True\n"), done.stderr


def interrupted(call: object) -> None:
    """Ctrl-C ends a call that waits."""
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            call()  # type: ignore[operator]
    finally:
        timer.join()


def test_reads_behind_a_wait_that_never_ends_can_be_interrupted():
    with opened() as device:
        gate, numbers = device.semaphore(), device.buffer("numbers", 256)
        numbers.write(np.full(64, 4, np.uint32))
        frame = device.run(adding(), inputs={"src": numbers}, wait=[(gate, 2)], read=[])
        interrupted(numbers.read)
        into = np.zeros(64, np.uint32)
        interrupted(lambda: numbers.read(into=into))
        with pytest.raises(rg.BusyError, match=r'graph "adding" waits until'):
            device.close(timeout=0.1)
        gate.signal(2)
        assert frame.wait(10)
        assert set(np.asarray(numbers.read()).view(np.uint32).ravel()) == {4}


def test_what_another_user_never_gives_back_is_named():
    with opened() as device:
        memory = asked(lambda: device.shared_memory("block", 1 << 16))
        numbers, gate = memory.buffer("numbers", 256), device.semaphore()
        numbers.write(np.full(64, 4, np.uint32))
        numbers.release("the other", until=(gate, 1))
        interrupted(numbers.read)
        with pytest.raises(rg.BusyError, match=r'a read of "numbers" waits until semaphore 0x[0-9a-f]+ has 1'):
            device.close(timeout=0.1)
        gate.signal(1)
        assert device.close(timeout=10) is None


@pytest.mark.parametrize("timeout", [-1, float("nan"), -float("inf"), "soon", True])
def test_a_timeout_is_a_number_of_seconds(timeout: object):
    with opened() as device, pytest.raises((ValueError, TypeError)):
        device.close(timeout=timeout)  # type: ignore[arg-type]


def test_an_endless_timeout_is_no_limit():
    device = opened()
    device.close(timeout=float("inf"))
    assert device.closed
