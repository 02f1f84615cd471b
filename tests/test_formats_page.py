"""The norm of the files and the schemas of the code say the same: every key, every required key, every word."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rgraph as rg

FOLDER = Path(__file__).resolve().parent.parent / "docs"
NORM = FOLDER / "reference" / "formats.md"
WORK = FOLDER / "reference" / "graph-files.md"
CONVENTIONS = FOLDER / "concepts" / "conventions.md"
SCHEMAS = {kind: json.loads(rg.schema(kind)) for kind in ("graph", "profile", "plan", "devices")}
TABLE = re.compile(r"^<!-- (keys|words): (\S+) -->\n\|[^\n]*\n\|[^\n]*\n((?:\|[^\n]*\n)+)", re.M)
OPTION = {"option"}


def inner(schema: Any, root: Any) -> Iterator[Any]:
    """The schemas of one value: behind references, choices, lists and maps, without going into keys of objects."""
    if "$ref" in schema:
        yield from inner(root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root)
        return
    yield schema
    for choice in schema.get("anyOf", []):
        yield from inner(choice, root)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from inner(schema[key], root)
    for one in schema.get("prefixItems", []):
        yield from inner(one, root)


def objects(schema: Any, root: Any) -> list[Any]:
    """The objects with keys that a value may be; not what stands for an option."""
    found = [one for one in inner(schema, root) if one.get("properties")]
    return [one for one in found if set(one["properties"]) != OPTION]


def words(schema: Any, root: Any) -> set[str]:
    """The words that a value may be, or the elements of a list."""
    return {word for one in inner(schema, root) for word in one.get("enum", []) if isinstance(word, str)}


def step(schema: Any, root: Any, name: str) -> Any:
    """One step of a path: a key, and behind a colon the key or the `op` that tells an object from the other choices."""
    key, _, pick = name.partition(":")
    value = schema["properties"][key]
    if not pick:
        return value
    for one in objects(value, root):
        op = one["properties"].get("op", {}).get("const")
        if op == pick or (op is None and pick in one["properties"]):
            return one
    raise KeyError(name)


def resolve(path: str) -> tuple[Any, Any]:
    """What a path leads to, and the schema that it is in: `plan/batches/commands:pass/layouts`."""
    kind, *names = path.split("/")
    root = SCHEMAS[kind]
    schema = root
    for name in names:
        schema = step(objects(schema, root)[0], root, name)
    return schema, root


def keys(schema: Any) -> frozenset[str]:
    return frozenset(schema["properties"])


def needed(schema: Any) -> set[str]:
    return set(schema.get("required", []))


def tables() -> list[Any]:
    """Every marked table of both pages: kind, path, rows of cells."""
    found = []
    for page in (NORM, WORK):
        for kind, path, text in TABLE.findall(page.read_text()):
            rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines()]
            found.append(pytest.param(kind, path, rows, id=f"{kind} {path}"))
    return found


TABLES = tables()


def named(kind: str) -> list[tuple[str, list[list[str]]]]:
    return [(str(one.values[1]), one.values[2]) for one in TABLES if one.values[0] == kind]


@pytest.mark.parametrize(("kind", "path", "rows"), TABLES)
def test_table_has_the_keys_or_words_of_the_schema(kind: str, path: str, rows: list[list[str]]):
    schema, root = resolve(path)
    cells = [re.findall(r"`([^`]*)`", row[0]) for row in rows]
    found = [word for words in cells for word in words]
    assert len(found) == len(set(found))
    if kind == "words":
        assert set(found) == words(schema, root)
        return
    chosen = objects(schema, root)[0]
    assert set(found) == keys(chosen)
    assert {key for key, row in zip(found, rows, strict=True) if row[2] == "required"} == needed(chosen)


def walk(schema: Any, root: Any, seen: set[int]) -> Iterator[Any]:
    """Every object with keys in a schema, each once."""
    for one in objects(schema, root):
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            for value in one["properties"].values():
                yield from walk(value, root, seen)


def inline() -> set[frozenset[str]]:
    """Keys of objects that the pages write out, such as `{"from": PART, "to": PART}`."""
    text = NORM.read_text() + WORK.read_text()
    plain = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    spans = [span for span in re.findall(r"`([^`]*)`", plain) if '{"' in span]
    bare = [re.sub(r':\s*"\w*"', ":", span) for span in spans]
    return {frozenset(re.findall(r'"(\w+)"(?=[:,}])', span)) for span in bare}


@pytest.mark.parametrize("kind", SCHEMAS)
def test_pages_have_every_object_of_the_schema(kind: str):
    root = SCHEMAS[kind]
    tabled = {keys(objects(*resolve(path))[0]) for path, _ in named("keys")}
    work = next(rows for path, rows in named("keys") if path == "graph/passes:name")
    steps = {frozenset({row[0].strip("`")}) for row in work}  # "steps" holds what a pass has as keys
    known = tabled | inline() | steps | {frozenset({"op"})}  # "end_rendering" has nothing but its op
    assert [sorted(keys(one)) for one in walk(root, root, set()) if keys(one) not in known] == []


@pytest.mark.parametrize("kind", SCHEMAS)
def test_pages_have_every_word_of_the_schema(kind: str):
    root = SCHEMAS[kind]
    plan = SCHEMAS["plan"]
    (resource,) = objects(plan["properties"]["resources"]["items"], plan)
    formats = words(resource["properties"]["format"], plan)
    formats |= {f"VK_FORMAT_{word}" for word in formats}
    text = "".join(page.read_text() for page in (NORM, WORK, CONVENTIONS))
    known = set(re.findall(r"`\"?([\w-]+)\"?`", text))
    values = [value for one in walk(root, root, set()) for value in one["properties"].values()]
    found = {word for value in values for word in words(value, root)}
    assert found - formats - known == set()


def test_defaults_of_profiles_are_the_codes_own():
    profile = rg.Profile.from_dict(
        {"rprofile": 1, "queues": [{"name": "q", "family": 0, "capabilities": ["graphics", "compute", "transfer"]}]}
    ).to_dict()
    of = dict(named("keys"))

    def defaults(path: str) -> dict[str, str]:
        return {row[0].strip("`"): row[2] for row in of[path]}

    bytes_ = ("buffer_image_granularity", "image_alignment", "buffer_alignment")
    for key in (*bytes_, "cross_queue_us", "barrier_us", "submit_us", "pass_us", "width"):
        assert float(defaults("profile")[key]) == profile[key]
    assert {key: int(value) for key, value in defaults("profile/limits").items()} == profile["limits"]
    assert profile["name"] == defaults("profile")["name"].strip("`")
    assert profile["memory"] == [{"type": "device"}]
    assert profile["queues"][0]["count"] == int(defaults("profile/queues")["count"])


def test_reference_size_and_queues_have_the_defaults_of_the_page():
    of = dict(named("keys"))
    row = next(row for row in of["graph"] if row[0] == "`reference_size`")
    graph = rg.Graph.from_dict({"rgraph": 1, "passes": [{"name": "p"}]}).to_dict()
    assert graph["reference_size"] == json.loads(row[2].strip("`"))
    assert graph["passes"][0]["queue"] == "graphics"
