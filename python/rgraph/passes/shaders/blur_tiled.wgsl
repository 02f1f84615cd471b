// One direction of a separable Gaussian. A workgroup reads its texels and those around them once into its own memory;
// an invocation then makes four neighbouring texels, so that what it reads there is used four times.
const RADIUS: i32 = $radius;
const AXIS: i32 = $axis;              // 0: along rows, 1: along columns
const LINES: u32 = $lines;            // lines of a workgroup
const THREADS: u32 = 64u / LINES;     // invocations of a line
const TILE: u32 = THREADS * 4u;
const SPAN: u32 = TILE + 2u * u32(RADIUS);
const QUADS: u32 = $quads;            // weights, four by four; zero behind the last
const ROOM: u32 = $room;

struct Kernel { weights: array<vec4<f32>, QUADS> }
@group(0) @binding(0) var source: texture_2d<f32>;
@group(0) @binding(1) var<uniform> kernel: Kernel;
@group(0) @binding(2) var target_: texture_storage_2d<$format, write>;
var<workgroup> line: array<vec4<f32>, ROOM>;

fn fetch(along: i32, across: i32, size: vec2<i32>) -> vec4<f32> {
    let length = size[AXIS];
    var at = along;
    $edge
    let other = min(across, size[1 - AXIS] - 1);
    return textureLoad(source, select(vec2<i32>(other, at), vec2<i32>(at, other), AXIS == 0), 0);
}

// Every fifth place is left free, so that invocations side by side reach different banks.
fn place(lane: u32, at: u32) -> u32 { return lane * (ROOM / LINES) + at + (at >> 2u); }

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let size = vec2<i32>(textureDimensions(source));
    // Rows: neighbours along the line; columns: neighbours across lines, which lie side by side in memory.
    let lane = index % LINES;
    let thread = index / LINES;
    let start = i32(group.x * TILE);
    let across = i32(group.y * LINES + lane);
    for (var at = thread; at < TILE + 4u * QUADS; at += THREADS) {
        var texel = vec4<f32>(0.0);
        if (at < SPAN) { texel = fetch(start + i32(at) - RADIUS, across, size); }
        line[place(lane, at)] = texel;
    }
    workgroupBarrier();
    let first = thread * 4u;
    var a = line[place(lane, first)];
    var b = line[place(lane, first + 1u)];
    var c = line[place(lane, first + 2u)];
    var sum = array<vec4<f32>, 4>();
    for (var quad = 0u; quad < QUADS; quad++) {
        let w = kernel.weights[quad];
        let at = first + 3u + 4u * quad;
        let d = line[place(lane, at)];
        let e = line[place(lane, at + 1u)];
        let f = line[place(lane, at + 2u)];
        let h = line[place(lane, at + 3u)];
        sum[0] += w.x * a + w.y * b + w.z * c + w.w * d;
        sum[1] += w.x * b + w.y * c + w.z * d + w.w * e;
        sum[2] += w.x * c + w.y * d + w.z * e + w.w * f;
        sum[3] += w.x * d + w.y * e + w.z * f + w.w * h;
        a = e;
        b = f;
        c = h;
    }
    if (across >= size[1 - AXIS]) { return; }
    for (var at = 0; at < 4; at++) {
        let along = start + i32(first) + at;
        if (along < size[AXIS]) {
            textureStore(target_, select(vec2<i32>(across, along), vec2<i32>(along, across), AXIS == 0), sum[at]);
        }
    }
}
