//! Raster passes and transfers: targets, depth, samples, merged passes, mips, copies.

use std::sync::Arc;

use rgraph_plan::access::{Load, PassQueue, Transfer as Kind, Usage};
use rgraph_plan::bake::Options;
use rgraph_plan::format::Format;
use rgraph_plan::graph::{Clear, Use};
use rgraph_plan::resource::{Image, Mips, Resource as Declared, ResourceId, Size};
use rgraph_shader::{Kind as ProgramKind, Program, Source};
use rgraph_vk::vertex::VertexFormat;
use rgraph_vk::work::{
    Blend, ClearValue, Compare, Draw, DrawCount, IndexBuffer, Level, RasterState, Sampler, Step, Transfer,
    VertexBuffer, View, What, Work,
};
use rgraph_vk::{Inputs, Measure, Upload};

use crate::support::bench::{Bench, bytes, device, draw, program, using, whole, words};

fn cleared(color: [f64; 4]) -> Use {
    let mut how = Use { load: Some(Load::Clear), ..using(Usage::ColorAttachment) };
    how.details.clear = Some(Clear::Color(color));
    how
}

fn transfer(usage: Usage, kind: Kind) -> Use {
    Use { transfer: Some(kind), ..using(usage) }
}

fn run(b: &Bench, device: &rgraph_vk::Device, root: ResourceId) -> Vec<u8> {
    let compiled = b.compile(device);
    // Twice in a row: the second run acquires resources in the state in which the first one left them.
    compiled.run(&Inputs::default()).unwrap();
    let frame = compiled.run(&Inputs::default()).unwrap();
    frame.read(root).unwrap().bytes().to_vec()
}

const TWO: &str = "
struct Out { @location(0) a: vec4<f32>, @location(1) b: vec4<f32> }
@fragment fn main(@builtin(position) at: vec4<f32>) -> Out {
    return Out(vec4<f32>(floor(at.xy) / 255.0, 0.0, 1.0), vec4<f32>(1.0, 0.0, 0.0, 0.2));
}";

#[test]
fn a_draw_writes_all_its_targets_from_the_top_left() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([16, 8]);
    let [one, two] = ["one", "two"].map(|name| b.graph().image(name, Format::Rgba8unorm));
    b.graph().root(one);
    b.graph().root(two);
    b.raster("draw", TWO, &[(one, cleared([0.0; 4])), (two, cleared([0.0; 4]))], &[]);
    let frame =
        b.compile(&device.0).run(&Inputs { measure: Measure::Passes, statistics: true, ..Inputs::default() }).unwrap();
    let one = frame.read(one).unwrap();
    for (at, texel) in one.bytes().chunks(4).enumerate() {
        assert_eq!(texel, [(at % 16) as u8, (at / 16) as u8, 0, 255], "texel {at}");
    }
    assert_eq!(frame.read(two).unwrap().bytes()[..4], [255, 0, 0, 51]);
    let report = frame.report().unwrap();
    assert_eq!(report.passes.len(), 1);
    // Where the device counts; software ones count whole quads.
    if let Some([_, _, fragments, _]) = report.passes[0].statistics {
        assert!(fragments >= 16 * 8, "one fragment a texel: {report}");
    }
}

