"""The stub: docstrings for editors, and words that type checkers know."""

import ast
import re
import subprocess
import sys
from typing import get_args

import pytest

import rgraph as rg
from stub_docs import STUB, documented, written


def literals() -> dict[str, tuple[str, ...]]:
    """Words of the stub's aliases."""
    found = {}
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            text = ast.unparse(node.value)
            if text.startswith("Literal[") and "] | " not in text:
                names: dict[str, object] = {}
                exec(f"from typing import Literal\nvalue = {text}", names)
                found[node.target.id] = get_args(names["value"])
    return found


def test_docstrings_of_the_stub_are_those_of_the_build():
    text = STUB.read_text(encoding="utf-8")
    plain = re.sub(r"\s+", " ", text)
    assert re.sub(r"\s+", " ", written(text)) == plain, "run python tests/stub_docs.py"
    assert len(documented(ast.parse(text))) > 150


def test_ready_made_passes_are_there_without_an_import_of_their_own():
    code = """
import sys, rgraph
assert "rgraph.passes" not in sys.modules and "passes" in dir(rgraph)
assert callable(rgraph.passes.blur)
try:
    rgraph.pases
except AttributeError as error:
    assert "pases" in str(error)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def refused(call) -> rg.GraphError:
    with pytest.raises(rg.GraphError) as caught:
        call()
    return caught.value


def test_words_of_the_stub_are_those_of_the_build():
    words = literals()
    for name in words["_Format"]:
        assert rg.Graph().image("a", (4, 4), name).format is not None
    for policy in words["_Policy"]:
        rg.Graph().interpret()
        g = rg.Graph()
        g.root(g.image("a", (4, 4), "r8unorm"))
        g.add_pass("p").color("a", clear=(0, 0, 0, 0))
        g.bake(policy=policy)
    for queue in words["_Queue"]:
        rg.Graph().add_pass("p", queue=queue)
    declared = {
        "_Queue": lambda: rg.Graph().add_pass("p", queue="zzzzzzzz"),
        "_Policy": lambda: rg.Graph().bake(policy="zzzzzzzzz"),
        "_Split": lambda: rg.Graph().bake(split_barriers="zzzzzzzzzz"),
        "_Filter": lambda: rg.Sampler("zzzzzzzz"),
        "_Address": lambda: rg.Sampler(address="zzzzzzzz"),
        "_Compare": lambda: rg.Sampler(compare="zzzzzzzz"),
        "_Border": lambda: rg.Sampler(border="zzzzzzzz"),
        "_Load": lambda: rg.Graph().add_pass("p").color("a", load="zzzzzzz"),
        "_Sharing": lambda: rg.Graph().image("a", sharing="zzzzzzzzzzz"),
        "_Round": lambda: rg.Graph().image("a", scale=1, round="zzzzzz"),
        "_Contents": lambda: rg.Graph().import_image("a", contents="zzzzzzzzz"),
    }
    for alias, call in declared.items():
        hint = refused(call).hint
        assert hint.startswith("there are "), (alias, hint)
        assert set(hint.removeprefix("there are ").split(", ")) == set(words[alias]), alias
