//! Running a capture again, and comparing what it leaves.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rgraph_files::graph::Settings;
use rgraph_files::read_plan;
use rgraph_plan::bake::Options;
use rgraph_plan::graph::{FlagId, Graph, PassId, Ranges};
use rgraph_plan::plan::PlanKind;
use rgraph_plan::resource::ResourceId;

use super::bad;
use super::function::{HostReplay, RecordReplay, Unfit};
use super::model::{Bytes, Captured, CapturedFrame, Content, Model, Outcome};
use super::read::CaptureFile;
use super::tape::{carried, lasting};
use crate::compile::compiled_graph::Place;
use crate::device::Device;
use crate::device::poll::Poll;
use crate::error::Error;
use crate::file;
use crate::frame::copy::Plane;
use crate::frame::inputs::{Inputs, Upload};
use crate::memory::physical_resource::PhysicalResource;
use crate::memory::resource::DeviceResource;
use crate::memory::staged;
use crate::run::compiled::Compiled;
use crate::work::{Work, Workload};

/// How a capture is run again.
#[derive(Clone, Copy, Default)]
pub struct ReplayOptions<'a> {
    /// Bakes each graph for this device instead of taking the captured plan.
    pub anew: bool,
    /// The graph whose images are kept, all that a picture can be of, at the end of its last frame. It is baked again
    /// with them as roots.
    pub images: Option<usize>,
    /// Called every 50 ms while waiting.
    pub poll: Option<Poll<'a>>,
}

impl fmt::Debug for ReplayOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplayOptions").field("anew", &self.anew).field("images", &self.images).finish_non_exhaustive()
    }
}

/// Bytes that differ from the captured ones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Number of the frame, from 0 on; `None`: what outlives the last of them.
    pub frame: Option<usize>,
    pub resource: String,
    /// Bytes that differ, and bytes that were compared.
    pub bytes: [u64; 2],
    /// The first byte that differs.
    pub first: u64,
}

/// A frame that ran again.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReplayedFrame {
    /// Name of its graph.
    pub graph: String,
    /// Bytes that were compared.
    pub bytes: u64,
}

/// What a capture left when it ran again.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The frames that ran.
    pub frames: Vec<ReplayedFrame>,
    /// What is not as it was captured.
    pub differences: Vec<Difference>,
    /// Whether name, driver and version of the device are those of the capture.
    pub same_driver: bool,
    /// Device and driver of the capture.
    pub captured_on: [String; 2],
    /// Why captured plans were not taken.
    pub notes: Vec<String>,
    /// Name and bytes of the images that [`ReplayOptions::images`] asks for: the texels of mip 0, layer by layer.
    pub images: Vec<(String, Arc<[u8]>)>,
}

impl Replay {
    /// Whether all bytes are as they were captured.
    pub fn is_equal(&self) -> bool {
        self.differences.is_empty()
    }
}

impl fmt::Display for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes: u64 = self.frames.iter().map(|frame| frame.bytes).sum();
        let count = self.frames.len();
        let driver = if self.same_driver { "the same driver" } else { "another driver" };
        let [device, version] = &self.captured_on;
        let frames = if count == 1 { "1 frame".to_owned() } else { format!("{count} frames") };
        match &*self.differences {
            [] => writeln!(f, "equal: {frames}, {bytes} bytes compared, on {driver} ({device}, {version})")?,
            all => writeln!(f, "{} differences in {frames}, on {driver} ({device}, {version})", all.len())?,
        }
        for Difference { frame, resource, bytes: [differ, of], first } in &self.differences {
            let at = frame.map_or("after the last frame".to_owned(), |frame| format!("frame {frame}"));
            writeln!(f, "{at}: \"{resource}\" differs in {differ} of {of} bytes, first at byte {first}")?;
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "note: {note}"))
    }
}

