"""Arrays written to files: NPY, EXR, and pictures by pillow."""

from __future__ import annotations

import io
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NoReturn

from rgraph._core import _mistake, _numpy, _write_file

if TYPE_CHECKING:
    from rgraph import Array

__all__ = ["make_folder", "npy", "save"]

_MAGIC = b"\x93NUMPY"
_BY_PILLOW = (".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp")
WRITTEN = (".png", ".npy", ".exr", *_BY_PILLOW)


def _refuse(code: str, message: str, help: str) -> NoReturn:
    raise _mistake(code, message, help)


def _needs(package: str, what: str) -> Any:
    try:
        return import_module(package)
    except ImportError:
        _refuse("RG-E320", f"{what} needs a package that is not installed", 'pip install "rgraph-vulkan[io]"')


def make_folder(folder: Path) -> None:
    """Make a folder for results, and those above it, where they do not exist.

    Parameters
    ----------
    folder
        The folder.

    Raises
    ------
    GraphError
        RG-E222 if a file is in its place, or in the place of a folder above it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        file = next((one for one in (folder, *folder.parents) if one.exists() and not one.is_dir()), folder)
        _refuse("RG-E222", f"{file}: a file, where a folder for results is needed", "name another folder")


def npy(array: Array) -> bytes:
    """An array as an NPY file; numpy is needed for records only.

    References
    ----------
    `numpy.lib.format`, version 1.
    """
    dtype = array.dtype
    if not isinstance(dtype, str):
        numpy, file = _numpy("an NPY file of records", "array.tobytes() has its bytes"), io.BytesIO()
        numpy.save(file, numpy.asarray(array))
        return file.getvalue()
    kinds = {"f": "float", "u": "uint", "i": "int"}
    letter, bits = next((one, dtype.removeprefix(word)) for one, word in kinds.items() if dtype.startswith(word))
    bytes_each = int(bits) // 8
    shape = ", ".join(map(str, array.shape)) + ("," if len(array.shape) == 1 else "")
    order = "|" if bytes_each == 1 else "<"
    header = f"{{'descr': '{order}{letter}{bytes_each}', 'fortran_order': False, 'shape': ({shape}), }}"
    # The numbers begin at a multiple of 64 bytes.
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return _MAGIC + b"\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + array.tobytes()


def _exr(array: Array) -> bytes:
    module = _needs("OpenEXR", "EXR")
    numpy = _numpy("EXR", ".npy does not need it")
    pixels = numpy.asarray(array)
    pixels = pixels[:, :, None] if pixels.ndim == 2 else pixels
    if pixels.dtype.kind == "u" and pixels.dtype.itemsize < 4:
        scaled = pixels / float(numpy.iinfo(pixels.dtype).max)
        light = numpy.where(scaled <= 0.04045, scaled / 12.92, ((scaled + 0.055) / 1.055) ** 2.4)
        if pixels.shape[-1] == 4:
            light[..., 3] = scaled[..., 3]
        pixels = light.astype("float16")
    several = {1: ("Y",), 2: ("R", "G"), 3: ("RGB",), 4: ("RGBA",)}
    names = several.get(pixels.shape[2]) if pixels.ndim == 3 else None
    if names is None or pixels.dtype.name not in ("float16", "float32", "uint32"):
        _refuse("RG-E320", f"EXR has nothing like {array.dtype} of shape {array.shape}", "write .npy")
    planes = [pixels] if len(names[0]) > 1 else [pixels[:, :, at] for at in range(pixels.shape[2])]
    channels = {name: numpy.ascontiguousarray(plane) for name, plane in zip(names, planes, strict=True)}
    header = {"compression": module.ZIP_COMPRESSION, "type": module.scanlineimage}
    # OpenEXR writes to paths only, with errors of its own.
    with TemporaryDirectory() as folder:
        path = Path(folder, "array.exr")
        module.File(header, channels).write(str(path))
        return path.read_bytes()


def _by_pillow(suffix: str, array: Array) -> bytes:
    kind = suffix[1:].upper()
    module = _needs("PIL.Image", kind)
    png = array._repr_png_()
    if png is None:
        _refuse("RG-E320", f"{kind} has nothing like {array.dtype} of shape {array.shape}", "write .npy")
    with module.open(io.BytesIO(png)) as picture:
        if picture.mode not in ("L", "RGB", "RGBA"):
            _refuse("RG-E320", f"{kind} has 8 bits a channel, and {array.format} has more", "write .png, .exr or .npy")
        opaque = kind in ("JPG", "JPEG", "BMP") and picture.mode == "RGBA"
        file = io.BytesIO()
        try:
            (picture.convert("RGB") if opaque else picture).save(file, module.registered_extensions()[suffix])
        except ValueError as error:
            _refuse("RG-E320", f"{kind} cannot hold a picture of shape {array.shape}: {error}", "write .png or .npy")
        return file.getvalue()


def save(array: Array, path: str) -> None:
    """Write an array to a file; its suffix decides what it becomes.

    Raises
    ------
    GraphError
        If nothing has that suffix, the file cannot hold the array, or a package is missing.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".npy":
        _write_file(path, npy(array))
    elif suffix == ".exr":
        _write_file(path, _exr(array))
    elif suffix in _BY_PILLOW:
        _write_file(path, _by_pillow(suffix, array))
    elif not suffix:
        _refuse("RG-E202", f"{path}: a name without a suffix", f"end it in one of {', '.join(WRITTEN)}")
    else:
        _refuse("RG-E202", f'there is no suffix of arrays called "{suffix}"', f"there are {', '.join(WRITTEN)}")
