//! One stage of a program as it comes out of a text or a SPIR-V module, before stages are joined.

use crate::block::{Scalar, Type};
use crate::interface::{Binding, Output, Refused, VertexInput};
use crate::program::{Module, Stage};
use rgraph_ir::access::Stages;

/// A stage with all that it asks for.
pub(crate) struct Part {
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
    pub fn ty(&self) -> Type {
        if self.components == 1 { Type::Scalar(self.scalar) } else { Type::Vector(self.scalar, self.components) }
    }

    /// It as an input.
    pub fn input(&self) -> VertexInput {
        let Self { name, location, scalar, components, .. } = self.clone();
        VertexInput { name, location, scalar, components }
    }

    /// It as an output.
    pub fn output(&self) -> Output {
        let Self { name, location, scalar, components, .. } = self.clone();
        Output { name, location, scalar, components }
    }
}

impl Stage {
    /// The stage's name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Vertex => "vertex",
            Self::TessellationControl => "tessellation control",
            Self::TessellationEvaluation => "tessellation evaluation",
            Self::Geometry => "geometry",
            Self::Task => "task",
            Self::Mesh => "mesh",
            Self::Fragment => "fragment",
            Self::RayGeneration => "ray generation",
            Self::Miss => "miss",
            Self::ClosestHit => "closest hit",
            Self::AnyHit => "any hit",
            Self::Intersection => "intersection",
            Self::Callable => "callable",
        }
    }

    /// Whether it belongs to pipelines that begin with a vertex stage.
    pub(crate) fn reads_vertices(self) -> bool {
        matches!(self, Self::Vertex | Self::TessellationControl | Self::TessellationEvaluation | Self::Geometry)
    }

    /// Whether it belongs to ray-tracing pipelines.
    pub fn traces_rays(self) -> bool {
        Self::RAY_TRACING.contains(&self)
    }

    /// The stage as plans name it.
    pub fn stages(self) -> Stages {
        match self {
            Self::Compute => Stages::COMPUTE_SHADER,
            Self::Vertex => Stages::VERTEX_SHADER,
            Self::TessellationControl => Stages::TESSELLATION_CONTROL_SHADER,
            Self::TessellationEvaluation => Stages::TESSELLATION_EVALUATION_SHADER,
            Self::Geometry => Stages::GEOMETRY_SHADER,
            Self::Task => Stages::TASK_SHADER,
            Self::Mesh => Stages::MESH_SHADER,
            Self::Fragment => Stages::FRAGMENT_SHADER,
            Self::RayGeneration
            | Self::Miss
            | Self::ClosestHit
            | Self::AnyHit
            | Self::Intersection
            | Self::Callable => Stages::RAY_TRACING_SHADER,
        }
    }
}
