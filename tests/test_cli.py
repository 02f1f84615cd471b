"""The command `rgraph`: files and standard streams, exit statuses, and never half an output."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import clitool
import rgraph
from clitool import run_bytes
from rgraph.cli import main


@pytest.fixture
def plan(deferred: Path, tmp_path: Path) -> Path:
    """A baked plan's file."""
    path = tmp_path / "frame.rplan.json"
    assert main(["bake", str(deferred), "-o", str(path)]) == 0
    return path


def test_bake_prints_the_listing_or_writes_what_the_suffix_says(deferred: Path, tmp_path: Path):
    done = run_bytes("bake", deferred, "--profile", "single_queue", "--text")
    assert done.returncode == 0
    baked = rgraph.Graph.load(deferred).bake("single_queue")
    assert done.stdout.decode() == str(baked)
    for suffix in ("json", "txt", "dot"):
        assert run_bytes("bake", deferred, "-o", tmp_path / f"plan.{suffix}").returncode == 0
    assert rgraph.Plan.load(tmp_path / "plan.json") == rgraph.Graph.load(deferred).bake()
    assert (tmp_path / "plan.dot").read_text().startswith("digraph")
    assert len(list(tmp_path.iterdir())) == 3


def test_bake_prints_a_summary_that_fits_a_screen(tmp_path: Path):
    graph = rgraph.Graph("long")
    previous = graph.import_image("first", (64, 64), "rgba8unorm")
    for number in range(200):
        image = graph.image(f"a/rather/long/prefix/of/image{number}", (64 * (number % 7 + 1), 64), "rgba8unorm")
        graph.add_pass(f"a/rather/long/prefix/of/pass{number}").sampled(previous).color(image, load="discard")
        previous = image
    for number in range(9):
        graph.add_pass(f"stray{number}").color(graph.image(f"stray{number}", (8, 8), "rgba8unorm"))
    graph.root(previous)
    graph.save(tmp_path / "long.rgraph.json")
    done = run_bytes("bake", tmp_path / "long.rgraph.json", env=os.environ | {"COLUMNS": "80"})
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 0
    assert 8 <= len(lines) <= 24
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    for words in (
        "200 of 209 passes",
        "  graphics  ",
        "  memory ",
        "  at peak ",
        "  longest ",
        "  culled ",
        "and 6 more",
    ):
        assert words in text
    assert "image" in text
    assert "█" in text


def test_bake_reads_standard_input_and_writes_standard_output(deferred: Path):
    done = run_bytes("bake", "-", "-o", "-", "--policy", "declared", "--split", "always", given=deferred.read_bytes())
    assert done.returncode == 0
    assert rgraph.Plan.from_json(done.stdout).policy == "declared"


@pytest.mark.parametrize(
    ("stage", "line"),
    [
        ("resolve", "tonemap on graphics"),
        ("cull", "runs tonemap in part 0"),
        ("order", "policy weighted"),
        ("barriers", "call 0 before"),
    ],
)
def test_bake_dumps_what_a_stage_made(stage: str, line: str, deferred: Path):
    done = run_bytes("bake", deferred, "--dump", stage, "--effort", "0")
    assert done.stdout.decode() == rgraph.Graph.load(deferred).dump(stage, effort=0)  # type: ignore[arg-type]
    assert any(text.startswith(line) for text in done.stdout.decode().splitlines())


def test_dump_refuses_what_is_no_stage_and_a_wrong_declaration(deferred: Path):
    with pytest.raises(ValueError, match='did you mean "merge"'):
        rgraph.Graph.load(deferred).dump("merg")  # type: ignore[arg-type]
    graph = rgraph.Graph()
    graph.add_pass("reads").sampled("nothing")
    with pytest.raises(rgraph.GraphError):
        graph.dump("cull")
    assert run_bytes("bake", deferred, "--dump", "cull", "-o", "-").returncode == 2


def test_bake_takes_a_profile_file_and_timings(deferred: Path, tmp_path: Path):
    profile = tmp_path / "device.rprofile.json"
    rgraph.Profile.single_queue().save(profile)
    done = run_bytes("bake", deferred, "-o", "-", "--profile", profile, "--timings")
    assert "bake_us" in json.loads(done.stdout)["report"]
    assert run_bytes("bake", deferred, "-o", "-", "--profile", "-", given=profile.read_bytes()).returncode == 0


