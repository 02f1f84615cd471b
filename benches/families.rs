//! Generated frames, seeded: `chain` (each pass samples the one before), `fan` (half of the passes produce, a binary
//! tree of reductions follows), `layered` (each pass reads one to four of the 24 most recent targets; five sizes,
//! 20 % async compute, 30 % with depth, 10 % dead).

use rgraph_plan::prelude::*;
use rgraph_plan::resource::ResourceId;

/// A family and its name.
pub type Family = (&'static str, fn(usize) -> Graph);

/// All families.
pub const FAMILIES: [Family; 3] = [("chain", chain), ("fan", fan), ("layered", layered)];

/// Each of `n` passes samples what the one before drew.
pub fn chain(n: usize) -> Graph {
    let mut g = Graph::new("chain", [1280, 720]);
    let mut last = None;
    for i in 0..n {
        let target = g.image(&format!("t{i}"), Format::Rgba16float);
        let mut pass = g.pass(&format!("p{i}"), PassQueue::Graphics);
        if let Some(last) = last {
            pass = pass.sampled(last);
        }
        pass.color(target);
        last = Some(target);
    }
    g.root(last.expect("a chain has a pass"));
    g
}

/// n/2 producers and a binary tree that reduces them to one image.
pub fn fan(n: usize) -> Graph {
    let mut g = Graph::new("fan", [1024, 1024]);
    let mut level: Vec<ResourceId> = Vec::new();
    for i in 0..n / 2 {
        let target = g.image(&format!("leaf{i}"), Format::Rgba8unorm);
        g.pass(&format!("produce{i}"), PassQueue::Graphics).color(target);
        level.push(target);
    }
    let mut made = 0;
    while level.len() > 1 {
        let mut next = Vec::new();
        for pair in level.chunks(2) {
            let [a, b] = *pair else {
                next.push(pair[0]);
                continue;
            };
            let target = g.image(&format!("node{made}"), Format::Rgba8unorm);
            g.pass(&format!("reduce{made}"), PassQueue::Graphics).sampled(a).sampled(b).color(target);
            made += 1;
            next.push(target);
        }
        level = next;
    }
    g.root(level[0]);
    g
}

/// A frame as real ones are shaped.
pub fn layered(n: usize) -> Graph {
    let mut g = Graph::new("layered", [1920, 1080]);
    let mut seed = 0x5eed_0000_0000_0000 + n as u64;
    let mut random = move |below: u64| {
        // splitmix64 (Steele, Lea, Flood 2014).
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % below
    };
    let scales = [1.0, 0.5, 0.25, 0.125, 0.75];
    let mut recent: Vec<ResourceId> = Vec::new();
    let mut last = None;
    for i in 0..n {
        let scale = scales[random(5) as usize];
        let target = g.sized_image(&format!("t{i}"), Format::Rgba8unorm, Size::scaled(None, scale, scale));
        let compute = random(100) < 20;
        let depth = !compute && random(100) < 30;
        let dead = random(100) < 10 && i + 1 < n;
        let depth =
            depth.then(|| g.sized_image(&format!("d{i}"), Format::Depth32float, Size::scaled(None, scale, scale)));
        let mut reads: Vec<ResourceId> = Vec::new();
        if !recent.is_empty() {
            for _ in 0..1 + random(4) {
                let window = recent.len().min(24);
                let read = recent[recent.len() - 1 - random(window as u64) as usize];
                if !reads.contains(&read) {
                    reads.push(read);
                }
            }
        }
        let queue = if compute { PassQueue::AsyncCompute } else { PassQueue::Graphics };
        let mut pass = g.pass(&format!("p{i}"), queue);
        for read in reads {
            pass = pass.sampled(read);
        }
        if compute {
            pass.storage_write(target);
        } else {
            let pass = pass.color(target);
            if let Some(depth) = depth {
                pass.depth_cleared(depth, 1.0);
            }
        }
        if !dead {
            recent.push(target);
        }
        last = Some(target);
    }
    g.root(last.expect("a frame has a pass"));
    g
}
