"""Graphs compiled in the background: what the handle says, frames that may not wait, errors, and devices that close."""

import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import rgraph as rg
from gpu.conftest import opened
from rgraph import _core

NUMBER = iter(range(10_000))


def text(number: int, depth: int = 0) -> str:
    """A shader that is like no other one, and takes longer to compile the deeper its calls are."""
    calls = "".join(f"fn f{at}() -> u32 {{ return f{at + 1}() + f{at + 1}(); }}\n" for at in range(depth))
    return f"""@group(0) @binding(0) var<storage, read_write> words: array<u32>;
    {calls} fn f{depth}() -> u32 {{ return {number}u; }}
    @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) at: u32) {{ words[at] = f0(); }}"""


def shaders(passes: int, depth: int = 0, name: str = "shaders") -> rg.Graph:
    """As many passes, each with a shader of its own; `words0` holds the number of the first."""
    g = rg.Graph(name)
    for at in range(passes):
        words = g.buffer(f"words{at}", 256)
        g.compute(f"c{at}", text(next(NUMBER), depth), words=words, groups=1)
        g.root(words)
    return g


def made() -> int:
    return _core._counts()["pipelines_made"]


def test_a_frame_makes_no_pipeline_once_its_graph_is_prepared(device: rg.Device):
    g, before = shaders(12), made()
    preparation = device.prepare(g)
    assert preparation.wait(60)
    assert preparation.wait(0)
    assert preparation.done
    assert (preparation.pipelines, preparation.pipelines_made, preparation.error) == (12, 12, None)
    assert made() - before == 12
    compiled = _core._counts()["graphs_compiled"]
    device.run(g).wait()
    device.run(g, wait_pipelines=False).wait()
    assert made() - before == 12
    assert _core._counts()["graphs_compiled"] == compiled
    assert isinstance(preparation.result(), rg.Compiled)
    assert preparation.result() is preparation.result()
    assert repr(preparation) == '<Preparation "shaders": 12 of 12 pipelines>'


def test_a_run_waits_for_the_rest_of_a_preparation_and_compiles_nothing_twice(device: rg.Device):
    g, before = shaders(6, 8), made()
    preparation = device.prepare(g)
    device.run(g).wait()
    assert preparation.done
    assert made() - before == 6


def test_a_graph_declared_anew_finds_its_preparation(device: rg.Device):
    def declared() -> rg.Graph:
        g = rg.Graph("again")
        g.compute("fill", shader, words=g.buffer("words", 256), groups=1)
        g.root("words")
        return g

    shader, before = text(next(NUMBER), 8), made()
    frames = 0
    while frames < 3:
        try:
            device.run(declared(), wait_pipelines=False)
            frames += 1
        except rg.NotReadyError:
            time.sleep(0.002)
    assert made() - before == 1


def test_a_frame_that_may_not_wait_is_refused_until_its_graph_is_ready(device: rg.Device):
    g = shaders(2, 9, "slow")
    with pytest.raises(rg.NotReadyError, match='RG-E405 "slow" is not ready: ') as caught:
        device.run(g, wait_pipelines=False)
    assert isinstance(caught.value, rg.BusyError)
    assert caught.value.code == "RG-E405"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    refused = 0
    while True:
        try:
            frame = device.run(g, wait_pipelines=False)
            break
        except rg.NotReadyError:
            refused += 1
            time.sleep(0.01)
    assert frame["words0"].view("uint32").numpy().any()


def test_frames_run_the_graph_as_it_was_before_while_a_shader_is_edited(device: rg.Device):
    g = rg.Graph("edited", replace=True)
    words = g.buffer("words", 256)
    g.compute("fill", text(7), words=words, groups=1)
    g.root(words)
    assert device.run(g)["words"].view("uint32")[0] == 7
    g.compute("fill", text(11, 9), words=words, groups=1)
    seen = []
    while not seen or seen[-1] == 7:
        seen.append(int(device.run(g, wait_pipelines=False)["words"].view("uint32")[0]))
    assert seen[0] == 7
    assert seen[-1] == 11 * 2**9


def test_a_graph_with_another_interface_is_refused_not_run_as_it_was(device: rg.Device):
    g = shaders(1, name="grows")
    device.run(g).wait()
    g.compute("more", text(next(NUMBER), 9), words=g.buffer("more words", 256), groups=1)
    g.root("more words")
    with pytest.raises(rg.NotReadyError):
        device.run(g, wait_pipelines=False)
    assert device.run(g)["more words"].nbytes == 256


