"""Graphs of other programs: presets of libretro's shaders, pipelines of O3DE."""

from rgraph.importers._imported import Imported
from rgraph.importers._o3de import o3de
from rgraph.importers._slang import Parameter
from rgraph.importers._slangp import slangp

__all__ = ["Imported", "Parameter", "o3de", "slangp"]
