//! Plans for several devices: those of the planner are right for generated graphs, and wrong ones are found.

use rgraph_check::generate::{Construct, Constructs, Limits, UNSETTLED, generate};
use rgraph_check::{Finding, Rule, check, check_devices};
use rgraph_ir::id::Id;
use rgraph_plan::devices::{DeviceId, DeviceStep, DevicesPlan, PartGraph, part_graphs, plan_devices};
use rgraph_plan::prelude::*;
use rgraph_plan::resource::{History, Imported, Life, ResourceId};
use rgraph_report::devices_listing;

use crate::support::corner;

/// What is not supported over several devices: fallbacks, and names of another size for one memory.
const REFUSED: Constructs = Constructs::of(&[Construct::PartialFallback]);

fn checked(graph: &Graph, plan: &DevicesPlan) -> Vec<Finding> {
    let parts: Vec<Graph> = part_graphs(graph, plan).iter().map(|part| part.graph.clone()).collect();
    check_devices(graph, plan, &parts)
}

fn planned(graph: &Graph, devices: usize) -> Result<DevicesPlan, GraphError> {
    let profiles = vec![Profile::discrete(); devices];
    plan_devices(graph, &profiles, &Options::default(), &mut Scratch::default())
}

/// A generated graph whose passes have devices at random.
fn scattered(seed: u64, devices: u32) -> Graph {
    // Without flags there is no fallback, which keeps all passes on one device.
    let most_flags = if seed.is_multiple_of(3) { Limits::default().most_flags } else { 0 };
    generate(seed, Limits { without: UNSETTLED.and(REFUSED), most_flags, devices, ..Limits::default() }).0
}

#[test]
fn plans_of_generated_graphs_scattered_over_devices_are_right_and_so_are_the_plans_of_their_parts() {
    let graphs: u64 = std::env::var("RGRAPH_DEVICES_GRAPHS").ok().and_then(|text| text.parse().ok()).unwrap_or(600);
    let (mut split, mut refused, mut copies, mut missed, mut dropped) = (0, 0, 0, 0, 0);
    for seed in 0..graphs {
        let graph = scattered(seed, 2 + (seed % 2) as u32);
        let plan = match planned(&graph, 3) {
            Ok(plan) => plan,
            Err(error) => {
                let text = error.to_string();
                let known = text.contains("not supported over several devices") || text.contains("copied");
                assert!(known, "seed {seed}: {text}");
                refused += 1;
                continue;
            }
        };
        let found = checked(&graph, &plan);
        assert_eq!(found, [], "seed {seed}: {}", devices_listing(&graph, &plan));
        for PartGraph { graph: part, .. } in part_graphs(&graph, &plan).iter() {
            let baked = bake(part, &Profile::discrete(), &Options::default(), &mut Scratch::default());
            let baked = baked.unwrap_or_else(|error| panic!("seed {seed}: {}: {error}", part.name()));
            assert_eq!(check(part, &baked), [], "seed {seed}: {}", part.name());
        }
        split += u64::from(plan.parts.len() > 1);
        for copy in plan.copies.ids().filter(|copy| plan.copies[*copy].resource.is_some()) {
            copies += 1;
            let mut without = plan.clone();
            without.copies[copy].resource = None;
            let found = checked(&graph, &without);
            missed += u64::from(found.is_empty());
            dropped += u64::from(found.iter().any(|finding| finding.rule == Rule::Device));
        }
    }
    println!("{split} split, {refused} refused, {copies} copies, {dropped} missed by a reader, {missed} by none");
    assert!(split * 3 > graphs && copies > graphs && dropped * 2 > copies, "{split} {refused} {copies} {dropped}");
}

