//! Mistakes in a declaration, all at once: each with its code, pass, resource, both sides, places and repair.
//!
//! What only the order of accesses shows (reads of what nobody writes, cycles, conditional passes whose output
//! holds nothing) is found by `resolve` and reported by [`mistakes`]. Everything else is found here, in one walk over
//! resources and one over accesses by pass; messages are built only when something is wrong.

mod access;
mod attachments;
pub(crate) mod features;
mod links;
pub mod mistakes;
mod overlaps;
mod profile;
pub(crate) mod queues;
mod resources;
mod usages;
mod words;

use crate::access::{Aspects, PassQueue, Stages, Usage};
use crate::error::{Code, Mistake};
use crate::feature::Features;
use crate::graph::{Access, Graph, Pass, PassId, Place};
use crate::id::{Id, IdVec, Span};
use crate::profile::{Capabilities, Profile};
use crate::resource::ResourceId;
use crate::stages::ids::AccessId;
use crate::stages::resolve::declared;
use crate::stages::resolve::meaning::meaning;
use crate::stages::size::{Shape, ShapeProblem, ShapeScratch};
use crate::stages::sort::accesses_by_pass;
use queues::Needs;
use words::describe;

/// Most passes, resources or accesses of a graph: positions stay within 32 bits whatever a stage makes of them.
pub(crate) const MAX_COUNT: usize = 1 << 26;
/// Longest duration that a pass may claim, in microseconds.
pub(crate) const MAX_WEIGHT_US: f64 = 1e12;
/// Most frames that a history may reach back.
pub(crate) const MAX_HISTORY: u32 = 64;

/// What [`validate`] found.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Found {
    /// The mistakes: those made while declaring, of the profile, of resources, of passes, of the whole graph; each
    /// kind in order of declaration.
    pub mistakes: Vec<Mistake>,
    /// Whether `resolve` may all the same look for more: every id, range and shape is sound.
    pub resolvable: bool,
}

/// Memory that [`validate`] reuses.
#[derive(Default, Debug)]
pub struct ValidateScratch {
    by_pass: Vec<AccessId>,
    /// The accesses of each pass, in `by_pass`.
    of_pass: IdVec<PassId, Span>,
    seen: IdVec<ResourceId, u32>,
    facts: IdVec<ResourceId, Known>,
    overlaps: overlaps::Scratch,
    links: links::Scratch,
}

/// What the walk over accesses learns of a resource.
#[derive(Clone, Copy, Default, Debug)]
struct Known {
    /// Its shape is a placeholder: mistakes that follow from its numbers would mislead.
    placeholder: bool,
    /// Some pass writes it.
    written: bool,
}

/// Finds what is wrong with `graph` (flattened) on `profile`.
///
/// `shapes`, `sized` and `problems` are what [`shapes`](crate::stages::size::shapes) made of the same two.
/// O(accesses + resources + passes), and O(k log k) for the k accesses of a pass that names a resource twice;
/// allocates nothing for a good graph once `scratch` is large enough.
pub fn validate(
    graph: &Graph,
    profile: &Profile,
    shapes: &IdVec<ResourceId, Shape>,
    sized: &ShapeScratch,
    problems: &[ShapeProblem],
    scratch: &mut ValidateScratch,
) -> Found {
    let mut check = Check {
        graph,
        profile,
        shapes,
        queues: PassQueue::ALL
            .try_into()
            .map(|all: [PassQueue; 6]| all.map(|queue| Runs::on(profile, queue)))
            .unwrap_or([Runs::Nowhere; 6]),
        found: Found { mistakes: graph.mistakes().to_vec(), resolvable: true },
    };
    check.found.resolvable = graph.mistakes().iter().all(|mistake| mistake.code != Code::UnknownName);
    check.check_profile();
    if !check.check_counts() {
        return check.found;
    }
    scratch.facts.refill(Known::default(), graph.resources().len());
    if !problems.is_empty() {
        for (id, known) in scratch.facts.as_vec_mut().iter_mut().enumerate() {
            known.placeholder = sized.is_placeholder(ResourceId::new(id));
        }
        check.check_shapes(problems);
    }
    check.check_resources(scratch);
    check.check_passes(scratch);
    check.check_links(scratch);
    check.found
}

