"""Presets of libretro (`.slangp`): which shaders, how large, how filtered.

Source: the section "Preset format" of libretro's slang shader specification, and the presets of its collection, which
are laxer: quotes that never close, `;` at the end of numbers, textures and parameters that no list declares.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rgraph.importers._mistake import Place, refuse

if TYPE_CHECKING:
    from rgraph.importers._read import Reader

__all__ = ["PassSettings", "Preset", "Scale", "Texture", "read_preset"]

# Keys of passes: one of a pass that the preset does not have is left as it is.
_OF_PASSES = re.compile(
    r"(shader|alias|filter_linear|scale|scale_x|scale_y|scale_type|scale_type_x|scale_type_y|srgb_framebuffer|"
    r"float_framebuffer|mipmap_input|mipmap|frame_count_mod|wrap_mode|repeat_mode|texture_wrap_mode)\d+"
)
_OF_PRESETS = ("textures", "parameters", "shaders", "feedback_pass")
_MOST_PASSES = 256
_MOST_DEPTH = 16
_MOST_LINES = 1 << 16
_SCALES = ("source", "viewport", "absolute", "original")
_WRAPS = {"clamp_to_border": "border", "clamp_to_edge": "clamp", "repeat": "repeat", "mirrored_repeat": "mirror"}
_WILDCARDS = {
    "VID-DRV": "vulkan",
    "VID-DRV-SHADER-EXT": "slang",
    "VID-DRV-PRESET-EXT": "slangp",
    "CORE-REQ-ROT": "CORE-REQ-ROT-0",
    "VID-USER-ROT": "VID-USER-ROT-0",
    "VID-FINAL-ROT": "VID-FINAL-ROT-0",
    "SCREEN-ORIENT": "SCREEN-ORIENT-0",
    "VID-ALLOW-CORE-ROT": "VID-ALLOW-CORE-ROT-OFF",
    "VIEW-ASPECT-ORIENT": "VIEW-ASPECT-ORIENT-HORZ",
    "CORE-ASPECT-ORIENT": "CORE-ASPECT-ORIENT-HORZ",
}


class Entry(NamedTuple):
    """A line `key = value`."""

    key: str
    value: str
    place: Place


class Scale(NamedTuple):
    """Size of a target along an axis."""

    kind: str
    """`source`, `viewport`, `absolute` or `original`."""
    factor: float
    """Times that size; of `absolute`, texels."""


@dataclass(frozen=True)
class PassSettings:
    """A pass of a preset."""

    shader: Path
    place: Place
    alias: str = ""
    linear: bool = False
    wrap: str = "border"
    frame_count_mod: int = 0
    srgb: bool = False
    float: bool = False
    mipmap_input: bool = False
    scale: tuple[Scale, Scale] = (Scale("source", 1.0), Scale("source", 1.0))
    scaled: bool = False
    """Whether the preset has a scale type for it."""

    def unscaled(self) -> PassSettings:
        """The same at the size of its source."""
        return replace(self, scale=(Scale("source", 1.0), Scale("source", 1.0)))


@dataclass(frozen=True)
class Texture:
    """A lookup texture."""

    name: str
    path: Path
    place: Place
    linear: bool = True
    wrap: str = "border"
    mipmap: bool = False


@dataclass
class Preset:
    """A preset with all that it refers to."""

    passes: list[PassSettings] = field(default_factory=list)
    textures: list[Texture] = field(default_factory=list)
    parameters: dict[str, tuple[float, Place]] = field(default_factory=dict)
    unknown: dict[str, Entry] = field(default_factory=dict)
    """Lines whose key means nothing, unless it is a parameter's."""
    notes: list[str] = field(default_factory=list)


def _value(text: str) -> str:
    """A value without quotes and comments."""
    text = text.strip()
    if text.startswith('"'):
        return text[1:].partition('"')[0]
    return re.split(r"//|#", text, maxsplit=1)[0].strip().strip('"')


def _entries(text: str, file: str, notes: list[str]) -> tuple[list[Entry], list[Entry]]:
    """The lines `key = value` of a preset, and its references."""
    # Comments of several lines keep their line ends, so that lines keep their numbers.
    text = re.sub(r"/\*.*?\*/", lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL)
    entries, references = [], []
    for number, line in enumerate(text.split("\n"), 1):
        line, place = line.strip(), Place(file, number)
        if line.startswith("#reference"):
            references.append(Entry("#reference", _value(line.removeprefix("#reference")), place))
        elif line and not line.startswith(("#", "//")):
            key, equals, value = line.partition("=")
            if equals:
                entries.append(Entry(key.strip(), _value(value), place))
            else:
                notes.append(f"{place}: the line is no KEY = VALUE")
    return entries, references


def _wildcards(path: Path, preset: Path) -> Path:
    """Names between `$` replaced, if a file of that name exists: others stay as they are."""
    if "$" not in str(path):
        return path
    words = {**_WILDCARDS, "PRESET": preset.stem, "PRESET_DIR": preset.resolve().parent.name}
    new = Path(re.sub(r"\$([A-Z_-]+)\$", lambda found: words.get(found[1], found[0]), str(path)))
    return new if new.exists() else path


