// One vertex of the whole scene: an index is instance and vertex in one, so one draw shows every mesh.

@group(0) @binding(1) var<storage, read> vertices: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> instances: array<Instance>;

struct Corner {
    world: vec3<f32>,
    before: vec3<f32>,  // where it was a frame ago
    normal: vec3<f32>,
    instance: u32,
}

fn turn(p: vec3<f32>, angle: f32) -> vec3<f32> {
    let c = cos(angle);
    let s = sin(angle);
    return vec3<f32>(c * p.x + s * p.z, p.y, c * p.z - s * p.x);
}

fn placed(it: Instance, p: vec3<f32>) -> vec3<f32> {
    let q = vec4<f32>(p, 1.0);
    return vec3<f32>(dot(it.row0, q), dot(it.row1, q), dot(it.row2, q));
}

fn corner(index: u32) -> Corner {
    let number = index >> VERTEX_BITS;
    let vertex = (index & ((1u << VERTEX_BITS) - 1u)) * 2u;
    let it = instances[number];
    let p = vertices[vertex].xyz;
    let angle = it.surface.w * frame.eye.w;
    let n = turn(vertices[vertex + 1u].xyz, angle);
    // The inverse transpose of rotation and scale: columns over the squares of their lengths.
    let x = vec3<f32>(it.row0.x, it.row1.x, it.row2.x);
    let y = vec3<f32>(it.row0.y, it.row1.y, it.row2.y);
    let z = vec3<f32>(it.row0.z, it.row1.z, it.row2.z);
    let normal = normalize(x * (n.x / dot(x, x)) + y * (n.y / dot(y, y)) + z * (n.z / dot(z, z)));
    let before = turn(p, angle - it.surface.w * frame.lens.w);
    return Corner(placed(it, turn(p, angle)), placed(it, before), normal, number);
}
