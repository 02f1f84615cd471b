"""What the names of textures and uniforms of slang shaders mean.

Source: the sections "Builtin texture variables", "Builtin texture size uniform variables" and "Builtin uniform
variables" of libretro's slang shader specification.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

__all__ = ["FIRST", "Names", "Texture", "plain", "size_of"]

#: Uniforms of a player that has one picture, no core and no sensors.
_CONSTANTS: dict[str, Any] = {
    "FrameDirection": 1,
    "Rotation": 0,
    "TotalSubFrames": 1,
    "CurrentSubFrame": 1,
    "OriginalFPS": 1.0,
    "FrameTimeDelta": 0,
    "HDRMode": 0,
    "BrightnessNits": 200.0,
    "ExpandGamut": 0,
    "Scanlines": 0.0,
    "SubpixelLayout": 0,
    "InverseTonemap": 0.0,
    "HDR10": 0.0,
    "Gyroscope": (0.0, 0.0, 0.0),
    "Accelerometer": (0.0, 0.0, 0.0),
    "AccelerometerRest": (0.0, 0.0, 0.0),
}
#: The frame that a graph has before anything counts.
FIRST = 0
_INDEXED = re.compile(r"(OriginalHistory|PassOutput|PassFeedback|User)(Size)?(\d+)")


class Texture(NamedTuple):
    """What a texture shows."""

    kind: str
    """`Original`, `Source`, `OriginalHistory`, `PassOutput`, `PassFeedback` or `User`."""
    number: int = 0
    """The frame, the pass or the lookup texture."""


class Names:
    """Names that a preset adds: aliases of passes, lookup textures, parameters.

    Parameters
    ----------
    aliases
        Per pass: its names.
    textures
        The lookup textures, in order.
    parameters
        The value of each parameter.
    """

    def __init__(self, aliases: list[list[str]], textures: list[str], parameters: dict[str, float]) -> None:
        self.parameters = parameters
        self._textures: dict[str, Texture] = {}
        for at, names in enumerate(aliases):
            for name in names:
                self._textures[name] = Texture("PassOutput", at)
                self._textures[f"{name}Feedback"] = Texture("PassFeedback", at)
        self._textures |= {name: Texture("User", at) for at, name in enumerate(textures)}

    def texture(self, name: str) -> Texture | None:
        """What a sampler of this name samples."""
        if name in self._textures:
            return self._textures[name]
        if name in ("Original", "Source"):
            return Texture(name)
        found = _INDEXED.fullmatch(name)
        if not found or found[2]:
            return None
        return _indexed(found[1], int(found[3][:9]))

    def named_size(self, name: str) -> Texture | None:
        """The texture whose size a vector of this name is, if the preset gave the texture its name."""
        return self._textures.get(name.removesuffix("Size")) if name.endswith("Size") else None

    def size(self, name: str) -> Texture | None:
        """The texture whose size a vector of this name is."""
        if named := self.named_size(name):
            return named
        if name in ("OriginalSize", "SourceSize"):
            return Texture(name.removesuffix("Size"))
        found = _INDEXED.fullmatch(name)
        if not found or not found[2]:
            return None
        return _indexed(found[1], int(found[3][:9]))


def _indexed(kind: str, index: int) -> Texture:
    """`OriginalHistory0` is `Original`."""
    return Texture("Original") if kind == "OriginalHistory" and index == 0 else Texture(kind, index)


def size_of(size: tuple[int, int]) -> list[float]:
    """A size as shaders get it: width, height, and one over each."""
    return [float(size[0]), float(size[1]), 1.0 / size[0], 1.0 / size[1]]


def plain(name: str, original: tuple[int, int]) -> Any:
    """The value of a uniform that is the same in all passes and frames; None: it is none of these.

    Parameters
    ----------
    name
        The uniform.
    original
        Size of the input in texels.
    """
    if name in ("OriginalAspect", "OriginalAspectRotated"):
        return original[0] / original[1]
    return _CONSTANTS.get(name)
