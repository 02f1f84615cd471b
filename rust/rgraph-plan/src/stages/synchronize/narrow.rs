//! Leaves out what is known already: of the stages and accesses that the walk asked for, each barrier and wait keeps those
//! without which a use would not follow, or not see, what it was asked to.
//!
//! The frame is walked twice in the order of its batches, with rows of [`Lanes`]: first as a run that knows of none before
//! it, which decides what uses of one frame need of each other; then as the next run, which begins with what the first
//! one knew at its end and adds what uses need of the run before. So nothing relies on a stage that is left out later.
//! O(barriers · stages² · queues + sources).

use super::call::{About, Barrier, NONE, Source, Via};
use super::epoch::Frame;
use super::hazard::{Hazards, Scene};
use super::lanes::{self, Lanes, NEVER, bits, join};
use super::repeat::Repeats;
use crate::access::{Accesses, Stages};
use crate::id::Span;
use crate::plan::Hazard;

/// What a barrier keeps: masks of the frame's stages.
#[derive(Clone, Copy, Debug, Default)]
struct Kept {
    /// First scope.
    first: u32,
    /// Stages whose writes it makes available.
    writes: u32,
    /// Second scope.
    second: u32,
    /// Whether it shows writes.
    shows: bool,
}

/// Something that must be ordered before a barrier, or available there.
#[derive(Clone, Copy, Debug)]
struct Must {
    /// The stage itself, where it is on the barrier's queue.
    own: u32,
    /// Stages through which the queue knows it already.
    known: u32,
    /// Whether it is about availability: logically later stages do not stand for its own.
    available: bool,
}

/// Memory that narrowing reuses.
#[derive(Default, Debug)]
pub struct Narrow {
    lanes: Lanes,
    /// Stops of each queue.
    stops: Vec<i32>,
    position: Vec<i32>,
    /// Barriers by call.
    of_call: Vec<Span>,
    sorted: Vec<u32>,
    /// Reliances by step.
    of_step: Vec<Span>,
    relies: Vec<u32>,
    /// Barriers that just order, by step.
    ordered_of_step: Vec<Span>,
    ordered_sorted: Vec<u32>,
    kept: Vec<Kept>,
    /// Stages of waits of this run, and of those for the run before.
    waits: Vec<u32>,
    repeats: Vec<u32>,
    /// Waits for the run before by batch.
    of_batch: Vec<Span>,
    repeats_sorted: Vec<u32>,
    /// Rows of signals by batch, of this run and of the one before.
    signals: Vec<i32>,
    signals_before: Vec<i32>,
    /// What each queue waited for.
    met: Vec<i32>,
    before: Vec<i32>,
    row: Vec<i32>,
    /// By queue and stage: the latest position that must be ordered; by stage, that must be available.
    ordered: Vec<i32>,
    available: Vec<i32>,
    musts: Vec<Must>,
}

impl Narrow {
    /// Narrows the barriers, waits and waits for the run before of a frame.
    pub fn narrow(&mut self, scene: Scene<'_>, hazards: &mut Hazards, repeats: &mut Repeats, waits: &mut [Stages]) {
        self.start(scene, hazards, repeats, waits.len());
        self.run(scene, hazards, repeats, false);
        self.lanes.next_run(&self.stops);
        std::mem::swap(&mut self.signals, &mut self.signals_before);
        for row in self.signals_before.chunks_exact_mut(self.lanes.width()) {
            lanes::shift(row, &self.stops, self.lanes.width() / 2 / self.stops.len());
        }
        self.run(scene, hazards, repeats, true);
        self.finish(hazards, repeats, waits);
    }

