# The compiled part of rgraph. Kept by hand; `make lint` compares it with the build.
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Protocol, Self, TypeAlias, final, overload

from typing_extensions import Buffer as CBuffer
from typing_extensions import disjoint_base

from rgraph._records import (
    Barrier,
    Batch,
    ChaosReport,
    DeviceInfo,
    DeviceMemory,
    Finding,
    HostSpan,
    Memory,
    PassSpan,
    PlannedPass,
    PlannedQueue,
    Redundant,
    ShaderReflection,
    Subgraph,
)

class _Arrayed(Protocol):
    """An array of numpy's, which type checkers take for a buffer from Python 3.12 on only."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...

_Memory: TypeAlias = CBuffer | _Arrayed
#: What `numpy.dtype` takes: a name, a scalar type, a dtype, or fields.
_Dtype: TypeAlias = str | type | Mapping[str, Any] | Sequence[Any] | Any
_FirstFrame: TypeAlias = Literal["zero", "undefined"] | _Memory
_Words: TypeAlias = str | Sequence[str]
_Levels: TypeAlias = int | tuple[int, int]
_Color: TypeAlias = tuple[float, float, float, float]
_Shader: TypeAlias = str | bytes | PathLike[str]
_Part: TypeAlias = Resource | View | str
_Uses: TypeAlias = _Part | Sequence[_Part] | Mapping[Any, str]
_Data: TypeAlias = Mapping[str, Any] | Sequence[Any] | float | _Memory
_Measure: TypeAlias = Literal["off", "batches", "passes"]
_Waits: TypeAlias = Sequence[
    tuple["Semaphore", int]
    | tuple["Semaphore", int, Resource | str | None]
    | tuple[int, int | None]
    | tuple[int, int | None, Resource | str | None]
]
_Signals: TypeAlias = Sequence[tuple["Semaphore", int] | tuple[int, int | None]]
_Blend: TypeAlias = str | Mapping[str, Sequence[str]]

__all__ = [
    "Array",
    "Buffer",
    "Commands",
    "Compiled",
    "Device",
    "DeviceResource",
    "Frame",
    "Graph",
    "Image",
    "Module",
    "Pass",
    "Plan",
    "Profile",
    "Report",
    "Resource",
    "Sampler",
    "Semaphore",
    "View",
    "__version__",
    "_counts",
    "_end",
    "_max_file_bytes",
    "_panic",
    "_read_file",
    "_write_file",
    "codes",
    "devices",
    "diagnose",
    "fuzz",
    "generate",
    "preview",
    "reflect",
    "schema",
    "set_source_tracking",
    "shrink",
]

__version__: str

@disjoint_base
class Resource:
    @property
    def name(self) -> str: ...
    @property
    def graph(self) -> Graph: ...
    @property
    def source(self) -> tuple[str, int] | None: ...
    def previous(self, frames: int = 1, name: str | None = None, *, first_frame: _FirstFrame = "zero") -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Image(Resource):
    @property
    def format(self) -> str | None: ...
    @property
    def size(self) -> tuple[int, int] | tuple[int, int, int]: ...
    @property
    def mip_count(self) -> int: ...
    @property
    def layer_count(self) -> int: ...
    @property
    def samples(self) -> int: ...
    def mip(self, level: int) -> View: ...
    def mips(self, first: int, end: int) -> View: ...
    def layer(self, layer: int) -> View: ...
    def layers(self, first: int, end: int) -> View: ...
    def aspects(self, *names: str) -> View: ...

@final
class Buffer(Resource):
    @property
    def size(self) -> int: ...
    def __getitem__(self, slice: slice, /) -> View: ...

@final
class View:
    @property
    def resource(self) -> Image | Buffer: ...
    @property
    def mip_range(self) -> tuple[int, int] | None: ...
    @property
    def layer_range(self) -> tuple[int, int] | None: ...
    @property
    def byte_range(self) -> tuple[int, int] | None: ...
    def mip(self, level: int) -> View: ...
    def mips(self, first: int, end: int) -> View: ...
    def layer(self, layer: int) -> View: ...
    def layers(self, first: int, end: int) -> View: ...
    def aspects(self, *names: str) -> View: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Semaphore:
    @property
    def handle(self) -> int: ...
    @property
    def value(self) -> int: ...
    @property
    def device(self) -> Device: ...
    def signal(self, value: int) -> None: ...
    def wait(self, value: int, timeout: float | None = None) -> bool: ...

@final
class Sampler:
    def __new__(
        cls,
        filter: str = "linear",
        *,
        mag: str | None = None,
        min: str | None = None,
        mip: str | None = None,
        address: str | Sequence[str] = "clamp",
        anisotropy: float = 1.0,
        compare: str | None = None,
        lod: tuple[float, float] = (0.0, 1000.0),
        border: str = "transparent",
    ) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

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
        first_frame: _FirstFrame = "zero",
        persistent: bool | _Memory = False,
        imported: bool | Mapping[str, Any] | None = None,
        leave: str | Mapping[str, str] | None = None,
        sharing: str | None = None,
        channels: int | None = None,
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
        shape: int | Sequence[int] | None = None,
        dtype: _Dtype | None = None,
        like: Buffer | str | None = None,
        modifies: Buffer | str | None = None,
        history_of: Buffer | str | None = None,
        frames: int = 1,
        first_frame: _FirstFrame = "zero",
        persistent: bool | _Memory = False,
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
    @overload
    def import_array(
        self,
        name: str,
        array: _Memory,
        *,
        format: str | None = None,
        srgb: bool = False,
        as_buffer: Literal[False] = False,
        volume: bool = False,
        sharing: str | None = None,
    ) -> Image: ...
    @overload
    def import_array(
        self,
        name: str,
        array: _Memory,
        *,
        format: str | None = None,
        srgb: bool = False,
        as_buffer: Literal[True],
        volume: bool = False,
        sharing: str | None = None,
    ) -> Buffer: ...
    @overload
    def import_array(
        self,
        name: str,
        array: _Memory,
        *,
        format: str | None = None,
        srgb: bool = False,
        as_buffer: bool,
        volume: bool = False,
        sharing: str | None = None,
    ) -> Image | Buffer: ...
    def compute(
        self,
        name: str,
        shader: _Shader,
        *,
        groups: int | Sequence[int] | _Part | None = None,
        queue: str = "compute",
        push: _Data | None = None,
        entry: str | None = None,
        bindings: Mapping[str, Any] | None = None,
        **variables: Any,
    ) -> Pass: ...
    def raster(
        self,
        name: str,
        shader: _Shader | tuple[_Shader, _Shader],
        *,
        color: _Part | Sequence[_Part | None] | None = None,
        depth: _Part | None = None,
        vertices: int = 3,
        instances: int = 1,
        push: _Data | None = None,
        entry: str | None = None,
        queue: str = "graphics",
        vertex_buffers: _Part | Mapping[str, Any] | Sequence[_Part | Mapping[str, Any]] | None = None,
        index: _Part | None = None,
        index_format: str = "uint32",
        indirect: _Part | None = None,
        draws: int = 1,
        stride: int | None = None,
        clear: _Color | Sequence[_Color | None] | None = None,
        load: str | Sequence[str | None] | None = None,
        clear_depth: float | tuple[float, int] | None = None,
        load_depth: str | None = None,
        resolve: _Part | Sequence[_Part | None] | None = None,
        resolve_mode: str | None = None,
        blend: _Blend | Sequence[_Blend | None] | None = None,
        write_mask: str | Sequence[str | None] | None = None,
        cull: str = "none",
        front: str = "ccw",
        topology: str = "triangles",
        wireframe: bool = False,
        depth_test: str | None = None,
        depth_write: bool = True,
        depth_bias: tuple[float, float] | None = None,
        stencil: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        alpha_to_coverage: bool = False,
        viewport: Sequence[float] | None = None,
        bindings: Mapping[str, Any] | None = None,
        **variables: Any,
    ) -> Pass: ...
    def copy(self, name: str, source: _Part, target: _Part, **options: Any) -> Pass: ...
    def blit(self, name: str, source: _Part, target: _Part, *, filter: str = "linear", **options: Any) -> Pass: ...
    def clear(self, name: str, image: _Part, value: _Color | float | tuple[float, int], **options: Any) -> Pass: ...
    def fill(self, name: str, buffer: _Part, word: int = 0, **options: Any) -> Pass: ...
    def cpu(
        self,
        name: str,
        function: Callable[[dict[str, memoryview]], object],
        *,
        reads: _Uses = (),
        writes: _Uses = (),
        **options: Any,
    ) -> Pass: ...
    def callback(
        self,
        name: str,
        function: Callable[[Commands], object],
        *,
        reads: _Uses = (),
        writes: _Uses = (),
        color: _Part | Sequence[_Part | None] | None = None,
        clear: _Color | Sequence[_Color | None] | None = None,
        load: str | Sequence[str | None] | None = None,
        depth: _Part | None = None,
        clear_depth: float | tuple[float, int] | None = None,
        load_depth: str | None = None,
        depth_write: bool = True,
        resolve: _Part | Sequence[_Part | None] | None = None,
        resolve_mode: str | None = None,
        **options: Any,
    ) -> Pass: ...
    def root(self, *resources: Resource | str | Sequence[Resource | str]) -> None: ...
    def find(self, name: str) -> Image | Buffer: ...
    def module(self, name: str) -> Module: ...
    def extension_point(self, name: str) -> None: ...
    def extend(self, name: str) -> Module: ...

@final
class Graph(Module):
    def __new__(cls, name: str = "graph", *, size: Sequence[int] = (1920, 1080), replace: bool = False) -> Self: ...
    @property
    def size(self) -> tuple[int, int]: ...
    @property
    def passes(self) -> list[Pass]: ...
    @property
    def resources(self) -> list[Image | Buffer]: ...
    def remove(self, *things: Pass | Resource | str) -> None: ...
    def clone(self) -> Graph: ...
    def __copy__(self) -> Graph: ...
    def __deepcopy__(self, memo: Any) -> Graph: ...
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
        memory: str | int = "balanced",
    ) -> Plan: ...
    def interpret(self) -> list[dict[str, str | None]]: ...
    def to_json(self, *, callbacks: str = "skip") -> str: ...
    def to_dict(self) -> dict[str, Any]: ...
    def save(self, path: str | PathLike[str], *, callbacks: str = "refuse") -> None: ...
    @staticmethod
    def load(path: str | PathLike[str], *, options: Mapping[str, bool | float | str] | None = None) -> Graph: ...
    @property
    def files(self) -> list[str]: ...
    @staticmethod
    def from_json(text: str | bytes, *, options: Mapping[str, bool | float | str] | None = None) -> Graph: ...
    @staticmethod
    def from_dict(values: Mapping[str, Any], *, options: Mapping[str, bool | float | str] | None = None) -> Graph: ...

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
    def draw(
        self,
        shader: _Shader | tuple[_Shader, _Shader],
        *,
        vertices: int = 3,
        instances: int = 1,
        push: _Data | None = None,
        entry: str | None = None,
        vertex_buffers: _Part | Mapping[str, Any] | Sequence[_Part | Mapping[str, Any]] | None = None,
        index: _Part | None = None,
        indirect: _Part | None = None,
        bindings: Mapping[str, Any] | None = None,
        **variables: Any,
    ) -> Self: ...
    def uses(self, resource: Resource | str, usage: str, **details: Any) -> Self: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Commands:
    @property
    def pass_name(self) -> str: ...
    def dispatch(
        self,
        shader: _Shader,
        *,
        groups: int | Sequence[int] | _Part | None = None,
        push: _Data | None = None,
        entry: str | None = None,
        bindings: Mapping[str, Any] | None = None,
        **variables: Any,
    ) -> None: ...
    def draw(
        self,
        shader: _Shader | tuple[_Shader, _Shader],
        *,
        vertices: int = 3,
        instances: int = 1,
        push: _Data | None = None,
        entry: str | None = None,
        vertex_buffers: _Part | Mapping[str, Any] | Sequence[_Part | Mapping[str, Any]] | None = None,
        index: _Part | None = None,
        indirect: _Part | None = None,
        bindings: Mapping[str, Any] | None = None,
        **variables: Any,
    ) -> None: ...
    def copy(self, source: _Part, target: _Part) -> None: ...
    def blit(self, source: _Part, target: _Part, *, filter: str = "linear") -> None: ...
    def clear(self, image: _Part, value: _Color | float | tuple[float, int]) -> None: ...
    def fill(self, buffer: _Part, word: int = 0) -> None: ...

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
    def to_html(
        self,
        graph: Graph | None = None,
        *,
        report: Report | Sequence[Any] | None = None,
        images: Mapping[Any, _Memory] | None = None,
        findings: Sequence[Finding] | None = None,
        against: Plan | None = None,
    ) -> str: ...
    def to_svg(self, graph: Graph | None = None) -> str: ...
    def to_trace(self, report: Report | Sequence[Any] | None = None) -> str: ...
    def _repr_html_(self) -> str: ...
    def _repr_svg_(self) -> str: ...
    def _repr_mimebundle_(
        self, include: Sequence[str] | None = None, exclude: Sequence[str] | None = None
    ) -> dict[str, str]: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def diff(self, other: Plan) -> str: ...
    def diff_dict(self, other: Plan) -> dict[str, Any]: ...
    def explain(self, name: Pass | str, graph: Graph | None = None) -> str: ...
    def check(self, graph: Graph | None = None) -> list[Finding]: ...
    def minimal(self, graph: Graph | None = None) -> list[Redundant]: ...
    def certificate(self, graph: Graph | None = None) -> dict[str, Any]: ...
    def verify(self, certificate: Mapping[str, Any], graph: Graph | None = None) -> None: ...
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
    def one_queue_us(self) -> float | None: ...
    @property
    def policy(self) -> str: ...
    @property
    def memory_budget(self) -> str | int | None: ...
    @property
    def optimal(self) -> bool: ...
    @property
    def hash(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Callable[[str], Plan], tuple[str]]: ...

@final
class Device:
    def __new__(
        cls,
        device: str | int | None = None,
        *,
        loader: str | PathLike[str] | None = None,
        validate: bool | None = None,
        frames_in_flight: int = 2,
        cache: str | PathLike[str] | None = None,
        queues: int = 1,
        measure: _Measure = "off",
        sample: int = 1,
    ) -> Self: ...
    @property
    def info(self) -> DeviceInfo: ...
    @property
    def profile(self) -> Profile: ...
    @property
    def messages(self) -> list[str]: ...
    @property
    def closed(self) -> bool: ...
    def memory(self) -> DeviceMemory: ...
    def compile(
        self,
        graph: Graph | Plan,
        *,
        of: Graph | None = None,
        policy: str = "auto",
        split_barriers: str = "never",
        effort: int | None = None,
        memory: str | int = "balanced",
        weights: Report | None = None,
        measure: _Measure | None = None,
        sample: int | None = None,
    ) -> Compiled: ...
    def run(
        self,
        graph: Graph | Plan | Compiled,
        *,
        inputs: Mapping[Any, _Memory | DeviceResource] | None = None,
        into: Mapping[Any, _Memory] | None = None,
        flags: Mapping[str, bool] | None = None,
        params: Mapping[Any, _Data] | None = None,
        read: _Part | Sequence[_Part] | None = None,
        statistics: bool = False,
        measure: _Measure | None = None,
        chaos: int | None = None,
        memory: str | int | None = None,
        wait: _Waits | None = None,
        signal: _Signals | None = None,
    ) -> Frame: ...
    def chaos(
        self,
        graph: Graph | Plan | Compiled,
        *,
        seed: int = 1,
        seeds: int = 1,
        frames: int | None = None,
        inputs: Mapping[Any, _Memory | DeviceResource] | None = None,
        flags: Mapping[str, bool] | None = None,
        params: Mapping[Any, _Data] | None = None,
    ) -> ChaosReport: ...
    def image(
        self, name: str, size: Sequence[int], format: str, *, mips: int = 1, layers: int = 1
    ) -> DeviceResource: ...
    def buffer(self, name: str, size: int) -> DeviceResource: ...
    def array(self, shape: int | Sequence[int], dtype: Any = "float32") -> Any: ...
    def semaphore(self, value: int = 0) -> Semaphore: ...
    def borrow_resource(
        self,
        name: str,
        handle: int,
        size: Sequence[int] | int,
        format: str | None = None,
        *,
        mips: int = 1,
        layers: int = 1,
        concurrent: bool = False,
    ) -> DeviceResource: ...
    @staticmethod
    def borrow(
        instance: int,
        physical_device: int,
        device: int,
        queues: Sequence[tuple[int, int]],
        *,
        loader: str | PathLike[str] | None = None,
        labels: bool = False,
        frames_in_flight: int = 2,
    ) -> Device: ...
    def wait_idle(self) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...

@final
class DeviceResource:
    @property
    def name(self) -> str: ...
    @property
    def handle(self) -> int: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def state(self) -> dict[str, Any]: ...
    def set_state(self, **state: Any) -> None: ...
    def write(self, array: _Memory) -> None: ...
    @overload
    def read(self, *, into: None = None) -> Array: ...
    @overload
    def read(self, *, into: _Memory) -> None: ...

@final
class Compiled:
    @property
    def plan(self) -> Plan: ...
    def run(
        self,
        *,
        inputs: Mapping[Any, _Memory | DeviceResource] | None = None,
        into: Mapping[Any, _Memory] | None = None,
        flags: Mapping[str, bool] | None = None,
        params: Mapping[Any, _Data] | None = None,
        read: _Part | Sequence[_Part] | None = None,
        statistics: bool = False,
        measure: _Measure | None = None,
        chaos: int | None = None,
        wait: _Waits | None = None,
        signal: _Signals | None = None,
    ) -> Frame: ...
    def set(self, state: Resource | str, array: _Memory) -> None: ...
    def reset(self, *states: Resource | str) -> None: ...

@final
class Frame:
    @property
    def done(self) -> bool: ...
    def wait(self, timeout: float | None = None) -> bool: ...
    @property
    def report(self) -> Report: ...
    def keys(self) -> list[str]: ...
    def values(self) -> list[Array]: ...
    def items(self) -> list[tuple[str, Array]]: ...
    def get(self, name: _Part, default: Any = None) -> Any: ...
    def __await__(self) -> Generator[Any, None, Frame]: ...
    def __getitem__(self, name: _Part, /) -> Array: ...
    def __contains__(self, name: object, /) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...

@final
class Array:
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> str | dict[str, Any]: ...
    @property
    def format(self) -> str | None: ...
    @property
    def name(self) -> str: ...
    @property
    def nbytes(self) -> int: ...
    def view(self, dtype: _Dtype) -> Array: ...
    def tobytes(self) -> bytes: ...
    def tolist(self) -> list[Any]: ...
    def numpy(self, *, copy: bool = False, channels: int | None = None) -> Any: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def _repr_png_(self) -> bytes | None: ...
    def __dlpack__(self, **options: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __len__(self) -> int: ...
    if sys.version_info >= (3, 12):
        def __buffer__(self, flags: int, /) -> memoryview: ...
        def __release_buffer__(self, view: memoryview, /) -> None: ...

@final
class Report:
    @property
    def measure(self) -> _Measure: ...
    @property
    def gpu_us(self) -> float | None: ...
    @property
    def pass_us(self) -> dict[str, float]: ...
    @property
    def timeline(self) -> list[PassSpan]: ...
    @property
    def host_spans(self) -> list[HostSpan]: ...
    @property
    def calibrated(self) -> bool: ...
    @property
    def recorded(self) -> bool: ...
    @property
    def notes(self) -> list[str]: ...
    def to_dict(self) -> dict[str, Any]: ...

def devices(*, loader: str | PathLike[str] | None = None) -> list[DeviceInfo]: ...
def diagnose(*, loader: str | PathLike[str] | None = None) -> dict[str, Any]: ...
def fuzz(seed: int, count: int) -> list[tuple[int, str, Graph, Profile, Plan | None]]: ...
def generate(seed: int, *, fewest: int = 5, most: int = 40) -> tuple[Graph, Profile]: ...
def shrink(text: str, fails: Callable[[str], bool], most: int) -> str: ...
def preview(array: _Memory, format: str | None = None, size: int = 256) -> bytes: ...
def reflect(shader: _Shader | tuple[_Shader, _Shader], *, entry: str | None = None) -> ShaderReflection: ...
def _counts() -> dict[str, int]: ...
def _end() -> None: ...
def _max_file_bytes() -> int: ...
def _panic(message: str) -> None: ...
def _read_file(path: str | PathLike[str]) -> bytes: ...
def _write_file(path: str | PathLike[str], data: bytes) -> None: ...
def codes() -> list[tuple[str, str, str]]: ...
def schema(kind: str) -> str: ...
def set_source_tracking(on: bool) -> None: ...
