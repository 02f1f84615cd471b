//! The modelled frame is the one that the plan's batches play.

use rgraph_check::generate::{Limits, generate};
use rgraph_plan::bake::{Options, Scratch, bake};
use rgraph_plan::plan::{Command, Plan};
use rgraph_plan::profile::Profile;

/// Plays the batches of a plan: each starts once its queue is free and its waits are met, and its passes take their
/// share of the time between two barrier calls; returns the end of the last.
fn played(plan: &Plan, profile: &Profile) -> f64 {
    let mut free = std::collections::HashMap::new();
    let mut signals = std::collections::HashMap::new();
    let mut end = 0.0f64;
    for batch in &plan.batches {
        let mut now: f64 = free.get(&batch.queue).copied().unwrap_or(0.0);
        for wait in plan.waits[batch.waits.range()].iter().filter(|wait| !wait.previous_run) {
            let signal: f64 = signals[&(wait.queue, wait.value)];
            now = now.max(signal + profile.cross_queue_us);
        }
        let (submit_us, barrier_us) = batch.queue.map_or((0.0, 0.0), |_| (profile.submit_us, profile.barrier_us));
        now += submit_us;
        let mut inside = false;
        for command in &plan.commands[batch.commands.range()] {
            match command {
                Command::BeginRendering { .. } => inside = true,
                Command::EndRendering => inside = false,
                Command::Barriers(_) | Command::WaitEvents(..) if !inside => now += barrier_us,
                Command::Pass { pass, .. } => {
                    let why = plan.passes[*pass].why;
                    assert_eq!(why.start_us, now as f32, "'{}' starts as its batch plays", plan.pass_name(*pass));
                    now += f64::from(why.duration_us);
                }
                Command::Barriers(_) | Command::WaitEvents(..) | Command::SetEvent(..) => {}
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
    let (mut waits, mut several) = (0, 0);
    for seed in 0..400 {
        let (graph, profile) = generate(seed, Limits::default());
        let Ok(plan) = bake(&graph, &profile, &Options::default(), &mut scratch) else { continue };
        let (played, frame_us) = (played(&plan, &profile), plan.report.frame_us);
        let queues = plan.batches.iter().map(|batch| batch.queue).collect::<std::collections::HashSet<_>>();
        // Queues share the device, so a frame on several may take longer than its batches do by themselves.
        assert!(played == frame_us || queues.len() > 1 && played < frame_us, "seed {seed}: {played}, {frame_us}");
        let passes: f64 = plan.passes.iter().map(|pass| f64::from(pass.why.duration_us)).sum();
        assert!(frame_us <= played.max(passes * (1.0 + 1e-6)), "seed {seed}");
        waits += plan.waits.len();
        several += usize::from(queues.len() > 1);
    }
    assert!(waits > 200 && several > 50, "the graphs use several queues: {waits} waits in {several}");
}
