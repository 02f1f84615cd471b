# The compiled part of rgraph. Kept by hand; `make lint` compares it with the build.
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Self, TypeAlias, final

from typing_extensions import disjoint_base

from rgraph._records import Barrier, Batch, Finding, Memory, PlannedPass, PlannedQueue, Subgraph

_Words: TypeAlias = str | Sequence[str]
_Levels: TypeAlias = int | tuple[int, int]
_Color: TypeAlias = tuple[float, float, float, float]

__all__ = [
    "Buffer",
    "Graph",
    "Image",
    "Module",
    "Pass",
    "Plan",
    "Profile",
    "Resource",
    "__version__",
    "fuzz",
    "generate",
    "schema",
    "set_source_tracking",
]

__version__: str

@disjoint_base
class Resource:
    @property
    def name(self) -> str: ...
    def previous(self, frames: int = 1, name: str | None = None, *, first_frame: str = "zero") -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Image(Resource): ...

@final
class Buffer(Resource): ...

@disjoint_base
class Module:
    @property
    def name(self) -> str: ...
    def image(
        self,
        name: str,
        size: Sequence[Any] | Mapping[str, Any] | None = None,
        format: str | None = None,
        *,
        like: Image | str | None = None,
        scale: float | Sequence[float] | None = None,
        round: str | None = None,
        layers: int | None = None,
        mips: int | str | None = None,
        samples: int | None = None,
        cube: bool = False,
        modifies: Image | str | None = None,
        history_of: Image | str | None = None,
        frames: int = 1,
        first_frame: str = "zero",
        persistent: bool = False,
        imported: bool | Mapping[str, Any] | None = None,
        leave: str | Mapping[str, str] | None = None,
        sharing: str | None = None,
    ) -> Image: ...
    def import_image(
        self,
        name: str,
        size: Sequence[Any] | Mapping[str, Any] | None = None,
        format: str | None = None,
        *,
        layout: str | None = None,
        queue: str | None = None,
        stages: _Words | None = None,
        access: _Words | None = None,
        contents: str = "defined",
        layers: int | None = None,
        mips: int | str | None = None,
        samples: int | None = None,
        cube: bool = False,
        leave: str | Mapping[str, str] | None = None,
        sharing: str | None = None,
    ) -> Image: ...
    def buffer(
        self,
        name: str,
        size: int | None = None,
        *,
        modifies: Buffer | str | None = None,
        history_of: Buffer | str | None = None,
        frames: int = 1,
        first_frame: str = "zero",
        persistent: bool = False,
        imported: bool | Mapping[str, Any] | None = None,
        leave: str | Mapping[str, str] | None = None,
        sharing: str | None = None,
        acceleration_structure: bool = False,
    ) -> Buffer: ...
    def import_buffer(
        self,
        name: str,
        size: int,
        *,
        queue: str | None = None,
        stages: _Words | None = None,
        access: _Words | None = None,
        contents: str = "defined",
        leave: str | Mapping[str, str] | None = None,
        sharing: str | None = None,
        acceleration_structure: bool = False,
    ) -> Buffer: ...
    def add_pass(
        self,
        name: str,
        *,
        queue: str = "graphics",
        weight_us: float | None = None,
        unit: str | None = None,
        device: int | str | None = None,
        side_effects: bool = False,
        conditional: str | None = None,
        fallback: dict[Any, Resource | str] | None = None,
        after: Pass | str | Sequence[Pass | str] | None = None,
        setup: Callable[[Pass], object] | None = None,
        execute: Callable[..., object] | None = None,
    ) -> Pass: ...
    def root(self, *resources: Resource | str) -> None: ...
    def module(self, name: str) -> Module: ...
    def extension_point(self, name: str) -> None: ...
    def extend(self, name: str) -> Module: ...

