//! A pair of GPUs whose copies CUDA makes: from memory of the one into memory of the other, over the link between them.
//!
//! CUDA copies fast only between memory that it made itself (394 GB/s between two H200; 38 if Vulkan made both ends).
//! So each device has slots made by `cuMemCreate`, which it imports. One stream waits until a slot is filled, copies
//! it, and signals both devices. Each timeline has one writer: the devices signal `filled` and `emptied`, CUDA `left`
//! and `come`. A device submits before CUDA waits, since CUDA blocks where it waits for what is not submitted. The host
//! waits for the devices only: a host's wait for what CUDA signals takes 10 ms.

use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ash::vk;

use super::driver::{self, Access, Address, Functions, MemoryKind, NON_BLOCKING, NOT_READY, Object, POSIX_FD, Wish};
use crate::device::Device;
use crate::device::queue::WaitFor;
use crate::device::semaphore::Semaphore;
use crate::error::{Code, DeviceError, Error};
use crate::memory::physical_resource::Raw;
use crate::memory::resource::DeviceResource;
use crate::memory::share::{SharedMemoryInfo, SharedPlace};
use crate::memory::staged::Outside;

/// How long what is under way may take before it counts as lost.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// Makes a timeline of a device, and a descriptor for CUDA.
type MakeTimeline = fn(&Device) -> Result<(Semaphore, OwnedFd), Error>;

/// CUDA as this process reaches it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cuda {
    functions: Functions,
    timeline: MakeTimeline,
}

impl Cuda {
    /// Opens its driver as the environment says; `None`: CUDA is not wanted.
    pub(crate) fn open(wish: &Wish) -> Option<Result<Self, Box<DeviceError>>> {
        let timeline = |device: &Device| {
            let semaphore = device.shared_semaphore(0)?;
            let fd = semaphore.export()?;
            Ok((semaphore, fd))
        };
        (*wish != Wish::Off).then(|| Functions::open(wish).map(|functions| Self { functions, timeline }))
    }

    pub(super) fn functions(self) -> Functions {
        self.functions
    }

    /// One whose functions and timelines are given.
    #[cfg(test)]
    pub fn of(functions: Functions, timeline: MakeTimeline) -> Self {
        Self { functions, timeline }
    }
}

/// CUDA's numbers of devices between which it copies, each once.
///
/// # Errors
/// `RG-E102` if CUDA does not know a device, or one of them cannot access memory of another; else what CUDA says.
pub(super) fn reachable(cuda: Cuda, devices: &[&Device]) -> Result<Vec<c_int>, Error> {
    let functions = cuda.functions;
    let mut users: Vec<c_int> = Vec::new();
    for device in devices {
        let number = functions.device_of(&device.info().name, device.info().uuid)?;
        if !users.contains(&number) {
            users.push(number);
        }
    }
    for (one, other) in users.iter().flat_map(|one| users.iter().map(move |other| (*one, *other))) {
        let mut can = 1;
        if one != other {
            // SAFETY: both are devices of CUDA's.
            let asked = unsafe { (functions.can_access_peer)(&raw mut can, one, other) };
            functions.called("cuDeviceCanAccessPeer", asked)?;
        }
        if can == 0 {
            let message = format!("CUDA's device {one} cannot access memory of device {other}");
            return Err(DeviceError::new(Code::Missing, message, "look at nvidia-smi topo -p2p r").into());
        }
    }
    Ok(users)
}

/// The context of a device that all users of CUDA in the process share.
#[derive(Debug)]
pub(super) struct Context {
    functions: Functions,
    device: c_int,
    object: Object,
}

