//! What somebody outside sees of a run, in symbols: what the declaration's interpreter and the plan's executor both
//! say, so that they can be compared.

use std::collections::BTreeMap;
use std::fmt;

use rgraph_ir::access::Usage;
use rgraph_ir::graph::Clear;
use rgraph_ir::id::{Id, IdVec};
use rgraph_ir::plan::BatchId;
use rgraph_ir::resource::ResourceId;

use crate::facts::{DeclaredUse, Facts, SubresourceUse};
use crate::finding::Finding;
use crate::ids::{FlagStates, SubresourceId, UseId};

/// What somebody outside can see: by frame, the symbols of roots, imported, persistent and remembered resources
/// subresource by subresource, and of what passes with side effects read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// By frame: name and subresource, and its symbol (`None`: undefined).
    pub frames: Vec<BTreeMap<String, Option<u128>>>,
}

impl Outcome {
    /// The first difference in words, or `None` if both are equal.
    pub fn difference(&self, other: &Self) -> Option<String> {
        for (frame, (a, b)) in self.frames.iter().zip(&other.frames).enumerate() {
            for (name, symbol) in a {
                match b.get(name) {
                    Some(same) if same == symbol => {}
                    Some(_) => return Some(format!("{name} differs in frame {frame}")),
                    None => return Some(format!("{name} is missing in frame {frame}")),
                }
            }
            if let Some(name) = b.keys().find(|name| !a.contains_key(*name)) {
                return Some(format!("{name} is additional in frame {frame}"));
            }
        }
        (self.frames.len() != other.frames.len()).then(|| "the numbers of frames differ".to_owned())
    }
}

/// Why a plan computes nothing that could be compared.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// It cannot be walked at all.
    Malformed(Vec<Finding>),
    /// Every queue waits.
    Deadlock {
        /// Batches at the heads of their queues.
        batches: Vec<BatchId>,
    },
    /// Two legal interleavings of its queues compute different things.
    Diverges {
        /// Seed of the interleaving.
        seed: u64,
        /// What differs.
        what: String,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(findings) => {
                let first = findings.first().map_or_else(|| "unknown".to_owned(), ToString::to_string);
                write!(f, "the plan cannot be run: {first}")
            }
            Self::Deadlock { batches } => {
                let batches: Vec<_> = batches.iter().map(|batch| batch.index()).collect();
                write!(f, "every queue waits, at batches {batches:?}")
            }
            Self::Diverges { seed, what } => write!(f, "interleaving {seed} computes something else: {what}"),
        }
    }
}

impl std::error::Error for Fault {}

/// A subresource whose contents somebody outside sees at the end of a frame.
pub(crate) struct Watched {
    pub resource: ResourceId,
    pub subresource: SubresourceId,
    pub name: String,
}

impl Watched {
    /// True if the contents of the subresource count under these flags: the output of a pass that is switched
    /// off has none if it has a fallback.
    pub(crate) fn counts(&self, facts: &Facts, flags: &FlagStates) -> bool {
        let writers = &facts.writers[facts.memory[self.resource]][self.subresource];
        let replaced = |u: &&SubresourceUse| {
            let declared = &facts.declared_passes[u.declared];
            !facts.runs(u.declared, flags) && declared.outputs.contains(&declared.uses[u.at].resource)
        };
        let last = writers.iter().rev().find(|u| facts.runs(u.declared, flags) || replaced(u));
        !last.as_ref().is_some_and(replaced)
    }
}

/// Pieces whose contents somebody outside sees, as far as needed work accesses them.
pub(crate) fn watched(facts: &Facts) -> Vec<Watched> {
    let mut accessed = IdVec::filled(false, facts.memory.len());
    for (declared, needed) in facts.declared_passes.iter().zip(&facts.needed) {
        for at in declared.uses.iter().filter(|_| *needed) {
            accessed[facts.memory[at.resource]] = true;
        }
    }
    let mut watched = Vec::new();
    for resource in facts.memory.ids().filter(|resource| facts.frames_ago[*resource] == 0) {
        let memory = facts.memory[resource];
        let root = facts.graph.roots().contains(&resource);
        if !accessed[memory] || !root && !facts.edged[memory] {
            continue;
        }
        let grid = &facts.grids[memory];
        // What nobody reads, in this frame or the next, may be left out.
        for subresource in grid.ids().filter(|subresource| facts.is_kept(memory, *subresource)) {
            let name = format!("\"{}\" {}", facts.name(resource), grid.describe(subresource)).trim_end().to_owned();
            watched.push(Watched { resource, subresource, name });
        }
    }
    watched
}

/// What a clear leaves.
pub(crate) fn cleared(clear: Option<Clear>) -> u128 {
    let words: Vec<u128> = match clear {
        None => Vec::new(),
        Some(Clear::Color(color)) => color.iter().map(|c| u128::from(c.to_bits())).collect(),
        Some(Clear::Depth(depth, stencil)) => {
            vec![u128::from(depth.to_bits()), stencil.map_or(u128::MAX, u128::from)]
        }
    };
    symbol("clear", &words)
}

/// The declared load operation of a use, where it has one.
pub(crate) fn is_loaded(at: &DeclaredUse) -> bool {
    matches!(at.usage, Usage::ColorAttachment | Usage::DepthStencilAttachment)
}

/// What a use writes into a subresource of a pass that computes `base`.
pub(crate) fn written(base: u128, number: UseId, subresource: SubresourceId) -> u128 {
    symbol("write", &[base, number.index() as u128, subresource.index() as u128])
}

/// What a resolve writes into a subresource, of samples that may be undefined.
pub(crate) fn resolved(base: u128, number: UseId, subresource: SubresourceId, samples: &[Option<u128>]) -> u128 {
    let undefined = symbol("undefined", &[]);
    let mut parts = vec![base, number.index() as u128, subresource.index() as u128];
    parts.extend(samples.iter().map(|sample| sample.unwrap_or(undefined)));
    symbol("resolve", &parts)
}

/// A 128-bit hash of a word and some symbols: two independent 64-bit mixers (the finalizer of SplitMix64).
pub(crate) fn symbol(word: &str, parts: &[u128]) -> u128 {
    let mut lanes = [0x243f_6a88_85a3_08d3u64, 0x1319_8a2e_0370_7344];
    let mut feed = |value: u64| {
        for (lane, odd) in lanes.iter_mut().zip([0x9e37_79b9_7f4a_7c15u64, 0xd1b5_4a32_d192_ed03]) {
            let mut z = lane.rotate_left(23).wrapping_add(value ^ odd).wrapping_mul(odd);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            *lane = z ^ (z >> 31);
        }
    };
    for chunk in word.as_bytes().chunks(8) {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        feed(u64::from_le_bytes(bytes));
    }
    feed(word.len() as u64);
    for part in parts {
        feed(*part as u64);
        feed((*part >> 64) as u64);
    }
    feed(parts.len() as u64);
    u128::from(lanes[0]) << 64 | u128::from(lanes[1])
}
