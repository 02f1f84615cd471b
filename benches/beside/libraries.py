"""The same work in several libraries: a chain of small dispatches in one buffer, and bytes to a device and back.

Each class opens a device and offers what its library can do; a method that it lacks is a figure that it does not have.
Every way computes the same: ``words[i] += 1`` once per dispatch, which ``check`` reads back.
"""

import importlib
import importlib.metadata
import os
from collections.abc import Callable
from typing import Any

import numpy as np

WORDS = 64
WGSL = """
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { words[id.x] += 1u; }"""
GLSL = """#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Words { uint words[]; };
void main() { words[gl_GlobalInvocationID.x] += 1u; }"""

SLANG = """
RWStructuredBuffer<uint> words;
[shader("compute")][numthreads(64, 1, 1)] void add_one(uint3 id : SV_DispatchThreadID) { words[id.x] += 1; }"""

Chain = Callable[[], Any]
"""Runs a chain once, and returns without waiting for it."""


class Rgraph:
    """rgraph itself."""

    name, says = "rgraph", "plans, aliases memory and infers every barrier"

    def __init__(self) -> None:
        rgraph = importlib.import_module("rgraph")
        self.rg, self.device = rgraph, rgraph.Device(rays=False)
        self.version, self.gpu = rgraph.__version__, self.device.info.name
        self.words = self.device.buffer("words", 4 * WORDS)
        self.words.write(np.zeros(WORDS, np.uint32))

    def _graph(self, names: list[str]) -> Any:
        graph = self.rg.Graph("chain")
        words = graph.import_buffer("words", 4 * WORDS)
        for name in names:
            graph.compute(name, WGSL, groups=(1, 1, 1), words=words)
        graph.root(words)
        return graph

    def anew(self, passes: int) -> Chain:
        """Declare the chain each time."""
        names = [f"pass{at}" for at in range(passes)]
        return lambda: self.device.run(self._graph(names), inputs={"words": self.words}, read=[])

    def again(self, passes: int) -> Chain:
        """Declare and compile it once."""
        compiled = self.device.compile(self._graph([f"pass{at}" for at in range(passes)]))
        return lambda: compiled.run(inputs={"words": self.words}, read=[])

    def wait(self) -> None:
        self.device.wait_idle()

    def check(self) -> int:
        return int(np.frombuffer(self.words.read(), np.uint32)[0])

    def up(self, size: int) -> Chain:
        buffer, array = self.device.buffer("bytes", size), np.ones(size, np.uint8)
        return lambda: buffer.write(array)

    def down(self, size: int) -> Chain:
        buffer = self.device.buffer("bytes", size)
        buffer.write(np.ones(size, np.uint8))
        return lambda: buffer.read()

    def pinned_up(self, size: int) -> Chain:
        buffer, array = self.device.buffer("bytes", size), self.device.array(size, np.uint8)
        array[:] = 1
        return lambda: buffer.write(array)

    def pinned_down(self, size: int) -> Chain:
        buffer, array = self.device.buffer("bytes", size), self.device.array(size, np.uint8)
        buffer.write(np.ones(size, np.uint8))
        return lambda: buffer.read(into=array)