impl Device {
    /// Runs a capture on this device and compares what it leaves with what was captured. Plans of the capture are
    /// checked first; where one does not fit this device, the graph is baked for it and a note says so.
    ///
    /// # Errors
    /// If a graph of the capture does not run on this device, or contents do not fit their resources.
    pub fn replay(&self, capture: &CaptureFile, options: &ReplayOptions<'_>) -> Result<Replay, Error> {
        let model = &capture.model;
        let (info, mut notes, mut differences) = (self.info(), Vec::new(), Vec::new());
        let clock = Arc::new(AtomicUsize::new(0));
        let mut graphs: Vec<Option<Compiled>> = vec![None; model.graphs.len()];
        let (mut frames, mut images) = (Vec::new(), Vec::new());
        let last = model.frames.iter().rposition(|frame| Some(frame.graph) == options.images);
        for (at, frame) in model.frames.iter().enumerate() {
            clock.store(at, Ordering::Relaxed);
            let captured = &model.graphs[frame.graph];
            let compiled = match &mut graphs[frame.graph] {
                Some(compiled) => compiled,
                none => {
                    let load = workload(model, frame.graph, &clock)?;
                    let mut compiled = compile(self, captured, load, options, &mut notes)?;
                    if options.images == Some(frame.graph) {
                        compiled = self.compile(keeping(&compiled), &Options::default())?;
                    }
                    restore(&compiled, captured)?;
                    none.insert(compiled)
                }
            };
            let kept = if last == Some(at) { Some(&mut images) } else { None };
            let bytes = run(compiled, (at, frame), options, &mut differences, kept)?;
            frames.push(ReplayedFrame { graph: captured.name.clone(), bytes });
        }
        for (captured, compiled) in model.graphs.iter().zip(&graphs) {
            let Some(compiled) = compiled else { continue };
            let found = lasting(compiled.graph())?;
            for content in &captured.after {
                let same = |one: &&Content| {
                    let place = (one.slot, one.mip, one.aspect) == (content.slot, content.mip, content.aspect);
                    place && one.resource == content.resource
                };
                let bytes = found.iter().find(same).map_or(&[][..], |one| &one.bytes);
                differences.extend(difference(None, &content.resource, &content.bytes, bytes));
            }
        }
        let same_driver = model.device == info.name && model.driver == info.driver;
        let captured_on = [model.device.clone(), model.driver.clone()];
        Ok(Replay { frames, differences, same_driver, captured_on, notes, images })
    }
}

/// Graph and work of a captured graph; data stand for its functions.
fn workload(model: &Model, at: usize, clock: &Arc<AtomicUsize>) -> Result<Workload, Error> {
    let mut load = read(&model.graphs[at].graph)?;
    let hash = load.graph.content_hash();
    let mut recorded: HashMap<PassId, RecordReplay> = HashMap::new();
    let mut hosted: HashMap<PassId, HostReplay> = HashMap::new();
    let missing = |name: &str| bad(format!("the capture names a pass \"{name}\" that its graph has not"), "");
    for (number, frame) in model.frames.iter().enumerate().filter(|(_, frame)| frame.graph == at) {
        let steps = frame.steps.as_ref().map(read).transpose()?;
        if steps.as_ref().is_some_and(|steps| steps.graph.content_hash() != hash) {
            return Err(bad(format!("the steps of frame {number} are those of another graph"), "capture it again"));
        }
        for name in &frame.recorded {
            let pass = load.graph.find_pass(name).ok_or_else(|| missing(name))?;
            let Some(Work::Steps(steps)) = steps.as_ref().and_then(|steps| steps.works.get(&pass)) else { continue };
            let replay =
                recorded.entry(pass).or_insert_with(|| RecordReplay { frame: clock.clone(), frames: HashMap::new() });
            replay.frames.insert(number, steps.clone());
        }
        for (name, buffer, offset, bytes) in &frame.host {
            let pass = load.graph.find_pass(name).ok_or_else(|| missing(name))?;
            let replay = hosted.entry(pass).or_insert_with(|| HostReplay {
                pass: name.clone(),
                frame: clock.clone(),
                frames: HashMap::new(),
            });
            replay.frames.entry(number).or_default().push((buffer.clone(), *offset, bytes.clone()));
        }
    }
    load.works.extend(recorded.into_iter().map(|(pass, work)| (pass, Work::Record(Arc::new(work)))));
    load.works.extend(hosted.into_iter().map(|(pass, work)| (pass, Work::Host(Arc::new(work)))));
    Ok(load)
}

fn read(graph: &Bytes) -> Result<Workload, Error> {
    let loaded = file::read(graph, None, &Settings::new()).map_err(|failed| failed.error)?;
    Ok(loaded.load)
}

/// Compiles a graph by the captured plan, or by one of this device.
fn compile(
    device: &Device,
    captured: &Captured,
    load: Workload,
    options: &ReplayOptions<'_>,
    notes: &mut Vec<String>,
) -> Result<Compiled, Error> {
    if let Some(plan) = captured.plan.as_ref().filter(|_| !options.anew) {
        let plan = read_plan(plan, "the captured plan").map_err(Error::Graph)?;
        match device.compile_plan(Arc::new(plan), load.clone()) {
            Ok(compiled) => return Ok(compiled),
            // A plan that breaks a rule is no plan of another device.
            Err(error @ Error::Plan(_)) => return Err(error),
            Err(error) if error.is_lost() => return Err(error),
            Err(error) => {
                let line = error.to_string().lines().next().unwrap_or_default().to_owned();
                notes.push(format!("\"{}\" is baked for this device: {line}", captured.name));
            }
        }
    }
    device.compile(load, &Options::default())
}

