//! Barriers of one call: neighbours about one image or one buffer are one, and dependencies that would widen each other
//! stay two.

use rgraph_plan::access::{Accesses, Layout, Sharing, Stages, Usage};
use rgraph_plan::graph::Ranges;
use rgraph_plan::id::Id;
use rgraph_plan::plan::Hazard;
use rgraph_plan::prelude::*;
use rgraph_plan::resource::{Image, Imported, Leave, Life, Mips, Resource, ResourceId};

fn baked(graph: &Graph, profile: &Profile) -> Plan {
    let options = Options { policy: Policy::Declared, split: Split::Never, ..Options::default() };
    bake(graph, profile, &options, &mut Scratch::default()).expect("a good graph")
}

/// The image barriers that change from a layout that holds something, as mips and layers.
fn changes(plan: &Plan, of: ResourceId) -> Vec<[[u32; 2]; 2]> {
    let image = plan.image_barriers.iter().filter(|one| one.resource == of && one.old_layout != Layout::Undefined);
    image.map(|one| [one.mips, one.layers]).collect()
}

#[test]
fn neighbouring_subresources_that_change_alike_are_one_barrier() {
    for (mips, layers) in [(2, 1), (1, 2), (4, 1), (1, 4)] {
        let mut g = Graph::new("g", [64, 64]);
        let shape = Image {
            format: Some(Format::Rgba8unorm),
            mips: Some(Mips::Count(mips)),
            layers: Some(layers),
            ..Image::default()
        };
        let image = g.add_resource("image", Resource::image(shape), None);
        let out = g.buffer("out", 64);
        for (mip, layer) in (0..mips).flat_map(|mip| (0..layers).map(move |layer| (mip, layer))) {
            let ranges = Ranges { mips: Some([mip, mip + 1]), layers: Some([layer, layer + 1]), ..Ranges::default() };
            let how = Use { ranges, ..Use::new(Usage::StorageWrite) };
            g.pass(&format!("make {mip} {layer}"), PassQueue::Compute).uses(image, &how);
        }
        g.pass("look", PassQueue::Compute).sampled(image).storage_write(out);
        g.root(out);
        let plan = baked(&g, &Profile::single_queue());
        assert_eq!(changes(&plan, image), [[[0, mips], [0, layers]]], "{mips} mips, {layers} layers");
    }
}

#[test]
fn subresources_that_make_no_rectangle_stay_apart() {
    let mut g = Graph::new("g", [64, 64]);
    let shape = Image { format: Some(Format::Rgba8unorm), mips: Some(Mips::Count(3)), ..Image::default() };
    let image = g.add_resource("image", Resource::image(shape), None);
    let out = g.buffer("out", 64);
    for mip in [0, 2] {
        let ranges = Ranges { mips: Some([mip, mip + 1]), ..Ranges::default() };
        g.pass(&format!("make {mip}"), PassQueue::Compute)
            .uses(image, &Use { ranges, ..Use::new(Usage::StorageWrite) });
    }
    let look = g.pass("look", PassQueue::Compute).storage_write(out);
    [0, 2].into_iter().fold(look, |look, mip| {
        let ranges = Ranges { mips: Some([mip, mip + 1]), ..Ranges::default() };
        look.uses(image, &Use { ranges, ..Use::new(Usage::Sampled) })
    });
    g.root(out);
    let plan = baked(&g, &Profile::single_queue());
    assert_eq!(changes(&plan, image), [[[0, 1], [0, 1]], [[2, 3], [0, 1]]]);
}

