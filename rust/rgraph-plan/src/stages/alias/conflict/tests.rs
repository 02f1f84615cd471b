//! Neighbour lists against all pairs of items.

use super::*;
use crate::stages::alias::tests::{Random, item, timeline};

type Before = fn(ItemId, ItemId) -> bool;

fn built(items: &[Item], before: Option<&Before>, limit: u64) -> Option<Vec<Vec<usize>>> {
    let mut conflicts = Conflicts::default();
    let built = conflicts.build(items, &timeline(items), before, limit);
    let of = |at| {
        let mut of: Vec<usize> = conflicts.of(ItemId::new(at)).iter().map(|other| other.index()).collect();
        of.sort_unstable();
        of
    };
    built.then(|| {
        let lists: Vec<Vec<usize>> = (0..items.len()).map(of).collect();
        assert_eq!(conflicts.total(), lists.iter().map(|list| list.len() as u64).sum());
        lists
    })
}

#[test]
fn pairs_that_overlap_or_that_nothing_orders_are_neighbours() {
    let mut random = Random(4);
    let ordered: Before = |a, b| (a.index() + 2 * b.index()) % 3 > 0;
    for round in 0..200 {
        let mut items = random.items(1 + round % 12, 9, 8);
        if round % 4 == 0 {
            items.push(item(0, 0, 7));
        }
        for before in [None, Some(&ordered)] {
            let free = |a: usize, b: usize| {
                items[a].last < items[b].first && before.is_none_or(|before| before(ItemId::new(a), ItemId::new(b)))
            };
            let conflict =
                |a: usize, b: usize| a != b && items[a].size > 0 && items[b].size > 0 && !free(a, b) && !free(b, a);
            let among = |a: usize| (0..items.len()).filter(|&b| conflict(a, b)).collect();
            assert_eq!(built(&items, before, u64::MAX), Some((0..items.len()).map(among).collect()), "{items:?}");
        }
    }
}

#[test]
fn a_limit_is_kept_to_the_pair() {
    // Three overlap in the first section, the last of them and another one in the second: four pairs of ten.
    let items = [item(1, 0, 0), item(1, 0, 0), item(1, 0, 1), item(1, 1, 1), item(1, 5, 5)];
    let some: Before = |_, _| true;
    assert_eq!([built(&items, None, 4).is_some(), built(&items, None, 3).is_some()], [true, false]);
    assert_eq!([built(&items, Some(&some), 10).is_some(), built(&items, Some(&some), 9).is_some()], [true, false]);
    assert_eq!(built(&[], None, 0), Some(Vec::new()));
    assert!(built(&items[..1], Some(&some), 0).is_some());
}
