"""Small pictures of arrays, for pages and notebooks."""

from base64 import b64encode
from typing import Any

from rgraph._core import _texels, preview


def data_uri(array: Any, *, size: int = 256) -> str:
    """Make a picture of an array as a `data:` URI.

    Parameters
    ----------
    array
        What a frame gave back, or any other object with a buffer: (height, width), (height, width, channels) or
        (layers, height, width, channels) of any kind of number; layers are side by side. Floats are linear
        light, scaled until the brightest texels are white; depths and integers are stretched; what is not finite is
        magenta.
    size
        Longest side of the picture in texels.

    Returns
    -------
    str
        `data:image/png;base64,…`
    """
    return _uri(preview(array, _format(array), size))


def values(array: Any, *, size: int = 256) -> tuple[Any, ...]:
    """Make the values of an array ready for the viewer.

    Parameters
    ----------
    array
        As for `data_uri`.
    size
        Longest side in texels; longer ones are shown as means.

    Returns
    -------
    tuple
        The `data:` URI of their bytes, width and height of a layer in it, width, height and layers of the array, the
        layers shown, numbers per texel, their kind, and the number that stands for 1.
    """
    png, *rest = _texels(array, _format(array), size)
    return _uri(png), *rest


def described(name: str, array: Any, *, size: int) -> dict[str, Any]:
    """Describe the values of an image as the viewer reads them.

    Parameters
    ----------
    name
        The image.
    array, size
        As for `values`.

    Returns
    -------
    dict
        As an entry of `values` in the page's data: `Values` of `rgraph_plan::report::page`.
    """
    png, shown, whole, layers, channels, kind, full = values(array, size=size)
    return {
        "name": name,
        "after": False,
        "mip": 0,
        "png": png,
        "size": shown,
        "of": whole,
        "layers": layers,
        "channels": channels,
        "kind": kind,
        "full": full,
    }


def _format(array: Any) -> str | None:
    """The texel format of what a frame gave back."""
    return getattr(array, "format", None) if hasattr(array, "dtype") else None


def _uri(png: bytes) -> str:
    return "data:image/png;base64," + b64encode(png).decode("ascii")
