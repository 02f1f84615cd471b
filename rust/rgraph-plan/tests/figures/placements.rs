//! Bytes of random items, and the steps that placing them takes, by effort.

use std::fmt::Write as _;

use rgraph_plan::inside::alias::place::{Item, ItemId, PlaceScratch, place, place_below};

use super::mix;
use crate::alias::checker::Random;
use crate::alias::families;
use crate::alias::place::Case;
use crate::common::kept::assert_kept;

/// Items, and who may follow whom if they are of several queues.
struct Kind {
    name: &'static str,
    cases: Vec<(Vec<Item>, Option<Case>)>,
}

fn kinds() -> Vec<Kind> {
    let mut random = Random(21);
    let mut some = |name, count: usize, make: &dyn Fn(&mut Random) -> Vec<Item>| Kind {
        name,
        cases: (0..count).map(|_| (make(&mut random), None)).collect(),
    };
    let one_queue = [
        some("few", 120, &|random| families::random(random, 12, 10, 30, 3)),
        some("many", 24, &|random| families::random(random, 90, 60, 900, 6)),
        some("short", 24, &|random| {
            let mut items = families::random(random, 90, 200, 300, 2);
            items.iter_mut().for_each(|item| item.last = item.last.min(item.first + 9));
            items
        }),
        some("layered", 6, &|random| families::layered(120, random.next(), true)),
        some("large", 1, &|random| families::layered(2000, random.next(), false)),
    ];
    let mut queues = |name, count: usize, passes: usize, items: usize| Kind {
        name,
        cases: (0..count)
            .map(|_| {
                let case = Case::random(&mut random, passes, items);
                (case.items.clone(), Some(case))
            })
            .collect(),
    };
    let several = [queues("queues, few", 60, 12, 14), queues("queues, many", 12, 60, 90)];
    one_queue.into_iter().chain(several).collect()
}

#[test]
fn placements_and_their_steps_are_those_that_are_kept() {
    let mut scratch = PlaceScratch::default();
    let mut table = format!("{:<34}{:>14}{:>14}{:>14}{:>12}  offsets", "", "bytes", "least", "swept", "steps");
    for kind in kinds() {
        for (effort, aimed) in [(0, false), (1, false), (2, false), (3, false), (1, true), (2, true)] {
            let (mut bytes, mut least, mut swept, mut steps, mut hash) = (0, 0, 0, 0, 0);
            for (items, case) in &kind.cases {
                let mut offsets = Vec::new();
                let before = case.as_ref().map(|case| |a: ItemId, b: ItemId| case.before(a, b));
                let first = place(items, before, 0, &mut scratch, &mut offsets).expect("few bytes");
                // A fifth of what a quick placement wastes.
                let aim = first.lower_bound + (first.total - first.lower_bound) / 5;
                let asked = (effort, aimed.then_some(aim));
                let peak = place_below(items, before, asked, &mut scratch, &mut offsets).expect("few bytes");
                bytes += peak.total;
                least += peak.lower_bound;
                swept += peak.swept;
                steps += peak.nodes;
                mix(&mut hash, &format!("{offsets:?} {peak:?}"));
            }
            let name = format!("{}, effort {effort}{}", kind.name, if aimed { ", aimed" } else { "" });
            let _ = write!(table, "\n{name:<34}{bytes:>14}{least:>14}{swept:>14}{steps:>12}  {hash:016x}");
        }
    }
    table.push('\n');
    assert_kept("tests/figures/placements.txt", &table);
}
