//! The exact checker of the tests: every pair of operations, every chain of nodes by search, no clocks, nothing
//! dropped once checked. Quadratic; it exists so that the walk, which is linear, can be compared with it.
//!
//! It takes the operations and nodes of the walk as they happened and checks them again. Left out on both sides are
//! resources that outlive the frame (the runtime's barriers stand around them).

use rgraph_ir::access::{Accesses, Stages};
use rgraph_ir::graph::Graph;
use rgraph_ir::plan::{Command, Plan, QueueId};

use crate::facts::Facts;
use crate::finding::{Findings, Rule};
use crate::ids::{AllocationId, Place, Position, SubresourceId};
use crate::machine::Machine;
use crate::subresource::{Done, Local};
use crate::tables::{leaf, with_earlier, with_later};

/// A vertex of the search: a barrier of the log, or a wait.
enum Vertex {
    Barrier(usize),
    Wait(usize),
}

struct Exact<'m, 'a> {
    machine: &'m Machine<'a>,
    vertices: Vec<Vertex>,
    /// By vertex: the vertices that it chains to, itself included.
    reach: Vec<Vec<bool>>,
}

impl<'m, 'a> Exact<'m, 'a> {
    fn new(machine: &'m Machine<'a>) -> Self {
        let log = &machine.log;
        let barriers = (0..log.covers.len()).map(Vertex::Barrier);
        let vertices: Vec<_> = barriers.chain((0..log.waits.len()).map(Vertex::Wait)).collect();
        let mut exact = Self { machine, vertices, reach: Vec::new() };
        let count = exact.vertices.len();
        let next: Vec<Vec<usize>> = (0..count).map(|a| (0..count).filter(|b| exact.chains(a, *b)).collect()).collect();
        exact.reach = (0..count)
            .map(|start| {
                let mut seen = vec![false; count];
                let mut work = vec![start];
                while let Some(at) = work.pop() {
                    if !std::mem::replace(&mut seen[at], true) {
                        work.extend(&next[at]);
                    }
                }
                seen
            })
            .collect();
        exact
    }

    /// Queue, position and stages of a vertex's second scope.
    fn out(&self, vertex: usize) -> (QueueId, Position, Stages) {
        match self.vertices[vertex] {
            Vertex::Barrier(at) => {
                let node = &self.machine.nodes[self.machine.log.covers[at].0];
                (node.queue, node.leave, with_later(node.scope.dst_stages))
            }
            Vertex::Wait(at) => {
                let wait = &self.machine.log.waits[at];
                (wait.queue, wait.at, with_later(wait.stages))
            }
        }
    }

    /// Whether what stands at a queue, position and stages enters a vertex; no stages: a transition, a signal only.
    fn takes_in(&self, vertex: usize, queue: QueueId, position: Position, stages: Stages) -> bool {
        match self.vertices[vertex] {
            Vertex::Barrier(at) => {
                let node = &self.machine.nodes[self.machine.log.covers[at].0];
                let earlier = with_earlier(node.scope.src_stages);
                node.queue == queue && position < node.enter && earlier.intersects(stages)
            }
            Vertex::Wait(at) => {
                let wait = &self.machine.log.waits[at];
                wait.from == queue && position < wait.signal
            }
        }
    }

    fn chains(&self, a: usize, b: usize) -> bool {
        let (queue, position, stages) = self.out(a);
        // A wait that holds up no stage chains to nothing, be it a signal.
        let holds = matches!(self.vertices[a], Vertex::Barrier(_)) || !stages.is_empty();
        holds && self.takes_in(b, queue, position, stages)
    }

    /// Whether a barrier is about a pair's bytes: about all memory, or it names the place of one of the two.
    fn covers(&self, at: usize, x: &Done, y: &Done) -> bool {
        self.machine.log.covers[at].1.as_ref().is_none_or(|(allocation, subresources)| {
            [x, y]
                .iter()
                .any(|done| done.place.allocation == *allocation && subresources.contains(&done.place.subresource))
        })
    }

