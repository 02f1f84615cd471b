//! What is wrong with a shader, with the source line and a caret under it.

use std::fmt;

/// A shader that cannot be used: where, why, and how to mend it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShaderError {
    /// Stable code, `RG-E3xx`.
    pub code: &'static str,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The shader's name: its file, or the pass that has it.
    pub shader: String,
    /// Line and column in the source, from 1, if known.
    pub at: Option<(u32, u32)>,
    /// The source line and a caret under the place, or more of it, ready to print; empty if there is none.
    pub excerpt: String,
    /// How to mend it.
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
