//! The hash of a declaration: every field of every noun counts, and no two values of one meet.

use std::collections::HashMap;

use rgraph_ir::access::{
    Accesses, Aspects, Layout, Load, MemoryDomain, PassQueue, ResolveMode, Sharing, Stages, Transfer, Usage,
};
use rgraph_ir::error::{Code, Mistake};
use rgraph_ir::feature::Features;
use rgraph_ir::format::Format;
use rgraph_ir::graph::{Clear, FlagId, Graph, Pass, PassId, Place, Ranges, ShaderNeed, UnitId, Use};
use rgraph_ir::id::Id;
use rgraph_ir::resource::{
    Axis, Buffer, History, Image, Imported, Kind, Leave, Life, Mips, Resource, ResourceId, Round, Size,
};

/// A graph with two passes, an image, a buffer and one access; `make` changes it.
fn graph(how: &Use, make: impl FnOnce(&mut Graph, [PassId; 2], [ResourceId; 2])) -> Graph {
    let mut graph = Graph::new("graph", [8, 8]);
    let image = graph.add_resource("image", Resource::image(Image::default()), None);
    let buffer = graph.add_resource("buffer", Resource::buffer(64), None);
    let passes = ["one", "two"].map(|name| graph.add_pass(name, Pass::new(PassQueue::Graphics), None));
    graph.access(passes[0], image, how, None);
    make(&mut graph, passes, [image, buffer]);
    graph
}

fn plain() -> Use {
    Use::new(Usage::Sampled)
}

fn passes() -> Vec<(String, Graph)> {
    let base = Pass::new(PassQueue::Graphics);
    let weight = |us| Pass { weight_us: Some(us), ..base.clone() };
    // Which shader needs them is for messages.
    let needs = |features| Pass { needs: vec![ShaderNeed { shader: "lit".into(), features }], ..base.clone() };
    let all = [
        Pass { queue: PassQueue::Any, ..base.clone() },
        Pass { queue: PassQueue::Cpu, ..base.clone() },
        weight(0.0),
        weight(1.0),
        weight(f64::from_bits(u64::MAX)),
        Pass { unit: Some(UnitId::new(0)), ..base.clone() },
        Pass { unit: Some(UnitId::new(1)), ..base.clone() },
        Pass { device: Some(0), ..base.clone() },
        Pass { device: Some(u32::MAX - 1), ..base.clone() },
        Pass { device: Some(u32::MAX), ..base.clone() },
        Pass { side_effects: true, ..base.clone() },
        Pass { conditional: Some(FlagId::new(0)), ..base.clone() },
        Pass { conditional: Some(FlagId::new(1)), ..base.clone() },
        Pass { setup: true, ..base.clone() },
        Pass { unordered: true, ..base.clone() },
        needs(Features::RAY_QUERY),
        needs(Features::MESH_SHADER),
        needs(Features::RAY_QUERY | Features::MESH_SHADER),
    ];
    let one = |pass: Pass| (format!("{pass:?}"), graph(&plain(), |graph, [_, two], _| *graph.pass_mut(two) = pass));
    all.into_iter().map(one).collect()
}

fn accesses() -> Vec<(String, Graph)> {
    let ranges = |ranges| Use { ranges, ..plain() };
    let detail = |change: fn(&mut Use)| {
        let mut how = plain();
        change(&mut how);
        how
    };
    let all = [
        Use::new(Usage::StorageRead),
        Use { stages: Stages::COMPUTE_SHADER, ..plain() },
        Use { stages: Stages::from_bits_retain(1 << 31), ..plain() },
        Use { aspects: Aspects::DEPTH, ..plain() },
        Use { load: Some(Load::Load), ..plain() },
        Use { load: Some(Load::Discard), ..plain() },
        Use { stencil_load: Some(Load::Load), ..plain() },
        Use { transfer: Some(Transfer::Copy), ..plain() },
        Use { transfer: Some(Transfer::Blit), ..plain() },
        Use { generate_mips: true, ..plain() },
        Use { unordered: true, ..plain() },
        ranges(Ranges { mips: Some([0, 0]), ..Ranges::default() }),
        ranges(Ranges { mips: Some([0, 1]), ..Ranges::default() }),
        ranges(Ranges { mips: Some([u32::MAX; 2]), ..Ranges::default() }),
        ranges(Ranges { layers: Some([0, 1]), ..Ranges::default() }),
        ranges(Ranges { layers: Some([u32::MAX; 2]), ..Ranges::default() }),
        ranges(Ranges { bytes: Some([0, 0]), ..Ranges::default() }),
        ranges(Ranges { bytes: Some([0, 1]), ..Ranges::default() }),
        ranges(Ranges { bytes: Some([u64::MAX, 0]), ..Ranges::default() }),
        detail(|how| how.details.clear = Some(Clear::Color([0.0; 4]))),
        detail(|how| how.details.clear = Some(Clear::Color([0.0, 0.0, 0.0, 1.0]))),
        detail(|how| how.details.clear = Some(Clear::Depth(0.0, None))),
        detail(|how| how.details.clear = Some(Clear::Depth(1.0, None))),
        detail(|how| how.details.clear = Some(Clear::Depth(0.0, Some(0)))),
        detail(|how| how.details.clear = Some(Clear::Depth(0.0, Some(u32::MAX)))),
        detail(|how| how.details.resolves = Some(ResourceId::new(0))),
        detail(|how| how.details.resolves = Some(ResourceId::new(1))),
        detail(|how| how.details.resolve_mode = Some(ResolveMode::ALL[0])),
        detail(|how| how.details.resolve_mode = Some(ResolveMode::ALL[1])),
    ];
    let mut list: Vec<_> = all.iter().map(|how| (format!("{how:?}"), graph(how, |_, _, _| {}))).collect();
    let again = |to: usize| graph(&plain(), |graph, [_, two], ids| graph.access(two, ids[to], &plain(), None));
    list.extend([("of another pass".to_owned(), again(0)), ("to another resource".to_owned(), again(1))]);
    list
}

