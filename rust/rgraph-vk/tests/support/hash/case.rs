//! A seed's graph with all that its passes do, and what several runs of it must compute.

use rgraph_check::generate::Limits;
use rgraph_check::random::Random;
use rgraph_check::serial::{OperationKind as What, ResolvedAccess, Serial, serial};
use rgraph_plan::access::{Aspects, MemoryDomain, Usage};
use rgraph_plan::bake::Options;
use rgraph_plan::bake::Policy;
use rgraph_plan::bake::Split;
use rgraph_plan::budget::MemoryBudget;
use rgraph_plan::graph::{Clear, PassId};
use rgraph_plan::id::Id;
use rgraph_plan::resource::{Life, ResourceId};
use rgraph_vk::Target;

use super::adapt::{Adapted, adapt};
use super::evaluate::{Cleared, Evaluator, Halved, Run, uploaded};
use super::operation::{How, PassOperation, operations};
use super::shape::{CELL, Spot, index};
use super::words::Class;

/// See the module.
pub struct Case {
    pub seed: u64,
    pub adapted: Adapted,
    pub serial: Serial,
    pub operations: Vec<Option<PassOperation>>,
    pub runs: Vec<Run>,
    /// How its plan is made.
    pub options: Options,
    steps: Vec<usize>,
}

/// A texel that is not what it must be.
#[derive(Clone, Debug)]
pub struct Wrong {
    pub resource: String,
    /// Of the first.
    pub what: String,
    /// How many.
    pub words: u32,
}

impl Case {
    /// The case of a seed, with so many runs; `swift` as in [`adapt`].
    pub fn new(seed: u64, limits: Limits, runs: usize, swift: bool) -> Self {
        let adapted = adapt(seed, limits, swift);
        let serial = serial(&adapted.graph);
        let operations = operations(&adapted, &serial, seed);
        let mut random = Random::new(seed ^ 0xf1a6);
        let policies = [Policy::Auto, Policy::Auto, Policy::Declared, Policy::Overlap, Policy::Weighted];
        let splits = [Split::Never, Split::Never, Split::Distance, Split::Always];
        let mut rest = Random::new(seed ^ 0xb0d6);
        let budgets = [MemoryBudget::Balanced, MemoryBudget::Balanced, MemoryBudget::Least, MemoryBudget::Fast];
        let batches = [Options::default().max_batches, Options::default().max_batches, Some(1), Some(3)];
        let options = Options {
            policy: *random.pick(&policies),
            split: *random.pick(&splits),
            effort: random.below(3) as u32,
            memory: *rest.pick(&budgets),
            max_batches: *rest.pick(&batches),
            ..Options::default()
        };
        let graph = &adapted.graph;
        let mut evaluator = Evaluator::new(graph, &adapted.shapes, &serial, &operations);
        let imported: Vec<ResourceId> = graph
            .resources()
            .iter_ids()
            .filter(|(id, resource)| {
                matches!(resource.life, Life::Imported(imported) if imported.defined) && Some(*id) != adapted.pattern
            })
            .map(|(id, _)| id)
            .collect();
        let mut out = Vec::new();
        for run in 0..runs as u32 {
            let flags: Vec<bool> = graph.flags().iter().map(|_| random.chance(2, 3)).collect();
            let uploads: Vec<_> =
                imported.iter().filter(|_| run == 0 || random.chance(1, 3)).map(|id| (*id, run)).collect();
            let cleared = cleared(&serial, &operations, &mut random);
            out.push(evaluator.run(&flags, &uploads, cleared, halved(&operations, &mut rest)));
        }
        let mut steps = vec![0; graph.passes().len()];
        for (at, step) in serial.steps.iter().enumerate() {
            if let What::Pass(pass) = step.what {
                steps[pass.index()] = at;
            }
        }
        Self { seed, adapted, operations, runs: out, options, steps, serial }
    }

    /// Leaves memory that a device has not to the runtime.
    pub fn keep_domains(&mut self, has: impl Fn(MemoryDomain, bool) -> bool) {
        for id in self.adapted.graph.resources().ids() {
            let resource = self.adapted.graph.resource_mut(id);
            let image = resource.as_image().is_some();
            resource.memory_domain = resource.memory_domain.filter(|domain| has(*domain, image));
        }
    }

    /// A pass's accesses, resolved.
    pub fn uses(&self, pass: PassId) -> &[ResolvedAccess] {
        &self.serial.steps[self.steps[pass.index()]].uses
    }

