//! Devices of the caller's, by their raw handles.

use std::ffi::CString;

use ash::vk::{self, Handle as _};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::types::PyString;
use rgraph_plan::error::Code;
use rgraph_vk::{BorrowedDevice, BorrowedQueue, Device, DeviceOptions, EntryTable};

use crate::arguments::convert::{Bytes, Count, is_number};
use crate::arguments::file_path::FilePath;
use crate::arguments::keywords;
use crate::arguments::options::Measuring;
use crate::classes::device::{PyDevice, in_flight};
use crate::run::detached::Detached;
use crate::run::error::bad;

/// A handle of Vulkan as an integer.
#[derive(Clone, Copy)]
struct Handle(u64);

impl<'a, 'py> FromPyObject<'a, 'py> for Handle {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        value.extract::<Bytes>().map(|Bytes(raw)| Self(raw)).map_err(|error| {
            if is_number(&value) || !error.is_instance_of::<PyTypeError>(value.py()) {
                return error;
            }
            let kind = value.get_type();
            let named = |name: PyResult<Bound<'py, PyString>>| name.map(|name| name.to_string()).unwrap_or_default();
            if named(kind.module()).split('.').next() == Some("wgpu") {
                return PyTypeError::new_err(
                    "wgpu-py has no handles of Vulkan, so its device cannot be borrowed: exchange arrays through the host",
                );
            }
            let meant = "expected a handle as an integer, for the vulkan package int(ffi.cast(\"uint64_t\", handle))";
            PyTypeError::new_err(format!("{meant}, not '{}'", named(kind.name())))
        })
    }
}

#[pymethods]
impl PyDevice {
    /// Use the caller's Vulkan device instead of opening one.
    ///
    /// Nothing can check the handles: they must be valid, belong together, and outlive the device and all that is made
    /// of it. The device must have been made with `timelineSemaphore`, `synchronization2`, `dynamicRendering`,
    /// `maintenance4` and `shaderZeroInitializeWorkgroupMemory`; its queues are not used by others at the same time.
    /// Closing leaves it to the caller.
    ///
    /// Parameters
    /// ----------
    /// instance, physical_device, device
    ///     `VkInstance` (made for Vulkan 1.3), `VkPhysicalDevice` and `VkDevice` as integers.
    /// queues
    ///     (family, `VkQueue`) of each queue that may be used; the first is the graphics queue.
    /// loader
    ///     Path of the Vulkan loader that the instance came from; default: the system's.
    /// labels
    ///     Whether the instance was made with `VK_EXT_debug_utils`.
    /// features, extensions
    ///     Further features and extensions that the device was made with, by Vulkan's names: `"samplerAnisotropy"`,
    ///     `"VK_KHR_external_memory_fd"`. rgraph uses nothing else.
    /// frames_in_flight
    ///     As of `Device`.
    ///
    /// Returns
    /// -------
    /// Device
    ///     To be closed before the caller's device is destroyed.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     RG-E225 if a feature's name is unknown.
    /// DeviceError
    ///     RG-E103 if a queue family does not exist.
    #[staticmethod]
    #[pyo3(signature = (instance, physical_device, device, queues, *, loader = None, labels = false,
                        features = Vec::new(), extensions = Vec::new(), frames_in_flight = Count(2), **unknown),
           text_signature = "(instance, physical_device, device, queues, *, loader=None, labels=False, \
                             features=(), extensions=(), frames_in_flight=2)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn borrow(
        py: Python<'_>,
        instance: Handle,
        physical_device: Handle,
        device: Handle,
        queues: Vec<(Count, Handle)>,
        loader: Option<FilePath>,
        labels: bool,
        features: Vec<String>,
        extensions: Vec<String>,
        frames_in_flight: Count,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        keywords::refuse_of::<Self>("borrow", unknown)?;
        let handles =
            [instance.0, physical_device.0, device.0].into_iter().chain(queues.iter().map(|(_, Handle(queue))| *queue));
        if queues.is_empty() || handles.into_iter().any(|handle| handle == 0) {
            return Err(bad(py, Code::BadNumber, "a handle of 0 is none", "give every handle, and at least one queue"));
        }
        let extensions = extensions.into_iter().map(CString::new).collect::<Result<Vec<_>, _>>();
        let extensions = extensions.map_err(|error| {
            let message = format!("the name of an extension holds a zero byte: {error}");
            bad(py, Code::BadInput, message, "give Vulkan's names, as \"VK_KHR_external_memory_fd\"")
        })?;
        let frames_in_flight = in_flight(py, frames_in_flight)?;
        let options = DeviceOptions { frames_in_flight, ..DeviceOptions::default() };
        let borrowed = Detached::open(py, || {
            let queue = |(Count(family), Handle(queue)): &_| BorrowedQueue::new(*family, vk::Queue::from_raw(*queue));
            let queues = queues.iter().map(queue);
            let mut borrowed = BorrowedDevice::new(
                EntryTable::load(loader.as_deref())?,
                vk::Instance::from_raw(instance.0),
                vk::PhysicalDevice::from_raw(physical_device.0),
                vk::Device::from_raw(device.0),
                queues.collect(),
            );
            for feature in &features {
                borrowed.enabled = borrowed.enabled.feature(feature)?;
            }
            for name in &extensions {
                borrowed.enabled = borrowed.enabled.extension(name);
            }
            if labels {
                borrowed.instance_extensions.push(c"VK_EXT_debug_utils".to_owned());
            }
            // SAFETY: what the handles are, is the caller's word; the documentation says that nothing can check it.
            unsafe { Device::borrow(&borrowed, &options) }
        })?;
        Ok(Self::around(borrowed, Measuring::default()))
    }
}
