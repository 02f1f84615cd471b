"""The command `rgraph`: files and standard streams, exit statuses, and never half an output."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import rgraph
from rgraph.cli import main


def run(*arguments: str | Path, given: bytes = b"", **options: object) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a process of its own."""
    command = [sys.executable, "-m", "rgraph", *map(str, arguments)]
    return subprocess.run(command, input=given, capture_output=True, check=False, timeout=120, **options)  # type: ignore[call-overload]


@pytest.fixture
def plan(deferred: Path, tmp_path: Path) -> Path:
    """A baked plan's file."""
    path = tmp_path / "frame.rplan.json"
    assert main(["bake", str(deferred), "-o", str(path)]) == 0
    return path


def test_bake_prints_the_listing_or_writes_what_the_suffix_says(deferred: Path, tmp_path: Path):
    done = run("bake", deferred, "--profile", "single_queue")
    assert done.returncode == 0
    baked = rgraph.Graph.load(deferred).bake("single_queue")
    assert done.stdout.decode() == str(baked)
    for suffix in ("json", "txt", "dot"):
        assert run("bake", deferred, "-o", tmp_path / f"plan.{suffix}").returncode == 0
    assert rgraph.Plan.load(tmp_path / "plan.json") == rgraph.Graph.load(deferred).bake()
    assert (tmp_path / "plan.dot").read_text().startswith("digraph")
    assert len(list(tmp_path.iterdir())) == 3


def test_bake_reads_standard_input_and_writes_standard_output(deferred: Path):
    done = run("bake", "-", "-o", "-", "--policy", "declared", "--split", "always", given=deferred.read_bytes())
    assert done.returncode == 0
    assert rgraph.Plan.from_json(done.stdout).policy == "declared"


def test_bake_takes_a_profile_file_and_timings(deferred: Path, tmp_path: Path):
    profile = tmp_path / "device.rprofile.json"
    rgraph.Profile.single_queue().save(profile)
    done = run("bake", deferred, "-o", "-", "--profile", profile, "--timings")
    assert "bake_us" in json.loads(done.stdout)["report"]
    assert run("bake", deferred, "-o", "-", "--profile", "-", given=profile.read_bytes()).returncode == 0


def test_check_says_clean_or_what_is_wrong(plan: Path, deferred: Path, tmp_path: Path):
    assert run("check", plan, "--graph", deferred).returncode == 0
    assert run("check", "-", "--graph", deferred, given=plan.read_bytes()).returncode == 0
    values = json.loads(plan.read_text())
    for batch in values["batches"]:
        batch["waits"] = []
    broken = tmp_path / "broken.rplan.json"
    broken.write_text(json.dumps(values))
    done = run("check", broken, "--graph", deferred)
    assert done.returncode == 1
    assert not done.stdout
    assert b"race" in done.stderr or b"read_after_write" in done.stderr


def test_check_against_another_graph_is_wrong(plan: Path, tmp_path: Path):
    other = tmp_path / "other.rgraph.json"
    rgraph.Graph("other").save(other)
    assert run("check", plan, "--graph", other).returncode == 1


def test_diff_says_what_differs(plan: Path, deferred: Path, tmp_path: Path):
    other = tmp_path / "other.rplan.json"
    assert run("bake", deferred, "-o", other, "--profile", "single_queue").returncode == 0
    assert b"lighting" in run("diff", plan, other).stdout
    assert json.loads(run("diff", plan, other, "--json").stdout)["equal"] is False
    assert json.loads(run("diff", plan, plan, "--json").stdout)["equal"] is True
    assert run("diff", plan, plan).returncode == 0
    assert run("diff", "-", plan, given=plan.read_bytes()).returncode == 0


def test_schema_is_json_and_names_every_usage(deferred: Path):
    for kind in ("graph", "profile", "plan"):
        done = run("schema", kind)
        assert done.returncode == 0
        assert json.loads(done.stdout)["$schema"]
    assert b"storage_read_write" in run("schema", "graph").stdout


def test_explain_tells_of_one_pass(deferred: Path):
    done = run("explain", deferred, "ao")
    assert done.returncode == 0
    assert b"compute" in done.stdout
    assert run("explain", deferred, "oa").returncode == 2


def test_fuzz_counts_graphs_and_keeps_what_breaks_a_law(tmp_path: Path):
    done = run("fuzz", "--seconds", "0", "--seed", "5", "-o", tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    assert b"64 graphs from seed 5" in done.stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ([], 2),
        (["bake"], 2),
        (["bkae", "x"], 2),
        (["bake", "nowhere.rgraph.json"], 2),
        (["bake", "GRAPH", "--profile", "nothing"], 2),
        (["bake", "GRAPH", "--policy", "best"], 2),
        (["bake", "GRAPH", "--effort", "-1"], 2),
        (["bake", "GRAPH", "-o", "plan.png"], 2),
        (["bake", "GRAPH", "-o", "nowhere/plan.json"], 2),
        (["bake", "-", "--profile", "-"], 2),
        (["check", "GRAPH"], 2),
        (["check", "GRAPH", "--graph", "GRAPH"], 1),
        (["check", "-", "--graph", "-"], 2),
        (["diff", "-", "-"], 2),
        (["diff", "GRAPH", "GRAPH"], 1),
        (["schema", "image"], 2),
        (["fuzz", "-o", "nowhere"], 2),
        (["fuzz", "--seed", "many"], 2),
        (["--version"], 0),
        (["--help"], 0),
        (["bake", "--help"], 0),
    ],
)
def test_exit_status_tells_a_wrong_call_from_a_wrong_graph(
    arguments: list[str], status: int, deferred: Path, tmp_path: Path
):
    done = run(*(str(deferred) if a == "GRAPH" else a for a in arguments), cwd=tmp_path)
    assert done.returncode == status, done.stderr.decode()
    assert bool(done.stderr) == (status != 0)
    assert b"Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("given", [b"", b"[" * 100_000_000, b'{"rgraph": 1, "name": "\xff"}', b'{"rgraph": 9}'])
def test_bad_graph_on_standard_input_is_status_1_and_one_message(given: bytes, tmp_path: Path):
    output = tmp_path / "plan.json"
    output.write_text("as before")
    done = run("bake", "-", "-o", output, given=given)
    assert done.returncode == 1
    assert done.stderr.startswith(b"rgraph: RG-E222")
    assert not done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["plan.json"]
    assert output.read_text() == "as before"


def test_graph_with_mistakes_is_status_1_with_all_of_them(tmp_path: Path):
    graph = rgraph.Graph()
    graph.add_pass("p").sampled(graph.image("a", format="rgba8unorm"), graph.image("b"))
    path = tmp_path / "wrong.rgraph.json"
    graph.save(path)
    done = run("bake", path)
    assert done.returncode == 1
    assert done.stderr.count(b"RG-E") >= 2


def test_names_that_the_locale_cannot_write_are_printed_as_utf_8(tmp_path: Path):
    graph = rgraph.Graph()
    image = graph.image("фон", format="rgba8unorm")
    graph.add_pass("背景").color(image)
    graph.root(image)
    path = tmp_path / "graph.rgraph.json"
    graph.save(path)
    done = run("bake", path, env=os.environ | {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert "背景" in done.stdout.decode()


@pytest.mark.skipif(os.name != "posix", reason="pipes are closed otherwise elsewhere")
def test_reader_that_goes_away_is_no_error(deferred: Path):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "rgraph", "bake", str(deferred), "-o", "-"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False, timeout=60)
    os.close(write)
    assert done.returncode == 0
    assert not done.stderr
