"""Stages that players link and Vulkan's rules do not: shaders are changed where they have to be, and only there.

Players compile the stages of a shader apart. So collections have fragment inputs that no vertex stage writes, varyings
with more or fewer components on one side, blocks that differ between the stages at one binding, and push data beyond
the 128 bytes that every device has.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rgraph._core import reflect
from rgraph._errors import ShaderError

if TYPE_CHECKING:
    from rgraph import ShaderReflection, ShaderVarying
    from rgraph.importers._slang import Slang

__all__ = ["linked"]

_LEAST_PUSH = 128
# Bindings that collections do not use: RetroArch has 16.
_OF_VERTICES, _OF_PUSH = 30, 31
_BLOCK = re.compile(r"\blayout\s*\(([^()]*)\)\s*uniform\s+(\w+)\s*\{([^{}]*)\}\s*(\w*)\s*;")
_TYPE = re.compile(r"(?:vec([234])<(f32|i32|u32)>|(f32|i32|u32))")
_SCALARS = {"f32": ("float", "vec"), "i32": ("int", "ivec"), "u32": ("uint", "uvec")}


def _glsl(kind: str) -> tuple[str, str, int] | None:
    """A type as GLSL spells it, its kind of numbers and its components; None: neither scalar nor vector."""
    found = _TYPE.fullmatch(kind)
    if not found:
        return None
    scalar, count = found[2] or found[3], int(found[1] or 1)
    name, vector = _SCALARS[scalar]
    return (name if count == 1 else f"{vector}{count}"), scalar, count


def _mismatches(found: ShaderReflection) -> list[tuple[ShaderVarying, ShaderVarying | None]]:
    """Inputs of the fragment stage that the vertex stage writes otherwise, or not at all."""
    vertex, fragment = found.stages
    outputs = {one.location: one for one in vertex.outputs}
    pairs = [(one, outputs.get(one.location)) for one in fragment.inputs]
    return [(wanted, given) for wanted, given in pairs if given is None or given.type != wanted.type]


def _varyings(slang: Slang, found: ShaderReflection) -> Slang:
    """The vertex stage writes what the fragment stage reads: components that it has not are 0."""
    text, declared, written = slang.vertex, [], []
    for wanted, given in _mismatches(found):
        made = _glsl(wanted.type)
        if made is None:
            continue
        kind, scalar, count = made
        flat = "" if scalar == "f32" else "flat "
        name, value = f"rgraph_varying_{wanted.location}", f"{kind}(0)"
        if given is not None:
            had = _glsl(given.type)
            if had is None or had[1] != scalar:
                continue
            # The shader's own output becomes a variable.
            place = rf"layout\s*\(\s*location\s*=\s*{given.location}\s*\)"
            own = rf"{place}\s*(?:\w+\s+)*?out\s+((?:\w+\s+)+{given.name}\s*;)"
            text, changed = re.subn(own, r"\1", text)
            if changed != 1:
                continue
            parts = [given.name if had[2] == 1 else f"{given.name}.{'xyzw'[at]}" for at in range(min(had[2], count))]
            value = f"{kind}({', '.join([*parts, *['0'] * (count - len(parts))])})"
        declared.append(f"layout(location = {wanted.location}) {flat}out {kind} {name};")
        written.append(f"{name} = {value};")
    if not declared:
        return slang
    text = _with_line(text, "#define main rgraph_vertex_main")
    text += f"#undef main\n{' '.join(declared)}\nvoid main() {{ rgraph_vertex_main(); {' '.join(written)} }}\n"
    return _changed(slang, text, slang.fragment, vertex_line=True)


def _with_line(text: str, line: str) -> str:
    """A text with a line behind its first."""
    first, _, rest = text.partition("\n")
    return f"{first}\n{line}\n{rest}"


def _changed(slang: Slang, vertex: str, fragment: str, *, vertex_line: bool = False) -> Slang:
    """The same shader with other texts; lines keep their places."""
    lines = dict(slang.lines)
    if vertex_line:
        lines["vertex"] = [lines["vertex"][0], *lines["vertex"]]
    return slang._replace(vertex=vertex, fragment=fragment, lines=lines)


def _blocks(slang: Slang) -> Slang:
    """The vertex stage's uniform block gets a binding and a name of its own, and its data twice."""
    names: list[str] = []

    def moved(found: re.Match[str]) -> str:
        words = found[1]
        if "push_constant" in words or "binding" not in words:
            return found[0]
        if found[4]:
            names.append(found[4])
        words = re.sub(r"binding\s*=\s*\d+", f"binding = {_OF_VERTICES}", words)
        return f"layout({words}) uniform {found[2]}_vertex {{{found[3]}}} {found[4]};"

    text = _BLOCK.sub(moved, slang.vertex)
    if text == slang.vertex or len(names) > 1:
        return slang
    if not names:
        return _changed(slang, text, slang.fragment)
    text = _with_line(text, f"#define {names[0]} rgraph_vertex_{names[0]}")
    return _changed(slang, text, slang.fragment, vertex_line=True)


def _pushed(slang: Slang) -> Slang:
    """Push data as a uniform block."""
    place = f"layout(std140, set = 0, binding = {_OF_PUSH})"
    words = re.compile(r"\blayout\s*\(\s*(?:std430\s*,\s*)?push_constant\s*(?:,\s*std430\s*)?\)")
    return _changed(slang, words.sub(place, slang.vertex), words.sub(place, slang.fragment))


def linked(slang: Slang) -> tuple[Slang, ShaderReflection]:
    """A shader as Vulkan links it, and what it asks for.

    Parameters
    ----------
    slang
        The shader.

    Raises
    ------
    ShaderError
        If it does not compile, or if its stages do not fit in another way.
    """
    try:
        found = reflect((slang.vertex, slang.fragment))
        differs = any(one.why.startswith("RG-E304") for one in found.refused)
    except ShaderError as error:
        if error.code != "RG-E304":
            raise
        differs = True
    if differs:
        slang = _blocks(slang)
        found = reflect((slang.vertex, slang.fragment))
    if found.push is not None and found.push.size > _LEAST_PUSH:
        slang = _pushed(slang)
        found = reflect((slang.vertex, slang.fragment))
    if _mismatches(found):
        slang = _varyings(slang, found)
        found = reflect((slang.vertex, slang.fragment))
    return slang, found
