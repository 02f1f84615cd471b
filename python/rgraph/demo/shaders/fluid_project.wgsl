// Takes the gradient of the pressure from the velocity: what is left has (nearly) no divergence.

@group(0) @binding(1) var velocity: texture_2d<f32>;
@group(0) @binding(2) var pressure: texture_2d<f32>;
@group(0) @binding(3) var result: texture_storage_2d<rg32float, write>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (any(id.xy >= textureDimensions(result))) { return; }
    let at = vec2<i32>(id.xy);
    let here = textureLoad(pressure, at, 0).x;
    var now = textureLoad(velocity, at, 0).xy;
    now.x = select(0.0, now.x - here + textureLoad(pressure, max(at - vec2<i32>(1, 0), vec2<i32>(0)), 0).x, at.x > 0);
    now.y = select(0.0, now.y - here + textureLoad(pressure, max(at - vec2<i32>(0, 1), vec2<i32>(0)), 0).x, at.y > 0);
    textureStore(result, id.xy, vec4<f32>(now, 0.0, 0.0));
}
