//! A counting sort by id: flat lists of accesses by pass, of barriers by call.

use crate::graph::{Graph, PassId};
use crate::id::{Id, IdVec, Span};
use crate::stages::ids::AccessId;

/// Sorts items by their ids, stably: `of` gets the range of each id's items in `sorted`. Both keep their memory.
/// O(ids + items).
pub(crate) fn sort_by_id<I: Id, T: Copy>(
    ids: usize,
    items: impl Iterator<Item = (I, T)> + Clone,
    of: &mut IdVec<I, Span>,
    sorted: &mut Vec<T>,
) {
    of.refill(Span::default(), ids);
    items.clone().for_each(|(id, _)| of[id].end += 1);
    let mut start = 0;
    for span in of.iter_mut() {
        let count = span.end;
        *span = Span { start, end: start };
        start += count;
    }
    sorted.clear();
    // Every place is written below; until then it has some item.
    let Some((_, any)) = items.clone().next() else { return };
    sorted.resize(start as usize, any);
    for (id, item) in items {
        let span = &mut of[id];
        sorted[span.end as usize] = item;
        span.end += 1;
    }
}

/// Sorts the accesses of a graph by pass: `of` gets the range of each pass's accesses in `sorted`.
pub(crate) fn accesses_by_pass(graph: &Graph, of: &mut IdVec<PassId, Span>, sorted: &mut Vec<AccessId>) {
    let accesses = graph.accesses().iter().enumerate().map(|(at, access)| (access.pass, AccessId::new(at)));
    sort_by_id(graph.passes().len(), accesses, of, sorted);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::BatchId;

    #[test]
    fn items_of_an_id_keep_their_order_and_ids_without_items_have_an_empty_range() {
        let items = [(2, 'a'), (0, 'b'), (2, 'c'), (3, 'd'), (0, 'e')];
        let items = items.into_iter().map(|(id, item)| (BatchId::new(id), item));
        let (mut of, mut sorted) = (IdVec::filled(Span::new(7, 9), 1), vec!['x'; 8]);
        sort_by_id(5, items, &mut of, &mut sorted);
        assert_eq!(sorted, ['b', 'e', 'a', 'c', 'd']);
        let spans: Vec<_> = of.iter().map(|span| span.range()).collect();
        assert_eq!(spans, [0..2, 2..2, 2..4, 4..5, 5..5]);
        sort_by_id(2, std::iter::empty::<(BatchId, char)>(), &mut of, &mut sorted);
        assert!(sorted.is_empty() && of.len() == 2 && of.iter().all(|span| span.is_empty()));
    }
}
