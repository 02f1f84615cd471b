"""Arrays in files: PNG and NPY without any package, JPEG and others with pillow, EXR with OpenEXR.

What is a picture for people (PNG, JPEG) has samples from 0 to 1, sRGB encoded; what holds numbers (NPY, EXR) is taken
as it is. Images of floats get linear light, as `Array.save` writes it.
"""

from __future__ import annotations

import struct
from array import array
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rgraph._core import Format, _npy_header, _png_samples, _read_file
from rgraph._errors import GraphError
from rgraph._save import make_folder
from rgraph.cli import UsageError
from rgraph.cli._files import exists, plain

if TYPE_CHECKING:
    from rgraph import Array, Buffer, Image

__all__ = ["READ", "Numbers", "fit", "read", "suffix", "write"]

_BY_PILLOW = (".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp")
_WRITTEN = READ = (".png", ".npy", ".exr", *_BY_PILLOW)


class Numbers(NamedTuple):
    """An array out of a file."""

    shape: tuple[int, ...]
    """Its shape; of pictures (height, width, channels)."""
    letter: str
    """The type of its numbers, as the letter of the buffer protocol."""
    data: bytes
    """The numbers."""
    picture: bool
    """Whether samples stand for 0 to 1, sRGB encoded."""

    def array(self) -> Any:
        """The numbers with their shape; half floats by numpy, since buffers of Python have no letter for them."""
        if self.letter == "e":
            numpy = _needs("numpy", "an image of half floats", "numpy")
            return numpy.frombuffer(self.data, "float16").reshape(self.shape)
        return memoryview(self.data).cast(self.letter, self.shape)  # type: ignore[call-overload]


def _needs(package: str, what: str, extra: str) -> Any:
    try:
        return import_module(package)
    except ImportError:
        raise UsageError(f"{what} needs a package that is not installed", f'pip install "{extra}"') from None


def _npy(data: bytes) -> Numbers:
    shape, letter, begin = _npy_header(data)
    if 0 in shape:
        raise ValueError(f"holds no numbers: its shape is {tuple(shape)}")
    return Numbers(tuple(shape), letter, data[begin:], picture=False)


def _exr(path: str) -> Numbers:
    module = _needs("OpenEXR", "EXR", "rgraph-vulkan[io]")
    numpy = import_module("numpy")
    with module.File(path) as file:
        channels = {name: channel.pixels for name, channel in file.channels().items()}
    whole = next((channels[name] for name in ("RGBA", "RGB", "Y", "Z") if name in channels), None)
    pixels = next(iter(channels.values())) if whole is None else whole
    pixels = pixels if pixels.ndim == 3 else pixels[:, :, None]
    pixels = numpy.ascontiguousarray(pixels)
    return Numbers(pixels.shape, pixels.dtype.char, pixels.tobytes(), picture=False)


def _by_pillow(path: str) -> Numbers:
    module = _needs("PIL.Image", Path(path).suffix[1:].upper(), "rgraph-vulkan[io]")
    ops = import_module("PIL.ImageOps")
    with module.open(path) as file:
        picture = ops.exif_transpose(file)
        picture = picture if picture.mode in ("L", "RGB", "RGBA") else picture.convert("RGBA")
        return Numbers((picture.height, picture.width, len(picture.getbands())), "B", picture.tobytes(), picture=True)


def read(path: str) -> Numbers:
    """Read an array out of a file.

    Parameters
    ----------
    path
        The file; its suffix says what it is.

    Raises
    ------
    UsageError
        If there is none, if it is damaged, or if a package for it is missing.
    """
    kind = Path(path).suffix.lower()
    exists(path)
    if kind == ".exr" or kind in _BY_PILLOW:
        plain(path)
        try:
            return _exr(path) if kind == ".exr" else _by_pillow(path)
        except (UsageError, OSError):
            raise
        except Exception as error:
            # These packages raise errors of many kinds for damaged files, and for pictures that would fill the memory.
            raise UsageError(f"{path}: {str(error) or type(error).__name__}", "write the file again") from None
    if kind not in (".png", ".npy"):
        known = f".png, .npy, .exr, {', '.join(_BY_PILLOW)}"
        raise UsageError(f"{path}: arrays are read from {known}", "convert it to one of these")
    data = _read_file(path)
    try:
        if kind == ".npy":
            return _npy(data)
        width, height, channels, wide, samples = _png_samples(data)
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from None
    return Numbers((height, width, channels), "B" if wide == 1 else "H", samples, picture=True)


