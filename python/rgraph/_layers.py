"""Layers: passes that are opened with their attachments, and that others add draws to by key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rgraph._core import Graph, Image, Module, Pass
from rgraph._errors import GraphError, Mistake

__all__ = ["Layer", "find", "open_layer"]

# Places within a layer, and within a key of it.
_OPENING, _KEYS = 0, 1
_BEHIND, _DRAWN = 0, 1
_MOST_KEY = 2**64 - 1


class _Opened:
    """What all handles of a layer share."""

    def __init__(self, name: str, order: int, targets: tuple[tuple[Any, ...], Any], place: Module) -> None:
        self.name = name
        self.order = order
        self.color, self.depth = targets
        self.place = place
        self.behind: dict[Any, Image] = {}


class Layer:
    """A pass that is opened with its attachments, and that others add draws to by key: made by `Module.layer`."""

    def __init__(self, opened: _Opened, names: Module) -> None:
        self._opened = opened
        self._names = names

    @property
    def name(self) -> str:
        """Its full name, with those of the modules around it."""
        return self._opened.name

    @property
    def order(self) -> int:
        """Where it stands among the layers of its module."""
        return self._opened.order

    @property
    def color(self) -> tuple[Any, ...]:
        """Its colour targets by location."""
        return self._opened.color

    @property
    def depth(self) -> Any:
        """Its depth attachment, or None."""
        return self._opened.depth

    def _at(self, key: int, part: int) -> Module:
        if not isinstance(key, int) or isinstance(key, bool) or not 0 <= key <= _MOST_KEY:
            message = f'layer "{self.name}" has no key {key!r}'
            raise _mistake("RG-E213", message, f"give a whole number from 0 to {_MOST_KEY}")
        return self._opened.place._place([_KEYS, key >> 32, key & 0xFFFFFFFF, part], self._names)

    def draw(self, name: str, shader: Any, *, key: int = 0, **options: Any) -> Pass:
        """Add a pass that draws to the attachments of the layer.

        Names are those of the module through which the layer was found. `Pass.draw` adds further draws to it.

        Parameters
        ----------
        name
            Its name among passes.
        shader
            See `Module.raster`.
        key
            Where it stands in the layer: lower keys are drawn first, equal ones in the order of their declaration.
        **options
            Those of `Module.raster`, except `color` and `depth`.

        Returns
        -------
        Pass
            The pass.

        Raises
        ------
        GraphError
            RG-E213 if the key is negative or has more than 64 bits.
        """
        if clash := {"color", "depth"} & options.keys():
            raise TypeError(
                f"draw() got an unexpected keyword argument {sorted(clash)[0]!r}: the layer has the targets"
            )
        targets: dict[str, Any] = {"color": list(self.color)} if self.color else {}
        if self.depth is not None:
            targets["depth"] = self.depth
        return self._at(key, _DRAWN).raster(name, shader, **targets, **options)

    def behind(
        self,
        module: Callable[..., Any] | None = None,
        *,
        key: int,
        target: int | str = 0,
        scale: float = 1,
        name: str | None = None,
        **arguments: Any,
    ) -> Any:
        """Demand what is behind a key: the contents of the layer before its draws.

        A copy of the target (of a multisampled one its mean, scaled down with a blit) is instantiated before the draws
        of that key, and the module behind it. The render pass ends there and goes on afterwards, with the barriers that
        this takes. Equal demands are one. Without a demand nothing is copied.

        Parameters
        ----------
        module
            What is made of the copy: called as a ready-made pass is, `module(m, name, image, **arguments)`, such as
            `rgraph.passes.blur` or a module of `rgraph.module`. It may demand what is behind other layers. Default: the
            copy is the result.
        key
            Draws of the layer with lower keys are behind.
        target
            Location of the colour target, or `"depth"`.
        scale
            Size of the copy, as a multiple of the target's.
        name
            Prefix of the names of copy and module; default: `behind-KEY` and a number.
        **arguments
            For the module.

        Returns
        -------
        Image
            The copy, or what the module returned.

        Raises
        ------
        GraphError
            RG-E202 if there is no such target.
        """
        demand = (key, target, scale, module, name, tuple(sorted(arguments.items(), key=lambda pair: pair[0])))
        known = self._opened.behind
        try:
            if demand in known:
                return known[demand]
            keep = True
        except TypeError:  # an argument cannot be hashed
            keep = False
        source = self._target(target)
        if name is None:
            name = f"{self.name.replace('/', '-')}-behind-{key}" + (f"-{len(known)}" if known else "")
        m = self._at(key, _BEHIND)
        made = _copied(m, name, source, scale)
        if module is not None:
            made = module(m, name, made, **arguments)
        if keep:
            known[demand] = made
        return made

    def _target(self, target: int | str) -> Image:
        found = self.depth if target == "depth" else None
        if isinstance(target, int) and 0 <= target < len(self.color):
            found = self.color[target]
        if not isinstance(found, Image):
            message = f'layer "{self.name}" has no image as target {target!r}'
            raise _mistake("RG-E202", message, 'name a location whose target is an image, or "depth"')
        return found

    def __repr__(self) -> str:
        return f'<Layer "{self.name}" (order {self.order})>'


def _copied(m: Module, name: str, source: Image, scale: float) -> Image:
    """A copy of an image, of one sample."""
    if source.samples > 1:
        from rgraph.passes import resolve

        flat = m.image(f"{name}.resolved", like=source)
        resolve(m, f"{name}.resolve", source, flat)
        if scale == 1:
            return flat
        source = flat
    copy = m.image(f"{name}.copy", like=source, scale=scale)
    if scale == 1:
        m.copy(f"{name}.copy", source, copy)
    else:
        m.blit(f"{name}.copy", source, copy)
    return copy


def _mistake(code: str, message: str, hint: str) -> GraphError:
    return GraphError(f"{code} {message}\nhelp: {hint}", (Mistake(code, message, hint=hint),))


def _prefix(m: Module) -> str:
    """The names of the modules around names of a module: a graph's own is none of them."""
    return "" if isinstance(m, Graph) else m.name


