//! A declaration and its plan side by side: by pass of the plan, which pass of the graph it is and what it accesses.

use std::sync::Arc;

use rgraph_plan::access::{Accesses, Aspects, Layout, Usage};
use rgraph_plan::declared;
use rgraph_plan::error::{Code, GraphError, Mistake};
use rgraph_plan::graph::{Graph, PassId};
use rgraph_plan::id::{Id, IdVec, Span};
use rgraph_plan::plan::{Command, ImageBarrier, PassLayout, Plan, PlanFallback, PlanPassId};
use rgraph_plan::resource::ResourceId;

use crate::error::Error;
use crate::memory::state::{Region, ResourceState, Tracked};

/// What a pass does with a resource.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PassAccess {
    pub resource: ResourceId,
    pub usage: Usage,
    pub region: Region,
    /// Position in the graph's accesses; `None`: of an inserted pass.
    pub declared: Option<u32>,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct PassTable {
    /// The graph's pass that a pass of the plan is.
    pub pass_of: IdVec<PlanPassId, Option<PassId>>,
    /// Accesses of all passes.
    pub accesses: Vec<PassAccess>,
    /// Accesses of a pass.
    pub of_pass: IdVec<PlanPassId, Span>,
    /// In the plan's layouts: those that a pass finds its images in.
    pub layouts: IdVec<PlanPassId, Span>,
    /// As `pass_of`, and of an inserted pass the one that it was inserted for.
    pub owner_of: IdVec<PlanPassId, Option<PassId>>,
}

impl PassTable {
    /// Lays a graph and its plan side by side: both have the same ids of resources and positions of passes.
    ///
    /// # Errors
    /// If the names of one differ from those of the other: the plan is another graph's.
    pub(crate) fn new(graph: &Graph, plan: &Plan) -> Result<Self, Error> {
        let mut table = Self::default();
        let foreign = |what: &str, name: &str| {
            let message =
                format!("the plan of \"{}\" and the graph \"{}\" differ: {what} \"{name}\"", plan.graph, graph.name());
            let help = "run the graph itself, or the plan that was baked of it";
            Error::Graph(GraphError::one(Mistake::new(Code::BadInput, message, help)))
        };
        for (id, name) in graph.resources().ids().map(|id| (id, graph.resource_name(id))) {
            if plan.resources.get(id).is_none() || plan.resource_name(id) != name {
                return Err(foreign("resource", name));
            }
        }
        table.layouts = IdVec::filled(Span::default(), plan.passes.len());
        for command in &plan.commands {
            if let Command::Pass { pass, layouts } = command {
                table.layouts[*pass] = *layouts;
            }
        }
        let of_pass = ByPass::new(graph);
        let mut at_position: Vec<Option<PassId>> = vec![None; graph.passes().len()];
        for (id, pass) in plan.passes.iter_ids() {
            if let Some(position) = pass.declared {
                let name = plan.pass_name(id);
                // Each position is that of one of the graph's passes.
                let place = at_position.get_mut(position as usize).ok_or_else(|| foreign("pass", name))?;
                let here = PassId::new(position as usize);
                let found = if graph.pass_name(here) == name { Some(here) } else { graph.find_pass(name) };
                *place = Some(found.ok_or_else(|| foreign("pass", name))?);
            }
        }
        for (id, pass) in plan.passes.iter_ids() {
            let start = table.accesses.len();
            let pass_at = |position: u32| {
                let found = at_position.get(position as usize).copied().flatten();
                found.ok_or_else(|| foreign("owner of pass", plan.pass_name(id)))
            };
            let declared = pass.declared.map(pass_at).transpose()?;
            let owner = pass.owner.map(pass_at).transpose()?.or(declared);
            table.pass_of.push(declared);
            table.owner_of.push(owner);
            if let Some(declared) = declared {
                for &at in of_pass.of(declared) {
                    let access = &graph.accesses()[at as usize];
                    let (resource, usage) = (access.resource, access.usage);
                    let region = Region::of(declared::part(graph, access, plan.resources[resource].kind));
                    table.accesses.push(PassAccess { resource, usage, region, declared: Some(at) });
                }
            } else {
                for access in &plan.pass_accesses[pass.accesses.range()] {
                    let reads = access.access.contains(Accesses::TRANSFER_READ);
                    let region = Region {
                        mips: access.mips,
                        layers: access.layers,
                        aspects: plan.resources[access.resource].kind.aspects(),
                        range: [0, 0],
                    };
                    let usage = if reads { Usage::TransferSrc } else { Usage::TransferDst };
                    table.accesses.push(PassAccess { resource: access.resource, usage, region, declared: None });
                }
            }
            table.of_pass.push(Span::new(start, table.accesses.len()));
        }
        Ok(table)
    }

