//! The box tree against all orders of all small graphs.

use super::laws::any_instance;
use super::support::{self, Random, ids, layered};
use rgraph_plan::id::{Id, IdVec};
use rgraph_plan::inside::schedule::{BoxId, BoxKind, BoxTree, Cycle, Deps, LiveId};
use std::collections::BTreeMap;

const BUDGET: usize = 100_000;

/// All graphs of that many passes whose edges lead from smaller to larger ids.
fn graphs(passes: usize) -> impl Iterator<Item = Deps> {
    let pairs: Vec<(usize, usize)> = (0..passes).flat_map(|a| (a + 1..passes).map(move |b| (a, b))).collect();
    (0..1u32 << pairs.len()).map(move |choice| {
        let chosen = pairs.iter().enumerate().filter(|(i, _)| choice >> i & 1 != 0);
        support::deps(passes, &chosen.map(|(_, &pair)| pair).collect::<Vec<_>>())
    })
}

/// Orders of a graph, counted over sets of passes that have run.
fn orders(deps: &Deps) -> u128 {
    let n = deps.len();
    let mut ways = vec![0u128; 1 << n];
    ways[0] = 1;
    for set in 0..1usize << n {
        for pass in (0..n).filter(|pass| set >> pass & 1 == 0) {
            if deps.preds.row(LiveId::new(pass)).iter().all(|pred| set >> pred.index() & 1 != 0) {
                ways[set | 1 << pass] += ways[set];
            }
        }
    }
    ways[(1 << n) - 1]
}

fn assert_permissible(deps: &Deps, order: &[LiveId]) {
    let mut position = vec![usize::MAX; deps.len()];
    order.iter().enumerate().for_each(|(i, pass)| position[pass.index()] = i);
    assert_eq!(order.len(), deps.len());
    for pass in deps.passes() {
        assert!(position[pass.index()] < deps.len());
        assert!(deps.preds.row(pass).iter().all(|pred| position[pred.index()] < position[pass.index()]));
    }
}

/// Passes of each box.
fn members(tree: &BoxTree) -> IdVec<BoxId, Vec<LiveId>> {
    let mut members = IdVec::filled(Vec::new(), tree.len());
    for at in tree.ids().rev() {
        members[at] = match tree.kind(at) {
            BoxKind::Pass(pass) => vec![pass],
            _ => tree.children(at).iter().flat_map(|&child| members[child].clone()).collect(),
        };
    }
    members
}

/// Fails unless the tree is collapsed, its cardinalities add up and each box looks the same from every pass outside.
fn assert_tree(deps: &Deps, tree: &BoxTree) {
    let n = deps.len();
    let mut after = vec![vec![false; n]; n];
    for (pass, row) in after.iter_mut().enumerate() {
        deps.succs.row(LiveId::new(pass)).iter().for_each(|succ| row[succ.index()] = true);
    }
    for middle in 0..n {
        for a in 0..n {
            for b in 0..n {
                after[a][b] |= after[a][middle] && after[middle][b];
            }
        }
    }
    let relation = |a: LiveId, b: LiveId| (after[a.index()][b.index()], after[b.index()][a.index()]);
    let members = members(tree);
    assert_eq!(tree.passes(BoxTree::ROOT) as usize, n);
    for at in tree.ids() {
        let children = tree.children(at);
        assert_eq!(tree.passes(at) as usize, members[at].len());
        if let BoxKind::Pass(_) = tree.kind(at) {
            assert_eq!((children.len(), tree.passes(at)), (0, 1));
            continue;
        }
        assert!(children.len() >= if tree.kind(at) == BoxKind::Prime { 4 } else { 2 });
        assert_eq!(tree.passes(at), children.iter().map(|&child| tree.passes(child)).sum::<u32>());
        for &child in children {
            assert!(tree.kind(at) == BoxKind::Prime || tree.kind(child) != tree.kind(at), "not collapsed");
            let inside = &members[child];
            for outside in (0..n).map(LiveId::new).filter(|pass| !inside.contains(pass)) {
                assert!(inside.iter().all(|&pass| relation(outside, pass) == relation(outside, inside[0])));
            }
        }
        let heads: Vec<LiveId> = children.iter().map(|&child| members[child][0]).collect();
        for (i, &a) in heads.iter().enumerate() {
            for &b in &heads[i + 1..] {
                match tree.kind(at) {
                    BoxKind::Sequence => assert_eq!(relation(a, b), (true, false)),
                    BoxKind::Parallel => assert_eq!(relation(a, b), (false, false)),
                    _ => assert_ne!(relation(a, b), (false, true), "children of a prime box come in a possible order"),
                }
            }
        }
        if tree.kind(at) == BoxKind::Prime && heads.len() < 12 {
            // No set of children but one or all looks the same from every child outside it.
            for set in 1u32..(1 << heads.len()) - 1 {
                let inside: Vec<usize> = (0..heads.len()).filter(|i| set >> i & 1 != 0).collect();
                let alike = |out: usize| {
                    inside.iter().all(|&i| relation(heads[out], heads[i]) == relation(heads[out], heads[inside[0]]))
                };
                let module = (0..heads.len()).filter(|i| set >> i & 1 == 0).all(alike);
                assert!(inside.len() == 1 || !module, "a prime box can be taken apart");
            }
            let mut implied = vec![vec![false; heads.len()]; heads.len()];
            for &(a, b) in tree.quotient(at) {
                implied[a.index()][b.index()] = true;
            }
            for middle in 0..heads.len() {
                for a in 0..heads.len() {
                    for b in 0..heads.len() {
                        implied[a][b] |= implied[a][middle] && implied[middle][b];
                    }
                }
            }
            for (i, &a) in heads.iter().enumerate() {
                for (j, &b) in heads.iter().enumerate() {
                    assert_eq!(implied[i][j], relation(a, b).0);
                }
            }
        }
    }
}

