//! Timestamps and statistics of a frame that is done.

use std::time::Instant;

use ash::vk;
use rgraph_plan::id::Id;
use rgraph_plan::plan::PlanPassId;

use crate::clock::difference;
use crate::error::{Called, Error};
use crate::prepared::Prepared;
use crate::report::PassTime;
use crate::variant::Variant;

/// Statistics that are counted.
const COUNTED: usize = 4;

/// Times of a frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timed {
    /// Of the passes that ran, from the frame's first timestamp on.
    pub passes: Vec<PassTime>,
    /// When the first timestamp was, where the driver reads the device's clock.
    pub first: Option<Instant>,
}

/// Times of the passes that ran.
pub(crate) fn read(prepared: &Prepared, variant: &Variant) -> Result<Timed, Error> {
    let shared = &prepared.shared;
    let count = prepared.plan.passes.len();
    let Some(times) = variant.times else { return Ok(Timed::default()) };
    // Two queries a pass, each a value and whether it is there.
    let mut values = vec![[0u64; 2]; count * 2];
    let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
    // SAFETY: the pool has two queries a pass.
    let got = unsafe { shared.raw.get_query_pool_results(times, 0, &mut values, flags) };
    available(got).called("vkGetQueryPoolResults")?;
    let mut counts = vec![[0u64; COUNTED + 1]; count];
    if let Some(statistics) = variant.statistics {
        // SAFETY: the pool has one query a pass, of that many counters.
        let got = unsafe { shared.raw.get_query_pool_results(statistics, 0, &mut counts, flags) };
        available(got).called("vkGetQueryPoolResults")?;
    }
    let period = f64::from(shared.limits.timestamp_period);
    let mut passes = Vec::new();
    let mut begins = Vec::new();
    for (pass, planned) in prepared.plan.passes.iter_ids() {
        let [[begin, begun], [end, ended]] = [values[pass.index() * 2], values[pass.index() * 2 + 1]];
        let Some(queue) = planned.queue.filter(|_| begun != 0 && ended != 0) else { continue };
        let bits = shared.queues[prepared.queues[queue.index()]].timestamp_bits;
        begins.push((begin, bits));
        let [a, b, c, d, there] = counts[pass.index()];
        passes.push(PassTime {
            pass: prepared.plan.pass_name(pass).to_owned(),
            queue: prepared.plan.queues[planned.queue.unwrap_or(rgraph_plan::plan::QueueId::new(0))].name.clone(),
            start_us: 0.0,
            us: difference(end, begin, bits) as f64 * period / 1e3,
            statistics: (there != 0).then_some([a, b, c, d]),
            id: Some(pass),
        });
    }
    let Some(&(some, _)) = begins.first() else { return Ok(Timed::default()) };
    let after = |(begin, bits): (u64, u32)| difference(begin, some, bits);
    let (first, bits) = begins.iter().copied().min_by_key(|begin| after(*begin)).unwrap_or((some, 64));
    for (time, begin) in passes.iter_mut().zip(&begins) {
        time.start_us = (after(*begin) - after((first, bits))) as f64 * period / 1e3;
    }
    let first = shared.clock.as_ref().and_then(|clock| clock.when(first, bits));
    Ok(Timed { passes, first })
}

/// Passes that began and did not end, of a frame that will not end any more.
pub(crate) fn under_way(prepared: &Prepared, variant: &Variant) -> Vec<String> {
    let shared = &prepared.shared;
    let passes = prepared.plan.passes.len();
    let Some(times) = variant.times else { return Vec::new() };
    let mut values = vec![[0u64; 2]; passes * 2];
    let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
    // SAFETY: the pool has two queries a pass. A lost device may refuse, which tells as little.
    let got = unsafe { shared.raw.get_query_pool_results(times, 0, &mut values, flags) };
    if available(got).is_err() {
        return Vec::new();
    }
    let begun = |pass: &usize| values[pass * 2][1] != 0 && values[pass * 2 + 1][1] == 0;
    (0..passes).filter(begun).map(|pass| prepared.plan.pass_name(PlanPassId::new(pass)).to_owned()).collect()
}

/// Queries of passes that were switched off are not there; that is no error.
fn available(got: Result<(), vk::Result>) -> Result<(), vk::Result> {
    match got {
        Err(vk::Result::NOT_READY) => Ok(()),
        other => other,
    }
}