/// Images of a plan that a picture can be of: of one sample, and still there at the end of the frame.
fn pictured(compiled: &Compiled) -> Vec<ResourceId> {
    let made = compiled.graph();
    let (graph, plan) = (&made.workload.graph, &made.plan);
    let single = |kind: &PlanKind| matches!(kind, PlanKind::Image { samples: 1, volume: false, .. });
    let used = plan.resources.iter_ids().filter(|(_, one)| one.lifetime.is_some() && single(&one.kind));
    let modified: HashSet<_> = graph.resources().iter().filter_map(|one| one.modifies).collect();
    let names = used.filter_map(|(id, _)| graph.find_resource(plan.resource_name(id)));
    names.filter(|id| !modified.contains(id)).collect()
}

/// The work of a graph whose images are roots, too.
fn keeping(compiled: &Compiled) -> Workload {
    let mut load = compiled.graph().workload.clone();
    pictured(compiled).into_iter().for_each(|image| load.graph.root(image));
    load
}

/// Refuses bytes that do not fit.
fn check_length(name: &str, wanted: u64, given: usize) -> Result<(), Error> {
    if given as u64 == wanted {
        return Ok(());
    }
    Err(bad(format!("the capture has {given} bytes of \"{name}\", and {wanted} are needed"), "capture it again"))
}

/// The plane that contents are of.
fn plane(physical: &PhysicalResource, content: &Content) -> Result<Plane, Error> {
    let plane = Plane { mip: content.mip, aspect: content.aspect };
    if !Plane::all(physical.kind).contains(&plane) {
        return Err(bad(format!("the capture has a part of \"{}\" that it has not", content.resource), ""));
    }
    check_length(&content.resource, plane.piece(physical.kind).bytes.end, content.bytes.len())?;
    Ok(plane)
}

/// Gives what outlives runs the contents that the first captured run found.
fn restore(compiled: &Compiled, captured: &Captured) -> Result<(), Error> {
    let Some(run) = captured.run else { return Ok(()) };
    let made = compiled.graph();
    let mut state = compiled.lock();
    state.run = run % made.phases.max(1);
    for content in &captured.before {
        let here = |(memory, slot, _): &(ResourceId, u32, &Arc<PhysicalResource>)| {
            *slot == content.slot && made.plan.resource_name(*memory) == content.resource
        };
        let Some((.., physical)) = carried(made).find(here) else {
            let message = format!("the capture has contents of \"{}\", which nothing carries", content.resource);
            return Err(bad(message, "capture it again"));
        };
        staged::write_plane(physical, plane(physical, content)?, &content.bytes)?;
    }
    state.set_initialised();
    Ok(())
}

/// Whether a root has contents in a run with such flags: what has a fallback has none while its pass is off.
fn holds(graph: &Graph, root: ResourceId, flags: &[(String, bool)]) -> bool {
    let off = |flag: FlagId| flags.iter().any(|(name, on)| !on && *name == graph.flags()[flag]);
    let mut fallbacks = graph.fallbacks().iter().filter(|one| one.output == root);
    let resource = &graph.resources()[root];
    resource.modifies.is_some()
        || !resource.life.is_of_frame()
        || !fallbacks.any(|one| graph.passes()[one.pass].conditional.is_some_and(off))
}

