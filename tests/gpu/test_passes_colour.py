"""Tone mapping, full-screen shaders, bloom and text against numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rgraph as rg
from gpu.numpy_passes import LUMINANCE, centres, encoded, few, noise, ran, sampled
from rgraph import passes

AP1 = np.array([[0.59719, 0.35458, 0.04823], [0.07600, 0.90834, 0.01566], [0.02840, 0.13383, 0.83777]])
RGB = np.array([[1.60475, -0.53108, -0.07367], [-0.10208, 1.10813, -0.00605], [-0.00327, -0.07276, 1.07602]])
INSET = np.array(
    [
        [0.842479062253094, 0.0784335999999992, 0.0792237451477643],
        [0.0423282422610123, 0.878468636469772, 0.0791661274605434],
        [0.0423756549057051, 0.0784336, 0.879142973793104],
    ]
)
POLYNOMIAL = (15.5, -40.14, 31.96, -6.868, 0.4298, 0.1191, -0.00232)


def hill(x: np.ndarray) -> np.ndarray:
    """Stephen Hill's fit of ACES."""
    v = x @ AP1.T
    return ((v * (v + 0.0245786) - 0.000090537) / (v * (0.983729 * v + 0.4329510) + 0.238081)) @ RGB.T


def agx(x: np.ndarray) -> np.ndarray:
    """AgX: the outset is the inset's inverse."""
    log = np.clip(np.log2(np.maximum(x @ INSET.T, 1e-10)), -12.47393, 4.026069)
    curve = np.polyval(POLYNOMIAL, (log + 12.47393) / (4.026069 + 12.47393))
    return np.maximum(curve @ np.linalg.inv(INSET).T, 0) ** 2.2


def by_luminance(x: np.ndarray) -> np.ndarray:
    """Reinhard's operator on luminance, white at 4."""
    grey = (x @ LUMINANCE)[..., None]
    return x * (1 + grey / 16) / (1 + grey)


OPERATORS = {
    "linear": lambda x: x,
    "reinhard": lambda x: x / (1 + x),
    "reinhard_extended": lambda x: x * (1 + x / 16) / (1 + x),
    "reinhard_luminance": by_luminance,
    "aces": lambda x: x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14),
    "aces_hill": hill,
    "agx": agx,
}


def test_operators_are_those_of_their_papers(device: rg.Device):
    picture = np.exp2(noise(9, 13, most=16) - 10).astype(np.float32)
    g = rg.Graph()
    source = g.import_array("source", picture)
    outs = {
        name: passes.tone_map(g, name, source, operator=name, exposure=1.5, format="rgba32float", queue="compute")
        for name in OPERATORS
    }
    for name, result in zip(outs, ran(device, g, *outs.values()), strict=True):
        wanted = np.clip(OPERATORS[name](picture[..., :3] * 1.5), 0, 1)
        np.testing.assert_allclose(result[..., :3], wanted, atol=3e-5, err_msg=name)
        np.testing.assert_array_equal(result[..., 3], picture[..., 3])


def test_agx_maps_grey_as_its_author_has_it(device: rg.Device):
    # Greys stay grey; 0.18 is the curve's pivot, which is shown as 0.5; 2^4.026 is white.
    picture = np.tile(np.array([0.0, 0.18, 16.3], np.float32)[None, :, None], (1, 1, 4))
    g = rg.Graph()
    out = passes.tone_map(g, "out", g.import_array("source", picture), operator="agx", format="rgba32float")
    (result,) = ran(device, g, out)
    assert np.ptp(result[..., :3], axis=-1).max() < 1e-3
    np.testing.assert_allclose(result[0, :, 0], [0.0, 0.5**2.2, 1.0], atol=0.01)


@pytest.mark.parametrize("format_", ["rgba8unorm", "rgba8unorm-srgb"])
def test_eight_bits_are_srgb_encoded_by_whoever_can(device: rg.Device, format_: str):
    picture = noise(9, 13)
    g = rg.Graph()
    source = g.import_array("source", picture)
    queue = "compute" if format_ == "rgba8unorm" else None
    out = passes.tone_map(g, "out", source, operator="linear", queue=queue)
    assert out.format == format_
    plain = passes.tone_map(g, "plain", source, operator="linear", encode=False, format="rgba8unorm")
    result, linear = ran(device, g, out, plain)
    assert np.abs(result[..., :3] - 255 * encoded(picture[..., :3])).max() < 1
    assert np.abs(linear - 255 * picture).max() < 1


