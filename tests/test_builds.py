"""What a clean build of everything takes: no crate is built twice."""

import shutil
import subprocess
from pathlib import Path

import pytest


@pytest.mark.skipif(shutil.which("cargo") is None, reason="builds need cargo")
def test_the_module_beside_the_tests_builds_nothing_that_they_have_built(root: Path) -> None:
    module = _units(root, "--package", "rgraph-py", "--features", "beside-tests", "--edges", "normal,build")
    tests = _units(root, "--workspace", "--edges", "normal,build,dev")
    assert len(module) > 30
    assert {unit for unit in module - tests if not unit.startswith("rgraph-py ")} == set()


def _units(root: Path, *chosen: str) -> set[str]:
    """Packages that cargo builds, each with its features."""
    command = ["cargo", "tree", "--locked", "--prefix", "none", "--no-dedupe", "--format", "{p} [{f}]", *chosen]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines())