@final
class Graph(Module):
    def __new__(cls, name: str = "graph", *, size: Sequence[int] = (1920, 1080)) -> Self: ...
    @property
    def size(self) -> tuple[int, int]: ...
    @property
    def passes(self) -> list[Pass]: ...
    @property
    def resources(self) -> list[Image | Buffer]: ...
    @property
    def hash(self) -> str: ...
    def bake(
        self,
        profile: Profile | str | PathLike[str] | None = None,
        *,
        policy: str = "auto",
        split_barriers: str = "never",
        timings: bool = False,
        effort: int | None = None,
    ) -> Plan: ...
    def interpret(self) -> list[dict[str, str | None]]: ...
    def to_json(self) -> str: ...
    def to_dict(self) -> dict[str, Any]: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    @staticmethod
    def load(path: str | PathLike[str]) -> Graph: ...
    @staticmethod
    def from_json(text: str | bytes) -> Graph: ...
    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Graph: ...

@final
class Pass:
    @property
    def name(self) -> str: ...
    @property
    def queue(self) -> str: ...
    @property
    def execute(self) -> Callable[..., object] | None: ...
    def color(
        self,
        *images: Image | str,
        load: str | None = None,
        clear: _Color | None = None,
        mips: _Levels | None = None,
        layers: _Levels | None = None,
        generate_mips: bool = False,
    ) -> Self: ...
    def depth(
        self,
        *images: Image | str,
        load: str | None = None,
        clear: float | tuple[float, int] | None = None,
        stencil_load: str | None = None,
        mips: _Levels | None = None,
        layers: _Levels | None = None,
        aspects: _Words | None = None,
    ) -> Self: ...
    def depth_read(
        self,
        *images: Image | str,
        mips: _Levels | None = None,
        layers: _Levels | None = None,
        aspects: _Words | None = None,
    ) -> Self: ...
    def input_attachment(
        self,
        *images: Image | str,
        mips: _Levels | None = None,
        layers: _Levels | None = None,
        aspects: _Words | None = None,
    ) -> Self: ...
    def resolve(
        self,
        *images: Image | str,
        resolves: Image | str | None = None,
        mode: str | None = None,
        mips: _Levels | None = None,
        layers: _Levels | None = None,
        aspects: _Words | None = None,
    ) -> Self: ...
    def sampled(
        self,
        *resources: Resource | str,
        stages: _Words | None = None,
        mips: _Levels | None = None,
        layers: _Levels | None = None,
        aspects: _Words | None = None,
        range: tuple[int, int] | None = None,
        unordered: bool = False,
    ) -> Self: ...
    def storage_read(
        self,
        *resources: Resource | str,
        stages: _Words | None = None,
        mips: _Levels | None = None,
        layers: _Levels | None = None,
        aspects: _Words | None = None,
        range: tuple[int, int] | None = None,
        unordered: bool = False,
    ) -> Self: ...
    def storage_write(
        self,
        *resources: Resource | str,
        stages: _Words | None = None,
        mips: _Levels | None = None,
        layers: _Levels | None = None,
        aspects: _Words | None = None,
        range: tuple[int, int] | None = None,
        load: str | None = None,
        unordered: bool = False,
        generate_mips: bool = False,
    ) -> Self: ...
    def storage_read_write(
        self,
        *resources: Resource | str,
        stages: _Words | None = None,
        mips: _Levels | None = None,
        layers: _Levels | None = None,
        aspects: _Words | None = None,
        range: tuple[int, int] | None = None,
        unordered: bool = False,
        generate_mips: bool = False,
    ) -> Self: ...
    def uniform(
        self,
        *buffers: Buffer | str,
        stages: _Words | None = None,
        range: tuple[int, int] | None = None,
    ) -> Self: ...
    def vertex(self, *buffers: Buffer | str, range: tuple[int, int] | None = None) -> Self: ...
    def index(self, *buffers: Buffer | str, range: tuple[int, int] | None = None) -> Self: ...
    def indirect(self, *buffers: Buffer | str, range: tuple[int, int] | None = None) -> Self: ...
    def transfer_src(
        self,
        *resources: Resource | str,
        transfer: str | None = None,
        mips: _Levels | None = None,
        layers: _Levels | None = None,
        aspects: _Words | None = None,
        range: tuple[int, int] | None = None,
    ) -> Self: ...
    def transfer_dst(
        self,
        *resources: Resource | str,
        transfer: str | None = None,
        load: str | None = None,
        clear: _Color | float | tuple[float, int] | None = None,
        mips: _Levels | None = None,
        layers: _Levels | None = None,
        aspects: _Words | None = None,
        range: tuple[int, int] | None = None,
        generate_mips: bool = False,
    ) -> Self: ...
    def host_read(
        self,
        *resources: Resource | str,
        mips: _Levels | None = None,
        layers: _Levels | None = None,
        aspects: _Words | None = None,
        range: tuple[int, int] | None = None,
    ) -> Self: ...
    def host_write(
        self,
        *resources: Resource | str,
        mips: _Levels | None = None,
        layers: _Levels | None = None,
        aspects: _Words | None = None,
        range: tuple[int, int] | None = None,
        load: str | None = None,
    ) -> Self: ...
    def present(self, *images: Image | str, layers: _Levels | None = None) -> Self: ...
    def acceleration_input(self, *buffers: Buffer | str, range: tuple[int, int] | None = None) -> Self: ...
    def acceleration_build(self, *buffers: Buffer | str, range: tuple[int, int] | None = None) -> Self: ...
    def acceleration_update(self, *buffers: Buffer | str, range: tuple[int, int] | None = None) -> Self: ...
    def acceleration_scratch(self, *buffers: Buffer | str, range: tuple[int, int] | None = None) -> Self: ...
    def acceleration_read(
        self,
        *buffers: Buffer | str,
        stages: _Words | None = None,
        range: tuple[int, int] | None = None,
    ) -> Self: ...
    def copy(self, source: Resource | str, target: Resource | str) -> Self: ...
    def uses(self, resource: Resource | str, usage: str, **details: Any) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Profile:
    @staticmethod
    def discrete() -> Profile: ...
    @staticmethod
    def single_queue() -> Profile: ...
    @staticmethod
    def minimal() -> Profile: ...
    @staticmethod
    def load(path: str | PathLike[str]) -> Profile: ...
    @staticmethod
    def from_json(text: str | bytes) -> Profile: ...
    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Profile: ...
    def to_json(self) -> str: ...
    def to_dict(self) -> dict[str, Any]: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def queues(self) -> list[str]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Callable[[str], Profile], tuple[str]]: ...

