//! Checks a plan for several devices: each device's memory is walked step by step, with a version per subresource.
//!
//! A version says which writes its contents have: the last one in declared order, and the unordered ones since. The
//! version that an access needs follows from the declaration alone. Steps of one device run in the order of the plan,
//! and only a receive waits for another device, for a send that stands before it; so one walk over the list stands for
//! every execution, and none waits in a circle.

mod graphs;
mod walk;

use rgraph_ir::devices::{DeviceCopyId, DeviceId, DeviceStep, DevicesPlan};
use rgraph_ir::graph::{Graph, PassId};
use rgraph_ir::id::{Id, IdVec};

use crate::facts::{Facts, Inserted};
use crate::finding::{Finding, Findings, Rule};

/// Checks a plan for several devices, and the graphs that its parts are compiled from, in the order of its parts.
/// Returns every violation found; empty if there is none. Each part's own plan is checked by [`check`](crate::check).
///
/// O(accesses × subresources × writers between).
pub fn check_devices(graph: &Graph, plan: &DevicesPlan, parts: &[Graph]) -> Vec<Finding> {
    let mut findings = Findings::default();
    if plan.graph_hash != graph.content_hash() {
        let message = format!("the plan is of graph \"{}\" with another content", plan.graph);
        findings.add(Rule::WrongGraph, None, None, message);
    }
    let flat = graph.flattened();
    let facts = Facts::new(flat.as_ref().unwrap_or(graph), None);
    if well_formed(&facts, plan, &mut findings) {
        passes(&facts, plan, &mut findings);
        supported(&facts, plan, &mut findings);
        orderings(&facts, plan, &mut findings);
        let starts = walk::Walk::new(&facts, plan).walk(&mut findings);
        graphs::graphs(&facts, plan, parts, &starts, &mut findings);
    }
    findings.into_vec()
}

/// Whether every id of a plan points somewhere, every part runs once, and every copy is received after it is sent: a
/// plan of which graphs of parts can be made.
pub fn is_well_formed_for_devices(graph: &Graph, plan: &DevicesPlan) -> bool {
    let flat = graph.flattened();
    let facts = Facts::new(flat.as_ref().unwrap_or(graph), None);
    well_formed(&facts, plan, &mut Findings::default())
}

/// Every id points somewhere, every part runs once, every copy is sent once and received once, after that.
fn well_formed(facts: &Facts<'_>, plan: &DevicesPlan, findings: &mut Findings) -> bool {
    let devices = plan.profiles.len();
    let (passes, resources) = (facts.graph.passes().len(), facts.grids.len());
    let mut wrong = |message: String| findings.add(Rule::Malformed, None, None, message);
    let mut fine = true;
    let mut is = |holds: bool, message: &dyn Fn() -> String| {
        if !holds {
            fine = false;
            wrong(message());
        }
    };
    is(devices > 0, &|| "the plan has no device".to_owned());
    for (id, part) in plan.parts.iter_ids() {
        is(part.device.index() < devices, &|| format!("part {} runs on device {}", id.index(), part.device.index()));
        let known = part.passes.iter().all(|pass| pass.index() < passes);
        is(known, &|| format!("part {} names a pass that is not there", id.index()));
    }
    for (id, copy) in plan.copies.iter_ids() {
        let known = copy.from.index() < devices && copy.to.index() < devices && copy.from != copy.to;
        is(known, &|| format!("copy {} goes from device {} to {}", id.index(), copy.from.index(), copy.to.index()));
        let known = copy.resource.is_none_or(|resource| resource.index() < resources);
        is(known, &|| format!("copy {} names a resource that is not there", id.index()));
    }
    for place in plan.homes.iter().chain(&plan.results) {
        let known = place.device.index() < devices && place.resource.index() < resources;
        is(known, &|| "a home or a result names a device or a resource that is not there".to_owned());
    }
    let (mut ran, mut sent) = (vec![false; plan.parts.len()], vec![false; plan.copies.len()]);
    let mut received = sent.clone();
    for step in &plan.steps {
        let (done, at) = match step {
            DeviceStep::Run(part) => (&mut ran, part.index()),
            DeviceStep::Send(copy) => (&mut sent, copy.index()),
            DeviceStep::Receive(copy) => {
                let before = sent.get(copy.index()).copied().unwrap_or(false);
                is(before, &|| format!("copy {} is received before it is sent: its devices wait", copy.index()));
                (&mut received, copy.index())
            }
        };
        let first = done.get_mut(at).is_some_and(|done| !std::mem::replace(done, true));
        is(first, &|| format!("{step:?} names what is not there, or comes twice"));
    }
    let all = ran.iter().chain(&sent).chain(&received).all(|done| *done);
    is(all, &|| "a part never runs, or a copy is not sent or not received".to_owned());
    fine
}

