//! Passes that copy, blit, clear and fill.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use rgraph_plan::access::PassQueue;
use rgraph_plan::error::Code;
use rgraph_vk::work::Step;
use rgraph_work::infer::Who;
use rgraph_work::infer::transfer::{self, Side};

use crate::arguments::convert::{Bytes, Text, clear, during};
use crate::arguments::declare::given;
use crate::arguments::words::{FILTERS, named};
use crate::classes::module::PyGraphModule;
use crate::classes::pass::PyPass;
use crate::classes::passes::{Arguments, Named, PassArguments, Work};
use crate::classes::view::{AccessRange, PyView};
use crate::run::error::{bad, graph_error, one, refusal};
use crate::run::pending_work::Todo;
use crate::run::unresolved::{Given, Target};

/// One side of a transfer, which must be declared by now: images and buffers are copied differently.
///
/// # Errors
/// If it names what is not declared yet.
pub(crate) fn side(module: &Bound<'_, PyGraphModule>, value: &Bound<'_, PyAny>, work: &mut Work) -> PyResult<Side> {
    let py = module.py();
    let (resource, part) = match PyView::of(value) {
        Some((resource, part)) => (resource.into_any(), part),
        None => (value.clone(), AccessRange::default()),
    };
    let given = given(&resource)?.owned();
    let graph = PyGraphModule::graph(module)?;
    let identity = graph.get().identity;
    let at = work.table.add(given.clone());
    let side = graph.get().change(|state| {
        let target = state.target(identity, module.get().prefix(), &given)?;
        match (target, &state.graph) {
            (Target::Known(id), Some(graph)) => Ok(Side::of(graph, id, at, part)),
            _ => {
                let name = if let Given::Name(name) = &given { name } else { "" };
                let help = "declare images and buffers before the passes that copy them";
                let message = format!("a transfer names \"{name}\", which nothing declares yet");
                Err(refusal(Code::UnknownName, message, help))
            }
        }
    });
    side.map_err(|mistake| one(py, mistake))
}

/// A copy, whatever the two sides are.
pub(crate) fn copy(py: Python<'_>, who: Who<'_>, from: &Side, to: &Side, work: &mut Work) -> PyResult<Step> {
    transfer::copy(who, from, to, &mut work.needs).map_err(|error| graph_error(py, &error))
}

/// A scaled and converted copy of an image.
pub(crate) fn blit(
    py: Python<'_>,
    who: Who<'_>,
    from: &Side,
    to: &Side,
    filter: Option<Text<'_>>,
    work: &mut Work,
) -> PyResult<Step> {
    let linear = filter.map_or(Ok(true), |Text(filter)| named(py, "filter", filter, FILTERS))?;
    transfer::blit(who, from, to, linear, &mut work.needs).map_err(|error| graph_error(py, &error))
}

/// One value everywhere in an image.
pub(crate) fn clear_image(
    py: Python<'_>,
    who: Who<'_>,
    image: &Side,
    value: &Bound<'_, PyAny>,
    work: &mut Work,
) -> PyResult<Step> {
    let value = clear(value).map_err(|error| during(py, error, "value"))?;
    transfer::clear(who, image, value, &mut work.needs).map_err(|error| graph_error(py, &error))
}

/// One word again and again in a buffer.
pub(crate) fn fill_buffer(py: Python<'_>, who: Who<'_>, buffer: &Side, word: u32, work: &mut Work) -> PyResult<Step> {
    transfer::fill(who, buffer, word, &mut work.needs).map_err(|error| graph_error(py, &error))
}

/// A word of a fill: unsigned, or signed with the same bits.
pub(crate) fn filler(value: Option<&Bound<'_, PyAny>>) -> PyResult<u32> {
    match value {
        None => Ok(0),
        Some(value) => match value.extract::<i32>() {
            Ok(word) if !value.is_instance_of::<PyBool>() => Ok(word as u32),
            _ => {
                let wide = value.extract::<Bytes>().map_err(|error| during(value.py(), error, "word"))?;
                wide.0.try_into().map_err(|_| {
                    let help = "a word has 32 bits: give -2147483648 to 4294967295";
                    bad(value.py(), Code::BadNumber, format!("word: {} is out of range", wide.0), help)
                })
            }
        },
    }
}

