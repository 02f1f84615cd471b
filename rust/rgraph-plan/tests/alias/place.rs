use rgraph_ir::id::Id;
use rgraph_plan::inside::alias::place::{Item, ItemId, Overflow, Peak, PlaceScratch, place, place_below};

use super::checker::{Random, check, conflict};
use super::families;

type Before = fn(ItemId, ItemId) -> bool;

fn on_one_queue(items: &[Item], effort: u32) -> Peak {
    let mut offsets = Vec::new();
    let peak = place(items, None::<Before>, effort, &mut PlaceScratch::default(), &mut offsets).unwrap();
    check(items, &|_, _| true, &offsets, peak);
    peak
}

fn item(size: u64, first: u32, last: u32) -> Item {
    Item { size, align: 1, first, last }
}

#[test]
fn nothing_needs_no_bytes() {
    assert_eq!(on_one_queue(&[], 0), Peak::default());
    assert_eq!(on_one_queue(&[item(0, 0, 3)], 1).total, 0);
}

#[test]
fn one_item_lies_at_the_start() {
    for effort in 0..3 {
        assert_eq!(on_one_queue(&[item(100, 5, 5)], effort).total, 100);
    }
}

#[test]
fn a_chain_needs_two_images() {
    for n in [2, 16, 1000] {
        let items = families::chain(n);
        assert_eq!(on_one_queue(&items, 0).total, 2 * items[0].size);
    }
}

#[test]
fn items_that_touch_in_time_share_no_byte() {
    assert_eq!(on_one_queue(&[item(10, 0, 1), item(10, 1, 2)], 0).total, 20);
    assert_eq!(on_one_queue(&[item(10, 0, 1), item(10, 2, 2)], 0).total, 10);
}

#[test]
fn more_than_64_bits_of_live_bytes_are_refused() {
    let half = u64::MAX / 2 + 1;
    let mut offsets = Vec::new();
    let items = [item(half, 0, 1), item(half, 1, 2)];
    let refused = place(&items, None::<Before>, 2, &mut PlaceScratch::default(), &mut offsets);
    assert_eq!(refused, Err(Overflow));
    let quarter = u64::MAX / 4;
    let items: Vec<_> =
        (0..4).map(|_| item(quarter, 0, 9)).chain((0..4).map(|i| item(quarter, 10 + i, 11 + i))).collect();
    for effort in 0..3 {
        assert_eq!(on_one_queue(&items, effort).total, 4 * quarter);
    }
}

#[test]
fn alignment_beyond_the_end_of_memory_is_refused() {
    let high = Item { size: 1, align: 1 << 63, first: 0, last: 0 };
    let mut offsets = Vec::new();
    let refused = place(&[high, high, high], None::<Before>, 1, &mut PlaceScratch::default(), &mut offsets);
    assert_eq!(refused, Err(Overflow));
    assert_eq!(on_one_queue(&[high, high], 1).total, (1 << 63) + 1);
}

#[test]
fn random_items_never_share_bytes_while_both_are_alive() {
    let mut random = Random(1);
    for round in 0..600 {
        let n = random.range(1, 60) as usize;
        let (positions, sizes) = (random.range(1, 40), random.range(1, 1000));
        let items = families::random(&mut random, n, positions, sizes, 7);
        on_one_queue(&items, round % 3);
    }
}

/// Passes of three queues in one linear order, with waits between them; items are used by some of those passes.
pub struct Case {
    pub items: Vec<Item>,
    uses: Vec<Vec<usize>>,
    reaches: Vec<Vec<bool>>,
}

impl Case {
    pub fn random(random: &mut Random, passes: usize, items: usize) -> Self {
        let queue: Vec<u64> = (0..passes).map(|_| random.below(3)).collect();
        let mut reaches = vec![vec![false; passes]; passes];
        for to in 0..passes {
            let mut sources: Vec<usize> = (0..to).rev().find(|&p| queue[p] == queue[to]).into_iter().collect();
            if to > 0 && random.below(4) == 0 {
                sources.push(random.below(to as u64) as usize);
            }
            for from in sources {
                reaches[from][to] = true;
                reaches[..from].iter_mut().for_each(|reached| reached[to] |= reached[from]);
            }
        }
        let uses: Vec<Vec<usize>> = (0..items)
            .map(|_| {
                let start = random.below(passes as u64) as usize;
                (0..random.range(1, 3)).map(|_| (start + random.below(8) as usize).min(passes - 1)).collect()
            })
            .collect();
        let items = uses
            .iter()
            .map(|uses| Item {
                size: random.range(1, 50) * 16,
                align: 16 << random.below(3),
                first: *uses.iter().min().unwrap() as u32,
                last: *uses.iter().max().unwrap() as u32,
            })
            .collect();
        Self { items, uses, reaches }
    }

    pub fn before(&self, a: ItemId, b: ItemId) -> bool {
        let (a, b) = (a.index(), b.index());
        assert!(self.items[a].last < self.items[b].first, "asked about a pair that is alive together");
        self.uses[a].iter().all(|&x| self.uses[b].iter().all(|&y| self.reaches[x][y]))
    }
}