fn kinds() -> Vec<Kind> {
    let size = |x, y, z| Some(Size { x, y, z, round: Round::Down });
    let (texels, id) = (Axis::Texels(1), ResourceId::new(0));
    let image = Image::default();
    let sized = |size| Image { size, ..image.clone() };
    let images = [
        Image { format: Some(Format::Rgba8unorm), ..image.clone() },
        Image { format: Some(Format::R32float), ..image.clone() },
        sized(size(texels, texels, None)),
        sized(size(Axis::Texels(2), texels, None)),
        sized(size(texels, Axis::Texels(2), None)),
        sized(size(texels, texels, Some(texels))),
        sized(size(Axis::Scaled(None, 1.0), texels, None)),
        sized(size(Axis::Scaled(None, 0.5), texels, None)),
        sized(size(Axis::Scaled(Some(id), 1.0), texels, None)),
        sized(Some(Size { x: texels, y: texels, z: None, round: Round::Up })),
        Image { layers: Some(0), ..image.clone() },
        Image { layers: Some(u32::MAX), ..image.clone() },
        Image { mips: Some(Mips::Full), ..image.clone() },
        Image { mips: Some(Mips::Count(0)), ..image.clone() },
        Image { mips: Some(Mips::Count(u32::MAX)), ..image.clone() },
        Image { samples: Some(0), ..image.clone() },
        Image { samples: Some(4), ..image.clone() },
        Image { cube: true, ..image },
    ];
    let buffers = [
        Buffer { size: None, acceleration_structure: false },
        Buffer { size: Some(0), acceleration_structure: false },
        Buffer { size: Some(64), acceleration_structure: false },
        Buffer { size: Some(u64::MAX), acceleration_structure: false },
        Buffer { size: Some(64), acceleration_structure: true },
    ];
    images.into_iter().map(Kind::Image).chain(buffers.into_iter().map(Kind::Buffer)).collect()
}

fn resources() -> Vec<(String, Graph)> {
    let base = Resource::image(Image::default());
    let history = History { of: ResourceId::new(0), frames: 1, zero_first: false };
    let imported = Imported::default();
    let lives = [
        Life::Persistent,
        Life::History(history),
        Life::History(History { of: ResourceId::new(1), ..history }),
        Life::History(History { frames: 2, ..history }),
        Life::History(History { zero_first: true, ..history }),
        Life::Imported(imported),
        Life::Imported(Imported { layout: Some(Layout::Undefined), ..imported }),
        Life::Imported(Imported { layout: Some(Layout::General), ..imported }),
        Life::Imported(Imported { queue: Some(PassQueue::Graphics), ..imported }),
        Life::Imported(Imported { queue: Some(PassQueue::Any), ..imported }),
        Life::Imported(Imported { stages: Stages::COPY, ..imported }),
        Life::Imported(Imported { access: Accesses::TRANSFER_READ, ..imported }),
        Life::Imported(Imported { defined: false, ..imported }),
        Life::Imported(Imported { wait: true, ..imported }),
        Life::Imported(Imported { signal: true, ..imported }),
    ];
    let leaves = [
        Leave { layout: None, queue: None },
        Leave { layout: Some(Layout::Undefined), queue: None },
        Leave { layout: Some(Layout::General), queue: None },
        Leave { layout: None, queue: Some(PassQueue::Graphics) },
        Leave { layout: None, queue: Some(PassQueue::Any) },
    ];
    let mut all: Vec<Resource> = kinds().into_iter().map(|kind| Resource { kind, ..base.clone() }).collect();
    all.extend(lives.map(|life| Resource { life, ..base.clone() }));
    all.extend(leaves.map(|leave| Resource { leave: Some(leave), ..base.clone() }));
    all.extend([0, 1].map(|at| Resource { modifies: Some(ResourceId::new(at)), ..base.clone() }));
    all.extend([Sharing::ALL[0], Sharing::ALL[1]].map(|one| Resource { sharing: Some(one), ..base.clone() }));
    let domains = MemoryDomain::ALL.iter();
    all.extend(domains.map(|domain| Resource { memory_domain: Some(*domain), ..base.clone() }));
    let one = |resource: Resource| {
        (format!("{resource:?}"), graph(&plain(), |graph, _, [image, _]| *graph.resource_mut(image) = resource))
    };
    all.into_iter().map(one).collect()
}

