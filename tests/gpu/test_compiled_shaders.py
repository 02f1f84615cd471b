"""Shaders that were compiled are not compiled again, and pipelines are made once: counted, not timed."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import rgraph as rg
from rgraph import _core

PROGRAM = """
import sys, rgraph as rg
from rgraph import _core
for at in range(4):
    found = rg.reflect(f'''#version 450
    layout(local_size_x = {at + 1}) in;
    layout(binding = 0) buffer Out {{ uint all[]; }} dst;
    void main() {{ dst.all[gl_GlobalInvocationID.x] = {at}u; }}''')
    assert found.workgroup == (at + 1, 1, 1) and found.bindings[0].writes
try:
    rg.reflect("#version 450\\nlayout(local_size_x = 1) in;\\nvoid main() { oops; }")
except rg.ShaderError as error:
    assert "oops" in str(error)
print(_core._counts()["glsl_compiled"])
"""


def compiled(**environment: str) -> int:
    """How many texts of GLSL a process compiles that has four good ones and a bad one."""
    child = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={name: value for name, value in os.environ.items() if name != "RGRAPH_SHADER_CACHE"} | environment,
    )
    assert child.returncode == 0, child.stderr
    return int(child.stdout)


def test_a_process_that_starts_again_compiles_only_what_is_wrong(tmp_path: Path):
    folder = tmp_path / "kept"
    assert compiled(RGRAPH_SHADER_CACHE=str(folder)) == 5
    assert compiled(RGRAPH_SHADER_CACHE=str(folder)) == 1
    entries = sorted(folder.iterdir())
    assert len(entries) == 4
    entries[0].write_bytes(entries[0].read_bytes()[:-1])
    entries[1].write_bytes(entries[2].read_bytes())
    assert compiled(RGRAPH_SHADER_CACHE=str(folder)) == 3
    assert compiled(RGRAPH_SHADER_CACHE=str(folder)) == 1


def test_the_cache_is_in_the_users_folder_and_can_be_switched_off(tmp_path: Path):
    assert compiled(XDG_CACHE_HOME=str(tmp_path), HOME=str(tmp_path)) == 5
    assert len(list(tmp_path.rglob("*.rgs"))) == 4
    assert compiled(XDG_CACHE_HOME=str(tmp_path), HOME=str(tmp_path), RGRAPH_SHADER_CACHE="0") == 5
    # A folder that cannot be made is no cache, and no error.
    (tmp_path / "file").write_text("here")
    assert compiled(RGRAPH_SHADER_CACHE=str(tmp_path / "file" / "below")) == 5


def test_processes_share_a_folder(tmp_path: Path):
    with ThreadPoolExecutor(4) as pool:
        counts = list(pool.map(lambda _: compiled(RGRAPH_SHADER_CACHE=str(tmp_path)), range(4)))
    assert all(1 <= count <= 5 for count in counts)
    assert compiled(RGRAPH_SHADER_CACHE=str(tmp_path)) == 1
    assert not [path for path in tmp_path.iterdir() if path.suffix == ".part"]


def test_pipelines_are_made_once_and_ahead_of_the_first_run(device: rg.Device):
    g = rg.Graph("many")
    buffers = []
    for at in range(6):
        buffer = g.buffer(f"out{at}", shape=(64,), dtype="uint32")
        shader = f"""
        @group(0) @binding(0) var<storage, read_write> dst: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
            dst[id.x] = id.x * {at + 3}u + {id(g) % 1000}u;
        }}"""
        g.compute(f"first{at}", shader, dst=buffer)
        g.compute(f"second{at}", shader, dst=buffer)
        buffers.append(buffer)
    g.root(*buffers)
    before = _core._counts()["pipelines_made"]
    compiled = device.compile(g)
    assert _core._counts()["pipelines_made"] == before + 6
    frame = compiled.run()
    assert frame["out2"].numpy()[1] == 5 + id(g) % 1000
    device.compile(g, previous=compiled)
    assert _core._counts()["pipelines_made"] == before + 6


def test_the_first_pass_that_cannot_be_made_is_the_one_that_is_named(own_device: rg.Device):
    g = rg.Graph("wrong")
    for at in range(5):
        buffer = g.buffer(f"out{at}", shape=(64,), dtype="uint32")
        size = 64 if at % 2 == 0 else 60_000
        shader = f"""
        var<workgroup> shared_words: array<u32, {size}>;
        @group(0) @binding(0) var<storage, read_write> dst: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) at: u32) {{
            shared_words[at] = at;
            workgroupBarrier();
            dst[at] = shared_words[63u - at] + {at}u;
        }}"""
        g.compute(f"pass{at}", shader, dst=buffer)
        g.root(buffer)
    with pytest.raises(rg.DeviceError, match="240000 bytes of workgroup variables") as caught:
        own_device.compile(g)
    assert caught.value.pass_name == "pass1"