    /// What is uploaded of a resource.
    pub fn upload(&self, resource: ResourceId, version: u32) -> Vec<u8> {
        let shape = &self.adapted.shapes[index(resource)];
        let word = |cell: usize| {
            let class = shape.class(cell);
            class.stored(uploaded(resource, cell, version, class)).to_le_bytes()
        };
        let mut bytes = Vec::new();
        if !shape.is_image() {
            for cell in 0..shape.cells() {
                (0..CELL / 4).for_each(|_| bytes.extend(word(cell)));
            }
            return bytes;
        }
        let [width, height, depth] = shape.level(0);
        for layer in 0..shape.layers {
            for _ in 0..height * depth {
                for x in 0..width {
                    let half = u32::from(x >= width / 2);
                    bytes.extend(word(shape.cell(Spot { mip: 0, layer, aspect: 0, half })));
                }
            }
        }
        bytes
    }

    /// Compares what was read back of a root; returns the number of texels compared and the first that is wrong.
    pub fn compare(&self, run: usize, root: usize, bytes: &[u8]) -> (u64, Option<Wrong>) {
        let (resource, cells) = &self.runs[run].roots[root];
        let shape = &self.adapted.shapes[index(*resource)];
        let name = self.adapted.graph.resource_name(*resource).to_owned();
        let mut compared = 0;
        let mut first: Option<Wrong> = None;
        let mut look = |cell: usize, texel: &[u8], place: &dyn Fn() -> String| {
            let Some(wanted) = cells[cell] else { return };
            let class = shape.class(cell);
            let got = shape.format.map_or(Class::Uint.loaded(rgraph_plan::format::Format::R32uint, texel), |format| {
                class.loaded(format, texel)
            });
            compared += 1;
            if got == wanted {
                return;
            }
            if let Some(first) = &mut first {
                first.words += 1;
            } else {
                first = Some(Wrong {
                    resource: name.clone(),
                    words: 1,
                    what: format!("{}: {got:#010x}, not {wanted:#010x}", place()),
                });
            }
        };
        if !shape.is_image() {
            for (at, word) in bytes.chunks_exact(4).enumerate() {
                look(at / (CELL / 4) as usize, word, &|| format!("word {at}"));
            }
            return (compared, first);
        }
        let [width, height, depth] = shape.level(0);
        let texels = width * height * depth * shape.layers;
        let size = bytes.len() / texels as usize;
        for (at, texel) in (0..texels).zip(bytes.chunks_exact(size)) {
            let (x, layer) = (at % width, at / (width * height * depth));
            let half = u32::from(x >= width / 2);
            let cell = shape.cell(Spot { mip: 0, layer, aspect: 0, half });
            look(cell, texel, &|| format!("texel {at} (layer {layer}, x {x})"));
        }
        (compared, first)
    }
}

/// Clear values of a run: some attachments that are cleared get another one, some that are loaded are cleared.
fn cleared(serial: &Serial, operations: &[Option<PassOperation>], random: &mut Random) -> Cleared {
    let mut out = Cleared::new();
    for step in &serial.steps {
        let What::Pass(pass) = step.what else { continue };
        let draws = operations[pass.index()].as_ref().is_some_and(|one| matches!(one.how, How::Raster { .. }));
        if !draws || step.uses.iter().any(|access| access.usage == Usage::InputAttachment) {
            continue;
        }
        let colors = step.uses.iter().filter(|access| access.usage == Usage::ColorAttachment);
        for at in 0..colors.count() as u32 {
            if random.chance(1, 4) {
                let word = f64::from(random.below(1 << 16) as u32);
                out.insert((pass, Target::Color(at)), Clear::Color([word, 0.0, 0.0, 0.0]));
            }
        }
        let tested = step.uses.iter().any(|access| access.usage == Usage::DepthStencilRead);
        let depth = |access: &&ResolvedAccess| {
            access.usage == Usage::DepthStencilAttachment && access.aspects.contains(Aspects::DEPTH)
        };
        if !tested && step.uses.iter().any(|access| depth(&access)) && random.chance(1, 4) {
            let depth = f64::from(random.below(1 << 16) as u32) / 65535.0;
            out.insert((pass, Target::Depth), Clear::Depth(depth, None));
        }
    }
    out
}

/// Draws of a run that reach left halves only.
fn halved(operations: &[Option<PassOperation>], random: &mut Random) -> Halved {
    let draws = operations.iter().flatten().filter_map(|operation| match operation.how {
        How::Raster { size, half: false, .. } if size[0] > 1 => Some((operation.pass, size)),
        _ => None,
    });
    draws.filter(|_| random.chance(1, 8)).collect()
}
