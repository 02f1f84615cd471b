"""What an importer hands back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rgraph.importers._mistake import refuse

if TYPE_CHECKING:
    from rgraph import Device, Frame, Graph
    from rgraph.importers._slang import Parameter

__all__ = ["Imported"]


@dataclass(frozen=True)
class Imported:
    """A graph of another program, and notes about everything that was not imported.

    Attributes
    ----------
    graph
        The graph.
    notes
        Everything that was not imported, or was guessed, one line each, with file and line where they are known.
    files
        All files that were read.
    parameters
        Numbers that the importer takes as `parameters`, by name.
    input
        The image that a run gets as `inputs={input: array}`; None: there is none.
    output
        The image with the result; None: the graph has several results, or none.
    """

    graph: Graph
    notes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    parameters: dict[str, Parameter] = field(default_factory=dict)
    input: str | None = None
    output: str | None = None
    _data: Sequence[Any] = field(default=(), repr=False)

    def params(self, frame: int = 0) -> dict[Any, Any]:
        """The data of passes that counts frames, for `Device.run(graph, params=…)`.

        Parameters
        ----------
        frame
            The frame's number, from 0.

        Returns
        -------
        dict
            Data by pass, or by (pass, block).
        """
        out: dict[Any, Any] = {}
        for one in self._data:
            count = (frame % one.modulus if one.modulus else frame) & 0xFFFF_FFFF
            early = {name: value for name, (frames, value) in one.early.items() if frame < frames}
            counted = {name: type(one.values[name])(count) for name in one.counters}
            out[one.target] = {**one.values, **counted, **early}
        return out

    def run(self, device: Device, picture: Any = None, *, frames: int = 1) -> Frame:
        """Run frames of the graph, with one picture as the input of all of them.

        Parameters
        ----------
        device
            Where.
        picture
            The contents of `input`: of shape (height, width, 4) for presets, `uint8`.
        frames
            How many, at least 1; they count from 0.

        Returns
        -------
        Frame
            The last one.

        Raises
        ------
        GraphError
            RG-E213 if `frames` is not at least 1; else as `Device.compile` and `Compiled.run`.
        """
        if frames < 1:
            refuse(f"{frames} frames have no last one", "give frames=1 or more", None, "RG-E213")
        inputs = {} if picture is None or self.input is None else {self.input: picture}
        done = device.compile(self.graph)
        for number in range(frames):
            frame = done.run(inputs=inputs, params=self.params(number) or None)
        return frame
