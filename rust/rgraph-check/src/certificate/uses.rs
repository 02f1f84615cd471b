//! What passes do to memory, stage by stage and access by access, and what is only ordered.

use std::collections::BTreeMap;
use std::ops::Range;

use rgraph_ir::access::{Accesses, Layout, Stages, Usage};
use rgraph_ir::graph::FlagId;
use rgraph_ir::id::Id;
use rgraph_ir::plan::{Command, PlanPassId, QueueId};
use rgraph_ir::resource::ResourceId;

use super::listing::Lister;
use super::{Access, LayoutAndOwner, Moment, Region, Subpass, Within};
use crate::facts::{DeclaredUse, effective};
use crate::ids::{DeclaredPassId, MemoryId, SubresourceId, UseId};
use crate::shape::SubresourceRange;
use crate::tables::{Op, RESOLVE_READ, is_attachment, leaf, ops};

/// What presentation does: it finds a layout, at no stage.
const PRESENT: Op = Op { stage: 0, access: Accesses::empty(), write: false };

/// Flags under which a use is of a resource.
type Flags = Vec<(FlagId, bool)>;

/// An operation of a use, and the flag under which alone it happens.
type Made<'u, 'a> = (Op, Within, &'u Use<'a>, Option<FlagId>);

/// One use of a pass, of one resource under some flags.
#[derive(Clone)]
struct Use<'a> {
    number: UseId,
    at: &'a DeclaredUse,
    resource: ResourceId,
    flags: Flags,
}

