//! Ranges of buffers that are filled before a pass.

use rgraph_plan::access::{Load, Usage};
use rgraph_plan::graph::Graph;
use rgraph_plan::id::IdVec;
use rgraph_plan::plan::{Plan, PlanKind, PlanPassId};
use rgraph_plan::resource::ResourceId;

use crate::compile::pass_table::PassTable;

/// Ranges of buffers that are filled before a pass.
pub(crate) type Fills = IdVec<PlanPassId, Vec<(ResourceId, [u64; 2])>>;

/// The ranges of transient buffers that each pass replaces: by declaration, or because it is the first to access them.
pub(crate) fn fills(graph: &Graph, plan: &Plan, table: &PassTable) -> Fills {
    let mut out: Fills = IdVec::filled(Vec::new(), plan.passes.len());
    let mut accessed: Vec<(ResourceId, [u64; 2])> = Vec::new();
    for pass in plan.live() {
        let on_gpu = plan.passes[pass].queue.is_some();
        for access in table.of(pass) {
            let (memory, range) = (plan.memory_of(access.resource), access.region.range);
            let buffer = matches!(plan.resources[memory].kind, PlanKind::Buffer { .. });
            let Some(declared) = access.declared.map(|at| &graph.accesses()[at as usize]).filter(|_| buffer) else {
                continue;
            };
            let writes = matches!(access.usage, Usage::StorageWrite | Usage::TransferDst) && !declared.unordered;
            let meets = |other: [u64; 2]| other[0] < range[1] && range[0] < other[1];
            let first = !accessed.iter().any(|&(of, other)| of == memory && meets(other));
            let replaced = matches!(declared.load, Some(Load::Discard | Load::Clear));
            let always = plan.passes[pass].flag.is_none();
            if on_gpu && writes && (first || replaced && always) && plan.begins_empty(memory) {
                let words = [range[0].next_multiple_of(4), range[1] & !3];
                out[pass].extend((words[0] < words[1]).then_some((memory, words)));
            }
        }
        accessed.extend(table.of(pass).iter().map(|access| (plan.memory_of(access.resource), access.region.range)));
    }
    out
}
