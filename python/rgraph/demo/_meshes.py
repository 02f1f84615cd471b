"""Meshes of the deferred demo, made by formula: lists of vertices (position, normal) and triangles."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rgraph.demo._linear import Vector, add, cross, dot, scaled, subtract, unit

SHAFT = (0.12, 0.86)
"""Where the shaft of a column begins and ends, as shares of its height."""


@dataclass
class Mesh:
    """Triangles with a normal at each vertex; outside is where the triangle turns counter-clockwise."""

    positions: list[Vector] = field(default_factory=list)
    """Corners, in metres before an instance's scale."""
    normals: list[Vector] = field(default_factory=list)
    """One of length 1 for each corner."""
    indices: list[int] = field(default_factory=list)
    """Three for each triangle."""


def surface(point: Callable[[float, float], tuple[Vector, Vector]], columns: int, rows: int) -> Mesh:
    """A grid of a function of (u, v), both from 0 to 1, that gives position and normal."""
    mesh = Mesh()
    for row in range(rows + 1):
        for column in range(columns + 1):
            position, normal = point(column / columns, row / rows)
            mesh.positions.append(position)
            mesh.normals.append(normal)
    for row in range(rows):
        for column in range(columns):
            a = row * (columns + 1) + column
            b = a + columns + 1
            mesh.indices += (a, b, a + 1, a + 1, b, b + 1)
    return outward(mesh)


def outward(mesh: Mesh) -> Mesh:
    """Turns all triangles, which must face one way, so that most face where their normals point."""
    for_, against = 0, 0
    for at in range(0, len(mesh.indices), 3):
        a, b, c = mesh.indices[at : at + 3]
        p, q, r = mesh.positions[a], mesh.positions[b], mesh.positions[c]
        side = dot(cross(subtract(q, p), subtract(r, p)), add(add(mesh.normals[a], mesh.normals[b]), mesh.normals[c]))
        for_, against = for_ + (side > 0.0), against + (side < 0.0)
    if against > for_:
        mesh.indices[1::3], mesh.indices[2::3] = mesh.indices[2::3], mesh.indices[1::3]
    return mesh


def sphere(columns: int, rows: int) -> Mesh:
    """Radius 1."""

    def point(u: float, v: float) -> tuple[Vector, Vector]:
        a, b = u * math.tau, v * math.pi
        normal = (math.sin(b) * math.cos(a), math.cos(b), math.sin(b) * math.sin(a))
        return normal, normal

    return surface(point, columns, rows)


def torus(thickness: float, columns: int, rows: int) -> Mesh:
    """Radius 1 to the middle of the tube, lying in the plane y = 0."""

    def point(u: float, v: float) -> tuple[Vector, Vector]:
        a, b = u * math.tau, v * math.tau
        normal = (math.cos(a) * math.cos(b), math.sin(b), math.sin(a) * math.cos(b))
        return add((math.cos(a), 0.0, math.sin(a)), scaled(normal, thickness)), normal

    return surface(point, columns, rows)


def knot(p: int, q: int, thickness: float, columns: int, rows: int) -> Mesh:
    """A tube along a torus knot: p times around the axis y, q times around the tube; about 1.4 in radius."""

    def centre(a: float) -> Vector:
        r = 1.0 + 0.42 * math.cos(q * a)
        return (r * math.cos(p * a), 0.55 * math.sin(q * a), r * math.sin(p * a))

    def point(u: float, v: float) -> tuple[Vector, Vector]:
        a, b = u * math.tau, v * math.tau
        here = centre(a)
        tangent = unit(subtract(centre(a + 1e-3), centre(a - 1e-3)))
        # A frame that depends on the place only, so that the tube closes.
        across = unit(cross(tangent, (here[0], 0.0, here[2])))
        over = cross(across, tangent)
        normal = add(scaled(across, math.cos(b)), scaled(over, math.sin(b)))
        return add(here, scaled(normal, thickness)), unit(normal)

    return surface(point, columns, rows)


def box(bevel: float) -> Mesh:
    """A cube from −1 to 1 with rounded edges: points of the cube moved onto the rounding."""
    # Steps within the rounding, then over the flat part.
    low = [-1.0 + bevel * step for step in (0.0, 0.35, 0.7, 1.0)]
    steps = low + [-value for value in reversed(low)]
    whole = Mesh()
    inner = 1.0 - bevel
    count = len(steps)
    for axis in range(3):
        for side in (-1.0, 1.0):
            face = Mesh()
            for v in steps:
                for u in steps:
                    corner = [0.0, 0.0, 0.0]
                    corner[axis], corner[(axis + 1) % 3], corner[(axis + 2) % 3] = side, u, v
                    core = [min(max(value, -inner), inner) for value in corner]
                    normal = unit((corner[0] - core[0], corner[1] - core[1], corner[2] - core[2]))
                    face.positions.append(add((core[0], core[1], core[2]), scaled(normal, bevel)))
                    face.normals.append(normal)
            for row in range(count - 1):
                for column in range(count - 1):
                    a = row * count + column
                    face.indices += (a, a + count, a + 1, a + 1, a + count, a + count + 1)
            first = len(whole.positions)
            whole.indices += (first + index for index in outward(face).indices)
            whole.positions += face.positions
            whole.normals += face.normals
    return whole


