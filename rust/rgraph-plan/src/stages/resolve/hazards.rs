//! Which earlier passes a use of a subresource must follow: a read the writers before it, a write the readers since the
//! last write or, if there is none, that write. Uses that all say `unordered` follow what came before the first of
//! them, not each other.

use super::ResolvedPassId;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct State {
    writers: u32,
    readers: u32,
    base: u32,
    /// The group of unordered uses that is open, 0 for none.
    open: u32,
}

/// The hazards of every subresource, fed pass by pass in serial order.
#[derive(Default, Debug)]
pub struct Hazards {
    states: Vec<State>,
    links: Vec<(ResolvedPassId, u32)>,
}

impl Hazards {
    /// Forgets everything, keeping the memory.
    pub fn clear(&mut self, subresources: usize) {
        self.states.clear();
        self.states.resize(subresources, State { writers: NONE, readers: NONE, base: NONE, open: 0 });
        self.links.clear();
    }

    /// `pass` uses `subresource`, in a group of unordered uses or (0) not: calls `follow` for each pass that it must
    /// follow. O(passes followed).
    #[inline]
    pub fn access(
        &mut self,
        subresource: usize,
        pass: ResolvedPassId,
        exclusive: bool,
        group: u32,
        mut follow: impl FnMut(ResolvedPassId),
    ) {
        let state = &mut self.states[subresource];
        let links = &mut self.links;
        let mut each = |mut at: u32, links: &[(ResolvedPassId, u32)]| {
            while at != NONE {
                let (from, next) = links[at as usize];
                if from != pass {
                    follow(from);
                }
                at = next;
            }
        };
        let push = |head: &mut u32, links: &mut Vec<(ResolvedPassId, u32)>| {
            links.push((pass, *head));
            *head = links.len() as u32 - 1;
        };
        if group != 0 {
            if state.open != group {
                state.base = if state.readers == NONE { state.writers } else { state.readers };
                (state.writers, state.readers, state.open) = (NONE, NONE, group);
            }
            each(state.base, links);
            push(&mut state.writers, links);
        } else if exclusive {
            each(if state.readers == NONE { state.writers } else { state.readers }, links);
            (state.writers, state.readers, state.open) = (NONE, NONE, 0);
            push(&mut state.writers, links);
        } else {
            each(state.writers, links);
            state.open = 0;
            push(&mut state.readers, links);
        }
    }
}
