"""T3: CPU passes and recording callbacks are part of the graph and run on jobs, as wide as their order allows."""

import signal
import threading
import time

import numpy as np
import pytest

import rgraph as rg
from gpu.shaders import SCALE
from processes import run


def meeting(count: int) -> threading.Barrier:
    """A barrier that is given up after ten seconds: functions that run one after the other never pass it."""
    return threading.Barrier(count, timeout=10)


def filled(g: rg.Graph, name: str, value: int, before=lambda: None, **options: object) -> rg.Buffer:
    """A buffer of 64 bytes that a pass on the CPU fills."""
    out = g.buffer(name, 64)

    def fill(views: dict[str, memoryview]) -> None:
        before()
        np.frombuffer(views[name], np.uint8)[:] = value

    g.cpu(f"{name} on cpu", fill, writes=out, **options)
    return out


def test_passes_on_the_cpu_meet_and_what_follows_sees_both(device: rg.Device):
    g, both = rg.Graph(), meeting(2)
    a = filled(g, "a", 1, both.wait)
    b = filled(g, "b", 2, both.wait)
    total = g.buffer("total", 64)

    def add(views: dict[str, memoryview]) -> None:
        total = np.frombuffer(views["a"], np.uint8) + np.frombuffer(views["b"], np.uint8)
        np.frombuffer(views["total"], np.uint8)[:] = total

    g.cpu("add", add, reads=[a, b], writes=total)
    g.root(total)
    plan = device.compile(g).plan
    assert [sorted(chosen.passes) for chosen in plan.sets if chosen.on == "cpu"] == [
        ["a on cpu", "b on cpu"],
        ["add"],
    ]
    for _ in range(3):
        assert np.asarray(device.run(g)["total"]).tobytes() == bytes([3]) * 64


def test_a_pass_on_the_cpu_runs_beside_one_that_the_gpu_waits_for(device: rg.Device):
    g, both = rg.Graph(), meeting(2)
    a = filled(g, "a", 1, both.wait)
    scaled = g.buffer("scaled", 64)
    g.compute("scale", SCALE, src=a, dst=scaled, params={"factor": 2, "offset": 0})
    b = filled(g, "b", 2, both.wait)
    g.root(scaled, b)
    frame = device.run(g)
    assert np.asarray(frame["scaled"]).tobytes() == bytes([2]) * 64
    assert np.asarray(frame["b"]).tobytes() == bytes([2]) * 64


def test_callbacks_that_record_meet(device: rg.Device):
    g, all_three = rg.Graph(), meeting(3)

    source = g.import_array("source", np.arange(16, dtype=np.uint32), as_buffer=True)

    def record(name: str):
        def copy(commands: rg.Commands) -> None:
            all_three.wait()
            commands.copy(source, name)

        return copy

    for name in "abc":
        out = g.buffer(name, 64)
        g.callback(name, record(name), reads={source: "transfer_src"}, writes={out: "transfer_dst"})
        g.root(out)
    for _ in range(2):
        frame = device.run(g)
        for name in "abc":
            assert np.asarray(frame[name]).view(np.uint32).tolist() == list(range(16))


def test_functions_that_follow_each_other_do_not_run_at_once(device: rg.Device):
    g, log = rg.Graph(), []
    chain = g.buffer("chain", 64)
    for step in range(6):

        def note(views: dict[str, memoryview], step: int = step) -> None:
            log.append(("begin", step))
            time.sleep(0.002)
            chain = np.frombuffer(views["chain"], np.uint8)
            chain[:] = chain + 1 if step else 1
            log.append(("end", step))

        g.cpu(f"step {step}", note, writes=chain)
    g.root(chain)
    assert np.asarray(device.run(g)["chain"]).tobytes() == bytes([6]) * 64
    assert log == [(what, step) for step in range(6) for what in ("begin", "end")]


class Oops(Exception):
    """Raised by a function."""


def test_what_one_of_several_raises_arrives_and_the_next_run_works(device: rg.Device):
    g, wrong = rg.Graph(), [True]

    def fail() -> None:
        if wrong[0]:
            raise Oops("of a job")

    g.root(filled(g, "a", 1, fail), filled(g, "b", 2, lambda: time.sleep(0.01)))
    with pytest.raises(Oops, match="of a job"):
        device.run(g)
    wrong[0] = False
    assert np.asarray(device.run(g)["b"]).tobytes() == bytes([2]) * 64


def test_runs_within_jobs_are_refused_on_their_own_device_and_end_on_another(device: rg.Device, own_device: rg.Device):
    inner = rg.Graph("inner")
    inner.root(*(filled(inner, f"i{at}", at) for at in range(4)))
    codes = []

    def nested() -> None:
        assert np.asarray(own_device.run(inner)["i3"]).tobytes() == bytes([3]) * 64
        with pytest.raises(rg.RgError) as refused:
            device.run(inner)
        codes.append(refused.value.code)

    g = rg.Graph("outer")
    g.root(*(filled(g, f"o{at}", at, nested) for at in range(8)))
    device.run(g)
    assert codes == ["RG-E402"] * 8


ENDLESS = """
import os, signal, sys, threading, time
import rgraph as rg

g = rg.Graph("endless")
entered = threading.Barrier(3)

def endless(_):
    entered.wait()
    while True:
        time.sleep(0.01)

for name in ("a", "b"):
    {declare}
    g.root(name)

def interrupt():
    entered.wait()
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
"""
CPU = "g.cpu(name + ' on cpu', endless, writes=g.buffer(name, 64))"
CALLBACK = "g.callback(name + ' said', endless, writes={g.buffer(name, 64): 'transfer_dst'})"


@pytest.mark.parametrize("declare", [CPU, CALLBACK])
def test_ctrl_c_ends_a_run_whose_functions_never_return(device: rg.Device, declare: str):
    del device
    # A callback may be in the main thread, which then hears of it; the others are left.
    second = "threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT)).start()\n" if declare == CALLBACK else ""
    ended = run(ENDLESS.format(declare=declare) + second + "rg.Device().run(g)\n")
    assert ended.code == -signal.SIGINT, ended.err
    assert ended.err.rstrip().endswith("KeyboardInterrupt"), ended.err


def test_a_device_is_closed_while_jobs_run(own_device: rg.Device):
    g, inside, go = rg.Graph(), meeting(3), threading.Event()

    def wait() -> None:
        inside.wait()
        go.wait(10)

    g.root(filled(g, "a", 1, wait), filled(g, "b", 2, wait))
    raised = []

    def work() -> None:
        try:
            own_device.run(g)
        except rg.RgError as error:
            raised.append(error.code)

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait()
    own_device.close()
    go.set()
    thread.join(20)
    assert not thread.is_alive()
    assert raised == ["RG-E130"]
