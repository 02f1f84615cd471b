// Frames before and this one, one picture: Karis, "High-Quality Temporal Supersampling", SIGGRAPH 2014. The history is
// read with a Catmull-Rom filter in five taps (Jimenez 2016) and clipped to the mean and deviation of the
// neighbourhood (Salvi 2016), in YCoCg.

@group(0) @binding(1) var lit: texture_2d<f32>;
@group(0) @binding(2) var depth: texture_depth_2d;
@group(0) @binding(3) var velocity: texture_2d<f32>;
@group(0) @binding(4) var before: texture_2d<f32>;
@group(0) @binding(5) var linear: sampler;
@group(0) @binding(6) var steady: texture_storage_2d<rgba16float, write>;

fn ycocg(c: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(0.25 * c.r + 0.5 * c.g + 0.25 * c.b, 0.5 * c.r - 0.5 * c.b, -0.25 * c.r + 0.5 * c.g - 0.25 * c.b);
}

fn rgb(c: vec3<f32>) -> vec3<f32> { return vec3<f32>(c.x + c.y - c.z, c.x + c.z, c.x - c.y - c.z); }

// Bright texels weigh less, so that they do not flicker.
fn tamed(c: vec3<f32>) -> vec3<f32> { return c / (1.0 + luminance(c)); }
fn freed(c: vec3<f32>) -> vec3<f32> { return c / max(1.0 - luminance(c), 1e-3); }

fn past(uv: vec2<f32>) -> vec3<f32> {
    let size = frame.size.xy;
    let at = uv * size;
    let centre = floor(at - 0.5) + 0.5;
    let f = at - centre;
    let w0 = f * (-0.5 + f * (1.0 - 0.5 * f));
    let w1 = 1.0 + f * f * (-2.5 + 1.5 * f);
    let w2 = f * (0.5 + f * (2.0 - 1.5 * f));
    let w3 = f * f * (-0.5 + 0.5 * f);
    let w12 = w1 + w2;
    let p0 = (centre - 1.0) / size;
    let p12 = (centre + w2 / w12) / size;
    let p3 = (centre + 2.0) / size;
    var sum = vec4<f32>(textureSampleLevel(before, linear, vec2<f32>(p12.x, p0.y), 0.0).rgb, 1.0) * (w12.x * w0.y);
    sum += vec4<f32>(textureSampleLevel(before, linear, vec2<f32>(p0.x, p12.y), 0.0).rgb, 1.0) * (w0.x * w12.y);
    sum += vec4<f32>(textureSampleLevel(before, linear, p12, 0.0).rgb, 1.0) * (w12.x * w12.y);
    sum += vec4<f32>(textureSampleLevel(before, linear, vec2<f32>(p3.x, p12.y), 0.0).rgb, 1.0) * (w3.x * w12.y);
    sum += vec4<f32>(textureSampleLevel(before, linear, vec2<f32>(p12.x, p3.y), 0.0).rgb, 1.0) * (w12.x * w3.y);
    return max(sum.rgb / sum.w, vec3<f32>(0.0));
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = vec2<i32>(frame.size.xy);
    let at = vec2<i32>(id.xy);
    if (any(at >= size)) { return; }
    var sum = vec3<f32>(0.0);
    var squares = vec3<f32>(0.0);
    var filtered = vec4<f32>(0.0);
    var nearest = -1.0;
    var mover = at;
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let there = clamp(at + vec2<i32>(x, y), vec2<i32>(0), size - 1);
            let colour = tamed(textureLoad(lit, there, 0).rgb);
            let c = ycocg(colour);
            sum += c;
            squares += c * c;
            // Blackman and Harris' window about where the sample was taken.
            let off = vec2<f32>(f32(x), f32(y)) - frame.jitter.xy * frame.size.xy;
            filtered += vec4<f32>(colour, 1.0) * exp(-2.29 * dot(off, off));
            let d = textureLoad(depth, there, 0);
            if (d > nearest) { nearest = d; mover = there; }
        }
    }
    let now = filtered.rgb / filtered.w;
    let uv = (vec2<f32>(at) + 0.5) * frame.size.zw;
    // The nearest of the neighbours tells where all came from: edges move with what is in front.
    var motion = textureLoad(velocity, mover, 0).rg;
    if (nearest <= 0.0) {
        let far = frame.previous_projection * vec4<f32>(world_of(uv + frame.jitter.xy, 0.5) - frame.eye.xyz, 0.0);
        motion = uv - (far.xy / far.w * 0.5 + 0.5);
    }
    let from_ = uv - motion;
    var result = now;
    if (frame.sun.w > 0.0 && all(from_ >= vec2<f32>(0.0)) && all(from_ <= vec2<f32>(1.0))) {
        let mean = sum / 9.0;
        let spread = sqrt(max(squares / 9.0 - mean * mean, vec3<f32>(0.0))) * 1.1 + 1e-4;
        let old = ycocg(tamed(past(from_)));
        let away = (old - mean) / spread;
        let most = max(abs(away.x), max(abs(away.y), abs(away.z)));
        let kept = rgb(select(old, mean + (old - mean) / most, most > 1.0));
        let blend = max(1.0 / (frame.sun.w + 1.0), 0.07);
        result = mix(kept, now, blend);
    }
    textureStore(steady, at, vec4<f32>(freed(max(result, vec3<f32>(0.0))), 1.0));
}
