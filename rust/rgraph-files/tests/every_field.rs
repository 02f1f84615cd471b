//! Files have every field: hashes of plans are made of them, and programs that read them need nothing else.

use std::collections::HashMap;

use rgraph_files::{plan_hash, write_profile};

use crate::changed::{plan, profile};

#[test]
fn the_hash_of_a_plan_sees_every_field_but_times_of_the_bake() {
    let base = plan::base();
    let mut known = HashMap::from([(plan_hash(&base), "nothing")]);
    let mut same = Vec::new();
    for (what, changed) in plan::all() {
        let hash = plan_hash(&changed);
        if plan::TIMES.contains(&what) {
            assert_eq!(hash, plan_hash(&base), "{what} counts");
        } else if let Some(other) = known.insert(hash, what) {
            same.push((what, other));
        }
    }
    assert!(same.is_empty(), "changes that have one hash: {same:?}");
}

#[test]
fn profile_files_have_every_field() {
    let mut known = HashMap::from([(write_profile(&profile::base()), "nothing")]);
    for (what, changed) in profile::all() {
        if let Some(other) = known.insert(write_profile(&changed), what) {
            panic!("the file of {what} changed is that of {other} changed");
        }
    }
}