#[test]
fn every_graph_of_up_to_six_passes_has_a_collapsed_tree_that_counts_its_orders() {
    for passes in 1..=6 {
        for deps in graphs(passes) {
            let tree = BoxTree::new(&deps).unwrap();
            assert_tree(&deps, &tree);
            assert_eq!(tree.count_orders(BUDGET), Some(orders(&deps)), "{deps:?}");
        }
    }
}

#[test]
fn random_graphs_have_collapsed_trees_that_count_their_orders() {
    let mut random = Random(21);
    for _ in 0..300 {
        let owned = any_instance(&mut random, 14);
        let tree = BoxTree::new(&owned.deps).unwrap();
        assert_tree(&owned.deps, &tree);
        assert_eq!(tree.count_orders(BUDGET), Some(orders(&owned.deps)));
    }
}

#[test]
fn samples_are_permissible_and_every_order_is_as_likely() {
    // An N beside a chain: prime within parallel.
    let deps = support::deps(6, &[(0, 2), (1, 2), (1, 3), (4, 5)]);
    let tree = BoxTree::new(&deps).unwrap();
    let count = tree.count_orders(BUDGET).unwrap();
    assert_eq!(count, 5 * 15);
    let rounds = 400 * count as u64;
    let mut seen: BTreeMap<Vec<LiveId>, u64> = BTreeMap::new();
    for seed in 0..rounds {
        let order = tree.sample(seed, BUDGET);
        assert_permissible(&deps, &order);
        *seen.entry(order).or_default() += 1;
    }
    assert_eq!(seen.len() as u128, count);
    // 400 expected each, standard deviation 20.
    assert!(seen.values().all(|times| (300..500).contains(times)), "{:?}", seen.values().collect::<Vec<_>>());
}

#[test]
fn prime_boxes_beyond_the_budget_are_sampled_all_the_same() {
    let owned = layered(256, 5);
    let tree = BoxTree::new(&owned.deps).unwrap();
    assert_eq!(tree.count_orders(100), None);
    for seed in 0..20 {
        assert_permissible(&owned.deps, &tree.sample(seed, 100));
    }
    assert_ne!(tree.sample(0, 100), tree.sample(1, 100));
}

#[test]
fn flattening_runs_the_heaviest_box_first_and_keeps_boxes_together() {
    // Two chains and a pass, side by side.
    let deps = support::deps(5, &[(0, 1), (2, 3)]);
    let tree = BoxTree::new(&deps).unwrap();
    let flattened = |weights: [f32; 5]| tree.flatten(&weights.into_iter().collect());
    assert_eq!(flattened([1.0, 2.0, 1.0, 9.0, 5.0]), ids([2, 3, 4, 0, 1]));
    assert_eq!(flattened([1.0; 5]), ids([0, 1, 2, 3, 4]));
    let mut random = Random(22);
    for _ in 0..100 {
        let owned = any_instance(&mut random, 40);
        let tree = BoxTree::new(&owned.deps).unwrap();
        assert_permissible(&owned.deps, &tree.flatten(&owned.weight_us));
    }
}

#[test]
fn a_chain_is_one_sequence_and_strangers_one_parallel_box() {
    let tree = |edges: &[(usize, usize)]| BoxTree::new(&support::deps(40, edges));
    let chain: Vec<(usize, usize)> = (1..40).map(|i| (i - 1, i)).collect();
    let made = tree(&chain).unwrap();
    assert_eq!(
        (made.kind(BoxTree::ROOT), made.children(BoxTree::ROOT).len(), made.count_orders(1)),
        (BoxKind::Sequence, 40, Some(1))
    );
    let made = tree(&[]).unwrap();
    assert_eq!((made.kind(BoxTree::ROOT), made.children(BoxTree::ROOT).len()), (BoxKind::Parallel, 40));
    assert_eq!(made.count_orders(1), None, "40! is more than a u128 counts");
    assert_eq!(tree(&[(3, 4), (4, 3)]), Err(Cycle(ids([3, 4]).to_vec())));
    let empty = BoxTree::new(&Deps::default()).unwrap();
    assert_eq!((empty.is_empty(), empty.count_orders(1), empty.sample(0, 1)), (true, Some(1), vec![]));
}