    fn start(&mut self, scene: Scene<'_>, hazards: &Hazards, repeats: &Repeats, waits: usize) {
        let course = scene.frame.course;
        let touched = (0..course.stops.len()).flat_map(|at| scene.frame.touches(at));
        let stages = touched.fold(Stages::HOST, |all, touch| all | touch.stages);
        let queues = course.queues + 1;
        self.lanes.start(queues, stages);
        self.stops.clear();
        self.stops.resize(queues, 0);
        for stop in &course.stops {
            self.stops[usize::from(stop.queue)] += 1;
        }
        let barriers = &hazards.calls.barriers;
        let calls = hazards.calls.calls.len();
        sort_by(calls, barriers.iter().map(|barrier| barrier.call), &mut self.of_call, &mut self.sorted);
        let steps = hazards.relies.iter().map(|one| one.step);
        sort_by(course.steps.len(), steps, &mut self.of_step, &mut self.relies);
        let steps = hazards.ordered.iter().map(|(step, _)| *step);
        sort_by(course.steps.len(), steps, &mut self.ordered_of_step, &mut self.ordered_sorted);
        let batches = repeats.waits.iter().map(|wait| wait.batch);
        sort_by(scene.batches.cuts.len(), batches, &mut self.of_batch, &mut self.repeats_sorted);
        self.kept.clear();
        self.kept.resize(barriers.len(), Kept::default());
        self.waits.clear();
        self.waits.resize(waits, 0);
        self.repeats.clear();
        self.repeats.resize(repeats.waits.len(), 0);
        self.signals_before.clear();
        self.available.clear();
        self.available.resize(self.lanes.width(), NEVER);
        self.ordered.clear();
        self.ordered.resize(self.lanes.width(), NEVER);
    }

    /// One run, `again` as the one after another.
    fn run(&mut self, scene: Scene<'_>, hazards: &Hazards, repeats: &Repeats, again: bool) {
        let course = scene.frame.course;
        self.signals.clear();
        self.met.clear();
        self.met.resize(self.stops.len() * self.lanes.width(), NEVER);
        self.position.clear();
        self.position.resize(self.stops.len(), 0);
        for (batch, cut) in scene.batches.cuts.iter().enumerate() {
            crate::cancel::poll();
            let queue = usize::from(cut.queue);
            let first = scene.batches.first_step(batch as u32);
            for stop in course.steps[first as usize].stops.range() {
                for wait in scene.clocks.of_stop[stop].range() {
                    self.arrive(scene, repeats, queue, Via::Run(wait as u32), self.waits[wait]);
                }
            }
            for at in self.of_batch[batch].range().filter(|_| again) {
                let wait = self.repeats_sorted[at];
                self.arrive(scene, repeats, queue, Via::Before(wait), self.repeats[wait as usize]);
            }
            for &step in &scene.batches.steps[cut.steps.range()] {
                for at in self.of_step[step as usize].range() {
                    self.rely(scene, hazards, repeats, self.relies[at], again);
                }
                self.call(scene, hazards, repeats, (hazards.before_step[step as usize], queue), again);
                // Nothing else relies on what just orders, so that it is looked at last.
                for at in self.ordered_of_step[step as usize].range().filter(|_| again) {
                    let (_, barrier) = hazards.ordered[self.ordered_sorted[at] as usize];
                    self.order(scene, hazards, barrier, queue);
                }
                self.position[queue] += course.steps[step as usize].stops.range().len() as i32;
            }
            self.call(scene, hazards, repeats, (hazards.at_end[batch], queue), again);
            let width = self.lanes.width();
            let met = &self.met[queue * width..(queue + 1) * width];
            self.lanes.signal(queue, self.position[queue], met, &mut self.signals);
        }
    }

    /// Puts the row of the signal that a wait is for into `self.row`.
    fn signal(&mut self, scene: Scene<'_>, repeats: &Repeats, via: Via) {
        let stop = match via {
            Via::Run(wait) => {
                let wait = scene.clocks.waits[wait as usize];
                scene.clocks.stop_at(wait.queue, wait.position)
            }
            Via::Before(wait) => repeats.waits[wait as usize].last,
        };
        let batch = scene.batches.batch_of(scene.frame.course.stops[stop as usize].step) as usize;
        let rows = if matches!(via, Via::Run(_)) { &self.signals } else { &self.signals_before };
        let width = self.lanes.width();
        self.row.clear();
        self.row.extend_from_slice(&rows[batch * width..(batch + 1) * width]);
    }

