//! Images and buffers that are the caller's: bound to imported resources of several graphs in turn, and used by foreign
//! Vulkan code in between.

use std::sync::Arc;

use ash::vk;
use rgraph_plan::access::Layout;
use rgraph_plan::format::Format;
use rgraph_plan::id::Id;
use rgraph_plan::plan::PlanKind;

use crate::device::Shared;
use crate::device::poll::{Poll, wait_polling};
use crate::device::queue::Point;
use crate::error::{Code, DeviceError, Error};
use crate::frame::copy::{packed_bytes, packed_help};
use crate::memory::left;
use crate::memory::physical_resource::{PhysicalResource, Raw};
use crate::memory::readback::{Readback, clear_padding};
use crate::memory::staged;
use crate::memory::state::ResourceState;

/// An image or buffer of a device. Clones are the same one; it lives as long as anything uses it.
#[derive(Clone, Debug)]
pub struct DeviceResource(pub(crate) Arc<PhysicalResource>);

/// A caller's image or buffer handle.
#[derive(Clone, Copy, Debug)]
pub enum BorrowedHandle {
    Image(vk::Image),
    Buffer(vk::Buffer),
}

/// A 2D image of one sample, no cube.
pub(crate) fn image_kind(format: Format, [width, height]: [u32; 2], mips: u32, layers: u32) -> PlanKind {
    PlanKind::Image { format, size: [width, height, 1], mips, layers, samples: 1, volume: false, cube: false }
}

/// Every usage of a buffer.
pub(crate) fn buffer_usages() -> vk::BufferUsageFlags {
    vk::BufferUsageFlags::TRANSFER_SRC
        | vk::BufferUsageFlags::TRANSFER_DST
        | vk::BufferUsageFlags::UNIFORM_BUFFER
        | vk::BufferUsageFlags::STORAGE_BUFFER
        | vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER
        | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER
        | vk::BufferUsageFlags::VERTEX_BUFFER
        | vk::BufferUsageFlags::INDEX_BUFFER
        | vk::BufferUsageFlags::INDIRECT_BUFFER
}

impl Shared {
    /// Every usage that a format allows.
    pub(crate) fn image_usages(&self, format: Format) -> vk::ImageUsageFlags {
        // SAFETY: the physical device is of this instance.
        let properties = unsafe {
            let raw = crate::convert::format(format);
            self.context.raw().get_physical_device_format_properties(self.physical, raw)
        };
        let has = properties.optimal_tiling_features;
        let mut usages = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
        for (feature, usage) in [
            (vk::FormatFeatureFlags::SAMPLED_IMAGE, vk::ImageUsageFlags::SAMPLED),
            (vk::FormatFeatureFlags::STORAGE_IMAGE, vk::ImageUsageFlags::STORAGE),
            (vk::FormatFeatureFlags::COLOR_ATTACHMENT, vk::ImageUsageFlags::COLOR_ATTACHMENT),
            (vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT, vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT),
        ] {
            if has.contains(feature) {
                usages |= usage;
            }
        }
        usages
    }
}

impl DeviceResource {
    /// The resource of a physical resource.
    pub(crate) fn of(physical: Arc<PhysicalResource>) -> Self {
        Self(physical)
    }

    pub(crate) fn physical(&self) -> &Arc<PhysicalResource> {
        &self.0
    }

    /// Refuses sizes that no image has.
    pub(crate) fn check_image(name: &str, [width, height]: [u32; 2], mips: u32, layers: u32) -> Result<(), Error> {
        if width == 0 || height == 0 || mips == 0 || layers == 0 {
            return Err(Error::input(name, format!("image \"{name}\" has no texels"), "give a size of at least 1x1"));
        }
        let most = width.max(height).ilog2() + 1;
        if mips > most {
            let message = format!("image \"{name}\" of {width}x{height} has {mips} mips");
            return Err(Error::input(name, message, format!("give it 1 to {most} mips")));
        }
        Ok(())
    }

    /// Refuses sizes that no buffer of the device has.
    pub(crate) fn check_buffer(shared: &Shared, name: &str, size: u64) -> Result<(), Error> {
        let most = shared.profile.limits.max_buffer;
        if size == 0 || size > most {
            let message = format!("buffer \"{name}\" has {size} bytes");
            return Err(Error::input(name, message, format!("give it 1 to {most} bytes")));
        }
        Ok(())
    }

    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What it is.
    pub fn kind(&self) -> PlanKind {
        self.0.kind
    }