    fn own(&self, done: &Done) -> Option<usize> {
        let node = done.node?;
        self.machine.log.covers.iter().position(|(other, _)| *other == node)
    }

    /// Vertices that an operation enters.
    fn entered(&self, x: &Done) -> Vec<usize> {
        match self.own(x) {
            Some(own) => vec![own],
            None => {
                let stage = leaf(usize::from(x.op.stage));
                (0..self.vertices.len()).filter(|v| self.takes_in(*v, x.queue, x.position, stage)).collect()
            }
        }
    }

    /// Vertices that an operation is ordered after directly.
    fn reached(&self, y: &Done) -> Vec<usize> {
        match self.own(y) {
            Some(own) => vec![own],
            None => (0..self.vertices.len())
                .filter(|v| {
                    let (queue, position, stages) = self.out(*v);
                    queue == y.queue && position < y.position && stages.contains(leaf(usize::from(y.op.stage)))
                })
                .collect(),
        }
    }

    fn meets(&self, from: &[usize], to: &[usize]) -> bool {
        from.iter().any(|a| to.iter().any(|b| self.reach[*a][*b]))
    }

    /// The by-region dependencies among some vertices, for two operations of one render pass; else all of them.
    fn between(&self, x: &Done, y: &Done, mut vertices: Vec<usize>) -> Vec<usize> {
        if self.together(x, y) {
            vertices.retain(|v| match self.vertices[*v] {
                Vertex::Barrier(at) => self.machine.nodes[self.machine.log.covers[at].0].rendering == x.rendering,
                Vertex::Wait(_) => false,
            });
        }
        vertices
    }

    fn together(&self, x: &Done, y: &Done) -> bool {
        let own = |done: &Done| done.node.map_or(done.rendering, |node| self.machine.nodes[node].rendering);
        x.rendering.is_some() && own(x) == own(y)
    }

    fn is_ordered(&self, x: &Done, y: &Done) -> bool {
        let host = self.machine.host;
        if x.queue == host && y.queue == host {
            return true;
        }
        if x.node.is_some() && x.node == y.node {
            return false;
        }
        let mut from = self.between(x, y, self.entered(x));
        if let Some(own) = self.own(x) {
            // A transition is itself a point of the chain: it may not count as reached by standing there.
            if self.own(y) == Some(own) {
                from.clear();
            }
        }
        self.meets(&from, &self.reached(y))
    }

    /// Vertices at which a write becomes available, among the barriers that `names` accepts.
    fn available(&self, x: &Done, names: impl Fn(usize) -> bool) -> Vec<usize> {
        if let Some(own) = self.own(x) {
            return vec![own];
        }
        let stage = leaf(usize::from(x.op.stage));
        let takes = |v: &usize| match self.vertices[*v] {
            Vertex::Barrier(at) => {
                let node = &self.machine.nodes[self.machine.log.covers[at].0];
                node.queue == x.queue
                    && x.position < node.enter
                    && node.scope.src_stages.contains(stage)
                    && node.scope.src_access.intersects(x.op.access)
                    && names(at)
            }
            Vertex::Wait(_) => self.takes_in(*v, x.queue, x.position, stage),
        };
        (0..self.vertices.len()).filter(takes).collect()
    }

    /// Whether barriers on other names of a write's bytes show it, each for what it names, and together for all that
    /// the pair shares.
    fn is_lent(&self, x: &Done, y: &Done) -> bool {
        let machine = self.machine;
        let of = |allocation: AllocationId, subresource: SubresourceId| Place {
            memory: machine.allocations[allocation].memory,
            subresource,
        };
        let mut named = Vec::new();
        for allocation in
            machine.allocations.ids().filter(|allocation| machine.residents.share(x.place.allocation, *allocation))
        {
            for subresource in machine.allocations[allocation].subresources.ids() {
                let names = |at: usize| {
                    let cover = machine.log.covers[at].1.as_ref();
                    cover.is_some_and(|(other, list)| *other == allocation && list.contains(&subresource))
                };
                if self.is_shown(x, y, self.available(x, names)) {
                    named.push(of(allocation, subresource));
                }
            }
        }
        let pair = [x, y].map(|done| of(done.place.allocation, done.place.subresource));
        self.own(x).is_none() && machine.bytes.contain(machine.facts, pair, named)
    }

