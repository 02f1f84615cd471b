// How many texels have which brightness: 256 bins of log2 luminance. A group sums in its own memory first.

@group(0) @binding(1) var source: texture_2d<f32>;
@group(0) @binding(2) var<storage, read_write> histogram: array<atomic<u32>, 256>;

var<workgroup> bins: array<atomic<u32>, 256>;

@compute @workgroup_size(16, 16)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) me: u32) {
    atomicStore(&bins[me], 0u);
    workgroupBarrier();
    let size = textureDimensions(source);
    if (all(id.xy < size)) {
        let bright = luminance(textureLoad(source, id.xy, 0).rgb);
        let at = clamp((log2(max(bright, 1e-6)) - LEAST) / RANGE * 254.0 + 1.0, 0.0, 255.0);
        // What is in the middle counts for more.
        let off = (vec2<f32>(id.xy) + 0.5) / vec2<f32>(size) - 0.5;
        let weight = u32(16.0 * exp(-3.5 * dot(off, off)));
        atomicAdd(&bins[u32(at)], weight);
    }
    workgroupBarrier();
    atomicAdd(&histogram[me], atomicLoad(&bins[me]));
}
