"""W14: presets of libretro's shaders run; numpy computes their pixels from the specification alone."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import rgraph as rg
from rgraph.importers import Imported, slangp

HEAD = """#version 450
layout(push_constant) uniform Push
{
   vec4 SourceSize;
   vec4 OutputSize;
   uint FrameCount;
   float GAIN;
   float BIAS;
} params;
#pragma parameter GAIN "Gain" 1.0 0.0 2.0 0.1
#pragma parameter BIAS "Bias" 0.0 -1.0 1.0
layout(std140, set = 0, binding = 0) uniform UBO
{
   mat4 MVP;
   vec4 OriginalSize;
   vec4 FinalViewportSize;
} global;
"""
STAGES = """#pragma stage vertex
layout(location = 0) in vec4 Position;
layout(location = 1) in vec2 TexCoord;
layout(location = 0) out vec2 vTexCoord;
void main()
{
   gl_Position = global.MVP * Position;
   vTexCoord = TexCoord;
}
#pragma stage fragment
layout(location = 0) in vec2 vTexCoord;
layout(location = 0) out vec4 FragColor;
layout(set = 0, binding = 1) uniform sampler2D Source;
"""
PLAIN = "FragColor = texture(Source, vTexCoord);"


@pytest.fixture(scope="module")
def player() -> Iterator[rg.Device]:
    """A device that the validation layer watches, where it is installed."""
    try:
        try:
            device = rg.Device(validate=True)
        except rg.DeviceError as error:
            if error.code != "RG-E106":
                raise
            device = rg.Device()
    except rg.DeviceError as error:
        if os.environ.get("RGRAPH_REQUIRE_DEVICE") == "1":
            raise
        pytest.skip(f"no device: {str(error).splitlines()[0]}")
    yield device
    device.wait_idle()
    assert device.messages == []
    device.close()


def shader(folder: Path, name: str, body: str, *, head: str = "", textures: str = "") -> None:
    """A shader with the usual blocks: `body` is its fragment stage's main."""
    extra = "".join(
        f"layout(set = 0, binding = {at}) uniform sampler2D {one};\n" for at, one in enumerate(textures.split(), 2)
    )
    text = f"{HEAD}{head}\n{STAGES}{extra}void main()\n{{\n   {body}\n}}\n"
    (folder / f"{name}.slang").write_text(text)


def preset(folder: Path, *lines: str, name: str = "preset") -> Path:
    path = folder / f"{name}.slangp"
    path.write_text("\n".join(lines) + "\n")
    return path


def picture(width: int, height: int, seed: int = 1) -> np.ndarray:
    out = np.random.default_rng(seed).integers(0, 256, (height, width, 4), np.uint8)
    out[..., 3] = 255
    return out


def png(path: Path, pixels: np.ndarray) -> None:
    """RGB or RGBA of eight bits."""
    height, width, channels = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)

    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, {3: 2, 4: 6}[channels], 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + part(b"IHDR", header) + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")
    )


def rendered(player: rg.Device, made: Imported, frames: list[np.ndarray]) -> list[np.ndarray]:
    """The output of each frame."""
    done = player.compile(made.graph)
    out = []
    for number, pixels in enumerate(frames):
        frame = done.run(inputs={"Original": pixels}, params=made.params(number) or None)
        out.append(np.array(frame["output"]))
    return out


def stored(values: np.ndarray) -> np.ndarray:
    """Numbers as an image of eight bits keeps them."""
    return np.floor(np.clip(values, 0, 1) * 255 + 0.5).astype(np.uint8)


def close(got: np.ndarray, want: np.ndarray, most: int = 1) -> None:
    difference = np.abs(got.astype(int) - want.astype(int))
    assert difference.max() <= most, (
        f"{(difference > most).mean():.3f} of the values differ by up to {difference.max()}"
    )