    /// Its Vulkan handle. Who uses it says with [`DeviceResource::set_state`] how it was left.
    pub fn handle(&self) -> BorrowedHandle {
        self.0.expose();
        match self.0.raw {
            Raw::Image(raw) => BorrowedHandle::Image(raw),
            Raw::Buffer(raw) => BorrowedHandle::Buffer(raw),
        }
    }

    /// How it was used last (of a resource whose parts differ: its first part).
    pub fn state(&self) -> ResourceState {
        self.0.tracked().first()
    }

    /// Sets the state in which foreign code left it: the layout, and the queue (of the device's list), stages and
    /// accesses that used it last. The next run of a graph waits for all that was submitted to that queue so far, for
    /// the given points, and for rgraph's own uses. Waits for a run whose host passes may use it.
    ///
    /// # Safety
    /// An image is in that layout, and belongs to that queue family, when everything that the next run waits for is
    /// done; nothing else uses the resource from then on.
    ///
    /// ```compile_fail,E0133
    /// fn safe(image: &rgraph_vk::DeviceResource) {
    ///     let _ = image.set_state(&rgraph_vk::ResourceState::default());
    /// }
    /// ```
    ///
    /// # Errors
    /// If the queue or the family does not exist, a point was never submitted, the image is rgraph's own and in another
    /// layout, or the driver fails.
    pub unsafe fn set_state(&self, state: &ResourceState) -> Result<(), Error> {
        let shared = &self.0.shared;
        shared.check()?;
        shared.outside()?;
        self.refuse(state)?;
        let _turn = shared.turn_with(std::slice::from_ref(&self.0), None)?;
        left::take(shared, vec![(self.0.clone(), state.clone())], |_, _| true)
    }

    /// Refuses a state that cannot be.
    pub(crate) fn refuse(&self, state: &ResourceState) -> Result<(), Error> {
        match self.fault(state) {
            Some((message, help)) => Err(Error::input(&self.0.name, message, help)),
            None => Ok(()),
        }
    }

    /// The contradiction in a given resource state, and the hint.
    fn fault(&self, state: &ResourceState) -> Option<(String, String)> {
        let shared = &self.0.shared;
        let (name, queues, families) = (&self.0.name, shared.queues.len(), shared.info.families.len());
        // What Vulkan reserves for other devices and other APIs is no index.
        let elsewhere = [vk::QUEUE_FAMILY_EXTERNAL, vk::QUEUE_FAMILY_FOREIGN_EXT];
        if let Some(family) = state.family.filter(|family| *family as usize >= families && !elsewhere.contains(family))
        {
            let message = format!("\"{name}\" was left to queue family {family}, and the device has {families}");
            return Some((message, "count the device's queue families from 0".to_owned()));
        }
        let used = state.queue.into_iter().chain(state.points.iter().map(|point| point.queue));
        if let Some(queue) = used.into_iter().find(|queue| queue.index() >= queues) {
            let queue = queue.index();
            let message = format!("\"{name}\" was left on queue {queue}, and the device has {queues}");
            return Some((message, "count the device's queues from 0".to_owned()));
        }
        let early = |point: &&Point| point.value > shared.queues[point.queue].submitted();
        if let Some(Point { queue, value }) = state.points.iter().find(early) {
            let (last, queue) = (shared.queues[*queue].submitted(), queue.index());
            let message = format!("\"{name}\" waits for value {value} of queue {queue}, which has submitted {last}");
            return Some((message, "give points that rgraph returned".to_owned()));
        }
        let mut other = None;
        if !self.0.is_exposed() && state.layout != Layout::Undefined {
            let tracked = self.0.tracked();
            tracked.visit(tracked.whole(), |_, known| {
                other = other.or((known.layout != state.layout).then_some(known.layout));
            });
        }
        other.map(|layout| {
            let message = format!("\"{name}\" is in layout {layout}, but no other program can have used it");
            (message, "give \"undefined\" to drop its contents".to_owned())
        })
    }

