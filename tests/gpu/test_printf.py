"""What shaders print arrives in Python's logging, and a shader that prints to nobody says so."""

import logging
import os

import numpy as np
import pytest

import rgraph as rg

PRINTS = """#version 450
#extension GL_EXT_debug_printf : enable
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Out { uint all[]; } dst;
void main() {
    uint at = gl_GlobalInvocationID.x;
    if (at == 2) debugPrintfEXT("at %u | half %f", at, float(at) * 0.5);
    dst.all[at] = at + NUMBER;
}
"""


def graph(number: int) -> rg.Graph:
    g = rg.Graph("prints")
    dst = g.buffer("dst", shape=(4,), dtype="uint32")
    g.compute("print", PRINTS.replace("NUMBER", str(number)), dst=dst, groups=(1, 1, 1))
    g.root(dst)
    return g


def test_a_shader_prints_to_logging_each_time_it_runs(caplog: pytest.LogCaptureFixture):
    try:
        device = rg.Device(printf=True)
    except rg.DeviceError as error:
        if error.code != "RG-E106" or os.environ.get("RGRAPH_REQUIRE_LAYER") == "1":
            raise
        pytest.skip(f"no layer: {str(error).splitlines()[0]}")
    with device, caplog.at_level(logging.INFO, logger="rgraph.printf"):
        g = graph(1)
        for _ in range(2):
            assert np.asarray(device.run(g)["dst"]).tolist() == [1, 2, 3, 4]
        device.wait_idle()
        messages = device.messages
    printed = [record for record in caplog.records if record.name == "rgraph.printf"]
    assert [record.getMessage() for record in printed] == ["at 2 | half 1.000000"] * 2
    assert {record.levelno for record in printed} == {logging.INFO}
    assert messages == []


def test_a_shader_that_prints_to_nobody_runs_and_warns_once(device: rg.Device, caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.INFO):
        g = graph(2)
        for _ in range(2):
            assert np.asarray(device.run(g)["dst"]).tolist() == [2, 3, 4, 5]
    message = [record.getMessage() for record in caplog.records if "prints, and nobody listens" in record.getMessage()]
    assert len(message) == 1
    assert "printf=True" in message[0]