/// Every needed pass runs once, where it may.
fn passes(facts: &Facts<'_>, plan: &DevicesPlan, findings: &mut Findings) {
    let mut runs = IdVec::<PassId, u32>::filled(0, facts.graph.passes().len());
    for part in plan.parts.iter() {
        for pass in &part.passes {
            runs[*pass] += 1;
            let name = facts.graph.pass_name(*pass);
            if let Some(device) =
                facts.graph.passes()[*pass].device.filter(|device| *device as usize != part.device.index())
            {
                let message =
                    format!("pass \"{name}\" runs on device {}, but is declared on {device}", part.device.index());
                findings.add(Rule::Device, Some(name), None, message);
            }
        }
    }
    for (at, declared) in facts.declared_passes.iter_ids() {
        let Some(pass) = declared.declared.map(|pass| PassId::new(pass.index())) else { continue };
        if facts.needed[at] && runs[pass] != 1 || runs[pass] > 1 {
            let message = format!("pass \"{}\" runs {} times in a frame", declared.name, runs[pass]);
            findings.add(Rule::Passes, Some(&declared.name), None, message);
        }
    }
}

/// What several devices cannot do yet, and copies of what cannot be copied.
fn supported(facts: &Facts<'_>, plan: &DevicesPlan, findings: &mut Findings) {
    for copy in plan.copies.iter() {
        let Some(resource) = copy.resource else { continue };
        let structure = facts.graph.resources()[resource].as_buffer().is_some_and(|one| one.acceleration_structure);
        if structure || facts.shapes[resource].samples > 1 {
            let name = facts.name(resource);
            let message = format!("\"{name}\" is copied between devices, but has samples or is no plain memory");
            findings.add(Rule::Device, None, Some(name), message);
        }
    }
    if plan.parts.len() < 2 {
        return;
    }
    if let Some(fallback) = facts.graph.fallbacks().first() {
        let name = facts.graph.pass_name(fallback.pass);
        let message = format!("pass \"{name}\" has a fallback, and the graph is cut into parts");
        findings.add(Rule::Device, Some(name), None, message);
    }
    for declared in &facts.declared_passes {
        if let Some(Inserted::Scaled { to, .. }) = declared.inserted {
            let message = format!("\"{}\" is a scaled copy, and the graph is cut into parts", facts.name(to));
            findings.add(Rule::Device, None, Some(facts.name(to)), message);
        }
    }
}

/// When a pass runs.
#[derive(Clone)]
struct Ran {
    device: DeviceId,
    /// Its step on that device, from 1.
    step: u32,
    /// Its place in the part.
    place: usize,
    /// By device: the steps that are done before the part.
    known: IdVec<DeviceId, u32>,
}

/// Passes that are only ordered run in that order: on one device by its list, else behind a chain of copies.
fn orderings(facts: &Facts<'_>, plan: &DevicesPlan, findings: &mut Findings) {
    let devices = plan.profiles.len();
    let mut at: IdVec<PassId, Option<Ran>> = IdVec::filled(None, facts.graph.passes().len());
    let mut clock = IdVec::<DeviceId, _>::filled(IdVec::<DeviceId, u32>::filled(0, devices), devices);
    let mut sent = IdVec::<DeviceCopyId, _>::filled(IdVec::<DeviceId, u32>::new(), plan.copies.len());
    for step in &plan.steps {
        let device = plan.device_of(*step);
        if let DeviceStep::Receive(copy) = step {
            let theirs = &sent[*copy];
            clock[device].iter_mut().zip(theirs).for_each(|(own, theirs)| *own = (*own).max(*theirs));
        }
        clock[device][device] += 1;
        match step {
            DeviceStep::Run(part) => {
                for (place, pass) in plan.parts[*part].passes.iter().enumerate() {
                    let known = clock[device].clone();
                    at[*pass] = Some(Ran { device, step: known[device], place, known });
                }
            }
            DeviceStep::Send(copy) => sent[*copy].clone_from(&clock[device]),
            DeviceStep::Receive(_) => {}
        }
    }
    for (later, earlier) in facts.orderings() {
        let [later, earlier] = [later, earlier].map(|declared| facts.declared_passes[declared].declared);
        let (Some(later), Some(earlier)) = (later, earlier) else { continue };
        let [later, earlier] = [later, earlier].map(|pass| PassId::new(pass.index()));
        let (Some(own), Some(other)) = (&at[later], &at[earlier]) else { continue };
        let together = (own.device, own.step) == (other.device, other.step);
        if if together { other.place > own.place } else { own.known[other.device] < other.step } {
            let (later, earlier) = (facts.graph.pass_name(later), facts.graph.pass_name(earlier));
            let message =
                format!("pass \"{later}\" comes after \"{earlier}\", but no copy between their devices orders them");
            findings.add(Rule::Order, Some(later), None, message);
        }
    }
}