@final
class Plan:
    @staticmethod
    def load(path: str | PathLike[str]) -> Plan: ...
    @staticmethod
    def from_json(text: str | bytes) -> Plan: ...
    def to_json(self) -> str: ...
    def to_dict(self) -> dict[str, Any]: ...
    def to_dot(self, graph: Graph | None = None) -> str: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def diff(self, other: Plan) -> str: ...
    def diff_dict(self, other: Plan) -> dict[str, Any]: ...
    def explain(self, name: Pass | str, graph: Graph | None = None) -> str: ...
    def check(self, graph: Graph | None = None) -> list[Finding]: ...
    def interpret(self, graph: Graph | None = None, *, interleavings: int = 4) -> list[dict[str, str | None]]: ...
    @property
    def graph_name(self) -> str: ...
    @property
    def graph_hash(self) -> str: ...
    @property
    def profile(self) -> str: ...
    @property
    def pass_names(self) -> list[str]: ...
    @property
    def passes(self) -> list[PlannedPass]: ...
    @property
    def queues(self) -> list[PlannedQueue]: ...
    @property
    def batches(self) -> list[Batch]: ...
    @property
    def barriers(self) -> list[Barrier]: ...
    @property
    def memory(self) -> Memory: ...
    @property
    def culled(self) -> dict[str, str]: ...
    @property
    def subgraphs(self) -> list[Subgraph]: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def frame_us(self) -> float: ...
    @property
    def policy(self) -> str: ...
    @property
    def optimal(self) -> bool: ...
    @property
    def hash(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Callable[[str], Plan], tuple[str]]: ...

def fuzz(seed: int, count: int) -> list[tuple[int, str, Graph, Profile, Plan | None]]: ...
def generate(seed: int, *, fewest: int = 5, most: int = 40) -> tuple[Graph, Profile]: ...
def schema(kind: str) -> str: ...
def set_source_tracking(on: bool) -> None: ...
