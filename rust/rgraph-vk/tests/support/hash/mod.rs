//! Frames of hashes: generated graphs whose passes are shaders, draws, commands and functions that write a hash of all
//! they read, run on a driver several frames at a time, and compared with what [`evaluate`] computes here, serially, in
//! declared order. Whatever barrier, wait, layout, load operation or byte offset is wrong ends in a wrong word of a
//! root.

pub mod adapt;
mod case;
pub mod chaos;
pub mod coverage;
pub mod devices;
mod evaluate;
mod input;
pub mod mutant;
mod operation;
mod shader;
mod shape;
mod words;
mod work;

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rgraph_check::generate::{Construct, Constructs, Limits, UNSETTLED};
use rgraph_files::write_graph;
use rgraph_plan::bake::Split;
use rgraph_plan::bake::{Scratch, bake};
use rgraph_plan::format::Format;
use rgraph_plan::graph::PassId;
use rgraph_plan::id::Id;
use rgraph_plan::plan::{Placement, Plan};
use rgraph_plan::profile::Profile;
use rgraph_plan::resource::{Imported, Life, ResourceId};
use rgraph_vk::{Compiled, Device, DeviceOptions, Error, Inputs, Semaphore, Upload};

use case::Case;
use coverage::Coverage;
use operation::How;
use shader::Library;

/// What is run.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Seeds, from this one on.
    pub seed: u64,
    /// How many.
    pub graphs: u64,
    /// Runs of each compiled graph.
    pub runs: usize,
    /// Whether the first difference ends everything.
    pub stop: bool,
    /// Whether a message of a validation layer is a failure.
    pub messages: bool,
    /// Whether barriers may be split into events: 0, never.
    pub events: u64,
    /// Whether graphs have the constructs of which few were run yet.
    pub newer: bool,
}

impl Settings {
    /// From `RGRAPH_HASH_SEED`, `RGRAPH_HASH_GRAPHS`, `RGRAPH_HASH_RUNS`, `RGRAPH_HASH_STOP`, `RGRAPH_HASH_EVENTS`,
    /// `RGRAPH_HASH_MESSAGES`, `RGRAPH_HASH_NEWER` and arguments of the same
    /// names (`--seed 7`).
    pub fn read(graphs: u64, arguments: &[String]) -> Self {
        let number = |name: &str, default: u64| {
            let at = arguments.iter().position(|one| *one == format!("--{name}"));
            let given = at.and_then(|at| arguments.get(at + 1).cloned());
            let given = given.or_else(|| std::env::var(format!("RGRAPH_HASH_{}", name.to_uppercase())).ok());
            given.and_then(|text| text.parse().ok()).unwrap_or(default)
        };
        Self {
            seed: number("seed", 1),
            graphs: number("graphs", graphs),
            runs: number("runs", 5) as usize,
            stop: number("stop", 0) != 0,
            messages: number("messages", 1) != 0,
            events: number("events", 1),
            newer: number("newer", 0) != 0,
        }
    }
}

/// What was run, and what was wrong.
#[derive(Default, Debug)]
pub struct Report {
    pub graphs: u64,
    pub runs: u64,
    pub words: u64,
    /// By kind: passes of compiled graphs, those of them that run, and those that do something.
    pub passes: BTreeMap<&'static str, [u64; 3]>,
    pub accesses: u64,
    pub idle: u64,
    pub changed: BTreeMap<&'static str, u32>,
    pub queues: Vec<String>,
    pub programs: usize,
    pub seconds: f64,
    /// Of validation layers, false alarms aside.
    pub messages: Vec<String>,
    /// See [`is_false_alarm`].
    pub false_alarms: u64,
    /// What the plans that ran had in them.
    pub coverage: Coverage,
    /// The plan that ran last.
    pub plan: Option<Arc<Plan>>,
    /// In words, one a case.
    pub failures: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { graphs, runs, words, failures, seconds, programs, .. } = self;
        writeln!(f, "{graphs} graphs, {runs} runs, {words} words compared, {programs} programs, {seconds:.0} s")?;
        for queue in &self.queues {
            writeln!(f, "  {queue}")?;
        }
        for (kind, [all, live, busy]) in &self.passes {
            let share = 100.0 * *busy as f64 / (*live).max(1) as f64;
            writeln!(f, "  {kind}: {all} passes, {live} not culled, {busy} of them do something ({share:.1} %)")?;
        }
        writeln!(f, "  accesses: {}, {} of them declared only", self.accesses, self.idle)?;
        for (what, count) in &self.changed {
            writeln!(f, "  declared otherwise: {what}: {count}")?;
        }
        if self.false_alarms > 0 {
            writeln!(f, "  {} known false alarms of the validation layer", self.false_alarms)?;
        }
        if !self.messages.is_empty() {
            writeln!(f, "  {} messages of the validation layer", self.messages.len())?;
        }
        write!(f, "{}{} failures", self.coverage, failures.len())?;
        for failure in failures.iter().take(20) {
            write!(f, "\n{failure}")?;
        }
        Ok(())
    }
}

