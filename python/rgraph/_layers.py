"""Layers: passes that are opened with their attachments, and that others add draws to by key."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile
from math import inf
from numbers import Real
from operator import index
from typing import Any

from rgraph._core import Graph, Image, Module, Pass, View, _mistake

__all__ = ["Layer", "find", "open_layer"]

# Places within a layer, and within a key of it.
_OPENING, _KEYS = 0, 1
_BEHIND, _DRAWN = 0, 1
_MOST_KEY = 2**64 - 1
_BLACK = (0.0, 0.0, 0.0, 0.0)


class _Opened:
    """What all handles of a layer share."""

    def __init__(self, name: str, order: int, targets: tuple[tuple[Any, ...], Any], place: Module) -> None:
        self.name = name
        self.order = order
        self.color, self.depth = targets
        self.place = place
        self.behind: dict[Any, Any] = {}
        self.demanded: dict[str, int] = {}
        self.first: Pass | None = None

    def copy(self, graph: Graph) -> _Opened:
        """The same layer of a copy of its graph."""
        place = graph._layer_place(self.name)
        other = _Opened(self.name, self.order, (self.color, self.depth), place)
        other.behind, other.demanded, other.first = dict(self.behind), dict(self.demanded), self.first
        return other

    def found(self, target: Any) -> Any:
        """A target: of a name what the module that opened the layer calls so, once that is declared."""
        if not isinstance(target, str):
            return target
        around = self.name.split("/")[:-1]
        known = {one.name: one for one in self.place._graph.resources}
        names = ("/".join([*around[:depth], target]) for depth in range(len(around), -1, -1))
        return next((known[name] for name in names if name in known), target)


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

    def _key(self, key: Any) -> int:
        """A key as a plain integer: numpy's integers are keys too."""
        whole = _whole_number(key)
        if whole is None or not 0 <= whole <= _MOST_KEY:
            message = f'layer "{self.name}" has no key {key!r}'
            raise _mistake("RG-E213", message, f"give a whole number from 0 to {_MOST_KEY}")
        return whole

    def _at(self, key: int, part: int, flag: str | None = None) -> Module:
        return self._opened.place._place([_KEYS, key >> 32, key & 0xFFFFFFFF, part], self._names, flag)

    def _demand_name(self, key: int) -> str:
        """A name that no other demand has: the layer's as seen from the module that demands, the key, a number."""
        own, around = self.name.split("/"), _prefix(self._names)
        both = zip(own[:-1], around.split("/"), strict=False)
        shared = len(list(takewhile(lambda pair: pair[0] == pair[1], both)))
        name = f"{'-'.join(own[shared:])}-behind-{key}"
        full = f"{around}/{name}"
        again = sum(one.demanded.get(full, 0) for one in self._names._layers.values())
        demanded = self._opened.demanded
        demanded[full] = demanded.get(full, 0) + 1
        return f"{name}-{again}" if again else name

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
            Its place in the layer: lower keys are drawn first, equal ones in the order of their declaration.
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
        found = self._opened.found
        targets: dict[str, Any] = {"color": [found(one) for one in self.color]} if self.color else {}
        if self.depth is not None:
            targets["depth"] = found(self.depth)
        return self._at(self._key(key), _DRAWN).raster(name, shader, **targets, **options)

    def behind(
        self,
        module: Callable[..., Any] | None = None,
        *,
        key: int,
        target: int | str = 0,
        scale: float = 1,
        name: str | None = None,
        conditional: str | None = None,
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
            Location of the colour target, or `"depth"`. A target that is part of an image, such as `image.mip(1)`, is
            copied as large as the part.
        scale
            Size of the copy, as a multiple of the target's.
        name
            Prefix of the names of copy and module; default: the layer's name as seen from the module that demands,
            `-behind-KEY`, and a number if that name is taken.
        conditional
            The flag of the draws that look behind: the copy and the passes of the module run with it only, unless these
            name flags of their own. Only passes with that flag may read the result.
        **arguments
            For the module.

        Returns
        -------
        Image
            The copy, or what the module returned.

        Raises
        ------
        GraphError
            RG-E202 if there is no such target; RG-E213 if the scale is not a finite number above 0; RG-E219 if the flag
            is empty.
        """
        key, location = self._key(key), _whole_number(target)
        target = target if location is None else location
        given = tuple(sorted(arguments.items(), key=lambda pair: pair[0]))
        _check_scale(self.name, scale)
        demand = (key, target, scale, module, name, conditional, given)
        known = self._opened.behind
        try:
            if demand in known:
                return known[demand]
            keep = True
        except TypeError:  # an argument cannot be hashed
            keep = False
        source = self._target(target)
        if name is None:
            name = self._demand_name(key)
        m = self._at(key, _BEHIND, conditional)
        made = _copied(m, name, source, scale)
        if module is not None:
            made = module(m, name, made, **arguments)
        if keep:
            known[demand] = made
        return made

    def _target(self, target: int | str) -> Image | View:
        found = self.depth if isinstance(target, str) and target == "depth" else None
        if type(target) is int and 0 <= target < len(self.color):
            found = self.color[target]
        found = self._opened.found(found)
        if not isinstance(found, Image | View) or not isinstance(_whole(found), Image):
            message = f'layer "{self.name}" has no image as target {target!r}'
            raise _mistake("RG-E202", message, 'name a location whose target is an image, or "depth"')
        return found

    def __repr__(self) -> str:
        return f'<Layer "{self.name}" (order {self.order})>'


def _whole_number(value: Any) -> int | None:
    """An integer, numpy's too; None: it is none, or it is a truth value."""
    try:
        return None if isinstance(value, bool) else index(value)
    except TypeError:
        return None


def _check_scale(layer: str, scale: Any) -> None:
    number: Any = scale
    if isinstance(scale, bool) or not isinstance(scale, Real):
        raise TypeError(f"the scale of what is behind a layer is a number, not {type(scale).__name__}")
    if not 0 < number < inf:
        message = f'what is behind layer "{layer}" is scaled by {scale}'
        raise _mistake("RG-E213", message, "give it a finite number above 0")


def _whole(target: Any) -> Any:
    return target.resource if isinstance(target, View) else target


def _part(target: Any) -> dict[str, Any]:
    """What an access says of the part of an image that a view is."""
    if not isinstance(target, View):
        return {}
    ranges = {"mips": target.mip_range, "layers": target.layer_range}
    return {key: value for key, value in ranges.items() if value is not None}


def _copied(m: Module, name: str, source: Image | View, scale: float) -> Image:
    """A copy of what a target shows of an image, of one sample."""
    image = _whole(source)
    level, end = (isinstance(source, View) and source.mip_range) or (0, image.mip_count)
    first, last = (isinstance(source, View) and source.layer_range) or (0, image.layer_count)
    if end > level + 1:
        # Draws go to the first of several mips.
        source = source.mip(level)
    part: dict[str, Any] = {"like": image}
    if image.mip_count > 1:
        part |= {"mips": 1, "scale": 0.5**level, "round": "down"}
    if last - first < image.layer_count:
        part |= {"layers": last - first, "cube": False}
    if image.samples > 1:
        from rgraph.passes import resolve

        flat = m.image(f"{name}.resolved", **part, samples=1)
        resolve(m, f"{name}.resolve", source, flat)
        if scale == 1:
            return flat
        source, part = flat, {"like": flat}
    if scale == 1:
        copy = m.image(f"{name}.copy", **part)
        m.copy(f"{name}.copy", source, copy)
    else:
        copy = m.image(f"{name}.copy", **part | {"scale": scale * part.get("scale", 1)})
        # Only what has numbers in between can be mixed.
        whole = any(word in image.format for word in ("uint", "sint", "depth", "stencil"))
        m.blit(f"{name}.copy", source, copy, filter="nearest" if whole else "linear")
    return copy


def carry(opened: dict[str, _Opened], graph: Graph) -> None:
    """Open the layers of a graph in a copy of it.

    Parameters
    ----------
    opened
        Layers by full name.
    graph
        The copy.
    """
    graph._layers.update({name: one.copy(graph) for name, one in opened.items()})


def _prefix(m: Module) -> str:
    """The names of the modules around names of a module: a graph's own is none of them."""
    return "" if isinstance(m, Graph) else m.name


def _check(name: str, targets: tuple[Any, ...], depth: Any, clear: Any, clear_depth: Any) -> None:
    """Refuse targets that are none, and clear values of none."""
    for target in (*targets, depth):
        if not isinstance(target, str | Image | View | None) or not isinstance(_whole(target), str | Image | None):
            raise TypeError(f"a target of a layer is an image, part of one or a name, not {type(target).__name__}")
    colored = any(target is not None for target in targets)
    if not colored and depth is None:
        raise TypeError(f'layer "{name}" needs color= or depth=')
    for word, value, there in (("clear", clear, colored), ("clear_depth", clear_depth, depth is not None)):
        if value is not None and not there:
            raise TypeError(
                f'layer "{name}" has {word}=, and no {"color" if word == "clear" else "depth"}= to be cleared'
            )


def open_layer(m: Module, name: str, color: Any, depth: Any, order: int, clear: Any, clear_depth: Any) -> Layer:
    """See `Module.layer`.

    Parameters
    ----------
    m, name, color, depth, order, clear, clear_depth
        As there.
    """
    opened: dict[str, _Opened] = m._layers
    if not name:
        raise _mistake("RG-E219", "a layer has an empty name", "give it a name")
    full = f"{_prefix(m)}/{name}" if _prefix(m) else name
    known = opened.get(full)
    if known is not None and not m._replaces:
        raise _mistake("RG-E201", f'layer "{full}" is open already', f'find it: layer("{name}"), or rename one of them')
    targets = tuple(color) if isinstance(color, list | tuple) else () if color is None else (color,)
    _check(name, targets, depth, clear, clear_depth)
    functions = {word: one for word, one in (("clear", clear), ("clear_depth", clear_depth)) if callable(one)}
    clear, clear_depth = _BLACK if callable(clear) else clear, 0.0 if callable(clear_depth) else clear_depth
    several = isinstance(clear, list | tuple) and any(one is None or isinstance(one, list | tuple) for one in clear)
    values = list(clear) if several else [clear] * len(targets)
    if len(values) != len(targets):
        raise TypeError(f"clear has {len(values)} entries for {len(targets)} colour targets")
    place = m._layer_place(name, order)
    layer = Layer(_Opened(full, order, (targets, depth), place), m)
    if known is not None and known.first is not None:
        m._graph.remove(known.first)
    if clear is not None or clear_depth is not None:
        first = place._place([_OPENING], m).add_pass(name)
        try:
            for target, value in zip(targets, values, strict=True):
                if target is not None:
                    first.color(_whole(target), **_part(target), **({} if value is None else {"clear": value}))
            if depth is not None:
                first.depth(_whole(depth), **_part(depth), **({} if clear_depth is None else {"clear": clear_depth}))
            if functions:
                first._per_run(functions)
        except BaseException:
            # What is refused leaves nothing behind.
            m._graph.remove(first)
            raise
        layer._opened.first = first
    if known is not None:
        # Handles of the layer that was opened before are handles of this one.
        known.__dict__ |= layer._opened.__dict__
        return Layer(known, m)
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
