"""Shaders of libretro (`.slang`): one file with both stages, and pragmas.

Source: the sections "Initial preprocess of slang files" and "#pragma …" of libretro's slang shader specification.
Includes come before the preprocessor, so those of branches that are off, and of comments, are read too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from rgraph._core import Format
from rgraph.importers._mistake import Place, refuse

if TYPE_CHECKING:
    from pathlib import Path

    from rgraph.importers._read import Reader

__all__ = ["FORMATS", "Parameter", "Slang", "read_slang"]

#: Formats of render targets: libretro has Vulkan's names of these.
FORMATS = frozenset(
    """
    R8_UNORM R8_UINT R8_SINT R8G8_UNORM R8G8_UINT R8G8_SINT
    R8G8B8A8_UNORM R8G8B8A8_UINT R8G8B8A8_SINT R8G8B8A8_SRGB A2B10G10R10_UNORM_PACK32 A2B10G10R10_UINT_PACK32
    R16_UINT R16_SINT R16_SFLOAT R16G16_UINT R16G16_SINT R16G16_SFLOAT
    R16G16B16A16_UINT R16G16B16A16_SINT R16G16B16A16_SFLOAT R32_UINT R32_SINT R32_SFLOAT
    R32G32_UINT R32G32_SINT R32G32_SFLOAT R32G32B32A32_UINT R32G32B32A32_SINT R32G32B32A32_SFLOAT
    """.split()  # noqa: SIM905
)
# Words by which shaders ask whether a player knows newer uniforms.
_DEFINES = ("_HAS_ORIGINALASPECT_UNIFORMS", "_HAS_FRAMETIME_UNIFORMS")
_MOST_DEPTH = 64
_MOST_TEXT = 1 << 20
_NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
# Spaces stand between them, and nothing else: players take "1.0f" for no number.
_NUMBERS = re.compile(rf"\s+{_NUMBER}\s+{_NUMBER}\s+{_NUMBER}\s*{_NUMBER}?")
_PARAMETER = re.compile(r'#pragma parameter\s+(\S+)\s+"([^"]*)"(.*)')


class Parameter(NamedTuple):
    """A number of a preset's that the user may change."""

    name: str
    """Its name in the shaders."""
    description: str
    """For people."""
    value: float
    """The value that it has."""
    initial: float
    """The shader's own."""
    minimum: float
    """The least that makes sense."""
    maximum: float
    """The most that makes sense."""
    step: float
    """From one value to the next."""


class Slang(NamedTuple):
    """A shader."""

    vertex: str
    fragment: str
    lines: dict[str, list[Place]]
    """By stage: where each line of its text comes from."""
    name: str
    """What `#pragma name` says, or empty."""
    format: str | None
    """The format of its target; None: `rgba8unorm`."""
    parameters: dict[str, Parameter]
    declared: dict[str, Place]
    """The line of each parameter."""


def _included(line: str, optional: bool) -> str:
    """The name between quotes or angle brackets."""
    rest = line.strip().removeprefix("#pragma include_optional" if optional else "#include").strip()
    quoted = re.match(r'["<]([^">]*)[">]?', rest)
    return quoted[1] if quoted else rest.partition("//")[0].strip()


def _expand(
    path: Path, reader: Reader, place: Place, out: list[tuple[str, Place]], depth: int, size: list[int]
) -> None:
    """Append the lines of a file, with those that it includes in their place."""
    if depth > _MOST_DEPTH:
        refuse(f"files include each other deeper than {_MOST_DEPTH}", "remove an #include of the circle", place)
    text = reader.text(path, place)
    blank = text[: len(text) - len(text.lstrip())].count("\n")
    for number, line in enumerate(text.strip().split("\n"), blank + 1):
        here, bare = Place(str(path), number), line.lstrip()
        optional = bare.startswith("#pragma include_optional")
        if optional or bare.startswith(("#include ", '#include"', "#include\t", "#include<")):
            name = _included(bare, optional)
            file = reader.beside(str(path), name, here)
            if not optional or reader.exists(file):
                _expand(file, reader, here, out, depth + 1, size)
            continue
        size[0] += len(line) + 1
        if size[0] > _MOST_TEXT:
            refuse(f"the shader and its includes have more than {_MOST_TEXT} characters", "include less", here)
        out.append((line, here))


def _parameter(line: str, place: Place, notes: list[str]) -> Parameter | None:
    found = _PARAMETER.match(line)
    if not found:
        notes.append(f'{place}: #pragma parameter without NAME "DESCRIPTION" NUMBERS')
        return None
    numbers = _NUMBERS.match(found[3])
    if not numbers:
        # Collections have headings for menus this way.
        if found[3].strip():
            words = f'has the values "{found[3].strip()}", not INITIAL MINIMUM MAXIMUM STEP'
            notes.append(f"{place}: the parameter {found[1]} {words}: taken as 0")
        return Parameter(found[1], found[2].strip(), 0.0, 0.0, 0.0, 0.0, 0.0)
    initial, least, most = (float(numbers[at]) for at in (1, 2, 3))
    step = 0.02 if numbers[4] is None else float(numbers[4])
    return Parameter(found[1], found[2].strip(), initial, initial, least, most, step)


def read_slang(path: Path, reader: Reader, place: Place, notes: list[str]) -> Slang:
    """Read a shader and split it into its stages.

    Parameters
    ----------
    path
        The shader.
    reader
        Opens files.
    place
        The line that names it.
    notes
        Gets lines that were not understood.

    Raises
    ------
    GraphError
        RG-E222 with file and line if it is malformed.
    """
    lines: list[tuple[str, Place]] = []
    _expand(path, reader, place, lines, 0, [0])
    version, first = lines[0] if lines else ("", Place(str(path), 1))
    if not version.startswith("#version"):
        refuse("the first line is no #version", "begin with `#version 450`", first)
    stages: dict[str, list[tuple[str, Place]]] = {}
    for stage in ("vertex", "fragment"):
        head = [version, f"#pragma shader_stage({stage})", *(f"#define {word}" for word in _DEFINES)]
        stages[stage] = [(line, first) for line in head]
    name, form = "", None
    active: tuple[str, ...] = ("vertex", "fragment")
    parameters: dict[str, Parameter] = {}
    declared: dict[str, Place] = {}
    for line, here in lines[1:]:
        words = line.split() if line.startswith("#pragma ") else []
        kind = words[1] if len(words) > 1 else ""
        if kind == "stage":
            if len(words) < 3 or words[2] not in stages:
                refuse(f'unknown stage "{" ".join(words[2:])}"', "use vertex or fragment", here)
            active = (words[2],)
        elif kind == "name":
            name = name or " ".join(words[2:])
        elif kind == "format":
            word = words[2] if len(words) > 2 else ""
            if word not in FORMATS:
                refuse(f'unknown format "{word}"', "use one of libretro's, such as R8G8B8A8_UNORM", here)
            form = form or Format(word).name
        elif kind == "parameter":
            if one := _parameter(line, here, notes):
                parameters.setdefault(one.name, one)
                declared.setdefault(one.name, here)
        else:
            for stage in active:
                stages[stage].append((line, here))
    vertex, fragment = ("\n".join(line for line, _ in stages[stage]) + "\n" for stage in ("vertex", "fragment"))
    places = {stage: [here for _, here in stages[stage]] for stage in stages}
    return Slang(vertex, fragment, places, name, form, parameters, declared)
