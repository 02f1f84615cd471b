"""Any image of a graph as a picture to look at: `--show NAME`."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

import rgraph
from rgraph.cli import UsageError
from rgraph.cli._terminal import nearest
from rgraph.demo._shaders import shader

SHOWN = "shown"
"""Name of the picture that is added."""
_SMALLEST = 512
"""Pictures narrower than this are enlarged by a whole number."""
_KINDS = ("COLOUR", "GREY", "DEPTH", "SIGNED", "LIGHT", "SCALAR", "COUNT")
_MEANINGS = {"normal": "SIGNED", "velocity": "SIGNED", "motion": "SIGNED", "occlusion": "GREY"}
"""What floats are, by words in the image's name."""
_PART = re.compile(r"\.(mip|layer)(\d+)$")


class Shown(NamedTuple):
    """What is to be shown."""

    image: rgraph.Image
    """The whole image."""
    mip: int
    """Its level."""
    layer: int | None
    """Its layer; None: all of them, side by side."""


def names(graph: rgraph.Graph) -> list[str]:
    """The images that can be shown, in the order of their declaration."""
    return [resource.name for resource in graph.resources if isinstance(resource, rgraph.Image)]


def find(graph: rgraph.Graph, what: str) -> Shown:
    """Find what `NAME`, `NAME.mipN`, `NAME.layerN` or both mean.

    Raises
    ------
    UsageError
        If there is no such image, or it has no such part.
    """
    known = names(graph)
    name, part = what, {"mip": 0, "layer": -1}
    while name not in known and (found := _PART.search(name)):
        part[found[1]] = int(found[2])
        name = name[: found.start()]
    if name not in known:
        raise UsageError(f'there is no image "{name}" to be shown', nearest(name, known))
    image = next(one for one in graph.resources if one.name == name and isinstance(one, rgraph.Image))
    for what_, count in (("mip", image.mip_count), ("layer", image.layer_count)):
        if part[what_] >= count:
            last = f"{what_}0 to {what_}{count - 1}" if count > 1 else f"only {what_}0"
            raise UsageError(f'"{name}" has no {what_}{part[what_]}', f"it has {last}")
    return Shown(image, part["mip"], part["layer"] if part["layer"] >= 0 else None)


def _kind(format_: str) -> tuple[str, str]:
    """How a format is shown, and the type of its texels in shaders."""
    if format_.startswith(("depth", "stencil")):
        return "DEPTH", "depth"
    channels = len(re.sub(r"[^rgba]", "", format_.split("unorm")[0].split("float")[0].rstrip("0123456789")))
    if "uint" in format_:
        return "COUNT", "u32"
    if "sint" in format_:
        return "SIGNED", "i32"
    if "snorm" in format_:
        return "SIGNED", "f32"
    if "float" in format_:
        return {1: "SCALAR", 2: "SIGNED"}.get(channels, "LIGHT"), "f32"
    return ("GREY" if channels == 1 else "COLOUR"), "f32"


def add(graph: rgraph.Graph, what: str) -> rgraph.Image:
    """Add passes that make a picture of an image, and make it a root.

    Colours with high range are exposed by their mean, depths are bright where near, normals and motion are grey
    where zero, single numbers go from black to white (from blue to orange, about zero), counts have colours by value.
    Layers stand side by side; small pictures are enlarged.

    Parameters
    ----------
    graph
        The graph; it is changed.
    what
        See `find`.

    Returns
    -------
    Image
        The picture, `rgba8unorm`.
    """
    image, mip, layer = find(graph, what)
    width, height = (max(1, axis >> mip) for axis in image.size[:2])
    layers = image.layer_count if layer is None else 1
    grid = math.ceil(math.sqrt(layers))
    times = max(1, -(-_SMALLEST // (width * grid)))
    size = (width * grid * times, height * grid * times)
    kind, scalar = _kind(image.format or "")
    if "float" in (image.format or ""):
        kind = next((kind for word, kind in _MEANINGS.items() if word in image.name), kind)
    array = "_array" if layers > 1 else ""
    texture = f"texture_depth_2d{array}" if scalar == "depth" else f"texture_2d{array}<{scalar}>"
    place = "at, layer, 0" if layers > 1 else "at, 0"
    load = f"vec4<f32>(textureLoad(source, {place}))"
    consts = "".join(f"const {name}: u32 = {at}u;\n" for at, name in enumerate(_KINDS))
    part: Any = image.mip(mip)
    if layer is not None:
        part = part.layer(layer)

    def text(name: str) -> str:
        return consts + shader(name).replace("$texture", texture).replace("$load", load)

    measured = graph.buffer(f"{SHOWN}/measured", 32)
    shown = graph.image(SHOWN, size, "rgba8unorm")
    graph.compute(
        f"{SHOWN}/measure", text("show_measure"), source=part, measured=measured, push={"layers": layers}, groups=1
    )
    push = {"grid": grid, "layers": layers, "kind": _KINDS.index(kind)}
    graph.compute(f"{SHOWN}/draw", text("show"), source=part, measured=measured, shown=shown, push=push)
    graph.root(shown)
    return shown
