//! `rgraph.SharedMemory`, and what is exported and imported as file descriptors.

use std::os::fd::{BorrowedFd, IntoRawFd, OwnedFd};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rgraph_plan::error::Code;
use rgraph_plan::words::plain;
use rgraph_vk::{Error, Holder, Origin, Semaphore, SemaphoreFd, SharedMemory, SharedMemoryInfo, SharedPlace};

use crate::arguments::convert::{self, Bytes, Count, Text};
use crate::arguments::keywords;
use crate::classes::device::PyDevice;
use crate::classes::device_resource::PyDeviceResource;
use crate::classes::format::FormatName;
use crate::classes::semaphore::PySemaphore;
use crate::run::detached::{Detached, Free, Plain, call};
use crate::run::ending::poll;
use crate::run::error::bad;
use crate::run::inside::outside;
use crate::run::record::record;

impl Plain for OwnedFd {}
impl Plain for Option<OwnedFd> {}
impl Plain for Option<Holder> {}
impl Plain for SharedMemoryInfo {}

/// A block of device memory that other devices, processes and APIs can use, too.
///
/// Made by `Device.shared_memory` or `Device.import_memory`. Both sides place images and buffers at equal offsets. One
/// side uses a resource at a time: `DeviceResource.release` leaves it to the other, `DeviceResource.acquire` takes it
/// back.
#[pyclass(name = "SharedMemory", module = "rgraph", frozen, weakref)]
pub(crate) struct PySharedMemory {
    pub memory: Detached<SharedMemory>,
    /// The number of its device.
    device: u64,
}

fn text(uuid: &[u8; 16]) -> String {
    let hex: String = uuid.iter().map(|byte| format!("{byte:02x}")).collect();
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

/// The record of an export.
fn exported<'py>(
    py: Python<'py>,
    kind: &str,
    fd: OwnedFd,
    (size, memory_type, origin): (u64, u32, Origin),
) -> PyResult<Bound<'py, PyAny>> {
    // The caller's from here on.
    let fd = fd.into_raw_fd();
    record!(py, "Exported", (kind, fd, size, memory_type, text(&origin.device), text(&origin.driver)))
}

/// The record of an exported binary semaphore; without a descriptor its signal is over.
pub(crate) fn exported_binary<'py>(
    py: Python<'py>,
    kind: SemaphoreFd,
    fd: Option<OwnedFd>,
    origin: Origin,
) -> PyResult<Bound<'py, PyAny>> {
    let fd = fd.map_or(-1, IntoRawFd::into_raw_fd);
    record!(py, "Exported", (kind.name(), fd, 0, 0, text(&origin.device), text(&origin.driver)))
}

fn place<'a>(offset: Option<Bytes>, overlap: bool, holder: Option<&Text<'a>>) -> SharedPlace<'a> {
    SharedPlace { offset: offset.map(|Bytes(offset)| offset), overlap, holder: holder.map(|Text(name)| *name) }
}

/// A record that is imported: its descriptor and origin.
pub(crate) struct Import<'py> {
    record: Bound<'py, PyAny>,
    pub fd: i32,
    pub origin: Origin,
}

impl<'py> Import<'py> {
    /// A binary semaphore, and its kind of descriptor.
    pub(crate) fn of_binary(record: &Bound<'py, PyAny>) -> PyResult<(Self, SemaphoreFd)> {
        let kind = record.getattr("kind").and_then(|kind| kind.extract::<String>());
        let kind = kind.ok().and_then(|kind| SemaphoreFd::from_name(&kind));
        let import = Self::read(record, kind.map_or("binary semaphore", SemaphoreFd::name))?;
        Ok((import, kind.unwrap_or(SemaphoreFd::Opaque)))
    }

