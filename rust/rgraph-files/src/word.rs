//! The closed sets of words that files use.

use super::json::{Joined, Word};
use rgraph_ir::access::{
    ACCESS_NAMES, Accesses, Aspects, DECLARED_STAGE_NAMES, Layout, Load, MemoryDomain, PassQueue, ResolveMode,
    STAGE_NAMES, Sharing, Stages, Store, Transfer, Usage, UsageSet,
};
use rgraph_ir::budget::MemoryBudget;
use rgraph_ir::feature::Features;
use rgraph_ir::format::Format;
use rgraph_ir::profile::Capabilities;
use rgraph_ir::resource::Round;

macro_rules! words {
    ($($type:ident: $what:literal;)+) => {$(
        impl Word for $type {
            const WHAT: &'static str = $what;
            fn from_text(text: &str) -> Option<Self> {
                Self::from_name(text)
            }
            fn words() -> Vec<&'static str> {
                Self::ALL.iter().map(|word| word.name()).collect()
            }
        }
    )+};
}

words! {
    Usage: "a usage";
    Transfer: "a transfer command";
    ResolveMode: "a resolve mode";
    Store: "a store operation";
    Sharing: "a way of sharing";
    MemoryDomain: "a memory domain";
    PassQueue: "a queue";
}

impl Word for Layout {
    const WHAT: &'static str = "an image layout";
    fn from_text(text: &str) -> Option<Self> {
        Self::from_name(text)
    }
    fn words() -> Vec<&'static str> {
        Self::ALL.iter().map(|word| word.name()).collect()
    }
    fn others() -> Vec<String> {
        let bare = Self::ALL.iter().filter_map(|word| word.name().strip_suffix("_optimal"));
        let bare = bare.filter(|name| Self::from_name(name).is_some());
        bare.chain(["present_src_khr"]).map(str::to_owned).collect()
    }
}

impl Word for Load {
    const WHAT: &'static str = "a load operation";
    fn from_text(text: &str) -> Option<Self> {
        Self::from_name(text)
    }
    fn words() -> Vec<&'static str> {
        Self::ALL.iter().map(|word| word.name()).collect()
    }
    fn others() -> Vec<String> {
        vec!["dont_care".to_owned()]
    }
}

/// One usage, for lists of them.
impl Word for UsageSet {
    const WHAT: &'static str = Usage::WHAT;
    fn from_text(text: &str) -> Option<Self> {
        Usage::from_name(text).map(Self::of)
    }
    fn words() -> Vec<&'static str> {
        Usage::words()
    }
}

impl Joined for UsageSet {
    const NOTHING: Self = Self::EMPTY;
    fn join(self, other: Self) -> Self {
        self | other
    }
}

impl Word for MemoryBudget {
    const WHAT: &'static str = "a memory budget";
    fn from_text(text: &str) -> Option<Self> {
        Self::from_name(text)
    }
    fn words() -> Vec<&'static str> {
        Self::NAMES.to_vec()
    }
}

impl Word for Format {
    const WHAT: &'static str = "a format";
    fn from_text(text: &str) -> Option<Self> {
        Self::from_name(text)
    }
    fn words() -> Vec<&'static str> {
        Self::all().map(Self::name).chain(Self::all().map(Self::vulkan_name)).collect()
    }
    fn others() -> Vec<String> {
        Self::all().map(|format| format!("VK_FORMAT_{}", format.vulkan_name())).collect()
    }
}

/// Stages, named as in plan files.
impl Word for Stages {
    const WHAT: &'static str = "a pipeline stage";
    fn from_text(text: &str) -> Option<Self> {
        Self::from_word(text)
    }
    fn words() -> Vec<&'static str> {
        STAGE_NAMES.into_iter().chain(["all_transfer"]).collect()
    }
    fn others() -> Vec<String> {
        let short = DECLARED_STAGE_NAMES.into_iter().filter(|name| !STAGE_NAMES.contains(name));
        short.map(str::to_owned).collect()
    }
}

