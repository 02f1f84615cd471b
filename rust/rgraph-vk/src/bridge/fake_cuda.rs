//! A fake of CUDA's driver: its memory is that of drivers on the CPU, mapped by the host, and its streams do everything
//! at once.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::cuda::Cuda;
use super::driver::{Access, Address, Functions, Memory, MemoryKind, Object, SemaphoreHandle, Signal, Wait};
use crate::device::Device;
use crate::device::semaphore::Semaphore;
use crate::error::Error;
use crate::memory::share::SharedMemory;

/// What fails says this.
pub(crate) const FAILED: c_int = 999;
const GRANULARITY: usize = 2 << 20;

#[derive(Default)]
pub(crate) struct FakeState {
    devices: Vec<Device>,
    /// Every call since this was taken.
    pub calls: Vec<&'static str>,
    /// Which of the next calls fails, from 0.
    pub fails: Option<usize>,
    /// The call that failed.
    pub failed: Option<&'static str>,
    /// Whether the devices reach each other's memory.
    pub strangers: bool,
    /// How many there are of each kind that is given back.
    held: BTreeMap<&'static str, i64>,
    memories: HashMap<Memory, SharedMemory>,
    mapped: HashMap<Address, (usize, usize)>,
    timelines: HashMap<usize, Semaphore>,
    exported: HashMap<u64, Semaphore>,
    last: u64,
}

static STATE: Mutex<Option<FakeState>> = Mutex::new(None);
static ALONE: Mutex<()> = Mutex::new(());

