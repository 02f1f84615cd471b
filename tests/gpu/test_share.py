"""Memory that devices and processes share, by file descriptors."""

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import rgraph as rg
from gpu.conftest import opened

SIZE = (40, 24)


def descriptors() -> set[str]:
    """Open file descriptors of this process, without the one that lists them."""
    return {path.name for path in Path("/proc/self/fd").iterdir() if os.path.lexists(path)}


def texels(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (SIZE[1], SIZE[0], 4), np.uint8)


INVERT = """
@group(0) @binding(0) var src: texture_2d<f32>;
@group(0) @binding(1) var dst: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    textureStore(dst, id.xy, vec4<f32>(1.0) - textureLoad(src, id.xy, 0));
}"""


def inverting() -> rg.Graph:
    """A graph that writes the inverse of imported image "src" to imported image "dst"."""
    g = rg.Graph("inverting")
    src, dst = (g.import_image(name, SIZE, "rgba8unorm") for name in ("src", "dst"))
    g.compute("invert", INVERT, src=src, dst=dst, groups=(5, 3, 1))
    g.root(dst)
    return g


@pytest.fixture
def sharing() -> Iterator[rg.Device]:
    """A device that shares memory; it must stay silent."""
    with opened() as device:
        try:
            device.shared_memory("probe", 4096)
        except rg.DeviceError as error:
            if error.code != "RG-E102":
                raise
            pytest.skip(str(error).splitlines()[0])
        device.wait_idle()
        yield device
        device.wait_idle()
        assert device.messages == []


def test_an_image_passes_between_two_devices_without_a_copy(sharing: rg.Device):
    memory = sharing.shared_memory("frames", 1 << 20)
    src = memory.image("src", SIZE, "rgba8unorm")
    dst = memory.image("dst", SIZE, "rgba8unorm")
    exported = memory.export()
    with opened() as other:
        theirs = other.import_memory("theirs", exported)
        os.close(exported.fd)
        inputs = {
            name: theirs.image(name, SIZE, "rgba8unorm", offset=one.offset)
            for name, one in (("src", src), ("dst", dst))
        }
        for seed in range(3):
            src.write(texels(seed))
            assert src.holder is None
            src.release("the other device")
            assert src.holder == rg.Holder("the other device", None)
            inputs["src"].acquire()
            if seed == 0:
                inputs["dst"].acquire(discard=True)
                dst.release("the other device")
            frame = other.run(inverting(), inputs=inputs)
            assert (np.array(frame["dst"]) == 255 - texels(seed)).all()
            inputs["dst"].release("the first device")
            inputs["src"].release("the first device")
            dst.acquire()
            src.acquire()
            assert (np.array(dst.read()) == 255 - texels(seed)).all()
            dst.release("the other device")
            inputs["dst"].acquire()
        assert other.messages == []


CHILD = """
import json, socket, sys
import numpy as np
import rgraph as rg

channel = socket.socket(fileno=int(sys.argv[1]))
data, (fd,), _, _ = socket.recv_fds(channel, 4096, 1)
about = json.loads(data)
with rg.Device() as device:
    memory = device.import_memory("received", rg.Exported(**about["memory"])._replace(fd=fd))
    image = memory.image("shared", about["size"], "rgba8unorm", offset=about["offset"])
    image.acquire()
    seen = np.array(image.read())
    image.write(255 - seen)
    image.release("the parent")
channel.sendall(json.dumps(int(seen.astype(np.uint64).sum())).encode())
"""


def test_an_image_passes_between_two_processes_without_a_copy(sharing: rg.Device):
    memory = sharing.shared_memory("frames", 1 << 20)
    memory.buffer("front", 1000)
    image = memory.image("shared", SIZE, "rgba8unorm")
    assert image.offset
    image.write(texels(7))
    image.release("the child")
    exported = memory.export()
    before = descriptors()
    here, there = socket.socketpair()
    with here, there:
        child = subprocess.Popen([sys.executable, "-c", CHILD, str(there.fileno())], pass_fds=[there.fileno()])
        about = {"memory": exported._asdict(), "offset": image.offset, "size": SIZE}
        socket.send_fds(here, [json.dumps(about).encode()], [exported.fd])
        os.close(exported.fd)
        there.close()
        assert json.loads(here.recv(100)) == texels(7).astype(np.uint64).sum()
        assert child.wait(60) == 0
    assert len(descriptors()) == len(before) - 1
    with pytest.raises(rg.GraphError, match='"shared" is held by the child'):
        image.read()
    image.acquire()
    assert (np.array(image.read()) == 255 - texels(7)).all()


