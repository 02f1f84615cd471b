// Which lights reach which part of the view: Olsson, Billeter, Assarsson, "Clustered Deferred and Forward Shading",
// HPG 2012. One invocation a cluster; a cluster is a tile of the picture between two distances that grow evenly by
// factors. Each has a count and up to LIGHTS_EACH numbers of lights.

@group(0) @binding(1) var<storage, read> lights: array<Light>;
@group(0) @binding(2) var<storage, read_write> clusters: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let number = id.x;
    if (number >= CLUSTERS.x * CLUSTERS.y * CLUSTERS.z) { return; }
    let cell = vec3<u32>(number % CLUSTERS.x, number / CLUSTERS.x % CLUSTERS.y, number / (CLUSTERS.x * CLUSTERS.y));
    let near = cluster_start(cell.z);
    let far = cluster_start(cell.z + 1u);
    let low = (vec2<f32>(cell.xy) / vec2<f32>(CLUSTERS.xy) * 2.0 - 1.0) * frame.lens.yz;
    let high = (vec2<f32>(cell.xy + 1u) / vec2<f32>(CLUSTERS.xy) * 2.0 - 1.0) * frame.lens.yz;
    // The box about the cluster; x to the right, y down, z ahead.
    let least = vec3<f32>(min(low * near, low * far), near);
    let most = vec3<f32>(max(high * near, high * far), far);
    let base = number * (LIGHTS_EACH + 1u);
    var count = 0u;
    for (var i = 0u; i < arrayLength(&lights) && count < LIGHTS_EACH; i++) {
        let seen = (frame.view * vec4<f32>(lights[i].place.xyz, 1.0)).xyz * vec3<f32>(1.0, -1.0, -1.0);
        let away = seen - clamp(seen, least, most);
        if (dot(away, away) < lights[i].place.w * lights[i].place.w) {
            count += 1u;
            clusters[base + count] = i;
        }
    }
    clusters[base] = count;
}
