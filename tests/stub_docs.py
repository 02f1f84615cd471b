"""The docstrings of the stub: `python tests/stub_docs.py` writes those of the build into `_core.pyi`."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
import textwrap
from pathlib import Path

from rgraph import _core

STUB = Path(__file__).resolve().parent.parent / "python" / "rgraph" / "_core.pyi"


def documented(tree: ast.Module) -> list[tuple[ast.FunctionDef | ast.ClassDef, str]]:
    """Classes, functions, methods and properties of the stub, each with the docstring of the build."""
    found: list[tuple[ast.FunctionDef | ast.ClassDef, str]] = []

    def visit(nodes: list[ast.stmt], owner: object) -> None:
        for node in nodes:
            if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name.startswith("_"):
                continue
            item = inspect.getattr_static(owner, node.name, None)
            item = getattr(item, "__func__", item)
            doc = inspect.getdoc(item)
            if item is not None and doc:
                found.append((node, doc))
            if isinstance(node, ast.ClassDef) and item is not None:
                visit(node.body, item)

    visit(tree.body, _core)
    return found


def written(text: str) -> str:
    """The stub's text with the docstrings of the build."""
    lines = text.splitlines()
    for node, doc in sorted(documented(ast.parse(text)), key=lambda pair: pair[0].lineno, reverse=True):
        first = node.body[0]
        indent = " " * (node.col_offset + 4)
        quote = 'r"""' if "\\" in doc else '"""'
        body = textwrap.indent(doc, indent).lstrip()
        several = "\n" in doc
        block = (indent + quote + body + (f"\n{indent}" if several else "") + '"""').splitlines()
        has = (
            isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
        )
        if has:
            lines[first.lineno - 1 : first.end_lineno] = block
        elif isinstance(first, ast.Expr) and lines[first.lineno - 1].rstrip().endswith(": ..."):
            lines[first.lineno - 1] = lines[first.lineno - 1].rstrip().removesuffix(" ...")
            lines[first.lineno : first.lineno] = block
        else:
            at = min([first.lineno, *(one.lineno for one in getattr(first, "decorator_list", []))]) - 1
            lines[at:at] = [*block, ""]
    return "\n".join(lines) + "\n"


def formatted(text: str) -> str:
    """As ruff formats it."""
    call = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(STUB), "-"]
    return subprocess.run(call, input=text, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    STUB.write_text(formatted(written(STUB.read_text(encoding="utf-8"))), encoding="utf-8")
