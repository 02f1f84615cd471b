//! Attachments and viewports of a pass that a run changes.

use rgraph_plan::access::Load;
use rgraph_plan::graph::Clear;

/// An attachment of a pass.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Target {
    /// The colour attachment at this position among those of the pass, in the order of declaration.
    Color(u32),
    /// Depth and stencil.
    Depth,
}

/// What a run changes of a pass that draws; for that run only.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum TargetChange {
    /// The clear value of an attachment. A pass that is declared to load it clears it in this run.
    Clear(Target, Clear),
    /// Whether the pass begins with the old contents of an attachment or clears it (to its declared clear value, else
    /// to zeros). A pass that is declared to clear or to discard cannot load.
    Load(Target, Load),
    /// Viewport and scissor `[x, y, width, height]` in texels, of all draws of the pass.
    Viewport([f32; 4]),
}
