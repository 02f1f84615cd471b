//! Blocks of device memory that are exported and imported, and resources in them.

use std::os::fd::{BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};
use std::sync::Arc;

use ash::vk;
use rgraph_plan::format::Format;
use rgraph_plan::plan::PlanKind;

use super::{HANDLE, check_file, duplicate, take_back};
use crate::device::{Device, Shared};
use crate::error::{Called, Code, DeviceError, Error};
use crate::memory::physical_resource::PhysicalResource;
use crate::memory::resource::{DeviceResource, buffer_usages, image_kind};
use crate::memory::share::block::{SharedBlock, SharedMemoryInfo, SharedPlace};
use crate::memory::usages::Usages;
use crate::memory::{Domain, Memory};

/// A block of device memory that other devices, processes and APIs can have, too. Clones are the same block; it lives
/// as long as it or anything in it is used, here or where it was imported.
#[derive(Clone, Debug)]
pub struct SharedMemory(pub(crate) Arc<SharedBlock>);

impl Device {
    /// Allocates `size` bytes of device memory that can be exported.
    ///
    /// # Errors
    /// `RG-E102` if the driver shares no memory; `RG-E110` if it has none left; if the size is zero.
    pub fn shared_memory(&self, name: &str, size: u64) -> Result<SharedMemory, Error> {
        let shared = &self.0;
        shared.check()?;
        let _ = shared.memory_fds()?;
        if size == 0 {
            return Err(Error::input(name, format!("shared memory \"{name}\" has no bytes"), "give it a size"));
        }
        let memory_type = shared.shared_type(name)?;
        let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(HANDLE);
        let info = vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(memory_type);
        let mut flags = address_flags(shared);
        let info = info.push_next(&mut export).push_next(&mut flags);
        let attempt = || {
            let _shared = crate::device::driver::shared();
            // SAFETY: the type is one of the device's, and the size is not zero.
            unsafe { shared.raw.allocate_memory(&info, shared.raw.host()) }
        };
        let made = match attempt() {
            Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY) => {
                shared.trim_staging();
                shared.wait_idle()?;
                attempt()
            }
            made => made,
        };
        let raw = made.map_err(|result| {
            let mut error = DeviceError::call("vkAllocateMemory", result).of(name);
            error.message = format!("shared memory \"{name}\" of {size} bytes");
            error
        });
        let raw = shared.noted(raw.map_err(Error::from))?;
        if let Some(memory) = shared.memory().as_mut() {
            memory.count_shared(name, size);
        }
        shared.name(raw, name);
        let info = SharedMemoryInfo { origin: shared.origin(), size, memory_type };
        Ok(SharedMemory::new(shared, name, raw, info, false))
    }

    /// Imports a block that another device, or one of another process, exported. The descriptor stays the caller's.
    ///
    /// # Errors
    /// `RG-E131` if it is of another device or driver, `RG-E102` if the driver shares no memory; if the descriptor is
    /// closed, is no memory, or is refused by the driver.
    ///
    /// # Safety
    /// The descriptor was exported by [`SharedMemory::export`] of a block of which `info` is the
    /// [description](SharedMemory::info). Drivers do not check that.
    pub unsafe fn import_memory(
        &self,
        name: &str,
        fd: BorrowedFd<'_>,
        info: &SharedMemoryInfo,
    ) -> Result<SharedMemory, Error> {
        let shared = &self.0;
        shared.check()?;
        let _ = shared.memory_fds()?;
        let what = format!("memory \"{name}\"");
        shared.check_origin(&what, info.origin)?;
        // SAFETY: the physical device is of this instance.
        let properties = unsafe { shared.context.raw().get_physical_device_memory_properties(shared.physical) };
        if info.memory_type >= properties.memory_type_count || info.size == 0 {
            let message = format!("{what} has {} bytes of memory type {}", info.size, info.memory_type);
            return Err(Error::input(name, message, "import with the description that the exporter reports"));
        }
        let original = fd;
        let fd = check_file(&what, duplicate(&what, original)?, info.size)?;
        let fd = fd.into_raw_fd();
        let mut import = vk::ImportMemoryFdInfoKHR::default().handle_type(HANDLE).fd(fd);
        let allocate = vk::MemoryAllocateInfo::default().allocation_size(info.size);
        let mut flags = address_flags(shared);
        let allocate = allocate.memory_type_index(info.memory_type).push_next(&mut import).push_next(&mut flags);
        let made = {
            let _shared = crate::device::driver::shared();
            // SAFETY: the caller says that the descriptor is memory of that size and type.
            unsafe { shared.raw.allocate_memory(&allocate, shared.raw.host()) }
        };
        let raw = made.map_err(|result| {
            take_back(fd, original);
            let mut error = DeviceError::call("vkAllocateMemory", result).of(name);
            error.message = format!("the driver refuses the descriptor for {what}");
            error.help = "give the descriptor, size and memory type of one export".to_owned();
            Error::from(error)
        });
        let raw = shared.noted(raw)?;
        shared.name(raw, name);
        Ok(SharedMemory::new(shared, name, raw, *info, true))
    }
}

/// Lets buffers in a block have addresses, where the device builds acceleration structures of them.
fn address_flags(shared: &Shared) -> vk::MemoryAllocateFlagsInfo<'static> {
    let wanted = shared.rays.is_some();
    let flags = if wanted { vk::MemoryAllocateFlags::DEVICE_ADDRESS } else { vk::MemoryAllocateFlags::empty() };
    vk::MemoryAllocateFlagsInfo::default().flags(flags)
}

