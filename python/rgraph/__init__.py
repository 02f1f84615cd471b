"""Render graphs: declare passes, resources and how each pass uses each resource; bake a plan that is free of hazards.

Declare a frame with `Graph`, plan it for a device with `Graph.bake`, then print, save, compare, explain or check the
`Plan`. Nothing of this needs a GPU; the command `rgraph` does the same with files. `Device` runs a graph whose passes
have shaders, and hands back arrays.
"""

from typing import TYPE_CHECKING, Any

from rgraph._core import (
    Array,
    Buffer,
    Capture,
    Commands,
    Compiled,
    Device,
    DeviceResource,
    Frame,
    Graph,
    Image,
    Module,
    Pass,
    Plan,
    Profile,
    Report,
    Resource,
    Sampler,
    Semaphore,
    View,
    __version__,
    devices,
    diagnose,
    reflect,
    schema,
    set_source_tracking,
)
from rgraph._errors import (
    BatchError,
    BusyError,
    DeviceError,
    GraphError,
    InternalError,
    Mistake,
    PlanError,
    RgError,
    ShaderError,
    Side,
    explain,
)
from rgraph._records import (
    Barrier,
    Batch,
    ChaosFinding,
    ChaosReport,
    ChaosTrial,
    DeviceInfo,
    DeviceMemory,
    DomainMemory,
    Finding,
    HeapMemory,
    HostSpan,
    Memory,
    PassSpan,
    Placement,
    PlannedPass,
    PlannedQueue,
    Redundant,
    ReplayDifference,
    ReplayReport,
    ShaderBinding,
    ShaderMember,
    ShaderPush,
    ShaderReflection,
    ShaderStage,
    ShaderVarying,
    Subgraph,
    Wait,
)

if TYPE_CHECKING:
    from rgraph import batch as batch
    from rgraph import importers as importers
    from rgraph import passes as passes

__all__ = [
    "Array",
    "Barrier",
    "Batch",
    "BatchError",
    "Buffer",
    "BusyError",
    "Capture",
    "ChaosFinding",
    "ChaosReport",
    "ChaosTrial",
    "Commands",
    "Compiled",
    "Device",
    "DeviceError",
    "DeviceInfo",
    "DeviceMemory",
    "DeviceResource",
    "DomainMemory",
    "Finding",
    "Frame",
    "Graph",
    "GraphError",
    "HeapMemory",
    "HostSpan",
    "Image",
    "InternalError",
    "Memory",
    "Mistake",
    "Module",
    "Pass",
    "PassSpan",
    "Placement",
    "Plan",
    "PlanError",
    "PlannedPass",
    "PlannedQueue",
    "Profile",
    "Redundant",
    "ReplayDifference",
    "ReplayReport",
    "Report",
    "Resource",
    "RgError",
    "Sampler",
    "Semaphore",
    "ShaderBinding",
    "ShaderError",
    "ShaderMember",
    "ShaderPush",
    "ShaderReflection",
    "ShaderStage",
    "ShaderVarying",
    "Side",
    "Subgraph",
    "View",
    "Wait",
    "__version__",
    "devices",
    "diagnose",
    "explain",
    "reflect",
    "schema",
    "set_source_tracking",
]


def __getattr__(name: str) -> Any:
    """`rgraph.batch`, `rgraph.importers` and `rgraph.passes`, loaded when they are first asked for."""
    if name in ("batch", "importers", "passes"):
        from importlib import import_module

        return import_module(f"rgraph.{name}")
    raise AttributeError(f"module 'rgraph' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), "batch", "importers", "passes"})
