"""Documentation as programs: the blocks of README and docs, and how they are run."""

import contextlib
import io
import json
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(
    r"(?P<mark><!-- [^\n]*? -->\n)?^(?P<fence>`{3,})(?P<info>[^\n]*)\n(?P<code>.*?)^(?P=fence)$", re.M | re.S
)
#: Commands of shell blocks that are run by something else, and by what.
ELSEWHERE = {
    "pip install": "scripts/package.sh",
    "apt-get install": "scripts/driver.sh",
    "cargo": "make test",
    "dask": "tests/gpu/test_batch_dask.py",
    "make": "make",
    "python examples/": "tests/test_examples.py",
}
PLAIN = ("text", "", "{toctree}", "{include}", "{literalinclude}", "{eval-rst}", "mermaid", "console")


@dataclass(frozen=True)
class Block:
    """A fenced block: what it is, what is in it, and what stands before it."""

    page: Path
    line: int
    kind: str
    code: str
    mark: str


def pages() -> list[Path]:
    """Every page that has blocks of its own; the page of error codes has tests of its own."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if "_build" not in page.parts]


def blocks(page: Path) -> list[Block]:
    """The blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("code")) + 1
        mark = (match["mark"] or "").removeprefix("<!-- ").removesuffix(" -->\n")
        found.append(Block(page, line, match["info"].split(" ")[0].strip(), match["code"], mark))
    return found


def device_part(page: Path) -> int | None:
    """The line from which on a page's code runs on a device: where it says so, or none."""
    before, mark, _ = page.read_text(encoding="utf-8").partition("<!-- device -->\n")
    return before.count("\n") + 1 if mark else None


def python_blocks(page: Path, *, device: bool) -> list[Block]:
    """The Python blocks of a page: all of them, or those that need no device."""
    until = None if device else device_part(page)
    found = [block for block in blocks(page) if block.kind == "python"]
    return [block for block in found if until is None or block.line < until]


def same(shown: str, written: str) -> bool:
    """Whether an output is what the page shows, where `…` is anything."""
    parts = [re.escape(part) for part in shown.rstrip().split("…")]
    return re.fullmatch(".*".join(parts), written.rstrip(), re.DOTALL) is not None


def run_python(page: Path, *, device: bool) -> int:
    """Runs a page's Python blocks one after the other, as one session; compares what they print where the page says it.

    Without a device it ends where the page says that its code needs one. Returns how many ran.
    """
    names: dict[str, object] = {"__name__": "page"}
    written, ran = "", 0
    wanted = python_blocks(page, device=device)
    for block in blocks(page):
        where = f"{page.relative_to(ROOT)}:{block.line}"
        if block.kind == "python":
            if block not in wanted:
                break
            out = io.StringIO()
            code = compile("\n" * (block.line - 1) + block.code, str(page), "exec")
            with contextlib.redirect_stdout(out):
                exec(code, names)
            written, ran = out.getvalue(), ran + 1
        elif block.kind == "text" and block.mark == "prints":
            assert same(block.code, written), f"{where} shows\n{block.code}\nand what is printed is\n{written}"
    return ran


def run_shell(block: Block, folder: Path) -> int:
    """Runs a block's `rgraph` commands in a folder; any other must be run by something else. Returns how many ran."""
    ran = 0
    for line in block.code.replace("\\\n", " ").splitlines():
        command = line.split("  #")[0].strip()
        if not command or command.startswith("#"):
            continue
        if not command.startswith("rgraph "):
            assert any(command.startswith(known) for known in ELSEWHERE), f"nothing runs {command!r}"
            continue
        done = subprocess.run(
            f"{sys.executable} -m {command}", shell=True, cwd=folder, capture_output=True, text=True, check=False
        )
        # What the doctor finds is not the page's fault.
        good = (0, 1, 3) if command.startswith("rgraph doctor") else (0,)
        assert done.returncode in good, (command, done.stdout, done.stderr)
        ran += 1
    return ran


def check_other(block: Block) -> None:
    """A block of another language must be well-formed, and Rust must be part of an example that is compiled and run."""
    if block.kind == "json":
        json.loads(block.code)
    elif block.kind == "toml":
        tomllib.loads(block.code)
    elif block.kind == "rust":
        patterns = "examples/*.rs", "examples/*/src/*.rs", "rust/*/src/**/*.rs"
        sources = [source for pattern in patterns for source in ROOT.glob(pattern)]
        wanted = [line.strip() for line in block.code.splitlines() if line.strip()]
        plain = [re.sub(r"^\s*(//[!/] ?)?", "", source.read_text(), flags=re.M) for source in sources]
        texts = ["\n".join(line.strip() for line in text.splitlines() if line.strip()) for text in plain]
        assert any("\n".join(wanted) in text for text in texts), f"{block.page}:{block.line} is in no example"
    elif block.kind == "cpp":
        # Code of other engines, next to the same in rgraph.
        assert "not compiled here" in block.page.read_text(encoding="utf-8")
    else:
        assert block.kind in PLAIN or block.kind in ("python", "sh"), f"{block.page}:{block.line}: {block.kind}"
