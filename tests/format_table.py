"""The tables of formats on the conventions page, made by asking the code; run as a program it rewrites them.

What shaders read and write and what can be attached is what declarations accept, arrays are what a device reads back.
Bytes are what a plan counts.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path

import rgraph as rg

PAGE = Path(__file__).resolve().parent.parent / "docs" / "concepts" / "conventions.md"
HEAD = "| format | Vulkan | array | shader | storage | attachment | mips |\n" + "| --- " * 7 + "|\n"
BLOCK_HEAD = "| format | Vulkan | block | bytes |\n" + "| --- " * 4 + "|\n"
READ = """
@group(0) @binding(0) var src: {texture};
@group(0) @binding(1) var<storage, read_write> dst: array<{value}>;
@compute @workgroup_size(1) fn main() {{ dst[0] = textureLoad(src, vec2<u32>(), 0); }}
"""
READS = {
    "f32": ("texture_2d<f32>", "vec4<f32>"),
    "i32": ("texture_2d<i32>", "vec4<i32>"),
    "u32": ("texture_2d<u32>", "vec4<u32>"),
    "depth": ("texture_depth_2d", "f32"),
}
WRITE = """
@group(0) @binding(0) var dst: texture_storage_2d<{format}, write>;
@compute @workgroup_size(1) fn main() {{ textureStore(dst, vec2<u32>(), vec4<{scalar}>()); }}
"""


def names() -> list[tuple[str, str]]:
    """Every format: WebGPU's name and Vulkan's, in the code's order."""
    words = json.loads(rg.schema("plan"))["$defs"]["resource"]["properties"]["format"]["enum"]
    half = len(words) // 2
    return list(zip(words[:half], words[half:], strict=True))


def accepted(graph: rg.Graph, declare: Callable[[rg.Graph], None]) -> bool:
    """Whether a declaration bakes."""
    try:
        declare(graph)
        graph.bake()
    except rg.RgError:
        return False
    return True


def reads(format: str, kind: str) -> bool:
    """Whether a shader may read the format as that kind of texture."""
    texture, value = READS[kind]

    def declare(g: rg.Graph) -> None:
        dst = g.buffer("dst", 64)
        g.root(dst)
        src = g.import_image("src", (8, 8), format)
        g.compute("read", READ.format(texture=texture, value=value), src=src, dst=dst, groups=1)

    return accepted(rg.Graph(), declare)


def writes(format: str, scalar: str) -> bool:
    """Whether WGSL has the format as one of storage textures of that scalar."""

    def declare(g: rg.Graph) -> None:
        dst = g.image("dst", (8, 8), format)
        g.root(dst)
        g.compute("write", WRITE.format(format=format, scalar=scalar), dst=dst, groups=1)

    return accepted(rg.Graph(), declare)


def passes(format: str, usage: str, **how: object) -> bool:
    """Whether a pass may use the format that way."""

    def declare(g: rg.Graph) -> None:
        image = g.image("image", (8, 8), format, mips=2)
        getattr(g.add_pass("pass"), usage)(image, **how)
        g.root(image)

    return accepted(rg.Graph(), declare)


def table(device: rg.Device) -> list[str]:
    """Rows of every format that is not compressed and that the device has."""
    rows = []
    for name, vulkan in names():
        if vulkan.endswith("_BLOCK"):
            continue
        try:
            array = device.image(name, (8, 8), name)
        except rg.DeviceError:
            continue
        kinds = ", ".join(kind for kind in READS if reads(name, kind))
        storage = "yes" if any(writes(name, scalar) for scalar in ("f32", "i32", "u32")) else ""
        attachment = "colour" if passes(name, "color") else "depth" if passes(name, "depth") else ""
        mips = "yes" if passes(name, "transfer_dst", generate_mips=True) else ""
        shape = f"`{array.dtype}` × {array.shape[2]}"
        cells = [f"`{name}`", f"`{vulkan}`", shape, kinds, storage, attachment, mips]
        rows.append("| " + " | ".join(cells) + " |\n")
    return rows


def blocks() -> str:
    """Rows of every compressed format: the block in texels, its bytes."""
    rows = []
    for name, vulkan in names():
        if vulkan.endswith("_BLOCK"):
            found = re.search(r"_(\d+)x(\d+)_", vulkan)
            width, height = (int(found[1]), int(found[2])) if found else (4, 4)
            size = bytes_of(name, width, height)
            rows.append(f"| `{name}` | `{vulkan}` | {width}×{height} | {size} |\n")
    return BLOCK_HEAD + "".join(rows)


def bytes_of(name: str, width: int, height: int) -> int:
    """Bytes of one block: what a plan counts for a row of 256, each in the alignment of one byte."""
    profile = rg.Profile.single_queue().to_dict() | {"image_alignment": 1}
    g = rg.Graph()
    image = g.image("image", (256 * width, height), name)
    g.add_pass("fill", queue="graphics").transfer_dst(image)
    g.root(image)
    return int(g.bake(rg.Profile.from_dict(profile)).to_dict()["resources"][0]["bytes"]) // 256


def part(head: str) -> str:
    """A table of the page, as it stands there."""
    text = PAGE.read_text(encoding="utf-8")
    start = text.index(head)
    return text[start : text.index("\n\n", start) + 1]


def shown() -> str:
    """The page's table of formats."""
    return part(HEAD)


def shown_blocks() -> str:
    """The page's table of compressed formats."""
    return part(BLOCK_HEAD)


if __name__ == "__main__":
    with rg.Device() as opened:
        text = PAGE.read_text(encoding="utf-8")
        text = text.replace(shown(), HEAD + "".join(table(opened))).replace(shown_blocks(), blocks())
    PAGE.write_text(text, encoding="utf-8")
