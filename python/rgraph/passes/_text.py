"""Text over a picture."""

from __future__ import annotations

from rgraph._core import Buffer, Module, Pass, View
from rgraph.passes._font import CELL, glyphs, table
from rgraph.passes._mistake import number, ready_made, refuse, whole
from rgraph.passes._picture import ImageLike, data, picture
from rgraph.passes._shader import text as shader_text

__all__ = ["text"]

_MOST = 1 << 20


@ready_made
def text(
    g: Module,
    name: str,
    text: str | Buffer | View,
    target: ImageLike,
    *,
    position: tuple[float, float] = (8.0, 8.0),
    scale: float = 1.0,
    color: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0),
    background: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0),
    length: int | None = None,
) -> Pass:
    r"""Write text over a picture, as a pass `name/draw`.

    Parameters
    ----------
    g
        Graph or module that the pass is declared in.
    name
        Prefix of the pass's name.
    text
        The text: ASCII and most of Latin-1, with `\n` and `\t`; or a buffer of `glyphs`. A run changes a text by
        `inputs={"name/glyphs": passes.glyphs("new", length)}`.
    target
        Image to draw on; its format must support blending.
    position
        Offset in texels from the upper left corner of the target to that of the text.
    scale
        Texels per dot of the font: a character has 6 × 12 dots.
    color, background
        Red, green, blue and alpha of set dots, and of the others; linear if the target is sRGB, else as the target
        stores them. The default background is transparent.
    length
        Maximal number of characters; default: those of the text, or all of the buffer.

    Returns
    -------
    Pass
        The pass. Members of its push data are `size`, `position`, `colour`, `background` and `scale`.

    Raises
    ------
    GraphError
        If the target is unsuitable, or a number is out of range. The graph is left unchanged.

    Notes
    -----
    The font was made for this package.
    """
    dst = picture(g, name, "target", target)
    if len(position) != 2:
        refuse("RG-E213", name, f"position is {position!r}", "give (x, y) in texels")
    x, y = (number(name, "position", axis, -1e6, 1e6) for axis in position)
    number(name, "scale", scale, 0.0, 1e4, open=True)
    for what, value in (("color", color), ("background", background)):
        if len(value) != 4:
            refuse("RG-E213", name, f"{what} is {value!r}", "give (red, green, blue, alpha)")
        for channel in value:
            number(name, what, channel, -65504.0, 65504.0)
    if length is not None:
        whole(name, "length", length, 1, _MOST)
    if isinstance(text, str):
        words = glyphs(text, length)
        source: Buffer | View = g.import_array(f"{name}/glyphs", words, as_buffer=True)
        count = len(words)
    else:
        buffer, _, size = data(g, name, "text", text)
        count = size // 4 if length is None else length
        if count * 4 > size or count == 0:
            message = f'text "{buffer.name}" has {size} bytes for {count} characters'
            refuse("RG-E205", name, message, "give four bytes per character", (buffer, f"{buffer.size} bytes"))
        source = text
    font = g.import_array(f"{name}/font", table(), as_buffer=True)
    push = {
        "size": dst.size,
        "position": (x, y),
        "colour": [float(one) for one in color],
        "background": [float(one) for one in background],
        "scale": float(scale),
    }
    return g.raster(
        f"{name}/draw",
        shader_text("text", cell=f"{CELL[0]}.0, {CELL[1]}.0"),
        color=dst.part,
        load="load",
        blend="alpha",
        topology="triangle_strip",
        vertices=4,
        instances=count,
        push=push,
        bindings={"glyphs": source, "font": font},
    )
