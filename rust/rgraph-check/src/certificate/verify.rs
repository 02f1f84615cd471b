//! The verifier: knows the flat list of a plan's synchronization, the flat list of its uses of memory, and nothing
//! else.
//!
//! It asks for the hazard pairs, which are found by comparing every two uses of the same bytes, and follows the chains
//! that a certificate gives for them link by link.
//!
//! Source: Vulkan 1.3 specification, "Synchronization Commands" (scopes, dependency chains, availability, visibility),
//! "Framebuffer Region Dependencies", "Host Write Ordering Guarantees".

use std::collections::HashMap;

use rgraph_ir::access::{Accesses, Stages};
use rgraph_ir::id::Id;

use super::listing::Listing;
use super::pairs::{Need, names};
use super::{Access, Certificate, Hop, Link, LinkKind, Refused, Within};

/// Pipelines in logical order.
const PIPELINES: [&[Stages]; 4] = [
    &[
        Stages::DRAW_INDIRECT,
        Stages::INDEX_INPUT,
        Stages::VERTEX_ATTRIBUTE_INPUT,
        Stages::VERTEX_SHADER,
        Stages::TESSELLATION_CONTROL_SHADER,
        Stages::TESSELLATION_EVALUATION_SHADER,
        Stages::GEOMETRY_SHADER,
        Stages::EARLY_FRAGMENT_TESTS,
        Stages::FRAGMENT_SHADER,
        Stages::LATE_FRAGMENT_TESTS,
        Stages::COLOR_ATTACHMENT_OUTPUT,
    ],
    &[
        Stages::DRAW_INDIRECT,
        Stages::TASK_SHADER,
        Stages::MESH_SHADER,
        Stages::EARLY_FRAGMENT_TESTS,
        Stages::FRAGMENT_SHADER,
        Stages::LATE_FRAGMENT_TESTS,
        Stages::COLOR_ATTACHMENT_OUTPUT,
    ],
    &[Stages::DRAW_INDIRECT, Stages::COMPUTE_SHADER],
    &[Stages::DRAW_INDIRECT, Stages::RAY_TRACING_SHADER],
];

/// Whether one stage of `first` is, or is logically before, one stage of `second`.
fn meets(first: Stages, second: Stages) -> bool {
    let before = |pipeline: &&[Stages]| {
        let earliest = pipeline.iter().position(|stage| first.intersects(*stage));
        let latest = pipeline.iter().rposition(|stage| second.intersects(*stage));
        earliest.zip(latest).is_some_and(|(earliest, latest)| earliest <= latest)
    };
    first.intersects(second) || PIPELINES.iter().any(before)
}

impl Listing {
    fn link(&self, hop: Hop) -> &Link {
        &self.links[hop.link]
    }

    /// Steps of both runs on one time line; the run before has the first ones.
    pub(super) fn span(&self, hop: Hop) -> [i64; 2] {
        let (link, run) = (self.link(hop), if hop.run_before { 0 } else { self.steps });
        let enter = run - if link.run_before { self.steps } else { 0 };
        [enter + link.enter.in_line(), run + link.leave.in_line()]
    }

    /// Whether a link is about all memory, or names a subresource of the pair, under either name of its bytes (Vulkan
    /// 1.3, "Memory Aliasing").
    fn covers(&self, link: &Link, need: &Need) -> bool {
        let [x, y] = [&self.accesses[need.x].region, &self.accesses[need.y].region];
        let [first, second] = need.subresources;
        link.region.as_ref().is_none_or(|region| names(region, x, first) || names(region, y, second))
    }

    /// Whether `x` is in the first scope of a link.
    pub(super) fn takes(&self, hop: Hop, need: &Need) -> bool {
        let (link, x) = (self.link(hop), &self.accesses[need.x]);
        let before = if need.run_before { 0 } else { self.steps } + x.step.in_line() < self.span(hop)[0];
        let here = link.render_pass.is_none() || !need.run_before && link.render_pass == x.render_pass;
        before
            && here
            && match link.kind {
                LinkKind::Wait => link.signal_queue == Some(x.queue),
                _ if need.data => {
                    let writes = link.src_stages.intersects(x.stages) && link.src_access.intersects(x.access);
                    link.queue == x.queue && writes && self.covers(link, need)
                }
                _ => link.queue == x.queue && meets(x.stages, link.src_stages),
            }
    }

    /// Whether `y` is in the second scope of a link.
    fn gives(&self, hop: Hop, need: &Need) -> bool {
        let (link, y) = (self.link(hop), &self.accesses[need.y]);
        let after = self.span(hop)[1] < self.steps + y.step.in_line() && link.queue == y.queue;
        let shown = link.dst_stages.intersects(y.stages)
            && (link.kind == LinkKind::Wait || link.dst_access.intersects(y.access) && self.covers(link, need));
        let here = link.render_pass.is_none() || !hop.run_before && link.render_pass == y.render_pass;
        after && here && if need.data && y.queue != self.host { shown } else { meets(link.dst_stages, y.stages) }
    }

