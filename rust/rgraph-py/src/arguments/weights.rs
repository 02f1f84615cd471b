//! Durations of passes from an argument: a report, a dictionary, or a file of either.

use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use rgraph_plan::access::PassQueue;
use rgraph_plan::error::Code;
use rgraph_plan::graph::Graph;
use rgraph_plan::what_if::weigh;

use crate::arguments::convert::{Number, Text, word};
use crate::arguments::files;
use crate::arguments::mapped::Mapped;
use crate::classes::pass::PyPass;
use crate::classes::report::PyReport;
use crate::run::error::{bad, graph_error};

/// Durations of passes in microseconds, by name.
pub(crate) struct Weights {
    times: Vec<(String, f64)>,
    /// Whether names that a graph lacks are ignored: those of a report.
    lenient: bool,
    /// Queues of passes: those that a tuner opened.
    queues: Vec<(String, PassQueue)>,
}

/// The name of a pass that is given itself or by name.
pub(crate) fn pass_name(value: &Bound<'_, PyAny>) -> PyResult<String> {
    match value.cast::<PyPass>() {
        Ok(pass) => Ok(pass.get().full_name()),
        Err(_) => Ok(value.extract::<Text<'_>>()?.0.to_owned()),
    }
}

impl Weights {
    /// The durations that `weights=` gives.
    ///
    /// # Errors
    /// RG-E225 if a report has no times; `TypeError` for anything but durations.
    pub(crate) fn of(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = value.py();
        if let Ok(report) = value.cast::<PyReport>() {
            return Ok(Self { times: report.get().times(py)?, lenient: true, queues: Vec::new() });
        }
        if let Some(times) = Mapped::of(value)? {
            return Self::of_dict(&times);
        }
        let Ok(path) = value.extract::<PathBuf>() else {
            return Err(PyTypeError::new_err(
                "weights are a Report, {pass: microseconds}, or the path of a saved report",
            ));
        };
        let text = files::read(py, &path)?;
        let read = py.import("json")?.call_method1("loads", (text.as_slice(),));
        match read.as_ref().map(|values| values.cast::<PyDict>()) {
            Ok(Ok(times)) => Self::of_dict(times),
            _ => {
                let message = format!("{}: no report and no durations", path.display());
                Err(bad(py, Code::BadFile, message, "write it with json.dump(frame.report.to_dict(), file)"))
            }
        }
    }

    fn of_dict(values: &Bound<'_, PyDict>) -> PyResult<Self> {
        if let Some(passes) = values.get_item("passes")?.filter(|passes| passes.is_instance_of::<PyList>()) {
            let mut times = Vec::new();
            for row in passes.try_iter()? {
                let row = row?;
                let row =
                    row.cast::<PyDict>().map_err(|_| PyTypeError::new_err("a report's passes are dictionaries"))?;
                let of = |keys: [&str; 2]| -> PyResult<Option<Bound<'_, PyAny>>> {
                    let [one, other] = [row.get_item(keys[0])?, row.get_item(keys[1])?];
                    Ok(one.or(other).filter(|value| !value.is_none()))
                };
                if let (Some(name), Some(us)) = (of(["pass", "name"])?, of(["us", "median"])?) {
                    times.push((name.extract::<Text<'_>>()?.0.to_owned(), us.extract::<Number>()?.0));
                }
            }
            if times.is_empty() {
                let help = "measure it with device.run(graph, measure=\"passes\")";
                return Err(bad(values.py(), Code::BadInput, "the report has no GPU times", help));
            }
            let mut queues = Vec::new();
            if let Some(named) = values.get_item("queues")? {
                for (name, queue) in
                    named.cast::<PyDict>().map_err(|_| PyTypeError::new_err("queues is a dictionary"))?.iter()
                {
                    let Text(word_of) = queue.extract()?;
                    let known = PassQueue::ALL.iter().map(|queue| queue.name());
                    queues.push((pass_name(&name)?, word(values.py(), "queue", word_of, PassQueue::from_name, known)?));
                }
            }
            return Ok(Self { times, lenient: true, queues });
        }
        let one = |(name, us): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            if us.is_instance_of::<PyString>() {
                return Err(PyTypeError::new_err("weights are {pass: microseconds}"));
            }
            Ok((pass_name(&name)?, us.extract::<Number>()?.0))
        };
        Ok(Self { times: values.iter().map(one).collect::<PyResult<_>>()?, lenient: false, queues: Vec::new() })
    }

    /// The durations, and whether names that the graph lacks are ignored.
    pub(crate) fn into_parts(self) -> (Vec<(String, f64)>, bool) {
        (self.times, self.lenient)
    }

    /// Makes them those of a graph's passes.
    ///
    /// # Errors
    /// A `GraphError` for unknown passes and numbers that are no durations.
    pub(crate) fn apply(&self, py: Python<'_>, graph: &mut Graph) -> PyResult<()> {
        for (name, queue) in &self.queues {
            if let Some(pass) = graph.find_pass(name) {
                graph.pass_mut(pass).queue = *queue;
            }
        }
        weigh(graph, &self.times, self.lenient, &mut Vec::new()).map_err(|error| graph_error(py, &error))
    }
}