/// A frame in two halves, each on a device of its own, with a picture that both read and a sum that stays.
fn halves() -> (Graph, [ResourceId; 5]) {
    let mut g = Graph::new("halves", [64, 64]);
    let sky = g.import_image("sky", Format::Rgba8unorm, Size::absolute(16, 16));
    let [left, right, out] = ["left", "right", "out"].map(|name| g.image(name, Format::Rgba8unorm));
    let sum = g.buffer("sum", 64);
    g.resource_mut(sum).life = Life::Persistent;
    g.pass("draw left", PassQueue::Graphics).sampled(sky).color(left);
    g.pass("draw right", PassQueue::Graphics).sampled(sky).color(right);
    g.pass("add", PassQueue::Compute).sampled(right).storage_read_write(sum);
    g.pass("join", PassQueue::Graphics).sampled(left).sampled(right).color(out);
    g.root(out);
    g.root(sum);
    for (name, device) in [("draw left", 0), ("draw right", 1), ("add", 1), ("join", 0)] {
        let pass = g.find_pass(name).expect("it is declared above");
        g.pass_mut(pass).device = Some(device);
    }
    (g, [sky, left, right, out, sum])
}

#[test]
fn halves_of_a_frame_are_two_parts_and_one_copy() {
    let (graph, [.., right, out, sum]) = halves();
    let plan = planned(&graph, 2).expect("it can be planned");
    assert_eq!(checked(&graph, &plan), []);
    assert_eq!(
        plan.copies.iter().map(|copy| (copy.resource, copy.from.index(), copy.to.index())).collect::<Vec<_>>(),
        [(Some(right), 1, 0)]
    );
    let names = |part: usize| plan.parts.iter().nth(part).map(|part| part.device.index());
    assert_eq!((plan.parts.len(), names(0), names(1)), (3, Some(0), Some(1)));
    let on = |resource| plan.results.iter().find(|place| place.resource == resource).map(|place| place.device.index());
    assert_eq!((on(out), on(sum)), (Some(0), Some(1)));
    assert_eq!(plan.homes.iter().map(|home| (home.resource, home.device.index())).collect::<Vec<_>>(), [(sum, 1)]);
    // The left half waits for nobody.
    assert!(matches!(plan.steps[0], DeviceStep::Run(part) if plan.parts[part].device.index() == 0));
}

#[track_caller]
fn refused(rule: Rule, words: &str, change: impl FnOnce(&mut DevicesPlan)) {
    let (graph, _) = halves();
    let mut plan = planned(&graph, 2).expect("it can be planned");
    let parts: Vec<Graph> = part_graphs(&graph, &plan).iter().map(|part| part.graph.clone()).collect();
    change(&mut plan);
    let found = check_devices(&graph, &plan, &parts);
    let fits = |finding: &Finding| finding.rule == rule && finding.message.contains(words);
    assert!(found.iter().any(fits), "no {rule} with {words:?} in {found:#?}");
}

#[test]
fn wrong_plans_are_found() {
    refused(Rule::Device, "\"join\" on device 0 needs of \"right\"", |plan| plan.copies.clear_resource());
    refused(Rule::Device, "the next frame needs of \"sum\"", |plan| plan.homes[0].device = DeviceId::new(0));
    refused(Rule::Device, "no device is its home", |plan| plan.homes.clear());
    refused(Rule::Device, "the result needs of \"out\"", |plan| {
        plan.results.iter_mut().for_each(|place| place.device = DeviceId::new(1 - place.device.index()));
    });
    refused(Rule::Device, "root \"out\" is read on no device", |plan| plan.results.clear());
    refused(Rule::Device, "is declared on 0", |plan| {
        plan.parts.iter_mut().for_each(|part| part.device = DeviceId::new(1 - part.device.index()));
    });
    refused(Rule::Passes, "runs 0 times", |plan| {
        plan.parts.iter_mut().last().expect("there are parts").passes.clear();
    });
    refused(Rule::Malformed, "received before it is sent", |plan| {
        let send = plan.steps.iter().position(|step| matches!(step, DeviceStep::Send(_))).expect("there is a send");
        let step = plan.steps.remove(send);
        plan.steps.push(step);
    });
    refused(Rule::Malformed, "comes twice", |plan| plan.steps.push(plan.steps[0]));
    refused(Rule::Malformed, "never runs", |plan| {
        plan.steps.retain(|step| !matches!(step, DeviceStep::Run(part) if part.index() == 0));
    });
    refused(Rule::Malformed, "part 0 runs on device 9", |plan| {
        plan.parts.iter_mut().next().expect("there are parts").device = DeviceId::new(9);
    });
    refused(Rule::WrongGraph, "another content", |plan| plan.graph_hash ^= 1);
}

