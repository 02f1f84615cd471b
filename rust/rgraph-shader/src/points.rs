//! Entry points of sources, and the choice among them.

use rgraph_ir::error::Code;

use crate::error::{self, ShaderError};
use crate::loaded::Loaded;
use crate::stage::Stage;

/// The entry points of all sources, and those that the user wants.
pub(crate) struct Points<'a> {
    name: &'a str,
    all: Vec<(usize, Stage, String)>,
    wanted: Vec<&'a str>,
}

impl<'a> Points<'a> {
    pub(crate) fn new(name: &'a str, loaded: &[Loaded<'_>], entry: Option<&'a str>) -> Result<Self, ShaderError> {
        let wanted = entry.map(|entry| entry.split(',').map(str::trim).collect()).unwrap_or_default();
        let mut all = Vec::new();
        for (source, loaded) in loaded.iter().enumerate() {
            all.extend(loaded.entries().into_iter().map(|(stage, entry)| (source, stage, entry)));
        }
        let new = Self { name, all, wanted };
        new.all_found()?;
        Ok(new)
    }

    /// Whether only compute stages are there, or wanted.
    pub(crate) fn only_compute(&self) -> bool {
        let meant =
            |(_, _, entry): &&(usize, Stage, String)| self.wanted.is_empty() || self.wanted.contains(&entry.as_str());
        let mut all = self.all.iter().filter(meant).peekable();
        all.peek().is_some() && all.all(|(_, stage, _)| *stage == Stage::Compute)
    }

    /// The entry point of a stage: the one that is wanted, else the only one.
    pub(crate) fn pick(&self, stage: Stage) -> Result<Option<(usize, &str)>, ShaderError> {
        let of_stage: Vec<_> = self.all.iter().filter(|(_, of, _)| *of == stage).collect();
        let chosen: Vec<_> = of_stage.iter().filter(|(_, _, entry)| self.wanted.contains(&entry.as_str())).collect();
        match (chosen.as_slice(), of_stage.as_slice()) {
            ([one], _) => Ok(Some((one.0, &one.2))),
            ([], []) => Ok(None),
            ([], [one]) => Ok(Some((one.0, &one.2))),
            _ => {
                let message = format!("it has several {} entry points: {}", stage.name(), self.list(Some(stage)));
                Err(error::plain(Code::EntryPoint, self.name, message, "choose one with `entry`"))
            }
        }
    }

    /// The ray-tracing entry point of a source: the one that is wanted, else the only one.
    pub(crate) fn pick_ray(&self, source: usize) -> Result<(Stage, &str), ShaderError> {
        let of_source = || self.all.iter().filter(|(of, stage, _)| *of == source && stage.traces_rays());
        let mut chosen: Vec<_> = of_source().filter(|(.., entry)| self.wanted.contains(&entry.as_str())).collect();
        if chosen.is_empty() {
            chosen = of_source().collect();
        }
        let (message, help) = match chosen.as_slice() {
            [(_, stage, entry)] => return Ok((*stage, entry)),
            [] => {
                (format!("source {} has no ray-tracing entry point", source + 1), "give GLSL with #version, or SPIR-V")
            }
            _ => (format!("source {} has several ray-tracing entry points", source + 1), "choose one with `entry`"),
        };
        Err(error::plain(Code::EntryPoint, self.name, message, help))
    }

    fn list(&self, stage: Option<Stage>) -> String {
        let names: Vec<String> = self
            .all
            .iter()
            .filter(|(_, of, _)| stage.is_none_or(|stage| stage == *of))
            .map(
                |(_, of, entry)| {
                    if stage.is_none() { format!("'{entry}' ({})", of.name()) } else { format!("'{entry}'") }
                },
            )
            .collect();
        names.join(", ")
    }

    pub(crate) fn none(&self, what: &str) -> ShaderError {
        let help = match self.list(None) {
            list if list.is_empty() => {
                let first = what.split([' ', ',']).next().unwrap_or(what);
                format!("mark a function as @{first}")
            }
            list => format!("it has {list}"),
        };
        error::plain(Code::EntryPoint, self.name, format!("it has no {what} entry point"), help)
    }

    /// Every wanted name must be an entry point.
    fn all_found(&self) -> Result<(), ShaderError> {
        for wanted in &self.wanted {
            if !self.all.iter().any(|(_, _, entry)| entry == wanted) {
                let message = format!("it has no entry point '{wanted}'");
                return Err(error::plain(Code::EntryPoint, self.name, message, format!("it has {}", self.list(None))));
            }
        }
        Ok(())
    }
}