// SAFETY: contexts, streams and semaphores of CUDA may be used by any thread (CUDA Driver API, "Context Management").
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    pub(super) fn retain(functions: Functions, device: c_int) -> Result<Arc<Self>, Box<DeviceError>> {
        let mut object = std::ptr::null_mut();
        // SAFETY: the device is one of CUDA's.
        functions.called("cuDevicePrimaryCtxRetain", unsafe { (functions.retain_context)(&raw mut object, device) })?;
        Ok(Arc::new(Self { functions, device, object }))
    }

    /// Calls a function while the context is the thread's.
    pub(super) fn within<T>(
        &self,
        function: impl FnOnce(&Functions) -> Result<T, Box<DeviceError>>,
    ) -> Result<T, Box<DeviceError>> {
        let cuda = &self.functions;
        // SAFETY: the context is retained.
        cuda.called("cuCtxPushCurrent_v2", unsafe { (cuda.push_context)(self.object) })?;
        let result = function(cuda);
        let mut popped = std::ptr::null_mut();
        // SAFETY: pushed above. What was made is there all the same if this fails.
        cuda.last("cuCtxPopCurrent_v2", unsafe { (cuda.pop_context)(&raw mut popped) });
        result
    }

    /// The same, where nobody is left to hear an error.
    fn last(&self, call: &str, function: impl FnOnce(&Functions) -> c_int) {
        if let Err(error) = self.within(|cuda| cuda.called(call, function(cuda))) {
            log::warn!("{}", error.message);
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: retained once; what was made in it is gone.
        self.functions.last("cuDevicePrimaryCtxRelease_v2", unsafe { (self.functions.release_context)(self.device) });
    }
}

#[derive(Debug)]
pub(super) struct Stream {
    context: Arc<Context>,
    object: Object,
}

// SAFETY: as of contexts.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Stream {
    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    pub(super) fn object(&self) -> Object {
        self.object
    }

    pub(super) fn new(context: &Arc<Context>) -> Result<Self, Box<DeviceError>> {
        let mut object = std::ptr::null_mut();
        context.within(|cuda| {
            // SAFETY: the context is current.
            cuda.called("cuStreamCreate", unsafe { (cuda.create_stream)(&raw mut object, NON_BLOCKING) })
        })?;
        Ok(Self { context: Arc::clone(context), object })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: nothing is under way in it.
        self.context.last("cuStreamDestroy_v2", |cuda| unsafe { (cuda.destroy_stream)(self.object) });
    }
}

/// A timeline of a device that CUDA has, too.
#[derive(Debug)]
struct Timeline {
    context: Arc<Context>,
    imported: Object,
    semaphore: Semaphore,
}

// SAFETY: as of contexts.
unsafe impl Send for Timeline {}
// SAFETY: as above.
unsafe impl Sync for Timeline {}

impl Timeline {
    fn new(context: &Arc<Context>, device: &Device, make: MakeTimeline) -> Result<Self, Error> {
        let (semaphore, fd) = make(device)?;
        let handle = driver::SemaphoreHandle::timeline(fd.as_raw_fd());
        let mut imported = std::ptr::null_mut();
        context.within(|cuda| {
            // SAFETY: the descriptor is of a timeline.
            let made = unsafe { (cuda.import_semaphore)(&raw mut imported, &raw const handle) };
            cuda.called("cuImportExternalSemaphore", made)
        })?;
        // It is CUDA's now.
        let _ = fd.into_raw_fd();
        Ok(Self { context: Arc::clone(context), imported, semaphore })
    }

    /// A wait of a queue for a value.
    fn reaches(&self, value: u64) -> WaitFor {
        // Signalled by CUDA, as far as the device knows.
        WaitFor { semaphore: self.semaphore.raw(), value, stages: vk::PipelineStageFlags2::COPY }
    }
}

impl Drop for Timeline {
    fn drop(&mut self) {
        // SAFETY: no stream waits for it or signals it.
        self.context.last("cuDestroyExternalSemaphore", |cuda| unsafe { (cuda.destroy_semaphore)(self.imported) });
    }
}

/// Memory that CUDA made, in the address space of both GPUs. What is made is given back, whatever fails between.
#[derive(Debug)]
pub(super) struct Memory {
    functions: Functions,
    size: usize,
    handle: driver::Memory,
    address: Option<Address>,
    mapped: bool,
}

impl Memory {
    pub(super) fn new(
        functions: Functions,
        device: c_int,
        users: &[c_int],
        least: u64,
    ) -> Result<Self, Box<DeviceError>> {
        let kind = MemoryKind::of(device);
        let mut granularity = 0;
        // SAFETY: 0 asks for the least one.
        let asked = unsafe { (functions.granularity)(&raw mut granularity, &raw const kind, 0) };
        functions.called("cuMemGetAllocationGranularity", asked)?;
        let size = (least as usize).next_multiple_of(granularity.max(1));
        let mut handle = 0;
        // SAFETY: the size is a multiple of what the driver wants.
        let made = unsafe { (functions.create_memory)(&raw mut handle, size, &raw const kind, 0) };
        functions.called("cuMemCreate", made)?;
        let mut memory = Self { functions, size, handle, address: None, mapped: false };
        let mut address = 0;
        // SAFETY: as above; any address will do.
        let made = unsafe { (functions.reserve_address)(&raw mut address, size, 0, 0, 0) };
        functions.called("cuMemAddressReserve", made)?;
        memory.address = Some(address);
        // SAFETY: that much was reserved and made.
        functions.called("cuMemMap", unsafe { (functions.map)(address, size, 0, handle, 0) })?;
        memory.mapped = true;
        let access: Vec<_> = users.iter().map(|device| Access::of(*device)).collect();
        // SAFETY: it is mapped; the list is that long.
        let set = unsafe { (functions.set_access)(address, size, access.as_ptr(), access.len()) };
        functions.called("cuMemSetAccess", set)?;
        Ok(memory)
    }

