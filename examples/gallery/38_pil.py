"""Pictures of Pillow: a picture goes in as an array, and the result becomes a picture of Pillow again."""

import numpy as np
from PIL import Image, ImageDraw

import rgraph as rg

POSTER = """
@group(0) @binding(0) var photo: texture_2d<f32>;
@group(0) @binding(1) var dst: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let c = textureLoad(photo, id.xy, 0).rgb;
    textureStore(dst, id.xy, vec4(floor(c * 3.999) / 3.0, 1.0));
}"""

photo = Image.linear_gradient("L").resize((128, 96)).convert("RGB")
draw = ImageDraw.Draw(photo)
draw.ellipse((34, 18, 94, 78), fill=(200, 90, 30))
draw.rectangle((0, 80, 127, 95), fill=(30, 120, 60))

g = rg.Graph("poster")
source = g.import_array("photo", np.asarray(photo))
out = g.image("out", like=source)
g.compute("poster", POSTER, photo=source, dst=out)
g.root(out)

with rg.Device() as device:
    frame = device.run(g)
    poster = Image.fromarray(np.asarray(frame["out"]))
poster.save("38_pil.png")

assert poster.size == photo.size
assert poster.mode == "RGB"
expected = np.rint(np.floor(np.asarray(photo) / 255 * 3.999) / 3 * 255)
assert (np.abs(np.asarray(poster) - expected) <= 1).mean() > 0.99
assert poster.getpixel((64, 48)) == (255, 85, 0)
