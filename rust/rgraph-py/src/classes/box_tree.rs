//! `rgraph.BoxTree`: all permitted orders of a graph's passes.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rgraph_plan::bake::Orders;

use crate::arguments::convert::Bytes;
use crate::arguments::keywords;
use crate::arguments::options;
use crate::classes::counted;
use crate::classes::graph::PyGraph;
use crate::run::error::{graph_error, guarded};
use crate::run::plan_cache::{keep_scratch, take_scratch};

/// The tree of boxes that represents all permitted orders of a graph's passes. `str(tree)` draws it.
///
/// A sequence runs its parts one after the other, a parallel box in any order, interleaved too; a prime box has
/// dependencies that are neither. Immutable. Made by `Graph.box_tree`.
#[pyclass(name = "BoxTree", module = "rgraph", frozen)]
pub(crate) struct PyBoxTree(Arc<Orders>);

#[pymethods]
impl PyBoxTree {
    /// Number of permitted orders; `None` if there are too many to count.
    fn count(&self, py: Python<'_>) -> PyResult<Option<u128>> {
        let orders = Arc::clone(&self.0);
        guarded(py, move || orders.count())
    }

    /// A random permitted order: names of passes. Uniform among all orders where these can be counted.
    ///
    /// Parameters
    /// ----------
    /// seed
    ///     Equal seeds give equal orders.
    #[pyo3(signature = (seed = Bytes(0), **unknown), text_signature = "($self, seed=0)")]
    fn sample(&self, py: Python<'_>, seed: Bytes, unknown: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<String>> {
        keywords::refuse_of::<Self>("sample", unknown)?;
        let orders = Arc::clone(&self.0);
        guarded(py, move || orders.sample(seed.0).into_iter().map(str::to_owned).collect())
    }

    /// The order of the policy `"box_tree"` on one queue: boxes stay together, the heaviest first.
    fn flatten(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let orders = Arc::clone(&self.0);
        guarded(py, move || orders.flatten().into_iter().map(str::to_owned).collect())
    }

    /// Names of the passes, in an order in which they may run one by one.
    #[getter]
    fn passes(&self) -> Vec<String> {
        self.0.passes.as_slice().to_vec()
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        let orders = Arc::clone(&self.0);
        guarded(py, move || orders.to_string())
    }

    fn __repr__(&self) -> String {
        format!("<BoxTree of {}>", counted(self.0.passes.len(), "pass"))
    }
}

#[pymethods]
impl PyGraph {
    /// All permitted orders of the passes that run, as a tree of boxes.
    ///
    /// Parameters
    /// ----------
    /// profile
    ///     The device: see `bake`.
    ///
    /// Returns
    /// -------
    /// BoxTree
    ///     It counts, samples, flattens and prints them.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If anything is wrong with the declaration.
    ///
    /// Examples
    /// --------
    /// >>> import rgraph
    /// >>> g = rgraph.Graph()
    /// >>> for name in ("a", "b"):
    /// ...     image = g.image(name, format="r8unorm")
    /// ...     _ = g.add_pass(f"draw {name}", weight_us=10).color(image)
    /// ...     g.root(image)
    /// >>> g.box_tree().count()
    /// 2
    #[pyo3(signature = (profile = None, **unknown), text_signature = "($self, profile=None)")]
    fn box_tree<'py>(
        slf: &Bound<'py, Self>,
        profile: Option<&Bound<'py, PyAny>>,
        unknown: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<PyBoxTree> {
        keywords::refuse_of::<Self>("box_tree", unknown)?;
        let py = slf.py();
        let (profile, whole) = (options::profile(py, profile)?, Self::resolved(slf)?);
        let mut scratch = take_scratch();
        let (orders, scratch) = guarded(py, move || {
            let orders = Orders::new(&whole, &profile, &mut scratch);
            (orders, scratch)
        })?;
        keep_scratch(scratch);
        Ok(PyBoxTree(Arc::new(orders.map_err(|error| graph_error(py, &error))?)))
    }
}
