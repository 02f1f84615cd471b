//! When an allocation supersedes the other residents of its bytes, so that later accesses are checked against it alone:
//! the rule and its reason are in [`crate::residents`].

use super::Machine;
use super::state::Allocation;
use crate::ids::AllocationId;
use crate::subresource::AllocationPlace;

/// How many subresources of an allocation were replaced since another resident of its bytes was last used.
#[derive(Clone, Copy, Default)]
pub(crate) struct Replaced {
    /// The last operation of another resident.
    since: u64,
    /// Subresources that were replaced after it.
    subresources: u32,
    /// Whether the checker found a hazard in the same bytes: the allocation supersedes nothing then.
    pub is_refused: bool,
}

impl Machine<'_> {
    /// Lets an allocation supersede the other residents of its bytes, once writes that were checked against all of them
    /// have replaced each of its subresources. Callers have checked and recorded a write outside of any unordered
    /// group.
    pub(crate) fn supersede(&mut self, AllocationPlace { allocation, subresource }: AllocationPlace) {
        if self.allocations[allocation].replaced.is_refused {
            return;
        }
        let others = self.residents.around(allocation);
        let Some(latest) = others.iter().map(|other| self.allocations[*other].last).max() else { return };
        let now = self.done.len() as u64;
        let Allocation { replaced, subresources: states, .. } = &mut self.allocations[allocation];
        if latest > replaced.since {
            (replaced.since, replaced.subresources) = (latest, 0);
        }
        replaced.subresources += u32::from(states[subresource].replaced <= replaced.since);
        states[subresource].replaced = now;
        if replaced.subresources as usize != states.len() {
            return;
        }
        // The next write of the same bytes must still destroy contents that are there. Memory that is new in each run
        // forgets what it was checked against, so it supersedes nothing that outlives the run.
        let (allocations, fresh) = (&self.allocations, &self.facts.fresh);
        let is_fresh = |allocation: AllocationId| fresh[allocations[allocation].memory];
        let keep = |other: AllocationId| allocations[other].filled || is_fresh(allocation) && !is_fresh(other);
        self.residents.supersede(allocation, |other| other != allocation && keep(other));
        // Earlier uses of such a resident are ordered before these writes, and available to them. So its own next
        // access is checked against these writes alone, too.
        for other in others.into_iter().filter(|other| !self.residents.is_resident(*other)) {
            for state in self.allocations[other].subresources.iter_mut() {
                state.writes.clear();
                state.reads.clear();
                state.nodes.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rgraph_plan::bake::{Options, Scratch, bake};
    use rgraph_plan::budget::MemoryBudget;
    use rgraph_plan::profile::Profile;

    use super::*;
    use crate::facts::Facts;
    use crate::finding::Findings;

    /// Pairs that the walk looks at per pass, of a chain of buffers of several sizes in a few bytes of one heap.
    fn pairs_per_pass(passes: usize) -> u64 {
        let mut buffers = String::new();
        let mut list = Vec::new();
        for at in 0..passes {
            buffers += &format!(r#""b{at}": {{"size": {}}},"#, 1024 << (at * 7 % 5));
            let read = match at {
                0 => String::new(),
                _ => format!(r#"{{"resource": "b{}", "usage": "storage_read"}},"#, at - 1),
            };
            let write = format!(r#"{{"resource": "b{at}", "usage": "storage_write"}}"#);
            list.push(format!(r#"{{"name": "p{at}", "accesses": [{read} {write}]}}"#));
        }
        let text = format!(
            r#"{{"rgraph": 1, "buffers": {{{}}}, "passes": [{}], "roots": ["b{}"]}}"#,
            buffers.trim_end_matches(','),
            list.join(","),
            passes - 1
        );
        let graph = rgraph_files::read_graph(text.as_bytes(), "chain.rgraph.json").expect("the graph is right");
        let options = Options { effort: 0, memory: MemoryBudget::Least, ..Options::default() };
        let plan =
            bake(&graph, &Profile::single_queue(), &options, &mut Scratch::default()).expect("it can be planned");
        let facts = Facts::new(&graph, Some(&plan));
        let mut findings = Findings::default();
        let declared_of = crate::structure::passes(&facts, &plan, &mut findings);
        let mut machine = Machine::new(&facts, &plan, &declared_of, &mut findings);
        machine.walk();
        let pairs = machine.log.pairs.get() / passes as u64;
        assert!(findings.into_vec().is_empty());
        pairs
    }

    /// A chain of passes in few bytes has a quadratic number of neighbours, and is checked in linear time.
    #[test]
    fn the_pairs_per_pass_do_not_grow_with_the_length_of_a_chain() {
        let [short, long] = [pairs_per_pass(128), pairs_per_pass(2048)];
        assert!(long <= short + short / 4, "{short} pairs per pass of a short chain, {long} of a long one");
    }
}
