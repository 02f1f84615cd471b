"""Pictures of tutorial and cookbook, which their pages make; `python tests/tutorial_pictures.py` makes them again."""

import contextlib
import shutil
import tempfile
from pathlib import Path

import pages

DOCS = pages.ROOT / "docs"
#: The steps of the tutorial.
PAGES = sorted(page for page in (DOCS / "tutorial").glob("*.md") if page.stem != "index")
#: Pages of the cookbook that show what they make.
COOKBOOK = sorted(page for page in (DOCS / "cookbook").glob("*.md") if "(../pictures/cookbook/" in page.read_text())


def shown(page: Path) -> Path:
    """The picture that a page shows."""
    return DOCS / "pictures" / page.parent.name / f"{page.stem}.png"


def make(page: Path, folder: Path) -> Path:
    """Runs a page in a folder; the picture that it saves there."""
    with contextlib.chdir(folder):
        pages.run_python(page, device=True)
    return folder / f"{page.stem}.png"


if __name__ == "__main__":
    for one in PAGES + COOKBOOK:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(make(one, Path(folder)), shown(one))
