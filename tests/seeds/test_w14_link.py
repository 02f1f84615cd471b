"""W14: shaders whose stages players link, though Vulkan's rules do not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rgraph as rg
from rgraph.importers import slangp
from seeds.test_w14_importers import close, picture, player, preset, rendered, stored

__all__ = ["player"]

UBO = "layout(std140, set = 0, binding = 0) uniform UBO { mat4 MVP; } global;"
GAIN = '#pragma parameter GAIN "Gain" 0.5 0.0 2.0'


def shader(folder: Path, *, head: str = UBO, out: str = "", write: str = "", into: str = "", color: str) -> Path:
    """A preset of one shader: `out` and `into` declare varyings, `write` and `color` are statements."""
    text = f"""#version 450
{GAIN}
{head}
#pragma stage vertex
layout(location = 0) in vec4 Position;
layout(location = 1) in vec2 TexCoord;
layout(location = 0) out vec2 uv;
{out}
void main() {{ gl_Position = global.MVP * Position; uv = TexCoord; {write} }}
#pragma stage fragment
layout(location = 0) in vec2 uv;
{into}
layout(location = 0) out vec4 FragColor;
layout(set = 0, binding = 2) uniform sampler2D Source;
void main() {{ FragColor = texture(Source, uv); {color} }}
"""
    (folder / "odd.slang").write_text(text)
    return preset(folder, "shaders = 1", "shader0 = odd.slang")


def pixel(player: rg.Device, path: Path) -> list[int]:
    white = np.full((8, 8, 4), 255, np.uint8)
    (got,) = rendered(player, slangp(path, size=(8, 8)), [white])
    assert (got == got[0, 0]).all()
    return got[0, 0].tolist()


def test_w14_inputs_that_no_vertex_stage_writes_are_zero(player, tmp_path):
    into = "layout(location = 3) in vec4 t3; layout(location = 5) flat in ivec2 t5;"
    path = shader(tmp_path, into=into, color="FragColor = vec4(0.5 + t3.x, 0.25 + float(t5.y), 1.0, 1.0);")
    assert pixel(player, path) == pytest.approx([127.5, 63.75, 255, 255], abs=0.6)


@pytest.mark.parametrize(
    ("given", "wanted", "color", "want"),
    [
        ("vec4", "vec2", "FragColor = vec4(t, 0.0, 1.0);", [51, 102, 0, 255]),
        ("vec2", "vec4", "FragColor = vec4(t.xyz, 1.0);", [51, 102, 0, 255]),
        ("float", "vec3", "FragColor = vec4(t, 1.0);", [51, 0, 0, 255]),
        ("vec3", "float", "FragColor = vec4(t, 0.0, 0.0, 1.0);", [51, 0, 0, 255]),
        ("highp vec3", "vec2", "FragColor = vec4(t, 0.0, 1.0);", [51, 102, 0, 255]),
    ],
)
def test_w14_varyings_have_the_components_of_both_sides(player, tmp_path, given, wanted, color, want):
    value = {
        "float": "0.2",
        "vec2": "vec2(0.2, 0.4)",
        "vec3": "vec3(0.2, 0.4, 0.6)",
        "vec4": "vec4(0.2, 0.4, 0.6, 0.8)",
    }
    path = shader(
        tmp_path,
        out=f"layout(location = 1) out {given} t;",
        write=f"t = {value[given.split()[-1]]};",
        into=f"layout( location = 1 ) in {wanted} t;",
        color=color,
    )
    assert pixel(player, path) == want


@pytest.mark.parametrize("name", ["global", "other"])
def test_w14_blocks_that_differ_between_the_stages_are_two(player, tmp_path, name):
    path = shader(
        tmp_path,
        head="",
        out=UBO,
        into=f"layout(std140, set = 0, binding = 0) uniform UBO {{ mat4 MVP; float GAIN; }} {name};",
        color=f"FragColor = vec4(vec3({name}.GAIN), 1.0);",
    )
    assert pixel(player, path) == pytest.approx([127.5, 127.5, 127.5, 255], abs=0.6)


def test_w14_push_data_beyond_the_least_limit_becomes_a_uniform_block(player, tmp_path):
    sizes = "vec4 SourceSize; vec4 OriginalSize; vec4 OutputSize; vec4 FinalViewportSize; vec4 OriginalHistorySize1;"
    head = f"{UBO}\nlayout(push_constant) uniform Push {{ {sizes} vec4 a[4]; float GAIN; uint FrameCount; }} params;"
    path = shader(tmp_path, head=head, color="FragColor *= params.GAIN * float(params.FrameCount + 1u);")
    made = slangp(path, size=(16, 8))
    assert all(one["raster"].get("push") is None for one in made.graph.to_dict()["passes"] if "raster" in one)
    pixels = picture(16, 8)
    got = rendered(player, made, [pixels, pixels])
    close(got[0], stored(pixels / 255 * 0.5))
    close(got[1], pixels)


def test_w14_errors_keep_their_lines_where_shaders_are_changed(tmp_path):
    path = shader(tmp_path, into="layout(location = 3) in vec4 t3;", color="FragColor += t3 + nothing;")
    with pytest.raises(rg.ShaderError) as caught:
        slangp(path)
    text = (tmp_path / "odd.slang").read_text().split("\n")
    assert caught.value.line is not None
    assert "nothing" in text[caught.value.line - 1]
