// Carries velocities along with themselves (Stam, "Stable Fluids", SIGGRAPH 1999), forwards or backwards in time.

struct Push { sign: f32 }
var<immediate> push: Push;
@group(0) @binding(2) var carried: texture_2d<f32>;
@group(0) @binding(3) var result: texture_storage_2d<rg32float, write>;

fn carried_at(at: vec2<f32>) -> vec4<f32> {
    let a = four(at);
    let low = mix(textureLoad(carried, a.low, 0), textureLoad(carried, vec2<i32>(a.high.x, a.low.y), 0), a.weight.x);
    let high = mix(textureLoad(carried, vec2<i32>(a.low.x, a.high.y), 0), textureLoad(carried, a.high, 0), a.weight.x);
    return mix(low, high, a.weight.y);
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (any(id.xy >= textureDimensions(result))) { return; }
    let at = vec2<f32>(id.xy);
    let ago = push.sign * moment.step;
    let x = carried_at(origin(at + RIGHTWARDS, ago) - RIGHTWARDS).x;
    let y = carried_at(origin(at + DOWNWARDS, ago) - DOWNWARDS).y;
    textureStore(result, id.xy, vec4<f32>(x, y, 0.0, 0.0));
}