class Wgpu:
    """wgpu-py."""

    name, says = "wgpu-py", "tracks each resource while commands are recorded; one queue, no planning"

    def __init__(self) -> None:
        wgpu = importlib.import_module("wgpu")
        self.wgpu, self.version = wgpu, wgpu.__version__
        wanted, adapters = os.environ.get("RGRAPH_BENCH_GPU"), wgpu.gpu.enumerate_adapters_sync()
        named = [one for one in adapters if wanted and wanted in one.summary and "Vulkan" in one.summary]
        adapter = named[0] if named else wgpu.gpu.request_adapter_sync(power_preference="high-performance")
        self.gpu, self.device = adapter.info["device"], adapter.request_device_sync()
        usage = wgpu.BufferUsage
        self.usage = usage.STORAGE | usage.COPY_SRC | usage.COPY_DST
        self.words = self.device.create_buffer(size=4 * WORDS, usage=self.usage)
        module = self.device.create_shader_module(code=WGSL)
        self.pipeline = self.device.create_compute_pipeline(
            layout="auto", compute={"module": module, "entry_point": "main"}
        )
        bound = {"buffer": self.words, "offset": 0, "size": 4 * WORDS}
        layout = self.pipeline.get_bind_group_layout(0)
        self.group = self.device.create_bind_group(layout=layout, entries=[{"binding": 0, "resource": bound}])

    def anew(self, passes: int) -> Chain:
        """Record the chain each time, as it has to be: pipeline and bind group are made once."""

        def run() -> None:
            encoder = self.device.create_command_encoder()
            one = encoder.begin_compute_pass()
            for _ in range(passes):
                one.set_pipeline(self.pipeline)
                one.set_bind_group(0, self.group)
                one.dispatch_workgroups(1, 1, 1)
            one.end()
            self.device.queue.submit([encoder.finish()])

        return run

    again = anew

    def wait(self) -> None:
        """Read four bytes behind everything: ``on_submitted_work_done`` raises a TypeError in 0.32."""
        self.device.queue.read_buffer(self.words, 0, 4)

    def check(self) -> int:
        return int(np.frombuffer(self.device.queue.read_buffer(self.words), np.uint32)[0])

    def up(self, size: int) -> Chain:
        buffer, array = self.device.create_buffer(size=size, usage=self.usage), np.ones(size, np.uint8)
        return lambda: self.device.queue.write_buffer(buffer, 0, array)

    def down(self, size: int) -> Chain:
        buffer = self.device.create_buffer(size=size, usage=self.usage)
        return lambda: self.device.queue.read_buffer(buffer)


class Bazalt:
    """bazalt."""

    name, says = "bazalt", "places one merged barrier call between passes; runs them as declared"

    def __init__(self) -> None:
        bazalt: Any = importlib.import_module("bazalt")
        self.bz, self.version = bazalt, importlib.metadata.version("bazalt")
        wanted, devices = os.environ.get("RGRAPH_BENCH_GPU"), bazalt.list_devices()
        named = [one for one in devices if wanted and wanted in one.name]
        self.context = bazalt.Context(validation="off", **({"device": named[0]} if named else {}))
        self.gpu = self.context.device_name
        self.words = self._buffer(np.zeros(WORDS, np.uint32))
        shader = self.context.compile_shader(source=GLSL, stage=bazalt.ShaderStage.COMPUTE)
        self.pipeline = self.context.compute_pipeline().shader(shader).storage_buffer(0).build()
        self.bound = self.context.create_descriptor_pool().allocate_set(self.pipeline)
        self.bound.set_buffer(0, self.words)

    def _buffer(self, data: Any) -> Any:
        return self.context.create_buffer(data, self.bz.BufferUsage.STORAGE, self.bz.MemoryUsage.STATIC)

    def _graph(self, passes: int) -> Any:
        graph = self.context.graph()
        for _ in range(passes):
            one = graph.add_pass()
            one.bind_pipeline(self.pipeline).bind_descriptor_set(self.bound, self.pipeline).dispatch(1)
        return graph

    def anew(self, passes: int) -> Chain:
        """Declare the chain each time; pipeline and descriptor set are made once."""
        return lambda: self.context.submit(self._graph(passes), wait=False)

    def again(self, passes: int) -> Chain:
        """Declare it once."""
        graph = self._graph(passes)
        return lambda: self.context.submit(graph, wait=False)

    def wait(self) -> None:
        self.context.wait()

    def check(self) -> int:
        return int(self.words.read(np.uint32)[0])

    def up(self, size: int) -> Chain:
        """Make a buffer of an array: those that the device alone sees are filled when they are made."""
        array = np.ones(size, np.uint8)
        return lambda: self._buffer(array).wait()

    def down(self, size: int) -> Chain:
        buffer = self._buffer(np.ones(size, np.uint8))
        return lambda: buffer.read(np.uint8)


