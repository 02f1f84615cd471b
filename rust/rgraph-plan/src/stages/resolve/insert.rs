//! Work that a declaration implies, as passes of its own: mip levels filled at the end of a pass, and the scaled
//! blit that starts a modifying image of another size.

use super::meaning::{Effect, Meaning};
use super::subresource::SubresourceRange;
use super::{Facts, Origin, ResolvedPass, Source, declared, part_of};
use crate::access::{Accesses, Layout, PassQueue, Stages};
use crate::graph::PassId;
use crate::id::{Id, IdSpan, Span};
use crate::resource::ResourceId;
use crate::stages::ids::AccessId;

const FROM: Meaning =
    Meaning { stages: Stages::BLIT, kinds: Accesses::TRANSFER_READ, layout: Layout::TransferSrc, effect: Effect::Read };
const INTO: Meaning = Meaning {
    stages: Stages::BLIT,
    kinds: Accesses::TRANSFER_WRITE,
    layout: Layout::TransferDst,
    effect: Effect::Replace,
};

impl Facts {
    /// One pass a level below what the access writes.
    pub(super) fn insert_mips(&mut self, Source { graph, shapes }: Source<'_>, pass: PassId, access: AccessId) {
        let access = declared(graph, access);
        let shape = &shapes[access.resource];
        let part = part_of(graph, access, shape);
        for level in part.mips[1]..shape.levels()[0] {
            let at = |mip: u32| SubresourceRange { mips: [mip, mip + 1], ..part };
            self.insert(
                Origin::Mip { pass, resource: access.resource, level },
                [(access.resource, at(level - 1)), (access.resource, at(level))],
                graph.passes()[pass].conditional,
            );
        }
    }

    /// The blit that fills the memory that `resource` is in, if it needs one and has none yet.
    pub(super) fn insert_blit(&mut self, Source { graph, shapes }: Source<'_>, resource: ResourceId) {
        let resource = self.memory[resource];
        let Some(below) = graph.resources()[resource].modifies else { return };
        if std::mem::replace(&mut self.blit_done[resource], true) {
            return;
        }
        let first_mip = |of: ResourceId| SubresourceRange { mips: [0, 1], ..SubresourceRange::whole(&shapes[of]) };
        self.insert(Origin::Blit { resource }, [(below, first_mip(below)), (resource, first_mip(resource))], None);
    }

    fn insert(
        &mut self,
        origin: Origin,
        [(from, source), (into, target)]: [(ResourceId, SubresourceRange); 2],
        conditional: Option<crate::graph::FlagId>,
    ) {
        let pass = self.passes.next_id();
        let accesses = self.accesses.next_id();
        self.access(pass, from, None, &source, FROM, false);
        self.access(pass, into, None, &target, INTO, false);
        self.passes.push(ResolvedPass {
            origin,
            queue: PassQueue::Graphics,
            raster: false,
            keep: false,
            conditional,
            accesses: IdSpan::new(accesses.index(), self.accesses.len()),
            attachments: Span::default(),
            sources: Span::default(),
            entry_reads: Span::default(),
        });
    }
}
