//! Hazard pairs by brute force: every two uses of the same bytes of which one writes, without those that need no chain.
//!
//! A pair needs none if a use that always happens stands between and makes a pair with both: the chains to and from it
//! make one. So do writes to other memories in the bytes that both share, if these writes together replace all of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::bytes::{Span, is_covered};
use super::listing::Listing;
use super::{Access, AccessId, Link, LinkKind, Region, Within};
use crate::ids::{MemoryId, SubresourceId};

/// An access in this run or in the run before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Occurrence {
    access: AccessId,
    run_before: bool,
}

/// A hazard pair, subresource by subresource, that needs a chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Need {
    pub x: AccessId,
    pub y: AccessId,
    /// Whether `x` stands in the run before.
    pub run_before: bool,
    /// Whether the write of `x` must be available and visible to `y`.
    pub data: bool,
    /// The subresources of `x` and `y`.
    pub subresources: [SubresourceId; 2],
}

impl Need {
    fn first(&self) -> Occurrence {
        Occurrence { access: self.x, run_before: self.run_before }
    }

    fn second(&self) -> Occurrence {
        Occurrence { access: self.y, run_before: false }
    }
}

pub(super) fn names(region: &Region, of: &Region, subresource: SubresourceId) -> bool {
    (region.memory, region.copy) == (of.memory, of.copy) && region.subresources.contains(&subresource)
}

impl Link {
    pub(super) fn names(&self, of: &Region, subresource: SubresourceId) -> bool {
        self.region.as_ref().is_some_and(|region| names(region, of, subresource))
    }
}

impl Access {
    /// Presentation has a layout and happens at no stage.
    fn is_something(&self) -> bool {
        self.link.is_some() || !self.stages.is_empty()
    }
}

impl Listing {
    fn one_pass(&self, x: Occurrence, y: Occurrence) -> bool {
        let one_run = x.run_before == y.run_before;
        let [x, y] = [x, y].map(|of| &self.accesses[of.access]);
        one_run && x.link.is_none() && y.link.is_none() && x.step == y.step
    }

    /// Whether two uses of one subresource make a pair: one writes, or the later one hands the memory over, and they
    /// are of two passes that do not commute.
    fn is_pair(&self, x: Occurrence, y: Occurrence) -> bool {
        let [a, b] = [x, y].map(|of| &self.accesses[of.access]);
        let commute = a.group.is_some()
            && a.group == b.group
            && x.run_before == y.run_before
            && a.region.memory == b.region.memory;
        let hands_over = b.link.is_some_and(|link| self.links[link].families.is_some());
        (a.write || b.write || hands_over) && !commute && !(a.region.memory == b.region.memory && self.one_pass(x, y))
    }

    /// Every pair that needs a chain, and states that do not fit.
    pub(super) fn needs(&self) -> (Vec<Need>, Vec<String>) {
        let (mut needs, mut wrong) = (Vec::new(), Vec::new());
        let mut of: HashMap<MemoryId, Vec<AccessId>> = HashMap::new();
        for (at, y) in self.accesses.iter_ids() {
            let entry = self.kind(y) == Some(LinkKind::Entry);
            let across = self.is_used_again(y.region.memory) || entry;
            let related = &*of.entry(y.region.memory).or_insert_with(|| self.related(y.region.memory));
            let this_run = related.iter().rev().filter(|x| **x < at);
            let this_run = this_run.map(|&access| Occurrence { access, run_before: false });
            let run_before = related.iter().rev().filter(|_| across);
            let run_before = run_before.map(|&access| Occurrence { access, run_before: true });
            let earlier: Vec<Occurrence> = this_run.chain(run_before).collect();
            for &subresource in &y.region.subresources {
                rgraph_ir::cancel::poll();
                self.needs_of(
                    Occurrence { access: at, run_before: false },
                    subresource,
                    &earlier,
                    &mut needs,
                    &mut wrong,
                );
            }
        }
        (needs, wrong)
    }

