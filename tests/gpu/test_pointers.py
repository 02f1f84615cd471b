"""WGSL functions that take pointers into buffers and workgroup memory, and storage textures."""

import numpy as np
import pytest

import rgraph as rg

SORT = """
struct Row { sum: atomic<u32>, values: array<u32, 4> }
@group(0) @binding(0) var<storage, read_write> rows: array<Row>;
@group(0) @binding(1) var<storage, read_write> totals: array<u32>;
@group(0) @binding(2) var<uniform> add: vec4<u32>;
var<workgroup> scratch: array<array<u32, 4>, 4>;

fn swap(values: ptr<storage, array<u32, 4>, read_write>, a: u32, b: u32) {
    let first = (*values)[a];
    (*values)[a] = (*values)[b];
    (*values)[b] = first;
}
fn sort(row: ptr<storage, Row, read_write>, by: ptr<uniform, vec4<u32>>) -> u32 {
    var swaps = 0u;
    for (var end = 3u; end > 0u; end--) {
        for (var at = 0u; at < end; at++) {
            if (*row).values[at] > (*row).values[at + 1u] {
                swap(&(*row).values, at, at + 1u);
                swaps++;
            }
        }
    }
    for (var at = 0u; at < 4u; at++) { atomicAdd(&(*row).sum, (*row).values[at] + (*by)[at]); }
    if swaps == 0u { return 100u; }
    return swaps;
}
fn spread(row: ptr<workgroup, array<u32, 4>>, value: u32) {
    for (var at = 0u; at < 4u; at++) { (*row)[at] = value * 10u + at; }
}
fn total(row: ptr<storage, array<u32>, read_write>, at: u32, value: u32) {
    if at < arrayLength(row) { (*row)[at] = value; }
}
@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) id: u32) {
    spread(&scratch[id], sort(&rows[id], &add));
    workgroupBarrier();
    let neighbour = &scratch[(id + 1u) % 4u];
    total(&totals, id, (*neighbour)[id]);
    total(&totals, 1000u, 7u);
}
"""


def test_functions_work_on_the_buffers_and_the_workgroup_memory_that_they_are_given(device: rg.Device):
    values = np.array([[0, 4, 3, 2, 1], [0, 1, 2, 3, 4], [0, 9, 1, 9, 1], [0, 5, 5, 5, 4]], np.uint32)
    g = rg.Graph("sort")
    rows = g.import_array("rows", values, as_buffer=True)
    totals = g.buffer("totals", shape=(4,), dtype="uint32")
    g.compute("sort", SORT, rows=rows, totals=totals, add=[1, 2, 3, 4], groups=(1, 1, 1))
    g.root(rows, totals)
    frame = device.run(g)
    expected = np.sort(values[:, 1:], axis=1)
    found = np.asarray(frame["rows"]).reshape(4, 5)
    np.testing.assert_array_equal(found[:, 1:], expected)
    np.testing.assert_array_equal(found[:, 0], expected.sum(axis=1) + 10)
    swaps = [6, 100, 3, 3]
    np.testing.assert_array_equal(np.asarray(frame["totals"]), [swaps[(at + 1) % 4] * 10 + at for at in range(4)])


PAINT = """
@group(0) @binding(0) var left: texture_storage_2d<rgba8unorm, write>;
@group(0) @binding(1) var right: texture_storage_2d<rgba8unorm, write>;
fn paint(onto: texture_storage_2d<rgba8unorm, write>, at: vec2<u32>, color: vec4<f32>) {
    textureStore(onto, at, color);
}
@compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    paint(left, id.xy, vec4(1.0, 0.0, 0.0, 1.0));
    paint(right, id.xy, vec4(0.0, 1.0, 0.0, 1.0));
}
"""


def test_functions_write_the_storage_textures_that_they_are_given(device: rg.Device):
    g = rg.Graph("paint", size=(8, 8))
    left, right = (g.image(name, format="rgba8unorm") for name in ("left", "right"))
    g.compute("paint", PAINT, left=left, right=right, groups=(1, 1, 1))
    g.root(left, right)
    frame = device.run(g)
    assert np.asarray(frame["left"])[3, 3].tolist() == [255, 0, 0, 255]
    assert np.asarray(frame["right"])[3, 3].tolist() == [0, 255, 0, 255]


READ_WRITE = """
@group(0) @binding(0) var here: texture_storage_2d<r32float, read_write>;
@group(0) @binding(1) var there: texture_storage_2d<r32float, read_write>;
fn read(one: texture_storage_2d<r32float, read_write>) -> vec4<f32> { return textureLoad(one, vec2(0u)); }
fn write(one: texture_storage_2d<r32float, read_write>, value: vec4<f32>) { textureStore(one, vec2(0u), value); }
@compute @workgroup_size(1) fn main() { write(there, read(here)); }
"""


@pytest.mark.parametrize(("name", "reads", "writes"), [("here", True, False), ("there", False, True)])
def test_what_a_function_does_to_a_texture_is_known(name: str, reads: bool, writes: bool):
    (binding,) = (one for one in rg.reflect(READ_WRITE).bindings if one.name == name)
    assert (binding.reads, binding.writes) == (reads, writes)
