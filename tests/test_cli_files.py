"""Commands on graph files with work in them: run, bake with options, watch with includes and shaders."""

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import clitool
import rgraph as rg
from clitool import run
from test_cli_run import PICTURE, Watching, driver, halved

__all__ = ["driver"]

SIZED = {"format": "rgba8unorm", "size": {"relative_to": "src", "scale": [1, 1]}}


def halving(source: str, target: str, **more: object) -> dict[str, object]:
    """What a pass that halves an image does."""
    work = {"shader": "halve.wgsl", "bindings": {"src": source, "dst": target}, "push": {"scale": 0.5, "offset": 0}}
    return {"queue": "compute", "compute": work} | more


@pytest.fixture
def film(tmp_path: Path) -> Path:
    """A folder with a graph file, a file that it includes, and their shader."""
    (tmp_path / "halve.wgsl").write_text(clitool.BLEND)
    frame = {
        "rgraph": 1,
        "name": "film",
        "options": {"twice": True},
        "images": {"src": {"format": "rgba8unorm", "size": [8, 4], "imported": {}}, "mid": SIZED, "dst": SIZED},
        "passes": [
            {"name": "halve", **halving("src", "mid")},
            {"name": "again", **halving("mid", "dst"), "if": "twice"},
            {"name": "over", "queue": "transfer", "copy": {"from": "mid", "to": "dst"}, "if": {"not": "twice"}},
        ],
        "roots": ["dst"],
    }
    (tmp_path / "film.rgraph.json").write_text(json.dumps(frame, indent=1))
    np.save(tmp_path / "in.npy", PICTURE)
    return tmp_path


def test_run_reads_a_graph_file_with_its_shaders(film: Path):
    done = run("run", film / "film.rgraph.json", "--input", f"src={film / 'in.npy'}", "-o", "out.npy", cwd=film.parent)
    assert done.returncode == 0, done.stderr
    assert np.abs(np.load(film.parent / "out.npy") - halved(2)).max() <= 1


def test_options_decide_what_is_in_the_graph(film: Path):
    assert " 2 of 2 passes" in run("bake", "film.rgraph.json", cwd=film).stdout
    done = run("run", "film.rgraph.json", "--option", "twice=off", "--input", "src=in.npy", "-o", "x.npy", cwd=film)
    assert done.returncode == 0, done.stderr
    assert np.abs(np.load(film / "x.npy") - halved(1)).max() <= 0.51
    assert run("bake", "film.rgraph.json", "--option", "twice=[1]", cwd=film).returncode == 1
    wrong = run("bake", "film.rgraph.json", "--option", "twic=off", cwd=film)
    assert wrong.returncode == 2
    assert wrong.stderr == 'rgraph: film.rgraph.json has no option "twic"\n  help: did you mean "twice"?\n'


def test_graph_without_roots_has_no_results(film: Path):
    values = json.loads((film / "film.rgraph.json").read_text())
    values["passes"][1]["side_effects"] = True
    del values["roots"]
    (film / "film.rgraph.json").write_text(json.dumps(values))
    done = run("run", "film.rgraph.json", "--input", "src=in.npy", cwd=film)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "  no results: the graph names no root; --show NAME shows an image\n"
    assert run("run", "film.rgraph.json", "--input", "src=in.npy", "--show", "mid", cwd=film).stdout.split()[0] == "mid"


def test_one_parameter_is_set_and_the_others_stay(film: Path):
    done = run("run", "film.rgraph.json", "--input", "src=in.npy", "--set", "halve.scale=1", "-o", "x.npy", cwd=film)
    assert done.returncode == 0, done.stderr
    assert np.abs(np.load(film / "x.npy") - halved(1)).max() <= 0.51


def test_uniform_blocks_are_set_by_their_variable(film: Path):
    shader = clitool.BLEND.replace("var<push_constant> params", "@group(0) @binding(2) var<uniform> params")
    (film / "halve.wgsl").write_text(shader)
    values = json.loads((film / "film.rgraph.json").read_text())
    for one in values["passes"][:2]:
        one["compute"]["bindings"]["params"] = {"data": one["compute"].pop("push")}
    (film / "film.rgraph.json").write_text(json.dumps(values))
    chosen = ["--set", "halve.params.scale=1", "--set", "again.params.offset=0.5"]
    done = run("run", "film.rgraph.json", "--input", "src=in.npy", *chosen, "-o", "x.npy", cwd=film)
    assert done.returncode == 0, done.stderr
    assert np.abs(np.load(film / "x.npy") - np.minimum(PICTURE / 2 + 127.5, 255)).max() <= 1


def test_pictures_beside_the_file_need_no_input(film: Path):
    values = json.loads((film / "film.rgraph.json").read_text())
    values["images"]["src"] = {"file": "in.npy"}
    (film / "film.rgraph.json").write_text(json.dumps(values))
    done = run("run", "film.rgraph.json", "-o", "x.npy", cwd=film)
    assert done.returncode == 0, done.stderr
    assert np.abs(np.load(film / "x.npy") - halved(2)).max() <= 1


def test_bench_and_view_take_graph_files(film: Path):
    done = run("bench", "film.rgraph.json", "--input", "src=in.npy", "--frames", "4", "--warmup", "1", cwd=film)
    assert done.returncode == 0, done.stderr
    assert run("view", "film.rgraph.json", cwd=film).returncode == 0
    assert (film / "film.html").exists()


