"""Declaring a graph: what it keeps, what it refuses, and that refusing changes nothing."""

import gc
import json
import math
import pickle
import sys
import weakref
from pathlib import Path

import pytest

import rgraph

ROOT = Path(__file__).resolve().parent.parent


def accesses(graph: rgraph.Graph, name: str) -> list[dict]:
    """The accesses of a pass as the graph file has them."""
    return next(p for p in graph.to_dict()["passes"] if p["name"] == name)["accesses"]


def test_every_method_of_a_pass_writes_its_usage_and_returns_the_pass():
    methods = {
        "color": "color_attachment",
        "depth": "depth_stencil_attachment",
        "depth_read": "depth_stencil_read",
        "input_attachment": "input_attachment",
        "resolve": "resolve_attachment",
        "sampled": "sampled",
        "storage_read": "storage_read",
        "storage_write": "storage_write",
        "storage_read_write": "storage_read_write",
        "uniform": "uniform",
        "vertex": "vertex",
        "index": "index",
        "indirect": "indirect",
        "transfer_src": "transfer_src",
        "transfer_dst": "transfer_dst",
        "host_read": "host_read",
        "host_write": "host_write",
        "present": "present",
        "acceleration_input": "acceleration_input",
        "acceleration_build": "acceleration_build",
        "acceleration_update": "acceleration_update",
        "acceleration_scratch": "acceleration_scratch",
        "acceleration_read": "acceleration_read",
    }
    graph = rgraph.Graph()
    image = graph.image("image")
    p = graph.add_pass("p")
    for method in methods:
        assert getattr(p, method)(image) is p
    assert [access["usage"] for access in accesses(graph, "p")] == list(methods.values())


def test_details_of_an_access_arrive_in_the_graph_file():
    graph = rgraph.Graph()
    image, buffer, msaa = graph.image("image"), graph.buffer("buffer", 1024), graph.image("msaa", samples=4)
    graph.add_pass("p").color(image, clear=(0, 0, 0, 1), mips=1, layers=(2, 4), generate_mips=True)
    graph.add_pass("q").sampled(image, stages=("vertex", "compute"), aspects="depth", unordered=True)
    graph.add_pass("r").storage_write(buffer, range=(16, 32), load="discard").resolve(image, resolves=msaa, mode="max")
    graph.add_pass("s").depth(image, clear=(1.0, 7)).uses(buffer, "transfer_dst", transfer="fill")
    assert accesses(graph, "p") == [
        {
            "resource": "image",
            "usage": "color_attachment",
            "mips": [1, 2],
            "layers": [2, 4],
            "load": "clear",
            "clear": [0, 0, 0, 1],
            "generate_mips": True,
        }
    ]
    (sampled,) = accesses(graph, "q")
    assert sampled["stages"] == ["vertex", "compute"]
    assert sampled["aspects"] == ["depth"]
    assert sampled["unordered"] is True
    written, resolved = accesses(graph, "r")
    assert (written["range"], written["load"]) == ([16, 32], "discard")
    assert (resolved["resolves"], resolved["resolve_mode"]) == ("msaa", "max")
    depth, filled = accesses(graph, "s")
    assert (depth["load"], depth["stencil_load"], depth["clear"]) == ("clear", "clear", [1.0, 7])
    assert filled["transfer"] == "fill"


