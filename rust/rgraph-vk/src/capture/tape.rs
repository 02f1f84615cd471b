//! One run, captured: its surroundings are copied before it, its results after it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rgraph_files::{write_graph, write_plan, write_profile};
use rgraph_plan::graph::{PassId, Ranges};
use rgraph_plan::id::Id;
use rgraph_plan::plan::{PlanKind, PlanLife};
use rgraph_plan::resource::ResourceId;
use rgraph_work::Step;

use super::function::{Heard, Sink};
use super::is_function;
use super::model::{Bytes, Captured, CapturedFrame, Content, Outcome};
use crate::capture::under_way::Taken;
use crate::compile::compiled_graph::{CompiledGraph, Place};
use crate::error::Error;
use crate::file::{Arrays, Callbacks, write};
use crate::frame::copy::{Plane, packed_bytes};
use crate::frame::inputs::{Inputs, Upload};
use crate::frame::state::RunState;
use crate::memory::physical_resource::PhysicalResource;
use crate::memory::staged;
use crate::run::compiled::Compiled;
use crate::run::frame::{Frame, FrameShared};
use crate::work::{Work, Workload};

/// Refuses a graph that cannot be captured.
pub(super) fn check(made: &CompiledGraph) -> Result<(), Error> {
    let graph = &made.workload.graph;
    let mut raw: Vec<_> = made.workload.works.iter().filter(|(_, work)| matches!(work, Work::Raw(_))).collect();
    raw.sort_by_key(|(pass, _)| **pass);
    if let Some((pass, _)) = raw.first() {
        let name = graph.pass_name(**pass);
        let message = format!("pass \"{name}\" records Vulkan commands itself, which no capture holds");
        return Err(Error::work(name, message, "declare its work as draws, dispatches or transfers"));
    }
    let mut lasting = carried(made);
    match lasting.find(|(_, _, physical)| samples(physical) > 1) {
        Some((memory, ..)) => Err(multisampled(made.plan.resource_name(memory))),
        None => Ok(()),
    }
}

fn samples(physical: &PhysicalResource) -> u32 {
    if let PlanKind::Image { samples, .. } = physical.kind { samples } else { 1 }
}

fn multisampled(name: &str) -> Error {
    let message = format!("\"{name}\" has several samples and outlives the run, so it cannot be captured");
    Error::input(name, message, "resolve it, and keep the result")
}

/// The images and buffers that carry contents from run to run: memory, position in its ring, physical resource.
pub(super) fn carried(made: &CompiledGraph) -> impl Iterator<Item = (ResourceId, u32, &Arc<PhysicalResource>)> {
    made.places.iter_ids().flat_map(|(memory, place)| {
        let physicals = match place {
            Place::Fixed(physical) if made.plan.resources[memory].life == PlanLife::Persistent => {
                std::slice::from_ref(physical)
            }
            Place::Ring(ring) => ring,
            _ => &[],
        };
        physicals.iter().enumerate().map(move |(slot, physical)| (memory, slot as u32, physical))
    })
}

/// All contents of an image or buffer.
fn contents(name: &str, slot: u32, physical: &Arc<PhysicalResource>) -> Result<Vec<Content>, Error> {
    if samples(physical) > 1 {
        return Err(multisampled(name));
    }
    let read = |plane: Plane| {
        let bytes = Bytes::from(staged::read_plane(physical, plane)?);
        Ok(Content { resource: name.to_owned(), slot, mip: plane.mip, aspect: plane.aspect, bytes })
    };
    Plane::all(physical.kind).into_iter().map(read).collect()
}

/// What outlives runs holds now.
pub(super) fn lasting(made: &CompiledGraph) -> Result<Vec<Content>, Error> {
    let all = carried(made).map(|(memory, slot, physical)| contents(made.plan.resource_name(memory), slot, physical));
    Ok(all.collect::<Result<Vec<_>, _>>()?.concat())
}