const QUADS: &str = "
struct Out { @builtin(position) at: vec4<f32>, @location(0) color: vec4<f32> }
@vertex fn vs(@location(0) at: vec3<f32>, @location(1) color: vec4<f32>, @location(2) shift: vec2<f32>) -> Out {
    return Out(vec4<f32>(at + vec3<f32>(shift, 0.0), 1.0), color);
}
@fragment fn fs(@location(0) color: vec4<f32>) -> @location(0) vec4<f32> { return color; }";

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn vertices_indices_instances_depth_and_blending() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([8, 8]);
    let out = b.graph().image("out", Format::Rgba8unorm);
    let depth = b.graph().image("depth", Format::Depth32float);
    b.graph().root(out);
    b.graph().root(depth);
    let vertices = b.import_buffer("vertices", 4 * 28);
    let shifts = b.import_buffer("shifts", 2 * 8);
    let indices = b.import_buffer("indices", 12);
    let text = program(ProgramKind::Raster, QUADS);
    let mut near = using(Usage::DepthStencilAttachment);
    near.load = Some(Load::Clear);
    near.details.clear = Some(Clear::Depth(1.0, None));
    let pass = b.pass(
        "draw",
        PassQueue::Graphics,
        &[
            (out, cleared([0.0, 0.0, 1.0, 1.0])),
            (depth, near),
            (vertices, using(Usage::Vertex)),
            (shifts, using(Usage::Vertex)),
            (indices, using(Usage::Index)),
        ],
    );
    let buffer =
        |buffer, stride, per_instance, attributes| VertexBuffer { buffer, offset: 0, stride, per_instance, attributes };
    let quad = |state: RasterState, first_instance: u32, key: u64| Draw {
        vertex_buffers: vec![
            buffer(vertices, 28, false, vec![(0, VertexFormat::Float32x3, 0), (1, VertexFormat::Float32x4, 12)]),
            buffer(shifts, 8, true, vec![(2, VertexFormat::Float32x2, 0)]),
        ],
        index: Some(IndexBuffer { buffer: indices, offset: 0, wide: false }),
        count: DrawCount::Direct { vertices: 6, instances: 1, first_vertex: 0, first_instance, vertex_offset: 0 },
        key,
        ..draw(&text, state, &[])
    };
    // Declared in the wrong order; keys bring them into the right one.
    let blend =
        RasterState { blend: vec![Some(Blend::ADD)], depth_compare: Some(Compare::Less), ..RasterState::default() };
    b.steps(pass, vec![Step::Draw(quad(blend, 1, 2)), Step::Draw(quad(RasterState::default(), 0, 1))]);
    let corner = |x: f32, y: f32| [x, y, 0.5, 0.2, 0.4, 0.0, 1.0];
    let data: Vec<_> = [corner(-1.0, -1.0), corner(0.0, -1.0), corner(-1.0, 0.0), corner(0.0, 0.0)].concat();
    let (data, shift) = (floats(&data), floats(&[0.0, 0.0, 1.0, 0.0]));
    let index: Vec<u8> = [0u16, 1, 2, 2, 1, 3].iter().flat_map(|at| at.to_le_bytes()).collect();
    let uploads =
        vec![(vertices, Upload::Bytes(&data)), (shifts, Upload::Bytes(&shift)), (indices, Upload::Bytes(&index))];
    let frame = b.compile(&device.0).run(&Inputs { uploads, ..Inputs::default() }).unwrap();
    let color = frame.read(out).unwrap();
    let texel = |x: usize, y: usize| color.bytes()[(y * 8 + x) * 4..][..4].to_vec();
    assert_eq!(texel(1, 1), [51, 102, 0, 255], "the left quad replaces");
    assert_eq!(texel(6, 1), [51, 102, 255, 255], "the right one adds to the blue");
    assert_eq!(texel(1, 6), [0, 0, 255, 255], "below is cleared");
    let depths = frame.read(depth).unwrap();
    assert_eq!(words(depths.bytes())[0], 0.5f32.to_bits());
    assert_eq!(words(depths.bytes())[63], 1.0f32.to_bits());
}

