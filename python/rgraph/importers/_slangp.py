"""Presets of libretro's shaders as graphs that run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rgraph._core import Graph
from rgraph._errors import RgError
from rgraph.importers._chain import Chain, reflected, stem
from rgraph.importers._imported import Imported
from rgraph.importers._lookup import lookup, unread
from rgraph.importers._meaning import Names
from rgraph.importers._mistake import Place, refuse
from rgraph.importers._preset import Preset, read_preset
from rgraph.importers._read import Reader
from rgraph.importers._slang import Parameter, Slang, read_slang

if TYPE_CHECKING:
    from rgraph import ShaderReflection

__all__ = ["slangp"]

_LARGEST = 16384


def _size(name: str, given: Sequence[int]) -> tuple[int, int]:
    values = tuple(given) if isinstance(given, Sequence) else ()
    if len(values) != 2 or not all(isinstance(one, int) and 1 <= one <= _LARGEST for one in values):
        refuse(f"{name} is {given!r}", f"give (width, height), 1 to {_LARGEST} texels each", None, "RG-E205")
    return values[0], values[1]


def _near(name: str, known: Iterable[str]) -> str:
    """The known name that is nearest, or nothing."""
    near = get_close_matches(name, known, 1)
    return near[0] if near else ""


def _outside(one: Parameter) -> str:
    """What is odd about the value of a parameter, or nothing. Menus' headings have no range."""
    inside = one.minimum <= one.value <= one.maximum or one.minimum == one.maximum
    return "" if inside else f"is {one.value:g}, outside of {one.minimum:g} to {one.maximum:g}"


def _given(preset: Path, name: str, value: object, known: dict[str, Parameter], declared: dict[str, Place]) -> float:
    """A parameter's value as the caller gives it."""
    if name not in known:
        near = _near(name, known)
        help = f"did you mean {near}?" if near else "look into `imported.parameters`"
        refuse(f'the preset has no parameter "{name}"', help, str(preset), "RG-E202")
    try:
        number = float(value) if not isinstance(value, bool) else math.nan  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        one = known[name]
        help = f"give a number; {declared[name]} says {one.minimum:g} to {one.maximum:g}"
        refuse(f'the parameter "{name}" is {value!r}', help, str(preset), "RG-E213")
    return number


def _parameters(
    file: Path, preset: Preset, slangs: list[Slang], given: Mapping[str, float], notes: list[str]
) -> dict[str, Parameter]:
    """All parameters: the shaders' own values, those of the preset, those of the caller."""
    out: dict[str, Parameter] = {}
    declared: dict[str, Place] = {}
    for slang in slangs:
        out |= slang.parameters
        declared |= slang.declared
    for name, (value, place) in preset.parameters.items():
        if name in out:
            out[name] = out[name]._replace(value=value)
            if odd := _outside(out[name]):
                notes.append(f"{place}: the parameter {name} {odd} ({declared[name]})")
        else:
            near = _near(name, out)
            notes.append(f"{place}: no shader has the parameter {name}" + (f"; did you mean {near}?" if near else ""))
    for name, line in preset.unknown.items():
        fault = f'the parameter {name} is "{line.value}", not a number: the shader\'s own is taken'
        notes.append(f"{line.place}: {fault if name in out else f'the key {name} is not known'}")
    for name, value in given.items():
        number = _given(file, name, value, out, declared)
        out[name] = out[name]._replace(value=number)
        if odd := _outside(out[name]):
            notes.append(f"{file}: the parameter {name} {odd} ({declared[name]})")
    return out


