//! What can be wrong with the work of a pass.

use rgraph_ir::error::GraphError;
use rgraph_shader::ShaderError;

/// Why work is refused.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// It does not fit its pass, its shaders or the declaration.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// A shader is wrong.
    #[error(transparent)]
    Shader(Box<ShaderError>),
}

impl From<ShaderError> for WorkError {
    fn from(error: ShaderError) -> Self {
        Self::Shader(Box::new(error))
    }
}