/// Takes the resource out of every copy, as if nothing was copied.
trait ClearResource {
    fn clear_resource(&mut self);
}

impl<I: Id> ClearResource for rgraph_ir::id::IdVec<I, rgraph_plan::devices::DeviceCopy> {
    fn clear_resource(&mut self) {
        self.iter_mut().for_each(|copy| copy.resource = None);
    }
}

#[test]
fn graphs_of_parts_that_differ_from_the_declaration_are_found() {
    let (graph, [_, _, right, ..]) = halves();
    let plan = planned(&graph, 2).expect("it can be planned");
    let parts: Vec<Graph> = part_graphs(&graph, &plan).iter().map(|part| part.graph.clone()).collect();
    let found = |change: &dyn Fn(&mut Graph)| {
        let mut parts = parts.clone();
        parts.iter_mut().for_each(change);
        check_devices(&graph, &plan, &parts).into_iter().map(|finding| finding.rule).collect::<Vec<_>>()
    };
    assert_eq!(found(&|_| ()), []);
    assert!(found(&|part| part.resource_mut(right).life = Life::Transient).contains(&Rule::Resource));
    let undefined = Life::Imported(Imported { defined: false, ..Imported::default() });
    assert!(found(&|part| part.resource_mut(right).life = undefined).contains(&Rule::Resource));
    let stray = |part: &mut Graph| {
        part.pass("stray", PassQueue::Graphics);
    };
    assert!(found(&stray).contains(&Rule::Passes));
    let other = |part: &mut Graph| part.access(Id::new(0), right, &Use::new(rgraph_ir::access::Usage::Sampled), None);
    assert!(found(&other).contains(&Rule::Passes));
    assert!(check_devices(&graph, &plan, &parts[1..]).iter().any(|finding| finding.rule == Rule::Malformed));
}

#[test]
fn a_history_is_copied_from_its_home_and_after_alone_orders_devices() {
    let mut g = Graph::new("history", [64, 64]);
    let now = g.image("now", Format::Rgba8unorm);
    let past = g.image("past", Format::Rgba8unorm);
    g.resource_mut(past).life = Life::History(History { of: now, frames: 1, zero_first: true });
    let out = g.image("out", Format::Rgba8unorm);
    g.pass("draw", PassQueue::Graphics).color(now);
    g.pass("mix", PassQueue::Graphics).sampled(past).color(out);
    g.root(now);
    g.root(out);
    let [draw, mix] = ["draw", "mix"].map(|name| g.find_pass(name).expect("it is declared above"));
    g.order_after(draw, mix);
    (g.pass_mut(draw).device, g.pass_mut(mix).device) = (Some(0), Some(1));
    let plan = planned(&g, 2).expect("it can be planned");
    assert_eq!(checked(&g, &plan), []);
    let copied: Vec<_> = plan.copies.iter().map(|copy| (copy.resource, copy.from.index(), copy.to.index())).collect();
    assert_eq!(copied, [(Some(past), 0, 1), (None, 1, 0)], "{}", devices_listing(&g, &plan));
    let mut unordered = plan.clone();
    let last = plan.copies.ids().last().expect("there are two");
    unordered.copies = plan.copies.iter().take(1).copied().collect();
    unordered.steps.retain(|step| !matches!(step, DeviceStep::Send(copy) | DeviceStep::Receive(copy) if *copy == last));
    assert!(checked(&g, &unordered).iter().any(|finding| finding.rule == Rule::Order));
}

