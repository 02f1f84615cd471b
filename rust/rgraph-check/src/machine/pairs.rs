//! Pairs of accesses of the same bytes: whether the plan orders the later one after the earlier one.

use rgraph_ir::access::PassQueue;
use rgraph_ir::resource::ResourceId;

use super::{Machine, Rendering};
use crate::ids::{DoneId, NodeId, Place};
use crate::region::within;
use crate::subresource::{AllocationPlace, Clocks, Done, Later, Lent, Local, Missing, SubresourceState, Write};

impl Machine<'_> {
    /// Checks one later side against everything that is still to be seen in the subresource and in the same bytes.
    pub(crate) fn check_pairs(&mut self, place: AllocationPlace, y: &Later, resource: ResourceId) {
        let AllocationPlace { allocation, subresource } = place;
        let mut found = Vec::new();
        {
            let clocks = self.clocks();
            let here = &self.allocations[allocation].subresources[subresource];
            self.check_pairs_in(&clocks, [here, here], y, place, false, &mut found);
            for other in self.residents.around(allocation) {
                if self.allocations[other].last > here.alias_seen {
                    for there in &self.allocations[other].subresources {
                        self.check_pairs_in(&clocks, [there, here], y, place, true, &mut found);
                    }
                }
            }
        }
        for (x, missing, aliased) in found {
            self.allocations[allocation].replaced.is_refused |= aliased;
            self.report(x, y, missing, aliased, place, resource);
        }
    }

    /// Checks a later side, at a place, against what is still to be seen there or, `aliased`, elsewhere in the same
    /// bytes.
    fn check_pairs_in(
        &self,
        clocks: &Clocks,
        [there, here]: [&SubresourceState; 2],
        y: &Later,
        place: AllocationPlace,
        aliased: bool,
        found: &mut Vec<(DoneId, Missing, bool)>,
    ) {
        #[cfg(test)]
        self.log.pairs.set(self.log.pairs.get() + 1);
        let writes = match y {
            Later::Op(y) => y.op.write,
            Later::Node(_) => true,
        };
        let exempt = |x: &Done| {
            if aliased && x.sequence <= here.alias_seen {
                return true;
            }
            let Later::Op(y) = y else { return false };
            // One pass may use one subresource in several ways, but not two resources in the same bytes.
            let commute = y.group.is_some() && y.group == x.group && x.run == self.run;
            !aliased && (commute || x.instance == y.instance && x.node.is_none())
        };
        for write in &there.writes {
            let x = &self.done[write.done];
            if exempt(x) {
                continue;
            }
            let missing = match self.together(x, y) {
                Some(_) if aliased => Some(Missing::Order),
                Some(within) => within,
                None if write.lent.is_empty() => clocks.after_write(write, [&here.nodes, &there.nodes], y),
                None => self.after_lent(clocks, write, [&here.nodes, &there.nodes], y, place),
            };
            let Some(missing) = missing else { continue };
            let idle = missing == Missing::Host && self.is_host_only(x);
            if !idle && !self.is_enough(clocks, [there, here], x, y, missing) {
                found.push((write.done, missing, aliased));
            }
        }
        if writes {
            for read in &there.reads {
                let x = &self.done[read.done];
                if exempt(x) {
                    continue;
                }
                let missing = match self.together(x, y) {
                    Some(_) if aliased => Some(Missing::Order),
                    Some(within) => within,
                    None => (!clocks.is_ordered(x, &[], y)).then_some(Missing::Order),
                };
                found.extend(missing.map(|missing| (read.done, missing, aliased)));
            }
        }
    }

    /// What is missing between a later side and a write that barriers on other names of its bytes took in. Such a
    /// barrier makes available what it names; several of them do for a third name what they name together (Vulkan 1.3,
    /// "Memory Aliasing": the scope must contain all that overlaps).
    fn after_lent(
        &self,
        clocks: &Clocks,
        write: &Write,
        nodes: [&[NodeId]; 2],
        y: &Later,
        place: AllocationPlace,
    ) -> Option<Missing> {
        let missing = clocks.after_write(&write.met_by(place), nodes, y)?;
        let x = &self.done[write.done];
        let seen = |lent: &&Lent| clocks.after_write(&write.only_at(lent), nodes, y).is_none();
        let of = |place: AllocationPlace| Place {
            memory: self.allocations[place.allocation].memory,
            subresource: place.subresource,
        };
        let lent = write.lent.iter().filter(seen).map(|lent| of(lent.to)).collect();
        let whole = self.bytes.contain(self.facts, [of(x.place), of(place)], lent);
        (!whole).then_some(missing)
    }

    /// Whether order alone is enough between a write and a later access that does not see it.
    fn is_enough(
        &self,
        clocks: &Clocks,
        states: [&SubresourceState; 2],
        x: &Done,
        y: &Later,
        missing: Missing,
    ) -> bool {
        if matches!(missing, Missing::Order | Missing::Subpass) {
            return false;
        }
        let (writes, inner) = match y {
            Later::Op(y) => (y.op.write, y.inner),
            Later::Node(_) => (true, false),
        };
        // A read in between saw the write, even if as undefined contents under the name of the later side, and is
        // ordered before this write. What a device saw, the host has not seen.
        inner
            || writes
                && states.iter().flat_map(|state| &state.reads).any(|read| {
                    let read = &self.done[read.done];
                    let own = matches!(y, Later::Op(y) if y.instance == read.instance);
                    let ordered = || match self.together(read, y) {
                        Some(within) => within.is_none(),
                        None => clocks.is_ordered(read, &[], y),
                    };
                    let host = missing != Missing::Host || read.queue == self.host;
                    x.sequence < read.sequence && host && (own || ordered())
                })
    }

    /// Whether a node of the runtime stands for writes of runs before, none of which a device made.
    fn is_host_only(&self, x: &Done) -> bool {
        let writers = &self.facts.writers[self.allocations[x.place.allocation].memory][x.place.subresource];
        let device = |u: &crate::facts::SubresourceUse| self.facts.declared_passes[u.declared].queue != PassQueue::Cpu;
        x.node.is_some() && x.pass.is_none() && !writers.iter().any(device)
    }

    /// The verdict on two sides in one render pass; `None`: they are not.
    fn together(&self, x: &Done, y: &Later) -> Option<Option<Missing>> {
        if x.rendering.is_none() || x.node.is_some() {
            return None;
        }
        match y {
            Later::Op(y) => {
                let both = |open: &&Rendering| Some(open.id) == x.rendering && x.rendering == y.rendering;
                let rendering = self.rendering.as_ref().filter(both)?;
                Some(within(&rendering.regions, x, y))
            }
            // A transition between subpasses waits for what is done texel by texel only.
            Later::Node(node) if self.nodes[*node].rendering == x.rendering && x.local == Local::No => {
                Some(Some(Missing::Order))
            }
            Later::Node(_) => None,
        }
    }
}
