//! Keyword arguments of accesses.

use bitflags::bitflags;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rgraph_plan::access::{Load, ResolveMode, Transfer};
use rgraph_plan::graph::{Clear, Use};
use rgraph_plan::nearest::nearest;

use crate::arguments::convert::{ByteRange, Range, Text, aspects, clear, during, stages, word_of};
use crate::arguments::declare::given;
use crate::run::unresolved::Given;

bitflags! {
    /// The keywords that a usage can have.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub struct Allowed: u16 {
        const STAGES = 1 << 0;
        const MIPS = 1 << 1;
        const LAYERS = 1 << 2;
        const ASPECTS = 1 << 3;
        const RANGE = 1 << 4;
        const LOAD = 1 << 5;
        const STENCIL_LOAD = 1 << 6;
        const CLEAR = 1 << 7;
        const GENERATE_MIPS = 1 << 8;
        const TRANSFER = 1 << 9;
        const UNORDERED = 1 << 10;
        const RESOLVES = 1 << 11;
        const MODE = 1 << 12;
        /// Which part of an image.
        const PART = Self::MIPS.bits() | Self::LAYERS.bits() | Self::ASPECTS.bits();
        /// A read in shaders, of an image or a buffer.
        const SHADER = Self::STAGES.bits() | Self::PART.bits() | Self::RANGE.bits() | Self::UNORDERED.bits();
        const SHADER_WRITE = Self::SHADER.bits() | Self::LOAD.bits() | Self::GENERATE_MIPS.bits();
        /// A read of a buffer.
        const BYTES = Self::STAGES.bits() | Self::RANGE.bits();
    }
}

const KEYWORDS: [(&str, Allowed); 13] = [
    ("stages", Allowed::STAGES),
    ("mips", Allowed::MIPS),
    ("layers", Allowed::LAYERS),
    ("aspects", Allowed::ASPECTS),
    ("range", Allowed::RANGE),
    ("load", Allowed::LOAD),
    ("stencil_load", Allowed::STENCIL_LOAD),
    ("clear", Allowed::CLEAR),
    ("generate_mips", Allowed::GENERATE_MIPS),
    ("transfer", Allowed::TRANSFER),
    ("unordered", Allowed::UNORDERED),
    ("resolves", Allowed::RESOLVES),
    ("mode", Allowed::MODE),
];

/// Reads keyword arguments into `how`; returns the attachment that is resolved. A keyword of None counts as omitted.
///
/// # Errors
/// `TypeError` for a keyword that the usage does not have, and what reading its value says.
pub(crate) fn read(how: &mut Use, details: &Bound<'_, PyDict>, allowed: Allowed) -> PyResult<Option<Given<'static>>> {
    let mut resolves = None;
    for (key, value) in details {
        let Text(name) = key.extract()?;
        let Some((_, keyword)) = KEYWORDS.iter().find(|(known, bit)| *known == name && allowed.contains(*bit)) else {
            return Err(unexpected(name, allowed));
        };
        if value.is_none() {
            continue;
        }
        let named = |error| during(value.py(), error, name);
        match *keyword {
            Allowed::STAGES => how.stages = stages(&value)?,
            Allowed::MIPS => how.ranges.mips = Some(value.extract::<Range>().map_err(named)?.0),
            Allowed::LAYERS => how.ranges.layers = Some(value.extract::<Range>().map_err(named)?.0),
            Allowed::ASPECTS => how.aspects = aspects(&value)?,
            Allowed::RANGE => how.ranges.bytes = Some(value.extract::<ByteRange>().map_err(named)?.0),
            Allowed::LOAD => how.load = Some(load(&value)?),
            Allowed::STENCIL_LOAD => how.stencil_load = Some(load(&value)?),
            Allowed::CLEAR => how.details.clear = Some(clear(&value).map_err(named)?),
            Allowed::GENERATE_MIPS => how.generate_mips = value.extract()?,
            Allowed::UNORDERED => how.unordered = value.extract()?,
            Allowed::TRANSFER => {
                let known = Transfer::ALL.iter().map(|transfer| transfer.name());
                how.transfer = Some(word_of(&value, "transfer", Transfer::from_name, known)?);
            }
            Allowed::RESOLVES => resolves = Some(given(&value)?.owned()),
            _ => {
                let known = ResolveMode::ALL.iter().map(|mode| mode.name());
                let mode = word_of(&value, "resolve mode", ResolveMode::from_name, known)?;
                how.details.resolve_mode = Some(mode);
            }
        }
    }
    // A clear value without a load means to clear with it.
    if let Some(clear) = how.details.clear {
        how.load = how.load.or(Some(Load::Clear));
        if matches!(clear, Clear::Depth(_, Some(_))) && allowed.contains(Allowed::STENCIL_LOAD) {
            how.stencil_load = how.stencil_load.or(how.load);
        }
    }
    Ok(resolves)
}

fn load(value: &Bound<'_, PyAny>) -> PyResult<Load> {
    let known = Load::ALL.iter().map(|load| load.name());
    word_of(value, "load", Load::from_name, known)
}

fn unexpected(name: &str, allowed: Allowed) -> PyErr {
    let known: Vec<_> = KEYWORDS.iter().filter(|(_, bit)| allowed.contains(*bit)).map(|(name, _)| *name).collect();
    let help = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean '{near}'?"),
        None => format!("there are {}", known.join(", ")),
    };
    let shown: String = name.chars().take(60).collect();
    PyTypeError::new_err(format!("unexpected keyword argument '{shown}'; {help}"))
}