def test_details_of_resources_arrive_in_the_graph_file():
    graph = rgraph.Graph(size=(640, 480))
    base = graph.image("base", (64, 32), "R8G8B8A8_UNORM", mips="full", layers=2, samples=1, sharing="concurrent")
    graph.image("half", like=base, scale=0.5, round="up", format="r8unorm")
    graph.image("axes", {"x": 7, "y": {"relative_to": "base", "scale": 2}}, format="r8unorm")
    graph.image("third", scale=(0.25, 0.5))
    graph.image("volume", (8, 8, 8), format="r8unorm")
    graph.image("over", modifies=base)
    graph.image("past", history_of=base, frames=3, first_frame="undefined")
    graph.import_image("screen", layout="undefined", queue="graphics", contents="undefined", leave="present_src")
    graph.image("kept", persistent=True, cube=True)
    graph.buffer("tlas", 4096, acceleration_structure=True)
    graph.import_buffer("given", 16, stages="compute", access=["shader_storage_write"])
    images, buffers = graph.to_dict()["images"], graph.to_dict()["buffers"]
    assert images["base"] == {
        "format": "rgba8unorm",
        "size": [64, 32],
        "layers": 2,
        "mips": "full",
        "samples": 1,
        "sharing": "concurrent",
    }
    assert images["half"]["size"] == {"relative_to": "base", "scale": [0.5, 0.5], "round": "up"}
    assert images["axes"]["size"] == {"x": 7, "y": {"relative_to": "base", "scale": 2}}
    assert images["third"]["size"] == {"relative_to": "reference", "scale": [0.25, 0.5]}
    assert images["volume"]["size"] == [8, 8, 8]
    assert images["over"] == {"modifies": "base"}
    assert images["past"] == {"history_of": "base", "frames": 3, "first_frame": "undefined"}
    assert images["screen"]["imported"] == {"layout": "undefined", "queue": "graphics", "contents": "undefined"}
    assert images["screen"]["leave"] == {"layout": "present_src"}
    assert images["kept"] == {"persistent": True, "cube": True}
    assert buffers["tlas"] == {"size": 4096, "acceleration_structure": True}
    assert buffers["given"]["imported"] == {"stages": ["compute_shader"], "access": ["shader_storage_write"]}


def test_details_of_passes_arrive_in_the_graph_file():
    graph = rgraph.Graph()
    a, b = graph.image("a"), graph.image("b")
    first = graph.add_pass("first")
    graph.add_pass(
        "p",
        queue="async_compute",
        weight_us=3.5,
        unit="texture",
        device=1,
        side_effects=True,
        conditional="flag",
        fallback={a: b},
        after=[first, "last"],
    )
    graph.add_pass("last")
    p = graph.to_dict()["passes"][1]
    assert p["queue"] == "async_compute"
    assert (p["weight_us"], p["unit"], p["device"], p["side_effects"]) == (3.5, "texture", 1, True)
    assert (p["conditional"], p["fallback"], p["after"]) == ("flag", {"a": "b"}, ["first", "last"])


def test_graph_file_read_again_declares_the_same(tmp_path: Path):
    graph = rgraph.Graph.load(ROOT / "examples" / "deferred.rgraph.json")
    path = tmp_path / "again.rgraph.json"
    graph.save(path)
    assert rgraph.Graph.load(path).hash == graph.hash
    assert rgraph.Graph.from_json(graph.to_json()).hash == graph.hash
    assert rgraph.Graph.from_dict(graph.to_dict()).hash == graph.hash
    assert [entry.name for entry in tmp_path.iterdir()] == ["again.rgraph.json"]


def test_names_may_be_used_before_they_are_declared():
    graph = rgraph.Graph()
    graph.add_pass("read").sampled("image")
    graph.root("image")
    graph.image("copy", like="image", modifies="other")
    graph.image("past", history_of="image", frames=2)
    graph.image("image")
    graph.image("other")
    assert graph.to_dict()["roots"] == ["image"]
    assert accesses(graph, "read") == [{"resource": "image", "usage": "sampled"}]
    images = graph.to_dict()["images"]
    assert images["copy"]["modifies"] == "other"
    assert images["past"] == {"history_of": "image", "frames": 2}


def test_all_unknown_names_are_said_at_once_with_the_nearest_known_one():
    graph = rgraph.Graph()
    graph.image("shadow")
    graph.add_pass("p", after="lightning").sampled("shadwo")
    graph.add_pass("lighting").color("zebra")
    graph.root("shaddow")
    with pytest.raises(rgraph.GraphError) as caught:
        graph.to_json()
    found = {mistake.message: mistake.hint for mistake in caught.value.mistakes}
    assert found == {
        'pass "p" comes after "lightning", which nothing declares': 'did you mean "lighting"?',
        'pass "p" uses "shadwo", which nothing declares': 'did you mean "shadow"?',
        'pass "lighting" uses "zebra", which nothing declares': "declare it with image() or buffer()",
        'a root is "shaddow", which nothing declares': 'did you mean "shadow"?',
    }
    assert caught.value.code == "RG-E202"


