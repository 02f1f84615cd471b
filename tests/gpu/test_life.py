"""How processes with devices end: Ctrl-C, exceptions, exit, daemon threads, forks, garbage, closing meanwhile."""

import ctypes
import gc
import os
import signal
import threading

import numpy as np
import pytest

import rgraph as rg
from gpu.conftest import opened
from processes import ends

INTERRUPTED = -signal.SIGINT
"""What ends a Python program that no handler of KeyboardInterrupt catches: the signal itself, a shell's 130."""

SLOW = """
import gc, os, signal, sys, threading, time
import numpy as np
import rgraph as rg

def interrupt_after(seconds):
    threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()

entered = threading.Event()
def slow(views):
    entered.set()
    for _ in range(100):
        time.sleep(0.01)
    np.frombuffer(views["h"], np.uint8)[:] = 7

g = rg.Graph("slow")
h = g.buffer("h", 1 << 16)
g.cpu("host", slow, writes=h)
g.root(h)
"""
"""A graph whose function runs for a second."""

LONG = """
import gc, os, signal, sys, threading, time
import rgraph as rg

WORK = '''
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var x = id.x + id.y;
    for (var i = 0u; i < 60000u; i++) { x = x * 1664525u + 1013904223u; }
    words[id.x % 64u] = x;
}'''
g = rg.Graph("long")
g.compute("work", WORK, words=g.buffer("w", 256), groups=(65535, 16, 1))
g.root("w")
"""
"""A graph that keeps a software driver busy for minutes."""

SQUARES = """
SQUARES = '''
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { words[id.x] = id.x * id.x; }'''
"""

FORKS = """
import gc, os, sys, time, warnings
import rgraph as rg

warnings.simplefilter("ignore", DeprecationWarning)

def fork(child):
    pid = os.fork()
    if pid == 0:
        child()
        sys.exit(0)
    for _ in range(300):
        time.sleep(0.1)
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return "hangs"

def painted(name="painted"):
    g = rg.Graph(name, size=(8, 8))
    a = g.image("a", format="rgba8unorm")
    g.clear("c", a, (1, 1, 1, 1))
    g.root(a)
    return g

device = rg.Device()
compiled = device.compile(painted())
frame = compiled.run()
"""

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
pytestmark = pytest.mark.usefixtures("session_device")


@pytest.mark.parametrize(
    "end",
    [
        "del c; print('dropped'); d.close()",
        "print('dropped'); d.close()",
        "print('dropped')",
        "print('dropped'); sys.exit(0)",
        "c = d = g = None; gc.collect(); print('dropped')",
    ],
    ids=["del", "close", "end", "exit", "collect"],
)
def test_ctrl_c_while_a_function_runs_is_an_interrupt(end: str):
    program = f"""{SLOW}
d = rg.Device()
c = d.compile(g)
interrupt_after(0.3)
try:
    c.run()
except KeyboardInterrupt:
    print("interrupted")
{end}
"""
    ends(program, 0, "interrupted\ndropped\n")


def test_ctrl_c_in_a_with_block_is_an_interrupt():
    program = f"""{SLOW}
try:
    with rg.Device() as d:
        interrupt_after(0.5)
        d.run(g)
except KeyboardInterrupt:
    print("interrupted", d.closed)
"""
    ends(program, 0, "interrupted True\n")


def test_ctrl_c_that_nobody_catches_ends_the_process():
    program = f"""{SLOW}
d = rg.Device()
c = d.compile(g)
interrupt_after(0.3)
c.run()
"""
    ends(program, INTERRUPTED, "", interrupted=True)


def test_ctrl_c_in_a_with_block_does_not_wait_for_the_gpu():
    program = f"""{LONG}
try:
    with rg.Device() as d:
        f = d.run(g)
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        f.wait()
except KeyboardInterrupt:
    print(not f.done)
"""
    ends(program, 0, "True\n", repeats=2)


def test_a_run_after_an_interrupted_one_is_right():
    program = f"""{SLOW}
d = rg.Device()
interrupt_after(0.5)
try:
    d.run(g)
except KeyboardInterrupt:
    print("interrupted")
print(set(bytes(np.asarray(d.run(g)["h"]))))
d.close()
"""
    ends(program, 0, "interrupted\n{7}\n", repeats=2)


@pytest.mark.parametrize("code", [0, 3])
def test_the_process_ends_while_daemon_threads_record(code: int):
    program = f"""{SLOW}{SQUARES}
d = rg.Device()
g = rg.Graph()
h = g.buffer("h", 256)
def record(commands):
    time.sleep(0.01)
    commands.dispatch(SQUARES, words=h, groups=1)
g.callback("record", record, writes=h, queue="compute")
g.root(h)
def run():
    while True:
        d.run(g)
for _ in range(4):
    threading.Thread(target=run, daemon=True).start()
time.sleep(0.5)
print("exit")
sys.exit({code})
"""
    ends(program, code, "exit\n")


