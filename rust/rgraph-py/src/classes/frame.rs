//! `rgraph.Frame`: a frame that was submitted.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::pyclass::{PyTraverseError, PyVisit};
use pyo3::types::PyDict;
use pyo3::types::{PyIterator, PyList, PyString};
use rgraph_plan::error::Code;
use rgraph_plan::graph::Ranges;
use rgraph_plan::resource::ResourceId;
use rgraph_plan::words::plain;
use rgraph_vk::{DevicesFrame, Frame, Readback};

use crate::arguments::convert::{Number, seconds};
use crate::arguments::keywords;
use crate::arguments::reads::typed;
use crate::classes::array::PyArray;
use crate::classes::compiled::PyCompiled;
use crate::classes::devices_compiled::PyCompiledDevices;
use crate::classes::report::PyReport;
use crate::run::detached::{Detached, call, wait};
use crate::run::error::{bad, guarded};
use crate::run::inside::outside;
use crate::run::runnable::Runnable;

/// A frame that was submitted: its results by name, and how long it took.
///
/// `frame["out"]` waits for the frame; `frame.done` does not, and `frame.wait` takes a timeout. A frame stays readable
/// after later frames, and after its device was closed.
#[pyclass(name = "Frame", module = "rgraph", frozen, weakref)]
pub struct PyFrame {
    of: Of,
    /// Results that were asked for, so that asking again gives the same.
    arrays: Mutex<Vec<(Key, Py<PyArray>)>>,
    /// Results that are no arrays in the host's memory: tensors.
    tensors: Vec<(ResourceId, Py<PyAny>)>,
}

/// What ran, and what that left.
enum Of {
    One(Py<PyCompiled>, Detached<Frame>),
    Several(Py<PyCompiledDevices>, Detached<DevicesFrame>),
}

/// A resource, and which part of it.
type Key = (ResourceId, Ranges);

