//! A frame over several devices, above the planner for one: `any` passes get a device, the serial order is cut into
//! parts, contents that another device needs are copied. Each part is a graph of its own, which [`bake`] plans.
//!
//! The order is that of the plan for one device, so culling, forward reads and unordered groups are settled before. A
//! memory is copied as a whole. A device that accesses it has its latest contents, unless the access replaces all.

mod graphs;
mod memory;
mod place;
mod split;

pub use graphs::{PartGraph, PartImport, part_graphs, resource_kinds};

pub use rgraph_ir::devices::{
    DeviceCopy, DeviceCopyId, DeviceId, DevicePart, DevicePartId, DevicePlace, DeviceStep, DevicesPlan, DevicesReport,
};

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::bake::{Options, Scratch, bake, flat};
use crate::error::{Code, GraphError, Mistake};
use crate::graph::{Graph, PassId};
use crate::id::{Id, IdVec};
use crate::plan::{PassWhy, Plan, PlanPassId};
use crate::profile::Profile;
use memory::Memories;
use place::Placing;

crate::id! {
    /// A live pass: its position in the serial order.
    struct SerialId;
}

/// A live pass in the serial order.
#[derive(Clone, Copy, Debug)]
struct Serial {
    pass: PassId,
    /// Its device, if the declaration names one.
    pinned: Option<DeviceId>,
    /// Modelled duration in microseconds.
    us: f64,
}

/// Plans a graph for several devices, the first of which has the passes that gain nothing elsewhere.
///
/// The plan has the modelled frame and that of the first device alone. With one profile, or where nothing is
/// gained, it has one part, which is the whole graph. Deterministic, as [`bake`] is. O(bake + passes² · devices) for
/// graphs up to some hundred passes; the search of places is bounded by `options.effort`.
///
/// # Errors
/// As [`bake`]; a pass on a device that is not there; passes on two devices that share what cannot be copied.
pub fn plan_devices(
    graph: &Graph,
    profiles: &[Profile],
    options: &Options,
    scratch: &mut Scratch,
) -> Result<DevicesPlan, GraphError> {
    let flat = flat(graph);
    check_devices(&flat, profiles)?;
    let one = bake_for_one(&flat, &profiles[0], options, scratch)?;
    let serial = serial_passes(&flat, &one, scratch);
    let memories = Memories::new(&flat, &one);
    let mut placing = Placing::new(&flat, &one, &memories, &serial, profiles)?;
    let place = placing.search(options.effort)?;
    let split = split::split(&flat, &memories, &serial, &place, profiles.len());
    let frame_us = split.frame_us(&serial, profiles, placing.scale);
    let mut plan = DevicesPlan {
        graph: graph.name().to_owned(),
        graph_hash: graph.content_hash(),
        profiles: profiles.iter().map(|profile| profile.name.clone()).collect(),
        report: DevicesReport { frame_us, one_device_us: one.report.frame_us, notes: placing.notes },
        ..DevicesPlan::default()
    };
    split.into_plan(&mut plan);
    Ok(plan)
}

/// Refuses devices that are not there.
fn check_devices(graph: &Graph, profiles: &[Profile]) -> Result<(), GraphError> {
    let count = profiles.len();
    if count == 0 {
        let mistake = Mistake::new(Code::BadProfile, "a plan for several devices has no profile", "name at least one");
        return Err(GraphError::one(mistake));
    }
    let mut mistakes = Vec::new();
    for (id, pass) in graph.passes().iter_ids() {
        let Some(device) = pass.device.filter(|device| *device as usize >= count) else { continue };
        let name = graph.pass_name(id);
        let there = if count == 1 { "there is one device".to_owned() } else { format!("there are {count} devices") };
        let help = match count {
            1 => "use device 0 or \"any\", or name more devices".to_owned(),
            _ => format!("use a device from 0 to {}, or \"any\"", count - 1),
        };
        let message = format!("pass \"{name}\" runs on device {device}, and {there}");
        let mistake = Mistake::new(Code::OverLimit, message, help);
        mistakes.push(mistake.pass(name).side(name, "declared here", graph.pass_place(id).cloned()));
    }
    GraphError::check(mistakes)
}

