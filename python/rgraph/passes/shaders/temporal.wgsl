// A frame mixed into those before it.
struct Params { blend: f32, gamma: f32 }
struct State { frames: u32 }
struct Control { reset: u32 }
var<immediate> params: Params;
@group(0) @binding(0) var current: texture_2d<f32>;
@group(0) @binding(1) var history: texture_2d<f32>;
@group(0) @binding(2) var smooth_: sampler;
@group(0) @binding(3) var<uniform> control: Control;
@group(0) @binding(4) var<storage, read> state: State;
$motion

// Luminance and two differences, in which neighbourhoods are tighter than in red, green and blue.
fn to_ycocg(c: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(dot(c, vec3<f32>(0.25, 0.5, 0.25)), dot(c, vec3<f32>(0.5, 0.0, -0.5)), dot(c, vec3<f32>(-0.25, 0.5, -0.25)));
}

fn from_ycocg(c: vec3<f32>) -> vec3<f32> { return vec3<f32>(c.x + c.y - c.z, c.x + c.z, c.x - c.y - c.z); }

fn bilinear(uv: vec2<f32>) -> vec4<f32> { return textureSampleLevel(history, smooth_, uv, 0.0); }

// Catmull-Rom by nine bilinear samples, of which the four corners weigh next to nothing and are left out.
fn catmull_rom(uv: vec2<f32>) -> vec4<f32> {
    let size = vec2<f32>(textureDimensions(history));
    let place = uv * size;
    let middle = floor(place - 0.5) + 0.5;
    let f = place - middle;
    let w0 = f * (-0.5 + f * (1.0 - 0.5 * f));
    let w1 = 1.0 + f * f * (-2.5 + 1.5 * f);
    let w2 = f * (0.5 + f * (2.0 - 1.5 * f));
    let w3 = f * f * (-0.5 + 0.5 * f);
    let w12 = w1 + w2;
    let p0 = (middle - 1.0) / size;
    let p3 = (middle + 2.0) / size;
    let p12 = (middle + w2 / w12) / size;
    var sum = w12.x * w12.y * bilinear(p12);
    sum += w12.x * w0.y * bilinear(vec2<f32>(p12.x, p0.y));
    sum += w0.x * w12.y * bilinear(vec2<f32>(p0.x, p12.y));
    sum += w3.x * w12.y * bilinear(vec2<f32>(p3.x, p12.y));
    sum += w12.x * w3.y * bilinear(vec2<f32>(p12.x, p3.y));
    let weight = w12.x * w12.y + w12.x * w0.y + w0.x * w12.y + w3.x * w12.y + w12.x * w3.y;
    return max(sum / weight, vec4<f32>(0.0));
}

// The nearest point of the box to a colour (clamp), or where the line to its middle enters it (clip).
fn bounded(past: vec3<f32>, at: vec2<i32>, size: vec2<i32>) -> vec3<f32> {
    var least = vec3<f32>(1e30);
    var most = vec3<f32>(-1e30);
    var first = vec3<f32>(0.0);
    var second = vec3<f32>(0.0);
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let near = clamp(at + vec2<i32>(x, y), vec2<i32>(0), size - 1);
            let colour = to_ycocg(textureLoad(current, near, 0).rgb);
            least = min(least, colour);
            most = max(most, colour);
            first += colour / 9.0;
            second += colour * colour / 9.0;
        }
    }
    let colour = to_ycocg(past);
    if ($variance) {
        let deviation = params.gamma * sqrt(max(second - first * first, vec3<f32>(0.0)));
        let off = colour - first;
        let times = abs(off) / max(deviation, vec3<f32>(1e-6));
        return from_ycocg(first + off / max(max(times.x, max(times.y, times.z)), 1.0));
    }
    return from_ycocg(clamp(colour, least, most));
}

fn texel(at: vec2<i32>) -> vec4<f32> {
    let size = vec2<i32>(textureDimensions(current));
    let colour = textureLoad(current, at, 0);
    let uv = (vec2<f32>(at) + 0.5) / vec2<f32>(size) - $moved;
    if (state.frames == 0u || control.reset != 0u || any(uv < vec2<f32>(0.0)) || any(uv > vec2<f32>(1.0))) {
        return colour;
    }
    var past = $history;
    $clamp
    // The mean of all frames so far, until there are 1 / blend of them.
    let share = max(params.blend, 1.0 / f32(state.frames + 1u));
    return mix(past, colour, share);
}
