//! Values of the runtime, as Python objects own them. What is made of a device may wait, join or destroy when it is
//! called or dropped, and Python drops at any moment: in a garbage collection, at the end of the interpreter, in a
//! forked child. [`Detached`] is the only way to own such a value here, so none of that can be forgotten:
//! - it is called only by closures of [`call`] and [`wait`], which run without the interpreter's lock: they alone get
//!   a [`Free`], and [`Detached::get`] asks for it;
//! - what those closures return is [`Plain`], or owned by a `Detached` too before anything else happens;
//! - it is dropped without the interpreter's lock, and the drop waits for nothing: a device that is still at work ends
//!   on
//!   a thread of its own;
//! - a forked child gets RG-E105 in place of the value, and never drops it.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::time::{Duration, Instant};

use ash::vk::Handle;
use pyo3::ffi;
use pyo3::prelude::*;
use rgraph_plan::error::Code;
use rgraph_plan::graph::Ranges;
use rgraph_plan::plan::{Plan, PlanKind};
use rgraph_plan::profile::Profile;
use rgraph_plan::resource::ResourceId;
use rgraph_vk::{
    BinarySemaphore, BorrowedHandle, CLOSE_PATIENCE, ChaosReport, Compiled, CompiledDevices, CopyPrice, Device,
    DeviceError, DeviceInfo, DeviceResource, Devices, DevicesFrame, Error, Fence, Frame, FrameReport, Inputs, Locked,
    MemoryReport, Patience, Preparation, Process, Readback, Replay, ResourceState, Semaphore, SharedMemory,
    SharedMemoryInfo,
};

use crate::run::ending;
use crate::run::error::guarded;
use crate::run::logging;
use crate::run::patient::patiently;
use crate::run::runtime_errors::raised;

/// How long a wait goes on before signals are looked at.
const SLICE: Duration = Duration::from_millis(50);

/// This thread runs without the interpreter's lock.
pub struct Free<'a>(PhantomData<(&'a (), *const ())>);

/// A result that owns nothing of a device: dropping it neither waits nor destroys.
pub(crate) trait Plain: Send {}

impl Plain for () {}
impl Plain for bool {}
impl Plain for u64 {}
impl Plain for Vec<DeviceInfo> {}
impl Plain for Vec<String> {}
impl Plain for FrameReport {}
impl Plain for Vec<FrameReport> {}
impl Plain for CopyPrice {}
impl Plain for ChaosReport {}
impl Plain for MemoryReport {}
impl Plain for ResourceState {}

/// The device that a value is of, or the devices.
#[derive(Clone)]
enum Owner {
    One(Device),
    Several(Devices),
}

/// A value of the runtime, and the device that it is of.
pub struct Detached<T: Send + 'static> {
    value: ManuallyDrop<T>,
    owner: ManuallyDrop<Owner>,
    process: Process,
}

impl<T: Send> Detached<T> {
    /// The value, where the interpreter's lock is not held.
    ///
    /// # Errors
    /// RG-E105 in a forked child.
    pub fn get<'a>(&'a self, _: &Free<'a>) -> Result<&'a T, Error> {
        self.process.check()?;
        Ok(&self.value)
    }

