"""The arrows between crates: those that Cargo proves, and the readers of a hidden module, which it cannot show."""

import pathlib
import re
import tomllib

ROOT = pathlib.Path(__file__).parents[1]


def sources():
    """Every Rust file of the repository's own crates, examples, benches and fuzz targets."""
    for folder in ("rust", "benches", "fuzz", "examples"):
        for path in (ROOT / folder).rglob("*.rs"):
            if "target" not in path.parts:
                yield path


def test_only_the_planners_tests_look_inside_the_planner():
    reads = re.compile(r"\brgraph_plan::\{?\s*inside\b|\bplan::inside\b")
    readers = {path.relative_to(ROOT).as_posix() for path in sources() if reads.search(path.read_text("utf-8"))}
    assert readers, "the planner's tests call stages through rgraph_plan::inside"
    assert {reader for reader in readers if not reader.startswith("rust/rgraph-plan/tests/")} == set()


def test_the_planners_stages_are_private():
    declared = (ROOT / "rust/rgraph-plan/src/lib.rs").read_text("utf-8")
    assert re.search(r"^mod stages;$", declared, re.MULTILINE)
    assert "rgraph_plan::stages" not in "".join(path.read_text("utf-8") for path in sources())


def test_each_crate_depends_on_no_more_than_its_arrows():
    arrows = {
        "rgraph-ir": set(),
        "rgraph-plan": {"rgraph-ir"},
        "rgraph-files": {"rgraph-ir"},
        "rgraph-report": {"rgraph-ir", "rgraph-plan", "rgraph-files"},
        "rgraph-check": {"rgraph-ir"},
        "rgraph-glsl": set(),
        "rgraph-shader": {"rgraph-ir", "rgraph-glsl"},
        "rgraph-work": {"rgraph-ir", "rgraph-files", "rgraph-shader"},
    }
    found, vulkan = {}, set()
    for name in arrows:
        manifest = tomllib.loads((ROOT / "rust" / name / "Cargo.toml").read_text("utf-8"))
        needs = set(manifest["dependencies"]) if "dependencies" in manifest else set()
        found[name] = {need for need in needs if need.startswith("rgraph-")}
        vulkan |= {name for need in needs if need in {"ash", "gpu-allocator"}}
    assert found == arrows
    assert not vulkan
