//! What a shader asks for, without a pass that uses it: all that a program's interface has, and each stage alone.

use crate::constant::Constants;
use crate::error::ShaderError;
use crate::interface::{Interface, Output, VertexInput};
use crate::link;
use crate::loaded::Loaded;
use crate::points::Points;
use crate::program::on_large_stack;
use crate::source::{Given, Source};
use crate::stage::Stage;
use crate::stage_interface::{StageInterface, Varying};

/// What a shader asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reflection {
    /// Its stages in the order of a pipeline.
    pub stages: Vec<StageReflection>,
    /// What all of them ask of a pass.
    pub interface: Interface,
}

/// What one stage takes and gives.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct StageReflection {
    pub stage: Stage,
    /// Name of its entry point.
    pub entry: String,
    /// What it reads of the stage before, or of vertices, by location.
    pub inputs: Vec<VertexInput>,
    /// What it writes for the stage after, or into targets, by location.
    pub outputs: Vec<Output>,
}

impl Reflection {
    /// Reflects one source, or those of several stages, which need not fit each other. `name` is for messages;
    /// `entry` and
    /// `constants` as for [`crate::Program::specialized`], but that constants without a value count as 1.
    ///
    /// # Errors
    /// As [`crate::Program::specialized`], but RG-E303.
    pub fn of(name: &str, sources: &[Given], entry: Option<&str>, constants: &Constants) -> Result<Self, ShaderError> {
        let borrowed: Vec<Source<'_>> = sources.iter().map(Given::borrow).collect();
        on_large_stack(name, || Self::reflect(name, &borrowed, entry, constants))
    }

    fn reflect(
        name: &str,
        sources: &[Source<'_>],
        entry: Option<&str>,
        constants: &Constants,
    ) -> Result<Self, ShaderError> {
        let mut loaded = Loaded::all(name, sources, crate::stage::Kind::Raster)?;
        let declared = Loaded::specialize(name, &mut loaded, constants)?;
        loaded.iter_mut().for_each(Loaded::assume_values);
        let points = Points::new(name, &loaded, entry)?;
        let mut parts: Vec<StageInterface> = Vec::new();
        let mut stages = [&Stage::RASTER[..], &Stage::RAY_TRACING].concat();
        // A text may have all stages: compute is meant where it is asked for, or where there is nothing else.
        if points.only_compute() {
            stages = vec![Stage::Compute];
        }
        for stage in stages {
            if let Some((source, entry)) = points.pick(stage)? {
                parts.push(loaded[source].part(stage, entry)?);
            }
        }
        if parts.is_empty() {
            return Err(points.none("compute, vertex or fragment"));
        }
        let mut interface = link::merge(name, &parts)?;
        interface.constants = declared;
        let stages = parts
            .into_iter()
            .map(|part| StageReflection {
                stage: part.module.stage,
                entry: part.module.entry,
                inputs: sorted(part.inputs.iter().map(Varying::input).collect(), |input| input.location),
                outputs: sorted(part.outputs.iter().map(Varying::output).collect(), |output| output.location),
            })
            .collect();
        Ok(Self { stages, interface })
    }
}

fn sorted<T>(mut all: Vec<T>, location: impl Fn(&T) -> u32) -> Vec<T> {
    all.sort_by_key(location);
    all
}