def sample(image: np.ndarray, u: np.ndarray, v: np.ndarray, wrap: str, linear: bool) -> np.ndarray:
    """Texels of an image of floats by Vulkan's rules ("Texel Filtering" and "Wrapping Operation")."""
    height, width = image.shape[:2]

    def index(at: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
        inside = np.ones(at.shape, bool)
        if wrap == "clamp_to_edge":
            at = at.clip(0, size - 1)
        elif wrap == "repeat":
            at = at % size
        elif wrap == "mirrored_repeat":
            at = at % (2 * size) - size
            at = (size - 1) - np.where(at >= 0, at, -(1 + at))
        else:
            inside = (at >= 0) & (at < size)
        return at.clip(0, size - 1), inside

    def texel(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        (x, in_x), (y, in_y) = index(x, width), index(y, height)
        return image[y, x] * (in_x & in_y)[..., None]

    x, y = u * width, v * height
    if not linear:
        return texel(np.floor(x).astype(int), np.floor(y).astype(int))
    x, y = x - 0.5, y - 0.5
    left, top = np.floor(x).astype(int), np.floor(y).astype(int)
    a, b = (x - left)[..., None], (y - top)[..., None]
    upper = texel(left, top) * (1 - a) + texel(left + 1, top) * a
    lower = texel(left, top + 1) * (1 - a) + texel(left + 1, top + 1) * a
    return upper * (1 - b) + lower * b


def centres(width: int, height: int) -> tuple[np.ndarray, np.ndarray]:
    y, x = np.mgrid[0:height, 0:width]
    return (x + 0.5) / width, (y + 0.5) / height


def test_w14_coordinates_begin_in_the_upper_left_corner_and_mean_centres_of_texels(player, tmp_path):
    shader(tmp_path, "uv", "FragColor = vec4(vTexCoord, texture(Source, vTexCoord).b, 1.0);")
    path = preset(tmp_path, "shaders = 1", "shader0 = uv.slang")
    pixels = picture(40, 24)
    (got,) = rendered(player, slangp(path, size=(40, 24)), [pixels])
    u, v = centres(40, 24)
    close(got, stored(np.stack([u, v, pixels[..., 2] / 255, np.ones_like(u)], -1)))


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("wrap", ["clamp_to_border", "clamp_to_edge", "repeat", "mirrored_repeat", None])
def test_w14_textures_are_addressed_and_filtered_as_the_preset_says(player, tmp_path, wrap, linear):
    shader(tmp_path, "wide", "FragColor = texture(Source, vTexCoord * 3.07 - 1.03);")
    lines = ["shaders = 1", "shader0 = wide.slang"]
    lines += [f"wrap_mode0 = {wrap}"] if wrap else []
    lines += ["filter_linear0 = true"] if linear else []
    path = preset(tmp_path, *lines)
    pixels = picture(37, 29)
    (got,) = rendered(player, slangp(path, size=(37, 29)), [pixels])
    u, v = centres(37, 29)
    want = sample(pixels / 255, u * 3.07 - 1.03, v * 3.07 - 1.03, wrap or "clamp_to_border", linear)
    close(got, stored(want), 2)


def test_w14_sizes_are_rounded_to_the_nearest_texel_and_shaders_know_them(player, tmp_path):
    shader(tmp_path, "plain", PLAIN)
    body = "FragColor = vec4(SourceSize_() / 255.0, FirstSize_() / 255.0);"
    helpers = "layout(std140, set = 0, binding = 5) uniform More { vec4 FirstSize; vec4 PassOutputSize1; } more;\n"
    helpers += "vec2 SourceSize_() { return params.SourceSize.xy; }\nvec2 FirstSize_() { return more.FirstSize.xy; }"
    shader(tmp_path, "sizes", body, head=helpers)
    path = preset(
        tmp_path,
        "shaders = 4",
        "shader0 = plain.slang",
        "alias0 = First",
        "scale_type0 = source",
        "scale_x0 = 1.53",
        "scale_y0 = 0.4750",
        "shader1 = plain.slang",
        "scale_type_x1 = viewport",
        "scale_x1 = 0.3333",
        "scale_type_y1 = absolute",
        "scale_y1 = 37",
        "shader2 = plain.slang",
        "scale_type2 = original",
        "scale2 = 0.005",
        "shader3 = sizes.slang",
    )
    made = slangp(path, size=(50, 20), viewport=(90, 70))
    sizes = [made.graph.find(name).size for name in ("First", "plain", "plain.2", "screen", "output")]
    # 76.5 and 9.5 are rounded up; nothing is smaller than a texel.
    assert sizes == [(77, 10), (30, 37), (1, 1), (90, 70), (90, 70)]
    (got,) = rendered(player, made, [picture(50, 20)])
    assert got.shape == (70, 90, 4)
    assert got[35, 45].tolist() == [1, 1, 77, 10]


def test_w14_parameters_are_those_of_the_caller_then_of_the_preset_then_of_the_shader(player, tmp_path):
    shader(tmp_path, "gain", "FragColor = texture(Source, vTexCoord) * params.GAIN + params.BIAS;")
    path = preset(tmp_path, "shaders = 1", "shader0 = gain.slang", 'parameters = "GAIN"', 'GAIN = "0.5"')
    pixels = picture(16, 8)
    made = slangp(path, size=(16, 8))
    assert {name: (one.value, one.initial, one.step) for name, one in made.parameters.items()} == {
        "GAIN": (0.5, 1.0, pytest.approx(0.1)),
        "BIAS": (0.0, 0.0, 0.02),
    }
    close(rendered(player, made, [pixels])[0], stored(pixels / 255 * 0.5))
    made = slangp(path, size=(16, 8), parameters={"BIAS": 0.25})
    close(rendered(player, made, [pixels])[0], stored(pixels / 255 * 0.5 + 0.25))
    with pytest.raises(rg.GraphError, match="no parameter") as caught:
        slangp(path, parameters={"BIES": 1})
    assert (caught.value.code, caught.value.hint) == ("RG-E202", "did you mean BIAS?")


def test_w14_passes_read_passes_before_them_by_number_and_by_alias(player, tmp_path):
    shader(tmp_path, "half", "FragColor = texture(Source, vTexCoord) * 0.5;", head="#pragma name Half")
    body = "FragColor = texture(Half, vTexCoord) * 0.25 + texture(PassOutput1, vTexCoord) * 0.25"
    body += " + texture(Mine, vTexCoord) * 0.25 + texture(Original, vTexCoord) * 0.25;"
    shader(tmp_path, "all", body, textures="Half PassOutput1 Mine Original")
    shader(tmp_path, "invert", "FragColor = vec4(1.0 - texture(Source, vTexCoord).rgb, 1.0);")
    path = preset(
        tmp_path,
        "shaders = 3",
        "shader0 = half.slang",
        "alias0 = Mine",
        "shader1 = invert.slang",
        "shader2 = all.slang",
    )
    pixels = picture(24, 16)
    (got,) = rendered(player, slangp(path, size=(24, 16)), [pixels])
    original = pixels / 255
    half = stored(original * 0.5) / 255
    inverted = np.concatenate([1 - half[..., :3], np.ones((16, 24, 1))], -1)
    close(got, stored(half * 0.5 + stored(inverted) / 255 * 0.25 + original * 0.25))


def test_w14_feedback_is_the_frame_before_and_begins_as_transparent_black(player, tmp_path):
    shader(
        tmp_path,
        "trail",
        "FragColor = mix(texture(Source, vTexCoord), texture(TrailFeedback, vTexCoord), 0.5);",
        textures="TrailFeedback",
    )
    shader(tmp_path, "plain", PLAIN)
    lines = ["shader0 = trail.slang", "alias0 = Trail", "shader1 = plain.slang"]
    frames = [picture(16, 12, seed) for seed in range(5)]
    want, kept = [], np.zeros((12, 16, 4), np.uint8)
    for pixels in frames:
        kept = stored(pixels / 255 * 0.5 + kept / 255 * 0.5)
        want.append(kept)
    # As an earlier pass, and as the last one, which keeps an image of its own.
    for count in (2, 1):
        path = preset(tmp_path, f"shaders = {count}", *lines)
        for got, expected in zip(rendered(player, slangp(path, size=(16, 12)), frames), want, strict=True):
            close(got, expected, 2)


def test_w14_history_is_the_input_of_earlier_frames(player, tmp_path):
    shader(
        tmp_path,
        "late",
        "FragColor = texture(OriginalHistory2, vTexCoord) * 0.5 + texture(Source, vTexCoord) * 0.5;",
        textures="OriginalHistory2",
    )
    path = preset(tmp_path, "shaders = 1", "shader0 = late.slang")
    frames = [picture(16, 12, seed) for seed in range(5)]
    got = rendered(player, slangp(path, size=(16, 12)), frames)
    before = [np.zeros((12, 16, 4), np.uint8)] * 2 + frames
    for one, pixels, old in zip(got, frames, before, strict=False):
        close(one, stored(old / 255 * 0.5 + pixels / 255 * 0.5))


def test_w14_lookup_textures_have_filters_and_wraps_of_their_own(player, tmp_path):
    (tmp_path / "luts").mkdir()
    table = picture(12, 10, 7)[..., :3]
    png(tmp_path / "luts" / "table.png", table)
    shader(
        tmp_path,
        "look",
        "FragColor = texture(TABLE, vTexCoord * 2.03) * 0.5 + texture(EDGE, vTexCoord * 2.03) * 0.5;",
        textures="TABLE EDGE",
    )
    path = preset(
        tmp_path,
        "shaders = 1",
        "shader0 = look.slang",
        'textures = "TABLE;EDGE"',
        "TABLE = luts/table.png",
        "TABLE_wrap_mode = mirrored_repeat",
        'EDGE = "luts/table.png"',
        "EDGE_linear = false",
        "EDGE_wrap_mode = clamp_to_edge",
    )
    made = slangp(path, size=(33, 21))
    (got,) = rendered(player, made, [picture(33, 21)])
    u, v = centres(33, 21)
    whole = np.concatenate([table, np.full((10, 12, 1), 255, np.uint8)], -1) / 255
    first = sample(whole, u * 2.03, v * 2.03, "mirrored_repeat", True)
    second = sample(whole, u * 2.03, v * 2.03, "clamp_to_edge", False)
    close(got, stored(first * 0.5 + second * 0.5), 2)
    assert str(tmp_path / "luts" / "table.png") in made.files


def test_w14_mips_are_means_of_four_texels(player, tmp_path):
    shader(tmp_path, "plain", PLAIN)
    shader(tmp_path, "coarse", "FragColor = textureLod(Source, vTexCoord, 2.0);")
    path = preset(tmp_path, "shaders = 2", "shader0 = plain.slang", "shader1 = coarse.slang", "mipmap_input1 = true")
    pixels = picture(32, 16)
    (got,) = rendered(player, slangp(path, size=(32, 16)), [pixels])
    level = pixels
    for _ in range(2):
        level = stored(
            (level[::2, ::2] / 255.0 + level[1::2, ::2] / 255.0 + level[::2, 1::2] / 255.0 + level[1::2, 1::2] / 255.0)
            / 4
        )
    close(got, np.repeat(np.repeat(level, 4, 0), 4, 1), 2)


def test_w14_targets_have_the_format_of_shader_and_preset(player, tmp_path):
    shader(
        tmp_path,
        "wide",
        "FragColor = texture(Source, vTexCoord) * 4.0 - 2.0;",
        head="#pragma format R16G16B16A16_SFLOAT",
    )
    shader(tmp_path, "plain", PLAIN)
    shader(tmp_path, "narrow", "FragColor = texture(Source, vTexCoord) * 0.25 + 0.5;")
    path = preset(
        tmp_path,
        "shaders = 4",
        "shader0 = wide.slang",
        "shader1 = plain.slang",
        "float_framebuffer1 = true",
        "shader2 = narrow.slang",
        "srgb_framebuffer2 = 1",
        "shader3 = plain.slang",
        "srgb_framebuffer3 = true",
    )
    made = slangp(path, size=(32, 16))
    formats = [made.graph.find(name).format for name in ("wide", "plain", "narrow", "output")]
    assert formats == ["rgba16float", "rgba16float", "rgba8unorm-srgb", "rgba8unorm"]
    pixels = picture(32, 16)
    (got,) = rendered(player, made, [pixels])
    # The sRGB target keeps the encoded value with eight bits, and its reader gets linear light again.
    light = pixels[..., :3] / 255
    encoded = stored(np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)) / 255
    linear = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    # Devices round the encoded byte either way, and one byte of it is up to 2.3 bytes of linear light.
    close(got[..., :3], stored(linear), 3)


def test_w14_frames_are_counted_modulo_what_the_pass_says(player, tmp_path):
    shader(
        tmp_path,
        "count",
        "FragColor = vec4(float(params.FrameCount) / 255.0, float(more.FrameCount) / 255.0,"
        " float(more.FrameDirection), 1.0);",
        head="layout(std140, set = 0, binding = 6) uniform More { uint FrameCount; int FrameDirection; } more;",
    )
    path = preset(tmp_path, "shaders = 1", "shader0 = count.slang", "frame_count_mod0 = 3;")
    got = rendered(player, slangp(path, size=(8, 8)), [picture(8, 8)] * 5)
    assert [one[4, 4].tolist() for one in got] == [[n % 3, n % 3, 255, 255] for n in range(5)]


def test_w14_a_preset_that_refers_to_another_changes_parameters_and_textures(player, tmp_path):
    (tmp_path / "base").mkdir()
    shader(tmp_path / "base", "gain", "FragColor = texture(Source, vTexCoord) * params.GAIN;")
    preset(tmp_path / "base", "shaders = 1", "shader0 = gain.slang", "GAIN = 0.25", name="base")
    path = preset(tmp_path, '#reference "base/base.slangp"', "GAIN = 0.75 // brighter", "BIAS = 0.5 # is not used here")
    pixels = picture(16, 8)
    made = slangp(path, size=(16, 8))
    assert made.notes == ()
    close(rendered(player, made, [pixels])[0], stored(pixels / 255 * 0.75))


def test_w14_includes_come_before_the_preprocessor_and_optional_ones_may_miss(player, tmp_path):
    (tmp_path / "shaders").mkdir()
    (tmp_path / "shared.inc").write_text('#define FACTOR 0.5\n#include "deep/more.h" // of the shared folder\n')
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "more.h").write_text("vec4 twice(vec4 value) { return value * 2.0 * FACTOR; }\n")
    shader(
        tmp_path / "shaders",
        "half",
        "FragColor = twice(texture(Source, vTexCoord)) * FACTOR;",
        head='#include "../shared.inc"\n#pragma include_optional "nowhere.inc"',
    )
    path = preset(tmp_path, "shaders = 1", "shader0 = shaders/half.slang")
    pixels = picture(16, 8)
    close(rendered(player, slangp(path, size=(16, 8)), [pixels])[0], stored(pixels / 255 * 0.5))


