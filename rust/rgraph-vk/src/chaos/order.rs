//! Random legal orders of a plan's batches. The queues of the plan (and the host) are FIFOs; the next batch is taken
//! from any of them whose front waits for nothing that is still to come.

use std::collections::HashMap;

use crate::chaos::random::Random;
use rgraph_plan::id::Id;
use rgraph_plan::plan::{BatchId, Plan, QueueId};

/// Changes of priority within a run: most ordering faults need two or three of them.
const CHANGES: usize = 3;

/// An order of a plan's batches that its waits permit. Odd seeds take any batch that is ready with equal probability;
/// even ones give each queue a priority and lower that of the running queue at [`CHANGES`] random moments.
///
/// # Panics
/// If the waits of the plan form a cycle; the checker finds that in plans that others baked.
///
/// # Source
/// Priorities: Burckhardt, Kothari, Musuvathi & Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of
/// Finding Bugs", ASPLOS 2010.
pub(crate) fn batches(plan: &Plan, signals: &HashMap<(Option<QueueId>, u32), BatchId>, seed: u64) -> Vec<BatchId> {
    let lanes = plan.queues.len() + 1;
    let mut random = Random::new(seed);
    let mut queues: Vec<Vec<BatchId>> = vec![Vec::new(); lanes];
    for (id, batch) in plan.batches.iter_ids() {
        queues[batch.queue.map_or(lanes - 1, Id::index)].push(id);
    }
    let mut fronts = vec![0; lanes];
    let mut priority: Vec<u64> = (0..lanes).map(|_| 1000 + random.below(1000)).collect();
    let count = plan.batches.len();
    let changes: Vec<u64> = (0..CHANGES).map(|_| random.below(count.max(1) as u64)).collect();
    let mut done = vec![false; count];
    let mut order = Vec::with_capacity(count);
    let mut ready = Vec::with_capacity(lanes);
    while order.len() < count {
        let waits_for_nothing = |&batch: &BatchId| {
            let waits = &plan.waits[plan.batches[batch].waits.range()];
            waits
                .iter()
                .filter(|wait| !wait.previous_run)
                .all(|wait| signals.get(&(wait.queue, wait.value)).is_none_or(|signalled| done[signalled.index()]))
        };
        ready.clear();
        ready.extend((0..lanes).filter(|&lane| queues[lane].get(fronts[lane]).is_some_and(waits_for_nothing)));
        assert!(!ready.is_empty(), "the waits of a plan never form a cycle");
        let lane = match seed % 2 {
            1 => ready[random.below(ready.len() as u64) as usize],
            _ => ready.iter().copied().max_by_key(|&lane| (priority[lane], lane)).unwrap_or(0),
        };
        if changes.contains(&(order.len() as u64)) {
            priority[lane] = random.below(1000);
        }
        let batch = queues[lane][fronts[lane]];
        fronts[lane] += 1;
        done[batch.index()] = true;
        order.push(batch);
    }
    order
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use rgraph_plan::prelude::*;

    use super::*;

    #[test]
    fn orders_keep_queues_and_waits_and_differ_from_seed_to_seed() {
        let mut graph = Graph::new("frame", [64, 64]);
        let images: Vec<_> = (0..6).map(|at| graph.image(&format!("image {at}"), Format::Rgba8unorm)).collect();
        for (at, &image) in images.iter().enumerate() {
            let name = format!("pass {at}");
            match at % 2 {
                0 => graph.pass(&name, PassQueue::AsyncCompute).storage_write(image),
                _ => graph.pass(&name, PassQueue::Graphics).color(image),
            };
        }
        let out = graph.image("out", Format::Rgba8unorm);
        images.iter().fold(graph.pass("all", PassQueue::Graphics), |pass, &image| pass.sampled(image)).color(out);
        graph.root(out);
        let plan = bake(&graph, &Profile::discrete(), &Options::default(), &mut Scratch::default()).unwrap();
        let signals: HashMap<_, _> =
            plan.batches.iter_ids().filter_map(|(id, batch)| Some(((batch.queue, batch.signal?), id))).collect();
        let mut seen = HashSet::new();
        for seed in 0..40 {
            let order = batches(&plan, &signals, seed);
            let at = |batch: BatchId| order.iter().position(|one| *one == batch).unwrap();
            assert_eq!(order.iter().collect::<HashSet<_>>().len(), plan.batches.len());
            for (id, batch) in plan.batches.iter_ids() {
                for wait in plan.waits[batch.waits.range()].iter().filter(|wait| !wait.previous_run) {
                    let signalled = signals[&(wait.queue, wait.value)];
                    assert!(at(signalled) < at(id), "{order:?} of seed {seed}");
                }
                let later = plan.batches.iter_ids().filter(|(other, one)| *other > id && one.queue == batch.queue);
                later.for_each(|(other, _)| assert!(at(id) < at(other), "{order:?} of seed {seed}"));
            }
            seen.insert(order);
        }
        assert!(seen.len() > 1, "{seen:?}");
    }
}
