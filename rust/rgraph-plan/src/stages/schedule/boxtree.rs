//! A tree of boxes that represents all permitted orders of the passes.
//!
//! The children of a *sequence* box run one after the other, those of a *parallel* box in any order, also interleaved.
//! A *prime* box cannot be decomposed further: a partial order of its children that is neither. The tree is n-ary and
//! collapsed: no sequence is the child of a sequence, no parallel box that of a parallel one, no box has one child.
//!
//! ```text
//!   a ─→ b ─┐                       sequence
//!           ├─→ e          is       ├ parallel
//!   c ─→ d ─┘                       │ ├ sequence a b
//!                                   │ └ sequence c d
//!                                   └ e
//! ```
//!
//! # Source
//! Boxes, their weights and flattening: Jeremy Ong's articles on render graphs. The decomposition: Möhring &
//! Radermacher, "Substitution decomposition for discrete structures", Annals of Discrete Mathematics 19 (1984); its
//! refinement step: Ehrenfeucht, Gabow, McConnell & Sullivan, "An O(n²) divide-and-conquer algorithm for the prime
//! tree decomposition", J. Algorithms 16 (1994); Habib & Paul, "A survey of the algorithmic aspects of modular
//! decomposition" (2010).

use crate::stages::ids::LiveId;
use std::collections::BTreeMap;

use super::bits::{Bits, Reach};
use super::deps::{Cycle, Deps, Topology, topological};
use super::subsets::mix;
use crate::id::{Id, IdVec};

crate::id! {
    /// A box of a [`BoxTree`].
    pub struct BoxId;
    /// A child of a box: its position among [`BoxTree::children`].
    pub struct ChildId;
    /// A class of passes: each pass looked at so far comes before all of them, after all, or neither.
    struct ClassId;
}

/// How the passes of a box may be ordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BoxKind {
    Pass(LiveId),
    /// Runs its children one after the other.
    Sequence,
    /// Runs its children in any order, also interleaved.
    Parallel,
    /// Runs its children in any order that [`BoxTree::quotient`] permits, also interleaved.
    Prime,
}

/// A box of a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Node {
    kind: BoxKind,
    /// All greater than the box's own id.
    children: IdVec<ChildId, BoxId>,
    /// Only for a prime box: the transitive reduction of the order of its children. All passes of the first come before
    /// all of the second.
    quotient: Vec<(ChildId, ChildId)>,
    passes: u32,
}

/// All permitted orders of the passes of an instance. The first box is the root; children have greater ids than
/// parents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BoxTree {
    boxes: IdVec<BoxId, Node>,
}

impl BoxTree {
    /// The root, unless there is no pass.
    pub const ROOT: BoxId = BoxId(crate::id::NonMax::ZERO);

    /// Decomposes the dependencies.
    ///
    /// Time: O(passes³ / 64) in a prime box at worst, near O(passes²) in practice, O(passes² / 64) in other boxes.
    /// Memory: O(passes²) bits. Meant for inspecting a graph, too slow for every bake.
    ///
    /// # Errors
    /// A [`Cycle`] if the dependencies have one.
    pub fn new(deps: &Deps) -> Result<Self, Cycle> {
        let mut topology = Topology::default();
        topological(deps, &mut topology)?;
        let reach = Reach::new(deps, &topology.order);
        let mut tree = Self { boxes: IdVec::new() };
        let mut work = Vec::new();
        if !deps.is_empty() {
            work.push((tree.boxes.push(Node::default()), Bits::full(deps.len())));
        }
        while let Some((at, set)) = work.pop() {
            crate::cancel::poll();
            let (kind, parts) = split(&reach, &set);
            let mut node = Node { kind, passes: set.count(), ..Node::default() };
            if kind == BoxKind::Prime {
                node.quotient = covers(&reach, &parts);
            }
            for part in parts {
                let child = tree.boxes.push(Node::default());
                node.children.push(child);
                work.push((child, part));
            }
            tree.boxes[at] = node;
        }
        Ok(tree)
    }

    /// Number of boxes, passes included.
    pub fn len(&self) -> usize {
        self.boxes.len()
    }

    /// Whether there is no pass.
    pub fn is_empty(&self) -> bool {
        self.boxes.is_empty()
    }

