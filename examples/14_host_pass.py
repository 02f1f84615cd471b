"""A pass on the CPU between passes on the GPU: its function gets the memory that they wrote."""

import numpy as np

import rgraph as rg

SQUARES = """
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { words[id.x] = id.x * id.x; }"""

HALVE = """
@group(0) @binding(0) var<storage, read> sum: array<u32>;
@group(0) @binding(1) var<storage, read_write> half: array<u32>;
@compute @workgroup_size(1)
fn main() { half[0] = sum[0] / 2u; }"""


def add(views: dict[str, memoryview]) -> None:
    """What the GPU wrote goes in, one number comes out."""
    words = np.frombuffer(views["words"], np.uint32)
    np.frombuffer(views["sum"], np.uint32)[0] = words.sum(dtype=np.uint32)


g = rg.Graph("sum")
words, total, half = g.buffer("words", 4 * 256), g.buffer("sum", 4), g.buffer("half", 4)
g.compute("squares", SQUARES, words=words)
g.cpu("add", add, reads=words, writes=total)
g.compute("halve", HALVE, sum=total, half=half, groups=1)
g.root(total, half)

with rg.Device() as device:
    frame = device.run(g)
    results = [int(frame[name].view("uint32").numpy(copy=True)[0]) for name in ("sum", "half")]
    del frame
print(results)
assert results[0] == sum(n * n for n in range(256))