    /// A wait of a queue at these stages. Its signal comes before the queue's own ones at whatever stage it waits.
    fn arrive(&mut self, scene: Scene<'_>, repeats: &Repeats, queue: usize, via: Via, stages: u32) {
        self.signal(scene, repeats, via);
        let width = self.lanes.width();
        if matches!(via, Via::Run(_)) {
            join(&mut self.met[queue * width..(queue + 1) * width], &self.row);
        }
        self.lanes.wait(queue, stages, &self.row);
    }

    /// Makes a wait hold up more stages.
    fn widen(&mut self, scene: Scene<'_>, repeats: &Repeats, queue: usize, via: Via, stages: u32) {
        match via {
            Via::Run(wait) => self.waits[wait as usize] |= stages,
            Via::Before(wait) => self.repeats[wait as usize] |= stages,
        }
        self.signal(scene, repeats, via);
        self.lanes.wait(queue, stages, &self.row);
    }

    /// Position of a source, in this run or the one before.
    fn position_of(&self, frame: Frame<'_>, source: &Source) -> (usize, i32) {
        let stop = frame.course.stops[source.stop as usize];
        let queue = usize::from(stop.queue);
        (queue, stop.position as i32 - if source.previous { self.stops[queue] } else { 0 })
    }

    /// A use that follows another queue by a wait alone.
    fn rely(&mut self, scene: Scene<'_>, hazards: &Hazards, repeats: &Repeats, at: u32, again: bool) {
        let reliance = &hazards.relies[at as usize];
        let source = reliance.source;
        let Some(via) = source.via.filter(|_| again || !source.previous) else { return };
        let (queue, position) = self.position_of(scene.frame, &source);
        let here = usize::from(reliance.queue);
        let sources = self.lanes.mask(source.stages);
        let asked = self.lanes.mask(reliance.stages);
        let lanes = &self.lanes;
        let knows = |row: &[i32]| {
            bits(sources).all(|stage| {
                row[lanes.done(queue, stage)] >= position
                    && (source.writes.is_empty() || row[lanes.available(queue, stage)] >= position)
            })
        };
        let mut more = 0;
        if reliance.chains {
            let first = lanes.with_earlier(asked);
            if !bits(first).any(|stage| knows(lanes.ordered(here, stage))) {
                more = last(asked);
            }
        } else {
            for stage in bits(asked) {
                let known = if reliance.sees { lanes.seen(here, stage) } else { lanes.ordered(here, stage) };
                more |= if knows(known) { 0 } else { 1 << stage };
            }
        }
        if more != 0 {
            self.widen(scene, repeats, here, via, more);
        }
    }

    /// The barriers of a call: those of images and buffers are there anyway, so what they order, others need not.
    fn call(
        &mut self,
        scene: Scene<'_>,
        hazards: &Hazards,
        repeats: &Repeats,
        (call, queue): (u32, usize),
        again: bool,
    ) {
        if call == NONE {
            return;
        }
        self.before.clear();
        self.before.extend_from_slice(self.lanes.of_queue(queue));
        let barriers = self.of_call[call as usize];
        for at in barriers.range() {
            let barrier = self.sorted[at] as usize;
            let Barrier { about, scope, .. } = hazards.calls.barriers[barrier];
            if again && about == About::Memory && self.kept[barrier].first != 0 {
                self.publish(queue, self.kept[barrier], scope.dst_access);
            }
        }
        for memory in [false, true] {
            for at in barriers.range() {
                let barrier = self.sorted[at];
                let Barrier { about, why, .. } = hazards.calls.barriers[barrier as usize];
                if why.hazard != Hazard::Ordered && (about == About::Memory) == memory {
                    self.barrier(scene, hazards, repeats, (barrier, queue), again);
                }
            }
        }
    }

