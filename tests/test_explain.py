"""`rgraph explain`: the reasons of a pass, and the meaning of an error's code."""

import json
import re
from pathlib import Path

import pytest

import clitool
import rgraph


def test_explain_tells_of_one_pass(deferred: Path, tmp_path: Path):
    done = clitool.run("explain", deferred, "ao", cwd=tmp_path)
    assert done.returncode == 0
    assert "compute" in done.stdout
    assert clitool.run("explain", deferred, "oa", cwd=tmp_path).returncode == 2


def test_explain_fits_its_reasons_into_the_window(deferred: Path, tmp_path: Path):
    wide, narrow = (
        clitool.run("explain", deferred, "lighting", cwd=tmp_path, COLUMNS=str(columns)).stdout for columns in (100, 60)
    )
    assert max(map(len, narrow.splitlines())) <= 60 < max(map(len, wide.splitlines()))
    assert narrow.split() == wide.split()


def test_explain_as_json(deferred: Path, tmp_path: Path):
    values = json.loads(clitool.run("explain", deferred, "ao", "--json", cwd=tmp_path).stdout)
    assert values["pass"] == "ao"
    assert values["culled"] is None
    assert values["planned"]["queue"] == "compute"
    about = [one["about"] for one in values["reasons"]]
    assert about[:5] == ["runs", "queue", "time", "after", "waits"]
    assert "\n'ao' reads what 'gbuffer' wrote" in values["reasons"][about.index("barrier")]["text"]
    culled = json.loads(clitool.run("explain", deferred, "debug_view", "--json", cwd=tmp_path).stdout)
    assert culled["planned"] is None
    assert culled["culled"] == "its output 'debug' is never read and is not a root"


def test_explain_tells_of_an_error(tmp_path: Path):
    printed = clitool.run("explain", "rg-e203", cwd=tmp_path, COLUMNS="80").stdout
    # The terminal's width wraps the manual's words, and its marks are gone.
    assert printed.splitlines()[0] == rgraph.explain("RG-E203").splitlines()[0].removeprefix("## ")
    assert max(len(line) for line in printed.splitlines() if not line.startswith("    ")) <= 80
    plain = re.sub(r"```\w*|\*\*|^#+ ", "", rgraph.explain("RG-E203"), flags=re.MULTILINE)
    assert printed.split() == plain.split()
    assert json.loads(clitool.run("explain", "RG-E101", "--json", cwd=tmp_path).stdout)["code"] == "RG-E101"


@pytest.mark.parametrize("code", ["RG-E203", "rg-e203", "E203", "203"])
def test_a_code_may_be_short(code: str, tmp_path: Path):
    done = clitool.run("explain", code, "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["code"] == "RG-E203"