#[test]
fn draws_that_go_on_with_the_next_instances_are_one() {
    let Some(device) = device(2) else { return };
    let text = "
        struct Out { @builtin(position) at: vec4<f32>, @location(0) @interpolate(flat) which: u32 }
        @vertex fn vs(@builtin(vertex_index) at: u32, @builtin(instance_index) which: u32) -> Out {
            // One column of texels each.
            let x = f32(which + (at & 1u)) / 4.0 - 1.0;
            return Out(vec4<f32>(x, f32(at >> 1u) * 2.0 - 1.0, 0.0, 1.0), which);
        }
        @fragment fn fs(@location(0) @interpolate(flat) which: u32) -> @location(0) vec4<f32> {
            return vec4<f32>(f32(which + 1u) / 255.0);
        }";
    let text = program(ProgramKind::Raster, text);
    let mut b = Bench::new([8, 8]);
    let out = b.graph().image("out", Format::Rgba8unorm);
    b.graph().root(out);
    let pass = b.pass("draw", PassQueue::Graphics, &[(out, cleared([0.0; 4]))]);
    let state = RasterState { topology: rgraph_vk::work::Topology::TriangleStrip, ..RasterState::default() };
    let quads = |first_instance: u32, instances: u32| {
        let count = DrawCount::Direct { vertices: 4, instances, first_vertex: 0, first_instance, vertex_offset: 0 };
        Step::Draw(Draw { count, ..draw(&text, state.clone(), &[]) })
    };
    b.steps(pass, vec![quads(0, 1), quads(1, 2), quads(3, 2), quads(6, 1)]);
    let texels = run(&b, &device.0, out);
    let row: Vec<_> = texels[..32].chunks(4).map(|texel| texel[0]).collect();
    assert_eq!(row, [1, 2, 3, 4, 5, 0, 7, 0]);
}

#[test]
fn samples_are_resolved() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([8, 8]);
    let many = Image { format: Some(Format::Rgba8unorm), samples: Some(4), ..Image::default() };
    let many = b.graph().add_resource("many", Declared::image(many), None);
    let one = b.graph().image("one", Format::Rgba8unorm);
    b.graph().root(one);
    let mut resolve = using(Usage::ResolveAttachment);
    resolve.details.resolves = Some(many);
    b.raster(
        "draw",
        "
        @vertex fn vs(@builtin(vertex_index) at: u32) -> @builtin(position) vec4<f32> {
            // The lower left half: its edge runs through texels.
            return vec4<f32>(select(-1.0, 1.0, at == 1u), select(-1.0, 1.0, at != 2u), 0.0, 1.0);
        }
        @fragment fn fs() -> @location(0) vec4<f32> { return vec4<f32>(1.0); }",
        &[(many, cleared([0.0; 4])), (one, resolve)],
        &[],
    );
    let texels = run(&b, &device.0, one);
    let row = |y: usize| texels[y * 32..][..32].chunks(4).map(|texel| texel[0]).collect::<Vec<_>>();
    assert!(row(7)[..6].iter().all(|red| *red == 255), "{:?}", row(7));
    assert!(row(0)[4..].iter().all(|red| *red == 0), "{:?}", row(0));
    assert!(texels.chunks(4).any(|texel| (1..255).contains(&texel[0])), "edges are smooth");
}

#[test]
fn a_root_that_is_not_read_back_leaves_the_others_states_alone() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([8, 8]);
    let many = Image { format: Some(Format::Rgba8unorm), samples: Some(4), ..Image::default() };
    let many = b.graph().add_resource("many", Declared::image(many), None);
    let sum = b.graph().image("sum", Format::Rgba8unorm);
    b.graph().resource_mut(sum).life = rgraph_plan::resource::Life::Persistent;
    b.graph().root(many);
    b.graph().root(sum);
    b.raster("draw", FIFTH, &[(many, cleared([0.0; 4]))], &[]);
    let text = program(ProgramKind::Raster, FIFTH);
    let pass = b.pass("add", PassQueue::Graphics, &[(sum, using(Usage::ColorAttachment))]);
    let state = RasterState { blend: vec![Some(Blend::ADD)], ..RasterState::default() };
    b.steps(pass, vec![Step::Draw(draw(&text, state, &[]))]);
    let compiled = b.compile(&device.0);
    for run in 1..=4 {
        let frame = compiled.run(&Inputs::default()).unwrap();
        assert_eq!(frame.read(sum).unwrap().bytes()[0], run * 51, "run {run}");
        assert!(frame.read(many).is_err());
    }
}

const FIFTH: &str = "@fragment fn main() -> @location(0) vec4<f32> { return vec4<f32>(0.2); }";

