//! `rgraph.DeviceResource`: an image or buffer of a device's, for several graphs in turn.

use ash::vk::{self, Handle};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rgraph_plan::access::Layout;
use rgraph_plan::error::Code;
use rgraph_plan::id::Id;
use rgraph_plan::plan::PlanKind;
use rgraph_plan::words::plain;
use rgraph_vk::{BorrowedHandle, DeviceQueueId, DeviceResource, ResourceState};

use crate::arguments::convert::{self, Bytes, Count, Text, accesses, during, stages, word_of};
use crate::arguments::declare::{self, only};
use crate::arguments::host_arrays::Host;
use crate::arguments::keywords;
use crate::classes::array::PyArray;
use crate::classes::array_layout::ArrayLayout;
use crate::classes::device::PyDevice;
use crate::classes::format::FormatName;
use crate::run::detached::{Detached, call};
use crate::run::ending::poll;
use crate::run::error::{bad, guarded, one};
use crate::run::inside::outside;

/// An image or buffer of a device. Several graphs can use it in turn, and Vulkan code of the caller in between.
///
/// Made by `Device.image` and `Device.buffer`; given to a run as `inputs={name: resource}`, bound to an imported image
/// or buffer of the same kind. Afterwards it has the contents that the run wrote.
#[pyclass(name = "DeviceResource", module = "rgraph", frozen, weakref)]
pub struct PyDeviceResource {
    pub resource: Detached<DeviceResource>,
    /// The number of its device.
    device: u64,
}

#[pymethods]
impl PyDevice {
    /// Make an image that belongs to the caller. Its contents are undefined.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name in reports and messages.
    /// size
    ///     (width, height) in texels.
    /// format
    ///     Texel format, as in `Module.image`.
    /// mips, layers
    ///     Mip levels and array layers.
    /// memory_domain
    ///     Its memory, as in `Module.image`; default: the device's.
    ///
    /// Returns
    /// -------
    /// DeviceResource
    ///     Give it to runs as `inputs={name: resource}`.
    ///
    /// Raises
    /// ------
    /// DeviceError
    ///     RG-E102 if the device cannot make it, or has no such memory for it.
    #[pyo3(signature = (name, size, format, *, mips = Count(1), layers = Count(1), memory_domain = None,
                        **unknown),
           text_signature = "($self, name, size, format, *, mips=1, layers=1, memory_domain=None)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn image(
        &self,
        py: Python<'_>,
        name: Text<'_>,
        size: &Bound<'_, PyAny>,
        format: FormatName,
        mips: Count,
        layers: Count,
        memory_domain: Option<Text<'_>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyDeviceResource> {
        keywords::refuse_in(py.get_type::<Self>().as_any(), "image", unknown)?;
        let (size, FormatName(format)) = (convert::size(size)?, format);
        let (name, mips, layers) = (name.0, mips.0, layers.0);
        let resource = match declare::memory_domain(py, memory_domain)? {
            Some(domain) => self.device.make(py, |one, _| one.image_in(domain, name, format, size, mips, layers))?,
            None => self.device.make(py, |one, _| one.image(name, format, size, mips, layers))?,
        };
        Ok(PyDeviceResource { resource, device: self.number })
    }

    /// Make a buffer that belongs to the caller. Its contents are undefined.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name in reports and messages.
    /// size
    ///     Bytes.
    /// memory_domain
    ///     Its memory domain, as in `Module.image`; default: device memory. If the CPU can access it,
    ///     `DeviceResource.write` copies straight into it, once no run uses it.
    ///
    /// Returns
    /// -------
    /// DeviceResource
    ///     Give it to runs as `inputs={name: resource}`.
    ///
    /// Raises
    /// ------
    /// DeviceError
    ///     RG-E102 if the device has no such memory.
    #[pyo3(signature = (name, size, *, memory_domain = None, **unknown),
           text_signature = "($self, name, size, *, memory_domain=None)")]
    fn buffer(
        &self,
        py: Python<'_>,
        name: Text<'_>,
        size: Bytes,
        memory_domain: Option<Text<'_>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyDeviceResource> {
        keywords::refuse_in(py.get_type::<Self>().as_any(), "buffer", unknown)?;
        let (name, size) = (name.0, size.0);
        let resource = match declare::memory_domain(py, memory_domain)? {
            Some(domain) => self.device.make(py, |device, _| device.buffer_in(domain, name, size))?,
            None => self.device.make(py, |device, _| device.buffer(name, size))?,
        };
        Ok(PyDeviceResource { resource, device: self.number })
    }

    /// Use an image or buffer of foreign Vulkan code on this device.
    ///
    /// rgraph cannot check the handle: it must be of this device, match the arguments, have the usage flags that graphs
    /// need, and outlive the graphs. Its state is unknown until `DeviceResource.set_state` reports it.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name in reports and messages.
    /// handle
    ///     The `VkImage` or `VkBuffer` as an integer.
    /// size
    ///     (width, height) in texels of an image, or the bytes of a buffer.
    /// format
    ///     Texel format of an image; None for a buffer.
    /// mips, layers
    ///     Mip levels and array layers.
    /// concurrent
    ///     If true, all queue families share it.
    ///
    /// Returns
    /// -------
    /// DeviceResource
    ///     Give it to runs as `inputs={name: resource}`.
    #[pyo3(signature = (name, handle, size, format = None, *, mips = Count(1), layers = Count(1), concurrent = false, **unknown),
           text_signature = "($self, name, handle, size, format=None, *, mips=1, layers=1, concurrent=False)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn borrow_resource(
        &self,
        py: Python<'_>,
        name: Text<'_>,
        handle: Bytes,
        size: &Bound<'_, PyAny>,
        format: Option<FormatName>,
        mips: Count,
        layers: Count,
        concurrent: bool,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyDeviceResource> {
        keywords::refuse_of::<Self>("borrow_resource", unknown)?;
        if handle.0 == 0 {
            return Err(bad(py, Code::BadNumber, "a handle of 0 is none", "give the handle as an integer"));
        }
        let (kind, handle) = match format {
            None => {
                let size = size.extract::<Bytes>().map_err(|error| during(py, error, "size"))?.0;
                (PlanKind::Buffer { size }, BorrowedHandle::Buffer(vk::Buffer::from_raw(handle.0)))
            }
            Some(FormatName(format)) => {
                let [width, height] = convert::size(size)?;
                let (mips, layers, size) = (mips.0, layers.0, [width, height, 1]);
                let kind = PlanKind::Image { format, size, mips, layers, samples: 1, volume: false, cube: false };
                (kind, BorrowedHandle::Image(vk::Image::from_raw(handle.0)))
            }
        };
        let resource = self.device.make(py, |device, _| {
            // SAFETY: what the handle is, is the caller's word; the documentation says that nothing can check it.
            Ok(unsafe { device.borrow_resource(name.0, kind, handle, concurrent) })
        })?;
        Ok(PyDeviceResource { resource, device: self.number })
    }
}