    /// A barrier that just orders keeps what the use behind it lacks when its own barriers have been looked at.
    fn order(&mut self, scene: Scene<'_>, hazards: &Hazards, at: u32, queue: usize) {
        let barrier = &hazards.calls.barriers[at as usize];
        let mut kept = self.kept[at as usize];
        let mut source = barrier.sources;
        while let Some(one) = hazards.calls.sources.get(source as usize) {
            source = one.next;
            let (_, position) = self.position_of(scene.frame, one);
            for stage in bits(self.lanes.mask(one.stages)) {
                let column = self.lanes.done(queue, stage);
                let second = self.lanes.mask(barrier.scope.dst_stages);
                let lacks = bits(second).filter(|&to| self.lanes.ordered(queue, to)[column] < position);
                let lacks = lacks.fold(0, |all, to| all | 1 << to);
                if lacks != 0 && self.lanes.with_earlier(kept.first) & 1 << stage == 0 {
                    kept.first |= 1 << stage;
                }
                kept.second |= lacks;
            }
        }
        // Of later stages in the first scope, earlier ones are no longer needed; the second scope likewise.
        for stage in bits(kept.first) {
            let rest = kept.first & !(1 << stage);
            kept.first = if self.lanes.with_earlier(rest) & 1 << stage == 0 { kept.first } else { rest };
        }
        for stage in bits(kept.second) {
            let rest = kept.second & !(1 << stage);
            kept.second = if self.lanes.with_later(rest) & 1 << stage == 0 { kept.second } else { rest };
        }
        self.kept[at as usize] = kept;
    }

    fn barrier(
        &mut self,
        scene: Scene<'_>,
        hazards: &Hazards,
        repeats: &Repeats,
        (at, queue): (u32, usize),
        again: bool,
    ) {
        let barrier = &hazards.calls.barriers[at as usize];
        let memory = barrier.about == About::Memory;
        let scope = barrier.scope;
        let mut kept = self.kept[at as usize];
        let asked = self.lanes.mask(scope.src_stages);
        if is_kept(barrier) {
            let writes = bits(asked).filter(|&stage| self.lanes.performed(1 << stage).intersects(scope.src_access));
            kept = Kept {
                first: asked,
                writes: writes.fold(0, |all, stage| all | 1 << stage),
                second: self.lanes.mask(scope.dst_stages),
                shows: true,
            };
        } else {
            self.gather(scene, hazards, barrier.sources, (queue, memory), again);
            self.find_musts(queue, barrier, &mut kept);
            let mut first = self.least(asked, kept.first);
            if first.is_none() {
                self.chain(scene, hazards, repeats, barrier.sources, (queue, asked), again);
                self.find_musts(queue, barrier, &mut kept);
                first = self.least(asked, kept.first);
            }
            kept.first = first.unwrap_or(asked);
            kept.writes |= self.makes_available(kept.first);
            if !memory {
                kept.second = self.lanes.mask(scope.dst_stages);
            }
            self.ordered.fill(NEVER);
            self.available.fill(NEVER);
        }
        self.kept[at as usize] = kept;
        let shown = if memory { scope.dst_access } else { Accesses::empty() };
        self.publish(queue, if memory { kept } else { Kept { writes: 0, ..kept } }, shown);
    }

    /// Lets what follows a barrier be ordered after what comes before it, and see what it shows.
    fn publish(&mut self, queue: usize, kept: Kept, shown: Accesses) {
        if kept.first == 0 || kept.second == 0 {
            return;
        }
        let position = self.position[queue];
        let mut row = std::mem::take(&mut self.row);
        self.lanes.enter(&self.before, queue, position, kept.first, &mut row);
        for stage in bits(kept.writes) {
            row[self.lanes.available(queue, stage)] = position;
        }
        if kept.shows {
            self.lanes.show(queue, kept.second, shown, &row);
        }
        self.lanes.order_after(queue, kept.second, &row);
        self.row = row;
    }

