"""Panes of frosted glass over the demo's frame: a material that demands what is behind it.

    python examples/frosted_glass.py [WIDTHxHEIGHT] [PICTURE.png]

The demo's frame knows nothing of glass. `glass` adds panes to a layer by key; each demands the blurred contents of the
layer behind it, so a pane that overlaps another shows it frosted once more.
"""

import sys
from typing import Any

import rgraph
from rgraph.demo import deferred

# A rectangle with a light rim; a quarter of the light is the pane's own colour.
PANE = """
struct Pane { tint: vec4<f32>, low: vec2<f32>, high: vec2<f32> }
var<immediate> pane: Pane;
@group(0) @binding(0) var behind: texture_2d<f32>;
@group(0) @binding(1) var linear: sampler;
@fragment fn main(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
    if (any(uv < pane.low) || any(uv >= pane.high)) { discard; }
    let inside = min(uv - pane.low, pane.high - uv);
    let rim = select(0.0, 0.25, min(inside.x, inside.y) < 0.004);
    return 0.75 * textureSampleLevel(behind, linear, uv, 0.0) + 0.25 * pane.tint + vec4<f32>(rim);
}
"""


@rgraph.module
def frosted(m: rgraph.Module, image: rgraph.Image, *, radius: int) -> rgraph.Image:
    """What glass makes of the image behind it."""
    return rgraph.passes.blur(m, "soft", image, radius=radius)


def glass(
    g: rgraph.Module,
    name: str,
    low: tuple[float, float],
    high: tuple[float, float],
    *,
    key: int,
    tint: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0),
    radius: int = 12,
) -> None:
    """Add a pane from `low` to `high`, in parts of the picture."""
    layer = g.layer("glass")
    behind = layer.behind(frosted, key=key, scale=0.5, radius=radius)
    layer.draw(name, PANE, key=key, behind=behind, push={"tint": tint, "low": low, "high": high})


def build(size: tuple[int, int], panes: bool = True, **options: Any) -> rgraph.Graph:
    """Declare the demo's frame with a layer for glass, and two panes in it."""
    g = deferred.build(size, **options)
    g.layer("glass", g.find("frame"))
    if panes:
        # The nearer pane is declared first: keys decide what is behind.
        glass(g.module("near"), "pane", (0.35, 0.3), (0.75, 0.8), key=20, tint=(0.6, 0.8, 1.0, 1.0))
        glass(g.module("far"), "pane", (0.1, 0.15), (0.55, 0.6), key=10)
    return g


def main() -> None:
    """Render a frame into a picture."""
    width, _, height = (sys.argv[1] if len(sys.argv) > 1 else "1280x720").partition("x")
    size, picture = (int(width), int(height)), sys.argv[2] if len(sys.argv) > 2 else "glass.png"
    with rgraph.Device() as device:
        compiled = device.compile(build(size))
        for number in range(deferred.STILL_FRAMES):
            constants = deferred.constants(number, size)
            frame = compiled.run(inputs={"constants": constants}, flags={"first": number == 0})
        frame["frame"].save(picture)
        del frame


if __name__ == "__main__":
    main()
