"""G4: host memory that is cached and not coherent is flushed before submits and invalidated after waits."""

import numpy as np

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