def test_exposure_is_a_number_of_the_run_or_of_a_buffer(device: rg.Device):
    picture = noise(5, 7)
    g = rg.Graph()
    source = g.import_array("source", picture)
    factor = g.import_array("factor", np.array([0.25, 9.0], np.float32), as_buffer=True)
    out = g.image("out", like=source)
    by_buffer = g.image("by buffer", like=source)
    assert passes.tone_map(g, "tone", source, out, operator="linear", exposure=0.5).name == "tone/map"
    passes.tone_map(g, "buffer", source, by_buffer, operator="linear", exposure=factor)
    first, second = ran(device, g, out, by_buffer)
    np.testing.assert_allclose(first[..., :3], picture[..., :3] * 0.5, atol=1e-6)
    np.testing.assert_allclose(second[..., :3], picture[..., :3] * 0.25, atol=1e-6)
    again = np.asarray(device.run(g, params={("tone/map", "exposure"): 0.1})["out"])
    np.testing.assert_allclose(again[..., :3], picture[..., :3] * 0.1, atol=1e-6)


def test_looks_of_agx_differ(device: rg.Device):
    g = rg.Graph()
    source = g.import_array("source", noise(4, 4))
    outs = [passes.tone_map(g, look, source, operator="agx", look=look) for look in ("none", "golden", "punchy")]
    none, golden, punchy = ran(device, g, *outs)
    assert golden[..., 2].mean() < none[..., 2].mean() < 250
    assert np.ptp(punchy[..., :3].astype(int), axis=-1).mean() > np.ptp(none[..., :3].astype(int), axis=-1).mean()


def test_wrong_tone_maps_are_refused():
    g = rg.Graph(size=(8, 8))
    image, small = g.image("image", format="rgba16float"), g.image("small", (4, 4), "rgba8unorm")
    before = g.hash
    for words, target, options in (
        ("no operator 'filmic'", None, {"operator": "filmic"}),
        ("no look 'cold'", None, {"look": "cold"}),
        ("white is 0", None, {"white": 0}),
        ("exposure is -1", None, {"exposure": -1}),
        ("exposure is nan", None, {"exposure": float("nan")}),
        ("exposure is an image", None, {"exposure": "image"}),
        ("have different sizes", small, {}),
        ("rgba8unorm-srgb cannot be written on queue", None, {"format": "rgba8unorm-srgb", "queue": "compute"}),
    ):
        with pytest.raises(rg.GraphError) as caught:
            passes.tone_map(g, "tone", image, target, **options)
        assert words in str(caught.value)
    assert g.hash == before


def test_a_full_screen_body_knows_what_is_bound(device: rg.Device):
    picture = noise(6, 8)
    g = rg.Graph()
    photo = g.import_array("photo", picture)
    g.import_array("table", np.array([0.5, 2.0], np.float32), as_buffer=True)
    out, numbers = g.image("out", like=photo), g.image("numbers", (8, 6), "r32uint")
    body = "return textureSample(photo, nearest, uv) * params.gain * table[1] + params.add;"
    push = {"gain": 3.0, "add": (0, 0, 0, 1)}
    last = passes.full_screen(g, "draw", body, out, photo=photo, table="table", push=push)
    passes.full_screen(g, "count", "return vec4<u32>(u32(position.x) + 8u * u32(position.y));", numbers)
    assert last.name == "draw/draw"
    result, counted = ran(device, g, out, numbers)
    np.testing.assert_allclose(result, picture * 6 + (0, 0, 0, 1), atol=1e-5)
    np.testing.assert_array_equal(counted.ravel(), np.arange(48))


