"""Figures of the house: sizes, circles of files, raw positions, comments, public items. `scripts/house.py [ROOT]`."""

from __future__ import annotations

import pathlib
import re
import sys

TESTS = re.compile(r"^#\[cfg\(test\)\]\n(?:#\[.*\]\n)*mod \w+ \{$.*?^\}$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"//[^\n]*")
STRING = re.compile(r'"(?:\\.|[^"\\])*"')
PATH = re.compile(r"\b(?:crate|super|self)(?:::(?:\w+|\{|\*))+")
REEXPORT = re.compile(r"^\s*pub(?:\([^)]*\))? use ([^;]*);", re.MULTILINE)
FUNCTION = re.compile(r"^( *)(?:pub(?:\([^)]*\))? )?(?:const |unsafe |async )*fn \w+.*$")
# A field or parameter of a whole number, on a line of its own. Quantities have no position to be confused with.
RAW = re.compile(
    r"^\s*(?:pub(?:\([^)]*\))? )?"
    r"(?!(?:\w+_)?(?:samples|mips|layers|levels?|count|counts|stride|effort|most|frames|size|sizes|depth|width|height|bytes"
    r"|channels|colors|queues|words|lines|columns|swaps|nodes|submits|calls|barriers|instances|primitives|vertices)\b)"
    r"\w+: (?:&?(?:mut )?(?:Vec<|\[)?\(?(?:u32|usize)\b)[^;{\n]*,$",
    re.MULTILINE,
)
PUBLIC = re.compile(r"^\s*pub (?:const |unsafe )*(?:fn|struct|enum|trait|type|const|static|mod|macro)\b", re.MULTILINE)
OLD = re.compile(
    r"\b(?:touch(?:e[sd])?|epochs?|graveyard|bury|garbage|deed|said|told|mend(?:s|ed)?|stand_ins?|forebears?)\b"
)


def code(path: pathlib.Path) -> str:
    """The text of a file without its tests."""
    return TESTS.sub("", path.read_text("utf-8"))


def bare(text: str) -> str:
    """The text without comments and strings."""
    return COMMENT.sub("", STRING.sub('""', text))


def modules(src: pathlib.Path) -> dict[tuple[str, ...], pathlib.Path]:
    """The files of a crate by module path."""
    found = {}
    for path in sorted(src.rglob("*.rs")):
        parts = list(path.relative_to(src).with_suffix("").parts)
        if parts[-1] in {"mod", "lib", "main"}:
            parts.pop()
        if "tests" not in parts:
            found[tuple(parts)] = path
    return found


def expand(text: str, at: int) -> list[list[str]]:
    """The paths of a use tree that begins at a position, as lists of names."""
    name = re.compile(r"\s*(\w+|\*)(?:\s+as\s+\w+)?")
    paths: list[list[str]] = []

    def tree(at: int, before: list[str]) -> int:
        if text[at : at + 1] == "{":
            at += 1
            while True:
                at = len(text) - len(text[at:].lstrip())
                if text[at] == "}":
                    return at + 1
                at = tree(at, before)
                at = len(text) - len(text[at:].lstrip())
                if text[at] == ",":
                    at += 1
        found = name.match(text, at)
        if not found:
            return len(text)
        own = [*before, found[1]]
        if text[found.end() : found.end() + 2] == "::":
            following = text[found.end() + 2 :]
            skipped = len(following) - len(following.lstrip())
            return tree(found.end() + 2 + skipped, own)
        paths.append(own)
        return found.end()

    tree(at, [])
    return paths


def graph(src: pathlib.Path) -> dict[tuple[str, ...], set[tuple[str, ...]]]:
    """Which file of a crate names which. What a module re-exports counts as named where it is defined."""
    files = modules(src)
    texts = {module: bare(code(path)) for module, path in files.items()}

    def absolute(module: tuple[str, ...], path: list[str]) -> list[str]:
        base = list(module)
        if path[0] == "crate":
            return path[1:]
        while path and path[0] in {"self", "super"}:
            if path[0] == "super":
                base = base[:-1]
            path = path[1:]
        return base + path

    exports: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for module, text in texts.items():
        own = exports.setdefault(module, {})
        for found in REEXPORT.finditer(text):
            for path in expand(found[1], 0):
                if (*module, path[0]) in files or path[0] in {"crate", "self", "super"}:
                    first = path if path[0] in {"crate", "self", "super"} else ["self", *path]
                    own[path[-1]] = absolute(module, first)

    def defined(path: list[str], depth: int = 0) -> tuple[str, ...] | None:
        for length in range(len(path), -1, -1):
            module = tuple(path[:length])
            if module in files:
                if length < len(path) and depth < 8 and path[length] in exports[module]:
                    return defined(exports[module][path[length]] + path[length + 1 :], depth + 1)
                return module
        return None

    edges: dict[tuple[str, ...], set[tuple[str, ...]]] = {module: set() for module in files}
    for module, text in texts.items():
        rest = REEXPORT.sub("", text)
        for found in PATH.finditer(rest):
            for path in expand(rest, found.start()):
                target = defined(absolute(module, path))
                if target is not None and target != module:
                    edges[module].add(target)
    return edges


def circles(edges: dict[tuple[str, ...], set[tuple[str, ...]]]) -> list[list[tuple[str, ...]]]:
    """Sets of files each of which reaches each other (Tarjan, 1972), those of one file left out."""
    number: dict[tuple[str, ...], int] = {}
    low: dict[tuple[str, ...], int] = {}
    stack: list[tuple[str, ...]] = []
    found = []

    def visit(node: tuple[str, ...]) -> None:
        number[node] = low[node] = len(number)
        stack.append(node)
        for target in sorted(edges[node]):
            if target not in number:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], number[target])
        if low[node] == number[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    sys.setrecursionlimit(10000)
    for node in sorted(edges):
        if node not in number:
            visit(node)
    return sorted(found, key=len, reverse=True)


def long_functions(text: str, most: int = 100) -> int:
    """Functions longer than so many lines; each ends at a brace with its own indent."""
    lines, count = text.splitlines(), 0
    for at, line in enumerate(lines):
        found = FUNCTION.match(line)
        if found and not line.rstrip().endswith(";"):
            end = next((to for to in range(at, len(lines)) if lines[to] == found[1] + "}"), at)
            count += end - at + 1 > most
    return count


def main() -> None:
    """Prints the figures of each crate, then circles of files."""
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1]
    columns = ("crate", "files", "lines", ">600", "fn>100", "comments", "raw", "NONE", "as usize", "pub", "old words")
    print("{:14} {:>5} {:>6} {:>5} {:>6} {:>8} {:>5} {:>5} {:>8} {:>5} {:>9}".format(*columns))
    rings = []
    for src in sorted(root.glob("rust/*/src")):
        files = modules(src)
        texts = [code(path) for path in files.values()]
        plain = [bare(text) for text in texts]
        lines = [text.count("\n") for text in texts]
        comments = sum(len(re.findall(r"^\s*//(?![/!])", text, re.MULTILINE)) for text in texts)

        def count(pattern: re.Pattern[str], texts: list[str] = plain) -> int:
            return sum(len(pattern.findall(text)) for text in texts)

        figures = (
            len(files),
            sum(lines),
            sum(more > 600 for more in lines),
            sum(long_functions(text) for text in plain),
            comments,
            count(RAW),
            count(re.compile(r"\bNONE\b")),
            count(re.compile(r"\bas usize\b")),
            count(PUBLIC),
            count(OLD),
        )
        print("{:14} {:5} {:6} {:5} {:6} {:8} {:5} {:5} {:8} {:5} {:9}".format(src.parent.name, *figures))
        rings += [(src.parent.name, ring) for ring in circles(graph(src))]
    for crate, ring in rings:
        print(f"circle of {len(ring)} in {crate}: " + ", ".join("/".join(module) or "lib" for module in ring))


if __name__ == "__main__":
    main()
