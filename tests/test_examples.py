"""The examples run; they are short."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import rgraph

EXAMPLES = sorted((Path(__file__).resolve().parent.parent / "examples").glob("[0-9]*.py"))
PLANNED = [path for path in EXAMPLES if "Device(" not in path.read_text()]


def test_examples_are_numbered_without_gaps_short_and_say_what_they_show():
    rust = sorted(EXAMPLES[0].parent.glob("[0-9]*.rs"))
    tested = (EXAMPLES[0].parent.parent / "rust" / "rgraph-vk" / "tests" / "examples.rs").read_text()
    assert all(f"examples/{path.name}" in tested for path in rust)
    for kind, begins in ((EXAMPLES, '"""'), (rust, "//! ")):
        assert [int(path.name[:2]) for path in kind] == list(range(1, len(kind) + 1))
        for path in kind:
            text = path.read_text()
            assert len(text.splitlines()) < 60, path
            assert text.startswith(begins), path


@pytest.mark.parametrize("path", PLANNED, ids=[path.stem for path in PLANNED])
def test_example_runs(path: Path, tmp_path: Path):
    """Those that run on a device are run in `tests/gpu`."""
    command = [sys.executable, path]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False)
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


def test_no_page_tells_anybody_to_install_the_package_of_another(root: Path):
    for page in [*root.glob("*.md"), *(root / "docs").rglob("*.md")]:
        assert not re.search(r"pip3? install (-\S+ )*[\"']?rgraph[\"']?(\s|$|\[)", page.read_text()), page
