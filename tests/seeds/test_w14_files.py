"""W14: presets of strangers: what is wrong with them, with file and line, and what of the disk they may read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

import rgraph as rg
from rgraph.cli import main
from rgraph.importers import slangp
from seeds.test_w14_importers import PLAIN, STAGES, close, picture, player, png, preset, rendered, shader

__all__ = ["player"]


def refused(path: Path, **options: object) -> rg.RgError:
    with pytest.raises(rg.RgError) as caught:
        slangp(path, **options)
    return caught.value


@pytest.mark.parametrize(
    ("lines", "place", "words"),
    [
        (["alias0 = A"], "", "the preset has no passes"),
        (["shaders = 0"], ":1", "shaders is 0"),
        (["shaders = 100000"], ":1", "shaders is 100000"),
        (["shaders = many"], ":1", 'shaders is "many"'),
        (["shaders = 2", "shader0 = plain.slang"], "", "there is no shader1"),
        (["shaders = 1", "", "shader0 = nowhere.slang"], ":3", "there is no file"),
        (["shaders = 1", "shader0 = /etc/passwd"], ":2", "absolute path"),
        (["shaders = 1", 'shader0 = "C:\\\\x.slang"'], ":2", "absolute path"),
        (["shaders = 1", "shader0 = ."], ":2", "a folder, a pipe or a device"),
        (["shaders = 1", "shader0 = plain.slang", "scale_type0 = bigger"], ":3", 'scale_type0 is "bigger"'),
        (["shaders = 1", "shader0 = plain.slang", "scale_type0 = source", "scale0 = x"], ":4", 'scale0 is "x"'),
        (["/* two", "lines */", "#reference preset.slangp"], ":3", "the preset refers to itself"),
    ],
)
def test_w14_faults_of_presets_name_file_and_line(tmp_path, lines, place, words):
    shader(tmp_path, "plain", PLAIN)
    path = preset(tmp_path, *lines)
    error = refused(path)
    assert isinstance(error, rg.GraphError)
    assert error.code in ("RG-E222", "RG-E204")
    assert str(error).startswith(f"{error.code} {path}{place}: ")
    assert words in str(error)
    assert error.hint


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("void main() {}\n", 1, "the first line is no #version"),
        ("#version 450\n#pragma stage geometry\n", 2, 'unknown stage "geometry"'),
        ("#version 450\n\n#pragma format R5G6B5\n", 3, 'unknown format "R5G6B5"'),
        ('#version 450\n#include "gone.inc"\n', 2, "there is no file"),
        ('#version 450\n#include "odd.slang"\n', 2, "deeper than 64"),
        ("", 1, "the first line is no #version"),
    ],
)
def test_w14_faults_of_shaders_name_file_and_line(tmp_path, text, line, words):
    (tmp_path / "odd.slang").write_text(text)
    error = refused(preset(tmp_path, "shaders = 1", "shader0 = odd.slang"))
    assert error.code == "RG-E222"
    assert f"{tmp_path / 'odd.slang'}:{line}: " in str(error)
    assert words in str(error)


def test_w14_errors_of_the_compiler_name_the_line_of_the_included_file(tmp_path):
    (tmp_path / "broken.inc").write_text("// a comment\nfloat broken() { return nothing; }\n")
    shader(tmp_path, "plain", PLAIN, textures="")
    text = (tmp_path / "plain.slang").read_text()
    (tmp_path / "plain.slang").write_text(
        text.replace("layout(set = 0, binding = 1)", '#include "broken.inc"\nlayout(set = 0, binding = 1)')
    )
    error = refused(preset(tmp_path, "shaders = 1", "shader0 = plain.slang"))
    assert isinstance(error, rg.ShaderError)
    assert (error.code, error.shader, error.line) == ("RG-E301", str(tmp_path / "broken.inc"), 2)
    assert f'fragment shader "{tmp_path / "broken.inc"}":2' in str(error)
    excerpt, carets = str(error).splitlines()[1:3]
    assert excerpt.strip() == "2 | float broken() { return nothing; }"
    assert carets.index("^") == excerpt.index("nothing")
    assert error.notes == [f"named by {tmp_path / 'preset.slangp'}:2"]
    assert str(tmp_path / "broken.inc") in error.files


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Sorce", "no texture has this name"),
        ("PassOutput3", "does not come before"),
        ("PassFeedback9", "no pass 9"),
        ("User4", "no such lookup texture"),
    ],
)
def test_w14_textures_without_a_meaning_are_refused(tmp_path, name, words):
    shader(tmp_path, "odd", f"FragColor = texture({name}, vTexCoord);", textures=name)
    error = refused(preset(tmp_path, "shaders = 1", "shader0 = odd.slang"))
    assert error.code == "RG-E202"
    assert f'"{name}"' in str(error)
    assert words in str(error)


def test_w14_a_texture_that_is_no_picture_is_refused_where_a_shader_asks_for_it(tmp_path):
    shader(tmp_path, "asks", "FragColor = texture(T, vTexCoord);", textures="T")
    shader(tmp_path, "plain", PLAIN)
    error = refused(preset(tmp_path, "shaders = 1", "shader0 = asks.slang", "textures = T", "T = plain.slang"))
    assert ":4" in str(error)
    assert "cannot be read" in str(error)
    for file in ("plain.slang", "missing.png"):
        made = slangp(preset(tmp_path, "shaders = 1", "shader0 = plain.slang", "textures = T", f"T = {file}"))
        assert made.notes == (f'{tmp_path / "preset.slangp"}:4: no shader asks for the texture "T": it was not read',)


def test_w14_a_size_of_nothing_is_zero_and_noted(tmp_path):
    words = "vec4 UserSize3; vec4 PassOutputSize7;"
    text = f"#version 450\nlayout(std140, set = 0, binding = 0) uniform UBO {{ mat4 MVP; {words} }} global;\n{STAGES}"
    (tmp_path / "odd.slang").write_text(f"{text}void main() {{ {PLAIN} FragColor += global.UserSize3; }}\n")
    made = slangp(preset(tmp_path, "shaders = 1", "shader0 = odd.slang"))
    assert made.notes == (f"{tmp_path / 'odd.slang'}: uniforms without a meaning are 0: UserSize3, PassOutputSize7",)


def test_w14_a_preset_reads_shaders_and_pictures_beside_it_and_nothing_else_outside(tmp_path):
    inner = tmp_path / "collection" / "crt"
    inner.mkdir(parents=True)
    shared = tmp_path / "collection" / "shared"
    shared.mkdir()
    shader(shared, "plain", PLAIN)
    (tmp_path / "secret").write_text("float secret;\n")
    path = preset(inner, "shaders = 1", "shader0 = ../shared/plain.slang")
    assert len(slangp(path).files) == 2
    assert "outside of the folder" in str(refused(path, root=inner))
    shader(inner, "nosy", PLAIN, head='#include "../../secret"')
    nosy = preset(inner, "shaders = 1", "shader0 = nosy.slang", name="nosy")
    assert "of an unusual kind" in str(refused(nosy))
    if hasattr(os, "symlink"):
        (inner / "link.inc").symlink_to(tmp_path / "secret")
        shader(inner, "nosy", PLAIN, head='#include "link.inc"')
        assert "of an unusual kind" in str(refused(nosy))


def test_w14_files_of_a_preset_have_limits(tmp_path):
    (tmp_path / "long.slang").write_text("#version 450\n" + "// a comment\n" * 100_000)
    assert "too long" in str(refused(preset(tmp_path, "shaders = 1", "shader0 = long.slang")))
    (tmp_path / "half.inc").write_text("// a comment\n" * 30_000)
    (tmp_path / "wide.slang").write_text("#version 450\n" + '#include "half.inc"\n' * 1000)
    assert "more than 1048576 characters" in str(refused(preset(tmp_path, "shaders = 1", "shader0 = wide.slang")))
    for depth in range(20):
        preset(tmp_path, f"#reference d{depth + 1}.slangp", name=f"d{depth}")
    assert "nest deeper" in str(refused(tmp_path / "d0.slangp"))
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.slang")
        assert "a pipe or a device" in str(refused(preset(tmp_path, "shaders = 1", "shader0 = pipe.slang")))


@pytest.mark.parametrize("seed", range(60))
def test_w14_damaged_presets_are_errors_of_rgraph(tmp_path, seed):
    shader(tmp_path, "plain", PLAIN)
    path = preset(
        tmp_path,
        "shaders = 2",
        "shader0 = plain.slang",
        'alias0 = "A"',
        "scale_type0 = source",
        "scale0 = 2.0",
        "shader1 = plain.slang",
        "wrap_mode1 = repeat",
        'textures = "T"',
        "T = t.png",
        "GAIN = 1.5",
    )
    png(tmp_path / "t.png", picture(4, 4)[..., :3])
    rng = np.random.default_rng(seed)
    for victim in (path, tmp_path / "plain.slang", tmp_path / "t.png"):
        data = bytearray(victim.read_bytes())
        for at in rng.integers(0, len(data), 1 + seed % 4):
            data[at] = rng.integers(0, 256)
        victim.write_bytes(data)
    code: str | None = "none"
    try:
        slangp(path)
    except rg.RgError as error:
        code = error.code
    assert code not in (None, "RG-E901")


def test_w14_the_command_line_runs_and_converts_presets(player, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pixels = picture(24, 16)
    png(tmp_path / "photo.png", pixels)
    shader(tmp_path, "gain", "FragColor = texture(Source, vTexCoord) * params.GAIN + float(params.FrameCount) / 255.0;")
    preset(tmp_path, "shaders = 1", "shader0 = gain.slang", "GAIN = 0.5")
    (want,) = rendered(player, slangp("preset.slangp", size=(24, 16), parameters={"GAIN": 0.25}), [pixels])
    command = ["run", "preset.slangp", "--input", "photo.png", "--output", "out.png", "--option", "GAIN=0.25"]
    assert main(command) == 0
    np.testing.assert_array_equal(read(tmp_path / "out.png"), want)
    assert main([*command, "--frames", "4"]) == 0
    close(read(tmp_path / "out.png")[..., :3], want[..., :3] + 3)
    assert main([*command, "--option", "viewport=12x8"]) == 0
    assert read(tmp_path / "out.png").shape == (8, 12, 4)

    options = ["--option", "size=24x16", "--option", "GAIN=0.25"]
    assert main(["import", "preset.slangp", "-o", "made.rgraph.json", *options]) == 0
    assert main(["run", "made.rgraph.json", "--input", "photo.png", "--output", "made.png"]) == 0
    np.testing.assert_array_equal(read(tmp_path / "made.png"), want)
    capsys.readouterr()
    assert main(["import", "preset.slangp", "--json"]) == 0
    described = json.loads(capsys.readouterr().out)
    assert described["parameters"]["GAIN"]["value"] == 0.5
    assert described["files"] == ["preset.slangp", "gain.slang"]
    assert main(["bake", "preset.slangp"]) == 0


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["import", "photo.png"], "imported are .slangp"),
        (["import", "gone.slangp"], "no such file"),
        (["import", "preset.slangp", "--option", "size=big"], "is no size"),
        (["import", "preset.slangp", "--option", "GAIN=big"], "is no number"),
        (["run", "preset.slangp", "--input", "Origin=photo.png"], 'has no image or buffer "Origin"'),
    ],
)
def test_w14_wrong_calls_are_status_2(tmp_path, capsys, monkeypatch, command, words):
    monkeypatch.chdir(tmp_path)
    png(tmp_path / "photo.png", picture(8, 8))
    shader(tmp_path, "plain", PLAIN)
    preset(tmp_path, "shaders = 1", "shader0 = plain.slang")
    assert main(command) == 2
    assert words in capsys.readouterr().err


def read(path: Path) -> np.ndarray:
    """A picture as the command wrote it."""
    from rgraph._core import _png_samples as decode

    width, height, channels, _, samples = decode(path.read_bytes())
    return np.frombuffer(samples, np.uint8).reshape(height, width, channels)


def test_w14_lookup_textures_of_png_need_no_package(player, tmp_path, monkeypatch):
    monkeypatch.delattr("rgraph.importers._lookup._by_pillow")
    pixels = picture(9, 7, 5)
    pixels[..., 3] = pixels[..., 0]
    png(tmp_path / "rgba.png", pixels)
    png(tmp_path / "rgb.png", pixels[..., :3])
    body = "FragColor = texture(A, vTexCoord) * 0.5 + texture(B, vTexCoord) * 0.5;"
    shader(tmp_path, "look", body, textures="A B")
    path = preset(tmp_path, "shaders = 1", "shader0 = look.slang", 'textures = "A;B"', "A = rgba.png", "B = rgb.png")
    (got,) = rendered(player, slangp(path, size=(9, 7)), [pixels])
    opaque = np.concatenate([pixels[..., :3], np.full((7, 9, 1), 255, np.uint8)], -1)
    close(got, np.round(pixels / 2.0 + opaque / 2.0).astype(np.uint8))


def declared(folder: Path) -> str:
    """Where the shader `plain` declares GAIN, from 0 to 2."""
    text = (folder / "plain.slang").read_text()
    return f"{folder / 'plain.slang'}:{text[: text.index('#pragma parameter GAIN')].count(chr(10)) + 1}"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (['parameters = "GAIN"', "GAIN = abc"], ':4: the parameter GAIN is "abc": taken as 0'),
        (["GAIN = abc"], ':3: the parameter GAIN is "abc", not a number: the shader\'s own is taken'),
        (['parameters = "GAIN;BIAS"', "BIAS = 0.5"], ":3: the parameter GAIN has no value: the shader's own is taken"),
        (["GAIN = 1e999"], ':3: the parameter GAIN is "1e999", not a number'),
        (["GAIN = 7"], ":3: the parameter GAIN is 7, outside of 0 to 2 (SHADER)"),
        (["GAINS = 1"], ":3: no shader has the parameter GAINS; did you mean GAIN?"),
        (["ELSEWHERE = 1"], ":3: no shader has the parameter ELSEWHERE"),
        (["ELSEWHERE = word"], ":3: the key ELSEWHERE is not known"),
    ],
)
def test_w14_wrong_parameters_of_presets_are_noted_with_line_and_name(tmp_path, lines, message):
    shader(tmp_path, "plain", PLAIN)
    path = preset(tmp_path, "shaders = 1", "shader0 = plain.slang", *lines)
    message = message.replace("SHADER", declared(tmp_path))
    notes = [note.removeprefix(str(path)) for note in slangp(path).notes]
    assert message in [note[: len(message)] for note in notes], notes


def test_w14_wrong_numbers_of_a_shaders_parameter_are_noted(tmp_path):
    shader(tmp_path, "plain", PLAIN, head='#pragma parameter MORE "More" high 0.0 2.0')
    path = preset(tmp_path, "shaders = 1", "shader0 = plain.slang")
    message = 'the parameter MORE has the values "high 0.0 2.0", not INITIAL MINIMUM MAXIMUM STEP: taken as 0'
    line = (tmp_path / "plain.slang").read_text().split("\n").index('#pragma parameter MORE "More" high 0.0 2.0') + 1
    assert f"{tmp_path / 'plain.slang'}:{line}: {message}" in slangp(path).notes


@pytest.mark.parametrize("value", ["abc", None, float("nan"), float("inf"), True, 10**400, [1]])
def test_w14_a_parameter_that_is_no_number_is_refused_with_preset_shader_and_line(tmp_path, value):
    shader(tmp_path, "plain", PLAIN)
    path = preset(tmp_path, "shaders = 1", "shader0 = plain.slang")
    error = refused(path, parameters={"GAIN": value})
    assert str(error).startswith(f'RG-E213 {path}: the parameter "GAIN" is {value!r}')
    assert error.hint == f"give a number; {declared(tmp_path)} says 0 to 2"
    assert f"{path}: the preset has no parameter" in str(refused(path, parameters={"GAINS": 1}))


def test_w14_a_parameter_out_of_range_is_taken_and_noted(tmp_path):
    shader(tmp_path, "plain", PLAIN)
    path = preset(tmp_path, "shaders = 1", "shader0 = plain.slang")
    made = slangp(path, parameters={"GAIN": np.float32(2.5)})
    assert made.parameters["GAIN"].value == 2.5
    assert made.notes == (f"{path}: the parameter GAIN is 2.5, outside of 0 to 2 ({declared(tmp_path)})",)