    /// All boxes.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = BoxId> + use<> {
        self.boxes.ids()
    }

    /// The kind of a box.
    ///
    /// # Panics
    /// If there is no such box, as the methods below.
    pub fn kind(&self, at: BoxId) -> BoxKind {
        self.boxes[at].kind
    }

    /// The children of a box: in order for a sequence, in a permitted order for a prime box, by smallest pass for a
    /// parallel one.
    pub fn children(&self, at: BoxId) -> &IdVec<ChildId, BoxId> {
        &self.boxes[at].children
    }

    /// The transitive reduction of the order of a prime box's children, the earlier one first; empty for other boxes.
    pub fn quotient(&self, at: BoxId) -> &[(ChildId, ChildId)] {
        &self.boxes[at].quotient
    }

    /// Number of passes in the box.
    pub fn passes(&self, at: BoxId) -> u32 {
        self.boxes[at].passes
    }

    /// Number of passes in each child of a box.
    fn sizes(&self, at: BoxId) -> IdVec<ChildId, u32> {
        self.children(at).iter().map(|&child| self.passes(child)).collect()
    }

    /// Number of orders; `None` if it exceeds a `u128`, or if some prime box has more than `budget` down-sets.
    ///
    /// The counts of children multiply. A parallel box multiplies by the number of interleavings. In a prime box each
    /// child counts as a chain, because passes outside are ordered alike to all passes inside; the interleavings are
    /// counted over down-sets (sets of passes that contain all their predecessors). O(boxes + down-sets · children).
    pub fn count_orders(&self, budget: usize) -> Option<u128> {
        let mut count = 1u128;
        for (at, node) in self.boxes.iter_ids() {
            count = count.checked_mul(match node.kind {
                BoxKind::Pass(_) | BoxKind::Sequence => 1,
                BoxKind::Parallel => interleavings(node.children.iter().map(|&child| self.passes(child)))?,
                BoxKind::Prime => Words::new(self, at, budget)?.count(),
            })?;
        }
        Some(count)
    }

    /// A random permitted order, a function of the seed. Uniform if [`count_orders`](Self::count_orders) returns a
    /// number for the same budget. O(passes · depth of the tree), plus the cost of counting.
    pub fn sample(&self, seed: u64, budget: usize) -> Vec<LiveId> {
        let mut random = Random(seed);
        self.assemble(|at, picks| {
            let sizes = self.sizes(at);
            match self.kind(at) {
                BoxKind::Pass(_) | BoxKind::Sequence => in_turn(&sizes, picks),
                BoxKind::Parallel => {
                    let mut left = sizes;
                    let mut sum: u32 = left.iter().sum();
                    while sum > 0 {
                        // The interleaving is uniform if each child is next with a probability proportional to the
                        // number of passes that it has left.
                        let mut pick = random.below(u128::from(sum)) as u32;
                        let child = left.ids().find(|&child| match pick.checked_sub(left[child]) {
                            Some(rest) => {
                                pick = rest;
                                false
                            }
                            None => true,
                        });
                        let child = child.expect("a number below the sum falls to one of the terms");
                        left[child] -= 1;
                        sum -= 1;
                        picks.push(child);
                    }
                }
                BoxKind::Prime => match Words::new(self, at, budget) {
                    Some(words) => words.sample(&mut random, picks),
                    None => {
                        let mut state = vec![0; sizes.len()];
                        let before = self.before(at);
                        while state != sizes.as_slice() {
                            let open: Vec<ChildId> = open_children(&sizes, &before, &state).collect();
                            let child = open[random.below(open.len() as u128) as usize];
                            state[child.index()] += 1;
                            picks.push(child);
                        }
                    }
                },
            }
        })
    }

    /// An order in which the passes of each box are neighbours. Among the children that may run next, the one with the
    /// greatest sum of weights comes first, on ties the one with the smallest pass. O(passes · depth of the tree +
    /// children²).
    ///
    /// # Panics
    /// If a pass has no weight.
    pub fn flatten(&self, weight: &IdVec<LiveId, f32>) -> Vec<LiveId> {
        // By box: the sum of its weights, and its smallest pass.
        let mut weights = IdVec::<BoxId, (f64, Option<LiveId>)>::filled((0.0, None), self.len());
        for at in self.ids().rev() {
            weights[at] = match self.kind(at) {
                BoxKind::Pass(pass) => (f64::from(weight[pass]), Some(pass)),
                _ => self.children(at).iter().fold((0.0, None), |(sum, least), &child| {
                    let child = weights[child];
                    (sum + child.0, least.into_iter().chain(child.1).min())
                }),
            };
        }
        self.assemble(|at, picks| {
            let (children, sizes) = (self.children(at), self.sizes(at));
            if matches!(self.kind(at), BoxKind::Pass(_) | BoxKind::Sequence) {
                return in_turn(&sizes, picks);
            }
            let before = self.before(at);
            let mut state = vec![0; sizes.len()];
            while state != sizes.as_slice() {
                let heaviest = open_children(&sizes, &before, &state).min_by(|&a, &b| {
                    let (a, b) = (weights[children[a]], weights[children[b]]);
                    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
                });
                let child = heaviest.expect("a box without cycles has a child to go on with");
                state[child.index()] = sizes[child];
                picks.extend((0..sizes[child]).map(|_| child));
            }
        })
    }

    /// Assembles an order from the leaves up: `pick` lists for each box, pass by pass, the child that the next pass is
    /// taken from.
    fn assemble(&self, mut pick: impl FnMut(BoxId, &mut Vec<ChildId>)) -> Vec<LiveId> {
        let mut lists = IdVec::<BoxId, Vec<LiveId>>::filled(Vec::new(), self.len());
        let mut picks = Vec::new();
        let mut taken = IdVec::<ChildId, usize>::new();
        for at in self.ids().rev() {
            lists[at] = match self.kind(at) {
                BoxKind::Pass(pass) => vec![pass],
                _ => {
                    picks.clear();
                    pick(at, &mut picks);
                    let children = self.children(at);
                    taken.refill(0, children.len());
                    let next = |&child: &ChildId| {
                        let position = taken[child];
                        taken[child] += 1;
                        lists[children[child]][position]
                    };
                    picks.iter().map(next).collect()
                }
            };
            for &child in self.children(at) {
                lists[child] = Vec::new();
            }
        }
        lists.get_mut(Self::ROOT).map(std::mem::take).unwrap_or_default()
    }

    /// By child of a prime box: its direct predecessors among the children; empty lists for other boxes.
    fn before(&self, at: BoxId) -> IdVec<ChildId, Vec<ChildId>> {
        let mut before = IdVec::filled(Vec::new(), self.children(at).len());
        for &(earlier, later) in self.quotient(at) {
            before[later].push(earlier);
        }
        before
    }
}