/// Runs a graph once and adds the run to the tapes.
pub(super) fn run(compiled: &Compiled, inputs: &Inputs<'_>, tapes: &mut [Taken]) -> Result<Frame, Error> {
    let made = compiled.graph();
    check(made)?;
    let (sink, submitted, frames, entry) = {
        let mut state = compiled.lock();
        let _inside = made.shared.enter();
        let begins = !state.is_initialised() || inputs.reset;
        let known = |taken: &Taken| taken.tape.ids.iter().position(|id| *id == made.id);
        let entry = match tapes.iter().all(|taken| known(taken).is_some()) {
            true => None,
            false => {
                let before = if state.is_initialised() { lasting(made)? } else { Vec::new() };
                Some(Captured {
                    name: made.plan.graph.clone(),
                    run: state.is_initialised().then_some(state.run),
                    before,
                    ..described(&made.workload, made)
                })
            }
        };
        let named = |given: &[(ResourceId, &[u8])]| {
            let name = |id: ResourceId| made.workload.graph.resources().get(id).map(|_| id);
            let one = |(id, bytes): &(ResourceId, &[u8])| {
                Some((made.workload.graph.resource_name(name(*id)?).to_owned(), Bytes::from(*bytes)))
            };
            given.iter().filter_map(one).collect::<Vec<_>>()
        };
        let frame = CapturedFrame {
            reset: inputs.reset,
            inputs: imported(made, &state, inputs)?,
            first: if begins { named(&inputs.first) } else { Vec::new() },
            states: named(&inputs.states),
            ..CapturedFrame::default()
        };
        let sink = Sink::default();
        state.sink = Some(sink.clone());
        let submitted = state.run_once(made, inputs);
        state.sink = None;
        let submitted = submitted.map_err(|error| state.blamed(made, error))?;
        let name = |pass| made.workload.graph.pass_name(pass).to_owned();
        let targets = inputs.targets.iter().map(|(pass, change)| (name(*pass), *change)).collect();
        let frame = CapturedFrame { targets, ..frame };
        let frames = tapes.iter_mut().map(|taken| {
            let at = known(taken).unwrap_or(taken.tape.ids.len());
            let mut frame = CapturedFrame { graph: at, ..frame.clone() };
            // A run that fails later leaves no entry behind.
            taken.tape.changed.truncate(taken.tape.ids.len());
            if at == taken.tape.ids.len() {
                taken.tape.changed.push(BTreeSet::new());
            }
            parameters(made, &state, &mut taken.tape.changed[at], &mut frame);
            frame
        });
        (sink, submitted, frames.collect::<Vec<_>>(), entry)
    };
    let mut submitted = submitted;
    let all = submitted.reads.clone();
    submitted.reads.retain(|(id, ranges, _)| wanted(inputs, *id, *ranges));
    let done = Frame(Arc::new(FrameShared { compiled: compiled.clone(), submitted, waits: Default::default() }));
    crate::device::poll::wait_polling(inputs.poll, |slice| done.wait(slice))?;
    let graph = &made.workload.graph;
    let results: Vec<_> = all
        .iter()
        .map(|(id, ranges, read)| Outcome {
            resource: graph.resource_name(*id).to_owned(),
            mips: ranges.mips,
            layers: ranges.layers,
            range: ranges.bytes,
            bytes: Bytes::from(read.bytes()),
        })
        .collect();
    let Heard { steps, host } = std::mem::take(&mut *sink.lock());
    let (mut recorded, mut written) = (Vec::new(), None);
    if !made.recorded.is_empty() {
        recorded.extend(steps.keys().map(|pass| graph.pass_name(*pass).to_owned()));
        recorded.sort();
        written = Some(with_steps(&made.workload, steps));
    }
    let after = lasting(made)?;
    for (taken, frame) in tapes.iter_mut().zip(frames) {
        let (tape, at) = (&mut taken.tape, frame.graph);
        if let Some(entry) = entry.as_ref().filter(|_| at == tape.ids.len()) {
            tape.ids.push(made.id);
            tape.model.graphs.push(entry.clone());
            let info = &made.shared.info;
            (tape.model.device, tape.model.driver) = (info.name.clone(), info.driver.clone());
            tape.model.uuid = info.uuid_text();
            tape.model.profile = Bytes::from(write_profile(&made.shared.profile).into_bytes());
        }
        let (results, host, recorded, steps) = (results.clone(), host.clone(), recorded.clone(), written.clone());
        tape.model.frames.push(CapturedFrame { results, host, recorded, steps, ..frame });
        tape.model.graphs[at].after.clone_from(&after);
    }
    Ok(done)
}

/// Whether the caller asked for what was read back.
fn wanted(inputs: &Inputs<'_>, id: ResourceId, ranges: Ranges) -> bool {
    match &inputs.read {
        _ if ranges != Ranges::default() => true,
        None => true,
        Some(read) => read.contains(&id),
    }
}

