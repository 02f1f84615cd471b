// Reads velocities between texels.

@group(0) @binding(1) var velocity: texture_2d<f32>;

struct Four { low: vec2<i32>, high: vec2<i32>, weight: vec2<f32> }

fn four(at: vec2<f32>) -> Four {
    let last = vec2<i32>(textureDimensions(velocity)) - 1;
    let low = floor(at);
    return Four(clamp(vec2<i32>(low), vec2<i32>(0), last), clamp(vec2<i32>(low) + 1, vec2<i32>(0), last), at - low);
}

fn velocity_at(at: vec2<f32>) -> vec2<f32> {
    let a = four(at - RIGHTWARDS);
    let b = four(at - DOWNWARDS);
    let x0 = mix(textureLoad(velocity, a.low, 0).x, textureLoad(velocity, vec2<i32>(a.high.x, a.low.y), 0).x, a.weight.x);
    let x1 = mix(textureLoad(velocity, vec2<i32>(a.low.x, a.high.y), 0).x, textureLoad(velocity, a.high, 0).x, a.weight.x);
    let y0 = mix(textureLoad(velocity, b.low, 0).y, textureLoad(velocity, vec2<i32>(b.high.x, b.low.y), 0).y, b.weight.x);
    let y1 = mix(textureLoad(velocity, vec2<i32>(b.low.x, b.high.y), 0).y, textureLoad(velocity, b.high, 0).y, b.weight.x);
    return vec2<f32>(mix(x0, x1, a.weight.y), mix(y0, y1, b.weight.y));
}

// Where what is here was some time ago (negative: will be): half a step, then the whole with the speed found there.
fn origin(at: vec2<f32>, ago: f32) -> vec2<f32> {
    let size = vec2<f32>(textureDimensions(velocity));
    let middle = at - 0.5 * ago * velocity_at(at);
    return clamp(at - ago * velocity_at(clamp(middle, vec2<f32>(0.0), size)), vec2<f32>(0.0), size);
}
