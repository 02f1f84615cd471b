//! The Standard Task Graph Set: 180 random graphs of 50 tasks with known optima.

use super::support::Owned;
use rgraph_plan::id::IdVec;
use rgraph_plan::inside::schedule::{Costs, Policy};
use std::path::Path;

/// Graphs with a known optimum on that many processors, and the optimum.
fn instances(processors: u32) -> Option<Vec<(Owned, f64)>> {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let data = above.map(|folder| folder.join("shared/data")).find(|data| data.is_dir())?;
    let table = std::fs::read_to_string(data.join("stg_optimum.csv")).ok()?;
    let mut instances = Vec::new();
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let (name, count, optimum) = (fields[0], fields[1], fields[2]);
        let (true, Ok(optimum)) = (count == processors.to_string(), optimum.parse::<f64>()) else { continue };
        let Some(file) = name.strip_prefix("50/") else { continue };
        let text = std::fs::read_to_string(data.join("stg50").join(file)).ok()?;
        instances.push((parse(&text, processors), optimum));
    }
    Some(instances)
}

fn parse(text: &str, processors: u32) -> Owned {
    let mut numbers = text
        .lines()
        .take_while(|line| !line.starts_with('#'))
        .flat_map(|line| line.split_whitespace().map(|word| word.parse::<u32>().expect("a number")));
    let passes = numbers.next().expect("a count") as usize + 2;
    let mut weights = IdVec::new();
    let mut edges = Vec::new();
    for _ in 0..passes {
        let pass = numbers.next().expect("a task") as usize;
        weights.push(numbers.next().expect("a duration") as f32);
        let preds = numbers.next().expect("a count");
        edges.extend((0..preds).map(|_| (numbers.next().expect("a task") as usize, pass)));
    }
    let mut owned = Owned::new(passes, &edges);
    owned.weight_us = weights;
    owned.run_all_on((1 << processors) - 1);
    owned.costs = Costs::default();
    owned
}

#[test]
fn the_standard_task_graphs_come_out_within_half_a_percent_of_their_optima() {
    // Processors, effort, largest mean ratio, fewest optima found.
    let goals = [(2, 1, 1.001, 147), (4, 1, 1.0032, 134), (2, 4, 1.0001, 162), (4, 4, 1.0003, 159)];
    for (processors, effort, most, fewest) in goals {
        let Some(instances) = instances(processors) else {
            eprintln!("skipped: no folder shared/data (with stg50) above this one");
            return;
        };
        let (mut sum, mut optimal) = (0.0, 0);
        for (owned, optimum) in &instances {
            let frame = owned.schedule(Policy::Weighted, effort).frame_us;
            assert!(frame >= *optimum, "{frame} is less than the optimum {optimum}");
            sum += frame / optimum;
            optimal += usize::from(frame == *optimum);
        }
        let mean = sum / instances.len() as f64;
        println!("{processors} processors, effort {effort}: mean {mean:.5}, {optimal} of {} optimal", instances.len());
        assert!(mean <= most && optimal >= fewest, "mean {mean:.5}, {optimal} of {} optimal", instances.len());
    }
}