class _File(NamedTuple):
    """A preset, and what it refers to."""

    entries: list[Entry]
    references: list[_File]


def _read(path: Path, reader: Reader, preset: Preset, place: Place | None, within: tuple[Path, ...]) -> _File:
    """Read a preset and those that it refers to."""
    if path in within:
        refuse("the preset refers to itself", "remove one #reference of the circle", place, "RG-E204")
    if len(within) > _MOST_DEPTH:
        refuse(f"references nest deeper than {_MOST_DEPTH}", "refer to fewer presets", place)
    entries, references = _entries(reader.text(path, place), str(path), preset.notes)
    files: list[_File] = []
    for one in references:
        named = _wildcards(reader.beside(str(path), one.value, one.place), path)
        files.append(_read(named, reader, preset, one.place, (*within, path)))
        if sum(map(_lines, files)) > _MOST_LINES:
            refuse("the preset and what it refers to have too many lines", "refer to fewer presets", one.place)
    return _File(entries, files)


def _lines(file: _File) -> int:
    return len(file.entries) + sum(map(_lines, file.references))


def _in_order(file: _File, retroarch: bool) -> list[Entry]:
    """All lines: the first of a pass counts, the last of a parameter; the preset's own come last.

    Of several references RetroArch takes the passes of the first and the parameters of the last, librashader the other
    way round.
    """
    if retroarch:
        return [line for one in file.references for line in _in_order(one, True)] + file.entries
    visited: list[_File] = []

    def visit(one: _File) -> None:
        visited.extend(one.references)
        for reference in reversed(one.references):
            visit(reference)

    visit(file)
    return [line for one in (*reversed(visited), file) for line in one.entries]


class _Lines:
    """Lines by key: the first of a pass, the last of parameters and textures.

    A preset that refers to another one changes its parameters and textures only.
    """

    def __init__(self, entries: list[Entry], notes: list[str]) -> None:
        self.first: dict[str, Entry] = {}
        self.last: dict[str, Entry] = {}
        self.notes = notes
        for one in entries:
            self.first.setdefault(one.key, one)
            self.last[one.key] = one
        self._left = list(entries)
        self.used: set[str] = set()

    def get(self, key: str) -> Entry | None:
        """The line of a key of a pass."""
        self.used.add(key)
        return self.first.get(key)

    def text(self, *keys: str) -> str:
        """The value of the first key that is there."""
        found = [one for key in keys if (one := self.get(key))]
        return found[0].value if found else ""

    def number(self, key: str) -> float | None:
        """A number."""
        one = self.get(key)
        if one is None:
            return None
        value = _number(one.value)
        if value is None:
            refuse(f'{key} is "{one.value}"', "give a number", one.place)
        return value

    def take(self, *keys: str) -> Entry | None:
        """The foremost line with one of the keys that none has taken yet."""
        self.used.update(keys)
        found = next((at for at, one in enumerate(self._left) if one.key in keys), None)
        return None if found is None else self._left.pop(found)

    def flag(self, one: Entry | None, default: bool = False) -> bool:
        """`true`, `false`, 1 or 0."""
        word = one.value.strip().rstrip(";").lower() if one else ""
        if one is None or word in ("true", "1"):
            return default if one is None else True
        if word not in ("false", "0"):
            self.notes.append(f'{one.place}: {one.key} is "{one.value}", neither true nor false: taken as {default}')
            return default
        return False

    def wrap(self, one: Entry | None) -> str:
        """A mode of addressing, as samplers have it."""
        if one is not None and one.value not in _WRAPS:
            self.notes.append(f'{one.place}: unknown {one.key} "{one.value}": taken as clamp_to_border')
        return "border" if one is None else _WRAPS.get(one.value, "border")


def _number(text: str) -> float | None:
    try:
        value = float(text.strip().rstrip(";").rstrip("f"))
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None


def _scale(lines: _Lines, at: int, axis: str) -> Scale:
    kinds = []
    for key in (f"scale_type{at}", f"scale_type_{axis}{at}"):
        one = lines.get(key)
        kinds.append("" if one is None else one.value.strip().rstrip(";"))
        if one is not None and kinds[-1] not in _SCALES:
            refuse(f'{key} is "{one.value}"', f"use one of {', '.join(_SCALES)}", one.place)
    both, own = lines.number(f"scale{at}"), lines.number(f"scale_{axis}{at}")
    # Numbers of texels are whole where their type requires it.
    whole = "absolute" in (kinds if both is None else kinds[:1])
    factor = both if both is not None else 1.0 if own is None else own
    return Scale(kinds[0] or kinds[1] or "source", float(int(factor)) if whole else factor)