def test_whole_full_screen_shaders_have_several_targets_and_bodies_blend(device: rg.Device):
    shader = """
    struct Out { @location(0) a: vec4<f32>, @location(1) b: vec4<f32> }
    @fragment fn main() -> Out { return Out(vec4<f32>(1.0), vec4<f32>(0.5)); }
    """
    g = rg.Graph()
    a, b = g.image("a", (4, 4), "rgba16float"), g.image("b", (4, 4), "rgba16float")
    passes.full_screen(g, "both", shader, [a, b])
    passes.full_screen(g, "add", "return vec4<f32>(0.25);", a, blend="add")
    passes.full_screen(g, "part", "return vec4<f32>(0.0);", b, viewport=(0, 0, 2, 4))
    first, second = ran(device, g, a, b)
    assert (first == 1.25).all()
    assert (second[:, :2] == 0).all()
    assert (second[:, 2:] == 0.5).all()
    with pytest.raises(rg.GraphError, match="several targets"):
        passes.full_screen(g, "wrong", "return vec4<f32>(0.0);", [a, b])
    with pytest.raises(rg.GraphError, match='push "gain" is'):
        passes.full_screen(g, "wrong", "return vec4<f32>(0.0);", a, push={"gain": "much"})
    with pytest.raises(rg.ShaderError):
        passes.full_screen(g, "wrong", "return nothing;", a)


def mean(boxes: list[np.ndarray], karis: bool) -> np.ndarray:
    """A box of four samples."""
    if not karis:
        return sum(boxes) / 4
    weights = [1 / (1 + box @ LUMINANCE)[..., None] for box in boxes]
    return sum(weight * box for weight, box in zip(weights, boxes, strict=True)) / sum(weights)