#[test]
fn open_passes_are_shared_out_where_that_pays_and_the_plan_says_what_it_expects() {
    let mut g = Graph::new("chains", [64, 64]);
    for chain in 0..4 {
        let out = g.image(&format!("out {chain}"), Format::Rgba8unorm);
        for step in 0..4 {
            g.pass(&format!("{chain}/{step}"), PassQueue::Graphics).color(out);
            let pass = g.find_pass(&format!("{chain}/{step}")).expect("it is declared above");
            g.pass_mut(pass).weight_us = Some(1000.0);
        }
        g.root(out);
    }
    let plan = planned(&g, 2).expect("it can be planned");
    assert_eq!(checked(&g, &plan), []);
    assert_eq!((plan.parts.len(), plan.copies.len()), (2, 0), "{}", devices_listing(&g, &plan));
    assert!(plan.report.frame_us < 0.6 * plan.report.one_device_us, "{:?}", plan.report);
    // Chains that one pass joins, over a slow link: nothing is gained, and the plan says so.
    let mut slow = Profile::discrete();
    slow.copy_us = 1e6;
    let all = g.image("all", Format::Rgba8unorm);
    let mut join = g.pass("join", PassQueue::Graphics);
    for chain in 0..4 {
        join = join.sampled(ResourceId::new(chain));
    }
    join.color(all);
    g.root(all);
    let profiles = [slow.clone(), slow];
    let plan = plan_devices(&g, &profiles, &Options::default(), &mut Scratch::default()).expect("it can be planned");
    assert_eq!((plan.parts.len(), checked(&g, &plan)), (1, vec![]));
    assert!(plan.report.notes[0].contains("all passes run on device 0"), "{:?}", plan.report.notes);
}

#[test]
fn what_cannot_be_done_is_refused_in_words() {
    let (mut g, _) = halves();
    let pass = g.find_pass("join").expect("it is declared");
    g.pass_mut(pass).device = Some(7);
    let error = planned(&g, 2).expect_err("there are two devices").to_string();
    assert!(error.contains("RG-E212 pass \"join\" runs on device 7, and there are 2 devices"), "{error}");
    assert!(error.contains("use a device from 0 to 1, or \"any\""), "{error}");
    let error = planned(&g, 1).expect_err("there is one device").to_string();
    assert!(error.contains("there is one device"), "{error}");
    // Samples cannot be copied.
    let mut g = Graph::new("samples", [64, 64]);
    let many = g.image("many", Format::Rgba8unorm);
    if let rgraph_plan::resource::Kind::Image(image) = &mut g.resource_mut(many).kind {
        image.samples = Some(4);
    }
    let out = g.image("out", Format::Rgba8unorm);
    g.pass("draw", PassQueue::Graphics).color(many);
    g.pass("read", PassQueue::Graphics).sampled(many).color(out);
    g.root(out);
    let [draw, read] = ["draw", "read"].map(|name| g.find_pass(name).expect("it is declared above"));
    (g.pass_mut(draw).device, g.pass_mut(read).device) = (Some(0), Some(1));
    let error = planned(&g, 2).expect_err("samples cannot be copied").to_string();
    assert!(error.contains("\"many\" cannot be copied between devices"), "{error}");
    g.pass_mut(read).device = None;
    let plan = planned(&g, 2).expect("one device has both");
    assert_eq!(plan.parts.len(), 1);
}

#[test]
fn files_of_plans_give_equal_plans_and_name_every_mistake() {
    use rgraph_files::{read_devices_plan, write_devices_plan};
    let (graph, _) = halves();
    let plan = planned(&graph, 2).expect("it can be planned");
    let text = write_devices_plan(&plan);
    assert_eq!(read_devices_plan(text.as_bytes(), "halves.rdevices.json").expect("it was written"), plan);
    let wrong = text.replace("\"do\": \"run\"", "\"do\": \"ran\"").replace("\"from\": 1", "\"from\": -1");
    let error =
        read_devices_plan(wrong.as_bytes(), "wrong.rdevices.json").expect_err("two words are wrong").to_string();
    assert!(error.contains("did you mean \"run\"") && error.contains("must be 0 or more"), "{error}");
    let error = read_devices_plan(b"{\"rdevices\": 2}", "new.rdevices.json").expect_err("of another version");
    assert!(error.to_string().contains("RG-E222"), "{error}");
}

/// A graph in the line format of corners, its passes on devices in turn.
fn in_turn(text: &str, devices: &[u32]) -> Graph {
    let mut graph = corner::graph(text);
    for (pass, device) in graph.passes().ids().collect::<Vec<_>>().into_iter().zip(devices) {
        graph.pass_mut(pass).device = Some(*device);
    }
    graph
}

