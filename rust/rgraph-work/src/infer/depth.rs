//! Depth and stencil targets of draws: which aspect a pass writes, and which one it only tests.

use rgraph_ir::access::{Aspects, Load, Usage};
use rgraph_ir::graph::{Clear, Graph, PassId, Place, Use};
use rgraph_ir::resource::ResourceId;

use super::{AccessRange, DEPTHS, Needs, Used, format_of};
use crate::work::{RasterState, StencilFace, StencilOp};

/// A depth (and stencil) attachment of draws.
#[derive(Clone, Copy, Debug)]
pub struct DepthTarget {
    /// The image.
    pub at: ResourceId,
    pub part: AccessRange,
    /// Clear value. A stencil value clears stencil, too.
    pub clear: Option<Clear>,
    /// Load of depth.
    pub load: Option<Load>,
    pub stencil_load: Option<Load>,
}

impl Needs {
    /// Declares the depth attachment of a draw.
    ///
    /// With `depth_write` off, depth is only tested, and so is stencil unless the stencil test writes. An aspect that
    /// is cleared or discarded is written all the same.
    pub fn depth(&mut self, target: &DepthTarget, state: &RasterState) {
        let DepthTarget { at, part, clear, load, stencil_load } = *target;
        let mut how = Use { ranges: part.ranges, aspects: part.aspects, ..Use::new(Usage::DepthStencilAttachment) };
        how.details.clear = clear;
        how.load = load.or(clear.map(|_| Load::Clear));
        how.stencil_load = match clear {
            Some(Clear::Depth(_, Some(_))) => stencil_load.or(how.load),
            _ => stencil_load,
        };
        let replaces = |load: Option<Load>| load.is_some_and(|load| load != Load::Load);
        let mut tested = Aspects::empty();
        if !state.depth_write {
            tested.set(Aspects::DEPTH, !replaces(how.load));
            tested.set(Aspects::STENCIL, !replaces(how.stencil_load) && !writes_stencil(state));
        }
        let same = |used: &&mut Used| (used.at, &used.how) == (at, &how);
        match self.uses.iter_mut().find(same) {
            Some(used) => used.tested &= tested,
            None => self.uses.push(Used { at, how, resolves: None, tested }),
        }
    }

    /// Makes stencil written if a further draw of the pass writes it.
    pub(crate) fn further_draw(&mut self, state: &RasterState) {
        if writes_stencil(state) {
            for used in &mut self.uses {
                used.tested -= Aspects::STENCIL;
            }
        }
    }
}

/// Whether a stencil test can change a stencil value.
pub fn writes_stencil(state: &RasterState) -> bool {
    let writes = |face: &StencilFace| {
        face.write_mask != 0 && [face.fail, face.depth_fail, face.pass].iter().any(|op| *op != StencilOp::Keep)
    };
    state.stencil.is_some_and(|faces| faces.iter().any(writes))
}

/// Declares an attachment as an access that writes and one that tests, of the aspects that the format has.
pub(super) fn access(
    graph: &mut Graph,
    pass: PassId,
    resource: ResourceId,
    how: Use,
    tested: Aspects,
    place: Option<Place>,
) {
    let format = format_of(graph, resource).map_or(DEPTHS, |format| format.aspects() & DEPTHS);
    let all = if how.aspects.is_empty() { format } else { how.aspects };
    let (tests, writes) = (all & tested, all - tested);
    // One access of all aspects leaves them out, as declarations by hand do.
    let of = |aspects: Aspects| if aspects == all { how.aspects } else { aspects };
    if !tests.is_empty() {
        let read = Use { aspects: of(tests), ranges: how.ranges, ..Use::new(Usage::DepthStencilRead) };
        graph.access(pass, resource, &read, place.clone());
    }
    if !writes.is_empty() || tests.is_empty() {
        graph.access(pass, resource, &Use { aspects: of(writes), ..how }, place);
    }
}
