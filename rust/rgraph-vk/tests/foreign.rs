//! Plans that the device did not bake are checked before they run; a plan that was changed by hand is refused with the
//! findings, and one that only says less runs.
#![forbid(unsafe_code)]

use std::sync::Arc;

use rgraph_files::{read_plan, write_plan};
use rgraph_plan::access::{Layout, PassQueue};
use rgraph_plan::bake::{Options, Scratch, bake};
use rgraph_plan::format::Format;
use rgraph_plan::plan::{Barriers, Command, Plan, PlanKind};
use rgraph_plan::resource::ResourceId;
use rgraph_vk::work::Groups;
use rgraph_vk::{Code, Device, Error, Inputs};

use crate::support::bench::{Bench, device, whole};

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

/// Two passes, the transient between them and the root behind them, and the plan that a file of the device's would
/// hold.
fn case(device: &Device) -> (Bench, Plan, ResourceId) {
    let mut bench = Bench::new([64, 32]);
    let [a, b] = ["a", "b"].map(|name| bench.graph().image(name, Format::Rgba8unorm));
    bench.graph().root(b);
    bench.compute("ramp", PassQueue::Compute, RAMP, Groups::Cover(a, 0), &[("dst", whole(a))]);
    bench.compute("swap", PassQueue::Compute, SWAP, Groups::Cover(b, 0), &[("src", whole(a)), ("dst", whole(b))]);
    let plan = bake(&bench.workload.graph, device.profile(), &Options::default(), &mut Scratch::default()).unwrap();
    let plan = read_plan(write_plan(&plan).as_bytes(), "a.rplan.json").unwrap();
    (bench, plan, b)
}

/// Runs a plan and compares its pixels.
fn runs(device: &Device, bench: &Bench, plan: Plan, root: ResourceId) {
    let compiled = device.compile_plan(Arc::new(plan), bench.workload.clone()).unwrap();
    let frame = compiled.run(&Inputs::default()).unwrap();
    for (at, texel) in frame.read(root).unwrap().bytes().chunks(4).enumerate() {
        assert_eq!(texel, [(at / 64) as u8, (at % 64) as u8, 51, 255], "texel {at}");
    }
}

#[test]
fn a_plan_from_a_file_runs_with_and_without_what_it_may_leave_out() {
    let Some(device) = device(2) else { return };
    let (bench, plan, root) = case(&device.0);
    runs(&device.0, &bench, plan.clone(), root);
    let mut silent = plan;
    silent.resources.iter_mut().for_each(|resource| resource.lifetime = None);
    runs(&device.0, &bench, silent, root);
}

/// Changes a plan, and expects the device to refuse it with a finding of that rule.
#[track_caller]
fn refused(rule: &str, change: impl FnOnce(&mut Plan)) {
    let Some(device) = device(2) else { return };
    let (bench, mut plan, root) = case(&device.0);
    let right = plan.clone();
    change(&mut plan);
    let error = device.0.compile_plan(Arc::new(plan), bench.workload.clone()).err();
    let Some(Error::Plan(error)) = error else { panic!("{error:?}") };
    assert_eq!(error.code, Code::Unsound);
    assert!(error.notes.iter().any(|note| note.starts_with(rule)), "{error}");
    runs(&device.0, &bench, right, root);
}

#[test]
fn barriers_changed_by_hand_are_refused() {
    refused("layout", |plan| plan.image_barriers.iter_mut().for_each(|one| one.old_layout = Layout::PresentSrc));
    refused("read_after_write", |plan| {
        for command in &mut plan.commands {
            if let Command::Barriers(barriers) = command {
                *barriers = Barriers::default();
            }
        }
    });
}

#[test]
fn a_plan_without_barriers_batches_or_places_is_refused() {
    refused("malformed", |plan| plan.image_barriers.clear());
    refused("passes", |plan| {
        plan.batches = Default::default();
        plan.commands.clear();
    });
    refused("placement", |plan| plan.memory.placements.clear());
}

#[test]
fn a_plan_with_a_smaller_image_than_the_graph_is_refused() {
    refused("resource", |plan| {
        for resource in plan.resources.iter_mut() {
            if let PlanKind::Image { size, .. } = &mut resource.kind {
                *size = [1, 1, 1];
            }
        }
    });
}

#[test]
fn a_plan_of_another_graph_is_refused() {
    refused("wrong_graph", |plan| plan.graph_hash ^= 1);
}