    fn is_visible(&self, x: &Done, y: &Done) -> bool {
        self.is_shown(x, y, self.available(x, |at| self.covers(at, x, y))) || self.is_lent(x, y)
    }

    /// Whether a write that is available at some vertices is visible to a later use.
    fn is_shown(&self, x: &Done, y: &Done, available: Vec<usize>) -> bool {
        let available = self.between(x, y, available);
        if let Some(own) = self.own(y) {
            return self.meets(&available, &[own]);
        }
        let host = self.machine.host;
        if y.queue == host {
            let shown: Vec<usize> = (0..self.machine.log.covers.len())
                .filter(|&at| {
                    let scope = &self.machine.nodes[self.machine.log.covers[at].0].scope;
                    // A write of the host needs what was there in the host's domain, by a barrier with either access.
                    let either = Accesses::HOST_READ | Accesses::HOST_WRITE;
                    scope.dst_stages.contains(Stages::HOST)
                        && scope.dst_access.intersects(if y.op.write { either } else { y.op.access })
                        && self.covers(at, x, x)
                        && available.iter().any(|v| self.reach[*v][at])
                })
                .collect();
            return x.queue == host || self.meets(&shown, &self.reached(y));
        }
        let stage = leaf(usize::from(y.op.stage));
        let shows = |v: &usize| match self.vertices[*v] {
            Vertex::Barrier(at) => {
                let node = &self.machine.nodes[self.machine.log.covers[at].0];
                node.queue == y.queue
                    && node.leave < y.position
                    && node.scope.dst_stages.contains(stage)
                    && node.scope.dst_access.intersects(y.op.access)
                    && self.covers(at, x, y)
            }
            Vertex::Wait(at) => {
                let wait = &self.machine.log.waits[at];
                wait.queue == y.queue && wait.at < y.position && wait.stages.contains(stage)
            }
        };
        let shows: Vec<usize> = (0..self.vertices.len()).filter(shows).collect();
        self.meets(&available, &shows)
    }

    /// The first hazard among all pairs, in words. `forgives`: a write of all bytes that a pair shares, under a third
    /// name, stands for the earlier side.
    fn first_hazard(&self, forgives: bool) -> Option<String> {
        let facts = self.machine.facts;
        let outlives = |done: &Done| facts.edged[self.machine.allocations[done.place.allocation].memory];
        let fresh = |done: &Done| facts.fresh[self.machine.allocations[done.place.allocation].memory];
        let list: Vec<&Done> = self.machine.done.iter().filter(|done| !outlives(done)).collect();
        let releases = self.machine.log.releases.iter().filter(|done| !outlives(done));
        for y in list.iter().copied().chain(releases) {
            for x in list.iter().take_while(|x| x.sequence < y.sequence) {
                // Each run has other memory for what is fresh.
                let same = x.place == y.place && (x.run == y.run || !fresh(x));
                let aliased = self.machine.residents.share(x.place.allocation, y.place.allocation);
                let own = same && x.instance == y.instance;
                if !(same || aliased) || !(x.op.write || y.op.write) || own {
                    continue;
                }
                let commute = same && x.group.is_some() && x.group == y.group && x.run == y.run;
                let raster = same
                    && x.rendering.is_some()
                    && (x.rendering, x.subpass) == (y.rendering, y.subpass)
                    && x.local == Local::Attachment
                    && (y.local == Local::Attachment || y.local == Local::Resolve && !y.op.write);
                // A store operation follows all that its render pass did to the texel, but for a change of layout.
                let stored = same && x.rendering.is_some() && x.rendering == y.rendering && y.local == Local::Store;
                if commute || raster || stored {
                    continue;
                }
                let torn = self.together(x, y)
                    && (!same
                        || x.local == Local::No
                        || y.local == Local::No && y.node.is_none()
                        || x.subpass == y.subpass && y.node.is_none());
                if torn || !self.is_ordered(x, y) {
                    return Some(format!("{y:?} is not ordered after {x:?}"));
                }
                if !x.op.write || y.inner {
                    continue;
                }
                let between = |z: &&&Done| z.sequence > x.sequence && z.sequence < y.sequence;
                let on = |z: &Done, w: &Done| z.place == w.place && (z.run == w.run || !fresh(z));
                let replaces = |z: &&&Done| z.op.write && z.group.is_none() && z.instance != x.instance;
                let writes = || list.iter().filter(between).filter(replaces);
                // What overwrote all bytes that two resources share, be it under a third name, saw the earlier write.
                let machine = self.machine;
                let of = |z: &Done| Place {
                    memory: machine.allocations[z.place.allocation].memory,
                    subresource: z.place.subresource,
                };
                let share = |z: &Done, w: &Done| machine.residents.share(z.place.allocation, w.place.allocation);
                let third = || writes().filter(|z| share(z, x) && share(z, y)).map(|z| of(z)).collect();
                let replaced = writes().any(|z| on(z, x) || on(z, y))
                    || forgives && machine.bytes.contain(facts, [of(x), of(y)], third());
                let seen = y.op.write
                    && y.local != Local::Store
                    && list.iter().filter(between).any(|r| {
                        !r.op.write
                            && (y.queue != self.machine.host || r.queue == y.queue)
                            && (on(r, x) || on(r, y))
                            && r.instance != x.instance
                            && self.is_ordered(r, y)
                    });
                if !replaced && !seen && !self.is_visible(x, y) {
                    return Some(format!("{x:?} is not visible to {y:?}"));
                }
            }
        }
        None
    }
}

