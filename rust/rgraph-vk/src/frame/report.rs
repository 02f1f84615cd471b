//! What a frame took: GPU time of each pass, CPU time of baking, recording and submitting, memory, barriers, submits.

use std::fmt;
use std::time::Instant;

use rgraph_plan::devices::DeviceId;
use rgraph_plan::id::{Id, IdVec};

use crate::compile::compiled_graph::CompiledGraph;
use crate::frame::figures::Figures;
use crate::frame::measure::Measure;
use crate::frame::outcome::Outcome;
use crate::frame::span::Span;
use crate::frame::timing::PassTime;
use crate::frame::timing::{Ran, Timed};
use crate::memory::MemoryReport;

/// Something that the host did.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct HostSpan {
    /// `wait`, `upload`, `record`, `submit`, or the name of a host pass.
    pub name: String,
    /// Microseconds to its begin; see [`FrameReport::calibrated`] from when on. Negative: before that.
    pub begin_us: f64,
    /// Microseconds to its end.
    pub end_us: f64,
}

/// What a frame took.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct FrameReport {
    /// The graph's name.
    pub graph: String,
    /// Which run of the compiled graph it was, from 0 on.
    pub run: u64,
    /// What was measured on the GPU.
    pub measure: Measure,
    /// Passes that were timed or counted, in the order of their start. Those of the host always are.
    pub passes: Vec<PassTime>,
    /// What the host did for it, in the order of its begin: spans may lie within each other.
    pub host: Vec<HostSpan>,
    /// Whether the host's times count from the frame's first timestamp, as those of the passes do; else from the first
    /// thing that the host did. True where the driver reads the device's clock (`VK_KHR_calibrated_timestamps`).
    pub calibrated: bool,
    /// Microseconds from the first pass's start to the last one's end on the GPU, if they were measured.
    pub gpu_us: Option<f64>,
    /// When, by the device's clock, they were.
    pub(crate) ran: Option<Ran>,
    /// CPU microseconds of the bake that made the plan.
    pub bake_us: f64,
    /// CPU microseconds of recording.
    pub record_us: f64,
    /// CPU microseconds of submitting.
    pub submit_us: f64,
    /// CPU microseconds of copying uploads into staging memory.
    pub upload_us: f64,
    /// Whether command buffers were recorded; else those of an earlier run were submitted again.
    pub recorded: bool,
    /// Pipeline-barrier calls of the plan.
    pub barriers: u32,
    /// Initial barriers: from the state in which earlier users left a resource to its first use.
    pub entry_barriers: u32,
    /// Batches submitted.
    pub submits: u32,
    /// Bytes of the plan's placements, the least that any placement needs, and without aliasing.
    pub placed: [u64; 3],
    /// The device's memory.
    pub memory: MemoryReport,
    /// What could not be done as asked.
    pub notes: Vec<String>,
}

impl FrameReport {
    pub(crate) fn new(
        compiled: &CompiledGraph,
        figures: &Figures,
        Timed { measure, mut passes, first, ran }: Timed,
        (host, waits): (Option<&Outcome>, Vec<Span>),
        memory: MemoryReport,
    ) -> Self {
        let called = host.map(Outcome::times).unwrap_or_default();
        let start = |pass: &PassTime| pass.start_us.unwrap_or(f64::INFINITY);
        passes.sort_by(|a, b| start(a).total_cmp(&start(b)));
        let ends = passes.iter().filter_map(|pass| Some(pass.start_us? + pass.us?));
        let gpu_us = ends.reduce(f64::max);
        for Span { name, begin, end } in &called {
            let (queue, us) = ("cpu".to_owned(), us_between(*begin, *end));
            let (pass, us) = (name.to_string(), Some(us));
            passes.push(PassTime { pass, queue, start_us: None, us, group: 1, statistics: None, id: None });
        }
        let mut spans: Vec<_> = figures.spans.iter().cloned().chain(called).chain(waits).collect();
        spans.sort_by_key(|span| span.begin);
        let origin = first.or_else(|| spans.first().map(|span| span.begin));
        let host = origin.into_iter().flat_map(|origin| {
            let us = move |moment| us_between(origin, moment);
            let one = move |span: &Span| HostSpan {
                name: span.name.to_string(),
                begin_us: us(span.begin),
                end_us: us(span.end),
            };
            spans.iter().map(one)
        });
        let host = host.collect();
        let plan = &compiled.plan;
        let mut notes = plan.report.notes.clone();
        notes.extend(compiled.notes.iter().chain(&figures.notes).cloned());
        Self {
            graph: plan.graph.clone(),
            run: figures.run - figures.first,
            measure,
            passes,
            host,
            calibrated: first.is_some(),
            gpu_us,
            ran,
            bake_us: compiled.bake_us,
            record_us: figures.record_us,
            submit_us: figures.submit_us,
            upload_us: figures.upload_us,
            recorded: figures.recorded,
            barriers: plan.report.barriers,
            entry_barriers: figures.entry_barriers,
            submits: figures.submits,
            placed: [plan.memory.total, plan.memory.lower_bound, plan.memory.without_aliasing],
            memory,
            notes,
        }
    }

