"""README's example: what it is, what it prints, and `python tests/readme.py` to write that into README anew."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"
BLOCK = re.compile(r"(```python\n)(.*?)(```.*?```text\n)(.*?)(```)", re.DOTALL)


def example() -> tuple[str, str]:
    """The example, and what README says that it prints."""
    found = BLOCK.search(README.read_text(encoding="utf-8"))
    assert found
    return found[2], found[4]


def printed(code: str, folder: Path) -> str:
    """What the example prints when it runs in a folder."""
    (folder / "example.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "example.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout.decode()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        shown = printed(example()[0], Path(folder))
    text = README.read_text(encoding="utf-8")
    README.write_text(BLOCK.sub(lambda found: "".join((*found.groups()[:3], shown, found[5])), text, count=1), "utf-8")
