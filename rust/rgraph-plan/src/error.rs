//! Mistakes in a declaration: what, where, both sides, and how to mend it. All of them at once.

use std::fmt;

use crate::graph::Place;

/// Defines the error codes with their numbers.
macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $number:literal,)+) => {
        /// What kind of mistake it is; [`Code::text`] is what messages and the documentation show.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[non_exhaustive]
        pub enum Code { $($(#[$doc])* $variant,)+ }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// `RG-E203`.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => concat!("RG-E", stringify!($number)),)+ }
            }
        }
    };
}

codes! {
    /// Two passes, two resources or two flags of one kind have the same name.
    DuplicateName = 201,
    /// A name that nothing declared.
    UnknownName = 202,
    /// A read of what nobody writes.
    NeverWritten = 203,
    /// Passes that must run before each other.
    Cycle = 204,
    /// A size of zero, one that overflows, or one that cannot be computed.
    BadSize = 205,
    /// Attachments, resolves or histories whose sizes cannot match.
    SizeMismatch = 206,
    /// A format that a usage cannot have.
    BadFormat = 207,
    /// A number of samples that cannot be.
    BadSamples = 208,
    /// Mips, layers, aspects or bytes outside the resource, or an empty range.
    BadRange = 209,
    /// A `modifies` that cannot hold.
    BadModifies = 210,
    /// A queue that cannot do what a pass asks.
    BadQueue = 211,
    /// More than the profile's limits.
    OverLimit = 212,
    /// A number that is not one: NaN, infinite or negative where it may not be.
    BadNumber = 213,
    /// No root: nothing would run.
    NoRoot = 214,
    /// A conditional pass whose output holds nothing while the flag is off.
    BadCondition = 215,
    /// A history that cannot be kept.
    BadHistory = 216,
    /// Two accesses of one pass that contradict each other.
    BadAccess = 217,
    /// A usage on a resource of the wrong kind.
    BadUsage = 218,
    /// A name that is empty or too long.
    BadName = 219,
    /// A profile that cannot be used.
    BadProfile = 220,
    /// More memory than the profile has.
    OutOfMemory = 221,
    /// A file that is not what FORMATS says.
    BadFile = 222,
    /// A declaration that is too large to plan.
    TooLarge = 223,
    /// Work of a pass that does not fit what the pass declares.
    BadWork = 224,
    /// An input, an output array or a parameter of a run that does not fit the graph.
    BadInput = 225,
    /// A resource that is not what the shader's variable is.
    BadBinding = 310,
    /// A variable of a shader that nothing is bound to.
    MissingBinding = 311,
    /// A binding that the shader does not have.
    UnknownBinding = 312,
    /// Data that a shader does not read, or reads and is not given.
    BadData = 313,
    /// Workgroups that are not said and cannot be told from what is written.
    BadGroups = 314,
    /// Colour targets that are not what the shader writes.
    BadTarget = 315,
    /// Vertex buffers that are not what the shader reads.
    BadVertices = 316,
    /// A transfer that cannot be.
    BadTransfer = 317,
    /// An array that cannot be read or written as the resource it stands for.
    BadArray = 320,
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

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
    /// How to mend it.
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
        write!(f, "{} {}", self.code, self.message)?;
        let width = self.sides.iter().map(|side| side.name.chars().count()).max().unwrap_or(0).min(32);
        for side in &self.sides {
            write!(f, "\n  {:width$}  ", side.name)?;
            match &side.place {
                Some(place) => write!(f, "{place}  {}", side.says)?,
                None => write!(f, "{}", side.says)?,
            }
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