    /// Whether the second scope of a link meets the first scope of the next one.
    pub(super) fn follows(&self, a: Hop, b: Hop) -> bool {
        let (first, second) = (self.link(a), self.link(b));
        self.span(a)[1] < self.span(b)[0]
            && match second.kind {
                LinkKind::Wait => second.signal_queue == Some(first.queue),
                // A release at the end of a run is covered by the semaphore for which the acquiring submit waits.
                LinkKind::Exit if first.queue == second.queue && first.families.is_some() => true,
                _ => first.queue == second.queue && meets(first.dst_stages, second.src_stages),
            }
    }

    /// Whether a link makes what is available visible to the host as the later use accesses it.
    pub(super) fn shows_to_host(&self, hop: Hop, need: &Need) -> bool {
        let (link, x, y) = (self.link(hop), &self.accesses[need.x].region, &self.accesses[need.y]);
        // The state in which a run leaves memory is no access. A write needs what was there in the host's domain only,
        // where a barrier with either access brings it (Vulkan 1.3, Appendix B, "Location-Ordered").
        let wanted = if y.link.is_some() || y.write { Accesses::HOST_READ | Accesses::HOST_WRITE } else { y.access };
        link.dst_stages.contains(Stages::HOST)
            && link.dst_access.intersects(wanted)
            && link.region.as_ref().is_none_or(|region| names(region, x, need.subresources[0]))
    }

    /// Whether a link can be where the chain of a pair begins.
    pub(super) fn begins(&self, hop: Hop, need: &Need) -> bool {
        let x = &self.accesses[need.x];
        let Some(own) = x.link else { return self.takes(hop, need) };
        // Each queue has an entry of its own to what all of them read.
        let [own, link] = [&self.links[own], self.link(hop)];
        let entry = |l: &Link| l.kind == LinkKind::Entry && l.names(&x.region, need.subresources[0]);
        hop.run_before == need.run_before && (own == link || entry(own) && entry(link))
    }

    /// Whether a link can be where the chain of a pair ends.
    pub(super) fn ends(&self, hop: Hop, need: &Need) -> bool {
        match self.accesses[need.y].link {
            Some(own) => hop == Hop { link: own, run_before: false },
            None => self.gives(hop, need),
        }
    }

    /// Whether a link can be part of the chain of a pair; `own`: it is the access at that end of the chain itself.
    pub(super) fn admits(&self, hop: Hop, need: &Need, own: bool) -> bool {
        let [x, y] = [&self.accesses[need.x], &self.accesses[need.y]];
        let link = self.link(hop);
        let one = !need.run_before && x.render_pass.is_some() && x.render_pass == y.render_pass;
        let local = |a: &Access| a.within != Within::Nowhere || a.link.is_some();
        let apart = x.link.is_some() || y.link.is_some() || x.subpass != y.subpass;
        match link.kind {
            LinkKind::Entry | LinkKind::Exit => own,
            // Within a render pass only its own dependencies hold, from subpass to subpass, for what is texel by texel.
            _ if one => {
                link.render_pass == x.render_pass && local(x) && local(y) && apart && x.region.memory == y.region.memory
            }
            LinkKind::Subpass => own,
            LinkKind::Barrier | LinkKind::Wait => true,
        }
    }

    fn holds(&self, chain: &[Hop], need: &Need) -> bool {
        let (Some(&first), Some(&last)) = (chain.first(), chain.last()) else { return false };
        let to_host = need.data && self.accesses[need.y].queue == self.host && self.accesses[need.x].queue != self.host;
        let ends = [self.accesses[need.x].link.is_some(), self.accesses[need.y].link.is_some()];
        let own = |at: usize| at == 0 && ends[0] || at + 1 == chain.len() && ends[1];
        chain.iter().enumerate().all(|(at, hop)| self.links.get(hop.link).is_some() && self.admits(*hop, need, own(at)))
            && self.begins(first, need)
            && chain.windows(2).all(|pair| self.follows(pair[0], pair[1]))
            && self.ends(last, need)
            && (!to_host || chain.iter().any(|hop| self.shows_to_host(*hop, need)))
    }
}

/// Verifies a certificate against the lists of a plan.
pub(super) fn verified(listing: &Listing, certificate: &Certificate) -> Result<(), Refused> {
    if certificate.links != listing.links.as_slice() || certificate.accesses != listing.accesses.as_slice() {
        return Err(Refused::one("the certificate lists other synchronization or accesses than the plan".to_owned()));
    }
    let (needs, mut reasons) = listing.needs();
    let mut of: HashMap<_, Vec<usize>> = HashMap::new();
    for (at, pair) in certificate.pairs.iter().enumerate() {
        of.entry((pair.earlier, pair.later, pair.run_before, pair.data)).or_default().push(at);
    }
    let mut used = vec![false; certificate.pairs.len()];
    for need in needs {
        let given = of.get(&(need.x, need.y, need.run_before, need.data)).into_iter().flatten();
        let chain = |at: &usize| certificate.chains.get(certificate.pairs[*at].chain.index());
        match given.copied().find(|at| chain(at).is_some_and(|chain| listing.holds(chain, &need))) {
            Some(at) => used[at] = true,
            None => reasons.push(listing.uncovered(&need)),
        }
    }
    if let Some(at) = used.iter().position(|used| !used) {
        reasons.push(format!("pair {at} is no hazard, or its chain does not hold"));
    }
    reasons.truncate(Refused::MOST);
    if reasons.is_empty() { Ok(()) } else { Err(Refused { reasons }) }
}
