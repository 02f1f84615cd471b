"""Readers and schemas have one verdict: files with every key of every object, each value of which is spoilt in turn.

The schema's verdict is that of another library. Where the two differ, a list here says so and why.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import rgraph as rg
from file_samples import DEVICES, FLAT, GRAPHS, MODULE, PLAN, PROFILE

SCHEMAS = {kind: json.loads(rg.schema(kind)) for kind in ("graph", "profile", "plan", "devices")}
Step = str | int
At = tuple[Step, ...]
"""Where a value is in a file."""

VALUES = [None, True, -1, 0.5, "", "strange", [], {}, [0], {"strange": 0}]
"""What any value is replaced by."""

CANNOT_SAY = {
    "names must be declared": r"nothing declares|nothing opens|not in there|has no option|names file",
    "names are unique": r"are called|in two places",
    "ids must exist": r"must be below \d+, the number of|but it stands at",
    "ranges are not empty, and lie in something": r"a range in \[|empty range|ends beyond|2\^64 bytes|and lod from",
    "keys go together": r"has one of|is on a pass that is not culled|(culled_why|foreign\[0\]|unmerged\[0\]) has no"
    r"|needs|has \"behind\" without|is no (build|shader|single step)|draws to nothing|rounds one axis|for a signal",
    "lists have one for each colour target": r"one for each of",
    "keys depend on a resource and its format": r"barrier for an image|mips of 'bytes'|no attachment|not aspects of"
    r"|edges\[\d\]\.\w+ is null",
    "a signal is of its batch's queue": r"signals another queue",
    "options have the kind of their default": r"but its default is|is an option that is no number",
    "bytes are in base 64": r"is not base 64",
    "data and bindings are those of shaders": r"^pass \"|must be data:",
}
"""What readers find and schemas cannot say: rule, part of the message."""

LOOSER = {
    r"plan: (passes|unmerged)\.\*\.reason ": "sentences for people are not read",
    r"profile: width ": "a bake refuses a width of 0",
    r"graph: passes\.\*\.raster\.patch_vertices ": "it counts only where a shader has tessellation stages",
    r"graph: passes\.\*\.copy\.from\.(sampler|format) ": "they count only in bindings",
    r"graph: modules\.module\.(rgraph|name|reference_size)": "they count only in a file that is loaded alone",
    r"graph: modules\.module\.images\.inner": "another image replaces it",
    r"plan: .*layout \w+$": "the shorter names of graph files",
    r"plan: resources\.\*\.format VK_FORMAT_": "names as in graph files",
}
"""What readers take and schemas refuse: place, reason."""


def is_looser(kind: str, at: At, what: str) -> bool:
    return any(re.match(place, f"{kind}: {shown(at)} {what}") for place in LOOSER)


def unsaid(found: str) -> list[str]:
    """Mistakes that a schema could have found."""
    return [line for line in found.splitlines() if not re.search("|".join(CANNOT_SAY.values()), line)]


def sample(kind: str, name: str) -> Any:
    return GRAPHS[name] if kind == "graph" else {"plan": PLAN, "profile": PROFILE, "devices": DEVICES}[kind]


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Every object in a schema."""
    if isinstance(schema, dict):
        yield schema
    inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    for one in inner:
        yield from nodes(one)


def enums(schema: Any) -> list[tuple[str, ...]]:
    """Every list of words in a schema, each once."""
    lists = {tuple(one["enum"]) for one in nodes(schema) if isinstance(one.get("enum"), list)}
    return [words for words in lists if isinstance(words[0], str)]


def tables(schema: Any) -> dict[frozenset[str], dict[str, Any]]:
    """Every object with keys that a schema describes, each once; not what stands for an option."""
    found = (one for one in nodes(schema) if one.get("additionalProperties") is False)
    return {frozenset(one["properties"]): one for one in found if set(one["properties"]) != {"option"}}


BOUNDS = {
    kind: {one[key] + by for one in nodes(schema) for key, by in (("minimum", -1), ("maximum", 1)) if key in one}
    for kind, schema in SCHEMAS.items()
}
LIMITS = {
    kind: sorted(beyond | {one[key] for one in nodes(SCHEMAS[kind]) for key in ("minimum", "maximum") if key in one})
    for kind, beyond in BOUNDS.items()
}
"""Numbers at every limit of a schema, and beyond it."""


def places(value: Any, at: At = ()) -> Iterator[tuple[At, Any]]:
    """Every value in a file, with its place."""
    yield at, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*at, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from places(inner, (*at, index))


def changed(value: Any, at: At, change: Callable[[Any], Any]) -> Any:
    """A copy with one value changed."""
    if not at:
        return change(value)
    first, rest = at[0], at[1:]
    if isinstance(value, dict):
        return {key: changed(inner, rest, change) if key == first else inner for key, inner in value.items()}
    return [changed(inner, rest, change) if index == first else inner for index, inner in enumerate(value)]


def spoilt(kind: str, file: Any) -> Iterator[tuple[str, At, Any]]:
    """Files with one change: what, where, the file."""
    for at, value in places(file):
        if at == () or at == (next(iter(file)),):
            continue
        for other in (*VALUES, *(LIMITS[kind] if isinstance(value, int | float) else ())):
            if type(other) is not type(value) or other != value:
                yield f"is {json.dumps(other)}", at, changed(file, at, lambda _, other=other: other)
        if isinstance(value, dict):
            yield "has a strange key", at, changed(file, at, lambda old: {**old, "strange_key": 0})
            for key in value:
                less = changed(file, at, lambda old, key=key: {k: v for k, v in old.items() if k != key})
                yield f"has no {key}", at, less
        if isinstance(value, list):
            yield "is longer", at, changed(file, at, lambda old: [*old, *old[-1:]])
            yield "is shorter", at, changed(file, at, lambda old: old[:-1])


