"""The page of the designs and the tests agree: every row has a line, a test of its name, and every test a row."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
COUNTS = {"I": 8, "M": 7, "T": 11, "S": 5, "G": 24, "W": 17}
ROW = re.compile(r"^\| ([A-Z]\d+) \|(.*)\|(.*)\|(.*)\| `(test_\w+\.py)` \|$", re.MULTILINE)


def rows() -> list[tuple[str, ...]]:
    return ROW.findall((ROOT / "docs/seeds.md").read_text("utf-8"))


def named(path: Path) -> set[str]:
    """The rows that a file tests, by its name and by those of its functions."""
    names = [path.stem, *re.findall(r"^def (test_\w+)", path.read_text("utf-8"), re.MULTILINE)]
    found = [one for name in names for one in re.findall(r"(?<=_)([imtsgw])(\d\d)(?=_)", f"{name}_")]
    return {f"{design.upper()}{int(number)}" for design, number in found}


def test_every_row_has_one_line_in_order():
    text = (ROOT / "docs/seeds.md").read_text("utf-8")
    assert len(rows()) == len(re.findall(r"^\| [A-Z]\d", text, re.MULTILINE)), "a line that is no row"
    expected = [f"{design}{number}" for design, count in COUNTS.items() for number in range(1, count + 1)]
    assert [row[0] for row in rows()] == expected
    assert all(cell.strip() for row in rows() for cell in row), "an empty cell"


def test_every_row_is_tested_where_the_page_says():
    files = {path.name: named(path) for path in Path(__file__).parent.glob("test_*.py")}
    wrong = [(row[0], row[-1]) for row in rows() if row[0] not in files.get(row[-1], set())]
    assert wrong == []
    strangers = {name: extra for name, own in files.items() if (extra := own - {row[0] for row in rows()})}
    assert strangers == {}
