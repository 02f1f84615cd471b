// One value of all samples of a texel.
@group(0) @binding(0) var source: $kind;

fn fetch(at: vec2<i32>, sample: i32) -> vec4<$scalar> {
    return vec4<$scalar>(textureLoad(source, at, sample)$fill);
}

fn texel(at: vec2<i32>) -> vec4<$scalar> {
    var result = fetch(at, 0);
    for (var sample = 1; sample < $samples; sample++) {
        let other = fetch(at, sample);
        result = $combine;
    }
    return result$scale;
}
