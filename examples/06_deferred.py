"""A whole frame of a deferred renderer; `deferred.rgraph.json` beside this file is what it declares."""

import rgraph

g = rgraph.Graph("deferred", size=(1920, 1080))
albedo = g.image("albedo", format="rgba8unorm-srgb")
normal = g.image("normal", format="rgb10a2unorm")
velocity = g.image("velocity", format="rg16float")
depth = g.image("depth", format="depth32float")
shadow = g.image("shadow", size=(2048, 2048), format="depth32float", layers=4)
ao = g.image("ao", format="r8unorm", scale=0.5)
ao_smooth = g.image("ao_smooth", like=ao, format="r8unorm")
lit = g.image("lit", format="rgba16float")
steady = g.image("steady", format="rgba16float")
debug = g.image("debug", format="rgba8unorm")
screen = g.import_image("screen", format="bgra8unorm-srgb", contents="undefined", leave="present_src")
exposure = g.buffer("exposure", 256, persistent=True)

for cascade in range(4):
    g.add_pass(f"shadow{cascade}", weight_us=180, unit="raster").depth(shadow, clear=1.0, layers=cascade)
g.add_pass("gbuffer", weight_us=900, unit="raster").color(albedo, normal, velocity, clear=(0, 0, 0, 0)).depth(
    depth, clear=1.0
)
g.add_pass("ao", queue="async_compute", weight_us=650, unit="texture").sampled(depth, normal).storage_write(ao)
g.add_pass("ao_blur", queue="async_compute", weight_us=150).sampled(ao, depth).storage_write(ao_smooth)
g.add_pass("lighting", weight_us=800).sampled(albedo, normal, depth, shadow, ao_smooth).color(lit)
g.add_pass("sky", weight_us=90).depth_read(depth).color(lit)
g.add_pass("temporal", weight_us=300).sampled(lit, velocity, steady.previous()).color(steady)

down = [steady]
for level in range(1, 6):
    image = g.image(f"down{level}", like=down[-1], scale=0.5, format="rg11b10ufloat")
    g.add_pass(f"down{level}").sampled(down[-1]).color(image)
    down.append(image)
g.add_pass("exposure", queue="async_compute", weight_us=40).sampled(down[-1]).storage_read_write(exposure)
glow = down[-1]
for level in range(4, 0, -1):
    image = g.image(f"up{level}", like=down[level], format="rg11b10ufloat")
    g.add_pass(f"up{level}").sampled(glow, down[level]).color(image)
    glow = image

g.add_pass("tonemap", weight_us=200).sampled(steady, glow).storage_read(exposure).color(screen)
g.add_pass("debug_view").sampled(normal, velocity).color(debug)
g.add_pass("interface", weight_us=120).color(screen)

plan = g.bake("discrete")
print(plan)
