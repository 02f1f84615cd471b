"""Names that the module has not say where they are; what takes long to make is made when it is asked for."""

import struct
import subprocess
import sys
from pathlib import Path

import pytest

import rgraph as rg
from rgraph import _core


def test_names_of_methods_that_are_looked_for_in_the_module_say_whose_they_are() -> None:
    for name, owner in (
        ("root", "Module"),
        ("clone", "Graph"),
        ("capture", "Device"),
        ("semaphore", "Device"),
        ("mip", "Image"),
    ):
        with pytest.raises(AttributeError, match=rf"^module 'rgraph' has no attribute '{name}'; it is {owner}.{name}$"):
            getattr(rg, name)
    with pytest.raises(AttributeError, match=r"^module 'rgraph' has no attribute 'grapf'$") as caught:
        getattr(rg, "grapf")  # noqa: B009
    assert (caught.value.name, caught.value.obj) == ("grapf", rg)


def test_named_tuples_are_made_when_one_is_asked_for() -> None:
    program = """if True:
        import sys
        before = set(sys.modules)
        import rgraph
        late = {"rgraph._records", "rgraph._adapt", "rgraph._errors", "rgraph._layers", "rgraph._modules"}
        late |= {"typing", "re", "enum", "collections", "functools"} - before
        assert not late & set(sys.modules), "most of the import's time would go into them"
        assert {"Barrier", "Trials"} <= set(dir(rgraph))
        assert rgraph.Barrier is rgraph.Barrier is sys.modules["rgraph._records"].Barrier
        assert [name for name in rgraph.__all__ if getattr(rgraph, name, None) is None] == []
        print("all names are there")
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("all names are there", "")


@pytest.mark.skipif(sys.platform != "linux" or sys.maxsize < 2**32, reason="reads ELF of 64 bits")
def test_the_compiled_module_has_no_large_tables_that_the_import_fills() -> None:
    """glslang's table of 65,536 instructions, which only its disassembler reads, took 4 ms and 7 MB of each process."""
    data = Path(_core.__file__).read_bytes()
    assert data[:5] == b"\x7fELF\x02"
    (headers,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    segments = [struct.unpack_from("<II6Q", data, headers + index * size) for index in range(count)]
    zeroed = [memory - stored for kind, _, _, _, _, stored, memory, _ in segments if kind == 1]
    assert len(zeroed) > 1
    assert sum(zeroed) < 2**20
