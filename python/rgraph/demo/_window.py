"""`rgraph demo --window`: a demo in a window, with a camera by mouse."""

from __future__ import annotations

import argparse
import math
import time
from typing import TYPE_CHECKING, Any

from rgraph.cli._terminal import tell
from rgraph.demo._camera import Camera, camera
from rgraph.window import Viewer

if TYPE_CHECKING:
    from rgraph import Device, Frame, Graph
    from rgraph.demo._run import Demo

__all__ = ["Orbit", "view"]

NEAREST, FARTHEST = 2.0, 40.0
"""Distances of the eye from what it looks at, in metres."""
STEEPEST = math.radians(85.0)
TURN = 0.008
"""Radians per pixel of the pointer."""
MOST_STEP = 0.1
"""Most seconds between two frames of a scene."""


class Orbit:
    """An eye that a pointer turns about a point: drag turns, shift and drag moves, the wheel goes nearer.

    Parameters
    ----------
    start
        Where it begins.
    """

    def __init__(self, start: Camera) -> None:
        self._start = start
        self.reset()

    def reset(self) -> None:
        """Back to where it began."""
        (x, y, z), self.target = self._start.eye, self._start.target
        dx, dy, dz = x - self.target[0], y - self.target[1], z - self.target[2]
        self.distance = math.sqrt(dx * dx + dy * dy + dz * dz)
        self.yaw, self.pitch = math.atan2(dz, dx), math.asin(dy / self.distance)
        self._dragged: tuple[float, float] | None = None
        self.moved = False
        """Whether it was ever moved."""

    @property
    def camera(self) -> Camera:
        """The eye now."""
        flat = self.distance * math.cos(self.pitch)
        x, y, z = self.target
        eye = (
            x + flat * math.cos(self.yaw),
            max(0.2, y + self.distance * math.sin(self.pitch)),
            z + flat * math.sin(self.yaw),
        )
        return Camera(eye, self.target)

    def on(self, event: dict[str, Any]) -> None:
        """Take an event of rendercanvas: `pointer_down`, `pointer_move`, `pointer_up`, `wheel` or `key_down`."""
        kind = event["event_type"]
        if kind == "pointer_down":
            self._dragged = (event["x"], event["y"])
        elif kind == "pointer_up":
            self._dragged = None
        elif kind == "pointer_move" and self._dragged is not None:
            dx, dy = event["x"] - self._dragged[0], event["y"] - self._dragged[1]
            self._dragged, self.moved = (event["x"], event["y"]), True
            if "Shift" in event.get("modifiers", ()) or event.get("button") == 2:
                self._move(dx, dy)
            else:
                self.yaw += TURN * dx
                self.pitch = max(-STEEPEST, min(STEEPEST, self.pitch + TURN * dy))
        elif kind == "wheel":
            self.moved = True
            self.distance = max(NEAREST, min(FARTHEST, self.distance * 1.001 ** event["dy"]))
        elif kind == "key_down" and event["key"] == "r":
            self.reset()

    def _move(self, dx: float, dy: float) -> None:
        """Moves eye and target in the plane of the picture."""
        scale = 0.0015 * self.distance
        x, y, z = self.target
        right = (math.sin(self.yaw), -math.cos(self.yaw))
        self.target = (x + scale * dx * right[0], max(0.0, y + scale * dy), z + scale * dx * right[1])


def view(arguments: argparse.Namespace, demo: Demo, graph: Graph, root: str, device: Device) -> Viewer:
    """Open a window and run a demo in it until it is closed.

    Parameters
    ----------
    arguments
        With `demo` and `frames`.
    demo, graph, root
        The demo, its graph, and the image that is shown.
    device
        One with windows.
    """
    compiled, render = demo.start(device, graph)
    orbit = Orbit(camera(0.0))
    before, last = orbit.camera, time.monotonic()
    run: Any = render
    steers = arguments.demo == "deferred"

    def draw() -> tuple[Frame, str]:
        nonlocal before, last
        now = time.monotonic()
        step, last = min(now - last, MOST_STEP), now
        if not steers:
            return run(demo.step or step), root
        here = orbit.camera
        frame = run(step, cameras=(here, before), read=[root])
        before = here
        return frame, root

    title = f"rgraph · {arguments.demo}"
    viewer = Viewer(device, draw, title=title, size=graph.size, frames=arguments.frames)
    if steers:
        viewer.canvas.add_event_handler(orbit.on, "pointer_down", "pointer_move", "pointer_up", "wheel", "key_down")
        tell("drag turns, shift and drag moves, the wheel goes nearer, R goes back")
    tell(f"{arguments.demo} · {len(compiled.plan.pass_names)} passes · {device.info.name}; close the window to end")
    viewer.run()
    return viewer
