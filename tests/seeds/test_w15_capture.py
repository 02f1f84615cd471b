"""W15: frames are captured into one file, and run again anywhere without the program that declared them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rgraph as rg

STEP = """
struct Push { gain: f32 }
@group(0) @binding(0) var<storage, read> given: array<f32>;
@group(0) @binding(1) var<storage, read> noise: array<f32>;
@group(0) @binding(2) var<storage, read_write> sum: array<f32>;
var<immediate> push: Push;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    sum[id.x] = sum[id.x] * 0.5 + given[id.x] * push.gain + noise[id.x];
}
"""
SCALE = """
struct Push { by: f32 }
@group(0) @binding(0) var<storage, read> sum: array<f32>;
@group(0) @binding(1) var<storage, read_write> scaled: array<f32>;
var<immediate> push: Push;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    scaled[id.x] = sum[id.x] * push.by;
}
"""
HALVE = """
@group(0) @binding(0) var<storage, read> scaled: array<f32>;
@group(0) @binding(1) var<storage, read_write> last: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    last[id.x] = scaled[id.x] / 2.0;
}
"""
COUNT = 64


def declared(random: np.random.Generator) -> rg.Graph:
    """Input, host function, callback, persistent contents, a flag and parameters, all at once."""
    g = rg.Graph("frames")
    given = g.import_buffer("given", size=4 * COUNT)
    noise = g.buffer("noise", size=4 * COUNT)
    total = g.buffer("sum", size=4 * COUNT, persistent=True)
    scaled, last = g.buffer("scaled", size=4 * COUNT), g.buffer("last", size=4 * COUNT)
    calls = [0]

    def throw(views: dict[str, memoryview]) -> None:
        np.frombuffer(views["noise"], np.float32)[:] = random.random(COUNT, dtype=np.float32)

    def scale(commands: rg.Commands) -> None:
        calls[0] += 1
        commands.dispatch(SCALE, sum=total, scaled=scaled, push={"by": float(calls[0])}, groups=1)

    g.cpu("throw", throw, writes=noise)
    g.compute("step", STEP, given=given, noise=noise, sum=total, push={"gain": 1.0}, groups=1)
    g.callback("scale", scale, reads={total: "storage_read"}, writes={scaled: "storage_write"}, queue="compute")
    g.compute("halve", HALVE, scaled=scaled, last=last, groups=1)
    g.clear("mark", g.image("mark", format="rgba8unorm", size=(4, 4)), (0.2, 0.4, 0.6, 1.0))
    g.root(last)
    g.root("mark")
    return g


def captured(device: rg.Device, path: Path, frames: int = 3) -> list[np.ndarray]:
    """A capture of frames that follow two others, and what the frames left."""
    random = np.random.default_rng(7)
    compiled = device.compile(declared(random))
    given = [np.full(COUNT, value, np.float32) for value in range(2 + frames)]
    for array in given[:2]:
        compiled.run(inputs={"given": array}).wait()
    capture = compiled.capture(path, frames=frames)
    left = []
    for array in given[2:]:
        assert not capture.done
        frame = compiled.run(inputs={"given": array}, params={"step": {"gain": float(array[0])}}, read="last")
        assert list(frame) == ["last"], "a capture reads more than the program, which does not see it"
        left.append(np.array(frame["last"]).view(np.float32))
    assert capture.done
    assert capture.frames == frames
    return left


def test_captured_frames_run_again_bit_for_bit_without_their_functions(device: rg.Device, tmp_path: Path) -> None:
    path = tmp_path / "frames.rcapture"
    left = captured(device, path)
    assert not np.array_equal(left[0], left[1])
    report = device.replay(path)
    assert report.equal, report.text
    assert report.same_driver
    assert report.graphs == ("frames",) * 3
    assert report.notes == ()
    assert device.replay(path, anew=True).equal
    # Another process has none of the functions.
    command = [sys.executable, "-m", "rgraph", "replay", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("equal: 3 frames")


def repacked(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the header of a capture file."""
    data = path.read_bytes()
    length = int.from_bytes(data[8:16], "little")
    header = json.loads(data[16 : 16 + length])
    change(header)
    text = json.dumps(header).encode()
    path.write_bytes(data[:8] + len(text).to_bytes(8, "little") + text + data[16 + length :])


