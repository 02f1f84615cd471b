//! The search for chains: for each hazard pair a shortest one. What it finds is believed by nobody before it is
//! verified.
//!
//! One sweep per earlier use over the time line of two runs, from that use to the last one that needs a chain from it:
//! what the chains have reached is known per queue and stage, so each link looks at stages, not at the links before it.

use std::collections::BTreeMap;

use rgraph_ir::id::{Id, IdVec};
use rgraph_ir::plan::{Plan, QueueId};

use super::listing::Listing;
use super::pairs::Need;
use super::{Certificate, ChainId, Hop, LinkId, LinkKind, Pair, Refused, Subpass};
use crate::tables::{STAGES, leaves, with_earlier, with_later};

rgraph_ir::id! {
    /// A link in one of two runs: those of the run before, then those of this run.
    struct HopId;
}

/// A reached link, in chains that have shown the write to the host (1) or not (0).
type Reached = (usize, HopId);

/// The step at which a scope of a hop ends, whether that is the second scope, and the hop.
type End = (i64, bool, HopId);

/// Hops to a link, and the link before it.
#[derive(Clone, Copy)]
struct Place {
    hops: u32,
    from: Option<Reached>,
}

/// Everything that chains from one earlier use reach.
struct Sweep<'l> {
    listing: &'l Listing,
    /// Both ends of all hops in the order of time.
    ends: Vec<End>,
    /// By phase and hop.
    places: [IdVec<HopId, Option<Place>>; 2],
    /// By phase: the hops that have a place.
    reached: [Vec<HopId>; 2],
    /// By phase, queue and stage (the last: any): the reached link that the fewest hops lead to.
    fronts: [Vec<Option<(u32, HopId)>>; 2],
}

/// Hops in order: those of the run before, those of this run.
fn hop(listing: &Listing, at: HopId) -> Hop {
    let (at, count) = (at.index(), listing.links.len());
    Hop { link: LinkId::new(at % count), run_before: at < count }
}

/// Both ends of all hops in the order of time; at one step, ends of first scopes come first.
fn time_line(listing: &Listing) -> Vec<End> {
    let spans = (0..listing.links.len() * 2).map(HopId::new).map(|at| (at, listing.span(hop(listing, at))));
    let mut events: Vec<_> = spans.flat_map(|(at, [enter, leave])| [(enter, false, at), (leave, true, at)]).collect();
    events.sort_unstable();
    events
}

impl<'l> Sweep<'l> {
    fn new(listing: &'l Listing) -> Self {
        let hops = listing.links.len() * 2;
        let fronts = (listing.host.index() + 1) * (STAGES + 1);
        Self {
            listing,
            ends: time_line(listing),
            places: [IdVec::filled(None, hops), IdVec::filled(None, hops)],
            reached: [Vec::new(), Vec::new()],
            fronts: [vec![None; fronts], vec![None; fronts]],
        }
    }

    /// Follows all chains from the earlier use that some pairs have in common, as far as one of them needs it.
    fn run(&mut self, needs: &[Need]) {
        let Some(need) = needs.first() else { return };
        for phase in 0..2 {
            for at in self.reached[phase].drain(..) {
                self.places[phase][at] = None;
            }
            self.fronts[phase].fill(None);
        }
        let listing = self.listing;
        let x = &listing.accesses[need.x];
        let begin = if need.run_before { 0 } else { listing.steps };
        let first = match x.link {
            None => begin + x.step.in_line(),
            // The entries of other queues begin chains, too, and may come before this one.
            Some(link) if listing.links[link].kind == LinkKind::Entry => begin,
            // A split barrier begins before the change of layout that it makes.
            Some(link) => listing.span(Hop { link, run_before: need.run_before })[0],
        };
        let last = needs.iter().map(|need| listing.accesses[need.y].step).max();
        let last = listing.steps + last.map_or(0, |step| step.in_line());
        let from = self.ends.partition_point(|(step, ..)| *step < first);
        let to = self.ends.partition_point(|(step, ..)| *step <= last);
        for index in from..to {
            let (_, leaves, at) = self.ends[index];
            if leaves { self.leave(at) } else { self.enter(at, need) }
        }
    }

    fn enter(&mut self, at: HopId, need: &Need) {
        let listing = self.listing;
        let hop = hop(listing, at);
        let begins = listing.begins(hop, need);
        if !listing.admits(hop, need, begins && listing.accesses[need.x].link.is_some()) {
            return;
        }
        for phase in 0..2 {
            let found =
                if phase == 0 && begins { Some(Place { hops: 1, from: None }) } else { self.nearest(phase, at) };
            let shown = if phase == 1 && listing.shows_to_host(hop, need) { self.places[0][at] } else { None };
            let place = match (found, shown) {
                (Some(a), Some(b)) => Some(if b.hops < a.hops { b } else { a }),
                (a, b) => a.or(b),
            };
            self.places[phase][at] = place;
            if place.is_some() {
                self.reached[phase].push(at);
            }
        }
    }