    /// The latest positions that a barrier must follow, and whose writes it must find available.
    fn gather(
        &mut self,
        scene: Scene<'_>,
        hazards: &Hazards,
        mut at: u32,
        (queue, memory): (usize, bool),
        again: bool,
    ) {
        while let Some(source) = hazards.calls.sources.get(at as usize) {
            at = source.next;
            let (of, position) = self.position_of(scene.frame, source);
            // A barrier about memory is of its queue; what comes from others is seen through waits.
            if source.previous && !again || memory && of != queue {
                continue;
            }
            for stage in bits(self.lanes.mask(source.stages)) {
                let ordered = &mut self.ordered[self.lanes.done(of, stage)];
                *ordered = (*ordered).max(position);
                if of == queue && self.lanes.performed(1 << stage).intersects(source.writes) {
                    let available = &mut self.available[self.lanes.done(of, stage)];
                    *available = (*available).max(position);
                }
            }
        }
    }

    /// What a barrier must follow and what must be available there; of one about memory, what its second scope lacks.
    fn find_musts(&mut self, queue: usize, barrier: &Barrier, kept: &mut Kept) {
        let (memory, scope) = (barrier.about == About::Memory, barrier.scope);
        // Of what a use declares it may read a part: for validation layers the next write of the rest follows the write
        // before, though order is enough for it (Vulkan 1.3, Appendix B "Memory Model", "Location-Ordered").
        let first_use = matches!(barrier.why.hazard, Hazard::FirstUse | Hazard::Alias);
        // Older writes are available wherever the reads after them are ordered.
        let looks = memory && barrier.looks;
        self.musts.clear();
        let lanes = &self.lanes;
        let (width, second) = (lanes.width(), lanes.mask(scope.dst_stages));
        let stages = width / 2 / self.stops.len();
        let knowing = |column: usize, position: i32| {
            let rows = self.before.chunks_exact(width).enumerate();
            rows.fold(0, |all, (stage, row)| all | u32::from(row[column] >= position) << stage)
        };
        for column in 0..width / 2 {
            let (of, stage) = (column / stages, column % stages);
            let position = self.ordered[column];
            if position != NEVER {
                let lacks = bits(second).filter(|&to| lanes.ordered(queue, to)[column] < position);
                let lacks = lacks.fold(0, |all, to| all | 1 << to);
                if !memory || looks || lacks != 0 {
                    kept.second |= if looks { second } else { lacks };
                    kept.shows |= looks || first_use;
                    let own = if of == queue { 1 << stage } else { 0 };
                    self.musts.push(Must { own, known: knowing(column, position), available: false });
                }
            }
            let position = self.available[column];
            if position != NEVER {
                let column = lanes.available(of, stage);
                let blind = bits(second).filter(|&to| {
                    let accesses = scope.dst_access & lanes.performed(1 << to);
                    !accesses.is_empty() && !lanes.is_visible(queue, to, accesses, column, position)
                });
                let blind = blind.fold(0, |all, to| all | 1 << to);
                if !memory || blind != 0 {
                    kept.second |= blind;
                    kept.shows = true;
                    self.musts.push(Must { own: 1 << stage, known: knowing(column, position), available: true });
                }
            }
        }
    }

    /// Whether a first scope holds all that must be in it.
    fn suffices(&self, first: u32) -> bool {
        let earlier = self.lanes.with_earlier(first);
        self.musts.iter().all(|must| {
            let own = if must.available { first } else { earlier };
            (own & must.own) | (earlier & must.known) != 0
        })
    }