def test_check_says_clean_or_what_is_wrong(plan: Path, deferred: Path, tmp_path: Path):
    assert run_bytes("check", plan, "--graph", deferred).returncode == 0
    assert run_bytes("check", "-", "--graph", deferred, given=plan.read_bytes()).returncode == 0
    values = json.loads(plan.read_text())
    for batch in values["batches"]:
        batch["waits"] = []
    broken = tmp_path / "broken.rplan.json"
    broken.write_text(json.dumps(values))
    done = run_bytes("check", broken, "--graph", deferred)
    assert done.returncode == 1
    assert not done.stdout
    assert b"race" in done.stderr or b"read_after_write" in done.stderr


def test_check_against_another_graph_is_wrong(plan: Path, tmp_path: Path):
    other = tmp_path / "other.rgraph.json"
    rgraph.Graph("other").save(other)
    assert run_bytes("check", plan, "--graph", other).returncode == 1


def test_diff_says_what_differs(plan: Path, deferred: Path, tmp_path: Path):
    other = tmp_path / "other.rplan.json"
    assert run_bytes("bake", deferred, "-o", other, "--profile", "single_queue").returncode == 0
    assert b"lighting" in run_bytes("diff", plan, other).stdout
    assert json.loads(run_bytes("diff", plan, other, "--json").stdout)["equal"] is False
    assert json.loads(run_bytes("diff", plan, plan, "--json").stdout)["equal"] is True
    assert run_bytes("diff", plan, plan).returncode == 0
    assert run_bytes("diff", "-", plan, given=plan.read_bytes()).returncode == 0


