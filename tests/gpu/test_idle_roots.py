"""A root that no pass of the frame uses has no contents there, and the error says so."""

import numpy as np
import pytest

import rgraph as rg


def test_root_that_no_pass_uses_is_named_with_what_is_missing(device):
    g = rg.Graph("idle")
    state, out = g.buffer("state", persistent=np.arange(4, dtype=np.uint32)), g.buffer("out", 16)
    g.fill("fill", out, 1)
    g.root(state, out)
    frame = device.run(g)
    assert list(frame) == ["out"]
    with pytest.raises(rg.GraphError, match="let a pass of this frame use it: it is a root") as caught:
        frame["state"]
    assert caught.value.code == "RG-E225"
    g.copy("show", state, g.buffer("shown", 16))
    g.root("shown")
    assert np.asarray(device.run(g)["state"]).view(np.uint32).tolist() == [0, 1, 2, 3]