def _pass(lines: _Lines, at: int, reader: Reader, preset: Path) -> PassSettings:
    one = lines.get(f"shader{at}")
    if one is None:
        refuse(f"there is no shader{at}", f"add it, or lower `shaders` to {at}", str(preset))
    path = _wildcards(reader.beside(one.place.file, one.value, one.place), preset)
    if not reader.exists(path):
        reader.text(path, one.place)
    modulus = lines.number(f"frame_count_mod{at}") or 0
    types = (f"scale_type{at}", f"scale_type_x{at}", f"scale_type_y{at}")
    return PassSettings(
        path,
        one.place,
        lines.text(f"alias{at}").strip(),
        lines.flag(lines.get(f"filter_linear{at}")),
        lines.wrap(lines.take(f"wrap_mode{at}", f"repeat_mode{at}", f"texture_wrap_mode{at}")),
        max(int(modulus), 0),
        lines.flag(lines.get(f"srgb_framebuffer{at}")),
        lines.flag(lines.get(f"float_framebuffer{at}")),
        lines.flag(lines.take(f"mipmap_input{at}", f"mipmap{at}")),
        (_scale(lines, at, "x"), _scale(lines, at, "y")),
        any(key in lines.first for key in types),
    )


def _texture(lines: _Lines, one: Entry, reader: Reader, preset: Path) -> Texture:
    """A texture with the settings that no texture of its name before it has taken."""
    name = one.key
    lines.used.add(name)
    path = _wildcards(reader.beside(one.place.file, one.value, one.place), preset)
    linear = lines.flag(lines.take(f"{name}_linear"), True)
    if filter_ := lines.take(f"filter_{name}"):
        linear = filter_.value == "linear"
    wrap = lines.wrap(lines.take(f"{name}_wrap_mode", f"{name}_repeat_mode"))
    return Texture(name, path, one.place, linear, wrap, lines.flag(lines.take(f"{name}_mipmap")))


def _textures(lines: _Lines, entries: list[Entry], reader: Reader, path: Path, retroarch: bool) -> list[Texture]:
    """Textures that a list names.

    librashader counts them line by line, and one that is named again is another one with settings of its own. RetroArch
    counts them as the list does, and names another file for the texture that is there.
    """
    names = _names(entries, "textures")
    if not retroarch:
        return [_texture(lines, one, reader, path) for one in entries if one.key in names]
    return [_texture(lines, lines.last[name], reader, path) for name in names if name in lines.last]


def _names(entries: list[Entry], key: str) -> list[str]:
    """What lists such as `textures = "A;B"` name, each once."""
    words = [word.strip() for one in entries if one.key == key for word in one.value.split(";")]
    return list(dict.fromkeys(word for word in words if word))


def _rest(lines: _Lines, preset: Preset, reader: Reader, path: Path) -> None:
    """Lines of no pass: parameters, then textures that no list declares."""
    for key, one in lines.last.items():
        if key in lines.used or key in _OF_PRESETS or _OF_PASSES.fullmatch(key):
            continue
        value = _number(one.value)
        if value is not None:
            preset.parameters[key] = (value, one.place)
        elif Path(one.value).suffix and not key.endswith(("_mipmap", "_linear", "_wrap_mode", "_repeat_mode")):
            preset.textures.append(_texture(lines, one, reader, path))
    for key, one in lines.last.items():
        if key == "feedback_pass":
            preset.notes.append(f"{one.place}: feedback_pass is of older formats: passes name PassFeedback here")
        elif key not in (*lines.used, *preset.parameters, *_OF_PRESETS) and not _OF_PASSES.fullmatch(key):
            preset.unknown[key] = one


def read_preset(path: Path, reader: Reader, retroarch: bool) -> Preset:
    """Read a preset and what it refers to.

    Parameters
    ----------
    path
        The preset.
    reader
        Opens files.
    retroarch
        Whether to read it as RetroArch does where players differ.

    Raises
    ------
    GraphError
        RG-E222 with file and line if it is malformed; RG-E204 if it refers to itself.
    """
    preset = Preset()
    entries = _in_order(_read(path, reader, preset, None, ()), retroarch)
    lines = _Lines(entries, preset.notes)
    count = lines.number("shaders")
    if count is None:
        refuse("the preset has no passes", "add `shaders = 1` and `shader0 = NAME.slang`", str(path))
    if not 1 <= count <= _MOST_PASSES:
        refuse(f"shaders is {count:g}", f"give 1 to {_MOST_PASSES}", lines.first["shaders"].place)
    preset.passes = [_pass(lines, at, reader, path) for at in range(int(count))]
    preset.textures = _textures(lines, entries, reader, path, retroarch)
    absent = [name for name in _names(entries, "textures") if name not in lines.last]
    preset.notes += [f'{path}: the texture "{name}" has no file' for name in absent]
    for name in _names(entries, "parameters"):
        if name not in lines.last:
            line = next(one.place for one in entries if one.key == "parameters" and name in one.value)
            preset.notes.append(f"{line}: the parameter {name} has no value: the shader's own is taken")
        else:
            one = lines.last[name]
            lines.used.add(name)
            value = _number(one.value)
            if value is None:
                preset.notes.append(f'{one.place}: the parameter {name} is "{one.value}": taken as 0')
            preset.parameters[name] = (value or 0.0, one.place)
    _rest(lines, preset, reader, path)
    return preset
