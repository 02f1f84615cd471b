//! Kinds of programs, their stages, and the code of one stage.

use rgraph_ir::access::Stages;

/// What a program is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// Dispatches.
    Compute,
    /// Draws.
    Raster,
    /// Traces of rays: a shader for each source, the one that generates the rays first.
    RayTracing,
}

/// A stage of a pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stage {
    Compute,
    /// Task: how many mesh workgroups there are.
    Task,
    /// Mesh: vertices and primitives by workgroup.
    Mesh,
    Vertex,
    TessellationControl,
    TessellationEvaluation,
    Geometry,
    Fragment,
    /// Ray generation: traces rays.
    RayGeneration,
    /// Miss: what becomes of a ray that hits nothing.
    Miss,
    /// Closest hit: what becomes of a ray that hits something.
    ClosestHit,
    /// Any hit: whether a hit counts.
    AnyHit,
    /// Intersection: where a ray hits a box's contents.
    Intersection,
    /// Callable: called by other ray-tracing stages.
    Callable,
}

impl Stage {
    /// The stages of ray-tracing programs.
    pub const RAY_TRACING: [Self; 6] =
        [Self::RayGeneration, Self::Miss, Self::ClosestHit, Self::AnyHit, Self::Intersection, Self::Callable];

    /// The stages of raster programs in the order of a pipeline.
    pub const RASTER: [Self; 7] = [
        Self::Task,
        Self::Mesh,
        Self::Vertex,
        Self::TessellationControl,
        Self::TessellationEvaluation,
        Self::Geometry,
        Self::Fragment,
    ];
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

/// One stage's code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Module {
    pub stage: Stage,
    /// Name of its entry point.
    pub entry: String,
    /// SPIR-V words.
    pub spirv: Vec<u32>,
}

impl Module {
    /// The SPIR-V capabilities (by number, in the order of the module) that a device must support to run it.
    pub fn capabilities(&self) -> impl Iterator<Item = u32> {
        capabilities(&self.spirv)
    }
}

/// The capabilities of SPIR-V, which come first: two words each, opcode 17.
pub(crate) fn capabilities(words: &[u32]) -> impl Iterator<Item = u32> {
    let declared = words.get(5..).unwrap_or(&[]).chunks_exact(2);
    declared.take_while(|pair| pair[0] == 2 << 16 | 17).map(|pair| pair[1])
}