/// The plan of the first device alone, whatever memory and features it has: a graph may need several because of its
/// bytes, or because of a pass that one device cannot run.
fn bake_for_one(
    graph: &Graph,
    profile: &Profile,
    options: &Options,
    scratch: &mut Scratch,
) -> Result<Plan, GraphError> {
    let mut whole = graph.clone();
    for id in graph.passes().ids() {
        whole.pass_mut(id).device = None;
    }
    let mut profile = profile.clone();
    profile.memory.iter_mut().for_each(|memory| memory.heap_size = None);
    // Another device may have what the first one lacks.
    profile.features = None;
    bake(&whole, &profile, options, scratch)
}

/// Live declared passes in an order in which they may run alone, each with the mips that it generates: of these orders
/// the one that is nearest to the plan's. O((passes + dependencies) log passes).
fn serial_passes(graph: &Graph, one: &Plan, scratch: &Scratch) -> IdVec<SerialId, Serial> {
    let live = |id: PlanPassId| one.passes[id].declared.map(|at| (PassId::new(at as usize), one.passes[id].why));
    let serial = |(pass, why): (PassId, PassWhy)| Serial {
        pass,
        pinned: graph.passes()[pass].device.map(|device| DeviceId::new(device as usize)),
        us: f64::from(why.duration_us),
    };
    let planned: Vec<Serial> = one.live().filter_map(live).map(serial).collect();
    let mut orders = scratch.orders_of_whole_passes(graph.passes().len());
    orders.sort_unstable();
    orders.dedup();
    let count = orders.iter().map(|(_, later)| later + 1).max().unwrap_or(0).max(graph.passes().len());
    let mut waits = vec![0_u32; count];
    orders.iter().for_each(|(_, later)| waits[*later] += 1);
    // Passes that are not declared have no place of their own: they come as early as they can.
    let mut place = vec![0; count];
    planned.iter().enumerate().for_each(|(at, one)| place[one.pass.index()] = at + 1);
    let is_there = |at: usize| at >= graph.passes().len() || place[at] > 0;
    let mut ready: BinaryHeap<_> =
        (0..count).filter(|&at| waits[at] == 0 && is_there(at)).map(|at| Reverse((place[at], at))).collect();
    let mut sorted = Vec::with_capacity(planned.len());
    while let Some(Reverse((at, pass))) = ready.pop() {
        sorted.extend(at.checked_sub(1).map(|at| planned[at]));
        let first = orders.partition_point(|(earlier, _)| *earlier < pass);
        for &(_, later) in orders[first..].iter().take_while(|(earlier, _)| *earlier == pass) {
            waits[later] -= 1;
            if waits[later] == 0 {
                ready.push(Reverse((place[later], later)));
            }
        }
    }
    // A pass may have to run between another one and its mips: then no part has them without it.
    let serial = if sorted.len() == planned.len() { sorted } else { planned };
    serial.into_iter().collect()
}

/// What `after` says of passes that run, `(later, earlier)`, sorted: a culled pass hands on what it is after.
fn orders_of_live(graph: &Graph, is_live: impl Fn(PassId) -> bool) -> Vec<(PassId, PassId)> {
    let mut orders = graph.orderings().to_vec();
    orders.sort_unstable();
    let before = |later: PassId| {
        let first = orders.partition_point(|one| one.0 < later);
        orders[first..].iter().take_while(move |one| one.0 == later).map(|one| one.1)
    };
    let mut found = Vec::new();
    let mut seen = IdVec::filled(None, graph.passes().len());
    for of_one in orders.chunk_by(|a, b| a.0 == b.0).filter(|of_one| is_live(of_one[0].0)) {
        let later = of_one[0].0;
        let mut open: Vec<_> = before(later).collect();
        while let Some(earlier) = open.pop() {
            if seen[earlier].replace(later) == Some(later) {
                continue;
            }
            if is_live(earlier) {
                found.push((later, earlier));
            } else {
                open.extend(before(earlier));
            }
        }
    }
    found.sort_unstable();
    found
}

/// Positions of passes in the serial order; `None`: culled.
fn positions(graph: &Graph, serial: &IdVec<SerialId, Serial>) -> IdVec<PassId, Option<SerialId>> {
    let mut at = IdVec::filled(None, graph.passes().len());
    for (position, one) in serial.iter_ids() {
        at[one.pass] = Some(position);
    }
    at
}
