//! What of the planned overlap arrives on the GPU: independent chains of dispatches, each over a buffer of its own, as
//! rgraph runs them, and the same commands and barriers recorded by hand. Microseconds from frame to frame, with many
//! frames under way; nothing is recorded in that time on either side.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use ash::vk;
use rgraph_plan::graph::PassId;
use rgraph_plan::id::Id;
use rgraph_plan::plan::PlanPassId;
use rgraph_plan::prelude::*;
use rgraph_plan::resource::ResourceId;
use rgraph_shader::{Kind, Language, Program, Source};
use rgraph_vk::work::{self, Bound, Groups, Step, View, What, Work, Workload};
use rgraph_vk::{Compiled, Device, DeviceOptions, Inputs};

use crate::hand::{Dispatch, Frame, Hand};
use crate::{as_text, median};

const CHAINS: [usize; 4] = [1, 2, 4, 8];
const STEPS: usize = 40;
const NUMBERS: u32 = 65_536;
const GROUPS: u32 = NUMBERS / 64;
/// Frames of a measurement, and measurements, by hand and by rgraph in turn.
const FRAMES: u32 = 100;
const ROUNDS: usize = 15;

fn programs() -> Result<[Arc<Program>; 2], String> {
    let program = |name, change| {
        let text = format!(
            "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
            @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{ data[id.x] {change}; }}"
        );
        Program::new(name, Kind::Compute, &[Source::Text(Language::Wgsl, &text)], None).map(Arc::new).map_err(as_text)
    };
    Ok([program("zero", "= 0u")?, program("step", "+= 1u")?])
}

/// Chains, declared one after the other, and what their passes run on.
fn workload(count: usize, programs: &[Arc<Program>; 2]) -> (Workload, Vec<(usize, ResourceId)>) {
    let mut graph = Graph::new("chains", [1, 1]);
    let mut passes = Vec::new();
    for chain in 0..count {
        let data = graph.buffer(&format!("data{chain}"), u64::from(NUMBERS) * 4);
        for step in 0..STEPS {
            let pass = graph.pass(&format!("chain{chain} {step}"), PassQueue::Compute);
            match step {
                0 => pass.storage_write(data),
                _ => pass.storage_read_write(data),
            };
            passes.push((step.min(1), data));
        }
        graph.root(data);
    }
    let mut workload = Workload::new(graph);
    for (at, &(program, data)) in passes.iter().enumerate() {
        let bound = [Bound { binding: 0, element: 0, what: What::Resource(View::whole(data)) }].into();
        let program = Arc::clone(&programs[program]);
        let groups = Groups::Fixed([GROUPS, 1, 1]);
        let dispatch = work::Dispatch { program, bound, push: Default::default(), groups, key: 0 };
        workload.works.insert(PassId::new(at), Work::Steps(vec![Step::Dispatch(dispatch)]));
    }
    (workload, passes)
}

/// Microseconds a frame of [`FRAMES`] that are submitted one after the other by hand.
fn hand_period(hand: &mut Hand, frame: &Frame) -> Result<f64, String> {
    let begin = Instant::now();
    (0..FRAMES).try_for_each(|_| hand.submit(frame)).map_err(as_text)?;
    hand.wait().map_err(as_text)?;
    Ok(begin.elapsed().as_secs_f64() * 1e6 / f64::from(FRAMES))
}

/// The same by rgraph.
fn rgraph_period(compiled: &Compiled) -> Result<f64, String> {
    let inputs = Inputs { read: Some(Vec::new()), ..Inputs::default() };
    let begin = Instant::now();
    for _ in 1..FRAMES {
        compiled.run(&inputs).map_err(as_text)?;
    }
    compiled.run(&inputs).and_then(|frame| frame.wait(None)).map_err(as_text)?;
    Ok(begin.elapsed().as_secs_f64() * 1e6 / f64::from(FRAMES))
}

/// Prints both sides.
pub fn chains() -> Result<(), String> {
    let programs = programs()?;
    let mut hand = Hand::new()?;
    let options =
        DeviceOptions { labels: Some(false), validation: Some(false), frames_in_flight: 3, ..DeviceOptions::default() };
    let device = Device::new(&options).map_err(as_text)?;
    println!("{}: chains of {STEPS} dispatches, medians of {ROUNDS} times {FRAMES} frames", device.info().name);
    println!("chains  µs per frame: hand  rgraph  ratio  |  µs per step: hand  rgraph");
    for count in CHAINS {
        let (workload, passes) = workload(count, &programs);
        let compiled = device.compile(workload, &Options::default()).map_err(as_text)?;
        let plan = compiled.plan();
        let dispatches: HashMap<PlanPassId, Dispatch<'_>> = plan
            .passes
            .iter_ids()
            .filter_map(|(id, pass)| {
                let (program, data) = passes[pass.declared? as usize];
                Some((id, Dispatch { program: &programs[program], bound: vec![data], groups: GROUPS }))
            })
            .collect();
        let frame = hand.frame(plan, &dispatches).map_err(as_text)?;
        hand.record(&frame, 0, vk::CommandBufferUsageFlags::SIMULTANEOUS_USE).map_err(as_text)?;
        let (mut by_hand, mut by_rgraph) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            by_hand.push(hand_period(&mut hand, &frame)?);
            by_rgraph.push(rgraph_period(&compiled)?);
        }
        let ran = compiled.run(&Inputs::default()).map_err(as_text)?;
        ran.wait(None).map_err(as_text)?;
        for (_, data) in passes.iter().step_by(STEPS) {
            let read = ran.read(*data).map_err(as_text)?;
            let expected = (STEPS as u32 - 1).to_le_bytes();
            assert!(read.bytes().chunks_exact(4).all(|word| word == expected));
            assert_eq!(hand.word(&frame, *data).to_le_bytes(), expected);
        }
        hand.destroy(frame);
        let (hand, rgraph) = (median(by_hand), median(by_rgraph));
        let step = |frame: f64| frame / STEPS as f64;
        println!(
            "{count:6}  {hand:16.1}  {rgraph:6.1}  {:5.3}  |  {:15.2}  {:6.2}",
            rgraph / hand,
            step(hand),
            step(rgraph)
        );
    }
    device.close().map_err(as_text)
}
