// Rotation about the upper left corner of each cell, in turns of one a second.

@group(0) @binding(1) var velocity: texture_2d<f32>;
@group(0) @binding(2) var curl: texture_storage_2d<r32float, write>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (any(id.xy >= textureDimensions(curl))) { return; }
    let at = vec2<i32>(id.xy);
    let here = textureLoad(velocity, at, 0).xy;
    let left = textureLoad(velocity, max(at - vec2<i32>(1, 0), vec2<i32>(0)), 0).y;
    let above = textureLoad(velocity, max(at - vec2<i32>(0, 1), vec2<i32>(0)), 0).x;
    textureStore(curl, id.xy, vec4<f32>((here.y - left) - (here.x - above), 0.0, 0.0, 0.0));
}
