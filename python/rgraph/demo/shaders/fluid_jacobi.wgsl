// One iteration of Jacobi's for Poisson's equation: each cell becomes what its neighbours ask of it. A wall has no
// neighbour behind it, and asks nothing.

@group(0) @binding(1) var pressure: texture_2d<f32>;
@group(0) @binding(2) var divergence: texture_2d<f32>;
@group(0) @binding(3) var result: texture_storage_2d<r32float, write>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let last = textureDimensions(result) - 1u;
    if (any(id.xy > last)) { return; }
    let at = vec2<i32>(id.xy);
    var sum = 0.0;
    var count = 0.0;
    if (id.x > 0u) { sum += textureLoad(pressure, at - vec2<i32>(1, 0), 0).x; count += 1.0; }
    if (id.y > 0u) { sum += textureLoad(pressure, at - vec2<i32>(0, 1), 0).x; count += 1.0; }
    if (id.x < last.x) { sum += textureLoad(pressure, at + vec2<i32>(1, 0), 0).x; count += 1.0; }
    if (id.y < last.y) { sum += textureLoad(pressure, at + vec2<i32>(0, 1), 0).x; count += 1.0; }
    textureStore(result, id.xy, vec4<f32>((sum - textureLoad(divergence, at, 0).x) / count, 0.0, 0.0, 0.0));
}
