//! A certificate of a plan: for each hazard pair the chain of synchronization that covers it, as data that a
//! verifier of its own checks.
//!
//! `listing`, `uses` and `attachments` flatten a plan into *links* ([`Link`]: entries of barriers, waits, subpass
//! dependencies, the runtime's entries and exits) and *accesses* ([`Access`]: one stage and access kind of a pass on
//! some subresources, or a layout transition), both at steps of one time line. `pairs` compares all accesses of the
//! same bytes, within a run and one run apart. `write` searches a shortest chain of links per pair, one sweep per
//! earlier access. `verify` knows neither the search nor the walk of [`check`](crate::check) and has tables of its own:
//! it enumerates the pairs by brute force and follows each chain link by link.
//!
//! A pair needs no chain of its own if an unconditional access is between the two and forms a pair with both: the two
//! chains meet at its stage. The same holds where writes to other memories, between the two, together replace all bytes
//! that the two share. An access made by a link (a transition) begins or ends its chain with that link.
//!
//! A certificate covers every run. A chain that begins in the run before begins as well in any run before that, since a
//! first scope reaches back without limit. Between runs the runtime passes a resource from exit to entry on one queue;
//! other queues need a chain. In one place the certificate is stricter than the checker: a subpass dependency orders
//! nothing outside its render pass.

mod attachments;
mod bytes;
mod listing;
mod pairs;
mod uses;
mod verify;
mod words;
mod write;

use std::fmt;

use rgraph_ir::access::{Accesses, Layout, Stages};
use rgraph_ir::graph::{FlagId, Graph};
use rgraph_ir::plan::{Plan, QueueId, Scope};
use serde::{Deserialize, Serialize};

use crate::facts::Facts;
use crate::finding::Findings;
use crate::form;
use crate::ids::DeclaredOf;
pub use crate::ids::{MemoryId, Subpass, SubresourceId, UnorderedGroupId};
use crate::structure;
use listing::Listing;

rgraph_ir::id! {
    /// A part of a plan's synchronization: position in [`Certificate::links`].
    pub struct LinkId;
    /// A use of memory: position in [`Certificate::accesses`].
    pub struct AccessId;
    /// A chain: position in [`Certificate::chains`].
    pub struct ChainId;
    /// A render pass of the plan, in plan order; counted from 1 in JSON.
    pub struct RenderPassId;
}

/// The proof that a plan covers all hazards of a graph.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// Version of the format: 1.
    pub certificate: u32,
    /// Name of the graph.
    pub graph: String,
    /// Content hash of the graph, in hexadecimal.
    pub graph_hash: String,
    /// All synchronization of the plan, in plan order.
    pub links: Vec<Link>,
    /// All uses of memory, in plan order.
    pub accesses: Vec<Access>,
    /// Sequences of links, each used by one pair or several.
    pub chains: Vec<Vec<Hop>>,
    /// Hazard pairs and their chains.
    pub pairs: Vec<Pair>,
}

/// A moment of a run: batches, their commands and their ends, one after the other. Counted from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Moment(u32);

impl Moment {
    const FIRST: Self = Self(1);

    fn later_by(self, steps: usize) -> Self {
        Self(self.0 + steps as u32)
    }

    fn before(self) -> Self {
        Self(self.0 - 1)
    }

    /// On a time line on which runs follow each other.
    fn in_line(self) -> i64 {
        i64::from(self.0)
    }
}

/// A link of a chain, in this run or the one before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hop {
    #[serde(with = "words::id")]
    pub link: LinkId,
    /// Whether it stands in the run before that of the pair's later access.
    pub run_before: bool,
}

/// Two uses of one memory of which at least one writes, and the chain between them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// The earlier use.
    #[serde(with = "words::id")]
    pub earlier: AccessId,
    /// The later use.
    #[serde(with = "words::id")]
    pub later: AccessId,
    /// Whether the earlier use stands in the run before.
    pub run_before: bool,
    /// Whether the chain makes the earlier write available and visible; else it orders execution.
    pub data: bool,
    #[serde(with = "words::id")]
    pub chain: ChainId,
}

/// What a part of synchronization is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    /// An entry of a barrier call or of a split barrier.
    Barrier,
    /// An entry of a dependency between subpasses.
    Subpass,
    /// A wait of a batch for a timeline semaphore.
    Wait,
    /// The runtime's barrier before the first use of what outlives a run.
    Entry,
    /// The state in which a run leaves what outlives it.
    Exit,
}

