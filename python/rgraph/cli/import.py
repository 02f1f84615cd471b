"""`rgraph import`: read a file of another program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rgraph.cli import UsageError
from rgraph.cli._imports import SUFFIXES, imported, is_foreign
from rgraph.cli._parser import option, pair
from rgraph.cli._terminal import as_json, paint, say, table, tell

if TYPE_CHECKING:
    import argparse

    from rgraph.importers import Imported

__all__ = ["MORE", "add_arguments", "main"]

MORE = """\
A .slangp file is a libretro shader preset; its graph runs. A .pass file is an O3DE pass; its graph can be planned only.
The output lists everything that could not be imported.

Options of presets: size=WIDTHxHEIGHT of the input, viewport=WIDTHxHEIGHT of the output, player=retroarch, root=FOLDER,
and each parameter by its name. Commands that take a graph take these files and options too.

  rgraph import crt.slangp -o crt.rgraph.json --option size=256x224
  rgraph run crt.slangp --input photo.png --output out.png --option MASK=0.5
  rgraph import MainPipeline.pass -o frame.rgraph.json --option size=2560x1440"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes.

    Parameters
    ----------
    parser
        Where.
    """
    parser.add_argument("file", metavar="FILE", help=f"a file of another program: {', '.join(SUFFIXES)}")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the graph file, and its arrays next to it")
    parser.add_argument("--json", action="store_true", help="print passes, parameters, notes and files as JSON")
    option(parser, "--option", kind=pair, metavar="NAME=VALUE", help="an option; may be repeated")


def _listed(made: Imported) -> list[str]:
    values = made.graph.to_dict()
    count = len(values["passes"])
    resources = len(values["images"]) + len(values["buffers"])
    lines = [f"{paint(made.graph.name, 'bold')}: {count} passes, {resources} resources, {len(made.files)} files read"]
    if made.parameters:
        rows = [
            [name, f"{one.value:g}", f"{one.minimum:g} to {one.maximum:g}", one.description]
            for name, one in made.parameters.items()
            if one.maximum > one.minimum
        ]
        lines += ["parameters:", *table(rows)] if rows else []
    lines += [f"note: {note}" for note in made.notes]
    return lines


def main(arguments: argparse.Namespace) -> int:
    """Import.

    Parameters
    ----------
    arguments
        What the parser read.

    Returns
    -------
    int
        The exit status.
    """
    if not is_foreign(arguments.file):
        raise UsageError(f"{arguments.file}: imported are {', '.join(SUFFIXES)}", "rgraph bake reads graph files")
    made = imported(arguments.file, arguments.option)
    if arguments.output:
        made.graph.save(arguments.output)
        tell(arguments.output)
    if arguments.json:
        parameters = {name: one._asdict() for name, one in made.parameters.items()}
        names = [one.name for one in made.graph.passes]
        values = {"graph": made.graph.name, "input": made.input, "output": made.output, "passes": names}
        say(as_json({**values, "parameters": parameters, "notes": list(made.notes), "files": list(made.files)}))
    else:
        say("\n".join(_listed(made)))
    return 0
