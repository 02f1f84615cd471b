//! Clear values, loads and viewports of a run: of `params=`, or of functions that are called at each run. Like arrays,
//! functions are those of the graph that is run, so graphs of equal declarations share what was compiled.

use std::collections::HashSet;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rgraph_plan::access::{Load, Usage};
use rgraph_plan::graph::{Clear, Graph, PassId};
use rgraph_vk::{Target, TargetChange};

use crate::arguments::convert::clear;
use crate::classes::draw::viewport;
use crate::classes::graph::PyGraph;
use crate::classes::pass::PyPass;
use crate::classes::passes::Arguments;
use crate::classes::raster::{load, spread};
use crate::run::runnable::Runnable;

/// An argument that may differ from run to run.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Word {
    /// Colours of the colour attachments.
    Clear,
    /// Their loads.
    Load,
    /// Depth, or depth and stencil.
    ClearDepth,
    /// Load of the depth attachment.
    LoadDepth,
    /// Viewport of all draws.
    Viewport,
}

impl Word {
    /// All of them by name.
    const ALL: [(&'static str, Self); 5] = [
        ("clear", Self::Clear),
        ("load", Self::Load),
        ("clear_depth", Self::ClearDepth),
        ("load_depth", Self::LoadDepth),
        ("viewport", Self::Viewport),
    ];

    /// The one of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, word)| *word)
    }

    /// The load that decides whether a clear value is used.
    fn load(self) -> Option<Self> {
        match self {
            Self::Clear => Some(Self::Load),
            Self::ClearDepth => Some(Self::LoadDepth),
            Self::Load | Self::LoadDepth | Self::Viewport => None,
        }
    }
}

/// An argument of a pass that is asked for at each run.
pub struct PerRun {
    /// The pass.
    pub pass: PassId,
    /// The argument.
    pub word: Word,
    /// A function without arguments; or the clear value beside a function for the load.
    pub value: Py<PyAny>,
}

impl PerRun {
    /// The same, held once more.
    pub fn copy(&self, py: Python<'_>) -> Self {
        Self { pass: self.pass, word: self.word, value: self.value.clone_ref(py) }
    }
}

/// The arguments of a pass that are functions.
#[derive(Default)]
pub struct Functions(Vec<(Word, Py<PyAny>)>);

/// What is declared of an attachment in place of functions.
pub type Declared = (Option<Load>, Option<Clear>);

impl Functions {
    /// Takes the functions for clear value and load of one kind of attachment. A pass whose load is a function is
    /// declared to load, since only such a plan holds for both; one whose clear value is a function clears.
    pub fn attachment(&mut self, arguments: &Arguments<'_>, words: [&str; 2], black: Clear) -> PyResult<Declared> {
        let [value, load] = words.map(|name| arguments.take_function(name));
        let mut declared = (None, None);
        if let Some(function) = load {
            self.add(words[1], function);
            declared.0 = Some(Load::Load);
            if let Some(constant) = arguments.take(words[0])? {
                self.add(words[0], constant);
            }
        }
        if let Some(function) = value {
            self.add(words[0], function);
            declared.1 = (declared.0 != Some(Load::Load)).then_some(black);
        }
        Ok(declared)
    }

    /// Takes a function for the viewport.
    pub fn viewport(&mut self, arguments: &Arguments<'_>) {
        if let Some(function) = arguments.take_function("viewport") {
            self.add("viewport", function);
        }
    }

    /// Adds what stands for an argument.
    pub fn add(&mut self, name: &str, value: Bound<'_, PyAny>) {
        self.0.extend(Word::from_name(name).map(|word| (word, value.unbind())));
    }

    /// Keeps them with a pass that was declared.
    pub fn keep<'py>(self, pass: Bound<'py, PyPass>) -> PyResult<Bound<'py, PyPass>> {
        if !self.0.is_empty() {
            let this = pass.get();
            let kept = this.graph.get().change(|state| {
                state.per_run.extend(self.0.into_iter().map(|(word, value)| PerRun { pass: this.id, word, value }));
                Ok(())
            });
            kept.map_err(|mistake| crate::run::error::one(pass.py(), mistake))?;
        }
        Ok(pass)
    }
}

/// Adds one argument of a pass to a run's changes.
///
/// # Errors
/// `TypeError` if the value is none of this argument.
pub fn change(
    graph: &Graph,
    (pass, word): (PassId, Word),
    value: Bound<'_, PyAny>,
    out: &mut Vec<(PassId, TargetChange)>,
) -> PyResult<()> {
    let mut add = |change| out.push((pass, change));
    match word {
        Word::Viewport => add(TargetChange::Viewport(viewport(&value)?)),
        Word::ClearDepth => add(TargetChange::Clear(Target::Depth, clear(&value)?)),
        Word::LoadDepth => add(TargetChange::Load(Target::Depth, load(&value)?)),
        Word::Clear | Word::Load => {
            let of_pass = graph.accesses().iter().filter(|access| access.pass == pass);
            let colors = of_pass.filter(|access| access.usage == Usage::ColorAttachment).count();
            // A pass without colour attachments is refused by the run.
            let name = if word == Word::Clear { "clear" } else { "load" };
            for (value, at) in spread(Some(value), colors.max(1), name)?.into_iter().zip(0..) {
                let Some(value) = value else { continue };
                add(match word {
                    Word::Clear => TargetChange::Clear(Target::Color(at), clear(&value)?),
                    _ => TargetChange::Load(Target::Color(at), load(&value)?),
                });
            }
        }
    }
    Ok(())
}

impl Runnable {
    /// The changes of a run: of `params=`, and of the functions of the graph that is run for what is not given there.
    /// Other entries of `params=` are left alone.
    ///
    /// # Errors
    /// What a function raises, and what reading its value says.
    pub fn target_changes(
        &self,
        origin: Option<&Bound<'_, PyGraph>>,
        params: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<(PassId, TargetChange)>> {
        let mut out = Vec::new();
        let graph = &self.load.graph;
        let mut given = HashSet::new();
        for (key, value) in params.iter().flat_map(|params| params.iter()) {
            if let Some(of) = self.target_param(&key)? {
                given.insert(of);
                change(graph, of, value, &mut out)?;
            }
        }
        let Some(origin) = origin else { return Ok(out) };
        let py = origin.py();
        let kept: Vec<_> = origin.get().read(|state| {
            let Some(declared) = &state.graph else { return Vec::new() };
            let here = |pass| graph.find_pass(declared.pass_name(pass));
            let all = state.per_run.iter().filter_map(|one| Some((here(one.pass)?, one.word, one.value.clone_ref(py))));
            all.collect()
        });
        let mut clears = Vec::new();
        for (pass, word, value) in kept {
            let value = value.into_bound(py);
            if !value.is_callable() {
                clears.push((pass, word, value));
            } else if !given.contains(&(pass, word)) {
                let value = value.call0()?;
                if value.is_none() {
                    let name = graph.pass_name(pass);
                    let message = format!("a function for a run of pass \"{name}\" returned None");
                    return Err(PyTypeError::new_err(message));
                }
                given.insert((pass, word));
                change(graph, (pass, word), value, &mut out)?;
            }
        }
        for (pass, word, value) in clears {
            let chosen = word.load().is_some_and(|load| given.contains(&(pass, load)));
            if chosen && !given.contains(&(pass, word)) {
                change(graph, (pass, word), value, &mut out)?;
            }
        }
        Ok(out)
    }
}
