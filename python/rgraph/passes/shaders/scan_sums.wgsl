// The sum of each block of 2048 numbers.
@group(0) @binding(0) var<storage, read> source: array<$type>;
@group(0) @binding(1) var<storage, read_write> sums: array<$type>;
var<workgroup> partial: array<$type, 256>;
var<workgroup> groups: array<$type, 16>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) many: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
) {
    let block = group.y * many.x + group.x;
    var sum = $type(0);
    for (var at = 0u; at < 8u; at++) {
        let place = block * 2048u + at * 256u + index;
        if (place < ${count}u) { sum += source[place]; }
    }
    partial[index] = sum;
    workgroupBarrier();
    if (index < 16u) {
        var whole = $type(0);
        for (var at = 0u; at < 16u; at++) { whole += partial[at * 16u + index]; }
        groups[index] = whole;
    }
    workgroupBarrier();
    if (index == 0u && block < arrayLength(&sums)) {
        var whole = $type(0);
        for (var at = 0u; at < 16u; at++) { whole += groups[at]; }
        sums[block] = whole;
    }
}
