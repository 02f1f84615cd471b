//! What a driver requires of images and buffers before they are made, and memory that fits.

use ash::vk;
use rgraph_plan::plan::PlanKind;

use crate::convert;
use crate::device::Shared;
use crate::device::queue::DeviceQueueId;
use crate::error::{Called, Code, DeviceError, Error};
use crate::memory::needs::{Needs, needs_key};
use crate::memory::share::HANDLE;
use crate::memory::usages::Usages;
use crate::memory::{Allocation, Want};

pub(crate) fn image_info<'a>(
    kind: PlanKind,
    usages: Usages,
    concurrent: bool,
    families: &'a [u32],
) -> vk::ImageCreateInfo<'a> {
    let PlanKind::Image { format, size, mips, layers, samples, volume, cube } = kind else {
        return vk::ImageCreateInfo::default();
    };
    let flags = if cube { vk::ImageCreateFlags::CUBE_COMPATIBLE } else { vk::ImageCreateFlags::empty() };
    let info = vk::ImageCreateInfo::default()
        .flags(flags)
        .image_type(if volume { vk::ImageType::TYPE_3D } else { vk::ImageType::TYPE_2D })
        .format(convert::format(format))
        .extent(vk::Extent3D { width: size[0], height: size[1], depth: size[2] })
        .mip_levels(mips)
        .array_layers(layers)
        .samples(convert::samples(samples))
        .tiling(vk::ImageTiling::OPTIMAL)
        .usage(usages.image)
        .initial_layout(vk::ImageLayout::UNDEFINED);
    if concurrent { info.sharing_mode(vk::SharingMode::CONCURRENT).queue_family_indices(families) } else { info }
}

pub(crate) fn buffer_info<'a>(
    kind: PlanKind,
    usages: Usages,
    concurrent: bool,
    families: &'a [u32],
) -> vk::BufferCreateInfo<'a> {
    let PlanKind::Buffer { size } = kind else { return vk::BufferCreateInfo::default() };
    let info = vk::BufferCreateInfo::default().size(size).usage(usages.buffer);
    if concurrent { info.sharing_mode(vk::SharingMode::CONCURRENT).queue_family_indices(families) } else { info }
}

/// Lets images be cleared, if the device can make them so.
pub(crate) fn allow_clears(shared: &Shared, kind: PlanKind, usages: &mut Usages) {
    let more = Usages { image: usages.image | vk::ImageUsageFlags::TRANSFER_DST, ..*usages };
    if matches!(kind, PlanKind::Image { .. }) && shared.measure("", kind, more, true).is_ok() {
        *usages = more;
    }
}

impl Shared {
    /// Families of the device's queues, each once.
    pub(crate) fn families(&self) -> Vec<u32> {
        let mut families: Vec<_> = self.queues.iter().map(|queue| queue.family).collect();
        families.sort_unstable();
        families.dedup();
        families
    }

    /// Memory; where there is none, what waits to be destroyed is waited for, and the driver is asked once more.
    pub(crate) fn allocate(&self, want: Want<'_>) -> Result<Allocation, Error> {
        let attempt = || {
            let _shared = crate::device::driver::shared();
            match self.memory().as_mut() {
                Some(memory) => memory.allocate(want),
                None => Err(DeviceError::new(Code::Closed, "the device is closed", "open another one").into()),
            }
        };
        let first = match attempt() {
            Ok(allocation) => return Ok(allocation),
            Err(error) => error,
        };
        if let Some(spares) = self.spares.upgrade() {
            spares.clear();
        }
        self.trim_staging();
        if self.wait_idle().is_err() {
            return Err(first);
        }
        attempt()
    }

    /// What a driver requires of an image or buffer that is not made yet; an error where it cannot be made at all.
    pub(crate) fn measure(
        &self,
        name: &str,
        kind: PlanKind,
        usages: Usages,
        concurrent: bool,
    ) -> Result<vk::MemoryRequirements, Error> {
        self.needs(name, kind, usages, concurrent).map(|needs| needs.memory)
    }

    /// As [`Self::measure`], with whether the driver wants memory for it alone. The driver is asked once per kind.
    pub(crate) fn needs(&self, name: &str, kind: PlanKind, usages: Usages, concurrent: bool) -> Result<Needs, Error> {
        let usages = self.usable(usages);
        let several = self.queues.iter().any(|queue| queue.family != self.queues[DeviceQueueId::FIRST].family);
        let concurrent = concurrent && several;
        let key = needs_key(kind, usages, concurrent);
        if let Some(known) = self.needs.find(&key) {
            return Ok(known);
        }
        let needs = self.ask_needs(name, kind, usages, concurrent)?;
        self.needs.remember(key, needs);
        Ok(needs)
    }

    fn ask_needs(&self, name: &str, kind: PlanKind, usages: Usages, concurrent: bool) -> Result<Needs, Error> {
        let families = self.families();
        let mut dedicated = vk::MemoryDedicatedRequirements::default();
        let mut out = vk::MemoryRequirements2::default().push_next(&mut dedicated);
        match kind {
            PlanKind::Image { format, size, mips, layers, samples, volume, .. } => {
                let info = image_info(kind, usages, concurrent, &families);
                // SAFETY: the physical device is of this instance.
                let properties = unsafe {
                    self.context.raw().get_physical_device_image_format_properties(
                        self.physical,
                        info.format,
                        info.image_type,
                        info.tiling,
                        info.usage,
                        info.flags,
                    )
                };
                let most = match properties {
                    Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED) => None,
                    other => Some(other.called("vkGetPhysicalDeviceImageFormatProperties")?),
                };
                let fits = most.is_some_and(|most| {
                    let vk::Extent3D { width, height, depth } = most.max_extent;
                    size[0] <= width
                        && size[1] <= height
                        && size[2] <= depth
                        && mips <= most.max_mip_levels
                        && layers <= most.max_array_layers
                        && most.sample_counts.contains(convert::samples(samples))
                });
                if !fits {
                    let shape = if volume { "3D image" } else { "image" };
                    let message = format!(
                        "{} cannot make {shape} \"{name}\": {format}, {}x{}x{}, {layers} layers, {mips} mips, {samples} \
                         samples, used as {:?}",
                        self.info.name, size[0], size[1], size[2], usages.image
                    );
                    let help = "use a smaller size, another format, fewer samples, or use it in another way";
                    return Err(DeviceError::new(Code::Missing, message, help).of(name).into());
                }
                let mut external = vk::ExternalMemoryImageCreateInfo::default().handle_types(HANDLE);
                let info = if usages.external { info.push_next(&mut external) } else { info };
                let info = vk::DeviceImageMemoryRequirements::default().create_info(&info);
                // SAFETY: the image is one that could be made.
                unsafe { self.raw.get_device_image_memory_requirements(&info, &mut out) };
            }
            PlanKind::Buffer { .. } => {
                let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(HANDLE);
                let info = buffer_info(kind, usages, concurrent, &families);
                let info = if usages.external { info.push_next(&mut external) } else { info };
                let info = vk::DeviceBufferMemoryRequirements::default().create_info(&info);
                // SAFETY: the buffer is one that could be made.
                unsafe { self.raw.get_device_buffer_memory_requirements(&info, &mut out) };
            }
        }
        let memory = out.memory_requirements;
        Ok(Needs {
            memory,
            prefers_dedicated: dedicated.prefers_dedicated_allocation == vk::TRUE,
            requires_dedicated: dedicated.requires_dedicated_allocation == vk::TRUE,
        })
    }
}