    /// Makes a further value of the same device.
    pub fn make<U: Send>(
        &self,
        py: Python<'_>,
        make: impl FnOnce(&T, &Free<'_>) -> Result<U, Error> + Send,
    ) -> PyResult<Detached<U>>
    where
        T: Sync,
    {
        let made = guarded(py, || {
            let free = Free(PhantomData);
            make(self.get(&free)?, &free).map(|value| self.of_same_owner(value))
        });
        delivered(py, made)
    }

    fn of_same_owner<U: Send>(&self, value: U) -> Detached<U> {
        let owner = ManuallyDrop::new(Owner::clone(&self.owner));
        Detached { value: ManuallyDrop::new(value), owner, process: self.process }
    }
}

impl Detached<Device> {
    /// Opens a device.
    pub fn open(py: Python<'_>, open: impl FnOnce() -> Result<Device, Error> + Send) -> PyResult<Self> {
        let opened = guarded(py, || {
            let device = open()?;
            let value = ManuallyDrop::new(device.clone());
            let owner = ManuallyDrop::new(Owner::One(device));
            Ok(Self { value, owner, process: Process::current() })
        });
        delivered(py, opened)
    }
}

impl Detached<Devices> {
    /// Takes open devices together.
    pub fn of(py: Python<'_>, devices: &[&Detached<Device>]) -> PyResult<Self> {
        let made = guarded(py, || {
            let free = Free(PhantomData);
            let list = devices.iter().map(|device| device.get(&free).cloned()).collect::<Result<_, _>>()?;
            let devices = Devices::new(list)?;
            let owner = ManuallyDrop::new(Owner::Several(devices.clone()));
            Ok(Self { value: ManuallyDrop::new(devices), owner, process: Process::current() })
        });
        delivered(py, made)
    }
}

impl<T: Send + Clone> Detached<T> {
    /// As [`Detached::make`], for work of seconds that nothing can stop: Ctrl-C ends the wait for it, and the device
    /// goes on with it in the background.
    pub fn make_patiently<U: Send + 'static>(
        &self,
        py: Python<'_>,
        make: impl FnOnce(&T) -> Result<U, Error> + Send + 'static,
    ) -> PyResult<Detached<U>> {
        // The thread owns values of the runtime alone, so that its end never needs the interpreter.
        let (of, process) = (T::clone(&self.value), self.process);
        let work = move || {
            let _inside = ending::enter();
            process.check()?;
            make(&of)
        };
        let made = patiently(py, work).map(|made| made.map(|value| self.of_same_owner(value)));
        delivered(py, made)
    }
}

impl Detached<Device> {
    /// As [`Detached::make_patiently`], with a compiled graph that the work goes on from.
    pub fn make_after<U: Send + 'static>(
        &self,
        py: Python<'_>,
        previous: Option<&Detached<Compiled>>,
        make: impl FnOnce(&Device, Option<&Compiled>) -> Result<U, Error> + Send + 'static,
    ) -> PyResult<Detached<U>> {
        // The caller's own outlives this copy, or its drop is the thread's.
        let previous = previous.map(|previous| Compiled::clone(&previous.value));
        self.make_patiently(py, move |device| make(device, previous.as_ref()))
    }

    /// As [`Detached::make_after`], in the background.
    pub fn prepare(
        &self,
        py: Python<'_>,
        previous: Option<&Detached<Compiled>>,
        compile: impl FnOnce(&Device, Option<&Compiled>) -> Result<Compiled, Error> + Send + 'static,
    ) -> PyResult<Detached<Preparation>> {
        let previous = previous.map(|previous| Compiled::clone(&previous.value));
        self.make(py, |device, _| {
            let (preparation, task) = device.preparation(move |device| compile(device, previous.as_ref()))?;
            let run = move || {
                let _inside = ending::enter();
                task.run();
            };
            let thread = std::thread::Builder::new().name("rgraph prepare".to_owned()).spawn(run);
            thread
                .map_err(|error| DeviceError::new(Code::Failed, format!("no thread: {error}"), "compile it at once"))?;
            Ok(preparation)
        })
    }
}

impl<T: Send + Clone> Clone for Detached<T> {
    fn clone(&self) -> Self {
        self.of_same_owner(T::clone(&self.value))
    }
}

impl<T: Send> Drop for Detached<T> {
    fn drop(&mut self) {
        if !self.process.is_current() {
            // The parent's: its threads are not here, and its locks may be held for ever.
            return;
        }
        // SAFETY: both are taken here only.
        let (value, owner) = unsafe { (ManuallyDrop::take(&mut self.value), ManuallyDrop::take(&mut self.owner)) };
        unlocked(move || {
            drop(value);
            match owner {
                Owner::One(device) => end(device),
                Owner::Several(devices) => {
                    let list = devices.list().to_vec();
                    drop(devices);
                    list.into_iter().for_each(end);
                }
            }
        });
    }
}