/// Where passes of one kind of queue run.
#[derive(Clone, Copy, Debug)]
enum Runs {
    Host,
    Anywhere,
    /// The profile has no queue of that kind.
    Nowhere,
    /// On that queue of the profile, which can do this much, and meets these needs.
    Queue(usize, Capabilities, Needs),
}

impl Runs {
    fn on(profile: &Profile, queue: PassQueue) -> Self {
        match (queue, queues::resolve_queue(profile, queue)) {
            (PassQueue::Cpu, _) => Self::Host,
            (PassQueue::Any, _) => Self::Anywhere,
            (_, None) => Self::Nowhere,
            (_, Some(at)) => {
                let kind = queues::kind_of(profile, at);
                let capabilities = profile.queues[kind].capabilities;
                Self::Queue(kind, capabilities, Needs::offered(capabilities))
            }
        }
    }
}

struct Check<'a> {
    graph: &'a Graph,
    profile: &'a Profile,
    shapes: &'a IdVec<ResourceId, Shape>,
    queues: [Runs; 6],
    found: Found,
}

#[derive(Clone, Copy)]
struct At<'a> {
    id: AccessId,
    access: &'a Access,
    shape: &'a Shape,
}

impl<'a> Check<'a> {
    /// Adds a mistake that leaves ids, ranges and shapes sound.
    #[cold]
    fn add(&mut self, mistake: Mistake) {
        self.found.mistakes.push(mistake);
    }

    /// Adds a mistake after which no later stage may look at the graph.
    #[cold]
    fn block(&mut self, mistake: Mistake) {
        self.found.resolvable = false;
        self.found.mistakes.push(mistake);
    }

    fn check_counts(&mut self) -> bool {
        let graph = self.graph;
        let counts = [
            ("passes", graph.passes().len()),
            ("resources", graph.resources().len()),
            ("accesses", graph.accesses().len()),
            ("orderings", graph.orderings().len()),
        ];
        for (what, count) in counts {
            if count > MAX_COUNT {
                let message = format!("the graph has {count} {what}");
                self.block(Mistake::new(Code::TooLarge, message, format!("declare at most {MAX_COUNT} of them")));
            }
        }
        counts.iter().all(|(_, count)| *count <= MAX_COUNT)
    }

