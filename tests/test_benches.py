"""Pages that benches write: each machine keeps its section, with earlier figures next to new ones."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

BESIDE = Path(__file__).resolve().parent.parent / "benches" / "beside"


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The module that writes the page, with a folder of its own."""
    spec = importlib.util.spec_from_file_location("beside_page", BESIDE / "page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "beside_page", module)
    spec.loader.exec_module(module)
    (tmp_path / "pictures").mkdir()
    (tmp_path / "performance.md").write_text("# Title\n\n<!-- figures -->\n<!-- end of figures -->\n\n## Words\n")
    monkeypatch.setattr(module, "DOCS", tmp_path)
    return module


def figures(page: ModuleType, date: str, us: float) -> dict[str, object]:
    names = [row.key for table in page.TABLES for row in table.rows]

    def library(scale: float) -> dict[str, object]:
        return {"version": "1", "gpu": "a GPU", "says": "does it", "figures": dict.fromkeys(names, us * scale)}

    libraries = {"rgraph": library(1.0), "other": library(2.0)}
    left_out = {"slangpy": "slangpy 1.0: Failed to create device!"}
    return {"date": date, "cpu": "2 × CPU", "python": "3.11", "libraries": libraries, "left_out": left_out}


def test_a_machine_measured_again_shows_the_figures_before(page: ModuleType, tmp_path: Path):
    page.write("two cores", figures(page, "2026-01-01", 3.0))
    page.write("a GPU", figures(page, "2026-01-02", 1.0))
    assert "rgraph, 2026-01-01" not in (tmp_path / "performance.md").read_text()
    page.write("two cores", figures(page, "2026-02-01", 2.0))
    page.write("two cores", figures(page, "2026-02-01", 2.5))
    text = (tmp_path / "performance.md").read_text()
    assert text.startswith("# Title\n")
    assert text.endswith("## Words\n")
    assert text.count("## a GPU") == text.count("## two cores") == 1
    section = text.partition("## two cores")[2]
    assert "| rgraph | other | rgraph, 2026-01-01 | goal |" in section
    assert "| declared or recorded, run, waited for | **2.50** | 5.00 | 3.00 | 76 |" in section
    assert "- slangpy was left out: slangpy 1.0: Failed to create device." in section
    other = text.partition("## a GPU")[2].partition("## two cores")[0]
    assert "2026-01-01" not in other
    assert "| rgraph | other | goal |" in other
    assert set(json.loads((tmp_path / "performance.json").read_text())) == {"two cores", "a GPU"}
    assert len(list((tmp_path / "pictures").glob("*.svg"))) == 6
