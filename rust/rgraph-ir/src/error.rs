//! Mistakes in a declaration: message, place, both sides and hint. All of them at once.

use std::fmt;

pub use crate::code::{Class, Code};
use crate::graph::Place;
use crate::plain::plain;

/// One side of a mistake: a name, what it says there, and where it was declared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Side {
    /// Pass or resource.
    pub name: String,
    /// What it declares that does not fit.
    pub says: String,
    /// File and line of the declaration, where known.
    pub place: Option<Place>,
}

/// One mistake in a declaration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mistake {
    /// Its kind.
    pub code: Code,
    /// One sentence that names pass and resource.
    pub message: String,
    /// The pass, if one is meant.
    pub pass: Option<String>,
    /// The resource, if one is meant.
    pub resource: Option<String>,
    /// Both sides of a mismatch, with their places.
    pub sides: Vec<Side>,
    /// How to fix it, ready to type.
    pub help: String,
}

impl Mistake {
    /// A mistake with a message and a repair.
    pub fn new(code: Code, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code, message: message.into(), pass: None, resource: None, sides: Vec::new(), help: help.into() }
    }

    /// Names the pass.
    #[must_use]
    pub fn pass(mut self, name: &str) -> Self {
        self.pass = Some(name.to_owned());
        self
    }

    /// Names the resource.
    #[must_use]
    pub fn resource(mut self, name: &str) -> Self {
        self.resource = Some(name.to_owned());
        self
    }

    /// Adds a side.
    #[must_use]
    pub fn side(mut self, name: &str, says: impl Into<String>, place: Option<Place>) -> Self {
        self.sides.push(Side { name: name.to_owned(), says: says.into(), place });
        self
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code, plain(&self.message))?;
        let width = self.sides.iter().map(|side| side.name.chars().count()).max().unwrap_or(0).min(32);
        for side in &self.sides {
            write!(f, "\n  {:width$}  ", plain(&side.name))?;
            if let Some(place) = &side.place {
                write!(f, "{place}  ")?;
            }
            write!(f, "{}", plain(&side.says))?;
        }
        if !self.help.is_empty() {
            write!(f, "\n  help: {}", self.help)?;
        }
        Ok(())
    }
}

/// Everything wrong with a declaration. Never empty.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GraphError {
    mistakes: Vec<Mistake>,
}

impl GraphError {
    /// Of one mistake.
    pub fn one(mistake: Mistake) -> Self {
        Self { mistakes: vec![mistake] }
    }

    /// Of all mistakes found, or `Ok` if there is none.
    ///
    /// # Errors
    /// If `mistakes` is not empty.
    pub fn check(mistakes: Vec<Mistake>) -> Result<(), Self> {
        if mistakes.is_empty() { Ok(()) } else { Err(Self { mistakes }) }
    }

    /// The mistakes, in the order they were found.
    pub fn mistakes(&self) -> &[Mistake] {
        &self.mistakes
    }
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, mistake) in self.mistakes.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{mistake}")?;
        }
        Ok(())
    }
}

impl std::error::Error for GraphError {}
