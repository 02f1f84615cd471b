"""PNG files without any package: every colour type and bit depth, interlaced or not.

Source: Portable Network Graphics specification, third edition, sections 7 to 10 (filters: 9, interlacing: 8).
"""

from __future__ import annotations

import struct
import zlib
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["decode"]

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Samples of a pixel by colour type: grey, colour, palette, grey with alpha, colour with alpha.
_SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
# First column and row, and distances, of the seven reduced pictures of an interlaced one.
_ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
_MOST_BYTES = 1 << 31


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    if not data.startswith(_SIGNATURE):
        raise ValueError("is no PNG file")
    at = len(_SIGNATURE)
    while at + 8 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8 : at + 8 + length]
        check = data[at + 8 + length : at + 12 + length]
        if len(body) < length or check != struct.pack(">I", zlib.crc32(kind + body)):
            raise ValueError(f"is damaged in its part {kind.decode('latin-1')}")
        yield kind, body
        if kind == b"IEND":
            return
        at += 12 + length
    raise ValueError("ends too early")


def _paeth(row: bytearray, above: bytes, step: int) -> None:
    for at in range(len(row)):
        left = row[at - step] if at >= step else 0
        up = above[at]
        corner = above[at - step] if at >= step else 0
        to_left, to_up, to_corner = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
        if to_left > to_up or to_left > to_corner:
            left = up if to_up <= to_corner else corner
        row[at] = (row[at] + left) & 255


