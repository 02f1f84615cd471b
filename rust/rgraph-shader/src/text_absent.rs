//! WGSL without the feature `wgsl`: each text is refused.

use std::convert::Infallible;
use std::marker::PhantomData;

use rgraph_ir::error::Code;

use crate::constant::{Constants, SpecConstant};
use crate::error::{self, ShaderError};
use crate::interface::Length;
use crate::stage::Stage;
use crate::stage_interface::StageInterface;

/// A text of WGSL; there is none.
pub(crate) struct Text<'a> {
    never: Infallible,
    texts: PhantomData<&'a ()>,
}

impl<'a> Text<'a> {
    /// Refuses a text, which may be the vertex stage supplied for a fragment stage alone.
    pub(crate) fn new(name: &'a str, _: &'a str) -> Result<Self, ShaderError> {
        let message = "it is WGSL, and this build has no WGSL compiler".to_owned();
        let help = "switch on the feature `wgsl`, or give SPIR-V, with a vertex stage for each fragment stage";
        Err(error::plain(Code::BadShader, name, message, help))
    }

    /// No entry point.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (Stage, &str)> {
        std::iter::empty()
    }

    /// No constants.
    pub(crate) fn constants(&self) -> Vec<SpecConstant> {
        match self.never {}
    }

    /// No values.
    pub(crate) fn specialize(&mut self, _: &Constants) -> Result<(), ShaderError> {
        match self.never {}
    }

    /// No values.
    pub(crate) fn assume_values(&mut self) {
        match self.never {}
    }

    /// No lengths.
    pub(crate) fn set_lengths(&mut self, _: &[Length]) {
        match self.never {}
    }

    /// No stage.
    pub(crate) fn part(&self, _: Stage, _: &str) -> Result<StageInterface, ShaderError> {
        match self.never {}
    }
}
