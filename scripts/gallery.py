"""Make the gallery: run every example, keep its picture, write the page with pictures, sentences, code and plans.

`python scripts/gallery.py` writes `docs/pictures/gallery` and `docs/gallery.md`; it needs a driver. The tests run the
examples by `made`, so that page and tests use one way.
"""

import contextlib
import io
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((ROOT / "examples" / "gallery").glob("[0-9]*.py"))
PICTURES = ROOT / "docs" / "pictures" / "gallery"
PAGE = ROOT / "docs" / "gallery.md"
#: Lines of a plan that the page shows.
LINES = 40
BEGIN = """# Gallery

Each example is one file of at most 60 lines that runs alone, on a GPU or on a software driver, in about a second. The
wheel does not have them: in a [clone](https://github.com/rgraph-vulkan/rgraph) run
`python examples/gallery/01_triangle.py`. Each asserts that its texels or numbers are right, by numpy or by arithmetic.
`python scripts/gallery.py` makes this page and its pictures.
"""


class Made(NamedTuple):
    """What an example makes."""

    picture: bytes
    """Its PNG."""
    plan: str
    """The listing of its graph `g` for a discrete GPU."""


def made(example: Path) -> Made:
    """Run an example in a folder of its own.

    Parameters
    ----------
    example
        The file.
    """
    names: dict[str, Any] = {"__name__": "gallery"}
    code = compile(example.read_text(encoding="utf-8"), str(example), "exec")
    with tempfile.TemporaryDirectory() as folder:
        with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
            exec(code, names)
        picture = (Path(folder) / f"{example.stem}.png").read_bytes()
    return Made(picture, str(names["g"].bake("discrete")))


def described(example: Path) -> tuple[str, str]:
    """Title and sentence of an example, from its docstring.

    Parameters
    ----------
    example
        The file.
    """
    first = example.read_text(encoding="utf-8").splitlines()[0].strip('"')
    title, _, sentence = first.partition(": ")
    return title, sentence[:1].upper() + sentence[1:]


def section(example: Path, plan: str) -> str:
    """The part of the page for an example.

    Parameters
    ----------
    example
        The file.
    plan
        The listing of its plan.
    """
    title, sentence = described(example)
    source = f"```{{literalinclude}} ../examples/gallery/{example.name}\n:language: python\n```"
    return f"""
## {title}

![{title}](pictures/gallery/{example.stem}.png)

{sentence}

{_folded(example.name, source)}
{_folded("Plan", f"```text{chr(10)}{shortened(plan)}{chr(10)}```")}"""


def _folded(summary: str, text: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>\n"


def shortened(plan: str) -> str:
    """A listing, cut after its first lines.

    Parameters
    ----------
    plan
        The listing.
    """
    lines = plan.splitlines()
    return "\n".join([*lines[:LINES], f"… {len(lines) - LINES} lines more"] if len(lines) > LINES else lines)


def main() -> None:
    """Write pictures and page."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    sections = []
    for example in EXAMPLES:
        found = made(example)
        (PICTURES / f"{example.stem}.png").write_bytes(found.picture)
        sections.append(section(example, found.plan))
        print(f"{example.stem}: {len(found.picture)} bytes", file=sys.stderr)
    for old in PICTURES.glob("*.png"):
        if old.stem not in {example.stem for example in EXAMPLES}:
            old.unlink()
    PAGE.write_text(BEGIN + "".join(sections), encoding="utf-8")


if __name__ == "__main__":
    main()