@pytest.mark.parametrize("graph", ["compiled", "anew"])
def test_the_process_ends_while_daemon_threads_run_graphs(graph: str):
    program = f"""{SLOW}{SQUARES}
d = rg.Device()
g = rg.Graph()
h = g.buffer("h", 1 << 20)
g.compute("squares", SQUARES, words=h, groups=4096)
g.root(h)
c = d.compile(g)
def run():
    while True:
        c.run() if {graph == "compiled"} else d.run(g)
for _ in range(4):
    threading.Thread(target=run, daemon=True).start()
time.sleep(0.3)
print("exit")
"""
    ends(program, 0, "exit\n")


@pytest.mark.parametrize("sleep", [0.0, 0.002, 0.2, 1000])
def test_the_process_ends_while_functions_run_for_daemon_threads(sleep: float):
    program = f"""{SLOW}
d = rg.Device()
def run():
    g = rg.Graph()
    h = g.buffer("h", 256)
    g.cpu("function", lambda views: time.sleep({sleep}), writes=h)
    g.root(h)
    while True:
        d.run(g)
for _ in range(4):
    threading.Thread(target=run, daemon=True).start()
time.sleep(0.5)
print("exit")
"""
    ends(program, 0, "exit\n")


def test_an_exception_of_a_function_ends_the_process_as_python_does():
    program = f"""{SLOW}
g = rg.Graph()
h = g.buffer("h", 256)
def fails(views):
    raise SystemExit(5)
g.cpu("function", fails, writes=h)
g.root(h)
with rg.Device() as d:
    d.run(g)
"""
    ends(program, 5, "", repeats=2)


def test_garbage_is_collected_while_its_function_runs():
    program = f"""{SLOW}
import weakref
d = rg.Device()
class Held:
    def __call__(self, views):
        gc.collect()
        slow(views)
def interrupted():
    g = rg.Graph()
    h = g.buffer("h", 256)
    function = Held()
    g.cpu("function", function, writes=h)
    g.root(h)
    function.cycle = d.compile(g)
    interrupt_after(0.3)
    try:
        function.cycle.run()
    except KeyboardInterrupt:
        print("interrupted")
    return weakref.ref(function)
held = interrupted()
gc.collect()
for _ in range(100):
    if held() is None:
        break
    time.sleep(0.1)
    gc.collect()
print(held() is None)
del d
gc.collect()
print("end")
"""
    ends(program, 0, "interrupted\nTrue\nend\n")


def test_a_run_ends_with_an_error_if_its_device_is_closed_meanwhile():
    program = f"""{SLOW}
d = rg.Device()
codes = []
def run():
    try:
        d.run(g)
    except rg.DeviceError as error:
        codes.append(error.code)
runs = threading.Thread(target=run)
runs.start()
entered.wait()
d.close()
runs.join()
print(codes)
"""
    ends(program, 0, "['RG-E130']\n")


@pytest.mark.parametrize(
    "end",
    ["pass", "del d, f", "d = f = None; gc.collect()", "d.__exit__(KeyboardInterrupt, None, None)"],
    ids=["end", "del", "collect", "with"],
)
def test_the_process_ends_while_the_gpu_is_busy(end: str):
    program = f"""{LONG}
d = rg.Device()
f = d.run(g)
start = time.monotonic()
{end}
print(time.monotonic() - start < 60)  # and not the minutes of the work
"""
    ends(program, 0, "True\n", repeats=2)


@needs_fork
@pytest.mark.parametrize(
    "child",
    [
        "pass",
        "globals().pop('device')",
        "[globals().pop(name) for name in ('device', 'compiled', 'frame')]; gc.collect()",
        "device.close()",
        "device.__exit__(None, None, None)",
        "os._exit(0)",
    ],
    ids=["exit", "del", "collect", "close", "with", "_exit"],
)
def test_a_forked_child_that_holds_a_device_ends(child: str):
    program = f"""{FORKS}
import numpy as np
view = np.asarray(frame["a"])
resource = device.buffer("b", 256)
def child():
    {child}
print(fork(child), int(view[0, 0, 0]), int(np.asarray(device.run(painted())["a"])[0, 0, 0]))
device.close()
"""
    ends(program, 0, "0 255 255\n", repeats=3)


needs_on_exit = pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "on_exit"), reason="needs glibc")

DRIVER_THAT_HANGS = """
import ctypes
libc = ctypes.CDLL(None)
libc.on_exit(libc.pause, None)
"""
"""What drivers do: a function that never returns is called when the process ends."""


