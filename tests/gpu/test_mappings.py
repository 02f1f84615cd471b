"""Arguments that annotations call mappings take any mapping."""

from collections import ChainMap, UserDict
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
import pytest

import rgraph as rg

STEP = """
override SCALE: u32 = 1;
struct Push { by: u32 }
var<immediate> push: Push;
@group(0) @binding(0) var<storage, read> given: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1) fn main() { out[0] = given[0] + push.by * SCALE; }
"""


@pytest.mark.parametrize("mapping", [dict, MappingProxyType, UserDict, ChainMap])
def test_arguments_by_name_may_be_any_mapping(device: rg.Device, mapping: Callable[[dict], Mapping]):
    g = rg.Graph("step")
    given = g.import_array("given", np.zeros(1, np.uint32), as_buffer=True)
    out = g.buffer("out", shape=1, dtype="uint32")
    constants = mapping({"SCALE": 10})
    g.compute("step", STEP, given=given, out=out, push=mapping({"by": 2}), constants=constants, groups=1)
    g.root(out)
    assert device.run(g)["out"].tolist() == [20]
    result = np.zeros(1, np.uint32)
    arguments = {
        "inputs": mapping({"given": np.full(1, 7, np.uint32)}),
        "params": mapping({"step": mapping({"by": 3})}),
        "flags": mapping({}),
        "into": mapping({"out": result}),
    }
    device.compile(g).run(**arguments).wait()
    assert result.tolist() == [37]
    result[:] = 0
    device.run(g, **arguments).wait()
    assert result.tolist() == [37]
    assert g.bake(weights=mapping({"step": 70.0})).frame_us > g.bake(weights={"step": 7.0}).frame_us


def test_anything_else_is_refused(device: rg.Device):
    g = rg.Graph("filled")
    g.fill("fill", g.buffer("out", 4), 1)
    g.root("out")
    compiled = device.compile(g)
    for argument in ("inputs", "into", "flags", "params"):
        with pytest.raises(TypeError, match=r"expected a dict, not (list|int)"):
            compiled.run(**{argument: [("out", 1)]})