def test_mistakes_know_file_and_line_of_the_declaration():
    graph = rgraph.Graph()
    graph.add_pass("p").sampled("nothing")
    line = sys._getframe().f_lineno - 1
    with pytest.raises(rgraph.GraphError) as caught:
        graph.to_json()
    (side,) = caught.value.mistakes[0].sides
    assert Path(side.file or "").name == "test_graph.py"
    assert side.line == line
    assert caught.value.notes == [str(side)]


def test_source_lines_can_be_switched_off():
    rgraph.set_source_tracking(False)
    try:
        graph = rgraph.Graph()
        graph.add_pass("p").sampled("nothing")
    finally:
        rgraph.set_source_tracking(True)
    with pytest.raises(rgraph.GraphError) as caught:
        graph.to_json()
    assert caught.value.mistakes[0].sides == ()


def test_source_lines_do_not_count_in_the_hash():
    def declare() -> rgraph.Graph:
        graph = rgraph.Graph()
        graph.add_pass("p").color(graph.image("image"))
        return graph

    tracked = declare()
    rgraph.set_source_tracking(False)
    try:
        assert declare().hash == tracked.hash
    finally:
        rgraph.set_source_tracking(True)


def test_module_names_have_its_prefix_and_its_passes_stand_where_it_was_declared():
    graph = rgraph.Graph()
    source = graph.image("source")
    graph.add_pass("first").color(source)
    module = graph.module("bloom")
    graph.add_pass("last").color(source)
    inner = module.module("inner")
    half = inner.image("half", like=source)
    inner.add_pass("blur").sampled("source").color("half")
    module.add_pass("mix").sampled("inner/half").color("source")
    assert half.name == "bloom/inner/half"
    assert [p["name"] for p in graph.to_dict()["passes"]] == ["first", "bloom/inner/blur", "bloom/mix", "last"]
    assert accesses(graph, "bloom/inner/blur")[0]["resource"] in ("source", "bloom/inner/half")
    assert {access["resource"] for access in accesses(graph, "bloom/mix")} == {"source", "bloom/inner/half"}


def test_names_in_a_module_mean_its_own_resources_first():
    graph = rgraph.Graph()
    graph.image("image")
    module = graph.module("m")
    module.add_pass("p").sampled("image")
    module.image("image")
    assert accesses(graph, "m/p")[0]["resource"] == "m/image"


def test_extension_point_takes_passes_declared_before_and_after_it():
    graph = rgraph.Graph()
    graph.extend("overlay").add_pass("early")
    graph.add_pass("first")
    graph.extension_point("overlay")
    graph.add_pass("last")
    graph.module("m").extend("overlay").add_pass("late")
    assert [p["name"] for p in graph.to_dict()["passes"]] == ["first", "early", "m/late", "last"]


def test_unknown_extension_point_is_a_mistake_when_the_graph_is_used():
    graph = rgraph.Graph()
    graph.extension_point("overlay")
    graph.extend("overlai").add_pass("p")
    with pytest.raises(rgraph.GraphError, match='did you mean "overlay"'):
        graph.to_json()


def test_extension_point_has_a_name():
    with pytest.raises(rgraph.GraphError, match="RG-E219 an extension point has an empty name"):
        rgraph.Graph().extension_point("")


def test_extension_point_inside_itself_is_refused():
    graph = rgraph.Graph()
    inside = graph.extend("point")
    with pytest.raises(rgraph.GraphError, match="inside itself"):
        inside.extension_point("point")
    graph.extension_point("point")
    with pytest.raises(rgraph.GraphError, match="two extension points"):
        graph.extension_point("point")


def test_previous_frame_is_one_resource_however_often_it_is_asked_for():
    graph = rgraph.Graph()
    image = graph.image("image")
    assert image.previous() == image.previous()
    assert image.previous(2) != image.previous()
    assert image.previous(name="last").name == "last"
    assert len(graph.resources) == 4


