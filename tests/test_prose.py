"""Prose wraps at 120 columns, so that pages and comments are read and compared in any editor; comments have content."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
WIDTH = 120
# Whole pages that commands write, whose lines are as long as what they quote.
WRITTEN = {"docs/gallery.md", "docs/performance.md", "docs/reliability.md"}


def pages() -> list[str]:
    """Every page that people write; folders that builds fill are passed over."""
    built = {"target", ".venv", "out", ".vulkan", ".pytest_cache", "node_modules"}
    found = (path.relative_to(ROOT) for path in ROOT.rglob("*.md"))
    return sorted(page.as_posix() for page in found if not built & set(page.parts) and page.as_posix() not in WRITTEN)


def too_long(text: str) -> list[str]:
    """Lines beyond the width, but for tables, code and links that cannot be broken."""
    found, code = [], False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            code = not code
        elif len(line) > WIDTH and not code and not line.startswith("|") and "://" not in line:
            found.append(line)
    return found


def test_lines_beyond_the_width_are_found():
    assert too_long(f"{'a ' * 61}\n| {'a ' * 61}|\n```\n{'a ' * 61}\n```\n") == ["a " * 61]


@pytest.mark.parametrize("page", pages())
def test_prose_wraps(page: str):
    assert too_long((ROOT / page).read_text("utf-8")) == []


def test_comments_of_rust_wrap():
    """But for tables, and for lines of examples that pages hide."""
    found = []
    for folder in ("benches", "examples", "fuzz", "rust"):
        for path in sorted((ROOT / folder).rglob("*.rs")):
            if "target" not in path.parts:
                lines = path.read_text("utf-8").splitlines()
                comments = (line for line in lines if re.match(r"\s*//[/!]? (?![|#])", line))
                found += [(path.relative_to(ROOT).as_posix(), line) for line in comments if len(line) > WIDTH]
    assert found == []


# Words of a doc comment that add nothing to a name.
EMPTY = {"a", "an", "are", "from", "how", "in", "is", "it", "its", "of", "that", "the", "this", "to", "what", "when"}
EMPTY |= {"where", "which", "why"}
VISIBLE = r"\s*(?:pub(?:\([^)]*\))? )?"
ITEM = re.compile(VISIBLE + r"(?:(?:const|unsafe|async) (?=fn))*(?:(fn|struct|enum|trait|type|static|const) )?(\w+)")
TYPES = {"struct", "enum", "trait"}
GETTER = re.compile(r"fn \w+\((?:&?(?:mut )?self|self: [^,)]*)?\)")


def items(source: str) -> list[tuple[str, str | None, str, str]]:
    """Documented items, fields and variants, and public types and functions: line, kind, name, documentation."""
    found, doc = [], []
    for line in source.splitlines():
        if comment := re.match(r"\s*///\s?(.*)", line):
            doc.append(comment[1])
        elif not re.match(r"\s*#\[", line):
            item = ITEM.match(line)
            public = item and item[1] in TYPES | {"fn"} and re.match(r"\s*pub (?!\()", line)
            if item and (doc or public):
                found.append((line.strip(), item[1], item[2], "\n".join(doc)))
            doc = []
    return found


def words(text: str) -> set[str]:
    """The words of a text or of a name, without endings of plurals."""
    return {word.lower().rstrip("s") for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", text)}


def repeats(kind: str | None, name: str, doc: str) -> bool:
    """Whether documentation has no word that the name does not have."""
    return bool(doc) and kind not in TYPES and words(doc) - EMPTY <= words(name)


def lacks(line: str, kind: str | None, doc: str) -> bool:
    """Whether a type, or a function with arguments, has no documentation."""
    return not doc and kind in TYPES | {"fn"} and not GETTER.search(line)


def test_empty_and_missing_documentation_is_found():
    source = "/// The pass.\npub pass: PassId,\n/// Bytes.\npub size: u64,\npub fn f(at: u32)\npub fn g(&self)"
    found = items(source)
    assert [name for _, kind, name, doc in found if repeats(kind, name, doc)] == ["pass"]
    assert [name for line, kind, name, doc in found if lacks(line, kind, doc)] == ["f"]


def test_documentation_says_more_than_the_name():
    """Fields and variants need none. Methods of Python classes may repeat their names, since Python shows documentation
    alone; titles of error codes are documentation."""
    found = []
    for path in sorted((ROOT / "rust").glob("*/src/**/*.rs")):
        file = path.relative_to(ROOT / "rust").as_posix()
        if file in {"rgraph-ir/src/code.rs", "rgraph-ir/src/declare.rs"} or file.startswith("rgraph-py/src/classes/"):
            continue
        for line, kind, name, doc in items(path.read_text("utf-8")):
            if repeats(kind, name, doc) or lacks(line, kind, doc):
                found.append(f"{file}: {doc or 'no documentation'}: {line}")
    assert found == []