def test_schema_is_json_and_names_every_usage(deferred: Path):
    for kind in ("graph", "profile", "plan", "devices"):
        done = run_bytes("schema", kind)
        assert done.returncode == 0
        assert json.loads(done.stdout)["$schema"]
    assert b"storage_read_write" in run_bytes("schema", "graph").stdout


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
        (["bake", "GRAPH", "--memory", "lots"], 2),
        (["bake", "GRAPH", "--memory", "fast"], 0),
        (["bake", "GRAPH", "--memory", "65536"], 0),
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
    done = run_bytes(*(str(deferred) if a == "GRAPH" else a for a in arguments), cwd=tmp_path)
    assert done.returncode == status, done.stderr.decode()
    assert bool(done.stderr) == (status != 0)
    assert b"Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("given", [b"", b"[" * 100_000_000, b'{"rgraph": 1, "name": "\xff"}', b'{"rgraph": 9}'])
def test_bad_graph_on_standard_input_is_status_1_and_one_message(given: bytes, tmp_path: Path):
    output = tmp_path / "plan.json"
    output.write_text("as before")
    done = run_bytes("bake", "-", "-o", output, given=given)
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
    done = run_bytes("bake", path)
    assert done.returncode == 1
    assert done.stderr.count(b"RG-E") >= 2


def test_names_that_the_locale_cannot_write_are_printed_as_utf_8(tmp_path: Path):
    graph = rgraph.Graph()
    image = graph.image("фон", format="rgba8unorm")
    graph.add_pass("背景").color(image)
    graph.root(image)
    path = tmp_path / "graph.rgraph.json"
    graph.save(path)
    done = run_bytes("bake", path, env=os.environ | {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"})
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


FORMS = {
    "text": str,
    "json": rgraph.Plan.to_json,
    "dot": rgraph.Plan.to_dot,
    "svg": rgraph.Plan.to_svg,
    "html": rgraph.Plan.to_html,
    "trace": rgraph.Plan.to_trace,
}


@pytest.mark.parametrize("form", FORMS)
def test_bake_prints_every_form(form: str, deferred: Path):
    plan = rgraph.Graph.load(deferred).bake()
    assert run_bytes("bake", deferred, f"--{form}").stdout.decode().rstrip("\n") == FORMS[form](plan).rstrip("\n")


def test_bake_writes_several_files_at_once(deferred: Path, tmp_path: Path):
    names = ["a.dot", "a.html", "a.rplan.json", "a.svg", "a.trace.json", "a.txt"]
    done = run_bytes("bake", deferred, *(word for name in names for word in ("-o", tmp_path / name)))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert "traceEvents" in json.loads((tmp_path / "a.trace.json").read_text(encoding="utf-8"))
    assert (tmp_path / "a.svg").read_text(encoding="utf-8").startswith("<svg")


def test_bake_has_its_profile_under_two_names(deferred: Path):
    here, there = (run_bytes("bake", deferred, name, "minimal").stdout for name in ("--profile", "--device-profile"))
    assert here == there
    assert b"for 'minimal'" in here


def test_check_finds_the_graph_beside_the_plan(deferred: Path, tmp_path: Path):
    (tmp_path / "frame.rgraph.json").write_bytes(deferred.read_bytes())
    assert run_bytes("bake", "frame.rgraph.json", "-o", "frame.rplan.json", cwd=tmp_path).returncode == 0
    done = run_bytes("check", "frame.rplan.json", cwd=tmp_path)
    assert done.returncode == 0
    assert re.fullmatch(rb"clean: 22 passes in 7 batches of plan [0-9a-f]{16}\n", done.stdout)


def test_check_as_json(plan: Path, deferred: Path, tmp_path: Path):
    values = json.loads(run_bytes("check", plan, "--graph", deferred, "--json").stdout)
    assert (values["findings"], values["passes"], values["batches"]) == ([], 22, 7)
    broken = json.loads(plan.read_text())
    for batch in broken["batches"]:
        batch["waits"] = []
    (tmp_path / "broken.rplan.json").write_text(json.dumps(broken))
    done = run_bytes("check", tmp_path / "broken.rplan.json", "--graph", deferred, "--json")
    assert done.returncode == 1
    assert not done.stderr
    first = json.loads(done.stdout)["findings"][0]
    assert first.keys() == {"rule", "pass", "resource", "message"}


def test_check_lists_what_is_redundant(deferred: Path, tmp_path: Path):
    frame, wide = tmp_path / "frame.rplan.json", tmp_path / "wide.rplan.json"
    assert run_bytes("bake", deferred, "-o", frame).returncode == 0
    values = json.loads(frame.read_text())
    batch = next(at for at, batch in enumerate(values["batches"]) if batch["queue"] == 0 and batch["waits"])
    values["batches"][batch]["waits"][0]["stages"].append("index_input")
    wide.write_text(json.dumps(values))
    listed = json.loads(run_bytes("check", wide, "--graph", deferred, "--minimal", "--json").stdout)["redundant"]
    # The wait itself may be redundant, and is then listed as a whole.
    found = [one for one in listed if (one["batch"], one["kind"], one["position"]) == (batch, "wait", 0)]
    assert {one["word"] for one in found} & {"index_input", None}
    done = run_bytes("check", wide, "--graph", deferred, "--minimal")
    assert done.returncode == 0
    assert b"redundant: " in done.stdout


def test_check_writes_a_certificate_and_verifies_it(plan: Path, deferred: Path, tmp_path: Path):
    proof, changed = tmp_path / "frame.proof.json", tmp_path / "changed.proof.json"
    done = run_bytes("check", plan, "--graph", deferred, "--certificate", proof)
    assert (done.returncode, done.stderr) == (0, b"")
    done = run_bytes("check", plan, "--graph", deferred, "--verify", proof)
    assert (done.returncode, done.stdout[:8]) == (0, b"proved: ")
    values = json.loads(proof.read_text())
    values["pairs"].pop()
    changed.write_text(json.dumps(values))
    done = run_bytes("check", plan, "--graph", deferred, "--verify", changed)
    assert done.returncode == 1
    assert b"RG-E505" in done.stderr
    changed.write_text("no JSON")
    assert run_bytes("check", plan, "--graph", deferred, "--verify", changed).returncode == 2


def test_pictures_have_a_view_and_a_width(deferred: Path, tmp_path: Path):
    picture = tmp_path / "memory.svg"
    options = ["--view", "memory", "--width", "640"]
    assert run_bytes("view", deferred, "-o", picture, *options).returncode == 0
    drawn = picture.read_text(encoding="utf-8")
    assert 'width="640"' in drawn
    assert "rg-block" in drawn
    assert run_bytes("bake", deferred, "-o", tmp_path / "again.svg", *options).returncode == 0
    assert (tmp_path / "again.svg").read_text(encoding="utf-8") == drawn
    assert run_bytes("bake", deferred, "--svg", *options).stdout.decode() == drawn
    for command in (["view", deferred, "-o", tmp_path / "x.html"], ["bake", deferred]):
        refused = run_bytes(*command, "--view", "memory")
        assert refused.returncode == 2
        assert b"--view and --width are for pictures" in refused.stderr


def test_diff_groups_changes_by_pass_with_the_largest_first(tmp_path: Path):
    for name, width in (("a", 64), ("b", 4096)):
        graph = rgraph.Graph("frame")
        small, large = graph.image("small", (64, 65), "rgba8unorm"), graph.image("large", (width, 64), "rgba8unorm")
        graph.add_pass("first").color(small, clear=(0, 0, 0, 0))
        graph.add_pass("second").sampled(small).color(large, load="discard")
        if name == "b":
            graph.add_pass("third", side_effects=True).sampled(large)
        graph.root(large)
        graph.bake().save(tmp_path / f"{name}.rplan.json")
    done = run_bytes("diff", tmp_path / "a.rplan.json", tmp_path / "b.rplan.json")
    lines = done.stdout.decode().splitlines()
    assert "passes 2 → 3" in lines[0]
    narrow = run_bytes(
        "--color",
        "always",
        "diff",
        *(tmp_path / f"{name}.rplan.json" for name in "ab"),
        env=os.environ | {"COLUMNS": "60"},
    )
    figures, _, _ = re.sub(r"\x1b\[[\d;]*m", "", narrow.stdout.decode()).partition("\n  plan")
    assert len(figures.splitlines()) > 1, "they are as wide as the terminal"
    assert all(len(line) <= 60 for line in figures.splitlines())
    assert " ".join(figures.split()) == lines[0]
    assert all(re.search(r"\w ?·?$", line) for line in figures.splitlines()), "no figure is broken"
    heads = [line for line in lines[1:] if line.startswith("  ") and not line.startswith("    ")]
    assert heads[0] == "  plan"
    assert heads[1:3] == ["  pass third", "  pass second"], "by microseconds"
    assert len(heads) == len(set(heads))
    assert not re.search(r"\d\.\d{3}", "\n".join(lines))
    everything = run_bytes("diff", "--all", tmp_path / "a.rplan.json", tmp_path / "b.rplan.json").stdout.decode()
    plans = [rgraph.Plan.load(tmp_path / f"{name}.rplan.json") for name in "ab"]
    assert everything.rstrip() == plans[0].diff(plans[1]).rstrip()


def test_diff_as_page_and_as_exit_status(plan: Path, deferred: Path, tmp_path: Path):
    other = tmp_path / "other.rplan.json"
    assert run_bytes("bake", deferred, "-o", other, "--profile", "single_queue").returncode == 0
    done = run_bytes("diff", plan, other, "-o", tmp_path / "d.html")
    assert (done.returncode, done.stdout) == (0, b"")
    assert (tmp_path / "d.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert run_bytes("diff", plan, other, "--exit-code").returncode == 1
    assert run_bytes("diff", plan, plan, "--exit-code").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], None),
        (["bkae"], 'there is no command "bkae"\n  help: did you mean "bake"?'),
        (["zzz"], 'there is no command "zzz"\n  help: rgraph --help lists them'),
        (["-x"], "which command?\n  help: rgraph --help lists them"),
        (["bake"], "GRAPH is missing\n  help: rgraph bake --help"),
        (["check"], "PLAN is missing\n  help: rgraph check --help"),
        (["explain", "x"], "the name of the pass is missing\n  help: use rgraph explain GRAPH PASS, or rgraph "),
        (["explain", "RG-E999"], "there is no error 'RG-E999'; did you mean RG-E901?"),
        (["bake", "GRAPH", "again"], 'unexpected argument "again"\n  help: rgraph bake --help'),
        (["run", "GRAPH", "a=x.png"], 'unexpected argument "a=x.png"\n  help: --input a=x.png'),
        (["bake", "GRAPH", "--memory", "1GiB"], '--memory: "1GiB" is none of least, balanced, fast, and no number'),
        (["bake", "GRAPH", "--polcy", "auto"], 'there is no option "--polcy"\n  help: did you mean "--policy"?'),
        (["bake", "GRAPH", "--pol", "auto"], 'there is no option "--pol"\n  help: did you mean "--policy"?'),
        (["bake", "GRAPH", "--policy", "aut"], '--policy: there is no "aut"\n  help: did you mean "auto"?'),
        (["bake", ""], "the name of a file is empty"),
        (["bake", "GRAPH", "--effort", "-1"], '--effort: "-1" is not a whole number of at least 0\n'),
        (["bake", "GRAPH", "--policy"], "--policy: expected one argument\n  help: rgraph bake --help"),
        (["bake", "GRAPH", "-o", "plan.png"], "plan.png: plans are written to "),
        (["bake", "GRAPH", "-o", "nowhere/a.json"], "nowhere/a.json: there is no folder nowhere"),
        (["bake", "GRAPH", "-o", "-", "--dot"], "-o - prints the plan file: leave it out to print another form"),
        (["bake", "GRAPH", "--dot", "--json"], "--json: not allowed with argument --dot\n  help: rgraph bake --help"),
        (["bake", "-", "--profile", "-"], "only one file can be standard input"),
        (
            ["bake", "GRAPH", "--profile", "discret"],
            "discret: neither a file nor one of the profiles minimal, single_queue, discrete\n"
            '  help: did you mean "discrete"?',
        ),
        (["bake", "film.py", "--option", "x=1"], "--option is for graph files\n  help: a Python file may take its "),
        (["bake", "."], ".: a folder, not a file"),
        (["bake", "nowhere/x.json"], "nowhere/x.json: there is no folder nowhere"),
        (["explain", "GRAPH", "lightin"], '"deferred" has no pass "lightin"\n  help: did you mean "lighting"?'),
        (["check", "x.rgraph.json"], "x.rgraph.json: a graph file, not a plan\n  help: rgraph bake x.rgraph.json -o"),
        (["check", "x.rplan.json"], "the graph of the plan is missing\n  help: add --graph GRAPH"),
        (["diff", "a", "b", "-o", "d.txt"], "d.txt: differences are written to .html, or printed"),
        (["schema", "grap"], 'kind: there is no "grap"\n  help: did you mean "graph"?'),
        (["fuzz", "-o", "nowhere"], "nowhere: not a folder"),
        (["fuzz", "--seconds", "inf"], '--seconds: "inf" is not a number of at least 0\n  help: rgraph fuzz --help'),
        (["view", "GRAPH", "--open", "-o", "-"], "--open needs a file\n  help: add -o FILE.html"),
        (["--color", "no", "bake", "GRAPH"], '--color: there is no "no"\n  help: there are auto, always, never'),
    ],
)  # fmt: skip
def test_messages_of_wrong_calls(arguments: list[str], message: str | None, deferred: Path, tmp_path: Path):
    done = clitool.run(*(str(deferred) if one == "GRAPH" else one for one in arguments), cwd=tmp_path)
    assert done.returncode == 2
    assert not done.stdout
    if message is None:
        assert done.stderr.startswith("usage: rgraph COMMAND [OPTION…]\n")
    else:
        assert done.stderr.startswith(f"rgraph: {message}")
    assert len(done.stderr.splitlines()) <= 2 or message is None