    fn read(record: &Bound<'py, PyAny>, wanted: &str) -> PyResult<Self> {
        const HELP: &str = "give what export() returned; in another process with the received descriptor: \
                            exported._replace(fd=…)";
        let py = record.py();
        let wrong = |message: String| bad(py, Code::BadInput, message, HELP);
        let Ok(kind) = record.getattr("kind").and_then(|kind| kind.extract::<String>()) else {
            return Err(wrong(format!("a {wanted} is imported from {}", record.get_type().name()?)));
        };
        if kind != wanted {
            return Err(wrong(format!("a {wanted} is imported from an exported {kind}")));
        }
        let fd: i32 = record.getattr("fd")?.extract()?;
        // A sync_fd of -1 is a signal that is over.
        if fd < 0 && !(fd == -1 && wanted == SemaphoreFd::Sync.name()) {
            return Err(wrong(format!("descriptor {fd} is none")));
        }
        let uuid = |name: &str| -> PyResult<[u8; 16]> {
            let value: String = record.getattr(name)?.extract()?;
            let hex = value.replace('-', "");
            let digit = |at: usize| hex.get(2 * at..2 * at + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
            let bytes: Option<Vec<u8>> = (0..16).map(digit).collect();
            let bytes = bytes.filter(|_| hex.len() == 32).and_then(|bytes| bytes.try_into().ok());
            bytes.ok_or_else(|| wrong(format!("{name} is {value:?}")))
        };
        let origin = Origin { device: uuid("device_uuid")?, driver: uuid("driver_uuid")? };
        Ok(Self { record: record.clone(), fd, origin })
    }

    fn number<T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>>(&self, name: &str) -> PyResult<T> {
        self.record.getattr(name)?.extract::<T>().map_err(Into::into)
    }
}

#[pymethods]
impl PyDevice {
    /// Allocate a block of device memory that can be exported to other devices, processes and APIs.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name in reports and messages.
    /// size
    ///     Bytes. Share few large blocks: exporting and importing one costs the same at every size.
    ///
    /// Returns
    /// -------
    /// SharedMemory
    ///     Make images and buffers in it, and export it.
    ///
    /// Raises
    /// ------
    /// DeviceError
    ///     RG-E102 if the driver shares no memory, RG-E110 if there is none left.
    fn shared_memory(&self, py: Python<'_>, name: Text<'_>, size: Bytes) -> PyResult<PySharedMemory> {
        let memory = self.device.make(py, |device, _| device.shared_memory(name.0, size.0))?;
        Ok(PySharedMemory { memory, device: self.number })
    }

    /// Import a block of memory that another device, or one of another process, exported.
    ///
    /// Drivers check little: the record must be one of `SharedMemory.export`, with its own descriptor.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name in reports and messages.
    /// exported
    ///     What `SharedMemory.export` returned. In another process: `exported._replace(fd=received)`. The descriptor
    ///     stays yours to close.
    ///
    /// Returns
    /// -------
    /// SharedMemory
    ///     Make images and buffers in it, at the exporter's offsets.
    ///
    /// Raises
    /// ------
    /// DeviceError
    ///     RG-E131 if another device or driver exported it, RG-E102 if the driver shares no memory.
    /// GraphError
    ///     RG-E225 if the descriptor is closed or is no memory, or the size is wrong.
    fn import_memory(&self, py: Python<'_>, name: Text<'_>, exported: &Bound<'_, PyAny>) -> PyResult<PySharedMemory> {
        let import = Import::read(exported, "memory")?;
        let (size, memory_type) = (import.number("size")?, import.number("memory_type")?);
        let (info, fd) = (SharedMemoryInfo { origin: import.origin, size, memory_type }, import.fd);
        let memory = self.device.make(py, |device, _| {
            // SAFETY: the number is not negative; whether it is open is looked at first of all.
            let fd = unsafe { BorrowedFd::borrow_raw(fd) };
            // SAFETY: the record is the caller's word; the documentation says that drivers check little.
            unsafe { device.import_memory(name.0, fd, &info) }
        })?;
        Ok(PySharedMemory { memory, device: self.number })
    }

