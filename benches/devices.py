"""Two devices against one: GB/s of copies by way, a frame in two halves, and independent frames.

    python benches/devices.py [--probe] [--gpus 0,1] [--sizes 1,16,64,256,1024] [--frame 3840x2160] [--ms 20]

A device is an index or the path of a driver's library. By default they are the first two that answer; if there is one,
it and SwiftShader (`scripts/swiftshader.sh`), or it twice. Copies through memory of the host are measured everywhere,
copies by CUDA if both devices are its GPUs. Times are medians of wall clock, from the call until all devices are done.
All results are compared with those of one device, bit for bit. The tables are Markdown. `--probe` adds what CUDA alone
copies, with no device of Vulkan: the most that there is to reach.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import peers

import rgraph as rg

MIB = 1 << 20
SWIFT = Path(__file__).resolve().parent.parent / ".vulkan" / "libvk_swiftshader.so"
MOST_ROUNDS = 1 << 20

FILL = """
@group(0) @binding(0) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var at = id.x; at < arrayLength(&dst); at += groups.x * 256u) { dst[at] = at * 2654435769u; }
}"""
TAKE = """
@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var at = id.x; at < arrayLength(&dst); at += groups.x * 256u) { dst[at] = src[at] + 7u; }
}"""
# Each texel is what is left after the rounds of an integer recurrence.
DRAW = """
struct Work { first_row: u32, rounds: u32 }
var<push_constant> work: Work;
@group(0) @binding(0) var dst: texture_storage_2d<r32uint, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var x = (id.x + (id.y + work.first_row) * 65536u) * 747796405u + 2891336453u;
    for (var i = 0u; i < work.rounds; i++) { x = (x ^ (x >> 16u)) * 2654435769u + i; }
    textureStore(dst, id.xy, vec4<u32>(x));
}"""
JOIN = """
@group(0) @binding(0) var upper: texture_2d<u32>;
@group(0) @binding(1) var lower: texture_2d<u32>;
@group(0) @binding(2) var dst: texture_storage_2d<r32uint, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let rows = textureDimensions(upper).y;
    if id.y < rows { textureStore(dst, id.xy, textureLoad(upper, id.xy, 0)); }
    else { textureStore(dst, id.xy, textureLoad(lower, id.xy - vec2<u32>(0u, rows), 0)); }
}"""
GRADE = """
@group(0) @binding(0) var src: texture_2d<u32>;
@group(0) @binding(1) var dst: texture_storage_2d<r32uint, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    textureStore(dst, id.xy, textureLoad(src, id.xy, 0) ^ vec4<u32>(255u));
}"""


def copy(size: int, home: int) -> rg.Graph:
    """A buffer that device `home` makes, and device 0 reads."""
    g = rg.Graph("copy")
    made, out = g.buffer("made", size), g.buffer("out", size)
    g.compute("make", FILL, dst=made, groups=1024, device=home)
    g.compute("take", TAKE, src=made, dst=out, groups=1024, device=0)
    g.root(out)
    return g


def halves(size: tuple[int, int], rounds: int, lower: int) -> rg.Graph:
    """A frame whose upper half device 0 draws, and whose lower half device `lower` draws."""
    width, rows = size[0], size[1] // 2
    g = rg.Graph("halves", size=size)
    parts = [g.image(name, size=(width, rows), format="r32uint") for name in ("upper", "lower")]
    out = g.image("out", format="r32uint")
    for part, device, name in zip(parts, (0, lower), ("upper", "lower"), strict=True):
        push = {"first_row": 0 if name == "upper" else rows, "rounds": rounds}
        g.compute(f"draw {name}", DRAW, dst=part, push=push, device=device)
    g.compute("join", JOIN, upper=parts[0], lower=parts[1], dst=out, device=0)
    g.root(out)
    return g


def independent(size: tuple[int, int], rounds: int, count: int, device: Callable[[int], int | str]) -> rg.Graph:
    """Frames of two passes each that need nothing of each other."""
    g = rg.Graph("independent", size=size)
    for frame in range(count):
        drawn, out = (g.image(f"{name} {frame}", format="r32uint") for name in ("drawn", "out"))
        push = {"first_row": frame * size[1], "rounds": rounds}
        g.compute(f"draw {frame}", DRAW, dst=drawn, push=push, device=device(frame))
        g.compute(f"grade {frame}", GRADE, src=drawn, dst=out, device=device(frame))
        g.root(out)
    return g


def milliseconds(compiled: rg.Compiled | rg.CompiledDevices, runs: int) -> float:
    """The median of some runs that read nothing."""
    compiled.run(read=[]).wait()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        compiled.run(read=[]).wait()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def same(one: rg.Frame, two: rg.Frame, what: str) -> None:
    """End the program if two frames differ in a bit."""
    for name in one:
        if not np.array_equal(np.asarray(one[name]), np.asarray(two[name])):
            raise SystemExit(f"{what}: {name} of two devices differs from that of one")


def rounds_for(device: rg.Device, size: tuple[int, int], ms: float, runs: int) -> int:
    """Rounds with which the frame in halves takes some milliseconds on one device."""
    few, many = 16, 64
    while True:
        base, more = (milliseconds(device.compile(halves(size, rounds, 0)), runs) for rounds in (few, many))
        if more > max(2.0 * base, ms / 4.0) or many >= MOST_ROUNDS:
            each = (more - base) / (many - few)
            return min(max(int((ms - base) / each) + few, 1), MOST_ROUNDS) if each > 0.0 else many
        many *= 4


def opened(name: str) -> rg.Device:
    """The device of an index or of a driver's library."""
    return rg.Device(loader=name) if name.endswith(".so") else rg.Device(int(name))


