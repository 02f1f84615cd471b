"""`rgraph run --gpus` and `rgraph bake --gpus`: one graph on several devices."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import clitool
import rgraph as rg
from clitool import run

PICTURE = np.random.default_rng(1).integers(0, 255, (4, 8, 4), np.uint8)


@pytest.fixture
def film(tmp_path: Path) -> Path:
    """A folder with a graph in a Python file, of which one pass names a second device, and its input."""
    halve, again = (f'"offset": 0.0}}, device={device}' for device in (1, 0))
    text = clitool.FILM.replace('"offset": 0.0}', halve, 1)
    at = text.index("again")
    (tmp_path / "film.py").write_text(text[:at] + text[at:].replace('"offset": 0.0}', again, 1))
    np.save(tmp_path / "in.npy", PICTURE)
    return tmp_path


@pytest.fixture
def driver() -> None:
    """A driver, whose first device is opened twice."""
    try:
        usable = any(not one.missing for one in rg.devices())
    except rg.DeviceError:
        usable = False
    if not usable:
        if os.environ.get("RGRAPH_REQUIRE_DEVICE") == "1":
            pytest.fail("no usable device")
        pytest.skip("no usable device")


def test_bake_plans_for_several_profiles_without_a_device(film: Path):
    done = run("bake", "film.py", "--gpus", "discrete,discrete", cwd=film)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("film: 2 devices, ")
    assert 'send "mid" to device 0' in done.stdout
    assert 'receive "mid" from device 1' in done.stdout
    done = run("bake", "film.py", "--gpus", "discrete,discrete", "-o", "f.rdevices.json", "-o", "f.txt", cwd=film)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    values = json.loads((film / "f.rdevices.json").read_text())
    assert {part["device"] for part in values["parts"]} == {0, 1}
    assert (film / "f.txt").read_text(encoding="utf-8").startswith("film: 2 devices, ")
    said = run("bake", "film.py", "--gpus", "discrete,discrete", "--json", cwd=film)
    assert json.loads(said.stdout) == values


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--gpus", "discrete"], "runs on device 1, and there is one device"),
        (["--gpus", "discrete,"], '"discrete," is not a list of names with commas between'),
        (["--gpus", "discrete,nothing"], "nothing: neither a file nor one of the profiles"),
        (["--gpus", "discrete,discrete", "--html"], "--html is for one device"),
        (["--gpus", "discrete,discrete", "--keep"], "--keep is for one device"),
        (["--gpus", "discrete,discrete", "--dump", "order"], "--dump is for one device"),
        (["--gpus", "discrete,discrete", "-o", "x.html"], "x.html: plans for several devices are written to"),
    ],
)
def test_bake_refuses_what_is_for_one_device(film: Path, arguments: list[str], said: str):
    done = run("bake", "film.py", *arguments, cwd=film)
    assert done.returncode == 2 or "RG-E212" in done.stderr, done.stderr
    assert said in done.stderr


@pytest.mark.usefixtures("driver")
def test_run_on_several_devices_computes_what_one_does(film: Path):
    several = run("run", "film.py", "--gpus", "0,0", "--input", "src=in.npy", "-o", "out", "--report", cwd=film)
    assert several.returncode == 0, several.stderr
    assert "film: 2 devices, " in several.stdout
    assert "receive" in several.stdout
    assert " and " in several.stderr
    (film / "film.py").write_text(clitool.FILM)
    one = run("run", "film.py", "--input", "src=in.npy", "-o", "alone", cwd=film)
    assert one.returncode == 0, one.stderr
    for path in sorted((film / "alone").iterdir()):
        assert path.read_bytes() == (film / "out" / path.name).read_bytes()


@pytest.mark.usefixtures("driver")
def test_run_prints_json_of_frames_and_takes_a_plan(film: Path):
    done = run("bake", "film.py", "--gpus", "discrete,discrete", "-o", "film.rdevices.json", cwd=film)
    assert done.returncode == 0, done.stderr
    given = ["--gpus", "0,0", "--input", "src=in.npy", "--plan", "film.rdevices.json"]
    done = run("run", "film.py", *given, "--json", "--frames", "3", cwd=film)
    assert done.returncode == 0, done.stderr
    values = json.loads(done.stdout)
    assert len(values["devices"]) == 2
    assert {part["device"] for part in values["parts"]} == {0, 1}
    assert values["frames"] == 3
    assert {one["name"] for one in values["results"]} == {"dst", "words"}
    assert len(values["report"]["series"]) > 0


@pytest.mark.usefixtures("driver")
@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--gpus", "0,99"], 3, "RG-E103"),
        (["--gpus", "0"], 1, "RG-E212"),
        (["--gpus", "0,0", "--chaos", "2"], 2, "--chaos is for one device"),
        (["--gpus", "0,0", "--device", "0"], 2, "--device is for one device"),
        (["--gpus", "0,0", "--costs", "x.rprofile.json"], 2, "--costs is for one device"),
        (["--gpus", "0,0", "--view", "x.html"], 2, "--view is for one device"),
        (["--gpus", "0,0", "--plan", "nothing.rdevices.json"], None, "nothing.rdevices.json"),
    ],
)
def test_run_refuses_devices_that_do_not_fit(film: Path, arguments: list[str], status: int | None, said: str):
    done = run("run", "film.py", "--input", "src=in.npy", *arguments, cwd=film)
    assert done.returncode != 0
    assert status is None or done.returncode == status, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
