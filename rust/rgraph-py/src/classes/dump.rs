//! `Graph.dump`: what one stage of a bake makes.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rgraph_plan::bake::dump::DumpStage;
use rgraph_plan::prelude::{Scratch, bake};

use crate::arguments::convert::{Count, Text, word};
use crate::arguments::keywords;
use crate::arguments::options::{self, Budget, MaxBatches};
use crate::classes::graph::PyGraph;
use crate::run::error::{graph_error, guarded};

#[pymethods]
impl PyGraph {
    /// The result of one stage of the bake as text, one line per item.
    ///
    /// Parameters
    /// ----------
    /// stage
    ///     `"resolve"` (passes and their accesses of subresources), `"cull"`, `"depend"` (what each live pass follows),
    ///     `"order"` (order and queues), `"merge"` (physical passes and intervals), `"queues"` (batches, waits,
    ///     sharing), `"alias"` (offsets and alias transitions) or `"barriers"` (barrier calls).
    /// profile, policy, split_barriers, effort, memory, max_batches
    ///     See `bake`.
    ///
    /// Returns
    /// -------
    /// str
    ///     The text; its form may change between versions.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If anything is wrong with the declaration.
    #[pyo3(signature = (stage, profile = None, *, policy = Text("auto"), split_barriers = Text("never"), effort = None,
                        memory = Budget::default(), max_batches = MaxBatches::default(), **unknown),
           text_signature = "($self, stage, profile=None, *, policy='auto', split_barriers='never', effort=None, \
                             memory='balanced', max_batches=256)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn dump(
        slf: &Bound<'_, Self>,
        stage: Text<'_>,
        profile: Option<&Bound<'_, PyAny>>,
        policy: Text<'_>,
        split_barriers: Text<'_>,
        effort: Option<Count>,
        memory: Budget,
        max_batches: MaxBatches,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<String> {
        let py = slf.py();
        keywords::refuse_in(slf.as_any(), "dump", unknown)?;
        let stages = DumpStage::ALL.into_iter().map(DumpStage::name);
        let stage = word(py, "stage", stage.0, DumpStage::from_name, stages)?;
        let profile = options::profile(py, profile)?;
        let options = options::options(py, policy, split_barriers, false, effort, (memory, max_batches))?;
        let whole = Self::resolved(slf)?;
        let dumped = guarded(py, move || {
            let mut scratch = Scratch::default();
            bake(&whole, &profile, &options, &mut scratch).map(|_| scratch.dump(&whole, stage))
        })?;
        dumped.map_err(|error| graph_error(py, &error))
    }
}
