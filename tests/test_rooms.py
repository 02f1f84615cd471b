"""The arrows between crates: those that Cargo proves, and the readers of a hidden module, which it cannot show; and the
circles of files within each crate."""

import ast
import importlib.util
import pathlib
import re
import tomllib

ROOT = pathlib.Path(__file__).parents[1]


def house():
    """The script that counts."""
    spec = importlib.util.spec_from_file_location("house", ROOT / "scripts/house.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
        "rgraph-cxx": set(),
        "rgraph-glsl": {"rgraph-cxx"},
        "rgraph-shader": {"rgraph-ir", "rgraph-glsl"},
        "rgraph-work": {"rgraph-ir", "rgraph-files", "rgraph-shader"},
    }
    found, vulkan = {}, set()
    for name in arrows:
        manifest = tomllib.loads((ROOT / "rust" / name / "Cargo.toml").read_text("utf-8"))
        needs = {need for kind in ("dependencies", "build-dependencies") for need in manifest.get(kind, ())}
        found[name] = {need for need in needs if need.startswith("rgraph-")}
        vulkan |= {name for need in needs if need in {"ash", "gpu-allocator"}}
    assert found == arrows
    assert not vulkan


def test_files_in_a_circle_are_three_at_most_in_one_folder():
    count, held, crates = house(), [], set()
    for src in sorted((ROOT / "rust").glob("*/src")):
        files = count.modules(src)
        crates.add(src.parent.name)
        held += [[files[module] for module in circle] for circle in count.circles(count.graph(src))]
    assert "rgraph-plan" in crates
    assert held
    # The `mod.rs` of a folder is in that folder.
    assert [circle for circle in held if len(circle) > 3 or len({path.parent for path in circle}) > 1] == []


def test_files_of_python_in_a_circle_are_three_at_most_in_one_folder():
    """Imports for type checkers and those within functions count; a package's face only hands names on."""
    root = ROOT / "python"
    files = {path.relative_to(root).with_suffix("").parts: path for path in sorted(root.rglob("*.py"))}
    files = {name: path for name, path in files.items() if name[-1] != "__init__"}
    edges = {name: set() for name in files}
    for name, path in files.items():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                module = tuple(node.module.split("."))
                edges[name] |= {module, *((*module, one.name) for one in node.names)} & (files.keys() - {name})
    assert sum(map(len, edges.values())) > 200
    circles = house().circles(edges)
    assert circles
    assert [circle for circle in circles if len(circle) > 3 or len({name[:-1] for name in circle}) > 1] == []


def test_files_and_functions_stay_short():
    count = house()
    texts = {path: count.code(path) for path in sources() if "/src/" in path.as_posix()}
    assert len(texts) > 500
    assert [path for path, text in texts.items() if text.count("\n") > 600] == []
    assert [path for path, text in texts.items() if count.long_functions(count.bare(text))] == []


def test_each_file_of_tests_is_part_of_a_program():
    forgotten, merged = [], 0
    for folder in sorted((ROOT / "rust").glob("*/tests")):
        manifest = tomllib.loads((folder.parent / "Cargo.toml").read_text("utf-8"))
        if "autotests" not in manifest["package"]:
            continue
        merged += 1
        modules = re.findall(r"^mod (\w+);$", (folder / "all.rs").read_text("utf-8"), re.MULTILINE)
        named = {f"tests/{module}.rs" for module in modules} | {program["path"] for program in manifest["test"]}
        files = {path.relative_to(folder.parent).as_posix() for path in folder.glob("*.rs")}
        forgotten += [folder.parent / file for file in sorted(files - named)]
    assert merged > 6
    assert forgotten == []


def test_each_crate_says_which_of_its_items_are_public():
    crates = [path for path in (ROOT / "rust").glob("*/src/lib.rs") if path.parts[-3] != "rgraph"]
    assert len(crates) > 8
    lint = "#![cfg_attr(not(test), warn(unreachable_pub))]"
    assert [path for path in crates if lint not in path.read_text("utf-8")] == []


def test_no_two_crates_have_one_name_at_their_roots():
    # Applications import several roots, and the planner's prelude, as wholes.
    owners = {}
    for crate in ("plan", "files", "report", "check", "shader", "work", "vk"):
        text = re.sub(r"//.*", "", (ROOT / f"rust/rgraph-{crate}/src/lib.rs").read_text("utf-8"))
        exported = [use for use in re.findall(r"^ *pub use ([^;]*);", text, re.MULTILINE) if "rgraph_ir::" not in use]
        names = {name for use in exported for name in re.findall(r"\w+(?=\s*[,}]|$)", use)}
        item = r"^pub (?:const )?(?:fn|struct|enum|trait|type|const|static) (\w+)"
        names |= set(re.findall(item, text, re.MULTILINE))
        for name in names:
            owners.setdefault(name, []).append(crate)
    assert {"Graph", "Finding", "DeviceResource", "Workload"} <= set(owners)
    assert {name: crates for name, crates in owners.items() if len(crates) > 1} == {}


def test_the_architecture_lists_each_file_of_the_runtime_once():
    section = (ROOT / "ARCHITECTURE.md").read_text("utf-8").split("## The files of the runtime")[1].split("\n## ")[0]
    listed = re.findall(r"^\| `([\w/]+\.rs)` \| [^|]+ \|$", section, re.MULTILINE)
    src = ROOT / "rust/rgraph-vk/src"
    assert sorted(listed) == sorted(path.relative_to(src).as_posix() for path in src.rglob("*.rs"))


def test_circles_are_found_through_reexports_and_trees_of_names(tmp_path):
    files = {
        "lib.rs": "mod a;\nmod b;\nmod c;\n",
        "a/mod.rs": "pub mod inner;\npub use inner::{Thing, other::Else};\n",
        "a/inner.rs": "use crate::{b::{self, Used}, c};\n",
        "b.rs": "use crate::a::Thing;\n",
        "c.rs": "// use crate::b;\n#[cfg(test)]\nmod tests {\n    use crate::a::inner;\n}\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    count = house()
    assert count.circles(count.graph(tmp_path)) == [[("a", "inner"), ("b",)]]
