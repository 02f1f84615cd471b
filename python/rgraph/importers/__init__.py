"""Graphs of other programs: presets of libretro's shaders."""

from rgraph.importers._imported import Imported
from rgraph.importers._slang import Parameter
from rgraph.importers._slangp import slangp

__all__ = ["Imported", "Parameter", "slangp"]
