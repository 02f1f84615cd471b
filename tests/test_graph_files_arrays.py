"""Arrays in graph files: shape and dtype of buffers, and what persistent resources and histories begin with."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import rgraph as rg


def of_buffer(**buffer: object) -> rg.Graph:
    """A graph of one buffer as a file declares it."""
    return rg.Graph.from_dict({"rgraph": 1, "buffers": {"a": buffer}})


def test_a_typed_buffer_is_written_and_read():
    g = rg.Graph("typed")
    g.buffer("sums", shape=(4, 2), dtype="float32")
    g.buffer("bytes", 16)
    buffers = g.to_dict()["buffers"]
    assert buffers == {"sums": {"size": 32, "shape": [4, 2], "dtype": "float32"}, "bytes": {"size": 16}}
    jsonschema.Draft202012Validator(json.loads(rg.schema("graph"))).validate(g.to_dict())
    assert rg.Graph.from_dict(g.to_dict()).to_dict() == g.to_dict()


@pytest.mark.parametrize(
    ("declared", "size"),
    [
        ({"shape": [3, 2], "dtype": "uint16"}, 12),
        ({"shape": 5, "dtype": "float64"}, 40),
        ({"shape": [4], "size": 8, "dtype": "int16"}, 8),
        ({"size": 24, "dtype": "float32"}, 24),
    ],
)
def test_the_size_follows_from_the_shape(declared: dict[str, object], size: int):
    g = of_buffer(**declared)
    assert g.find("a").size == size
    (written,) = g.to_dict()["buffers"].values()
    shape = written["shape"]
    assert isinstance(shape, list)
    assert np.prod(shape) * np.dtype(written["dtype"]).itemsize == size


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({"shape": [4]}, "shape needs dtype"),
        ({"dtype": "float32"}, "dtype needs shape or size"),
        ({"shape": [4], "dtype": "float23"}, 'did you mean "float32"'),
        ({"shape": [4], "dtype": "float32", "size": 12}, "has 16 bytes as float32, which are not those of size"),
        ({"shape": [4294967296, 4294967296], "dtype": "uint8"}, "more than 2"),
        ({"shape": [1] * 40, "dtype": "uint8"}, "has 40 axes"),
        ({"shape": [-1], "dtype": "uint8"}, "must be 0 or more"),
        ({"shape": [1.5], "dtype": "uint8"}, "must be an integer"),
        ({"shape": "many", "dtype": "uint8"}, "must be an integer"),
    ],
)
def test_what_contradicts_itself_is_refused_with_its_line(declared: dict[str, object], words: str):
    text = json.dumps({"rgraph": 1, "buffers": {"a": declared}}, indent=1)
    with pytest.raises(rg.GraphError, match=words) as caught:
        rg.Graph.from_json(text)
    assert "text:" in str(caught.value)


def begun() -> tuple[rg.Graph, dict[str, np.ndarray]]:
    """A graph whose states begin with arrays."""
    rng = np.random.default_rng(3)
    first = {
        "bodies": rng.random((4, 2), np.float32),
        "photo": rng.integers(0, 255, (2, 3, 3), np.uint8),
        "before": rng.random((2, 3), np.float32),
    }
    g = rg.Graph("begun", size=(3, 2))
    g.root(g.buffer("bodies", persistent=first["bodies"]), g.image("photo", persistent=first["photo"]))
    now = g.image("now", (3, 2), "r32float")
    g.copy("keep", now.previous(name="before", first_frame=first["before"]), now)
    g.root(now)
    return g, first


def test_first_arrays_are_written_beside_the_file(tmp_path: Path):
    g, first = begun()
    g.save(tmp_path / "begun.rgraph.json")
    values = json.loads((tmp_path / "begun.rgraph.json").read_text())
    assert values["buffers"]["bodies"]["file"] == "begun.bodies.npy"
    assert values["images"]["photo"] == {
        "format": "rgba8unorm",
        "size": [3, 2],
        "persistent": True,
        "file": "begun.photo.npy",
    }
    assert values["images"]["before"]["history_of"] == "now"
    assert np.array_equal(np.load(tmp_path / "begun.bodies.npy"), first["bodies"])
    assert np.array_equal(np.load(tmp_path / "begun.before.npy"), first["before"])
    jsonschema.Draft202012Validator(json.loads(rg.schema("graph"))).validate(values)
    again = rg.Graph.load(tmp_path / "begun.rgraph.json")
    assert again.hash == g.hash
    again.save(tmp_path / "again.rgraph.json")
    assert (tmp_path / "again.rgraph.json").read_text() == (tmp_path / "begun.rgraph.json").read_text()


def test_a_file_says_the_format_and_size_of_what_begins_with_it(tmp_path: Path):
    np.save(tmp_path / "cells.npy", np.ones((5, 7), np.uint32))
    values = {"rgraph": 1, "images": {"cells": {"persistent": True, "file": "cells.npy"}}, "roots": ["cells"]}
    (tmp_path / "g.rgraph.json").write_text(json.dumps(values))
    cells = rg.Graph.load(tmp_path / "g.rgraph.json").find("cells")
    assert (cells.format, tuple(cells.size)[:2]) == ("r32uint", (7, 5))


def test_an_imported_resource_cannot_be_persistent():
    values = {"rgraph": 1, "buffers": {"a": {"size": 4, "imported": True, "persistent": True}}}
    with pytest.raises(rg.GraphError, match="more than one of imported, persistent"):
        rg.Graph.from_dict(values)
