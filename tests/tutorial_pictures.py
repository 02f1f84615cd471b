"""The pictures of the tutorial, which its pages make; `python tests/tutorial_pictures.py` writes them anew."""

import contextlib
import shutil
import tempfile
from pathlib import Path

import pages

PAGES = sorted(page for page in (pages.ROOT / "docs" / "tutorial").glob("*.md") if page.stem != "index")
FOLDER = pages.ROOT / "docs" / "pictures" / "tutorial"


def make(page: Path, folder: Path) -> Path:
    """Runs a page in a folder; the picture that it saves there."""
    with contextlib.chdir(folder):
        pages.run_python(page, device=True)
    return folder / f"{page.stem}.png"


if __name__ == "__main__":
    for one in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(make(one, Path(folder)), FOLDER)
