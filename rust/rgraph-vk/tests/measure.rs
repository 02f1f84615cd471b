//! What measuring costs and gives: commands are counted by the function table between the runtime and its driver.

use std::collections::BTreeMap;

use rgraph_plan::access::PassQueue;
use rgraph_plan::bake::Options;
use rgraph_plan::plan::{Command, Plan};
use rgraph_vk::work::{Groups, Workload};
use rgraph_vk::{Compiled, Device, DeviceOptions, EntryTable, FrameReport, Inputs, Measure, Upload};

use crate::support::bench::{Bench, whole};
use crate::support::demand::demand;
use crate::support::example::{example, photo};
use crate::support::fault::Faults;

/// The table, and a device whose commands it counts.
fn counted() -> Option<(Faults, Device)> {
    let found = Faults::new().and_then(|faults| {
        let entry = Some(EntryTable(faults.entry()));
        let options = DeviceOptions { entry, validation: Some(false), ..DeviceOptions::default() };
        Device::new(&options).map(|device| (faults, device)).map_err(|error| error.to_string())
    });
    demand(found)
}

fn run(compiled: &Compiled, inputs: &Inputs<'_>) -> FrameReport {
    let frame = compiled.run(inputs).unwrap();
    frame.wait(None).unwrap();
    frame.report().unwrap()
}

fn timestamps(counts: &BTreeMap<&str, usize>) -> usize {
    ["vkCmdWriteTimestamp", "vkCmdWriteTimestamp2"].iter().filter_map(|name| counts.get(name)).sum()
}

/// Passes on the GPU, and calls that are barriers outside of render passes with subpasses.
fn passes_and_calls(plan: &Plan) -> (usize, usize) {
    let passes = plan.live().filter(|pass| plan.passes[*pass].queue.is_some()).count();
    let is_call = |command: &&Command| matches!(command, Command::Barriers(_) | Command::WaitEvents(..));
    (passes, plan.commands.iter().filter(is_call).count())
}

#[test]
fn a_run_that_measures_nothing_makes_no_query_and_records_no_command_of_one() {
    let Some((faults, device)) = counted() else { return };
    let example = example();
    let compiled = device.compile(example.workload, &Options::default()).unwrap();
    let texels = photo([1, 2, 3, 255]);
    faults.take_names();
    faults.take_counts();
    for _ in 0..3 {
        let uploads = vec![(example.photo, Upload::Bytes(&texels))];
        let report = run(&compiled, &Inputs { uploads, ..Inputs::default() });
        assert_eq!((report.measure, report.gpu_us), (Measure::Off, None));
        assert_eq!(report.weights().count(), 0);
        assert!(report.to_string().contains("GPU times were not measured"), "{report}");
    }
    let counts = faults.take_counts();
    assert!(counts["vkCmdPipelineBarrier2"] > 0, "the table counts: {counts:?}");
    assert_eq!(timestamps(&counts), 0);
    for name in ["vkCmdResetQueryPool", "vkResetQueryPool", "vkCmdBeginQuery"] {
        assert_eq!(counts.get(name), None, "{name}");
    }
    assert!(!faults.take_names().contains(&"vkCreateQueryPool"));
}

#[test]
fn batches_cost_a_timestamp_per_barrier_call_and_two_per_batch_at_most() {
    let Some((faults, device)) = counted() else { return };
    let example = example();
    let compiled = device.compile(example.workload, &Options::default()).unwrap();
    let texels = photo([1, 2, 3, 255]);
    let (passes, calls) = passes_and_calls(compiled.plan());
    let batches = 2 * compiled.plan().batches.len();
    for (measure, most) in
        [(Measure::Frame, batches), (Measure::Batches, calls + batches), (Measure::Passes, 2 * passes)]
    {
        faults.take_counts();
        let uploads = vec![(example.photo, Upload::Bytes(&texels))];
        let report = run(&compiled, &Inputs { uploads, measure, ..Inputs::default() });
        let written = timestamps(&faults.take_counts());
        assert!((2..=most).contains(&written), "{measure:?} writes {written} timestamps, {most} at most");
        assert_eq!(report.measure, measure);
        assert_eq!(report.weights().count(), passes, "every pass has a time: {report}");
        assert!(report.to_string().contains(report.measured()));
    }
}

const ADD: &str = "
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[id.x] += 1u; }";

/// Passes that nothing orders, and one that comes after all of them.
fn fan(passes: usize) -> Workload {
    let mut bench = Bench::new([1, 1]);
    let buffers: Vec<_> = (0..passes).map(|at| bench.import_buffer(&format!("b{at}"), 256)).collect();
    for (at, &buffer) in buffers.iter().enumerate() {
        let groups = Groups::Fixed([1, 1, 1]);
        bench.compute(&format!("p{at}"), PassQueue::Graphics, ADD, groups, &[("data", whole(buffer))]);
    }
    bench.workload
}

#[test]
fn passes_of_one_group_share_its_time_by_their_modelled_durations() {
    let Some((_faults, device)) = counted() else { return };
    let compiled = device.compile(fan(5), &Options::default()).unwrap();
    assert_eq!(passes_and_calls(compiled.plan()).0, 5);
    let uploads = compiled.workload().graph.resources().ids().map(|id| (id, Upload::Bytes(&[0; 256]))).collect();
    let report = run(&compiled, &Inputs { uploads, measure: Measure::Batches, ..Inputs::default() });
    assert_eq!(report.passes.len(), 5);
    assert!(report.passes.iter().all(|pass| pass.group == 5), "{report}");
    let first = report.passes[0].us.unwrap();
    assert!(report.passes.iter().all(|pass| (pass.us.unwrap() / first - 1.0).abs() < 1e-3), "equal weights: {report}");
    let mut end = 0.0;
    for pass in &report.passes {
        assert!((pass.start_us.unwrap() - end).abs() < 1e-6, "one share behind the other: {report}");
        end += pass.us.unwrap();
    }
    assert!((report.gpu_us.unwrap() - end).abs() < 1e-6);
    assert!(report.to_string().contains(&format!("~{first:.1}")), "shares are marked: {report}");
}

#[test]
fn sampled_frames_take_turns_with_others_and_nothing_is_recorded_for_that() {
    let Some((faults, device)) = counted() else { return };
    let compiled = device.compile(fan(3), &Options::default()).unwrap();
    let mut recorded = 0;
    for at in 0..24 {
        let all = compiled.workload().graph.resources().ids();
        let uploads = all.map(|id| (id, Upload::Bytes(&[0; 256]))).collect();
        let inputs = Inputs { uploads, measure: Measure::Batches, sample: 3, ..Inputs::default() };
        let report = run(&compiled, &inputs);
        let wanted = if at % 3 == 0 { Measure::Batches } else { Measure::Off };
        assert_eq!((report.measure, report.gpu_us.is_some()), (wanted, at % 3 == 0), "run {at}");
        recorded += u32::from(report.recorded);
    }
    // Once with timestamps and once without, for each of two frames in flight.
    assert_eq!(recorded, 4);
    assert_eq!(timestamps(&faults.take_counts()), 2 * 2);
}