def lathe(profile: Sequence[tuple[float, float]], columns: int, flutes: int = 0, depth: float = 0.0) -> Mesh:
    """Turns a profile of (radius, height) about the axis y; `flutes` grooves of `depth` along a column's shaft.

    Normals are the surface's own, of its differences; points that stand twice in the profile make a sharp edge.
    """

    def radius(row: int, a: float) -> float:
        r, height = profile[row]
        # Grooves run out at both ends of the shaft.
        deep = depth * min(max((height - SHAFT[0]) / 0.02, 0.0), max((SHAFT[1] - height) / 0.02, 0.0), 1.0)
        return r - deep * (0.5 - 0.5 * math.cos(flutes * a))

    def place(row: int, a: float) -> Vector:
        r = radius(row, a)
        return (r * math.cos(a), profile[row][1], r * math.sin(a))

    mesh = Mesh()
    rows = [(row, row + 1) for row in range(len(profile) - 1) if profile[row] != profile[row + 1]]
    for below, above in rows:
        first = len(mesh.positions)
        for row in (below, above):
            for column in range(columns + 1):
                a = column / columns * math.tau
                along = unit(subtract(place(row, a + 0.01), place(row, a - 0.01)))
                if profile[row][0] < 1e-6:
                    along = (-math.sin(a), 0.0, math.cos(a))
                # A smooth profile: the slope over both neighbours, unless an edge is there.
                back = row - 1 if row > 0 and profile[row - 1] != profile[row] and row == below else below
                on = row + 1 if row + 1 < len(profile) and profile[row + 1] != profile[row] and row == above else above
                up = unit(subtract(place(on, a), place(back, a)))
                normal = unit(cross(up, along))
                mesh.positions.append(place(row, a))
                mesh.normals.append(normal)
        for column in range(columns):
            a_ = first + column
            b_ = a_ + columns + 1
            mesh.indices += (a_, b_, a_ + 1, a_ + 1, b_, b_ + 1)
    return outward(mesh)


def column() -> Mesh:
    """A fluted column of height 1 and about 0.1 in radius, with base and capital, after the Doric order."""
    profile = [(0.98, 0.0), (0.98, 0.035), (0.98, 0.035), (1.0, 0.04), (1.06, 0.055), (1.0, 0.07), (0.92, 0.075)]
    profile += [(0.92, 0.075), (0.84, 0.085), (0.82, 0.12)]
    # The shaft swells a little and thins towards the top.
    profile += [
        (0.82 - 0.17 * t * t + 0.03 * math.sin(math.pi * t), 0.12 + 0.74 * t) for t in (0.2, 0.4, 0.6, 0.8, 1.0)
    ]
    profile += [(0.66, 0.865), (0.66, 0.865), (0.72, 0.872), (0.72, 0.885), (0.66, 0.89), (0.68, 0.90)]
    profile += [(0.91, 0.945), (1.02, 0.955), (1.02, 0.955), (1.08, 0.96), (1.08, 1.0), (1.08, 1.0), (0.0, 1.0)]
    made = lathe(profile, 72, flutes=18, depth=0.055)
    made.positions = [(x * 0.1, y, z * 0.1) for x, y, z in made.positions]
    made.normals = [unit((x / 0.1, y, z / 0.1)) for x, y, z in made.normals]
    return made


def ground() -> Mesh:
    """A square from −1 to 1 in the plane y = 0."""
    positions = [(x, 0.0, z) for z in (-1.0, 1.0) for x in (-1.0, 1.0)]
    return outward(Mesh(positions, [(0.0, 1.0, 0.0)] * 4, [0, 2, 1, 1, 2, 3]))


def drum(bevel: float = 0.06) -> Mesh:
    """A cylinder of radius 1 from y = 0 to 1, with a rounded upper edge."""
    profile = [(1.0, 0.0), (1.0, 1.0 - bevel), (1.0, 1.0 - bevel)]
    profile += [(1.0 - bevel * (1.0 - math.cos(a)), 1.0 - bevel * (1.0 - math.sin(a))) for a in (0.4, 0.8, 1.2)]
    profile += [(1.0 - bevel, 1.0), (1.0 - bevel, 1.0), (0.0, 1.0)]
    return lathe(profile, 72)
