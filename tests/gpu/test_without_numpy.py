"""Programs without numpy: graphs run, and results are read; calls that need numpy name it and what works without."""

import subprocess
import sys

PROGRAM = """
import sys
sys.modules["numpy"] = None  # as if it were not installed
from array import array
import rgraph as rg
from rgraph import passes

ADD = '''
@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { dst[id.x] = src[id.x] + 1u; }'''
numbers = array("I", range(64))
g = rg.Graph("plain")
g.compute("add", ADD, groups=1, src=g.import_array("src", numbers, as_buffer=True), dst=g.buffer("dst", 256))
g.root("dst")
picture = rg.Graph("picture")
image = picture.image("image", (8, 8), "rgba8unorm")
picture.clear("clear", image, (1, 0, 0, 1))
blurred = passes.blur(picture, "blur", image, radius=2)
half = picture.image("half", (3, 2), "rgba16float")
picture.clear("clear half", half, (0.5, 0, 0, 1))
picture.root(blurred, half)

class Foreign:
    __array_interface__ = {"shape": (4,), "typestr": "<f4", "version": 3, "data": (0, False)}

RECORDS = [("position", "f4"), ("count", "u4")]
messages = []
with rg.Device() as device:
    frame = device.run(g)
    assert memoryview(frame["dst"]).cast("B").cast("I").tolist() == list(range(1, 65))
    assert frame["dst"].tolist() == list(range(1, 65))
    into = bytearray(256)
    device.run(g, into={"dst": into})
    assert memoryview(into).cast("I").tolist() == list(range(1, 65))
    kept = device.buffer("kept", 256)
    kept.write(numbers)
    assert memoryview(kept.read()).cast("B").cast("I").tolist() == list(range(64))
    shown = device.run(picture)
    assert shown[half].tolist() == [[[0.5, 0.0, 0.0, 1.0]] * 3] * 2
    out = shown[blurred]
    assert bytes(out)[:4] == bytes([255, 0, 0, 255])
    assert out._repr_png_().startswith(b"\\x89PNG")
    calls = [
        lambda: frame["dst"][0],
        lambda: frame["dst"] + 1,
        lambda: frame["dst"] == 1,
        lambda: frame["dst"].numpy(),
        frame["dst"].__reduce__,
        frame["dst"].__dlpack__,
        lambda: device.array((4, 4)),
        lambda: g.import_array("foreign", Foreign()),
        lambda: g.buffer("records", shape=4, dtype=RECORDS),
    ]
    for call in calls:
        try:
            call()
        except ModuleNotFoundError as error:
            assert error.name == "numpy"
            messages.append(str(error))
assert len(messages) == len(calls), messages
assert "array.tolist()" in messages[0]
assert all(" needs numpy, which is not installed\\n  help: pip install numpy" in one for one in messages), messages
print("ran")
"""


def test_a_program_without_numpy_runs_and_what_needs_it_says_so():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "ran\n"), done.stderr