@needs_fork
@needs_on_exit
@pytest.mark.parametrize("parent", ["pass", "del frame, compiled; device.close()"], ids=["open", "closed"])
def test_a_forked_child_ends_though_the_driver_would_keep_it(parent: str):
    program = f"""{DRIVER_THAT_HANGS}{FORKS}
{parent}
def child():
    print("written", end=" ")
    sys.exit(7)
print(fork(child), flush=True)
os._exit(0)
"""
    ends(program, 0, "written 7\n", repeats=3)


@needs_on_exit
def test_a_process_ends_though_its_driver_waits_for_work_that_never_ends():
    program = f"""{DRIVER_THAT_HANGS}
import sys
import rgraph as rg
g = rg.Graph("waiting")
g.fill("fill", g.buffer("words", 64), 1)
g.root("words")
device = rg.Device()
gate = device.semaphore()
frame = device.run(g, wait=[(gate, 1)], read=[])
print("submitted")
sys.exit(3)
"""
    ends(program, 3, "submitted\n")


@needs_fork
def test_a_forked_child_is_refused_whatever_it_calls():
    program = f"""{FORKS}
resource = device.buffer("b", 256)
calls = dict(
    report=lambda: frame.report, wait=lambda: frame.wait(), done=lambda: frame.done, read=lambda: frame["a"],
    run=lambda: device.run(painted()), again=lambda: compiled.run(), compile=lambda: device.compile(painted()),
    wrong=lambda: device.run(rg.Graph("without a root")),
    idle=lambda: device.wait_idle(), memory=lambda: device.memory(), messages=lambda: device.messages,
    image=lambda: device.image("i", (8, 8), "rgba8unorm"), written=lambda: resource.write(bytes(256)),
    resource=lambda: resource.read(), state=lambda: resource.state, set_state=lambda: resource.set_state(),
    enter=lambda: device.__enter__(),
)
def child():
    for name, call in calls.items():
        try:
            call()
            print(name, "no error")
        except rg.DeviceError as error:
            if error.code != "RG-E105":
                print(name, error)
    known = (device.info.name, device.profile, device.closed, repr(device), compiled.plan, frame.keys(), resource.shape)
    sys.stdout.flush()
print(fork(child))
"""
    ends(program, 0, "0\n", repeats=3)


@needs_fork
@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
def test_a_forked_child_of_a_process_with_a_device_is_told_why_it_opens_none(busy: bool):
    program = f"""{FORKS}
import threading
over = threading.Event()
def work():
    while not over.is_set():
        device.run(painted("busy"))
threads = [threading.Thread(target=work) for _ in range(2 if {busy} else 0)]
for thread in threads:
    thread.start()
time.sleep(0.1)
def child():
    try:
        rg.Device()
    except rg.DeviceError as error:
        assert error.code == "RG-E105", error
        os._exit(7)
print([fork(child) for _ in range(3)])
over.set()
"""
    ends(program, 0, "[7, 7, 7]\n")


@needs_fork
def test_a_forked_child_opens_a_device_where_its_parent_closed_its_own(session_device: rg.Device):
    if session_device.info.kind != "cpu":
        pytest.skip("drivers of GPUs do not work in a child of a process that used them")
    program = f"""{FORKS}
device.close()
del device, compiled, frame
gc.collect()
def child():
    with rg.Device() as own:
        assert own.run(painted())["a"].tobytes() == b"\\xff" * 256
    os._exit(7)
print([fork(child) for _ in range(2)])
with rg.Device() as again:
    print(again.run(painted())["a"].tobytes() == b"\\xff" * 256)
"""
    ends(program, 0, "[7, 7]\nTrue\n", repeats=3)


def painted() -> rg.Graph:
    """A white image."""
    g = rg.Graph("painted", size=(8, 8))
    a = g.image("a", format="rgba8unorm")
    g.clear("c", a, (1, 1, 1, 1))
    g.root(a)
    return g


def test_views_outlive_their_device():
    with opened() as device:
        frame = device.run(painted())
        view = np.asarray(frame["a"])
        lazy = device.run(painted())
        memory = memoryview(frame["a"])
    assert device.closed
    del device, frame
    gc.collect()
    with opened() as other:
        other.run(painted())["a"]
    assert view.min() == 255
    assert bytes(memory) == b"\xff" * 256
    assert np.asarray(lazy["a"]).min() == 255


def test_what_was_compiled_goes_with_the_device_whatever_is_seen():
    device = opened()
    view = np.asarray(device.run(painted())["a"])
    device.close()
    assert device.closed
    with pytest.raises(rg.DeviceError, match="closed"):
        device.run(painted())
    assert view.min() == 255


def test_a_device_is_dropped_by_any_thread():
    made: list[object] = []
    for _ in range(4):
        device = opened()
        made.append(device.run(painted()))
        del device
    threads = [threading.Thread(target=made.pop) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads)
