//! Buffers in memory that CUDA made on their device, in the address space of the GPUs that they are copied between: one
//! copy over the link, with no slot between. The host orders: it waits for the devices before and for CUDA behind,
//! since a GPU that changes sides between Vulkan and CUDA takes longer than the host does.

use std::mem::ManuallyDrop;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rgraph_plan::plan::PlanKind;

use super::cuda::{Context, Cuda, Memory, PATIENCE, Stream, reachable};
use super::driver::{Address, NOT_READY};
use crate::device::Device;
use crate::error::{Code, DeviceError, Error};
use crate::memory::physical_resource::{Peer, PhysicalResource};
use crate::memory::share::SharedMemoryInfo;
use crate::memory::usages::Usages;

/// How long a thread asks CUDA without a pause whether a copy is over.
const AWAKE: Duration = Duration::from_millis(5);

/// A buffer of a device that CUDA copies to and from those of other devices.
///
/// # Errors
/// As [`reachable`]; `RG-E102` if the device shares no memory, or none for these usages; else what CUDA or a driver
/// says. What was made is given back.
pub(crate) fn buffer(
    cuda: Cuda,
    device: &Device,
    others: &[&Device],
    name: &str,
    (bytes, usages): (u64, Usages),
) -> Result<Arc<PhysicalResource>, Error> {
    let users = reachable(cuda, &[&[device], others].concat())?;
    let shared = &device.0;
    let memory = Memory::new(cuda.functions(), users[0], &users, bytes)?;
    let fd = memory.export()?;
    let size = memory.bytes();
    let info = SharedMemoryInfo { origin: shared.origin(), size, memory_type: shared.shared_type(name)? };
    // SAFETY: CUDA made it on this device, that large; the device's driver is CUDA's.
    let block = unsafe { device.import_memory(name, fd.as_fd(), &info) }?;
    let peer = Peer { address: memory.address(), _memory: Box::new(memory) };
    let usages = Usages { external: true, ..usages };
    PhysicalResource::of_peer(&block.0, name, PlanKind::Buffer { size: bytes }, usages, peer)
}

/// A stream that copies from one device to another. One thread copies.
#[derive(Debug)]
pub(crate) struct Direct {
    stream: ManuallyDrop<Stream>,
    from: Device,
    _contexts: [Arc<Context>; 2],
}

impl Direct {
    /// # Errors
    /// As [`reachable`]; else what CUDA says.
    pub(super) fn new(cuda: Cuda, from: &Device, to: &Device) -> Result<Self, Error> {
        let numbers = reachable(cuda, &[from, to])?;
        let ends = [numbers[0], *numbers.last().unwrap_or(&numbers[0])];
        let [first, second] = ends.map(|number| Context::retain(cuda.functions(), number));
        let contexts = [first?, second?];
        let stream = ManuallyDrop::new(Stream::new(&contexts[0])?);
        Ok(Self { stream, from: from.clone(), _contexts: contexts })
    }

    /// Begins a copy. Nobody else uses source or target until it is over.
    ///
    /// # Errors
    /// What CUDA says.
    pub(super) fn copy(&self, target: Address, source: Address, bytes: u64) -> Result<(), Error> {
        let copied = self.stream.context().within(|cuda| {
            // SAFETY: both are mapped for both devices, and that large.
            let copy = unsafe { (cuda.copy)(target, source, bytes as usize, self.stream.object()) };
            cuda.called("cuMemcpyDtoDAsync_v2", copy)
        });
        Ok(copied?)
    }

    fn is_over(&self) -> Result<bool, Error> {
        let mut over = 0;
        self.stream.context().within(|cuda| {
            // SAFETY: the stream lives.
            over = unsafe { (cuda.query_stream)(self.stream.object()) };
            if over == NOT_READY { Ok(()) } else { cuda.called("cuStreamQuery", over) }
        })?;
        Ok(over == 0)
    }

    /// Waits for `slice` at most until all copies are over; whether they are.
    ///
    /// # Errors
    /// What CUDA says; `RG-E120` if they have not come to an end for long, counted from `begin`.
    pub(super) fn wait(&self, begin: Instant, slice: Duration) -> Result<bool, Error> {
        let started = Instant::now();
        while !self.is_over()? {
            if begin.elapsed() > PATIENCE {
                let message = "a copy of CUDA's between two GPUs does not come to an end";
                return Err(DeviceError::new(Code::Lost, message, "look at the driver's log").into());
            }
            if started.elapsed() > slice {
                return Ok(false);
            }
            if begin.elapsed() > AWAKE {
                std::thread::sleep(Duration::from_micros(50));
            } else {
                std::hint::spin_loop();
            }
        }
        Ok(true)
    }

    /// Waits until CUDA has nothing to do; `false`: it failed, or does not come to an end.
    pub(super) fn drain(&self) -> bool {
        self.wait(Instant::now(), PATIENCE).inspect_err(|error| log::warn!("{error}")).unwrap_or(false)
    }
}

impl Drop for Direct {
    fn drop(&mut self) {
        // What may still be under way stays, and so does what a forked child has a copy of.
        if self.from.0.is_ours() && self.drain() {
            // SAFETY: taken once, here.
            unsafe { ManuallyDrop::drop(&mut self.stream) };
        }
    }
}
