//! What a declaration says, read by the naive planner itself: sizes, memories, and a serial order of passes.

use std::collections::BTreeSet;

use rgraph_plan::access::Usage;
use rgraph_plan::format::Format;
use rgraph_plan::graph::{Access, Graph, PassId};
use rgraph_plan::id::Id;
use rgraph_plan::resource::{Axis, Kind, Life, Mips, ResourceId};

/// Width, mips, layers, samples, format of an image.
#[derive(Clone, Copy)]
pub(super) struct Picture {
    pub(super) size: [u32; 3],
    pub(super) mips: u32,
    pub(super) layers: u32,
    pub(super) samples: u32,
    pub(super) format: Format,
    pub(super) volume: bool,
    pub(super) cube: bool,
}

pub(super) fn picture(graph: &Graph, id: ResourceId) -> Option<Picture> {
    let resource = &graph.resources()[id];
    let image = resource.as_image()?;
    let base = resource.modifies.or(match resource.life {
        Life::History(history) => Some(history.of),
        _ => None,
    });
    let base = base.and_then(|base| picture(graph, base));
    let [width, height] = graph.reference_size();
    let axis = |axis: Axis, at: usize| match axis {
        Axis::Texels(n) => n,
        Axis::Scaled(None, scale) => (f64::from([width, height, 1][at]) * scale) as u32,
        Axis::Scaled(Some(of), scale) => (f64::from(picture(graph, of).unwrap().size[at]) * scale) as u32,
    };
    let size = match (image.size, base) {
        (Some(size), _) => [axis(size.x, 0), axis(size.y, 1), size.z.map_or(1, |z| axis(z, 2))],
        (None, Some(base)) => base.size,
        (None, None) => [width, height, 1],
    };
    let full = size.iter().max().unwrap().ilog2() + 1;
    Some(Picture {
        size,
        mips: match image.mips {
            None => base.map_or(1, |base| base.mips),
            Some(Mips::Full) => full,
            Some(Mips::Count(n)) => n,
        },
        layers: image.layers.or(base.map(|base| base.layers)).unwrap_or(if image.cube { 6 } else { 1 }),
        samples: image.samples.or(base.map(|base| base.samples)).unwrap_or(1),
        format: image.format.or(base.map(|base| base.format)).unwrap(),
        volume: image.size.map_or(base.is_some_and(|base| base.volume), |size| size.z.is_some()),
        cube: image.cube || base.is_some_and(|base| base.cube),
    })
}

pub(super) fn bytes(graph: &Graph, id: ResourceId) -> u64 {
    match (&graph.resources()[id].kind, picture(graph, id)) {
        (Kind::Buffer(buffer), _) => buffer.size.unwrap_or_else(|| match graph.resources()[id].life {
            Life::History(history) => bytes(graph, history.of),
            _ => bytes(graph, graph.resources()[id].modifies.unwrap()),
        }),
        (_, Some(p)) => {
            let [width, height] = p.format.block();
            let blocks = |n: u32, m: u32, of: u32| u64::from((n >> m).max(1).div_ceil(of));
            let level = |m: u32| blocks(p.size[0], m, width) * blocks(p.size[1], m, height) * blocks(p.size[2], m, 1);
            let texels: u64 = (0..p.mips).map(level).sum();
            texels * p.format.block_bytes() * u64::from(p.layers) * u64::from(p.samples)
        }
        _ => 0,
    }
}

/// The first name of the memory that a resource lies in; histories of one age are one copy.
pub(super) fn memory(graph: &Graph, id: ResourceId) -> ResourceId {
    if let Life::History(history) = graph.resources()[id].life {
        let same = |other: &ResourceId| graph.resources()[*other].life == Life::History(history);
        return graph.resources().ids().find(same).unwrap_or(id);
    }
    match graph.resources()[id].modifies {
        Some(base) if picture(graph, base).map(|p| p.size) == picture(graph, id).map(|p| p.size) => memory(graph, base),
        _ => id,
    }
}

pub(super) fn chain(graph: &Graph, id: ResourceId) -> u32 {
    if memory(graph, id) == id { 0 } else { 1 + chain(graph, graph.resources()[id].modifies.unwrap()) }
}

