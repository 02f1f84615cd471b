"""What tests of the command share: running it in a process of its own, from another folder."""

import os
import subprocess
import sys
from pathlib import Path

import rgraph

BLEND = """
@group(0) @binding(0) var src: texture_2d<f32>;
@group(0) @binding(1) var dst: texture_storage_2d<rgba8unorm, write>;
struct Params { scale: f32, offset: f32 }
var<push_constant> params: Params;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    textureStore(dst, id.xy, textureLoad(src, id.xy, 0) * params.scale + vec4<f32>(params.offset));
}"""

FILM = f'''
import rgraph as rg

BLEND = """{BLEND}"""

graph = rg.Graph("film")
src = graph.import_image("src", (8, 4), "rgba8unorm")
mid = graph.image("mid", like=src)
dst = graph.image("dst", like=src)
graph.compute("halve", BLEND, src=src, dst=mid, push={{"scale": 0.5, "offset": 0.0}})
graph.compute("again", BLEND, src=mid, dst=dst, push={{"scale": 0.5, "offset": 0.0}})
words = graph.buffer("words", 64)
graph.fill("fill", words, 7)
graph.root(dst, words)


def made():
    return graph.clone()
'''


def run(*arguments: str | Path, cwd: Path, given: bytes = b"", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command; text is UTF-8."""
    done = subprocess.run(
        command(*arguments),
        cwd=cwd,
        env=surroundings(**environment),
        input=given,
        capture_output=True,
        check=False,
        timeout=120,
    )
    out, error = done.stdout.decode("utf-8", "surrogateescape"), done.stderr.decode("utf-8", "surrogateescape")
    return subprocess.CompletedProcess(done.args, done.returncode, out, error)


def command(*arguments: str | Path) -> list[str]:
    """The command line."""
    return [sys.executable, "-m", "rgraph", *map(str, arguments)]


def surroundings(**environment: str) -> dict[str, str]:
    """The environment, with a terminal's width that is the same everywhere."""
    package = str(Path(rgraph.__file__).parent.parent)
    paths = os.pathsep.join([package, os.environ.get("PYTHONPATH", "")])
    plain = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "RGRAPH_SHOW")}
    return plain | {"COLUMNS": "80", "PYTHONPATH": paths} | environment


def run_bytes(*arguments: str | Path, given: bytes = b"", **options: object) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a process of its own, with bytes as its standard streams."""
    command = [sys.executable, "-m", "rgraph", *map(str, arguments)]
    return subprocess.run(command, input=given, capture_output=True, check=False, timeout=120, **options)  # type: ignore[call-overload]
