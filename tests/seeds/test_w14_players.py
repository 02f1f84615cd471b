"""W14: lines of presets that players read in their own ways, and names that the format has, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rgraph as rg
from rgraph.importers import slangp
from seeds.test_w14_importers import PLAIN, picture, player, png, preset, rendered, shader

__all__ = ["player"]

GRAY = "FragColor = vec4(params.GAIN, params.BIAS, 0.0, 1.0);"


def values(path: Path, **options: Any) -> dict[str, float]:
    """The parameters of a preset."""
    return {name: one.value for name, one in slangp(path, size=(4, 4), **options).parameters.items()}


def bound(path: Path, name: str, **options: Any) -> dict[str, Any]:
    """The sampler that the first pass has for a texture, as a graph file says it."""
    graph = slangp(path, size=(4, 4), **options).graph.to_dict()
    raster = next(one["raster"] for one in graph["passes"] if "raster" in one)
    return graph["samplers"][raster["bindings"][name]["sampler"]]


def test_w14_of_two_references_librashader_takes_the_first_and_retroarch_the_last_parameters(tmp_path):
    shader(tmp_path, "gray", GRAY)
    shader(tmp_path, "plain", PLAIN)
    preset(tmp_path, "shaders = 1", "shader0 = gray.slang", "GAIN = 0.25", "BIAS = 0.25", name="base")
    preset(tmp_path, "shaders = 1", "shader0 = plain.slang", "GAIN = 0.5", name="other")
    path = preset(tmp_path, '#reference "base.slangp"', '#reference "other.slangp"')
    assert values(path) == {"GAIN": 0.25, "BIAS": 0.25}
    assert values(path, player="retroarch") == {"GAIN": 0.5, "BIAS": 0.25}
    assert [one.name for one in slangp(path, size=(4, 4)).graph.passes] == ["plain", "output"]
    assert [one.name for one in slangp(path, size=(4, 4), player="retroarch").graph.passes] == ["gray", "output"]
    # What a preset says itself is last for both, and what its references refer to comes before them.
    preset(tmp_path, "BIAS = 0.125", "GAIN = 0.75", name="deep")
    preset(tmp_path, '#reference "deep.slangp"', "BIAS = 0.375", name="middle")
    whole = preset(tmp_path, '#reference "base.slangp"', '#reference "middle.slangp"', "GAIN = 1.0", name="whole")
    assert values(whole) == {"GAIN": 1.0, "BIAS": 0.25}
    assert values(whole, player="retroarch") == {"GAIN": 1.0, "BIAS": 0.375}


def test_w14_a_texture_that_is_named_again_has_settings_of_its_own_in_librashader(tmp_path):
    shader(tmp_path, "look", "FragColor = texture(table, vTexCoord);", textures="table")
    for name in ("a", "b"):
        png(tmp_path / f"{name}.png", picture(4, 4))
    settings = ["table_linear = false", "table_wrap_mode = repeat"]
    preset(tmp_path, "shaders = 1", "shader0 = look.slang", "textures = table", "table = a.png", *settings, name="base")
    path = preset(tmp_path, '#reference "base.slangp"', "table = b.png", "table_wrap_mode = mirrored_repeat")
    own, kept = bound(path, "table"), bound(path, "table", player="retroarch")
    assert own == {"filter": "linear", "address": "mirror"}
    assert kept == {"filter": "nearest", "address": "repeat"}


@pytest.mark.parametrize(("name", "first"), [("librashader", "b"), ("retroarch", "a")])
def test_w14_textures_count_by_their_lines_or_by_their_list(player, tmp_path, name, first):
    shader(tmp_path, "look", "FragColor = texture(User0, vTexCoord);", textures="User0")
    colors = {"a": 64, "b": 128}
    for at, value in colors.items():
        png(tmp_path / f"{at}.png", np.full((4, 4, 4), value, np.uint8))
    path = preset(tmp_path, "shaders = 1", "shader0 = look.slang", "textures = a;b", "b = b.png", "a = a.png")
    (got,) = rendered(player, slangp(path, size=(4, 4), player=name), [picture(4, 4)])
    assert got[2, 2].tolist() == [colors[first]] * 4


@pytest.mark.parametrize(
    ("keys", "address"),
    [
        (("repeat_mode0 = repeat", "wrap_mode0 = clamp_to_edge"), "repeat"),
        (("wrap_mode0 = mirrored_repeat", "repeat_mode0 = repeat"), "mirror"),
    ],
)
def test_w14_of_keys_that_mean_the_same_the_first_line_counts(tmp_path, keys, address):
    shader(tmp_path, "plain", PLAIN)
    path = preset(tmp_path, "shaders = 1", "shader0 = plain.slang", *keys)
    assert bound(path, "Source")["address"] == address


def test_w14_aliases_come_before_the_names_of_the_format(player, tmp_path):
    shader(tmp_path, "plain", PLAIN)
    shader(tmp_path, "size", "FragColor = vec4(params.OutputSize.xy, global.FinalViewportSize.xy) / 255.0;")
    lines = ["shaders = 2", "shader0 = plain.slang", "scale_type0 = absolute", "scale_x0 = 3", "scale_y0 = 2"]
    path = preset(tmp_path, *lines, "shader1 = size.slang", "alias0 = Output")
    (got,) = rendered(player, slangp(path, size=(8, 6)), [picture(8, 6)])
    assert got[2, 2].tolist() == [3, 2, 8, 6]


@pytest.mark.parametrize(
    ("lines", "size"),
    [
        (["scale_type0 = absolute", "scale0 = 10.75"], (10, 10)),
        (["scale_type_x0 = absolute", "scale0 = 2.5"], (3, 10)),
        (["scale_type_x0 = absolute", "scale_x0 = 2.5"], (2, 4)),
        (["scale_type0 = source", "scale_type_x0 = absolute", "scale_x0 = 2.5", "scale_y0 = 1.5"], (8, 6)),
        (["scale_type0 = source;", "scale0 = 2.0;"], (8, 8)),
    ],
)
def test_w14_numbers_of_texels_are_whole_where_their_type_says_so(tmp_path, lines, size):
    shader(tmp_path, "plain", PLAIN)
    path = preset(tmp_path, "shaders = 2", "shader0 = plain.slang", *lines, "shader1 = plain.slang", "alias0 = first")
    made = slangp(path, size=(4, 4))
    first = next(one for one in made.graph.resources if isinstance(one, rg.Image) and one.name == "first")
    assert first.size == size


def test_w14_librashader_says_of_histories_that_are_not_there_yet_that_they_are_one_texel(player, tmp_path):
    head = "layout(std140, set = 0, binding = 6) uniform S { vec4 OriginalHistorySize1, OriginalHistorySize2; } sizes;"
    body = "FragColor = vec4(sizes.OriginalHistorySize1.xy, sizes.OriginalHistorySize2.xy) / 255.0;"
    shader(tmp_path, "sizes", body, head=head)
    path = preset(tmp_path, "shaders = 1", "shader0 = sizes.slang")
    frames = [picture(8, 6)] * 4
    got = rendered(player, slangp(path, size=(8, 6)), frames)
    assert [one[0, 0].tolist() for one in got] == [[1, 1, 1, 1], [8, 6, 1, 1], [8, 6, 8, 6], [8, 6, 8, 6]]
    got = rendered(player, slangp(path, size=(8, 6), player="retroarch"), frames)
    assert [one[0, 0].tolist() for one in got] == [[8, 6, 8, 6]] * 4


def test_w14_librashader_draws_a_last_pass_that_is_fed_back_as_large_as_the_output(player, tmp_path):
    # A feedback twice as wide and high as the output: the picture is in its first quarter.
    shader(tmp_path, "fed", "FragColor = texture(PassFeedback0, vTexCoord) + 0.25;", textures="PassFeedback0")
    path = preset(tmp_path, "shaders = 1", "shader0 = fed.slang", "scale_type0 = source", "scale0 = 2")
    got = rendered(player, slangp(path, size=(8, 8)), [picture(8, 8)] * 2)[1]
    assert (got[1, 1, 0], got[6, 6, 0]) == (128, 64)


@pytest.mark.parametrize(
    ("numbers", "value"),
    [
        ("0.5 0.0 1.0", 0.5),
        ("5e-1\t0. +1 .1 // step", 0.5),
        ("0.5f 0.0f 1.0f", 0.0),
        ("0.5, 0.0, 1.0", 0.0),
        ("0.5", 0.0),
    ],
)
def test_w14_numbers_of_parameters_stand_between_spaces(tmp_path, numbers, value):
    shader(tmp_path, "more", PLAIN, head=f'#pragma parameter MORE "More" {numbers}')
    assert values(preset(tmp_path, "shaders = 1", "shader0 = more.slang"))["MORE"] == value
