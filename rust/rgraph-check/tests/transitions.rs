//! A layout transition behind the signal that another queue waits for: the reader on that queue is not ordered behind
//! it.

use rgraph_check::check;
use rgraph_check::interpret::disagreement;
use rgraph_plan::bake::{Options, Scratch, bake};
use rgraph_plan::id::{IdVec, Span};
use rgraph_plan::plan::{Batch, Command, ImageBarrier, Plan};

use crate::support::corner;

/// Gives the barrier call at the end of a batch, which changes a layout for a batch of another queue, a batch of its
/// own that nobody waits for. `None`: the plan has none.
fn transition_behind_its_signal(plan: &Plan) -> Option<Plan> {
    let changes = |batch: &Batch| {
        let Some(Command::Barriers(barriers)) = plan.commands[batch.commands.range()].last() else { return false };
        let moved = |one: &ImageBarrier| one.old_layout != one.new_layout && one.families.is_none();
        batch.signal.is_some() && plan.image_barriers[barriers.images.range()].iter().any(moved)
    };
    let at = plan.batches.iter().position(changes)?;
    let mut batches: Vec<Batch> = plan.batches.iter().copied().collect();
    let [waits, commands] = [batches[at].waits.range().end, batches[at].commands.range().end];
    let span = |range: std::ops::Range<usize>| Span::new(range.start, range.end);
    let own = Batch { waits: span(waits..waits), commands: span(commands - 1..commands), signal: None, ..batches[at] };
    batches[at].commands = span(batches[at].commands.range().start..commands - 1);
    batches.insert(at + 1, own);
    Some(Plan { batches: batches.into_iter().collect::<IdVec<_, _>>(), ..plan.clone() })
}

#[test]
fn a_transition_behind_its_signal_is_not_seen_by_the_queue_that_waits_for_the_signal() {
    let graph = corner::graph(
        "image a sharing=concurrent
         buffer out 256 root
         buffer end 256 root
         pass draw graphics: color a load=clear
         pass look async_compute: sampled a; storage_write out
         pass see graphics: sampled a; storage_write end",
    );
    let mut moved = 0;
    for profile in corner::profiles() {
        let plan = bake(&graph, &profile, &Options::default(), &mut Scratch::default()).unwrap();
        assert_eq!(disagreement(&graph, &plan, 1), None);
        let Some(plan) = transition_behind_its_signal(&plan) else { continue };
        moved += 1;
        assert!(!check(&graph, &plan).is_empty());
        // In the order of the plan the transition happens before the reader, who does not see it all the same.
        assert!(disagreement(&graph, &plan, 1).is_some(), "{}", profile.name);
    }
    assert!(moved > 0);
}
