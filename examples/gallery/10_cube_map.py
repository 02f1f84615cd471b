"""Cube map: six clears fill the faces, and a shader samples the cube by direction into one panorama."""

import rgraph as rg

PANORAMA = """
@group(0) @binding(0) var sky: texture_cube<f32>;
@group(0) @binding(1) var smooth_sampler: sampler;
@fragment fn fs(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
    let round = (uv.x * 2.0 - 1.0) * 3.14159265;
    let up = (0.5 - uv.y) * 3.14159265;
    let direction = vec3(sin(round) * cos(up), sin(up), cos(round) * cos(up));
    return textureSample(sky, smooth_sampler, direction);
}"""

COLOURS = {  # +x, -x, +y, -y, +z, -z
    "right": (1, 0, 0, 1),
    "left": (0, 1, 1, 1),
    "top": (0, 1, 0, 1),
    "bottom": (1, 0, 1, 1),
    "front": (0, 0, 1, 1),
    "back": (1, 1, 0, 1),
}
g = rg.Graph("cube map", size=(128, 64))
sky = g.image("sky", (16, 16), "rgba8unorm", cube=True)
for layer, (name, colour) in enumerate(COLOURS.items()):
    g.clear(name, sky.layer(layer), colour)
out = g.image("out", format="rgba8unorm")
g.raster("panorama", PANORAMA, color=out, sky=sky)
g.root(out)

with rg.Device() as device:
    frame = device.run(g)
    pixels = frame["out"].numpy(copy=True)
    frame["out"].save("10_cube_map.png")

places = {"front": (32, 64), "right": (32, 96), "left": (32, 32), "back": (32, 1), "top": (2, 64), "bottom": (61, 64)}
for name, (y, x) in places.items():
    assert pixels[y, x].tolist() == [255 * c for c in COLOURS[name]], name