def open_layer(m: Module, name: str, color: Any, depth: Any, order: int, clear: Any, clear_depth: Any) -> Layer:
    """See `Module.layer`.

    Parameters
    ----------
    m, name, color, depth, order, clear, clear_depth
        As there.
    """
    opened: dict[str, _Opened] = m._layers
    full = f"{_prefix(m)}/{name}" if _prefix(m) else name
    if full in opened:
        raise _mistake("RG-E201", f'layer "{full}" is open already', f'find it: layer("{name}"), or rename one of them')
    targets = tuple(color) if isinstance(color, list | tuple) else () if color is None else (color,)
    place = m._layer_place(name, order)
    layer = Layer(_Opened(full, order, (targets, depth), place), m)
    if clear is not None or clear_depth is not None:
        first = place._place([_OPENING], m).add_pass(name)
        values = clear if isinstance(clear, list) else [clear] * len(targets)
        for target, value in zip(targets, values, strict=True):
            if target is not None:
                first.color(target, **({} if value is None else {"clear": value}))
        if depth is not None:
            first.depth(depth, **({} if clear_depth is None else {"clear": clear_depth}))
    opened[full] = layer._opened
    return layer


def find(m: Module, name: str) -> Layer:
    """The layer of a name, opened in a module or around it.

    Parameters
    ----------
    m
        The module; names of what it adds are its.
    name
        The name.
    """
    opened: dict[str, _Opened] = m._layers
    around = _prefix(m).split("/") if _prefix(m) else []
    for depth in range(len(around), -1, -1):
        full = "/".join([*around[:depth], name])
        if full in opened:
            return Layer(opened[full], m)
    hint = f"layers that are open: {', '.join(opened)}" if opened else "open it: g.layer(name, color=…)"
    raise _mistake("RG-E202", f'no layer is called "{name}"', hint)
