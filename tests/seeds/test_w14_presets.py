"""W14: presets in the style of libretro's collection, of many files each, against numpy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rgraph.importers import slangp
from seeds.test_w14_importers import centres, close, picture, player, png, rendered, sample, stored

__all__ = ["player"]

WIDTH, HEIGHT = 16, 8
VIEW = (32, 24)


def half(values: np.ndarray) -> np.ndarray:
    return values.astype(np.float16).astype(np.float64)


def resampled(image: np.ndarray, size: tuple[int, int], wrap: str, linear: bool) -> np.ndarray:
    u, v = centres(*size)
    return sample(image, u.astype(np.float32), v.astype(np.float32), wrap, linear)


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


# As most of the collection has it: sizes in push data behind macros, the matrix in a block, a helper of both stages.
COMMON = """layout(push_constant) uniform Push
{
	vec4 SourceSize;
	vec4 OriginalSize;
	vec4 OutputSize;
	uint FrameCount;
	float crt_gamma, persistence;
	float mask_strength;
} params;

#pragma parameter crt_header "[ CRT, THE SECOND ]:" 0.0 0.0 0.0 0.0
#pragma parameter crt_gamma "CRT gamma" 2.0 1.0 3.0 0.05
#pragma parameter persistence   "How long it glows, of 1"   0.5 0.0 1.0   0.1 // seconds
#pragma parameter mask_strength "Mask" .25 0 1 .05
#define SourceSize params.SourceSize
#define PI 3.14159265358979
layout(std140, set = 0, binding = 0) uniform UBO
{
	mat4 MVP;
} global;
"""
VERTEX = """
#pragma stage vertex
layout(location = 0) in vec4 Position;
layout(location = 1) in vec2 TexCoord;
layout(location = 0) out vec2 vTexCoord;

void main()
{
   gl_Position = global.MVP * Position;
   vTexCoord = TexCoord;
}
"""
FRAGMENT = """
#pragma stage fragment
layout(location = 0) in vec2 vTexCoord;
layout(location = 0) out vec4 FragColor;
layout(set = 0, binding = 2) uniform sampler2D Source;
"""
GAMMA = """#ifndef GAMMA_INC
#define GAMMA_INC
vec3 to_linear(vec3 c, float g) { return pow(c, vec3(g)); }
#define SQUARED(c) \\
   ((c) * \\
    (c))
