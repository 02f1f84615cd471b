"""Passes that are functions: what they see, what they may not, and what they raise."""

import gc
import threading
import weakref

import numpy as np
import pytest

import rgraph as rg
from gpu.conftest import opened
from gpu.shaders import COPY, FILL, FLAT, SCALE

TWICE = {"factor": 2, "offset": 0}


class Oops(Exception):
    """Raised by functions of tests."""


def test_functions_on_the_cpu_run_between_passes_on_the_gpu(device: rg.Device):
    g = rg.Graph()
    src = g.import_array("src", np.arange(16, dtype=np.uint32), as_buffer=True)
    a, b, c = (g.buffer(name, 64) for name in "abc")
    seen = []

    def add(views: dict[str, memoryview]) -> None:
        seen.append(threading.current_thread() is not threading.main_thread())
        assert views["a"].readonly
        assert not views["b"].readonly
        np.frombuffer(views["b"], np.uint32)[:] = np.frombuffer(views["a"], np.uint32) + 100

    g.compute("before", SCALE, src=src, dst=a, params=TWICE)
    g.cpu("add", add, reads=a, writes=b)
    g.compute("after", SCALE, src=b, dst=c, params=TWICE)
    g.root(c)
    for _ in range(3):
        result = np.asarray(device.run(g)["c"]).view(np.uint32)
        np.testing.assert_array_equal(result, (np.arange(16) * 2 + 100) * 2)
    assert len(seen) == 3


def test_what_a_function_raises_arrives_and_the_next_frame_works(device: rg.Device):
    g = rg.Graph()
    a = g.buffer("a", 64)
    error, fails = Oops("no"), [True]

    def function(views: dict[str, memoryview]) -> None:
        if fails[0]:
            raise error
        views["a"][:] = b"\x07" * 64

    g.cpu("function", function, writes=a)
    g.root(a)
    for _ in range(3):
        fails[0] = True
        with pytest.raises(Oops) as caught:
            device.run(g).wait()
        assert caught.value is error
        fails[0] = False
        assert np.asarray(device.run(g)["a"]).tolist() == [7] * 64


def test_what_the_cpu_writes_last_is_read_back(device: rg.Device):
    g = rg.Graph()
    a, number = g.buffer("a", 64), [0]

    def function(views: dict[str, memoryview]) -> None:
        views["a"][:] = bytes(number) * 64

    g.cpu("function", function, writes=a)
    g.root(a)
    compiled = device.compile(g)
    for number[0] in range(1, 100):
        assert np.asarray(compiled.run()["a"]).tolist() == number * 64


def test_a_view_that_is_kept_is_harmless(device: rg.Device):
    g = rg.Graph()
    a = g.buffer("a", 64)
    kept = []
    g.cpu("keep", lambda views: kept.append(np.frombuffer(views["a"], np.uint8)), writes=a)
    g.root(a)
    g_frame = device.run(g)
    g_frame.wait()
    del g_frame, g
    gc.collect()
    kept[0][:] = 1


def test_a_callback_records_what_the_pass_declares(device: rg.Device):
    g = rg.Graph()
    photo = g.import_array("photo", np.full((8, 8, 4), 9, np.uint8))
    out, other = g.image("out", like=photo), g.buffer("other", 64)

    def record(commands: rg.Commands) -> None:
        assert commands.pass_name == "record"
        commands.dispatch(COPY, src=photo, dst=out)

    g.callback("record", record, reads=photo, writes=out, queue="compute").transfer_dst(other, transfer="fill")
    g.root(out)
    assert (np.asarray(device.run(g)["out"]) == 9).all()


def test_a_callback_draws_into_its_targets(device: rg.Device):
    g = rg.Graph()
    out = g.image("out", (8, 8), "rgba8unorm")

    def record(commands: rg.Commands) -> None:
        commands.draw(FLAT, push=[0, 0, 1, 1], key=2)
        commands.draw(FLAT, push=[1, 0, 0, 1], key=1, viewport=(0, 0, 8, 8))

    g.callback("record", record, color=out, clear=(0, 0, 0, 0))
    g.root(out)
    assert (np.asarray(device.run(g)["out"]) == (0, 0, 255, 255)).all()


def test_a_callback_is_refused_what_the_pass_did_not_declare(device: rg.Device):
    g = rg.Graph()
    out, other = g.image("out", (8, 8), "rgba8unorm"), g.image("other", (8, 8), "rgba8unorm")
    stranger = rg.Graph().image("stranger", (8, 8), "rgba8unorm")
    g.clear("fill", other, (0, 0, 0, 0))
    what = [other]

    def record(commands: rg.Commands) -> None:
        commands.dispatch(FILL, dst=what[0], push=[1, 1, 1, 1])

    g.callback("record", record, writes=out, queue="compute")
    g.root(out, other)
    for wrong, name in ((other, "other"), (stranger, "another graph")):
        what[0] = wrong
        with pytest.raises(rg.GraphError, match='pass "record"') as caught:
            device.run(g)
        assert name in str(caught.value)
        assert caught.value.pass_name == "record"
    what[0] = out
    assert (np.asarray(device.run(g)["out"]) == 255).all()


