"""Devices: opening, closing, what outlives them, threads, forks, and what results can do."""

import logging
import os
import signal
import subprocess
import sys
import threading
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest

import rgraph as rg
from gpu.conftest import opened
from gpu.shaders import FILL, SCALE


def painted(colour: list[float], size: tuple[int, int] = (8, 4), format_: str = "rgba8unorm") -> rg.Graph:
    """A graph that paints an image."""
    g = rg.Graph("painted")
    out = g.image("out", size, format_)
    g.compute("paint", FILL.replace("rgba8unorm", format_), dst=out, push=colour)
    g.root(out)
    return g


def test_importing_prints_nothing_and_loads_no_vulkan():
    code = (
        "import rgraph, sys, pathlib\n"
        "maps = pathlib.Path('/proc/self/maps')\n"
        "assert not maps.exists() or 'vulkan' not in maps.read_text().lower()\n"
        "assert 'numpy' not in sys.modules and 'logging' not in sys.modules\n"
        "rgraph.Graph().image('a')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_loader_that_is_not_there_is_a_device_error(tmp_path):
    with pytest.raises(rg.DeviceError) as caught:
        rg.Device(loader=tmp_path / "libvulkan.so")
    assert caught.value.code == "RG-E101"
    assert caught.value.hint
    assert isinstance(caught.value, rg.RgError | RuntimeError)


def test_a_device_that_is_not_there_is_an_error_that_lists_those_that_are(device: rg.Device):
    for name in ("name:nobody", "99", "uuid:00000000-0000-0000-0000-000000000000", "nonsense:1"):
        with pytest.raises(rg.DeviceError) as caught:
            rg.Device(name)
        assert caught.value.code == "RG-E103"
        assert device.info.name in str(caught.value)


def test_devices_are_chosen_by_what_identifies_them(device: rg.Device):
    info = device.info
    assert info.name in [known.name for known in rg.devices()]
    for selector in (info.index, str(info.index), f"uuid:{info.uuid}", f"name:{info.name}"):
        with rg.Device(selector) as other:
            assert other.info == info
            assert other.info.missing == ()


def test_a_closed_device_is_refused_and_closing_twice_is_once(own_device: rg.Device):
    g = painted([1, 1, 1, 1])
    compiled = own_device.compile(g)
    frame = compiled.run()
    kept = frame["out"]
    own_device.close()
    own_device.close()
    assert own_device.closed
    assert "closed" in repr(own_device)
    for use in (lambda: own_device.run(g), lambda: own_device.compile(g), compiled.run, own_device.wait_idle):
        with pytest.raises(rg.DeviceError) as caught:
            use()
        assert caught.value.code == "RG-E130"
    assert np.asarray(kept)[0, 0].tolist() == [255] * 4


def test_views_do_not_keep_a_device_from_being_closed(own_device: rg.Device):
    frame = own_device.run(painted([0, 1, 0, 1]))
    view, copy = np.asarray(frame["out"]), frame["out"].numpy(copy=True)
    memory = memoryview(frame["out"])
    own_device.close()
    assert own_device.closed
    del frame
    assert view[0, 0].tolist() == copy[0, 0].tolist() == list(memory.cast("B")[:4]) == [0, 255, 0, 255]


def test_an_error_in_a_block_is_not_hidden_by_views(device: rg.Device):
    del device
    own, views = opened(), []

    def block() -> None:
        with own:
            views.append(np.asarray(own.run(painted([1, 1, 1, 1]))["out"]))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        block()
    assert own.closed
    assert views[0].min() == 255


def test_results_cannot_be_written_and_stay_as_they_are(device: rg.Device):
    compiled = device.compile(painted([0, 0, 0, 1]))
    first = np.asarray(compiled.run()["out"])
    assert not first.flags.writeable
    with pytest.raises(ValueError, match="WRITEABLE"):
        first.setflags(write=True)
    for level in range(1, 9):
        compiled.run(params={"paint": [level / 8] * 4}).wait()
    assert first[0, 0].tolist() == [0, 0, 0, 255]


def test_results_go_through_dlpack(device: rg.Device):
    frame = device.run(painted([1, 0, 0, 1]))
    assert frame["out"].__dlpack_device__() == (1, 0)
    array = np.from_dlpack(frame["out"])
    np.testing.assert_array_equal(array, np.asarray(frame["out"]))


def chunks(png: bytes) -> tuple[tuple[int, int, int, int], bytes]:
    """Width, height, bits and colour type of a PNG file, and its rows without filters."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, data, header = 8, b"", None
    while at < len(png):
        length = int.from_bytes(png[at : at + 4])
        kind, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        assert zlib.crc32(kind + body) == int.from_bytes(png[at + 8 + length : at + 12 + length])
        if kind == b"IHDR":
            header = (int.from_bytes(body[:4]), int.from_bytes(body[4:8]), body[8], body[9])
        elif kind == b"IDAT":
            data += body
        at += 12 + length
    return header, zlib.decompress(data)


def test_pictures_are_saved_as_png(device: rg.Device, tmp_path):
    result = device.run(painted([1, 0, 0.2, 1]))["out"]
    result.save(tmp_path / "x.png")
    png = (tmp_path / "x.png").read_bytes()
    assert png == result._repr_png_()
    header, rows = chunks(png)
    assert header == (8, 4, 8, 6)
    assert bytes([255, 0, 51, 255]) in rows
    with pytest.raises(rg.GraphError, match="there is no suffix"):
        result.save(tmp_path / "x.gif")
    with pytest.raises(OSError, match="none"):
        result.save(tmp_path / "none" / "x.png")
    header, _ = chunks(device.run(painted([2.0, 0.5, -1, 1], format_="rgba16float"))["out"]._repr_png_())
    assert header == (8, 4, 8, 6)


def test_what_is_no_picture_is_not_saved(device: rg.Device, tmp_path):
    g = rg.Graph()
    a = g.buffer("a", 64)
    g.fill("fill", a)
    packed, many = g.image("packed", (4, 4), "rgb10a2unorm"), g.image("many", (4, 4), "rgba8unorm", layers=2)
    g.clear("clear", packed, (0, 0, 0, 0))
    g.clear("clears", many, (0, 0, 0, 0))
    g.root(a, packed, many)
    frame = device.run(g)
    for name in ("a", "packed", "many"):
        assert frame[name]._repr_png_() is None
        with pytest.raises(rg.GraphError):
            frame[name].save(tmp_path / "x.png")


def test_messages_go_to_logging(device: rg.Device, tmp_path, caplog):
    del device
    damaged = tmp_path / "pipelines.bin"
    damaged.write_bytes(b"no pipeline cache")
    with caplog.at_level(logging.WARNING, logger="rgraph"), opened(cache=damaged) as own:
        own.run(painted([1, 1, 1, 1])).wait()
    assert any(record.name == "rgraph" and "pipelines.bin" in record.message for record in caplog.records)


def test_a_pipeline_cache_is_written_and_read(device: rg.Device, tmp_path):
    del device
    cache = tmp_path / "pipelines.bin"
    for _ in range(2):
        with opened(cache=cache) as own:
            own.run(painted([1, 1, 1, 1])).wait()
            assert own.messages == []
    assert cache.stat().st_size > 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_device_in_a_fork_is_refused(device: rg.Device):
    g = painted([1, 1, 1, 1])
    device.run(g).wait()
    read, write = os.pipe()
    with warnings.catch_warnings():
        # Python warns of forks in a process with threads, which this test needs.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            device.run(g)
            raised = "no error"
        except rg.DeviceError as error:
            raised = str(error.code)
        except BaseException as error:
            raised = repr(error)
        os.write(write, raised.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        raised = pipe.read()
    _, status = os.waitpid(child, 0)
    assert (raised, status) == ("RG-E105", 0)
    assert np.asarray(device.run(g)["out"])[0, 0, 0] == 255


def test_several_threads_use_one_device(device: rg.Device):
    wrong = []

    def work(seed: int) -> None:
        values = np.arange(seed, seed + 64, dtype=np.uint32)
        g = rg.Graph(f"thread {seed}")
        src = g.import_array("src", values, as_buffer=True)
        dst = g.buffer("dst", values.nbytes)
        g.compute("scale", SCALE, src=src, dst=dst, params={"factor": seed, "offset": 1})
        g.root(dst)
        compiled = device.compile(g)
        for _ in range(10):
            result = np.asarray(compiled.run()["dst"]).view(np.uint32)
            if (result != values * seed + 1).any():
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_several_devices_at_once(device: rg.Device):
    with opened(frames_in_flight=3) as other:
        for _ in range(4):
            one, two = device.run(painted([1, 0, 0, 1])), other.run(painted([0, 1, 0, 1]))
            assert one["out"].tolist()[0][0] == [255, 0, 0, 255]
            assert two["out"].tolist()[0][0] == [0, 255, 0, 255]


def test_wrong_arguments_are_refused(device: rg.Device):
    with pytest.raises(TypeError, match="runs a Graph"):
        device.run(3)
    with pytest.raises(rg.GraphError, match="frames in flight"):
        rg.Device(frames_in_flight=0)
    g = painted([1, 1, 1, 1])
    frame = device.run(g)
    for wrong in (-1.0, float("nan")):
        with pytest.raises(rg.GraphError, match="RG-E213 timeout is"):
            frame.wait(wrong)
    for params in ({"nobody": 1}, {"paint": {"color": 1}}, {("paint", "dst"): 1}, {3: 1}):
        with pytest.raises((rg.GraphError, rg.ShaderError, TypeError)):
            device.run(g, params=params)
    assert "painted" in repr(frame)
    assert repr(frame["out"]) == '<Array "out" (4, 8, 4) of uint8, rgba8unorm>'


def test_a_diagnosis_says_what_a_device_has_and_who_wants_it(device: rg.Device):
    found = rg.diagnose()
    assert (found["loader"]["found"], found["loader"]["error"], found["instance"]["error"]) == (True, None, None)
    assert found["loader"]["path"].startswith("/")
    known = next(one for one in found["devices"] if one["uuid"] == device.info.uuid)
    info = device.info
    assert (known["index"], known["name"], known["kind"], known["pci"]) == (info.index, info.name, info.kind, info.pci)
    assert (known["driver"], tuple(known["api"])) == (info.driver, info.api)
    assert (known["usable"], known["refused"]) == (True, None)
    assert [one["size"] for one in known["heaps"]] == [size for size, _ in info.heaps]
    assert known["queues"][0]["capabilities"] == ["graphics", "compute", "transfer"]
    assert all(one["has"] and one["wanted_by"] for one in known["needs"])
    assert "timelineSemaphore" in [one["name"] for one in known["needs"]]
    names = [one["name"] for one in known["offers"]]
    assert len(set(names)) == len(names)
    assert {"samplerAnisotropy", "fillModeNonSolid", "multiDrawIndirect", "shaderFloat16"} <= set(names)
    assert all(isinstance(one["has"], bool) and one["wanted_by"] for one in known["offers"])
    assert rg.Profile.from_dict(known["profile"]) == device.profile


SLOW = """
@group(0) @binding(0) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var value = id.x;
    for (var at = 0u; at < 20000u; at++) { value = value * 1664525u + 1013904223u; }
    dst[id.x] = value;
}
"""


@pytest.mark.parametrize("waits", ["wait_idle", "close"])
def test_waits_for_a_device_end_with_ctrl_c(own_device: rg.Device, waits: str):
    g = rg.Graph()
    dst = g.buffer("dst", 4 * 64 * 4096)
    g.compute("slow", SLOW, groups=4096, dst=dst)
    g.root(dst)
    compiled = own_device.compile(g)
    compiled.run(read=[])
    timer = threading.Timer(0.1, signal.raise_signal, (signal.SIGINT,))
    timer.start()
    interrupted = False
    try:
        for _ in range(200):
            compiled.run(read=[])
        getattr(own_device, waits)()
    except KeyboardInterrupt:
        interrupted = True
    timer.join()
    assert interrupted
    assert not own_device.closed


def test_a_closed_device_cannot_be_entered(own_device: rg.Device):
    own_device.close()
    with pytest.raises(rg.DeviceError, match="closed") as caught, own_device:
        pass
    assert caught.value.code == "RG-E130"


def test_costs_of_a_profile_are_the_devices(tmp_path: Path):
    costs = {"barrier_us": 50.0, "submit_us": 60.0, "cross_queue_us": 70.0, "pass_us": 0.25, "width": 4096}
    other = rg.Profile.from_dict(rg.Profile.minimal().to_dict() | costs | {"draws_overlap_dispatches": False})
    path = tmp_path / "costs.rprofile.json"
    other.save(path)
    with opened() as device:
        own = device.profile.to_dict()
    for given in (other, path, str(path)):
        with opened(costs=given) as device:
            profile = device.profile.to_dict()
            plan = device.compile(chain()).plan
        assert profile == own | costs | {"draws_overlap_dispatches": False}
        # A submit, and a barrier call before the second pass.
        assert plan.frame_us >= 110.0


def chain() -> rg.Graph:
    """Declare two passes, the second of which needs the first."""
    g = rg.Graph("chain")
    first, second = g.buffer("first", 256), g.buffer("second", 256)
    g.fill("fill", first, 7)
    g.copy("copy", first, second)
    g.root(second)
    return g


def test_costs_that_are_none_are_refused(tmp_path: Path):
    with pytest.raises(TypeError, match="profile is a Profile, the name of a built-in one, or the path of a file"):
        opened(costs=3)
    with pytest.raises(FileNotFoundError):
        opened(costs=tmp_path / "nowhere.rprofile.json")


def test_unknown_keywords_of_device_resources_suggest_the_one_that_was_meant(device: rg.Device) -> None:
    for call, meant in (
        (lambda: device.buffer("x", 4, memory_domian="host"), "memory_domain"),  # type: ignore[call-arg]
        (lambda: device.image("x", (4, 4), "rgba8unorm", layrs=2), "layers"),  # type: ignore[call-arg]
    ):
        with pytest.raises(TypeError, match=rf"got an unexpected keyword argument '\w+'; did you mean '{meant}'\?"):
            call()
