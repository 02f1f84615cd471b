//! Random declarations: which mistakes validation finds, in which words, and what the others are resolved to.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rgraph_plan::id::IdVec;
use rgraph_plan::inside::resolve::{Facts, Source, resolve};
use rgraph_plan::inside::size::{ShapeScratch, shapes};
use rgraph_plan::inside::validate::mistakes::of_problems;
use rgraph_plan::inside::validate::{ValidateScratch, validate};
use rgraph_plan::profile::Profile;

use super::mix;
use crate::common::kept::assert_kept;
use crate::validate::random::{Dice, a_graph};

/// What is known of the passes, accesses and memories of a declaration, as text.
fn text(facts: &Facts) -> String {
    let Facts { memory, depth, ring_base, remembered, leave, passes, accesses, attachments, .. } = facts;
    let Facts { sources, mutual, final_writer, replaced, pass_of, after, entry_reads, silent, .. } = facts;
    format!(
        "{memory:?} {depth:?} {ring_base:?} {remembered:?} {leave:?} {passes:?} {accesses:?} {attachments:?} {sources:?} \
         {mutual:?} {final_writer:?} {replaced:?} {pass_of:?} {after:?} {entry_reads:?} {silent:?}"
    )
}

#[test]
fn answers_to_random_declarations_are_those_that_are_kept() {
    let mut dice = Dice(9);
    let (mut sized, mut scratch, mut facts) = (ShapeScratch::default(), ValidateScratch::default(), Facts::default());
    let mut shaped = IdVec::new();
    let mut rows = BTreeMap::<String, (u32, u64)>::new();
    let mut count = |name: String, text: &str| {
        let (count, hash) = rows.entry(name).or_default();
        *count += 1;
        mix(hash, text);
    };
    let half = || Profile { queues: Profile::discrete().queues.split_off(1), ..Profile::discrete() };
    let profiles = [Profile::discrete(), Profile::minimal(), half()];
    for round in 0..12_000 {
        let graph = a_graph(&mut dice, [2, 8, 40, 200, 1000][round % 5]);
        let profile = &profiles[round / 5 % 3];
        let (mut problems, mut later) = (Vec::new(), Vec::new());
        shapes(&graph, profile, &mut shaped, &mut sized, &mut problems);
        let found = validate(&graph, profile, &shaped, &sized, &problems, &mut scratch);
        let mut mistakes = found.mistakes;
        if found.resolvable {
            resolve(Source { graph: &graph, shapes: &shaped }, &mut facts, &mut later);
            mistakes.extend(of_problems(&graph, &shaped, &later));
        }
        for mistake in &mistakes {
            count(mistake.code.to_string(), &format!("{round} {mistake:?}"));
        }
        if mistakes.is_empty() {
            count("accepted".to_owned(), &format!("{shaped:?} {}", text(&facts)));
        }
    }
    let mut table = format!("{:<12}{:>10}  answers", "", "graphs");
    for (name, (count, hash)) in rows {
        let _ = write!(table, "\n{name:<12}{count:>10}  {hash:016x}");
    }
    table.push('\n');
    assert_kept("tests/figures/answers.txt", &table);
}