#[test]
fn items_of_queues_that_do_not_wait_for_each_other_never_share_bytes() {
    let mut random = Random(2);
    for round in 0..300 {
        let (passes, items) = (random.range(3, 80) as usize, random.range(1, 120) as usize);
        let frame = Case::random(&mut random, passes, items);
        let mut offsets = Vec::new();
        let before = |a, b| frame.before(a, b);
        let peak = place(&frame.items, Some(before), round % 3, &mut PlaceScratch::default(), &mut offsets).unwrap();
        check(&frame.items, &before, &offsets, peak);
    }
}

#[test]
fn queues_that_never_meet_share_nothing() {
    let items: Vec<_> = (0..40).map(|i| item(8, i, i)).collect();
    let mut offsets = Vec::new();
    for effort in 0..3 {
        let same_queue = |a: ItemId, b: ItemId| a.index() % 2 == b.index() % 2;
        let peak = place(&items, Some(same_queue), effort, &mut PlaceScratch::default(), &mut offsets).unwrap();
        check(&items, &same_queue, &offsets, peak);
        assert_eq!(peak.total, 16);
    }
}

#[test]
fn the_same_items_get_the_same_offsets_from_any_scratch() {
    let mut used = PlaceScratch::default();
    for n in [4096, 16, 256] {
        let items = families::layered(n, 7, true);
        for effort in 0..3 {
            let (mut a, mut b) = (Vec::new(), vec![1; 3]);
            let first = place(&items, None::<Before>, effort, &mut used, &mut a);
            let second = place(&items, None::<Before>, effort, &mut PlaceScratch::default(), &mut b);
            assert_eq!((first, &a), (second, &b));
        }
    }
}

#[test]
fn fans_and_chains_reach_the_bound_without_effort() {
    for n in [16, 64, 256, 1024, 4096, 65536] {
        for items in [families::chain(n), families::fan(n)] {
            let peak = on_one_queue(&items, 0);
            assert_eq!(peak.total, peak.lower_bound);
        }
    }
}

/// The lowest total over all orders in which items can be put at the lowest offset that is free for them.
fn optimum(items: &[Item], before: &dyn Fn(ItemId, ItemId) -> bool, placed: &mut Vec<(usize, u64)>, total: u64) -> u64 {
    if placed.len() == items.len() {
        return total;
    }
    let mut best = u64::MAX;
    for next in 0..items.len() {
        if placed.iter().any(|&(other, _)| other == next) {
            continue;
        }
        let Item { size, align, .. } = items[next];
        let mut near: Vec<_> = placed.iter().filter(|&&(other, _)| conflict(items, before, other, next)).collect();
        near.sort_by_key(|&&(_, offset)| offset);
        let mut offset = 0u64;
        for &&(other, start) in &near {
            if start >= offset + size {
                break;
            }
            offset = offset.max((start + items[other].size).next_multiple_of(align));
        }
        placed.push((next, offset));
        best = best.min(optimum(items, before, placed, total.max(offset + size)));
        placed.pop();
    }
    best
}

#[test]
fn much_effort_finds_the_optimum_of_tiny_cases_and_none_is_below_it() {
    let mut random = Random(4);
    for round in 0..150 {
        let n = random.range(1, 6) as usize;
        let (sizes, aligns) = (random.range(1, 12), round % 3);
        let items = families::random(&mut random, n, 8, sizes, aligns);
        let best = optimum(&items, &|_, _| true, &mut Vec::new(), 0);
        for effort in [0, 1, 2, 4, 8] {
            let peak = on_one_queue(&items, effort);
            assert!(peak.lower_bound <= best && best <= peak.total);
            assert!(effort < 8 || peak.total == best, "{} instead of {best} for {items:?}", peak.total);
        }
    }
}

#[test]
fn much_effort_finds_the_optimum_of_tiny_cases_on_several_queues() {
    let mut random = Random(5);
    for _ in 0..100 {
        let items = random.range(1, 6) as usize;
        let frame = Case::random(&mut random, 12, items);
        let before = |a, b| frame.before(a, b);
        let best = optimum(&frame.items, &before, &mut Vec::new(), 0);
        let mut offsets = Vec::new();
        let peak = place(&frame.items, Some(before), 8, &mut PlaceScratch::default(), &mut offsets).unwrap();
        check(&frame.items, &before, &offsets, peak);
        assert_eq!(peak.total, best, "{:?}", frame.items);
    }
}