/// A part of a plan's synchronization. Memory dependencies go from its first scope to its second.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// What it is.
    pub kind: LinkKind,
    /// Position in the plan: of a wait in `waits`, of an edge in `edges`, else of the command in `commands`.
    pub position: u32,
    /// Position of the entry among those of its command: memory, buffer, image barriers.
    #[serde(default, skip_serializing_if = "words::is_default")]
    pub entry: u32,
    /// Its queue; the host follows the plan's queues.
    #[serde(with = "words::id")]
    pub queue: QueueId,
    /// The queue whose signal a wait waits for.
    #[serde(default, skip_serializing_if = "words::is_default", with = "words::optional_id")]
    pub signal_queue: Option<QueueId>,
    /// Whether that signal is one of the run before.
    #[serde(default, skip_serializing_if = "words::is_default")]
    pub run_before: bool,
    /// What stands before this step is in its first scope.
    pub enter: Moment,
    /// What stands after this step is in its second scope.
    pub leave: Moment,
    /// Stages of the first scope; logically earlier ones are in it too.
    #[serde(with = "words::flags")]
    pub src_stages: Stages,
    /// Writes that it makes available. A wait makes all available.
    #[serde(with = "words::flags")]
    pub src_access: Accesses,
    /// Stages of the second scope; logically later ones are in it too.
    #[serde(with = "words::flags")]
    pub dst_stages: Stages,
    /// Accesses to which it makes available writes visible. A wait makes them visible to all.
    #[serde(with = "words::flags")]
    pub dst_access: Accesses,
    /// The memory whose writes it makes available and visible; `None`: all memory.
    #[serde(default, skip_serializing_if = "words::is_default")]
    pub region: Option<Region>,
    /// Old and new layout of an image.
    #[serde(default, skip_serializing_if = "words::is_default", with = "words::layouts")]
    pub layouts: Vec<Layout>,
    /// Families between which ownership passes.
    #[serde(default, skip_serializing_if = "words::is_default")]
    pub families: Option<[u32; 2]>,
    /// The render pass that it holds within.
    #[serde(default, skip_serializing_if = "words::is_default", with = "words::from_one")]
    pub render_pass: Option<RenderPassId>,
}

impl Link {
    fn new(kind: LinkKind, position: u32, queue: QueueId, [enter, leave]: [Moment; 2], scope: Scope) -> Self {
        let Scope { src_stages, src_access, dst_stages, dst_access } = scope;
        Self {
            kind,
            position,
            entry: 0,
            queue,
            signal_queue: None,
            run_before: false,
            enter,
            leave,
            src_stages,
            src_access,
            dst_stages,
            dst_access,
            region: None,
            layouts: Vec::new(),
            families: None,
            render_pass: None,
        }
    }
}

/// Subresources of one memory.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// The resource whose first name the memory has: its position in the plan. Declared orders without memory have
    /// numbers behind those of resources.
    #[serde(with = "words::id")]
    pub memory: MemoryId,
    /// How many runs ago this copy of a ring was the current one.
    #[serde(default, skip_serializing_if = "words::is_default")]
    pub copy: u32,
    /// Mip × layer × aspect of an image, intervals of a buffer, in the order of ARCHITECTURE.
    #[serde(with = "words::ids")]
    pub subresources: Vec<SubresourceId>,
}

/// What an image's layout is, and which queue family owns the memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayoutAndOwner {
    /// The layout; any of these where a pass names several; empty: it does not matter.
    #[serde(default, skip_serializing_if = "words::is_default", with = "words::layouts")]
    pub layouts: Vec<Layout>,
    /// The owner twice, or both sides of a transfer under way; `None`: everybody.
    #[serde(default, skip_serializing_if = "words::is_default")]
    pub families: Option<[u32; 2]>,
}

/// How a use meets the texels of the render pass that it stands in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Within {
    /// Not texel by texel.
    Nowhere,
    /// As an attachment: in rasterisation order within a subpass.
    Attachment,
    /// As an input attachment.
    Input,
    /// As source or target of a resolve at the end of the subpass.
    Resolve,
    /// As a store operation behind all that the render pass does to the texel.
    Store,
}

