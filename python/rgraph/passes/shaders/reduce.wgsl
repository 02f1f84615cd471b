// One value of many: a workgroup makes one of 4096, the last pass one of those.
$bindings
@group(0) @binding(1) var<storage, read_write> result: array<$type>;
var<workgroup> partial: array<$type, 256>;

fn combine(a: $type, b: $type) -> $type { return $combine; }

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
) {
    let block = group.y * groups.x + group.x;
    var value = $type($start);
    $gather
    partial[index] = value;
    workgroupBarrier();
    for (var half = 128u; half > 0u; half >>= 1u) {
        if (index < half) { partial[index] = combine(partial[index], partial[index + half]); }
        workgroupBarrier();
    }
    if (index == 0u && block < arrayLength(&result)) { result[block] = partial[0]$scale; }
}