/// Greedy by size, each item at the lowest hole (or in the smallest).
fn by_size(items: &[Item], smallest: bool) -> u64 {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|&i| (std::cmp::Reverse((items[i].size, items[i].last - items[i].first)), i));
    let mut placed: Vec<(usize, u64)> = Vec::new();
    for i in order {
        let mut near: Vec<_> = placed.iter().filter(|&&(j, _)| conflict(items, &|_, _| true, i, j)).collect();
        near.sort_by_key(|&&(_, offset)| offset);
        let (mut top, mut holes) = (0u64, Vec::new());
        for &&(j, start) in &near {
            let offset = top.next_multiple_of(items[i].align);
            if start >= offset + items[i].size {
                holes.push((if smallest { start - top } else { 0 }, offset));
            }
            top = top.max(start + items[j].size);
        }
        let offset = holes.iter().min().map_or(top.next_multiple_of(items[i].align), |&(_, offset)| offset);
        placed.push((i, offset));
    }
    placed.iter().map(|&(i, offset)| offset + items[i].size).max().unwrap_or(0)
}

#[test]
fn some_effort_is_never_above_greedy_by_size() {
    let mut cases: Vec<_> = families::hard().into_iter().map(|(_, items)| items).collect();
    for seed in 0..6 {
        cases.push(families::layered(64 << (seed % 3), seed, seed % 2 == 0));
    }
    for items in cases {
        let total = on_one_queue(&items, 3).total;
        let (first, best) = (by_size(&items, false), by_size(&items, true));
        assert!(total <= first.min(best), "{total} for {} items, but first fit {first}, best fit {best}", items.len());
    }
}

#[test]
fn more_effort_reaches_the_bound_of_layered_frames() {
    for (n, seed) in [(16, 1), (64, 1), (64, 2), (256, 1), (256, 2), (1024, 2), (4096, 1)] {
        for cull in [false, true] {
            let items = families::layered(n, seed, cull);
            let peak = on_one_queue(&items, 4);
            assert!(peak.total as f64 <= 1.01 * peak.lower_bound as f64 || n == 16, "layered-{n}, seed {seed}");
        }
    }
}

#[test]
fn hard_instances_come_nearer_to_the_bound_with_effort() {
    let cases = families::hard();
    if cases.is_empty() {
        return;
    }
    for (effort, goal) in [(0, 1.586), (1, 1.2), (2, 1.17), (3, 1.14), (4, 1.085), (5, 1.05), (6, 1.03)] {
        let mut fits = String::new();
        let mut ratio = |(name, items): &(char, Vec<Item>)| {
            let peak = on_one_queue(items, effort);
            // They are made so that this many bytes are enough.
            fits.extend((peak.total <= 1 << 20).then_some(*name));
            peak.total as f64 / peak.lower_bound as f64
        };
        let mean = cases.iter().map(&mut ratio).sum::<f64>() / cases.len() as f64;
        assert!(mean <= goal, "effort {effort}: {mean:.4} of the bound");
        assert!(effort < 6 || "BCFGHK".chars().all(|name| fits.contains(name)), "effort {effort} solves {fits} only");
    }
}

/// On one queue, with so many bytes to aim at.
fn below(items: &[Item], effort: u32, aim: u64) -> (Peak, Vec<u64>) {
    let mut offsets = Vec::new();
    let peak =
        place_below(items, None::<Before>, (effort, Some(aim)), &mut PlaceScratch::default(), &mut offsets).unwrap();
    check(items, &|_, _| true, &offsets, peak);
    (peak, offsets)
}

#[test]
fn a_search_that_aims_at_their_capacity_solves_all_hard_instances_in_so_many_steps() {
    for (name, items) in families::hard() {
        let (peak, _) = below(&items, 7, 1 << 20);
        assert!(peak.total <= 1 << 20, "{name} takes {} bytes", peak.total);
        assert!(peak.nodes <= 800_000, "{name} takes {} steps", peak.nodes);
    }
}

#[test]
fn an_aim_that_is_met_or_out_of_reach_changes_nothing_and_one_between_is_often_met() {
    let mut random = Random(6);
    let (mut met, mut worth) = (0, 0);
    for round in 0..60 {
        let items = families::random(&mut random, 24, 24, 40, round % 3);
        let mut offsets = Vec::new();
        let peak = place(&items, None::<Before>, 1, &mut PlaceScratch::default(), &mut offsets).unwrap();
        for aim in [peak.total, u64::MAX, peak.lower_bound.saturating_sub(1)] {
            assert_eq!(below(&items, 1, aim), (peak, offsets.clone()), "aim {aim} of {peak:?}");
        }
        let best = on_one_queue(&items, 4).total;
        if best < peak.total {
            let aimed = below(&items, 1, best).0.total;
            assert!(aimed <= peak.total, "{aimed} of {peak:?}");
            worth += 1;
            met += u32::from(aimed <= best);
        }
    }
    assert!(worth > 3 && met * 2 >= worth, "{met} of {worth} aims are met");
}

#[test]
fn networks_placed_by_others_reach_the_bound() {
    for items in ["idealloc/resnet50.csv", "idealloc/G_1.csv"].into_iter().filter_map(families::shared) {
        on_one_queue(&items, 0);
        let peak = on_one_queue(&items, 8);
        assert_eq!(peak.total, peak.lower_bound);
    }
}
