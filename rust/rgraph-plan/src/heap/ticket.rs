//! One-time numbers: what tells a live range from one that was freed, even where its bytes are used again.
//! Four bytes for each range alive at a time; a number for each slot would not fit a processor's inner caches.

/// A place among the [`Tickets`], and which use of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Ticket {
    place: u32,
    uses: u32,
}

#[derive(Debug, Default)]
pub(super) struct Tickets {
    /// How often each place was used up; after 2³² times an old ticket would be taken for a new one.
    uses: Vec<u32>,
    /// Places that no valid ticket has; the newest is the likeliest to be cached.
    unused: Vec<u32>,
}

impl Tickets {
    /// A new valid ticket.
    #[inline]
    pub(super) fn issue(&mut self) -> Ticket {
        let place = self.unused.pop().unwrap_or_else(|| self.grow());
        Ticket { place, uses: self.uses[place as usize] }
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        let place = self.uses.len() as u32;
        self.uses.push(0);
        // Room for every place, so that ending a ticket never allocates.
        self.unused.reserve(self.uses.len());
        place
    }

    /// Makes a ticket of this table invalid; `false` if it was.
    #[inline]
    pub(super) fn end(&mut self, ticket: Ticket) -> bool {
        let uses = &mut self.uses[ticket.place as usize];
        let is_valid = *uses == ticket.uses;
        if is_valid {
            *uses = uses.wrapping_add(1);
            self.unused.push(ticket.place);
        }
        is_valid
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_ends_once_and_its_place_is_used_again() {
        let mut tickets = Tickets::default();
        let (first, second) = (tickets.issue(), tickets.issue());
        assert_ne!(first, second);
        assert!(tickets.end(first));
        assert!(!tickets.end(first));
        let third = tickets.issue();
        assert_eq!(third.place, first.place);
        assert!(!tickets.end(first) && tickets.end(third) && tickets.end(second));
    }
}