def test_a_file_beside_it_is_suggested(deferred: Path, tmp_path: Path):
    (tmp_path / "frame.rgraph.json").write_bytes(deferred.read_bytes())
    done = clitool.run("bake", "frame.rgraf.json", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == 'rgraph: frame.rgraf.json: no such file\n  help: did you mean "frame.rgraph.json"?\n'


@pytest.mark.parametrize(
    ("beside", "meant"),
    [("n.trace.json", ""), ("nofile.trace.json", ""), ("nofile.rplan.json", ""), ("nofiles.rgraph.json", "it")],
)
def test_a_file_that_is_far_or_no_graph_is_not_suggested(beside: str, meant: str, tmp_path: Path):
    (tmp_path / beside).write_bytes(b"{}")
    done = clitool.run("bake", "nofile.json", cwd=tmp_path)
    assert done.returncode == 2
    help = f'  help: did you mean "{beside}"?\n' if meant else ""
    assert done.stderr == f"rgraph: nofile.json: no such file\n{help}"


def colored(text: str) -> bool:
    return "\x1b[" in text


def test_colours_are_for_terminals_or_asked_for(deferred: Path, tmp_path: Path):
    assert not colored(clitool.run("--help", cwd=tmp_path).stdout)
    assert colored(clitool.run("--color", "always", "--help", cwd=tmp_path).stdout)
    assert colored(clitool.run("explain", deferred, "ao", "--color=always", cwd=tmp_path).stdout)
    for wrong in (["bake", "x"], ["bkae"]):
        assert colored(clitool.run("--color", "always", *wrong, cwd=tmp_path).stderr)
    assert not colored(clitool.run("explain", deferred, "ao", cwd=tmp_path, FORCE_COLOR="1").stdout)


def _on_a_terminal(command: list[str], *, cwd: Path | None = None, **environment: str) -> bytes:
    """What a command writes to a terminal."""
    import pty

    ours, theirs = pty.openpty()
    more = {"TERM": "xterm"} | environment
    process = subprocess.Popen(command, cwd=cwd, stdout=theirs, stderr=theirs, env=clitool.surroundings(**more))
    os.close(theirs)
    text = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    os.close(ours)
    assert process.wait(60) == 0
    return text


@pytest.mark.skipif(os.name != "posix", reason="pseudo terminals differ elsewhere")
@pytest.mark.parametrize(
    ("arguments", "environment", "wanted"),
    [
        ([], {}, True),
        ([], {"NO_COLOR": "1"}, False),
        ([], {"TERM": "dumb"}, False),
        (["--color", "never"], {}, False),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
    ],
)
def test_a_terminal_has_colours_and_progress(
    arguments: list[str], environment: dict[str, str], wanted: bool, tmp_path: Path
):
    code = (
        "import sys; from rgraph.cli import main; *more, folder = sys.argv[1:]; main([*more, '--help']); "
        "sys.exit(main([*more, 'fuzz', '--seconds', '0.3', '-o', folder]))"
    )
    text = _on_a_terminal([sys.executable, "-c", code, *arguments, str(tmp_path)], **environment)
    assert (b"\x1b[1musage:\x1b[0m" in text) == wanted
    # Progress is a matter of the terminal, not of colours.
    assert (b"graphs \xc2\xb7 " in text) == (environment.get("TERM") != "dumb")


@pytest.mark.skipif(os.name != "posix", reason="pseudo terminals differ elsewhere")
def test_a_terminal_does_not_obey_the_names_of_a_graph_file(tmp_path: Path):
    g = rgraph.Graph(size=(16, 16))
    first, last = (g.image(name, format="rgba8unorm") for name in ("a\x1b]0;title\x07", "b\r\u202e"))
    g.clear("clear\x1b[2J", first, (0, 0, 0, 0))
    g.copy("copy\x1b[31m", first, last)
    g.root(last)
    g.save(tmp_path / "g.rgraph.json")
    text = _on_a_terminal(clitool.command("bake", "g.rgraph.json"), cwd=tmp_path)
    assert b"a\\u{1b}]0;title" in text
    assert b"clear\\u{1b}[2J 3.0" in text
    for obeyed in (b"\x1b]", b"\x1b[2J", b"\x07", "\u202e".encode()):
        assert obeyed not in text


def test_quiet_says_results_only(deferred: Path, tmp_path: Path):
    done = clitool.run("view", deferred, "-o", "v.html", "-q", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_fault_of_its_own_is_one_message(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]):
    from rgraph.cli import schema

    def broken(_: object) -> int:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(schema, "main", broken)
    assert main(["schema", "graph"]) == 1
    assert capsysbinary.readouterr().err.decode() == (
        "rgraph: a fault of rgraph's own: ZeroDivisionError: by zero\n"
        "  help: please report it with what --debug prints\n"
    )
    assert main(["schema", "graph", "--debug"]) == 1
    assert b"Traceback (most recent call last)" in capsysbinary.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="signals differ elsewhere")
def test_ctrl_c_is_quiet(tmp_path: Path):
    process = subprocess.Popen(
        clitool.command("fuzz", "--seconds", "60", "-o", tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clitool.surroundings(),
    )
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=60)
    assert (process.returncode, out, error) == (130, b"", b"")


def test_file_that_may_not_be_read_is_a_wrong_call(tmp_path: Path):
    secret = tmp_path / "secret.rgraph.json"
    secret.write_text("{}")
    secret.chmod(0)
    if os.access(secret, os.R_OK):
        pytest.skip("this user may read everything")
    done = clitool.run("bake", secret, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, f"rgraph: {secret}: Permission denied\n")