def slangp(
    path: str | PathLike[str],
    *,
    size: Sequence[int] = (320, 240),
    viewport: Sequence[int] | None = None,
    parameters: Mapping[str, float] | None = None,
    player: Literal["librashader", "retroarch"] = "librashader",
    root: str | PathLike[str] | None = None,
) -> Imported:
    """Import a preset of libretro's shaders (`.slangp`).

    The graph has an imported image `Original`, an image per pass, and the root `output`. Histories, feedback, lookup
    textures and mips are those that the shaders ask for. Sizes are fixed when the preset is imported.

    Parameters
    ----------
    path
        The preset.
    size
        (width, height) of the input in texels.
    viewport
        (width, height) of the output in texels; default: that of the input.
    parameters
        Values of parameters, instead of those of the preset and of its shaders.
    player
        Whom to follow where players differ. `"librashader"`: the last pass always draws to the output, and an output
        of an earlier pass is sampled with that pass's filter. `"retroarch"`: a last pass with a size draws to an image
        of that size, which is then drawn to the output; an output of pass N is sampled with the filter of pass N + 1; a
        scale without a type is ignored. The manual has a table of all differences.
    root
        A folder that no file may be outside of. Default: names with `..` may lead outside of the preset's folder, to
        files with the usual suffixes of shaders and pictures.

    Returns
    -------
    Imported
        The graph, notes about everything that was not imported, and the parameters.

    Raises
    ------
    GraphError
        RG-E222 with file and line if a file is malformed, missing or not to be read; RG-E202 if a shader names a
        texture, or `parameters` a parameter, that does not exist; RG-E213 if one of `parameters` is no finite number.
    ShaderError
        If a shader does not compile, with the line of its file.

    References
    ----------
    libretro, "Vulkan GLSL RetroArch shader system".
    """
    input_size = _size("size", size)
    output_size = input_size if viewport is None else _size("viewport", viewport)
    if player not in ("librashader", "retroarch"):
        refuse(f"there is no player {player!r}", "use librashader or retroarch", None, "RG-E202")
    reader = Reader(Path(path), None if root is None else Path(root))
    try:
        return _imported(Path(path), reader, input_size, output_size, parameters or {}, player == "retroarch")
    except RgError as error:
        error.files = list(reader.files)
        raise


def _asked(found: list[ShaderReflection]) -> set[str]:
    """Names of textures and uniforms that the shaders use."""
    names = {one.name for shader in found for one in shader.bindings}
    blocks = [one.members for shader in found for one in shader.bindings]
    blocks += [shader.push.members for shader in found if shader.push]
    return names | {member.name for block in blocks for member in block}


def _imported(
    file: Path,
    reader: Reader,
    input_size: tuple[int, int],
    output_size: tuple[int, int],
    given: Mapping[str, float],
    retroarch: bool,
) -> Imported:
    preset = read_preset(file, reader, retroarch)
    if retroarch:
        preset.passes = [one if one.scaled else one.unscaled() for one in preset.passes]
    notes = list(preset.notes)
    slangs = [read_slang(one.shader, reader, one.place, notes) for one in preset.passes]
    pairs = [reflected(slang, one.place) for slang, one in zip(slangs, preset.passes, strict=True)]
    slangs, found = [slang for slang, _ in pairs], [one for _, one in pairs]
    known = _parameters(file, preset, slangs, given, notes)
    asked = _asked(found)
    # A texture that is named again is the later one; the earlier one has its number alone.
    last = {one.name: at for at, one in enumerate(preset.textures)}
    lookups = []
    for at, one in enumerate(preset.textures):
        own = {one.name, f"{one.name}Size"} if last[one.name] == at else set()
        lookups.append(lookup(one, reader) if asked & (own | {f"User{at}", f"UserSize{at}"}) else unread(one))
    absent = [one for at, one in enumerate(preset.textures) if not lookups[at].texels and last[one.name] == at]
    notes += [f'{one.place}: no shader asks for the texture "{one.name}": it was not read' for one in absent]
    named = zip(preset.passes, slangs, strict=True)
    aliases = [[name for name in (one.alias, slang.name) if name] for one, slang in named]
    names = Names(aliases, [one.name for one in preset.textures], {one.name: one.value for one in known.values()})
    graph = Graph(stem(file), size=output_size)
    chain = Chain(graph, preset, slangs, found, names, lookups, input_size, output_size, retroarch)
    chain.declare()
    notes += chain.notes
    return Imported(
        graph, tuple(dict.fromkeys(notes)), tuple(reader.files), known, "Original", "output", tuple(chain.data)
    )
