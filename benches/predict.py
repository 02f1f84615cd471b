"""How well the model predicts frames: modelled and measured times of generated graphs with real shaders.

Each graph is measured with its passes isolated (`measure="passes"`). With these durations and the device's costs
(`rgraph doctor --measure`) it is planned, and the plan's modelled frame is compared with the time from frame to frame
when many follow each other, from the wall clock. Goal: within 10 % for 90 of 100 graphs. Run as
`python benches/predict.py [--graphs 200] [--seed 1] [--costs FILE.rprofile.json]`.
"""

import argparse
import json
import random
import statistics
from pathlib import Path
from typing import Any

import rgraph as rg
from rgraph.cli.doctor.measure import period

SIZES = (32, 64, 128, 256, 512, 1024, 2048)
READS = """
@group(0) @binding({at}) var in{at}: texture_2d<f32>;"""
COMPUTE = """{reads}
@group(0) @binding({count}) var made: texture_storage_2d<rgba16float, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let size = textureDimensions(made);
    if (id.x >= size.x || id.y >= size.y) {{ return; }}
    var sum = vec4<f32>(f32(id.x), f32(id.y), 1.0, 1.0) / vec4<f32>(f32(size.x));
{body}
    textureStore(made, id.xy, sum);
}}
"""
RASTER = """{reads}
@vertex
fn corner(@builtin(vertex_index) at: u32) -> @builtin(position) vec4<f32> {{
    return vec4<f32>(f32(at & 1u) * 4.0 - 1.0, f32(at >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}}
@fragment
fn main(@builtin(position) place: vec4<f32>) -> @location(0) vec4<f32> {{
    let id = vec2<u32>(place.xy);
    let size = vec2<u32>({size}u, {size}u);
    var sum = vec4<f32>(place.xy, 1.0, 1.0) / {size}.0;
{body}
    return sum;
}}
"""
TAPS = """    for (var y = 0u; y < {taps}u; y++) {{ for (var x = 0u; x < {taps}u; x++) {{
        sum += textureLoad(in{at}, min(id.xy * textureDimensions(in{at}) / size + vec2<u32>(x, y),
            textureDimensions(in{at}) - 1u), 0) * 0.1;
    }} }}"""
MATHS = """    for (var i = 0u; i < {rounds}u; i++) {{ sum = fma(sum, vec4<f32>(0.99), sin(sum.yzwx) * 0.01); }}"""


def graph(seed: int) -> rg.Graph:
    """Declare a frame of 6 to 48 passes: most read one to three of the last eight images.

    Parameters
    ----------
    seed
        Its number: equal numbers give equal graphs.
    """
    draw = random.Random(seed)
    g = rg.Graph(f"predict {seed}")
    images: list[tuple[Any, int]] = []
    count = draw.randint(6, 48)
    wide = draw.choice((1, 4, 8))
    largest = draw.choice((3, 4, 5, 6))
    anywhere = draw.random() < 0.25
    read: set[str] = set()
    for at in range(count):
        size = SIZES[draw.randint(max(0, largest - 4), largest)]
        target = g.image(f"image {at}", size=(size, size), format="rgba16float")
        near = images[-wide:] if len(images) >= wide else []
        inputs = draw.sample(near, min(len(near), draw.choice((1, 1, 2, 3))))
        read.update(resource.name for resource, _ in inputs)
        body = [TAPS.format(at=i, taps=draw.choice((1, 2, 3, 5))) for i in range(len(inputs))]
        if not inputs or draw.random() < 0.4:
            body.append(MATHS.format(rounds=draw.choice((4, 16, 64, 256))))
        reads = "".join(READS.format(at=i) for i in range(len(inputs)))
        bound = {f"in{i}": resource for i, (resource, _) in enumerate(inputs)}
        if draw.random() < 0.3:
            g.raster(
                f"draw {at}",
                RASTER.format(reads=reads, size=size, body="\n".join(body)),
                color=target,
                load="discard",
                bindings=bound,
            )
        else:
            g.compute(
                f"compute {at}",
                COMPUTE.format(reads=reads, count=len(inputs), body="\n".join(body)),
                groups=(-(-size // 8), -(-size // 8), 1),
                queue="any" if anywhere else "compute",
                bindings={**bound, "made": target},
            )
        images.append((target, size))
    for resource, _ in images:
        if resource.name not in read:
            g.root(resource)
    return g


def alone(device: rg.Device, g: rg.Graph) -> dict[str, float]:
    """Microseconds of each pass by itself, medians of some frames.

    Parameters
    ----------
    device
        Where it runs.
    g
        What runs.
    """
    compiled = device.compile(g, measure="passes")
    frames = [device.run(compiled, read=[]).report.pass_us for _ in range(9)]
    return {name: statistics.median(frame[name] for frame in frames) for name in frames[0]}


def main() -> None:
    """Print a line for each graph, and how many are within 10 %."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--graphs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--costs")
    parser.add_argument("--raw", help="write what was measured, for trials of other models")
    arguments = parser.parse_args()
    ratios, raw = [], []
    with rg.Device(costs=arguments.costs) as device:
        for seed in range(arguments.seed, arguments.seed + arguments.graphs):
            g = graph(seed)
            weights = alone(device, g)
            compiled = device.compile(g, weights=weights)
            plan, measured = compiled.plan, period(device, compiled)
            ratio = plan.frame_us / measured
            ratios.append(ratio)
            raw.append({"seed": seed, "weights": weights, "measured": measured, "modelled": plan.frame_us})
            queues = len({one["queue"] for one in plan.to_dict()["passes"]})
            print(
                f"{seed} passes {len(weights)} queues {queues} serial {sum(weights.values()):.1f} modelled "
                f"{plan.frame_us:.1f} measured {measured:.1f} ratio {ratio:.3f}",
                flush=True,
            )
    near = sum(0.9 <= ratio <= 1.1 for ratio in ratios)
    spread = statistics.quantiles(ratios, n=20)
    print(
        f"within 10 %: {near} of {len(ratios)}; modelled ÷ measured: median {statistics.median(ratios):.3f}, "
        f"5 % {spread[0]:.3f}, 95 % {spread[-1]:.3f}"
    )
    if arguments.raw:
        Path(arguments.raw).write_text(json.dumps(raw))


if __name__ == "__main__":
    main()
