"""`Device(cache=)` keeps its file, and nothing else, whatever stands at the path."""

import logging
import os
import stat
from pathlib import Path

import pytest

import rgraph as rg

FILL = """
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { words[id.x] = id.x; }"""


def run(cache: Path) -> None:
    g = rg.Graph()
    words = g.buffer("words", 1024)
    g.compute("fill", FILL, words=words, groups=4)
    g.root(words)
    with rg.Device(cache=cache) as device:
        assert device.run(g)["words"].tobytes()[4:8] == b"\x01\x00\x00\x00"


def test_a_link_stays_and_its_file_is_written(device: rg.Device, tmp_path: Path):
    del device
    link, real = tmp_path / "link", tmp_path / "real"
    link.symlink_to("real")
    run(link)
    assert link.is_symlink()
    assert real.stat().st_size > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_is_neither_read_nor_replaced(device: rg.Device, tmp_path: Path, caplog: pytest.LogCaptureFixture):
    del device
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with caplog.at_level(logging.WARNING, logger="rgraph"):
        run(pipe)
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    assert "is a pipe, not a file" in caplog.text


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_a_device_without_an_end_is_not_read(device: rg.Device, caplog: pytest.LogCaptureFixture):
    del device
    with caplog.at_level(logging.WARNING, logger="rgraph"):
        run(Path("/dev/zero"))
    assert stat.S_ISCHR(Path("/dev/zero").lstat().st_mode)
    assert "is a device of characters, not a file" in caplog.text
