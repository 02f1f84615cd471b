"""The help of the command `rgraph`: it fits a terminal, lists every command, and loads little."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import clitool
from rgraph import cli

COMMANDS = [name for commands in cli._COMMANDS.values() for name in commands]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command_fits_a_terminal(name: str, tmp_path: Path):
    done = clitool.run(name, "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert not done.stderr
    assert done.stdout.startswith(f"usage: rgraph {name} ")
    assert "everywhere:\n" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_help_lists_every_command(tmp_path: Path):
    done = clitool.run("--help", cwd=tmp_path)
    listed = re.findall(r"^  ([\w-]+) +\w", done.stdout, re.MULTILINE)
    assert listed == COMMANDS
    assert max(map(len, done.stdout.splitlines())) <= 80
    modules = {path.stem for path in Path(cli.__file__).parent.iterdir() if not path.name.startswith("_")}
    assert {name.replace("-", "_") for name in COMMANDS} - {"demo"} == modules


def test_help_loads_nothing_that_it_does_not_need(tmp_path: Path):
    code = "import sys; from rgraph.cli import main; main(['--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert not loaded & {"argparse", "pathlib", "dataclasses", "json", "numpy", "rgraph.cli.run", "rgraph.demo"}
