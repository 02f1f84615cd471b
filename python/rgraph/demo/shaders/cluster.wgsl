// The division of the view into clusters.

const CLUSTERS: vec3<u32> = vec3<u32>(16u, 9u, 24u);
const LIGHTS_EACH: u32 = 31u;
const FIRST: f32 = 2.0;  // metres; the first slice begins at the eye
const LAST: f32 = 60.0;

fn cluster_start(slice: u32) -> f32 {
    return select(FIRST * pow(LAST / FIRST, f32(slice - 1u) / f32(CLUSTERS.z - 1u)), 0.0, slice == 0u);
}

fn cluster_of(uv: vec2<f32>, ahead: f32) -> u32 {
    let slice = 1.0 + log(max(ahead, 0.01) / FIRST) / log(LAST / FIRST) * f32(CLUSTERS.z - 1u);
    let z = u32(clamp(slice, 0.0, f32(CLUSTERS.z - 1u)));
    let xy = min(vec2<u32>(max(uv, vec2<f32>(0.0)) * vec2<f32>(CLUSTERS.xy)), CLUSTERS.xy - 1u);
    return ((z * CLUSTERS.y + xy.y) * CLUSTERS.x + xy.x) * (LIGHTS_EACH + 1u);
}