class Verdicts:
    """What the reader of one kind of file and its schema say."""

    def __init__(self, kind: str, folder: Path):
        self.kind = kind
        self.folder = folder
        self.schema = SCHEMAS[kind]
        self.validator = jsonschema.Draft202012Validator(self.schema)
        if kind == "devices":
            graph = rg.Graph("g")
            graph.root(graph.buffer("b", 4))
            self.graph = graph

    def reader(self, file: Any) -> str:
        """The reader's mistakes, each a line; empty: it takes the file."""
        text = json.dumps(file)
        try:
            match self.kind:
                case "plan":
                    rg.Plan.from_json(text)
                case "profile":
                    rg.Profile.from_json(text)
                case "devices":
                    rg.DevicesPlan.from_json(text, self.graph)
                case _:
                    path = self.folder / "file.rgraph.json"
                    # File systems that write a truncated file at once take milliseconds for that, and none for a new
                    # one.
                    path.unlink(missing_ok=True)
                    path.write_text(text)
                    rg.Graph.load(path)
        except rg.GraphError as error:
            found = [mistake.message for mistake in error.mistakes]
            return "\n".join(line for line in found if "is not one of graph" not in line)
        except rg.ShaderError:
            return ""
        except rg.InternalError as error:
            return f"PANIC {error}"
        return ""

    def takes(self, file: Any, at: At) -> bool:
        """Whether the schema takes a file that was changed at a place: it looks no further than it must."""
        schema, value = self.schema, file
        for step in at:
            if set(schema) & {"anyOf", "$ref", "if", "required", "minItems"} - {"required"} or not isinstance(
                value, dict | list
            ):
                break
            if isinstance(step, str) and step in schema.get("properties", {}):
                schema = schema["properties"][step]
            elif isinstance(step, int) and "items" in schema:
                schema = schema["items"]
            else:
                break
            value = value[step]
        return self.validator.evolve(schema={**schema, "$defs": self.schema.get("$defs", {})}).is_valid(value)


def shown(at: At) -> str:
    return ".".join("*" if isinstance(step, int) else step for step in at)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that samples name."""
    folder = tmp_path_factory.mktemp("files")
    np.save(folder / "photo.npy", np.zeros((4, 4, 4), "u1"))
    (folder / "flat.wgsl").write_text(FLAT)
    (folder / "part.rgraph.json").write_text(json.dumps(MODULE))
    return folder


SAMPLES = [("plan", ""), ("profile", ""), ("devices", ""), *(("graph", name) for name in GRAPHS)]


@pytest.mark.parametrize(("kind", "name"), SAMPLES)
def test_reader_and_schema_have_one_verdict_of_each_spoilt_file(kind: str, name: str, folder: Path):
    verdicts, file = Verdicts(kind, folder), sample(kind, name)
    assert verdicts.reader(file) == ""
    assert verdicts.takes(file, ())
    looser, stricter = [], []
    for what, at, other in spoilt(kind, file):
        found, takes = verdicts.reader(other), verdicts.takes(other, at)
        if not found and not takes and not is_looser(kind, at, what):
            looser.append(f"{shown(at)} {what}")
        if takes and unsaid(found):
            stricter.append(f"{shown(at)} {what}: {unsaid(found)}")
    assert looser == [], "the reader takes what the schema refuses"
    assert stricter == [], "the reader refuses what the schema takes"


FAMILIES = [set(words) for schema in SCHEMAS.values() for words in enums(schema)]


@pytest.mark.parametrize(("kind", "name"), SAMPLES)
def test_reader_and_schema_know_the_same_words(kind: str, name: str, folder: Path):
    verdicts, file = Verdicts(kind, folder), sample(kind, name)
    seen = set()
    wrong = []
    for at, value in places(file):
        if not isinstance(value, str) or shown(at) in seen:
            continue
        seen.add(shown(at))
        for word in sorted(set().union(*(words for words in FAMILIES if value in words))):
            other = changed(file, at, lambda _, word=word: word)
            takes, reads = verdicts.takes(other, at), not unsaid(verdicts.reader(other))
            if takes != reads and not (reads and is_looser(kind, at, word)):
                wrong.append(f"{shown(at)} {word}: the schema {takes}, the reader {reads}")
    assert wrong == []


@pytest.mark.parametrize("kind", SCHEMAS)
def test_samples_have_every_key_of_every_object(kind: str):
    files = [sample(kind, name) for of, name in SAMPLES if of == kind]
    objects = [value for file in files for _, value in places(file) if isinstance(value, dict)]
    missing = []
    for keys, schema in tables(SCHEMAS[kind]).items():
        validator = jsonschema.Draft202012Validator({**schema, "$defs": SCHEMAS[kind].get("$defs", {})})
        found = [one for one in objects if keys.issuperset(one) and set(one) and validator.is_valid(one)]
        missing.append(sorted(keys.difference(*found)))
    assert [keys for keys in missing if keys] == []
