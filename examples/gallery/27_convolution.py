"""Convolution: a 3 × 3 kernel is uniform data that changes from run to run; no run compiles again."""

import numpy as np

import rgraph as rg

SHADER = """
struct Kernel { weights: array<vec4<f32>, 3>, bias: f32 }
@group(0) @binding(0) var<uniform> kernel: Kernel;
@group(0) @binding(1) var src: texture_2d<f32>;
@group(0) @binding(2) var dst: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let last = vec2<i32>(textureDimensions(src)) - 1;
    var sum = vec3(kernel.bias);
    for (var y = 0; y < 3; y++) { for (var x = 0; x < 3; x++) {
        let at = clamp(vec2<i32>(id.xy) + vec2(x, y) - 1, vec2(0), last);
        sum += textureLoad(src, at, 0).rgb * kernel.weights[y][x];
    } }
    textureStore(dst, id.xy, vec4(sum, 1.0));
}"""

y, x = np.mgrid[:96, :128]
photo = np.zeros((96, 128, 4), np.uint8)
photo[..., 0] = np.where(np.hypot(x - 40, y - 48) < 30, 220, 40)
photo[..., 1] = np.where((x // 16 + y // 16) % 2, 180, 60)
photo[..., 2] = x

g = rg.Graph("convolution", size=(128, 96))
out = g.image("out", format="rgba8unorm")
same = {"weights": np.pad(np.diag([0.0, 1.0, 0.0]), ((0, 0), (0, 1))), "bias": 0.0}
g.compute("convolve", SHADER, src=g.import_array("photo", photo), dst=out, kernel=same)
g.root(out)

KERNELS = {
    "sharpen": np.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]], float),
    "emboss": np.array([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]], float),
}
with rg.Device() as device:
    for name, weights in KERNELS.items():
        data = {"weights": np.pad(weights, ((0, 0), (0, 1))), "bias": 0.1}
        frame = device.run(g, params={("convolve", "kernel"): data})
        pixels = frame["out"].numpy(copy=True)
        padded = np.pad(photo[..., :3] / 255, ((1, 1), (1, 1), (0, 0)), mode="edge")
        parts = [padded[v : v + 96, u : u + 128] * weights[v, u] for v in range(3) for u in range(3)]
        expected = np.clip(0.1 + sum(parts), 0, 1) * 255
        assert np.abs(pixels[..., :3] - expected).max() <= 1.01, name
    frame["out"].save("27_convolution.png")
