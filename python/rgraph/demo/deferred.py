"""The deferred demo: one whole frame of a renderer, a few dozen passes, some of which any queue may run.

`build` declares the frame as a graph; `Renderer` runs it frame by frame. Everything is plain data and shaders, so the
graph can be planned without a device, looked at, and saved.
"""

from __future__ import annotations

import logging
import struct
from typing import Any, Literal

import rgraph
from rgraph import passes
from rgraph.demo import _camera, _scene
from rgraph.demo._shaders import shader

log = logging.getLogger("rgraph.demo")

SKY_SIZE = (192, 96)
SKY_LEVELS = 6
STOPS = (-9.0, 7.0)
"""Range of the histogram, as base-2 logarithms of luminance."""
CLUSTERS = 16 * 9 * 24
CLUSTER_BYTES = CLUSTERS * 32 * 4
SHADOW_TEXELS = 2048
FIRST = "first"
"""The flag of passes that make what stays."""
STILL_FRAMES = 16
"""Frames that become one still picture: as many as there are places of the jitter."""


def build(
    size: tuple[int, int] = (1280, 720),
    *,
    shadow_texels: int = SHADOW_TEXELS,
    beside: Literal["any", "graphics", "async_compute"] = "any",
) -> rgraph.Graph:
    """Declare the frame.

    Parameters
    ----------
    size
        Width and height of the picture in texels, each at least 64.
    shadow_texels
        Side of each of the four shadow maps in texels.
    beside
        The queue of the light clusters and the ambient occlusion; `"any"` leaves it to the planner.

    Returns
    -------
    Graph
        Its root is the image `"frame"` (`rgba8unorm-srgb`). Each run takes the constants of its frame as the input
        `"constants"` (see `constants`) and has one flag: `"first"`, which makes index buffer and sky, and is off
        from the second frame on.
    """
    width, height = size
    g = rgraph.Graph("deferred", size=size)
    scene = _scene.court()
    # Several queues may read it at once: none hands it over.
    frame = g.import_buffer("constants", _camera.CONSTANTS.size, sharing="concurrent")
    vertices = g.import_array("vertices", scene.vertices, as_buffer=True)
    instances = g.import_array("instances", scene.instances, as_buffer=True)
    mesh_indices = g.import_array("mesh_indices", scene.mesh_indices, as_buffer=True)
    draws = g.import_array("draws", scene.draws, as_buffer=True)
    indices = g.buffer("indices", scene.index_count * 4, persistent=True)
    g.compute(
        "expand", shader("common", "expand"), draws=draws, mesh_indices=mesh_indices, indices=indices, conditional=FIRST
    )
    lights = g.import_array("lights", scene.lights, as_buffer=True)
    draw: dict[str, Any] = {
        "index": indices,
        "cull": "back",
        "bindings": {"frame": frame, "vertices": vertices, "instances": instances},
        "vertices": scene.index_count,
    }
    around = rgraph.Sampler("linear", address=("repeat", "clamp", "clamp"))

    # The sky keeps its picture until it is asked for a new one.
    sky = g.image("sky", SKY_SIZE, "rgba16float", mips=SKY_LEVELS, persistent=True)
    irradiance = g.buffer("irradiance", 9 * 16, persistent=True)
    g.compute("sky/scatter", shader("common", "sky"), frame=frame, target_image=sky.mip(0), conditional=FIRST)
    for level in range(1, SKY_LEVELS):
        g.compute(
            f"sky/level{level}",
            shader("common", "sky_mip"),
            sky=sky.mip(0),
            sky_sampler=around,
            target_image=sky.mip(level),
            push={"roughness": level / (SKY_LEVELS - 1)},
            conditional=FIRST,
        )
    g.compute(
        "sky/irradiance",
        shader("common", "irradiance"),
        sky=sky.mip(0),
        sky_sampler=around,
        irradiance=irradiance,
        groups=1,
        conditional=FIRST,
    )

    # Geometry: depth first, then materials where depth is equal.
    depth = g.image("depth", format="depth32float")
    albedo = g.image("albedo", format="rgba8unorm-srgb")
    normal = g.image("normal", format="rgba16float")
    material = g.image("material", format="rgba8unorm")
    velocity = g.image("velocity", format="rg16float")
    g.raster(
        "prepass",
        shader("common", "geometry", "depth"),
        depth=depth,
        clear_depth=0.0,
        depth_test="greater_equal",
        **draw,
    )
    g.raster(
        "gbuffer",
        shader("common", "geometry", "gbuffer"),
        color=[albedo, normal, material, velocity],
        clear=(0.0, 0.0, 0.0, 0.0),
        depth=depth,
        depth_test="equal",
        depth_write=False,
        **draw,
    )
    shadow = g.image("shadow", (shadow_texels, shadow_texels), "depth32float", layers=4)
    for cascade in range(4):
        g.raster(
            f"shadow/cascade{cascade}",
            shader("common", "geometry", "shadow"),
            depth=shadow.layer(cascade),
            clear_depth=1.0,
            depth_bias=(1.0, 1.8),
            push={"cascade": cascade},
            **draw,
        )

    # Beside it, on a queue of their own where measured weights say that it pays.
    clusters = g.buffer("clusters", CLUSTER_BYTES)
    g.compute(
        "clusters/cull",
        shader("common", "cluster", "clusters"),
        frame=frame,
        lights=lights,
        clusters=clusters,
        groups=(CLUSTERS + 63) // 64,
        queue=beside,
    )
    half = ((width + 1) // 2, (height + 1) // 2)
    occlusion = g.image("occlusion", half, "rg32float")
    across = g.image("occlusion_across", half, "rg32float")
    smooth = g.image("occlusion_smooth", half, "rg32float")
    g.compute(
        "ssao/sample",
        shader("common", "ssao"),
        frame=frame,
        depth=depth,
        normal=normal,
        occlusion=occlusion,
        queue=beside,
    )
    for name, source, target, step in (("across", occlusion, across, (1, 0)), ("down", across, smooth, (0, 1))):
        g.compute(
            f"ssao/{name}",
            shader("common", "ssao_blur"),
            occlusion=source,
            smooth_=target,
            push={"step": list(step)},
            queue=beside,
        )

    # Light, the sky behind, bubbles before: one render pass.
    lit = g.image("lit", format="rgba16float")
    air: dict[str, Any] = {
        "frame": frame,
        "sky": sky,
        "sky_sampler": around,
        "irradiance": irradiance,
    }
    g.raster(
        "lighting",
        shader("common", "cluster", "shade", "lighting"),
        color=lit,
        depth=depth,
        depth_test="less",
        depth_write=False,
        clear=(0.0, 0.0, 0.0, 1.0),
        albedo=albedo,
        normal=normal,
        material=material,
        occlusion=smooth,
        shadow=shadow,
        clusters=clusters,
        lights=lights,
        shadow_sampler=rgraph.Sampler("linear", compare="less_equal"),
        bindings=air | {"depth": depth},
    )
    g.raster(
        "backdrop",
        shader("common", "shade", "backdrop"),
        color=lit,
        depth=depth,
        depth_test="equal",
        depth_write=False,
        bindings=air,
    )
    floating = g.import_array("bubbles", scene.bubbles, as_buffer=True)
    g.raster(
        "transparent",
        shader("common", "shade", "bubbles"),
        color=lit,
        depth=depth,
        depth_test="greater_equal",
        depth_write=False,
        cull="back",
        blend="premultiplied",
        index=mesh_indices,
        instances=scene.bubble_count,
        vertices=scene.sphere_index_count,
        bindings=air | {"vertices": vertices, "bubbles": floating},
    )

    # From frame to frame.
    linear = rgraph.Sampler("linear")
    steady = g.image("steady", format="rgba16float")
    g.compute(
        "temporal",
        shader("common", "temporal"),
        frame=frame,
        lit=lit,
        velocity=velocity,
        linear=linear,
        before=steady.previous(),
        steady=steady,
        bindings={"depth": depth},
    )

    glowing = passes.bloom(g, "bloom", steady, intensity=0.085, scatter=0.62)
    histogram = passes.histogram(g, "histogram", "bloom/down1", range=STOPS)
    exposure = passes.exposure(g, "exposure", histogram, low=0.45, high=0.93, key=0.25, speed=(1.6, 1.6), range=STOPS)

    out = g.image("frame", format="rgba8unorm-srgb")
    g.raster("tonemap", shader("common", "tonemap"), color=out, frame=frame, light=glowing, exposure=exposure)
    _overlay(g, out, histogram, exposure)
    g.cpu("log", lambda views: _log(views["exposure"]), reads=exposure, side_effects=True)
    debug = g.image("debug_view", format="rgba8unorm-srgb")
    g.raster(
        "debug_view",
        shader("common", "cluster", "debug_view"),
        color=debug,
        frame=frame,
        normal=normal,
        clusters=clusters,
        bindings={"depth": depth},
    )
    g.root(out)
    return g


def _overlay(g: rgraph.Graph, out: rgraph.Image, histogram: rgraph.Buffer, exposure: rgraph.Buffer) -> None:
    """A panel in the lower left corner, recorded by a function of Python's."""
    height = out.size[1]
    unit = height / 720.0
    place = (22.0 * unit, height - 86.0 * unit, 200.0 * unit, 64.0 * unit)
    panel = shader("panel")

    def record(commands: rgraph.Commands) -> None:
        commands.draw(panel, viewport=place, blend="alpha", histogram=histogram, exposure=exposure)

    g.callback("overlay", record, color=out, reads={histogram: "storage_read", exposure: "storage_read"})
    words = f"rgraph · deferred · {out.size[0]}×{height}"
    dots = max(1.0, float(int(unit)))
    passes.text(
        g,
        "overlay/words",
        words,
        out,
        position=(29.0 * unit, height - 90.0 * unit - 12.0 * dots),
        scale=dots,
        color=(1.0, 0.9, 0.75, 0.8),
    )


def _log(view: memoryview) -> None:
    """What the exposure came to, for `logging`."""
    scale, mean, followed, frames = struct.unpack("<4f", view)
    log.info("frame %d: exposure %.4f, mean luminance 2^%.2f, followed 2^%.2f", frames, scale, mean, followed)


def constants(
    frame: int,
    size: tuple[int, int],
    *,
    seconds: float = 0.0,
    step: float = 0.0,
    shadow_texels: int = SHADOW_TEXELS,
    cameras: tuple[_camera.Camera, _camera.Camera] | None = None,
) -> bytes:
    """What shaders must know of one frame, as the input `"constants"` of a run.

    Parameters
    ----------
    frame
        Its number, from 0; frame 0 resets the histories.
    size, shadow_texels
        As in `build`.
    seconds
        Time of the scene.
    step
        Seconds since the frame before; 0 holds the scene still.
    cameras
        The eyes of this frame and of the one before; default: a slow walk.
    """
    return _camera.constants(frame, seconds, step, size, shadow_texels, cameras)


class Renderer:
    """Runs the frame repeatedly and counts its frames for the parameters of each run.

    Parameters
    ----------
    device
        What runs it.
    size, shadow_texels
        As in `build`.
    graph
        A graph that `build` made, with whatever was added to it; default: a new one.
    """

    def __init__(
        self,
        device: rgraph.Device,
        size: tuple[int, int] = (1280, 720),
        *,
        shadow_texels: int = SHADOW_TEXELS,
        graph: rgraph.Graph | None = None,
    ) -> None:
        self.size = size
        self.graph = build(size, shadow_texels=shadow_texels) if graph is None else graph
        self.compiled = device.compile(self.graph)
        self.frame = 0
        self.seconds = 0.0
        self._shadow_texels = shadow_texels

    def render(
        self, step: float = 0.0, *, cameras: tuple[_camera.Camera, _camera.Camera] | None = None, **options: Any
    ) -> rgraph.Frame:
        """Run the next frame, `step` seconds later, seen by `cameras`; `options` are those of `Compiled.run`."""
        self.seconds += step
        texels = self._shadow_texels
        values = constants(
            self.frame, self.size, seconds=self.seconds, step=step, shadow_texels=texels, cameras=cameras
        )
        flags = {FIRST: self.frame == 0}
        self.frame += 1
        times = {("exposure/adapt", "time"): step}
        return self.compiled.run(inputs={"constants": values}, flags=flags, params=times, **options)
