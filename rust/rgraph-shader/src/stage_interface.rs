//! One stage of a program as it comes out of a text or a SPIR-V module, before stages are joined.

use crate::block::{Scalar, Type};
use crate::interface::{Binding, Output, Refused, VertexInput};
use crate::stage::Module;

/// A stage with all that it asks for.
pub(crate) struct StageInterface {
    pub module: Module,
    pub bindings: Vec<Binding>,
    /// Bindings that no pass can fill.
    pub refused: Vec<Refused>,
    /// Name and layout of the push data.
    pub push: Option<(String, Type)>,
    /// Whether push data is declared and not used.
    pub unused_push: bool,
    pub workgroup: [u32; 3],
    pub inputs: Vec<Varying>,
    pub outputs: Vec<Varying>,
    pub writes_depth: bool,
    /// Bindings that are declared and not used.
    pub unused: Vec<String>,
    /// Parts of all layouts so far; there is a most of them.
    pub parts: u32,
}

/// A value that enters or leaves a stage.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Varying {
    pub name: String,
    pub location: u32,
    /// First component within the location.
    pub component: u32,
    pub scalar: Scalar,
    pub components: u32,
}

impl Varying {
    /// Its type in WGSL's words.
    pub(crate) fn ty(&self) -> Type {
        if self.components == 1 { Type::Scalar(self.scalar) } else { Type::Vector(self.scalar, self.components) }
    }

    pub(crate) fn input(&self) -> VertexInput {
        let Self { name, location, scalar, components, .. } = self.clone();
        VertexInput { name, location, scalar, components }
    }

    pub(crate) fn output(&self) -> Output {
        let Self { name, location, scalar, components, .. } = self.clone();
        Output { name, location, scalar, components }
    }
}
