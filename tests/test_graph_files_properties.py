"""Laws of graph files: what is saved is what was declared; broken files are refused and never crash anything."""

import contextlib
import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rgraph as rg
from rgraph.testing import graphs
from test_graph_files_work import whole

#: What a value may be replaced with.
STRANGE = [
    None,
    True,
    0,
    -1,
    1.5,
    2**32,
    2**64,
    1e308,
    "",
    "a",
    "x" * 2000,
    [],
    [0],
    [[]],
    {},
    {"option": "a"},
    {"resource": "source"},
    {"": 0},
    [None] * 5,
    "source",
    "counts",
    "\u0000",
    "../x.wgsl",
    {"data": []},
    {"base64": "AAAA"},
]


@given(graphs())
@settings(max_examples=100)
def test_a_graph_is_the_same_after_saving(graph: rg.Graph):
    text = graph.to_json()
    again = rg.Graph.from_json(text)
    assert again.to_json() == text
    assert again.hash == graph.hash


def places(value: object) -> list[tuple[list | dict, object]]:
    """Every place of a value at which another may stand."""
    found: list[tuple[list | dict, object]] = []
    if isinstance(value, dict):
        found = [(value, key) for key in value]
    elif isinstance(value, list):
        found = [(value, at) for at in range(len(value))]
    for holder, key in list(found):
        found += places(holder[key])  # type: ignore[call-overload, index]
    return found


def mutated(values: dict, seed: int) -> dict:
    """A graph file with a few things changed."""
    source = random.Random(seed)
    changed: dict = json.loads(json.dumps(values))
    for _ in range(source.randint(1, 3)):
        holder, key = source.choice(places(changed))
        match source.randint(0, 3):
            case 0:
                holder[key] = source.choice(STRANGE)  # type: ignore[call-overload, index]
            case 1:
                del holder[key]  # type: ignore[union-attr, arg-type]
            case 2 if isinstance(holder, dict):
                holder[source.choice(["if", "mip", "option", "shader", "bindings", "x"])] = source.choice(STRANGE)
            case _:
                other, there = source.choice(places(changed))
                holder[key] = json.loads(json.dumps(other[there]))  # type: ignore[call-overload, index]
        if not places(changed):
            break
    return changed


def read(text: str) -> tuple[rg.Graph | None, tuple[rg.Mistake, ...]]:
    """The graph, or what is wrong with it; a fault of the reader's own is raised."""
    try:
        return rg.Graph.from_json(text), ()
    except rg.ShaderError:
        return None, ()
    except rg.GraphError as error:
        return None, error.mistakes


@pytest.mark.parametrize("seed", range(400))
def test_changed_files_are_read_or_refused_with_a_place(seed: int):
    text = json.dumps(mutated(whole().to_dict(), seed), indent=0)
    graph, mistakes = read(text)
    for mistake in mistakes:
        assert "text:" in mistake.message or any(side.file == "text" for side in mistake.sides), mistake
    if graph is not None:
        again = graph.to_json()
        assert rg.Graph.from_json(again).to_json() == again


KEYS = """shader bindings color depth push from to image value resource mips blend stencil vertex_buffers
attributes buffer"""
INNER = st.recursive(
    st.sampled_from(STRANGE),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS.split()), inner, max_size=4),
    max_leaves=12,
)


@given(INNER, st.sampled_from(["compute", "raster", "copy", "blit", "clear", "fill", "resolve", "steps"]))
@settings(max_examples=300)
def test_any_work_is_read_or_refused(work: object, key: str):
    values = whole().to_dict()
    values["passes"] = [{"name": "p", key: work}]
    values["roots"] = []
    # What is a fault of the reader's own, an InternalError, is no GraphError.
    with contextlib.suppress(rg.GraphError, rg.ShaderError):
        graph = rg.Graph.from_json(json.dumps(values))
        assert rg.Graph.from_json(graph.to_json()).hash == graph.hash