    pub(super) fn export(&self) -> Result<OwnedFd, Box<DeviceError>> {
        let mut fd = -1;
        // SAFETY: the memory was made for descriptors.
        let made = unsafe { (self.functions.export_memory)(&raw mut fd, self.handle, POSIX_FD, 0) };
        self.functions.called("cuMemExportToShareableHandle", made)?;
        // SAFETY: the call returns a descriptor that is the caller's.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }

    /// Bytes that it has.
    pub(super) fn bytes(&self) -> u64 {
        self.size as u64
    }

    pub(super) fn address(&self) -> Address {
        self.address.unwrap_or(0)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let cuda = &self.functions;
        if let Some(address) = self.address {
            if self.mapped {
                // SAFETY: mapped with that size; no stream copies it.
                cuda.last("cuMemUnmap", unsafe { (cuda.unmap)(address, self.size) });
            }
            // SAFETY: reserved with that size.
            cuda.last("cuMemAddressFree", unsafe { (cuda.free_address)(address, self.size) });
        }
        // SAFETY: made once. A device that imported it keeps it until it frees its own memory.
        cuda.last("cuMemRelease", unsafe { (cuda.release_memory)(self.handle) });
    }
}

/// A device's slots: memory of CUDA's, and a buffer over it.
#[derive(Debug)]
struct Slots {
    memory: Memory,
    resource: DeviceResource,
}

impl Slots {
    fn new(functions: Functions, device: &Device, number: c_int, users: &[c_int], bytes: u64) -> Result<Self, Error> {
        let memory = Memory::new(functions, number, users, bytes)?;
        let fd = memory.export()?;
        let name = "copies between devices";
        let shared = &device.0;
        let size = memory.bytes();
        let info = SharedMemoryInfo { origin: shared.origin(), size, memory_type: shared.shared_type(name)? };
        // SAFETY: CUDA made it on this device, that large; the device's driver is CUDA's.
        let block = unsafe { device.import_memory(name, fd.as_fd(), &info) }?;
        let resource = block.buffer(name, bytes, SharedPlace { offset: Some(0), ..SharedPlace::default() })?;
        Ok(Self { memory, resource })
    }

    fn buffer(&self) -> vk::Buffer {
        match self.resource.physical().raw {
            Raw::Buffer(buffer) => buffer,
            Raw::Image(_) => vk::Buffer::null(),
        }
    }

