"""What the deferred demo shows: a round court at sunset, made by rules, the same on every machine.

A few hundred instances of a few meshes, each with a material, a hundred lamps and some soap bubbles. Everything is
plain bytes, in the layouts that `shaders/common.wgsl` declares.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from typing import Any

from rgraph.demo import _meshes
from rgraph.demo._linear import Vector, scaled, turned
from rgraph.demo._meshes import Mesh

VERTEX_BITS = 15
"""An index is (instance << VERTEX_BITS) + vertex: one draw shows every mesh, and below 2²⁴ every device takes it."""

Colour = tuple[float, float, float]

IVORY: Colour = (0.80, 0.72, 0.60)
TRAVERTINE: Colour = (0.62, 0.53, 0.43)
GOLD: Colour = (1.0, 0.64, 0.33)
COPPER: Colour = (0.95, 0.50, 0.32)
STEEL: Colour = (0.62, 0.64, 0.68)
INK: Colour = (0.018, 0.022, 0.035)
PALETTE: tuple[Colour, ...] = (
    (0.71, 0.17, 0.08),  # terracotta
    (0.86, 0.36, 0.11),  # saffron
    (0.80, 0.70, 0.54),  # sand
    (0.05, 0.33, 0.35),  # teal
    (0.03, 0.10, 0.24),  # indigo
)
LAMPS: tuple[Colour, ...] = ((1.0, 0.48, 0.14), (1.0, 0.24, 0.10), (0.16, 0.62, 1.0), (0.75, 0.25, 1.0))


@dataclass(frozen=True)
class Scene:
    """Buffers of a scene, and how much is in them."""

    vertices: bytes
    """Two vec4 a vertex: position, normal."""
    instances: bytes
    """`Instance` of common.wgsl."""
    mesh_indices: bytes
    """uint32: triangles of all meshes, each counted from its own first vertex; the sphere's come first."""
    draws: bytes
    """Four uint32 an instance: first index of the whole, first of its mesh, first vertex, number."""
    lights: bytes
    """`Light` of common.wgsl, world space."""
    bubbles: bytes
    """vec4 a bubble: centre, radius."""
    index_count: int
    instance_count: int
    light_count: int
    bubble_count: int
    sphere_index_count: int


class _Maker:
    def __init__(self) -> None:
        self.vertices = array("f")
        self.instances = array("f")
        self.mesh_indices = array("I")
        self.draws = array("I")
        self.index_count = 0
        self.lights = array("f")
        self.meshes: dict[str, tuple[int, int, int]] = {}
        self.instance_count = 0
        self.light_count = 0

    def mesh(self, name: str, mesh: Mesh) -> None:
        first = len(self.vertices) // 8
        for position, normal in zip(mesh.positions, mesh.normals, strict=True):
            self.vertices.extend((*position, 0.0, *normal, 0.0))
        self.meshes[name] = (first, len(self.mesh_indices), len(mesh.indices))
        self.mesh_indices.extend(mesh.indices)
        if len(self.vertices) // 8 > 1 << VERTEX_BITS:
            raise ValueError(f"the meshes have more than {1 << VERTEX_BITS} vertices")

    def put(
        self,
        mesh: str,
        at: Vector,
        size: Vector | float = 1.0,
        colour: Colour = IVORY,
        *,
        roughness: float = 0.6,
        metallic: float = 0.0,
        emission: float = 0.0,
        pattern: float = 0.0,
        spin: float = 0.0,
        rotation: tuple[Vector, float] = ((0.0, 1.0, 0.0), 0.0),
    ) -> None:
        sx, sy, sz = (size, size, size) if isinstance(size, float) else size
        x, y, z = turned(*rotation)
        x, y, z = scaled(x, sx), scaled(y, sy), scaled(z, sz)
        for row in range(3):
            self.instances.extend((x[row], y[row], z[row], at[row]))
        self.instances.extend((*colour, roughness, metallic, emission, pattern, spin))
        vertex, source, count = self.meshes[mesh]
        self.draws.extend((self.index_count, source, vertex, self.instance_count))
        self.index_count += count
        self.instance_count += 1

    def light(self, at: Vector, reach: float, colour: Colour, power: float) -> None:
        self.lights.extend((*at, reach, *scaled(colour, power), 0.0))
        self.light_count += 1

    def lamp(self, at: Vector, radius: float, colour: Colour, power: float, reach: float) -> None:
        self.put("small sphere", at, radius, colour, roughness=0.4, emission=power)
        self.light(at, reach, colour, power)