    fn needs_of(
        &self,
        at: Occurrence,
        subresource: SubresourceId,
        earlier: &[Occurrence],
        needs: &mut Vec<Need>,
        wrong: &mut Vec<String>,
    ) {
        let y = &self.accesses[at.access];
        let mut between: Vec<Occurrence> = Vec::new();
        let real = self.memories.get(y.region.memory).is_some();
        let entry = self.kind(y) == Some(LinkKind::Entry);
        let earlier_copy = if entry { self.copy_before(&y.region, subresource) } else { y.region.copy };
        let mut settled = entry || y.before.layouts.is_empty() && !(real && self.outlives(y.region.memory));
        let is_exit = |of: &&Occurrence| self.kind(&self.accesses[of.access]) == Some(LinkKind::Exit);
        for &before in earlier.iter().filter(|of| !is_exit(of)) {
            let x = &self.accesses[before.access];
            let aliased = x.region.memory != y.region.memory;
            let copy = if before.run_before { earlier_copy } else { y.region.copy };
            let same = !aliased && x.region.copy == copy && x.region.subresources.contains(&subresource);
            if !same && !aliased
                || !before.run_before && x.flags.iter().any(|(flag, on)| y.flags.contains(&(*flag, !on)))
            {
                continue;
            }
            let last = |z: &Occurrence| {
                let a = &self.accesses[z.access];
                a.write
                    && a.flags.is_empty()
                    && a.group.is_none()
                    && a.render_pass.is_none()
                    && a.region.memory == y.region.memory
            };
            if between.iter().any(|z| last(z) && !self.one_pass(*z, before) && self.is_pair(*z, at)) {
                break;
            }
            for &x_subresource in if aliased { &x.region.subresources[..] } else { std::slice::from_ref(&subresource) }
            {
                let need = Need {
                    x: before.access,
                    y: at.access,
                    run_before: before.run_before,
                    data: false,
                    subresources: [x_subresource, subresource],
                };
                if !self.is_pair(before, at) {
                    // Nothing orders a read after a release, but it may not stand between the halves.
                    let released = same && !before.run_before && x.after.families.is_some_and(|[from, to]| from != to);
                    if released && !self.is_between(&need, &between, true) && !self.fits(x, y) {
                        wrong.push(self.misfit(x, y));
                    }
                    continue;
                }
                if self.is_between(&need, &between, false) {
                    continue;
                }
                let replaced = self.is_between(&need, &between, true);
                if same && !before.run_before && !replaced && !self.fits(x, y) {
                    wrong.push(self.misfit(x, y));
                }
                if !self.is_ordered_anyway(&need) && !self.is_overwritten(&need, &between) {
                    needs.push(Need { data: self.moves_data(&need) && !replaced, ..need });
                }
            }
            // The host finds garbage in any layout, and leaves it there.
            let says = !x.after.layouts.is_empty() || y.before.layouts.is_empty();
            settled |= same && !before.run_before && says && x.flags.iter().all(|flag| y.flags.contains(flag));
            if x.is_something() {
                between.push(before);
            }
        }
        let left = !real
            || !self.outlives(y.region.memory)
            || self.links.iter().any(|link| link.kind == LinkKind::Exit && link.names(&y.region, subresource));
        if !settled || !left {
            wrong.push(format!("{} finds no layout, or lies outside of the edges of its resource", y.words()));
        }
    }

    /// Whether a use that always happens stands between a pair: one with chains to both, or (`replaces`) any write.
    fn is_between(&self, need: &Need, between: &[Occurrence], replaces: bool) -> bool {
        let (first, second) = (need.first(), need.second());
        let [x, y] = [&self.accesses[need.x], &self.accesses[need.y]];
        between.iter().any(|&at| {
            let z = &self.accesses[at.access];
            let here =
                names(&z.region, &x.region, need.subresources[0]) || names(&z.region, &y.region, need.subresources[1]);
            // A store operation follows the change of layout itself. What a device saw, the host has not seen; the
            // state in which a run leaves memory is no access of the host.
            let host = y.queue == self.host && y.link.is_none();
            let saw = y.within != Within::Store && (!host || z.queue == y.queue);
            self.always_happens(at, need)
                && here
                && (z.write || saw)
                && self.is_pair(first, at)
                && if replaces {
                    // What the later pass itself did is no earlier state.
                    let before = !self.one_pass(at, second);
                    before && (z.write && z.group.is_none() || !z.write && self.is_pair(at, second))
                } else {
                    !self.is_inside(at, need) && self.is_pair(at, second)
                }
        })
    }

    /// Whether a use happens in every run in which both uses of a pair do.
    fn always_happens(&self, at: Occurrence, need: &Need) -> bool {
        let [x, y, z] = [need.x, need.y, at.access].map(|at| &self.accesses[at]);
        let of = |a: &Access, run_before: bool, flag| at.run_before == run_before && a.flags.contains(flag);
        z.flags.iter().all(|flag| of(x, need.run_before, flag) || of(y, false, flag))
    }

    /// Whether a use stands within a render pass of the pair. A chain to or from a place within a render pass is no
    /// chain to another stage of that place.
    fn is_inside(&self, at: Occurrence, need: &Need) -> bool {
        let [x, y, z] = [need.x, need.y, at.access].map(|at| &self.accesses[at]);
        let within = |a: &Access, run_before: bool| {
            at.run_before == run_before && z.link.is_none() && z.render_pass.is_some() && z.render_pass == a.render_pass
        };
        within(x, need.run_before) || within(y, false)
    }