def default_names() -> list[str]:
    """Two GPUs, or a GPU and SwiftShader, or a GPU twice."""
    if len(rg.devices()) > 1:
        return ["0", "1"]
    return ["0", str(SWIFT) if SWIFT.exists() else "0"]


@contextmanager
def cuda(switch: str) -> Iterator[None]:
    """`RGRAPH_CUDA` for some time."""
    before = os.environ.get("RGRAPH_CUDA")
    os.environ["RGRAPH_CUDA"] = switch
    try:
        yield
    finally:
        if before is None:
            del os.environ["RGRAPH_CUDA"]
        else:
            os.environ["RGRAPH_CUDA"] = before


def table(head: list[str], rows: list[list[str]]) -> None:
    """Print a table in Markdown, the first column left-aligned."""
    print()
    for cells in (head, ["---", *["---:"] * (len(head) - 1)], *rows):
        print("| " + " | ".join(cells) + " |")


def copies(gpus: rg.Devices, sizes: list[int], runs: int) -> list[str]:
    """µs of 64 KiB, then GB/s of a copy by size: by how much longer a frame is in which device 1 made the buffer."""
    cells = []
    for size in (peers.SMALL, *(mib * MIB for mib in sizes)):
        alone, crossing = gpus.devices[0].compile(copy(size, 0)), gpus.compile(copy(size, 1))
        same(alone.run(), crossing.run(), f"a copy of {size} bytes")
        ms = milliseconds(crossing, runs) - milliseconds(alone, runs)
        if ms <= 0.0:
            cells.append("not measurable")
        elif size == peers.SMALL:
            cells.append(f"{ms * 1e3:.0f} µs")
        else:
            cells.append(f"{size / ms / 1e6:.3g}")
    return cells


