//! Arguments of a bake, and what runs measure.

use std::sync::OnceLock;
use std::time::Instant;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use rgraph_plan::error::Code;
use rgraph_plan::prelude::{MemoryBudget, Options, Policy, Profile, Split};
use rgraph_vk::Measure;

use crate::arguments::convert::{Bytes, Count, Text, is_number, word};
use crate::arguments::files;
use crate::classes::profile::PyProfile;
use crate::run::error::bad;

const POLICIES: [&str; 6] = Policy::NAMES;

/// A profile from an argument: a `Profile`, a built-in one's name, a path; `None` means `discrete`.
pub(crate) fn profile(py: Python<'_>, value: Option<&Bound<'_, PyAny>>) -> PyResult<Profile> {
    let Some(value) = value else { return Ok(Profile::discrete()) };
    if let Ok(profile) = value.cast::<PyProfile>() {
        return Ok(profile.get().0.clone());
    }
    if value.is_instance_of::<PyString>() {
        let Text(name) = value.extract()?;
        if let Some(profile) = Profile::built_in(name) {
            return Ok(profile);
        }
        let path = std::path::Path::new(name);
        if path.extension().is_none() && !path.exists() {
            return word(py, "profile", name, Profile::built_in, Profile::BUILT_IN.into_iter());
        }
        return files::load_profile(py, path);
    }
    match value.extract::<std::path::PathBuf>() {
        Ok(path) => files::load_profile(py, &path),
        Err(_) => Err(PyTypeError::new_err("profile is a Profile, the name of a built-in one, or the path of a file")),
    }
}

/// The value of `memory=`: a word, or a number of bytes.
#[derive(Clone, Copy, Default)]
pub struct Budget(pub MemoryBudget);

impl<'a, 'py> FromPyObject<'a, 'py> for Budget {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if !value.is_instance_of::<PyString>() {
            let bytes = value.extract::<Bytes>().map(|Bytes(bytes)| Self(MemoryBudget::Bytes(bytes)));
            return bytes.or_else(|error| match is_number(&value) {
                true => Err(error),
                false => {
                    let (words, kind) = (MemoryBudget::NAMES.join(", "), value.get_type().name()?);
                    Err(PyTypeError::new_err(format!("memory is one of {words}, or a number of bytes, not {kind}")))
                }
            });
        }
        let Text(name) = value.extract()?;
        let known = MemoryBudget::NAMES.into_iter();
        word(value.py(), "memory budget", name, MemoryBudget::from_name, known).map(Self)
    }
}

/// The value of `max_batches=`: at least 1, or None for no limit.
#[derive(Clone, Copy)]
pub(crate) struct MaxBatches(Option<u32>);

impl Default for MaxBatches {
    fn default() -> Self {
        Self(Some(Options::MAX_BATCHES))
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for MaxBatches {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match value.extract::<Option<Count>>()? {
            Some(Count(0)) => {
                let (what, help) = ("max_batches is 0", "a frame has one batch at least; None is no bound");
                Err(bad(value.py(), Code::BadNumber, what.to_owned(), help))
            }
            most => Ok(Self(most.map(|Count(most)| most))),
        }
    }
}

/// How to bake, from arguments.
pub(crate) fn options(
    py: Python<'_>,
    Text(policy): Text<'_>,
    split: Text<'_>,
    timings: bool,
    effort: Option<Count>,
    (Budget(memory), MaxBatches(max_batches)): (Budget, MaxBatches),
) -> PyResult<Options> {
    let mut policy = word(py, "policy", policy, Policy::from_name, POLICIES.into_iter())?;
    let split = word(py, "policy of split barriers", split.0, Split::from_name, Split::NAMES.into_iter())?;
    let clock = timings.then_some(microseconds as fn() -> f64);
    let default = Options { max_batches, ..Options::default() };
    let Some(Count(effort)) = effort else {
        return Ok(Options { policy, split, clock, memory, ..default });
    };
    // Of an exact order it is the number of partial schedules; placements are searched as hard as by default.
    if let Policy::Exact { nodes } = &mut policy {
        *nodes = effort;
        return Ok(Options { policy, split, clock, memory, ..default });
    }
    Ok(Options { policy, split, effort, clock, memory, ..default })
}

/// How `Device.run` bakes a graph.
pub(crate) fn of_run(py: Python<'_>, memory: Budget) -> PyResult<Options> {
    options(py, Text("auto"), Text("never"), false, None, (memory, MaxBatches::default()))
}

/// Which GPU times runs measure, and in which runs.
#[derive(Clone, Copy, PartialEq, Default)]
pub struct Measuring {
    pub measure: Measure,
    /// One run in `sample`; 0 and 1: every run.
    pub sample: u32,
}

impl Measuring {
    /// The values of `measure=` and `sample=`, by default those here.
    pub fn or_else(self, py: Python<'_>, measure: Option<Text<'_>>, sample: Option<Count>) -> PyResult<Self> {
        if matches!(sample, Some(Count(0))) {
            let help = "sample=60 measures one frame in sixty, and sample=1 each";
            return Err(bad(py, Code::BadNumber, "one frame in 0 cannot be measured", help));
        }
        let known = || Measure::ALL.iter().map(|measure| measure.name());
        let measure = measure.map(|Text(name)| word(py, "kind of measuring", name, Measure::from_name, known()));
        Ok(Self {
            measure: measure.transpose()?.unwrap_or(self.measure),
            sample: sample.map_or(self.sample, |Count(sample)| sample),
        })
    }
}

/// Microseconds since the first call.
fn microseconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64() * 1e6
}

/// What a plan was baked for.
#[derive(Clone)]
pub struct Asked {
    /// The device.
    pub profile: Profile,
    /// How it was baked.
    pub options: Options,
}

impl Default for Asked {
    fn default() -> Self {
        Self { profile: Profile::discrete(), options: Options::default() }
    }
}
