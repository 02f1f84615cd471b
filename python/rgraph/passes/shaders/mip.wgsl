// Half the size, every texel of the finer level counted by the area that it covers: two texels along an axis of even
// length, three along one of odd length.
@group(0) @binding(0) var source: texture_2d<f32>;

fn weights(at: i32, length: i32) -> vec3<f32> {
    if (length == 1) { return vec3<f32>(1.0, 0.0, 0.0); }
    if ((length & 1) == 0) { return vec3<f32>(0.5, 0.5, 0.0); }
    let half = length / 2;
    return vec3<f32>(vec3<i32>(half - at, half, at + 1)) / f32(length);
}

fn texel(at: vec2<i32>) -> vec4<f32> {
    let size = vec2<i32>(textureDimensions(source));
    let x = weights(at.x, size.x);
    let y = weights(at.y, size.y);
    var result = $first;
    for (var j = 0; j < 3; j++) {
        for (var i = 0; i < 3; i++) {
            let weight = x[i] * y[j];
            if (weight > 0.0) {
                let finer = textureLoad(source, min(2 * at + vec2<i32>(i, j), size - 1), 0);
                result = $combine;
            }
        }
    }
    return result;
}