#endif
"""
CRT = {
    "include/gamma.inc": GAMMA,
    "include/stages/common.h": COMMON,
    "crt/shaders/linear.slang": '#version 450\n#include "../../include/stages/common.h"\n'
    + '#include "../../include/gamma.inc"\n#include "../../include/gamma.inc"\n'
    + VERTEX
    + FRAGMENT
    + "void main() { FragColor = vec4(to_linear(texture(Source, vTexCoord).rgb, params.crt_gamma), 1.0); }\n",
    "crt/shaders/glow.slang": "#version 450\n#pragma name GlowByItself\n#pragma format R16G16B16A16_SFLOAT\n"
    + '#include "../../include/stages/common.h"\n'
    + VERTEX
    + FRAGMENT
    + "layout(set = 0, binding = 3) uniform sampler2D GlowFeedback;\n"
    + "layout(set = 0, binding = 4) uniform sampler2D OriginalHistory1;\n"
    + "void main() { vec4 old = texture(GlowFeedback, vTexCoord) * params.persistence;\n"
    + "   FragColor = max(texture(Source, vTexCoord), old) + 0.125 * texture(OriginalHistory1, vTexCoord); }\n",
    "crt/shaders/beam.slang": '#version 450\n#include "../../include/stages/common.h"\n'
    + VERTEX
    + FRAGMENT
    + "const float weights[3] = float[](0.25, 0.5, 0.25);\n"
    + "void main() { vec3 sum = vec3(0.0);\n"
    + "   for (int i = -1; i <= 1; i++)\n"
    + "      sum += weights[i + 1] * texture(Source, vTexCoord + vec2(float(i), 0.0) * SourceSize.zw).rgb;\n"
    + "   FragColor = vec4(sum, 1.0); }\n",
    "crt/shaders/mask.slang": '#version 450\n#include "../../include/stages/common.h"\n'
    + VERTEX
    + FRAGMENT
    + "layout(set = 0, binding = 3) uniform sampler2D mask;\n"
    + "layout(set = 0, binding = 4) uniform sampler2D LinearPass;\n"
    + "void main() { vec2 at = vTexCoord * params.OutputSize.xy / vec2(textureSize(mask, 0));\n"
    + "   vec3 lit = texture(Source, vTexCoord).rgb * mix(vec3(1.0), texture(mask, at).rgb, params.mask_strength);\n"
    + "   ivec2 texel = ivec2(vTexCoord * params.OriginalSize.xy);\n"
    + "   FragColor = vec4(0.75 * lit + 0.25 * texelFetch(LinearPass, texel, 0).rgb, 1.0); }\n",
    "crt/shaders/out.slang": '#version 450\n#include "../../include/stages/common.h"\n'
    + '#include "../../include/gamma.inc"\n'
    + VERTEX
    + FRAGMENT
    + "layout(set = 0, binding = 3) uniform sampler2D PassOutput3;\n"
    + "layout(set = 0, binding = 4) uniform sampler2D curve;\n"
    + "void main() { vec3 wide = textureLod(Source, vTexCoord, 1.0).rgb;\n"
    + "   vec3 both = 0.5 * wide + 0.5 * texture(PassOutput3, vTexCoord).rgb;\n"
    + "   vec3 looked = vec3(texture(curve, vec2(0.5 / 8.0 + both.r * 7.0 / 8.0, 0.5)).r, both.gb);\n"
    + "   FragColor = vec4(sqrt(looked), 1.0) + SQUARED(0.0) + float(params.FrameCount) / 255.0; }\n",
    # Settings as players write them: everything in quotes, six digits, tabs, trailing comments, line ends of DOS.
    "crt/base.slangp": "\r\n".join(
        [
            'shaders = "5"',
            "// the first pass",
            'shader0 = "shaders/linear.slang"   # linear light',
            'alias0 = "LinearPass"',
            'filter_linear0 = "false"',
            'wrap_mode0 = "clamp_to_edge"',
            'mipmap_input0 = "false"',
            'float_framebuffer0 = "true"',
            'srgb_framebuffer0 = "false"',
            'scale_type0 = "source"',
            'scale0 = "1.000000"',
            "",
            "shader1\t=\tshaders/glow.slang",
            "alias1 = Glow",
            "scale_type1 = source",
            "wrap_mode1 = clamp_to_edge",
            "/* wide beams",
            "   of two lines */",
            "shader2 = shaders/beam.slang",
            'alias2 = ""',
            "filter_linear2 = true",
            "wrap_mode2 = mirrored_repeat",
            "float_framebuffer2 = TRUE",
            'scale_type_x2 = "viewport"',
            'scale_x2 = "1.000000"',
            'scale_type_y2 = "source"',
            'scale_y2 = "1.000000"',
            "shader3 = shaders/mask.slang",
            "filter_linear3 = 1",
            "wrap_mode3 = clamp_to_edge",
            "float_framebuffer3 = true",
            "scale_type3 = absolute",
            f"scale_x3 = {VIEW[0]}",
            f"scale_y3 = {VIEW[1]}",
            "shader4 = shaders/out.slang",
            "mipmap_input4 = true",
            "wrap_mode4 = clamp_to_edge",
            "frame_count_mod4 = 4",
            'textures = "mask;curve"',
            'mask = "textures/my mask.png"',
            "mask_linear = false",
            "mask_wrap_mode = repeat",
            'curve = "textures/flat.png"',
            'curve_linear = "true"',
            "curve_wrap_mode = clamp_to_edge",
            "curve_mipmap = false",
            'parameters = "crt_gamma;persistence"',
            "crt_gamma = 1.500000",
            "persistence = 0.250000",
            "",
        ]
    ),
    "presets/middle.slangp": '#reference "../crt/base.slangp"\npersistence = "0.5"\ncrt_gamma = 1.0\n',
    "presets/mine.slangp": '#reference "middle.slangp"\n\ncurve = "../crt/textures/steep.png"\ncrt_gamma = "2.0"\n',
}


def crt(frames: list[np.ndarray], mask: np.ndarray, curve: np.ndarray, strength: float) -> list[np.ndarray]:
    """The preset above with the parameters of its last file."""
    out, glow = [], np.zeros((HEIGHT, WIDTH, 4))
    past = np.zeros((HEIGHT, WIDTH, 4))
    for number, frame in enumerate(frames):
        now = frame / 255.0
        linear = now**2.0
        linear[..., 3] = 1.0
        linear = half(linear)
        glow = half(np.maximum(linear, 0.5 * glow) + 0.125 * past)
        past = now
        # Three taps along x at the width of the viewport; neighbours are a texel of the source away.
        u, v = centres(VIEW[0], HEIGHT)
        taps = [
            weight * sample(glow, u + at / WIDTH, v, "mirrored_repeat", True)
            for at, weight in ((-1, 0.25), (0, 0.5), (1, 0.25))
        ]
        beam = half(sum(taps[1:], taps[0]))
        u, v = centres(*VIEW)
        tiled = sample(mask, u * VIEW[0] / mask.shape[1], v * VIEW[1] / mask.shape[0], "repeat", False)
        lit = sample(beam, u, v, "clamp_to_edge", True)[..., :3] * (1 + strength * (tiled[..., :3] - 1))
        x, y = (u * WIDTH).astype(int), (v * HEIGHT).astype(int)
        masked = half(0.75 * lit + 0.25 * linear[y, x, :3])
        mip = half(masked.reshape(VIEW[1] // 2, 2, VIEW[0] // 2, 2, 3).mean((1, 3)))
        both = 0.5 * sample(mip, u, v, "clamp_to_edge", False) + 0.5 * masked
        red = sample(curve, 0.5 / 8 + both[..., 0] * 7 / 8, np.full(u.shape, 0.5), "clamp_to_edge", True)[..., 0]
        looked = np.stack([red, both[..., 1], both[..., 2]], -1)
        shown = np.concatenate([np.sqrt(looked), np.ones((*u.shape, 1))], -1) + number % 4 / 255.0
        out.append(stored(shown))
    return out


def test_w14_a_crt_of_nine_files_is_what_numpy_computes(player, tmp_path):
    write(tmp_path, CRT)
    mask = np.random.default_rng(3).integers(0, 256, (3, 5, 3), np.uint8)
    steep = np.tile(np.array([0, 9, 40, 90, 160, 200, 240, 255], np.uint8)[None, :, None], (1, 1, 4)).copy()
    (tmp_path / "crt/textures").mkdir()
    png(tmp_path / "crt/textures/my mask.png", mask)
    png(tmp_path / "crt/textures/steep.png", steep)
    made = slangp(
        tmp_path / "presets/mine.slangp", size=(WIDTH, HEIGHT), viewport=VIEW, parameters={"mask_strength": 0.5}
    )
    assert made.notes == ()
    known = {name: one.value for name, one in made.parameters.items()}
    assert known == {"crt_header": 0.0, "crt_gamma": 2.0, "persistence": 0.5, "mask_strength": 0.5}
    frames = [picture(WIDTH, HEIGHT, seed) for seed in range(6)]
    opaque = np.concatenate([mask, np.full((3, 5, 1), 255, np.uint8)], -1)
    want = crt(frames, opaque / 255.0, steep / 255.0, 0.5)
    for got, wanted in zip(rendered(player, made, frames), want, strict=True):
        close(got, wanted, 2)


def chained(at: int) -> str:
    """A pass that adds what the pass before, one before that, and its own last frame say."""
    older = f"PassOutput{at - 3}" if at >= 3 else "Original"
    return (
        "#version 450\n"
        + COMMON
        + VERTEX
        + FRAGMENT
        + f"layout(set = 0, binding = 3) uniform sampler2D {older};\n"
        + f"layout(set = 0, binding = 4) uniform sampler2D PassFeedback{at};\n"
        + f"void main() {{ FragColor = 0.5 * texture(Source, vTexCoord) + 0.25 * texture({older}, vTexCoord)\n"
        + f"   + 0.25 * texture(PassFeedback{at}, vTexCoord) + vec4({at % 7}.0 / 256.0, 0.0, 0.0, 0.0); }}\n"
    )


@pytest.mark.parametrize("count", [1, 100])
def test_w14_up_to_a_hundred_passes_with_feedback_each(player, tmp_path, count):
    write(tmp_path, {f"pass{at}.slang": chained(at) for at in range(count)})
    lines = [f"shaders = {count}"]
    for at in range(count):
        lines += [f"shader{at} = pass{at}.slang", f"float_framebuffer{at} = true", f"scale_type{at} = source"]
    (tmp_path / "chain.slangp").write_text("\n".join(lines) + "\n")
    made = slangp(tmp_path / "chain.slangp", size=(WIDTH, HEIGHT))
    frames = [picture(WIDTH, HEIGHT, seed) for seed in range(4)]
    got = rendered(player, made, frames)
    last = [np.zeros((HEIGHT, WIDTH, 4)) for _ in range(count)]
    for frame, pixels in zip(frames, got, strict=True):
        outputs: list[np.ndarray] = []
        for at in range(count):
            source = outputs[at - 1] if at else frame / 255.0
            older = outputs[at - 3] if at >= 3 else frame / 255.0
            outputs.append(half(0.5 * source + 0.25 * older + 0.25 * last[at] + np.array([at % 7 / 256, 0, 0, 0])))
        last = outputs
        close(pixels, stored(outputs[-1]), 2)


def test_w14_seven_frames_of_history_and_sizes_of_everything(player, tmp_path):
    textures = "".join(
        f"layout(set = 0, binding = {at + 2}) uniform sampler2D OriginalHistory{at};\n" for at in range(1, 8)
    )
    weights = " + ".join(f"{at}.0 / 64.0 * texture(OriginalHistory{at}, vTexCoord)" for at in range(1, 8))
    sizes = "vec4 OriginalHistorySize3; vec4 PassFeedbackSize0; vec4 OneSize; vec4 OneFeedbackSize; vec4 logoSize;"
    sizes += " vec4 UserSize0;"
    text = (
        "#version 450\n"
        + "layout(std140, set = 0, binding = 0) uniform UBO { mat4 MVP; vec4 FinalViewportSize; "
        + sizes
        + " int FrameDirection; float FrameCount; uint Rotation; } global;\n"
        + VERTEX
        + FRAGMENT
        + textures
        + "layout(set = 0, binding = 12) uniform sampler2D logo;\n"
        + f"void main() {{ vec4 sum = {weights};\n"
        + "   vec4 all = global.OriginalHistorySize3 + global.PassFeedbackSize0;\n"
        + "   all += global.OneSize + global.OneFeedbackSize;\n"
        + "   all += global.logoSize + global.UserSize0 + global.FinalViewportSize;\n"
        + "   sum.a = (all.x + all.y * 2.0 + float(global.FrameDirection) + global.FrameCount) / 512.0;\n"
        + "   FragColor = sum + 0.0 * texture(logo, vTexCoord); }\n"
    )
    plain = "#version 450\n" + COMMON + VERTEX + FRAGMENT + "void main() { FragColor = texture(Source, vTexCoord); }\n"
    lines = ["shaders = 2", "shader0 = plain.slang", "alias0 = One", "scale_type0 = absolute", "scale_x0 = 6"]
    lines += ["scale_y0 = 5", "shader1 = history.slang", "textures = logo", "logo = logo.png"]
    write(tmp_path, {"history.slang": text, "plain.slang": plain, "p.slangp": "\n".join(lines) + "\n"})
    png(tmp_path / "logo.png", np.zeros((3, 7, 4), np.uint8))
    made = slangp(tmp_path / "p.slangp", size=(WIDTH, HEIGHT), viewport=(WIDTH, HEIGHT))
    frames = [picture(WIDTH, HEIGHT, seed) for seed in range(10)]
    size = 16 + 6 + 6 + 6 + 7 + 7 + 16 + 2 * (8 + 5 + 5 + 5 + 3 + 3 + 8)
    for number, pixels in enumerate(rendered(player, made, frames)):
        want = np.zeros((HEIGHT, WIDTH, 4))
        for at in range(1, 8):
            if number >= at:
                want += at / 64 * frames[number - at] / 255.0
        # librashader says of a history that is not there yet that it is one texel.
        absent = 0 if number >= 3 else 3 - (16 + 2 * 8)
        want[..., 3] = (size + absent + 1 + number) / 512
        close(pixels, stored(want), 1)


def test_w14_the_size_of_a_feedback_alone_changes_nothing_of_the_last_pass(player, tmp_path):
    members = "mat4 MVP; vec4 OutputSize; vec4 PassFeedbackSize0;"
    block = f"layout(std140, set = 0, binding = 0) uniform UBO {{ {members} }} global;"
    main = "void main() { FragColor = vec4(global.OutputSize.xy, global.PassFeedbackSize0.xy) / 255.0; }\n"
    write(
        tmp_path,
        {
            "size.slang": f"#version 450\n{block}\n" + VERTEX + FRAGMENT + main,
            "p.slangp": "shaders = 1\nshader0 = size.slang\nscale_type0 = absolute\nscale_x0 = 6\nscale_y0 = 5\n",
        },
    )
    made = slangp(tmp_path / "p.slangp", size=(WIDTH, HEIGHT), viewport=VIEW)
    (got,) = rendered(player, made, [picture(WIDTH, HEIGHT)])
    assert got[0, 0].tolist() == [*VIEW, 6, 5]
