//! Sources that a compiler or the reader of SPIR-V took in: entry points and constants are known, stages are made of
//! them.

use crate::constant::{Constants, SpecConstant};
use crate::error::ShaderError;
use crate::glsl::Glsl;
use crate::include::Included;
use crate::interface::Length;
use crate::language::Language;
use crate::scan;
use crate::source::Source;
use crate::spirv::Binary;
use crate::stage::{Kind, Stage};
use crate::stage_interface::StageInterface;
use crate::text::Text;

/// A source whose entry points are known.
pub(crate) enum Loaded<'a> {
    Text(Box<Text<'a>>),
    Glsl(Box<Glsl<'a>>),
    Spirv(Box<Binary<'a>>),
}

/// What texts without a file include.
static NOTHING: Included = Included::new();

impl<'a> Loaded<'a> {
    pub(crate) fn all(name: &'a str, sources: &[Source<'a>], kind: Kind) -> Result<Vec<Self>, ShaderError> {
        let mut stages: Vec<Option<Stage>> = sources.iter().map(|source| source.glsl_stage(kind)).collect();
        // Of two that could both be fragment stages, the first is the vertex stage: they are given in this order.
        if let [first @ Some(Stage::Fragment), .., Some(Stage::Fragment)] = stages.as_mut_slice()
            && !matches!(sources[0], Source::Glsl { stage: Some(_), .. })
        {
            *first = Some(Stage::Vertex);
        }
        sources.iter().zip(stages).map(|(source, stage)| Self::new(name, *source, stage)).collect()
    }

    fn new(name: &'a str, source: Source<'a>, stage: Option<Stage>) -> Result<Self, ShaderError> {
        let stage = stage.unwrap_or(Stage::Compute);
        Ok(match source {
            Source::Text(Language::Wgsl, text) => Self::Text(Box::new(Text::new(name, text)?)),
            Source::Text(Language::Glsl, text) => Self::Glsl(Box::new(Glsl::new(name, text, &NOTHING, stage)?)),
            Source::Glsl { text, included, .. } => Self::Glsl(Box::new(Glsl::new(name, text, included, stage)?)),
            Source::Spirv(bytes) => Self::Spirv(Box::new(Binary::new(name, bytes)?)),
        })
    }

    pub(crate) fn entries(&self) -> Vec<(Stage, String)> {
        let all: Vec<(Stage, &str)> = match self {
            Self::Text(text) => text.entries().collect(),
            Self::Glsl(text) => text.entries().collect(),
            Self::Spirv(code) => code.entries().collect(),
        };
        all.into_iter().map(|(stage, name)| (stage, name.to_owned())).collect()
    }

    fn constants(&self) -> Vec<SpecConstant> {
        match self {
            Self::Text(text) => text.constants(),
            Self::Glsl(text) => text.constants(),
            Self::Spirv(code) => code.constants().collect(),
        }
    }

    /// Gives values to the constants of all sources. What they declare, by name: of one that several declare, the
    /// first.
    pub(crate) fn specialize(
        name: &str,
        all: &mut [Self],
        given: &Constants,
    ) -> Result<Vec<SpecConstant>, ShaderError> {
        let mut declared: Vec<SpecConstant> = all.iter().flat_map(Self::constants).collect();
        given.check(name, &declared)?;
        if !given.is_empty() {
            for loaded in all {
                match loaded {
                    Self::Text(text) => text.specialize(given)?,
                    Self::Glsl(text) => text.specialize(given)?,
                    Self::Spirv(code) => code.specialize(given)?,
                }
            }
        }
        declared.sort_by(|one, other| one.name.cmp(&other.name));
        declared.dedup_by(|one, other| one.name == other.name);
        Ok(declared)
    }

    /// Gives constants that have no value the value 1: what a shader asks for is known before they have one.
    pub(crate) fn assume_values(&mut self) {
        if let Self::Text(text) = self {
            text.assume_values();
        }
    }

    /// Gives lengths to arrays of bindings that a text leaves open.
    pub(crate) fn set_lengths(&mut self, lengths: &[Length]) {
        if let Self::Text(text) = self {
            text.set_lengths(lengths);
        }
    }

    pub(crate) fn part(&self, stage: Stage, entry: &str) -> Result<StageInterface, ShaderError> {
        match self {
            Self::Text(text) => text.part(stage, entry),
            Self::Glsl(text) => text.part(stage, entry),
            Self::Spirv(code) => code.part(stage, entry),
        }
    }
}

impl Source<'_> {
    /// The stage of a GLSL text; `None`: the source says itself which stages it has.
    fn glsl_stage(&self, kind: Kind) -> Option<Stage> {
        match self {
            Source::Text(Language::Glsl, text) => Some(scan::glsl_stage(text, kind, None)),
            Source::Glsl { text, stage, .. } => Some(scan::glsl_stage(text, kind, *stage)),
            Source::Text(Language::Wgsl, _) | Source::Spirv(_) => None,
        }
    }
}
