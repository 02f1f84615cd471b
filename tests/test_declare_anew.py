"""Names that are declared again, declarations that are taken back, and keyword arguments that do not exist."""

import linecache
import sys
import types

import numpy as np
import pytest

import rgraph as rg

COPY = """
@group(0) @binding(0) var src: texture_2d<f32>;
@group(0) @binding(1) var dst: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { textureStore(dst, id.xy, textureLoad(src, id.xy, 0)); }
"""


def chain(g: rg.Graph) -> list[rg.Pass]:
    """Three passes in a row: what a cell of a notebook declares."""
    a, b, c = (g.image(name, (8, 8), "rgba8unorm") for name in "abc")
    passes = [
        g.add_pass("make").color(a, clear=(0, 0, 0, 1)),
        g.compute("first", COPY, src=a, dst=b),
        g.compute("second", COPY, src=b, dst=c),
    ]
    g.root(c)
    return passes


def test_a_name_that_is_taken_is_refused_at_the_call_and_nothing_changes():
    g = rg.Graph()
    chain(g)
    before = g.hash
    for again in (
        lambda: g.image("a", (4, 4), "r8unorm"),
        lambda: g.buffer("a", 16),
        lambda: g.import_array("a", np.zeros((4, 4), np.uint8)),
        lambda: g.image("x", (4, 4), "r8unorm").previous(name="a"),
    ):
        with pytest.raises(rg.GraphError, match='RG-E201 two resources are called "a"') as caught:
            again()
        assert next(side.line for side in caught.value.mistakes[0].sides) == 22
    for again in (
        lambda: g.add_pass("first"),
        lambda: g.compute("first", COPY, src="a", dst="b"),
        lambda: g.copy("first", "a", "b"),
    ):
        with pytest.raises(rg.GraphError, match='RG-E201 two passes are called "first"'):
            again()
    g.remove("x")
    assert g.hash == before
    assert g.bake().pass_names == ["make", "first", "second"]


def test_a_graph_that_replaces_is_what_it_was_when_a_cell_runs_again():
    g = rg.Graph(replace=True)
    chain(g)
    (before, plan) = g.hash, g.bake()
    chain(g)
    assert (g.hash, len(g.passes), len(g.resources)) == (before, 3, 3)
    assert g.bake() == plan
    assert "3 passes, 3 resources" in repr(g)


def test_what_is_declared_anew_stands_where_it_stood():
    g = rg.Graph(replace=True)
    _, first, _ = chain(g)
    b = g.find("b")
    g.image("b", (16, 8), "rgba8unorm")
    assert g.add_pass("first", side_effects=True) == first
    first.sampled("a").storage_write(b)
    plan = g.bake()
    assert plan.pass_names == ["make", "first", "second"]
    assert b.size == (16, 8)
    with pytest.raises(rg.GraphError, match="an image cannot be declared again as a buffer"):
        g.buffer("b", 16)


def test_modules_and_extension_points_are_declared_anew():
    g = rg.Graph(replace=True)
    for _ in range(2):
        m = g.module("post")
        m.extension_point("late")
        out = m.image("out", (8, 8), "rgba8unorm")
        m.add_pass("draw").color(out, clear=(0, 0, 0, 1))
        g.add_pass("show", side_effects=True).sampled(out)
    assert g.bake().pass_names == ["post/draw", "show"]


def test_passes_and_resources_are_removed():
    g = rg.Graph()
    _, first, second = chain(g)
    g.remove(second, "c")
    assert ([one.name for one in g.passes], [one.name for one in g.resources]) == (["make", "first"], ["a", "b"])
    g.root("b")
    assert g.bake().pass_names == ["make", "first"]
    assert [one["name"] for one in g.to_dict()["passes"]] == ["make", "first"]
    with pytest.raises(rg.GraphError, match='pass "second" was removed'):
        second.sampled("a")
    with pytest.raises(rg.GraphError, match='nothing declares "c"'):
        g.find("c")
    with pytest.raises(rg.GraphError, match='nothing is called "secnd"'):
        g.remove("secnd")
    g.remove("b")
    with pytest.raises(rg.GraphError, match='pass "first" uses "b", which was removed'):
        g.bake()
    g.remove(first)
    g.root("a")
    assert g.bake().pass_names == ["make"]


def test_what_was_removed_cannot_be_removed_again():
    g = rg.Graph()
    _, _, second = chain(g)
    c = g.find("c")
    g.remove(second, c)
    before = g.hash
    for again, words in ((second, 'pass "second"'), ("second", '"second"'), (c, '"c"'), ("c", '"c"')):
        with pytest.raises(rg.GraphError, match=f"{words} was removed\n  help: declare it again") as caught:
            g.remove("first", again)
        assert caught.value.code == "RG-E202"
    assert g.hash == before
    assert "first" in [one.name for one in g.passes], "a call that is refused removes nothing"


