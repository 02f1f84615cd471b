"""Every error code is on the page of codes, is raised by a test, and says what the page shows."""

import json
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

import error_page
import rgraph as rg
from rgraph import _core

ENTRIES = error_page.entries()
CODES = {code: (kind, means) for code, kind, means in _core.codes()}
PLANNED = [code for code, entry in ENTRIES.items() if entry.example and not entry.needs]
#: How the codes are raised whose examples need something; `tests/gpu` has those of devices.
ELSEWHERE = {
    "device": "tests/gpu/test_error_codes.py",
    "fork": "tests/gpu/test_error_codes.py",
    "no layer": "tests/gpu/test_error_codes.py",
    "by the tests alone": "tests/test_error_codes.py",
}


def test_every_code_is_on_the_page_and_nothing_else():
    assert list(ENTRIES) == list(CODES)


@pytest.mark.parametrize("code", CODES)
def test_the_page_says_what_a_code_means_shows_a_message_and_a_repair(code: str):
    entry, (_, means) = ENTRIES[code], CODES[code]
    assert entry.title == means.removesuffix(".")
    assert entry.anchor == code.lower()
    assert entry.says.startswith(code)
    assert entry.repair


@pytest.mark.parametrize("code", CODES)
def test_every_code_is_raised_by_a_test(code: str, root: Path):
    entry = ENTRIES[code]
    if code in PLANNED:
        return
    where = ELSEWHERE.get(entry.needs) or re.fullmatch(r"in Rust: (\S+?),.*", entry.needs)[1]
    text = (root / where).read_text()
    named = code in text or code.removeprefix("RG-E") in text
    assert named or (entry.needs == "device" and 'needs == "device"' in text)


@pytest.mark.parametrize("code", PLANNED)
def test_example_of_the_page_says_what_the_page_shows(code: str):
    entry = ENTRIES[code]
    error = error_page.raised(entry)
    assert (error.code, type(error).__name__) == (code, CODES[code][0])
    assert error_page.matches(entry.says, str(error))
    assert str(error).startswith(f"{code} ")
    assert error.docs == f"reference/errors.html#{entry.anchor}"
    if "\n  help: " in entry.says:
        assert f"help: {error.hint}" in entry.says
    else:
        assert error.hint == ""
    # Passes and resources that the message names are there as attributes.
    for kind, name in (("pass_name", error.pass_name), ("resource", error.resource)):
        assert name is None or f'"{name}"' in entry.says or name in entry.says, kind
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), vars(again)) == (str(error), vars(error))


def test_attributes_are_those_of_the_first_mistake():
    error = error_page.raised(ENTRIES["RG-E203"])
    assert isinstance(error, rg.GraphError)
    assert (error.pass_name, error.resource) == ("blur", "depth")
    assert error.hint.startswith('add a pass that writes "depth"')
    assert error.notes == ["blur  film.py:4  sampled", "depth  film.py:2  declared here, transient"]
    assert error.mistakes[0].code == error.code


def test_a_shader_error_has_its_place():
    error = error_page.raised(ENTRIES["RG-E301"])
    assert isinstance(error, rg.ShaderError)
    assert (error.pass_name, error.shader, error.line, error.column) == ("paint", "paint", 4, 30)
    assert error.notes == ['pass "paint"  film.py:7']


def test_a_fault_of_its_own_is_an_internal_error(capfd: pytest.CaptureFixture[str]):
    with pytest.raises(rg.InternalError) as caught:
        _core._panic("two passes at one place")
    assert caught.value.code == "RG-E901"
    assert str(caught.value) == ENTRIES["RG-E901"].says.replace("…", "two passes at one place")
    assert caught.value.hint == "report it with the graph that shows it"
    assert "two passes" in capfd.readouterr().err


def test_without_a_driver_the_error_says_how_to_get_one(tmp_path: Path):
    """Whatever drivers there are: the loader gets a manifest that is not there."""
    code = "import rgraph, json\n"
    code += "try:\n    rgraph.Device()\nexcept rgraph.DeviceError as error:\n"
    code += "    print(json.dumps([error.code, error.hint, error.notes]))"
    none = str(tmp_path / "none.json")
    environment = {"VK_DRIVER_FILES": none, "VK_ICD_FILENAMES": none, "PYTHONPATH": ":".join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    raised, hint, notes = json.loads(done.stdout)
    assert raised == "RG-E101"
    assert hint == (
        "`rgraph doctor` names what is missing; without a GPU: "
        "apt-get install -y --no-install-recommends mesa-vulkan-drivers"
    )
    assert notes[0].startswith("loader: ")


def test_codes_are_explained():
    for code in ("RG-E203", "rg-e203", "E203", "203"):
        text = rg.explain(code)
        assert text.startswith("## RG-E203: Read of a resource that no pass writes\n")
        assert text.rstrip().endswith("with `depth.previous()`.")
    assert "<!--" not in rg.explain("RG-E102")
    assert "(rg-e" not in "".join(map(rg.explain, CODES))
    with pytest.raises(ValueError, match="did you mean RG-E203"):
        rg.explain("RG-E2033")
    with pytest.raises(TypeError, match='a code is text, such as "RG-E203", not int'):
        rg.explain(203)  # type: ignore[arg-type]


def test_no_code_is_mentioned_that_does_not_exist(root: Path):
    for pattern in ("python/rgraph/**/*.py", "rust/*/src/**/*.rs", "docs/**/*.md", "*.md", "tests/**/*.py"):
        for path in root.glob(pattern):
            mentioned = set(re.findall(r"RG-E\d{3}\b", path.read_text(encoding="utf-8"))) - {"RG-E999"}
            assert mentioned <= set(CODES), path


def test_errors_are_what_python_programs_expect():
    assert issubclass(rg.BusyError, BufferError)
    assert issubclass(rg.BusyError, RuntimeError)
    assert issubclass(rg.DeviceError, RuntimeError)
    for kind in (rg.GraphError, rg.ShaderError, rg.PlanError):
        assert issubclass(kind, ValueError)
    assert issubclass(rg.NotReadyError, rg.BusyError)
    kinds = [kind for base in rg.RgError.__subclasses__() for kind in (base, *base.__subclasses__())]
    assert {kind for kind, _ in CODES.values()} == {kind.__name__ for kind in kinds}
