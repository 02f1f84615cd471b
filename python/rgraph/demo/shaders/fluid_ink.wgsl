// Carries ink along, forwards or backwards in time; the ink may be finer than the grid of the flow.

struct Push { sign: f32 }
var<immediate> push: Push;
@group(0) @binding(2) var ink: texture_2d<f32>;
@group(0) @binding(3) var linear: sampler;
@group(0) @binding(4) var result: texture_storage_2d<rgba16float, write>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = vec2<f32>(textureDimensions(result));
    if (any(id.xy >= textureDimensions(result))) { return; }
    let cells = vec2<f32>(textureDimensions(velocity));
    let uv = origin((vec2<f32>(id.xy) + 0.5) / size * cells, push.sign * moment.step) / cells;
    textureStore(result, id.xy, textureSampleLevel(ink, linear, uv, 0.0));
}
