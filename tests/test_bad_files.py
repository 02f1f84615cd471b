"""Files that are not what they should be: one message with path and line, soon, and never half an output."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

import rgraph

READERS: list[Callable[[Path], object]] = [rgraph.Graph.load, rgraph.Profile.load, rgraph.Plan.load]

BAD = {
    "empty": b"",
    "not json": b"{]",
    "a number": b"3",
    "a list": b"[]",
    "no version": b"{}",
    "another version": b'{"rgraph": 2, "rprofile": 2, "rplan": 2}',
    "a version that is text": b'{"rgraph": "1", "rprofile": "1", "rplan": "1"}',
    "unknown key": b'{"rgraph": 1, "rprofile": 1, "rplan": 1, "passses": []}',
    "wrong type": b'{"rgraph": 1, "rprofile": 1, "rplan": 1, "passes": 3, "queues": 3}',
    "invalid utf-8": b'{"rgraph": 1, "name": "\xff\xfe"}',
    "half a surrogate": b'{"rgraph": 1, "name": "\\ud800"}',
    "nul bytes": b"\x00" * 64,
    "deep nesting": b'{"rgraph": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep objects": b'{"a":' * 100_000,
    "huge number": b'{"rgraph": 1' + b"0" * 10_000 + b"}",
    "name of a megabyte": b'{"rgraph": 1, "passes": [{"name": "' + b"x" * 1_000_000 + b'", "queue": 3}]}',
    "key of a megabyte": b'{"' + b"k" * 1_000_000 + b'": 1}',
}


@pytest.mark.parametrize("read", READERS, ids=["graph", "profile", "plan"])
@pytest.mark.parametrize("name", BAD)
def test_bad_file_is_one_message_with_its_path(read: Callable[[Path], object], name: str, tmp_path: Path):
    path = tmp_path / "bad.json"
    path.write_bytes(BAD[name])
    with pytest.raises(rgraph.GraphError) as caught:
        read(path)
    message = str(caught.value)
    assert "bad.json" in message
    assert len(message) < 20_000
    # A bad file; or a number or a name in it that cannot be.
    assert caught.value.code in ("RG-E222", "RG-E213", "RG-E219")


@pytest.mark.parametrize("read", READERS, ids=["graph", "profile", "plan"])
def test_hundred_megabytes_of_brackets_are_refused_soon(read: Callable[[Path], object], tmp_path: Path):
    path = tmp_path / "brackets.json"
    path.write_bytes(b"[" * 100_000_000)
    start = time.process_time()
    with pytest.raises(rgraph.GraphError, match=r"brackets\.json"):
        read(path)
    # A bound on the CPU time of runaway work, not a measurement: reading the bytes takes a tenth of it.
    assert time.process_time() - start < 10


def test_unknown_key_is_named_with_its_path_line_and_the_nearest_known_one():
    text = '{"rgraph": 1, "images": {"a": {\n"fromat": "rgba8unorm"}}, "passes": []}'
    with pytest.raises(rgraph.GraphError) as caught:
        rgraph.Graph.from_json(text)
    message = str(caught.value)
    assert "text:2" in message
    assert "images" in message
    assert "format" in message


def test_missing_file_is_an_os_error_that_names_it(tmp_path: Path):
    for read in READERS:
        with pytest.raises(FileNotFoundError, match="nowhere") as caught:
            read(tmp_path / "nowhere.json")
        assert str(caught.value.filename).endswith("nowhere.json")


def test_folder_is_no_file(tmp_path: Path):
    for read in READERS:
        with pytest.raises(rgraph.RgError, match="is a folder, not a file"):
            read(tmp_path)


def test_plan_with_ids_that_point_nowhere_is_refused_or_checked_but_never_walked_blindly():
    g = rgraph.Graph()
    image = g.image("image", format="rgba8unorm")
    g.add_pass("p").color(image)
    g.root(image)
    text = g.bake().to_json()
    for old, new in (('"resource": 0', '"resource": 99'), ('"pass": 0', '"pass": 7'), ('"queue": 0', '"queue": 5')):
        assert old in text
        try:
            plan = rgraph.Plan.from_json(text.replace(old, new))
        except rgraph.GraphError:
            continue
        assert plan.check(g)
        assert str(plan)
