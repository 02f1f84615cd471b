"""The error codes that need a device say what the page of codes shows."""

import os
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import error_page
import rgraph as rg

ENTRIES = error_page.entries()
ON_A_DEVICE = [code for code, entry in ENTRIES.items() if entry.needs == "device"]


@pytest.mark.parametrize("code", ON_A_DEVICE)
def test_example_of_the_page_says_what_the_page_shows(device: rg.Device, code: str):
    entry = ENTRIES[code]
    error = error_page.raised(entry, device=device)
    assert error.code == code
    assert error_page.matches(entry.says, str(error))
    assert not error.hint or f"help: {error.hint}" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), vars(again)) == (str(error), vars(error))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_the_use_of_a_device_in_a_fork_says_so(device: rg.Device):
    """The example of RG-E105, in a process of its own: its child prints what it gets."""
    del device
    example = ENTRIES["RG-E105"].example
    assert example
    code = (
        "import os, warnings\nimport rgraph as rg\nwarnings.simplefilter('ignore')\n"
        f"try:\n{textwrap.indent(example, '    ')}"
        "except rg.DeviceError as error:\n    print(error, flush=True)\n    os._exit(0)\n"
        "os.wait()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert error_page.matches(ENTRIES["RG-E105"].says, done.stdout.rstrip())


def test_without_the_layer_the_error_says_how_to_get_it(device: rg.Device, tmp_path: Path):
    """The example of RG-E106, where the loader finds no layers."""
    del device
    code = "import rgraph as rg\ntry:\n    rg.Device(validate=True)\nexcept rg.DeviceError as error:\n    print(error)"
    hidden = {"VK_LAYER_PATH": str(tmp_path), "XDG_DATA_DIRS": str(tmp_path), "XDG_CONFIG_DIRS": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | hidden, check=True
    )
    assert error_page.matches(ENTRIES["RG-E106"].says, done.stdout.rstrip())
