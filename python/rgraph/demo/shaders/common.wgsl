// What all passes of the deferred demo share: the frame's constants, and how numbers are packed.

struct Frame {
    view_projection: mat4x4<f32>,      // with this frame's jitter
    steady_projection: mat4x4<f32>,    // without
    previous_projection: mat4x4<f32>,  // of the frame before, without
    inverse_projection: mat4x4<f32>,   // of view_projection
    view: mat4x4<f32>,
    cascades: array<mat4x4<f32>, 4>,   // world to a cascade's clip space
    cascade_ends: vec4<f32>,           // distance along the view at which each ends, in metres
    cascade_texels: vec4<f32>,         // size of a texel of each, in metres
    eye: vec4<f32>,                    // w: time in seconds
    sun: vec4<f32>,                    // direction towards it; w: number of the frame
    size: vec4<f32>,                   // of the picture in texels; and one over it
    jitter: vec4<f32>,                 // of this frame and the one before, in texture coordinates
    lens: vec4<f32>,                   // near plane, tan of half the field of view (x, y), seconds since the frame before
}

@group(0) @binding(0) var<uniform> frame: Frame;

struct Instance {
    row0: vec4<f32>,     // rows of the matrix from mesh to world
    row1: vec4<f32>,
    row2: vec4<f32>,
    colour: vec4<f32>,   // linear albedo (or reflectance of a metal); roughness
    surface: vec4<f32>,  // metallic, emission (times albedo), pattern, turns about the own axis y in radians a second
}

struct Light {
    place: vec4<f32>,   // world; w: reach in metres
    colour: vec4<f32>,  // intensity
}

const PI: f32 = 3.14159265;
const VERTEX_BITS: u32 = 15u;

// Distance along the view of a depth: 1 at the near plane, 0 at infinity.
fn distance_of(depth: f32) -> f32 { return frame.lens.x / max(depth, 1e-7); }

fn world_of(uv: vec2<f32>, depth: f32) -> vec3<f32> {
    let at = frame.inverse_projection * vec4<f32>(uv * 2.0 - 1.0, depth, 1.0);
    return at.xyz / at.w;
}

// Noise whose values over any 3 by 3 texels are spread evenly; another one each frame (Jimenez, "Next Generation
// Post Processing in Call of Duty: Advanced Warfare", 2014).
fn gradient_noise(at: vec2<f32>) -> f32 {
    let moved = at + 5.588238 * (frame.sun.w % 64.0);
    return fract(52.9829189 * fract(dot(moved, vec2<f32>(0.06711056, 0.00583715))));
}

fn hash21(p: vec2<f32>) -> f32 {
    let q = fract(vec3<f32>(p.xyx) * vec3<f32>(0.1031, 0.1030, 0.0973));
    let r = q + dot(q, q.yzx + 33.33);
    return fract((r.x + r.y) * r.z);
}

fn luminance(colour: vec3<f32>) -> f32 { return dot(colour, vec3<f32>(0.2126, 0.7152, 0.0722)); }

// Where a direction is in the sky's picture: longitude, and the root of latitude, which is finest at the horizon.
fn sky_uv(direction: vec3<f32>) -> vec2<f32> {
    let latitude = asin(clamp(direction.y, -1.0, 1.0));
    let v = 0.5 - 0.5 * sign(latitude) * sqrt(abs(latitude) / (PI / 2.0));
    return vec2<f32>(atan2(direction.z, direction.x) / (2.0 * PI) + 0.5, v);
}

fn sky_direction(uv: vec2<f32>) -> vec3<f32> {
    let longitude = (uv.x - 0.5) * 2.0 * PI;
    let s = 1.0 - 2.0 * uv.y;
    let latitude = sign(s) * s * s * (PI / 2.0);
    return vec3<f32>(cos(latitude) * cos(longitude), sin(latitude), cos(latitude) * sin(longitude));
}