@pytest.mark.parametrize(
    "declare",
    [
        lambda g, i: g.image("new", size=(-1, 2)),
        lambda g, i: g.image("new", size=(2**70, 2)),
        lambda g, i: g.image("new", size=2),
        lambda g, i: g.image("new", size="big"),
        lambda g, i: g.image("new", size=(1.5, 2)),
        lambda g, i: g.image("new", size={"x": 1}),
        lambda g, i: g.image("new", size={"relative": "i"}),
        lambda g, i: g.image("new", size=(1, 2), like=i),
        lambda g, i: g.image("new", layers=-1),
        lambda g, i: g.image("new", layers=True),
        lambda g, i: g.image("new", mips="all"),
        lambda g, i: g.image("new", samples="4"),
        lambda g, i: g.image("new", format="rgba8unrom"),
        lambda g, i: g.image("new", format=4),
        lambda g, i: g.image("new", modifies=3),
        lambda g, i: g.image("new", history_of=i, persistent=True),
        lambda g, i: g.image("new", imported={"layuot": "general"}),
        lambda g, i: g.image("new", imported="yes"),
        lambda g, i: g.image("new", leave="somehow"),
        lambda g, i: g.image(None),
        lambda g, i: g.image("\udc00"),
        lambda g, i: g.image("new", modifies=rgraph.Graph().image("other")),
        lambda g, i: g.buffer("new", -1),
        lambda g, i: g.buffer("new", 2**64),
        lambda g, i: g.buffer("new", 1.0),
        lambda g, i: g.add_pass("new", queue="grafics"),
        lambda g, i: g.add_pass("new", weight_us="long"),
        lambda g, i: g.add_pass("new", weight_us=10**400),
        lambda g, i: g.add_pass("new", device=-1),
        lambda g, i: g.add_pass("new", after=3),
        lambda g, i: g.add_pass("new", after=rgraph.Graph().add_pass("other")),
        lambda g, i: g.add_pass("new", fallback={i: 3}),
        lambda g, i: g.add_pass("new", fallback=[i]),
        lambda g, i: g.add_pass("new", setup=3),
        lambda g, i: g.add_pass("new", execute="run"),
        lambda g, i: g.passes[0].color(),
        lambda g, i: g.passes[0].color(i, 3),
        lambda g, i: g.passes[0].color(i, rgraph.Graph().image("other")),
        lambda g, i: g.passes[0].color(i, laod="clear"),
        lambda g, i: g.passes[0].color(i, load="cleer"),
        lambda g, i: g.passes[0].color(i, clear=(1, 2, 3)),
        lambda g, i: g.passes[0].color(i, clear="black"),
        lambda g, i: g.passes[0].color(i, mips=(1, 2, 3)),
        lambda g, i: g.passes[0].color(i, mips=-1),
        lambda g, i: g.passes[0].depth(i, clear=(1.0, -1)),
        lambda g, i: g.passes[0].sampled(i, stages="fragmet"),
        lambda g, i: g.passes[0].sampled(i, range=5),
        lambda g, i: g.passes[0].uses(i, "sampeld"),
        lambda g, i: g.passes[0].copy(i, 3),
        lambda g, i: g.root(i, rgraph.Graph().image("other")),
        lambda g, i: g.root(),
        lambda g, i: g.root(None),
        lambda g, i: i.previous(-1),
        lambda g, i: i.previous(first_frame="ones"),
    ],
)
def test_what_cannot_be_declared_is_refused_and_changes_nothing(declare):
    graph = rgraph.Graph()
    image = graph.image("i")
    graph.add_pass("p")
    before = graph.hash
    with pytest.raises((rgraph.GraphError, TypeError)):
        declare(graph, image)
    assert graph.hash == before


def test_graph_error_is_a_value_error_with_an_empty_first_mistake_where_there_is_none():
    assert issubclass(rgraph.GraphError, ValueError)
    assert issubclass(rgraph.GraphError, rgraph.RgError)
    error = rgraph.GraphError("text")
    assert (error.code, error.pass_name, error.resource, error.hint, error.notes) == (None, None, None, "", [])
    assert str(error) == "text"


