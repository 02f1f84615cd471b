"""Prose wraps at 120 columns, so that pages and comments are read and compared in any editor."""

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
