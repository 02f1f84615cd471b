// MacCormack's correction of the ink (see fluid_correct.wgsl), what the jets bring, and what fades.

@group(0) @binding(2) var ink: texture_2d<f32>;
@group(0) @binding(3) var forward: texture_2d<f32>;
@group(0) @binding(4) var back: texture_2d<f32>;
@group(0) @binding(5) var result: texture_storage_2d<rgba16float, write>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let extent = textureDimensions(result);
    if (any(id.xy >= extent)) { return; }
    let size = vec2<f32>(extent);
    let cells = vec2<f32>(textureDimensions(velocity));
    let place = (vec2<f32>(id.xy) + 0.5) / size * cells;
    let wanted = textureLoad(forward, id.xy, 0) + 0.5 * (textureLoad(ink, id.xy, 0) - textureLoad(back, id.xy, 0));
    let from_ = origin(place, moment.step) / cells * size - 0.5;
    let last = vec2<i32>(extent) - 1;
    let low = clamp(vec2<i32>(floor(from_)), vec2<i32>(0), last);
    let high = clamp(vec2<i32>(floor(from_)) + 1, vec2<i32>(0), last);
    let a = textureLoad(ink, low, 0);
    let b = textureLoad(ink, vec2<i32>(high.x, low.y), 0);
    let c = textureLoad(ink, vec2<i32>(low.x, high.y), 0);
    let d = textureLoad(ink, high, 0);
    var now = clamp(wanted, min(min(a, b), min(c, d)), max(max(a, b), max(c, d)));
    now *= mix(1.0, exp(-0.16 * moment.step), moment.ink);
    for (var n = 0u; n < JETS; n++) {
        let jet = jet_of(n, cells);
        now = mix(now, vec4<f32>(jet.colour * 3.2, 1.0), min(1.6 * jet_weight(jet, place), 1.0));
    }
    textureStore(result, id.xy, now);
}
