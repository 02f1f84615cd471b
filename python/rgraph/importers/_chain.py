"""A chain of slang shaders as a graph."""

from __future__ import annotations

import math
import re
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from rgraph._core import Graph, Image, Sampler, View, reflect
from rgraph._errors import ShaderError
from rgraph.importers._link import linked
from rgraph.importers._meaning import FIRST, Names, Texture, plain, size_of
from rgraph.importers._mistake import Place, refuse

if TYPE_CHECKING:
    from rgraph import ShaderMember, ShaderReflection
    from rgraph.importers._lookup import Lookup
    from rgraph.importers._preset import PassSettings, Preset
    from rgraph.importers._slang import Slang

__all__ = ["Chain", "reflected", "scaled"]

_LARGEST = 16384
_IDENTITY = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
# The last pass gets positions from 0 to 1, all others from -1 to 1: players do it so, and a few shaders notice.
_UNIT = [[2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [-1.0, -1.0, 0.0, 1.0]]
_STOCK_VERTEX = """#version 450
#pragma shader_stage(vertex)
layout(std140, set = 0, binding = 0) uniform UBO { mat4 MVP; } global;
layout(location = 0) in vec4 Position;
layout(location = 1) in vec2 TexCoord;
layout(location = 0) out vec2 vTexCoord;
void main() { gl_Position = global.MVP * Position; vTexCoord = TexCoord; }
"""
_STOCK_FRAGMENT = """#version 450
#pragma shader_stage(fragment)
layout(location = 0) in vec2 vTexCoord;
layout(location = 0) out vec4 FragColor;
layout(set = 0, binding = 1) uniform sampler2D Source;
void main() { FragColor = texture(Source, vTexCoord); }
"""


class Bound(NamedTuple):
    """An image with the sampler that its readers use."""

    image: Image | View
    size: tuple[int, int]
    sampler: Sampler


class Data(NamedTuple):
    """Data of a pass that changes from frame to frame."""

    target: Any
    """The pass, or (pass, block)."""
    values: dict[str, Any]
    """Its members."""
    counters: tuple[str, ...]
    """Those that count frames."""
    modulus: int
    """They restart after so many frames; 0: never."""
    early: dict[str, tuple[int, Any]]
    """Members that have another value in the first frames: in how many, and which."""


def scaled(settings: PassSettings, sizes: dict[str, tuple[int, int]]) -> tuple[int, int]:
    """Size of a target in texels, rounded to the nearest, half away from zero.

    Parameters
    ----------
    settings
        The pass.
    sizes
        `source`, `viewport` and `original`.
    """
    out = []
    for axis, (kind, factor) in enumerate(settings.scale):
        # In single precision, as players compute it.
        factor = struct.unpack("f", struct.pack("f", max(min(factor, 1e30), -1e30)))[0]
        length = factor if kind == "absolute" else sizes[kind][axis] * factor
        length = struct.unpack("f", struct.pack("f", min(length, 1e30)))[0]
        out.append(int(min(max(math.floor(length + 0.5), 1), _LARGEST)))
    return out[0], out[1]


def reflected(slang: Slang, place: Place) -> tuple[Slang, ShaderReflection]:
    """A shader as it is linked, and what it asks for; its errors name the lines of its files.

    Parameters
    ----------
    slang
        The shader.
    place
        The line that names it.

    Raises
    ------
    ShaderError
        If it does not compile.
    """
    try:
        return linked(slang)
    except ShaderError as error:
        raise _located(error, slang, place) from None


def _placed(message: str, stage: str, at: Place | None, file: str) -> str:
    """A message that names a file and its line instead of a text."""
    where = f'"{at.file}":{at.line}' if at else f'"{file}"'
    return re.sub(r'shader "[^"]*"(:\d+)?', lambda _: f"{stage} shader {where}", message, count=1)


def _renumbered(message: str, old: str, new: str) -> str:
    """A message with another number before the line of its excerpt; the carets stay below what they mark."""
    message = re.sub(rf"(?m)^(\s*){old} \|", rf"\g<1>{new.rjust(len(old))} |", message, count=1)
    return re.sub(r"(?m)^ +\|", lambda gutter: " " * (len(new) - len(old)) + gutter[0], message)


def _located(error: ShaderError, slang: Slang, place: Place) -> ShaderError:
    """An error of both stages' texts, at the line of the file that it is in."""
    for stage, text in (("vertex", slang.vertex), ("fragment", slang.fragment)):
        try:
            reflect(text)
        except ShaderError as alone:
            lines = slang.lines[stage]
            at = lines[alone.line - 1] if alone.line and alone.line <= len(lines) else None
            message = _placed(str(alone), stage, at, lines[0].file)
            if at:
                message = _renumbered(message, str(alone.line), str(at.line))
            notes = [f"named by {place}"]
            made = ShaderError(
                f"{message}\n  {notes[0]}",
                alone.code,
                None,
                None,
                alone.hint,
                notes,
                at.file if at else lines[0].file,
                at.line if at else None,
                alone.column,
            )
            return made
    message = re.sub(r'shader "[^"]*"', lambda _: f'shader "{slang.lines["vertex"][0].file}"', str(error), count=1)
    return ShaderError(f"{message}\n  named by {place}", error.code, None, None, error.hint, [f"named by {place}"])


class Chain:
    """Declares the passes of a preset.

    Parameters
    ----------
    graph
        Where.
    preset
        The preset.
    slangs, found
        The shader of each pass, and what it asks for.
    names
        What the names of the preset mean.
    lookups
        The lookup textures.
    size, viewport
        Of the input and of the output, in texels.
    retroarch
        Whether to follow RetroArch where players differ: see `slangp`.
    """

    def __init__(
        self,
        graph: Graph,
        preset: Preset,
        slangs: list[Slang],
        found: list[ShaderReflection],
        names: Names,
        lookups: list[Lookup],
        size: tuple[int, int],
        viewport: tuple[int, int],
        retroarch: bool,
    ) -> None:
        self.graph, self.preset, self.slangs, self.found, self.names = graph, preset, slangs, found, names
        self.size, self.viewport, self.retroarch = size, viewport, retroarch
        self.notes: list[str] = []
        self.data: list[Data] = []
        settings = preset.passes
        self.extra = retroarch and settings[-1].scaled
        self.sizes = self._sizes()
        used = {one for at in range(len(settings)) for one in self._textures(at)}
        # A size alone needs no image.
        sampled = {one for at in range(len(settings)) for one in self._sampled(at)}
        self.feedback = {one.number for one in sampled if one.kind == "PassFeedback"}
        self.original = graph.image("Original", size, "rgba8unorm", imported=True)
        self._taken = {"Original", "screen", "output", "quad"}
        self.titles = [self._title(at) for at in range(len(settings))]
        self.outputs = [self._target(at) for at in range(len(settings))]
        self.lookup_sizes = [one.size for one in lookups]
        self.lookups = {
            at: one.declare(graph, self._free(one.name))
            for at, one in enumerate(lookups)
            if Texture("User", at) in used
        }
        self.quad = graph.import_array("quad", _quad(), as_buffer=True)

    def _sizes(self) -> list[tuple[int, int]]:
        sizes, source = [], self.size
        for settings in self.preset.passes:
            source = scaled(settings, {"source": source, "viewport": self.viewport, "original": self.size})
            sizes.append(source)
        if self.retroarch and not self.preset.passes[-1].scaled:
            sizes[-1] = self.viewport
        return sizes

    def _textures(self, at: int) -> list[Texture]:
        """The textures that a pass names, by themselves or by their size."""
        found = self.found[at]
        named: list[Texture | None] = [*self._sampled(at)]
        blocks = [one.members for one in found.bindings if one.kind == "uniform"]
        blocks += [found.push.members] if found.push else []
        named += [self.names.size(member.name) for block in blocks for member in block]
        return [one for one in named if one is not None]

    def _sampled(self, at: int) -> list[Texture]:
        """The textures that a pass samples."""
        named = [self.names.texture(one.name) for one in self.found[at].bindings if one.kind == "combined"]
        return [one for one in named if one is not None]

    def _free(self, name: str) -> str:
        """A name that no other image has."""
        name = re.sub(r"[^\w.-]+", "-", name)[:200] or "unnamed"
        free, number = name, 2
        while free in self._taken:
            free, number = f"{name}.{number}", number + 1
        self._taken.add(free)
        return free

    def _title(self, at: int) -> str:
        settings, slang = self.preset.passes[at], self.slangs[at]
        return self._free(settings.alias or slang.name or settings.shader.stem)

    def _target(self, at: int) -> Image | None:
        """The image of a pass; None: the output."""
        last = at == len(self.preset.passes) - 1
        if last and not self.extra and at not in self.feedback:
            return None
        settings = self.preset.passes[at]
        form = self.slangs[at].format or "rgba8unorm"
        form = "rgba8unorm-srgb" if settings.srgb else "rgba16float" if settings.float else form
        mips: Any = "full" if not last and self.preset.passes[at + 1].mipmap_input else 1
        mips = 1 if max(self.sizes[at]) == 1 else mips
        return self.graph.image(self.titles[at], self.sizes[at], form, mips=mips)

    def _sampler(self, at: int) -> Sampler:
        settings = self.preset.passes[at]
        return Sampler("linear" if settings.linear else "nearest", address=settings.wrap)  # type: ignore[arg-type]

    def _bound(self, what: Texture, at: int, name: str) -> Bound:
        """The image that a texture of a pass shows."""
        kind, index = what
        if kind == "Source" and at > 0:
            kind, index = "PassOutput", at - 1
            own = self._sampler(at)
        else:
            own = self._sampler(0 if kind in ("Original", "OriginalHistory") else min(index, len(self.sizes) - 1))
            if kind == "PassOutput" and self.retroarch and index + 1 < len(self.sizes):
                own = self._sampler(index + 1)
        if kind in ("Original", "Source"):
            return Bound(self.original, self.size, self._sampler(0))
        if kind == "OriginalHistory":
            return Bound(self.original.previous(index), self.size, own)
        if kind == "User":
            if index not in self.lookups:
                self._missing(at, name, "there is no such lookup texture")
            image, size, sampler = self.lookups[index]
            return Bound(image, size, sampler)
        if kind == "PassOutput" and index >= at:
            self._missing(at, name, f"pass {index} does not come before pass {at}")
        target = self.outputs[index] if index < len(self.outputs) else None
        if target is None:
            self._missing(at, name, f"the preset has no pass {index}")
        return Bound(target.previous() if kind == "PassFeedback" else target, self.sizes[index], own)

    def _missing(self, at: int, name: str, why: str) -> NoReturn:
        settings = self.preset.passes[at]
        refuse(
            f'"{name}" in {settings.shader}: {why}',
            "name Source, Original, a pass before this one, its alias, a feedback or a texture of the preset",
            settings.place,
            "RG-E202",
        )

    def _value(self, at: int, member: ShaderMember, output: tuple[int, int], final: bool) -> Any:
        """The value of a uniform; None: it has no meaning."""
        name = member.name
        sizes = {"OutputSize": output, "FinalViewportSize": self.viewport}
        # Names of the preset come before those of the format: an alias "Output" has the size "OutputSize".
        what = self.names.named_size(name)
        if what is None:
            if name in self.names.parameters:
                return self.names.parameters[name]
            if name == "MVP":
                return _UNIT if final else _IDENTITY
            if name in sizes:
                return size_of(sizes[name])
            if name == "FrameCount":
                return FIRST
            what = self.names.size(name)
        if what is not None:
            size = self._size(what, at)
            return None if size is None else size_of(size)
        return plain(name, self.size)

    def _size(self, what: Texture, at: int) -> tuple[int, int] | None:
        """Size of a texture of a pass, that of a later pass's output too; None: there is no such texture."""
        kind, index = what
        if kind == "Source" and at > 0:
            return self.sizes[at - 1]
        if kind in ("Original", "Source", "OriginalHistory"):
            return self.size
        known = self.lookup_sizes if kind == "User" else self.sizes
        return known[index] if index < len(known) else None

    def _block(
        self, at: int, target: Any, members: tuple[ShaderMember, ...], output: tuple[int, int], final: bool
    ) -> dict[str, Any]:
        """The data of a block."""
        values, counters, strange, early = {}, [], [], {}
        for member in members:
            value = self._value(at, member, output, final)
            if value is None:
                strange.append(member.name)
            values[member.name] = _shaped(member.type, value)
            if member.name == "FrameCount" and member.name not in self.names.parameters:
                counters.append(member.name)
            if depth := self._depth(member.name):
                early[member.name] = (depth, _shaped(member.type, size_of((1, 1))))
        if strange:
            self.notes.append(
                f"{self.preset.passes[at].shader}: uniforms without a meaning are 0: {', '.join(strange)}"
            )
        if counters or early:
            self.data.append(Data(target, values, tuple(counters), self.preset.passes[at].frame_count_mod, early))
        return values

    def _depth(self, name: str) -> int:
        """How many frames a size is 1x1 before there is a picture: librashader says so of histories. 0: it is none."""
        what = None if self.retroarch or name in self.names.parameters else self.names.size(name)
        return what.number if what is not None and what.kind == "OriginalHistory" else 0

    def draw(
        self,
        at: int,
        name: str,
        target: Image,
        output: tuple[int, int],
        final: bool,
        area: tuple[int, int] | None = None,
    ) -> None:
        """Declare one draw of a pass.

        Parameters
        ----------
        at
            The pass of the preset.
        name
            The pass of the graph.
        target
            What it draws to.
        output
            What the shader takes for the size of its target.
        final
            Whether positions are those of the last pass.
        area
            Size of the viewport in texels; None: that of the target.
        """
        slang, found = self.slangs[at], self.found[at]
        bindings: dict[str, Any] = {}
        for one in found.bindings:
            if one.kind == "uniform":
                bindings[one.name] = self._block(at, (name, one.name), one.members, output, final)
                continue
            what = self.names.texture(one.name) if one.kind == "combined" else None
            if what is None:
                self._missing(at, one.name, "no texture has this name")
            bound = self._bound(what, at, one.name)
            bindings[one.name] = (bound.image, bound.sampler)
        push = self._block(at, name, found.push.members, output, final) if found.push else None
        formats = {0: "float32x4", 1: "float32x2"}
        attributes = []
        for given in found.vertex_inputs:
            if given.location not in formats:
                self.notes.append(f"{self.preset.passes[at].shader}: the vertex input {given.name} is 0")
            wide = 16 * (given.location == 1)
            attributes.append((given.name, formats.get(given.location, "float32x2"), wide))
        self.graph.raster(
            name,
            (slang.vertex, slang.fragment),
            color=target.mip(0) if target.mip_count > 1 else target,
            clear=(0.0, 0.0, 0.0, 0.0),
            vertices=4,
            topology="triangle_strip",
            first_vertex=4 * final,
            viewport=None if area is None else (0, 0, *area),
            vertex_buffers=[{"buffer": self.quad, "attributes": attributes, "stride": 24}] if attributes else None,
            push=push,
            bindings=bindings,
        )

    def mips(self, at: int) -> None:
        """Fill the mips of a pass's image, each from the one before by a linear blit."""
        image = self.outputs[at]
        if image is not None and image.mip_count > 1:
            for level in range(1, image.mip_count):
                self.graph.blit(f"{self.titles[at]}/mip{level}", image.mip(level - 1), image.mip(level))

    def declare(self) -> None:
        """Declare all passes."""
        last = len(self.titles) - 1
        for at, title in enumerate(self.titles):
            image = self.outputs[at]
            if image is not None:
                final = at == last and not self.extra
                # librashader draws what is fed back as large as the output, whatever size its image has.
                area = self.viewport if final and not self.retroarch else None
                self.draw(at, title, image, self.sizes[at], final, area)
                self.mips(at)
        # Players draw the last pass to a swapchain. lavapipe interpolates in another way in its format, so nearest
        # sampling at the border of two texels would choose the other one in an RGBA image.
        out = self.graph.image("screen", self.viewport, "bgra8unorm")
        if self.extra:
            self._show(out)
        else:
            shown = self.sizes[last] if last in self.feedback else self.viewport
            name = f"{self.titles[last]}/screen" if last in self.feedback else self.titles[last]
            self.draw(last, name, out, shown, True)
        result = self.graph.image("output", self.viewport, "rgba8unorm")
        self.graph.blit("output", out, result, filter="nearest")
        self.graph.root(result)

    def _show(self, out: Image) -> None:
        """Draw the last pass's image to the output, as RetroArch does if the preset gives that pass a size."""
        image = self.outputs[-1]
        attributes = [("Position", "float32x4", 0), ("TexCoord", "float32x2", 16)]
        self.graph.raster(
            "screen",
            (_STOCK_VERTEX, _STOCK_FRAGMENT),
            color=out,
            clear=(0.0, 0.0, 0.0, 0.0),
            vertices=4,
            topology="triangle_strip",
            first_vertex=4,
            vertex_buffers=[{"buffer": self.quad, "attributes": attributes, "stride": 24}],
            bindings={"global": {"MVP": _UNIT}, "Source": (image, Sampler("nearest"))},
        )


def _quad() -> Any:
    """Two strips of four vertices, each a position of four and a texture coordinate of two floats."""
    corners = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]
    values: list[float] = []
    for u, v in corners:
        values += [2 * u - 1, 2 * v - 1, 0.0, 1.0, u, v]
    for u, v in corners:
        values += [u, v, 0.0, 1.0, u, v]
    return memoryview(struct.pack(f"{len(values)}f", *values)).cast("f")


def _shaped(kind: str, value: Any) -> Any:
    """A value as a uniform of a type; shaders declare some of them otherwise than the specification."""
    whole = kind in ("u32", "i32")
    if value is None:
        value = 0
    if kind in ("f32", "u32", "i32"):
        value = value[0] if isinstance(value, list | tuple) else value
        return int(value) if whole else float(value)
    if found := re.fullmatch(r"vec([234])<(f32|u32|i32)>", kind):
        many = list(value) if isinstance(value, list | tuple) else [value] * int(found[1])
        many = (many + [0.0] * 4)[: int(found[1])]
        return [float(one) for one in many] if found[2] == "f32" else [int(one) for one in many]
    if found := re.fullmatch(r"mat([234])x([234])<f32>", kind):
        columns, rows = int(found[1]), int(found[2])
        whole_matrix = value if isinstance(value, list) else [[0.0] * 4] * 4
        return [column[:rows] for column in whole_matrix[:columns]]
    if found := re.fullmatch(r"array<(.+), (\d+)>", kind):
        return [_shaped(found[1], None)] * int(found[2])
    return value


def stem(path: Path) -> str:
    """The name of a graph that comes from a file."""
    return path.name.partition(".")[0] or "graph"
