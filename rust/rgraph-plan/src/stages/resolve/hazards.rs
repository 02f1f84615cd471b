//! Which earlier passes a use of a subresource must follow: a read the writers before it, a write the readers since the
//! last write or, if there is none, that write. Uses that all say `unordered` follow what came before the first of
//! them, not each other.
use crate::id::IdVec;
use crate::stages::ids::{ResolvedPassId, SubresourceId, UnorderedGroupId};

crate::id! {
    /// A link of a list of passes.
    struct LinkId;
}

#[derive(Clone, Copy, Debug)]
struct LastAccesses {
    writers: Option<LinkId>,
    readers: Option<LinkId>,
    base: Option<LinkId>,
    /// The group of unordered uses that is open.
    open: Option<UnorderedGroupId>,
}

/// The hazards of every subresource, fed pass by pass in serial order.
#[derive(Default, Debug)]
pub(crate) struct Hazards {
    states: IdVec<SubresourceId, LastAccesses>,
    /// A pass, and the link behind it.
    links: IdVec<LinkId, (ResolvedPassId, Option<LinkId>)>,
}

impl Hazards {
    /// Forgets everything, keeping the memory.
    pub(crate) fn clear(&mut self, subresources: usize) {
        self.states.refill(LastAccesses { writers: None, readers: None, base: None, open: None }, subresources);
        self.links.clear();
    }

    /// `pass` uses `subresource`, maybe in a group of unordered uses: calls `follow` for each pass that it must follow.
    /// O(passes followed).
    #[inline]
    pub(crate) fn access(
        &mut self,
        subresource: SubresourceId,
        pass: ResolvedPassId,
        exclusive: bool,
        group: Option<UnorderedGroupId>,
        mut follow: impl FnMut(ResolvedPassId),
    ) {
        let state = &mut self.states[subresource];
        let links = &mut self.links;
        let mut each = |mut at: Option<LinkId>, links: &IdVec<LinkId, (ResolvedPassId, Option<LinkId>)>| {
            while let Some(link) = at {
                let (from, next) = links[link];
                if from != pass {
                    follow(from);
                }
                at = next;
            }
        };
        let push = |head: &mut Option<LinkId>, links: &mut IdVec<LinkId, (ResolvedPassId, Option<LinkId>)>| {
            *head = Some(links.push((pass, *head)));
        };
        if group.is_some() {
            if state.open != group {
                state.base = state.readers.or(state.writers);
                (state.writers, state.readers, state.open) = (None, None, group);
            }
            each(state.base, links);
            push(&mut state.writers, links);
        } else if exclusive {
            each(state.readers.or(state.writers), links);
            (state.writers, state.readers, state.open) = (None, None, None);
            push(&mut state.writers, links);
        } else {
            each(state.writers, links);
            state.open = None;
            push(&mut state.readers, links);
        }
    }
}
