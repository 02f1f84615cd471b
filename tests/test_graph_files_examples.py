"""Each numbered example exists as a graph file too, which says the same."""

from pathlib import Path

import pytest

import example_files
import rgraph as rg

EXAMPLES = example_files.examples()


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_example_and_its_file_are_one_graph(path: Path, tmp_path: Path):
    g = example_files.graph(path)
    file = path.with_suffix(".rgraph.json")
    loaded = rg.Graph.load(file)
    assert loaded.hash == g.hash
    for profile in ("discrete", "single_queue"):
        assert loaded.bake(profile) == g.bake(profile)
    if path.stem in example_files.INPUTS:
        return
    assert loaded.to_json() == g.to_json()
    example_files.write(g, path.stem, tmp_path / file.name)
    assert (tmp_path / file.name).read_text(encoding="utf-8") == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("stem", example_files.FUNCTIONS)
def test_examples_that_are_functions_are_refused(stem: str, tmp_path: Path):
    g = example_files.graph(example_files.FOLDER / f"{stem}.py")
    with pytest.raises(rg.GraphError, match="is a function, which no file can hold"):
        g.save(tmp_path / "g.rgraph.json")
