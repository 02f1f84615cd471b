//! Row T9 behind a function table that counts: sorted packets of several passes bind each pipeline once, and compute
//! the same.

use rgraph_plan::access::{Load, PassQueue, Usage};
use rgraph_plan::format::Format;
use rgraph_plan::graph::{Clear, Use};
use rgraph_plan::resource::ResourceId;
use rgraph_shader::Kind;
use rgraph_vk::work::{Blend, Groups, RasterState, Step};
use rgraph_vk::{Device, DeviceOptions, EntryTable, Inputs, Measure};

use crate::support::bench::{Bench, draw, program, using, whole, words};
use crate::support::demand::demand;
use crate::support::fault::Faults;

const BIND: &str = "vkCmdBindPipeline";

/// A device behind the table, where there is one at all.
fn device() -> Option<(Faults, Device)> {
    demand(Faults::new().and_then(|faults| {
        let options = DeviceOptions { entry: Some(EntryTable(faults.entry())), ..DeviceOptions::default() };
        Device::new(&options).map(|device| (faults, device)).map_err(|error| error.to_string())
    }))
}

/// Eight passes that add one of two colours to a target, in turn.
fn drawn(unordered: bool) -> (Bench, ResourceId) {
    let mut b = Bench::new([8, 8]);
    let out = b.graph().image("out", Format::Rgba8unorm);
    b.graph().root(out);
    let state = RasterState { blend: vec![Some(Blend::ADD)], ..RasterState::default() };
    let text =
        |color| format!("@fragment fn main() -> @location(0) vec4<f32> {{ return vec4<f32>({color}) / 255.0; }}");
    let programs = ["1, 2, 4, 8", "3, 0, 1, 0"].map(|color| program(Kind::Raster, &text(color)));
    for at in 0..8 {
        let mut how = Use { load: Some(Load::Load), ..using(Usage::ColorAttachment) };
        if at == 0 {
            how.load = Some(Load::Clear);
            how.details.clear = Some(Clear::Color([0.0; 4]));
        }
        let pass = b.pass(&format!("draw{at}"), PassQueue::Graphics, &[(out, how)]);
        b.graph().pass_mut(pass).unordered = unordered;
        b.steps(pass, vec![Step::Draw(draw(&programs[at % 2], state.clone(), &[]))]);
    }
    (b, out)
}

#[test]
fn t09_draws_of_passes_that_commute_bind_each_pipeline_once() {
    let Some((faults, device)) = device() else { return };
    let mut pictures = Vec::new();
    for (unordered, measure, binds) in [(false, Measure::Off, 8), (true, Measure::Off, 2), (true, Measure::Passes, 8)] {
        let (bench, out) = drawn(unordered);
        let compiled = bench.compile(&device);
        faults.take_counts();
        let frame = compiled.run(&Inputs { measure, ..Inputs::default() }).expect("it runs");
        assert_eq!(faults.take_counts().get(BIND), Some(&binds), "unordered: {unordered}, measured: {measure:?}");
        pictures.push(frame.read(out).expect("it is a root").bytes().to_vec());
    }
    assert_eq!(pictures[0][..4], [16, 8, 20, 32]);
    assert!(pictures.iter().all(|picture| *picture == pictures[0]));
    assert_eq!(device.messages(), Vec::<String>::new());
}

#[test]
fn t09_dispatches_between_two_barrier_calls_bind_each_pipeline_once() {
    let Some((faults, device)) = device() else { return };
    let mut b = Bench::new([8, 8]);
    let text = |word| {
        format!(
            "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
             @compute @workgroup_size(1) fn main() {{ out[0] = {word}u; }}"
        )
    };
    let outs: Vec<_> = (0..6).map(|at| b.graph().buffer(&format!("out{at}"), 256)).collect();
    for (at, &out) in outs.iter().enumerate() {
        b.graph().root(out);
        let groups = Groups::Fixed([1, 1, 1]);
        b.compute(&format!("write{at}"), PassQueue::Compute, &text(7 + at % 3), groups, &[("out", whole(out))]);
    }
    let compiled = b.compile(&device);
    faults.take_counts();
    let frame = compiled.run(&Inputs::default()).expect("it runs");
    assert_eq!(faults.take_counts().get(BIND), Some(&3), "six dispatches of three pipelines");
    for (at, &out) in outs.iter().enumerate() {
        let bytes = frame.read(out).expect("it is a root").bytes().to_vec();
        assert_eq!(words(&bytes)[0], 7 + at as u32 % 3);
    }
}
