"""The examples run and print what README says; they are short."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import readme
import rgraph

EXAMPLES = sorted((Path(__file__).resolve().parent.parent / "examples").glob("[0-9]*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_example_runs_and_is_short(path: Path):
    assert len(path.read_text().splitlines()) < 60
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert not done.stderr


def test_deferred_example_declares_what_its_graph_file_says(deferred: Path):
    source = deferred.with_name("06_deferred.py").read_text().split("plan = ")[0]
    names: dict = {}
    exec(compile(source, "06_deferred.py", "exec"), names)
    assert names["g"].to_json() == deferred.read_text()


def test_deferred_frame_culls_only_what_nobody_reads(deferred: Path):
    plan = rgraph.Graph.load(deferred).bake()
    assert list(plan.culled) == ["debug_view"]
    assert plan.check() == []
    assert {p.queue for p in plan.passes} == {"graphics", "compute"}


def test_readme_example_prints_what_readme_says(tmp_path: Path):
    code, said = readme.example()
    assert readme.printed(code, tmp_path) == said
    assert rgraph.Plan.load(tmp_path / "frame.rplan.json").pass_names == ["gbuffer", "lighting", "tonemap"]


def test_no_page_tells_anybody_to_install_the_package_of_another(root: Path):
    for page in root.glob("*.md"):
        assert not re.search(r"pip3? install (-\S+ )*[\"']?rgraph[\"']?(\s|$|\[)", page.read_text()), page