#[test]
fn merged_passes_draw_to_their_own_targets() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([8, 8]);
    let [x, y, z] = ["x", "y", "z"].map(|name| b.graph().image(name, Format::Rgba8unorm));
    for root in [x, y, z] {
        b.graph().root(root);
    }
    let add = |b: &mut Bench, name: &str, value: &str, targets: &[(ResourceId, Use)]| {
        let outputs: String = (0..targets.len()).map(|at| format!("@location({at}) o{at}: vec4<f32>, ")).collect();
        let values = vec![format!("vec4<f32>({value})"); targets.len()].join(", ");
        let text = format!("struct Out {{ {outputs} }} @fragment fn main() -> Out {{ return Out({values}); }}");
        let text = program(ProgramKind::Raster, &text);
        let pass = b.pass(name, PassQueue::Graphics, targets);
        let state = RasterState { blend: vec![Some(Blend::ADD); targets.len()], ..RasterState::default() };
        b.steps(pass, vec![Step::Draw(draw(&text, state, &[]))]);
    };
    let zero = cleared([0.0; 4]);
    add(&mut b, "all", "0.2", &[(x, zero), (y, zero), (z, zero)]);
    add(&mut b, "last two", "0.2", &[(z, using(Usage::ColorAttachment)), (y, using(Usage::ColorAttachment))]);
    add(&mut b, "middle", "0.4", &[(y, using(Usage::ColorAttachment))]);
    let compiled = b.compile(&device.0);
    assert_eq!(
        compiled.plan().passes.iter().filter_map(|pass| pass.physical_pass).max().map(|p| format!("{p:?}")).as_deref(),
        Some("PhysicalPassId(0)")
    );
    let frame = compiled.run(&Inputs::default()).unwrap();
    let first = |of| frame.read(of).unwrap().bytes()[0];
    assert_eq!([first(x), first(y), first(z)], [51, 204, 102]);
}

/// GLSL 450: `layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput src;
/// layout(location = 0) out vec4 color; void main() { color = subpassLoad(src).yxzw * 0.5; }`.
const INPUT: &[u8] = include_bytes!("data/input.frag.spv");

#[test]
fn what_a_merged_pass_drew_is_read_texel_by_texel() {
    let Some(device) = device(2) else { return };
    let full = "@vertex fn vs(@builtin(vertex_index) at: u32) -> @builtin(position) vec4<f32> {
        return vec4<f32>(f32(at & 1u) * 4.0 - 1.0, f32(at >> 1u) * 4.0 - 1.0, 0.0, 1.0); }";
    let sources = [Source::Text(rgraph_shader::Language::Wgsl, full), Source::Spirv(INPUT)];
    let reads = Arc::new(Program::new("input", ProgramKind::Raster, &sources, None).unwrap());
    let mut b = Bench::new([8, 8]);
    let [a, c] = ["a", "b"].map(|name| b.graph().image(name, Format::Rgba8unorm));
    b.graph().root(c);
    b.raster(
        "draw",
        "@fragment fn main() -> @location(0) vec4<f32> { return vec4<f32>(0.2, 0.8, 0.4, 1.0); }",
        &[(a, cleared([0.0; 4]))],
        &[],
    );
    let uses = [(c, cleared([0.0; 4])), (a, using(Usage::InputAttachment))];
    let pass = b.pass("read", PassQueue::Graphics, &uses);
    b.steps(pass, vec![Step::Draw(draw(&reads, RasterState::default(), &[("src", whole(a))]))]);
    let texels = run(&b, &device.0, c);
    assert!(
        texels.chunks(4).all(|texel| texel.iter().zip([102u8, 26, 51, 128]).all(|(a, b)| a.abs_diff(b) < 2)),
        "{:?}",
        &texels[..8]
    );
    let merged = b.compile(&device.0);
    let physical: Vec<_> = merged.plan().passes.iter().map(|pass| pass.physical_pass).collect();
    assert_eq!(physical[0], physical[1], "one render pass with two subpasses");
}

