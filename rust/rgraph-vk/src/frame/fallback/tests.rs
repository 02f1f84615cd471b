//! What passes read, or write addresses of, while passes before them are off.

use rgraph_plan::access::{PassQueue, Usage};
use rgraph_plan::prelude::{Graph, Options, Use};
use rgraph_work::Workload;

use super::*;
use crate::demand;
use crate::device::{Device, DeviceOptions};

/// "records" writes addresses of "fine" or of its fallback for "use", as passes do that write records of instances:
/// it accesses neither, so a plan may have it before both are written, or behind a later write of "fine".
fn records(device: &Device) -> CompiledGraph {
    let mut g = Graph::new("records", [8, 8]);
    let [coarse, fine, records, out] = ["coarse", "fine", "records", "out"].map(|name| g.buffer(name, 64));
    let write = Use::new(Usage::TransferDst);
    let read = Use::new(Usage::StorageRead);
    g.pass("records first", PassQueue::Graphics).uses(out, &write);
    g.pass("coarse", PassQueue::Graphics).uses(coarse, &write);
    let better = g.pass("fine", PassQueue::Graphics).uses(fine, &write).id();
    let flag = g.flag("better");
    g.pass_mut(better).conditional = Some(flag);
    g.fallback(better, fine, coarse);
    g.pass("records", PassQueue::Graphics).uses(records, &write);
    g.pass("use", PassQueue::Graphics)
        .uses(fine, &read)
        .uses(records, &read)
        .uses(out, &Use::new(Usage::StorageReadWrite));
    g.root(out);
    let (profile, options) = (device.profile().clone(), Options::default());
    CompiledGraph::bake_for(&device.0, Workload::new(g), (&profile, &options), None).expect("a good graph")
}

#[test]
fn records_hold_what_a_read_at_their_place_would_read() {
    let found = Device::new(&DeviceOptions::default()).map_err(|error| error.to_string());
    let Some(device) = demand::demand(found) else { return };
    let compiled = records(&device);
    let pass =
        |name: &str| compiled.plan.live().find(|pass| compiled.plan.pass_name(*pass) == name).expect("it is live");
    let [coarse, fine] = ["coarse", "fine"].map(|name| {
        let named = |id: &ResourceId| compiled.plan.resource_name(*id) == name;
        compiled.plan.resources.ids().find(named).expect("it is used")
    });
    let mut on = IdVec::filled(true, compiled.plan.passes.len());
    for better in [true, false] {
        on[pass("fine")] = better;
        let expected = if better { fine } else { coarse };
        assert_eq!(resource_read(&compiled, &on, pass("use"), fine), expected);
        assert_eq!(resource_read(&compiled, &on, pass("records"), fine), expected);
        assert_eq!(resource_read(&compiled, &on, pass("records first"), fine), fine, "nothing is written before it");
    }
}
