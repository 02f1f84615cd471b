"""W14: one preset with everything that presets have, over several frames, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from rgraph.importers import slangp
from seeds.test_w14_importers import close, picture, player, png, preset, rendered, sample, shader, stored

__all__ = ["player"]

WIDTH, HEIGHT = 12, 8
VIEW = (20, 16)


def resampled(image: np.ndarray, size: tuple[int, int], wrap: str, linear: bool) -> np.ndarray:
    """An image at the centres of the texels of another size."""
    u, v = ((np.arange(length) + 0.5) / length for length in size)
    return sample(image, *np.meshgrid(u.astype(np.float32), v.astype(np.float32)), wrap, linear)


def halved(image: np.ndarray) -> np.ndarray:
    """The next mip of an image of even size: means of four texels, kept in half floats."""
    height, width = image.shape[0] // 2, image.shape[1] // 2
    means = image.reshape(height, 2, width, 2, 4).mean((1, 3))
    return means.astype(np.float16).astype(np.float64)


def srgb(linear: np.ndarray) -> np.ndarray:
    """Linear light as an sRGB image of eight bits keeps it, and as it is read again."""
    low, high = linear * 12.92, 1.055 * np.maximum(linear, 1e-9) ** (1 / 2.4) - 0.055
    coded = np.floor(np.where(linear <= 0.0031308, low, high).clip(0, 1) * 255 + 0.5) / 255
    out = np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)
    out[..., 3] = np.floor(linear[..., 3].clip(0, 1) * 255 + 0.5) / 255
    return out


def reference(frames: list[np.ndarray], table: np.ndarray, gain: float, bias: float) -> list[np.ndarray]:
    """The preset below, computed from the specification alone."""
    black = np.zeros((HEIGHT, WIDTH, 4))
    trail, out = np.zeros((HEIGHT, WIDTH, 4)), []
    originals = [frame / 255.0 for frame in frames]
    for number, now in enumerate(originals):
        before = originals[number - 2] if number >= 2 else black
        # Mix: the input, the one two frames ago, and what this pass drew the frame before; half floats.
        trail = (0.5 * now + 0.25 * before + 0.25 * trail) * gain
        trail = trail.astype(np.float16).astype(np.float64)
        # Small: mip 1 of that, twice as wide in texels of the mip, through the table by red.
        small = resampled(halved(trail), (WIDTH // 2, 8), "clamp_to_edge", False)
        red = np.clip(small[..., 0], 0, 1)
        looked = sample(table, (red * 3.75 + 0.125) / 4, np.full(red.shape, 0.5), "clamp_to_edge", True)
        small = srgb(np.clip(0.5 * small + 0.5 * looked, 0, 1))
        # End: repeated twice, with the count of frames modulo 3 and the size of the alias.
        u, v = ((np.arange(length) + 0.5) / length * 2 for length in VIEW)
        end = sample(small, *np.meshgrid(u, v), "repeat", False)
        end = end + bias + np.array([number % 3 * 0.1, 8 / 255.0, 0, 0])
        out.append(stored(end))
    return out


@pytest.mark.parametrize("gain", [1.0, 0.75])
def test_w14_a_preset_with_feedback_history_mips_lookups_and_counts_is_what_numpy_computes(player, tmp_path, gain):
    table = np.random.default_rng(5).integers(0, 256, (1, 4, 4), np.uint8)
    (tmp_path / "pictures").mkdir()
    png(tmp_path / "pictures" / "table.png", table)
    (tmp_path / "shaders").mkdir()
    mix = "0.5 * texture(Original, vTexCoord) + 0.25 * texture(OriginalHistory2, vTexCoord)"
    shader(
        tmp_path / "shaders",
        "mix",
        f"FragColor = ({mix} + 0.25 * texture(TRAILFeedback, vTexCoord)) * params.GAIN;",
        textures="Original OriginalHistory2 TRAILFeedback",
    )
    shader(
        tmp_path / "shaders",
        "small",
        "vec4 one = textureLod(Source, vTexCoord, 1.0); float red = clamp(one.r, 0.0, 1.0);"
        "FragColor = 0.5 * one + 0.5 * texture(TABLE, vec2((red * 3.75 + 0.125) / 4.0, 0.5));",
        textures="TABLE",
    )
    shader(
        tmp_path / "shaders",
        "end",
        "FragColor = texture(Source, vTexCoord * 2.0) + params.BIAS"
        " + vec4(float(params.FrameCount) * 0.1, params.SourceSize.y / 255.0, 0.0, 0.0);",
    )
    preset(
        tmp_path,
        "shaders = 3",
        "shader0 = shaders/mix.slang",
        "alias0 = TRAIL",
        "float_framebuffer0 = true",
        "scale_type0 = source",
        "scale0 = 1.0",
        "shader1 = shaders/small.slang",
        "mipmap_input1 = true",
        "filter_linear1 = false",
        "wrap_mode1 = clamp_to_edge",
        "srgb_framebuffer1 = true",
        "scale_type_x1 = source",
        "scale_x1 = 0.5",
        "scale_type_y1 = absolute",
        "scale_y1 = 8",
        "shader2 = shaders/end.slang",
        "wrap_mode2 = repeat",
        "frame_count_mod2 = 3",
        "scale_type2 = viewport",
        'textures = "TABLE"',
        "TABLE = pictures/table.png",
        "TABLE_linear = true",
        "TABLE_wrap_mode = clamp_to_edge",
        'parameters = "BIAS"',
        "BIAS = 0.25",
        name="base",
    )
    path = preset(tmp_path, '#reference "base.slangp"', "BIAS = 0.125")
    made = slangp(path, size=(WIDTH, HEIGHT), viewport=VIEW, parameters={"GAIN": gain})
    assert made.notes == ()
    frames = [picture(WIDTH, HEIGHT, seed) for seed in range(6)]
    want = reference(frames, table / 255.0, gain, 0.125)
    got = rendered(player, made, frames)
    for one, other in zip(got, want, strict=True):
        close(one, other, 2)
    assert not np.array_equal(got[4], got[5])
