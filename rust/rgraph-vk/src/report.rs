//! What a frame took: GPU time of each pass, CPU time of baking, recording and submitting, memory, barriers, submits.

use std::fmt;

use rgraph_plan::plan::PlanPassId;

use crate::frame::Figures;
use crate::host::Outcome;
use crate::memory::MemoryReport;
use crate::prepared::Prepared;

/// When a pass ran and how long.
#[derive(Clone, PartialEq, Debug)]
pub struct PassTime {
    /// Its name.
    pub pass: String,
    /// Its queue; `cpu` for host passes.
    pub queue: String,
    /// Microseconds from the frame's first pass to its start; of host passes 0.
    pub start_us: f64,
    /// Microseconds that it took.
    pub us: f64,
    /// Vertices, primitives after clipping, fragment and compute invocations, where they were counted.
    pub statistics: Option<[u64; 4]>,
    /// In the plan.
    pub(crate) id: Option<PlanPassId>,
}

/// What a frame took.
#[derive(Clone, PartialEq, Debug)]
pub struct FrameReport {
    /// The graph's name.
    pub graph: String,
    /// Which run of the compiled graph it was, from 0 on.
    pub run: u64,
    /// Times of the passes, in the order of their start.
    pub passes: Vec<PassTime>,
    /// Microseconds from the first pass's start to the last one's end on the GPU.
    pub gpu_us: f64,
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
    /// Barriers that took over resources from whoever used them before.
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
        prepared: &Prepared,
        figures: &Figures,
        mut passes: Vec<PassTime>,
        host: Option<&Outcome>,
        memory: MemoryReport,
    ) -> Self {
        passes.sort_by(|a, b| a.start_us.total_cmp(&b.start_us));
        let gpu_us = passes.iter().map(|pass| pass.start_us + pass.us).fold(0.0, f64::max);
        for (pass, us) in host.map(Outcome::times).unwrap_or_default() {
            let queue = "cpu".to_owned();
            passes.push(PassTime { pass, queue, start_us: 0.0, us, statistics: None, id: None });
        }
        let plan = &prepared.plan;
        let mut notes = plan.report.notes.clone();
        notes.extend(prepared.notes.iter().chain(&figures.notes).cloned());
        Self {
            graph: plan.graph.clone(),
            run: figures.run,
            passes,
            gpu_us,
            bake_us: prepared.bake_us,
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

    /// GPU microseconds by pass: the weights of the next bake.
    pub fn weights(&self) -> impl Iterator<Item = (&str, f64)> {
        self.passes.iter().map(|pass| (&*pass.pass, pass.us))
    }
}

impl fmt::Display for FrameReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        writeln!(f, "frame {} of \"{}\": {:.1} µs on the GPU", self.run, self.graph, self.gpu_us)?;
        let width = self.passes.iter().map(|pass| pass.pass.chars().count()).max().unwrap_or(4).clamp(4, 40);
        if !self.passes.is_empty() {
            writeln!(f, "  {:width$}  {:10} {:>10} {:>10}", "pass", "queue", "start µs", "µs")?;
        }
        for PassTime { pass, queue, start_us, us, statistics, .. } in &self.passes {
            write!(f, "  {pass:width$}  {queue:10} {start_us:>10.1} {us:>10.1}")?;
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
