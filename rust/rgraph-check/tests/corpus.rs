//! What the fuzzer kept and found, replayed: each file of a target's corpus and every regression.

#[path = "../../../fuzz/src/heap.rs"]
mod heap;
#[path = "../../../fuzz/src/plans.rs"]
mod plans;

use std::path::Path;

/// Runs a law on every file of a target; says how many there are.
fn replay(target: &str, law: fn(&[u8])) -> usize {
    let mut count = 0;
    for kept in ["corpus-seeds", "regressions"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz").join(kept).join(target);
        let Ok(files) = std::fs::read_dir(&folder) else { continue };
        let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            println!("{}", path.display());
            law(&std::fs::read(&path).unwrap());
            count += 1;
        }
    }
    count
}

#[test]
fn frames_of_the_corpus_obey_every_law() {
    assert!(replay("frame", plans::frame) > 20);
}

#[test]
fn calls_of_the_corpus_give_equal_plans() {
    assert!(replay("calls", plans::calls) > 10);
}

#[test]
fn graph_files_of_the_corpus_are_read_or_refused() {
    assert!(replay("graph_file", plans::graph_file) > 10);
}

#[test]
fn plan_files_of_the_corpus_and_changed_ones_are_read_or_refused() {
    replay("plan_file", plans::plan_file);
    let text = plans::plan_of_small().into_bytes();
    plans::plan_file(&text);
    for at in (0..text.len()).step_by(13) {
        let mut changed = text.clone();
        changed[at] = if changed[at].is_ascii_digit() { b'9' - changed[at] % 7 } else { b'1' };
        plans::plan_file(&changed);
        changed.truncate(at);
        plans::plan_file(&changed);
    }
}

#[test]
fn the_heap_keeps_its_promises_on_the_corpus() {
    assert!(replay("heap", heap::heap) > 5);
}
