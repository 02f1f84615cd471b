"""`rgraph doctor`: with a driver, without one, with manifests that are broken or name what is not there."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rgraph
from rgraph.cli.doctor import advice, manifests

MANIFEST = {"file_format_version": "1.0.0", "ICD": {"library_path": "", "api_version": "1.3.0"}}


def clean_environment() -> dict[str, str]:
    """The environment without anything that chooses drivers or layers."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("VK_", "RGRAPH_DEVICE"))}


def doctor(*arguments: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, from another folder."""
    command = [sys.executable, "-m", "rgraph", "doctor", *map(str, arguments)]
    package = str(Path(rgraph.__file__).parent.parent)
    paths = os.pathsep.join([package, os.environ.get("PYTHONPATH", "")])
    environment = clean_environment() | {"COLUMNS": "80", "PYTHONPATH": paths} | environment
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, encoding="utf-8", check=False, timeout=120
    )


@pytest.fixture(scope="session")
def driver() -> Path:
    """The manifest of a driver that works everywhere: Mesa's lavapipe."""
    found = [one.path for one in manifests.drivers() if one.name.startswith("lvp_icd") and not one.error]
    if not found:
        if os.environ.get("RGRAPH_REQUIRE_DEVICE") == "1":
            pytest.fail("lavapipe's manifest is not there")
        pytest.skip("lavapipe is not installed")
    return found[0]


def manifest(folder: Path, name: str, library: str | None = None, given: str | None = None) -> Path:
    """Write a driver's manifest."""
    path = folder / name
    values = {**MANIFEST, "ICD": {**MANIFEST["ICD"], "library_path": library}}  # type: ignore[dict-item]
    path.write_text(json.dumps(values) if given is None else given)
    return path


def after(lines: str, first: str, count: int) -> list[str]:
    """The lines that follow the one that begins with something, without their margins."""
    all_lines = [line.strip() for line in lines.splitlines()]
    at = next(at for at, line in enumerate(all_lines) if line.startswith(first))
    return all_lines[at + 1 : at + 1 + count]


def test_with_a_driver_all_is_well(driver: Path, tmp_path: Path):
    done = doctor(cwd=tmp_path, VK_DRIVER_FILES=str(driver))
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr
    assert f"✓ {driver.name}  llvmpipe" in done.stdout
    assert "✓ 0  llvmpipe" in done.stdout
    assert "queues   family 0: 1 × graphics, compute, transfer" in done.stdout
    assert "ran      a graph, in " in done.stdout
    assert f"· VK_DRIVER_FILES={driver}"[:78] in done.stdout
    assert done.stdout.endswith("\nGraphs can run here.\n")
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "\x1b" not in done.stdout
    assert not list(tmp_path.iterdir())


def test_json_has_everything(driver: Path, tmp_path: Path):
    done = doctor("--json", cwd=tmp_path, VK_DRIVER_FILES=str(driver))
    report = json.loads(done.stdout)
    assert report["usable"] is True
    assert report["findings"] == []
    assert report["system"]["rgraph"] == rgraph.__version__
    assert report["loader"]["found"] is True
    assert report["loader"]["version"][:2] >= [1, 1]
    assert [one["manifest"] for one in report["drivers"]] == [str(driver)]
    (device,) = report["devices"]
    assert device["name"] == report["drivers"][0]["devices"][0]
    assert device["ran"]["error"] is None
    assert device["profile"]["queues"][0]["name"] == "graphics"
    assert {"synchronization2", "timelineSemaphore"} <= {one["name"] for one in device["needs"]}
    assert {one["name"] for one in report["extras"]} >= {"numpy", "pillow", "imageio-ffmpeg"}


def test_without_a_driver_it_says_what_to_type(driver: Path, tmp_path: Path):
    missing = tmp_path / "missing.json"
    done = doctor(cwd=tmp_path, VK_DRIVER_FILES=str(missing))
    assert done.returncode == 3
    # Lines break where the folder is long.
    reported = f"✗ missing.json {missing.parent} there is no such file fix: unset VK_DRIVER_FILES"
    assert "".join(reported.split()) in "".join(done.stdout.split())
    assert after(done.stdout, "Devices", 1) == ["✗ none"]
    ends = "Graphs cannot run here: there is no usable device. Planning works.\n  unset VK_DRIVER_FILES\n"
    assert done.stdout.endswith(ends)


def test_no_driver_is_installed(driver: Path, tmp_path: Path):
    empty = {"XDG_DATA_DIRS": "/nowhere", "XDG_DATA_HOME": "/nowhere", "XDG_CONFIG_DIRS": "/nowhere"}
    done = doctor("--json", cwd=tmp_path, HOME="/nowhere", **empty)
    report = json.loads(done.stdout)
    if report["drivers"]:
        pytest.skip("/etc/vulkan has drivers")
    assert done.returncode == 3
    assert report["findings"][0]["message"] == "no Vulkan driver is installed"
    assert report["findings"][0]["fix"] == advice.install("driver")
    assert report["error"] == "vkCreateInstance: ERROR_INCOMPATIBLE_DRIVER"


def test_without_a_loader(tmp_path: Path):
    done = doctor("--loader", "/nowhere/libvulkan.so.1", cwd=tmp_path)
    assert done.returncode == 3
    text = " ".join(done.stdout.split())
    assert "Loader ✗ libvulkan.so.1 /nowhere/libvulkan.so.1: " in text
    assert "fix: leave --loader out" in text


@pytest.mark.parametrize("drivers", [0, 1])
def test_loader_that_is_not_installed(drivers: int):
    report = {"loader": {"name": "libvulkan.so.1", "found": False, "given": False}, "devices": []}
    have = [manifests.Manifest(Path("a.json"), "a.json")] * drivers
    found = advice.advise(report, have, [], [])
    what = ("loader",) if drivers else ("loader", "driver")
    assert found == [("loader", "the Vulkan loader libvulkan.so.1 is not installed", advice.install(*what))]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("{", "is not JSON at line 1, column 2"),
        ("[]", "is not a JSON object"),
        ("{}", 'is no driver manifest: it has no "ICD"'),
        ('{"ICD": {}}', 'names no library ("library_path")'),
        ('{"ICD": {"library_path": "./gone.so"}}', "names gone.so, which is not there"),
    ],
)
def test_broken_manifest(given: str, message: str, driver: Path, tmp_path: Path):
    broken = manifest(tmp_path, "broken.json", given=given)
    done = doctor("--json", cwd=tmp_path, VK_DRIVER_FILES=f"{broken}:{driver}")
    report = json.loads(done.stdout)
    reported = report["drivers"][0]["error"].replace(f"{tmp_path}/", "")
    assert reported == message
    assert report["drivers"][1]["error"] is None
    assert report["drivers"][1]["devices"]
    finding = next(one for one in report["findings"] if one["about"] == "broken.json")
    assert finding["fix"] == "unset VK_DRIVER_FILES"
    # Some loaders refuse all drivers because of one broken manifest: then doctor says so.
    assert done.returncode == (1 if report["usable"] else 3)
    if not report["usable"]:
        kept = next(one for one in report["findings"] if one["about"] == "loader")
        assert kept["message"].startswith("a broken manifest keeps it from every driver: ")