def test_what_a_callback_raises_arrives_unchanged(device: rg.Device):
    g = rg.Graph()
    out = g.image("out", (8, 8), "rgba8unorm")
    error, kept = Oops("no"), []

    def record(commands: rg.Commands) -> None:
        kept.append(commands)
        raise error

    g.callback("record", record, writes=out, queue="compute")
    g.root(out)
    with pytest.raises(Oops) as caught:
        device.run(g)
    assert caught.value is error
    with pytest.raises((RuntimeError, rg.GraphError)):
        kept[0].dispatch(FILL, dst=out, push=[1, 1, 1, 1])


def test_execute_of_a_pass_is_its_callback(device: rg.Device):
    g = rg.Graph()
    out = g.image("out", (8, 8), "rgba8unorm")
    draw = g.add_pass("clear", queue="compute", execute=lambda commands: commands.dispatch(FILL, dst=out, push=[1] * 4))
    draw.storage_write(out)
    g.root(out)
    assert (np.asarray(device.run(g)["out"]) == 255).all()


def test_ctrl_c_ends_a_wait(device: rg.Device):
    import _thread

    g = rg.Graph()
    a = g.buffer("a", 64)
    began, go, over = threading.Event(), threading.Event(), threading.Event()

    def held(views: object) -> None:
        began.set()
        go.wait(60)
        over.set()

    def interrupt() -> None:
        began.wait()
        _thread.interrupt_main()

    g.cpu("slow", held, writes=a)
    g.root(a)
    timer = threading.Thread(target=interrupt)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            device.run(g).wait()
        assert not over.is_set(), "the function runs still"
    finally:
        go.set()
        timer.join()
    go.set()
    device.run(g).wait()


def test_functions_cannot_wait_for_the_device_that_waits_for_them(device: rg.Device):
    other = rg.Graph()
    image = other.image("image", (8, 8), "rgba8unorm")
    other.clear("clear", image, (0, 0, 0, 0))
    other.root(image)
    frame = device.run(other)
    for wait in (lambda: device.run(other), frame.wait, device.wait_idle, device.close):
        g = rg.Graph()
        a, out = g.buffer("a", 64), g.image("out", (8, 8), "rgba8unorm")
        g.cpu("function", lambda views, wait=wait: wait(), writes=a)
        g.root(a)
        with pytest.raises(rg.BusyError) as caught:
            device.run(g).wait()
        assert caught.value.code == "RG-E402"
        h = rg.Graph()
        out = h.image("out", (8, 8), "rgba8unorm")
        h.callback("record", lambda commands, wait=wait: wait(), writes=out, queue="compute")
        h.root(out)
        with pytest.raises(rg.BusyError):
            device.run(h)
    assert np.asarray(device.run(other)["image"]).max() == 0


def test_functions_go_with_the_graph(own_device: rg.Device):
    g = rg.Graph()
    a = g.buffer("a", 64)

    class Held:
        def __call__(self, views: dict[str, memoryview]) -> None:
            views["a"][0] = 1

    function = Held()
    seen = weakref.ref(function)
    g.cpu("function", function, writes=a)
    g.root(a)
    own_device.run(g).wait()
    del g, a, function
    own_device.close()
    gc.collect()
    assert seen() is None


def cycle(keep: str) -> list[weakref.ref]:
    """What a graph's run leaves behind whose function holds its device, its compiled graph or itself."""
    own = opened()
    g = rg.Graph()
    buffer = g.buffer("b", 256)
    held = {}

    def fill(commands: rg.Commands) -> None:
        assert held
        commands.fill(buffer, 7)

    g.callback("fill", fill).transfer_dst(buffer, transfer="fill")
    g.root(buffer)
    graph = g.clone() if keep == "clone" else g
    compiled = own.compile(graph)
    held[keep] = {"device": own, "compiled": compiled, "graph": g, "clone": graph}[keep]
    own.run(graph).wait()
    return [weakref.ref(fill), weakref.ref(own), weakref.ref(compiled), weakref.ref(g)]


@pytest.mark.parametrize("keep", ["device", "compiled", "graph", "clone"])
def test_functions_that_hold_their_device_are_collected(device: rg.Device, keep: str):
    del device
    gone = cycle(keep)
    gc.collect()
    assert [one() for one in gone] == [None] * 4