/// One test at a time has the fake.
pub(crate) struct FakeCuda(#[allow(dead_code, reason = "held")] MutexGuard<'static, ()>);

fn state<T>(function: impl FnOnce(&mut FakeState) -> T) -> T {
    function(STATE.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

impl FakeCuda {
    /// With these devices as CUDA's.
    pub fn new(devices: &[Device]) -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        state(|state| *state = FakeState { devices: devices.to_vec(), ..FakeState::default() });
        Self(alone)
    }

    pub fn cuda(&self) -> Cuda {
        Cuda::of(FUNCTIONS, timeline)
    }

    /// Calls a function with the locked state.
    pub fn with<T>(&self, function: impl FnOnce(&mut FakeState) -> T) -> T {
        state(function)
    }

    /// The calls since the last time.
    pub fn calls(&self) -> Vec<&'static str> {
        state(|state| std::mem::take(&mut state.calls))
    }

    /// What was made and not given back.
    pub fn held(&self) -> Vec<(&'static str, i64)> {
        state(|state| {
            state.held.iter().filter(|(_, count)| **count != 0).map(|(kind, count)| (*kind, *count)).collect()
        })
    }
}

impl Drop for FakeCuda {
    fn drop(&mut self) {
        let gone = STATE.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(gone);
    }
}

/// A timeline, and a descriptor that stands for its export: drivers on the CPU export none.
fn timeline(device: &Device) -> Result<(Semaphore, OwnedFd), Error> {
    let (semaphore, fd) = (device.semaphore(0)?, file());
    state(|state| state.exported.insert(inode(&fd), semaphore.clone()));
    Ok((semaphore, fd))
}

fn file() -> OwnedFd {
    // SAFETY: a name without meaning; the call returns a descriptor that is the caller's.
    unsafe { OwnedFd::from_raw_fd(libc::memfd_create(c"timeline".as_ptr(), 0)) }
}

fn inode(fd: &OwnedFd) -> u64 {
    File::from(fd.try_clone().expect("it is open")).metadata().expect("a file").ino()
}

impl FakeState {
    fn new_number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn hold(&mut self, kind: &'static str, count: i64) {
        *self.held.entry(kind).or_default() += count;
    }
}

/// Notes a call; does it, unless it is to fail.
fn call(name: &'static str, function: impl FnOnce(&mut FakeState) -> c_int) -> c_int {
    state(|state| {
        state.calls.push(name);
        match &mut state.fails {
            Some(0) => {
                (state.fails, state.failed) = (None, Some(name));
                return FAILED;
            }
            Some(left) => *left -= 1,
            None => {}
        }
        function(state)
    })
}

unsafe extern "C" fn init(_flags: c_uint) -> c_int {
    call("cuInit", |_| 0)
}

unsafe extern "C" fn device_count(count: *mut c_int) -> c_int {
    call("cuDeviceGetCount", |state| {
        // SAFETY: the caller's local.
        unsafe { *count = state.devices.len() as c_int };
        0
    })
}

unsafe extern "C" fn device(device: *mut c_int, ordinal: c_int) -> c_int {
    call("cuDeviceGet", |_| {
        // SAFETY: the caller's local.
        unsafe { *device = ordinal };
        0
    })
}

unsafe extern "C" fn device_uuid(uuid: *mut [u8; 16], device: c_int) -> c_int {
    call("cuDeviceGetUuid", |state| {
        // SAFETY: the caller's local.
        unsafe { *uuid = state.devices[device as usize].info().uuid };
        0
    })
}

unsafe extern "C" fn can_access_peer(can: *mut c_int, _one: c_int, _other: c_int) -> c_int {
    call("cuDeviceCanAccessPeer", |state| {
        // SAFETY: the caller's local.
        unsafe { *can = c_int::from(!state.strangers) };
        0
    })
}

/// Makes something with a number.
fn make(name: &'static str, kind: &'static str, made: *mut Object) -> c_int {
    call(name, |state| {
        state.hold(kind, 1);
        // SAFETY: the caller's local.
        unsafe { *made = state.new_number() as usize as Object };
        0
    })
}

fn give_back(name: &'static str, kind: &'static str) -> c_int {
    call(name, |state| {
        state.hold(kind, -1);
        0
    })
}

unsafe extern "C" fn retain_context(context: *mut Object, _device: c_int) -> c_int {
    make("cuDevicePrimaryCtxRetain", "context", context)
}

unsafe extern "C" fn release_context(_device: c_int) -> c_int {
    give_back("cuDevicePrimaryCtxRelease_v2", "context")
}

unsafe extern "C" fn push_context(_context: Object) -> c_int {
    call("cuCtxPushCurrent_v2", |_| 0)
}

unsafe extern "C" fn pop_context(_context: *mut Object) -> c_int {
    call("cuCtxPopCurrent_v2", |_| 0)
}

unsafe extern "C" fn granularity(bytes: *mut usize, _kind: *const MemoryKind, _option: c_int) -> c_int {
    call("cuMemGetAllocationGranularity", |_| {
        // SAFETY: the caller's local.
        unsafe { *bytes = GRANULARITY };
        0
    })
}

unsafe extern "C" fn create_memory(memory: *mut Memory, size: usize, kind: *const MemoryKind, _flags: u64) -> c_int {
    call("cuMemCreate", |state| {
        // SAFETY: the caller's local.
        let device = &state.devices[unsafe { *kind }.location.device as usize];
        if !size.is_multiple_of(GRANULARITY) {
            return 1;
        }
        let Ok(made) = device.shared_memory("of CUDA", size as u64) else { return 2 };
        let number = state.new_number();
        state.memories.insert(number, made);
        state.hold("memory", 1);
        // SAFETY: the caller's local.
        unsafe { *memory = number };
        0
    })
}

unsafe extern "C" fn release_memory(memory: Memory) -> c_int {
    call("cuMemRelease", |state| {
        state.hold("memory", -1);
        c_int::from(state.memories.remove(&memory).is_none())
    })
}

unsafe extern "C" fn export_memory(fd: *mut c_int, memory: Memory, _kind: c_int, _flags: u64) -> c_int {
    call("cuMemExportToShareableHandle", |state| {
        let Ok(exported) = state.memories[&memory].export() else { return 1 };
        // SAFETY: the caller's local.
        unsafe { *fd = exported.into_raw_fd() };
        0
    })
}

unsafe extern "C" fn reserve_address(to: *mut Address, _size: usize, _alignment: usize, _at: u64, _f: u64) -> c_int {
    call("cuMemAddressReserve", |state| {
        state.hold("address", 1);
        // SAFETY: the caller's local.
        unsafe { *to = state.new_number() << 40 };
        0
    })
}

unsafe extern "C" fn free_address(_address: Address, _size: usize) -> c_int {
    give_back("cuMemAddressFree", "address")
}

unsafe extern "C" fn map(address: Address, size: usize, _offset: usize, memory: Memory, _flags: u64) -> c_int {
    call("cuMemMap", |state| {
        let memory = &state.memories[&memory];
        let Ok(fd) = memory.export() else { return 1 };
        // Where the bytes begin in a file that lavapipe exports.
        let begin = if memory.0.shared.info.name.contains("llvmpipe") { 4096 } else { 0 };
        let (length, read_write) = (size + begin, libc::PROT_READ | libc::PROT_WRITE);
        // SAFETY: a new mapping of a file that is open.
        let mapped = unsafe {
            libc::mmap(std::ptr::null_mut(), length, read_write, libc::MAP_SHARED, fd.as_raw_fd(), 0) as usize
        };
        state.mapped.insert(address, (mapped, begin));
        state.hold("map", 1);
        0
    })
}

unsafe extern "C" fn unmap(address: Address, size: usize) -> c_int {
    call("cuMemUnmap", |state| {
        let Some((mapped, begin)) = state.mapped.remove(&address) else { return 1 };
        state.hold("map", -1);
        // SAFETY: mapped with that length.
        unsafe { libc::munmap(mapped as *mut c_void, size + begin) }
    })
}

unsafe extern "C" fn set_access(_address: Address, _size: usize, access: *const Access, count: usize) -> c_int {
    call("cuMemSetAccess", |state| {
        // SAFETY: the caller's list.
        let access = unsafe { std::slice::from_raw_parts(access, count) };
        c_int::from(!access.iter().all(|one| (one.location.device as usize) < state.devices.len()))
    })
}

unsafe extern "C" fn import_semaphore(made: *mut Object, handle: *const SemaphoreHandle) -> c_int {
    call("cuImportExternalSemaphore", |state| {
        // SAFETY: the caller's local, with a descriptor that is CUDA's from now on.
        let fd = unsafe { OwnedFd::from_raw_fd((*handle).fd as c_int) };
        let Some(semaphore) = state.exported.remove(&inode(&fd)) else { return 1 };
        let number = state.new_number() as usize;
        state.timelines.insert(number, semaphore);
        state.hold("semaphore", 1);
        // SAFETY: the caller's local.
        unsafe { *made = number as Object };
        0
    })
}

unsafe extern "C" fn destroy_semaphore(semaphore: Object) -> c_int {
    call("cuDestroyExternalSemaphore", |state| {
        state.hold("semaphore", -1);
        c_int::from(state.timelines.remove(&(semaphore as usize)).is_none())
    })
}

/// The timelines of a list, and the values of another one.
fn listed<T>(state: &FakeState, objects: *const Object, values: *const T, count: c_uint) -> Vec<(Semaphore, T)>
where
    T: Copy,
{
    // SAFETY: the caller's lists.
    let (objects, values) = unsafe {
        (std::slice::from_raw_parts(objects, count as usize), std::slice::from_raw_parts(values, count as usize))
    };
    objects.iter().zip(values).map(|(object, value)| (state.timelines[&(*object as usize)].clone(), *value)).collect()
}

unsafe extern "C" fn signal(objects: *const Object, values: *const Signal, count: c_uint, _stream: Object) -> c_int {
    call("cuSignalExternalSemaphoresAsync", |state| {
        let all = listed(state, objects, values, count);
        c_int::from(all.iter().any(|(semaphore, signal)| semaphore.signal(signal.value).is_err()))
    })
}

unsafe extern "C" fn wait(objects: *const Object, values: *const Wait, count: c_uint, _stream: Object) -> c_int {
    let mut all = Vec::new();
    let called = call("cuWaitExternalSemaphoresAsync", |state| {
        all = listed(state, objects, values, count);
        0
    });
    // What was not submitted would never come.
    let comes = |(semaphore, wait): &(Semaphore, Wait)| {
        semaphore.wait(wait.value, Some(Duration::from_secs(10))).unwrap_or(false)
    };
    if called == 0 && !all.iter().all(comes) { 1 } else { called }
}

unsafe extern "C" fn create_stream(stream: *mut Object, _flags: c_uint) -> c_int {
    make("cuStreamCreate", "stream", stream)
}

unsafe extern "C" fn query_stream(_stream: Object) -> c_int {
    call("cuStreamQuery", |_| 0)
}

unsafe extern "C" fn destroy_stream(_stream: Object) -> c_int {
    give_back("cuStreamDestroy_v2", "stream")
}

unsafe extern "C" fn copy(to: Address, from: Address, size: usize, _stream: Object) -> c_int {
    call("cuMemcpyDtoDAsync_v2", |state| {
        let place = |address: Address| {
            let (mapped, begin) = state.mapped[&(address >> 40 << 40)];
            mapped + begin + (address & ((1 << 40) - 1)) as usize
        };
        // SAFETY: both are mapped and that large.
        unsafe { std::ptr::copy_nonoverlapping(place(from) as *const u8, place(to) as *mut u8, size) };
        0
    })
}

unsafe extern "C" fn error_name(result: c_int, name: *mut *const c_char) -> c_int {
    if result != FAILED {
        return 1;
    }
    // SAFETY: the caller's local.
    unsafe { *name = c"CUDA_ERROR_UNKNOWN".as_ptr() };
    0
}

const FUNCTIONS: Functions = Functions {
    init,
    device_count,
    device,
    device_uuid,
    can_access_peer,
    retain_context,
    release_context,
    push_context,
    pop_context,
    granularity,
    create_memory,
    release_memory,
    export_memory,
    reserve_address,
    free_address,
    map,
    unmap,
    set_access,
    import_semaphore,
    destroy_semaphore,
    signal,
    wait,
    create_stream,
    query_stream,
    destroy_stream,
    copy,
    error_name,
};
