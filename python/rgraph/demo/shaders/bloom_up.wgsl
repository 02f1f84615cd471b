// Twice the size, blurred by a tent of nine taps, mixed with what was there at that size.

struct Push { spread: f32 }
var<push_constant> push: Push;
@group(0) @binding(1) var small: texture_2d<f32>;
@group(0) @binding(2) var sharp: texture_2d<f32>;
@group(0) @binding(3) var linear: sampler;
@group(0) @binding(4) var target_image: texture_storage_2d<rgba16float, write>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(target_image);
    if (any(id.xy >= size)) { return; }
    let uv = (vec2<f32>(id.xy) + 0.5) / vec2<f32>(size);
    let t = 1.0 / vec2<f32>(textureDimensions(small));
    var sum = vec3<f32>(0.0);
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let weight = f32((2 - abs(x)) * (2 - abs(y))) / 16.0;
            sum += weight * textureSampleLevel(small, linear, uv + vec2<f32>(f32(x), f32(y)) * t, 0.0).rgb;
        }
    }
    let own = textureLoad(sharp, id.xy, 0).rgb;
    textureStore(target_image, id.xy, vec4<f32>(mix(own, sum, push.spread), 1.0));
}