def test_graph_error_pickles():
    graph = rgraph.Graph()
    graph.add_pass("p").sampled("nothing")
    with pytest.raises(rgraph.GraphError) as caught:
        graph.to_json()
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value)
    assert copy.mistakes == caught.value.mistakes


def test_numpy_like_integers_are_numbers():
    class Index:
        def __index__(self) -> int:
            return 3

    graph = rgraph.Graph()
    graph.image("image", layers=Index())
    assert graph.to_dict()["images"]["image"]["layers"] == 3


def test_nan_weight_does_not_panic_and_is_not_written_as_a_number():
    graph = rgraph.Graph()
    graph.add_pass("p", weight_us=math.nan)
    assert json.loads(graph.to_json())["passes"][0]["weight_us"] is None


def test_execute_function_is_kept_for_the_runtime():
    def draw() -> None: ...

    graph = rgraph.Graph()
    assert graph.add_pass("p", execute=draw).execute is draw
    assert graph.passes[0].execute is draw
    assert graph.add_pass("q").execute is None


def test_setup_function_declares_when_the_graph_is_used_and_leaves_it_unchanged():
    graph = rgraph.Graph()
    image = graph.image("image")
    p = graph.add_pass("p", setup=lambda p: p.color(image).sampled("late"))
    graph.image("late")
    before = graph.hash
    assert [access["resource"] for access in accesses(graph, "p")] == ["image", "late"]
    assert graph.hash == before
    assert p == graph.passes[0]


def test_exception_of_a_setup_function_arrives_as_it_was_raised():
    graph = rgraph.Graph()
    cause = KeyError("no such setting")

    def setup(p: rgraph.Pass) -> None:
        p.color("image")
        raise cause

    graph.image("image")
    graph.add_pass("p", setup=setup)
    before = graph.hash
    with pytest.raises(KeyError) as caught:
        graph.to_json()
    assert caught.value is cause
    assert graph.hash == before


def test_resource_that_a_setup_function_declares_is_part_of_that_bake_alone():
    graph = rgraph.Graph()
    kept: list[rgraph.Image] = []

    def setup(p: rgraph.Pass) -> None:
        kept.append(graph.image("new"))
        p.color(kept[-1])

    graph.add_pass("p", setup=setup)
    assert "new" in graph.to_json()
    assert len(kept) == 1
    other = graph.add_pass("other")
    with pytest.raises(rgraph.GraphError, match="after this bake had begun"):
        other.color(kept[0])


def test_pass_kept_by_a_setup_function_cannot_be_changed_afterwards():
    kept: list[rgraph.Pass] = []
    graph = rgraph.Graph()
    image = graph.image("image")
    graph.add_pass("p", setup=kept.append)
    graph.to_json()
    with pytest.raises(rgraph.GraphError, match="after its setup function had returned"):
        kept[0].color(image)


def test_graph_that_its_own_functions_hold_is_collected():
    def declare() -> weakref.ref:
        graph = rgraph.Graph()
        handle = graph.image("image")
        graph.add_pass("p", setup=lambda p: p.color(handle), execute=lambda: graph)
        return weakref.ref(graph)

    gone = declare()
    gc.collect()
    assert gone() is None


def test_names_of_a_megabyte_are_one_mistake_within_a_second():
    graph = rgraph.Graph()
    graph.image("x" * 1_000_000)
    with pytest.raises(rgraph.GraphError, match="1000000 bytes") as caught:
        graph.to_json()
    assert len(str(caught.value)) < 10_000


def test_every_line_of_a_long_script_is_found():
    # From the sixteenth declaration on, lines come from the table of the code, which is read once.
    script = "\n".join(f'g.add_pass("p{line}").sampled("nobody{line}")' for line in range(300))
    g = rgraph.Graph("long")
    exec(compile(script, "long_script.py", "exec"), {"g": g})
    with pytest.raises(rgraph.GraphError) as refused:
        g.bake()
    sides = [side for mistake in refused.value.mistakes for side in mistake.sides]
    assert {side.file for side in sides} == {"long_script.py"}
    assert sorted(side.line for side in sides) == list(range(1, 301))
