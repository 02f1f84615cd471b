"""What a package of each published crate has: its licences, its page, and every file that its sources name."""

import json
import os.path
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo lists what packages have")

# Files of tests that sources of the workspace use.
OF_TESTS = {"tests/common/counting.rs", "tests/support/demand.rs", "tests/support/mutate.rs"}


@pytest.fixture(scope="module")
def crates(root: Path) -> list[dict]:
    """The published crates, as cargo describes them."""
    command = ["cargo", "metadata", "--no-deps", "--format-version", "1", "--offline"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return [crate for crate in json.loads(done.stdout)["packages"] if crate["publish"] is None]


@pytest.fixture(scope="module")
def packages(root: Path, crates: list[dict]) -> dict[str, tuple[Path, set[str]]]:
    """The folder of each published crate, and the files of its package."""
    found = {}
    for crate in crates:
        command = ["cargo", "package", "--list", "--allow-dirty", "--offline", "--package", crate["name"]]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
        found[crate["name"]] = (Path(crate["manifest_path"]).parent, set(done.stdout.splitlines()))
    return found


def test_each_package_has_its_licences_and_its_page(root: Path, packages: dict):
    assert len(packages) == 11
    for name, (folder, files) in packages.items():
        assert {"LICENSE-APACHE", "LICENSE-MIT", "README.md", "src/lib.rs"} <= files, name
        for licence in ("LICENSE-APACHE", "LICENSE-MIT"):
            assert (folder / licence).read_text() == (root / licence).read_text()


def test_packages_with_sources_of_others_have_their_notices(packages: dict):
    names = [name for name, (folder, _) in packages.items() if (folder / "build.rs").exists()]
    assert sorted(names) == ["rgraph-glsl", "rgraph-vk"]
    assert all("NOTICE" in packages[name][1] for name in names)


def test_each_package_says_where_it_comes_from(root: Path, crates: list[dict]):
    home = tomllib.loads((root / "pyproject.toml").read_text())["project"]["urls"]["Homepage"]
    for crate in crates:
        assert crate["repository"] == home, crate["name"]
        assert crate["license"] == "MIT OR Apache-2.0"
        assert all(crate[key] for key in ("description", "categories", "keywords", "readme", "rust_version"))


def test_each_package_has_the_files_that_its_sources_name(packages: dict):
    named = re.compile(r'(?:include(?:_str|_bytes)?!\(|#\[path = |, path = )"([^"]+)"')
    checked = 0
    for name, (_, files) in packages.items():
        lacks = set()
        for file in sorted(files):
            folder, path = packages[name][0], Path(file)
            if path.suffix == ".rs":
                for target in named.findall((folder / path).read_text()):
                    lacks |= {os.path.normpath(path.parent / target)} - files
                    checked += 1
        assert lacks == set(), name
    assert checked > 30


def test_no_package_has_tests_that_read_the_repository(packages: dict):
    tests = {file for _, files in packages.values() for file in files if file.startswith(("tests/", "examples/"))}
    assert tests == OF_TESTS


def test_packages_name_only_packages_that_an_index_can_have(crates: list[dict]):
    published = {crate["name"] for crate in crates}
    for crate in crates:
        for need in crate["dependencies"]:
            ours = need["name"].startswith("rgraph-") and need["kind"] != "dev"
            assert not ours or (need["name"] in published and need["req"] != "*"), (crate["name"], need["name"])


def test_build_scripts_look_for_the_versions_of_sources_that_the_workspace_names(root: Path, packages: dict):
    needs = tomllib.loads((root / "Cargo.toml").read_text())["workspace"]["dependencies"]
    for crate in ("rgraph-glsl", "rgraph-vk"):
        script = (packages[crate][0] / "build.rs").read_text()
        name, version = re.search(r'Sources \{ name: "([\w-]+)", version: "([\d.]+)"', script).groups()
        need = needs[name] if isinstance(needs[name], str) else needs[name]["version"]
        assert need.startswith(version)


def test_each_feature_has_a_sentence_and_is_checked_alone(root: Path, packages: dict):
    manifest = (packages["rgraph-vulkan"][0] / "Cargo.toml").read_text()
    features = tomllib.loads(manifest)["features"]
    every = features.pop("default")
    assert sorted(every) == sorted(features)
    checked = re.search(r"^FEATURES := (.*)$", (root / "Makefile").read_text(), re.MULTILINE)
    assert checked.group(1).split() == list(features)
    for name in ("rgraph-vulkan", "rgraph-vk", "rgraph-work", "rgraph-shader"):
        folder = packages[name][0]
        own = tomllib.loads((folder / "Cargo.toml").read_text())["features"]
        page, readme = (folder / "src/lib.rs").read_text(), (folder / "README.md").read_text()
        for feature in set(own) - {"default"}:
            assert re.search(rf"^# \w.*\.\n{feature} = \[", (folder / "Cargo.toml").read_text(), re.MULTILINE), feature
            assert f"//! - `{feature}`: " in page, (name, feature)
            assert f"`{feature}`" in readme, (name, feature)