def mixed(a: Colour, b: Colour, t: float) -> Colour:
    """Between two colours."""
    return (a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t)


def palette(t: float) -> Colour:
    """A colour of the palette, t from 0 to 1."""
    at = min(max(t, 0.0), 1.0) * (len(PALETTE) - 1)
    low = min(int(at), len(PALETTE) - 2)
    return mixed(PALETTE[low], PALETTE[low + 1], at - low)


def polar(radius: float, angle: float, height: float) -> Vector:
    """A place by angle about the axis y."""
    return (radius * math.cos(angle), height, radius * math.sin(angle))


def noise(n: int) -> float:
    """A number from 0 to 1 that depends on n only (the R1 sequence)."""
    return (0.5 + n * 0.6180339887498949) % 1.0


def _court(make: _Maker) -> None:
    """Ground, columns, beams."""
    make.put("ground", (0.0, 0.0, 0.0), 900.0, TRAVERTINE, roughness=0.5, pattern=1.0)
    columns, ring, height = 18, 11.0, 5.6
    for at in range(columns):
        angle = (at + 0.5) / columns * math.tau
        make.put("drum", polar(ring, angle, 0.0), (0.92, 0.16, 0.92), IVORY, roughness=0.62, pattern=2.0)
        make.put(
            "column",
            polar(ring, angle, 0.16),
            (5.4, height, 5.4),
            IVORY,
            roughness=0.55,
            pattern=2.0,
            rotation=((0.0, 1.0, 0.0), angle),
        )
        if at % 9 in (3, 4):
            continue  # the ring is broken where the sun comes in, and opposite
        middle = (at + 1.0) / columns * math.tau
        if at % 9 != 2:
            across = (0.0, 1.0, 0.0), math.pi / 2 - middle
            make.put(
                "box",
                polar(ring * 0.985, middle, height + 0.5),
                (2.0, 0.34, 0.52),
                IVORY,
                roughness=0.58,
                pattern=2.0,
                rotation=across,
            )
            make.put(
                "box",
                polar(ring * 0.985, middle, height + 0.95),
                (2.06, 0.11, 0.66),
                IVORY,
                roughness=0.5,
                pattern=2.0,
                rotation=across,
            )


def _sculpture(make: _Maker) -> None:
    """A golden knot above steps, with two rings about it."""
    for step, (radius, height) in enumerate(((3.0, 0.22), (2.35, 0.44), (1.7, 0.66))):
        make.put(
            "drum",
            (0.0, 0.0, 0.0),
            (radius, height, radius),
            mixed(IVORY, TRAVERTINE, step * 0.3),
            roughness=0.45,
            pattern=2.0,
        )
    make.put("drum", (0.0, 0.66, 0.0), (0.75, 0.5, 0.75), INK, roughness=0.12)
    make.put("knot", (0.0, 2.75, 0.0), 1.05, GOLD, roughness=0.2, metallic=1.0, spin=0.35)
    make.put(
        "thin torus", (0.0, 2.75, 0.0), 2.25, COPPER, roughness=0.28, metallic=1.0, rotation=((0.8, 0.0, 0.6), 0.42)
    )
    make.put(
        "thin torus",
        (0.0, 2.75, 0.0),
        2.5,
        STEEL,
        roughness=0.16,
        metallic=1.0,
        rotation=((-0.5, 0.0, 0.8660254), 1.15),
    )
    make.light((0.0, 2.75, 0.0), 6.5, (1.0, 0.62, 0.28), 10.0)
    # From where the eye is, so that the gold has something to show.
    make.light((4.4, 4.9, 3.4), 7.5, (1.0, 0.58, 0.30), 30.0)
    make.light((-1.6, 5.2, 5.0), 7.0, (1.0, 0.42, 0.36), 20.0)
    make.put("small sphere", (0.0, 2.75, 0.0), 0.3, (1.0, 0.62, 0.28), emission=30.0)


