// Three channels side by side in a buffer become four of an image; the fourth is one.
@group(0) @binding(0) var<storage, read> words: array<u32>;
struct Params { width: u32 }
var<immediate> params: Params;

fn number(at: u32) -> f32 {
    $number
}

fn texel(at: vec2<i32>) -> vec4<f32> {
    let first = 3u * (u32(at.y) * params.width + u32(at.x));
    return vec4<f32>(number(first), number(first + 1u), number(first + 2u), 1.0);
}
