//! Timeline semaphores that other devices, processes and APIs use, too. A timeline has one writer, since values only
//! grow: its maker signals it, importers wait for it.

use std::os::fd::{BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};

use ash::{khr, vk};

use super::{Origin, SEMAPHORE_HANDLE, check_file, duplicate, take_back};
use crate::device::handles::Sharing;
use crate::device::semaphore::Semaphore;
use crate::device::{Device, Shared};
use crate::error::{Called, DeviceError, Error};

impl Shared {
    fn semaphore_fds(
        &self,
        wanted: vk::ExternalSemaphoreFeatureFlags,
    ) -> Result<khr::external_semaphore_fd::Device, Error> {
        if !self.enabled.semaphore_fd {
            return Err(self.cannot_share("semaphores", "VK_KHR_external_semaphore_fd"));
        }
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info =
            vk::PhysicalDeviceExternalSemaphoreInfo::default().handle_type(SEMAPHORE_HANDLE).push_next(&mut kind);
        let mut about = vk::ExternalSemaphoreProperties::default();
        // SAFETY: the physical device is of this instance, of version 1.3.
        unsafe {
            let instance = self.context.raw();
            instance.get_physical_device_external_semaphore_properties(self.physical, &info, &mut about);
        }
        // SwiftShader shares binary semaphores only, and crashes if asked for a timeline.
        if !about.external_semaphore_features.contains(wanted) {
            return Err(self.cannot_share("semaphores", "timeline semaphores as file descriptors"));
        }
        Ok(khr::external_semaphore_fd::Device::new(self.context.raw(), &self.raw))
    }
}

impl Device {
    /// Makes a timeline semaphore that can be exported. Its maker signals it; importers only wait.
    ///
    /// # Errors
    /// `RG-E102` if the driver shares no timelines; else as [`Device::semaphore`].
    pub fn shared_semaphore(&self, value: u64) -> Result<Semaphore, Error> {
        let shared = &self.0;
        shared.check()?;
        let _ = shared.semaphore_fds(vk::ExternalSemaphoreFeatureFlags::EXPORTABLE)?;
        let mut export = vk::ExportSemaphoreCreateInfo::default().handle_types(SEMAPHORE_HANDLE);
        let mut kind =
            vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE).initial_value(value);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut export).push_next(&mut kind);
        // SAFETY: timelines are enabled, and the driver exports them.
        let raw = unsafe { shared.raw.create_semaphore(&info, shared.raw.host()) };
        let raw = shared.noted(raw.called("vkCreateSemaphore"))?;
        Ok(Semaphore::own(shared, raw, value, Sharing::Exportable))
    }

    /// Imports a timeline semaphore of another device or process, to wait for. The descriptor stays the caller's.
    ///
    /// # Errors
    /// `RG-E131` if it is of another device or driver, `RG-E102` if the driver shares no timelines; if the descriptor
    /// is closed, is no semaphore, or is refused by the driver.
    ///
    /// # Safety
    /// The descriptor was exported by [`Semaphore::export`] of a semaphore of that origin. Drivers do not check that.
    pub unsafe fn import_semaphore(&self, fd: BorrowedFd<'_>, origin: Origin) -> Result<Semaphore, Error> {
        let shared = &self.0;
        shared.check()?;
        let functions = shared.semaphore_fds(vk::ExternalSemaphoreFeatureFlags::IMPORTABLE)?;
        shared.check_origin("a semaphore", origin)?;
        let original = fd;
        let fd = check_file("a semaphore", duplicate("a semaphore", original)?, 0)?;
        let semaphore = Semaphore::own(shared, shared.create_timeline(0)?, 0, Sharing::Imported);
        let fd = fd.into_raw_fd();
        let info =
            vk::ImportSemaphoreFdInfoKHR::default().semaphore(semaphore.handle()).handle_type(SEMAPHORE_HANDLE).fd(fd);
        // SAFETY: the semaphore is new; the caller says that the descriptor is a timeline of this device.
        unsafe { functions.import_semaphore_fd(&info) }.map_err(|result| {
            take_back(fd, original);
            let mut error = DeviceError::call("vkImportSemaphoreFdKHR", result);
            error.message = "the driver refuses the descriptor for a semaphore".to_owned();
            error.help = "give the descriptor of a timeline semaphore's export".to_owned();
            error
        })?;
        Ok(semaphore)
    }
}

impl Semaphore {
    /// A new descriptor of the semaphore, for another device, process or API.
    ///
    /// # Errors
    /// If it was not made by [`Device::shared_semaphore`], the device is closed or lost, or the driver fails.
    pub fn export(&self) -> Result<OwnedFd, Error> {
        let shared = self.shared();
        shared.check()?;
        if self.sharing() != Sharing::Exportable {
            let help = "make it with Device::shared_semaphore (Python: device.semaphore(shared=True))";
            return Err(Error::input("?", "the semaphore was not made to be exported", help));
        }
        let functions = shared.semaphore_fds(vk::ExternalSemaphoreFeatureFlags::EXPORTABLE)?;
        let info = vk::SemaphoreGetFdInfoKHR::default().semaphore(self.handle()).handle_type(SEMAPHORE_HANDLE);
        // SAFETY: the semaphore was made for this kind of handle.
        let fd = unsafe { functions.get_semaphore_fd(&info) };
        let fd = shared.noted(fd.called("vkGetSemaphoreFdKHR"))?;
        // SAFETY: the call returns a descriptor that is the caller's.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }

    /// The device and driver that its descriptors are of.
    pub fn origin(&self) -> Origin {
        self.shared().origin()
    }
}