/// Drops a device. One that is at work, and that nobody else has, is waited for and destroyed by a thread. The caller's
/// own is waited for here: the caller may destroy it next.
fn end(device: Device) {
    if device.is_borrowed() || !device.drop_waits() {
        return;
    }
    let device = ManuallyDrop::new(device);
    // Where there is no thread for it the device stays until the process ends.
    let _ = std::thread::Builder::new().name("rgraph end".to_owned()).spawn(move || wait_and_drop(device));
}

/// Waits for a device, then drops it. Each slice of the wait enters the runtime again: once the process ends this
/// thread stays outside, for a driver that it asked while its libraries are destroyed would crash.
fn wait_and_drop(device: ManuallyDrop<Device>) {
    let mut patience = Patience::new(Some(CLOSE_PATIENCE));
    loop {
        let _inside = ending::enter();
        match device.is_idle_with(SLICE, &mut patience) {
            Ok(false) => {}
            // Nothing that the GPU still uses is destroyed, and the program goes on.
            Err(Error::Busy(error)) => return log::error!("a device stays until the process ends: {}", error.message),
            // One that is lost or closed is not waited for.
            Ok(true) | Err(_) => return drop(ManuallyDrop::into_inner(device)),
        }
    }
}

/// Runs `work` without the interpreter's lock. An interpreter that ends runs no other thread, so it may keep it.
fn unlocked(work: impl FnOnce() + Send) {
    let mut work = Some(work);
    // SAFETY: always safe to call.
    let alive = unsafe { ffi::Py_IsInitialized() } != 0;
    if alive {
        Python::try_attach(|py| {
            py.detach(|| {
                let _inside = ending::enter();
                work.take().map(|work| work())
            })
        });
    }
    if let Some(work) = work {
        work();
    }
}

/// Delivers messages that were logged meanwhile, then the value or the exception.
fn delivered<T>(py: Python<'_>, done: PyResult<Result<T, Error>>) -> PyResult<T> {
    let logged = logging::deliver(py);
    let value = done?.map_err(|error| raised(py, error))?;
    logged.map(|()| value)
}

/// Runs `work` without the interpreter's lock, and delivers messages that were logged meanwhile.
pub(crate) fn call<T: Plain>(py: Python<'_>, work: impl FnOnce(&Free<'_>) -> Result<T, Error> + Send) -> PyResult<T> {
    let done = guarded(py, || work(&Free(PhantomData)));
    delivered(py, done)
}

