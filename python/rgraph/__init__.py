"""Render graphs: declare passes, resources and how each pass uses each resource; bake a plan that is free of hazards.

Declare a frame with `Graph`, plan it for a device with `Graph.bake`, then print, save, compare, explain or check the
`Plan`. Nothing here needs a GPU. The command `rgraph` does the same with files.
"""

from rgraph._core import (
    Buffer,
    Graph,
    Image,
    Module,
    Pass,
    Plan,
    Profile,
    Resource,
    __version__,
    schema,
    set_source_tracking,
)
from rgraph._errors import GraphError, InternalError, Mistake, PlanError, RgError, Side
from rgraph._records import (
    Barrier,
    Batch,
    Finding,
    Memory,
    Placement,
    PlannedPass,
    PlannedQueue,
    Subgraph,
    Wait,
)

__all__ = [
    "Barrier",
    "Batch",
    "Buffer",
    "Finding",
    "Graph",
    "GraphError",
    "Image",
    "InternalError",
    "Memory",
    "Mistake",
    "Module",
    "Pass",
    "Placement",
    "Plan",
    "PlanError",
    "PlannedPass",
    "PlannedQueue",
    "Profile",
    "Resource",
    "RgError",
    "Side",
    "Subgraph",
    "Wait",
    "__version__",
    "schema",
    "set_source_tracking",
]