#[test]
fn a_pass_is_on_a_device_with_the_mips_that_it_generates() {
    let graph = in_turn(
        "image b mips=3 root
         image c root
         pass zero compute effects: storage_write b mips=2..3
         pass one compute: storage_write b generate_mips
         pass two graphics: color c",
        &[0, 0, 1],
    );
    let plan = planned(&graph, 2).expect("it is planned");
    assert_eq!(checked(&graph, &plan), []);
    assert_eq!(plan.parts.len(), 2);
    let names: Vec<_> = plan.parts.iter().flat_map(|part| &part.passes).map(|pass| graph.pass_name(*pass)).collect();
    let place = |name| names.iter().position(|other| *other == name);
    assert!(place("zero") < place("one"), "{names:?}");
}

#[test]
fn a_history_that_another_device_reads_parts_no_group() {
    let text = "buffer a 256 root
         buffer before history_of=a
         buffer o 256 root
         pass fill compute: dst a transfer=fill
         pass add compute: storage_read_write a unordered
         pass far compute: storage_read before; storage_write o";
    let graph = in_turn(text, &[0, 0, 1]);
    let plan = planned(&graph, 2).expect("it is planned");
    assert_eq!((plan.parts.len(), checked(&graph, &plan)), (2, vec![]));
}

#[test]
fn groups_that_a_culled_pass_parts_stay_apart_on_a_device() {
    let text = "buffer a 256
         buffer o 256 root
         image c root
         pass fill compute: dst a transfer=fill
         pass first compute: storage_write a unordered
         pass look compute: storage_read a
         pass second compute: storage_read_write a unordered; storage_write o
         pass draw graphics: color c";
    let graph = in_turn(text, &[0, 0, 0, 0, 1]);
    let plan = planned(&graph, 2).expect("it is planned");
    assert_eq!(checked(&graph, &plan), []);
    let parts = part_graphs(&graph, &plan);
    let part = &parts.iter().find(|part| part.passes.len() == 3).expect("a part without \"look\"").graph;
    assert!(part.accesses().iter().all(|access| !access.unordered), "they are ordered where the culled pass was");
    // The checker finds groups that became one.
    let mut graphs: Vec<Graph> = parts.iter().map(|part| part.graph.clone()).collect();
    let at = graphs.iter().position(|graph| graph.passes().len() == 3).unwrap();
    let mut joined = Graph::new(graphs[at].name(), graphs[at].reference_size());
    let old = &graphs[at];
    for (id, resource) in old.resources().iter_ids() {
        joined.add_resource(old.resource_name(id), resource.clone(), None);
    }
    for (id, pass) in old.passes().iter_ids() {
        let new = joined.add_pass(old.pass_name(id), pass.clone(), None);
        for access in old.accesses().iter().filter(|access| access.pass == id) {
            let unordered = access.resource == graph.find_resource("a").unwrap() && access.transfer.is_none();
            let how = Use { load: access.load, transfer: access.transfer, unordered, ..Use::new(access.usage) };
            joined.access(new, access.resource, &how, None);
        }
    }
    old.roots().iter().for_each(|root| joined.root(*root));
    graphs[at] = joined;
    let found = check_devices(&graph, &plan, &graphs);
    assert!(found.iter().any(|finding| finding.rule == Rule::Order), "{found:?}");
}

#[test]
fn a_culled_pass_hands_on_its_order_on_devices_too() {
    let graph = in_turn(
        "image one root
         image two root
         image three root
         pass first graphics effects: color one
         pass between compute after=first:
         pass last graphics after=between effects: color two
         pass other graphics: color three",
        &[0, 0, 0, 1],
    );
    let plan = planned(&graph, 2).expect("it is planned");
    assert_eq!(checked(&graph, &plan), []);
    let parts = part_graphs(&graph, &plan);
    let part = &parts.iter().find(|part| part.passes.len() == 2).expect("a part of two passes").graph;
    let [later, earlier] = ["last", "first"].map(|name| part.find_pass(name).unwrap());
    assert_eq!(part.orderings(), [(later, earlier)]);
}