/// A step of the serial frame.
#[derive(Clone)]
pub(super) enum Operation {
    Pass(PassId),
    Mip { pass: PassId, resource: ResourceId, level: u32, layers: [u32; 2] },
    Scale { from: ResourceId, to: ResourceId },
}

pub(super) fn writes(usage: Usage) -> bool {
    matches!(
        usage,
        Usage::ColorAttachment
            | Usage::DepthStencilAttachment
            | Usage::ResolveAttachment
            | Usage::StorageWrite
            | Usage::StorageReadWrite
            | Usage::TransferDst
            | Usage::HostWrite
            | Usage::AccelerationBuild
            | Usage::AccelerationUpdate
            | Usage::AccelerationScratch
    )
}

/// A serial order that means what the declaration means.
pub(super) fn serial(graph: &Graph) -> Vec<Operation> {
    let count = graph.passes().len();
    let mut before = vec![BTreeSet::new(); count];
    let accesses = graph.accesses();
    let key = |access: &Access| {
        let position = access.pass.index();
        let own = |a: &&Access| a.resource == access.resource && writes(a.usage);
        let first = accesses.iter().filter(own).map(|a| a.pass.index()).min();
        let resource = &graph.resources()[access.resource];
        let transient = resource.life.is_of_frame() && resource.modifies.is_none();
        let chain = chain(graph, access.resource);
        match first {
            Some(first) if transient && !writes(access.usage) && first > position => (chain, first, 1),
            _ => (chain, position, 0),
        }
    };
    let edge = |before: &mut Vec<BTreeSet<usize>>, a: &Access, b: &Access| {
        if a.pass != b.pass && (writes(a.usage) || writes(b.usage)) {
            if key(a) < key(b) {
                before[b.pass.index()].insert(a.pass.index());
            } else {
                before[a.pass.index()].insert(b.pass.index());
            }
        }
    };
    for (at, a) in accesses.iter().enumerate() {
        for b in &accesses[at + 1..] {
            let scaled = |x: ResourceId, y: ResourceId| graph.resources()[y].modifies == Some(x);
            if memory(graph, a.resource) == memory(graph, b.resource) {
                edge(&mut before, a, b);
            } else if scaled(a.resource, b.resource) && writes(a.usage) {
                before[b.pass.index()].insert(a.pass.index());
            } else if scaled(b.resource, a.resource) && writes(b.usage) {
                before[a.pass.index()].insert(b.pass.index());
            }
        }
    }
    for fallback in graph.fallbacks() {
        for reader in accesses.iter().filter(|a| a.resource == fallback.output && a.pass != fallback.pass) {
            for access in accesses.iter().filter(|a| memory(graph, a.resource) == memory(graph, fallback.input)) {
                if writes(access.usage) && access.pass < reader.pass {
                    before[reader.pass.index()].insert(access.pass.index());
                }
            }
        }
    }
    for (later, earlier) in graph.orderings() {
        before[later.index()].insert(earlier.index());
    }
    let mut steps = Vec::new();
    let mut done = vec![false; count];
    let mut scaled = BTreeSet::new();
    while let Some(next) = (0..count).find(|&p| !done[p] && before[p].iter().all(|b| done[*b])) {
        done[next] = true;
        let pass = PassId::new(next);
        for access in accesses.iter().filter(|a| a.pass == pass) {
            let to = memory(graph, access.resource);
            if let Some(from) = graph.resources()[to].modifies
                && scaled.insert(to)
            {
                steps.push(Operation::Scale { from, to });
            }
        }
        steps.push(Operation::Pass(pass));
        for access in accesses.iter().filter(|a| a.pass == pass && a.generate_mips) {
            let p = picture(graph, access.resource).unwrap();
            let ranges = graph.ranges_of(access);
            for level in ranges.mips.map_or(1, |[_, end]| end)..p.mips {
                let layers = ranges.layers.unwrap_or([0, p.layers]);
                steps.push(Operation::Mip { pass, resource: access.resource, level, layers });
            }
        }
    }
    assert!(done.iter().all(|d| *d), "the generated graph {} has a cycle", graph.name());
    steps
}
