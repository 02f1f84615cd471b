"""The numbered examples as graph files; `python tests/example_files.py` writes those again."""

import contextlib
import io
import os
import tempfile
from pathlib import Path
from unittest import mock

import rgraph as rg

FOLDER = Path(__file__).resolve().parent.parent / "examples"
#: Examples that are functions, and why no file can hold them.
FUNCTIONS = {"12_callback": "records commands", "14_host_pass": "runs on the CPU"}
#: Examples of ready-made passes, whose shaders are the package's, and whose arrays are given to each run.
INPUTS = {"13_numpy_pipeline", "15_passes"}


class _EndError(Exception):
    """Where an example comes to its device."""


def graph(path: Path) -> rg.Graph:
    """The graph that an example declares: the value of its `g` when it opens a device, or ends."""
    names: dict[str, object] = {"__name__": "example"}
    code = compile(path.read_text(encoding="utf-8"), str(path), "exec")
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(folder)
        try:
            with mock.patch.object(rg, "Device", side_effect=_EndError), contextlib.suppress(_EndError):
                exec(code, names)
        finally:
            os.chdir(here)
    found = names["g"]
    assert isinstance(found, rg.Graph)
    return found


def examples() -> list[Path]:
    """Those that files can hold."""
    return [path for path in sorted(FOLDER.glob("[0-9]*.py")) if path.stem not in FUNCTIONS]


def write(declared: rg.Graph, stem: str, path: Path) -> None:
    """Writes an example's file."""
    if stem in INPUTS:
        path.write_text(declared.to_json(), encoding="utf-8")
    else:
        declared.save(path)


if __name__ == "__main__":
    for example in examples():
        write(graph(example), example.stem, example.with_suffix(".rgraph.json"))
