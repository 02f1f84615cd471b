//! A plan says which memories its resources are in, what those are made for, and which flags and fallbacks there are.
//! An executor believes it, so each of these must be the declaration's. Plans of earlier files say nothing of it.

use rgraph_check::{Rule, check};
use rgraph_ir::access::{Layout, Usage, UsageSet};
use rgraph_ir::id::Id;
use rgraph_ir::plan::{PlanPassId, Remembers};
use rgraph_ir::resource::{History, Imported, Leave, Life, Resource, ResourceId};
use rgraph_plan::declared::complete;
use rgraph_plan::prelude::*;

/// A ring of three, a memory with two names, a scaled copy, mips, a fallback of a fallback, an import
/// that is handed over and left in layouts.
fn graph() -> Graph {
    let mut g = Graph::new("frame", [64, 64]);
    let lit = g.image("lit", Format::Rgba16float);
    let past = |frames| Life::History(History { of: lit, frames, zero_first: true });
    let [before, long_before] = [1, 2].map(|frames| {
        g.add_resource(
            &format!("lit {frames} ago"),
            Resource { life: past(frames), ..g.resources()[lit].clone() },
            None,
        )
    });
    let raw = g.image("raw", Format::Rgba8unorm);
    let drawn = g.image("drawn", Format::Rgba8unorm);
    g.resource_mut(drawn).modifies = Some(raw);
    let small = g.sized_image("small", Format::Rgba8unorm, Size::absolute(16, 16));
    g.resource_mut(small).modifies = Some(drawn);
    let given = g.import_image("given", Format::Rgba8unorm, Size::absolute(8, 8));
    let Life::Imported(imported) = g.resources()[given].life else { unreachable!("it is imported") };
    g.resource_mut(given).life = Life::Imported(Imported { layout: Some(Layout::ShaderReadOnly), ..imported });
    g.resource_mut(given).leave = Some(Leave { layout: Some(Layout::ColorAttachment), ..Leave::default() });
    let [plain, better, best] = ["plain", "better", "best"].map(|name| g.image(name, Format::Rgba8unorm));
    g.pass("light", PassQueue::Graphics).sampled(before).sampled(long_before).color(lit);
    g.pass("raw", PassQueue::Compute).storage_write(raw);
    g.pass("drawn", PassQueue::Graphics).color(drawn);
    g.pass("plain", PassQueue::Compute).storage_write(plain);
    let flag = g.flag("fancy");
    let enhance = g.pass("better", PassQueue::Compute).storage_write(better).id();
    let polish = g.pass("best", PassQueue::Compute).storage_write(best).id();
    for (pass, output, input) in [(enhance, better, plain), (polish, best, better)] {
        g.pass_mut(pass).conditional = Some(flag);
        g.fallback(pass, output, input);
    }
    let out = g.image("out", Format::Rgba8unorm);
    g.pass("show", PassQueue::Graphics).sampled(best).sampled(lit).sampled(small).sampled(given).color(out);
    g.root(out);
    g
}

fn case() -> (Graph, Plan) {
    let graph = graph();
    let plan = bake(&graph, &Profile::discrete(), &Options::default(), &mut Scratch::default());
    let plan = plan.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(check(&graph, &plan), []);
    (graph, plan)
}

fn id(plan: &Plan, name: &str) -> ResourceId {
    plan.resources.ids().find(|id| plan.resource_name(*id) == name).expect("a resource of the graph")
}

fn usages(all: &[Usage]) -> Option<UsageSet> {
    Some(all.iter().copied().collect())
}

#[test]
fn a_plan_says_what_each_memory_is_made_for() {
    use Usage::{ColorAttachment as Color, Sampled, StorageWrite, TransferDst as Into, TransferSrc as From};
    let (_, plan) = case();
    let of = |name: &str| plan.resources[id(&plan, name)];
    let ring = usages(&[Sampled, Color, From, Into]);
    for name in ["lit", "lit 1 ago", "lit 2 ago"] {
        assert_eq!(of(name).usages, ring, "{name}");
        assert_eq!(of(name).memory, id(&plan, name), "{name}");
    }
    assert_eq!((of("lit").ring, of("lit").remembers), (3, None));
    assert_eq!(of("lit 2 ago").remembers, Some(Remembers { of: id(&plan, "lit"), frames: 2 }));
    assert_eq!((of("drawn").memory, of("small").memory), (id(&plan, "raw"), id(&plan, "small")));
    assert_eq!(of("raw").usages, usages(&[Color, StorageWrite, From]));
    assert_eq!(of("drawn").usages, of("raw").usages);
    assert_eq!(of("small").usages, usages(&[Sampled, Into]));
    // Read where `best` is read, since it is the fallback of its fallback.
    assert_eq!(of("plain").usages, usages(&[Sampled, StorageWrite]));
    assert_eq!(of("given").usages, usages(&[Color, Sampled, From, Into]));
    assert_eq!(of("out").usages, usages(&[Color, From]));
    assert_eq!(plan.flag_names.iter().collect::<Vec<_>>(), ["fancy"]);
    assert_eq!(plan.fallbacks.len(), 2);
}

