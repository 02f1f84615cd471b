"""Vectors and matrices of the demos: tuples of floats, matrices column by column, as shaders have them."""

from __future__ import annotations

import math

Vector = tuple[float, float, float]
Matrix = tuple[float, ...]
"""Sixteen numbers, column by column."""

IDENTITY: Matrix = (1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)


def add(a: Vector, b: Vector) -> Vector:
    """Return a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def subtract(a: Vector, b: Vector) -> Vector:
    """Return a − b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def scaled(a: Vector, factor: float) -> Vector:
    """Return a, so many times as long."""
    return (a[0] * factor, a[1] * factor, a[2] * factor)


def dot(a: Vector, b: Vector) -> float:
    """Return the inner product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    """Return the outer product."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def unit(a: Vector) -> Vector:
    """Return a at length one; what is too short for that comes back as it was."""
    length = math.sqrt(dot(a, a))
    return scaled(a, 1.0 / length) if length > 1e-12 else a


def product(a: Matrix, b: Matrix) -> Matrix:
    """Return the matrix that applies b first, then a."""
    return tuple(sum(a[k * 4 + row] * b[column * 4 + k] for k in range(4)) for column in range(4) for row in range(4))


def transformed(a: Matrix, point: Vector) -> Vector:
    """Return a point through an affine matrix."""
    x, y, z = (a[row] * point[0] + a[4 + row] * point[1] + a[8 + row] * point[2] + a[12 + row] for row in range(3))
    return (x, y, z)


def look_at(eye: Vector, target: Vector, up: Vector = (0.0, 1.0, 0.0)) -> Matrix:
    """View of somebody at `eye`: x to the right, y up, looking along −z."""
    forward = unit(subtract(target, eye))
    right = unit(cross(forward, up))
    above = cross(right, forward)
    rows = (right, above, scaled(forward, -1.0))
    columns = [(rows[0][axis], rows[1][axis], rows[2][axis], 0.0) for axis in range(3)]
    last = tuple(-dot(row, eye) for row in rows)
    return (*columns[0], *columns[1], *columns[2], *last, 1.0)


def perspective(field: float, aspect: float, near: float, jitter: tuple[float, float] = (0.0, 0.0)) -> Matrix:
    """Projection with depth 1 at `near` and 0 at infinity, y downwards as Vulkan has it.

    `field` is the vertical angle of view in radians; `jitter` moves the picture, in clip units (2 is its whole width).
    Depth that falls with distance keeps its precision there: Upchurch, Desbrun, "Tightening the Precision of
    Perspective Rendering", 2012.
    """
    f = 1.0 / math.tan(field / 2.0)
    return (f / aspect, 0.0, 0.0, 0.0, 0.0, -f, 0.0, 0.0, -jitter[0], -jitter[1], 0.0, -1.0, 0.0, 0.0, near, 0.0)


def orthographic(radius: float, depth: float) -> Matrix:
    """Projection of a box around the axis: ±`radius` sideways, 0 to `depth` ahead become −1 to 1 and 0 to 1."""
    return (1.0 / radius, 0.0, 0.0, 0.0, 0.0, -1.0 / radius, 0.0, 0.0, 0.0, 0.0, -1.0 / depth, 0.0, 0.0, 0.0, 0.0, 1.0)


def inverse(a: Matrix) -> Matrix:
    """Return the inverse, by Gauss and Jordan with pivots."""
    rows = [[a[column * 4 + row] for column in range(4)] + [float(row == k) for k in range(4)] for row in range(4)]
    for at in range(4):
        pivot = max(range(at, 4), key=lambda row: abs(rows[row][at]))
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [value / rows[at][at] for value in rows[at]]
        for other in range(4):
            if other != at:
                factor = rows[other][at]
                rows[other] = [value - factor * own for value, own in zip(rows[other], rows[at], strict=True)]
    return tuple(rows[row][4 + column] for column in range(4) for row in range(4))


def turned(axis: Vector, angle: float) -> tuple[Vector, Vector, Vector]:
    """Columns of the rotation about an axis of length one, by radians (Rodrigues)."""
    c, s = math.cos(angle), math.sin(angle)
    x, y, z = axis
    t = 1.0 - c
    return (
        (t * x * x + c, t * x * y + s * z, t * x * z - s * y),
        (t * x * y - s * z, t * y * y + c, t * y * z + s * x),
        (t * x * z + s * y, t * y * z - s * x, t * z * z + c),
    )


def halton(index: int, base: int) -> float:
    """Return a number of Halton's sequence, in [0, 1)."""
    result, fraction = 0.0, 1.0
    while index > 0:
        fraction /= base
        result += fraction * (index % base)
        index //= base
    return result
