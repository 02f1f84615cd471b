//! A small frame that has something of everything: an upload, compute, a history, a persistent buffer, raster, copies,
//! a fill, and roots that are read back.

use std::sync::Arc;

use rgraph_plan::access::{self, Usage};
use rgraph_plan::format::Format;
use rgraph_plan::graph::Use;
use rgraph_plan::prelude::*;
use rgraph_plan::resource::{History, Life, Resource, ResourceId, Size};
use rgraph_shader::{Kind, Language, Program, Source};
use rgraph_vk::work::{
    Bound, Dispatch, Draw, DrawCount, Groups, Level, RasterState, Sampler, Step, Transfer, View, What, Work, Workload,
};

/// Width and height of the picture.
pub const SIDE: u32 = 32;

const DOWN: &str = "
@group(0) @binding(0) var photo: texture_2d<f32>;
@group(0) @binding(1) var half: texture_storage_2d<rgba16float, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    textureStore(half, id.xy, textureLoad(photo, id.xy * 2u, 0));
}";

const MIX: &str = "
@group(0) @binding(0) var half: texture_2d<f32>;
@group(0) @binding(1) var before: texture_2d<f32>;
@group(0) @binding(2) var now: texture_storage_2d<rgba16float, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    textureStore(now, id.xy, max(textureLoad(half, id.xy, 0), textureLoad(before, id.xy, 0)));
}";

const COUNT: &str = "
@group(0) @binding(0) var<storage, read_write> count: array<u32, 64>;
@group(0) @binding(1) var<storage, read_write> tally: array<u32, 64>;
@compute @workgroup_size(1)
fn main() {
    count[0] = count[0] + 1u;
    tally[0] = count[0];
}";

const COMPOSE: &str = "
struct Push { strength: f32 }
var<immediate> push: Push;
@group(0) @binding(0) var now: texture_2d<f32>;
@group(0) @binding(1) var smooth_sampler: sampler;
@vertex
fn vertex(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}
@fragment
fn fragment(@builtin(position) at: vec4f) -> @location(0) vec4f {
    return textureSampleLevel(now, smooth_sampler, at.xy / 32.0, 0.0) * push.strength;
}";

/// The frame, and the resources that its user names.
pub struct Example {
    /// The declaration and what passes do.
    pub workload: Workload,
    /// Imported, rgba8: what is uploaded.
    pub photo: ResourceId,
    /// Root buffer of packed rgba8 texels.
    pub pixels: ResourceId,
    /// Root image, the same texels.
    pub out: ResourceId,
    /// Root buffer: how often the frame has run, in its first word.
    pub tally: ResourceId,
}

/// The texels to upload: one colour, so that neither halving nor sampling changes it.
pub fn photo(color: [u8; 4]) -> Vec<u8> {
    color.repeat((SIDE * SIDE) as usize)
}

fn program(name: &str, kind: Kind, text: &str) -> Arc<Program> {
    Arc::new(
        Program::new(name, kind, &[Source::Text(Language::Wgsl, text)], None).expect("the example's shaders compile"),
    )
}

fn bound(program: &Program, what: &[(&str, What)]) -> Arc<[Bound]> {
    let find = |name: &str| program.interface.find(name).expect("a binding of that name").0 as u32;
    what.iter().map(|(name, what)| Bound { binding: find(name), element: 0, what: what.clone() }).collect()
}

fn dispatch(program: Arc<Program>, over: Groups, resources: &[(&str, ResourceId)]) -> Work {
    let what: Vec<_> = resources.iter().map(|&(name, id)| (name, What::Resource(View::whole(id)))).collect();
    let bound = bound(&program, &what);
    Work::Steps(vec![Step::Dispatch(Dispatch { program, bound, push: Default::default(), groups: over, key: 0 })])
}

/// The frame.
pub fn example() -> Example {
    let mut graph = Graph::new("example", [SIDE, SIDE]);
    let halved = Size::absolute(SIDE / 2, SIDE / 2);
    let photo = graph.import_image("photo", Format::Rgba8unorm, Size::absolute(SIDE, SIDE));
    let half = graph.sized_image("half", Format::Rgba16float, halved);
    let now = graph.sized_image("now", Format::Rgba16float, halved);
    let remembered = History { of: now, frames: 1, zero_first: true };
    let before = Resource { life: Life::History(remembered), ..Resource::image(Default::default()) };
    let before = graph.add_resource("before", before, None);
    let count = graph.buffer("count", 256);
    graph.resource_mut(count).life = Life::Persistent;
    let tally = graph.buffer("tally", 256);
    let out = graph.image("out", Format::Rgba8unorm);
    let copied = graph.image("copied", Format::Rgba8unorm);
    let pixels = graph.buffer("pixels", u64::from(SIDE * SIDE * 4) + 256);

    let down = graph.pass("down", PassQueue::Compute).sampled(photo).storage_write(half).id();
    let mix = graph.pass("mix", PassQueue::Compute).sampled(half).sampled(before).storage_write(now).id();
    let tell = graph.pass("count", PassQueue::AsyncCompute).storage_read_write(count).storage_write(tally).id();
    let compose = graph.pass("compose", PassQueue::Graphics).sampled(now).color(out).id();
    let copy = graph.pass("copy", PassQueue::Transfer).copy_from(out).copy_to(copied).id();
    let filled = Use { transfer: Some(access::Transfer::Fill), ..Use::new(Usage::TransferDst) };
    let fill = graph.pass("fill", PassQueue::Transfer).uses(pixels, &filled).id();
    let pack = graph.pass("pack", PassQueue::Transfer).copy_from(copied).copy_to(pixels).id();
    for root in [out, pixels, tally] {
        graph.root(root);
    }

    let mut workload = Workload::new(graph);
    let works = &mut workload.works;
    let shader = program("down", Kind::Compute, DOWN);
    works.insert(down, dispatch(shader, Groups::Cover(half, 0), &[("photo", photo), ("half", half)]));
    let shader = program("mix", Kind::Compute, MIX);
    works.insert(mix, dispatch(shader, Groups::Cover(now, 0), &[("half", half), ("before", before), ("now", now)]));
    let shader = program("count", Kind::Compute, COUNT);
    works.insert(tell, dispatch(shader, Groups::Fixed([1; 3]), &[("count", count), ("tally", tally)]));
    let shader = program("compose", Kind::Raster, COMPOSE);
    let what = [("now", What::Resource(View::whole(now))), ("smooth_sampler", What::Sampler(Sampler::default()))];
    let draw = Draw {
        bound: bound(&shader, &what),
        program: shader,
        state: Arc::new(RasterState::default()),
        push: 1.0_f32.to_le_bytes().into(),
        vertex_buffers: Vec::new(),
        index: None,
        count: DrawCount::Direct { vertices: 3, instances: 1, first_vertex: 0, first_instance: 0, vertex_offset: 0 },
        viewport: None,
        key: 0,
    };
    works.insert(compose, Work::Steps(vec![Step::Draw(draw)]));
    let steps = |transfer| Work::Steps(vec![Step::Transfer(transfer)]);
    works.insert(copy, steps(Transfer::CopyImage { from: Level::of(out, 0), to: Level::of(copied, 0) }));
    works.insert(fill, steps(Transfer::Fill { buffer: pixels, offset: 0, size: None, word: 0x0807_0605 }));
    works.insert(pack, steps(Transfer::ImageToBuffer { from: Level::of(copied, 0), to: pixels, offset: 0 }));
    Example { workload, photo, pixels, out, tally }
}