impl Default for Node {
    fn default() -> Self {
        Self { kind: BoxKind::Sequence, children: IdVec::new(), quotient: Vec::new(), passes: 0 }
    }
}

/// Decomposes one box: its kind, and its parts in order.
fn split(reach: &Reach, set: &Bits) -> (BoxKind, Vec<Bits>) {
    if set.count() == 1 {
        return (BoxKind::Pass(set.first()), Vec::new());
    }
    let parallel = components(set, |pass, into| reach.related(pass, into));
    if parallel.len() > 1 {
        return (BoxKind::Parallel, parallel);
    }
    let mut sequence = components(set, |pass, into| reach.unrelated(pass, into));
    if sequence.len() > 1 {
        // Each part comes wholly before or after each other one, so the number of passes before a part orders them.
        sequence.sort_by_key(|part| reach.before(part.first()).count_common(set));
        return (BoxKind::Sequence, sequence);
    }
    (BoxKind::Prime, modules(reach, set))
}

/// Connected parts of a set, by smallest pass. `neighbours` overwrites bits with the neighbours of a pass.
fn components(set: &Bits, neighbours: impl Fn(LiveId, &mut Bits)) -> Vec<Bits> {
    let mut left = set.clone();
    let mut row = set.clone();
    let mut parts = Vec::new();
    while !left.is_empty() {
        let mut part = Bits::empty_like(set);
        let mut work = vec![left.first()];
        left.remove(left.first());
        while let Some(pass) = work.pop() {
            crate::cancel::poll();
            part.insert(pass);
            neighbours(pass, &mut row);
            row.keep(&left);
            left.remove_all(&row);
            work.extend(row.iter());
        }
        parts.push(part);
    }
    parts
}

