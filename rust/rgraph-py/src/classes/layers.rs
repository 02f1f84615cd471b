//! Layers: where their passes stand. `rgraph/_layers.py` declares them.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments::convert::{Count, Text};
use crate::arguments::keywords;
use crate::classes::graph::PyGraph;
use crate::classes::module::PyGraphModule;
use crate::classes::pass::PyPass;
use crate::run::error::one;
use crate::run::state::GraphState;
use crate::run::target_functions::Functions;

#[pymethods]
impl PyGraphModule {
    /// The place of a layer of this module, by its order among them; without one, that of the layer which is open.
    #[pyo3(signature = (name, order = None))]
    fn _layer_place<'py>(slf: &Bound<'py, Self>, name: Text<'_>, order: Option<Count>) -> PyResult<Bound<'py, Self>> {
        let this = slf.get();
        let full = this.full(name);
        let slot = Self::graph(slf)?.get().change(|state| {
            state.open()?;
            let GraphState { graph, places, .. } = state;
            let Some(Count(order)) = order else { return Ok(places.opened(&full)) };
            Ok(graph.as_mut().map(|graph| places.layer(graph, this.slot(), &full, order)))
        });
        let slot = slot.map_err(|mistake| one(slf.py(), mistake))?;
        Self::at(slf, this.prefix().clone(), slot)
    }

    /// The place at numbers within this one, which has places by numbers alone; names are those of `names`, and so is
    /// the flag of passes that name none, where `flag` gives no other.
    #[pyo3(signature = (numbers, names, flag = None))]
    fn _place<'py>(
        slf: &Bound<'py, Self>,
        numbers: Vec<u32>,
        names: &Bound<'py, PyGraphModule>,
        flag: Option<Text<'_>>,
    ) -> PyResult<Bound<'py, Self>> {
        let this = slf.get();
        let slot = Self::graph(slf)?.get().change(|state| {
            state.open()?;
            let GraphState { graph, places, .. } = state;
            let (Some(graph), Some(slot)) = (graph.as_mut(), this.slot()) else { return Ok(None) };
            Ok(Some(numbers.into_iter().fold(slot, |slot, at| places.at(graph, slot, at))))
        });
        let slot = slot.map_err(|mistake| one(slf.py(), mistake))?;
        let names = names.get();
        let flag = flag.map(|Text(flag)| flag.into()).or_else(|| names.flag().cloned());
        Self::under(slf, names.prefix().clone(), slot, flag)
    }

    /// The graph that it is part of.
    #[getter]
    fn _graph<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyGraph>> {
        Self::graph(slf)
    }

    /// Whether its graph replaces the declaration of a taken name.
    #[getter]
    fn _replaces(slf: &Bound<'_, Self>) -> PyResult<bool> {
        Ok(Self::graph(slf)?.get().read(|state| state.anew.replaces))
    }

    /// The layers of its graph by full name.
    #[getter]
    fn _layers<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let (py, graph) = (slf.py(), Self::graph(slf)?);
        if let Some(known) = graph.get().read(|state| state.layers.as_ref().map(|layers| layers.clone_ref(py))) {
            return Ok(known.into_bound(py));
        }
        let new = PyDict::new(py).unbind();
        let layers = graph.get().change(|state| Ok(state.layers.get_or_insert(new).clone_ref(py)));
        layers.map(|layers| layers.into_bound(py)).map_err(|mistake| one(py, mistake))
    }

    /// Open a layer, a pass with attachments to which others add draws; or find one.
    ///
    /// The layers of a module run where its first one is opened, sorted by `order`, those of equal order as they are
    /// opened. `Layer.draw` adds a pass to it from anywhere, in the order of keys. The planner merges them into one
    /// render pass; only a demand of `Layer.behind` interrupts it.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name: that of the pass that clears its attachments.
    /// color
    ///     Colour targets by location, as in `raster`. Without any target: the layer of that name which was opened in
    ///     this module or around it.
    /// depth
    ///     Depth (and stencil) attachment.
    /// order
    ///     Its position among the layers of this module.
    /// clear, clear_depth
    ///     Clear values, as in `raster`. Without any, nothing is cleared and the layer has no pass of its own.
    ///
    /// Returns
    /// -------
    /// Layer
    ///     Its methods add passes to it.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     RG-E201 if a layer of that name is open already, RG-E202 if none is.
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    #[pyo3(signature = (name, color = None, depth = None, *, order = Count(0), clear = None, clear_depth = None,
                        **unknown),
           text_signature = "($self, name, color=None, depth=None, *, order=0, clear=None, clear_depth=None)")]
    fn layer<'py>(
        slf: &Bound<'py, Self>,
        name: Text<'_>,
        color: Option<Bound<'py, PyAny>>,
        depth: Option<Bound<'py, PyAny>>,
        order: Count,
        clear: Option<Bound<'py, PyAny>>,
        clear_depth: Option<Bound<'py, PyAny>>,
        unknown: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        keywords::refuse_in(slf.as_any(), "layer", unknown)?;
        let layers = slf.py().import("rgraph._layers")?;
        if color.is_none() && depth.is_none() {
            return layers.call_method1("find", (slf, name.0));
        }
        layers.call_method1("open_layer", (slf, name.0, color, depth, order.0, clear, clear_depth))
    }
}

#[pymethods]
impl PyPass {
    /// Functions that are called at each run, by the names of the arguments that they are given for.
    fn _per_run<'py>(slf: Bound<'py, Self>, functions: &Bound<'py, PyDict>) -> PyResult<Bound<'py, Self>> {
        let mut kept = Functions::default();
        for (word, function) in functions {
            kept.add(word.extract::<Text<'_>>()?.0, function);
        }
        kept.keep(slf)
    }
}
