// For debugging the frame: number of lights of each cluster over the normals. Nobody reads it, so it is
// not drawn unless it is asked for (`--show debug_view`).

@group(0) @binding(1) var depth: texture_depth_2d;
@group(0) @binding(2) var normal: texture_2d<f32>;
@group(0) @binding(3) var<storage, read> clusters: array<u32>;

@fragment
fn fs(@builtin(position) position: vec4<f32>, @location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
    let texel = vec2<i32>(position.xy);
    let d = textureLoad(depth, texel, 0);
    if (d <= 0.0) { return vec4<f32>(0.02, 0.02, 0.03, 1.0); }
    let shade = 0.25 + 0.75 * max(dot(textureLoad(normal, texel, 0).xyz, normalize(vec3<f32>(0.3, 0.8, 0.5))), 0.0);
    let count = f32(clusters[cluster_of(uv, distance_of(d))]);
    let heat = clamp(count / 12.0, 0.0, 1.0);
    let colour = clamp(vec3<f32>(1.5 * heat, 1.6 * heat * (1.2 - heat), 0.35 + 0.4 * (1.0 - heat) - 0.5 * heat), vec3<f32>(0.0), vec3<f32>(1.0));
    return vec4<f32>(mix(vec3<f32>(0.05), colour, 0.25 + 0.75 * step(0.5, count)) * shade, 1.0);
}