/// The first hazard of a plan by the walk, and by the exact checker. What a third resource replaced,
/// the walk may or may not check again, depending on its intervals.
fn both(graph: &Graph, plan: &Plan) -> [Option<String>; 2] {
    let facts = Facts::new(graph, Some(plan));
    let mut findings = Findings::default();
    assert!(crate::form::is_well_formed(&facts, plan, &mut findings));
    let declared_of = crate::structure::passes(&facts, plan, &mut findings);
    let mut walked = Findings::default();
    let mut machine = Machine::new(&facts, plan, &declared_of, &mut walked);
    machine.walk();
    let exact = Exact::new(&machine);
    let (all, fewest) = (exact.first_hazard(false), exact.first_hazard(true));
    let hazards = [Rule::ReadAfterWrite, Rule::WriteAfterRead, Rule::WriteAfterWrite, Rule::Race, Rule::Alias];
    let inside = |name: &str| graph.find_resource(name).is_some_and(|id| !facts.edged[facts.memory[id]]);
    let found = walked
        .into_vec()
        .into_iter()
        .find(|finding| hazards.contains(&finding.rule) && finding.resource.as_deref().is_some_and(inside));
    let exact = if found.is_some() { all } else { fewest };
    [found.map(|finding| finding.to_string()), exact]
}

#[path = "../tests/support/mutate.rs"]
mod mutate;

mod tests {
    use rgraph_plan::bake::{Options, Scratch, bake};

    use super::*;
    use crate::generate::{Limits, generate};

