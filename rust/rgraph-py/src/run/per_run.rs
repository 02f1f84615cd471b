//! Clear values, loads and viewports of a pass that may differ from run to run. Like arrays, functions for them are
//! those of the graph that is run, so graphs of equal declarations share what was compiled.

use pyo3::prelude::*;
use rgraph_plan::graph::PassId;

/// An argument that may differ from run to run.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Word {
    /// Colours of the colour attachments.
    Clear,
    /// Their loads.
    Load,
    /// Depth, or depth and stencil.
    ClearDepth,
    /// Load of the depth attachment.
    LoadDepth,
    /// Viewport of all draws.
    Viewport,
}

impl Word {
    /// All of them by name.
    const ALL: [(&'static str, Self); 5] = [
        ("clear", Self::Clear),
        ("load", Self::Load),
        ("clear_depth", Self::ClearDepth),
        ("load_depth", Self::LoadDepth),
        ("viewport", Self::Viewport),
    ];

    /// The one of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, word)| *word)
    }

    /// The load that decides whether a clear value is used.
    pub fn load(self) -> Option<Self> {
        match self {
            Self::Clear => Some(Self::Load),
            Self::ClearDepth => Some(Self::LoadDepth),
            Self::Load | Self::LoadDepth | Self::Viewport => None,
        }
    }
}

/// An argument of a pass that a function gives at each run.
pub struct PerRun {
    pub pass: PassId,
    /// The argument.
    pub word: Word,
    /// A function without arguments; or the clear value beside a function for the load.
    pub value: Py<PyAny>,
}

impl PerRun {
    /// The same, held once more.
    pub fn copy(&self, py: Python<'_>) -> Self {
        Self { pass: self.pass, word: self.word, value: self.value.clone_ref(py) }
    }
}
