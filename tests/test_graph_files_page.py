"""The page about graph files: its examples load, have the schema, and say what they say after saving."""

import json
import re
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import rgraph as rg
from test_graph_files_parts import png

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "graph-files.md"
EXAMPLES = re.findall(r"^```json\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
BLUR = """
struct Push { gain: f32 }
var<immediate> push: Push;
@group(0) @binding(0) var source: texture_2d<f32>;
@group(0) @binding(1) var result: texture_storage_2d<rgba16float, write>;
@group(0) @binding(2) var tiles: sampler;
struct Params { weights: vec4<f32> }
@group(0) @binding(3) var<uniform> params: Params;
@compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let color = textureSampleLevel(source, tiles, vec2<f32>(id.xy), 0.0);
    textureStore(result, id.xy, color * params.weights.x * push.gain);
}
"""
MOVE = """
@group(0) @binding(0) var<storage, read_write> bodies: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> sums: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    bodies[id.x].x += 1.0;
    sums[id.x % 16] = bodies[id.x].x;
}
"""
HALVE = {
    "rgraph": 1,
    "options": {"filter": "linear"},
    "images": {"source": {"format": "rgba8unorm"}, "half": {"format": "rgba8unorm", "size": [64, 64]}},
    "passes": [{"name": "halve", "blit": {"from": "source", "to": "half", "filter": {"option": "filter"}}}],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "photo.png").write_bytes(png(4, 2, 6, 8, bytes(range(32))))
    np.save(tmp_path / "table.npy", np.arange(64, dtype="f4"))
    (tmp_path / "blur.wgsl").write_text(BLUR)
    np.save(tmp_path / "bodies.npy", np.zeros((1024, 4), "f4"))
    (tmp_path / "move.wgsl").write_text(MOVE)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "halve.rgraph.json").write_text(json.dumps(HALVE))
    return tmp_path


@pytest.mark.parametrize("text", EXAMPLES, ids=[str(at) for at in range(len(EXAMPLES))])
def test_example_of_the_page_loads_and_bakes(folder: Path, text: str):
    (folder / "example.rgraph.json").write_text(text)
    g = rg.Graph.load(folder / "example.rgraph.json")
    plan = g.bake()
    assert plan.pass_names
    assert plan.check() == []
    g.save(folder / "saved.rgraph.json")
    again = rg.Graph.load(folder / "saved.rgraph.json")
    assert again.bake() == plan
    again.save(folder / "again.rgraph.json")
    assert (folder / "again.rgraph.json").read_text() == (folder / "saved.rgraph.json").read_text()


@pytest.mark.parametrize("text", EXAMPLES, ids=[str(at) for at in range(len(EXAMPLES))])
def test_example_of_the_page_has_the_schema(folder: Path, text: str):
    validator = jsonschema.Draft202012Validator(json.loads(rg.schema("graph")))
    assert [error.message for error in validator.iter_errors(json.loads(text))] == []
    (folder / "example.rgraph.json").write_text(text)
    saved = rg.Graph.load(folder / "example.rgraph.json").to_dict()
    assert [error.message for error in validator.iter_errors(saved)] == []


def plain(schema: object) -> list[object]:
    """Values that a schema lists, behind what stands for options."""
    if isinstance(schema, dict):
        return list(schema.get("enum", [])) + [one for inner in schema.get("anyOf", []) for one in plain(inner)]
    return []


DEFINED = json.loads(rg.schema("graph"))["$defs"]
PASS = DEFINED["pass"]["properties"]
SAMPLER = DEFINED["sampler"]["properties"]


def keys_of(kind: str) -> dict[str, object]:
    """Keys of a kind of work, with the schemas of their values."""
    return DEFINED[PASS[kind]["$ref"].rsplit("/", 1)[1]]["properties"]


WORDS = [
    (kind, key, word)
    for kind in ("raster", "blit")
    for key, schema in keys_of(kind).items()
    for word in plain(schema)
    if isinstance(word, str)
] + [("sampler", key, word) for key, schema in SAMPLER.items() for word in plain(schema) if isinstance(word, str)]


@pytest.mark.parametrize(("kind", "key", "word"), WORDS)
def test_readers_know_every_word_of_the_schema(kind: str, key: str, word: str):
    flat = "@fragment fn main() -> @location(0) vec4<f32> { return vec4<f32>(1.0); }"
    images = {name: {"format": "rgba8unorm", "size": [8, 8]} for name in "ab"}
    work = {
        "raster": {"raster": {"shader": {"wgsl": flat}, "color": "a"} | ({key: word} if kind == "raster" else {})},
        "blit": {"blit": {"from": "a", "to": "b", "filter": word}},
        "sampler": {},
    }[kind]
    values = {"rgraph": 1, "images": images, "passes": [{"name": "p", **work}]}
    if kind == "sampler":
        values["samplers"] = {"s": {key: word}}
    assert rg.Graph.from_dict(values).passes


@pytest.mark.parametrize("kind", ["compute", "raster", "copy", "blit", "clear", "fill", "resolve"])
def test_readers_know_every_key_of_the_schema(kind: str):
    keys = dict.fromkeys(keys_of(kind))
    with pytest.raises(rg.GraphError) as caught:
        rg.Graph.from_dict({"rgraph": 1, "passes": [{"name": "p", kind: keys | {"strange": 1}}]})
    strangers = [mistake.message for mistake in caught.value.mistakes if "is not a key" in mistake.message]
    assert [message.split(" ")[1] for message in strangers] == [f"passes[0].{kind}.strange"]
