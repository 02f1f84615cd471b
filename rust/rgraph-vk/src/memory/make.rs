//! Images and buffers that a device makes for the caller, or borrows of the caller.

use rgraph_plan::access::MemoryDomain;
use rgraph_plan::format::Format;
use rgraph_plan::plan::PlanKind;

use crate::device::Device;
use crate::error::Error;
use crate::memory::Domain;
use crate::memory::left;
use crate::memory::physical_resource::{PhysicalResource, Raw};
use crate::memory::resource::{BorrowedHandle, DeviceResource, buffer_usages, image_kind};
use crate::memory::state::ResourceState;
use crate::memory::usages::Usages;

impl Device {
    /// Makes an image that holds nothing yet; one sample, no cube. It can be used in every way that its format allows.
    ///
    /// # Errors
    /// If the device cannot make it, or is out of memory.
    pub fn image(
        &self,
        name: &str,
        format: Format,
        size: [u32; 2],
        mips: u32,
        layers: u32,
    ) -> Result<DeviceResource, Error> {
        self.make_image(name, image_kind(format, size, mips, layers), Domain::Device)
    }

    /// As [`Self::image`], in memory that the caller chooses.
    ///
    /// # Errors
    /// RG-E102 if the device has no such memory for images of that format.
    pub fn image_in(
        &self,
        domain: MemoryDomain,
        name: &str,
        format: Format,
        size: [u32; 2],
        mips: u32,
        layers: u32,
    ) -> Result<DeviceResource, Error> {
        self.make_image(name, image_kind(format, size, mips, layers), Domain::Chosen(domain))
    }

    fn make_image(&self, name: &str, kind: PlanKind, domain: Domain) -> Result<DeviceResource, Error> {
        self.0.check()?;
        let PlanKind::Image { format, size: [width, height, _], mips, layers, .. } = kind else {
            unreachable!("the caller made the kind of an image")
        };
        DeviceResource::check_image(name, [width, height], mips, layers)?;
        let usages = Usages { image: self.0.image_usages(format), ..Usages::default() };
        // Refuses what cannot be made, with the reason.
        let _ = self.0.measure(name, kind, usages, true)?;
        PhysicalResource::new(&self.0, name, kind, usages, domain, true).map(DeviceResource)
    }

    /// Makes a buffer of `size` bytes that holds nothing yet; it can be used in every way.
    ///
    /// # Errors
    /// If the size is zero, or the device is out of memory.
    pub fn buffer(&self, name: &str, size: u64) -> Result<DeviceResource, Error> {
        self.make_buffer(name, size, Domain::Device)
    }

    /// As [`Self::buffer`], in memory that the caller chooses. [`DeviceResource::write`] copies straight into memory
    /// that the CPU sees, once no run uses it.
    ///
    /// # Errors
    /// RG-E102 if the device has no such memory.
    pub fn buffer_in(&self, domain: MemoryDomain, name: &str, size: u64) -> Result<DeviceResource, Error> {
        self.make_buffer(name, size, Domain::Chosen(domain))
    }

    fn make_buffer(&self, name: &str, size: u64, domain: Domain) -> Result<DeviceResource, Error> {
        self.0.check()?;
        DeviceResource::check_buffer(&self.0, name, size)?;
        let usages = Usages { buffer: buffer_usages(), ..Usages::default() };
        PhysicalResource::new(&self.0, name, PlanKind::Buffer { size }, usages, domain, true).map(DeviceResource)
    }

    /// Borrows a caller's image or buffer. Its state is unknown until [`DeviceResource::set_state`] says it;
    /// `concurrent` says that all queue families share it.
    ///
    /// # Safety
    /// The handle is of this device, is as `kind` says, has the usages that graphs make of it, and outlives them.
    pub unsafe fn borrow_resource(
        &self,
        name: &str,
        kind: PlanKind,
        handle: BorrowedHandle,
        concurrent: bool,
    ) -> DeviceResource {
        let raw = match handle {
            BorrowedHandle::Image(raw) => Raw::Image(raw),
            BorrowedHandle::Buffer(raw) => Raw::Buffer(raw),
        };
        DeviceResource(PhysicalResource::borrowed(&self.0, name, kind, raw, concurrent))
    }

    /// [`DeviceResource::set_state`] for many resources, with one submit for each queue that they were left on.
    ///
    /// # Safety
    /// As of [`DeviceResource::set_state`], for each of them.
    ///
    /// # Errors
    /// As [`DeviceResource::set_state`]; then none is changed.
    pub unsafe fn set_states(&self, states: &[(&DeviceResource, ResourceState)]) -> Result<(), Error> {
        let shared = &self.0;
        shared.check()?;
        shared.outside()?;
        let of = |(resource, state): &(&DeviceResource, ResourceState)| {
            resource.refuse(state)?;
            Ok((resource.checked(shared)?.clone(), state.clone()))
        };
        let all = states.iter().map(of).collect::<Result<Vec<_>, Error>>()?;
        let physicals: Vec<_> = all.iter().map(|(physical, _)| physical.clone()).collect();
        let _turn = shared.turn_with(&physicals, None)?;
        left::take(shared, all, |_, _| true)
    }
}
