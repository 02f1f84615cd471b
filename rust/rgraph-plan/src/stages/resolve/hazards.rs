//! Which earlier nodes a use of a piece must follow: a read the writers before it, a write the readers since the
//! last write or, if there is none, that write. Uses that all say `unordered` follow what came before the first of
//! them, not each other.

use super::NodeId;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct State {
    writers: u32,
    readers: u32,
    base: u32,
    /// The group of unordered uses that is open, 0 for none.
    open: u32,
}

/// The hazards of every piece, fed node by node in serial order.
#[derive(Default, Debug)]
pub struct Hazards {
    states: Vec<State>,
    links: Vec<(NodeId, u32)>,
}

impl Hazards {
    /// Forgets everything, keeping the memory.
    pub fn clear(&mut self, pieces: usize) {
        self.states.clear();
        self.states.resize(pieces, State { writers: NONE, readers: NONE, base: NONE, open: 0 });
        self.links.clear();
    }

    /// `node` uses `piece`, in a group of unordered uses or (0) not: calls `follow` for each node that it must follow. O(nodes followed).
    #[inline]
    pub fn touch(&mut self, piece: usize, node: NodeId, exclusive: bool, group: u32, mut follow: impl FnMut(NodeId)) {
        let state = &mut self.states[piece];
        let links = &mut self.links;
        let mut each = |mut at: u32, links: &[(NodeId, u32)]| {
            while at != NONE {
                let (from, next) = links[at as usize];
                if from != node {
                    follow(from);
                }
                at = next;
            }
        };
        let push = |head: &mut u32, links: &mut Vec<(NodeId, u32)>| {
            links.push((node, *head));
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
