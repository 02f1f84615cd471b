//! A plan, or a run of it, as a trace in Chrome's JSON format, which Perfetto, speedscope and chrome://tracing read:
//! a lane for each queue, one for the host, memory alive as a counter, semaphores as flows, barrier calls as instants,
//! lifetimes of resources as asynchronous spans.
//!
//! Source: "Trace Event Format" (Chromium): complete (`X`), counter (`C`), flow (`s`, `f`), instant (`i`), asynchronous
//! (`b`, `e`) and metadata (`M`) events. Slices of one lane must nest, so what overlaps gets lanes of its own.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::page::Measured;
use rgraph_ir::id::{Id, IdVec};
use rgraph_ir::plan::{Barriers, Batch, Command, Placement, Plan, PlanLife, PlanPassId, QueueId};
use rgraph_ir::words::{hazard_sentence, plain, queue_label, queue_sentence, stages_phrase};

const GPU: u32 = 1;
const HOST: u32 = 2;

/// Lanes of one queue in the file: its own, and further ones for what overlaps.
const LANES: usize = 100;

/// How far before the end of its slice a flow starts, in microseconds. A flow binds to the slice that holds its time,
/// and a slice does not hold its end. Perfetto truncates begin and duration to nanoseconds, each by itself, so the end
/// that it computes lies up to two nanoseconds early.
const INSIDE: f64 = 2e-3;

/// The trace as text: one event a line, microseconds. Times are those of `measured`, else the modelled ones, else the
/// order of the passes. O(plan log plan).
pub fn trace(plan: &Plan, measured: Option<&Measured>) -> String {
    let times = times(plan, measured);
    let mut events = Vec::new();
    let kind = match (measured, plan.report.frame_us > 0.0) {
        (Some(_), _) => "measured",
        (None, true) => "modelled",
        (None, false) => "in order, 1 µs per pass",
    };
    events.push(meta("process_name", GPU, 0, &format!("GPU: {} ({kind})", plain(&plan.graph))));
    passes(plan, &times, &mut events);
    host(plan, measured, &times, &mut events);
    memory(plan, &times, &mut events);
    lifetimes(plan, &times, &mut events);
    barriers(plan, &times, &mut events);
    flows(plan, &times, &mut events);
    let lines: Vec<String> = events.iter().map(Value::to_string).collect();
    let other =
        json!({"graph": plan.graph, "profile": plan.profile, "times": kind, "version": env!("CARGO_PKG_VERSION")});
    format!("{{\"displayTimeUnit\": \"ns\", \"otherData\": {other}, \"traceEvents\": [\n{}\n]}}\n", lines.join(",\n"))
}

/// When a pass begins and ends, in microseconds, and its lane among those of its queue.
#[derive(Clone, Copy)]
struct Time {
    begin: f64,
    end: f64,
    lane: usize,
}

impl Time {
    /// The last time that the slice of the pass surely holds.
    fn last(self) -> f64 {
        self.end - INSIDE.min((self.end - self.begin) / 2.0)
    }
}

