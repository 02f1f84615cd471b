"""A frame that is rendered, goes through a torch network, and is composited with what the network made of it.

Compares the way without a copy (`rgraph.cuda`) with the way through the host: same results bit for bit, and the
time of a frame. Needs an NVIDIA GPU and torch: `python benches/cuda.py [width height frames]`.
"""

import json
import sys
import time
from collections.abc import Callable

import numpy as np
import torch

import rgraph as rg

RENDER = """
struct Scene { time: f32 }
var<push_constant> scene: Scene;
@group(0) @binding(0) var<storage, read_write> picture: array<vec4<f32>>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let texel = id.x + id.y * groups.x * 64u;
    if texel >= arrayLength(&picture) { return; }
    let at = vec2<f32>(f32(texel % WIDTHu), f32(texel / WIDTHu)) / 64.0;
    let color = 0.5 + 0.5 * sin(vec3<f32>(at.x, at.y, at.x + at.y) + scene.time);
    picture[texel] = vec4<f32>(color, 1.0);
}"""
COMPOSE = """
@group(0) @binding(0) var<storage, read> picture: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> made: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> result: array<vec4<f32>>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let texel = id.x + id.y * groups.x * 64u;
    if texel < arrayLength(&result) { result[texel] = mix(picture[texel], made[texel], 0.25); }
}"""


def groups(texels: int) -> tuple[int, int, int]:
    """Workgroups of 64 texels each."""
    return (1024, -(-texels // 65536), 1)


def main(width: int, height: int, frames: int) -> dict[str, object]:
    """Runs both ways; the figures."""
    torch.manual_seed(1)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.allow_tf32 = False
    network = torch.nn.Sequential(torch.nn.Conv2d(4, 4, 3, padding=1), torch.nn.ReLU()).cuda().eval()

    def made_of(picture: torch.Tensor) -> torch.Tensor:
        """What the network makes of (height, width, 4)."""
        with torch.no_grad():
            return network(picture.permute(2, 0, 1)[None])[0].permute(1, 2, 0).contiguous()

    texels, shape = width * height, (height, width, 4)
    with rg.Device() as device, rg.cuda.Session(device) as cuda:
        pool = torch.cuda.MemPool(cuda.allocator(4 * texels * 16 + (64 << 20)))
        with torch.cuda.use_mem_pool(pool):
            kept = torch.empty(shape, device="cuda")
        render, compose = rg.Graph("render"), rg.Graph("compose")
        rendered = cuda.tensor(render, "rendered", shape)
        shader = RENDER.replace("WIDTH", str(width))
        render.compute("render", shader, picture=rendered, push={"time": 0.0}, groups=groups(texels))
        picture = cuda.import_tensor(compose, "picture", kept, as_buffer=True)
        made = cuda.import_tensor(compose, "made", kept, as_buffer=True)
        result = cuda.tensor(compose, "result", shape)
        compose.compute("compose", COMPOSE, picture=picture, made=made, result=result, groups=groups(texels))

        host_render, host_compose = rg.Graph("render for the host"), rg.Graph("compose for the host")
        rendered = host_render.buffer("rendered", texels * 16)
        host_render.compute("render", shader, picture=rendered, push={"time": 0.0}, groups=groups(texels))
        host_render.root(rendered)
        empty = np.zeros(shape, np.float32)
        picture = host_compose.import_array("picture", empty, as_buffer=True)
        made = host_compose.import_array("made", empty, as_buffer=True)
        result = host_compose.buffer("result", texels * 16)
        host_compose.compute("compose", COMPOSE, picture=picture, made=made, result=result, groups=groups(texels))
        host_compose.root(result)

        def on_gpu(frame: int) -> torch.Tensor:
            """A frame without a copy through the host."""
            rendered = device.run(render, params={"render": {"time": frame * 0.1}})["rendered"]
            kept.copy_(made_of(torch.from_dlpack(rendered)))
            return torch.from_dlpack(device.run(compose, inputs={"picture": rendered})["result"])

        def through_host(frame: int) -> torch.Tensor:
            """The same frame through arrays of the host."""
            rendered = device.run(host_render, params={"render": {"time": frame * 0.1}})["rendered"]
            picture = np.asarray(rendered).view(np.float32).reshape(shape)
            made = made_of(torch.from_numpy(picture.copy()).cuda()).cpu().numpy()
            result = device.run(host_compose, inputs={"picture": picture, "made": made})["result"]
            return torch.from_numpy(np.asarray(result).view(np.float32).reshape(shape).copy()).cuda()

        equal = sum(bool(torch.equal(on_gpu(frame), through_host(frame))) for frame in range(frames))

        def timed(way: Callable[[int], torch.Tensor], count: int) -> float:
            """Milliseconds per frame."""
            way(0)
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for frame in range(count):
                result = way(frame)
            torch.cuda.synchronize()
            del result
            return (time.perf_counter() - begin) * 1e3 / count

        gpu, host = (
            [timed(on_gpu, frames) for _ in range(3)],
            [timed(through_host, max(5, frames // 10)) for _ in range(3)],
        )
        result = torch.from_dlpack(device.run(render)["rendered"])
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(20):
            made_of(result)
        torch.cuda.synchronize()
        net = (time.perf_counter() - begin) * 50
    return {
        "size": (width, height),
        "frames": frames,
        "frames equal bit for bit": equal,
        "without a copy, ms per frame": sorted(gpu)[1],
        "through the host, ms per frame": sorted(host)[1],
        "ratio": sorted(host)[1] / sorted(gpu)[1],
        "network alone, ms": net,
    }


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]] or [3840, 2160, 100]
    print(json.dumps(main(*numbers), indent=1))
