"""Prefix sums."""

from __future__ import annotations

import math
from typing import Literal, overload

from rgraph._core import Buffer, Module, Pass
from rgraph.passes._mistake import known, ready_made, refuse
from rgraph.passes._picture import BufferLike, data
from rgraph.passes._shader import Queue, computes, text

__all__ = ["TYPES", "numbers", "prefix_sum", "spread"]

TYPES = {"uint32": "u32", "int32": "i32", "float32": "f32"}
"""Numbers in buffers: numpy's name and WGSL's."""
_BLOCK = 2048
_MOST_GROUPS = 65535


def spread(groups: int) -> tuple[int, int]:
    """So many workgroups or a few more, in two directions where they are too many for one."""
    return min(groups, _MOST_GROUPS), math.ceil(groups / _MOST_GROUPS)


def numbers(name: str, buffer: Buffer, dtype: str | None, default: str) -> str:
    """WGSL's name of a buffer's numbers: as an argument says, else as the buffer declares, else a default.

    Raises
    ------
    GraphError
        If they are no numbers of 32 bits.
    """
    if dtype is not None:
        return TYPES[known(name, "dtype", dtype, tuple(TYPES))]
    given = buffer.dtype
    if given is None:
        return TYPES[default]
    if isinstance(given, str) and given in TYPES:
        return TYPES[given]
    what = given if isinstance(given, str) else "records"
    message = f'source "{buffer.name}" has {what}'
    help = f'convert the array: astype("float32"); or set dtype="{default}" to read its bytes as such numbers'
    refuse("RG-E207", name, message, help, (buffer, f"{what} here"))


@overload
def prefix_sum(
    g: Module,
    name: str,
    source: BufferLike,
    target: None = None,
    *,
    dtype: Literal["uint32", "int32", "float32"] | None = None,
    exclusive: bool = False,
    queue: Queue = None,
) -> Buffer: ...
@overload
def prefix_sum(
    g: Module,
    name: str,
    source: BufferLike,
    target: BufferLike,
    *,
    dtype: Literal["uint32", "int32", "float32"] | None = None,
    exclusive: bool = False,
    queue: Queue = None,
) -> Pass: ...
@ready_made
def prefix_sum(
    g: Module,
    name: str,
    source: BufferLike,
    target: BufferLike | None = None,
    *,
    dtype: Literal["uint32", "int32", "float32"] | None = None,
    exclusive: bool = False,
    queue: Queue = None,
) -> Pass | Buffer:
    """Compute prefix sums: the sum of all numbers up to each number, itself included unless `exclusive`.

    Passes `name/sums1` …, the sums of blocks of 2048 numbers (then of blocks of those), and `name/scan0` after those of
    coarser levels, the running sums within blocks. Up to 2048 numbers take one pass, up to 2^22 three, then five.

    Parameters
    ----------
    g
        Graph or module that the passes are declared in.
    name
        Prefix of the passes' names, and name of a new buffer.
    source
        Buffer of 32-bit numbers; all of them are summed.
    target
        Buffer to write: another one with as many bytes; default: a new buffer `name`.
    dtype
        Type of the numbers; default: the buffer's dtype, or `"uint32"` where it declares none. Sums of integers wrap
        around; those of floats are added in the same order on every device, by blocks, which is more exact than one
        after the other.
    exclusive
        If true, each sum leaves out the number itself.
    queue
        See `Module.add_pass`; default: `"compute"`.

    Returns
    -------
    Pass or Buffer
        The last pass, or the new buffer if `target` is left out.

    Raises
    ------
    GraphError
        If a buffer is unsuitable. The graph is left unchanged.

    Notes
    -----
    Every number is read twice and written once.

    References
    ----------
    Merrill, Grimshaw, "Parallel Scan for Stream Architectures", University of Virginia, 2009: reduce, then scan.
    Hillis, Steele, "Data Parallel Algorithms", 1986: the sums of a workgroup.
    """
    buffer, _, size = data(g, name, "source", source)
    ty = numbers(name, buffer, dtype, "uint32")
    if size % 4 or size == 0:
        refuse(
            "RG-E205", name, f'source "{buffer.name}" has {size} bytes', "give whole numbers of 32 bits", (buffer, "")
        )
    on = computes(name, queue)
    if target is not None:
        to, _, room = data(g, name, "target", target)
        if room != size:
            says = (to, f"{room} bytes"), (buffer, f"{size} bytes")
            refuse("RG-E205", name, "source and target have different lengths", "give as many bytes", *says)
        if to == buffer:
            refuse("RG-E217", name, f'source and target are both "{to.name}"', "write another buffer", (to, "here"))
    else:
        to = g.buffer(name, size)
    goal = to if target is None else target
    # Sums of blocks, of blocks of blocks, and so on, until one block has them all.
    counts = [size // 4]
    levels: list[BufferLike] = [source]
    while counts[-1] > _BLOCK:
        blocks = math.ceil(counts[-1] / _BLOCK)
        sums = g.buffer(f"{name}/sums{len(levels)}", 4 * blocks)
        shader = text("scan_sums", type=ty, count=counts[-1])
        step = f"{name}/sums{len(levels)}"
        g.compute(step, shader, groups=spread(blocks), queue=on, source=levels[-1], sums=sums)
        levels.append(sums)
        counts.append(blocks)
    before: Buffer | None = None
    for level in range(len(levels) - 1, -1, -1):
        count, blocks = counts[level], math.ceil(counts[level] / _BLOCK)
        out = g.buffer(f"{name}/scan{level}", 4 * count) if level else goal
        shader = text(
            "scan",
            type=ty,
            count=count,
            before="" if before is None else f"@group(0) @binding(2) var<storage, read> before: array<{ty}>;",
            carry=f"{ty}(0)" if before is None else f"before[min(block, {blocks - 1}u)]",
            own="" if exclusive or level else " + number",
        )
        bindings = {"source": levels[level], "target_": out} | ({} if before is None else {"before": before})
        done = g.compute(f"{name}/scan{level}", shader, groups=spread(blocks), queue=on, bindings=bindings)
        before = out if isinstance(out, Buffer) else None
    return to if target is None else done
