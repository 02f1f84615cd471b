// What the laboratory's passes share. They work on the root of linear light, whose noise is about the same everywhere,
// as brightness and two colours (YCoCg).

fn ycocg(c: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(0.25 * c.r + 0.5 * c.g + 0.25 * c.b, 0.5 * c.r - 0.5 * c.b, -0.25 * c.r + 0.5 * c.g - 0.25 * c.b);
}

fn rgb(c: vec3<f32>) -> vec3<f32> { return vec3<f32>(c.x + c.y - c.z, c.x + c.z, c.x - c.y - c.z); }

// Linear light of what the passes hand on.
fn light_of(signal: vec3<f32>) -> vec3<f32> {
    let root = max(rgb(signal), vec3<f32>(0.0));
    return root * root;
}

fn luminance(colour: vec3<f32>) -> f32 { return dot(colour, vec3<f32>(0.2126, 0.7152, 0.0722)); }

// Stops of luminance, as the pyramids hold them.
const DARKEST: f32 = -12.0;
fn stops_of(signal: vec3<f32>) -> f32 { return max(log2(luminance(light_of(signal)) + 1e-7), DARKEST); }