impl<'a> Lister<'a> {
    /// The resources that a use is of, each with the flags under which it is.
    fn alternatives(&self, number: UseId, at: &'a DeclaredUse) -> Vec<Use<'a>> {
        let mut made = Vec::new();
        let mut work = vec![Flags::new()];
        while let Some(flags) = work.pop() {
            let known = |flag: FlagId| {
                let state = flags.iter().find(|(known, _)| *known == flag);
                state.map(|(_, on)| *on).ok_or(flag)
            };
            match effective(at.resource, &at.choices, known) {
                Ok(resource) => {
                    let mut flags = flags;
                    flags.sort_unstable();
                    made.push(Use { number, at, resource, flags });
                }
                Err(flag) => {
                    let state = |on: bool| flags.iter().copied().chain([(flag, on)]).collect();
                    work.extend([state(false), state(true)]);
                }
            }
        }
        made
    }

    /// The runtime's entries for everything that a pass may use.
    fn enter_all(&mut self, queue: QueueId, declared: DeclaredPassId) {
        for at in &self.facts.declared_passes[declared].uses {
            self.enter(queue, at.resource);
            for &input in &at.fallbacks {
                self.enter(queue, input);
            }
        }
    }

    /// The uses of a pass.
    pub(super) fn pass(&mut self, queue: QueueId, pass: PlanPassId, layouts: Range<usize>) {
        let Some(declared) = self.declared_of[pass] else { return };
        self.enter_all(queue, declared);
        let facts = self.facts;
        let flag = facts.declared_passes[declared].flag.map(|flag| (flag, true));
        let mut accessed: BTreeMap<(MemoryId, u32, SubresourceId), Vec<Use>> = BTreeMap::new();
        for (number, at) in facts.declared_passes[declared].uses.iter_ids() {
            for mut one in self.alternatives(number, at) {
                one.flags.extend(flag);
                one.flags.sort_unstable();
                one.flags.dedup();
                let contradicts = one.flags.iter().any(|(flag, on)| one.flags.contains(&(*flag, !on)));
                let subresources = if one.resource == at.resource {
                    at.subresources.clone()
                } else {
                    self.subresources(one.resource, &at.part)
                };
                let memory = (facts.memory[one.resource], facts.frames_ago[one.resource]);
                for subresource in subresources.into_iter().filter(|_| !contradicts) {
                    accessed.entry((memory.0, memory.1, subresource)).or_default().push(one.clone());
                }
            }
        }
        let mut made: Vec<Access> = Vec::new();
        for ((.., subresource), uses) in &accessed {
            for access in self.accesses_of(queue, pass, declared, *subresource, uses, layouts.clone()) {
                // Uses that differ in their subresource only are one.
                let alike = |known: &&mut Access| {
                    let region = Region { subresources: access.region.subresources.clone(), ..known.region.clone() };
                    Access { region, ..(**known).clone() } == access
                };
                match made.iter_mut().find(alike) {
                    Some(known) => known.region.subresources.push(*subresource),
                    None => made.push(access),
                }
            }
        }
        for access in &mut made {
            access.region.subresources.sort_unstable();
            access.region.subresources.dedup();
        }
        for access in made {
            self.note_used(&access.region);
            self.listing.accesses.push(access);
        }
    }

    /// What a pass does to one subresource.
    fn accesses_of(
        &self,
        queue: QueueId,
        pass: PlanPassId,
        declared: DeclaredPassId,
        subresource: SubresourceId,
        uses: &[Use],
        layouts: Range<usize>,
    ) -> Vec<Access> {
        let facts = self.facts;
        let memory = facts.memory[uses[0].resource];
        let aspect = facts.grids[memory].aspect(subresource);
        let open = self.render_pass.as_ref();
        let (mut made, mut all): (Vec<Made>, Vec<Op>) = (Vec::new(), Vec::new());
        for one in uses {
            let within = match one.at.usage {
                Usage::ResolveAttachment => Within::Resolve,
                usage if is_attachment(usage) => Within::Attachment,
                Usage::InputAttachment => Within::Input,
                _ => Within::Nowhere,
            };
            all.clear();
            ops(one.at.usage, one.at.stages, one.at.keeps_aspect(aspect), &mut all);
            for op in &all {
                // The host keeps what is there, if anything is.
                let kept = one.at.usage == Usage::HostWrite && !op.write;
                let own = || facts.key(one.resource, subresource, declared, one.number);
                let under = if kept { facts.found_under(one.resource, subresource, own()) } else { vec![None] };
                made.extend(under.into_iter().map(|under| (*op, within, one, under)));
            }
            if one.at.usage == Usage::Present {
                made.push((PRESENT, within, one, None));
            }
            let resolved =
                facts.declared_passes[declared].uses.iter().any(|other| other.resolves == Some(one.resource));
            if within == Within::Attachment && resolved {
                made.push((RESOLVE_READ, Within::Resolve, one, None));
            }
        }
        let same = |resource: ResourceId| {
            facts.memory[resource] == memory && facts.frames_ago[resource] == facts.frames_ago[uses[0].resource]
        };
        for extra in open.iter().flat_map(|open| &open.extra) {
            if same(extra.resource) && extra.subresource == subresource && extra.pass.is_none_or(|only| only == pass) {
                made.push((extra.op, Within::Attachment, &uses[0], None));
            }
        }
        let loads = made.iter().any(|(op, within, ..)| *within == Within::Attachment && !op.write);
        let access = |(op, within, one, under): &Made| {
            let late = leaf(usize::from(op.stage)) == Stages::LATE_FRAGMENT_TESTS;
            let own = facts.key(one.resource, subresource, declared, one.number);
            let state = LayoutAndOwner {
                layouts: self.layouts_of(pass, one, subresource, layouts.clone()),
                families: self.family(queue, one.resource),
            };
            let mut flags = one.flags.clone();
            flags.extend(under.map(|flag| (flag, true)));
            flags.sort_unstable();
            flags.dedup();
            Access {
                pass: self.plan.pass_name(pass).to_owned(),
                resource: facts.name(one.resource).to_owned(),
                link: None,
                step: self.step,
                queue,
                stages: if *op == PRESENT { Stages::empty() } else { leaf(usize::from(op.stage)) },
                access: op.access,
                write: op.write,
                region: self.region(one.resource, &[subresource]),
                group: own.and_then(|(_, group)| group),
                render_pass: open.map(|open| open.id),
                subpass: Subpass::of(self.plan, pass),
                within: *within,
                inner: *within == Within::Attachment && op.write && (loads || late)
                    || *within == Within::Resolve && !op.write,
                needs: one.at.must_read || one.at.keeps_aspect(aspect),
                flags,
                before: state.clone(),
                after: state,
            }
        };
        let happens = |access: &Access| access.flags.windows(2).all(|pair| pair[0].0 != pair[1].0);
        made.iter().map(access).filter(happens).collect()
    }

    /// The layouts that the plan names for a subresource of an image in a pass.
    fn layouts_of(
        &self,
        pass: PlanPassId,
        one: &Use,
        subresource: SubresourceId,
        layouts: Range<usize>,
    ) -> Vec<Layout> {
        let facts = self.facts;
        if !facts.shapes[one.resource].is_image() {
            return Vec::new();
        }
        let same = |other: ResourceId| {
            facts.memory.get(other) == Some(&facts.memory[one.resource])
                && facts.frames_ago[other] == facts.frames_ago[one.resource]
        };
        let named = self.plan.layouts[layouts].iter().filter(|entry| same(entry.resource)).filter(|entry| {
            let part = SubresourceRange::image(entry.mips, entry.layers, entry.aspects);
            self.subresources(one.resource, &part).contains(&subresource)
        });
        let mut list: Vec<Layout> = named.map(|entry| entry.layout).collect();
        if list.is_empty() {
            let inserted = &self.plan.pass_accesses[self.plan.passes[pass].accesses.range()];
            let own = inserted.iter().filter(|access| {
                access.resource == one.resource && crate::tables::writes(access.access) == one.at.writes
            });
            list.extend(own.map(|access| access.layout));
        }
        // The host cannot change a layout, and where it finds none there is only garbage.
        list.retain(|layout| one.at.usage != Usage::HostRead || *layout != Layout::Undefined);
        list.sort_unstable();
        list.dedup();
        list
    }

    /// Passes that are declared to come after others without sharing anything: pairs of stages in memory of their own.
    pub(super) fn declared_orders(&mut self) {
        let facts = self.facts;
        let mut ran: BTreeMap<DeclaredPassId, (Moment, QueueId, PlanPassId)> = BTreeMap::new();
        let mut step = Moment::FIRST;
        for batch in self.plan.batches.iter() {
            for (at, command) in self.plan.commands[batch.commands.range()].iter().enumerate() {
                if let Command::Pass { pass, .. } = command
                    && let Some(declared) = self.declared_of[*pass]
                {
                    let queue = batch.queue.unwrap_or(self.host);
                    ran.insert(declared, (step.later_by(2 + at), queue, *pass));
                }
            }
            step = step.later_by(3 + batch.commands.len());
        }
        let mut memory = MemoryId::new(facts.memory.len());
        for (later, earlier) in facts.orderings() {
            let [Some(first), Some(second)] = [earlier, later].map(|declared| Some((declared, *ran.get(&declared)?)))
            else {
                continue;
            };
            let stages = |declared: DeclaredPassId| {
                facts.declared_passes[declared].uses.iter().fold(Stages::empty(), |all, at| all | at.stages)
            };
            let [before, after] = [stages(first.0), stages(second.0)];
            let whole = before.is_empty() || after.is_empty();
            if whole && first.1.1 == second.1.1 {
                continue;
            }
            let split = |stages: Stages| if whole { vec![Stages::all()] } else { stages.iter().collect() };
            for (declared, (step, queue, pass), stages) in
                [(first.0, first.1, split(before)), (second.0, second.1, split(after))]
            {
                for stages in stages {
                    self.listing.accesses.push(Access {
                        pass: self.plan.pass_name(pass).to_owned(),
                        resource: String::new(),
                        link: None,
                        step,
                        queue,
                        stages,
                        access: Accesses::empty(),
                        write: true,
                        region: Region { memory, copy: 0, subresources: vec![SubresourceId::new(0)] },
                        group: None,
                        render_pass: None,
                        subpass: Subpass::FIRST,
                        within: Within::Nowhere,
                        inner: false,
                        needs: false,
                        flags: facts.declared_passes[declared].flag.map(|flag| (flag, true)).into_iter().collect(),
                        before: LayoutAndOwner::default(),
                        after: LayoutAndOwner::default(),
                    });
                }
            }
            memory = MemoryId::new(memory.index() + 1);
        }
    }
}
