"""What `diagnose` says where Vulkan is missing or broken: each case in a process with an environment of its own."""

import ctypes.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rgraph as rg

MANIFEST = {"file_format_version": "1.0.0", "ICD": {"library_path": "libnone.so", "api_version": "1.3.0"}}


def diagnosed(manifest: str, folder: Path) -> dict[str, Any]:
    """The diagnosis with one driver manifest, of that text."""
    path = folder / "driver.json"
    path.write_text(manifest)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("VK_")}
    environment["VK_ICD_FILENAMES"] = environment["VK_DRIVER_FILES"] = str(path)
    code = "import json, rgraph; print(json.dumps(rgraph.diagnose()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return json.loads(done.stdout)


def test_a_loader_that_is_not_there_is_said(tmp_path):
    path = tmp_path / "libvulkan.so.1"
    found = rg.diagnose(loader=path)
    assert found["loader"]["path"] == str(path)
    assert (found["loader"]["found"], found["loader"]["version"]) == (False, None)
    assert "No such file" in found["loader"]["error"]
    assert (found["layers"], found["devices"]) == ([], [])
    assert found["instance"] == {"error": None, "extensions": [], "messages": []}


def test_a_loader_that_is_none_is_said(tmp_path):
    path = tmp_path / "libvulkan.so.1"
    path.write_text("nothing")
    assert rg.diagnose(loader=path)["loader"]["found"] is False
    assert rg.diagnose(loader=path)["loader"]["error"]


@pytest.mark.skipif(ctypes.util.find_library("vulkan") is None, reason="no Vulkan loader is installed")
@pytest.mark.parametrize(
    ("manifest", "says"),
    [
        ("{ this is no JSON", "driver.json"),
        (json.dumps(MANIFEST), "libnone.so"),
        (json.dumps(MANIFEST | {"ICD": {"library_path": "libm.so.6", "api_version": "1.3.0"}}), "libm.so.6"),
        ("{}", ""),
    ],
    ids=["no JSON", "missing library", "no driver", "empty"],
)
def test_a_driver_that_does_not_load_is_said(manifest: str, says: str, tmp_path: Path):
    found = diagnosed(manifest, tmp_path)
    assert found["loader"]["found"]
    assert found["loader"]["version"][0] == 1
    assert "vulkan" in found["loader"]["path"]
    assert found["devices"] == []
    if says == "driver.json" and "ERROR_OUT_OF_HOST_MEMORY" in found["instance"]["error"]:
        return  # what some loaders make of it, and they say no more
    assert found["instance"]["error"] == "vkCreateInstance: ERROR_INCOMPATIBLE_DRIVER"
    assert any(says in message for message in found["instance"]["messages"])


@pytest.mark.skipif(ctypes.util.find_library("vulkan") is None, reason="no Vulkan loader is installed")
def test_no_driver_that_loads_is_a_device_error_with_a_repair(tmp_path: Path):
    for text in ("{ this is no JSON", json.dumps(MANIFEST)):
        path = tmp_path / "driver.json"
        path.write_text(text)
        code = (
            "import rgraph\n"
            "try: rgraph.devices()\n"
            "except rgraph.DeviceError as error: print(error.code, '|', error, '|', error.hint)"
        )
        environment = dict(os.environ) | {"VK_ICD_FILENAMES": str(path), "VK_DRIVER_FILES": str(path)}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
        error, message, hint = done.stdout.strip().split(" | ")
        assert error == "RG-E101"
        assert "driver" in message
        assert "rgraph doctor" in hint or "apt-get install" in hint
