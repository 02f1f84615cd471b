"""Shaders that several tests run."""

COPY = """
@group(0) @binding(0) var src: texture_2d<f32>;
@group(0) @binding(1) var dst: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (any(id.xy >= textureDimensions(dst))) { return; }
    textureStore(dst, id.xy, textureLoad(src, id.xy, 0));
}
"""

SCALE = """
struct Params { factor: u32, offset: u32 }
@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&dst)) { return; }
    dst[id.x] = src[id.x] * params.factor + params.offset;
}
"""

FILL = """
struct Params { colour: vec4<f32> }
var<immediate> params: Params;
@group(0) @binding(0) var dst: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (any(id.xy >= textureDimensions(dst))) { return; }
    textureStore(dst, id.xy, params.colour);
}
"""

FLAT = """
struct Params { colour: vec4<f32> }
var<immediate> params: Params;
@fragment fn fs(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> { return params.colour; }
"""

MESH = """
struct In { @location(0) position: vec2<f32>, @location(1) depth: f32, @location(2) colour: vec4<f32> }
struct Out { @builtin(position) position: vec4<f32>, @location(0) colour: vec4<f32> }
@vertex fn vs(in: In) -> Out { return Out(vec4<f32>(in.position, in.depth, 1.0), in.colour); }
@fragment fn fs(in: Out) -> @location(0) vec4<f32> { return in.colour; }
"""

ADD = """
@group(0) @binding(0) var<storage, read> one: array<u32>;
@group(0) @binding(1) var<storage, read> two: array<u32>;
@group(0) @binding(2) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) { dst[id.x] = one[id.x] * 1000u + two[id.x]; }
"""
