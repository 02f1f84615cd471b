// How strong the noise is: the mean of a mask that is blind to edges and slopes (Immerkær, "Fast Noise Variance
// Estimation", 1996), of brightness and of colour; of where there is little, since texture is no noise.

@group(0) @binding(0) var signal: texture_2d<f32>;
@group(0) @binding(1) var<storage, read_write> noise: array<atomic<u32>, 4>;

const SCALE: f32 = 4096.0;
var<workgroup> sums: array<vec3<f32>, 256>;

@compute @workgroup_size(16, 16)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>,
        @builtin(local_invocation_index) me: u32) {
    let size = vec2<i32>(textureDimensions(signal));
    // A picture's every fourth tile is enough.
    let at = vec2<i32>((group.xy * 2u + (group.yx & vec2<u32>(1u))) * 16u + local.xy);
    var sum = vec3<f32>(0.0);
    if (all(at > vec2<i32>(0)) && all(at < size - 1)) {
        var mask = vec3<f32>(0.0);
        for (var y = -1; y <= 1; y++) {
            for (var x = -1; x <= 1; x++) {
                let weight = f32((2 - 3 * abs(x)) * (2 - 3 * abs(y)));
                mask += weight * textureLoad(signal, at + vec2<i32>(x, y), 0).xyz;
            }
        }
        // The weights' squares sum to 36; the mean of |x| of a normal distribution is √(2/π) of its deviation.
        let level = abs(mask) * (1.2533141 / 6.0);
        sum = vec3<f32>(min(level.x, 0.25), min(0.5 * (level.y + level.z), 0.25), 1.0);
    }
    sums[me] = sum;
    workgroupBarrier();
    for (var width = 128u; width > 0u; width /= 2u) {
        if (me < width) { sums[me] += sums[me + width]; }
        workgroupBarrier();
    }
    if (me == 0u && sums[0].z > 0.0) {
        // A tile's mean counts by how smooth the tile is.
        let mean = sums[0].xy / sums[0].z;
        let weight = 1.0 / (1.0 + pow(mean.x / 0.02, 2.0));
        atomicAdd(&noise[0], u32(mean.x * weight * SCALE * 16.0));
        atomicAdd(&noise[1], u32(mean.y * weight * SCALE * 16.0));
        atomicAdd(&noise[2], u32(weight * SCALE));
    }
}