#[test]
fn mips_are_generated_and_sampled() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([8, 8]);
    let image = Image { format: Some(Format::R32float), mips: Some(Mips::Full), ..Image::default() };
    let image = b.graph().add_resource("image", Declared::image(image), None);
    let out = b.graph().sized_image("out", Format::R32float, Size::absolute(1, 1));
    b.graph().root(out);
    let mut how = cleared([0.0; 4]);
    how.generate_mips = true;
    b.raster(
        "draw",
        "@fragment fn main(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
        return vec4<f32>(floor(at.x) + 8.0 * floor(at.y)); }",
        &[(image, how)],
        &[],
    );
    b.raster(
        "last",
        "
        @group(0) @binding(0) var image: texture_2d<f32>;
        @fragment fn main() -> @location(0) vec4<f32> { return textureLoad(image, vec2<u32>(0u), 3); }",
        &[(out, cleared([0.0; 4]))],
        &[("image", whole(image))],
    );
    let mean = f32::from_bits(words(&run(&b, &device.0, out))[0]);
    assert!((mean - 31.5).abs() < 1e-3, "{mean}");
}

#[test]
fn samplers_filter_and_compare() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([4, 4]);
    let source = b.graph().sized_image("source", Format::R8unorm, Size::absolute(2, 1));
    let shadow = b.graph().image("shadow", Format::Depth32float);
    let out = b.graph().image("out", Format::Rgba8unorm);
    b.graph().root(out);
    b.raster(
        "draw",
        "@fragment fn main(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
        return vec4<f32>(floor(at.x)); }",
        &[(source, cleared([0.0; 4]))],
        &[],
    );
    let depth = program(
        ProgramKind::Raster,
        "
        struct Out { @builtin(frag_depth) depth: f32 }
        @fragment fn main(@builtin(position) at: vec4<f32>) -> Out { return Out(at.x / 4.0); }",
    );
    let mut how = using(Usage::DepthStencilAttachment);
    how.load = Some(Load::Clear);
    let pass = b.pass("depth", PassQueue::Graphics, &[(shadow, how)]);
    let state = RasterState { depth_compare: Some(Compare::Always), ..RasterState::default() };
    b.steps(pass, vec![Step::Draw(draw(&depth, state, &[]))]);
    let nearest = Sampler { mag_linear: false, min_linear: false, ..Sampler::default() };
    b.raster(
        "look",
        "
        @group(0) @binding(0) var source: texture_2d<f32>;
        @group(0) @binding(1) var smooth_: sampler;
        @group(0) @binding(2) var sharp: sampler;
        @group(0) @binding(3) var shadow: texture_depth_2d;
        @group(0) @binding(4) var compares: sampler_comparison;
        @fragment fn main(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> {
            return vec4<f32>(textureSample(source, smooth_, uv).x, textureSample(source, sharp, uv).x,
                textureSampleCompare(shadow, compares, uv, 0.5), 1.0); }",
        &[(out, cleared([0.0; 4]))],
        &[("source", whole(source)), ("sharp", What::Sampler(nearest)), ("shadow", whole(shadow))],
    );
    let texels = run(&b, &device.0, out);
    let row: Vec<_> = texels[..16].chunks(4).collect();
    assert!(row[1][0] > 50 && row[1][0] < 100 && row[2][0] > 150 && row[2][0] < 210, "{row:?}");
    assert_eq!([row[1][1], row[2][1]], [0, 255], "{row:?}");
    assert_eq!([row[0][2], row[3][2]], [0, 255], "{row:?}");
}

