//! Functions that are given in place of clear values, loads and viewports of a pass: called at each run.

use pyo3::prelude::*;
use rgraph_plan::access::Load;
use rgraph_plan::graph::Clear;

use crate::classes::pass::PyPass;
use crate::classes::passes::Arguments;
use crate::run::error::one;
use crate::run::per_run::{PerRun, Word};

/// The arguments of a pass that are functions.
#[derive(Default)]
pub(crate) struct Functions(Vec<(Word, Py<PyAny>)>);

/// Declared load and clear value of an attachment whose arguments are functions.
pub(crate) type Declared = (Option<Load>, Option<Clear>);

impl Functions {
    /// Takes the functions for clear value and load of one kind of attachment. A pass whose load is a function is
    /// declared to load, since only such a plan holds for both; one whose clear value is a function clears.
    pub(crate) fn attachment(
        &mut self,
        arguments: &Arguments<'_>,
        words: [&str; 2],
        black: Clear,
    ) -> PyResult<Declared> {
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
    pub(crate) fn viewport(&mut self, arguments: &Arguments<'_>) {
        if let Some(function) = arguments.take_function("viewport") {
            self.add("viewport", function);
        }
    }

    /// Adds what stands for an argument.
    pub(crate) fn add(&mut self, name: &str, value: Bound<'_, PyAny>) {
        self.0.extend(Word::from_name(name).map(|word| (word, value.unbind())));
    }

    /// Keeps them with a pass that was declared.
    pub(crate) fn keep<'py>(self, pass: Bound<'py, PyPass>) -> PyResult<Bound<'py, PyPass>> {
        if !self.0.is_empty() {
            let this = pass.get();
            let kept = this.graph.get().change(|state| {
                state.per_run.extend(self.0.into_iter().map(|(word, value)| PerRun { pass: this.id, word, value }));
                Ok(())
            });
            kept.map_err(|mistake| one(pass.py(), mistake))?;
        }
        Ok(pass)
    }
}
