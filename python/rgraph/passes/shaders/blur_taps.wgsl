// One direction of a separable Gaussian, texel by texel. Four weights an entry, from the middle outwards.
struct Kernel { weights: array<vec4<f32>, $quads> }
const AXIS: i32 = $axis;
@group(0) @binding(0) var source: texture_2d<f32>;
@group(0) @binding(1) var<$space> kernel: Kernel;

fn fetch(along: i32, across: i32, size: vec2<i32>) -> vec4<f32> {
    let length = size[AXIS];
    var at = along;
    $edge
    return textureLoad(source, select(vec2<i32>(across, at), vec2<i32>(at, across), AXIS == 0), 0);
}

fn texel(at: vec2<i32>) -> vec4<f32> {
    let size = vec2<i32>(textureDimensions(source));
    let along = at[AXIS];
    let across = at[1 - AXIS];
    var sum = kernel.weights[0].x * fetch(along, across, size);
    for (var tap = 1; tap <= $radius; tap++) {
        let weight = kernel.weights[tap / 4][tap % 4];
        sum += weight * (fetch(along + tap, across, size) + fetch(along - tap, across, size));
    }
    return sum;
}
