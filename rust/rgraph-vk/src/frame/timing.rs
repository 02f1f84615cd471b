//! Timestamps and statistics of a frame that is done.

use std::time::Instant;

use ash::vk;
use rgraph_plan::id::IdVec;
use rgraph_plan::plan::PlanPassId;

use crate::compile::compiled_graph::CompiledGraph;
use crate::error::{Called, Error};
use crate::frame::clock::difference;
use crate::frame::measure::Measure;
use crate::frame::recording::{Recording, Times};

/// Statistics that are counted.
const COUNTED: usize = 4;

/// When a pass ran and how long.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct PassTime {
    /// Its name.
    pub pass: String,
    /// Its queue; `cpu` for host passes.
    pub queue: String,
    /// Microseconds from the frame's first timestamp to its start, where it was measured on the GPU.
    pub start_us: Option<f64>,
    /// Microseconds that it took, where that was measured.
    pub us: Option<f64>,
    /// How many passes were timed as one, this one among them: 1 where it was timed by itself, else `us` is its share
    /// of the time of all, by modelled durations, and `start_us` stands behind the shares before it.
    pub group: u32,
    /// Vertices, primitives after clipping, fragment and compute invocations, where they were counted.
    pub statistics: Option<[u64; 4]>,
    pub(crate) id: Option<PlanPassId>,
}

impl PassTime {
    /// Whether it is a pass of the host.
    pub fn is_on_host(&self) -> bool {
        self.id.is_none()
    }
}

/// Times of a frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timed {
    /// What was measured; `Off` where the driver measures nothing.
    pub measure: Measure,
    /// Passes that ran and were timed or counted; times are from the frame's first timestamp on.
    pub passes: Vec<PassTime>,
    /// When the first timestamp was, where the driver reads the device's clock.
    pub first: Option<Instant>,
    /// From the first timestamp to the last one.
    pub ran: Option<Ran>,
}

/// When a frame ran, in ticks of the device's clock.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Ran {
    begin: u64,
    end: u64,
    /// Bits of the clock.
    bits: u32,
    us_of_tick: f64,
    /// When it began, where the driver reads the device's clock.
    begin_at: Option<Instant>,
}

impl Ran {
    /// Microseconds from the end of the frame before to its own.
    pub(crate) fn us_from(&self, before: &Self) -> f64 {
        (difference(self.end, before.end, self.bits) as f64 * self.us_of_tick).max(0.0)
    }

    /// Microseconds that a frame took that was asked for at `called`: to its end, from then on or from the end of the
    /// frame before, whichever is later. So frames that are asked for ahead count as they follow each other, with what
    /// the device waits for the host between them; and a program that waits for each frame counts all of it but its own
    /// time. Without the frame before, or where the driver does not read the device's clock, the device's wait for the
    /// host does not count.
    pub(crate) fn us_after(&self, before: Option<&Self>, called: Instant) -> f64 {
        let us = |to, from| difference(to, from, self.bits) as f64 * self.us_of_tick;
        let Some(before) = before else { return us(self.end, self.begin).max(0.0) };
        let waited = self.begin_at.map_or(0.0, |at| at.saturating_duration_since(called).as_secs_f64() * 1e6);
        us(self.end, before.end).min(us(self.end, self.begin) + waited).max(0.0)
    }
}

/// A query's value, if it is there.
type Ticks = Option<u64>;

/// Times and counts of the passes that ran.
pub(crate) fn read(compiled: &CompiledGraph, recording: &Recording) -> Result<Timed, Error> {
    let mut timed = Timed::default();
    if let Some(times) = &recording.times {
        timed.measure = recording.key.measured.0;
        let ticks = ticks(compiled, times).called("vkGetQueryPoolResults")?;
        timed.add_times(compiled, recording, times, &ticks);
    }
    if let Some(pool) = recording.statistics {
        let mut counts = vec![[0u64; COUNTED + 1]; compiled.plan.passes.len()];
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
        // SAFETY: the pool has one query per pass, of that many counters.
        let got = unsafe { compiled.shared.raw.get_query_pool_results(pool, 0, &mut counts, flags) };
        available(got).called("vkGetQueryPoolResults")?;
        timed.add_counts(compiled, &counts);
    }
    Ok(timed)
}

impl Timed {
    /// Times of the passes between each two timestamps: of one pass its own, of several their share of the time of all.
    fn add_times(&mut self, compiled: &CompiledGraph, recording: &Recording, times: &Times, ticks: &[Ticks]) {
        let shared = &compiled.shared;
        let us_of_tick = f64::from(shared.limits.timestamp_period) / 1e3;
        let all = times.stamps.timed.iter().filter_map(|timed| {
            let (begin, end) = (ticks[timed.begin as usize]?, ticks[timed.end as usize]?);
            Some((timed, begin, end, shared.queues[compiled.batches[timed.batch].queue?].timestamp_bits))
        });
        let all: Vec<_> = all.collect();
        let Some(&(_, some, ..)) = all.first() else { return };
        let after = |begin, bits| difference(begin, some, bits);
        let begins = all.iter().map(|(_, begin, _, bits)| (*begin, *bits));
        let Some((first, bits)) = begins.min_by_key(|&(begin, bits)| after(begin, bits)) else { return };
        let origin = after(first, bits);
        for (timed, begin, end, bits) in all {
            let ran: Vec<PlanPassId> = timed.passes(compiled).filter(|pass| recording.on[*pass]).collect();
            let weight =
                |pass: PlanPassId| f64::from(compiled.plan.passes[pass].why.duration_us).max(f64::MIN_POSITIVE);
            let whole: f64 = ran.iter().map(|pass| weight(*pass)).sum();
            let us = difference(end, begin, bits) as f64 * us_of_tick;
            let mut start_us = (after(begin, bits) - origin) as f64 * us_of_tick;
            for &pass in &ran {
                let us = us * weight(pass) / whole;
                let time = self.pass(compiled, pass);
                (time.start_us, time.us, time.group) = (Some(start_us), Some(us), ran.len() as u32);
                start_us += us;
            }
        }
        let ends = times.stamps.timed.iter().filter_map(|timed| ticks[timed.end as usize]);
        let end = ends.max_by_key(|&end| difference(end, first, bits)).unwrap_or(first);
        self.first = shared.clock.as_ref().and_then(|clock| clock.when(first, bits));
        self.ran = Some(Ran { begin: first, end, bits, us_of_tick, begin_at: self.first });
    }

