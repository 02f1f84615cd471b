"""`rgraph schema`: print the JSON Schema of a file format, for editors and other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rgraph._core import schema
from rgraph.cli._terminal import say

if TYPE_CHECKING:
    import argparse

__all__ = ["MORE", "add_arguments", "main"]

MORE = "  rgraph schema graph > rgraph.schema.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes.

    Parameters
    ----------
    parser
        Where.
    """
    parser.add_argument("kind", choices=("graph", "profile", "plan", "devices"), help="the format")


def main(arguments: argparse.Namespace) -> int:
    """Print it.

    Parameters
    ----------
    arguments
        What the parser read.

    Returns
    -------
    int
        The exit status.
    """
    say(schema(arguments.kind))
    return 0