type Change = fn(&mut Graph, [PassId; 2], [ResourceId; 2]);

fn links() -> Vec<(String, Graph)> {
    let all: [(&str, Change); 21] = [
        ("a pass", |graph, _, _| _ = graph.add_pass("three", Pass::new(PassQueue::Any), None)),
        ("a pass of another name", |graph, _, _| _ = graph.add_pass("four", Pass::new(PassQueue::Any), None)),
        ("a resource", |graph, _, _| _ = graph.add_resource("three", Resource::buffer(64), None)),
        ("a root", |graph, _, [image, _]| graph.root(image)),
        ("another root", |graph, _, [_, buffer]| graph.root(buffer)),
        ("two roots", |graph, _, ids| ids.into_iter().for_each(|id| graph.root(id))),
        ("roots in another order", |graph, _, ids| ids.into_iter().rev().for_each(|id| graph.root(id))),
        ("an order", |graph, [one, two], _| graph.order_after(two, one)),
        ("the reverse order", |graph, [one, two], _| graph.order_after(one, two)),
        ("a fallback", |graph, [one, _], [image, buffer]| graph.fallback(one, image, buffer)),
        ("a fallback of another pass", |graph, [_, two], [image, buffer]| graph.fallback(two, image, buffer)),
        ("the reverse fallback", |graph, [one, _], [image, buffer]| graph.fallback(one, buffer, image)),
        ("a flag", |graph, _, _| _ = graph.flag("x")),
        ("another flag", |graph, _, _| _ = graph.flag("y")),
        ("an occupancy class", |graph, _, _| _ = graph.unit("x")),
        ("a module", |graph, _, _| _ = graph.add_slot("x", None)),
        ("another module", |graph, _, _| _ = graph.add_slot("y", None)),
        ("a module in a module", |graph, _, _| {
            let outer = graph.add_slot("x", None);
            graph.add_slot("y", Some(outer));
        }),
        ("two modules", |graph, _, _| ["x", "y"].into_iter().for_each(|name| _ = graph.add_slot(name, None))),
        ("a pass in a module", |graph, [one, _], _| {
            let slot = graph.add_slot("x", None);
            graph.pass_mut(one).slot = Some(slot);
        }),
        ("a mistake", |graph, _, _| graph.add_mistake(Mistake::new(Code::NoRoot, "x", ""))),
    ];
    let mut list: Vec<_> = all.map(|(what, change)| (what.to_owned(), graph(&plain(), change))).into();
    let mistake =
        |code, message, help| graph(&plain(), |graph, _, _| graph.add_mistake(Mistake::new(code, message, help)));
    list.extend([
        ("a mistake of another code".to_owned(), mistake(Code::Cycle, "x", "")),
        ("another mistake".to_owned(), mistake(Code::NoRoot, "y", "")),
        ("a mistake with a help".to_owned(), mistake(Code::NoRoot, "x", "y")),
        ("another name".to_owned(), Graph::new("other", [8, 8])),
        ("another width".to_owned(), Graph::new("graph", [9, 8])),
        ("another height".to_owned(), Graph::new("graph", [8, 9])),
    ]);
    list
}

#[test]
fn every_field_of_every_noun_changes_the_hash_in_its_own_way() {
    let mut all = vec![("nothing".to_owned(), graph(&plain(), |_, _, _| {}))];
    all.extend(passes());
    all.extend(accesses());
    all.extend(resources());
    all.extend(links());
    assert!(all.len() > 100, "{}", all.len());
    // Pairs are compared: Miri takes minutes for a few.
    all.truncate(if cfg!(miri) { 12 } else { all.len() });
    let mut known: HashMap<u128, &str> = HashMap::new();
    for (what, graph) in &all {
        if let Some(other) = known.insert(graph.content_hash(), what) {
            panic!("{what}\nhas the hash of\n{other}");
        }
        let equal: Vec<_> = all.iter().filter(|(_, other)| other == graph).map(|(what, _)| what).collect();
        assert_eq!(equal, [what]);
        assert_eq!(graph, &graph.clone());
    }
}

#[test]
fn places_and_the_order_of_accesses_of_different_passes_do_not_change_the_hash() {
    let place = || Some(Place { file: "x.py".into(), line: 3 });
    let both = |reverse: bool, place: &dyn Fn() -> Option<Place>| {
        let mut graph = Graph::new("graph", [8, 8]);
        let image = graph.add_resource("image", Resource::image(Image::default()), place());
        let passes = ["one", "two"].map(|name| graph.add_pass(name, Pass::new(PassQueue::Graphics), place()));
        let mut order = passes;
        if reverse {
            order.reverse();
        }
        order.into_iter().for_each(|pass| graph.access(pass, image, &plain(), place()));
        graph
    };
    assert_eq!(both(false, &|| None), both(true, &place));
    assert_eq!(both(false, &|| None).content_hash(), both(true, &place).content_hash());
}
