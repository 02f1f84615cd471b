//! Buffers with a shape and a dtype, as `Module.buffer` gets them.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use rgraph_plan::error::Code;

use crate::arguments::convert::{Bytes, one_or_many};
use crate::arguments::declare::given;
use crate::arguments::dtype::Dtype;
use crate::arguments::host_arrays::Host;
use crate::arguments::imports;
use crate::classes::array_layout::{Seen, shown};
use crate::classes::module::PyGraphModule;
use crate::run::error::{bad, one, refusal};

/// The arguments of a declaration that give a buffer's size.
pub(crate) struct Typed<'a, 'py> {
    /// Bytes.
    pub size: Option<u64>,
    /// Shape of its array.
    pub shape: Option<&'a Bound<'py, PyAny>>,
    /// Kind of its elements.
    pub dtype: Option<&'a Bound<'py, PyAny>>,
    /// A buffer of the same size, shape and dtype.
    pub like: Option<&'a Bound<'py, PyAny>>,
    /// Its contents before the first frame.
    pub array: Option<&'a Host>,
}

impl Typed<'_, '_> {
    /// Bytes, and how the buffer is seen.
    ///
    /// # Errors
    /// If the arguments contradict each other.
    pub(crate) fn read(&self, module: &Bound<'_, PyGraphModule>, name: &str) -> PyResult<(Option<u64>, Option<Seen>)> {
        let py = module.py();
        let (mut size, mut seen) = (self.size, None);
        if let Some(array) = self.array {
            let (own, as_array) = imports::buffer(py, array, name)?;
            (size, seen) = (size.or(own.size), Some(as_array));
        }
        if let Some(like) = self.like {
            let (bytes, alike) = self.alike(module, like)?;
            (size, seen) = (size.or(bytes), seen.or(alike));
        }
        let dtype = self.dtype.map(Dtype::read).transpose()?;
        let shape = self.shape.map(|shape| {
            one_or_many(shape)?
                .iter()
                .map(|axis| axis.extract().map(|Bytes(axis)| axis as usize))
                .collect::<PyResult<_>>()
        });
        let (shape, dtype): (Vec<usize>, _) = match (shape.transpose()?, dtype) {
            (None, None) => return Ok((size, seen)),
            (Some(_), None) => {
                return Err(PyTypeError::new_err("shape= needs dtype=, as buffer(name, shape=16, dtype=\"float32\")"));
            }
            (None, Some(dtype)) => match size {
                Some(size) => (vec![size as usize / dtype.size()], dtype),
                None => return Err(PyTypeError::new_err("dtype= needs shape= or a size in bytes")),
            },
            (Some(shape), Some(dtype)) => (shape, dtype),
        };
        let count = shape.iter().try_fold(1_u64, |count, axis| count.checked_mul(*axis as u64));
        let bytes = count.and_then(|count| count.checked_mul(dtype.size() as u64));
        match bytes.filter(|bytes| *bytes == size.unwrap_or(*bytes)) {
            Some(bytes) => Ok((Some(bytes), Some(Seen::Items(shape, dtype)))),
            None => {
                let bytes = bytes.map_or("more than 2^64".to_owned(), |bytes| bytes.to_string());
                let message = format!(
                    "buffer \"{name}\" of shape {} has {bytes} bytes, not {}",
                    shown(&shape, &dtype.name()),
                    size.unwrap_or(0)
                );
                Err(bad(py, Code::BadSize, message, "leave out the size, or declare the shape that it has"))
            }
        }
    }

    /// Bytes of another buffer, and how that is seen.
    fn alike(
        &self,
        module: &Bound<'_, PyGraphModule>,
        like: &Bound<'_, PyAny>,
    ) -> PyResult<(Option<u64>, Option<Seen>)> {
        let (of, graph) = (given(like)?, PyGraphModule::graph(module)?);
        let identity = graph.get().identity;
        let found = graph.get().change(|state| {
            let known = state.target(identity, module.get().prefix(), &of)?.known();
            let declared =
                state.graph.as_ref().zip(known).and_then(|(graph, id)| {
                    Some((graph.resources()[id].as_buffer()?.size, state.seen_of(id).cloned()))
                });
            declared.ok_or_else(|| {
                refusal(Code::UnknownName, "like= of a buffer is a buffer that is declared before", "give its handle")
            })
        });
        found.map_err(|mistake| one(module.py(), mistake))
    }
}