def _widened(numbers: Numbers, channels: int, path: str, name: str) -> Numbers:
    """A picture with as many channels as an image has."""
    height, width, has = numbers.shape
    if has == channels:
        return numbers
    if channels < has or channels == 2:
        words = {1: "grey", 2: "grey and alpha", 3: "colour", 4: "colour and alpha"}
        message = f'{path}: the picture is {words[has]}, and "{name}" has {channels} channel{"s" * (channels > 1)}'
        raise UsageError(message, f"convert the picture to {words[channels]}, or give an .npy of the texels")
    samples = array(numbers.letter, numbers.data)
    most = array(numbers.letter, [255 if numbers.letter == "B" else 65535])
    out = most * (height * width * channels)
    for channel in range(3):
        out[channel::channels] = samples[min(channel, has - 1 if has > 2 else 0) :: has]
    if has == 2:
        out[3::channels] = samples[1::2]
    return Numbers((height, width, channels), numbers.letter, out.tobytes(), picture=True)


def _linear(value: float) -> float:
    """IEC 61966-2-1: sRGB from 0 to 1 to linear light."""
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def _converted(numbers: Numbers, bits: int, kind: str) -> Numbers:
    """A picture's samples as an image stores them."""
    most = 255 if numbers.letter == "B" else 65535
    samples = array(numbers.letter, numbers.data)
    if kind in ("uint", "sint"):
        letter = {("uint", 8): "B", ("uint", 16): "H", ("uint", 32): "I"}.get((kind, bits), "i")
        return numbers._replace(letter=letter, data=array(letter, samples).tobytes())
    if kind == "unorm":
        letter, full = ("B", 255) if bits == 8 else ("H", 65535)
        if full != most:
            table = [(value * full + most // 2) // most for value in range(most + 1)]
            samples = array(letter, [table[value] for value in samples])
        return numbers._replace(letter=letter, data=samples.tobytes())
    if kind == "snorm":
        letter, full = ("b", 127) if bits == 8 else ("h", 32767)
        table = [(value * full + most // 2) // most for value in range(most + 1)]
        return numbers._replace(letter=letter, data=array(letter, [table[value] for value in samples]).tobytes())
    letter = "e" if bits == 16 else "f"
    light = [struct.pack(letter, _linear(value / most)) for value in range(most + 1)]
    plain = [struct.pack(letter, value / most) for value in range(most + 1)]
    alpha = numbers.shape[2] == 4
    parts = [plain[value] if alpha and at % 4 == 3 else light[value] for at, value in enumerate(samples)]
    return numbers._replace(letter=letter, data=b"".join(parts))


def fit(numbers: Numbers, target: Image | Buffer, path: str) -> Any:
    """What the runtime takes as contents of an image or a buffer.

    Parameters
    ----------
    numbers
        Out of the file.
    target
        The imported image or buffer.
    path
        The file, for messages.

    Raises
    ------
    UsageError
        If the picture is of another size, or of other channels.
    """
    size = target.size
    if isinstance(size, int):
        return numbers.data
    if numbers.picture:
        height, width, _ = numbers.shape
        if (width, height) != size[:2]:
            wanted = " × ".join(map(str, size))
            message = f'{path}: the picture is {width} × {height}, and "{target.name}" {wanted}'
            raise UsageError(
                message, f"resize one of them: {wanted} for the picture, or {width} × {height} for the image"
            )
        name = target.format  # type: ignore[union-attr]
        form = Format(name) if name is not None else None
        if form is None or form.bits == 0 or form.depth or form.stencil:
            message = f'{path}: a picture does not fit "{target.name}", which is {target.format}'  # type: ignore[union-attr]
            raise UsageError(message, "give an .npy of its texels")
        numbers = _converted(_widened(numbers, form.channels, path, target.name), form.bits, form.numbers)
        if form.name.startswith("bgra"):
            texels = bytearray(numbers.data)
            texels[0::4], texels[2::4] = texels[2::4], texels[0::4]
            numbers = numbers._replace(data=bytes(texels))
    if not numbers.shape:
        raise UsageError(f'{path}: holds one number, and "{target.name}" is an image', "give an .npy of its texels")
    return numbers.array()


def suffix(path: str) -> None:
    """See that arrays can be written to a file.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    UsageError
        If they cannot; before anything was done.
    """
    kind = Path(path).suffix.lower()
    if kind not in _WRITTEN:
        raise UsageError(f"{path}: arrays are written to {', '.join(_WRITTEN)}")
    if kind == ".exr":
        _needs("OpenEXR", "EXR", "rgraph-vulkan[io]")
    elif kind in _BY_PILLOW:
        _needs("PIL.Image", kind[1:].upper(), "rgraph-vulkan[io]")


def write(path: str, values: Array) -> None:
    """Write an array to a file.

    Parameters
    ----------
    path
        The file; its suffix says what it becomes.
    values
        What a run left in an image or in a buffer.

    Raises
    ------
    UsageError
        If the suffix stands for nothing that can hold it.
    GraphError
        If PNG cannot hold it.
    """
    suffix(path)
    make_folder(Path(path).parent)
    try:
        values.save(path)
    except GraphError as error:
        if Path(path).suffix.lower() == ".png":
            raise
        raise UsageError(f"{path}: {error.mistakes[0].message}", error.hint) from None
