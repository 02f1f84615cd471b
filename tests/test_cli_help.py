"""What the command `rgraph` prints fits a terminal; its help lists every command, and loads little."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import clitool
import rgraph as rg
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


@pytest.mark.parametrize("columns", [40, 60, 80, 100])
def test_plans_differences_and_explanations_are_as_wide_as_the_terminal(tmp_path: Path, columns: int):
    prefix = "MainView.Shadows.FullscreenShadowBlur.ProjectedExponential"
    for name, format in (("a", "rgba8unorm"), ("b", "rgba16float")):
        graph = rg.Graph("frame")
        image = graph.image(f"{prefix}.KawaseBlur0.FilteredImage", (64, 64), format)
        graph.add_pass(f"{prefix}.KawaseBlur0").color(image, clear=(0, 0, 0, 0))
        graph.add_pass(f"{prefix}.KawaseBlur1", side_effects=True).sampled(image)
        graph.add_pass(f"{prefix}.Unused").storage_write(graph.image(f"{prefix}.Unread", (64, 64), format))
        graph.save(tmp_path / f"{name}.rgraph.json")
        (tmp_path / name).mkdir()
        graph.bake().save(tmp_path / name / "frame.rplan.json")

    def looked_at(*arguments: str) -> str:
        done = clitool.run("--color", "always", *arguments, cwd=tmp_path, COLUMNS=str(columns))
        text = re.sub(r"\x1b\[[\d;]*m", "", done.stdout)
        assert max(map(len, text.splitlines())) <= columns, arguments
        return text

    plans = ("a/frame.rplan.json", "b/frame.rplan.json")
    summary = looked_at("bake", "a.rgraph.json")
    assert f"culled{prefix}.Unused:" in "".join(summary.split()), "no name is cut"
    looked_at("explain", "a.rgraph.json", f"{prefix}.KawaseBlur1")
    looked_at("explain", "RG-E211")
    looked_at("diff", *plans)
    looked_at("diff", "--all", *plans)
    looked_at("diff", "a", "b")
    listed = looked_at("bake", "a.rgraph.json", "--text")
    whole = clitool.run("bake", "a.rgraph.json", "--text", cwd=tmp_path, COLUMNS=str(columns)).stdout
    assert whole == str(rg.Graph.load(tmp_path / "a.rgraph.json").bake()), "pipes get every line whole"
    assert "".join(whole.split()) == "".join(listed.split()), "the same words"
