//! Declarations at random, mostly nonsense: whatever is declared is answered, and what is accepted is resolved.

use rgraph_plan::access::{Aspects, Layout, Load, PassQueue, ResolveMode, Stages, Transfer, Usage};
use rgraph_plan::format::Format;
use rgraph_plan::graph::{Clear, Details, Graph, Pass, PassId, Ranges, Use};
use rgraph_plan::id::{Id, IdVec};
use rgraph_plan::inside::resolve::{Facts, Source, resolve};
use rgraph_plan::inside::size::{MAX_BYTES, ShapeScratch, shapes};
use rgraph_plan::inside::validate::mistakes::of_problems;
use rgraph_plan::inside::validate::{ValidateScratch, validate};
use rgraph_plan::profile::Profile;
use rgraph_plan::resource::{
    Axis, Buffer, History, Image, Imported, Kind, Leave, Life, Mips, Resource, ResourceId, Round, Size,
};

/// SplitMix64.
pub struct Dice(pub u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }

    /// True once in `of` times.
    fn once(&mut self, of: u64) -> bool {
        self.roll(of) == 0
    }

    fn rarely<T>(&mut self, of: u64, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.once(of).then(|| make(self))
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len() as u64) as usize]
    }

    fn number(&mut self) -> f64 {
        self.pick(&[0.0, 0.5, 1.0, 2.0, 0.25, 1.0, -1.0, f64::NAN, f64::INFINITY, 1e300])
    }

    fn count(&mut self) -> u32 {
        self.pick(&[1, 1, 2, 3, 4, 6, 0, 65_537, u32::MAX])
    }

    fn range(&mut self) -> [u32; 2] {
        let first = self.roll(3) as u32;
        [first, self.pick(&[first, first + 1, first + 1, first + 2, 1, u32::MAX])]
    }

    fn resource(&mut self, count: usize) -> ResourceId {
        ResourceId::new(self.roll(count as u64 + u64::from(self.0.is_multiple_of(64))) as usize)
    }

    fn axis(&mut self, count: usize) -> Axis {
        if self.once(2) {
            Axis::Texels(self.pick(&[1, 8, 16, 64, 64, 0, u32::MAX]))
        } else {
            let of = self.rarely(2, |dice| dice.resource(count));
            let scale = if self.once(8) { self.number() } else { 1.0 };
            Axis::Scaled(of, scale)
        }
    }
}

const FORMATS: [Format; 6] = [
    Format::Rgba8unorm,
    Format::Rgba8unorm,
    Format::R32uint,
    Format::Depth32float,
    Format::Depth24plusStencil8,
    Format::Bc1RgbaUnorm,
];

fn a_resource(dice: &mut Dice, wild: u64, count: usize) -> Resource {
    let mut resource = if dice.once(4) {
        let size = if dice.once(wild) { dice.pick(&[0, u64::MAX]) } else { 256 };
        let buffer = Buffer { size: (!dice.once(wild)).then_some(size), acceleration_structure: dice.once(wild) };
        Resource { kind: Kind::Buffer(buffer), ..Resource::buffer(1) }
    } else {
        let size = |dice: &mut Dice| Size {
            x: dice.axis(count),
            y: dice.axis(count),
            z: dice.rarely(wild, |dice| dice.axis(count)),
            round: if dice.once(2) { Round::Up } else { Round::Down },
        };
        Resource::image(Image {
            format: (!dice.once(wild)).then(|| dice.pick(&FORMATS)),
            size: dice.rarely(wild, size),
            layers: dice.rarely(wild, Dice::count),
            mips: dice.rarely(3, |dice| if dice.once(wild) { Mips::Count(dice.count()) } else { Mips::Full }),
            samples: dice.rarely(wild, Dice::count),
            cube: dice.once(wild * 2),
        })
    };
    resource.life = match dice.roll(8 + wild) {
        0 => Life::Persistent,
        1 | 2 => Life::Imported(Imported {
            layout: dice.rarely(3, |dice| dice.pick(Layout::ALL)),
            queue: dice.rarely(3, |dice| dice.pick(PassQueue::ALL)),
            defined: !dice.once(3),
            ..Imported::default()
        }),
        3 => Life::History(History { of: dice.resource(count), frames: dice.count(), zero_first: dice.once(2) }),
        _ => Life::Transient,
    };
    if let (Life::History(_), Kind::Image(image)) = (&resource.life, &mut resource.kind) {
        *image = Image::default();
    }
    resource.modifies = dice.rarely(wild, |dice| dice.resource(count));
    resource.leave = dice.rarely(wild * 2, |dice| Leave {
        layout: dice.rarely(2, |dice| dice.pick(Layout::ALL)),
        queue: dice.rarely(2, |dice| dice.pick(PassQueue::ALL)),
    });
    resource
}

/// A usage that goes with a resource, or any at all.
fn a_usage(dice: &mut Dice, wild: u64, resource: Option<&Resource>) -> Usage {
    use Usage::*;
    let format = resource.and_then(Resource::as_image).map(|image| image.format.map(Format::is_depth_stencil));
    match format {
        _ if dice.once(wild) => dice.pick(Usage::ALL),
        Some(Some(true)) => dice.pick(&[DepthStencilAttachment, DepthStencilRead, Sampled, TransferSrc]),
        Some(_) => dice.pick(&[ColorAttachment, ColorAttachment, Sampled, InputAttachment, StorageWrite, TransferDst]),
        None => dice.pick(&[StorageRead, StorageWrite, StorageReadWrite, Uniform, Vertex, Indirect, TransferDst]),
    }
}