fn times(plan: &Plan, measured: Option<&Measured>) -> IdVec<PlanPassId, Option<Time>> {
    let mut times = IdVec::filled(None, plan.passes.len());
    let modelled = plan.live().any(|pass| plan.passes[pass].why.duration_us > 0.0);
    let mut spans: HashMap<&str, (f64, f64)> = HashMap::new();
    if let Some(measured) = measured {
        for span in measured.host.iter().filter(|_| measured.calibrated) {
            spans.insert(&span.name, (span.begin_us, span.end_us));
        }
        for span in &measured.passes {
            spans.insert(&span.name, (span.begin_us, span.end_us));
        }
    }
    for pass in plan.live() {
        let planned = &plan.passes[pass];
        let own = spans.get(plan.pass_name(pass)).filter(|_| measured.is_some());
        let (start, duration) = (f64::from(planned.why.start_us), f64::from(planned.why.duration_us));
        let (begin, end) = match (measured, own, modelled) {
            (Some(_), Some(&span), _) => span,
            (Some(_), None, _) => continue,
            (None, _, true) => (start, start + duration),
            (None, _, false) => (pass.index() as f64, pass.index() as f64 + 1.0),
        };
        times[pass] = Some(Time { begin, end: end.max(begin), lane: 0 });
    }
    let mut order: Vec<PlanPassId> = times.ids().filter(|pass| times[*pass].is_some()).collect();
    order
        .sort_by(|a, b| times[*a].map(|t| t.begin).partial_cmp(&times[*b].map(|t| t.begin)).expect("times are finite"));
    let mut busy: HashMap<Option<QueueId>, Vec<f64>> = HashMap::new();
    for pass in order {
        let lanes = busy.entry(plan.passes[pass].queue).or_default();
        let Some(time) = &mut times[pass] else { continue };
        // A thousandth of a microsecond of overlap is rounding; it is cut, since slices of one lane must nest.
        let free = lanes.iter().position(|end| *end <= time.begin + 1e-3);
        time.lane = free.unwrap_or(lanes.len()).min(LANES - 1);
        match lanes.get_mut(time.lane) {
            Some(end) => {
                if free.is_some() {
                    time.begin = time.begin.max(*end);
                    time.end = time.end.max(time.begin);
                }
                *end = time.end;
            }
            None => lanes.push(time.end),
        }
    }
    times
}

fn meta(name: &str, process: u32, thread: usize, value: &str) -> Value {
    json!({"ph": "M", "name": name, "pid": process, "tid": thread, "args": {"name": value}})
}

/// Process and thread of a pass.
fn lane(queue: Option<QueueId>, lane: usize) -> (u32, usize) {
    match queue {
        Some(queue) => (GPU, 1 + queue.index() * LANES + lane),
        None => (HOST, LANES + lane),
    }
}

fn passes(plan: &Plan, times: &IdVec<PlanPassId, Option<Time>>, events: &mut Vec<Value>) {
    let mut batch_of: IdVec<PlanPassId, usize> = IdVec::filled(0, plan.passes.len());
    for (id, batch) in plan.batches.iter_ids() {
        passes_of(plan, batch).for_each(|pass| batch_of[pass] = id.index());
    }
    let mut named = Vec::new();
    for (pass, time) in times.iter_ids().filter_map(|(pass, time)| Some((pass, (*time)?))) {
        let planned = &plan.passes[pass];
        let (process, thread) = lane(planned.queue, time.lane);
        if !named.contains(&(process, thread)) {
            named.push((process, thread));
            let further = if time.lane > 0 { format!(" ({})", time.lane + 1) } else { String::new() };
            let name = format!("{}{further}", plain(&queue_label(plan, planned.queue)));
            events.push(meta("thread_name", process, thread, &name));
        }
        let after = planned.why.after.map(|after| plan.pass_name(after));
        let mut known = json!({"submission": batch_of[pass], "after": after, "queue": queue_sentence(planned.why.queue),
            "render pass": planned.physical_pass.map(Id::index), "modelled µs": planned.why.duration_us});
        // Importers show what is null as a value.
        if let Value::Object(known) = &mut known {
            known.retain(|_, value| !value.is_null());
        }
        events.push(json!({
            "ph": "X", "name": plain(plan.pass_name(pass)), "cat": "pass", "pid": process, "tid": thread,
            "ts": time.begin, "dur": time.end - time.begin, "args": known,
        }));
    }
}

