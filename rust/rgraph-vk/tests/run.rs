//! Graphs that run on a real driver, and what they compute.

use std::sync::Arc;

use rgraph_plan::graph::Graph;
use rgraph_plan::prelude::*;
use rgraph_plan::resource::ResourceId;
use rgraph_shader::{Kind, Language, Program, Source};
use rgraph_vk::work::{Bound, Dispatch, Groups, Step, View, What, Work, Workload};
use rgraph_vk::{Device, DeviceOptions, Inputs};

fn device() -> Device {
    Device::new(&DeviceOptions::default()).unwrap()
}

fn compute(text: &str) -> Arc<Program> {
    Arc::new(Program::new("test", Kind::Compute, &[Source::Text(Language::Wgsl, text)], None).unwrap())
}

fn bind(program: &Program, names: &[(&str, ResourceId)]) -> Arc<[Bound]> {
    names
        .iter()
        .map(|(name, resource)| {
            let binding = program.interface.find(name).unwrap().0 as u32;
            Bound { binding, element: 0, what: What::Resource(View::whole(*resource)) }
        })
        .collect()
}

fn dispatch(program: &Arc<Program>, names: &[(&str, ResourceId)], groups: Groups) -> Work {
    let bound = bind(program, names);
    Work::Steps(vec![Step::Dispatch(Dispatch { program: program.clone(), bound, push: Vec::new(), groups })])
}

const RAMP: &str = "
@group(0) @binding(0) var dst: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    textureStore(dst, id.xy, vec4<f32>(vec2<f32>(id.xy) / 255.0, 0.2, 1.0));
}";

const SWAP: &str = "
@group(0) @binding(0) var src: texture_2d<f32>;
@group(0) @binding(1) var dst: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    textureStore(dst, id.xy, textureLoad(src, id.xy, 0).yxzw);
}";

#[test]
fn two_dispatches_in_a_row() {
    let device = device();
    let mut g = Graph::new("two", [64, 32]);
    let a = g.image("a", Format::Rgba8unorm);
    let b = g.image("b", Format::Rgba8unorm);
    let ramp = g.pass("ramp", PassQueue::Compute).storage_write(a).id();
    let swap = g.pass("swap", PassQueue::Compute).sampled(a).storage_write(b).id();
    g.root(b);
    let mut workload = Workload::new(g);
    let (first, second) = (compute(RAMP), compute(SWAP));
    workload.works.insert(ramp, dispatch(&first, &[("dst", a)], Groups::Cover(a, 0)));
    workload.works.insert(swap, dispatch(&second, &[("src", a), ("dst", b)], Groups::Cover(b, 0)));
    let compiled = device.compile(workload, &Options::default()).unwrap();
    for run in 0..5 {
        let frame = compiled.run(&Inputs { times: true, ..Inputs::default() }).unwrap();
        let pixels = frame.read(b).unwrap();
        assert_eq!(pixels.bytes().len(), 64 * 32 * 4);
        for (at, texel) in pixels.bytes().chunks(4).enumerate() {
            assert_eq!(texel, [(at / 64) as u8, (at % 64) as u8, 51, 255], "texel {at} of run {run}");
        }
        let report = frame.report().unwrap();
        println!("{report}");
        assert_eq!(report.passes.len(), 2);
        assert_eq!(report.recorded, run < 2);
    }
    assert_eq!(device.messages(), Vec::<String>::new());
}
