"""Lookup textures of presets: pictures as images of eight bits per channel."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from rgraph._core import Graph, Image, Sampler, _png_samples
from rgraph.importers._mistake import refuse
from rgraph.importers._read import PICTURES

if TYPE_CHECKING:
    from rgraph.importers._preset import Texture
    from rgraph.importers._read import Reader

__all__ = ["Lookup", "lookup", "unread"]

_LARGEST = 16384


class Lookup(NamedTuple):
    """A picture and how it is sampled."""

    name: str
    size: tuple[int, int]
    texels: bytes
    """RGBA, eight bits per channel, row by row."""
    settings: Texture

    def declare(self, graph: Graph, name: str) -> tuple[Image, tuple[int, int], Sampler]:
        """Declare the image; with mips, as the preset wishes, each is blitted from the one before."""
        filter_ = "linear" if self.settings.linear else "nearest"
        width, height = self.size
        image = graph.import_array(name, memoryview(self.texels).cast("B", (height, width, 4)))
        if self.settings.mipmap and max(self.size) > 1:
            whole = graph.image(f"{name}.mips", self.size, "rgba8unorm", mips="full")
            graph.copy(f"{name}/mip0", image, whole.mip(0))
            for level in range(1, whole.mip_count):
                graph.blit(f"{name}/mip{level}", whole.mip(level - 1), whole.mip(level), filter=filter_)  # type: ignore[arg-type]
            image = whole
        return image, self.size, Sampler(filter_, address=self.settings.wrap)  # type: ignore[arg-type]


def unread(settings: Texture) -> Lookup:
    """A texture that no shader asks for, so that its picture is not read: collections name some that are not there.

    Parameters
    ----------
    settings
        The texture.
    """
    return Lookup(settings.name, (0, 0), b"", settings)


def _png(data: bytes) -> tuple[int, int, bytes]:
    width, height, channels, wide, samples = _png_samples(data)
    if max(width, height) > _LARGEST:
        raise ValueError(f"is larger than {_LARGEST} texels")
    if wide == 2:
        wider = memoryview(samples).cast("H")
        samples = bytes((value * 255 + 32767) // 65535 for value in wider)
    if channels == 4:
        return width, height, bytes(samples)
    out = bytearray(b"\xff" * (width * height * 4))
    for channel in range(3):
        out[channel::4] = samples[min(channel, channels - 1 if channels > 2 else 0) :: channels]
    if channels == 2:
        out[3::4] = samples[1::2]
    return width, height, bytes(out)


def _by_pillow(data: bytes) -> tuple[int, int, bytes]:
    import io

    module = import_module("PIL.Image")
    with module.open(io.BytesIO(data)) as file:
        if max(file.size) > _LARGEST:
            raise ValueError(f"is larger than {_LARGEST} texels")
        picture = file.convert("RGBA")
        return picture.width, picture.height, picture.tobytes()


def lookup(texture: Texture, reader: Reader) -> Lookup:
    """Read a lookup texture.

    Parameters
    ----------
    texture
        The preset's lines about it.
    reader
        Opens files.

    Raises
    ------
    GraphError
        RG-E222 if the picture is damaged, or RG-E320 if a package for its kind is missing.
    """
    data = reader.data(texture.path, texture.place, PICTURES)
    try:
        width, height, texels = _png(data) if data.startswith(b"\x89PNG") else _by_pillow(data)
    except ImportError:
        help = 'pip install "rgraph-vulkan[io]"'
        refuse(f'"{texture.path}" needs a package that is not installed', help, texture.place, "RG-E320")
    except Exception as error:
        # pillow raises exceptions of many classes for damaged files.
        refuse(f'the picture "{texture.path}" cannot be read: {error}', "save it again as PNG", texture.place)
    return Lookup(texture.name, (width, height), texels, texture)