def test_what_was_removed_may_be_declared_again():
    g = rg.Graph()
    _, _, second = chain(g)
    before = g.hash
    g.remove("second", "c")
    assert g.hash != before
    c = g.image("c", (8, 8), "rgba8unorm")
    assert g.compute("second", COPY, src="b", dst=c) == second
    g.root(c)
    assert g.hash == before
    assert g.clone().hash == before


def test_removals_are_in_copies_and_handles_of_others_are_refused():
    g = rg.Graph()
    chain(g)
    g.remove("second", "c")
    g.root("b")
    assert g.clone().bake().pass_names == ["make", "first"]
    other = rg.Graph()
    with pytest.raises(rg.GraphError, match="belongs to another graph"):
        other.remove(g.find("a"))
    with pytest.raises(TypeError, match="not int"):
        g.remove(3)
    g.image("make", (8, 8), "rgba8unorm")
    with pytest.raises(rg.GraphError, match="the name of a pass and of a resource"):
        g.remove("make")


def test_what_remembers_something_that_was_removed_is_a_mistake():
    g = rg.Graph()
    a = g.image("a", (8, 8), "rgba8unorm")
    out = g.image("out", (8, 8), "rgba8unorm")
    g.compute("copy", COPY, src=a.previous(), dst=out)
    g.root(out)
    g.remove(a)
    with pytest.raises(rg.GraphError, match=r'"a\.previous" refers to "a", which was removed'):
        g.bake()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda g: g.image("x", (4, 4), fmt="r8unorm"),
            "image() got an unexpected keyword argument 'fmt'; did you mean 'format'?",
        ),
        (lambda g: g.buffer("x", 16, persistant=True), "'persistant'; did you mean 'persistent'?"),
        (lambda g: g.import_array("x", np.zeros((2, 2)), as_bufer=True), "'as_bufer'; did you mean 'as_buffer'?"),
        (
            lambda g: g.add_pass("x", que="compute"),
            "add_pass() got an unexpected keyword argument 'que'; did you mean 'queue'?",
        ),
        (
            lambda g: g.compute("x", COPY, src="a", dst="b", goups=1),
            "compute() got an unexpected keyword argument 'goups'; did you mean 'groups'?",
        ),
        (
            lambda g: g.copy("x", "a", "b", quue="transfer"),
            "copy() got an unexpected keyword argument 'quue'; did you mean 'queue'?",
        ),
        (lambda g: g.bake(polcy="exact"), "bake() got an unexpected keyword argument 'polcy'; did you mean 'policy'?"),
        (lambda _: rg.Graph(sise=(1, 1)), "Graph() got an unexpected keyword argument 'sise'; did you mean 'size'?"),
        (
            lambda _: rg.Device(validat=True),
            "Device() got an unexpected keyword argument 'validat'; did you mean 'validate'?",
        ),
        (lambda g: g.import_image("x", (4, 4), zzz=1), "'zzz'; it has name, size, format"),
    ],
)
def test_keywords_that_do_not_exist_offer_what_was_meant(call, words: str):
    g = rg.Graph()
    chain(g)
    with pytest.raises(TypeError) as caught:
        call(g)
    assert words in str(caught.value)


def test_roots_may_be_a_list():
    g = rg.Graph()
    chain(g)
    g.root(["a", g.find("b")])
    assert g.to_dict()["roots"] == ["c", "a", "b"]


def test_errors_name_the_cell_of_a_notebook(monkeypatch: pytest.MonkeyPatch):
    code = 'g.image("twice", (4, 4), "r8unorm")\n' * 2
    name = "/tmp/ipykernel_28231/2677628354.py"

    class Compile:
        def format_code_name(self, file: str) -> tuple[str, str] | None:
            return ("Cell", "In[14]") if file == name else None

    module = types.ModuleType("IPython")
    module.get_ipython = lambda: types.SimpleNamespace(compile=Compile())
    monkeypatch.setitem(sys.modules, "IPython", module)
    linecache.checkcache(name)
    with pytest.raises(rg.GraphError) as caught:
        exec(compile(code, name, "exec"), {"g": rg.Graph()})
    assert "In [14]:1" in str(caught.value)
    assert "In [14]:2" in str(caught.value)


@pytest.mark.parametrize(
    "keyword", ["weight_us", "unit", "device", "side_effects", "unordered", "conditional", "fallback", "after"]
)
def test_a_keyword_argument_of_a_wrong_type_is_named(keyword: str):
    g = rg.Graph()
    src = g.import_array("src", np.zeros((4, 4, 4), np.uint8))
    dst = g.image("dst", like=src)
    with pytest.raises(TypeError) as error:
        g.compute("copy", COPY, src=src, dst=dst, **{keyword: 2 + 3j})
    assert keyword in " ".join([str(error.value), *getattr(error.value, "__notes__", ())])
    assert g.passes == []
