"""The eye and the sun of the deferred demo, and the constants that a frame's shaders read (`Frame` of common.wgsl)."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

from rgraph.demo._linear import (
    Matrix,
    Vector,
    halton,
    inverse,
    look_at,
    orthographic,
    perspective,
    product,
    transformed,
)

NEAR = 0.1
FIELD = math.radians(42.0)
JITTERS = 16
"""Frames after which the jitter begins again."""
CASCADE_ENDS = (6.5, 14.0, 26.0, 60.0)
"""Distance from the eye at which each shadow cascade ends, in metres."""
CONSTANTS = struct.Struct("<172f")


@dataclass(frozen=True)
class Camera:
    """Where somebody stands and looks, in metres."""

    eye: Vector
    target: Vector

    @property
    def view(self) -> Matrix:
        """World to view."""
        return look_at(self.eye, self.target)


def camera(seconds: float) -> Camera:
    """The eye at a time: a slow walk about the court."""
    angle = 1.16 + 0.12 * seconds
    sway = math.sin(0.31 * seconds)
    eye = (9.3 * math.cos(angle), 2.65 + 0.35 * sway, 9.3 * math.sin(angle))
    return Camera(eye, (0.0, 2.0, 0.0))


def sun() -> Vector:
    """Direction towards the sun."""
    azimuth, height = math.radians(221.5), math.radians(8.5)
    return (math.cos(height) * math.cos(azimuth), math.sin(height), math.cos(height) * math.sin(azimuth))


def cascades(view: Matrix, aspect: float, texels: int) -> tuple[list[Matrix], list[float]]:
    """World to clip space of each shadow cascade, and the size of its texels in metres.

    Each is the ball about its part of the view, so that it does not change size as the eye turns, and moves by whole
    texels, so that shadows stand still: Valient, "Stable Rendering of Cascaded Shadow Maps", ShaderX6, 2008.
    """
    towards = sun()
    back = inverse(view)
    height = math.tan(FIELD / 2.0)
    matrices, sizes = [], []
    for at, end in enumerate(CASCADE_ENDS):
        start = CASCADE_ENDS[at - 1] * 0.93 if at else NEAR
        corner = height * math.sqrt(1.0 + aspect * aspect)
        # The smallest ball through the corners of both ends has its middle on the axis.
        middle = min(end, 0.5 * (start + end) * (1.0 + corner * corner))
        radius = math.sqrt((end - middle) ** 2 + (corner * end) ** 2)
        radius = math.ceil(radius * 16.0) / 16.0
        texel = 2.0 * radius / texels
        centre = transformed(back, (0.0, 0.0, -middle))
        light = look_at(towards, (0.0, 0.0, 0.0))
        x, y, z = transformed(light, centre)
        snapped = (math.floor(x / texel) * texel, math.floor(y / texel) * texel, z + radius + 30.0)
        move = (1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, -snapped[0], -snapped[1], -snapped[2], 1.0)
        matrices.append(product(orthographic(radius, 2.0 * radius + 30.0), product(move, light)))
        sizes.append(texel)
    return matrices, sizes


def jitter(frame: int, size: tuple[int, int]) -> tuple[float, float]:
    """Where in its texel a frame samples, in texture coordinates about the middle."""
    at = frame % JITTERS + 1
    return ((halton(at, 2) - 0.5) / size[0], (halton(at, 3) - 0.5) / size[1])


def constants(
    frame: int,
    seconds: float,
    step: float,
    size: tuple[int, int],
    shadow_texels: int,
    cameras: tuple[Camera, Camera] | None = None,
) -> bytes:
    """The bytes of `Frame`: number, time, time since the frame before (seconds), size of picture and of shadow maps.

    `cameras` are the eyes of this frame and of the one before; default: those of the walk.
    """
    width, height = size
    aspect = width / height
    now, before = cameras or (camera(seconds), camera(seconds - step))
    here, there = jitter(frame, size), jitter(frame - 1, size) if frame else (0.0, 0.0)
    steady = perspective(FIELD, aspect, NEAR)
    # Clip space is two wide, texture coordinates one.
    moved = perspective(FIELD, aspect, NEAR, (2.0 * here[0], 2.0 * here[1]))
    view = now.view
    view_projection = product(moved, view)
    shadows, texels = cascades(view, aspect, shadow_texels)
    tangent = math.tan(FIELD / 2.0)
    return CONSTANTS.pack(
        *view_projection,
        *product(steady, view),
        *product(steady, before.view),
        *inverse(view_projection),
        *view,
        *(value for matrix in shadows for value in matrix),
        *CASCADE_ENDS,
        *texels,
        *now.eye,
        seconds,
        *sun(),
        float(frame),
        float(width),
        float(height),
        1.0 / width,
        1.0 / height,
        *here,
        *there,
        NEAR,
        tangent * aspect,
        tangent,
        step,
    )