/// Constructs that few frames were run with yet.
const NEWER: Constructs = Constructs::of(&[
    Construct::Undefined,
    Construct::Exclusive,
    Construct::AspectAlone,
    Construct::PresentedTransients,
    Construct::CommutingDraws,
    Construct::MemoryDomains,
    Construct::StencilMasks,
]);

/// Constructs that the planner's tests have and no frame was run with yet.
const UNTRIED: Constructs = Constructs::of(&[
    Construct::InputMips,
    Construct::DiscardRemembered,
    Construct::UnorderedBeside,
    Construct::UnorderedReads,
    Construct::UnorderedFirst,
    Construct::DepthInPlace,
    Construct::ForwardMips,
    Construct::ForwardConditional,
    Construct::PartialFallback,
    Construct::StorageScratch,
    Construct::ScaledMips,
    Construct::ModifiedImport,
    Construct::StencilAlone,
    Construct::ModifyingFallback,
    Construct::FallbackReplaced,
    Construct::HostAfterConditional,
]);

/// What these frames have no shader, command or format for, or are not tried with.
const WITHOUT: Constructs = UNSETTLED.and(UNTRIED).and(Constructs::of(&[
    Construct::OddFormats,
    Construct::SampledSamples,
    Construct::VolumeAttachments,
    Construct::OddSizes,
    Construct::RelativeSizes,
    Construct::BufferSizes,
    Construct::ExternalArrays,
    Construct::MixedWork,
    Construct::Feedback,
    Construct::SeveralUses,
    Construct::OddScales,
    Construct::OddFallbacks,
    Construct::DepthCopies,
    Construct::OddSamples,
    Construct::UnorderedImages,
    Construct::AspectsApart,
    Construct::OddStages,
    // They are a matter of plans: what runs is flat, and these devices have no lazy memory.
    Construct::Layers,
    Construct::LazyMemory,
    // The host sees no memory of an optimally tiled image (RG-E225).
    Construct::HostImages,
]));

/// The graphs that these frames have shaders, commands and formats for; `newer`: those of [`NEWER`] constructs too.
pub fn limits(newer: bool) -> Limits {
    Limits { without: if newer { WITHOUT } else { WITHOUT.and(NEWER) }, ..Limits::default() }
}

