"""What a declaration of the state machine computes, in numpy: passes over buffers of 32 words, one after the other."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

WORDS = 32
SCALE = """
struct Params { factor: u32, add: u32 }
var<push_constant> params: Params;
@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { dst[id.x] = src[id.x] * params.factor + params.add; }"""
SUM = """
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { dst[id.x] = a[id.x] + 3u * b[id.x]; }"""
STEP = """
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] = data[id.x] * 5u + 1u; }"""


class Mine(Exception):
    """What functions of passes raise."""


def ramp(seed: int) -> np.ndarray:
    """Contents that a number decides."""
    return (np.arange(WORDS, dtype=np.uint32) + np.uint32(1)) * np.uint32(2654435769) + np.uint32(seed)


@dataclass
class Op:
    """A pass: its name and kind, what it reads and writes, and its numbers."""

    name: str
    kind: str
    reads: tuple[str, ...]
    writes: str
    numbers: tuple[int, ...] = ()


@dataclass
class Model:
    """A declaration: buffers by name with their kind and first contents, passes in order, roots."""

    name: str
    buffers: dict[str, tuple[str, np.ndarray]] = field(default_factory=dict)
    ops: list[Op] = field(default_factory=list)
    roots: list[str] = field(default_factory=list)
    #: What the function of each pass on the CPU does besides; shared by copies, as functions are.
    mischief: dict[str, Any] = field(default_factory=dict)

    def taken(self) -> Model:
        """As it is now."""
        one = copy.copy(self)
        one.buffers, one.ops, one.roots = dict(self.buffers), list(self.ops), list(self.roots)
        return one

    def defined(self) -> list[str]:
        """Buffers that have contents behind the last pass."""
        lasting = [name for name, (kind, _) in self.buffers.items() if kind != "transient"]
        return list(dict.fromkeys([*lasting, *(op.writes for op in self.ops)]))

    def sound(self) -> bool:
        """Whether each read comes after a write and there is a result: then all that it means is here."""
        known = {name for name, (kind, _) in self.buffers.items() if kind != "transient"}
        for op in self.ops:
            if not known.issuperset(op.reads) or not {*op.reads, op.writes} <= set(self.buffers):
                return False
            known.add(op.writes)
        return bool(self.roots) and known.issuperset(self.roots)

    def callbacks(self) -> bool:
        """Whether it calls functions."""
        return any(op.kind == "cpu" for op in self.ops)

    def first(self) -> dict[str, np.ndarray]:
        """Contents of persistent buffers before the first frame."""
        return {name: array for name, (kind, array) in self.buffers.items() if kind == "persistent"}

    def run(
        self, state: dict[str, np.ndarray], inputs: dict[str, np.ndarray], scale: dict[str, tuple[int, int]]
    ) -> dict[str, np.ndarray]:
        """Results of the roots that passes use; the state becomes that of the next frame."""
        values = {name: array for name, (kind, array) in self.buffers.items() if kind == "imported"}
        values |= inputs | state
        with np.errstate(over="ignore"):
            for op in self.ops:
                given = [values[name] for name in op.reads]
                if op.kind in ("scale", "cpu"):
                    factor, add = scale.get(op.name, op.numbers)
                    made = given[0] * np.uint32(factor) + np.uint32(add)
                elif op.kind == "sum":
                    made = given[0] + np.uint32(3) * given[1]
                elif op.kind == "step":
                    made = given[0] * np.uint32(5) + np.uint32(1)
                elif op.kind == "fill":
                    made = np.full(WORDS, op.numbers[0], np.uint32)
                else:
                    made = given[0]
                values[op.writes] = made
        for name in state:
            state[name] = values[name]
        return {name: values[name] for name in self.read_back()}

    def read_back(self) -> list[str]:
        """Roots that passes use: others are not read back (RG-E225)."""
        used = {name for op in self.ops for name in (*op.reads, op.writes)}
        return [name for name in self.roots if name in used]