    /// Import a timeline semaphore that another device, or one of another process, exported: to wait for, not to
    /// signal.
    ///
    /// Parameters
    /// ----------
    /// exported
    ///     What `Semaphore.export` returned. The descriptor stays yours to close.
    ///
    /// Returns
    /// -------
    /// Semaphore
    ///     Runs wait for it: `wait=[(semaphore, value)]`.
    ///
    /// Raises
    /// ------
    /// DeviceError
    ///     RG-E131 if another device or driver exported it, RG-E102 if the driver shares no timelines.
    /// GraphError
    ///     RG-E225 if the descriptor is closed or is no semaphore.
    fn import_semaphore(slf: &Bound<'_, Self>, exported: &Bound<'_, PyAny>) -> PyResult<PySemaphore> {
        let Import { fd, origin, .. } = Import::read(exported, "semaphore")?;
        let semaphore = slf.get().device.make(slf.py(), |device, _| {
            // SAFETY: the number is not negative; whether it is open is looked at first of all.
            let fd = unsafe { BorrowedFd::borrow_raw(fd) };
            // SAFETY: the record is the caller's word; the documentation says that drivers check little.
            unsafe { device.import_semaphore(fd, origin) }
        })?;
        Ok(PySemaphore::of(slf, semaphore))
    }
}

#[pymethods]
impl PySharedMemory {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.memory.name()
    }

    /// Bytes.
    #[getter]
    fn size(&self) -> u64 {
        self.memory.info().size
    }

    /// Make an image in the block. One in an imported block is held by the exporter until `DeviceResource.acquire`.
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
    /// offset
    ///     Its first byte in the block; default: the first free bytes. The other side gives `DeviceResource.offset`.
    /// overlap
    ///     If true, it may share bytes with other resources: the caller keeps their uses apart in time.
    /// holder
    ///     Name of the user outside of this device that has it at first; default: this device, or the exporter of an
    ///     imported block.
    ///
    /// Returns
    /// -------
    /// DeviceResource
    ///     Give it to runs as `inputs={name: resource}`.
    #[pyo3(signature = (name, size, format, *, mips = Count(1), layers = Count(1), offset = None, overlap = false,
                        holder = None, **unknown),
           text_signature = "($self, name, size, format, *, mips=1, layers=1, offset=None, overlap=False, holder=None)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn image(
        &self,
        py: Python<'_>,
        name: Text<'_>,
        size: &Bound<'_, PyAny>,
        format: FormatName,
        mips: Count,
        layers: Count,
        offset: Option<Bytes>,
        overlap: bool,
        holder: Option<Text<'_>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyDeviceResource> {
        keywords::refuse_of::<Self>("image", unknown)?;
        let (size, FormatName(format)) = (convert::size(size)?, format);
        let place = place(offset, overlap, holder.as_ref());
        let made = self.memory.make(py, |memory, _| memory.image(name.0, format, size, mips.0, layers.0, place))?;
        Ok(PyDeviceResource::of(made, self.device))
    }

    /// Make a buffer in the block. One in an imported block is held by the exporter until `DeviceResource.acquire`.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name in reports and messages.
    /// size
    ///     Bytes.
    /// offset, overlap, holder
    ///     As of `image`.
    ///
    /// Returns
    /// -------
    /// DeviceResource
    ///     Give it to runs as `inputs={name: resource}`.
    #[pyo3(signature = (name, size, *, offset = None, overlap = false, holder = None, **unknown),
           text_signature = "($self, name, size, *, offset=None, overlap=False, holder=None)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn buffer(
        &self,
        py: Python<'_>,
        name: Text<'_>,
        size: Bytes,
        offset: Option<Bytes>,
        overlap: bool,
        holder: Option<Text<'_>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyDeviceResource> {
        keywords::refuse_of::<Self>("buffer", unknown)?;
        let place = place(offset, overlap, holder.as_ref());
        let made = self.memory.make(py, |memory, _| memory.buffer(name.0, size.0, place))?;
        Ok(PyDeviceResource::of(made, self.device))
    }

    /// Export the block: a new file descriptor, which is yours to close, and all that an importer must know.
    ///
    /// Send the descriptor to another process with `socket.send_fds`, and the rest as it is. The descriptor and its
    /// imports keep the memory alive.
    ///
    /// Returns
    /// -------
    /// Exported
    ///     For `Device.import_memory`.
    fn export<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let fd = call(py, |free| self.memory.get(free)?.export())?;
        let SharedMemoryInfo { origin, size, memory_type } = self.memory.info();
        exported(py, "memory", fd, (size, memory_type, origin))
    }

    fn __repr__(&self) -> String {
        format!("<SharedMemory \"{}\" {} bytes>", plain(self.memory.name()), self.memory.info().size)
    }
}