def halved(picture: np.ndarray, karis: bool) -> np.ndarray:
    """Jimenez's thirteen samples."""
    height, width = picture.shape[:2]
    u, v = centres(max(height // 2, 1), max(width // 2, 1))
    at = {(x, y): sampled(picture, u + x / width, v + y / height) for y in range(-2, 3) for x in range(-2, 3)}
    result = 0.5 * mean([at[-1, -1], at[1, -1], at[-1, 1], at[1, 1]], karis)
    for x in (-2, 0):
        for y in (-2, 0):
            result += 0.125 * mean([at[x, y], at[x + 2, y], at[x, y + 2], at[x + 2, y + 2]], karis)
    return result


def tent(coarse: np.ndarray, height: int, width: int) -> np.ndarray:
    """Three by three samples of a coarser level."""
    u, v = centres(height, width)
    rows, columns = coarse.shape[:2]
    weight = (1, 2, 1)
    return sum(
        weight[x] * weight[y] / 16 * sampled(coarse, u + (x - 1) / columns, v + (y - 1) / rows)
        for x in range(3)
        for y in range(3)
    )


@few
@given(st.integers(8, 70), st.integers(8, 70), st.booleans(), st.sampled_from(["mix", "add"]))
def test_bloom_is_jimenez_chain(device: rg.Device, width, height, karis, mode):
    picture = noise(height, width, most=3, seed=width)
    g = rg.Graph()
    source = g.import_array("source", picture)
    out = passes.bloom(g, "out", source, levels=3, karis=karis, mode=mode, intensity=0.4, scatter=0.6)
    (result,) = ran(device, g, out)
    chain = [picture[..., :3].astype(np.float64)]
    for level in range(3):
        chain.append(halved(chain[-1], karis and level == 0))
    light = chain[3]
    for level in (2, 1):
        light = 0.4 * chain[level] + 0.6 * tent(light, *chain[level].shape[:2])
    light = tent(light, height, width)
    wanted = picture[..., :3] * (0.6 if mode == "mix" else 1) + 0.4 * light
    # Levels are of 16-bit floats.
    np.testing.assert_allclose(result[..., :3], wanted, rtol=2e-3, atol=2e-3)
    np.testing.assert_array_equal(result[..., 3], picture[..., 3])


def test_an_even_picture_keeps_its_light_and_thresholds_darken(device: rg.Device):
    even = np.full((33, 50, 4), 0.5, np.float32)
    g = rg.Graph()
    source = g.import_array("source", even)
    outs = [
        passes.bloom(g, "same", source, intensity=0.5),
        passes.bloom(g, "below", source, threshold=2.0, knee=0.5, mode="add", intensity=1.0),
        passes.bloom(g, "above", source, threshold=0.2, knee=0.0, mode="add", intensity=1.0, levels=1),
    ]
    same, below, above = ran(device, g, *outs)
    np.testing.assert_allclose(same, 0.5, atol=1e-3)
    np.testing.assert_allclose(below, 0.5, atol=1e-3)
    np.testing.assert_allclose(above[..., :3], 0.5 + 0.3, atol=1e-3)
    brighter = np.asarray(device.run(g, params={("above/compose", "glow"): 2.0})["above"])
    np.testing.assert_allclose(brighter[..., :3], 0.5 + 0.6, atol=1e-3)


def test_wrong_blooms_are_refused():
    g = rg.Graph(size=(64, 64))
    image = g.image("image", format="rgba16float")
    before = g.hash
    for words, target, options in (
        ("source and target are both", image, {}),
        ("levels is 9", None, {"levels": 9}),
        ("scatter is 2", None, {"scatter": 2}),
        ("no mode 'screen'", None, {"mode": "screen"}),
        ("intensity is 'x'", None, {"intensity": "x"}),
    ):
        with pytest.raises(rg.GraphError) as caught:
            passes.bloom(g, "glow", image, target, **options)
        assert words in str(caught.value)
    assert g.hash == before


def drawn_dots(words: str) -> np.ndarray:
    """What a line of text sets, by the font's table."""
    table = np.array(passes._font.table(), np.uint64).reshape(256, 2)
    cells = []
    for character in words:
        low, high = (int(word) for word in table[ord(character)])
        dots = np.zeros((12, 6), bool)
        for at in range(60):
            dots[at // 5, at % 5] = (low | high << 32) >> at & 1
        cells.append(dots)
    return np.concatenate(cells, axis=1)


def test_text_is_drawn_dot_by_dot(device: rg.Device):
    g = rg.Graph()
    out = g.image("out", (140, 60), "rgba8unorm")
    g.clear("clear", out, (0, 0, 0, 1))
    last = passes.text(g, "text", "Hëllo, 42!", out, position=(4, 5), scale=2, color=(1, 0, 0, 1))
    assert last.name == "text/draw"
    (result,) = ran(device, g, out)
    wanted = np.zeros((60, 140), bool)
    wanted[5:29, 4:124] = drawn_dots("Hëllo, 42!").repeat(2, 0).repeat(2, 1)
    np.testing.assert_array_equal(result[..., 0] == 255, wanted)
    assert not result[..., 1:3].any()


def test_text_changes_from_run_to_run_and_has_lines(device: rg.Device):
    g = rg.Graph()
    out = g.image("out", (60, 30), "rgba8unorm")
    g.clear("clear", out, (0, 0, 0, 1))
    passes.text(g, "text", "ab\nc", out, position=(0, 0), length=8, background=(0, 0, 1, 1))
    (first,) = ran(device, g, out)
    np.testing.assert_array_equal(first[:12, :12, 0] == 255, drawn_dots("ab"))
    np.testing.assert_array_equal(first[12:24, :6, 0] == 255, drawn_dots("c"))
    assert (first[:12, :12, 2] == 255).all()
    second = np.asarray(device.run(g, inputs={"text/glyphs": passes.glyphs("x\ty", 8)})["out"])
    np.testing.assert_array_equal(second[:12, :6, 0] == 255, drawn_dots("x"))
    np.testing.assert_array_equal(second[:12, 24:30, 0] == 255, drawn_dots("y"))


def test_every_character_of_ascii_has_a_shape_of_its_own():
    shapes = {drawn_dots(chr(code)).tobytes() for code in range(32, 127)}
    assert len(shapes) == 95
    assert all(drawn_dots(letter).any() for letter in "äÖßéñçÅ")
    assert list(passes.glyphs("a\nb")) == [97, 1 << 20, 98 | 1 << 20]


def test_wrong_texts_are_refused():
    g = rg.Graph(size=(64, 64))
    image, buffer = g.image("image", format="rgba8unorm"), g.buffer("buffer", 8)
    before = g.hash
    for words, text, options in (
        ("scale is 0", "a", {"scale": 0}),
        ("color is (1, 1, 1)", "a", {"color": (1, 1, 1)}),
        ("position is (1, 2, 3)", "a", {"position": (1, 2, 3)}),
        ("length is 0", "a", {"length": 0}),
        ("8 bytes for 3 characters", buffer, {"length": 3}),
        ("text is an image", image, {}),
    ):
        with pytest.raises(rg.GraphError) as caught:
            passes.text(g, "text", text, image, **options)
        assert words in str(caught.value)
    assert g.hash == before
