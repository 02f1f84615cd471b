"""What the command `rgraph` prints fits a terminal; its help lists every command, and loads little."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import clitool
import rgraph as rg
from rgraph import cli
from rgraph.cli._terminal import folded

COMMANDS = [name for commands in cli._COMMANDS.values() for name in commands]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command_fits_a_terminal(name: str, tmp_path: Path):
    done = clitool.run(name, "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert not done.stderr
    assert done.stdout.startswith(f"usage: rgraph {name} ")
    assert "everywhere:\n" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize(
    ("name", "usage"),
    [
        ("demo", "[deferred|fluid|photo] [PICTURE]"),
        ("schema", "{graph|profile|plan|devices}"),
        ("explain", "GRAPH|CODE [PASS]"),
        ("bake", "GRAPH"),
    ],
)
def test_usage_brackets_what_may_be_left_out(name: str, usage: str, tmp_path: Path):
    done = clitool.run(name, "--help", cwd=tmp_path)
    assert done.stdout.splitlines()[0] == f"usage: rgraph {name} {usage} [OPTION…]"


def test_bake_says_what_a_graph_is(tmp_path: Path):
    done = clitool.run("bake", "--help", cwd=tmp_path)
    assert "a graph file, a preset (.slangp), or FILE.py:NAME" in done.stdout
    assert 'graph.save("frame.rgraph.json")' in done.stdout


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


@pytest.mark.parametrize("columns", [40, 60])
@pytest.mark.parametrize(
    "arguments",
    [
        ("doctor",),
        ("demo", "fluid", "--frames", "1", "--size", "64x64"),
        ("watch", "{root}/examples/07_compute.rgraph.json", "--frames", "1", "--serve", "-o", "out"),
    ],
)
def test_remarks_are_as_wide_as_the_terminal(root: Path, tmp_path: Path, arguments: tuple[str, ...], columns: int):
    given = [argument.format(root=root) for argument in arguments]
    done = clitool.run("--color", "always", *given, cwd=tmp_path, COLUMNS=str(columns))
    if done.returncode == 3:
        pytest.skip("no usable device")
    assert done.returncode == 0, done.stderr
    text = re.sub(r"\x1b\[[\d;]*m", "", done.stdout + done.stderr)
    lines = [line for line in text.splitlines() if not line.strip().startswith("fix: ")]
    assert lines
    assert [line for line in lines if len(line) > columns] == []
    if arguments[0] == "doctor":
        whole = clitool.run("doctor", cwd=tmp_path, COLUMNS="100").stdout
        without_times = [re.sub(r"in[\d.]+ms;openedin\d+ms", "", "".join(one.split())) for one in (text, whole)]
        assert without_times[0] == without_times[1], "the same words"


@pytest.mark.parametrize("columns", ["40", "60"])
def test_lines_are_folded_at_cells_and_no_word_is_lost(monkeypatch: pytest.MonkeyPatch, columns: str):
    monkeypatch.setenv("COLUMNS", columns)
    wide = int(columns)
    assert folded("short", 4) == ["short"]
    styled = "  \x1b[32m✓\x1b[0m first cell  \x1b[2msecond cell of several words\x1b[0m  third " + "x" * 70
    lines = folded(styled, 6)
    plain = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in lines]
    assert max(map(len, plain)) <= wide
    assert "".join("".join(lines).split()) == "".join(styled.split()), "styles stay where they are"
    assert any("second cell of several words" in line for line in plain)
    path = "\x1b[1mMainView/Shadows/FullscreenShadowBlur/ProjectedExponential.KawaseBlur0\x1b[0m"
    parts = folded(f"{path} on a device", 2)
    assert "".join(part.strip() for part in parts).startswith(path), "a word's parts stand on lines of their own"


def test_commands_that_messages_name_exist() -> None:
    root = Path(__file__).parents[1]
    found: set[str] = set()
    for source in [*root.glob("rust/*/src/**/*.rs"), *root.glob("docs/**/*.md"), root / "README.md"]:
        found |= set(re.findall(r"`rgraph ([a-z][a-z-]*)", source.read_text(encoding="utf-8")))
    assert {"doctor", "bake"} <= found
    assert found - set(COMMANDS) == set()


def test_help_loads_only_what_it_prints_with():
    program = """if True:
        import sys
        before = set(sys.modules)
        from rgraph.cli import main
        main(["--help"])
        late = {"typing", "argparse", "json", "rgraph._errors", "rgraph._records", "rgraph.cli._parser"} - before
        assert not late & set(sys.modules), late & set(sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: rgraph COMMAND [OPTION…]")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_utf_8_whatever_the_locale(name: str, tmp_path: Path):
    done = clitool.run(name, "--help", cwd=tmp_path, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "[OPTION…]" in done.stdout
