// The sky's light on a surface of any direction, as nine coefficients, already convolved with the cosine and divided
// by π: Ramamoorthi, Hanrahan, "An Efficient Representation for Irradiance Environment Maps", SIGGRAPH 2001.
// One workgroup; each invocation sums rows of directions, spread evenly.

@group(0) @binding(1) var sky: texture_2d<f32>;
@group(0) @binding(2) var sky_sampler: sampler;
@group(0) @binding(3) var<storage, read_write> irradiance: array<vec4<f32>, 9>;

const GROUP: u32 = 64u;
const SAMPLES: u32 = 2048u;
var<workgroup> sums: array<array<vec3<f32>, 9>, 64>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) me: u32) {
    var sum: array<vec3<f32>, 9>;
    for (var i = me; i < SAMPLES; i += GROUP) {
        // Fibonacci's lattice on the sphere.
        let y = 1.0 - (2.0 * f32(i) + 1.0) / f32(SAMPLES);
        let r = sqrt(1.0 - y * y);
        let a = f32(i) * 2.3999632;
        let d = vec3<f32>(r * cos(a), y, r * sin(a));
        let light = textureSampleLevel(sky, sky_sampler, sky_uv(d), 0.0).rgb;
        sum[0] += light * 0.282095;
        sum[1] += light * (0.488603 * d.y);
        sum[2] += light * (0.488603 * d.z);
        sum[3] += light * (0.488603 * d.x);
        sum[4] += light * (1.092548 * d.x * d.y);
        sum[5] += light * (1.092548 * d.y * d.z);
        sum[6] += light * (0.315392 * (3.0 * d.z * d.z - 1.0));
        sum[7] += light * (1.092548 * d.x * d.z);
        sum[8] += light * (0.546274 * (d.x * d.x - d.y * d.y));
    }
    for (var k = 0u; k < 9u; k++) { sums[me][k] = sum[k]; }
    workgroupBarrier();
    if (me < 9u) {
        var all = vec3<f32>(0.0);
        for (var i = 0u; i < GROUP; i++) { all += sums[i][me]; }
        // Bands of the cosine over π: 1, 2/3, 1/4.
        let band = select(select(0.25, 0.6666667, me < 4u), 1.0, me == 0u);
        irradiance[me] = vec4<f32>(all * (4.0 * PI / f32(SAMPLES)) * band, 0.0);
    }
}
