//! The walk over all accesses in serial order: what each attachment loads, who contributes to whom, and what is
//! read although nobody wrote it.

use super::meaning::{Effect, said_of_stencil};
use super::{Facts, Origin, Problem, Reads, ResolvedAccess, ResolvedAttachment, Source, declared_of, part_of};
use crate::access::{Accesses, Load, Usage};
use crate::graph::{FlagId, PassId};
use crate::id::{Id, IdSpan, IdVec, Span};
use crate::resource::{Life, ResourceId};
use crate::stages::ids::{ResolvedAccessId, ResolvedPassId, SubresourceId, UnorderedGroupId};

/// What the walk knows of a subresource.
#[derive(Clone, Copy, Debug)]
pub(super) struct WalkedSubresource {
    written: Written,
    writer: Option<ResolvedPassId>,
    read_since: bool,
    /// Whether it has contents from before the frame that some writer of the frame makes.
    entry: bool,
    /// The group that an unordered use joins here; any other use ends it.
    open: UnorderedGroupId,
    /// The group of the last use.
    in_group: Option<UnorderedGroupId>,
    /// Whether it was written before that group.
    before_group: bool,
    pub(super) level: u32,
}

impl WalkedSubresource {
    /// A use under another name of the memory ends a group.
    fn enter_name(&mut self, level: u32) {
        if self.level != level {
            (self.level, self.in_group) = (level, None);
            self.end_group();
        }
    }

    /// Notes a use before it counts as a write: `group` is the group of uses that it commutes with.
    fn enter(&mut self, group: Option<UnorderedGroupId>) {
        if group != self.in_group {
            self.before_group = self.written != Written::No;
        }
        self.in_group = group;
        match group {
            Some(group) => self.open = group,
            None => self.end_group(),
        }
    }