def test_manifest_whose_library_is_missing(driver: Path, tmp_path: Path):
    broken = manifest(tmp_path, "lost.json", "librgraph_lost.so")
    done = doctor(cwd=tmp_path, VK_DRIVER_FILES=f"{broken}:{driver}")
    assert done.returncode == 1
    printed = ["its library librgraph_lost.so is not installed", "fix: unset VK_DRIVER_FILES"]
    lines = after(done.stdout, "✗ lost.json", 4)
    # Where it is stands before, on lines of its own where it is long.
    assert "".join(lines).partition(printed[0])[0] in ("", str(tmp_path))
    assert lines[lines.index(printed[0]) :][:2] == printed
    assert done.stdout.endswith("\nGraphs can run here; 1 thing above can be fixed.\n")


def test_manifest_in_a_folder_is_removed_or_installed_again(driver: Path, tmp_path: Path):
    folder = tmp_path / "vulkan" / "icd.d"
    folder.mkdir(parents=True)
    broken = manifest(folder, "lost.json", "librgraph_lost.so")
    done = doctor("--json", cwd=tmp_path, XDG_CONFIG_HOME=str(tmp_path))
    finding = next(one for one in json.loads(done.stdout)["findings"] if one["about"] == "lost.json")
    assert finding["fix"] == f"rm {broken}"