/// What the host did, apart from passes. Slices that overlap without nesting get lanes of their own.
fn host(plan: &Plan, measured: Option<&Measured>, times: &IdVec<PlanPassId, Option<Time>>, events: &mut Vec<Value>) {
    let Some(measured) = measured.filter(|measured| !measured.host.is_empty()) else {
        if times.iter_ids().any(|(pass, time)| time.is_some() && plan.passes[pass].queue.is_none()) {
            events.push(meta("process_name", HOST, 0, "CPU"));
        }
        return;
    };
    let clock = if measured.calibrated { "" } else { " (its own clock)" };
    events.push(meta("process_name", HOST, 0, &format!("CPU{clock}")));
    events.push(meta("thread_name", HOST, 1, "host"));
    let mut spans: Vec<_> = measured.host.iter().collect();
    spans.sort_by(|a, b| (a.begin_us, -a.end_us).partial_cmp(&(b.begin_us, -b.end_us)).expect("times are finite"));
    // Ends of the slices that are open on each lane: as they are, and as they are written.
    let mut open: Vec<Vec<[f64; 2]>> = Vec::new();
    for span in spans {
        let is_pass = plan.find_pass(&span.name).is_some_and(|pass| times[pass].is_some());
        if is_pass {
            continue;
        }
        open.iter_mut().for_each(|lane| lane.retain(|end| end[0] > span.begin_us));
        let fits = |lane: &Vec<[f64; 2]>| lane.last().is_none_or(|end| end[0] >= span.end_us);
        let at = open.iter().position(fits).unwrap_or(open.len());
        if at == open.len() {
            open.push(Vec::new());
            if at > 0 {
                events.push(meta("thread_name", HOST, 1 + at, &format!("host ({})", at + 1)));
            }
        }
        // Importers cut begin and duration to nanoseconds, each by itself: what ends with the slice around it ends a
        // little before, or it would end behind.
        let around = open[at].last().map_or(f64::INFINITY, |around| around[1] - INSIDE);
        let end = span.end_us.min(around).max(span.begin_us);
        open[at].push([span.end_us, end]);
        events.push(json!({
            "ph": "X", "name": plain(&span.name), "cat": "host", "pid": HOST, "tid": 1 + at,
            "ts": span.begin_us, "dur": end - span.begin_us,
        }));
    }
}

/// Bytes alive, as they change.
fn memory(plan: &Plan, times: &IdVec<PlanPassId, Option<Time>>, events: &mut Vec<Value>) {
    let last = times.iter().flatten().fold(0.0, |last: f64, time| last.max(time.end));
    let mut changes: Vec<(f64, i64)> = Vec::new();
    for place in &plan.memory.placements {
        let Some((begin, end)) = span(plan, times, place, last) else { continue };
        changes.push((begin, place.size as i64));
        changes.push((end, -(place.size as i64)));
    }
    changes.sort_by(|a, b| a.partial_cmp(b).expect("times are finite"));
    let mut alive = 0;
    for (at, group) in changes.chunk_by(|a, b| a.0 == b.0).map(|group| (group[0].0, group)) {
        alive += group.iter().map(|(_, change)| change).sum::<i64>();
        events
            .push(json!({"ph": "C", "name": "memory alive", "pid": GPU, "tid": 0, "ts": at, "args": {"bytes": alive}}));
    }
}

/// When the bytes of a placement are in use; those of a root stay until `last`, the end of the frame.
fn span(plan: &Plan, times: &IdVec<PlanPassId, Option<Time>>, place: &Placement, last: f64) -> Option<(f64, f64)> {
    let resource = &plan.resources[place.resource];
    let [first, end] = resource.lifetime?;
    let (first, end) = (times[first]?, times[end]?);
    Some((first.begin, if resource.life == PlanLife::Root { last } else { end.end }))
}

/// A span for each resource with a placement, as long as its bytes are in use.
fn lifetimes(plan: &Plan, times: &IdVec<PlanPassId, Option<Time>>, events: &mut Vec<Value>) {
    let last = times.iter().flatten().fold(0.0, |last: f64, time| last.max(time.end));
    for place in &plan.memory.placements {
        let Some((begin, end)) = span(plan, times, place, last) else { continue };
        let name = plain(plan.resource_name(place.resource));
        // An id stands for one span: a resource may have several placements.
        let id = format!("{}@{}+{}", place.resource.index(), place.heap.index(), place.offset);
        let args = json!({"bytes": place.size, "heap": place.heap.index(), "offset": place.offset});
        events.push(json!({
            "ph": "b", "name": name, "cat": "resource", "id": id, "pid": GPU, "tid": 0, "ts": begin, "args": args,
        }));
        events.push(json!({
            "ph": "e", "name": name, "cat": "resource", "id": id, "pid": GPU, "tid": 0, "ts": end.max(begin),
        }));
    }
}

