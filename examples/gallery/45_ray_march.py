"""Ray marching: one fragment shader draws a scene that is a distance function, and lights it by the gradient."""

import numpy as np

import rgraph as rg

SHADER = """
fn scene(p: vec3<f32>) -> f32 {
    let ball = length(p - vec3(0.0, 0.0, 4.0)) - 1.0;
    return min(ball, p.y + 1.0);
}
fn normal(p: vec3<f32>) -> vec3<f32> {
    let e = vec2(0.001, 0.0);
    return normalize(vec3(scene(p + e.xyy) - scene(p - e.xyy), scene(p + e.yxy) - scene(p - e.yxy),
                          scene(p + e.yyx) - scene(p - e.yyx)));
}
@fragment fn fs(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
    let way = normalize(vec3((at.xy - vec2(64.0, 48.0)) * vec2(1.0, -1.0) / 64.0, 1.0)); // 90 degrees wide
    var away = 0.0;
    for (var n = 0; n < 96; n++) { away += scene(way * away); }
    let p = way * away;
    if (away > 30.0) { return vec4(0.5, 0.7, 1.0, 1.0); }
    let light = max(dot(normal(p), normalize(vec3(1.0, 2.0, -1.0))), 0.1);
    let floor_colour = vec3(0.4 + 0.3 * f32((i32(floor(p.x)) + i32(floor(p.z))) & 1));
    return vec4(select(floor_colour, vec3(1.0, 0.3, 0.2), p.y > -0.99) * light, 1.0);
}"""

g = rg.Graph("march", size=(128, 96))
out = g.image("out", format="rgba8unorm")
g.raster("march", SHADER, color=out)
g.root(out)

with rg.Device() as device:
    frame = device.run(g)
    pixels = frame["out"].numpy(copy=True).astype(int)
    frame["out"].save("45_ray_march.png")

# A ball of radius 1 at distance 4 is seen under the sine of 1/4: tan(asin(1/4)) · 64 texels around the middle.
y, x = np.mgrid[:48, :128] + 0.5  # above the horizon
away = np.hypot(x - 64, y - 48)
radius = 64 * np.tan(np.arcsin(0.25))
sky = (np.abs(pixels[:48, :, :3] - [128, 178, 255]) <= 1).all(axis=-1)
assert sky[away > radius + 1].mean() > 0.97
assert not sky[away < radius - 1].any()