def against_one(
    gpus: rg.Devices, what: str, graph: Callable[[bool], rg.Graph], runs: int, planned: bool = False
) -> list[str]:
    """A row: milliseconds on one device and on two, and their ratios.

    `graph` gives the graph on device 0 alone if it is called with False. With `planned` its passes leave their device
    open; weights are durations of passes that device 0 measured.
    """
    alone = gpus.devices[0].compile(graph(False))
    weights = alone.run(read=[], measure="passes").report if planned else None
    both = gpus.compile(graph(True), weights=weights)
    same(alone.run(), both.run(), what)
    one, two = milliseconds(alone, runs), milliseconds(both, runs)
    plan = both.plan
    copied = sum(each.bytes for each in plan.copies) / MIB
    expected = f"{plan.one_device_us / plan.frame_us:.2f}" if planned else "–"
    return [what, f"{one:.2f}", f"{two:.2f}", f"{one / two:.2f}", expected, f"{copied:.1f}"]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--probe", action="store_true", help="measure CUDA alone, too")
    parser.add_argument("--gpus", help="two devices, separated by a comma")
    parser.add_argument("--sizes", default="1,16,64,256,1024", help="MiB of copies, separated by commas")
    parser.add_argument("--frame", default="3840x2160", help="width and height of frames in texels")
    parser.add_argument("--ms", type=float, default=20.0, help="milliseconds of a frame on one device, about")
    parser.add_argument("--frames", type=int, default=8, help="independent frames in one graph")
    parser.add_argument("--runs", type=int, default=9, help="runs of which the median counts")
    given = parser.parse_args()
    names = given.gpus.split(",") if given.gpus else default_names()
    sizes = [int(size) for size in given.sizes.split(",")]
    width, height = (int(side) for side in given.frame.split("x"))
    if len(names) != 2:
        parser.error("--gpus takes two devices")
    rates, rows = [], []
    with ExitStack() as stack:
        devices = [stack.enter_context(opened(name)) for name in names]
        for device in devices:
            print(f"- {device.info.name}, {device.info.driver}")
        rounds = rounds_for(devices[0], (width, height), given.ms, given.runs)
        print(f"- rgraph {rg.__version__}, {os.cpu_count()} CPU cores, {rounds} rounds per texel")
        for switch, way in (("off", "host"), ("on", "cuda")):
            with cuda(switch), rg.Devices(devices) as gpus:
                probe = gpus.compile(copy(MIB, 1))
                if way == "cuda" and probe.copy_ways != ["cuda"]:
                    why = [note for note in probe.run(read=[]).report.notes if "CUDA" in note]
                    print("- no copies by CUDA: " + ("; ".join(why) or "CUDA does not know both devices"))
                    continue
                way = probe.copy_ways[0]
                price = gpus.measure_copies()
                print(f"- `measure_copies` by `{price.way}`: {price.us:.0f} µs and {price.gb_s:.3g} GB/s")
                rates.append([f"`{way}`", *copies(gpus, sizes, given.runs)])

                def split(on_two: bool) -> rg.Graph:
                    return halves((width, height), rounds, int(on_two))

                def in_turn(on_two: bool) -> rg.Graph:
                    return independent((width, height), rounds, given.frames, lambda at: at % 2 if on_two else 0)

                def left_open(on_two: bool) -> rg.Graph:
                    return independent((width, height), rounds, given.frames, lambda _: "any" if on_two else 0)

                rows.append(against_one(gpus, f"a frame in halves, `{way}`", split, given.runs))
                if switch == "off":
                    rows.append(against_one(gpus, f"{given.frames} independent frames", in_turn, given.runs))
                    what = f"{given.frames} independent frames, devices left open"
                    rows.append(against_one(gpus, what, left_open, given.runs, planned=True))
    if given.probe:
        try:
            rates.extend(peers.rows(sizes, given.runs))
        except OSError as error:
            print(f"- CUDA alone: {error}")
    table(["GB/s of a copy, MiB", "64 KiB", *map(str, sizes)], rates)
    table([f"{width} × {height} texels", "one, ms", "two, ms", "one ÷ two", "planned", "copied, MiB"], rows)


if __name__ == "__main__":
    main()