#[pymethods]
impl PySemaphore {
    /// Export the semaphore: a new file descriptor, which is yours to close, and all that an importer must know.
    ///
    /// Returns
    /// -------
    /// Exported
    ///     For `Device.import_semaphore`.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     RG-E225 if it was not made with `shared=True`.
    fn export<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let fd = call(py, |free| self.semaphore.get(free)?.export())?;
        exported(py, "semaphore", fd, (0, 0, self.semaphore.known().origin()))
    }
}

/// A semaphore and its value, where the interpreter's lock is not held.
fn moment<'a>(
    free: &Free<'a>,
    given: Option<(&'a Detached<Semaphore>, u64)>,
) -> Result<Option<(&'a Semaphore, u64)>, Error> {
    given.map(|(semaphore, value)| Ok((semaphore.get(free)?, value))).transpose()
}

#[pymethods]
impl PyDeviceResource {
    /// First byte in its block of shared memory; None: it lies in none.
    #[getter]
    fn offset(&self) -> Option<u64> {
        self.resource.offset()
    }

    /// The user outside of this device that has it, and the semaphore value at which that user is done; None: this
    /// device has it.
    #[getter]
    fn holder<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let holder = call(py, |free| Ok(self.resource.get(free)?.holder()))?;
        holder.map(|Holder { name, until }| record!(py, "Holder", (name, until.map(|(_, value)| value)))).transpose()
    }

    /// Release it to another user, after all work of this device that uses it; images in layout `general`.
    ///
    /// Parameters
    /// ----------
    /// to
    ///     The user's name, for messages.
    /// signal
    ///     `(semaphore, value)`: signalled once the other user may use it. The call then returns at once; by default it
    ///     waits until the device is done.
    /// until
    ///     `(semaphore, value)`: reached once the other user is done. Runs that use the resource wait for that. By
    ///     default they refuse it until `acquire`.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If it lies in no shared memory, or another user has it.
    #[pyo3(signature = (to, *, signal = None, until = None, **unknown), text_signature = "($self, to, *, signal=None, until=None)")]
    fn release(
        &self,
        py: Python<'_>,
        to: Text<'_>,
        signal: Option<(PyRef<'_, PySemaphore>, u64)>,
        until: Option<(PyRef<'_, PySemaphore>, u64)>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        keywords::refuse_of::<Self>("release", unknown)?;
        outside(py, &[self.device()])?;
        let signal = signal.as_ref().map(|(semaphore, value)| (&semaphore.semaphore, *value));
        let until = until.as_ref().map(|(semaphore, value)| (&semaphore.semaphore, *value));
        call(py, |free| {
            let (signal, until) = (moment(free, signal)?, moment(free, until)?);
            self.resource.get(free)?.release_polling(to.0, signal, until, Some(&poll))
        })
    }

    /// Take it back from its holder, which left images in layout `general`.
    ///
    /// Parameters
    /// ----------
    /// wait
    ///     `(semaphore, value)`: runs that use it wait for that. By default the holder is done already.
    /// discard
    ///     If true, drop the contents: none were written yet.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If no other user has it.
    #[pyo3(signature = (*, wait = None, discard = false, **unknown), text_signature = "($self, *, wait=None, discard=False)")]
    fn acquire(
        &self,
        py: Python<'_>,
        wait: Option<(PyRef<'_, PySemaphore>, u64)>,
        discard: bool,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        keywords::refuse_of::<Self>("acquire", unknown)?;
        let wait = wait.as_ref().map(|(semaphore, value)| (&semaphore.semaphore, *value));
        call(py, |free| self.resource.get(free)?.acquire(moment(free, wait)?, discard))
    }
}
