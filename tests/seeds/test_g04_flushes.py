"""G4: host memory that is cached and not coherent is flushed before submits and invalidated after waits."""

import numpy as np
import pytest

import rgraph as rg
from seeds.interposed import CACHED, COHERENT, LOCAL, VISIBLE, Interposer


def echoed(device: rg.Device, numbers: np.ndarray) -> np.ndarray:
    g = rg.Graph("echo")
    src, out = g.import_array("src", numbers, as_buffer=True), g.buffer("out", numbers.nbytes)
    g.copy("copy", src, out)
    g.root(out)
    return np.asarray(device.run(g)["out"]).view(np.uint32)


def test_g04_what_is_not_coherent_is_flushed_and_invalidated(interposer: Interposer) -> None:
    numbers = np.arange(1 << 16, dtype=np.uint32)
    with interposer.device([LOCAL, VISIBLE | COHERENT, VISIBLE | CACHED]) as device:
        interposer.log()
        np.testing.assert_array_equal(echoed(device, numbers), numbers)
        words = [line.split()[0] for line in interposer.log()]
        assert words.index("flush") < words.index("submit") < words.index("invalidate")
        assert {"device", "cached host"} <= {one.domain for one in device.memory().domains}


def test_g04_what_is_coherent_needs_neither(interposer: Interposer) -> None:
    numbers = np.arange(1 << 16, dtype=np.uint32)
    with interposer.device([LOCAL, VISIBLE | COHERENT | CACHED]) as device:
        interposer.log()
        np.testing.assert_array_equal(echoed(device, numbers), numbers)
        words = {line.split()[0] for line in interposer.log()}
        assert "submit" in words
        assert not words & {"flush", "invalidate"}


ACCUMULATE = """
struct Factors { scale: u32, offset: u32 }
@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@group(0) @binding(2) var<uniform> factors: Factors;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x < arrayLength(&src) { dst[id.x] += src[id.x] * factors.scale + factors.offset; }
}"""


@pytest.mark.parametrize("count", [1, 17, 4097, (3 << 18) + 5])
def test_g04_no_byte_goes_around_flushes_and_invalidations(interposer: Interposer, count: int) -> None:
    """Memory that is not coherent for real: what is neither flushed nor invalidated is not seen by the other side."""
    numbers = np.random.default_rng(count).integers(0, 1 << 32, count, dtype=np.uint32)
    with interposer.device([LOCAL, VISIBLE | COHERENT, VISIBLE | CACHED]) as device:
        g = rg.Graph("sum")
        total = g.buffer("total", numbers.nbytes, persistent=True)
        src = g.import_array("src", numbers, as_buffer=True)
        factors = {"scale": 1, "offset": 3}
        g.compute("add", ACCUMULATE, groups=-(-count // 64), src=src, dst=total, factors=factors)
        g.root(total)
        compiled = device.compile(g)
        compiled.run()
        changed = compiled.run(params={("add", "factors"): {"scale": 2, "offset": 0}})
        want = numbers * np.uint32(3) + np.uint32(3)
        np.testing.assert_array_equal(np.asarray(changed[total]).view(np.uint32).ravel(), want)
        into = np.zeros(count, np.uint32)
        compiled.run(into={total: into})
        want = want + numbers + np.uint32(3)
        np.testing.assert_array_equal(into, want)
        kept, locked = device.buffer("kept", numbers.nbytes), device.array((count,), "uint32")
        locked[:] = numbers
        for source in (numbers, locked):
            for target in (np.zeros(count, np.uint32), device.array((count,), "uint32")):
                kept.write(np.zeros(count, np.uint32))
                kept.write(source)
                kept.read(into=target)
                np.testing.assert_array_equal(target, numbers)
                np.testing.assert_array_equal(np.asarray(kept.read()).view(np.uint32).ravel(), numbers)
        picture = device.image("picture", (13, 7), "rgba8unorm")
        texels = np.random.default_rng(1).integers(0, 256, (7, 13, 4), dtype=np.uint8)
        picture.write(texels)
        np.testing.assert_array_equal(np.asarray(picture.read()), texels)
