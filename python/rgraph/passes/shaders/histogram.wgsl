// How many texels there are of each luminance. A workgroup counts 64 by 64 texels in its own memory first.
struct Params { least: f32, most: f32 }
var<immediate> params: Params;
@group(0) @binding(0) var source: texture_2d<f32>;
@group(0) @binding(1) var<storage, read_write> bins: array<atomic<u32>, 256>;
var<workgroup> counts: array<atomic<u32>, 256>;

fn bin(colour: vec3<f32>) -> u32 {
    let luminance = dot(colour, vec3<f32>(0.2126, 0.7152, 0.0722));
    // What is no number compares with nothing, and counts as black.
    if (!(luminance >= exp2(params.least))) { return 0u; }
    let share = clamp((log2(luminance) - params.least) / (params.most - params.least), 0.0, 1.0);
    return min(1u + u32(share * 255.0), 255u);
}

@compute @workgroup_size(16, 16)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
) {
    atomicStore(&counts[index], 0u);
    workgroupBarrier();
    let size = textureDimensions(source);
    for (var at = 0u; at < 16u; at++) {
        let texel = group.xy * 64u + local.xy + 16u * vec2<u32>(at & 3u, at >> 2u);
        if (all(texel < size)) { atomicAdd(&counts[bin(textureLoad(source, texel, 0).rgb)], 1u); }
    }
    workgroupBarrier();
    let count = atomicLoad(&counts[index]);
    if (count != 0u) { atomicAdd(&bins[index], count); }
}
