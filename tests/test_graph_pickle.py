"""Graphs that are copied and pickled."""

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

import rgraph as rg

SCALE = """
@group(0) @binding(0) var<storage, read> src: array<f32>;
@group(0) @binding(1) var<storage, read_write> dst: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < arrayLength(&dst)) { dst[id.x] += src[id.x] * 2.0; }
}
"""


def declared() -> rg.Graph:
    """A graph with an array, a typed buffer, a first state and a picture of three channels."""
    g = rg.Graph("pickled", size=(32, 16))
    src = g.import_array("src", np.arange(4, dtype=np.float32).reshape(2, 2), as_buffer=True)
    dst = g.buffer("dst", persistent=np.full((2, 2), 10, np.float32))
    g.compute("scale", SCALE, src=src, dst=dst, groups=1)
    photo = g.import_array("photo", np.full((2, 3, 3), 7, np.uint8))
    g.copy("show", photo, g.image("out", like=photo))
    g.root(dst, "out")
    return g


def test_a_pickled_graph_is_the_same_declaration():
    g = declared()
    again = pickle.loads(pickle.dumps(g))
    assert again.hash == g.hash
    assert again.bake() == g.bake()
    assert again.to_dict() == g.to_dict()


def test_a_deep_copy_has_arrays_of_its_own():
    g = rg.Graph()
    array = np.zeros((2, 2), np.float32)
    g.import_array("a", array)
    for copied in (copy.copy(g), copy.deepcopy(g), copy.deepcopy([g])[0]):
        assert copied.hash == g.hash
        copied.image("more", (2, 2), "r8unorm")
    assert len(g.resources) == 1


def test_functions_are_not_pickled():
    g = rg.Graph()
    g.buffer("b", 16)
    g.cpu("host", lambda _: None, writes="b", side_effects=True)
    with pytest.raises(rg.GraphError, match="host"):
        pickle.dumps(g)


def test_pictures_of_a_file_are_pickled(tmp_path: Path):
    g = declared()
    g.save(tmp_path / "g.rgraph.json")
    read = rg.Graph.load(tmp_path / "g.rgraph.json")
    again = pickle.loads(pickle.dumps(read))
    assert again.hash == read.hash


def test_reprs_say_what_things_are():
    g = declared()
    assert repr(g.find("photo")) == '<Image "photo" 3x2 rgba8unorm>'
    assert repr(g.find("dst")) == '<Buffer "dst" 16 bytes>'
    assert repr(g.find("photo").mip(0)) == '<View of "photo" 3x2 rgba8unorm, mip 0>'
    assert repr(g.find("photo").mips(0, 2)) == '<View of "photo" 3x2 rgba8unorm, mips 0 to 2>'
    html = g._repr_html_()
    for words in ("pickled, 32 × 16", ">scale</td>", "storage_read src", "3x2 rgba8unorm", ">root</td>"):
        assert words in html


def test_handles_are_not_pickled_and_their_names_are():
    g = declared()
    photo = g.find("photo")
    for handle in (photo, photo.mip(0), g.passes[0]):
        with pytest.raises(
            TypeError, match=r"cannot pickle or copy 'rgraph.*\n  help: pickle the graph.*name is the name"
        ):
            pickle.dumps(handle)


def test_notebooks_show_what_a_pass_does_and_who_uses_a_view():
    g = rg.Graph("parts")
    chain = g.image("chain", (8, 8), "rgba8unorm", mips=3)
    g.add_pass("fill", queue="compute").storage_write(chain, mips=0)
    g.add_pass("shrink", queue="compute").storage_read(chain, mips=0).storage_write(chain, mips=1)
    g.root(chain)
    plain = [
        one._repr_html_().replace(' style="text-align:left"', "")
        for one in (g.passes[1], chain, chain.mip(0), chain.mip(2))
    ]
    shrink, whole, first, last = plain
    assert "pass shrink on compute" in shrink
    for words in (
        "<td>chain</td><td>storage_read</td><td>mips [0, 1]</td>",
        "<td>storage_write</td><td>mips [1, 2]</td>",
    ):
        assert words in shrink
    assert (whole.count("<td>fill</td>"), whole.count("<td>shrink</td>")) == (1, 2)
    assert (first.count("<td>fill</td>"), first.count("<td>shrink</td>")) == (1, 1)
    assert "mip 2" in last
    assert "<td>" not in last


@pytest.mark.parametrize(
    "sampler",
    [
        rg.Sampler(),
        rg.Sampler("nearest", mip="linear", address=("repeat", "mirror"), anisotropy=4, lod=(0.5, 3)),
        rg.Sampler(compare="greater", address="border", border="white"),
    ],
)
def test_samplers_pickle_and_copy(sampler: rg.Sampler):
    for again in (pickle.loads(pickle.dumps(sampler)), copy.deepcopy(sampler), copy.copy(sampler)):
        assert again == sampler
        assert repr(again) == repr(sampler)
