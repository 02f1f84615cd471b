// An image scaled to another size, and its numbers converted.
struct Params { size: vec2<u32> }
var<immediate> params: Params;
@group(0) @binding(0) var source: $kind;

fn fetch(at: vec2<i32>) -> vec4<$from> {
    let size = vec2<i32>(textureDimensions(source));
    return vec4<$from>($load(source, clamp(at, vec2<i32>(0), size - 1), 0)$fill);
}

fn nearest(place: vec2<f32>) -> vec4<$from> { return fetch(vec2<i32>(floor(place))); }
$linear
fn texel(at: vec2<i32>) -> vec4<$to> {
    let size = vec2<f32>(textureDimensions(source));
    let place = (vec2<f32>(at) + 0.5) / vec2<f32>(params.size) * size;
    return vec4<$to>($round($filter(place)));
}