def _unfilter(kind: int, row: bytearray, above: bytes, step: int) -> None:
    """Undo a row's filter; `step`: bytes from a pixel to the next."""
    if kind == 1:
        for channel in range(step):
            row[channel::step] = bytes(value & 255 for value in accumulate(row[channel::step]))
    elif kind == 2:
        row[:] = bytes((value + up) & 255 for value, up in zip(row, above, strict=True))
    elif kind == 3:
        for at in range(len(row)):
            row[at] = (row[at] + ((row[at - step] if at >= step else 0) + above[at]) // 2) & 255
    elif kind == 4:
        _paeth(row, above, step)
    elif kind:
        raise ValueError(f"has a row of the unknown filter {kind}")


def _rows(data: bytes, at: int, width: int, height: int, bits: int) -> tuple[list[bytes], int]:
    """Unfiltered rows of `bits` a pixel from a place on, and the place behind them."""
    length, step = (width * bits + 7) // 8, max(1, bits // 8)
    rows, above = [], bytes(length)
    for _ in range(height):
        row = bytearray(data[at + 1 : at + 1 + length])
        if len(row) < length:
            raise ValueError("has too few pixels")
        _unfilter(data[at], row, above, step)
        above = bytes(row)
        rows.append(above)
        at += 1 + length
    return rows, at


def _unpacked(row: bytes, depth: int, count: int) -> bytes:
    """Samples of 1, 2 or 4 bits as bytes."""
    if depth >= 8:
        return row
    most = (1 << depth) - 1
    return bytes((row[at * depth // 8] >> (8 - depth - at * depth % 8)) & most for at in range(count))


def _pixels(data: bytes, width: int, height: int, depth: int, samples: int, interlaced: bool) -> bytes:
    """All samples, row by row; of less than eight bits as bytes."""
    size = max(1, depth // 8) * samples
    if not interlaced:
        rows, _ = _rows(data, 0, width, height, depth * samples)
        return b"".join(_unpacked(row, depth, width * samples) for row in rows)
    out, at = bytearray(width * height * size), 0
    for left, top, right, down in _ADAM7:
        wide, high = (width - left + right - 1) // right, (height - top + down - 1) // down
        if wide <= 0 or high <= 0:
            continue
        rows, at = _rows(data, at, wide, high, depth * samples)
        for number, packed in enumerate(rows):
            row = _unpacked(packed, depth, wide * samples)
            first = ((top + number * down) * width + left) * size
            end = (top + number * down + 1) * width * size
            for byte in range(size):
                out[first + byte : end : right * size] = row[byte::size]
    return bytes(out)


def _with_palette(pixels: bytes, palette: bytes, alpha: bytes) -> tuple[int, bytes]:
    """Colours of palette entries: channels, and samples."""
    entries = [palette[at : at + 3] for at in range(0, len(palette) - 2, 3)]
    if pixels and max(pixels) >= len(entries):
        raise ValueError("has a pixel whose colour is not in the palette")
    if not alpha:
        return 3, b"".join([entries[pixel] for pixel in pixels])
    full = [entry + alpha[at : at + 1].ljust(1, b"\xff") for at, entry in enumerate(entries)]
    return 4, b"".join([full[pixel] for pixel in pixels])


def _with_key(pixels: bytes, samples: int, wide: int, key: bytes) -> bytes:
    """Add alpha: 0 where a pixel has the one colour that is meant to be clear."""
    step = samples * wide
    clear = b"".join(key[at * 2 + 2 - wide : at * 2 + 2] for at in range(samples))
    whole, none = b"\xff" * wide, bytes(wide)
    parts = (pixels[at : at + step] for at in range(0, len(pixels), step))
    return b"".join([part + (none if part == clear else whole) for part in parts])


def decode(data: bytes) -> tuple[int, int, int, int, bytes]:
    """Read a PNG file.

    Palettes become colours, and what is marked as clear becomes alpha; grey of 1, 2 or 4 bits becomes 8 bits. Colour
    profiles and gamma are not applied.

    Parameters
    ----------
    data
        The file.

    Returns
    -------
    tuple of (int, int, int, int, bytes)
        Width, height, channels (1 grey, 2 grey and alpha, 3 colour, 4 colour and alpha), bytes of a sample (1, or 2
        of the machine's own order), and the samples row by row, top row first.

    Raises
    ------
    ValueError
        If it is no PNG file, or a damaged one.
    """
    header, body, palette, alpha = b"", [], b"", b""
    for kind, chunk in _chunks(data):
        if kind == b"IHDR":
            header = chunk
        elif kind == b"IDAT":
            body.append(chunk)
        elif kind == b"PLTE":
            palette = chunk
        elif kind == b"tRNS":
            alpha = chunk
        elif not kind[0] & 32 and kind != b"IEND":
            raise ValueError(f"needs the unknown part {kind.decode('latin-1')}")
    if len(header) != 13:
        raise ValueError("has no header")
    width, height, depth, color, method, filters, interlaced = struct.unpack(">IIBBBBB", header)
    if not width or not height or depth not in _DEPTHS.get(color, ()) or method or filters or interlaced > 1:
        raise ValueError("has a wrong header")
    samples = _SAMPLES[color]
    if width * height * samples * 2 > _MOST_BYTES:
        raise ValueError(f"is too large: {width} × {height}")
    # Every row has a byte before it; an interlaced picture has at most twice as many rows.
    most = (width * samples * max(depth, 8) // 8 + 8) * height * 2 + 64
    unpacker = zlib.decompressobj()
    try:
        pixels = unpacker.decompress(b"".join(body), most)
    except zlib.error as error:
        raise ValueError(f"is damaged: {error}") from None
    pixels = _pixels(pixels, width, height, depth, samples, bool(interlaced))
    if color == 3:
        samples, pixels = _with_palette(pixels, palette, alpha)
        depth = 8
    elif depth < 8:
        if alpha:
            pixels = _with_key(pixels, 1, 1, alpha[:2])
        # The alpha that was added is 0 or 255 already.
        scale = bytes(min(255, value * 255 // ((1 << depth) - 1)) for value in range(256))
        pixels = _grey(pixels, scale) if alpha else pixels.translate(scale)
        samples += bool(alpha)
    elif alpha and color in (0, 2):
        pixels = _with_key(pixels, samples, depth // 8, alpha)
        samples += 1
    wide = max(1, depth // 8)
    if wide == 2:
        pixels = _native(pixels)
    return width, height, samples, wide, pixels


def _grey(pixels: bytes, scale: bytes) -> bytes:
    """Scale the grey of grey and alpha."""
    out = bytearray(pixels)
    out[::2] = pixels[::2].translate(scale)
    return bytes(out)


def _native(pixels: bytes) -> bytes:
    """Samples of 16 bits in the machine's own order."""
    from array import array
    from sys import byteorder

    values = array("H", pixels)
    if byteorder == "little":
        values.byteswap()
    return values.tobytes()
