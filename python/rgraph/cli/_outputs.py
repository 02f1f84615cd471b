"""Results of runs as files: their names, and what is written of each frame."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rgraph.cli import UsageError
from rgraph.cli._running import bound
from rgraph.cli._terminal import Progress, nearest

if TYPE_CHECKING:
    import argparse

    from rgraph import Compiled, CompiledDevices, Frame, Report
    from rgraph.cli._running import Settings

__all__ = ["Outputs", "file_name", "written"]

#: Frames that run while the report of the one before them is awaited.
_UNDER_WAY = 3


def file_name(name: str, taken: set[str]) -> str:
    """A name of a resource as a name of a file, which stays within its folder.

    Parameters
    ----------
    name
        The resource.
    taken
        Names of other files of the folder; takes the new one.
    """
    plain = re.sub(r"[^\w.-]+", "-", name).strip(".-") or "result"
    while plain in taken:
        plain += "_"
    taken.add(plain)
    return plain


class Outputs:
    """Where results go.

    Parameters
    ----------
    arguments
        With `out` and `output`.
    names
        The results.
    """

    def __init__(self, arguments: argparse.Namespace, names: list[str]) -> None:
        from rgraph.cli._pictures import suffix

        self.files: dict[str, str] = {}
        self.folder: Path | None = None
        out: str | None = arguments.out
        if out == "":
            raise UsageError("the name of a file is empty", "give -o a file or a folder")
        for name, path in arguments.output:
            if not name and len(names) != 1:
                raise UsageError(f"--output {path}: there are {len(names)} results", "use --output NAME=FILE")
            name = name or names[0]
            if name not in names:
                raise UsageError(
                    f'--output: "{name}" is no result', nearest(name, names, f"--show {name} makes it one")
                )
            self.files[name] = path
        if out is not None and Path(out).suffix and not Path(out).is_dir():
            if len(names) != 1:
                raise UsageError(f"{out}: there are {len(names)} results", "give a folder, or --output NAME=FILE")
            self.files.setdefault(names[0], out)
        elif out is not None:
            self.folder = Path(out)
        for path in self.files.values():
            suffix(path)
            try:
                path.format(frame=0)
            except (KeyError, IndexError, ValueError):
                raise UsageError(f"{path}: only {{frame}} is allowed in braces") from None
        taken: set[str] = set()
        self.stems = {name: file_name(name, taken) for name in names} if self.folder else {}

    @property
    def every_frame(self) -> list[str]:
        """Results that are written each frame."""
        return [name for name, path in self.files.items() if path.format(frame=1) != path]

    def write(self, frame: Frame, number: int, names: list[str]) -> dict[str, str]:
        """Write results of a frame; the file of each."""
        from rgraph.cli._pictures import write

        out = {}
        for name in names:
            if name in self.files:
                out[name] = self.files[name].format(frame=number)
                write(out[name], frame[name])
            elif self.folder:
                picture = frame[name]._repr_png_()
                out[name] = str(self.folder / f"{self.stems[name]}.{'npy' if picture is None else 'png'}")
                write(out[name], frame[name])
        return out


def written(
    done: Compiled | CompiledDevices,
    given: Settings,
    outputs: Outputs,
    names: list[str],
    frames: int,
    measure: Literal["off", "frame", "batches", "passes"] = "off",
    reports: list[Report] | None = None,
) -> tuple[Frame, dict[str, str]]:
    """Run frames and write what is wanted of them; the last frame, and the file of each result.

    Parameters
    ----------
    done
        The compiled graph.
    given
        What the run gets.
    outputs
        Where results go.
    names
        The results.
    frames
        How many.
    measure
        Which GPU times of the last one are measured.
    reports
        Takes the reports of all frames, each of which is measured then.
    """
    each, files = outputs.every_frame, {}
    under_way: list[Frame] = []
    with bound(), Progress(frames if frames > 1 else None, "frames") as progress:
        for number in range(frames):
            last = number == frames - 1
            frame = done.run(
                inputs=given.inputs,
                flags=given.flags or None,
                params=given.params(number) or None,
                read=names if last else each,
                measure=measure if last or reports is not None else "off",
            )
            if reports is not None:
                under_way.append(frame)
                # A report waits for its frame; the device has others to do meanwhile.
                while len(under_way) > (0 if last else _UNDER_WAY):
                    reports.append(under_way.pop(0).report)
            files = outputs.write(frame, number, names if last else each)
            progress.step()
    frame.wait()
    return frame, files