/// Graph and plan of a compiled graph, as files.
fn described(load: &Workload, made: &CompiledGraph) -> Captured {
    let mut ordered = load.graph.clone();
    ordered.to_file_order();
    let fits = ordered.content_hash() == made.plan.graph_hash;
    let plan = fits.then(|| Bytes::from(write_plan(&made.plan).into_bytes()));
    Captured { graph: with_steps(load, Default::default()), plan, ..Captured::default() }
}

/// A graph file with the work of passes that are no functions, and the given steps of those that are.
fn with_steps(load: &Workload, steps: std::collections::HashMap<PassId, Vec<Step>>) -> Bytes {
    let works = load.works.iter().filter(|(_, work)| !is_function(work)).map(|(pass, work)| (*pass, work.clone()));
    let works = works.chain(steps.into_iter().map(|(pass, steps)| (pass, Work::Steps(steps)))).collect();
    let load = Workload { graph: load.graph.clone(), works };
    // Nothing is refused: no work of these is a function.
    let text = write(&load, Arrays::default(), None, Callbacks::Skip).unwrap_or_else(|_| write_graph(&load.graph));
    Bytes::from(text.into_bytes())
}

/// What imported resources hold when the run begins.
fn imported(made: &CompiledGraph, state: &RunState, inputs: &Inputs<'_>) -> Result<Vec<Content>, Error> {
    let mut all = Vec::new();
    for import in &made.imports {
        let name = made.plan.resource_name(import.memory);
        let of = |declared: ResourceId| {
            let resource = made.known(declared);
            resource.is_some_and(|resource| made.ring_of(resource).0 == import.memory)
        };
        let given = inputs.uploads.iter().rev().find(|(declared, _)| of(*declared));
        match given {
            Some((declared, Upload::Bytes(bytes))) => {
                let plane = Plane::all(made.plan.resources[import.memory].kind)[0];
                let wanted = packed_bytes(made.plan.resources[import.memory].kind);
                // What does not fit is refused by the run.
                if bytes.len() as u64 == wanted {
                    let resource = made.workload.graph.resource_name(*declared).to_owned();
                    let bytes = Bytes::from(*bytes);
                    all.push(Content { resource, slot: 0, mip: plane.mip, aspect: plane.aspect, bytes });
                }
            }
            Some((declared, Upload::Resource(given))) => {
                let physical = given.checked(&made.shared)?;
                if import.defined {
                    all.extend(contents(made.workload.graph.resource_name(*declared), 0, physical)?);
                }
            }
            None => {
                if let (true, false, Some(physical)) = (import.defined, inputs.anew, &state.imports[import.memory]) {
                    all.extend(contents(name, 0, physical)?);
                }
            }
        }
    }
    Ok(all)
}

/// Flags of the run, and what it gave other data than the declaration.
fn parameters(
    made: &CompiledGraph,
    state: &RunState,
    changed: &mut BTreeSet<(PassId, Option<u32>)>,
    frame: &mut CapturedFrame,
) {
    let graph = &made.workload.graph;
    frame.flags = graph.flags().iter_ids().map(|(id, name)| (name.clone(), !state.off()[id.index()])).collect();
    let (push, data) = state.parameters();
    let mut bytes: BTreeMap<(PassId, Option<u32>), &[u8]> = BTreeMap::new();
    for (pass, planned) in &made.planned {
        for packet in &made.packets.packets[made.packets.of_pass[*planned].range()] {
            let range = packet.push.range();
            if push[range.clone()] != made.packets.push[range.clone()] || changed.contains(&(*pass, None)) {
                bytes.insert((*pass, None), &push[range]);
            }
        }
    }
    for (planned, binding, [first, end]) in &made.packets.blocks {
        let Some(pass) = made.table.pass_of[*planned] else { continue };
        let range = *first as usize..*end as usize;
        let key = (pass, Some(*binding));
        if data[range.clone()] != made.packets.data[range.clone()] || changed.contains(&key) {
            bytes.insert(key, &data[range]);
        }
    }
    for ((pass, binding), bytes) in bytes {
        changed.insert((pass, binding));
        let (name, bytes) = (graph.pass_name(pass).to_owned(), Bytes::from(bytes));
        match binding {
            None => frame.push.push((name, bytes)),
            Some(binding) => frame.data.push((name, binding, bytes)),
        }
    }
}
