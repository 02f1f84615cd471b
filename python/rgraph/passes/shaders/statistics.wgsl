// Least, most, mean and squared deviations of texels, merged pair by pair.
struct Part { least: vec4<f32>, most: vec4<f32>, mean: vec4<f32>, squares: vec4<f32>, count: f32 }
// The same in a buffer: a type with a layout is none for the memory of a workgroup.
struct Stored { least: vec4<f32>, most: vec4<f32>, mean: vec4<f32>, squares: vec4<f32>, count: f32 }
$bindings
@group(0) @binding(1) var<storage, read_write> result: array<$result>;
var<workgroup> parts: array<Part, 128>;

fn merged(a: Part, b: Part) -> Part {
    let count = a.count + b.count;
    let share = b.count / max(count, 1.0);
    let off = b.mean - a.mean;
    return Part(
        min(a.least, b.least),
        max(a.most, b.most),
        a.mean + share * off,
        a.squares + b.squares + a.count * share * off * off,
        count,
    );
}

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    // Infinities have no literal: minimum and maximum begin with a texel instead, which counts nothing.
    var part = Part($least, $most, vec4<f32>(0.0), vec4<f32>(0.0), 0.0);
    $gather
    parts[index] = part;
    workgroupBarrier();
    for (var half = 64u; half > 0u; half >>= 1u) {
        if (index < half) { parts[index] = merged(parts[index], parts[index + half]); }
        workgroupBarrier();
    }
    if (index != 0u) { return; }
    let all = parts[0];
    $store
}
