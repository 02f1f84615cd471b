"""Pages of folders: which plans changed and by how much, without a script, for builds to keep."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import rgraph as rg


def run(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a process of its own."""
    command = [sys.executable, "-m", "rgraph", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, check=False, timeout=120)


def frame(name: str, passes: int, width: int = 64) -> rg.Plan:
    graph = rg.Graph(name, size=(width, 64))
    image = graph.image("<image>", format="rgba16float")
    graph.add_pass("first", weight_us=100).color(image, clear=(0, 0, 0, 0))
    for at in range(passes):
        graph.add_pass(f"p{at}", weight_us=10).storage_read_write(image)
    graph.root(image)
    return graph.bake("single_queue")


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """The plans of a build, and those of a later one."""
    old, new = tmp_path / "old", tmp_path / "new"
    for folder in (old, new):
        (folder / "deep").mkdir(parents=True)
        frame("same", 2).save(folder / "same.rplan.json")
    frame("longer", 2).save(old / "deep" / "longer.rplan.json")
    frame("longer", 8).save(new / "deep" / "longer.rplan.json")
    frame("larger", 2).save(old / "<b>larger.rplan.json")
    frame("larger", 2, width=65).save(new / "<b>larger.rplan.json")
    frame("gone", 1).save(old / "gone.rplan.json")
    frame("fresh", 1).save(new / "fresh.rplan.json")
    return old, new


def test_folders_are_compared_with_the_largest_change_first(folders: tuple[Path, Path]):
    done = run("diff", *folders)
    lines = done.stdout.decode().splitlines()
    assert lines[0] == "5 plans: 1 added, 1 removed, 2 changed, 1 equal"
    assert [line.split()[:2] for line in lines[1:]] == [
        ["~", "deep/longer"],
        ["~", "<b>larger"],
        ["+", "fresh"],
        ["-", "gone"],
    ]
    assert re.search(r"frame [\d.]+ µs → [\d.]+ µs \(\+\d+\.\d%\) .* passes 3 → 9 \(\+200\.0%\)", lines[1])
    values = json.loads(run("diff", *folders, "--json").stdout)
    assert values["equal"] is False
    assert {one["name"]: one["status"] for one in values["plans"]}["same"] == "equal"
    assert run("diff", *folders, "--exit-code").returncode == 1
    assert run("diff", folders[0], folders[0], "--exit-code").returncode == 0


def test_a_folder_and_a_file_are_not_compared(folders: tuple[Path, Path], tmp_path: Path):
    done = run("diff", folders[0], folders[1] / "same.rplan.json")
    assert done.returncode == 2
    assert b"no folder, while the other one is" in done.stderr
    (tmp_path / "empty").mkdir()
    assert b"no file called .rplan.json" in run("diff", folders[0], tmp_path / "empty").stderr


@pytest.fixture
def looked_at(browser) -> Iterator[object]:
    """A page of the browser that may say nothing and ask for nothing."""
    page = browser.new_page(viewport={"width": 900, "height": 700})
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    yield page
    page.close()
    assert messages == []


def test_the_page_of_two_folders_says_what_changed_and_by_how_much(folders, looked_at, tmp_path: Path):
    done = run("diff", *folders, "-o", tmp_path / "page.html")
    assert (done.returncode, done.stdout) == (0, b"")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script" not in text
    assert "<b>larger" not in text, "names are escaped"
    looked_at.goto((tmp_path / "page.html").as_uri())
    rows = looked_at.get_by_role("row").all_inner_texts()
    assert rows[1].startswith("deep/longer")
    assert re.search(r"\+\d+\.\d%", rows[1])
    assert "= equal" in rows[-1]
    section = looked_at.locator("section", has=looked_at.get_by_role("heading", name="deep/longer"))
    assert section.locator("figure svg.rgraph").count() == 2, "before and after"
    assert "pass p7" in section.inner_text()
    wide = "document.documentElement.scrollWidth <= innerWidth"
    assert looked_at.evaluate(wide), "tables and pictures scroll for themselves"
    looked_at.get_by_role("link", name="deep/longer").click()
    assert looked_at.url.endswith("#plan0")


def test_the_page_of_a_folder_bakes_graphs_and_ranks_plans(folders, looked_at, deferred: Path, tmp_path: Path):
    (folders[1] / "deferred.rgraph.json").write_bytes(deferred.read_bytes())
    done = run("view", folders[1], "-o", tmp_path / "all.html", "--profile", "discrete")
    assert done.returncode == 0, done.stderr
    looked_at.goto((tmp_path / "all.html").as_uri())
    rows = looked_at.get_by_role("row").all_inner_texts()
    assert [row.split("\t")[0] for row in rows[1:3]] == ["deferred", "deep/longer"]
    assert looked_at.locator("figure svg.rgraph").count() == len(rows) - 1
    dark = looked_at.evaluate("getComputedStyle(document.body).backgroundColor")
    looked_at.emulate_media(color_scheme="dark")
    assert looked_at.evaluate("getComputedStyle(document.body).backgroundColor") != dark
    assert looked_at.evaluate("getComputedStyle(document.querySelector('.rg-paper')).fill") == "rgb(18, 21, 26)"
