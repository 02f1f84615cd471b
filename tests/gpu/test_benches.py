"""Benches that anybody can repeat run, in small, and compare what they measure."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rgraph as rg

ROOT = Path(__file__).resolve().parent.parent.parent


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "benches" / "devices.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_two_devices_are_measured_against_one_and_agree_with_it(device: rg.Device):
    command = ["--gpus", "0,0", "--sizes", "1,2", "--frame", "64x32", "--ms", "1", "--frames", "3", "--runs", "1"]
    done = bench(*command)
    assert done.returncode == 0, done.stderr
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines() if line[:1] == "|"]
    assert [rows[0], rows[2][0] in ("`host`", "`staged`")] == [["GB/s of a copy, MiB", "64 KiB", "1", "2"], True]
    table = {row[0]: row[1:] for row in rows if len(row) == 6}
    halves = next(row for name, row in table.items() if name.startswith("a frame in halves"))
    assert float(halves[0]) > 0.0
    assert float(halves[4]) > 0.0, "the lower half is copied"
    assert table["3 independent frames"][4] == "0.0"
    assert float(table["3 independent frames, devices left open"][3]) >= 1.0
    assert all(re.fullmatch(r"\d+\.\d\d", row[2]) for name, row in table.items() if "frame" in name)
    assert device.info.name in done.stdout


def test_a_list_of_devices_that_are_not_two_is_refused():
    done = bench("--gpus", "0")
    assert done.returncode == 2
    assert "--gpus takes two devices" in done.stderr


def test_slangpy_counts_as_the_other_libraries_do(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("slangpy", reason="slangpy is among the benches' packages, not the tests'")
    monkeypatch.syspath_prepend(str(ROOT / "benches" / "beside"))
    libraries = importlib.import_module("libraries")
    # Its devices need more than software drivers have; its CPU device takes the same calls.
    monkeypatch.setattr(libraries.Slangpy, "kind", "cpu")
    library = libraries.Slangpy()
    for way in (library.anew, library.again):
        before, run = library.check(), way(7)
        run()
        library.wait()
        assert library.check() - before == 7
    library.up(4096)()
    assert int(library.down(4096)().sum()) == 4096
