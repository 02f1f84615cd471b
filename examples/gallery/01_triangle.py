"""A triangle: the vertex stage computes the corners, and the rasteriser interpolates colours between them."""

import rgraph as rg

SHADER = """
struct Point { @builtin(position) clip: vec4<f32>, @location(0) colour: vec3<f32> }
@vertex fn vs(@builtin(vertex_index) i: u32) -> Point {
    let at = vec2(f32(i) - 1.0, select(0.75, -0.75, i == 1u));
    return Point(vec4(at * 0.9, 0.0, 1.0), vec3(f32(i == 0u), f32(i == 1u), f32(i == 2u)));
}
@fragment fn fs(p: Point) -> @location(0) vec4<f32> { return vec4(p.colour, 1.0); }"""

g = rg.Graph("triangle", size=(128, 96))
out = g.image("out", format="rgba8unorm")
g.raster("draw", SHADER, color=out, clear=(0, 0, 0, 1))
g.root(out)

with rg.Device() as device:
    frame = device.run(g)
    pixels = frame["out"].numpy(copy=True).astype(int)
    frame["out"].save("01_triangle.png")

# In the middle of the base red and blue are equal, half-way up a half is green; a corner of the picture is empty.
assert abs(pixels[48, 64, :3] - [64, 127, 64]).max() <= 4
assert abs(pixels[78, 64, 0] - pixels[78, 64, 2]) <= 2
assert pixels[0, 0].tolist() == [0, 0, 0, 255]
