//! Plan files from strangers: mutants of plans that run are refused in words or compute what their graph says. `make
//! mutants` tries a hundred thousand; `RGRAPH_PLAN_MUTANTS` and `RGRAPH_PLAN_SEED` say how many, and from which on.

use std::path::PathBuf;

use rgraph_vk::{DeviceOptions, devices};

use crate::support::{demand, hash};

#[test]
fn mutants_of_plan_files_are_refused_or_run_right() {
    let found = devices(&DeviceOptions::default()).map_err(|error| error.to_string());
    let found = found.and_then(|list| if list.is_empty() { Err("none is there".to_owned()) } else { Ok(list) });
    let Some(list) = demand::demand(found) else { return };
    if list[0].name.contains("SwiftShader") {
        eprintln!("skipped: SwiftShader lacks a depth format that the graphs use");
        return;
    }
    let number = |name: &str, default| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (seed, count) = (number("RGRAPH_PLAN_SEED", 1), number("RGRAPH_PLAN_MUTANTS", 400));
    let at = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("plan_mutant_{seed}.txt"));
    let tally = hash::mutant::run(seed, count, &at).unwrap();
    println!("{tally}");
    assert!(tally.failures.is_empty(), "{tally}");
    assert!(tally.ends.keys().any(|end| end.contains("the checker")), "{tally}");
}