@pytest.mark.skipif(sys.platform != "linux", reason="libraries are made by hand for Linux")
def test_driver_that_ends_the_process_is_found_and_survived(driver: Path, tmp_path: Path):
    # A library whose initialiser calls exit(7): the C library's own name is all that is needed to find one.
    source = tmp_path / "bad.c"
    source.write_text("#include <unistd.h>\n__attribute__((constructor)) static void f(void) { _exit(7); }\n")
    library = tmp_path / "libbad.so"
    try:
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no C compiler")
    broken = manifest(tmp_path, "bad.json", str(library))
    done = doctor("--json", cwd=tmp_path, VK_DRIVER_FILES=str(broken))
    report = json.loads(done.stdout)
    assert done.returncode == 3
    assert report["drivers"][0]["error"] == "its library ends the process (status 7): "


def test_profile_is_written_and_bakes(driver: Path, deferred: Path, tmp_path: Path):
    done = doctor("--profile", "here.rprofile.json", cwd=tmp_path, VK_DRIVER_FILES=str(driver))
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("here.rprofile.json: llvmpipe")
    profile = rgraph.Profile.load(tmp_path / "here.rprofile.json")
    assert rgraph.Graph.load(deferred).bake(profile).profile == profile.name
    printed = doctor("--profile", "-", cwd=tmp_path, VK_DRIVER_FILES=str(driver))
    assert rgraph.Profile.from_json(printed.stdout) == profile


def test_profile_of_a_device_that_is_not_there(driver: Path, tmp_path: Path):
    done = doctor("--profile", "-", "--device", "name:nobody", cwd=tmp_path, VK_DRIVER_FILES=str(driver))
    assert done.returncode == 3
    assert done.stderr.startswith('rgraph: RG-E103 no device is "name:nobody"\n')
    assert done.stderr.endswith("  help: rgraph doctor says more\n")


def test_costs_are_measured_printed_and_counted(driver: Path, tmp_path: Path):
    done = doctor("--measure", cwd=tmp_path, VK_DRIVER_FILES=str(driver))
    assert done.returncode == 0, done.stderr
    device, *lines = done.stdout.splitlines()
    assert device.startswith("llvmpipe")
    shown = {re.split(r"\s{2,}", line.strip())[0]: line.split()[-2:] for line in lines}
    assert len(shown) == 6
    assert shown["a wait for another queue"] == ["not", "measured"]
    assert shown["draws and dispatches of a queue overlap"][-1] in ("yes", "no")

    done = doctor("--measure", "--profile", "here.rprofile.json", cwd=tmp_path, VK_DRIVER_FILES=str(driver))
    assert done.returncode == 0, done.stderr
    measured = rgraph.Profile.load(tmp_path / "here.rprofile.json")
    plain = doctor("--profile", "-", cwd=tmp_path, VK_DRIVER_FILES=str(driver))
    before, after = rgraph.Profile.from_json(plain.stdout).to_dict(), measured.to_dict()
    changed = {key for key in after if after[key] != before[key]}
    costs = {"barrier_us", "submit_us", "pass_us", "width", "draws_overlap_dispatches"}
    assert {"pass_us", "width"} <= changed <= costs
    assert after["pass_us"] > 0
    assert after["cross_queue_us"] == before["cross_queue_us"]