class Slangpy:
    """slangpy, without its functional layer: commands are recorded as in its examples."""

    name, says = "slangpy", "sets parameters by reflection and tracks states while commands are recorded; no planning"
    kind = "vulkan"

    def __init__(self) -> None:
        spy: Any = importlib.import_module("slangpy")
        self.spy, self.version = spy, importlib.metadata.version("slangpy")
        kind = getattr(spy.DeviceType, self.kind)
        wanted, adapters = os.environ.get("RGRAPH_BENCH_GPU"), spy.Device.enumerate_adapters(kind)
        named = [one for one in adapters if wanted and wanted in one.name]
        try:
            self.device = spy.Device(type=kind, **({"adapter_luid": named[0].luid} if named else {}))
        except RuntimeError as error:
            # It asks for more than lavapipe 22.3.6 and SwiftShader have, and says no more than that.
            raise ImportError(f"slangpy {self.version}: {str(error).splitlines()[0]}") from error
        self.gpu = self.device.info.adapter_name
        usage = spy.BufferUsage
        self.usage = usage.shader_resource | usage.unordered_access | usage.copy_source | usage.copy_destination
        self.words = self.device.create_buffer(size=4 * WORDS, usage=self.usage, data=np.zeros(WORDS, np.uint32))
        module = self.device.load_module_from_source("chain", SLANG)
        program = self.device.link_program([module], [module.entry_point("add_one")])
        self.pipeline = self.device.create_compute_pipeline(program)

    def anew(self, passes: int) -> Chain:
        """Record the chain each time, as it has to be: the pipeline is made once."""

        def run() -> None:
            encoder = self.device.create_command_encoder()
            with encoder.begin_compute_pass() as one:
                for _ in range(passes):
                    self.spy.ShaderCursor(one.bind_pipeline(self.pipeline)).words = self.words
                    one.dispatch_compute([1, 1, 1])
            self.device.submit_command_buffer(encoder.finish())

        return run

    again = anew

    def wait(self) -> None:
        self.device.wait()

    def check(self) -> int:
        return int(self.words.to_numpy().view(np.uint32)[0])

    def _bytes(self, size: int) -> tuple[Any, Any]:
        array = np.ones(size, np.uint8)
        return self.device.create_buffer(size=size, usage=self.usage, data=array), array

    def up(self, size: int) -> Chain:
        buffer, array = self._bytes(size)
        return lambda: buffer.copy_from_numpy(array)

    def down(self, size: int) -> Chain:
        buffer, _ = self._bytes(size)
        return lambda: buffer.to_numpy()


class Torch:
    """torch, eagerly; and its CUDA graphs."""

    name, says = "torch", "runs kernels in the order of one stream; a CUDA graph replays it as it is"

    def __init__(self) -> None:
        torch: Any = importlib.import_module("torch")
        if not torch.cuda.is_available():
            raise ImportError("torch sees no CUDA device")
        self.torch, self.version, self.gpu = torch, torch.__version__, torch.cuda.get_device_name()
        self.words = torch.zeros(WORDS, dtype=torch.int32, device="cuda")

    def anew(self, passes: int) -> Chain:
        """Call a kernel per dispatch."""

        def run() -> None:
            for _ in range(passes):
                self.words.add_(1)

        return run

    def again(self, passes: int) -> Chain:
        """Replay a CUDA graph."""
        run = self.anew(passes)
        run()
        self.wait()
        graph = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(graph):
            run()
        self.words.zero_()
        return lambda: graph.replay()

    def wait(self) -> None:
        self.torch.cuda.synchronize()

    def check(self) -> int:
        return int(self.words[0])

    def _to(self, size: int, pinned: bool) -> tuple[Any, Any]:
        host = self.torch.ones(size, dtype=self.torch.uint8)
        return (host.pin_memory() if pinned else host), self.torch.ones(size, dtype=self.torch.uint8, device="cuda")

    def up(self, size: int) -> Chain:
        host, device = self._to(size, pinned=False)
        return lambda: device.copy_(host)

    def down(self, size: int) -> Chain:
        host, device = self._to(size, pinned=False)
        return lambda: host.copy_(device)

    def pinned_up(self, size: int) -> Chain:
        host, device = self._to(size, pinned=True)
        return lambda: device.copy_(host)

    def pinned_down(self, size: int) -> Chain:
        host, device = self._to(size, pinned=True)
        return lambda: host.copy_(device)


LIBRARIES = {cls.name: cls for cls in (Rgraph, Wgpu, Bazalt, Slangpy, Torch)}