impl Joined for Stages {
    const NOTHING: Self = Self::empty();
    fn join(self, other: Self) -> Self {
        self | other
    }
}

/// Stages, with the shorter names of graph files offered.
pub(super) struct DeclaredStages(pub(super) Stages);

impl Word for DeclaredStages {
    const WHAT: &'static str = "a pipeline stage";
    fn from_text(text: &str) -> Option<Self> {
        Stages::from_word(text).map(Self)
    }
    fn words() -> Vec<&'static str> {
        DECLARED_STAGE_NAMES.into_iter().chain(["all_transfer"]).collect()
    }
    fn others() -> Vec<String> {
        let long = STAGE_NAMES.into_iter().filter(|name| !DECLARED_STAGE_NAMES.contains(name));
        long.map(str::to_owned).collect()
    }
}

impl Joined for DeclaredStages {
    const NOTHING: Self = Self(Stages::empty());
    fn join(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Word for Accesses {
    const WHAT: &'static str = "a kind of access";
    fn from_text(text: &str) -> Option<Self> {
        Self::from_word(text)
    }
    fn words() -> Vec<&'static str> {
        ACCESS_NAMES.to_vec()
    }
}

impl Joined for Accesses {
    const NOTHING: Self = Self::empty();
    fn join(self, other: Self) -> Self {
        self | other
    }
}

impl Word for Aspects {
    const WHAT: &'static str = "an aspect";
    fn from_text(text: &str) -> Option<Self> {
        Self::from_word(text)
    }
    fn words() -> Vec<&'static str> {
        Self::all().names().collect()
    }
}

impl Joined for Aspects {
    const NOTHING: Self = Self::empty();
    fn join(self, other: Self) -> Self {
        self | other
    }
}

impl Word for Features {
    const WHAT: &'static str = "an optional feature";
    fn from_text(text: &str) -> Option<Self> {
        Self::from_name(text)
    }
    fn words() -> Vec<&'static str> {
        Self::all().names().collect()
    }
}

impl Joined for Features {
    const NOTHING: Self = Self::empty();
    fn join(self, other: Self) -> Self {
        self | other
    }
}

impl Word for Capabilities {
    const WHAT: &'static str = "a capability";
    fn from_text(text: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(name, _)| *name == text).map(|(_, capability)| *capability)
    }
    fn words() -> Vec<&'static str> {
        Self::NAMES.iter().map(|(name, _)| *name).collect()
    }
}

impl Joined for Capabilities {
    const NOTHING: Self = Self::empty();
    fn join(self, other: Self) -> Self {
        self | other
    }
}

/// What the first frames of a history read.
pub(super) struct FirstFrame(pub(super) bool);

impl Word for FirstFrame {
    const WHAT: &'static str = "what a history holds at first";
    fn from_text(text: &str) -> Option<Self> {
        match text {
            "zeros" | "zero" => Some(Self(true)),
            "undefined" => Some(Self(false)),
            _ => None,
        }
    }
    fn words() -> Vec<&'static str> {
        vec!["zeros", "undefined"]
    }
    fn others() -> Vec<String> {
        vec!["zero".to_owned()]
    }
}

/// Whether an import's contents mean anything.
pub(super) struct Contents(pub(super) bool);

impl Word for Contents {
    const WHAT: &'static str = "a word for contents";
    fn from_text(text: &str) -> Option<Self> {
        match text {
            "defined" => Some(Self(true)),
            "undefined" => Some(Self(false)),
            _ => None,
        }
    }
    fn words() -> Vec<&'static str> {
        vec!["defined", "undefined"]
    }
}

impl Word for Round {
    const WHAT: &'static str = "a way of rounding";
    fn from_text(text: &str) -> Option<Self> {
        match text {
            "down" => Some(Self::Down),
            "up" => Some(Self::Up),
            _ => None,
        }
    }
    fn words() -> Vec<&'static str> {
        vec!["down", "up"]
    }
}
