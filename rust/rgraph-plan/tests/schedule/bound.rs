//! Lower bounds of small frames, added up by hand. A submit takes 7 µs, a barrier call 2, a hop 10; passes of one queue
//! start at least 0.5 µs apart.

use super::support::{Owned, ids};
use rgraph_plan::id::Id;
use rgraph_plan::inside::bound::{Bound, Orders, Scratch, bound};
use rgraph_plan::inside::schedule::{Csr, HOST, LiveId};
use rgraph_plan::resource::ResourceId;

const ON_HOST: u32 = 1 << HOST;

/// A part of the device that is next to nothing.
const NOTHING: f32 = 1.0 / 1024.0;

/// Passes, each with its duration, the queues that may run it, and the part of the device that it fills.
struct Case {
    owned: Owned,
    attached: Vec<Vec<usize>>,
    bare: Vec<usize>,
    order: Vec<usize>,
}

fn frame(passes: &[(f32, u32, f32)], edges: &[(usize, usize)]) -> Case {
    let mut owned = Owned::new(passes.len(), edges);
    owned.weight_us = passes.iter().map(|pass| pass.0).collect();
    owned.queues = passes.iter().map(|pass| pass.1).collect();
    owned.size = passes.iter().map(|pass| pass.2).collect();
    let order = (0..passes.len()).collect();
    Case { owned, attached: vec![Vec::new(); passes.len()], bare: Vec::new(), order }
}

impl Case {
    fn bound(&self) -> (Bound, Vec<LiveId>) {
        let mut attached = Csr::<LiveId, ResourceId>::default();
        for row in &self.attached {
            row.iter().for_each(|&memory| attached.push(ResourceId::new(memory)));
            attached.end_row_sorted();
        }
        let bare = |pass: LiveId| self.bare.contains(&pass.index());
        let order: Vec<LiveId> = self.order.iter().map(|&pass| LiveId::new(pass)).collect();
        let mut scratch = Scratch::default();
        let orders = Orders { attached: &attached, bare: &bare };
        let found = bound(&self.owned.instance(), &order, orders, &mut scratch);
        assert_eq!(found.us(), found.critical_path_us.max(found.load_us));
        (found, scratch.path)
    }

    fn path_us(&self) -> f64 {
        self.bound().0.critical_path_us
    }

    fn load_us(&self) -> f64 {
        self.bound().0.load_us
    }
}

#[test]
fn a_chain_takes_its_passes_and_the_least_between_them() {
    let chain = |from, to| frame(&[(100.0, from, 1.0), (50.0, to, 1.0)], &[(0, 1)]);
    // A submit, 100, a barrier call, 50.
    let one_queue = chain(1, 1);
    assert_eq!(one_queue.bound(), (Bound { critical_path_us: 159.0, load_us: 157.0 }, ids([0, 1]).to_vec()));
    // The submit of a second batch is as good as a barrier call that takes longer.
    let mut slow = chain(1, 1);
    slow.owned.costs.barrier_us = 20.0;
    assert_eq!(slow.path_us(), 164.0);
    let cases = [
        ("both may run on queue 1", 0b11, 0b110, 159.0),
        ("on no queue in common: a hop and a submit", 0b11, 0b100, 7.0 + 100.0 + 17.0 + 50.0),
        ("to the host: a hop", 1, ON_HOST, 7.0 + 100.0 + 10.0 + 50.0),
        ("from the host, which submits nothing", ON_HOST, 1, 100.0 + 17.0 + 50.0),
        ("on the host", ON_HOST, ON_HOST, 150.0),
        ("both may run on the host, one also on a queue", ON_HOST, ON_HOST | 1, 150.0),
    ];
    for (what, from, to, expected) in cases {
        assert_eq!(chain(from, to).path_us(), expected, "{what}");
    }
}

#[test]
fn what_after_alone_orders_overlaps_on_one_queue() {
    let bare = |size, to, later: f32, bare: usize| {
        let mut frame = frame(&[(100.0, 1, size), (later, to, 1.0)], &[(0, 1)]);
        frame.bare.push(bare);
        frame
    };
    // The first leaves room after an eighth of its time: the second ends before the first does, or after.
    let short = bare(0.125, 1, 50.0, 0);
    assert_eq!((short.path_us(), short.bound().1), (107.0, ids([0]).to_vec()));
    let long = bare(0.125, 1, 95.0, 1);
    assert_eq!((long.path_us(), long.bound().1), (7.0 + 12.5 + 95.0, ids([0, 1]).to_vec()));
    // It fills next to nothing: a queue starts passes 0.5 µs apart, or by their time if that is less.
    assert_eq!(bare(NOTHING, 1, 100.0, 0).path_us(), 107.5);
    let mut shorter = bare(NOTHING, 1, 100.0, 0);
    shorter.owned.weight_us[LiveId::new(0)] = 0.25;
    assert_eq!(shorter.path_us(), 107.25);
    // On two queues it overlaps nothing.
    assert_eq!(bare(0.125, 2, 50.0, 0).path_us(), 7.0 + 100.0 + 17.0 + 50.0);
}

