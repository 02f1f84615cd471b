"""What a package index shows and serves: the page stands alone, extras take newer versions, commands are doctor's."""

import re
import tomllib
from pathlib import Path

import pytest

from rgraph.cli.doctor import system


@pytest.fixture(scope="module")
def project(root: Path) -> dict:
    """The project's table."""
    return tomllib.loads((root / "pyproject.toml").read_text())["project"]


def test_the_page_of_the_index_begins_with_the_command_and_stands_alone(root: Path, project: dict):
    text = (root / "README.md").read_text()
    assert text.startswith("# rgraph\n\n```sh\npip install rgraph-vulkan\n```\n")
    home = project["urls"]["Homepage"]
    raw = home.replace("https://github.com", "https://raw.githubusercontent.com")
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    assert len(targets) > 15
    for target in targets:
        for begin in (f"{home}/blob/main/", f"{home}/tree/main/", f"{raw}/main/"):
            if target.startswith(begin):
                path = target.removeprefix(begin).partition("#")[0]
                assert (root / path).exists(), target
                break
        else:
            assert target.startswith("https://"), f"{target} leads nowhere on a package index"
            assert not target.startswith(home), target


def test_authors_and_addresses_are_there(project: dict):
    assert project["authors"] == [{"name": "rgraph developers"}]
    assert {"Homepage", "Documentation", "Changelog", "Issues"} <= set(project["urls"])


def test_extras_of_users_take_newer_versions(project: dict):
    extras = project["optional-dependencies"]
    for name in ("dask", "io", "video"):
        assert extras[name]
        assert all(re.fullmatch(r"[\w\[\]-]+>=[\d.]+", line) for line in extras[name]), name


def test_the_page_on_installing_has_the_commands_of_doctor(root: Path):
    page = (root / "docs" / "install.md").read_text()
    for command, parts in system._PACKAGES.values():
        assert f"`{command} {parts['driver']} {parts['loader']}`" in page


def test_the_workflow_says_what_was_tried_and_builds_what_scripts_build(root: Path):
    yaml = pytest.importorskip("yaml")
    text = (root / ".github" / "workflows" / "release.yml").read_text()
    jobs = yaml.safe_load(text)["jobs"]
    assert set(jobs) == {"linux", "macos", "windows", "source", "publish"}
    assert set(jobs["publish"]["needs"]) == set(jobs) - {"publish"}
    assert "# Tried: " in text
    assert "Not tried: " in text
    targets = [one["target"] for one in jobs["linux"]["strategy"]["matrix"]["include"]]
    assert targets == ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"]
    for step in [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]:
        for script in re.findall(r"scripts/\S+\.sh", step):
            assert (root / script).stat().st_mode & 0o100
    profile = tomllib.loads((root / "Cargo.toml").read_text())["profile"]["wheel"]
    assert profile["strip"] == "symbols"
    assert "panic" not in profile  # a fault of ours must stay an exception
