//! Generated frames as lifetimes, and lifetimes made by others.

use std::path::PathBuf;

use rgraph_plan::inside::alias::place::Item;

use super::checker::Random;

const MIB: u64 = 1 << 20;

/// `(first, last, size)` of each target from the passes' reads, dead passes left out if `cull`.
fn lifetimes(reads: &[Vec<usize>], sizes: &[u64], cull: bool) -> Vec<Item> {
    let n = reads.len();
    let mut needed = vec![!cull; n];
    needed[n - 1] = true;
    for pass in (0..n).rev() {
        if needed[pass] {
            reads[pass].iter().for_each(|&read| needed[read] = true);
        }
    }
    let mut position = vec![0; n];
    let mut next = 0;
    for pass in 0..n {
        position[pass] = next;
        next += u32::from(needed[pass]);
    }
    let mut last = position.clone();
    for pass in (0..n).filter(|&p| needed[p]) {
        reads[pass].iter().for_each(|&read| last[read] = position[pass]);
    }
    (0..n)
        .filter(|&p| needed[p])
        .map(|p| Item { size: sizes[p], align: 65536, first: position[p], last: last[p] })
        .collect()
}

/// Each pass samples the one before.
pub fn chain(n: usize) -> Vec<Item> {
    let reads: Vec<_> = (0..n).map(|p| if p == 0 { vec![] } else { vec![p - 1] }).collect();
    lifetimes(&reads, &vec![7 * MIB; n], false)
}

/// n / 2 producers, then a binary tree of reductions.
pub fn fan(n: usize) -> Vec<Item> {
    let leaves = n / 2;
    let mut reads: Vec<Vec<usize>> = vec![vec![]; leaves];
    let mut level: Vec<usize> = (0..leaves).collect();
    while level.len() > 1 {
        let mut above = Vec::new();
        for pair in level.chunks(2) {
            if let [a, b] = *pair {
                above.push(reads.len());
                reads.push(vec![a, b]);
            } else {
                above.push(pair[0]);
            }
        }
        level = above;
    }
    let sizes = vec![4 * MIB; reads.len()];
    lifetimes(&reads, &sizes, false)
}

/// Each pass reads 1 to 4 of the 24 most recent targets; five sizes; what the last target does not need is dead.
pub fn layered(n: usize, seed: u64, cull: bool) -> Vec<Item> {
    let mut random = Random(seed);
    let sizes: Vec<u64> = [(1920, 1080, 8), (1920, 1080, 4), (960, 540, 8), (2048, 2048, 4), (480, 270, 8)]
        .map(|(w, h, texel): (u64, u64, u64)| (w * h * texel).next_multiple_of(65536))
        .to_vec();
    let reads: Vec<Vec<usize>> = (0..n)
        .map(|p| {
            let recent = p.min(24) as u64;
            let count = if p == 0 { 0 } else { random.range(1, 4).min(recent) };
            (0..count).map(|_| p - 1 - random.below(recent) as usize).collect()
        })
        .collect();
    let sizes: Vec<u64> = (0..n).map(|_| sizes[random.below(5) as usize]).collect();
    lifetimes(&reads, &sizes, cull)
}

/// Small random cases with ties in time and mixed alignments.
pub fn random(random: &mut Random, n: usize, positions: u64, sizes: u64, aligns: u32) -> Vec<Item> {
    (0..n)
        .map(|_| {
            let (a, b) = (random.below(positions) as u32, random.below(positions) as u32);
            let align = 1 << random.below(u64::from(aligns) + 1);
            Item { size: random.range(1, sizes), align, first: a.min(b), last: a.max(b) }
        })
        .collect()
}

/// Lifetimes of a CSV of the shared data, `None` (with the reason on standard error) where it is not there.
pub fn shared(file: &str) -> Option<Vec<Item>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let found = root.ancestors().map(|a| a.join("shared/data").join(file)).find(|path| path.is_file());
    let Some(path) = found else {
        eprintln!("skipped: no shared/data/{file} beside the repository");
        return None;
    };
    let text = std::fs::read_to_string(path).unwrap();
    let mut items = Vec::new();
    for line in text.lines().skip(1).filter(|line| !line.trim().is_empty()) {
        let field: Vec<u64> = line.split(',').map(|f| f.trim().parse().unwrap()).collect();
        items.push(Item { size: field[3], align: 1, first: field[1] as u32, last: field[2] as u32 - 1 });
    }
    Some(items)
}

/// The instances that minimalloc calls challenging.
pub fn hard() -> Vec<(char, Vec<Item>)> {
    ('A'..='K').filter_map(|name| Some((name, shared(&format!("minimalloc/{name}.1048576.csv"))?))).collect()
}