impl Shared {
    /// The memory type of shared blocks: one that shared buffers and images may lie in, device memory if there is any.
    pub(crate) fn shared_type(&self, name: &str) -> Result<u32, Error> {
        let buffer = self.measure(name, PlanKind::Buffer { size: 1 << 16 }, shared_buffer(), true)?;
        let kind = image_kind(Format::Rgba8unorm, [64, 64], 1, 1);
        let image = self.measure(name, kind, self.shared_image(name, kind)?, true)?;
        let both = buffer.memory_type_bits & image.memory_type_bits;
        let types = self.memory().as_ref().map_or(0, |memory: &Memory| memory.types(Domain::Device, both));
        if types == 0 {
            return Err(self.cannot_share("memory", "memory type for shared buffers and images"));
        }
        Ok(types.trailing_zeros())
    }

    /// Usages of a shared image; an error if the driver does not share such images.
    fn shared_image(&self, name: &str, kind: PlanKind) -> Result<Usages, Error> {
        let PlanKind::Image { format, .. } = kind else { return Ok(shared_buffer()) };
        let usages = Usages { image: self.image_usages(format), external: true, ..Usages::default() };
        let mut external = vk::PhysicalDeviceExternalImageFormatInfo::default().handle_type(HANDLE);
        let info = vk::PhysicalDeviceImageFormatInfo2::default()
            .format(crate::convert::format(format))
            .ty(vk::ImageType::TYPE_2D)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usages.image)
            .push_next(&mut external);
        let mut about = vk::ExternalImageFormatProperties::default();
        let mut out = vk::ImageFormatProperties2::default().push_next(&mut about);
        // SAFETY: the physical device is of this instance, of version 1.3.
        let asked =
            unsafe { self.context.raw().get_physical_device_image_format_properties2(self.physical, &info, &mut out) };
        let features = about.external_memory_properties.external_memory_features;
        let wanted = vk::ExternalMemoryFeatureFlags::EXPORTABLE | vk::ExternalMemoryFeatureFlags::IMPORTABLE;
        let dedicated = features.contains(vk::ExternalMemoryFeatureFlags::DEDICATED_ONLY);
        if asked.is_err() || !features.contains(wanted) || dedicated {
            let message = format!("{} cannot share image \"{name}\" of {format} in a block", self.info.name);
            let help = "share a buffer, and copy to and from it";
            return Err(DeviceError::new(Code::Missing, message, help).of(name).into());
        }
        Ok(usages)
    }
}

fn shared_buffer() -> Usages {
    Usages { buffer: buffer_usages(), external: true, ..Usages::default() }
}

impl SharedMemory {
    fn new(shared: &Arc<Shared>, name: &str, raw: vk::DeviceMemory, info: SharedMemoryInfo, imported: bool) -> Self {
        let (shared, name, spans) = (shared.clone(), name.to_owned(), Arc::default());
        Self(Arc::new(SharedBlock { shared, name, raw, info, imported, spans }))
    }

    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What an importer must know besides the descriptor.
    pub fn info(&self) -> SharedMemoryInfo {
        self.0.info
    }

    /// Whether another device or process made it.
    pub fn is_imported(&self) -> bool {
        self.0.imported
    }

    /// A new descriptor of the block, for another device, process or API. It keeps the memory alive.
    ///
    /// # Errors
    /// If the block was imported, the device is closed or lost, or the driver fails.
    pub fn export(&self) -> Result<OwnedFd, Error> {
        let SharedBlock { shared, name, raw, imported, .. } = &*self.0;
        shared.check()?;
        if *imported {
            let message = format!("memory \"{name}\" was imported, so this device cannot export it");
            return Err(Error::input(name, message, "pass on a copy of the descriptor that it was imported from"));
        }
        let info = vk::MemoryGetFdInfoKHR::default().memory(*raw).handle_type(HANDLE);
        // SAFETY: the memory was allocated for this kind of handle.
        let fd = unsafe { shared.memory_fds()?.get_memory_fd(&info) };
        let fd = shared.noted(fd.called("vkGetMemoryFdKHR"))?;
        // SAFETY: the call returns a descriptor that is the caller's.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }

    /// Makes an image in the block: one sample, no cube. Another user's is refused by runs until
    /// [`DeviceResource::acquire`].
    ///
    /// # Errors
    /// If the driver does not share such images, the bytes are not free or not aligned, or the block is too small.
    pub fn image(
        &self,
        name: &str,
        format: Format,
        size: [u32; 2],
        mips: u32,
        layers: u32,
        place: SharedPlace<'_>,
    ) -> Result<DeviceResource, Error> {
        let kind = image_kind(format, size, mips, layers);
        self.0.shared.check()?;
        DeviceResource::check_image(name, size, mips, layers)?;
        let usages = self.0.shared.shared_image(name, kind)?;
        let _ = self.0.shared.measure(name, kind, usages, true)?;
        self.place(name, kind, usages, place)
    }

    /// Makes a buffer of `size` bytes in the block; see [`SharedMemory::image`].
    ///
    /// # Errors
    /// As [`SharedMemory::image`].
    pub fn buffer(&self, name: &str, size: u64, place: SharedPlace<'_>) -> Result<DeviceResource, Error> {
        self.0.shared.check()?;
        DeviceResource::check_buffer(&self.0.shared, name, size)?;
        self.place(name, PlanKind::Buffer { size }, shared_buffer(), place)
    }

    fn place(&self, name: &str, kind: PlanKind, usages: Usages, at: SharedPlace<'_>) -> Result<DeviceResource, Error> {
        PhysicalResource::shared(&self.0, name, kind, usages, at).map(DeviceResource::of_physical)
    }
}