#[test]
fn neighbouring_bytes_that_are_left_to_another_owner_alike_are_one_barrier() {
    let mut g = Graph::new("g", [64, 64]);
    let (given, other) = (g.buffer("given", 256), g.buffer("other", 256));
    for buffer in [given, other] {
        let resource = g.resource_mut(buffer);
        resource.life = Life::Imported(Imported::default());
        resource.leave = Some(Leave { layout: None, queue: Some(PassQueue::AsyncCompute) });
        for part in [[0, 64], [64, 128], [192, 256]] {
            let how =
                Use { ranges: Ranges { bytes: Some(part), ..Ranges::default() }, ..Use::new(Usage::StorageWrite) };
            g.pass(&format!("make {} of {}", part[0], buffer.index()), PassQueue::Compute).uses(buffer, &how);
        }
    }
    let plan = baked(&g, &Profile::discrete());
    let ranges = |of: ResourceId| -> Vec<[u64; 2]> {
        plan.buffer_barriers.iter().filter(|one| one.resource == of).map(|one| one.range).collect()
    };
    assert_eq!([ranges(given), ranges(other)], [[[0, 128], [192, 256]]; 2], "releases of what was written");
}

#[test]
fn what_was_written_and_what_was_read_by_equal_stages_is_not_made_one() {
    let mut g = Graph::new("g", [64, 64]);
    let [a, b, out] = ["a", "b", "out"].map(|name| g.buffer(name, 64));
    g.resource_mut(b).life = Life::Imported(Imported::default());
    let color = g.image("color", Format::Rgba8unorm);
    g.pass("make", PassQueue::Compute).storage_write(a).storage_read(b).storage_write(out);
    g.pass("draw", PassQueue::Graphics).indirect(a).color_cleared(color, [0.0; 4]);
    g.pass("next", PassQueue::Compute).storage_write(b);
    g.root(color);
    g.root(out);
    let plan = baked(&g, &Profile::single_queue());
    let indirect =
        plan.memory_barriers.iter().filter(|one| one.scope.dst_access.contains(Accesses::INDIRECT_COMMAND_READ));
    let scopes: Vec<_> = indirect.map(|one| (one.scope.src_access, one.scope.dst_stages)).collect();
    assert_eq!(scopes, [(Accesses::SHADER_STORAGE_WRITE, Stages::DRAW_INDIRECT)]);
}

/// Ranges of the releases and of the acquires of a resource: first and last mip and layer, or bytes.
fn transfers(plan: &Plan, of: ResourceId) -> [Vec<[u64; 2]>; 2] {
    let buffers = plan.buffer_barriers.iter().filter(|one| one.resource == of && one.families.is_some());
    let buffers = buffers.map(|one| (one.why.hazard, one.range));
    let images = plan.image_barriers.iter().filter(|one| one.resource == of && one.families.is_some());
    let images = images.map(|one| (one.why.hazard, one.mips.map(u64::from)));
    let all: Vec<_> = buffers.chain(images).collect();
    [Hazard::Release, Hazard::Acquire]
        .map(|half| all.iter().filter(|(hazard, _)| *hazard == half).map(|(_, range)| *range).collect())
}

#[test]
fn neighbours_that_go_to_another_queue_family_alike_are_one_release_and_one_acquire() {
    let mut g = Graph::new("g", [64, 64]);
    let shape = Image { format: Some(Format::Rgba8unorm), mips: Some(Mips::Count(4)), ..Image::default() };
    let (image, bytes) = (g.add_resource("image", Resource::image(shape), None), g.buffer("bytes", 256));
    let out = g.buffer("out", 64);
    for at in 0..4u32 {
        let mip = Ranges { mips: Some([at, at + 1]), ..Ranges::default() };
        let part = Ranges { bytes: Some([u64::from(at) * 64, u64::from(at + 1) * 64]), ..Ranges::default() };
        g.pass(&format!("make {at}"), PassQueue::Compute)
            .uses(image, &Use { ranges: mip, ..Use::new(Usage::StorageWrite) })
            .uses(bytes, &Use { ranges: part, ..Use::new(Usage::StorageWrite) });
    }
    for resource in [image, bytes] {
        g.resource_mut(resource).sharing = Some(Sharing::Exclusive);
    }
    g.pass("look", PassQueue::AsyncCompute).sampled(image).storage_read(bytes).storage_write(out);
    g.root(out);
    let plan = baked(&g, &Profile::discrete());
    assert_eq!(transfers(&plan, image), [[[0, 4]], [[0, 4]]]);
    assert_eq!(transfers(&plan, bytes), [[[0, 256]], [[0, 256]]]);
}
