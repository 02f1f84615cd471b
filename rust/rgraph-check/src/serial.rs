//! A declaration as one serial list of what has to happen: for those who compute what a graph means.
//!
//! The list comes from the same facts that the checker works with, so it shares nothing with the planner.

use rgraph_ir::access::{Aspects, Load, Usage};
use rgraph_ir::graph::{Clear, FlagId, Graph, PassId};
use rgraph_ir::id::Id;
use rgraph_ir::resource::ResourceId;

use crate::facts::{Choice, DeclaredUse, Facts, Inserted, known_effective};

/// A graph's work in one of the serial orders that its declaration allows; they all mean the same.
#[derive(Clone, Debug)]
pub struct Serial {
    /// Passes and what the declaration demands without naming it, in order; those nobody needs too.
    pub steps: Vec<Operation>,
    /// By resource: the first name of its memory; of a history, of the memory that it remembers.
    pub memory: Vec<ResourceId>,
    /// By resource: how many frames ago it looks; 0 unless a history.
    pub frames_ago: Vec<u32>,
    /// By resource that is a memory: how many copies take turns, frame by frame.
    pub copies: Vec<u32>,
}

/// See [`Serial::steps`].
#[derive(Clone, Debug)]
pub struct Operation {
    /// What it does.
    pub what: OperationKind,
    /// The flag that switches it.
    pub flag: Option<FlagId>,
    /// Whether what somebody outside sees depends on it.
    pub needed: bool,
    /// What it uses; of a pass: its accesses in the order of their declaration.
    pub uses: Vec<ResolvedAccess>,
}

/// What a step does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperationKind {
    /// A pass of the (flattened) declaration.
    Pass(PassId),
    /// Fills a mip level from the one before.
    Mips {
        image: ResourceId,
        /// The level that is filled.
        level: u32,
    },
    /// Fills mip 0 of an image from mip 0 of the one of another size that it modifies.
    Scaled { from: ResourceId, to: ResourceId },
}

/// A resource as a step uses it, with nothing left unsaid.
#[derive(Clone, Debug)]
pub struct ResolvedAccess {
    pub resource: ResourceId,
    /// What is done with it.
    pub usage: Usage,
    /// Mip levels, half-open.
    pub mips: [u32; 2],
    /// Array layers, half-open.
    pub layers: [u32; 2],
    pub aspects: Aspects,
    /// Bytes of a buffer, half-open.
    pub bytes: [u64; 2],
    /// Whether it writes.
    pub writes: bool,
    /// Whether what it does not cover stays as it was (of attachments: see the load operations).
    pub keeps: bool,
    /// Whether it commutes with its neighbours.
    pub unordered: bool,
    /// Load operation of colour or depth.
    pub load: Load,
    /// Load operation of stencil.
    pub stencil_load: Load,
    /// The clear value.
    pub clear: Option<Clear>,
    /// What a resolve attachment resolves.
    pub resolves: Option<ResourceId>,
    choices: Vec<Choice>,
}

impl ResolvedAccess {
    fn new(at: &DeclaredUse) -> Self {
        Self {
            resource: at.resource,
            usage: at.usage,
            mips: at.part.mips,
            layers: at.part.layers,
            aspects: at.part.aspects,
            bytes: at.part.bytes,
            writes: at.writes,
            keeps: !at.keeps.is_empty(),
            unordered: at.unordered,
            load: at.load,
            stencil_load: at.stencil_load,
            clear: at.clear,
            resolves: at.resolves,
            choices: at.choices.clone(),
        }
    }

    /// The resource that it is of while the flags are so.
    pub fn effective(&self, on: impl Fn(FlagId) -> bool) -> ResourceId {
        known_effective(self.resource, &self.choices, on)
    }
}

/// The work of a graph, in order. O(accesses × subresources).
pub fn serial(graph: &Graph) -> Serial {
    let flat = graph.flattened();
    let facts = Facts::new(flat.as_ref().unwrap_or(graph), None);
    let steps = crate::interpret::serial_order(&facts).into_iter().filter_map(|at| {
        let declared = &facts.declared_passes[at];
        let what = match (declared.declared, declared.inserted) {
            (Some(pass), _) => OperationKind::Pass(PassId::new(pass.index())),
            (None, Some(Inserted::Mips { resource, level, .. })) => OperationKind::Mips { image: resource, level },
            (None, Some(Inserted::Scaled { from, to })) => OperationKind::Scaled { from, to },
            (None, None) => return None,
        };
        Some(Operation {
            what,
            flag: declared.flag,
            needed: facts.needed[at],
            uses: declared.uses.iter().map(ResolvedAccess::new).collect(),
        })
    });
    Serial {
        steps: steps.collect(),
        memory: facts.memory.iter().map(|memory| memory.first_name()).collect(),
        frames_ago: facts.frames_ago.as_slice().to_vec(),
        copies: facts.ring.as_slice().to_vec(),
    }
}
