struct Light { position: vec3<f32>, radius: f32, color: vec3<f32> }
struct Params { exposure: f32, lights: array<Light, 4>, turn: mat3x3<f32>, tint: vec2<f32> }
struct Tile { count: atomic<u32>, first: array<vec3<u32>, 3>, rest: array<Light> }
@group(0) @binding(0) var source: texture_2d<f32>;
@group(0) @binding(1) var target_image: texture_storage_2d<rgba16float, write>;
@group(0) @binding(2) var<uniform> params: Params;
@group(0) @binding(3) var<storage, read_write> tiles: Tile;
@group(1) @binding(0) var linear: sampler;
@group(1) @binding(1) var shadow: texture_depth_2d_array;
@group(1) @binding(2) var compare: sampler_comparison;
@group(1) @binding(3) var<storage, read_write> only_read: array<u32>;
@group(1) @binding(4) var<storage, read_write> only_written: array<u32>;
@group(1) @binding(5) var<storage, read> constants: array<mat2x2<f32>>;
@group(1) @binding(6) var<storage, read_write> only_asked: array<u32>;
@group(1) @binding(7) var counts: texture_storage_2d<r32uint, read_write>;
@group(1) @binding(8) var idle: texture_cube<f32>;
struct Push { strength: f32, offset: vec2<f32> }
var<push_constant> push: Push;

fn store(at: u32, value: u32) { only_written[at] = value; }
fn look(image: texture_2d<f32>, filtering: sampler, at: vec2<f32>) -> vec4<f32> { return textureSampleLevel(image, filtering, at, 0.0); }

@compute @workgroup_size(8, 4, 2)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var color = look(source, linear, vec2<f32>(id.xy) * push.offset) * params.exposure * push.strength;
    for (var i = 0u; i < 4u; i++) {
        color += vec4<f32>(params.turn * params.lights[i].color, params.lights[i].radius);
    }
    let lit = textureSampleCompareLevel(shadow, compare, params.tint, 1, 0.5);
    atomicAdd(&tiles.count, only_read[id.x] + arrayLength(&only_asked));
    tiles.first[id.y].x = 3u;
    let m = constants[id.x];
    store(id.z, u32(m[0].x));
    textureStore(counts, id.xy, textureLoad(counts, id.xy) + vec4<u32>(1u));
    textureStore(target_image, id.xy, color * lit);
}
