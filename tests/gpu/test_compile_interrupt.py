"""Compiling a shader of seconds ends with Ctrl-C; the device stays usable, and the process ends."""

import signal
import subprocess
import sys
import time

import pytest

import clitool
import rgraph as rg

SCRIPT = """
import sys, time
import rgraph as rg

def text(depth, number):
    # Each function calls the next one twice: as large, once inlined, as shaders may be.
    calls = "".join(f"fn f{at}() -> u32 {{ return f{at + 1}() + f{at + 1}(); }}\\n" for at in range(depth))
    return f'''@group(0) @binding(0) var<storage, read_write> words: array<u32>;
    {calls} fn f{depth}() -> u32 {{ return {number}u; }}
    @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) at: u32) {{ words[at] = f0(); }}'''

def graph(depth, passes):
    g = rg.Graph()
    for number in range(passes):
        words = g.buffer(f"words{number}", 256)
        g.compute(f"c{number}", text(depth, number), words=words, groups=1)
        g.root(words)
    return g

device = rg.Device()
large, small = graph(13, 6), graph(1, 1)
print("ready", flush=True)
try:
    device.compile(large)
    print("compiled", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
frame = device.run(small)
print(len(frame["words0"].tobytes()), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs the signals of POSIX")
def test_an_interrupt_ends_the_wait_for_a_compilation(device: rg.Device):
    del device
    environment = clitool.surroundings()
    with subprocess.Popen([sys.executable, "-c", SCRIPT], env=environment, stdout=subprocess.PIPE, text=True) as done:
        assert done.stdout
        assert done.stdout.readline() == "ready\n"
        time.sleep(0.5)
        done.send_signal(signal.SIGINT)
        assert done.stdout.readline() == "interrupted\n"
        assert done.stdout.readline() == "256\n"
        assert done.wait(60) == 0
