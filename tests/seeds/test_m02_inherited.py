"""M2: what another queue family owns is acquired if it was released, else initialised again."""

import numpy as np
import pytest

import rgraph as rg
from seeds.interposed import COMPUTE, GRAPHICS, TRANSFER, Interposer


def copying() -> rg.Graph:
    g = rg.Graph("copying")
    src, out = g.import_buffer("src", 4096, sharing="exclusive"), g.buffer("out", 4096)
    g.copy("copy", src, out)
    g.root(out)
    return g


@pytest.mark.parametrize("released", [True, False])
def test_m02_contents_come_over_only_if_they_were_released(interposer: Interposer, released: bool) -> None:
    numbers = np.arange(1024, dtype=np.uint32)
    with interposer.device(families=[GRAPHICS, COMPUTE, TRANSFER]) as device:
        assert len({queue["family"] for queue in device.profile.to_dict()["queues"]}) == 3
        own = device.buffer("own", 4096)
        own.write(numbers)
        device.wait_idle()
        lent = device.borrow_resource("src", own.handle, 4096)
        lent.set_state(queue=1, family=1, stages=["compute_shader"], access=["shader_storage_write"], released=released)
        interposer.log()
        frame = device.run(copying(), inputs={"src": lent})
        frame.wait()
        transfers = [line for line in interposer.log() if line.startswith("transfer")]
        notes = [note for note in frame.report.notes if '"src" was left to another queue family' in note]
        assert transfers == (["transfer 1 to 0"] if released else [])
        assert len(notes) == (0 if released else 1)
        if released:
            np.testing.assert_array_equal(np.asarray(frame["out"]).view(np.uint32), numbers)
        else:
            assert "initialised again, its contents are undefined" in notes[0]


def test_m02_initialised_means_undefined_inherited_means_kept(device: rg.Device) -> None:
    """Uninitialised, inherited from outside, made in the graph: the three states of a resource."""
    g = copying()
    frame = device.run(g, inputs={"src": np.full(1024, 5, np.uint32)})
    assert (np.asarray(frame["out"]).view(np.uint32) == 5).all()
    g = rg.Graph("unknown")
    src, out = g.import_buffer("src", 4096, contents="undefined"), g.buffer("out", 4096)
    g.add_pass("read", queue="compute").storage_read(src).storage_write(out)
    g.root(out)
    with pytest.raises(rg.GraphError) as caught:
        g.bake()
    assert caught.value.code == "RG-E203"


@pytest.mark.parametrize("name", ["queue", "family"])
@pytest.mark.parametrize("wrong", [-1, 10**30])
def test_m02_a_state_that_no_queue_can_leave_names_its_key(device: rg.Device, name: str, wrong: int) -> None:
    buffer = device.buffer("left", 64)
    with pytest.raises(rg.GraphError, match=rf"^RG-E213 {name}: {wrong} is out of range"):
        buffer.set_state(**{name: wrong})