def _garden(make: _Maker) -> None:
    """Things on the ground, as the seeds of a sunflower are (Vogel, 1979), and lamps between them."""
    golden = math.pi * (3.0 - math.sqrt(5.0))
    first, count = 22, 250
    for n in range(first, first + count):
        radius, angle = 0.62 * math.sqrt(n), n * golden
        t = (n - first) / count
        # Seeds thirteen apart lie on one spiral.
        shade = palette((n % 13 * 5 % 13) / 12 + 0.1 * (noise(n) - 0.5))
        grown = 0.13 + 0.15 * noise(7 * n) ** 2 + 0.06 * t
        metal = n % 5 == 0
        colour = (GOLD, COPPER, STEEL)[n // 5 % 3] if metal else shade
        roughness = 0.12 + 0.5 * noise(3 * n) if metal else 0.08 + 0.75 * noise(2 * n)
        surface: dict[str, Any] = {"roughness": roughness, "metallic": float(metal)}
        if n % 13 == 6:
            hue = LAMPS[n // 13 % len(LAMPS)]
            make.put("drum", polar(radius, angle, 0.0), (0.09, 0.4 + 0.3 * noise(n), 0.09), INK, roughness=0.3)
            make.lamp(polar(radius, angle, 0.5 + 0.3 * noise(n)), 0.1, hue, 9.0, 3.0)
        elif n % 7 == 3:
            size = (grown * 0.85, grown * (0.9 + 1.6 * noise(n)), grown * 0.85)
            make.put("box", polar(radius, angle, size[1]), size, colour, rotation=((0.0, 1.0, 0.0), -angle), **surface)
        elif n % 7 == 5:
            make.put(
                "torus",
                polar(radius, angle, grown * 0.92),
                grown * 0.9,
                colour,
                rotation=((math.cos(angle), 0.0, math.sin(angle)), math.pi / 2),
                **surface,
            )
        else:
            mesh = "sphere" if grown > 0.22 else "small sphere"
            make.put(mesh, polar(radius, angle, grown), grown, colour, **surface)


def _lamps(make: _Maker) -> None:
    """Lamps at the feet of the columns and above the beams; lights without a lamp on the ground beyond."""
    for at in range(18):
        angle = (at + 0.5) / 18 * math.tau
        warm = LAMPS[0] if at % 3 else LAMPS[2]
        make.lamp(polar(10.0, angle, 0.16), 0.14, warm, 16.0, 4.2)
    for at in range(36):
        angle = (at + 0.25) / 36 * math.tau
        make.lamp(polar(13.2 + 5.0 * noise(at), angle, 0.12), 0.09, LAMPS[at % 4], 9.0, 3.2)
    for at in range(20):
        angle = at / 20 * math.tau
        make.light(polar(3.1, angle, 0.3), 1.7, LAMPS[at % 2], 2.2)


def _bubbles() -> array[float]:
    floating = array("f")
    for n in range(26):
        radius, angle = 2.8 + 6.5 * noise(n * 3 + 1), n * 2.399963
        floating.extend((*polar(radius, angle, 1.2 + 3.6 * noise(n * 5)), 0.14 + 0.3 * noise(n * 11) ** 2))
    return floating


def court() -> Scene:
    """Make the scene."""
    make = _Maker()
    make.mesh("sphere", _meshes.sphere(40, 20))
    make.mesh("small sphere", _meshes.sphere(24, 12))
    make.mesh("box", _meshes.box(0.09))
    make.mesh("torus", _meshes.torus(0.36, 32, 14))
    make.mesh("thin torus", _meshes.torus(0.035, 96, 8))
    make.mesh("knot", _meshes.knot(2, 3, 0.23, 220, 18))
    make.mesh("column", _meshes.column())
    make.mesh("drum", _meshes.drum())
    make.mesh("ground", _meshes.ground())
    _court(make)
    _sculpture(make)
    _garden(make)
    _lamps(make)
    floating = _bubbles()
    return Scene(
        vertices=make.vertices.tobytes(),
        instances=make.instances.tobytes(),
        mesh_indices=make.mesh_indices.tobytes(),
        draws=make.draws.tobytes(),
        lights=make.lights.tobytes(),
        bubbles=floating.tobytes(),
        index_count=make.index_count,
        instance_count=make.instance_count,
        light_count=make.light_count,
        bubble_count=len(floating) // 4,
        sphere_index_count=make.meshes["sphere"][2],
    )