def watching(folder: Path, *arguments: str) -> Watching:
    """A `rgraph watch` of the graph file."""
    beside = Watching.__new__(Watching)
    beside.log = folder / "log.txt"
    with beside.log.open("wb") as log:
        beside.process = subprocess.Popen(
            clitool.command("watch", "film.rgraph.json", "--poll", "0.05", "-o", "out.npy", *arguments),
            cwd=folder,
            env=clitool.surroundings(),
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    return beside


def test_watch_sees_shaders_includes_and_pictures(film: Path):
    values = json.loads((film / "film.rgraph.json").read_text())
    values["images"]["src"] = {"file": "in.npy"}
    part = {"rgraph": 1, "name": "part", "images": {"mid": SIZED | {"size": [8, 4]}, "dst": SIZED | {"size": [8, 4]}}}
    part["passes"] = [{"name": "again", **halving("mid", "dst")}]
    (film / "part.rgraph.json").write_text(json.dumps(part))
    include = {"include": "part.rgraph.json", "as": "part", "resources": {"mid": "mid", "dst": "dst"}}
    values["passes"] = [values["passes"][0], include]
    (film / "film.rgraph.json").write_text(json.dumps(values))
    with watching(film, "--edits", "5") as beside:
        beside.until("shown")
        assert np.abs(np.load(film / "out.npy") - halved(2)).max() <= 1
        (film / "halve.wgsl").write_text(clitool.BLEND.replace("params.scale", "(params.scale * 2.0)"))
        beside.until("shown", 2)
        assert np.abs(np.load(film / "out.npy") - halved(0)).max() <= 0.51
        (film / "halve.wgsl").write_text("fn main( {")
        beside.until("the last good graph keeps running")
        (film / "halve.wgsl").write_text(clitool.BLEND)
        beside.until("fixed")
        part["passes"][0]["compute"]["push"]["scale"] = 1.0  # type: ignore[index]
        (film / "part.rgraph.json").write_text(json.dumps(part))
        beside.until("shown", 3)
        assert np.abs(np.load(film / "out.npy") - halved(1)).max() <= 0.51
        np.save(film / "in.npy", PICTURE // 4)
        beside.until("shown", 4)
        assert np.abs(np.load(film / "out.npy") - PICTURE // 4 / 2).max() <= 0.51
        assert beside.process.wait(60) == 0
    printed = beside.printed()
    assert sum("RG-E301" in line for line in printed) == 1
    assert not [line for line in printed if "Traceback" in line]


SCALED = """#version 450
#include "lib/scale.glsl"
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0) uniform texture2D src;
layout(set = 0, binding = 1, rgba8) uniform writeonly image2D dst;
void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    imageStore(dst, at, scaled(texelFetch(src, at, 0)));
}
"""


def test_watch_sees_files_that_glsl_includes_and_those_that_these_include(film: Path):
    values = json.loads((film / "film.rgraph.json").read_text())
    values["images"]["src"] = {"file": "in.npy"}
    work = {"shader": "halve.comp", "bindings": {"src": "src", "dst": "dst"}}
    values["passes"] = [{"name": "halve", "compute": work}]
    (film / "film.rgraph.json").write_text(json.dumps(values))
    (film / "halve.comp").write_text(SCALED)
    (film / "lib").mkdir()
    (film / "lib" / "scale.glsl").write_text('#include "by.glsl"\nvec4 scaled(vec4 x) { return x * BY; }\n')
    (film / "lib" / "by.glsl").write_text("#define BY 0.5\n")
    with watching(film, "--edits", "4") as beside:
        beside.until("shown")
        assert np.abs(np.load(film / "out.npy") - halved(1)).max() <= 0.51
        (film / "lib" / "by.glsl").write_text("#define BY 0.25\n")
        beside.until("shown", 2)
        assert np.abs(np.load(film / "out.npy") - halved(2)).max() <= 0.51
        (film / "lib" / "scale.glsl").unlink()
        beside.until("the last good graph keeps running")
        (film / "lib" / "scale.glsl").write_text("vec4 scaled(vec4 x) { return x; }\n")
        beside.until("fixed")
        assert np.abs(np.load(film / "out.npy") - halved(0)).max() <= 0.51
        np.save(film / "in.npy", PICTURE // 4)
        beside.until("shown", 3)
        assert np.abs(np.load(film / "out.npy") - PICTURE // 4).max() <= 0.51
        assert beside.process.wait(60) == 0
    assert any("no file to include: 'lib/scale.glsl'" in line for line in beside.printed())


def test_watch_waits_for_a_file_that_is_wrong_from_the_start(film: Path):
    good = (film / "film.rgraph.json").read_text()
    (film / "film.rgraph.json").write_text(good[:-1])
    with watching(film, "--input", "src=in.npy", "--edits", "1") as beside:
        beside.until("waiting for a fix")
        (film / "film.rgraph.json").write_text(good)
        assert beside.process.wait(60) == 0
    assert re.search(r"TIME  fixed after \d+ ms", "\n".join(beside.printed()))


def test_watch_says_that_histories_begin_anew(film: Path):
    values = json.loads((film / "film.rgraph.json").read_text())
    values["images"]["before"] = {"history_of": "dst"}
    values["images"]["kept"] = SIZED
    values["passes"].append({"name": "keep", "queue": "compute", **halving("before", "kept")})
    values["roots"] = ["dst", "kept"]
    (film / "film.rgraph.json").write_text(json.dumps(values))
    rg.Graph.load(film / "film.rgraph.json")
    with watching(film, "--input", "src=in.npy", "--show", "kept", "--edits", "1", "--fps", "50") as beside:
        beside.until("shown")
        (film / "film.rgraph.json").write_text(json.dumps(values) + "\n")
        assert beside.process.wait(60) == 0
    assert "histories restart" in beside.printed()[-1]
