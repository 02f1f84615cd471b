"""Documentation: everything public has some, and its examples run."""

import doctest
import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pages
import rgraph
from rgraph import _core, _errors

CLASSES = [item for item in vars(_core).values() if inspect.isclass(item)]


def members(item: type) -> list[str]:
    """Names of what a class itself makes public."""
    return [name for name in vars(item) if not name.startswith("_")]


@pytest.mark.parametrize("name", rgraph.__all__)
def test_everything_public_says_what_it_is(name: str):
    item = getattr(rgraph, name)
    if name != "__version__":
        assert inspect.getdoc(item)


@pytest.mark.parametrize("item", CLASSES, ids=[item.__name__ for item in CLASSES])
def test_methods_say_what_they_do_and_name_every_parameter(item: type):
    for name in members(item):
        member = inspect.getattr_static(item, name)
        doc = inspect.getdoc(member) or ""
        assert doc, name
        function = member.__func__ if isinstance(member, staticmethod) else member
        if not callable(function):
            continue
        for parameter in inspect.signature(function).parameters.values():
            if parameter.name != "self" and "Parameters" in doc:
                assert parameter.name in doc, (name, parameter.name)


@pytest.mark.parametrize("item", CLASSES, ids=[item.__name__ for item in CLASSES])
def test_examples_in_the_documentation_run(item: type):
    for example in doctest.DocTestFinder().find(item, item.__name__, globs={}):
        assert doctest.DocTestRunner().run(example).failed == 0


def test_version_is_the_distributions():
    from importlib.metadata import version

    assert version("rgraph-vulkan") == rgraph.__version__


def test_the_example_of_explain_runs():
    for example in doctest.DocTestFinder().find(_errors.explain, "explain", globs={"explain": rgraph.explain}):
        assert doctest.DocTestRunner().run(example).failed == 0


def title(page: Path) -> str:
    """A page's name in the names of tests."""
    return page.relative_to(pages.ROOT).as_posix()


PLANNED = [page for page in pages.pages() if pages.python_blocks(page, device=False)]


@pytest.mark.parametrize("page", PLANNED, ids=title)
def test_code_of_a_page_runs_and_prints_what_the_page_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert pages.run_python(page, device=False) == len(pages.python_blocks(page, device=False))


@pytest.mark.parametrize("page", pages.pages(), ids=title)
def test_other_blocks_of_a_page_run_or_are_well_formed(page: Path, tmp_path: Path):
    (tmp_path / "examples").mkdir()
    for example in (pages.ROOT / "examples").iterdir():
        if example.is_file():
            shutil.copy(example, tmp_path / "examples")
    for block in pages.blocks(page):
        if block.kind == "sh":
            pages.run_shell(block, tmp_path)
        else:
            pages.check_other(block)


def test_links_of_pages_lead_somewhere():
    for page in [*pages.pages(), *pages.ROOT.glob("*.md")]:
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            if not re.match(r"[a-z]+:", target):
                assert (page.parent / target).exists(), f"{title(page)} links to {target}"


def test_no_page_is_left_out_of_the_manual():
    texts = {page: page.read_text(encoding="utf-8") for page in (pages.ROOT / "docs").rglob("*.md")}
    for page in texts:
        if page.name == "index.md" and page.parent.name == "docs":
            continue
        index = page.parent / "index.md" if page.name != "index.md" else page.parent.parent / "index.md"
        name = page.stem if page.name != "index.md" else f"{page.parent.name}/index"
        assert name in texts[index] or ":glob:" in texts[index], page


def test_glossary_is_short_and_has_each_word_once():
    text = (pages.ROOT / "GLOSSARY.md").read_text(encoding="utf-8")
    assert text.count("\n") <= 60
    meanings, _, banned = text.partition("**Banned")
    words = [word.lower() for word in re.findall(r"\*([^*]+)\*(?=[:,; ])", meanings) if not word.endswith(".")]
    assert len(words) == len(set(words)) > 50
    for pair in re.findall(r"([^.→]+?)→", banned):
        for old in pair.replace("\n", " ").split(","):
            assert old.strip().lower().partition(" (")[0] not in words


def test_documentation_is_built_without_a_warning(tmp_path: Path):
    pytest.importorskip("sphinx", reason="the extra docs is not installed: pip install '.[docs]'")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "-q",
        "-b",
        "html",
        str(pages.ROOT / "docs"),
        str(tmp_path / "html"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "html" / "reference" / "errors.html").read_text().count('id="rg-e') >= len(_core.codes())