#[pymethods]
impl PyGraphModule {
    /// Declare a pass that copies an image or a buffer to another one.
    ///
    /// Further keyword arguments are those of `add_pass`.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name among passes.
    /// source, target
    ///     Images and buffers, parts of them (`image.mip(1)`, `buffer[0:256]`) or names. An image in a buffer is
    ///     tightly packed, row by row. A larger target keeps what the copy does not reach.
    /// **options
    ///     As in `add_pass`.
    ///
    /// Returns
    /// -------
    /// Pass
    ///     Further accesses may be declared on it.
    #[pyo3(signature = (name, source, target, **options), text_signature = "($self, name, source, target, **options)")]
    fn copy<'py>(
        slf: &Bound<'py, Self>,
        name: Text<'py>,
        source: &Bound<'py, PyAny>,
        target: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyPass>> {
        let mut work = Work::default();
        let (from, to) = (side(slf, source, &mut work)?, side(slf, target, &mut work)?);
        let named = Named::here(slf, name);
        let step = copy(slf.py(), named.who(), &from, &to, &mut work)?;
        transferring(slf, named, Arguments::new(options)?, "copy", work, step)
    }

    /// Declare a pass that blits an image to another one, scaled and converted.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name among passes.
    /// source, target
    ///     Images, parts of them or names.
    /// filter
    ///     Between texels: `"linear"` or `"nearest"`.
    /// **options
    ///     As in `add_pass`.
    ///
    /// Returns
    /// -------
    /// Pass
    ///     Further accesses may be declared on it.
    #[pyo3(signature = (name, source, target, *, filter = None, **options),
           text_signature = "($self, name, source, target, *, filter='linear', **options)")]
    fn blit<'py>(
        slf: &Bound<'py, Self>,
        name: Text<'py>,
        source: &Bound<'py, PyAny>,
        target: &Bound<'py, PyAny>,
        filter: Option<Text<'py>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyPass>> {
        let mut work = Work::default();
        let (from, to) = (side(slf, source, &mut work)?, side(slf, target, &mut work)?);
        let named = Named::here(slf, name);
        let step = blit(slf.py(), named.who(), &from, &to, filter, &mut work)?;
        transferring(slf, named, Arguments::new(options)?, "blit", work, step)
    }

    /// Declare a pass that clears an image to one value.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name among passes.
    /// image
    ///     Image, part of one (default: mip 0) or name.
    /// value
    ///     (red, green, blue, alpha), depth, or (depth, stencil).
    /// **options
    ///     As in `add_pass`.
    ///
    /// Returns
    /// -------
    /// Pass
    ///     Further accesses may be declared on it.
    #[pyo3(signature = (name, image, value, **options), text_signature = "($self, name, image, value, **options)")]
    fn clear<'py>(
        slf: &Bound<'py, Self>,
        name: Text<'py>,
        image: &Bound<'py, PyAny>,
        value: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyPass>> {
        let mut work = Work::default();
        let image = side(slf, image, &mut work)?;
        let named = Named::here(slf, name);
        let step = clear_image(slf.py(), named.who(), &image, value, &mut work)?;
        transferring(slf, named, Arguments::new(options)?, "clear", work, step)
    }

    /// Declare a pass that fills a buffer with a 32-bit word.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name among passes.
    /// buffer
    ///     Buffer, part of one (in multiples of four bytes) or name.
    /// word
    ///     A 32-bit number, unsigned or signed; default: 0.
    /// **options
    ///     As in `add_pass`.
    ///
    /// Returns
    /// -------
    /// Pass
    ///     Further accesses may be declared on it.
    #[pyo3(signature = (name, buffer, word = None, **options),
           text_signature = "($self, name, buffer, word=0, **options)")]
    fn fill<'py>(
        slf: &Bound<'py, Self>,
        name: Text<'py>,
        buffer: &Bound<'py, PyAny>,
        word: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyPass>> {
        let mut work = Work::default();
        let buffer = side(slf, buffer, &mut work)?;
        let named = Named::here(slf, name);
        let step = fill_buffer(slf.py(), named.who(), &buffer, filler(word)?, &mut work)?;
        transferring(slf, named, Arguments::new(options)?, "fill", work, step)
    }
}

fn transferring<'py>(
    module: &Bound<'py, PyGraphModule>,
    named: Named<'_>,
    arguments: Arguments<'py>,
    function: &str,
    work: Work,
    step: Step,
) -> PyResult<Bound<'py, PyPass>> {
    let pass = PassArguments::take(&arguments, PassQueue::Graphics)?;
    arguments.end(module.py(), function)?;
    work.declare(module, named, pass, Todo::Steps(Arc::new([step])))
}