def test_w14_players_differ_in_the_last_size_and_in_filters_of_earlier_outputs(player, tmp_path):
    shader(tmp_path, "plain", PLAIN)
    path = preset(
        tmp_path, "shaders = 1", "shader0 = plain.slang", "scale_type0 = source", "scale0 = 2", "filter_linear0 = true"
    )
    pixels = picture(16, 8)
    (direct,) = rendered(player, slangp(path, size=(16, 8), viewport=(64, 32)), [pixels])
    u, v = centres(64, 32)
    close(direct, stored(sample(pixels / 255, u, v, "clamp_to_border", True)), 2)
    made = slangp(path, size=(16, 8), viewport=(64, 32), player="retroarch")
    (scaled,) = rendered(player, made, [pixels])
    u2, v2 = centres(32, 16)
    twice = stored(sample(pixels / 255, u2, v2, "clamp_to_border", True)) / 255
    close(scaled, stored(sample(twice, u, v, "clamp_to_border", False)), 2)


def test_w14_what_was_not_taken_over_is_listed(tmp_path):
    shader(tmp_path, "odd", PLAIN, head="layout(std140, set = 0, binding = 7) uniform More { float NOTHING; } more;")
    path = preset(
        tmp_path,
        "shaders = 1",
        "shader0 = odd.slang",
        "wrap_mode0 = sideways",
        "MISSING = 3.0",
        "just words",
        "filter_linear0 = maybe",
        "unknown0 = word",
    )
    notes = "\n".join(slangp(path).notes)
    for words in (
        f'{path}:3: unknown wrap_mode0 "sideways"',
        f"{path}:4: no shader has the parameter MISSING",
        f"{path}:5: the line is no KEY = VALUE",
        f'{path}:6: filter_linear0 is "maybe"',
        f"{path}:7: the key unknown0 is not known",
    ):
        assert words in notes
