// Ink lit from above left, as if the dense lay higher.

@group(0) @binding(1) var ink: texture_2d<f32>;
@group(0) @binding(2) var linear: sampler;
@group(0) @binding(3) var picture: texture_storage_2d<rgba16float, write>;

fn height(uv: vec2<f32>) -> f32 {
    return length(textureSampleLevel(ink, linear, uv, 0.0).rgb);
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(picture);
    if (any(id.xy >= size)) { return; }
    let texel = 1.0 / vec2<f32>(size);
    let uv = (vec2<f32>(id.xy) + 0.5) * texel;
    let colour = textureSampleLevel(ink, linear, uv, 0.0).rgb;
    let x = height(uv + vec2<f32>(texel.x, 0.0)) - height(uv - vec2<f32>(texel.x, 0.0));
    let y = height(uv + vec2<f32>(0.0, texel.y)) - height(uv - vec2<f32>(0.0, texel.y));
    let n = normalize(vec3<f32>(-1.6 * x, -1.6 * y, 1.0));
    let light = normalize(vec3<f32>(-0.5, -0.7, 0.75));
    let shine = pow(max(dot(reflect(-light, n), vec3<f32>(0.0, 0.0, 1.0)), 0.0), 24.0);
    let off = uv - 0.5;
    let ground = vec3<f32>(0.010, 0.012, 0.020) * (1.3 - 1.6 * dot(off, off));
    let lit = colour * (0.45 + 0.75 * max(dot(n, light), 0.0)) + ground;
    textureStore(picture, id.xy, vec4<f32>(lit + shine * 0.22 * min(length(colour), 1.0), 1.0));
}
