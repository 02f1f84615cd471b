//! A finding of the checker: the broken rule, where, and how to fix it.

use std::fmt;

/// Defines the rules with their names in files and messages.
macro_rules! rules {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)+) => {
        /// A rule that a plan can break.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[non_exhaustive]
        pub enum Rule { $($(#[$doc])* $variant,)+ }

        impl Rule {
            /// Every rule.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Its name: stable, in snake case.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

rules! {
    /// An id, span or range points nowhere, or commands stand where they cannot.
    Malformed = "malformed",
    /// The plan is of another graph.
    WrongGraph = "wrong_graph",
    /// A needed pass is missing, runs twice, or a pass runs that should not.
    Passes = "passes",
    /// A pass stands before one that the declaration puts first.
    Order = "order",
    /// A pass runs on a queue that the declaration does not name or that cannot do it.
    Queue = "queue",
    /// A stage or access that the queue's capabilities do not have.
    UnsupportedStage = "unsupported_stage",
    /// A read of a write that is not ordered, available and visible.
    ReadAfterWrite = "read_after_write",
    /// A write over a read that may not have happened yet.
    WriteAfterRead = "write_after_read",
    /// A write over a write that is not ordered, available and visible.
    WriteAfterWrite = "write_after_write",
    /// Two queues use the same memory at once, and one of them writes.
    Race = "race",
    /// The same bytes are used under another name without an alias transition.
    Alias = "alias",
    /// An image is not in the layout that a barrier or a pass says, or in one that the use cannot have.
    Layout = "layout",
    /// A read of contents that nothing wrote, or that were destroyed.
    Undefined = "undefined",
    /// An exclusive resource is used by a family that does not own it, or its release and acquire differ.
    Ownership = "ownership",
    /// A semaphore value that does not grow, or a wait that nothing satisfies.
    Semaphore = "semaphore",
    /// An event waited for before it is set, or with another dependency.
    Event = "event",
    /// A render pass's attachments or their load and store operations are wrong.
    Attachment = "attachment",
    /// A resource's name, kind, life, lifetime or memory, or what that is made for, differs from the graph's.
    Resource = "resource",
    /// A pass has another flag, or readers get another fallback, than the graph says.
    Flags = "flags",
    /// A resource has no place, lies outside its heap, or has too few bytes.
    Placement = "placement",
    /// An edge of an imported, persistent or history resource is missing or wrong.
    Edge = "edge",
    /// An import is used before the wait for its other user, or after the signal to it.
    Foreign = "foreign",
    /// A resource is not left in the state that the declaration wants.
    Leave = "leave",
    /// An inserted pass is not what the declaration demands.
    Inserted = "inserted",
    /// A set holds passes that are ordered or share bytes, or a pass is in a later set than it need be.
    Sets = "sets",
    /// Packets of passes are sorted together that the declaration or the plan orders.
    Packets = "packets",
    /// The list of copies differs from the passes that copy.
    Copies = "copies",
    /// Modelled times contradict each other, the order, or the bound of the frame.
    Time = "time",
    /// A pass runs on another device than declared, or a device lacks the contents that a pass, a result or the next
    /// frame needs.
    Device = "device",
    /// A pass needs an optional feature that the profile of the plan lacks.
    Feature = "feature",
    /// The plan is too large to be checked.
    TooLarge = "too_large",
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One violation.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Finding {
    /// The rule broken.
    pub rule: Rule,
    /// The pass at which it shows, if one is meant.
    pub pass: Option<String>,
    /// The resource, if one is meant.
    pub resource: Option<String>,
    /// One sentence: both sides, and what is missing.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.message)
    }
}

/// Findings without repetitions, at most so many.
pub(crate) struct Findings {
    list: Vec<Finding>,
    known: std::collections::HashSet<Finding>,
    most: usize,
}

impl Default for Findings {
    fn default() -> Self {
        Self { list: Vec::new(), known: std::collections::HashSet::new(), most: Self::MOST }
    }
}

impl Findings {
    /// No plan needs more reasons to be refused than this.
    const MOST: usize = 1000;

    /// For those who ask only whether there is one.
    pub(crate) fn first() -> Self {
        Self { most: 1, ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn add(&mut self, rule: Rule, pass: Option<&str>, resource: Option<&str>, message: String) {
        if self.is_full() {
            return;
        }
        let finding = Finding { rule, pass: pass.map(str::to_owned), resource: resource.map(str::to_owned), message };
        if self.known.insert(finding.clone()) {
            self.list.push(finding);
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= self.most
    }

    pub(crate) fn into_vec(self) -> Vec<Finding> {
        self.list
    }
}
