// Forces: jets that stir, and vorticity confinement, which gives small eddies back what the grid takes from them
// (Fedkiw, Stam, Jensen, "Visual Simulation of Smoke", SIGGRAPH 2001).

struct Push { confinement: f32 }
var<immediate> push: Push;
@group(0) @binding(1) var velocity: texture_2d<f32>;
@group(0) @binding(2) var curl: texture_2d<f32>;
@group(0) @binding(3) var result: texture_storage_2d<rg32float, write>;

fn curl_at(at: vec2<i32>) -> f32 {
    return textureLoad(curl, clamp(at, vec2<i32>(0), vec2<i32>(textureDimensions(curl)) - 1), 0).x;
}

// The force at the corner of a cell: towards more rotation, turned by a right angle.
fn confined(at: vec2<i32>) -> vec2<f32> {
    let x = 0.5 * (abs(curl_at(at + vec2<i32>(1, 0))) - abs(curl_at(at - vec2<i32>(1, 0))));
    let y = 0.5 * (abs(curl_at(at + vec2<i32>(0, 1))) - abs(curl_at(at - vec2<i32>(0, 1))));
    let n = vec2<f32>(x, y) / (length(vec2<f32>(x, y)) + 1e-3);
    return push.confinement * curl_at(at) * vec2<f32>(n.y, -n.x);
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(result);
    if (any(id.xy >= size)) { return; }
    let at = vec2<i32>(id.xy);
    var now = textureLoad(velocity, at, 0).xy;
    // Corners of a side: of the left one above and below, of the upper one left and right.
    now.x += moment.step * 0.5 * (confined(at).x + confined(at + vec2<i32>(0, 1)).x);
    now.y += moment.step * 0.5 * (confined(at).y + confined(at + vec2<i32>(1, 0)).y);
    for (var n = 0u; n < JETS; n++) {
        let jet = jet_of(n, vec2<f32>(size));
        let x = jet_weight(jet, vec2<f32>(at) + RIGHTWARDS);
        let y = jet_weight(jet, vec2<f32>(at) + DOWNWARDS);
        now.x = mix(now.x, jet.velocity.x, x);
        now.y = mix(now.y, jet.velocity.y, y);
    }
    // Nothing goes through the walls.
    if (at.x == 0) { now.x = 0.0; }
    if (at.y == 0) { now.y = 0.0; }
    textureStore(result, id.xy, vec4<f32>(now, 0.0, 0.0));
}
