use super::*;
use crate::id::Id;
use crate::resource::History;

fn resolved(graph: &Graph) -> (IdVec<ResourceId, Shape>, Vec<ShapeProblem>) {
    let (mut out, mut problems) = (IdVec::new(), Vec::new());
    shapes(graph, &Profile::discrete(), &mut out, &mut ShapeScratch::default(), &mut problems);
    (out, problems)
}

fn clean(graph: &Graph) -> IdVec<ResourceId, Shape> {
    let (out, problems) = resolved(graph);
    assert_eq!(problems, []);
    out
}

fn rgba(size: Option<Size>) -> Image {
    Image { format: Some(Format::Rgba8unorm), size, ..Image::default() }
}

fn size_of(shape: &Shape) -> [u32; 3] {
    match shape.kind {
        PlanKind::Image { size, .. } => size,
        PlanKind::Buffer { .. } => panic!("a buffer"),
    }
}

#[test]
fn a_chain_of_relative_sizes_declared_backwards_is_resolved_without_recursion() {
    let mut graph = Graph::new("chain", [1 << 14, 3]);
    let count = 65_536;
    for i in 0..count {
        let of = (i + 1 < count).then(|| ResourceId::new(i + 1));
        let scale = if i % 8192 == 0 { 0.5 } else { 1.0 };
        let size = Size { y: Axis::Texels(1), ..Size::scaled(of, scale, 1.0) };
        graph.add_resource(&format!("r{i}"), Resource::image(rgba(Some(size))), None);
    }
    let out = clean(&graph);
    assert_eq!(size_of(&out[ResourceId::new(0)]), [1 << 6, 1, 1]);
    assert_eq!(size_of(&out[ResourceId::new(count - 1)]), [1 << 14, 1, 1]);
}

#[test]
fn products_are_rounded_down_or_up_axis_by_axis_and_never_below_one() {
    let mut graph = Graph::new("g", [101, 3]);
    let down = graph.add_resource("d", Resource::image(rgba(Some(Size::scaled(None, 0.5, 0.1)))), None);
    let up = Size { round: Round::Up, ..Size::scaled(Some(down), 0.51, 1.5) };
    let up = graph.add_resource("u", Resource::image(rgba(Some(up))), None);
    let out = clean(&graph);
    assert_eq!(size_of(&out[down]), [50, 1, 1]);
    assert_eq!(size_of(&out[up]), [26, 2, 1]);
}

#[test]
fn bytes_count_mips_layers_samples_and_whole_blocks_and_are_aligned() {
    let bytes = |image: Image| {
        let mut graph = Graph::new("g", [64, 64]);
        let id = graph.add_resource("i", Resource::image(image), None);
        let mut fine = Profile::discrete();
        fine.image_alignment = 1;
        let (mut out, mut problems) = (IdVec::new(), Vec::new());
        shapes(&graph, &fine, &mut out, &mut ShapeScratch::default(), &mut problems);
        assert_eq!(problems, []);
        out[id].bytes
    };
    assert_eq!(bytes(rgba(None)), 64 * 64 * 4);
    assert_eq!(bytes(Image { mips: Some(Mips::Full), ..rgba(None) }), 5461 * 4);
    assert_eq!(bytes(Image { layers: Some(3), samples: Some(4), ..rgba(None) }), 64 * 64 * 4 * 12);
    assert_eq!(bytes(Image { cube: true, ..rgba(None) }), 64 * 64 * 4 * 6);
    assert_eq!(bytes(rgba(Some(Size::volume(8, 4, 2)))), 8 * 4 * 2 * 4);
    let block = Image { format: Some(Format::Bc1RgbaUnorm), mips: Some(Mips::Full), ..Image::default() };
    let block = Image { size: Some(Size::absolute(10, 5)), ..block };
    assert_eq!(bytes(block), (3 * 2 + 2 + 1 + 1) * 8, "10x5, 5x2, 2x1 and 1x1 texels in blocks of 4x4");
    let mut graph = Graph::new("g", [64, 64]);
    graph.add_resource("i", Resource::image(rgba(None)), None);
    graph.add_resource("b", Resource::buffer(257), None);
    let found: Vec<_> = clean(&graph).iter().map(|shape| (shape.bytes, shape.align)).collect();
    assert_eq!(found, [(65536, 65536), (512, 256)]);
}

#[test]
fn histories_inherit_everything_and_modifying_images_what_they_do_not_say() {
    let mut graph = Graph::new("g", [64, 32]);
    let history = Life::History(History { of: ResourceId::new(2), frames: 1, zero_first: true });
    let past = Resource { life: history, ..Resource::image(Image::default()) };
    let past = graph.add_resource("past", past, None);
    let half = Image { size: Some(Size::scaled(None, 0.5, 0.5)), ..Image::default() };
    let half = Resource { modifies: Some(ResourceId::new(2)), ..Resource::image(half) };
    let half = graph.add_resource("half", half, None);
    let base = Image { mips: Some(Mips::Full), layers: Some(2), ..rgba(None) };
    let base = graph.add_resource("base", Resource::image(base), None);
    let out = clean(&graph);
    assert_eq!(out[past], out[base]);
    let format = Format::Rgba8unorm;
    let (volume, cube) = (false, false);
    let expected = PlanKind::Image { format, size: [32, 16, 1], mips: 6, layers: 2, samples: 1, volume, cube };
    assert_eq!(out[half].kind, expected);
}