    /// The fewest of the stages that were asked for with those that are kept: earlier ones are left out first.
    fn least(&self, asked: u32, kept: u32) -> Option<u32> {
        let mut first = asked | kept;
        if !self.suffices(first) {
            return None;
        }
        for stage in bits(asked & !kept) {
            if self.suffices(first & !(1 << stage)) {
                first &= !(1 << stage);
            }
        }
        Some(first)
    }

    /// Stages whose writes a first scope must make available itself.
    fn makes_available(&self, first: u32) -> u32 {
        let earlier = self.lanes.with_earlier(first);
        let lacks = self.musts.iter().filter(|must| must.available && earlier & must.known == 0);
        lacks.fold(0, |all, must| all | must.own)
    }

    /// Lets the waits through which a barrier knows its sources of other queues reach its first scope.
    fn chain(
        &mut self,
        scene: Scene<'_>,
        hazards: &Hazards,
        repeats: &Repeats,
        mut at: u32,
        (queue, asked): (usize, u32),
        again: bool,
    ) {
        while let Some(source) = hazards.calls.sources.get(at as usize) {
            at = source.next;
            let Some(via) = source.via.filter(|_| again || !source.previous) else { continue };
            let (of, position) = self.position_of(scene.frame, source);
            let first = self.lanes.with_earlier(asked);
            let stages = self.lanes.mask(source.stages);
            let known = bits(stages).all(|stage| {
                let column = self.lanes.done(of, stage);
                bits(first).any(|to| self.before[to * self.lanes.width() + column] >= position)
            });
            if !known {
                self.widen(scene, repeats, queue, via, last(asked));
                let width = self.lanes.width();
                for stage in bits(self.lanes.with_later(last(asked))) {
                    join(&mut self.before[stage * width..(stage + 1) * width], &self.row);
                }
            }
        }
    }

    fn finish(&self, hazards: &mut Hazards, repeats: &mut Repeats, waits: &mut [Stages]) {
        for (barrier, kept) in hazards.calls.barriers.iter_mut().zip(&self.kept) {
            if is_kept(barrier) {
                continue;
            }
            let scope = &mut barrier.scope;
            scope.src_stages = self.lanes.stages(kept.first);
            scope.src_access &= self.lanes.performed(kept.writes);
            if barrier.about == About::Memory {
                scope.dst_stages = self.lanes.stages(kept.second);
                scope.dst_access &= if kept.shows { self.lanes.performed(kept.second) } else { Accesses::empty() };
                if kept.second == 0 {
                    *scope = crate::plan::Scope::default();
                }
            }
        }
        for (wait, kept) in waits.iter_mut().zip(&self.waits) {
            // Later waits rely on every one of this run.
            let kept = if *kept == 0 { last(self.lanes.mask(*wait)) } else { *kept };
            *wait = self.lanes.stages(kept);
        }
        for (wait, kept) in repeats.waits.iter_mut().zip(&self.repeats) {
            wait.stages = self.lanes.stages(*kept);
        }
    }
}

/// Whether a barrier stays as it was asked for.
fn is_kept(barrier: &Barrier) -> bool {
    !barrier.narrows || barrier.keeps && barrier.about == About::Memory
}

/// The last stage of a mask.
fn last(mask: u32) -> u32 {
    mask.checked_ilog2().map_or(0, |stage| 1 << stage)
}

/// A counting sort: positions of items by their key below `count`, in the order of the items.
fn sort_by(count: usize, keys: impl Iterator<Item = u32> + Clone, spans: &mut Vec<Span>, sorted: &mut Vec<u32>) {
    spans.clear();
    spans.resize(count, Span::default());
    for key in keys.clone() {
        spans[key as usize].end += 1;
    }
    let mut start = 0;
    for span in spans.iter_mut() {
        let items = span.end;
        *span = Span { start, end: start };
        start += items;
    }
    sorted.clear();
    sorted.resize(start as usize, 0);
    for (at, key) in (0..).zip(keys) {
        let span = &mut spans[key as usize];
        sorted[span.end as usize] = at;
        span.end += 1;
    }
}
