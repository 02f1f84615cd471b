//! The edges of what outlives the frame: parts in equal states are one edge. What only the device reads is not shown to
//! the host.

use rgraph_plan::access::{Stages, Usage};
use rgraph_plan::graph::Ranges;
use rgraph_plan::plan::Edge;
use rgraph_plan::prelude::*;
use rgraph_plan::resource::{Image, Life};

fn baked(graph: &Graph) -> Plan {
    let options = Options { policy: Policy::Declared, ..Options::default() };
    bake(graph, &Profile::discrete(), &options, &mut Scratch::default()).expect("a good graph")
}

/// A pass per part writes it, on one queue; the edges of the resource.
fn edges(resource: Resource, parts: &[Ranges]) -> Vec<Edge> {
    let mut g = Graph::new("g", [64, 64]);
    let kept = g.add_resource("kept", Resource { life: Life::Persistent, ..resource }, None);
    for (at, &ranges) in parts.iter().enumerate() {
        let how = Use { ranges, ..Use::new(Usage::StorageWrite) };
        g.pass(&format!("pass{at}"), PassQueue::Compute).uses(kept, &how);
    }
    g.root(kept);
    baked(&g).edges
}

#[test]
fn neighbouring_bytes_in_equal_states_are_one_edge() {
    let bytes = |parts: &[[u64; 2]]| {
        let parts: Vec<_> = parts.iter().map(|&part| Ranges { bytes: Some(part), ..Ranges::default() }).collect();
        edges(Resource::buffer(256), &parts).iter().map(|edge| edge.range).collect::<Vec<_>>()
    };
    assert_eq!(bytes(&[[0, 64], [64, 128], [128, 256]]), [[0, 256]]);
    assert_eq!(bytes(&[[128, 256], [0, 128]]), [[0, 256]]);
    assert_eq!(bytes(&[[0, 64], [128, 256]]), [[0, 64], [128, 256]]);
}

#[test]
fn neighbouring_layers_of_a_mip_in_equal_states_are_one_edge() {
    let image = Image {
        format: Some(Format::Rgba8unorm),
        layers: Some(4),
        mips: Some(rgraph_plan::resource::Mips::Count(2)),
        ..Image::default()
    };
    let layers = |parts: &[([u32; 2], [u32; 2])]| {
        let of = |&(mips, layers): &([u32; 2], [u32; 2])| Ranges {
            mips: Some(mips),
            layers: Some(layers),
            ..Ranges::default()
        };
        let parts: Vec<_> = parts.iter().map(of).collect();
        let found = edges(Resource::image(image.clone()), &parts);
        found.iter().map(|edge| (edge.mips, edge.layers)).collect::<Vec<_>>()
    };
    assert_eq!(layers(&[([0, 1], [0, 1]), ([0, 1], [1, 4])]), [([0, 1], [0, 4])]);
    assert_eq!(layers(&[([0, 1], [0, 1]), ([0, 1], [2, 4])]), [([0, 1], [0, 1]), ([0, 1], [2, 4])]);
    // Mips stay apart, although the layers go on.
    assert_eq!(layers(&[([0, 1], [0, 2]), ([1, 2], [2, 4])]), [([0, 1], [0, 2]), ([1, 2], [2, 4])]);
}

#[test]
fn parts_in_other_states_are_edges_of_their_own() {
    let mut g = Graph::new("g", [64, 64]);
    let kept = g.add_resource("kept", Resource { life: Life::Persistent, ..Resource::buffer(256) }, None);
    let half = |usage, bytes| Use { ranges: Ranges { bytes: Some(bytes), ..Ranges::default() }, ..Use::new(usage) };
    g.pass("write", PassQueue::Compute).uses(kept, &half(Usage::StorageWrite, [0, 128]));
    g.pass("fill", PassQueue::Compute).uses(kept, &half(Usage::TransferDst, [128, 256]));
    g.root(kept);
    let found: Vec<_> = baked(&g).edges.iter().map(|edge| edge.range).collect();
    assert_eq!(found, [[0, 128], [128, 256]]);
}

#[test]
fn the_host_needs_no_barrier_for_bytes_that_the_device_only_reads() {
    let mut g = Graph::new("g", [64, 64]);
    let (table, out) = (g.buffer("table", 256), g.buffer("out", 256));
    g.pass("fill", PassQueue::Cpu).uses(table, &Use::new(Usage::HostWrite));
    g.pass("use", PassQueue::Compute).uses(table, &Use::new(Usage::StorageRead)).storage_write(out);
    let again = g.pass("again", PassQueue::Cpu).uses(table, &Use::new(Usage::HostWrite)).id();
    g.pass_mut(again).side_effects = true;
    g.root(out);
    let plan = baked(&g);
    let to_host = plan.memory_barriers.iter().filter(|one| one.scope.dst_stages.contains(Stages::HOST));
    let of_buffer = plan.buffer_barriers.iter().filter(|one| one.scope.dst_stages.contains(Stages::HOST));
    assert_eq!((to_host.count(), of_buffer.count()), (0, 0));
}