    /// The fewest hops to a link through the links before it.
    fn nearest(&self, phase: usize, at: HopId) -> Option<Place> {
        let link = &self.listing.links[hop(self.listing, at).link];
        let front = |queue: QueueId, stage: usize| self.fronts[phase][queue.index() * (STAGES + 1) + stage];
        let best = match link.signal_queue {
            Some(queue) => front(queue, STAGES),
            None => leaves(with_earlier(link.src_stages)).filter_map(|stage| front(link.queue, stage)).min(),
        };
        best.map(|(hops, from)| Place { hops: hops + 1, from: Some((phase, from)) })
    }

    fn leave(&mut self, at: HopId) {
        let link = &self.listing.links[hop(self.listing, at).link];
        for phase in 0..2 {
            let Some(place) = self.places[phase][at] else { continue };
            for stage in leaves(with_later(link.dst_stages)).chain([STAGES]) {
                let front = &mut self.fronts[phase][link.queue.index() * (STAGES + 1) + stage];
                if front.is_none_or(|known| (place.hops, at) < known) {
                    *front = Some((place.hops, at));
                }
            }
        }
    }

    /// A shortest chain to the later use.
    fn chain(&self, need: &Need) -> Option<Vec<Hop>> {
        let listing = self.listing;
        let (x, y) = (&listing.accesses[need.x], &listing.accesses[need.y]);
        let to_host = need.data && y.queue == listing.host && x.queue != listing.host;
        let own = y.link.map(|link| Hop { link, run_before: false });
        if let Some(own) = own.filter(|own| x.link.is_none() && listing.takes(*own, need)) {
            return Some(vec![own]);
        }
        let phase = usize::from(to_host);
        let ends = |at: &HopId| match own {
            Some(own) => listing.follows(hop(listing, *at), own),
            None => listing.ends(hop(listing, *at), need),
        };
        let reached = self.reached[phase].iter().copied().filter(ends);
        let last = reached.min_by_key(|at| (self.places[phase][*at].map(|place| place.hops), *at))?;
        let mut chain: Vec<Hop> = own.into_iter().collect();
        let mut at = Some((phase, last));
        while let Some((phase, link)) = at {
            chain.push(hop(listing, link));
            at = self.places[phase][link].and_then(|place| place.from);
        }
        chain.reverse();
        Some(chain)
    }
}

/// A chain per hazard pair, shared where they are equal.
pub(super) fn written(plan: &Plan, listing: Listing) -> Result<Certificate, Refused> {
    let (mut needs, mut reasons) = listing.needs();
    // Pairs with one earlier use stand together, so that each sweep is made once.
    let within = |need: &Need| {
        let [x, y] = [&listing.accesses[need.x], &listing.accesses[need.y]];
        if x.render_pass == y.render_pass && !need.run_before {
            (x.render_pass, y.subpass, y.within)
        } else {
            (None, Subpass::FIRST, x.within)
        }
    };
    // What takes a write in for another name of its bytes names that.
    let alias = |need: &Need| {
        let [x, y] = [&listing.accesses[need.x].region, &listing.accesses[need.y].region];
        (need.data && x.memory != y.memory).then_some((y.memory, y.copy, need.subresources[1]))
    };
    // The host sees only as a barrier names it.
    let host = |need: &Need| {
        let y = &listing.accesses[need.y];
        (need.data && y.queue == listing.host).then_some(y.access.bits())
    };
    let source =
        |need: &Need| (need.x, need.run_before, need.subresources[0], need.data, within(need), alias(need), host(need));
    needs.sort_by_key(|need| (source(need), need.y, need.subresources[1]));
    let mut known: BTreeMap<Vec<Hop>, ChainId> = BTreeMap::new();
    let mut chains = Vec::new();
    let mut pairs = Vec::new();
    let mut sweep = Sweep::new(&listing);
    for same in needs.chunk_by(|a, b| source(a) == source(b)) {
        rgraph_ir::cancel::poll();
        sweep.run(same);
        for need in same {
            let Some(chain) = sweep.chain(need) else {
                reasons.push(listing.uncovered(need));
                continue;
            };
            let chain = *known.entry(chain).or_insert_with_key(|chain| {
                chains.push(chain.clone());
                ChainId::new(chains.len() - 1)
            });
            let Need { x, y, run_before, data, .. } = *need;
            pairs.push(Pair { earlier: x, later: y, run_before, data, chain });
        }
    }
    if !reasons.is_empty() {
        reasons.truncate(Refused::MOST);
        return Err(Refused { reasons });
    }
    pairs.sort_unstable();
    pairs.dedup();
    let Listing { mut links, mut accesses, .. } = listing;
    let (links, accesses) = (std::mem::take(links.as_vec_mut()), std::mem::take(accesses.as_vec_mut()));
    let graph_hash = format!("{:032x}", plan.graph_hash);
    Ok(Certificate { certificate: 1, graph: plan.graph.clone(), graph_hash, links, accesses, chains, pairs })
}