    /// A resource around a physical resource.
    pub(crate) fn of_physical(physical: Arc<PhysicalResource>) -> Self {
        Self(physical)
    }

    /// The physical resource, if it is that device's.
    pub(crate) fn checked(&self, shared: &Arc<Shared>) -> Result<&Arc<PhysicalResource>, Error> {
        if Arc::ptr_eq(&self.0.shared, shared) {
            return Ok(&self.0);
        }
        let message = format!("\"{}\" belongs to another device", self.0.name);
        Err(DeviceError::new(Code::Foreign, message, "make it on the device that runs the graph").into())
    }

    /// Writes mip 0 of all layers, tightly packed, or a buffer's bytes. Returns when `bytes` may change; the device may
    /// still be copying, and what uses the resource next waits for that. Where foreign code has the handle, it waits
    /// here.
    ///
    /// # Errors
    /// If the number of bytes is not right, or the driver fails; inside of a function of a pass.
    pub fn write(&self, bytes: &[u8]) -> Result<(), Error> {
        self.write_polling(bytes, None)
    }

    /// [`DeviceResource::write`], which calls `poll` every 50 ms while it waits.
    ///
    /// # Errors
    /// As [`DeviceResource::write`]; that of `poll`.
    pub fn write_polling(&self, bytes: &[u8], poll: Option<Poll<'_>>) -> Result<(), Error> {
        let shared = &self.0.shared;
        shared.check()?;
        shared.outside()?;
        let wanted = packed_bytes(self.0.kind);
        if bytes.len() as u64 != wanted {
            let message = format!("\"{}\" takes {wanted} bytes, and {} are given", self.0.name, bytes.len());
            return Err(Error::input(&self.0.name, message, packed_help(self.0.kind)));
        }
        self.0.available()?;
        staged::write(&self.0, bytes, poll)?;
        if self.0.is_exposed() {
            let points = staged::points(&self.0);
            wait_polling(poll, |slice| shared.wait(&points, slice))?;
        }
        shared.sweep()
    }

    /// Reads mip 0 of all layers, tightly packed, or a buffer's bytes; waits until it is done.
    ///
    /// # Errors
    /// If the driver fails; inside of a function of a pass.
    pub fn read(&self) -> Result<Readback, Error> {
        self.read_polling(None)
    }

    /// [`DeviceResource::read`], which calls `poll` every 50 ms while it waits.
    ///
    /// # Errors
    /// As [`DeviceResource::read`]; that of `poll`.
    pub fn read_polling(&self, poll: Option<Poll<'_>>) -> Result<Readback, Error> {
        self.0.shared.check()?;
        self.0.shared.outside()?;
        self.0.available()?;
        let block = staged::read(&self.0, poll)?;
        let (kind, name) = (self.0.kind, self.0.name.clone());
        self.0.shared.sweep()?;
        Readback::done(block, kind, name)
    }

    /// As [`DeviceResource::read`], into `bytes`: without a copy by the CPU where they lie in [`Locked`](crate::Locked)
    /// memory.
    ///
    /// # Errors
    /// If the number of bytes is not right, or the driver fails; inside of a function of a pass.
    pub fn read_into(&self, bytes: &mut [u8]) -> Result<(), Error> {
        self.read_into_polling(bytes, None)
    }

    /// [`DeviceResource::read_into`], which calls `poll` every 50 ms while it waits. The device may still write to
    /// [`Locked`](crate::Locked) memory behind an error of `poll`.
    ///
    /// # Errors
    /// As [`DeviceResource::read_into`]; that of `poll`.
    pub fn read_into_polling(&self, bytes: &mut [u8], poll: Option<Poll<'_>>) -> Result<(), Error> {
        self.0.shared.check()?;
        self.0.shared.outside()?;
        let held = packed_bytes(self.0.kind);
        if bytes.len() as u64 != held {
            let message = format!("\"{}\" has {held} bytes, and there is room for {}", self.0.name, bytes.len());
            return Err(Error::input(&self.0.name, message, packed_help(self.0.kind)));
        }
        self.0.available()?;
        staged::read_into(&self.0, bytes, poll)?;
        clear_padding(self.0.kind, bytes);
        self.0.shared.sweep()
    }
}
