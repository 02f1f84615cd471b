// The sky as a picture of all directions: light scattered once along the view by air, haze and ozone, and what is
// scattered more often estimated. Coefficients and profiles: Hillaire, "A Scalable and Production Ready Sky and
// Atmosphere Rendering Technique", EGSR 2020. Kilometres; the sun outside of the air is SUN.

@group(0) @binding(1) var target_image: texture_storage_2d<rgba16float, write>;

const SUN: vec3<f32> = vec3<f32>(22.0, 21.0, 19.5);
const GROUND: f32 = 6360.0;
const TOP: f32 = 6460.0;
const RAYLEIGH: vec3<f32> = vec3<f32>(5.802e-3, 13.558e-3, 33.1e-3);
const MIE: f32 = 5.5e-3;
const MIE_OUT: f32 = 6.1e-3;
const OZONE: vec3<f32> = vec3<f32>(0.650e-3, 1.881e-3, 0.085e-3);

fn leaves(from_: vec3<f32>, direction: vec3<f32>, radius: f32) -> f32 {
    let b = dot(from_, direction);
    let d = b * b - dot(from_, from_) + radius * radius;
    return select(-1.0, -b + sqrt(max(d, 0.0)), d >= 0.0);
}

fn hits_ground(from_: vec3<f32>, direction: vec3<f32>) -> f32 {
    let b = dot(from_, direction);
    let d = b * b - dot(from_, from_) + GROUND * GROUND;
    return select(-1.0, -b - sqrt(max(d, 0.0)), d >= 0.0 && b < 0.0);
}

// Density of air, haze, ozone at a height.
fn density(height: f32) -> vec3<f32> {
    return vec3<f32>(exp(-height / 8.0), exp(-height / 1.2), max(0.0, 1.0 - abs(height - 25.0) / 15.0));
}

fn extinction(d: vec3<f32>) -> vec3<f32> { return RAYLEIGH * d.x + vec3<f32>(MIE_OUT * d.y) + OZONE * d.z; }

fn transmittance(from_: vec3<f32>, direction: vec3<f32>) -> vec3<f32> {
    if (hits_ground(from_, direction) > 0.0) { return vec3<f32>(0.0); }
    let length_ = leaves(from_, direction, TOP);
    var depth = vec3<f32>(0.0);
    for (var i = 0; i < 10; i++) {
        // Steps grow with distance: the air is thick below.
        let a = f32(i) / 10.0;
        let b = f32(i + 1) / 10.0;
        let at = 0.5 * (a * a + b * b) * length_;
        depth += extinction(density(length(from_ + direction * at) - GROUND)) * (b * b - a * a) * length_;
    }
    return exp(-depth);
}

fn sky_light(direction: vec3<f32>) -> vec3<f32> {
    let eye = vec3<f32>(0.0, GROUND + 0.3, 0.0);
    let to_sun = frame.sun.xyz;
    let ground = hits_ground(eye, direction);
    let far = select(leaves(eye, direction, TOP), ground, ground > 0.0);
    let cosine = dot(direction, to_sun);
    let rayleigh_phase = 3.0 / (16.0 * PI) * (1.0 + cosine * cosine);
    let g = 0.76;
    let mie_phase = 3.0 / (8.0 * PI) * (1.0 - g * g) * (1.0 + cosine * cosine)
        / ((2.0 + g * g) * pow(1.0 + g * g - 2.0 * g * cosine, 1.5));
    var through = vec3<f32>(1.0);
    var light = vec3<f32>(0.0);
    let steps = 28;
    for (var i = 0; i < steps; i++) {
        let a = f32(i) / f32(steps);
        let b = f32(i + 1) / f32(steps);
        let step = (b * b - a * a) * far;
        let at = eye + direction * (0.5 * (a * a + b * b) * far);
        let height = length(at) - GROUND;
        let d = density(height);
        let sunlit = transmittance(at, to_sun);
        let scattering = RAYLEIGH * d.x * rayleigh_phase + vec3<f32>(MIE * d.y * mie_phase);
        // More than once: as if from all sides, weaker where the sun hardly comes.
        let up = dot(normalize(at), to_sun);
        let again = (RAYLEIGH * d.x + vec3<f32>(MIE * d.y)) * 0.055 * smoothstep(-0.18, 0.5, up) * vec3<f32>(1.0, 0.92, 0.86);
        let out = extinction(d);
        let kept = exp(-out * step);
        light += through * (scattering * sunlit + again) * (1.0 - kept) / max(out, vec3<f32>(1e-7));
        through *= kept;
    }
    if (ground > 0.0) {
        let at = eye + direction * ground;
        let normal = normalize(at);
        let lit = max(dot(normal, to_sun), 0.0) * transmittance(at + normal * 0.01, to_sun) + vec3<f32>(0.05, 0.055, 0.07);
        light += through * vec3<f32>(0.34, 0.26, 0.19) / PI * lit;
    }
    return light * SUN;
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(target_image);
    if (any(id.xy >= size)) { return; }
    let uv = (vec2<f32>(id.xy) + 0.5) / vec2<f32>(size);
    textureStore(target_image, id.xy, vec4<f32>(sky_light(sky_direction(uv)), 1.0));
}