    /// The layout in which a pass finds one level of an image; `None`: it does not use it.
    pub(crate) fn layout(
        &self,
        plan: &Plan,
        pass: PlanPassId,
        resource: ResourceId,
        [mip, layer]: [u32; 2],
        aspects: Aspects,
    ) -> Option<Layout> {
        let within = |at: u32, range: [u32; 2]| range[0] <= at && at < range[1];
        let of = |one: &&PassLayout| {
            let part = within(mip, one.mips) && within(layer, one.layers) && one.aspects.intersects(aspects);
            part && plan.is_same_memory(one.resource, resource)
        };
        plan.layouts[self.layouts[pass].range()].iter().find(of).map(|one| one.layout)
    }

    /// What a pass accesses.
    pub(crate) fn of(&self, pass: PlanPassId) -> &[PassAccess] {
        &self.accesses[self.of_pass[pass].range()]
    }
}

/// Positions of a graph's accesses, those of each pass together and in their order.
struct ByPass {
    /// Where those of each pass end.
    ends: IdVec<PassId, u32>,
    accesses: Vec<u32>,
}

impl ByPass {
    fn new(graph: &Graph) -> Self {
        let mut ends = IdVec::filled(0, graph.passes().len());
        graph.accesses().iter().for_each(|access| ends[access.pass] += 1);
        let mut start = 0;
        for end in ends.iter_mut() {
            (*end, start) = (start, start + *end);
        }
        let mut accesses = vec![0; graph.accesses().len()];
        for (access, at) in graph.accesses().iter().zip(0..) {
            let next = &mut ends[access.pass];
            accesses[*next as usize] = at;
            *next += 1;
        }
        Self { ends, accesses }
    }

    fn of(&self, pass: PassId) -> &[u32] {
        let start = pass.index().checked_sub(1).map_or(0, |before| self.ends[PassId::new(before)]);
        &self.accesses[start as usize..self.ends[pass] as usize]
    }
}

/// A plan that says all that the runtime needs, and what its passes access.
///
/// # Errors
/// As [`PassTable::new`].
pub(crate) fn side_by_side(graph: &Graph, mut plan: Arc<Plan>) -> Result<(Arc<Plan>, PassTable), Error> {
    let table = PassTable::new(graph, &plan)?;
    if !plan.says_memory() {
        declared::complete(graph, Arc::make_mut(&mut plan));
    }
    Ok((plan, table))
}

/// Adds the resources that a pass may read in place of some while the passes that write those are off.
/// O(resources · fallbacks).
pub(crate) fn add_fallbacks(plan: &Plan, pass: PlanPassId, read: &mut Vec<ResourceId>) {
    let mut next = 0;
    while let Some(&resource) = read.get(next) {
        next += 1;
        for &PlanFallback { pass: writer, output, input } in &plan.fallbacks {
            let flag = plan.passes[writer].flag;
            // Who is under the same flag never reads while it is off.
            let never = flag.is_some() && flag == plan.passes[pass].flag;
            if output == resource && !never && !read.contains(&input) {
                read.push(input);
            }
        }
    }
}

/// Memories that a batch uses, each once, in the order of their first use.
pub(crate) fn used_by_batches(plan: &Plan, table: &PassTable) -> Vec<Vec<ResourceId>> {
    let mut seen: IdVec<ResourceId, usize> = IdVec::filled(usize::MAX, plan.resources.len());
    plan.batches
        .iter()
        .enumerate()
        .map(|(at, batch)| {
            let mut used = Vec::new();
            let mut note = |resource: ResourceId| {
                let memory = plan.memory_of(resource);
                if std::mem::replace(&mut seen[memory], at) != at {
                    used.push(memory);
                }
            };
            for command in &plan.commands[batch.commands.range()] {
                match command {
                    Command::Pass { pass, .. } => {
                        let mut read: Vec<ResourceId> = table.of(*pass).iter().map(|access| access.resource).collect();
                        add_fallbacks(plan, *pass, &mut read);
                        read.into_iter().for_each(&mut note);
                    }
                    Command::Barriers(barriers) | Command::SetEvent(_, barriers) | Command::WaitEvents(_, barriers) => {
                        plan.image_barriers[barriers.images.range()].iter().for_each(|one| note(one.resource));
                        plan.buffer_barriers[barriers.buffers.range()].iter().for_each(|one| note(one.resource));
                    }
                    Command::BeginRendering { .. } | Command::EndRendering => {}
                }
            }
            used
        })
        .collect()
}

/// The layout of each part of an image when all batches are done.
pub(crate) fn final_states(plan: &Plan, of: ResourceId) -> Tracked {
    let memory = plan.memory_of(of);
    let mut states = Tracked::new(plan.resources[memory].kind);
    for command in &plan.commands {
        if let Command::Barriers(barriers) | Command::WaitEvents(_, barriers) = command {
            let images = &plan.image_barriers[barriers.images.range()];
            for barrier in images.iter().filter(|one| plan.memory_of(one.resource) == memory) {
                let ImageBarrier { mips, layers, aspects, new_layout: layout, .. } = *barrier;
                let region = Region { mips, layers, aspects, range: [0, 0] };
                states.set(region, &ResourceState { layout, ..ResourceState::default() });
            }
        }
    }
    states
}