def test_device_without_profile_is_a_wrong_call(tmp_path: Path):
    done = doctor("--device", "0", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "rgraph: --device needs --profile or --measure\n"


def nvidia(monkeypatch: pytest.MonkeyPatch, folder: Path, **there: bool | str) -> None:
    """Pretend an NVIDIA GPU's surroundings: kernel driver, device file, capabilities."""
    monkeypatch.setattr(advice, "_nvidia_version", lambda: "580.159.04" if there["kernel"] else "")
    node = folder / "nvidia0"
    if there["node"]:
        node.touch()
    real = advice.Path

    def path(*parts: str) -> Path:
        return real(folder) if parts == ("/dev",) else real(*parts)

    monkeypatch.setattr(advice, "Path", path)
    monkeypatch.delenv("NVIDIA_DRIVER_CAPABILITIES", raising=False)
    if "capabilities" in there:
        monkeypatch.setenv("NVIDIA_DRIVER_CAPABILITIES", str(there["capabilities"]))


MISSING = ["libGLX_nvidia.so.0", "libEGL.so.1"]
DOCKER = "start the container with: docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=all …"


@pytest.mark.parametrize(
    ("there", "missing", "known", "why", "fix"),
    [
        ({"kernel": False, "node": False}, MISSING, [], "the kernel's NVIDIA driver is not loaded", None),
        (
            {"kernel": True, "node": False, "capabilities": "all"},
            MISSING,
            [],
            "its device file /dev/nvidia0 is not in this container",
            DOCKER,
        ),
        (
            {"kernel": True, "node": True, "capabilities": "compute,utility"},
            MISSING,
            [],
            "the container was given the capabilities compute,utility: compute alone has no Vulkan",
            DOCKER,
        ),
        (
            {"kernel": True, "node": True, "capabilities": "all"},
            MISSING,
            [],
            "the driver is installed without its graphics half, which has Vulkan",
            DOCKER,
        ),
        (
            {"kernel": True, "node": True},
            [],
            [],
            "the driver is there, but no manifest names it to the loader",
            advice._NVIDIA_MANIFEST,
        ),
        (
            {"kernel": True, "node": True},
            [],
            ["its library cannot be opened: libXext.so.6: cannot open shared object file: No such file or directory"],
            "nvidia_icd.json: its library needs libXext.so.6, which is not installed",
            "libxext6",
        ),
        (
            {"kernel": True, "node": True, "capabilities": "compute,graphics,utility"},
            ["libEGL.so.1"],
            [""],
            "its driver needs libEGL.so.1 where there is no display, which is not installed",
            "libegl1",
        ),
        ({"kernel": True, "node": True}, [], [""], "the driver answers without this GPU: kernel module and", None),
    ],
)
def test_why_a_data_centre_gpu_shows_no_device(
    there: dict[str, bool | str],
    missing: list[str],
    known: list[str],
    why: str,
    fix: str | None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
):
    nvidia(monkeypatch, tmp_path, **there)
    path = Path("/usr/share/vulkan/icd.d/nvidia_icd.json")
    drivers = [manifests.Manifest(path, path.name, "libGLX_nvidia.so.0", error=error) for error in known]
    gpu = {"pci": "0000:00:06.0", "vendor": "NVIDIA", "name": "NVIDIA H200", "kind": "GPU without display"}
    report = {
        "loader": {"found": True},
        "devices": [],
        "hardware": [gpu],
        "error": "RG-E101",
    }
    found = next(one for one in advice.advise(report, drivers, [], missing) if one.about == "NVIDIA H200")
    assert found.message.startswith(f"shows no Vulkan device: {why}")
    assert found.fix == fix if fix and " " in fix else (fix or "") in found.fix


def test_a_gpu_that_shows_its_device_is_no_finding():
    gpu = {"pci": "0000:00:06.0", "vendor": "NVIDIA", "name": "NVIDIA H200", "kind": "GPU without display"}
    device = {"pci": "0000:00:06.0", "name": "NVIDIA H200", "kind": "discrete", "usable": True}
    device |= {"needs": [], "ran": {"error": None}}
    report = {"loader": {"found": True}, "devices": [device], "hardware": [gpu], "error": None}
    report["default_error"] = None
    driver = manifests.Manifest(Path("nvidia_icd.json"), "nvidia_icd.json", "libGLX_nvidia.so.0")
    assert advice.advise(report, [driver], [], []) == []


def test_device_that_lacks_something_is_told():
    needs = [{"name": "synchronization2", "has": False}, {"name": "maintenance4", "has": True}]
    device = {"pci": None, "name": "Old GPU", "kind": "discrete", "usable": False, "needs": needs, "ran": None}
    report = {"loader": {"found": True}, "devices": [device], "hardware": [], "error": None, "default_error": None}
    driver = manifests.Manifest(Path("old.json"), "old.json", devices=["Old GPU"])
    found = advice.advise(report, [driver], [], [])
    assert found == [("Old GPU", "lacks synchronization2", "install a newer driver of its maker")]


def test_environment_that_names_no_device_is_told(driver: Path, tmp_path: Path):
    done = doctor(cwd=tmp_path, VK_DRIVER_FILES=str(driver), RGRAPH_DEVICE="name:nobody")
    assert done.returncode == 1
    printed = ['RG-E103 no device is "name:nobody"', "fix: unset RGRAPH_DEVICE"]
    assert after(done.stdout, "✗ RGRAPH_DEVICE=name:nobody", 2) == printed
    assert doctor(cwd=tmp_path, VK_DRIVER_FILES=str(driver), RGRAPH_DEVICE="name:llvmpipe").returncode == 0
