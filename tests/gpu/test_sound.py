"""What several threads and graphs do with one resource, and functions that would wait for themselves."""

import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

import rgraph as rg
from gpu.conftest import opened


def writing(function: Callable[[dict[str, memoryview]], None]) -> rg.Graph:
    """A graph whose one pass is a function that writes the imported buffer "x"."""
    g = rg.Graph()
    g.cpu("write", function, writes=g.import_buffer("x", 64))
    return g


def threads(count: int, target: Callable[[int], None]) -> list[BaseException]:
    """Run a function on several threads; returns what it raised."""
    raised: list[BaseException] = []

    def run(at: int) -> None:
        try:
            target(at)
        except BaseException as error:
            raised.append(error)

    started = [threading.Thread(target=run, args=(at,), daemon=True) for at in range(count)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join(60)
        assert not thread.is_alive(), "a thread hangs"
    return raised


def seen_by_functions(device: rg.Device, name: str, size: int) -> rg.DeviceResource:
    """A buffer of the device that functions of passes see; GPUs with memory of their own have none."""
    if device.info.kind == "discrete":
        pytest.skip("functions do not see the memory of a discrete GPU")
    return device.buffer(name, size)


def test_functions_of_two_graphs_on_one_resource_take_turns(device: rg.Device):
    shared = seen_by_functions(device, "shared", 64)
    shared.write(np.zeros(16, np.uint32))

    def increment(views: dict[str, memoryview]) -> None:
        words = views["x"].cast("I")
        before = words[0]
        time.sleep(0.002)
        words[0] = before + 1

    graphs = [writing(increment), writing(increment)]

    def run(at: int) -> None:
        for _ in range(15):
            device.run(graphs[at], inputs={"x": shared}).wait()

    assert threads(2, run) == []
    assert np.asarray(shared.read()).view(np.uint32)[0] == 30


def test_a_read_waits_for_a_function_that_writes(device: rg.Device):
    shared = seen_by_functions(device, "shared", 64)
    shared.write(np.zeros(16, np.uint32))
    began = threading.Event()

    def fill(views: dict[str, memoryview]) -> None:
        began.set()
        time.sleep(0.2)
        views["x"][:] = b"\x07" * 64

    g = writing(fill)
    thread = threading.Thread(target=lambda: device.run(g, inputs={"x": shared}).wait())
    thread.start()
    assert began.wait(60)
    assert (np.asarray(shared.read()) == 7).all()
    thread.join(60)


@pytest.mark.parametrize("kind", ["cpu", "callback"])
@pytest.mark.parametrize("act", ["own", "other", "other device", "write", "read", "set_state"])
def test_a_function_that_waits_for_its_device_is_refused(device: rg.Device, kind: str, act: str):
    shared = seen_by_functions(device, "shared", 64)
    shared.write(np.zeros(16, np.uint32))
    other = writing(lambda views: None)
    codes: list[str] = []

    def refused(call: Callable[[], object]) -> None:
        with pytest.raises(rg.BusyError) as caught:
            call()
        codes.append(caught.value.code)

    with opened() as second:
        beside = seen_by_functions(second, "beside", 64)
        back = writing(lambda views: refused(lambda: device.run(other, inputs={"x": shared}).wait()))
        calls: dict[str, Callable[[], object]] = {
            "own": lambda: refused(lambda: device.run(g)),
            "other": lambda: refused(lambda: device.run(other, inputs={"x": shared})),
            "other device": lambda: second.run(back, inputs={"x": beside}).wait(),
            "write": lambda: refused(lambda: shared.write(np.zeros(16, np.uint32))),
            "read": lambda: refused(shared.read),
            "set_state": lambda: refused(shared.set_state),
        }
        g = rg.Graph()
        words = g.buffer("words", 64)
        if kind == "cpu":
            g.cpu("function", lambda views: calls[act](), writes=words)
        else:
            g.callback("function", lambda commands: calls[act](), writes=words, queue="compute")
        g.root(words)
        assert threads(1, lambda _: device.run(g).wait()) == []
    assert codes == ["RG-E402"]


def test_a_function_sees_each_range_and_no_byte_between(device: rg.Device):
    g = rg.Graph()
    x = g.import_buffer("x", 256)
    seen = []

    def function(views: dict[str, tuple[memoryview, ...]]) -> None:
        for view in views["x"]:
            seen.append((len(view), view.readonly))
            if not view.readonly:
                view[:] = b"\x09" * len(view)

    g.cpu("function", function, writes=[x[0:64], x[192:256]], reads=x[64:128])
    shared = seen_by_functions(device, "shared", 256)
    shared.write(np.full(256, 1, np.uint8))
    device.run(g, inputs={"x": shared}).wait()
    assert seen == [(64, False), (64, False), (64, True)]
    np.testing.assert_array_equal(np.asarray(shared.read()), np.repeat(np.array([9, 1, 1, 9], np.uint8), 64))


def test_an_own_image_takes_no_layout_but_its_own(device: rg.Device):
    image = device.image("image", (4, 4), "rgba8unorm")
    with pytest.raises(rg.GraphError, match="but no other program can have used it") as caught:
        image.set_state(layout="color_attachment_optimal")
    assert caught.value.code == "RG-E225"
    image.write(np.full((4, 4, 4), 7, np.uint8))
    image.set_state(**image.state)
    assert (np.asarray(image.read()) == 7).all()


@pytest.mark.parametrize("module", ["other", "mips"])
def test_mips_of_a_pass_that_is_off_are_not_generated(device: rg.Device, module: str):
    g = rg.Graph(size=(8, 8))
    m = g.module(module)
    p = m.image("p", format="rgba8unorm", mips=2)
    m.add_pass("top").color(p, clear=(0, 0, 1, 1), mips=(0, 1))
    m.add_pass("low").color(p, clear=(0, 1, 0, 1), mips=(1, 2))
    m.add_pass("fill", conditional="on").color(p, clear=(1, 0, 0, 1), mips=(0, 1), generate_mips=True)
    out = g.image("out", (4, 4), format="rgba8unorm")
    g.copy("copy", p.mips(1, 2), out)
    g.root(out)
    owners = [(one.declared, one.owner) for one in g.bake().passes]
    assert (None, 2) in owners
    for on, colour in ((False, (0, 255, 0, 255)), (True, (255, 0, 0, 255))):
        pixels = np.asarray(device.run(g, flags={"on": on})["out"])
        assert tuple(pixels[0, 0]) == colour, on
