// What flows out of each cell, a second.

@group(0) @binding(1) var velocity: texture_2d<f32>;
@group(0) @binding(2) var divergence: texture_storage_2d<r32float, write>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(divergence);
    if (any(id.xy >= size)) { return; }
    let here = textureLoad(velocity, id.xy, 0).xy;
    let right = select(0.0, textureLoad(velocity, id.xy + vec2<u32>(1u, 0u), 0).x, id.x + 1u < size.x);
    let below = select(0.0, textureLoad(velocity, id.xy + vec2<u32>(0u, 1u), 0).y, id.y + 1u < size.y);
    textureStore(divergence, id.xy, vec4<f32>(right - here.x + below - here.y, 0.0, 0.0, 0.0));
}
