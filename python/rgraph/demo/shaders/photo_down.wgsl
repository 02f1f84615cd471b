// Half the size of every layer, by the binomial filter 1 4 6 4 1 (Burt, Adelson 1983).

@group(0) @binding(0) var source: texture_2d_array<f32>;
@group(0) @binding(1) var result: texture_storage_2d_array<r16float, write>;

const BINOMIAL: array<f32, 3> = array<f32, 3>(0.375, 0.25, 0.0625);

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (any(id.xy >= textureDimensions(result))) { return; }
    let last = vec2<i32>(textureDimensions(source)) - 1;
    var sum = 0.0;
    for (var y = -2; y <= 2; y++) {
        for (var x = -2; x <= 2; x++) {
            let at = clamp(vec2<i32>(id.xy) * 2 + vec2<i32>(x, y), vec2<i32>(0), last);
            sum += BINOMIAL[abs(x)] * BINOMIAL[abs(y)] * textureLoad(source, at, id.z, 0).x;
        }
    }
    textureStore(result, id.xy, id.z, vec4<f32>(sum, 0.0, 0.0, 0.0));
}
