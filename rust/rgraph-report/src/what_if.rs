//! The answer to "what if" as text.

use rgraph_ir::plan::{Command, Plan, PlanPassId};
use rgraph_ir::words::{bytes_phrase, queue_label, quoted};
use rgraph_plan::what_if::WhatIf;

use crate::diff;

/// The answer as text: changes, figures compared with those of `before`, the bound of other queues, the timeline (`*`:
/// on the critical path), and the differences.
pub fn what_if_text(answer: &WhatIf, before: &Plan) -> String {
    let diff = diff(before, &answer.plan);
    let mut out = format!(
        "what if {}\n",
        if answer.notes.is_empty() { "nothing changes".into() } else { answer.notes.join(", ") }
    );
    let (old, new) = (&before.report, &answer.plan.report);
    out += &format!("  frame    {:.1} µs → {:.1} µs (modelled)", old.frame_us, new.frame_us);
    if let (Some(old), Some(new)) = (old.bound, new.bound) {
        out += &format!(", no plan below {:.1} µs → {:.1} µs", old.us, new.us);
    }
    let bytes = |of: fn(&Plan) -> u64| [bytes_phrase(of(before)), bytes_phrase(of(&answer.plan))];
    let ([old, new], [old_bound, new_bound]) = (bytes(|plan| plan.memory.total), bytes(|plan| plan.memory.lower_bound));
    out += &format!("\n  memory   {old} → {new}, bound {old_bound} → {new_bound}\n  queues   {}\n", answer.queues);
    out += "timeline\n      begin        µs   queue and pass (* on the longest path)\n";
    out += &timeline(&answer.plan);
    out += "difference\n";
    for line in diff.to_string().lines() {
        out += &format!("  {line}\n");
    }
    out
}

/// A table of a plan's passes in the order of their begin: when, for how long, on which queue. O(n log n).
pub fn timeline(plan: &Plan) -> String {
    let runs = plan.batches.iter().flat_map(|batch| &plan.commands[batch.commands.range()]);
    let mut passes: Vec<_> = runs
        .filter_map(|command| match command {
            Command::Pass { pass, .. } => Some(*pass),
            _ => None,
        })
        .collect();
    passes.sort_by(|&a, &b| plan.passes[a].why.start_us.total_cmp(&plan.passes[b].why.start_us).then(a.cmp(&b)));
    let labels: Vec<String> = passes.iter().map(|&pass| queue_label(plan, plan.passes[pass].queue)).collect();
    let width = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let critical = |pass: PlanPassId| if plan.report.critical_path.contains(&pass) { "*" } else { " " };
    let line = |(pass, label): (&_, &String)| {
        let why = plan.passes[*pass].why;
        let (begin, us, name) = (why.start_us, why.duration_us, quoted(plan.pass_name(*pass)));
        format!("  {begin:9.1} {us:9.1} {} {label:width$}  {name}\n", critical(*pass))
    };
    passes.iter().zip(&labels).map(line).collect()
}
