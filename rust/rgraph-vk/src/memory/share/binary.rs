//! Binary semaphores, alone or shared with other devices, processes and APIs as file descriptors.
//!
//! A descriptor of kind `opaque_fd` names the semaphore itself, for the same device and driver. One of kind `sync_fd`
//! names one signal that was submitted; every driver of the system takes it, and the export undoes the signal as a wait
//! does.
//!
//! Source: Vulkan 1.3 specification, "Importing Semaphore Payloads" (copy and reference transference).

use std::os::fd::{BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use ash::{khr, vk};

use super::{Origin, check_file, duplicate, take_back};
use crate::device::external::{SemaphoreSignal, SemaphoreWait};
use crate::device::handles::OwnedBinary;
use crate::device::promise::{Made, Promise, Promised};
use crate::device::{Device, Shared};
use crate::error::{Called, DeviceError, Error};
use crate::memory::share::semaphore_fd::SemaphoreFd;

/// A binary semaphore: one signal, then one wait. Clones are the same one. It is destroyed when nothing submitted uses
/// it.
#[derive(Clone, Debug)]
pub struct BinarySemaphore(pub(crate) Arc<OwnedBinary>);

impl Shared {
    /// The functions for descriptors of binary semaphores, if the driver makes or takes that kind.
    fn binary_fds(
        &self,
        kind: SemaphoreFd,
        wanted: vk::ExternalSemaphoreFeatureFlags,
    ) -> Result<khr::external_semaphore_fd::Device, Error> {
        if !self.enabled.semaphore_fd {
            return Err(self.cannot_share("semaphores", "VK_KHR_external_semaphore_fd"));
        }
        let info = vk::PhysicalDeviceExternalSemaphoreInfo::default().handle_type(kind.handle());
        let mut about = vk::ExternalSemaphoreProperties::default();
        // SAFETY: the physical device is of this instance, of version 1.3.
        unsafe {
            let instance = self.context.raw();
            instance.get_physical_device_external_semaphore_properties(self.physical, &info, &mut about);
        }
        if !about.external_semaphore_features.contains(wanted) {
            return Err(self.cannot_share("semaphores", &format!("binary semaphores as {}", kind.name())));
        }
        Ok(khr::external_semaphore_fd::Device::new(self.context.raw(), &self.raw))
    }

    fn create_binary(self: &Arc<Self>, export: Option<SemaphoreFd>) -> Result<vk::Semaphore, Error> {
        let handles = export.map_or(vk::ExternalSemaphoreHandleTypeFlags::empty(), SemaphoreFd::handle);
        let mut about = vk::ExportSemaphoreCreateInfo::default().handle_types(handles);
        let info = vk::SemaphoreCreateInfo::default();
        let info = if export.is_some() { info.push_next(&mut about) } else { info };
        // SAFETY: the driver exports that kind, which was found out before.
        self.noted(unsafe { self.raw.create_semaphore(&info, self.raw.host()) }.called("vkCreateSemaphore"))
    }
}

impl Device {
    /// Makes a binary semaphore, which can be exported as that kind of descriptor.
    ///
    /// # Errors
    /// `RG-E102` if the driver exports no such descriptors; if the device is closed or lost.
    pub fn binary_semaphore(&self, export: Option<SemaphoreFd>) -> Result<BinarySemaphore, Error> {
        let shared = &self.0;
        shared.check()?;
        if let Some(kind) = export {
            let _ = shared.binary_fds(kind, vk::ExternalSemaphoreFeatureFlags::EXPORTABLE)?;
        }
        let raw = shared.create_binary(export)?;
        let signalled = Mutex::new(Some(false));
        Ok(BinarySemaphore::own(shared, raw, export, signalled))
    }

    /// Imports a binary semaphore (`opaque_fd`), or one signal of one (`sync_fd`; `None` stands for a signal that is
    /// over, which Vulkan writes as descriptor -1). The descriptor stays the caller's.
    ///
    /// # Errors
    /// `RG-E131` if an `opaque_fd` is of another device or driver, `RG-E102` if the driver takes no such descriptors;
    /// if the descriptor is closed, is no semaphore, or is refused by the driver.
    ///
    /// # Safety
    /// The descriptor was exported as that kind, from a semaphore of that origin. Drivers do not check that.
    pub unsafe fn import_binary(
        &self,
        fd: Option<BorrowedFd<'_>>,
        kind: SemaphoreFd,
        origin: Origin,
    ) -> Result<BinarySemaphore, Error> {
        let shared = &self.0;
        shared.check()?;
        let functions = shared.binary_fds(kind, vk::ExternalSemaphoreFeatureFlags::IMPORTABLE)?;
        if kind == SemaphoreFd::Opaque {
            shared.check_origin("a semaphore", origin)?;
        }
        let original = fd;
        let fd = match original {
            Some(fd) => Some(check_file("a semaphore", duplicate("a semaphore", fd)?, 0)?),
            None if kind == SemaphoreFd::Sync => None,
            None => {
                let help = "give the descriptor that export returned";
                return Err(Error::input("?", "an opaque_fd of no descriptor is imported", help));
            }
        };
        let raw = shared.create_binary(None)?;
        let signalled = Mutex::new((kind == SemaphoreFd::Sync).then_some(true));
        let semaphore = BinarySemaphore::own(shared, raw, None, signalled);
        let fd = fd.map_or(-1, IntoRawFd::into_raw_fd);
        // A sync_fd has copy transference, which is temporary.
        let flags = match kind {
            SemaphoreFd::Opaque => vk::SemaphoreImportFlags::empty(),
            SemaphoreFd::Sync => vk::SemaphoreImportFlags::TEMPORARY,
        };
        let info =
            vk::ImportSemaphoreFdInfoKHR::default().semaphore(raw).handle_type(kind.handle()).fd(fd).flags(flags);
        // SAFETY: the semaphore is new; the caller says that the descriptor is such a one.
        unsafe { functions.import_semaphore_fd(&info) }.map_err(|result| {
            if let Some(original) = original {
                take_back(fd, original);
            }
            let mut error = DeviceError::call("vkImportSemaphoreFdKHR", result);
            error.message = format!("the driver refuses the descriptor for a semaphore of kind {}", kind.name());
            error.help = "give the descriptor of a binary semaphore's export, of the same kind".to_owned();
            error
        })?;
        Ok(semaphore)
    }
}

impl BinarySemaphore {
    fn own(
        shared: &Arc<Shared>,
        raw: vk::Semaphore,
        kind: Option<SemaphoreFd>,
        signalled: Mutex<Option<bool>>,
    ) -> Self {
        let owned = Arc::new(OwnedBinary {
            shared: shared.clone(),
            raw,
            made: Made::by(shared.address()),
            kind,
            signalled,
            behind: Mutex::default(),
        });
        shared.handles.binary.add(raw, &owned);
        Self(owned)
    }

    /// Its handle, for foreign code.
    pub fn raw(&self) -> vk::Semaphore {
        self.0.raw
    }

    /// Whether it is of that device.
    pub fn is_of(&self, device: &Device) -> bool {
        Arc::ptr_eq(&self.0.shared, &device.0)
    }

    /// The kind of descriptor that it is exported as.
    pub fn kind(&self) -> Option<SemaphoreFd> {
        self.0.kind
    }

    /// The device and driver that its descriptors are of.
    pub fn origin(&self) -> Origin {
        self.0.shared.origin()
    }

    /// Goes from one state to the other; other users of an `opaque_fd` do so unseen.
    fn turn(&self, to: bool) -> Result<(), Error> {
        self.0.shared.check()?;
        let mut signalled = self.0.signalled.lock().unwrap_or_else(PoisonError::into_inner);
        if *signalled == Some(to) {
            let (message, help) = match to {
                true => ("a binary semaphore is signalled twice", "wait for it before it is signalled again"),
                false => ("nothing signals a binary semaphore that is waited for", "submit the signal before the wait"),
            };
            return Err(Error::input("?", message, help));
        }
        if signalled.is_some() {
            *signalled = Some(to);
        }
        Ok(())
    }

    fn promise(&self, promise: Promise) {
        let of: Weak<dyn Promised> = Arc::downgrade(&self.0) as _;
        self.0.shared.promises.add(promise, of);
    }

    /// Has a run wait for its signal. A run that fails before it submits that wait leaves the signal.
    ///
    /// # Errors
    /// `RG-E225` if no signal was submitted, or the run that signals it is behind a wait for a timeline that nothing
    /// signalled yet (Vulkan 1.3, VUID-VkSubmitInfo2-semaphore-03873); if the device is closed or lost.
    pub fn reached(&self) -> Result<SemaphoreWait, Error> {
        self.0.shared.check()?;
        self.check_coming("waited for")?;
        self.turn(false)?;
        self.promise(Promise::Wait(self.0.raw));
        Ok(SemaphoreWait::of(self.0.raw, None, self.0.made))
    }

    /// Refuses a signal that is behind a wait for a timeline that nothing signalled yet.
    fn check_coming(&self, done: &str) -> Result<(), Error> {
        let mut behind = self.0.behind.lock().unwrap_or_else(PoisonError::into_inner);
        behind.retain(|(timeline, value)| timeline.is_open(*value));
        let Some((_, value)) = behind.first() else { return Ok(()) };
        let message = format!(
            "a binary semaphore cannot be {done} yet: its signal is behind a wait until a timeline has {value}, which nothing \
             signals so far"
        );
        Err(Error::input("?", message, format!("signal the timeline with {value} first")))
    }

    /// Has a run signal it. A run that fails before it submits that signal gives it back.
    ///
    /// # Errors
    /// `RG-E225` if it has a signal that nothing waits for; if the device is closed or lost.
    pub fn promised(&self) -> Result<SemaphoreSignal, Error> {
        self.turn(true)?;
        self.promise(Promise::Signal(self.0.raw, 0));
        Ok(SemaphoreSignal::of(self.0.raw, None, self.0.made))
    }

    /// A new descriptor for another device, process or API. One of kind `sync_fd` has the signal that was submitted
    /// last, and takes it away from this semaphore; `None`: that signal is over.
    ///
    /// # Errors
    /// If it was not made to be exported, a `sync_fd` has no signal or one behind a wait for a timeline that nothing
    /// signalled yet (Vulkan 1.3, VUID-VkSemaphoreGetFdInfoKHR-handleType-03254), the device is closed or lost, or the
    /// driver fails.
    pub fn export(&self) -> Result<Option<OwnedFd>, Error> {
        let shared = &self.0.shared;
        shared.check()?;
        let Some(kind) = self.0.kind else {
            let help =
                "make it with Device::binary_semaphore(Some(kind)) (Python: device.binary_semaphore(shared=kind))";
            return Err(Error::input("?", "the semaphore was not made to be exported", help));
        };
        let functions = shared.binary_fds(kind, vk::ExternalSemaphoreFeatureFlags::EXPORTABLE)?;
        match kind {
            SemaphoreFd::Sync => {
                self.check_coming("exported")?;
                self.turn(false)?;
            }
            SemaphoreFd::Opaque => *self.0.signalled.lock().unwrap_or_else(PoisonError::into_inner) = None,
        }
        let info = vk::SemaphoreGetFdInfoKHR::default().semaphore(self.0.raw).handle_type(kind.handle());
        // SAFETY: the semaphore was made for this kind of handle; a sync_fd has a signal that was submitted.
        let fd = unsafe { functions.get_semaphore_fd(&info) }.called("vkGetSemaphoreFdKHR");
        if fd.is_err() && kind == SemaphoreFd::Sync {
            // The signal was not taken.
            *self.0.signalled.lock().unwrap_or_else(PoisonError::into_inner) = Some(true);
        }
        let fd = shared.noted(fd)?;
        // SAFETY: the call returns a descriptor that is the caller's, or -1.
        Ok((fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) }))
    }
}