/// Runs everything on two devices of the same GPU, with two and with three frames in flight.
///
/// # Errors
/// If there is no device.
pub fn run(settings: Settings) -> Result<Report, Error> {
    let open = |frames| Device::new(&DeviceOptions { frames_in_flight: frames, ..DeviceOptions::default() });
    let devices = [open(2)?, open(3)?];
    let swift = devices[0].info().name.contains("SwiftShader");
    let library = Library::default();
    let mut report = Report::default();
    let begin = Instant::now();
    let described = |device: &Device| {
        let queues: Vec<_> =
            device.profile().queues.iter().map(|queue| format!("{} ×{}", queue.name, queue.count)).collect();
        let validated = if std::env::var_os("RGRAPH_VALIDATE").is_some() { ", validated" } else { "" };
        format!(
            "{}: {}{validated}, {} frames in flight",
            device.info().name,
            queues.join(", "),
            device.frames_in_flight()
        )
    };
    report.queues = devices.iter().map(described).collect();
    let mut last = Instant::now();
    let mut seen_before = [0; 2];
    let seeds = settings.seed..settings.seed + settings.graphs;
    for seed in seeds {
        let mut case = Case::new(seed, limits(settings.newer), settings.runs, swift);
        if settings.events == 0 {
            case.options.split = Split::Never;
        }
        case.keep_domains(|domain, image| match image {
            true => devices[0].image_in(domain, "asked", Format::R32uint, [4, 4], 1, 1).is_ok(),
            false => devices[0].buffer_in(domain, "asked", 64).is_ok(),
        });
        report.add(&case);
        for (number, device) in devices.iter().enumerate() {
            // Each device in turn gets the plan that was made for it, and the one for three queues of three families.
            let folded = (seed as usize + number).is_multiple_of(2);
            let found = run_on(device, &case, &library, folded, &mut report);
            let mut wrong = found.err();
            let messages = device.messages();
            let (known, new): (Vec<_>, Vec<_>) = messages
                .iter()
                .skip(seen_before[number])
                .partition(|message| report.plan.as_ref().is_some_and(|plan| is_false_alarm(message, plan)));
            report.false_alarms += known.len() as u64;
            report.messages.extend(new.iter().map(|message| format!("seed {seed}: {message}")));
            if let Some(message) = new.first().filter(|_| settings.messages) {
                wrong.get_or_insert_with(|| format!("the validation layer says: {message}"));
            }
            if let Some(plan) = &report.plan {
                log(seed, plan, &messages[seen_before[number]..]);
            }
            seen_before[number] = messages.len();
            if let Some(what) = wrong {
                let plan = if folded { "a plan for three queues" } else { "its own plan" };
                let frames = device.frames_in_flight();
                let failure = format!("seed {seed}, {plan}, {:?}, {frames} frames in flight: {what}", case.options);
                eprintln!("{failure}");
                if settings.stop {
                    if let Some(plan) = &report.plan {
                        eprintln!("{}", rgraph_report::listing(plan));
                    }
                    eprintln!("{}", write_graph(&case.adapted.graph));
                    for (number, run) in case.runs.iter().enumerate() {
                        eprintln!("run {number}: flags {:?}, uploads {:?}", run.flags, run.uploads);
                    }
                }
                report.failures.push(failure);
            }
        }
        if settings.stop && !report.failures.is_empty() {
            break;
        }
        if last.elapsed() > Duration::from_secs(30) {
            last = Instant::now();
            eprintln!("seed {seed}: {} failures, {:.0} s", report.failures.len(), begin.elapsed().as_secs_f64());
        }
    }
    report.programs = library.len();
    report.seconds = begin.elapsed().as_secs_f64();
    Ok(report)
}

/// Appends what a layer says of a case, and its plan, to the file that `RGRAPH_HASH_LOG` names.
fn log(seed: u64, plan: &Plan, messages: &[String]) {
    let Some(path) = std::env::var_os("RGRAPH_HASH_LOG").filter(|_| !messages.is_empty()) else { return };
    let file = std::fs::File::options().create(true).append(true).open(path);
    let mut file = file.expect("the file that RGRAPH_HASH_LOG names can be written");
    let known = |message: &String| if is_false_alarm(message, plan) { "known" } else { "new" };
    let mut text: String =
        messages.iter().map(|message| format!("seed {seed}, {}: {message}\n", known(message))).collect();
    text += &rgraph_report::listing(plan);
    file.write_all(text.as_bytes()).expect("the file that RGRAPH_HASH_LOG names can be written");
}

/// What validation layers say of valid frames: that images in `GENERAL` could be copied faster in another layout
/// (1.3.239), though another queue reads them at once; and hazards between resources that reuse memory from each
/// other through an image, since a layer does not know which bytes an image's barrier covers (1.3.239, 1.4.364).
fn is_false_alarm(message: &str, plan: &Plan) -> bool {
    let named = |id: ResourceId| message.contains(&format!("[{}]", plan.resource_name(id)));
    let places = &plan.memory.placements;
    let shares = |one: &Placement| {
        places.iter().any(|other| {
            let apart = one.offset + one.size <= other.offset || other.offset + other.size <= one.offset;
            other.resource != one.resource && other.heap == one.heap && !apart
        })
    };
    message.contains("Validation Performance Warning")
        || message.contains("SYNC-HAZARD") && places.iter().any(|one| named(one.resource) && shares(one))
}

/// Compiles a case and runs it; an error says what is wrong.
fn run_on(device: &Device, case: &Case, library: &Library, folded: bool, report: &mut Report) -> Result<(), String> {
    let workload = work::workload(case, library);
    let compiled = if folded {
        let plan = bake(&case.adapted.graph, &Profile::discrete(), &case.options, &mut Scratch::default());
        let plan = plan.map_err(|error| format!("it cannot be baked: {error}"))?;
        device.compile_plan(Arc::new(plan), workload)
    } else {
        device.compile(workload, &case.options)
    };
    let compiled = compiled.map_err(|error| format!("it cannot be compiled: {error}"))?;
    report.add_plan(case, &compiled);
    report.plan = Some(compiled.plan().clone());
    compare(device, case, &compiled, report)
}