#[test]
fn cycles_zeros_and_overflows_are_noted_and_leave_a_harmless_shape() {
    let mut graph = Graph::new("g", [0, 32]);
    let next = |i: usize| Some(Size::scaled(Some(ResourceId::new(i)), 1.0, 1.0));
    graph.add_resource("a", Resource::image(rgba(next(1))), None);
    graph.add_resource("b", Resource::image(rgba(next(0))), None);
    graph.add_resource("zero", Resource::image(rgba(Some(Size::absolute(0, 4)))), None);
    graph.add_resource("nan", Resource::image(rgba(Some(Size::scaled(None, f64::NAN, 1.0)))), None);
    graph.add_resource("huge", Resource::image(rgba(Some(Size::scaled(None, 1.0, 1e300)))), None);
    graph.add_resource("bytes", Resource::buffer(u64::MAX), None);
    graph.add_resource("bare", Resource::image(Image::default()), None);
    graph.add_resource("mips", Resource::image(Image { mips: Some(Mips::Count(9)), ..rgba(None) }), None);
    let (out, problems) = resolved(&graph);
    let found: Vec<_> = problems.into_iter().map(|p| (p.resource.index(), p.issue)).collect();
    use ShapeIssue::*;
    assert_eq!(found[0], (0, Cycle { path: vec![ResourceId::new(0), ResourceId::new(1)], len: 2 }));
    assert_eq!(found[1], (2, Zero(Measure::Width)));
    assert_eq!(found[2], (3, ZeroReference));
    assert!(matches!(found[3], (3, BadScale(Measure::Width, _))));
    assert_eq!(found[4], (4, Overflow(Measure::Height)));
    assert_eq!(found[5], (5, OverLimit { what: Measure::Bytes, declared: u64::MAX, most: 4 << 30 }));
    assert_eq!(found[6], (6, NoFormat));
    assert_eq!(found[7], (7, TooManyMips { declared: 9, most: 6 }));
    assert_eq!(found.len(), 8);
    assert!(out.iter().all(|shape| shape.bytes > 0 && shape.bytes <= MAX_BYTES));
}

#[test]
fn what_is_derived_from_a_placeholder_is_known_to_be_one() {
    let mut graph = Graph::new("g", [8, 8]);
    let of = |i: usize| Some(Size::scaled(Some(ResourceId::new(i)), 1.0, 1.0));
    graph.add_resource("derived", Resource::image(rgba(of(1))), None);
    graph.add_resource("zero", Resource::image(rgba(Some(Size::absolute(0, 4)))), None);
    graph.add_resource("sound", Resource::image(rgba(None)), None);
    graph.add_resource("also sound", Resource::image(rgba(of(2))), None);
    graph.add_resource("own", Resource::image(rgba(of(4))), None);
    let (mut out, mut problems, mut scratch) = (IdVec::new(), Vec::new(), ShapeScratch::default());
    shapes(&graph, &Profile::discrete(), &mut out, &mut scratch, &mut problems);
    let found: Vec<_> = graph.resources().ids().map(|id| scratch.is_placeholder(id)).collect();
    assert_eq!(found, [true, true, false, false, true]);
}

#[test]
fn a_cycle_is_as_long_as_itself_however_one_comes_to_it() {
    let mut graph = Graph::new("g", [4, 4]);
    for (name, next) in [("tail", 1), ("to b", 2), ("to c", 3), ("to b again", 2)] {
        let size = Size::scaled(Some(ResourceId::new(next)), 1.0, 1.0);
        graph.add_resource(name, Resource::image(rgba(Some(size))), None);
    }
    let (_, problems) = resolved(&graph);
    let path = vec![ResourceId::new(2), ResourceId::new(3)];
    assert_eq!(problems[0].issue, ShapeIssue::Cycle { path, len: 2 });
}

#[test]
fn many_cycles_through_one_image_cost_no_more_than_one() {
    let mut graph = Graph::new("g", [4, 4]);
    let count = 65_536;
    for i in 0..count {
        let next = ResourceId::new((i + 1) % count);
        let size = Size { y: Axis::Scaled(Some(ResourceId::new(0)), 1.0), ..Size::scaled(Some(next), 1.0, 1.0) };
        graph.add_resource(&format!("r{i}"), Resource::image(rgba(Some(size))), None);
    }
    let (_, problems) = resolved(&graph);
    assert_eq!(problems.len(), 1);
    assert!(
        matches!(&problems[0].issue, ShapeIssue::Cycle { path, len } if path.len() == SHOWN_CYCLE && *len == count)
    );
}

#[test]
fn the_bytes_of_a_whole_graph_never_overflow() {
    let mut graph = Graph::new("g", [16384, 16384]);
    for i in 0..80 {
        let image = Image { format: Some(Format::Rgba32float), layers: Some(2048), ..Image::default() };
        graph.add_resource(&format!("r{i}"), Resource::image(image), None);
    }
    let (out, problems) = resolved(&graph);
    assert!(problems.iter().all(|p| p.issue == ShapeIssue::TooManyBytes));
    assert_eq!(problems.len(), 80 - 32, "32 images of 8 TiB are 256 TiB");
    assert!(out.iter().map(|shape| shape.bytes).sum::<u64>() < 2 * MAX_BYTES);
}
