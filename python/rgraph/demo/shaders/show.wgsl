// An image of any kind as a picture to look at. $texture and $load are put in by `_show.py`.

struct Push { grid: u32, layers: u32, kind: u32 }
var<immediate> push: Push;
@group(0) @binding(0) var source: $texture;
@group(0) @binding(1) var<storage, read> measured: array<vec4<f32>, 2>;
@group(0) @binding(2) var shown: texture_storage_2d<rgba8unorm, write>;

fn encoded(c: vec3<f32>) -> vec3<f32> {
    let low = c * 12.92;
    let high = 1.055 * pow(max(c, vec3<f32>(0.0)), vec3<f32>(1.0 / 2.4)) - 0.055;
    return select(high, low, c <= vec3<f32>(0.0031308));
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(shown);
    if (any(id.xy >= size)) { return; }
    let cell = max(size / push.grid, vec2<u32>(1u));
    let layer = min(id.y / cell.y, push.grid - 1u) * push.grid + min(id.x / cell.x, push.grid - 1u);
    if (layer >= push.layers) {
        textureStore(shown, id.xy, vec4<f32>(0.0, 0.0, 0.0, 1.0));
        return;
    }
    let extent = vec2<u32>(textureDimensions(source).xy);
    let at = min((id.xy % cell) * extent / cell, extent - 1u);
    let value = $load;
    let least = measured[0];
    let most = measured[1];
    var colour = vec3<f32>(0.0);
    if (push.kind == GREY) {
        colour = vec3<f32>(value.x);
    } else if (push.kind == DEPTH) {
        // Nothing there is black; what is there is bright where it is near.
        let span = max(most.x - least.x, 1e-9);
        colour = vec3<f32>(select(0.15 + 0.85 * sqrt((value.x - least.x) / span), 0.0, value.x <= 0.0));
    } else if (push.kind == SIGNED) {
        let span = max(max(abs(least.x), abs(most.x)), max(max(abs(least.y), abs(most.y)), max(abs(least.z), abs(most.z))));
        colour = 0.5 + 0.5 * value.xyz / max(span, 1e-9);
    } else if (push.kind == LIGHT) {
        // Half of the picture's mean brightness becomes middle grey; what is much brighter loses its distance.
        let scene = max(value.xyz, vec3<f32>(0.0)) * (0.25 / max(most.w, 1e-6));
        colour = encoded(scene / (1.0 + scene) * 1.25);
    } else if (push.kind == SCALAR) {
        if (least.x < -0.1 * most.x && most.x > -0.1 * least.x) {
            // About zero: warm above, cool below.
            let t = value.x / max(max(-least.x, most.x), 1e-9);
            colour = select(vec3<f32>(0.12, 0.5, 1.0), vec3<f32>(1.0, 0.55, 0.12), t > 0.0) * sqrt(abs(t));
        } else {
            colour = vec3<f32>((value.x - least.x) / max(most.x - least.x, 1e-9));
        }
    } else if (push.kind == COUNT) {
        let n = u32(value.x);
        colour = select(vec3<f32>(fract(f32(n) * 0.618034), fract(f32(n) * 0.381966), fract(f32(n) * 0.7548)), vec3<f32>(0.0), n == 0u);
    } else {
        colour = value.xyz;
    }
    textureStore(shown, id.xy, vec4<f32>(clamp(colour, vec3<f32>(0.0), vec3<f32>(1.0)), 1.0));
}