    fn add_counts(&mut self, compiled: &CompiledGraph, counts: &[[u64; COUNTED + 1]]) {
        let mut at = IdVec::<PlanPassId, Option<usize>>::filled(None, counts.len());
        for (position, time) in self.passes.iter().enumerate() {
            if let Some(pass) = time.id {
                at[pass] = Some(position);
            }
        }
        for (pass, &[a, b, c, d, there]) in compiled.plan.passes.ids().zip(counts) {
            if there != 0 {
                let time = match at[pass] {
                    Some(at) => &mut self.passes[at],
                    None => self.pass(compiled, pass),
                };
                time.statistics = Some([a, b, c, d]);
            }
        }
    }

    /// Adds a pass of which nothing is known yet.
    fn pass(&mut self, compiled: &CompiledGraph, pass: PlanPassId) -> &mut PassTime {
        let queue = compiled.plan.passes[pass].queue;
        self.passes.push(PassTime {
            pass: compiled.plan.pass_name(pass).to_owned(),
            queue: queue.map_or_else(String::new, |queue| compiled.plan.queues[queue].name.clone()),
            start_us: None,
            us: None,
            group: 1,
            statistics: None,
            id: Some(pass),
        });
        self.passes.last_mut().expect("one was just added")
    }
}

/// Passes that began and did not end, of a frame that will not end any more: of a group that is timed as a whole all.
pub(crate) fn under_way(compiled: &CompiledGraph, recording: &Recording) -> Vec<String> {
    let Some(times) = &recording.times else { return Vec::new() };
    // A lost device may refuse, which tells as little.
    let Ok(ticks) = ticks(compiled, times) else { return Vec::new() };
    let begun = times
        .stamps
        .timed
        .iter()
        .filter(|timed| ticks[timed.begin as usize].is_some() && ticks[timed.end as usize].is_none());
    let passes = begun.flat_map(|timed| timed.passes(compiled)).filter(|pass| recording.on[*pass]);
    passes.map(|pass| compiled.plan.pass_name(pass).to_owned()).collect()
}

fn ticks(compiled: &CompiledGraph, times: &Times) -> Result<Vec<Ticks>, vk::Result> {
    // Of each query its value and whether that is there.
    let mut values = vec![[0u64; 2]; times.stamps.queries as usize];
    let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
    // SAFETY: the pool has that many queries.
    available(unsafe { compiled.shared.raw.get_query_pool_results(times.pool, 0, &mut values, flags) })?;
    Ok(values.into_iter().map(|[value, there]| (there != 0).then_some(value)).collect())
}

/// Queries of passes that were switched off are not there; that is no error.
fn available(got: Result<(), vk::Result>) -> Result<(), vk::Result> {
    match got {
        Err(vk::Result::NOT_READY) => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Ran;

    #[test]
    fn a_frame_counts_from_the_call_or_from_the_end_of_the_one_before() {
        let zero = Instant::now();
        let at = |us| zero + Duration::from_micros(us);
        // Two ticks in a microsecond.
        let ran = |begin: u64, end: u64| Ran {
            begin: 2 * begin,
            end: 2 * end,
            bits: 36,
            us_of_tick: 0.5,
            begin_at: Some(at(begin)),
        };
        let frame = ran(100, 130);
        assert_eq!(frame.us_after(None, at(0)), 30.0);
        assert_eq!(frame.us_after(Some(&ran(60, 90)), at(50)), 40.0, "asked for ahead: the device waited for the host");
        assert_eq!(frame.us_from(&ran(60, 90)), 40.0);
        assert_eq!(frame.us_from(&ran(60, 140)), 0.0);
        assert_eq!(frame.us_after(Some(&ran(60, 90)), at(95)), 35.0, "asked for when the one before had ended");
        assert_eq!(frame.us_after(Some(&ran(60, 110)), at(50)), 20.0, "they overlapped");
        assert_eq!(frame.us_after(Some(&ran(60, 140)), at(50)), 0.0, "the frame before ended later");
        let blind = Ran { begin_at: None, ..frame };
        assert_eq!(blind.us_after(Some(&ran(60, 90)), at(50)), 30.0, "nobody knows when it was asked for");
        assert_eq!(blind.us_after(Some(&ran(60, 110)), at(50)), 20.0);
        let most = (1 << 36) - 1;
        let (before, frame) = (Ran { begin: most - 9, end: 1, ..blind }, Ran { begin: most - 1, end: 5, ..blind });
        assert_eq!(frame.us_after(Some(&before), at(0)), 2.0, "the clock restarted");
    }
}