/// Runs a frame; returns how many bytes were compared. `kept` takes the images of the frame.
fn run(
    compiled: &Compiled,
    (at, frame): (usize, &CapturedFrame),
    options: &ReplayOptions<'_>,
    differences: &mut Vec<Difference>,
    kept: Option<&mut Vec<(String, Bytes)>>,
) -> Result<u64, Error> {
    let made = compiled.graph();
    let graph = &made.workload.graph;
    let resource = |name: &str| {
        let unknown = || bad(format!("the capture names \"{name}\", which its graph has not"), "capture it again");
        graph.find_resource(name).ok_or_else(unknown)
    };
    let pass = |name: &str| {
        let unknown = || bad(format!("the capture names pass \"{name}\", which its graph has not"), "capture it again");
        graph.find_pass(name).ok_or_else(unknown)
    };
    let mut planes: BTreeMap<ResourceId, Vec<&Content>> = BTreeMap::new();
    for content in &frame.inputs {
        planes.entry(resource(&content.resource)?).or_default().push(content);
    }
    let mut made = Vec::new();
    for (id, planes) in planes.iter().filter(|(_, planes)| planes.len() > 1) {
        made.push((*id, whole(compiled, *id, planes)?));
    }
    let mut uploads: Vec<(ResourceId, Upload<'_>)> =
        planes.iter().filter(|(_, of)| of.len() == 1).map(|(id, of)| (*id, Upload::Bytes(&of[0].bytes))).collect();
    uploads.extend(made.iter().map(|(id, made)| (*id, Upload::Resource(made))));
    let named = |given: &[(String, Bytes)]| -> Result<Vec<(ResourceId, Bytes)>, Error> {
        given.iter().map(|(name, bytes)| Ok((resource(name)?, bytes.clone()))).collect()
    };
    let (first, states) = (named(&frame.first)?, named(&frame.states)?);
    let wanted: Vec<(ResourceId, Ranges, &Outcome)> = frame
        .results
        .iter()
        .map(|one| {
            let ranges = Ranges { mips: one.mips, layers: one.layers, bytes: one.range };
            Ok((resource(&one.resource)?, ranges, one))
        })
        .collect::<Result<_, Error>>()?;
    let whole_roots = wanted.iter().filter(|(_, ranges, _)| *ranges == Ranges::default()).map(|(id, ..)| *id);
    let mut read: BTreeSet<ResourceId> = whole_roots.collect();
    let pictures = if kept.is_some() { pictured(compiled) } else { Vec::new() };
    read.extend(&pictures);
    let parts = wanted.iter().filter(|(_, ranges, _)| *ranges != Ranges::default());
    let inputs = Inputs {
        uploads,
        anew: true,
        first: first.iter().map(|(id, bytes)| (*id, &**bytes)).collect(),
        states: states.iter().map(|(id, bytes)| (*id, &**bytes)).collect(),
        reset: frame.reset,
        push: frame.push.iter().map(|(name, bytes)| Ok((pass(name)?, bytes.to_vec()))).collect::<Result<_, Error>>()?,
        data: frame
            .data
            .iter()
            .map(|(name, binding, bytes)| Ok((pass(name)?, *binding, bytes.to_vec())))
            .collect::<Result<_, Error>>()?,
        targets: frame.targets.iter().map(|(name, change)| Ok((pass(name)?, *change))).collect::<Result<_, Error>>()?,
        flags: frame.flags.clone(),
        read: Some(read.into_iter().collect()),
        parts: parts.map(|(id, ranges, _)| (*id, *ranges)).collect(),
        poll: options.poll,
        ..Inputs::default()
    };
    let done = compiled.run_plainly(&inputs).map_err(unfit)?;
    crate::device::poll::wait_polling(options.poll, |slice| done.wait(slice))?;
    let mut compared = 0;
    for (id, ranges, outcome) in wanted.iter().filter(|(id, ..)| holds(graph, *id, &frame.flags)) {
        let read = done.read_part(*id, *ranges)?;
        differences.extend(difference(Some(at), &outcome.resource, &outcome.bytes, read.bytes()));
        compared += outcome.bytes.len() as u64;
    }
    if let Some(kept) = kept {
        for image in pictures.into_iter().filter(|image| holds(graph, *image, &frame.flags)) {
            let read = done.read_part(image, Ranges::default())?;
            kept.push((graph.resource_name(image).to_owned(), Bytes::from(read.bytes())));
        }
    }
    Ok(compared)
}

/// An image of several mips or aspects for an imported resource, with its contents.
fn whole(compiled: &Compiled, id: ResourceId, planes: &[&Content]) -> Result<DeviceResource, Error> {
    let made = compiled.graph();
    let name = made.workload.graph.resource_name(id);
    let memory = made.known(id).map(|resource| made.ring_of(resource).0);
    let place = memory.map(|memory| (memory, &made.places[memory]));
    let Some((memory, Place::Import(usages, domain))) = place else {
        return Err(bad(format!("the capture has several mips of \"{name}\", which is not imported"), ""));
    };
    let kind = made.plan.resources[memory].kind;
    let physical = PhysicalResource::new(&made.shared, name, kind, *usages, *domain, true)?;
    for content in planes {
        staged::write_plane(&physical, plane(&physical, content)?, &content.bytes)?;
    }
    Ok(DeviceResource::of_physical(physical))
}

/// Data that do not fit their pass are a fault of the file.
fn unfit(error: Error) -> Error {
    match error {
        Error::Callback(error) if error.is::<Unfit>() => bad(error.to_string(), "capture it again"),
        other => other,
    }
}

fn difference(frame: Option<usize>, resource: &str, captured: &[u8], found: &[u8]) -> Option<Difference> {
    let missing = captured.len().abs_diff(found.len()) as u64;
    let differ = captured.iter().zip(found).filter(|(one, two)| one != two).count() as u64 + missing;
    let first = captured.iter().zip(found).position(|(one, two)| one != two);
    let first = first.unwrap_or(captured.len().min(found.len())) as u64;
    let bytes = [differ, captured.len() as u64];
    (differ > 0).then(|| Difference { frame, resource: resource.to_owned(), bytes, first })
}
