"""Modules as values: a part of a graph that is declared once and instantiated with arguments."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Concatenate, Generic, ParamSpec, TypeVar

from rgraph._core import Module

__all__ = ["ModuleValue", "module"]

Arguments = ParamSpec("Arguments")
Made = TypeVar("Made", covariant=True)


class ModuleValue(Generic[Arguments, Made]):
    """A part of a graph, declared once: made by `rgraph.module`.

    Parameters
    ----------
    declare
        Declares an instance: called with a module of its own and the arguments.
    """

    def __init__(self, declare: Callable[Concatenate[Module, Arguments], Made]) -> None:
        self.declare = declare
        update_wrapper(self, declare)

    def __call__(self, into: Module, name: str, /, *arguments: Arguments.args, **options: Arguments.kwargs) -> Made:
        """Make an instance.

        Parameters
        ----------
        into
            The graph, or a module of it.
        name
            Name of the instance: the prefix of the names in it.
        *arguments, **options
            What the module is declared with.

        Raises
        ------
        TypeError
            If `into` is neither a graph nor a module of one.
        """
        if not isinstance(into, Module):
            raise TypeError(
                f"{self._shown()}(graph, name, …) makes an instance in a graph or a module of one, "
                f"and {type(into).__name__} is none"
            )
        return self.declare(into.module(name), *arguments, **options)

    def __repr__(self) -> str:
        return f"<module {self._shown()}>"

    def _shown(self) -> str:
        return getattr(self.declare, "__qualname__", repr(self.declare))


def module(declare: Callable[Concatenate[Module, Arguments], Made]) -> ModuleValue[Arguments, Made]:
    """Make a module of a function, to be instantiated as often as wanted.

    An instance has a name, and names of its own below it. Its passes stand where it is instantiated. It is called like
    a ready-made pass, so `Layer.behind` takes it too.

    Parameters
    ----------
    declare
        Called for each instance: with its `Module`, then with the arguments. What it returns is the instance's result.

    Examples
    --------
    >>> import rgraph as rg
    >>> @rg.module
    ... def painted(m, color):
    ...     image = m.image("image", format="rgba8unorm", size=(4, 4))
    ...     m.clear("paint", image, color)
    ...     return image
    >>> g = rg.Graph("two")
    >>> red, blue = painted(g, "red", (1, 0, 0, 1)), painted(g, "blue", color=(0, 0, 1, 1))
    >>> g.root(red, blue)
    >>> [one.name for one in g.bake().passes]
    ['red/paint', 'blue/paint']

    Raises
    ------
    TypeError
        If `declare` cannot be called.
    """
    if not callable(declare):
        message = f"rgraph.module takes a function that declares an instance, not {type(declare).__name__}"
        raise TypeError(f"{message}: write @rgraph.module above `def name(m, …):`")
    return ModuleValue(declare)
