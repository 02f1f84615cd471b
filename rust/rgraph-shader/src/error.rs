//! What is wrong with a shader, with the source line and a caret under it.

use std::fmt;

use rgraph_ir::error::Code;

/// A shader that cannot be used: place, reason and hint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShaderError {
    /// Its kind: a code of shaders, `RG-E3xx`.
    pub code: Code,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The shader's name: its file, or the pass that has it.
    pub shader: String,
    /// Line and column in the source, from 1, if known.
    pub at: Option<(u32, u32)>,
    /// The source line and a caret under the place, or more of it, ready to print; empty if there is none.
    pub excerpt: Box<str>,
    /// How to fix it, ready to type.
    pub help: String,
}

impl fmt::Display for ShaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} shader \"{}\"", self.code, self.shader)?;
        if let Some((line, column)) = self.at {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)?;
        if !self.excerpt.is_empty() {
            write!(f, "\n{}", self.excerpt.trim_end())?;
        }
        if !self.help.is_empty() {
            write!(f, "\n  help: {}", self.help)?;
        }
        Ok(())
    }
}

impl std::error::Error for ShaderError {}

/// An error without a place.
pub(crate) fn plain(code: Code, shader: &str, message: String, help: impl Into<String>) -> ShaderError {
    ShaderError { code, message, shader: shader.to_owned(), at: None, excerpt: Box::default(), help: help.into() }
}

/// Data that does not fit a layout.
pub(crate) fn layout(shader: &str, message: String, help: String) -> ShaderError {
    plain(Code::BadLayout, shader, message, help)
}
