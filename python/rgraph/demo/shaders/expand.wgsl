// Makes the one index buffer that draws the whole scene: each instance's triangles, with the instance's number in the
// upper bits. Once, in the first frame.

struct Draw { begin: u32, source: u32, vertex: u32, instance: u32 }
@group(0) @binding(1) var<storage, read> draws: array<Draw>;
@group(0) @binding(2) var<storage, read> mesh_indices: array<u32>;
@group(0) @binding(3) var<storage, read_write> indices: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= arrayLength(&indices)) { return; }
    // The last draw that begins at or before this index.
    var low = 0u;
    var high = arrayLength(&draws);
    while (high - low > 1u) {
        let middle = (low + high) / 2u;
        if (draws[middle].begin <= id.x) { low = middle; } else { high = middle; }
    }
    let it = draws[low];
    indices[id.x] = (it.instance << VERTEX_BITS) + it.vertex + mesh_indices[it.source + id.x - it.begin];
}