    fn resource_name(&self, resource: ResourceId) -> &'a str {
        self.graph.resource_name(resource)
    }

    fn access(&self, id: AccessId) -> &'a Access {
        declared(self.graph, id)
    }

    fn access_place(&self, id: AccessId) -> Option<Place> {
        mistakes::access_place(self.graph, id)
    }

    /// A mistake of an access: `pass "p" {says}`, with the pass and the resource as sides.
    #[cold]
    fn of_access(&self, code: Code, at: At<'_>, says: &str, help: &str) -> Mistake {
        let (pass, resource) = (self.graph.pass_name(at.access.pass), self.resource_name(at.access.resource));
        Mistake::new(code, format!("pass \"{pass}\" {says}"), help)
            .pass(pass)
            .resource(resource)
            .side(pass, at.access.usage.name(), self.access_place(at.id))
            .side(resource, describe(at.shape), self.graph.resource_place(at.access.resource).cloned())
    }

    /// A mistake of a pass alone.
    #[cold]
    fn of_pass(&self, code: Code, pass: PassId, says: &str, help: &str) -> Mistake {
        let name = self.graph.pass_name(pass);
        let queue = format!("declared here, on queue {}", self.graph.passes()[pass].queue);
        Mistake::new(code, format!("pass \"{name}\" {says}"), help).pass(name).side(
            name,
            queue,
            self.graph.pass_place(pass).cloned(),
        )
    }

    /// A mistake of a resource alone.
    #[cold]
    fn of_resource(&self, code: Code, resource: ResourceId, says: &str, help: &str) -> Mistake {
        let name = self.resource_name(resource);
        Mistake::new(code, format!("\"{name}\" {says}"), help).resource(name).side(
            name,
            "declared here",
            self.graph.resource_place(resource).cloned(),
        )
    }

    /// A mistake between two resources.
    #[cold]
    fn of_two(&self, code: Code, first: ResourceId, second: ResourceId, says: &str, help: &str) -> Mistake {
        let (a, b) = (self.resource_name(first), self.resource_name(second));
        let place = |resource| self.graph.resource_place(resource).cloned();
        Mistake::new(code, format!("\"{a}\" {says}"), help)
            .resource(a)
            .side(a, describe(&self.shapes[first]), place(first))
            .side(b, describe(&self.shapes[second]), place(second))
    }

    /// Whether an id is one of this graph's resources.
    fn known(&self, resource: ResourceId) -> bool {
        resource.index() < self.graph.resources().len()
    }

    fn check_passes(&mut self, scratch: &mut ValidateScratch) {
        let graph = self.graph;
        accesses_by_pass(graph, &mut scratch.of_pass, &mut scratch.by_pass);
        scratch.seen.refill(0, graph.resources().len());
        let by_pass = std::mem::take(&mut scratch.by_pass);
        for (id, pass) in graph.passes().iter_ids() {
            crate::cancel::poll();
            let of_pass = &by_pass[scratch.of_pass[id].range()];
            self.check_pass(id, pass);
            let runs = self.queues[pass.queue as usize];
            let (mut needs, mut implied) = (Needs::empty(), Features::empty());
            let mut raster = attachments::Raster::default();
            let (mut twice, mut blits) = (false, 0);
            for &access_id in of_pass {
                let access = self.access(access_id);
                let Some(shape) = self.shapes.get(access.resource) else {
                    self.foreign_access(access_id);
                    continue;
                };
                let at = At { id: access_id, access, shape };
                let known = scratch.facts[access.resource];
                let (sound, asks) = self.check_access(at, runs, known);
                needs |= asks;
                implied |= features::implied(access);
                if access.usage.writes() {
                    scratch.facts[access.resource].written = true;
                }
                if !sound {
                    continue;
                }
                let stamp = id.index() as u32 + 1;
                twice |= std::mem::replace(&mut scratch.seen[access.resource], stamp) == stamp;
                if access.usage.is_attachment() {
                    self.add_attachment(at, known, &mut raster);
                }
                blits += usize::from(access.transfer.is_some());
            }
            self.check_features(id, implied);
            if matches!(runs, Runs::Anywhere) {
                self.check_any(id, needs, of_pass);
            }
            if raster.resolves {
                self.check_resolves(of_pass, &scratch.facts);
            }
            if raster.in_place {
                self.check_whole(of_pass);
            }
            if blits > 1 {
                self.check_transfers(of_pass);
            }
            if twice {
                self.check_overlaps(of_pass, &mut scratch.overlaps);
            }
        }
        scratch.by_pass = by_pass;
    }

    fn check_pass(&mut self, id: PassId, pass: &Pass) {
        if let Some(weight) = pass.weight_us
            && !(0.0..=MAX_WEIGHT_US).contains(&weight)
        {
            let says = format!("has a weight of {weight:?} µs");
            self.add(self.of_pass(Code::BadNumber, id, &says, "give it its duration in microseconds, 0 to 10^12"));
        }
        if let Some(device @ 1..) = pass.device {
            let says = format!("runs on device {device}, but profile \"{}\" is one device", self.profile.name);
            self.add(self.of_pass(
                Code::OverLimit,
                id,
                &says,
                "use device 0 or \"any\", or plan it for several devices",
            ));
        }
        if let Runs::Nowhere = self.queues[pass.queue as usize] {
            let says = format!("runs on queue {}, which profile \"{}\" does not have", pass.queue, self.profile.name);
            let has = self.queue_words();
            self.add(self.of_pass(Code::BadQueue, id, &says, &format!("choose another queue: it has {has}")));
        }
        let known = pass.conditional.is_none_or(|flag| flag.index() < self.graph.flags().len())
            && pass.unit.is_none_or(|unit| unit.index() < self.graph.units().len());
        if !known {
            let says = "names a flag or an occupancy class of another graph";
            self.block(self.of_pass(Code::UnknownName, id, says, "ask this graph for the flag or the class"));
        }
        // Slots of this graph are gone: it is flattened.
        if pass.slot.is_some() {
            let says = "stands in a module or extension point of another graph";
            self.block(self.of_pass(Code::UnknownName, id, says, "declare the module in this graph"));
        }
    }

    /// `"graphics" (graphics, compute and transfer) and "copy" (transfer)`.
    fn queue_words(&self) -> String {
        let of = |queue: &crate::profile::Queue| {
            let can = words::capability_list(queues::effective(queue.capabilities));
            format!("\"{}\" ({can})", queue.name)
        };
        match self.profile.queues.as_slice() {
            [] => "no queue".to_owned(),
            queues => words::listed(queues.iter().map(of), "and"),
        }
    }

    #[cold]
    fn foreign_access(&mut self, id: AccessId) {
        let access = self.access(id);
        let pass = self.graph.pass_name(access.pass);
        let message = format!("pass \"{pass}\" uses a resource of another graph");
        let mistake = Mistake::new(Code::UnknownName, message, "declare the resource in this graph").pass(pass).side(
            pass,
            access.usage.name(),
            self.access_place(id),
        );
        self.block(mistake);
    }

    /// Stages of each access of a pass on any queue, also of those that name none.
    fn stages_on_any(&self, of_pass: &[AccessId]) -> impl Fn(&Access) -> Stages + use<> {
        let draws = |usage: Usage| usage.is_attachment() || matches!(usage, Usage::Vertex | Usage::Index);
        let draws = of_pass.iter().any(|&id| draws(self.access(id).usage));
        move |access| meaning(access, PassQueue::Any, draws, Aspects::empty()).stages
    }

    /// A pass that may run on any queue needs one queue that can do all it asks.
    fn check_any(&mut self, id: PassId, needs: Needs, of_pass: &[AccessId]) {
        let stages = self.stages_on_any(of_pass);
        let by_stages = |&id: &AccessId| queues::stage_needs(stages(self.access(id)));
        let asked = of_pass.iter().map(by_stages).fold(needs, std::ops::BitOr::bitor) - Needs::HOST;
        if self.profile.queues.iter().any(|queue| asked.met_by(queue.capabilities)) {
            return;
        }
        let says = format!("needs {}, and no queue of profile \"{}\" can", asked.words(), self.profile.name);
        let help = format!("split the pass, or plan for another device: this one has {}", self.queue_words());
        let mut mistake = self.of_pass(Code::BadQueue, id, &says, &help);
        let mut named = Needs::empty();
        for &access_id in of_pass {
            let access = self.access(access_id);
            let Some(shape) = self.shapes.get(access.resource) else { continue };
            let asks = queues::access_needs(access, shape) | queues::stage_needs(stages(access));
            if !named.contains(asks) {
                named |= asks;
                let name = self.resource_name(access.resource);
                let says = format!("{} needs {}", words::as_usage(access.usage), asks.words());
                mistake = mistake.side(name, says, self.access_place(access_id));
            }
        }
        self.add(mistake);
    }

    /// Whether anything at all would run.
    fn has_root(&self, scratch: &ValidateScratch) -> bool {
        let graph = self.graph;
        !graph.roots().is_empty()
            || graph.passes().iter().any(|pass| pass.side_effects)
            || graph.accesses().iter().any(|access| access.usage == Usage::Present)
            || links::imports_written(graph, scratch)
    }
}
