//! Languages of shaders.

/// A shader language.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Language {
    /// WebGPU Shading Language.
    Wgsl,
    /// OpenGL Shading Language with Vulkan's extensions (`GL_KHR_vulkan_glsl`).
    Glsl,
}