def test_an_error_names_the_pass_and_the_line_that_declares_it(device: rg.Device):
    g = shaders(2)
    wide = text(0).replace("@workgroup_size(64)", "@workgroup_size(4096, 4096)")
    line = sys._getframe().f_lineno + 1
    g.compute("wide", wide, words=g.buffer("wide words", 256), groups=1)
    g.root("wide words")
    preparation = device.prepare(g)
    assert preparation.wait(60)
    error = preparation.error
    assert isinstance(error, rg.DeviceError)
    assert (error.code, error.pass_name) == ("RG-E102", "wide")
    assert re.search(rf'pass "wide"  \S*test_prepare\.py:{line}', str(error))
    for call in (preparation.result, lambda: device.run(g, wait_pipelines=False), lambda: device.run(g)):
        with pytest.raises(rg.DeviceError, match="workgroups"):
            call()


def test_mistakes_of_the_declaration_are_the_error_of_the_preparation(device: rg.Device):
    g = rg.Graph()
    g.compute("reads", text(0), words=g.buffer("words", 256), groups=1)
    preparation = device.prepare(g)
    assert preparation.wait(60)
    assert isinstance(preparation.error, rg.GraphError)
    with pytest.raises(rg.GraphError, match="RG-E214"):
        preparation.result()


def test_a_graph_is_prepared_behind_the_one_that_runs(device: rg.Device):
    def counting(depth: int) -> rg.Graph:
        g = rg.Graph("counting")
        total = g.buffer("total", 256, persistent=True)
        code = text(1, depth).replace("words[at] =", "words[at] +=")
        g.compute("count", code, words=total, groups=1)
        g.root(total)
        return g

    first = device.compile(counting(0))
    assert first.run()["total"].view("uint32")[0] == 1
    preparation = device.prepare(counting(9), previous=first)
    runs = 1
    while not preparation.done:
        first.run().wait()
        runs += 1
    assert preparation.result().run()["total"].view("uint32")[0] == runs + 512


def test_options_of_its_own_are_found_by_the_handle_alone(device: rg.Device):
    g = shaders(1)
    declared = device.prepare(g, policy="declared").result()
    assert declared.plan.policy == "declared"
    with pytest.raises(rg.NotReadyError):
        device.run(g, wait_pipelines=False)
    device.run(g).wait()
    with pytest.raises(rg.NotReadyError, match="RG-E405"):
        device.prepare(shaders(2, 10)).result(timeout=0)


def test_a_graph_whose_declaration_calls_functions_has_to_be_prepared_by_hand(device: rg.Device):
    g = rg.Graph()
    g.buffer("words", 256)
    g.add_pass("open", setup=lambda p: p.write("words", "transfer_dst"))
    g.root("words")
    with pytest.raises(rg.GraphError, match="calls functions"):
        device.run(g, wait_pipelines=False)


def test_closing_the_device_gives_up_what_is_prepared():
    device, before = opened(), made()
    g = shaders(64, 11)
    preparation = device.prepare(g)
    while not preparation.pipelines:
        time.sleep(0.001)
    device.close()
    assert preparation.done
    assert made() - before < 64
    assert isinstance(preparation.error, rg.DeviceError)
    assert preparation.error.code == "RG-E130"
    with pytest.raises(rg.DeviceError, match="RG-E130"):
        device.prepare(g)


@pytest.mark.skipif(sys.platform == "win32", reason="needs the signals of POSIX")
def test_an_interrupt_ends_the_wait_and_not_the_preparation(own_device: rg.Device):
    g = shaders(256, 12)
    preparation = own_device.prepare(g)
    for waits in (preparation.wait, preparation.result, lambda: own_device.run(g)):
        timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            waits()
        timer.join()
    assert not preparation.done
    own_device.close()


def test_other_threads_run_python_while_one_waits(device: rg.Device):
    preparation, counted = device.prepare(shaders(4, 10)), 0
    thread = threading.Thread(target=preparation.wait)
    thread.start()
    while thread.is_alive():
        counted += 1
    assert counted > 1000


def test_a_process_ends_while_graphs_are_prepared():
    code = """
import sys
sys.path.insert(0, "tests")
import rgraph as rg
from gpu.test_prepare import shaders
device = rg.Device()
preparation = device.prepare(shaders(64, 12))
while not preparation.pipelines:
    pass
print("ends", flush=True)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "ends\n"), done.stderr


def test_a_device_that_nobody_has_goes_once_its_preparation_is_over():
    device = opened()
    preparation = device.prepare(shaders(4, 8))
    gone = weakref.ref(device)
    del device
    assert preparation.wait(60)
    assert preparation.result().run()["words0"].nbytes == np.dtype(np.uint32).itemsize * 64
    del preparation
    import gc

    gc.collect()
    assert gone() is None