impl PyDeviceResource {
    /// The Python object of a resource.
    pub fn of(resource: Detached<DeviceResource>, device: u64) -> Self {
        Self { resource, device }
    }

    /// The number of its device.
    pub fn device(&self) -> u64 {
        self.device
    }

    /// An array of its size, and its layout in the resource; `what` begins its name in messages.
    fn host(
        &self,
        array: &Bound<'_, PyAny>,
        what: &str,
        read: fn(&Bound<'_, PyAny>, &str) -> PyResult<Host>,
    ) -> PyResult<(Host, ArrayLayout)> {
        let what = format!("{what} \"{}\"", self.resource.name());
        let host = read(array, &what)?;
        let layout = ArrayLayout::for_array((&self.resource.kind(), None), &host.form, &what);
        let layout = layout.map_err(|mistake| one(array.py(), mistake))?;
        Ok((host, layout))
    }

    fn layout(&self) -> ArrayLayout {
        ArrayLayout::natural(&self.resource.kind())
    }
}

#[pymethods]
impl PyDeviceResource {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.resource.name()
    }

    /// Its Vulkan handle as an integer, for the caller's code on the same device.
    #[getter]
    fn handle(&self) -> u64 {
        match self.resource.handle() {
            BorrowedHandle::Image(image) => image.as_raw(),
            BorrowedHandle::Buffer(buffer) => buffer.as_raw(),
        }
    }

