//! GLSL without the feature `glsl`: each text is refused.

use std::convert::Infallible;
use std::marker::PhantomData;

use rgraph_ir::error::Code;

use crate::constant::{Constants, SpecConstant};
use crate::error::{self, ShaderError};
use crate::include::Included;
use crate::stage::Stage;
use crate::stage_interface::StageInterface;

/// A text of GLSL; there is none.
pub(crate) struct Glsl<'a> {
    never: Infallible,
    texts: PhantomData<&'a ()>,
}

/// No text.
pub(crate) fn compiled_so_far() -> u64 {
    0
}

impl<'a> Glsl<'a> {
    /// Refuses a text.
    pub(crate) fn new(name: &'a str, _: &'a str, _: &'a Included, _: Stage) -> Result<Self, ShaderError> {
        let message = "it is GLSL, and this build has no GLSL compiler".to_owned();
        Err(error::plain(Code::BadShader, name, message, "switch on the feature `glsl`, or give WGSL or SPIR-V"))
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

    /// No stage.
    pub(crate) fn part(&self, _: Stage, _: &str) -> Result<StageInterface, ShaderError> {
        match self.never {}
    }
}
