"""Render graphs: declare passes, resources and how each pass uses each resource; bake a plan that is free of hazards.

Declare a frame with `Graph`, plan it for a device with `Graph.bake`, then print, save, compare, explain or check the
`Plan`. Nothing here needs a GPU. The command `rgraph` does the same with files.
"""

from rgraph._core import (
    Buffer,
    Commands,
    Graph,
    Image,
    Module,
    Pass,
    Plan,
    Profile,
    Resource,
    Sampler,
    View,
    __version__,
    schema,
    set_source_tracking,
)
from rgraph._errors import (
    BusyError,
    DeviceError,
    GraphError,
    InternalError,
    Mistake,
    PlanError,
    RgError,
    ShaderError,
    Side,
)
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
    "BusyError",
    "Commands",
    "DeviceError",
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
    "Sampler",
    "ShaderError",
    "Side",
    "Subgraph",
    "View",
    "Wait",
    "__version__",
    "schema",
    "set_source_tracking",
]
