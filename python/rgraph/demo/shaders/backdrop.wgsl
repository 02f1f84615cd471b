// The sky behind everything: its picture, high clouds, the sun.

struct Corner { @builtin(position) position: vec4<f32>, @location(0) uv: vec2<f32> }

@vertex
fn vs(@builtin(vertex_index) index: u32) -> Corner {
    let uv = vec2<f32>(f32((index << 1u) & 2u), f32(index & 2u));
    return Corner(vec4<f32>(uv * 2.0 - 1.0, 0.0, 1.0), uv);
}

fn value_noise(p: vec2<f32>) -> f32 {
    let cell = floor(p);
    let f = fract(p);
    let w = f * f * f * (f * (f * 6.0 - 15.0) + 10.0);
    let low = mix(hash21(cell), hash21(cell + vec2<f32>(1.0, 0.0)), w.x);
    let high = mix(hash21(cell + vec2<f32>(0.0, 1.0)), hash21(cell + vec2<f32>(1.0, 1.0)), w.x);
    return mix(low, high, w.y);
}

fn fractal(p: vec2<f32>) -> f32 {
    var at = p;
    var sum = 0.0;
    var weight = 0.5;
    for (var i = 0; i < 6; i++) {
        sum += weight * value_noise(at);
        at = vec2<f32>(1.6 * at.x + 1.2 * at.y, -1.2 * at.x + 1.6 * at.y) + 17.3;
        weight *= 0.5;
    }
    return sum;
}

@fragment
fn fs(in: Corner) -> @location(0) vec4<f32> {
    let direction = normalize(world_of(in.uv, 0.5) - frame.eye.xyz);
    var light = sky_at(direction, 0.0);
    let cosine = dot(direction, frame.sun.xyz);
    if (direction.y > 0.01) {
        // A layer of ice clouds, drawn out by the wind.
        let at = direction.xz / (direction.y + 0.12) * 0.9;
        let drift = vec2<f32>(0.010, 0.004) * frame.eye.w;
        let bend = fractal(at * 0.8 + drift);
        let drawn = fractal(vec2<f32>(at.x * 0.9 + 0.4 * bend, at.y * 2.6 + 1.3 * bend) + drift * 2.0 + 11.0);
        let cover = smoothstep(0.46, 0.86, drawn) * smoothstep(0.01, 0.16, direction.y) * 0.85;
        let ahead = pow(max(cosine, 0.0), 10.0);
        let white = sky_at(vec3<f32>(direction.x, 0.25, direction.z), 0.6) * 0.9 + sunlight() * (0.045 + 0.16 * ahead);
        light = mix(light, white, cover);
    }
    // Hills, each ridge farther and paler than the one before it.
    let around = atan2(direction.z, direction.x);
    let high = direction.y / max(length(direction.xz), 1e-3);
    for (var ridge = 3; ridge >= 1; ridge--) {
        let k = f32(ridge);
        let bearing = vec2<f32>(cos(around), sin(around)) * (5.0 - k) * 3.1 + k * 13.7;
        let top = (fractal(bearing) - 0.28) * (0.06 + 0.045 * k) * 1.15;
        let sharp = smoothstep(-0.0012, 0.0012, top - high);
        let air = sky_at(vec3<f32>(direction.x, 0.04, direction.z), 0.25);
        let shade = air * mix(0.42, 0.78, (k - 1.0) / 2.0) + sunlight() * 0.05 * pow(max(cosine, 0.0), 6.0);
        let tinted = shade * mix(vec3<f32>(0.78, 0.84, 1.0), vec3<f32>(1.0), k / 3.0);
        let mist = haze_at(direction);
        light = mix(light, mix(tinted, mist, 0.15 + 0.8 * exp(-max(high, 0.0) * 26.0)), sharp);
    }
    let disk = smoothstep(0.99990, 0.99997, cosine) * select(0.0, 1.0, direction.y > 0.0);
    light += sunlight() * (disk * 60.0 + 0.35 * pow(max(cosine, 0.0), 900.0));
    return vec4<f32>(light, 1.0);
}
