//! Programs: one compute stage, or vertex and fragment stages, ready for a pipeline.

use crate::interface::Interface;

/// A shader language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// WebGPU Shading Language.
    Wgsl,
    /// OpenGL Shading Language with Vulkan's extensions (`GL_KHR_vulkan_glsl`).
    Glsl,
}

/// A shader as the user has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source<'a> {
    /// Text.
    Text(Language, &'a str),
    /// SPIR-V, as bytes in either byte order.
    Spirv(&'a [u8]),
}

/// What a program is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// Dispatches.
    Compute,
    /// Draws.
    Raster,
}

/// A stage of a pipeline.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stage {
    /// Compute.
    Compute,
    /// Vertex.
    Vertex,
    /// Fragment.
    Fragment,
}

/// One stage's code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Module {
    /// The stage.
    pub stage: Stage,
    /// Name of its entry point.
    pub entry: String,
    /// SPIR-V words.
    pub spirv: Vec<u32>,
}

/// A compute program, or the vertex and fragment stages of a raster program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// The shader's name in messages.
    pub name: String,
    /// What it is for.
    pub kind: Kind,
    /// Its stages; a raster program without a fragment stage writes depth only.
    pub modules: Vec<Module>,
    /// What it asks of its pass.
    pub interface: Interface,
    /// A hash of all its code: equal programs have equal hashes.
    pub hash: u64,
}
