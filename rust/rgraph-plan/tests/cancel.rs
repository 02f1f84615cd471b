//! Baking can be given up at any moment, and is the same bake where it is not.

use std::cell::Cell;
use std::time::{Duration, Instant};

use rgraph_plan::cancel::{Cancelled, cancellable};
use rgraph_plan::prelude::*;

thread_local! {
    static END: Cell<Option<Instant>> = const { Cell::new(None) };
    static ASKED: Cell<u32> = const { Cell::new(0) };
}

/// Passes that each write an image and read two earlier ones, on several queues.
fn layered(passes: usize) -> Graph {
    let mut g = Graph::new("layered", [64, 64]);
    let images: Vec<_> = (0..passes)
        .map(|at| {
            let scale = [1.0, 3.0, 0.5, 2.0, 5.0][at % 5];
            g.sized_image(&format!("i{at}"), Format::Rgba8unorm, Size::scaled(None, scale, scale))
        })
        .collect();
    for at in 0..passes {
        let queue = if at % 3 == 0 { PassQueue::AsyncCompute } else { PassQueue::Graphics };
        let mut pass = g.pass(&format!("p{at}"), queue);
        for back in [1, 7] {
            if at >= back {
                pass = pass.sampled(images[at - back]);
            }
        }
        if at % 3 == 0 {
            pass.storage_write(images[at])
        } else {
            pass.color(images[at])
        };
    }
    g.root(images[passes - 1]);
    g
}

/// Says so when asked after the given time.
fn enough() -> bool {
    END.get().is_some_and(|end| Instant::now() > end)
}

fn never() -> bool {
    ASKED.set(ASKED.get() + 1);
    false
}

#[test]
fn a_bake_is_given_up_in_every_search() {
    for (passes, effort, policy) in [
        (120, 1_000_000, "auto"),
        (120, 1_000_000, "overlap"),
        (120, 1_000_000, "weighted"),
        (60, u32::MAX, "exact"),
        (20_000, 1, "auto"),
    ] {
        let g = layered(passes);
        let options = Options { effort, policy: named(policy, effort), ..Options::default() };
        let begin = Instant::now();
        END.set(Some(begin + Duration::from_millis(50)));
        let baked = cancellable(enough, || bake(&g, &Profile::discrete(), &options, &mut Scratch::default()));
        assert_eq!(baked.err(), Some(Cancelled), "{passes} passes, {policy}: over in {:?}", begin.elapsed());
        // Unoptimised, and while other tests run, a stage takes many times as long.
        assert!(begin.elapsed() < Duration::from_secs(2), "{passes} passes, {policy}: {:?}", begin.elapsed());
    }
}

fn named(policy: &str, effort: u32) -> Policy {
    match Policy::from_name(policy) {
        Some(Policy::Exact { .. }) => Policy::Exact { nodes: effort },
        known => known.expect("a name of a policy"),
    }
}

#[test]
fn a_bake_that_is_not_given_up_is_the_same() {
    for policy in ["auto", "declared", "overlap", "weighted"] {
        let g = layered(300);
        let options = Options { policy: named(policy, 1), ..Options::default() };
        let plain = bake(&g, &Profile::discrete(), &options, &mut Scratch::default()).unwrap();
        let asked = cancellable(never, || bake(&g, &Profile::discrete(), &options, &mut Scratch::default()));
        assert!(ASKED.get() > 10, "{policy}: asked {} times", ASKED.get());
        assert!(plain == asked.unwrap().unwrap(), "{policy}");
    }
}