fn a_use(dice: &mut Dice, wild: u64, count: usize, resource: Option<&Resource>) -> Use {
    let ranges = Ranges {
        mips: dice.rarely(wild, Dice::range),
        layers: dice.rarely(wild * 2, Dice::range),
        bytes: dice.rarely(wild * 2, |dice| dice.range().map(u64::from)),
    };
    let clear = |dice: &mut Dice| match dice.once(2) {
        true => Clear::Color([dice.number(), 0.0, 0.0, 1.0]),
        false => Clear::Depth(dice.number(), dice.rarely(2, Dice::count)),
    };
    let details = Details {
        clear: dice.rarely(wild * 2, clear),
        resolves: dice.rarely(wild * 4, |dice| dice.resource(count)),
        resolve_mode: dice.rarely(wild * 4, |dice| dice.pick(ResolveMode::ALL)),
    };
    Use {
        stages: dice.rarely(wild * 2, |dice| Stages::from_bits_truncate(1 << dice.roll(21))).unwrap_or_default(),
        ranges,
        aspects: dice.rarely(wild, |dice| Aspects::from_bits_truncate(dice.roll(8) as u8)).unwrap_or_default(),
        load: dice.rarely(wild, |dice| dice.pick(Load::ALL)),
        stencil_load: dice.rarely(wild, |dice| dice.pick(Load::ALL)),
        details,
        transfer: dice.rarely(wild, |dice| dice.pick(Transfer::ALL)),
        generate_mips: dice.once(wild),
        unordered: dice.once(wild),
        ..Use::new(a_usage(dice, wild, resource))
    }
}

/// A graph of a few resources and passes; the larger `wild`, the rarer nonsense.
pub fn a_graph(dice: &mut Dice, wild: u64) -> Graph {
    let mut graph = Graph::new("random", [64, if dice.once(64) { 0 } else { 64 }]);
    let count = 1 + dice.roll(6) as usize;
    for at in 0..count {
        let resource = a_resource(dice, wild, count);
        graph.add_resource(&format!("r{at}"), resource, None);
    }
    let passes = 1 + dice.roll(5) as usize;
    for at in 0..passes {
        let queue = if dice.once(wild) { dice.pick(PassQueue::ALL) } else { PassQueue::Graphics };
        let mut pass = Pass::new(queue);
        pass.weight_us = dice.rarely(wild, Dice::number);
        pass.side_effects = dice.once(3);
        if dice.once(4) {
            pass.conditional = Some(graph.flag("flag"));
        }
        let id = graph.add_pass(&format!("p{at}"), pass, None);
        for _ in 0..dice.roll(4) {
            let resource = dice.resource(count);
            let how = a_use(dice, wild, count, graph.resources().get(resource));
            graph.access(id, resource, &how, None);
        }
        if dice.once(4 + wild) {
            graph.fallback(id, dice.resource(count), dice.resource(count));
        }
        if dice.once(4 + wild) {
            graph.order_after(id, PassId::new(dice.roll(passes as u64 + 1) as usize));
        }
    }
    if dice.once(2) {
        graph.root(ResourceId::new(dice.roll(count as u64) as usize));
    }
    graph
}

#[test]
fn whatever_is_declared_is_answered_and_what_is_accepted_can_be_resolved() {
    let mut dice = Dice(7);
    let (mut sized, mut scratch, mut facts) = (ShapeScratch::default(), ValidateScratch::default(), Facts::default());
    let (mut out, mut accepted, mut resolved) = (IdVec::new(), 0, 0);
    for round in 0..40_000 {
        let wild = [2, 4, 12, 40, 100][round % 5];
        let graph = a_graph(&mut dice, wild);
        let profile = match round % 3 {
            0 => Profile::discrete(),
            1 => Profile::minimal(),
            _ => Profile { queues: Profile::discrete().queues.split_off(1), ..Profile::discrete() },
        };
        let (mut problems, mut later) = (Vec::new(), Vec::new());
        shapes(&graph, &profile, &mut out, &mut sized, &mut problems);
        assert!(out.iter().all(|shape| shape.bytes >= 1 && shape.bytes <= MAX_BYTES && shape.align.is_power_of_two()));
        let found = validate(&graph, &profile, &out, &sized, &problems, &mut scratch);
        assert_eq!(
            problems.is_empty(),
            problems.iter().all(|_| found.mistakes.is_empty()),
            "every problem becomes a mistake"
        );
        assert!(found.mistakes.iter().all(|mistake| !mistake.help.is_empty()));
        if found.resolvable {
            resolve(Source { graph: &graph, shapes: &out }, &mut facts, &mut later);
            assert_eq!(of_problems(&graph, &out, &later).is_empty(), later.is_empty());
            resolved += 1;
            accepted += u32::from(found.mistakes.is_empty());
        }
    }
    assert!(accepted > 400 && resolved > 2 * accepted, "{accepted} accepted, {resolved} resolved");
}