    /// Whether it belongs to no queue family.
    fn concurrent(&self) -> bool {
        self.resource.physical().concurrent
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct CudaPair {
    made: ManuallyDrop<Made>,
}

/// In the order in which it goes.
#[derive(Debug)]
struct Made {
    stream: Stream,
    /// By the first device: a slot is filled.
    filled: Timeline,
    /// By CUDA, for the first device: a slot was copied.
    left: Timeline,
    /// By CUDA, for the second device.
    come: Timeline,
    /// By the second device: a slot is empty again.
    emptied: Timeline,
    from: Slots,
    to: Slots,
    _contexts: [Arc<Context>; 2],
}

impl CudaPair {
    /// Slots of `bytes` in all on either device.
    ///
    /// # Errors
    /// `RG-E102` if CUDA does not know a device or reaches none from the other, or a device shares nothing; else what
    /// CUDA or a driver says. What was made is given back.
    pub(super) fn new(cuda: Cuda, from: &Device, to: &Device, bytes: u64) -> Result<Self, Error> {
        let functions = cuda.functions;
        let users = reachable(cuda, &[from, to])?;
        let [first, second] = [users[0], *users.last().unwrap_or(&users[0])];
        let contexts = [Context::retain(functions, first)?, Context::retain(functions, second)?];
        let context = &contexts[0];
        let stream = Stream::new(context)?;
        let timeline = |device| Timeline::new(context, device, cuda.timeline);
        let (filled, left, come, emptied) = (timeline(from)?, timeline(from)?, timeline(to)?, timeline(to)?);
        let from = Slots::new(functions, from, first, &users, bytes)?;
        let to = Slots::new(functions, to, second, &users, bytes)?;
        let made = Made { stream, filled, left, come, emptied, from, to, _contexts: contexts };
        Ok(Self { made: ManuallyDrop::new(made) })
    }

    /// The buffer of the device that fills the slots, and what orders its copy number `number` into a slot that CUDA
    /// copied last with number `before`.
    pub(super) fn filling(&self, number: u64, before: Option<u64>) -> (vk::Buffer, Outside) {
        let Made { filled, left, from, .. } = &*self.made;
        let waits = before.into_iter().map(|before| left.reaches(before)).collect();
        let signals = vec![(filled.semaphore.handle(), number)];
        (from.buffer(), Outside { waits, signals, concurrent: Some(from.concurrent()) })
    }

    /// The buffer of the device that empties the slots, and what orders its copy number `number`.
    pub(super) fn emptying(&self, number: u64) -> (vk::Buffer, Outside) {
        let Made { come, emptied, to, .. } = &*self.made;
        let (waits, signals) = (vec![come.reaches(number)], vec![(emptied.semaphore.handle(), number)]);
        (to.buffer(), Outside { waits, signals, concurrent: Some(to.concurrent()) })
    }

    /// Copies some bytes of the slots when they are filled, which is submitted, and when copy number `before` out of
    /// them is over, which is submitted too.
    ///
    /// # Errors
    /// What CUDA says. Then nothing is signalled.
    pub(super) fn copy(&self, number: u64, before: Option<u64>, at: u64, bytes: u64) -> Result<(), Error> {
        let Made { stream, filled, left, come, emptied, from, to, .. } = &*self.made;
        let (mut objects, mut values) = (vec![filled.imported], vec![driver::Wait::of(number)]);
        if let Some(before) = before {
            objects.push(emptied.imported);
            values.push(driver::Wait::of(before));
        }
        let signalled = [left.imported, come.imported];
        let signals = [driver::Signal::of(number); 2];
        let copied = stream.context.within(|cuda| {
            // SAFETY: the lists are that long, and their objects live.
            let waits = unsafe { (cuda.wait)(objects.as_ptr(), values.as_ptr(), objects.len() as u32, stream.object) };
            cuda.called("cuWaitExternalSemaphoresAsync", waits)?;
            let (source, target) = (from.memory.address() + at, to.memory.address() + at);
            // SAFETY: the slots are mapped for both devices and that large.
            let copy = unsafe { (cuda.copy)(target, source, bytes as usize, stream.object) };
            cuda.called("cuMemcpyDtoDAsync_v2", copy)?;
            // SAFETY: as above.
            let signal = unsafe { (cuda.signal)(signalled.as_ptr(), signals.as_ptr(), 2, stream.object) };
            cuda.called("cuSignalExternalSemaphoresAsync", signal)
        });
        copied.map_err(Error::from)
    }

    /// Waits until CUDA has nothing to do; `false`: it failed, or does not come to an end.
    pub(super) fn drain(&self) -> bool {
        let Made { stream, .. } = &*self.made;
        let begin = Instant::now();
        loop {
            let mut over = 0;
            let asked = stream.context.within(|cuda| {
                // SAFETY: the stream lives.
                over = unsafe { (cuda.query_stream)(stream.object) };
                if over == NOT_READY { Ok(()) } else { cuda.called("cuStreamQuery", over) }
            });
            if let Err(error) = asked {
                log::warn!("{}", error.message);
                return false;
            }
            if over == 0 || begin.elapsed() > PATIENCE {
                return over == 0;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    fn is_ours(&self) -> bool {
        self.made.from.resource.physical().shared.is_ours()
    }
}

impl Drop for CudaPair {
    fn drop(&mut self) {
        // What a stream may still use stays, and so does what a forked child has a copy of.
        if self.is_ours() && self.drain() {
            // SAFETY: taken once, here.
            unsafe { ManuallyDrop::drop(&mut self.made) };
        }
    }
}