impl PyFrame {
    /// The Python object of a frame.
    pub fn of_one<'py>(
        compiled: &Bound<'py, PyCompiled>,
        frame: Detached<Frame>,
        tensors: Vec<(ResourceId, Py<PyAny>)>,
    ) -> PyResult<Bound<'py, Self>> {
        let of = Of::One(compiled.clone().unbind(), frame);
        Bound::new(compiled.py(), Self { of, arrays: Mutex::default(), tensors })
    }

    /// The Python object of a frame of several devices.
    pub fn of_several<'py>(
        compiled: &Bound<'py, PyCompiledDevices>,
        frame: Detached<DevicesFrame>,
    ) -> PyResult<Bound<'py, Self>> {
        let of = Of::Several(compiled.clone().unbind(), frame);
        Bound::new(compiled.py(), Self { of, arrays: Mutex::default(), tensors: Vec::new() })
    }

    fn runnable(&self) -> &Runnable {
        match &self.of {
            Of::One(compiled, _) => compiled.get(),
            Of::Several(compiled, _) => compiled.get(),
        }
    }

    fn until_done(&self, py: Python<'_>, timeout: Option<Duration>) -> PyResult<bool> {
        outside(py, &self.runnable().numbers)?;
        match &self.of {
            Of::One(_, frame) => wait(py, timeout, |free, slice| frame.get(free)?.wait(Some(slice))),
            // A run on several devices returns when they are done.
            Of::Several(..) => Ok(true),
        }
    }

    fn read(&self, py: Python<'_>, (id, ranges): Key) -> PyResult<Detached<Readback>> {
        let whole = ranges == Ranges::default();
        match &self.of {
            Of::One(_, frame) => {
                frame.make(py, |frame, _| if whole { frame.read(id) } else { frame.read_part(id, ranges) })
            }
            Of::Several(_, frame) if whole => frame.make(py, |frame, _| frame.read(id)),
            Of::Several(..) => {
                let name = self.runnable().load.graph.resource_name(id);
                let message = format!("a part of \"{name}\" is read, which is not supported over several devices");
                Err(bad(py, Code::BadInput, message, "read all of it"))
            }
        }
    }

    /// What a root holds, or the part of one; waits for it.
    pub fn array<'py>(&self, py: Python<'py>, key: Key) -> PyResult<Bound<'py, PyArray>> {
        let known = {
            let arrays = self.arrays.lock().unwrap_or_else(PoisonError::into_inner);
            arrays.iter().find(|(known, _)| *known == key).map(|(_, known)| known.clone_ref(py))
        };
        if let Some(known) = known {
            return Ok(known.into_bound(py));
        }
        self.until_done(py, None)?;
        let bytes = self.read(py, key)?;
        let layout = self.runnable().layout_of(key.0, &bytes.kind());
        let array = Bound::new(py, guarded(py, || PyArray::new(bytes, layout))?)?;
        self.arrays.lock().unwrap_or_else(PoisonError::into_inner).push((key, array.clone().unbind()));
        Ok(array)
    }

    /// The frame of the runtime, if one device ran it.
    pub fn of_device(&self) -> Option<&Detached<Frame>> {
        match &self.of {
            Of::One(_, frame) => Some(frame),
            Of::Several(..) => None,
        }
    }

    /// The resource of its graph that a name or a handle means.
    pub fn find(&self, name: &Bound<'_, PyAny>) -> PyResult<ResourceId> {
        self.runnable().find(name)
    }

    /// What has results: arrays, then tensors. Of a resource of which one part was read, that is its result.
    fn keyed(&self) -> impl Iterator<Item = Key> {
        let tensors = self.tensors.iter().map(|(id, _)| (*id, Ranges::default()));
        let parts: Vec<Key> = match &self.of {
            Of::One(_, frame) => frame.parts().collect(),
            Of::Several(_, frame) => frame.readable().map(|id| (id, Ranges::default())).collect(),
        };
        let alone = |id| parts.iter().filter(|(of, _)| *of == id).count() == 1;
        let arrays = parts.iter().filter(|(id, _)| !self.tensors.iter().any(|(known, _)| known == id));
        let arrays = arrays.map(|&(id, ranges)| (id, if alone(id) { Ranges::default() } else { ranges }));
        arrays.collect::<Vec<_>>().into_iter().chain(tensors)
    }

    fn key_name(&self, (id, ranges): Key) -> String {
        typed(self.runnable().load.graph.resource_name(id), ranges)
    }

    /// What an argument means: a handle, a part, a name, or a key that is the text of a part.
    fn key(&self, value: &Bound<'_, PyAny>) -> PyResult<Key> {
        let found = self.runnable().find_part(value);
        match (&found, value.cast::<PyString>()) {
            (Err(_), Ok(text)) => {
                let text = text.to_cow()?;
                self.keyed().find(|key| self.key_name(*key) == text).map_or(found, Ok)
            }
            _ => found,
        }
    }

    /// A result: a tensor at once, an array when the frame is done.
    fn result<'py>(&self, py: Python<'py>, key: Key) -> PyResult<Bound<'py, PyAny>> {
        let tensor = self.tensors.iter().find(|(id, _)| (*id, Ranges::default()) == key);
        tensor.map_or_else(
            || self.array(py, key).map(Bound::into_any),
            |(_, tensor)| Ok(tensor.clone_ref(py).into_bound(py)),
        )
    }

    fn names(&self) -> Vec<String> {
        self.keyed().map(|key| self.key_name(key)).collect()
    }
}

#[pymethods]
impl PyFrame {
    /// Whether it is done.
    ///
    /// Raises
    /// ------
    /// DeviceError
    ///     If the device is lost. Exceptions of a CPU pass's function are raised here too.
    #[getter]
    fn done(&self, py: Python<'_>) -> PyResult<bool> {
        match &self.of {
            Of::One(_, frame) => call(py, |free| frame.get(free)?.is_done()),
            Of::Several(..) => Ok(true),
        }
    }

    /// Wait until it is done. Ctrl-C ends the wait, not the frame.
    ///
    /// Parameters
    /// ----------
    /// timeout
    ///     Seconds; default: as long as it takes.
    ///
    /// Returns
    /// -------
    /// bool
    ///     True once it is done; False after the timeout.
    #[pyo3(signature = (timeout = None, **unknown), text_signature = "($self, timeout=None)")]
    fn wait(&self, py: Python<'_>, timeout: Option<Number>, unknown: Option<&Bound<'_, PyDict>>) -> PyResult<bool> {
        keywords::refuse_of::<Self>("wait", unknown)?;
        self.until_done(py, seconds(py, timeout)?)
    }

