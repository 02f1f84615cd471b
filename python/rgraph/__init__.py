"""Render graphs: declare passes, resources and how each pass uses each resource; bake a plan that is free of hazards.

Declare a frame with `Graph`, plan it for a device with `Graph.bake`, then print, save, compare, explain or check the
`Plan`. Nothing of this needs a GPU; the command `rgraph` does the same with files. `Device` runs a graph whose passes
have shaders, and hands back arrays.
"""

import sys

from rgraph._core import (
    Array,
    BinarySemaphore,
    BoxTree,
    Buffer,
    Capture,
    Commands,
    Compiled,
    CompiledDevices,
    Device,
    DeviceResource,
    Devices,
    DevicesPlan,
    Fence,
    Format,
    Frame,
    Graph,
    Image,
    Module,
    Pass,
    Plan,
    Preparation,
    Profile,
    Report,
    Resource,
    Sampler,
    Semaphore,
    Series,
    SharedMemory,
    View,
    WhatIf,
    Window,
    __version__,
    devices,
    diagnose,
    formats,
    history,
    reflect,
    schema,
    set_source_tracking,
)

# Type checkers know this name; to load the module `typing` would double the time of the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rgraph import batch as batch
    from rgraph import cuda as cuda
    from rgraph import importers as importers
    from rgraph import passes as passes
    from rgraph import window as window
    from rgraph._adapt import Adapt, Trial, Trials
    from rgraph._errors import (
        BatchError,
        BusyError,
        DeviceError,
        GraphError,
        InternalError,
        Mistake,
        NotReadyError,
        PlanError,
        RgError,
        ShaderError,
        Side,
        explain,
    )
    from rgraph._layers import Layer
    from rgraph._modules import ModuleValue, module
    from rgraph._records import (
        Barrier,
        Batch,
        ChaosFinding,
        ChaosReport,
        ChaosTrial,
        CopyPrice,
        DeviceInfo,
        DeviceMemory,
        DevicesCopy,
        DevicesPart,
        DomainMemory,
        Exported,
        Finding,
        HeapMemory,
        Holder,
        HostSpan,
        Memory,
        PassSet,
        PassSpan,
        PassTimes,
        Placement,
        PlanCopy,
        PlannedPass,
        PlannedQueue,
        Redundant,
        ReplayDifference,
        ReplayReport,
        ShaderBinding,
        ShaderConstant,
        ShaderMember,
        ShaderPush,
        ShaderReflection,
        ShaderRefusal,
        ShaderStage,
        ShaderVarying,
        Subgraph,
        Tried,
        Wait,
    )
    from rgraph.window import show as show

__all__ = [
    "Adapt",
    "Array",
    "Barrier",
    "Batch",
    "BatchError",
    "BinarySemaphore",
    "BoxTree",
    "Buffer",
    "BusyError",
    "Capture",
    "ChaosFinding",
    "ChaosReport",
    "ChaosTrial",
    "Commands",
    "Compiled",
    "CompiledDevices",
    "CopyPrice",
    "Device",
    "DeviceError",
    "DeviceInfo",
    "DeviceMemory",
    "DeviceResource",
    "Devices",
    "DevicesCopy",
    "DevicesPart",
    "DevicesPlan",
    "DomainMemory",
    "Exported",
    "Fence",
    "Finding",
    "Format",
    "Frame",
    "Graph",
    "GraphError",
    "HeapMemory",
    "Holder",
    "HostSpan",
    "Image",
    "InternalError",
    "Layer",
    "Memory",
    "Mistake",
    "Module",
    "ModuleValue",
    "NotReadyError",
    "Pass",
    "PassSet",
    "PassSpan",
    "PassTimes",
    "Placement",
    "Plan",
    "PlanCopy",
    "PlanError",
    "PlannedPass",
    "PlannedQueue",
    "Preparation",
    "Profile",
    "Redundant",
    "ReplayDifference",
    "ReplayReport",
    "Report",
    "Resource",
    "RgError",
    "Sampler",
    "Semaphore",
    "Series",
    "ShaderBinding",
    "ShaderConstant",
    "ShaderError",
    "ShaderMember",
    "ShaderPush",
    "ShaderReflection",
    "ShaderRefusal",
    "ShaderStage",
    "ShaderVarying",
    "SharedMemory",
    "Side",
    "Subgraph",
    "Trial",
    "Trials",
    "Tried",
    "View",
    "Wait",
    "WhatIf",
    "Window",
    "__version__",
    "devices",
    "diagnose",
    "explain",
    "formats",
    "history",
    "module",
    "reflect",
    "schema",
    "set_source_tracking",
]


# Modules in which names that load on demand are looked for; the named tuples, which take longest, come last.
_LATE = ("_errors", "_modules", "_layers", "_adapt", "_records")


def __getattr__(name: str) -> "Any":
    """Modules of rgraph that are loaded when they are first asked for, and what is made there."""
    if name in __all__:
        from importlib import import_module

        late = (import_module(f"rgraph.{module}") for module in _LATE)
        value = globals()[name] = next(getattr(module, name) for module in late if name in module.__all__)
        return value
    if name in ("batch", "cuda", "importers", "passes", "show", "window"):
        from importlib import import_module

        module = import_module("rgraph.window" if name == "show" else f"rgraph.{name}")
        return module.show if name == "show" else module
    # Users who expect functions look for methods in the module: `rgraph.root(…)`.
    kinds = (Module, Graph, Device, Compiled, Frame, Pass, Image, Buffer, Plan)
    owner = next((kind for kind in kinds if name in vars(kind) and not name.startswith("_")), None)
    more = f"; it is {owner.__name__}.{name}" if owner is not None else ""
    raise AttributeError(f"module 'rgraph' has no attribute '{name}'{more}", name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "batch", "cuda", "importers", "passes", "show", "window"})