    /// Whether writes to other memories, which always happen between a pair and make pairs with both of its uses,
    /// replace all bytes that the memories of the pair share. Each byte then has two chains that meet at such a write.
    fn is_overwritten(&self, need: &Need, between: &[Occurrence]) -> bool {
        let (first, second) = (need.first(), need.second());
        let [x, y] = [&self.accesses[need.x].region, &self.accesses[need.y].region];
        let mut written: BTreeMap<MemoryId, BTreeSet<SubresourceId>> = BTreeMap::new();
        for &at in between {
            let z = &self.accesses[at.access];
            let third = z.region.memory != x.memory && z.region.memory != y.memory && z.region.copy == 0;
            if third
                && z.write
                && z.group.is_none()
                && self.always_happens(at, need)
                && !self.is_inside(at, need)
                && self.is_pair(first, at)
                && self.is_pair(at, second)
            {
                written.entry(z.region.memory).or_default().extend(&z.region.subresources);
            }
        }
        let shared = self.shared([x.memory, y.memory]);
        let spans: Vec<Span> =
            written.iter().flat_map(|(&memory, subresources)| self.replaced(memory, subresources)).collect();
        !shared.is_empty() && shared.into_iter().all(|span| is_covered(span, &spans))
    }

    /// What `y` must find and `x` does not leave, in words.
    fn misfit(&self, x: &Access, y: &Access) -> String {
        format!("{} needs {}, but {} leaves {}", y.words(), y.before.words(), x.words(), x.after.words())
    }

    /// Whether the layout and the owner that `x` leaves are those that `y` must find.
    fn fits(&self, x: &Access, y: &Access) -> bool {
        let [left, wanted] = [&x.after, &y.before];
        let discards = x.link.is_some() && !x.needs;
        let layout = left.layouts.is_empty()
            || wanted.layouts.is_empty()
            || left.layouts.iter().any(|l| wanted.layouts.contains(l));
        // Where a run leaves memory to a family, the release is the last of it.
        let released =
            self.kind(y) == Some(LinkKind::Exit) && left.families.map(|f| f[1]) == wanted.families.map(|f| f[1]);
        let owner =
            left.families.is_none() || wanted.families.is_none() || left.families == wanted.families || released;
        // Both halves of a transfer name one change of layout of one range.
        let half = |a: &Access| a.link.map(|link| &self.links[link]).map(|l| (l.families, &l.layouts, &l.region));
        // The host owns nothing, and may look at the memory between the halves.
        let looks = !x.write && left.families.is_none();
        let transfer = !looks && y.before.families.is_some_and(|[from, to]| from != to);
        // Between the halves nobody uses the memory, whatever it needs of it.
        let pending = left.families.is_some_and(|[from, to]| from != to) && y.link.is_none() && !owner;
        layout && !pending && (owner || discards || !y.needs) && (!transfer || half(x) == half(y))
    }

    fn kind(&self, access: &Access) -> Option<LinkKind> {
        access.link.map(|link| self.links[link].kind)
    }

    /// Pairs that no synchronization of the plan is for: the host's own order, rasterisation order, the runtime's
    /// edges.
    fn is_ordered_anyway(&self, need: &Need) -> bool {
        let [x, y] = [&self.accesses[need.x], &self.accesses[need.y]];
        let raster = !need.run_before
            && x.region.memory == y.region.memory
            && (x.render_pass, x.subpass) == (y.render_pass, y.subpass)
            && x.render_pass.is_some()
            && x.within == Within::Attachment
            && (y.within == Within::Attachment || y.within == Within::Resolve && !y.write);
        let stored = !need.run_before
            && x.region.memory == y.region.memory
            && x.render_pass == y.render_pass
            && x.link.is_none()
            && y.within == Within::Store;
        let edges = |a: &Access| matches!(self.kind(a), Some(LinkKind::Entry | LinkKind::Exit));
        // The runtime hands what outlives a run from its exit to its entry on one queue; other queues wait.
        let exit =
            |l: &Link| l.kind == LinkKind::Exit && l.queue == y.queue && l.names(&x.region, need.subresources[0]);
        let handed = self.kind(y) == Some(LinkKind::Entry) && (x.queue == y.queue || self.links.iter().any(exit));
        let nothing = !x.is_something() || !y.is_something();
        let host = x.queue == self.host && y.queue == self.host;
        nothing || host || raster || stored || handed || edges(x) && edges(y)
    }

    /// Whether what `x` writes must reach `y`.
    fn moves_data(&self, need: &Need) -> bool {
        let [x, y] = [&self.accesses[need.x], &self.accesses[need.y]];
        let device =
            |a: &Access| a.write && a.link.is_none() && a.queue != self.host && a.region.memory == x.region.memory;
        // What only the host ever wrote needs no barrier to be seen by the host.
        let idle = self.kind(x) == Some(LinkKind::Entry) && y.queue == self.host && !self.accesses.iter().any(device);
        let ordering = x.access.is_empty() && x.link.is_none();
        x.write && !y.inner && !idle && !ordering && self.kind(y) != Some(LinkKind::Entry)
    }
}