/// Waits in slices without the interpreter's lock, so that signals (Ctrl-C) are seen; `false`: the time was over
/// before.
pub(crate) fn wait(
    py: Python<'_>,
    timeout: Option<Duration>,
    wait: impl Fn(&Free<'_>, Duration) -> Result<bool, Error> + Sync,
) -> PyResult<bool> {
    let start = Instant::now();
    loop {
        let left = timeout.map(|timeout| timeout.saturating_sub(start.elapsed()));
        let slice = left.map_or(SLICE, |left| left.min(SLICE));
        if call(py, |free| wait(free, slice))? {
            return Ok(true);
        }
        py.check_signals()?;
        if timeout.is_some_and(|timeout| start.elapsed() >= timeout) {
            return Ok(false);
        }
    }
}

// What is known without asking the runtime: it waits for nothing, takes no lock, and holds in a forked child too.

impl Detached<Device> {
    /// Itself, for what waits for nothing.
    pub fn known(&self) -> &Device {
        &self.value
    }

    /// What it is.
    pub fn info(&self) -> &DeviceInfo {
        self.value.info()
    }

    /// The device as the planner sees it.
    pub fn profile(&self) -> &Profile {
        self.value.profile()
    }

    /// Whether it was closed.
    pub fn is_closed(&self) -> bool {
        self.value.is_closed()
    }

    /// Closes it as it is: refuses everything from now on.
    pub fn abandon(&self) {
        self.value.abandon();
    }
}

impl Detached<Preparation> {
    /// The preparation, to be asked for what waits for nothing.
    pub fn known(&self) -> &Preparation {
        &self.value
    }
}

impl Detached<Replay> {
    /// What a replay found, which is plain data.
    pub fn replayed(&self) -> &Replay {
        &self.value
    }
}

impl Detached<Compiled> {
    pub fn plan(&self) -> &std::sync::Arc<Plan> {
        self.value.plan()
    }
}

impl Detached<Devices> {
    /// The profiles that graphs are planned with.
    pub fn profiles(&self) -> std::sync::Arc<[Profile]> {
        self.value.profiles()
    }
}

impl Detached<CompiledDevices> {
    /// Its plan, its declaration and its parts.
    pub fn known(&self) -> &CompiledDevices {
        &self.value
    }
}

impl Detached<DevicesFrame> {
    /// What can be read: resources of the graph.
    pub fn readable(&self) -> impl Iterator<Item = ResourceId> {
        self.value.readable()
    }
}

impl Detached<Frame> {
    /// What can be read: resources of the graph, and which part of each.
    pub fn parts(&self) -> impl Iterator<Item = (ResourceId, Ranges)> {
        self.value.parts()
    }
}

impl Detached<DeviceResource> {
    pub fn name(&self) -> &str {
        self.value.name()
    }

    /// What it is.
    pub fn kind(&self) -> PlanKind {
        self.value.kind()
    }

    /// Its Vulkan handle.
    pub fn handle(&self) -> BorrowedHandle {
        self.value.handle()
    }

    /// First byte in its shared block.
    pub fn offset(&self) -> Option<u64> {
        self.value.offset()
    }
}

impl Detached<SharedMemory> {
    pub fn name(&self) -> &str {
        self.value.name()
    }

    /// Its size, type and origin.
    pub fn info(&self) -> SharedMemoryInfo {
        self.value.info()
    }
}

impl Detached<Device> {
    /// Gives back the semaphores and the fence of a run that does not happen. It waits for nothing.
    pub fn withdraw(&self, inputs: &Inputs<'_>) {
        self.value.withdraw(inputs);
    }
}

impl Detached<Semaphore> {
    /// Its Vulkan handle's number, for messages.
    pub fn shown_handle(&self) -> u64 {
        self.value.shown()
    }

    /// Its Vulkan handle, for foreign code.
    pub fn raw_handle(&self) -> u64 {
        self.value.raw().as_raw()
    }

    /// The semaphore, to be asked for what waits for nothing.
    pub fn known(&self) -> &Semaphore {
        &self.value
    }
}

impl Detached<BinarySemaphore> {
    /// Its Vulkan handle.
    pub fn raw_handle(&self) -> u64 {
        self.value.raw().as_raw()
    }

    /// The semaphore, to be asked for what waits for nothing.
    pub fn known(&self) -> &BinarySemaphore {
        &self.value
    }
}

impl Detached<Fence> {
    /// Its Vulkan handle.
    pub fn raw_handle(&self) -> u64 {
        self.value.raw().as_raw()
    }

    /// The fence, to be asked for what waits for nothing.
    pub fn known(&self) -> &Fence {
        &self.value
    }
}

impl Detached<Locked> {
    /// Its first byte, and how many there are.
    pub fn memory(&self) -> (*mut u8, usize) {
        (self.value.as_ptr(), self.value.len())
    }
}

impl Detached<Readback> {
    pub fn bytes(&self) -> &[u8] {
        self.value.bytes()
    }

    /// The bytes that were read back.
    pub fn kind(&self) -> PlanKind {
        self.value.kind()
    }

    /// Its name in the graph.
    pub fn name(&self) -> &str {
        self.value.name()
    }
}