    fn end_group(&mut self) {
        self.open = UnorderedGroupId::new(self.open.index() + 1);
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Written {
    No,
    /// Only while the flag is on; the pass that it switches.
    Under(FlagId, PassId),
    Yes,
}

/// Order among the names of one memory: all uses of a name, then the blit that reads it, then the names above it.
pub(super) fn level(facts: &Facts, pass: ResolvedPassId, access: &ResolvedAccess) -> u32 {
    let blit = matches!(facts.passes[pass].origin, Origin::Blit { .. }) && !access.effect.writes();
    facts.depth[access.resource] * 2 + u32::from(blit)
}

impl Facts {
    pub(super) fn entry_states(&mut self, Source { graph, .. }: Source<'_>) {
        let blank = WalkedSubresource {
            written: Written::No,
            writer: None,
            read_since: false,
            entry: false,
            open: UnorderedGroupId::new(0),
            in_group: None,
            before_group: false,
            level: 0,
        };
        self.states.refill(blank, self.subresources.count());
        for (id, resource) in graph.resources().iter_ids() {
            let (written, entry) = match resource.life {
                Life::Transient | Life::Fresh => continue,
                Life::Persistent | Life::History(_) => (Written::Yes, true),
                Life::Imported(imported) if imported.defined => (Written::Yes, false),
                Life::Imported(_) => continue,
            };
            if self.memory[id] == id {
                for state in self.states.slice_mut(self.subresources.of(id)) {
                    (state.written, state.entry) = (written, entry);
                }
            }
        }
    }

    /// Whether the order of passes is already a serial order: no read looks forward, and names of one memory do not
    /// interleave. Cheap, so that only graphs that need it are sorted.
    pub(super) fn in_order(&mut self, source: Source<'_>) -> bool {
        self.entry_states(source);
        let mut states = std::mem::take(&mut self.states);
        let inverted = self.after.iter().any(|(later, earlier)| later < earlier);
        let fine = !inverted
            && self.passes.iter_ids().all(|(id, pass)| {
                let written = |subresource: SubresourceId| states[subresource].written != Written::No;
                let mut hidden = self.hidden_of(id).iter();
                if hidden.any(|(_, read)| self.depth[read.resource] == 0 && !self.any_in_range(source, read, written)) {
                    return false;
                }
                let accesses = self.accesses.slice(pass.accesses).chunk_by(ResolvedAccess::of_one_use);
                accesses.into_iter().all(|access| self.access_in_order(source, id, access, &mut states))
            });
        self.states = states;
        fine
    }

    fn access_in_order(
        &self,
        source: Source<'_>,
        id: ResolvedPassId,
        declared_access: &[ResolvedAccess],
        states: &mut IdVec<SubresourceId, WalkedSubresource>,
    ) -> bool {
        let mut found = !self.may_look_forward(source, &declared_access[0]);
        let mut late = false;
        for access in declared_access {
            let level = level(self, id, access);
            let writes = access.effect.writes();
            for state in states.slice_mut(access.subresources) {
                late |= level < state.level && (writes || level + 1 != state.level || level % 2 == 1);
                found |= state.written != Written::No;
                state.level = state.level.max(level);
                if writes {
                    state.written = Written::Yes;
                }
            }
        }
        (found
            || self.any_in_range(source, &declared_access[0], |subresource| states[subresource].written != Written::No))
            && !late
    }

    /// Whether an access is a pure read of a transient: if nothing of it is written yet, it waits for a later writer.
    pub(super) fn may_look_forward(&self, source: Source<'_>, access: &ResolvedAccess) -> bool {
        access.effect == Effect::Read && self.is_plain_transient(source, access.resource)
    }

    /// Whether a resource holds nothing until a pass writes it under this name.
    pub(super) fn is_plain_transient(&self, Source { graph, .. }: Source<'_>, resource: ResourceId) -> bool {
        self.depth[resource] == 0 && graph.resources()[self.memory[resource]].life.is_of_frame()
    }

    /// Whether the memory of a resource is there before the frame or after it.
    fn outlives(&self, Source { graph, .. }: Source<'_>, resource: ResourceId) -> bool {
        let memory = self.memory[resource];
        !graph.resources()[memory].life.is_of_frame() || self.remembered[memory]
    }

    /// Walks all passes in serial order.
    pub(super) fn walk(&mut self, source: Source<'_>, problems: &mut Vec<Problem>) {
        self.entry_states(source);
        self.sources.clear();
        self.entry_reads.clear();
        self.mutual.clear();
        self.silent.clear();
        self.replaced.refill(None, self.passes.len());
        for at in 0..self.passes.len() {
            crate::cancel::poll();
            let id = ResolvedPassId::new(at);
            self.cut_at_groups(id);
            let pass = self.passes[id];
            self.decide_loads(source, pass.attachments);
            let (sources, entry_reads) = (self.sources.len(), self.entry_reads.len());
            let lost = self.lost_reads(source, id);
            let known = problems.len();
            let mut left = pass.accesses;
            while !left.is_empty() {
                let first = self.accesses[left.first()];
                let rest = self.accesses.slice(left).iter();
                let uses = IdSpan::from(left.first(), rest.take_while(|access| first.of_one_use(access)).count());
                let found = self.finds_contents(source, uses);
                for at in uses.ids() {
                    self.walk_access(source, id, at, found, problems);
                }
                left = IdSpan::new(uses.range().end, left.range().end);
            }
            let missing = |problem: &Problem| match *problem {
                Problem::NeverWritten { resource, .. } | Problem::HoldsNothing { resource, .. } => Some(resource),
                _ => None,
            };
            for problem in lost {
                if !problems[known..].iter().any(|other| missing(other) == missing(&problem)) {
                    problems.push(problem);
                }
            }
            let pass = &mut self.passes[id];
            pass.sources = Span::new(sources, self.sources.len());
            pass.entry_reads = Span::new(entry_reads, self.entry_reads.len());
        }
        self.mutual.sort_unstable();
        self.final_writer.clear();
        self.final_writer.as_vec_mut().extend(self.states.iter().map(|state| state.writer));
        self.check_roots(source, problems);
    }

    /// Reads of a pass that other accesses of it have taken subresources of.
    pub(super) fn hidden_of(&self, id: ResolvedPassId) -> &[(PassId, ResolvedAccess)] {
        let Origin::Declared(pass) = self.passes[id].origin else { return &[] };
        let from = self.hidden.partition_point(|(of, _)| *of < pass);
        let to = self.hidden.partition_point(|(of, _)| *of <= pass);
        &self.hidden[from..to]
    }

    /// What is wrong with the reads of a pass whose subresources other accesses of it have taken: nothing in their
    /// range is written, or only under another flag.
    fn lost_reads(&self, source: Source<'_>, id: ResolvedPassId) -> Vec<Problem> {
        let pass = self.passes[id];
        let of_own = self.hidden_of(id).iter().filter(|(_, read)| self.depth[read.resource] == 0);
        let lost = of_own.filter_map(|(_, read)| {
            let resource = read.resource;
            if !self.any_in_range(source, read, |subresource| self.states[subresource].written != Written::No) {
                let part = self.subresources.get(read.subresources.first()).part();
                return Some(Problem::NeverWritten {
                    by: read.declared.map_or(Reads::Inserted, Reads::Access),
                    resource,
                    part,
                });
            }
            let mut under = None;
            self.any_in_range(source, read, |subresource| {
                if let Written::Under(flag, writer) = self.states[subresource].written
                    && pass.conditional != Some(flag)
                {
                    under = Some((flag, writer));
                }
                under.is_some()
            });
            let (flag, writer) = under?;
            Some(Problem::HoldsNothing { flag, pass: writer, resource, reader: pass_of(pass.origin) })
        });
        lost.collect()
    }

    /// Cuts the accesses of a pass where their subresources are in different groups of uses that commute. Other uses of
    /// some subresources may have ended the group there, and it goes on in the others.
    fn cut_at_groups(&mut self, id: ResolvedPassId) {
        let accesses = self.passes[id].accesses;
        for at in accesses.ids() {
            self.enter_name(at, level(self, id, &self.accesses[at]));
        }
        let states = &self.states;
        let run = |access: &ResolvedAccess, first: SubresourceId| {
            let rest = IdSpan::new(first.index(), access.subresources.range().end);
            let open = states[first].open;
            let together = states.slice(rest).iter().take_while(|state| !access.unordered || state.open == open);
            IdSpan::from(first, together.count())
        };
        let whole = |access: &ResolvedAccess| run(access, access.subresources.first()) == access.subresources;
        if self.accesses.slice(accesses).iter().all(|access| !access.unordered || whole(access)) {
            return;
        }
        let start = self.accesses.len();
        for at in accesses.ids() {
            let access = self.accesses[at];
            let mut left = access.subresources;
            while !left.is_empty() {
                let subresources = run(&access, left.first());
                self.accesses.push(ResolvedAccess { subresources, ..access });
                left = IdSpan::new(subresources.range().end, left.range().end);
            }
        }
        self.passes[id].accesses = IdSpan::new(start, self.accesses.len());
    }

    /// Attachments that say nothing keep what was written before, if anything was.
    fn decide_loads(&mut self, Source { graph, shapes }: Source<'_>, attachments: Span) {
        for at in attachments.range() {
            let ResolvedAttachment { declared, resource, usage, .. } = self.attachments[at];
            if !matches!(usage, Usage::ColorAttachment | Usage::DepthStencilAttachment) {
                continue;
            }
            let access = super::declared(graph, declared);
            if access.load.is_some() && (access.stencil_load.is_some() || usage == Usage::ColorAttachment) {
                continue;
            }
            let mut written = self.depth[resource] > 0;
            let memory = self.memory[resource];
            if let Some(whole) = self.subresources.whole(memory) {
                written |= self.states[whole].written != Written::No;
            } else {
                let part = part_of(graph, access, &shapes[resource]);
                self.subresources.runs(memory, &part, |run| {
                    written |= self.states.slice(run).iter().any(|state| state.written != Written::No);
                });
            }
            let default = if written { Load::Load } else { Load::Discard };
            let attachment = &mut self.attachments[at];
            attachment.load = access.load.unwrap_or(default);
            attachment.stencil_load = said_of_stencil(access, shapes[resource].aspects).unwrap_or(default);
        }
    }

    /// An access in the meant order is under the name of a level.
    fn enter_name(&mut self, access: ResolvedAccessId, level: u32) {
        if !self.accesses[access].unordered {
            return;
        }
        for state in self.states.slice_mut(self.accesses[access].subresources) {
            state.enter_name(level);
        }
    }

    /// Whether anything in the range of one use is written before it. A use that must find contents which only the
    /// group that it commutes with makes commutes with nothing: it follows those before it.
    fn finds_contents(&mut self, source: Source<'_>, uses: IdSpan<ResolvedAccessId>) -> bool {
        let found = self.ends_lone_group(source, uses);
        found
            || self.any_in_range(source, &self.accesses[uses.first()], |subresource| {
                self.states[subresource].written != Written::No
            })
    }

    /// Makes a use ordinary that must find contents which nothing before its own group makes. Tells whether any
    /// subresource that it accesses was written before it.
    fn ends_lone_group(&mut self, source: Source<'_>, uses: IdSpan<ResolvedAccessId>) -> bool {
        let written = |state: &WalkedSubresource| state.written != Written::No;
        let before_group =
            |state: &WalkedSubresource| if state.in_group.is_some() { state.before_group } else { written(state) };
        let accesses = self.accesses.slice_mut(uses);
        let states = &self.states;
        let first = accesses[0];
        let found = accesses.iter().any(|access| states.slice(access.subresources).iter().any(written));
        let needs = first.unordered && self.depth[first.resource] == 0 && reads_explicitly(source, &first);
        if needs && !accesses.iter().any(|access| states.slice(access.subresources).iter().any(before_group)) {
            for access in accesses {
                access.unordered = false;
            }
        }
        found
    }

    /// Takes note of a use in the meant order, for [`Facts::ends_lone_group`] of those behind it.
    pub(super) fn place_in_group(&mut self, source: Source<'_>, level: u32, uses: IdSpan<ResolvedAccessId>) {
        for at in uses.ids() {
            self.enter_name(at, level);
        }
        self.ends_lone_group(source, uses);
        for access in self.accesses.slice(uses) {
            for state in self.states.slice_mut(access.subresources) {
                state.enter(access.unordered.then_some(state.open));
                if access.effect.writes() {
                    state.written = Written::Yes;
                }
            }
        }
    }

    /// Whether something holds for any subresource in the range of the access that an access is part of: where several
    /// accesses of a pass meet, an access may have lost subresources to another access.
    pub(super) fn any_in_range(
        &self,
        source: Source<'_>,
        access: &ResolvedAccess,
        mut holds: impl FnMut(SubresourceId) -> bool,
    ) -> bool {
        let Some(declared_access) = declared_of(source.graph, access) else { return false };
        if declared_access.resource != access.resource {
            return false;
        }
        if let Some(whole) = self.subresources.whole(self.memory[declared_access.resource]) {
            return holds(whole);
        }
        let part = part_of(source.graph, declared_access, &source.shapes[declared_access.resource]);
        let mut any = false;
        self.subresources.runs(self.memory[declared_access.resource], &part, |run| {
            any |= run.ids().any(&mut holds);
        });
        any
    }

    /// The access with the effect that the contents before it, if there are any, leave to it.
    fn decide_effect(
        &mut self,
        source: Source<'_>,
        conditional: bool,
        has_fallback: bool,
        (access_at, any_written): (ResolvedAccessId, bool),
    ) -> ResolvedAccess {
        let mut access = self.accesses[access_at];
        match access.effect {
            Effect::KeepIfWritten if any_written => access.effect = Effect::Keep,
            Effect::KeepIfWritten => {
                access.effect = Effect::Replace;
                access.kinds -= Accesses::COLOR_ATTACHMENT_READ;
            }
            _ => {}
        }
        // While the pass is off, what outlives the frame keeps what it held, whatever readers get meanwhile.
        let replaces = !conditional || has_fallback && !self.outlives(source, access.resource);
        // Scratch memory of a build counts there, although it means nothing: a pass that keeps it keeps the build too.
        let has_writer = || self.states.slice(access.subresources).iter().any(|state| state.writer.is_some());
        if access.effect == Effect::Replace && !replaces && (any_written || has_writer()) {
            access.effect = Effect::Keep;
        }
        if access.unordered {
            access.group = Some(self.states[access.subresources.first()].open);
        }
        self.accesses[access_at] = access;
        access
    }

    fn walk_access(
        &mut self,
        source: Source<'_>,
        id: ResolvedPassId,
        access_at: ResolvedAccessId,
        found: bool,
        problems: &mut Vec<Problem>,
    ) {
        let pass = self.passes[id];
        let modifies = self.depth[self.accesses[access_at].resource] > 0;
        let has_fallback = pass.conditional.is_some()
            && pass_of(pass.origin).is_some_and(|declared_pass| {
                self.falls_back_elsewhere(declared_pass, self.accesses[access_at].resource)
            });
        let access =
            self.decide_effect(source, pass.conditional.is_some(), has_fallback, (access_at, modifies || found));
        let must_be_written = match access.effect {
            Effect::Read | Effect::Present => true,
            Effect::Keep => reads_explicitly(source, &access),
            _ => false,
        };
        let usage = declared_of(source.graph, &access).map(|declared| declared.usage);
        let scratch = usage == Some(Usage::AccelerationScratch);
        let loads = access.effect == Effect::Keep
            && matches!(usage, Some(Usage::ColorAttachment | Usage::DepthStencilAttachment));
        let sources_start = self.sources.len();
        for subresource in access.subresources.ids() {
            let state = &mut self.states[subresource];
            if (must_be_written || loads) && !modifies {
                match state.written {
                    Written::Yes => {}
                    Written::Under(flag, _) if pass.conditional == Some(flag) => {}
                    // A load that is not explicit finds nothing there, as that of a first write does.
                    Written::Under(flag, _) if !must_be_written => self.silent.loads_nothing(id, access.resource, flag),
                    Written::Under(flag, writer) => {
                        let reader = pass_of(pass.origin);
                        problems.push(Problem::HoldsNothing { flag, pass: writer, resource: access.resource, reader });
                    }
                    Written::No if !must_be_written => {}
                    // A read of mips, layers or bytes that mean something may reach over some that do not.
                    Written::No if found => {
                        if access.effect == Effect::Read {
                            self.silent.read_unwritten(id, access.resource, subresource);
                        }
                    }
                    Written::No => {
                        let part = self.subresources.get(subresource).part();
                        let by = access.declared.map_or(Reads::Inserted, Reads::Access);
                        problems.push(Problem::NeverWritten { by, resource: access.resource, part });
                    }
                }
            }
            if access.effect == Effect::Replace {
                if let Some(writer) = state.writer
                    && !state.read_since
                {
                    self.replaced[writer].get_or_insert(access.resource);
                    self.silent.replaced(writer, id, access.resource, subresource);
                }
            } else {
                match state.writer {
                    Some(writer) if writer != id => {
                        if access.group.is_some() && state.in_group == access.group {
                            self.mutual.push((writer, id));
                        }
                        if self.sources[sources_start..].last() != Some(&writer) {
                            self.sources.push(writer);
                        }
                    }
                    None if state.entry => self.entry_reads.push(subresource),
                    _ => {}
                }
            }
            state.enter(access.group);
            if access.effect.writes() {
                state.writer = Some(id);
                state.read_since = false;
                state.written = match (state.written, pass.conditional, pass_of(pass.origin)) {
                    (Written::No, Some(flag), Some(declared_pass)) if !has_fallback && !modifies => {
                        Written::Under(flag, declared_pass)
                    }
                    (Written::Under(known, declared_pass), Some(_), _) if !has_fallback => {
                        Written::Under(known, declared_pass)
                    }
                    _ => Written::Yes,
                };
                // What a build leaves in its scratch memory means nothing.
                if scratch {
                    state.written = Written::No;
                }
            } else {
                state.read_since = true;
            }
        }
    }

    /// Roots must have been written, by somebody who always runs, and still be theirs at the end.
    fn check_roots(&mut self, Source { graph, .. }: Source<'_>, problems: &mut Vec<Problem>) {
        for (by, resource) in graph.resources().iter_ids() {
            if let Some(below) = resource.modifies
                && self.memory[by] == self.memory[below]
                && graph.is_root(below)
            {
                problems.push(Problem::RootModified { root: below, by });
            }
        }
        for &root in graph.roots() {
            let span = self.subresources.of(self.memory[root]);
            let states = self.states.slice(span);
            if states.iter().all(|state| state.written == Written::No) && self.depth[root] == 0 {
                let part = self.subresources.get(span.first()).part();
                problems.push(Problem::NeverWritten { by: Reads::Root, resource: root, part });
            }
            for state in states {
                if let Written::Under(flag, pass) = state.written {
                    problems.push(Problem::HoldsNothing { flag, pass, resource: root, reader: None });
                    break;
                }
            }
        }
    }
}

/// The declared pass that a pass is part of.
fn pass_of(origin: Origin) -> Option<PassId> {
    match origin {
        Origin::Declared(pass) | Origin::Mip { pass, .. } => Some(pass),
        Origin::Blit { .. } => None,
    }
}

/// Whether a use that keeps old contents says that it reads them, rather than leaving alone what it does not cover.
fn reads_explicitly(Source { graph, .. }: Source<'_>, access: &ResolvedAccess) -> bool {
    let Some(access) = declared_of(graph, access) else { return true };
    match access.usage {
        Usage::StorageReadWrite | Usage::AccelerationUpdate => true,
        Usage::ColorAttachment | Usage::DepthStencilAttachment => access.load == Some(Load::Load),
        Usage::StorageWrite | Usage::TransferDst | Usage::HostWrite => false,
        _ => true,
    }
}
