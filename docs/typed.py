"""Signatures with types for the reference: those of the stub, since native functions have none."""

import ast
from pathlib import Path

import rgraph

#: Names of the stub that say less than these words.
PLAIN = {
    "_Memory": "ArrayLike",
    "_Arrayed": "ArrayLike",
    "_Tensor": "ArrayLike",
    "_Format": "str",
    "_Waits": "Sequence",
    "_Signals": "Sequence",
}


class Aliases(ast.NodeTransformer):
    """Writes out the stub's own names; of words that are listed in the text, that they are text."""

    def __init__(self, known: dict[str, ast.expr]) -> None:
        self.known = known

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """A name: the stub's own become what they stand for."""
        if node.id in PLAIN:
            return ast.Name(PLAIN[node.id])
        return self.visit(self.known[node.id]) if node.id in self.known else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """A union: each member once."""

        def members(node: ast.expr) -> list[str]:
            union = isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr)
            return members(node.left) + members(node.right) if union else [ast.unparse(node)]

        once = dict.fromkeys(members(self.generic_visit(node)))
        return ast.parse(" | ".join(once), mode="eval").body

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """`Literal[…]` is text."""
        words = isinstance(node.value, ast.Name) and node.value.id == "Literal"
        return ast.Name("str") if words else self.generic_visit(node)


def signatures() -> dict[str, tuple[str, str | None]]:
    """Arguments and result of each function of the stub, by its name within the module."""
    tree = ast.parse((Path(rgraph.__file__).parent / "_core.pyi").read_text(encoding="utf-8"))
    known = {
        node.target.id: node.value
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None
    }
    found = {}

    def enter(body: list[ast.stmt], around: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                enter(node.body, f"{around}{node.name}.")
            elif isinstance(node, ast.FunctionDef):
                typed = Aliases({name: value for name, value in known.items() if name.startswith("_")}).visit(node)
                arguments = typed.args
                static = any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in node.decorator_list)
                first = arguments.posonlyargs or arguments.args
                if around and not static and first and first[0].arg in ("self", "cls"):
                    del first[0]
                shown = ast.unparse(arguments).removeprefix("/, ")
                found[around + node.name] = (f"({shown})", ast.unparse(typed.returns) if typed.returns else None)

    enter(tree.body, "")
    return found


def setup(app: object) -> None:
    """Sphinx asks for each signature."""
    typed = signatures()

    def sign(app: object, what: str, name: str, *rest: object) -> tuple[str, str | None] | None:
        short = name.removeprefix("rgraph.")
        if what in ("function", "method", "staticmethod", "classmethod"):
            return typed.get(short)
        if what != "class":
            return None
        made = typed.get(f"{short}.__new__") or typed.get(f"{short}.__init__")
        return (made[0], None) if made else None

    app.connect("autodoc-process-signature", sign)