def test_what_another_user_has_is_refused(sharing: rg.Device):
    memory = sharing.shared_memory("frames", 1 << 20)
    src, dst = (memory.image(name, SIZE, "rgba8unorm") for name in ("src", "dst"))
    with pytest.raises(rg.GraphError, match='"src" is not held by another user'):
        src.acquire()
    compiled = sharing.compile(inverting())
    src.write(texels(1))
    compiled.run(inputs={"src": src, "dst": dst}).wait()
    src.release("somebody")
    for use in (
        lambda: compiled.run(inputs={"src": src, "dst": dst}),
        lambda: src.write(texels(2)),
        lambda: src.release("another"),
        src.read,
    ):
        with pytest.raises(rg.GraphError, match='"src" is held by somebody'):
            use()
    semaphore = sharing.semaphore(3)
    src.acquire(wait=(semaphore, 4))
    with pytest.raises(rg.GraphError, match='"src" is not held by another user'):
        src.acquire()
    frame = compiled.run(inputs={"src": src, "dst": dst})
    assert not frame.wait(0.05)
    semaphore.signal(4)
    assert (np.array(frame["dst"]) == 255 - texels(1)).all()
    src.release("somebody", signal=(semaphore, 5), until=(semaphore, 6))
    assert src.holder == rg.Holder("somebody", 6)
    frame = compiled.run(inputs={"src": src, "dst": dst})
    assert semaphore.wait(5, 10)
    assert not frame.wait(0.05)
    semaphore.signal(6)
    assert (np.array(frame["dst"]) == 255 - texels(1)).all()
    own = sharing.buffer("own", 64)
    assert (own.offset, own.holder) == (None, None)
    with pytest.raises(rg.GraphError, match='"own" lies in no shared memory'):
        own.release("somebody")


def test_bad_descriptors_are_refused_and_none_leaks(sharing: rg.Device):
    memory = sharing.shared_memory("frames", 1 << 20)
    exported = memory.export()
    before = descriptors()
    closed = os.dup2(exported.fd, 900)
    os.close(closed)
    reader, writer = os.pipe()
    small = os.memfd_create("small")
    others = [reader, writer, small]
    other = "00000000-1111-2222-3333-444444444444"
    for change, error, message in (
        ({"fd": closed}, rg.GraphError, f'RG-E225 descriptor {closed} for memory "m" cannot be used: '),
        ({"fd": -1}, rg.GraphError, "descriptor -1 is none"),
        ({"fd": reader}, rg.GraphError, "is a pipe"),
        ({"fd": small}, rg.GraphError, "holds 0 bytes, and 1048576 are expected"),
        # The size of a file in memory is seen; of a GPU's own object only the driver knows it.
        (
            {"size": 1 << 40},
            (rg.GraphError, rg.DeviceError),
            ("1099511627776 are expected", 'refuses the descriptor for memory "m"'),
        ),
        ({"size": 0}, rg.GraphError, "has 0 bytes of memory type"),
        ({"memory_type": 77}, rg.GraphError, "of memory type 77"),
        ({"device_uuid": other}, rg.DeviceError, 'RG-E131 memory "m" was exported by another device'),
        ({"driver_uuid": other}, rg.DeviceError, 'RG-E131 memory "m" was exported by another driver'),
        ({"driver_uuid": "new"}, rg.GraphError, 'driver_uuid is "new"'),
        ({"kind": "semaphore"}, rg.GraphError, "imported from an exported semaphore"),
    ):
        with pytest.raises(error) as raised:
            sharing.import_memory("m", exported._replace(**change))
        assert any(one in str(raised.value) for one in ((message,) if isinstance(message, str) else message))
    with pytest.raises(rg.GraphError, match="imported from int"):
        sharing.import_memory("m", exported.fd)
    imported = sharing.import_memory("m", exported)
    with pytest.raises(rg.GraphError, match="was imported, so this device cannot export it"):
        imported.export()
    del imported
    for fd in others:
        os.close(fd)
    sharing.wait_idle()
    # A device of another test may have been destroyed meanwhile, and has closed its own.
    assert not descriptors() - before
    os.close(exported.fd)


def test_resources_lie_where_their_block_has_room(sharing: rg.Device):
    memory = sharing.shared_memory("small", 8192)
    assert sharing.memory().owners["small"] == 8192
    first = memory.buffer("first", 4096)
    assert first.offset == 0
    for make, message in (
        (lambda: memory.buffer("second", 8000), 'needs 8000 bytes of "small", which has 8192'),
        (lambda: memory.buffer("second", 64, offset=1), "is not aligned to"),
        (lambda: memory.buffer("second", 64, offset=0), 'needs 64 bytes at byte 0 of "small"'),
        (lambda: memory.buffer("second", 0), "has 0 bytes"),
        (lambda: memory.image("second", (0, 4), "rgba8unorm"), "has no texels"),
    ):
        with pytest.raises(rg.GraphError, match=message):
            make()
    with pytest.raises(rg.GraphError, match="has no bytes"):
        sharing.shared_memory("none", 0)
    del first
    sharing.wait_idle()
    assert memory.buffer("again", 8192).offset == 0


def test_timelines_pass_between_devices_or_the_error_says_why_not(sharing: rg.Device):
    with pytest.raises(rg.GraphError, match="not made to be exported"):
        sharing.semaphore().export()
    refused = None
    try:
        semaphore = sharing.semaphore(5, shared=True)
    except rg.DeviceError as error:
        refused = str(error)
    if refused is not None:
        lacks = r"no (VK_KHR_external_semaphore_fd|timeline semaphores as file descriptors)"
        assert re.match(rf"RG-E102 .* cannot share semaphores: it has {lacks}", refused)
        return
    exported = semaphore.export()
    with opened() as other:
        theirs = other.import_semaphore(exported)
        os.close(exported.fd)
        semaphore.signal(6)
        assert theirs.wait(6, 10)
        with pytest.raises(rg.GraphError, match="an imported semaphore cannot be signalled"):
            theirs.signal(7)
