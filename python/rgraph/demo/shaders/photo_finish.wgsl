// The film: a curve with toe and shoulder for each colour (Naka, Rushton 1966; as in Reinhard, Devlin 2005), tints of
// shadows and lights, grain, a darker rim. What it writes is encoded as sRGB.

struct Film {
    shadows: vec4<f32>,   // factors; w: power of the curve
    lights: vec4<f32>,    // factors; w: saturation
    curve: vec4<f32>,     // scale, half-way point, grain, vignette
    mixing: vec4<f32>,    // weights of a picture without colours; w: whether it is one
    seed: f32,            // of grain and rounding
    steps: f32,           // 1 over the steps of the result, or 0
}
@group(0) @binding(0) var<uniform> film: Film;
@group(0) @binding(1) var light: texture_2d<f32>;
@group(0) @binding(2) var developed: texture_storage_2d<$format, write>;

fn hash(p: vec3<f32>) -> f32 {
    var q = fract(p * vec3<f32>(0.1031, 0.1030, 0.0973));
    q += dot(q, q.yzx + 33.33);
    return fract((q.x + q.y) * q.z);
}

// About normal, of deviation one: the sum of four even numbers.
fn scatter(at: vec2<f32>, salt: f32) -> f32 {
    var sum = -2.0;
    for (var i = 0; i < 4; i++) { sum += hash(vec3<f32>(at, film.seed * 7.0 + salt * 31.0 + f32(i) * 13.0)); }
    return sum * 1.7320508;
}

// Grain as large as a texel and a half.
fn grain(at: vec2<f32>) -> f32 {
    let here = scatter(at, 0.0);
    let near = scatter(at + vec2<f32>(1.0, 0.0), 0.0) + scatter(at - vec2<f32>(1.0, 0.0), 0.0)
        + scatter(at + vec2<f32>(0.0, 1.0), 0.0) + scatter(at - vec2<f32>(0.0, 1.0), 0.0);
    return (here + 0.5 * near) / 1.4142136;
}

fn encoded(c: vec3<f32>) -> vec3<f32> {
    let high = 1.055 * pow(max(c, vec3<f32>(1e-8)), vec3<f32>(1.0 / 2.4)) - 0.055;
    return select(high, c * 12.92, c <= vec3<f32>(0.0031308));
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(developed);
    if (any(id.xy >= size)) { return; }
    let here = textureLoad(light, id.xy, 0);
    var colour = max(here.rgb, vec3<f32>(0.0));
    colour = mix(colour, vec3<f32>(dot(colour, film.mixing.rgb)), film.mixing.w);
    let off = (vec2<f32>(id.xy) + 0.5) / vec2<f32>(size) - 0.5;
    // The fourth power of the cosine, as through a lens (Kolb, Mitchell, Hanrahan 1995).
    colour *= pow(1.0 + 1.6 * film.curve.w * dot(off, off), -2.0);
    let bright = dot(colour, vec3<f32>(0.2126, 0.7152, 0.0722));
    colour = max(bright + (colour - bright) * film.lights.w, vec3<f32>(0.0));
    let place = smoothstep(0.0, 1.0, bright / (bright + 0.18));
    colour *= mix(film.shadows.rgb, film.lights.rgb, place);
    let power = pow(colour, vec3<f32>(film.shadows.w));
    colour = film.curve.x * power / (power + film.curve.y);
    var out = encoded(clamp(colour, vec3<f32>(0.0), vec3<f32>(1.0)));
    // Grain is strongest between black and white.
    let middle = dot(out, vec3<f32>(0.3333));
    out += grain(vec2<f32>(id.xy)) * film.curve.z * 0.075 * 4.0 * middle * (1.0 - middle);
    out += (hash(vec3<f32>(vec2<f32>(id.xy), film.seed)) - 0.5) * film.steps;
    textureStore(developed, id.xy, vec4<f32>(clamp(out, vec3<f32>(0.0), vec3<f32>(1.0)), here.a));
}
