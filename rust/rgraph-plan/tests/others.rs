//! Render graphs that others made (converted; see the folder's SOURCES.md) bake on every built-in profile, cull
//! exactly and place no more bytes than their declared order has alive.
//!
//! The folder's table counts `depth32float-stencil8` with 5 bytes per texel, the planner (formats.md) with 8; where a
//! graph has no such image, the yardstick used here must give the table's figure exactly.

use std::path::{Path, PathBuf};

use rgraph_files::graph::read_graph;
use rgraph_plan::plan::PlanKind;
use rgraph_plan::prelude::*;

use crate::common::most_live;

fn folder() -> Option<PathBuf> {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let found = above.map(|folder| folder.join("shared/data")).find(|data| data.join("graphs").is_dir());
    if found.is_none() {
        println!("skipped: there is no folder shared/data (with graphs) above this one");
    }
    found
}

#[test]
fn graphs_of_others_cull_exactly_and_are_placed_within_the_known_bytes() {
    let Some(folder) = folder() else { return };
    let sources = std::fs::read_to_string(folder.join("SOURCES.md")).unwrap();
    let rows = sources.lines().filter_map(|line| {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let numbers: Vec<u64> = cells.iter().filter_map(|cell| cell.parse().ok()).collect();
        (numbers.len() == 8).then(|| (cells[1].to_owned(), numbers))
    });
    let mut seen = 0;
    for (name, numbers) in rows {
        let (passes, needed, placed) = (numbers[0], numbers[1], numbers[6]);
        let path = folder.join("graphs").join(format!("{name}.rgraph.json"));
        let text = std::fs::read(path).unwrap();
        let graph = read_graph(&text, &name).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(graph.passes().len() as u64, passes, "{name}");
        for profile in Profile::BUILT_IN {
            let profile = Profile::built_in(profile).unwrap();
            let options = Options { memory: MemoryBudget::Least, ..Options::default() };
            let plan = bake(&graph, &profile, &options, &mut Scratch::default())
                .unwrap_or_else(|e| panic!("{name} on {}: {e}", profile.name));
            let live = plan.passes.iter().filter(|p| p.culled.is_none() && p.declared.is_some()).count() as u64;
            assert_eq!(live, needed, "{name} on {}", profile.name);
            let most_live = most_live::most_live(&graph, &plan);
            let eight_bytes = plan
                .resources
                .iter()
                .any(|resource| matches!(resource.kind, PlanKind::Image { format: Format::Depth32floatStencil8, .. }));
            if !eight_bytes {
                assert_eq!(most_live, placed, "{name}: the yardstick");
            }
            if profile.queues.len() == 1 {
                let (total, bound) = (plan.memory.total, plan.memory.lower_bound);
                assert!(total <= most_live, "{name}: {total} bytes (bound {bound}), known {most_live}");
            }
        }
        seen += 1;
    }
    assert_eq!(seen, 25);
}
