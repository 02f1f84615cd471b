"""Small pictures of arrays, for pages and notebooks."""

from base64 import b64encode
from typing import Any

from rgraph._core import preview


def data_uri(array: Any, *, size: int = 256) -> str:
    """Make a picture of an array as a `data:` URI.

    Parameters
    ----------
    array
        What a frame gave back, or any other object with a buffer: (height, width), (height, width, channels) or
        (layers, height, width, channels) of any kind of number; layers stand beside each other. Floats are linear
        light, scaled until the brightest texels are white; depths and integers are stretched; what is not finite is
        magenta.
    size
        Longest side of the picture in texels.

    Returns
    -------
    str
        `data:image/png;base64,…`
    """
    made = preview(array, getattr(array, "format", None) if hasattr(array, "dtype") else None, size)
    return "data:image/png;base64," + b64encode(made).decode("ascii")