#[test]
fn passes_with_an_attachment_in_common_may_be_one_render_pass() {
    let rows: [(&[usize], &[usize], bool); 7] = [
        (&[3], &[3], true),
        (&[1, 3], &[2, 3], true),
        (&[2, 3], &[1, 3], true),
        (&[1, 2], &[3], false),
        (&[3], &[1, 2], false),
        (&[], &[1], false),
        (&[], &[], false),
    ];
    for (first, second, meet) in rows {
        let mut frame = frame(&[(100.0, 1, 0.5), (90.0, 1, 1.0)], &[(0, 1)]);
        frame.attached = vec![first.to_vec(), second.to_vec()];
        assert_eq!(frame.path_us(), if meet { 7.0 + 50.0 + 90.0 } else { 199.0 }, "{first:?}, {second:?}");
    }
}

#[test]
fn the_longest_of_several_paths_counts_and_the_first_of_equal_ones() {
    let edges = [(0, 1), (0, 2), (1, 3), (2, 3)];
    let diamond = |left, right| frame(&[(10.0, 1, 1.0), (left, 1, 1.0), (right, 1, 1.0), (10.0, 1, 1.0)], &edges);
    let path = |frame: &Case| (frame.path_us(), frame.bound().1);
    assert_eq!(path(&diamond(20.0, 30.0)), (7.0 + 10.0 + 2.0 + 30.0 + 2.0 + 10.0, ids([0, 2, 3]).to_vec()));
    assert_eq!(path(&diamond(30.0, 20.0)), (61.0, ids([0, 1, 3]).to_vec()));
    let mut equal = diamond(30.0, 30.0);
    assert_eq!(path(&equal), (61.0, ids([0, 1, 3]).to_vec()));
    equal.order = vec![0, 2, 1, 3];
    assert_eq!(path(&equal), (61.0, ids([0, 1, 3]).to_vec()));
    // Of passes side by side the path is the longest, and of equal ones the first in the order.
    let mut side = frame(&[(10.0, 1, 1.0), (30.0, 1, 1.0), (30.0, 1, 1.0)], &[]);
    assert_eq!(path(&side), (37.0, ids([1]).to_vec()));
    side.order = vec![0, 2, 1];
    assert_eq!(path(&side), (37.0, ids([2]).to_vec()));
}

#[test]
fn a_queue_is_busy_with_what_no_other_may_run() {
    let side = |passes: &[(f32, u32, f32)]| frame(passes, &[]).load_us();
    assert_eq!(frame(&[], &[]).bound(), (Bound::default(), Vec::new()));
    assert_eq!(side(&[(0.0, 1, 1.0)]), 0.0);
    assert_eq!(side(&[(10.0, 1, 1.0), (20.0, 1, 1.0), (30.0, 1, 1.0)]), 67.0);
    // Each leaves room after half of its time; the last ends no sooner than half of the shortest after that.
    assert_eq!(side(&[(10.0, 1, 0.5), (20.0, 1, 0.5), (30.0, 1, 0.5)]), 7.0 + 30.0 + 5.0);
    // Two queues share the device, which works 200 µs; passes that fill a quarter of it do not.
    assert_eq!(side(&[(100.0, 1, 1.0), (100.0, 2, 1.0)]), 200.0);
    assert_eq!(side(&[(100.0, 1, 0.25), (100.0, 2, 0.25)]), 7.0 + 25.0 + 75.0);
    // The host is no part of the device, and submits nothing.
    assert_eq!(side(&[(100.0, ON_HOST, 1.0), (10.0, 1, 1.0)]), 100.0);
    // What comes before and after on other queues: 100 and a hop, then a hop and 30.
    let between = [(100.0, 2, 1.0), (50.0, 1, 1.0), (30.0, 2, 1.0)];
    let found = frame(&between, &[(0, 1), (1, 2)]);
    assert_eq!(found.load_us(), 7.0 + 100.0 + 17.0 + 50.0 + 17.0 + 30.0);
}

#[test]
fn sets_of_queues_are_busy_together() {
    // Two passes of 0.5 µs on each pair of three queues, which start so far apart; they fill nothing of the device.
    let tiny = |queues| (0.5f32, queues, NOTHING);
    let pairs: Vec<_> = [0b011, 0b011, 0b110, 0b110, 0b101, 0b101].map(tiny).to_vec();
    let with = |more: &[u32]| {
        let passes: Vec<_> = pairs.iter().copied().chain(more.iter().map(|&queues| tiny(queues))).collect();
        frame(&passes, &[]).load_us()
    };
    assert_eq!(with(&[]), 7.0 + 3.0 / 3.0);
    // Up to six different sets every union of them counts; with a seventh one each by itself, and all together.
    assert_eq!(with(&[0b1000, 0b1_0000, 0b10_0000]), 8.0);
    assert_eq!(with(&[0b1000, 0b1_0000, 0b10_0000, 0b100_0000]), 7.0 + 5.0 / 7.0);
    assert_eq!(with(&[0b1000, 0b1000, 0b1_0000, 0b10_0000, 0b100_0000]), 8.0);
    assert_eq!(with(&[0b011, 0b011, 0b011, 0b011, 0b1000, 0b1_0000, 0b10_0000, 0b100_0000]), 7.0 + 6.0 * 0.5 / 2.0);
}