    /// Shape of its array.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.layout().shape)
    }

    /// Name of the element type of its array.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.layout().element().name()
    }

    /// Its last use: a dict of `layout`, `stages`, `access`, `queue` and `family` (indices; None: none owns it) and
    /// `released` (whether the family released it).
    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let state = call(py, |free| Ok(self.resource.get(free)?.state()))?;
        let dict = PyDict::new(py);
        dict.set_item("layout", state.layout.name())?;
        dict.set_item("stages", state.stages.names().collect::<Vec<_>>())?;
        dict.set_item("access", state.access.names().collect::<Vec<_>>())?;
        dict.set_item("queue", state.queue.map(Id::index))?;
        dict.set_item("family", state.family)?;
        dict.set_item("released", state.released)?;
        Ok(dict)
    }

    /// Set the state in which foreign Vulkan code left it.
    ///
    /// The next run of a graph waits for everything submitted to `queue` so far; foreign work on other queues must be
    /// done. rgraph cannot check that an image is in the given layout: a wrong one is undefined behaviour in the
    /// driver. An image of the device's own, which foreign code cannot reach, only takes its own layout, or
    /// `"undefined"` to drop its contents.
    ///
    /// Parameters
    /// ----------
    /// **state
    ///     Keys of `state`; without them nothing uses it: layout `"undefined"`, no stages, no access. A resource that
    ///     one queue family owns and another one uses next keeps its contents only with `released=True`, which requires
    ///     that foreign code recorded the release. Otherwise it is initialised again, and the frame has a note about
    ///     it.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     RG-E225 if the device has no such queue or family, or its own image is in another layout.
    #[pyo3(signature = (**state), text_signature = "($self, **state)")]
    fn set_state(&self, py: Python<'_>, state: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let mut given = ResourceState::default();
        if let Some(state) = state {
            only(state, &["layout", "stages", "access", "queue", "family", "released"])?;
            let of = |name| Ok::<_, PyErr>(state.get_item(name)?.filter(|value| !value.is_none()));
            if let Some(value) = of("layout")? {
                let known = Layout::ALL.iter().map(|layout| layout.name());
                given.layout = word_of(&value, "layout", Layout::from_name, known)?;
            }
            given.stages = of("stages")?.map(|value| stages(&value)).transpose()?.unwrap_or_default();
            given.access = of("access")?.map(|value| accesses(&value)).transpose()?.unwrap_or_default();
            let count = |name| match of(name)?.map(|value| value.extract::<Count>()).transpose() {
                Ok(count) => Ok(count.map(|Count(count)| count)),
                Err(error) => Err(during(py, error, name)),
            };
            // No device has as many queues as ids can name.
            given.queue = count("queue")?.map(|queue| DeviceQueueId::new(queue.min(u32::MAX - 1) as usize));
            given.family = count("family")?;
            let released = of("released")?.map(|value| value.extract()).transpose();
            given.released = released.map_err(|error| during(py, error, "released"))?.unwrap_or(false);
        }
        outside(py, &[self.device])?;
        // SAFETY: an own image keeps its layout, which `set_state` checks; what holds for the image of foreign code is
        // that code's word, as its handle was when it was borrowed.
        call(py, |free| unsafe { self.resource.get(free)?.set_state(&given) })
    }

    /// Write an array to it: mip 0 of all layers, or a buffer's bytes.
    ///
    /// Returns when the array may be changed. The device may still be copying; the next use of the resource waits for
    /// that. After `handle` was read, the call waits for the copy, since foreign code may use the resource next.
    ///
    /// Parameters
    /// ----------
    /// array
    ///     Any object with the buffer protocol, of `shape` and `dtype`; for a buffer, any of as many bytes. The device
    ///     copies an array of `Device.array` without the CPU.
    fn write(&self, py: Python<'_>, array: &Bound<'_, PyAny>) -> PyResult<()> {
        outside(py, &[self.device])?;
        let (host, layout) = self.host(array, "the array for", Host::new)?;
        let bytes = layout.pack(&host.form, host.bytes());
        call(py, |free| self.resource.get(free)?.write_polling(&bytes, Some(&poll)))
    }

    /// Read mip 0 of all layers, or a buffer's bytes; waits for what wrote it.
    ///
    /// Parameters
    /// ----------
    /// into
    ///     An array to read into, of `shape` and `dtype`; for a buffer, any of as many bytes. The device fills an array
    ///     of `Device.array` without the CPU.
    ///
    /// Returns
    /// -------
    /// Array or None
    ///     The contents as they are now; None if they went `into` an array.
    #[pyo3(signature = (*, into = None, **unknown), text_signature = "($self, *, into=None)")]
    fn read(
        &self,
        py: Python<'_>,
        into: Option<&Bound<'_, PyAny>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Option<PyArray>> {
        keywords::refuse_of::<Self>("read", unknown)?;
        outside(py, &[self.device])?;
        let Some(into) = into else {
            let bytes = self.resource.make(py, |resource, _| resource.read_polling(Some(&poll)))?;
            return guarded(py, || PyArray::new(bytes, self.layout())).map(Some);
        };
        let (mut host, layout) = self.host(into, "the array to read into from", Host::target)?;
        if host.readonly() {
            let message = format!("the array to read into from \"{}\" cannot be written", self.resource.name());
            return Err(bad(py, Code::BadArray, message, "give one that owns its memory, as numpy.empty(…)"));
        }
        host.written(py, "the array to read into")?;
        if !layout.is_packed() {
            let bytes = self.resource.make(py, |resource, _| resource.read_polling(Some(&poll)))?;
            layout.unpack(bytes.bytes(), host.bytes_mut());
            return Ok(None);
        }
        let to = host.bytes_mut();
        call(py, |free| self.resource.get(free)?.read_into_polling(to, Some(&poll))).map(|()| None)
    }

    fn __repr__(&self) -> String {
        format!("<DeviceResource \"{}\" {}>", plain(self.resource.name()), self.layout().shown())
    }
}