    /// GPU time by pass, CPU time, memory, barriers and submits; waits for the frame.
    ///
    /// For a frame on several devices it covers all parts. Queues are named with their device, such as `1 compute`; the
    /// devices have no common clock, so `timeline` is empty, and `gpu_us` is the longest time of a device.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyReport>> {
        self.until_done(py, None)?;
        let mut report = match &self.of {
            Of::One(_, frame) => call(py, |free| frame.get(free)?.report())?,
            Of::Several(_, frame) => call(py, |free| frame.get(free)?.report())?,
        };
        // Parts on several devices have notes of the whole plan, too.
        let more = self.runnable().notes.iter().filter(|note| !report.notes.contains(note));
        let more: Vec<_> = more.cloned().collect();
        report.notes.extend(more);
        Bound::new(py, PyReport(report))
    }

    /// The report of each part of a frame on several devices, in the order of `DevicesPlan.parts`; of a frame on one
    /// device its `report` alone.
    #[getter]
    fn reports<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyReport>>> {
        let Of::Several(_, frame) = &self.of else { return Ok(vec![self.report(py)?]) };
        let parts = call(py, |free| {
            let parts = frame.get(free)?.parts().iter();
            parts.map(|(_, part)| part.report()).collect::<Result<Vec<_>, _>>()
        })?;
        parts.into_iter().map(|report| Bound::new(py, PyReport(report))).collect()
    }

    /// Names of the resources that were read back; where a run read several parts of one resource, the text of each
    /// part, such as `lit.mip(1).layer(0)` or `words[0:16]`.
    fn keys(&self) -> Vec<String> {
        self.names()
    }

    /// What a root held at the end of the frame, or a part of it that was read back (`frame[image.mip(2)]`); waits for
    /// the frame.
    ///
    /// Each call returns the same object. Resources that `rgraph.cuda` exports are tensors, and the host does not wait.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let key = self.key(name)?;
        self.result(py, key)
    }

    /// All results that were read back, in the order of `keys()`; waits for the frame.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.keyed().map(|key| self.result(py, key)).collect()
    }

    /// (name, array) pairs of the results that were read back; waits for the frame.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
        Ok(self.names().into_iter().zip(self.values(py)?).collect())
    }

    /// The array of a root, or `default` if no root of that name was read back; waits for the frame.
    #[pyo3(signature = (name, default = None, **unknown), text_signature = "($self, name, default=None)")]
    fn get<'py>(
        slf: &Bound<'py, Self>,
        name: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        keywords::refuse_of::<Self>("get", unknown)?;
        match slf.get().__contains__(name) {
            true => slf.get().__getitem__(slf.py(), name).map(Some),
            false => Ok(default),
        }
    }

    /// Wait in a coroutine: `frame = await compiled.run()`; other coroutines go on meanwhile.
    fn __await__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("rgraph._await")?.call_method1("finished", (slf,))?.call_method0("__await__")
    }

    fn __contains__(&self, name: &Bound<'_, PyAny>) -> bool {
        let Ok((id, ranges)) = self.key(name) else { return false };
        let parts = match &self.of {
            Of::One(_, frame) => frame.parts().collect(),
            Of::Several(..) => Vec::new(),
        };
        parts.contains(&(id, ranges)) || self.keyed().any(|known| known == (id, ranges))
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.names())?.try_iter()
    }

    fn __len__(&self) -> usize {
        self.keyed().count()
    }

    /// Pictures of what was read back, for notebooks; waits for the frame.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("rgraph._reprs")?.call_method1("frame", (slf,))
    }

    fn __repr__(&self) -> String {
        format!("<Frame of \"{}\": {}>", plain(self.runnable().load.graph.name()), plain(&self.names().join(", ")))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match &self.of {
            Of::One(compiled, _) => visit.call(compiled)?,
            Of::Several(compiled, _) => visit.call(compiled)?,
        }
        self.tensors.iter().try_for_each(|(_, tensor)| visit.call(tensor))
    }
}
