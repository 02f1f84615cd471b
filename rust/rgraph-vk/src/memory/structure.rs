//! Acceleration structures in buffers of the device.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use ash::vk;
use rgraph_plan::plan::PlanKind;

use crate::error::{Called, Error};
use crate::memory::deferred_deletion::DeferredDeletion;
use crate::memory::physical_resource::PhysicalResource;
use crate::memory::physical_resource::Structure;

impl PhysicalResource {
    /// The acceleration structure that the whole buffer holds, made once; `None`: the device has none. Its kind is that
    /// of its builds: the object itself takes both.
    pub(crate) fn structure(&self) -> Result<Option<Structure>, Error> {
        let (Some(rays), PlanKind::Buffer { size }) = (self.shared.rays.as_deref(), self.kind) else { return Ok(None) };
        let mut structure = self.structure.lock().unwrap_or_else(PoisonError::into_inner);
        if structure.is_some() {
            return Ok(*structure);
        }
        let info = vk::AccelerationStructureCreateInfoKHR::default()
            .buffer(self.buffer())
            .size(size)
            .ty(vk::AccelerationStructureTypeKHR::GENERIC);
        // SAFETY: the buffer was made for structures, as a pass declares one in it, and outlives this one.
        let raw = unsafe { rays.structures.create_acceleration_structure(&info, self.shared.raw.host()) };
        let raw = self.shared.noted(raw.called("vkCreateAccelerationStructureKHR"))?;
        self.shared.name(raw, &self.name);
        let info = vk::AccelerationStructureDeviceAddressInfoKHR::default().acceleration_structure(raw);
        // SAFETY: it was just made.
        let address = unsafe { rays.structures.get_acceleration_structure_device_address(&info) };
        *structure = Some(Structure { raw, address });
        Ok(*structure)
    }

    /// Whether a structure that outlives its run was built in it.
    pub(crate) fn is_built(&self) -> bool {
        self.built.load(Ordering::Relaxed)
    }

    /// Notes that a structure was built in it, or that none is there any more.
    pub(crate) fn set_built(&self, built: bool) {
        self.built.store(built, Ordering::Relaxed);
    }

    /// The structure, to be destroyed before its buffer.
    pub(super) fn take_structure(&mut self) -> Option<DeferredDeletion> {
        let structure = self.structure.get_mut().unwrap_or_else(PoisonError::into_inner).take()?;
        let destroy = self.shared.rays.as_deref()?.structures.fp().destroy_acceleration_structure_khr;
        Some(DeferredDeletion::Structure(structure.raw, destroy))
    }
}
