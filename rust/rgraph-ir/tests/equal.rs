//! Equality and hashes see every field of every noun of graphs, profiles and plans, but for those that are listed.

use std::collections::HashMap;
use std::fmt::Debug;

use rgraph_ir::access::{PassQueue, Usage};
use rgraph_ir::graph::{Graph, Pass, Use};
use rgraph_ir::id::Span;
use rgraph_ir::plan::Command;
use rgraph_ir::resource::{Image, Resource};

use crate::changed::{Changed, declared, id, plan, profile};

/// Asserts that no value equals another one.
fn all_differ<T: PartialEq + Clone + Debug>(base: T, changed: Vec<Changed<T>>) {
    let mut all = changed;
    all.push(("nothing", base));
    // Pairs are compared: Miri takes minutes for a few.
    all.truncate(if cfg!(miri) { 12 } else { all.len() });
    for (at, (what, value)) in all.iter().enumerate() {
        assert!(*value == value.clone(), "{what} differs from itself");
        let equal: Vec<&str> = all[..at].iter().filter(|(_, other)| other == value).map(|(what, _)| *what).collect();
        assert!(equal.is_empty(), "{what} changed equals {equal:?} changed");
    }
}

/// Takes out the values whose change does not count.
fn split<T>(all: Vec<Changed<T>>, exempt: &[&str]) -> (Vec<Changed<T>>, Vec<Changed<T>>) {
    let (without, counted): (Vec<_>, Vec<_>) = all.into_iter().partition(|(what, _)| exempt.contains(what));
    let mut found: Vec<&str> = without.iter().map(|(what, _)| *what).collect();
    found.sort_unstable();
    let mut listed = exempt.to_vec();
    listed.sort_unstable();
    assert_eq!(found, listed);
    (counted, without)
}

#[test]
fn equality_of_profiles_sees_every_field() {
    let all = profile::all();
    assert!(all.len() > 30);
    all_differ(profile::base(), all);
}

#[test]
fn equality_and_hash_of_graphs_see_every_field_but_words_for_messages() {
    let (counted, without) = split(declared::all(), &declared::FOR_MESSAGES);
    assert!(counted.len() > 60);
    let base = declared::base();
    for (what, graph) in without {
        assert!(graph == base && graph.content_hash() == base.content_hash(), "{what} counts");
    }
    let mut known = HashMap::from([(base.content_hash(), "nothing")]);
    for (what, graph) in &counted {
        if let Some(other) = known.insert(graph.content_hash(), what) {
            panic!("{what} changed has the hash of {other} changed");
        }
    }
    all_differ(base, counted);
}

#[test]
fn equality_of_plans_sees_every_field_but_times_of_the_bake() {
    let (counted, without) = split(plan::all(), &plan::TIMES);
    assert!(counted.len() > 200);
    for (what, changed) in without {
        assert!(changed == plan::base(), "{what} counts");
    }
    all_differ(plan::base(), counted);
}

#[test]
fn where_items_stand_in_the_flat_arrays_of_a_plan_does_not_count() {
    let base = plan::base();
    let mut moved = base.clone();
    let names: Vec<String> = moved.pass_names.iter().map(str::to_owned).collect();
    moved.pass_names.clear();
    names.iter().rev().for_each(|name| _ = moved.pass_names.push(name));
    moved.passes.iter_mut().for_each(|pass| pass.name = 2 - pass.name);
    // Nothing points to the item that is now the first of each array.
    fn shift<T: Copy>(list: &mut Vec<T>) {
        list.insert(0, list[0]);
    }
    let next = |span: &mut Span| *span = Span { start: span.start + 1, end: span.end + 1 };
    shift(&mut moved.pass_accesses);
    moved.passes.iter_mut().for_each(|pass| next(&mut pass.accesses));
    shift(&mut moved.aliases);
    moved.resources.iter_mut().for_each(|resource| next(&mut resource.aliases));
    shift(&mut moved.memory_barriers);
    shift(&mut moved.buffer_barriers);
    shift(&mut moved.image_barriers);
    shift(&mut moved.attachments);
    shift(&mut moved.layouts);
    for command in &mut moved.commands {
        match command {
            Command::Barriers(call) | Command::SetEvent(_, call) | Command::WaitEvents(_, call) => {
                [&mut call.memory, &mut call.buffers, &mut call.images].into_iter().for_each(next);
            }
            Command::BeginRendering { attachments: span, .. } | Command::Pass { layouts: span, .. } => next(span),
            Command::EndRendering => {}
        }
    }
    shift(&mut moved.commands);
    shift(&mut moved.waits);
    for batch in moved.batches.iter_mut() {
        [&mut batch.waits, &mut batch.commands].into_iter().for_each(next);
    }
    shift(&mut moved.subgraph_passes);
    shift(&mut moved.subgraph_roots);
    for part in &mut moved.subgraphs {
        [&mut part.passes, &mut part.roots].into_iter().for_each(next);
    }
    shift(&mut moved.set_passes);
    moved.sets.iter_mut().for_each(|set| next(&mut set.passes));
    shift(&mut moved.packet_passes);
    moved.packets.iter_mut().for_each(next);
    assert!(moved == base);
}

#[test]
fn an_access_counts_for_the_pass_and_the_resource_that_it_is_of() {
    let with = |pass: usize, resource: usize| {
        let mut graph = Graph::new("graph", [8, 8]);
        for name in ["a", "b"] {
            graph.add_resource(name, Resource::image(Image::default()), None);
        }
        for name in ["one", "two"] {
            graph.add_pass(name, Pass::new(PassQueue::Any), None);
        }
        graph.access(id(pass), id(resource), &Use::new(Usage::Sampled), None);
        graph
    };
    let all = [("two", with(1, 0)), ("b", with(0, 1)), ("both", with(1, 1))];
    all_differ(with(0, 0), all.into());
}

#[test]
fn a_graph_that_is_reset_is_as_a_new_one() {
    for (what, mut graph) in declared::all() {
        graph.reset("again", [7, 5]);
        let mut new = Graph::new("again", [7, 5]);
        assert!(graph == new, "{what} stays");
        for graph in [&mut graph, &mut new] {
            let out = graph.buffer("out", 64);
            graph.pass("fill", PassQueue::Compute).storage_write(out);
            graph.root(out);
        }
        assert!(graph == new && graph.content_hash() == new.content_hash(), "{what} counts after it");
        assert_eq!(graph.find_pass("fill"), new.find_pass("fill"));
    }
}
