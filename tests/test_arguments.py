"""Mistakes in arguments name the argument."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import rgraph as rg
from rgraph import passes

FILL = """
@group(0) @binding(0) var dst: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    textureStore(dst, id.xy, vec4(1.0));
}
"""
WHITE = "@fragment fn main() -> @location(0) vec4<f32> { return vec4(1.0); }"


@pytest.fixture
def g() -> rg.Graph:
    g = rg.Graph("arguments", size=(16, 16))
    g.image("a", format="rgba8unorm")
    g.buffer("b", 64)
    return g


NUMBERS: dict[str, list[Callable[[rg.Graph, int], object]]] = {
    "groups": [
        lambda g, n: g.compute("p", FILL, dst="a", groups=n),
        lambda g, n: g.compute("p", FILL, dst="a", groups=(1, n)),
        lambda g, n: g.compute("p", FILL, dst="a", groups=[1, 1, n]),
    ],
    "size": [
        lambda g, n: g.image("i", (4, n), "rgba8unorm"),
        lambda g, n: g.image("i", {"x": n, "y": 4}, "rgba8unorm"),
        lambda g, n: rg.Graph(size=(n, 4)),
        lambda g, n: g.buffer("i", n),
        lambda g, n: g.import_buffer("i", n),
    ],
    "mips": [
        lambda g, n: g.image("i", format="rgba8unorm", mips=n),
        lambda g, n: g.add_pass("p").uses("a", "sampled", mips=n),
    ],
    "layers": [
        lambda g, n: g.image("i", format="rgba8unorm", layers=n),
        lambda g, n: g.add_pass("p").sampled("a", layers=(0, n)),
    ],
    "scale": [lambda g, n: g.image("i", like="a", scale=10 ** (400 if n > 0 else 401))],
    "start": [lambda g, n: g.find("b")[n:4]],  # type: ignore[index]
    "stop": [lambda g, n: g.find("b")[0:n]],  # type: ignore[index]
    "range": [lambda g, n: g.add_pass("p").uses("b", "uniform", range=(n, 4))],
    "vertices": [lambda g, n: g.raster("p", WHITE, color="a", vertices=n)],
    "effort": [lambda g, n: g.bake(effort=n)],
    "order": [lambda g, n: g.layer("l", "a", order=n, clear=(0, 0, 0, 0))],
    "queues": [lambda g, n: rg.Device(queues=n), lambda g, n: rg.Device.borrow(1, 1, 1, [(n, 1)])],
    "instance": [lambda g, n: rg.Device.borrow(n, 1, 1, [(0, 1)])],
    "width": [lambda g, n: g.bake().to_svg(width=n)],
}


@pytest.mark.parametrize("number", [-1, 10**30], ids=["negative", "large"])
@pytest.mark.parametrize(("name", "call"), [(name, call) for name, calls in NUMBERS.items() for call in calls])
def test_a_number_out_of_range_is_refused_by_the_name_of_its_argument(
    g: rg.Graph, name: str, call: Callable[[rg.Graph, int], object], number: int
) -> None:
    if name == "width":
        g.fill("p", "b", 1)
        g.root("b")
    declared = [one.name for one in g.passes if one.name != "p"]
    with pytest.raises(rg.GraphError, match=rf"^RG-E213 {name}: -?1") as caught:
        call(g, number)
    assert caught.value.mistakes[0].message.startswith(f"{name}: ")
    assert "\n  help: numbers here go" in str(caught.value)
    assert [one.name for one in g.passes if one.name != "p"] == declared


@pytest.mark.parametrize("wrong", [True, 1.5, np.float32(2)])
def test_groups_that_are_no_whole_number_are_not_taken_for_a_buffer(g: rg.Graph, wrong: object) -> None:
    with pytest.raises((rg.GraphError, TypeError), match="number"):
        g.compute("p", FILL, dst="a", groups=wrong)  # type: ignore[arg-type]
    g.compute("p", FILL, dst="a", groups=np.int64(3))


def test_a_clear_value_that_is_none_shows_what_it_is_and_names_its_argument(g: rg.Graph) -> None:
    for call, name in (
        (lambda: g.clear("c", "a", "red"), "value"),  # type: ignore[arg-type]
        (lambda: g.raster("c", WHITE, color="a", clear="red"), "clear"),
        (lambda: g.add_pass("p").color("a", clear="red"), "clear"),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError, match=r"alpha\), depth or \(depth, stencil\), not 'red'") as caught:
            call()
        assert caught.value.__notes__ == [f"while processing '{name}'"]


def test_targets_under_another_spelling_are_suggested(g: rg.Graph) -> None:
    for wrong, meant in (("colour", "color"), ("colors", "color"), ("dept", "depth")):
        with pytest.raises(TypeError, match=rf"needs color= or depth=, and got '{wrong}': did you mean '{meant}'\?"):
            g.raster("p", WHITE, **{wrong: "a"})
    with pytest.raises(TypeError, match=r"raster\(\) needs color= or depth=$"):
        g.raster("p", WHITE)
    with pytest.raises(TypeError, match=r"Sampler\(\) got an unexpected keyword .* 'addres'; did you mean 'address'"):
        rg.Sampler(addres="clamp")  # type: ignore[call-arg]


def test_modules_need_a_name_and_module_values_a_function(g: rg.Graph) -> None:
    for empty in (lambda: g.module(""), lambda: g.module("m").module("")):
        with pytest.raises(rg.GraphError, match="RG-E219 a module has an empty name"):
            empty()
    for wrong in (5, None, "m"):
        with pytest.raises(TypeError, match=r"rgraph.module takes a function that declares an instance, not \w+:"):
            rg.module(wrong)  # type: ignore[arg-type]


def test_a_device_needs_a_queue() -> None:
    with pytest.raises(rg.GraphError, match="RG-E213 0 queues of each kind") as caught:
        rg.Device(queues=0)
    assert caught.value.hint == "give queues=1, or more for several of a kind"


def test_a_setup_function_reaches_the_graph_that_is_baked_through_its_pass() -> None:
    """T2: of a clone too, which the function does not know."""
    seen: list[list[str]] = []

    def setup(p: rg.Pass) -> None:
        inner = p.graph.image("inner", format="rgba8unorm")
        p.color(inner)
        seen.append([one.name for one in p.graph.resources])

    g = rg.Graph("setup", size=(4, 4))
    assert g.add_pass("draw", setup=setup, side_effects=True).graph is g
    other = g.clone()
    other.image("extra", format="rgba8unorm")
    for graph in (g, other):
        assert graph.bake().pass_names == ["draw"]
        assert not [one for one in graph.resources if one.name == "inner"]
    assert seen == [["inner"], ["extra", "inner"]]


def test_unknown_keywords_suggest_the_one_that_was_meant(g: rg.Graph) -> None:
    image = g.find("a")
    for call, meant in (
        (lambda: image.previous(first_fram="zero"), "first_frame"),  # type: ignore[call-arg]
        (lambda: g.layer("l", image, claer=(0, 0, 0, 0)), "clear"),  # type: ignore[call-arg]
    ):
        with pytest.raises(TypeError, match=rf"got an unexpected keyword argument '\w+'; did you mean '{meant}'\?"):
            call()


def test_calls_of_every_kind_suggest_the_keyword_that_was_meant(g: rg.Graph, tmp_path: Path) -> None:
    call: Callable[..., object]
    other = rg.Graph()
    other.fill("p", other.buffer("filled", 64), 1)
    other.root("filled")
    plan = other.bake()
    for call, wrong, meant in (
        (g.module, "nam", "; did you mean 'name'?"),
        (g.root, "name", "; it takes no keywords"),
        (g.clone, "size", "; it takes no keywords"),
        (g.save, "callback", "; did you mean 'callbacks'?"),
        (rg.Adapt, "frame", "; did you mean 'frames'?"),
        (rg.reflect, "entri", "; did you mean 'entry'?"),
        (rg.devices, "loder", "; did you mean 'loader'?"),
        (rg.show, "rot", "; did you mean 'root'?"),
        (plan.check, "grph", "; did you mean 'graph'?"),
        (plan.minimal, "grph", "; did you mean 'graph'?"),
        (plan.certificate, "grph", "; did you mean 'graph'?"),
        (plan.to_dot, "grph", "; did you mean 'graph'?"),
        (plan.explain, "grph", "; did you mean 'graph'?"),
        (plan.verify, "grph", "; did you mean 'graph'?"),
        (plan.interpret, "interleaving", "; did you mean 'interleavings'?"),
        (other.box_tree, "profil", "; did you mean 'profile'?"),
        (other.box_tree().sample, "sed", "; did you mean 'seed'?"),
    ):
        first = {g.module: ["m"], g.root: ["a"], g.save: [tmp_path / "g.json"], rg.reflect: [FILL], rg.show: [g]}
        first |= {plan.explain: ["p"], plan.verify: [{}]}
        with pytest.raises(TypeError) as caught:
            call(*first.get(call, []), **{wrong: 1})
        assert str(caught.value).endswith(f"() got an unexpected keyword argument '{wrong}'{meant}")


def test_bindings_by_position_are_refused_with_the_call_to_type(g: rg.Graph) -> None:
    both = FILL.replace("@compute", "@group(0) @binding(1) var src: texture_2d<f32>;\n@compute").replace(
        "vec4(1.0)", "textureLoad(src, id.xy, 0)"
    )
    sampled = "@group(0) @binding(0) var tex: texture_2d<f32>; @group(0) @binding(1) var s: sampler;\n" + WHITE.replace(
        "vec4(1.0)", "textureSample(tex, s, vec2(0.5))"
    )
    image, other = g.find("a"), g.image("c", format="rgba8unorm")
    for call, typed in (
        (lambda: g.compute("p", both, image, "c"), 'compute("p", shader, dst="a", src="c")'),  # type: ignore[call-arg]
        (lambda: g.compute("p", both, other, dst=image), 'compute("p", shader, src="c", dst=…)'),  # type: ignore[call-arg]
        (lambda: g.compute("p", "no shader", image), 'compute("p", shader, variable=resource)'),  # type: ignore[call-arg]
        (lambda: g.raster("p", sampled, image, other), 'raster("p", shader, color=…, tex=…)'),  # type: ignore[call-arg]
    ):
        with pytest.raises(TypeError, match="binds by the names of the shader's variables, not by position") as caught:
            call()
        assert str(caught.value).endswith(f"\n  help: {typed}")
    assert not g.passes


PUSH = """
struct Params { scale: f32, at: vec2<f32> }
var<immediate> params: Params;
@group(0) @binding(0) var<uniform> light: Params;
@group(0) @binding(1) var<storage, read_write> dst: array<f32>;
@compute @workgroup_size(1) fn main() { dst[0] = params.scale * params.at.x + light.scale; }
"""


def test_data_that_is_none_names_its_pass_its_member_and_the_line(g: rg.Graph) -> None:
    good: dict[str, object] = {"scale": 1, "at": [1, 2]}
    for wrong, where, says in (
        (
            {"scale": object(), "at": [1, 2]},
            ".scale",
            "is of type object\n  help: data of a shader is a number",
        ),
        ({"scale": 1, "at": [1, "x"]}, ".at[1]", "is of type str\n  help: give a number"),
        ({"scale": 1, "at": g.find("a")}, ".at", "is of type Image\n  help: bind it to a variable of the shader"),
        ({3: 1}, "", "has the key 3\n  help: keys are names of members"),
        ({"scale": 10**50, "at": [1, 2]}, ".scale", "is an integer of more than 128 bits"),
    ):
        for name, given in (("params", {"push": wrong, "light": good}), ("light", {"push": good, "light": wrong})):
            with pytest.raises(TypeError) as caught:
                g.compute("p", PUSH, dst="b", groups=1, **given)  # type: ignore[arg-type]
            raised_text = str(caught.value)
            assert raised_text.startswith(f"data of pass \"p\": '{name}{where}' {says}")
            assert '\n  pass "p"  ' in raised_text
            assert "test_arguments.py:" in raised_text


def test_elements_of_handles_are_not_assigned(g: rg.Graph) -> None:
    for handle in (g.find("a"), g.find("b"), g.find("a").mip(0)):  # type: ignore[union-attr]
        with pytest.raises(TypeError, match=r"no elements before a frame runs\n  help: give contents with"):
            handle[0] = 1  # type: ignore[index]


def test_ready_made_passes_suggest_the_keyword_that_was_meant(g: rg.Graph) -> None:
    for call, message in (
        (lambda: passes.blur(g, "p", "a", radious=3), r"blur\(\) got .* 'radious'; did you mean 'radius'\?"),  # type: ignore[call-overload]
        (lambda: passes.tone_map(g, "p", "a", formt="r8unorm"), r"tone_map\(\) got .*; did you mean 'format'\?"),  # type: ignore[call-overload]
        (lambda: passes.clear(g, "p", "a", (0, 0, 0, 0), zzzz=1), r"clear\(\) got .* 'zzzz'; it has g, name, "),  # type: ignore[call-overload]
    ):
        with pytest.raises(TypeError, match=message):
            call()


def test_every_ready_made_pass_refuses_unknown_keywords_alike() -> None:
    # full_screen takes names of a shader's variables, glyphs is no pass.
    for name in set(passes.__all__) - {"full_screen", "glyphs"}:
        with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword argument 'zzzz'; it has "):
            getattr(passes, name)(zzzz=1)


@pytest.mark.parametrize("us", [1e300, 2e12, -1.0, float("nan"), float("inf")])
def test_durations_that_no_pass_has_are_refused_in_a_short_message(g: rg.Graph, us: float) -> None:
    g.fill("p", "b", 1)
    g.root("b")
    for call in (lambda: g.bake(weights={"p": us}), lambda: g.bake().what_if(weights={"p": us})):
        with pytest.raises(rg.GraphError, match="RG-E213 duration of pass 'p' is") as caught:
            call()
        assert caught.value.hint == "give microseconds, 0 to 10^12"
        assert len(str(caught.value)) < 120


def test_a_loader_that_is_none_is_refused_with_advice_that_fits(tmp_path: Path) -> None:
    manifest, text = tmp_path / "driver.json", tmp_path / "text.so"
    manifest.write_text("{}")
    text.write_text("no library")
    for loader, help in (
        (tmp_path, f"name the library in it, such as {tmp_path / 'libvulkan.so.1'}"),
        (manifest, f"leave `loader` out and set VK_DRIVER_FILES={manifest}"),
        (tmp_path / "gone.so", "give the path of a file that exists, or leave `loader` out"),
        (text, "give the path of libvulkan.so.1 or of a driver's library, or leave `loader` out"),
    ):
        with pytest.raises(rg.DeviceError, match="RG-E101") as caught:
            rg.Device(loader=loader)
        assert str(caught.value).startswith(f'RG-E101 "{loader}" is no Vulkan loader')
        assert caught.value.hint.startswith(help)


def test_a_device_of_no_name_is_refused_with_what_names_one(g: rg.Graph) -> None:
    with pytest.raises(rg.GraphError, match='there is no device called "gpu1"') as caught:
        g.add_pass("p", device="gpu1")
    assert 'a device is a number (0, 1, …) or "any"' in str(caught.value)


def test_a_path_is_text_and_not_empty(g: rg.Graph, tmp_path: Path) -> None:
    g.fill("p", "b", 1)
    g.root("b")
    plan, profile = g.bake(), rg.Profile.minimal()
    for call in (
        g.save,
        plan.save,
        profile.save,
        rg.Graph.load,
        rg.Plan.load,
        rg.Profile.load,
        lambda path: rg.Device(loader=path),
        lambda path: rg.diagnose(loader=path),
    ):
        for path in (b"x.json", 5, object()):
            with pytest.raises(
                TypeError, match=r"expected the path of a file, not (bytes|int|object)\n  help: give text"
            ):
                call(path)  # type: ignore[arg-type]
        with pytest.raises(rg.GraphError, match="RG-E222 the path of a file is empty") as caught:
            call("")
        assert caught.value.hint == "give the file a name"
    with pytest.raises(rg.GraphError, match=r"RG-E202 .*plan: a name without a suffix"):
        plan.save(tmp_path / "plan")


def test_bytes_are_no_size(g: rg.Graph) -> None:
    for size in (b"ab", bytearray(b"ab")):
        for call in (lambda size: g.image("i", size, "rgba8unorm"), lambda size: rg.Graph(size=size)):
            with pytest.raises(TypeError, match=r"size is \(width, height\)"):
                call(size)


def test_a_memoryview_as_data_is_its_bytes(g: rg.Graph) -> None:
    numbers = memoryview(np.array([1, 2, 3, 4], np.uint32))
    code = """
    var<immediate> n: vec2<u32>;
    @group(0) @binding(0) var<storage, read_write> dst: array<u32>;
    @compute @workgroup_size(1) fn main() { dst[0] = n.x; dst[1] = n.y; }"""
    for name, given in (("whole", numbers[:2]), ("strided", numbers[:4:2]), ("bytes", numbers[:2].cast("B"))):
        g.compute(name, code, dst="b", groups=1, push=given)
    g.root("b")
    packed = {one["name"]: one["compute"]["push"] for one in g.to_dict()["passes"]}
    assert packed == {"whole": {"n": [1, 2]}, "strided": {"n": [1, 3]}, "bytes": {"n": [1, 2]}}
    with pytest.raises(rg.ShaderError, match=r"RG-E306 .*4 bytes"):
        g.compute("short", code, dst="b", groups=1, push=numbers[:1])


def test_blending_is_a_word_or_a_list_of_them(g: rg.Graph) -> None:
    for blend, message in (
        (5, "blend is a word, or a list with one for each colour target, not int"),
        ([5], "expected the word for the blending, not int"),
        ({"color": (1, "zero", "add")}, "expected the word for the blend factor, not int"),
    ):
        with pytest.raises(TypeError, match=message):
            g.raster("p", WHITE, color="a", blend=blend)  # type: ignore[arg-type]


def test_names_with_control_characters_stay_on_their_line(tmp_path: Path) -> None:
    name = "a\nb\x1b[31m"
    g = rg.Graph(name, size=(8, 8))
    image, buffer = g.image(name, format="rgba8unorm"), g.buffer(name + "2", 16)
    clear = g.clear(name, image, (0, 0, 0, 1))
    g.root(image)
    plan = g.bake()
    shown = [g, image, image.mip(0), buffer, buffer[0:4], clear, g.module(name), plan, plan.what_if(policy="declared")]
    for one in shown:
        assert r"a\nb\u{1b}[31m" in repr(one)
        assert repr(one).isprintable()
    with pytest.raises(rg.GraphError) as caught:
        g.clear(name, image, (0, 0, 0, 1))
    assert all(line.isprintable() for line in str(caught.value).splitlines())
    assert str(caught.value).startswith(r"RG-E201 ")
    assert "\nb" not in str(caught.value)
