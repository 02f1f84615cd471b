//! The modelled frame is the one that the plan's batches play.

use rgraph_check::generate::{Limits, generate};
use rgraph_plan::bake::{Options, Scratch, bake};
use rgraph_plan::plan::{Command, Plan};

/// Plays the batches of a plan: each starts once its queue is free and its waits are met; returns the end of the last.
fn played(plan: &Plan, cross_queue_us: f64) -> f64 {
    let mut free = std::collections::HashMap::new();
    let mut signals = std::collections::HashMap::new();
    let mut end = 0.0f64;
    for batch in &plan.batches {
        let mut now: f64 = free.get(&batch.queue).copied().unwrap_or(0.0);
        for wait in plan.waits[batch.waits.range()].iter().filter(|wait| !wait.previous_run) {
            let signal: f64 = signals[&(wait.queue, wait.value)];
            now = now.max(signal + cross_queue_us);
        }
        for command in &plan.commands[batch.commands.range()] {
            if let Command::Pass { pass, .. } = command {
                let why = plan.passes[*pass].why;
                assert_eq!(why.start_us, now as f32, "'{}' starts as its batch plays", plan.pass_name(*pass));
                now += f64::from(why.duration_us);
            }
        }
        free.insert(batch.queue, now);
        if let Some(value) = batch.signal {
            signals.insert((batch.queue, value), now);
        }
        end = end.max(now);
    }
    end
}

#[test]
fn playing_the_batches_takes_as_long_as_the_modelled_frame() {
    let mut scratch = Scratch::default();
    let mut waits = 0;
    for seed in 0..400 {
        let (graph, profile) = generate(seed, Limits::default());
        let Ok(plan) = bake(&graph, &profile, &Options::default(), &mut scratch) else { continue };
        assert_eq!(played(&plan, profile.cross_queue_us), plan.report.frame_us, "seed {seed}");
        waits += plan.waits.len();
    }
    assert!(waits > 400, "the graphs use several queues");
}
