//! A Rust application on a device that rgraph opens: two passes declared, compiled once, run many times.
//!
//! `cargo run --example own_device` prints the plan, the picture's first texels and the frame's report.

use std::sync::Arc;

use rgraph_plan::prelude::*;
use rgraph_shader::{Kind, Language, Program, Source};
use rgraph_vk::work::{Bound, Dispatch, Groups, Step, Work, Workload};
use rgraph_vk::{Device, DeviceOptions, Inputs, Measure};

const RAMP: &str = "
@group(0) @binding(0) var dst: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    textureStore(dst, id.xy, vec4<f32>(vec2<f32>(id.xy) / 255.0, 0.0, 1.0));
}";

const INVERT: &str = "
@group(0) @binding(0) var src: texture_2d<f32>;
@group(0) @binding(1) var dst: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    textureStore(dst, id.xy, 1.0 - textureLoad(src, id.xy, 0));
}";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    run()
}

/// The whole program.
pub fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut g = Graph::new("ramp", [256, 256]);
    let ramp = g.image("ramp", Format::Rgba8unorm);
    let out = g.image("out", Format::Rgba8unorm);
    let draw = g.pass("draw", PassQueue::Compute).storage_write(ramp).id();
    let invert = g.pass("invert", PassQueue::Compute).sampled(ramp).storage_write(out).id();
    g.root(out);

    let dispatch = |text, list: &[_], cover| -> Result<Work, rgraph_vk::Error> {
        let program = Arc::new(Program::new("ramp", Kind::Compute, &[Source::Text(Language::Wgsl, text)], None)?);
        let bound = Bound::named(&program, list.iter().copied())?;
        Ok(Work::Steps(vec![Step::Dispatch(Dispatch::new(program, bound, Groups::Cover(cover, 0)))]))
    };
    let mut workload = Workload::new(g);
    workload.works.insert(draw, dispatch(RAMP, &[("dst", ramp)], ramp)?);
    workload.works.insert(invert, dispatch(INVERT, &[("src", ramp), ("dst", out)], out)?);

    let device = Device::new(&DeviceOptions::default())?;
    let compiled = device.compile(workload, &Options::default())?;
    print!("{}", rgraph_report::listing(compiled.plan()));
    for _ in 0..3 {
        let frame = compiled.run(&Inputs { measure: Measure::Passes, ..Inputs::default() })?;
        let pixels = frame.read(out)?;
        assert_eq!(pixels.bytes()[4..8], [254, 255, 255, 0]);
        println!("{:?}\n{}", &pixels.bytes()[..8], frame.report()?);
    }
    Ok(())
}