#[test]
fn transfers_copy_blit_clear_and_fill() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([4, 4]);
    let source = b.import_buffer("source", 64);
    let [a, c] = ["a", "b"].map(|name| b.graph().image(name, Format::R32uint));
    let [wide, small] = [("wide", 4), ("small", 2)]
        .map(|(name, size)| b.graph().sized_image(name, Format::Rgba8unorm, Size::absolute(size, size)));
    let copied = b.graph().buffer("copied", 128);
    b.graph().root(copied);
    b.graph().root(small);
    let pass =
        b.pass("up", PassQueue::Transfer, &[(source, using(Usage::TransferSrc)), (a, using(Usage::TransferDst))]);
    b.steps(pass, vec![Step::Transfer(Transfer::BufferToImage { from: source, offset: 0, to: Level::of(a, 0) })]);
    let pass = b.pass("across", PassQueue::Transfer, &[(a, using(Usage::TransferSrc)), (c, using(Usage::TransferDst))]);
    b.steps(pass, vec![Step::Transfer(Transfer::CopyImage { from: Level::of(a, 0), to: Level::of(c, 0) })]);
    let pass = b.pass("fill", PassQueue::Transfer, &[(copied, transfer(Usage::TransferDst, Kind::Fill))]);
    b.steps(pass, vec![Step::Transfer(Transfer::Fill { buffer: copied, offset: 64, size: None, word: 5 })]);
    let pass =
        b.pass("down", PassQueue::Transfer, &[(c, using(Usage::TransferSrc)), (copied, using(Usage::TransferDst))]);
    b.steps(pass, vec![Step::Transfer(Transfer::ImageToBuffer { from: Level::of(c, 0), to: copied, offset: 0 })]);
    let pass = b.pass("clear", PassQueue::Graphics, &[(wide, transfer(Usage::TransferDst, Kind::Clear))]);
    b.steps(
        pass,
        vec![Step::Transfer(Transfer::Clear {
            image: View::whole(wide),
            value: ClearValue::Float([1.0, 0.5, 0.0, 1.0]),
        })],
    );
    let uses = [(wide, transfer(Usage::TransferSrc, Kind::Blit)), (small, transfer(Usage::TransferDst, Kind::Blit))];
    let pass = b.pass("blit", PassQueue::Graphics, &uses);
    b.steps(
        pass,
        vec![Step::Transfer(Transfer::Blit { from: Level::of(wide, 0), to: Level::of(small, 0), linear: true })],
    );
    let data: Vec<u32> = (100..116).collect();
    let data = bytes(&data);
    let inputs = Inputs { uploads: vec![(source, Upload::Bytes(&data))], ..Inputs::default() };
    let frame = b.compile(&device.0).run(&inputs).unwrap();
    let got = words(frame.read(copied).unwrap().bytes());
    assert_eq!(got[..16], (100..116).collect::<Vec<_>>()[..]);
    assert_eq!(got[16..], [5; 16]);
    let small = frame.read(small).unwrap();
    assert!(small.bytes().chunks(4).all(|texel| texel == [255, 128, 0, 255] || texel == [255, 127, 0, 255]));
}

#[test]
fn transfers_outside_of_what_is_declared_are_refused() {
    let Some(device) = device(2) else { return };
    let mut b = Bench::new([4, 4]);
    let image = b.graph().image("image", Format::R32uint);
    let buffer = b.graph().buffer("buffer", 32);
    b.graph().root(buffer);
    let pass = b.pass("draw", PassQueue::Graphics, &[(image, cleared([0.0; 4]))]);
    b.workload.works.insert(pass, Work::Steps(Vec::new()));
    let pass =
        b.pass("down", PassQueue::Transfer, &[(image, using(Usage::TransferSrc)), (buffer, using(Usage::TransferDst))]);
    for (step, says) in [
        (
            Transfer::ImageToBuffer { from: Level::of(image, 0), to: buffer, offset: 0 },
            "copies 64 bytes of texels at 0",
        ),
        (Transfer::ImageToBuffer { from: Level::of(image, 1), to: buffer, offset: 0 }, "accesses mips 1..2"),
        (
            Transfer::ImageToBuffer {
                from: Level { size: Some([9, 1, 1]), ..Level::of(image, 0) },
                to: buffer,
                offset: 0,
            },
            "stay within the image",
        ),
        (
            Transfer::CopyBuffer { from: buffer, from_offset: 0, to: buffer, to_offset: 0, size: None },
            "declares as transfer_dst only",
        ),
        (Transfer::Fill { buffer, offset: 2, size: None, word: 0 }, "has a fill of"),
    ] {
        b.steps(pass, vec![Step::Transfer(step)]);
        let text = device.0.compile(b.workload.clone(), &Options::default()).unwrap_err().to_string();
        assert!(text.contains("pass \"down\"") && text.contains(says), "{says}: {text}");
    }
}
