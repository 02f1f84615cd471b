"""G3: the user chooses the memory of persistent and imported resources, behind a driver with discrete memory types."""

import numpy as np
import pytest

import rgraph as rg
from gpu.shaders import SCALE
from seeds.interposed import CACHED, COHERENT, LOCAL, VISIBLE, Interposer

#: Device memory, host memory that is written, host memory that is read, a resizable BAR.
DISCRETE = [LOCAL, VISIBLE | COHERENT, VISIBLE | COHERENT | CACHED, LOCAL | VISIBLE | COHERENT]
TYPES = {"device": 0, "host": 1, "cached_host": 2, "device_local_host": 3}
WORDS = {"device": "device", "host": "host", "cached_host": "cached host", "device_local_host": "device-local host"}
SIZE = 5 << 20


def held(device: rg.Device) -> dict[str, int]:
    return {one.domain: one.live for one in device.memory().domains}


def counting(domain: str | None) -> rg.Graph:
    """A persistent buffer that every frame adds one to."""
    g = rg.Graph("counting")
    total = g.buffer("total", SIZE, persistent=True, memory_domain=domain)
    add = """@group(0) @binding(0) var<storage, read_write> total: array<u32>;
             @compute @workgroup_size(64)
             fn main(@builtin(global_invocation_id) id: vec3<u32>) { total[id.x] += 1u; }"""
    g.compute("add", add, total=total, groups=4)
    g.root(total)
    return g


@pytest.mark.parametrize("domain", TYPES)
def test_g03_a_persistent_buffer_lies_where_the_user_says(interposer: Interposer, domain: str) -> None:
    with interposer.device(DISCRETE) as device:
        g = counting(domain)
        assert rg.Graph.from_json(g.to_json()).to_dict()["buffers"]["total"]["memory_domain"] == domain
        plan = g.bake(device.profile)
        assert plan.check() == []
        resource = next(one for one in plan.to_dict()["resources"] if one["name"] == "total")
        assert resource["memory_domain"] == domain
        interposer.log()
        compiled = device.compile(plan)
        assert f"allocate {TYPES[domain]}" in interposer.log()
        assert held(device)[WORDS[domain]] >= SIZE
        for run in (1, 2):
            assert np.asarray(compiled.run()["total"]).view(np.uint32)[:256].tolist() == [run] * 256


@pytest.mark.parametrize("domain", TYPES)
def test_g03_imports_and_the_devices_own_resources_too(interposer: Interposer, domain: str) -> None:
    numbers = np.arange(SIZE // 4, dtype=np.uint32)
    with interposer.device(DISCRETE) as device:
        g = rg.Graph("scale")
        src = g.import_array("src", numbers, as_buffer=True, memory_domain=domain)
        dst = g.buffer("dst", SIZE)
        g.compute("scale", SCALE, src=src, dst=dst, params={"factor": 3, "offset": 1})
        g.root(dst)
        frame = device.run(g)
        np.testing.assert_array_equal(np.asarray(frame["dst"]).view(np.uint32), numbers * 3 + 1)
        assert held(device)[WORDS[domain]] >= SIZE
        del frame
        own = device.buffer("own", SIZE, memory_domain=domain)
        assert f"allocate {TYPES[domain]}" in interposer.log()
        own.write(numbers)
        submitted = [line for line in interposer.log() if line.startswith("submit")]
        assert bool(submitted) == (domain == "device"), "memory that the CPU sees is written in place"
        np.testing.assert_array_equal(np.asarray(own.read()).view(np.uint32), numbers)
        interposer.log()
        refused, image = None, None
        try:
            image = device.image("picture", (64, 64), "rgba8unorm", memory_domain=domain)
        except rg.DeviceError as error:
            refused = error
        # Drivers may keep images out of memory that the CPU sees; it is refused there, and only there.
        may = interposer.images_may_have(TYPES[domain])
        assert may == (refused is None)
        assert may or domain != "device"
        if refused is not None:
            assert refused.code == "RG-E102"
            assert f'"picture" is to lie in {domain} memory' in str(refused)
        if image is not None:
            image.write(np.full((64, 64, 4), 7, np.uint8))
            assert (np.asarray(image.read()) == 7).all()


def test_g03_passes_on_the_cpu_write_straight_into_the_chosen_memory(interposer: Interposer) -> None:
    def make(views: dict[str, memoryview]) -> None:
        np.frombuffer(views["made"], np.uint32)[:] = np.arange(1024)

    def graph(domain: str) -> rg.Graph:
        g = rg.Graph("made")
        made, out = g.buffer("made", 4096, persistent=True, memory_domain=domain), g.buffer("out", 4096)
        g.cpu("make", make, writes=made)
        g.copy("copy", made, out)
        g.root(out)
        return g

    with interposer.device(DISCRETE) as device:
        for domain in ("host", "cached_host", "device_local_host"):
            got = np.asarray(device.run(graph(domain))["out"]).view(np.uint32)
            assert got.tolist() == list(range(1024))
        with pytest.raises(rg.DeviceError, match=r'RG-E102 .*passes on the CPU use "made"') as caught:
            device.run(graph("device"))
        assert 'use "host"' in caught.value.hint


def test_g03_memory_that_the_device_has_not_is_refused_by_name(interposer: Interposer) -> None:
    with interposer.device([LOCAL, VISIBLE | COHERENT]) as device:
        message = r'RG-E102 "total" is to lie in device_local_host memory, and the device has none that suits it'
        with pytest.raises(rg.DeviceError, match=message) as caught:
            device.compile(counting("device_local_host"))
        assert caught.value.code == "RG-E102"
        assert caught.value.hint == 'use "device" or "host", or leave memory_domain out'
        with pytest.raises(rg.DeviceError, match='"own" is to lie in cached_host memory'):
            device.buffer("own", 64, memory_domain="cached_host")
        device.compile(counting("host"))


def test_g03_unified_memory_has_all_domains_and_is_written_directly(interposer: Interposer) -> None:
    with interposer.device([LOCAL | VISIBLE | COHERENT | CACHED]) as device:
        for domain in (None, *TYPES):
            own = device.buffer("own", 4096, memory_domain=domain)
            interposer.log()
            own.write(np.arange(1024, dtype=np.uint32))
            assert [line for line in interposer.log() if line.startswith("submit")] == []
            assert np.asarray(own.read()).view(np.uint32)[1023] == 1023


def test_g03_what_lives_within_a_frame_has_no_domain() -> None:
    g = rg.Graph("transient")
    made = g.buffer("made", 64, memory_domain="host")
    g.add_pass("make", queue="compute").storage_write(made)
    g.root(made)
    with pytest.raises(rg.GraphError, match="neither persistent nor imported") as caught:
        g.bake()
    assert caught.value.code == "RG-E218"
    with pytest.raises(rg.GraphError, match='there is no memory domain called "vram"'):
        g.buffer("other", 64, persistent=True, memory_domain="vram")


def test_g03_a_later_graph_with_another_domain_copies_the_contents(interposer: Interposer) -> None:
    with interposer.device(DISCRETE) as device:
        first = device.compile(counting("device"))
        first.run()
        second = device.compile(counting("host"), previous=first)
        frame = second.run()
        assert np.asarray(frame["total"]).view(np.uint32)[0] == 2
        assert held(device)["host"] >= SIZE
