//! The smallest frame that runs: a compute shader writes an image, which is read back.

use std::sync::Arc;

use rgraph_plan::prelude::*;
use rgraph_shader::{Kind, Language, Program, Source};
use rgraph_vk::work::{Bound, Dispatch, Groups, Step, View, What, Work, Workload};
use rgraph_vk::{Device, DeviceOptions, Inputs};

const RAMP: &str = "
@group(0) @binding(0) var dst: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    textureStore(dst, id.xy, vec4<f32>(vec2<f32>(id.xy) / 255.0, 0.0, 1.0));
}";

/// The whole program.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut g = Graph::new("ramp", [256, 256]);
    let out = g.image("out", Format::Rgba8unorm);
    let ramp = g.pass("ramp", PassQueue::Compute).storage_write(out).id();
    g.root(out);

    let program = Arc::new(Program::new("ramp", Kind::Compute, &[Source::Text(Language::Wgsl, RAMP)], None)?);
    // One invocation for each texel of mip 0 of `out`.
    let bound = [Bound { binding: 0, element: 0, what: What::Resource(View::whole(out)) }].into();
    let dispatch = Dispatch { program, bound, push: Default::default(), groups: Groups::Cover(out, 0), key: 0 };
    let mut workload = Workload::new(g);
    workload.works.insert(ramp, Work::Steps(vec![Step::Dispatch(dispatch)]));

    let device = Device::new(&DeviceOptions::default())?;
    let compiled = device.compile(workload, &Options::default())?;
    let frame = compiled.run(&Inputs::default())?;
    let pixels = frame.read(out)?;
    assert_eq!(pixels.bytes()[4..8], [1, 0, 0, 255]);
    println!("{}: {} bytes", device.info().name, pixels.bytes().len());
    Ok(())
}
