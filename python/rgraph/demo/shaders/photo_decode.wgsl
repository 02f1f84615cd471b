// Samples as they lie in memory, whatever their number and width, become the laboratory's signal.

struct Push { channels: u32, bytes: u32 }
var<immediate> push: Push;
@group(0) @binding(0) var<storage, read> samples: array<u32>;
@group(0) @binding(1) var signal: texture_storage_2d<rgba16float, write>;

fn sample_at(index: u32) -> f32 {
    if (push.bytes == 1u) { return f32((samples[index >> 2u] >> ((index & 3u) * 8u)) & 255u) / 255.0; }
    if (push.bytes == 2u) { return f32((samples[index >> 1u] >> ((index & 1u) * 16u)) & 65535u) / 65535.0; }
    return bitcast<f32>(samples[index]);
}

// sRGB to linear (IEC 61966-2-1); floats are linear already.
fn linear_of(x: f32) -> f32 {
    if (push.bytes == 4u) { return max(x, 0.0); }
    return select(pow((x + 0.055) / 1.055, 2.4), x / 12.92, x <= 0.04045);
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(signal);
    if (any(id.xy >= size)) { return; }
    let first = (id.y * size.x + id.x) * push.channels;
    var colour = vec3<f32>(linear_of(sample_at(first)));
    if (push.channels >= 3u) {
        colour.g = linear_of(sample_at(first + 1u));
        colour.b = linear_of(sample_at(first + 2u));
    }
    var alpha = 1.0;
    if (push.channels == 2u || push.channels == 4u) { alpha = sample_at(first + push.channels - 1u); }
    textureStore(signal, id.xy, vec4<f32>(ycocg(sqrt(colour)), alpha));
}