/// Barrier calls, each where the pass after it in its batch begins, or where the last pass ends.
fn barriers(plan: &Plan, times: &IdVec<PlanPassId, Option<Time>>, events: &mut Vec<Value>) {
    for batch in &plan.batches {
        let mut pending: Vec<(&str, &Barriers)> = Vec::new();
        let mut before = None;
        let mut place = |pending: &mut Vec<(&str, &Barriers)>, at: f64, pass: PlanPassId, time: Time| {
            let (process, thread) = lane(plan.passes[pass].queue, time.lane);
            for (name, call) in pending.drain(..) {
                events.push(json!({
                    "ph": "i", "s": "t", "name": name, "cat": "barrier", "pid": process, "tid": thread, "ts": at,
                    "args": {"for": reasons(plan, call)},
                }));
            }
        };
        for command in &plan.commands[batch.commands.range()] {
            match command {
                Command::Barriers(call) => pending.push(("barrier", call)),
                Command::SetEvent(_, call) => pending.push(("set event", call)),
                Command::WaitEvents(_, call) => pending.push(("wait for event", call)),
                Command::Pass { pass, .. } => {
                    let Some(time) = times[*pass] else { continue };
                    place(&mut pending, time.begin, *pass, time);
                    before = Some((*pass, time));
                }
                Command::BeginRendering { .. } | Command::EndRendering => {}
            }
        }
        if let Some((pass, time)) = before {
            place(&mut pending, time.end, pass, time);
        }
    }
}

/// What each barrier of a call is for.
fn reasons(plan: &Plan, call: &Barriers) -> Vec<String> {
    let memory = plan.memory_barriers[call.memory.range()].iter().map(|barrier| (None, &barrier.why));
    let buffers =
        plan.buffer_barriers[call.buffers.range()].iter().map(|barrier| (Some(barrier.resource), &barrier.why));
    let images = plan.image_barriers[call.images.range()].iter().map(|barrier| (Some(barrier.resource), &barrier.why));
    let all = memory.chain(buffers).chain(images);
    all.map(|(own, why)| {
        let sentence = hazard_sentence(plan, why, own);
        own.map_or(sentence.clone(), |own| format!("{}: {sentence}", plain(plan.resource_name(own))))
    })
    .collect()
}

fn passes_of<'p>(plan: &'p Plan, batch: &Batch) -> impl DoubleEndedIterator<Item = PlanPassId> + 'p {
    plan.commands[batch.commands.range()].iter().filter_map(|command| match command {
        Command::Pass { pass, .. } => Some(*pass),
        _ => None,
    })
}

/// Semaphores: from the last pass of the batch that signals to the first of the one that waits. Both ends lie within
/// their slices, and no flow runs backwards: where the clocks of two queues say that the wait was over before the
/// signalling pass began, there is no flow.
fn flows(plan: &Plan, times: &IdVec<PlanPassId, Option<Time>>, events: &mut Vec<Value>) {
    let mut sources: HashMap<(Option<QueueId>, u32), PlanPassId> = HashMap::new();
    for batch in &plan.batches {
        if let (Some(value), Some(last)) = (batch.signal, passes_of(plan, batch).next_back()) {
            sources.insert((batch.queue, value), last);
        }
    }
    let mut number = 0;
    for batch in &plan.batches {
        let Some(first) = passes_of(plan, batch).next() else { continue };
        for wait in plan.waits[batch.waits.range()].iter().filter(|wait| !wait.previous_run) {
            let Some(&source) = sources.get(&(wait.queue, wait.value)) else { continue };
            let (Some(from), Some(to)) = (times[source], times[first]) else { continue };
            let start = from.last().min(from.begin.max(to.begin));
            let finish = start.max(to.begin);
            if finish > to.last().max(to.begin) {
                continue;
            }
            number += 1;
            let name = format!("{} {}", plain(&queue_label(plan, wait.queue)), wait.value);
            for (phase, time, pass, at) in [("s", from, source, start), ("f", to, first, finish)] {
                let (process, thread) = lane(plan.passes[pass].queue, time.lane);
                let mut event = json!({
                    "ph": phase, "name": name, "cat": "semaphore", "id": number, "pid": process, "tid": thread, "ts": at,
                    "args": {"waits at": stages_phrase(wait.stages)},
                });
                if phase == "f" {
                    event["bp"] = json!("e");
                }
                events.push(event);
            }
        }
    }
}