    /// The report of a frame whose parts ran on several devices: `parts` has each part's device and report, in the
    /// order of the plan. Times of devices have no common clock, so passes have no start; GPU time is the longest sum
    /// of one device's parts.
    pub(crate) fn of_devices(graph: &str, run: u64, parts: Vec<(DeviceId, Self)>) -> Option<Self> {
        let devices = parts.iter().map(|(device, _)| device.index() + 1).max()?;
        let mut busy = IdVec::<DeviceId, _>::filled(None, devices);
        let mut held = IdVec::<DeviceId, Option<MemoryReport>>::filled(None, devices);
        let mut whole: Option<Self> = None;
        for (device, mut part) in parts {
            if let Some(us) = part.gpu_us {
                *busy[device].get_or_insert(0.0) += us;
            }
            held[device] = Some(std::mem::take(&mut part.memory));
            for pass in &mut part.passes {
                pass.queue = format!("{} {}", device.index(), pass.queue);
                pass.start_us = None;
            }
            let Some(all) = &mut whole else {
                whole =
                    Some(Self { graph: graph.to_owned(), run, host: Vec::new(), calibrated: false, ran: None, ..part });
                continue;
            };
            all.passes.append(&mut part.passes);
            all.notes.append(&mut part.notes);
            all.recorded |= part.recorded;
            all.bake_us += part.bake_us;
            all.record_us += part.record_us;
            all.submit_us += part.submit_us;
            all.upload_us += part.upload_us;
            all.barriers += part.barriers;
            all.entry_barriers += part.entry_barriers;
            all.submits += part.submits;
            all.placed = [0, 1, 2].map(|at| all.placed[at] + part.placed[at]);
        }
        let mut whole = whole?;
        whole.gpu_us = busy.iter().copied().flatten().reduce(f64::max);
        for memory in held.as_vec_mut().drain(..).flatten() {
            whole.memory.domains.extend(memory.domains);
            whole.memory.heaps.extend(memory.heaps);
            whole.memory.owners.extend(memory.owners);
        }
        Some(whole)
    }

    /// Measured microseconds by pass: the weights of the next bake.
    pub fn weights(&self) -> impl Iterator<Item = (&str, f64)> {
        self.passes.iter().filter_map(|pass| Some((&*pass.pass, pass.us?)))
    }

    /// What the times are, in a sentence.
    pub fn measured(&self) -> &'static str {
        match self.measure {
            Measure::Off => "GPU times were not measured: run it with measure \"batches\" or \"passes\"",
            Measure::Frame => {
                "batches were timed as a whole; ~ marks a pass's share of its batch, by modelled durations"
            }
            Measure::Batches => {
                "passes between two barrier calls were timed as one; ~ marks a pass's share of that, by modelled durations"
            }
            Measure::Passes => "each pass was timed by itself, so none overlapped another: the frame is faster without",
        }
    }
}

impl fmt::Display for FrameReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        match self.gpu_us {
            Some(us) => writeln!(f, "frame {} of \"{}\": {us:.1} µs on the GPU", self.run, self.graph)?,
            None => writeln!(f, "frame {} of \"{}\"", self.run, self.graph)?,
        }
        writeln!(f, "  times: {}", self.measured())?;
        let width = self.passes.iter().map(|pass| pass.pass.chars().count()).max().unwrap_or(4).clamp(4, 40);
        if !self.passes.is_empty() {
            writeln!(f, "  {:width$}  {:10} {:>10} {:>10}", "pass", "queue", "start µs", "µs")?;
        }
        let micros = |us: Option<f64>| us.map_or_else(String::new, |us| format!("{us:.1}"));
        for PassTime { pass, queue, start_us, us, group, statistics, .. } in &self.passes {
            let share = if *group > 1 { "~" } else { "" };
            let (start, us) = (micros(*start_us), format!("{share}{}", micros(*us)));
            write!(f, "  {pass:width$}  {queue:10} {start:>10} {us:>10}")?;
            if let Some([vertices, primitives, fragments, invocations]) = statistics {
                write!(
                    f,
                    "  {vertices} vertices, {primitives} primitives, {fragments} fragments, {invocations} invocations"
                )?;
            }
            writeln!(f)?;
        }
        let recorded = if self.recorded { "recorded" } else { "submitted again" };
        writeln!(
            f,
            "  cpu: bake {:.0} µs, record {:.0} µs ({recorded}), submit {:.0} µs, upload {:.0} µs",
            self.bake_us, self.record_us, self.submit_us, self.upload_us
        )?;
        let [total, bound, without] = self.placed.map(mib);
        writeln!(f, "  transients: {total:.2} MiB (least possible {bound:.2}, without aliasing {without:.2})")?;
        let (barriers, entries, submits) = (self.barriers, self.entry_barriers, self.submits);
        write!(f, "  {barriers} barriers, {entries} entry barriers, {submits} submits")?;
        for line in self.memory.to_string().lines().take(5) {
            write!(f, "\n  memory: {}", line.trim_start())?;
        }
        for note in &self.notes {
            write!(f, "\n  note: {note}")?;
        }
        Ok(())
    }
}

fn us_between(from: Instant, to: Instant) -> f64 {
    match to.checked_duration_since(from) {
        Some(after) => after.as_secs_f64() * 1e6,
        None => -from.duration_since(to).as_secs_f64() * 1e6,
    }
}
