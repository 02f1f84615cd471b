"""The fluid demo: ink in water that five nozzles stir; two hundred small dispatches per frame.

Velocity on a staggered grid, carried along with itself by MacCormack's method, with vorticity confinement, made free of
divergence by Jacobi iterations that begin with the pressure of the frame before. The ink is finer than the flow.
"""

from __future__ import annotations

import struct
from typing import Any

import rgraph
from rgraph import passes
from rgraph.demo._shaders import shader

ITERATIONS = 160
"""Of Jacobi's, each frame."""
STEP = 1.0 / 30.0
"""Seconds from frame to frame."""


def build(
    size: tuple[int, int] = (960, 540), *, iterations: int = ITERATIONS, confinement: float = 6.0, cells: float = 0.5
) -> rgraph.Graph:
    """Declare a frame of the simulation.

    Parameters
    ----------
    size
        Width and height of the picture in texels, each at least 64.
    iterations
        How often the pressure is made better, at least 2 and even.
    confinement
        How much small eddies are helped, in 1 / second; 0: not at all.
    cells
        Cells of the flow a texel of the picture, along each side.

    Returns
    -------
    Graph
        Its roots are `"picture"` (`rgba8unorm-srgb`), `"velocity"` (`rg32float`, cells a second, on the cells' left
        and upper sides) and `"pressure"`. Each run takes the input `"moment"`; see `moment`.
    """
    if iterations < 2 or iterations % 2:
        raise ValueError(f"iterations is {iterations}: at least 2, and even, since two images take turns")
    g = rgraph.Graph("fluid", size=size)
    now = g.import_array("moment", moment(0), as_buffer=True)
    grid = (max(int(size[0] * cells), 16), max(int(size[1] * cells), 16))
    linear = rgraph.Sampler("linear")

    velocity = g.image("velocity", grid, "rg32float")
    before = velocity.previous()
    forward, back, carried, stirred = (
        g.image(name, grid, "rg32float") for name in ("forward", "back", "carried", "stirred")
    )
    advect = shader("fluid", "fluid_velocity", "fluid_advect")
    for name, source, target, sign in (("forward", before, forward, 1.0), ("back", forward, back, -1.0)):
        g.compute(
            f"advect/{name}", advect, moment=now, velocity=before, carried=source, result=target, push={"sign": sign}
        )
    g.compute(
        "advect/correct",
        shader("fluid", "fluid_velocity", "fluid_correct"),
        moment=now,
        velocity=before,
        forward=forward,
        back=back,
        result=carried,
    )
    curl = g.image("curl", grid, "r32float")
    g.compute("force/curl", shader("fluid", "fluid_curl"), velocity=carried, curl=curl)
    g.compute(
        "force/stir",
        shader("fluid", "fluid_jets", "fluid_force"),
        moment=now,
        velocity=carried,
        curl=curl,
        result=stirred,
        push={"confinement": confinement},
    )

    divergence = g.image("divergence", grid, "r32float")
    g.compute("pressure/divergence", shader("fluid", "fluid_divergence"), velocity=stirred, divergence=divergence)
    pressure, other = (g.image(name, grid, "r32float") for name in ("pressure", "pressure_other"))
    jacobi = shader("fluid", "fluid_jacobi")
    source = pressure.previous()
    for at in range(iterations):
        target = pressure if at % 2 else other
        g.compute(f"pressure/jacobi{at}", jacobi, pressure=source, divergence=divergence, result=target)
        source = target
    g.compute(
        "pressure/project", shader("fluid", "fluid_project"), velocity=stirred, pressure=pressure, result=velocity
    )

    ink = g.image("ink", format="rgba16float")
    old = ink.previous()
    ahead, again = g.image("ink_forward", like=ink), g.image("ink_back", like=ink)
    carry = shader("fluid", "fluid_velocity", "fluid_ink")
    for name, of, to, sign in (("forward", old, ahead, 1.0), ("back", ahead, again, -1.0)):
        g.compute(
            f"ink/{name}", carry, moment=now, velocity=velocity, ink=of, linear=linear, result=to, push={"sign": sign}
        )
    g.compute(
        "ink/correct",
        shader("fluid", "fluid_velocity", "fluid_jets", "fluid_ink_correct"),
        moment=now,
        velocity=velocity,
        ink=old,
        forward=ahead,
        back=again,
        result=ink,
    )
    lit = g.image("lit", format="rgba16float")
    g.compute("picture/light", shader("fluid_picture"), ink=ink, linear=linear, picture=lit)
    picture = g.image("picture", format="rgba8unorm-srgb")
    glowing = passes.bloom(g, "glow", lit, intensity=0.12)
    passes.tone_map(g, "tone", glowing, picture, operator="agx", look="punchy")
    g.root(picture, velocity, pressure)
    return g


def moment(frame: int, *, seconds: float | None = None, step: float = STEP, ink: float = 1.0) -> bytes:
    """What shaders must know of one frame, as the input `"moment"` of a run.

    Parameters
    ----------
    frame
        Its number, from 0.
    seconds
        Time of the scene; default: `frame * step`.
    step
        Seconds since the frame before.
    ink
        Whether the nozzles run, 0 or 1; without them nothing fades.
    """
    return struct.pack("<4f", frame * step if seconds is None else seconds, step, float(frame), ink)


class Simulation:
    """Runs the simulation frame by frame.

    Parameters
    ----------
    device
        What runs it.
    graph
        A graph that `build` made.
    """

    def __init__(self, device: rgraph.Device, graph: rgraph.Graph) -> None:
        self.compiled = device.compile(graph)
        self.frame = 0
        self.seconds = 0.0

    def render(self, step: float = STEP, *, ink: float = 1.0, **options: Any) -> rgraph.Frame:
        """Run the next frame, `step` seconds later; `options` are those of `Compiled.run`."""
        self.seconds += step
        now = moment(self.frame, seconds=self.seconds, step=step, ink=ink)
        self.frame += 1
        return self.compiled.run(inputs={"moment": now}, **options)
