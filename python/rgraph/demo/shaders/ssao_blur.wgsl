// Blurs occlusion along one axis, not across steps in distance.

struct Push { step: vec2<i32> }
var<immediate> push: Push;
@group(0) @binding(1) var occlusion: texture_2d<f32>;
@group(0) @binding(2) var smooth_: texture_storage_2d<rg32float, write>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = vec2<i32>(textureDimensions(occlusion));
    let at = vec2<i32>(id.xy);
    if (any(at >= size)) { return; }
    let here = textureLoad(occlusion, at, 0).rg;
    var sum = vec2<f32>(0.0);
    for (var i = -3; i <= 3; i++) {
        let other = textureLoad(occlusion, clamp(at + push.step * i, vec2<i32>(0), size - 1), 0).rg;
        let apart = abs(other.g - here.g) / (0.02 * here.g + 0.05);
        let weight = exp(-0.12 * f32(i * i)) * max(0.0, 1.0 - apart);
        sum += vec2<f32>(other.r * weight, weight);
    }
    textureStore(smooth_, at, vec4<f32>(sum.x / max(sum.y, 1e-4), here.g, 0.0, 0.0));
}