def test_replay_finds_the_byte_that_differs(device: rg.Device, tmp_path: Path) -> None:
    path = tmp_path / "frames.rcapture"
    left = captured(device, path)

    def exchange(header: dict[str, Any]) -> None:
        one, two = (header["frames"][at]["results"][0] for at in (1, 2))
        assert one["resource"] == "last"
        one["bytes"] = two["bytes"]

    repacked(path, exchange)
    report = device.replay(path)
    assert not report.equal
    first = int(np.flatnonzero(left[1].view(np.uint8) != left[2].view(np.uint8))[0])
    assert [(one.frame, one.resource, one.first) for one in report.differences] == [(1, "last", first)]
    command = [sys.executable, "-m", "rgraph", "replay", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert 'frame 1: "last" differs' in done.stdout


def test_images_of_several_mips_and_a_history_are_captured_whole(device: rg.Device, tmp_path: Path) -> None:
    g = rg.Graph("images", size=(8, 8))
    now = g.image("now", format="rgba32float")
    before = now.previous(2)
    source = g.import_image("source", format="rgba32float", mips=2)
    shader = """
    @group(0) @binding(0) var source: texture_2d<f32>;
    @group(0) @binding(1) var before: texture_2d<f32>;
    @group(0) @binding(2) var now: texture_storage_2d<rgba32float, write>;
    @compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
        let old = textureLoad(before, id.xy, 0);
        textureStore(now, id.xy, old + textureLoad(source, id.xy, 0) + textureLoad(source, id.xy / 2, 1));
    }
    """
    g.compute("add", shader, source=source, before=before, now=now)
    g.root(now)
    compiled = device.compile(g)
    fill = rg.Graph("fill", size=(8, 8))
    target = fill.import_image("target", format="rgba32float", mips=2)
    fill.clear("low", target.mip(0), (1, 2, 3, 4))
    fill.clear("high", target.mip(1), (8, 16, 32, 64))
    picture = device.image("picture", format="rgba32float", size=(8, 8), mips=2)
    device.run(fill, inputs={"target": picture})
    for _ in range(4):
        compiled.run(inputs={"source": picture})
    path = tmp_path / "images.rcapture"
    with device.capture(path, frames=10) as capture:
        first = np.array(compiled.run(inputs={"source": picture})["now"])
        compiled.run(inputs={"source": picture})
    assert capture.done
    assert capture.frames == 2
    assert first[0, 0].tolist() == [27, 54, 105, 204]
    report = device.replay(path)
    assert report.equal, report.text


def test_viewer_opens_a_capture(device: rg.Device, tmp_path: Path) -> None:
    path = tmp_path / "frames.rcapture"
    captured(device, path, frames=1)
    command = [sys.executable, "-m", "rgraph", "view", str(path), "-o", str(tmp_path / "page.html")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "halve" in (tmp_path / "page.html").read_text()


def test_broken_captures_are_refused_in_words(device: rg.Device, tmp_path: Path) -> None:
    path = tmp_path / "frames.rcapture"
    captured(device, path, frames=1)
    data = path.read_bytes()
    for cut in (0, 4, 12, 40, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:cut])
        with pytest.raises(rg.GraphError, match="RG-E222"):
            device.replay(path)
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(rg.GraphError, match=r"checksum"):
        device.replay(path)
    for key, value in (("graph", 7), ("graph", -1), ("plan", 10**30), ("run", "x"), ("unknown", 1)):
        path.write_bytes(data)
        repacked(path, lambda header, key=key, value=value: header["graphs"][0].update({key: value}))
        with pytest.raises(rg.GraphError):
            device.replay(path)
    g = rg.Graph("filled")
    g.fill("fill", g.buffer("out", 64), 1)
    g.root("out")
    for called in (device.capture, device.compile(g).capture):
        with pytest.raises(rg.GraphError, match=r"RG-E222 .* is a folder, and a capture is one file") as caught:
            called(tmp_path)
        assert caught.value.hint == f"name a file in it, such as {tmp_path / 'frames.rcapture'}"
    with pytest.raises(rg.GraphError, match="no folder"):
        device.capture(tmp_path / "nowhere" / "x.rcapture")
    with pytest.raises(rg.GraphError, match="RG-E213"):
        device.capture(path, frames=0)


def test_plan_of_a_capture_is_checked(device: rg.Device, tmp_path: Path) -> None:
    def chain(name: str) -> rg.Graph:
        g = rg.Graph(name, size=(4, 4))
        g.clear("one", g.image("image", format="rgba8unorm"), (1, 0, 0, 1))
        g.root("image")
        return g

    path = tmp_path / "two.rcapture"
    with device.capture(path, frames=2):
        device.run(chain("first"))
        device.run(chain("second"))

    def exchange(header: dict[str, Any]) -> None:
        one, two = header["graphs"]
        one["plan"], two["plan"] = two["plan"], one["plan"]

    assert device.replay(path).equal
    repacked(path, exchange)
    with pytest.raises(rg.PlanError, match="RG-E504"):
        device.replay(path)
    assert device.replay(path, anew=True).equal