/// The largest proper modules of a set that is neither parallel nor a sequence, in an order in which they may run.
/// A pass outside a module comes before all of its passes, after all, or neither.
fn modules(reach: &Reach, set: &Bits) -> Vec<Bits> {
    let pivot = set.first();
    let classes = classes_without(reach, set, pivot);
    // A module that contains the pivot and a pass must contain every pass that distinguishes the two, and so on. The
    // largest proper module with the pivot is the pivot with all classes from which this closure does not reach all.
    let mut heads = Bits::empty_like(set);
    classes.iter().for_each(|class| heads.insert(class.first()));
    let mut own = Bits::empty_like(set);
    let mut row = Bits::empty_like(set);
    let mut whole = Bits::empty_like(set);
    for head in heads.iter() {
        if own.contains(head) {
            continue;
        }
        let mut left = heads.clone();
        left.remove(head);
        let mut spread = vec![head];
        let mut next = 0;
        while let Some(&from) = spread.get(next) {
            next += 1;
            reach.distinguishing(from, pivot, &mut row);
            if row.count_common(&whole) > 0 {
                // The closure of a class in `whole` is everything.
                left = Bits::empty_like(set);
                break;
            }
            row.keep(&left);
            left.remove_all(&row);
            spread.extend(row.iter());
        }
        if left.is_empty() {
            whole.insert(head);
        } else {
            spread.iter().for_each(|&head| own.insert(head));
        }
    }
    let mut pivots = Bits::empty_like(set);
    pivots.insert(pivot);
    let mut parts = Vec::new();
    for class in classes {
        if own.contains(class.first()) {
            pivots.insert_all(&class);
        } else {
            parts.push(class);
        }
    }
    parts.push(pivots);
    parts.sort_by_key(|part| (reach.before(part.first()).count_common(set), part.first()));
    parts
}

/// The largest modules of a set that do not contain the pivot. Refines classes: a pass that comes before (or after) a
/// part of a class that it is not in splits that class, until no pass splits any.
fn classes_without(reach: &Reach, set: &Bits, pivot: LiveId) -> Vec<Bits> {
    let top = set.iter().last().map_or(0, |last| last.index() + 1);
    let (alone, others) = (ClassId::new(0), ClassId::new(1));
    let mut class_of: IdVec<LiveId, ClassId> = IdVec::filled(others, top);
    class_of[pivot] = alone;
    let mut sizes: IdVec<ClassId, u32> = [1, set.count() - 1].into_iter().collect();
    // By class: the number of its passes that come after (or before) the current pass, and the class that they become.
    let mut met: IdVec<ClassId, u32> = IdVec::filled(0, 2);
    let mut becomes: IdVec<ClassId, Option<ClassId>> = IdVec::filled(None, 2);
    let mut met_classes = Vec::new();
    let mut changed = true;
    while changed {
        changed = false;
        for pass in set.iter() {
            crate::cancel::poll();
            for side in [reach.after(pass), reach.before(pass)] {
                for other in side.iter_common(set) {
                    let class = class_of[other];
                    if met[class] == 0 {
                        met_classes.push(class);
                    }
                    met[class] += 1;
                }
                for &class in &met_classes {
                    if met[class] < sizes[class] && class != class_of[pass] {
                        sizes[class] -= met[class];
                        becomes[class] = Some(sizes.push(met[class]));
                        met.push(0);
                        becomes.push(None);
                        changed = true;
                    }
                }
                for other in side.iter_common(set) {
                    let class = &mut class_of[other];
                    *class = becomes[*class].unwrap_or(*class);
                }
                for class in met_classes.drain(..) {
                    met[class] = 0;
                    becomes[class] = None;
                }
            }
        }
    }
    let mut classes: IdVec<ClassId, Bits> = IdVec::filled(Bits::empty_like(set), sizes.len());
    for pass in set.iter().filter(|&pass| pass != pivot) {
        classes[class_of[pass]].insert(pass);
    }
    classes.as_vec_mut().split_off(1)
}

/// The transitive reduction of the order of the parts, each a child of the box; the earlier one first.
fn covers(reach: &Reach, parts: &[Bits]) -> Vec<(ChildId, ChildId)> {
    let Some(any) = parts.first() else { return Vec::new() };
    let mut heads = Bits::empty_like(any);
    parts.iter().for_each(|part| heads.insert(part.first()));
    let children = || parts.iter().enumerate().map(|(at, part)| (ChildId::new(at), part.first()));
    let child_of: BTreeMap<LiveId, ChildId> = children().map(|(child, first)| (first, child)).collect();
    let mut pairs = Vec::new();
    for (child, first) in children() {
        let mut after = reach.after(first).clone();
        after.keep(&heads);
        let mut next = after.clone();
        after.iter().for_each(|between| next.remove_all(reach.after(between)));
        pairs.extend(next.iter().map(|later| (child, child_of[&later])));
    }
    pairs.sort_unstable();
    pairs
}

