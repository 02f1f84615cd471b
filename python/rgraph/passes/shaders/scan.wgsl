// Running sums of blocks of 2048 numbers, each begun with the sum of all blocks before it.
@group(0) @binding(0) var<storage, read> source: array<$type>;
@group(0) @binding(1) var<storage, read_write> target_: array<$type>;
$before
// Every ninth place is left free, so that invocations side by side reach different banks.
var<workgroup> numbers: array<$type, 2304>;
var<workgroup> totals: array<$type, 256>;
var<workgroup> groups: array<$type, 16>;

fn place(at: u32) -> u32 { return at + (at >> 3u); }

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) many: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
) {
    let block = group.y * many.x + group.x;
    for (var at = index; at < 2048u; at += 256u) {
        let here = block * 2048u + at;
        var number = $type(0);
        if (here < ${count}u) { number = source[here]; }
        numbers[place(at)] = number;
    }
    workgroupBarrier();
    var sum = $type(0);
    for (var at = 0u; at < 8u; at++) { sum += numbers[place(index * 8u + at)]; }
    totals[index] = sum;
    workgroupBarrier();
    // Sixteen sums of sixteen, so that two barriers do where a tree would take sixteen.
    if (index < 16u) {
        var whole = $type(0);
        for (var at = 0u; at < 16u; at++) { whole += totals[index * 16u + at]; }
        groups[index] = whole;
    }
    workgroupBarrier();
    var running = $carry;
    for (var at = 0u; at < index / 16u; at++) { running += groups[at]; }
    for (var at = index / 16u * 16u; at < index; at++) { running += totals[at]; }
    for (var at = 0u; at < 8u; at++) {
        let number = numbers[place(index * 8u + at)];
        numbers[place(index * 8u + at)] = running$own;
        running += number;
    }
    workgroupBarrier();
    for (var at = index; at < 2048u; at += 256u) {
        let here = block * 2048u + at;
        if (here < ${count}u) { target_[here] = numbers[place(at)]; }
    }
}