/// A timeline for each import with another user: each run signals it, and the next run waits for that.
fn timelines(
    device: &Device,
    case: &Case,
    compiled: &Compiled,
) -> Result<Vec<(ResourceId, Imported, Semaphore)>, Error> {
    let mut timelines = Vec::new();
    for (id, resource) in case.adapted.graph.resources().iter_ids() {
        let used = compiled.plan().resources[id].lifetime.is_some();
        if let Life::Imported(imported) = resource.life
            && (imported.wait || imported.signal)
            && used
        {
            timelines.push((id, imported, device.semaphore(0)?));
        }
    }
    Ok(timelines)
}

/// Runs a compiled case as often as it has runs, and compares the roots; an error names the first wrong words.
fn compare(device: &Device, case: &Case, compiled: &Compiled, report: &mut Report) -> Result<(), String> {
    let timelines = timelines(device, case, compiled).map_err(|error| error.to_string())?;
    let mut frames = Vec::new();
    let pattern = work::pattern_bytes();
    for (number, run) in case.runs.iter().enumerate() {
        let bytes: Vec<_> = run.uploads.iter().map(|(id, version)| (*id, case.upload(*id, *version))).collect();
        let mut uploads: Vec<_> = bytes.iter().map(|(id, bytes)| (*id, Upload::Bytes(bytes))).collect();
        if number == 0 {
            uploads.extend(case.adapted.pattern.map(|id| (id, Upload::Bytes(&pattern))));
        }
        let arguments = work::passes_with_arguments(case);
        let arguments = arguments.map(|pass| (pass, 0, work::argument_bytes(&run.arguments[&pass.index()])));
        let flags = case.adapted.graph.flags().iter().cloned().zip(run.flags.iter().copied());
        let (data, flags, targets) = (arguments.collect(), flags.collect(), run.targets());
        let mut inputs = Inputs { uploads, data, flags, targets, ..Inputs::default() };
        for (resource, imported, timeline) in &timelines {
            if imported.wait {
                inputs.waits.push(timeline.reaches(number as u64).before(*resource));
            }
            let signal = timeline.promised(number as u64 + 1).map_err(|error| error.to_string())?;
            inputs.signals.push(if imported.signal { signal.behind(*resource) } else { signal });
        }
        frames.push(compiled.run(&inputs).map_err(|error| format!("run {number} fails: {error}"))?);
        report.runs += 1;
    }
    let mut all = Vec::new();
    for (number, frame) in frames.iter().enumerate() {
        let done = frame.wait(Some(Duration::from_secs(60))).map_err(|error| format!("run {number} fails: {error}"))?;
        if !done {
            // Nothing can be taken back from a GPU that waits for ever.
            eprintln!("seed {}: run {number} does not end", case.seed);
            std::process::exit(3);
        }
        for (root, (resource, _)) in case.runs[number].roots.iter().enumerate() {
            let read = frame.read(*resource).map_err(|error| format!("run {number} cannot be read: {error}"))?;
            let (words, wrong) = case.compare(number, root, read.bytes());
            report.words += words;
            all.extend(wrong.map(|wrong| {
                format!("run {number}: \"{}\" holds at {}", wrong.resource, wrong.what)
                    + &format!(" ({} wrong words)", wrong.words)
            }));
        }
    }
    if all.is_empty() { Ok(()) } else { Err(all.join("; ")) }
}

impl Report {
    fn add(&mut self, case: &Case) {
        self.graphs += 1;
        for (what, count) in &case.adapted.changed {
            *self.changed.entry(what).or_default() += count;
        }
        self.accesses += case.adapted.graph.accesses().len() as u64;
        self.idle += case.operations.iter().flatten().map(|operation| u64::from(operation.idle)).sum::<u64>();
    }

    fn add_plan(&mut self, case: &Case, compiled: &Compiled) {
        let plan = compiled.plan();
        let graph = &case.adapted.graph;
        let conditional = |at: u32| graph.passes()[PassId::new(at as usize)].conditional.is_some();
        self.coverage.add(plan, conditional);
        let live: std::collections::HashSet<&str> = plan.live().map(|pass| plan.pass_name(pass)).collect();
        for operation in case.operations.iter().flatten() {
            let kind = match operation.how {
                How::Compute => "dispatches",
                How::Raster { .. } => "draws",
                How::Host => "functions on the host",
                How::Transfer => "transfers",
            };
            let counts = self.passes.entry(kind).or_default();
            let busy = !operation.writes.is_empty() || !operation.moves.is_empty();
            let runs = live.contains(operation.name.as_str());
            counts[0] += 1;
            counts[1] += u64::from(runs);
            counts[2] += u64::from(runs && busy);
        }
    }
}