/// One use of memory: a stage and access kind of a pass, or a layout transition, a transfer, an entry, an exit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// The pass; of a transition, the one that it is for.
    pub pass: String,
    pub resource: String,
    /// The link that makes this access: a layout transition, a transfer of ownership, an entry or an exit.
    #[serde(default, skip_serializing_if = "words::is_default", with = "words::optional_id")]
    pub link: Option<LinkId>,
    /// Its step. Uses of one pass have one step.
    pub step: Moment,
    /// Its queue; the host follows the plan's queues.
    #[serde(with = "words::id")]
    pub queue: QueueId,
    /// Its stage; of passes that are only ordered, all of them.
    #[serde(with = "words::flags")]
    pub stages: Stages,
    /// Access kinds, any of which covers it.
    #[serde(with = "words::flags")]
    pub access: Accesses,
    /// Whether it writes.
    pub write: bool,
    /// The memory that it uses.
    pub region: Region,
    /// Unordered accesses of one group commute.
    #[serde(default, skip_serializing_if = "words::is_default", with = "words::from_one")]
    pub group: Option<UnorderedGroupId>,
    /// The render pass that it stands in.
    #[serde(default, skip_serializing_if = "words::is_default", with = "words::from_one")]
    pub render_pass: Option<RenderPassId>,
    #[serde(default, skip_serializing_if = "words::is_default")]
    pub subpass: Subpass,
    /// How it meets the texels of that render pass.
    pub within: Within,
    /// Whether an earlier access of its own pass saw the memory already.
    #[serde(default, skip_serializing_if = "words::is_default")]
    pub inner: bool,
    /// Whether it needs what was in the memory.
    #[serde(default, skip_serializing_if = "words::is_default")]
    pub needs: bool,
    /// Flags that are on or off while it happens.
    #[serde(default, skip_serializing_if = "words::is_default", with = "words::switched_ids")]
    pub flags: Vec<(FlagId, bool)>,
    /// The state that it must find.
    pub before: LayoutAndOwner,
    /// The state that it leaves.
    pub after: LayoutAndOwner,
}

/// Why there is no certificate, or why a certificate proves nothing: one sentence per reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// The reasons, in plan order; at most [`Refused::MOST`].
    pub reasons: Vec<String>,
}

impl Refused {
    /// No certificate needs more reasons to be refused than this.
    pub const MOST: usize = 100;

    fn one(reason: String) -> Self {
        Self { reasons: vec![reason] }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.reasons.join("\n"))
    }
}

impl std::error::Error for Refused {}

impl Certificate {
    /// The certificate as JSON: the same text for the same plan.
    ///
    /// # Panics
    /// Never: every value has a form in JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a certificate has a form in JSON")
    }

    /// Reads what [`Certificate::to_json`] wrote.
    ///
    /// # Errors
    /// If the text is not JSON of this form.
    pub fn from_json(text: &str) -> Result<Self, Refused> {
        serde_json::from_str(text).map_err(|error| Refused::one(format!("this is no certificate: {error}")))
    }
}

/// Lists the plan, if it can be walked at all.
fn list(graph: &Graph, plan: &Plan) -> Result<Listing, Refused> {
    if plan.graph_hash != graph.content_hash() {
        return Err(Refused::one(format!("the plan is of graph \"{}\" with another content", plan.graph)));
    }
    let facts = Facts::new(graph, Some(plan));
    let mut findings = Findings::default();
    let mut declared_of = DeclaredOf::new();
    if form::is_well_formed(&facts, plan, &mut findings) {
        declared_of = structure::passes(&facts, plan, &mut findings);
    }
    if !findings.is_empty() {
        let reasons = findings.into_vec().into_iter().map(|finding| finding.message).take(Refused::MOST).collect();
        return Err(Refused { reasons });
    }
    listing::listed(&facts, plan, &declared_of)
}

/// Proves that a plan covers every hazard of a graph: one chain per pair.
///
/// The same certificate for the same plan. The search looks at each link once per earlier use and subresource of
/// memory.
///
/// # Errors
/// If a hazard pair is not covered, a layout or an owner is not what its use needs, or the plan cannot be walked.
pub fn certificate(graph: &Graph, plan: &Plan) -> Result<Certificate, Refused> {
    write::written(plan, list(graph, plan)?)
}

/// Verifies a certificate of any origin against a plan.
///
/// # Errors
/// If the certificate is of another plan, leaves a hazard pair out, or has a chain that does not hold.
pub fn verify(graph: &Graph, plan: &Plan, certificate: &Certificate) -> Result<(), Refused> {
    let listing = list(graph, plan)?;
    if certificate.certificate != 1 || certificate.graph_hash != format!("{:032x}", plan.graph_hash) {
        return Err(Refused::one("the certificate is of another graph or version".to_owned()));
    }
    verify::verified(&listing, certificate)
}