#[track_caller]
fn refused(rule: Rule, words: &str, change: impl FnOnce(&mut Plan)) {
    let (graph, mut plan) = case();
    change(&mut plan);
    let findings = check(&graph, &plan);
    let fits = findings.iter().any(|finding| finding.rule == rule && finding.message.contains(words));
    assert!(fits, "no {rule} with {words:?} in {findings:#?}");
}

#[test]
fn another_memory_ring_or_use_is_found() {
    let change = |name: &'static str, change: fn(&mut rgraph_ir::plan::PlanResource)| {
        move |plan: &mut Plan| {
            let at = id(plan, name);
            change(&mut plan.resources[at]);
        }
    };
    refused(Rule::Resource, "is in the memory of \"raw\"", |plan| {
        let [drawn, out] = ["drawn", "out"].map(|name| id(plan, name));
        plan.resources[drawn].memory = out;
    });
    refused(Rule::Resource, "3 memories of \"lit\" take turns, and 2", change("lit", |one| one.ring = 2));
    refused(Rule::Resource, "another ring", change("lit 1 ago", |one| one.remembers = None));
    refused(Rule::Resource, "another ring", |plan| {
        let [past, out] = ["lit 1 ago", "out"].map(|name| id(plan, name));
        plan.resources[past].remembers = Some(Remembers { of: out, frames: 1 });
    });
    let less = |one: &mut rgraph_ir::plan::PlanResource| one.usages = Some(UsageSet::of(Usage::Sampled));
    refused(Rule::Resource, "made for sampled, and the declaration needs color_attachment", change("out", less));
    let more = |one: &mut rgraph_ir::plan::PlanResource| one.usages = Some(Usage::ALL.iter().copied().collect());
    refused(Rule::Resource, "and the declaration needs", change("out", more));
    refused(Rule::Resource, "has no usages of \"out\"", change("out", |one| one.usages = None));
    refused(Rule::Malformed, "points outside", change("out", |one| one.memory = ResourceId::new(10_000)));
}

#[test]
fn other_flags_and_fallbacks_are_found() {
    refused(Rule::Flags, "other flags", |plan| {
        plan.flag_names.push("more");
    });
    refused(Rule::Flags, "the flag \"fancy\" switches \"best\", and no flag", |plan| {
        let best = plan.find_pass("best").expect("a pass");
        plan.passes[best].flag = None;
    });
    refused(Rule::Flags, "no flag switches \"light\"", |plan| {
        let [light, best] = ["light", "best"].map(|name| plan.find_pass(name).expect("a pass"));
        plan.passes[light].flag = plan.passes[best].flag;
    });
    refused(Rule::Flags, "fallback of \"best\"", |plan| {
        plan.fallbacks.pop();
    });
    refused(Rule::Flags, "fallback of \"better\"", |plan| plan.fallbacks[0].input = id(plan, "out"));
    refused(Rule::Malformed, "a fallback points outside", |plan| plan.fallbacks[0].pass = PlanPassId::new(10_000));
}

#[test]
fn a_plan_that_says_none_of_it_is_judged_by_the_rest_and_can_be_completed() {
    let (graph, plan) = case();
    let mut older = plan.clone();
    for (id, resource) in older.resources.as_vec_mut().iter_mut().enumerate() {
        (resource.memory, resource.ring, resource.remembers) = (ResourceId::new(id), 1, None);
        resource.usages = None;
    }
    older.passes.iter_mut().for_each(|pass| pass.flag = None);
    older.flag_names.clear();
    older.fallbacks.clear();
    assert_eq!(check(&graph, &older), []);
    assert_ne!(older, plan);
    complete(&graph, &mut older);
    assert_eq!(older, plan);
}
