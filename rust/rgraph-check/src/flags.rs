//! Flags of passes and fallbacks of their outputs, as a plan says them: an executor skips passes and exchanges what
//! readers get by these. A plan file of an earlier version says nothing of them.

use std::collections::BTreeSet;

use rgraph_ir::graph::{Fallback, FlagId};
use rgraph_ir::id::Id;
use rgraph_ir::plan::{Plan, PlanFallback};

use crate::facts::Facts;
use crate::finding::{Findings, Rule};
use crate::ids::DeclaredOf;

/// Names of flags, the flag of each pass, and all fallbacks. O(passes + fallbacks log fallbacks).
pub(crate) fn flags(facts: &Facts, plan: &Plan, declared_of: &DeclaredOf, findings: &mut Findings) {
    if !plan.says_memory() {
        return;
    }
    let graph = facts.graph;
    if !plan.flag_names.iter().eq(graph.flags().iter().map(String::as_str)) {
        findings.add(Rule::Flags, None, None, "the plan has other flags than the graph".to_owned());
        return;
    }
    for (id, pass) in plan.passes.iter_ids() {
        let Some(declared) = declared_of[id] else { continue };
        let wanted = facts.declared_passes[declared].flag;
        if pass.flag != wanted {
            let name = plan.pass_name(id);
            let words = |flag: Option<FlagId>| match flag {
                Some(flag) => format!("the flag \"{}\"", graph.flags()[flag]),
                None => "no flag".to_owned(),
            };
            let message = format!("{} switches \"{name}\", and {} in the plan", words(wanted), words(pass.flag));
            findings.add(Rule::Flags, Some(name), None, message);
        }
    }
    let planned: BTreeSet<_> = plan
        .fallbacks
        .iter()
        .map(|&PlanFallback { pass, output, input }| (plan.passes[pass].declared, output, input))
        .collect();
    let meant: BTreeSet<_> = graph
        .fallbacks()
        .iter()
        .map(|&Fallback { pass, output, input }| (facts.place(pass).map(|at| at.index() as u32), output, input))
        .collect();
    for (_, output, input) in planned.symmetric_difference(&meant) {
        let [output, input] = [*output, *input].map(|id| facts.name(id));
        let message = format!("plan and graph differ in the fallback of \"{output}\", \"{input}\"");
        findings.add(Rule::Flags, None, Some(output), message);
    }
}