    /// For faulty plans as for right ones, the walk agrees with a check of all pairs.
    #[test]
    fn the_walk_agrees_with_the_exact_machine_on_right_and_faulty_plans() {
        let mut scratch = Scratch::default();
        let (mut checked, mut faulty, mut merged) = (0, 0, 0u32);
        let seeds: u64 = std::env::var("RGRAPH_EXACT").ok().and_then(|n| n.parse().ok()).unwrap_or(150);
        for seed in 0..seeds {
            let limits = Limits { fewest_passes: 3, most_passes: 9, most_flags: 0, ..Limits::default() };
            let (graph, profile) = generate(seed, limits);
            let plan = bake(&graph, &profile, &Options::default(), &mut scratch).expect("generated graphs are right");
            let regions = plan.commands.iter().any(|c| matches!(c, Command::Barriers(b) if b.by_region));
            merged += u32::from(regions);
            let synchronization = |mutant: &mutate::Mutant| {
                ["barrier", "stage", "source access", "destination access", "wait", "transfer", "place"]
                    .iter()
                    .any(|kind| mutant.kind.contains(kind))
            };
            // All pairs do not follow a change of layout into the subpasses after it: such plans are checked as they
            // are.
            let mutants = mutate::mutants(&plan).into_iter().filter(|mutant| !regions && synchronization(mutant));
            let plans = std::iter::once(("nothing".to_owned(), plan.clone()))
                .chain(mutants.map(|mutant| (format!("{} {}", mutant.kind, mutant.what), mutant.plan)));
            for (what, plan) in plans {
                checked += 1;
                faulty += usize::from(agreed(&graph, &plan, &format!("seed {seed} without {what}")));
            }
        }
        assert!(merged > 0, "no plan has subpasses");
        assert!(faulty > 100, "only {faulty} of {checked} plans were faulty");
    }

    /// True if a plan has a hazard; the walk and the exact checker must agree.
    fn agreed(graph: &Graph, plan: &Plan, what: &str) -> bool {
        let [walk, exact] = both(graph, plan);
        assert_eq!(walk.is_some(), exact.is_some(), "{what}: the walk says {walk:?}, the exact machine {exact:?}");
        exact.is_some()
    }

    /// Each member of an unordered group comes after what was in its bytes before, not the first member alone. A
    /// wait for the run before leaves that hazard alone.
    #[test]
    fn each_member_of_a_group_waits_for_what_was_in_its_bytes() {
        for queues in [["compute", "async_compute"], ["async_compute", "compute"]] {
            let graph = r#"{"rgraph": 1,
            "buffers": {"before": {"size": 65536}, "sum": {"size": 65536}, "seen": {"size": 64}, "out": {"size": 64}},
            "passes": [
                {"name": "fill", "queue": "compute", "accesses": [{"resource": "before", "usage": "storage_write"}]},
                {"name": "look", "queue": "compute", "accesses": [
                    {"resource": "before", "usage": "storage_read"}, {"resource": "seen", "usage": "storage_write"}]},
                {"name": "one", "queue": "ONE", "after": ["look"], "accesses": [
                    {"resource": "sum", "usage": "storage_write", "unordered": true}]},
                {"name": "two", "queue": "TWO", "after": ["look"], "accesses": [
                    {"resource": "sum", "usage": "storage_write", "unordered": true}]},
                {"name": "read", "queue": "compute", "accesses": [
                    {"resource": "sum", "usage": "storage_read"}, {"resource": "out", "usage": "storage_write"}]}],
            "roots": ["seen", "out"]}"#;
            let graph = graph.replace("ONE", queues[0]).replace("TWO", queues[1]);
            let graph = rgraph_files::read_graph(graph.as_bytes(), "group.rgraph.json").expect("the graph is right");
            let options = Options { memory: rgraph_plan::budget::MemoryBudget::Least, ..Options::default() };
            let plan = bake(&graph, &rgraph_plan::profile::Profile::discrete(), &options, &mut Scratch::default())
                .expect("the graph is right");
            let place = |name: &str| {
                let resource = graph.find_resource(name);
                plan.memory.placements.iter().find(|place| Some(place.resource) == resource).map(|place| place.offset)
            };
            assert_eq!(place("before"), place("sum"), "they share their bytes");
            assert!(!agreed(&graph, &plan, "nothing"));
            let mut late = plan.clone();
            let signals = late.batches.iter().filter(|batch| batch.queue == late.waits[0].queue);
            late.waits[0].value = signals.filter_map(|batch| batch.signal).max().expect("the queue signals");
            late.waits[0].previous_run = true;
            assert!(agreed(&graph, &late, "no wait for this run"));
            let found = crate::check(&graph, &late);
            assert!(found.iter().any(|finding| finding.rule == Rule::Alias), "{queues:?}: {found:?}");
        }
    }
}