/// Number of interleavings of lists of these lengths; `None` if it exceeds a `u128`.
fn interleavings(sizes: impl Iterator<Item = u32>) -> Option<u128> {
    let mut sum = 0u128;
    let mut ways = 1u128;
    for size in sizes {
        // Multiplies by (sum + 1)…(sum + size) / size!, one factor at a time; each intermediate result is a binomial
        // coefficient, so the division leaves no rest.
        let mut choose = 1u128;
        for i in 1..=u128::from(size) {
            sum += 1;
            let common = gcd(choose, i);
            let rest = i / common;
            choose = (choose / common).checked_mul(sum / gcd(sum, rest))?;
            choose /= rest / gcd(sum, rest);
        }
        ways = ways.checked_mul(choose)?;
    }
    Some(ways)
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn in_turn(sizes: &IdVec<ChildId, u32>, picks: &mut Vec<ChildId>) {
    picks.extend(sizes.iter_ids().flat_map(|(child, &size)| (0..size).map(move |_| child)));
}

/// Children that have passes left and whose predecessors have none left. `state`: how many passes of each child ran.
fn open_children<'a>(
    sizes: &'a IdVec<ChildId, u32>,
    before: &'a IdVec<ChildId, Vec<ChildId>>,
    state: &'a [u32],
) -> impl Iterator<Item = ChildId> + 'a {
    let full = |&child: &ChildId| state[child.index()] == sizes[child];
    sizes.ids().filter(move |&child| state[child.index()] < sizes[child] && before[child].iter().all(full))
}

/// The orders of a prime box: for each down-set, given as the number of passes of each child, the number of ways to
/// complete it.
struct Words {
    sizes: IdVec<ChildId, u32>,
    before: IdVec<ChildId, Vec<ChildId>>,
    ways: BTreeMap<Vec<u32>, u128>,
}

impl Words {
    /// `None` if there are more than `budget` down-sets, or more ways than a `u128` counts.
    fn new(tree: &BoxTree, at: BoxId, budget: usize) -> Option<Self> {
        let (sizes, before) = (tree.sizes(at), tree.before(at));
        let mut layers = vec![vec![vec![0; sizes.len()]]];
        let mut known = 1;
        for _ in 0..tree.passes(at) {
            let mut layer = Vec::new();
            for state in &layers[layers.len() - 1] {
                crate::cancel::poll();
                for child in open_children(&sizes, &before, state) {
                    let mut next = state.clone();
                    next[child.index()] += 1;
                    layer.push(next);
                }
                if layer.len() > budget.saturating_mul(sizes.len()) {
                    return None;
                }
            }
            layer.sort_unstable();
            layer.dedup();
            known += layer.len();
            if known > budget {
                return None;
            }
            layers.push(layer);
        }
        let mut ways = BTreeMap::from([(sizes.as_slice().to_vec(), 1u128)]);
        for layer in layers.into_iter().rev().skip(1) {
            for mut state in layer {
                let mut sum = 0u128;
                for child in open_children(&sizes, &before, &state).collect::<Vec<_>>() {
                    state[child.index()] += 1;
                    sum = sum.checked_add(ways[&state])?;
                    state[child.index()] -= 1;
                }
                ways.insert(state, sum);
            }
        }
        Some(Self { sizes, before, ways })
    }

    fn count(&self) -> u128 {
        self.ways[&vec![0; self.sizes.len()]]
    }

    fn sample(&self, random: &mut Random, picks: &mut Vec<ChildId>) {
        let mut state = vec![0; self.sizes.len()];
        while state != self.sizes.as_slice() {
            crate::cancel::poll();
            let mut pick = random.below(self.ways[&state]);
            for child in open_children(&self.sizes, &self.before, &state).collect::<Vec<_>>() {
                state[child.index()] += 1;
                let ways = self.ways[&state];
                if pick < ways {
                    picks.push(child);
                    break;
                }
                pick -= ways;
                state[child.index()] -= 1;
            }
        }
    }
}

/// A deterministic random source.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// Uniform below a bound above 0.
    fn below(&mut self, bound: u128) -> u128 {
        // Numbers from the last, incomplete multiple of `bound` on would favour small results.
        let whole = u128::MAX - u128::MAX % bound;
        loop {
            let number = u128::from(self.next()) << 64 | u128::from(self.next());
            if number < whole {
                return number % bound;
            }
        }
    }
}
