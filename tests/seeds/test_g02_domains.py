"""G2: figures of memory by domain, each named by what the memory is; dedicated images are tested behind a driver that
pretends (rust/rgraph-vk/tests/memory_types.rs)."""

import numpy as np

import rgraph as rg

DOMAINS = {"device", "host", "cached host", "device-local host", "lazily allocated"}


def test_domains_are_named_by_what_memory_is(device: rg.Device):
    g = rg.Graph("copy")
    src = g.import_array("src", np.arange(1024, dtype=np.uint32), as_buffer=True)
    dst = g.buffer("dst", 4096)
    g.copy("copy", src, dst)
    g.root(dst)
    device.run(g)["dst"].numpy()
    held = {one.domain: one.held for one in device.memory().domains}
    assert held.keys() <= DOMAINS
    assert sum(held.values()) == device.memory().held
    if device.info.kind == "cpu":
        # A CPU has one memory, which both sides see: nothing of it is the device's alone.
        assert held.keys() == {"device-local host"}
