//! The functions of CUDA's driver by which memory goes from GPU to GPU, loaded at run time.
//!
//! Source: CUDA Driver API reference, "Virtual Memory Management" and "External Resource Interoperability".

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use crate::error::{Code, DeviceError};

/// The driver's library; `RGRAPH_CUDA` names another.
const LIBRARY: &str = "libcuda.so.1";

/// What `RGRAPH_CUDA` says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Wish {
    /// `off`, or nothing: no CUDA.
    Off,
    /// `on`, or the name of a library.
    On(String),
}

impl Wish {
    pub(crate) fn of_environment() -> Self {
        Self::of(std::env::var("RGRAPH_CUDA").ok().as_deref())
    }

    fn of(setting: Option<&str>) -> Self {
        match setting.unwrap_or("") {
            "" | "off" | "0" => Self::Off,
            "on" | "1" => Self::On(LIBRARY.to_owned()),
            path => Self::On(path.to_owned()),
        }
    }
}

/// An opaque object of CUDA's: a context, a stream, a semaphore.
pub(crate) type Object = *mut c_void;
/// An address of a device.
pub(crate) type Address = u64;
/// Memory without an address.
pub(crate) type Memory = u64;

/// The call is not over yet.
pub(crate) const NOT_READY: c_int = 600;
/// A stream that does not wait for the default stream.
pub(crate) const NON_BLOCKING: c_uint = 1;
/// A file descriptor, as `CUmemAllocationHandleType`.
pub(crate) const POSIX_FD: c_int = 1;
/// A timeline's file descriptor, as `CUexternalSemaphoreHandleType`.
pub(crate) const TIMELINE_FD: c_int = 9;

/// `CUmemLocation` of a device.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Location {
    kind: c_int,
    pub device: c_int,
}

impl Location {
    fn device(device: c_int) -> Self {
        Self { kind: 1, device }
    }
}

/// `CUmemAllocationProp`: plain pinned memory of a device, which is exported as a file descriptor.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryKind {
    kind: c_int,
    handles: c_int,
    pub location: Location,
    windows: *const c_void,
    flags: [u8; 8],
}

impl MemoryKind {
    pub(super) fn of(device: c_int) -> Self {
        let location = Location::device(device);
        Self { kind: 1, handles: POSIX_FD, location, windows: std::ptr::null(), flags: [0; 8] }
    }
}

/// `CUmemAccessDesc`: a device reads and writes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub location: Location,
    flags: c_int,
}

impl Access {
    pub(super) fn of(device: c_int) -> Self {
        Self { location: Location::device(device), flags: 3 }
    }
}

/// `CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC` of a file descriptor.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct SemaphoreHandle {
    pub kind: c_int,
    pub fd: i64,
    windows: u64,
    flags: c_uint,
    reserved: [c_uint; 16],
}

impl SemaphoreHandle {
    pub(super) fn timeline(fd: c_int) -> Self {
        Self { kind: TIMELINE_FD, fd: i64::from(fd), windows: 0, flags: 0, reserved: [0; 16] }
    }
}

/// `CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS` of a timeline.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signal {
    pub value: u64,
    others: [u64; 2],
    reserved: [c_uint; 12],
    flags: c_uint,
    more: [c_uint; 16],
}

impl Signal {
    pub(super) fn of(value: u64) -> Self {
        Self { value, others: [0; 2], reserved: [0; 12], flags: 0, more: [0; 16] }
    }
}

/// `CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS` of a timeline.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    pub value: u64,
    others: [u64; 3],
    reserved: [c_uint; 10],
    flags: c_uint,
    more: [c_uint; 16],
}

impl Wait {
    pub(super) fn of(value: u64) -> Self {
        Self { value, others: [0; 3], reserved: [0; 10], flags: 0, more: [0; 16] }
    }
}

/// Declares the functions, and how they are found.
macro_rules! functions {
    ($($field:ident = $name:literal: ($($argument:ty),*);)*) => {
        /// The functions that are used; each returns 0, or what went wrong.
        #[derive(Clone, Copy)]
        pub(crate) struct Functions {
            $(pub $field: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl Functions {
            /// Takes each function from `find`; the name of the first one that is not there.
            ///
            /// # Safety
            /// What is found are CUDA's functions of these names.
            unsafe fn found(find: impl Fn(&CStr) -> *mut c_void) -> Result<Self, &'static CStr> {
                Ok(Self {
                    $($field: {
                        let found = find($name);
                        if found.is_null() {
                            return Err($name);
                        }
                        // SAFETY: the caller's: a function of that name has this type (CUDA Driver API).
                        unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) -> c_int>(found) }
                    },)*
                })
            }
        }
    };
}

functions! {
    init = c"cuInit": (c_uint);
    device_count = c"cuDeviceGetCount": (*mut c_int);
    device = c"cuDeviceGet": (*mut c_int, c_int);
    device_uuid = c"cuDeviceGetUuid": (*mut [u8; 16], c_int);
    can_access_peer = c"cuDeviceCanAccessPeer": (*mut c_int, c_int, c_int);
    retain_context = c"cuDevicePrimaryCtxRetain": (*mut Object, c_int);
    release_context = c"cuDevicePrimaryCtxRelease_v2": (c_int);
    push_context = c"cuCtxPushCurrent_v2": (Object);
    pop_context = c"cuCtxPopCurrent_v2": (*mut Object);
    granularity = c"cuMemGetAllocationGranularity": (*mut usize, *const MemoryKind, c_int);
    create_memory = c"cuMemCreate": (*mut Memory, usize, *const MemoryKind, u64);
    release_memory = c"cuMemRelease": (Memory);
    export_memory = c"cuMemExportToShareableHandle": (*mut c_int, Memory, c_int, u64);
    reserve_address = c"cuMemAddressReserve": (*mut Address, usize, usize, Address, u64);
    free_address = c"cuMemAddressFree": (Address, usize);
    map = c"cuMemMap": (Address, usize, usize, Memory, u64);
    unmap = c"cuMemUnmap": (Address, usize);
    set_access = c"cuMemSetAccess": (Address, usize, *const Access, usize);
    import_semaphore = c"cuImportExternalSemaphore": (*mut Object, *const SemaphoreHandle);
    destroy_semaphore = c"cuDestroyExternalSemaphore": (Object);
    signal = c"cuSignalExternalSemaphoresAsync": (*const Object, *const Signal, c_uint, Object);
    wait = c"cuWaitExternalSemaphoresAsync": (*const Object, *const Wait, c_uint, Object);
    create_stream = c"cuStreamCreate": (*mut Object, c_uint);
    query_stream = c"cuStreamQuery": (Object);
    destroy_stream = c"cuStreamDestroy_v2": (Object);
    copy = c"cuMemcpyDtoDAsync_v2": (Address, Address, usize, Object);
    error_name = c"cuGetErrorName": (c_int, *mut *const c_char);
}

impl std::fmt::Debug for Functions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Functions").finish_non_exhaustive()
    }
}

impl Functions {
    /// Opens the driver, which stays loaded, and begins with it.
    ///
    /// # Errors
    /// `RG-E102` if there is none, or it lacks a function; `RG-E121` if it has no GPU.
    pub(super) fn open(wish: &Wish) -> Result<Self, Box<DeviceError>> {
        let Wish::On(path) = wish else {
            let help = "set RGRAPH_CUDA=on";
            return Err(Box::new(DeviceError::new(Code::Missing, "CUDA is switched off", help)));
        };
        let missing = |message: String| Box::new(DeviceError::new(Code::Missing, message, "install NVIDIA's driver"));
        let find = library(path).map_err(|why| missing(format!("no CUDA driver found: {why}")))?;
        // SAFETY: the library is the one that the user named as CUDA's driver.
        let found = unsafe { Self::found(find) };
        let functions = found.map_err(|name| missing(format!("the CUDA driver has no {}", name.to_string_lossy())))?;
        functions.begin()?;
        Ok(functions)
    }

    /// Initialises it. More than once is no harm.
    pub(super) fn begin(&self) -> Result<(), Box<DeviceError>> {
        // SAFETY: 0 is the only flag.
        self.called("cuInit", unsafe { (self.init)(0) })
    }

    /// A result that is not 0 is an error.
    pub(super) fn called(&self, call: &str, result: c_int) -> Result<(), Box<DeviceError>> {
        if result == 0 {
            return Ok(());
        }
        let mut name = std::ptr::null();
        // SAFETY: the name is a constant of the driver's, if it knows the number.
        let known = unsafe { (self.error_name)(result, &raw mut name) } == 0 && !name.is_null();
        // SAFETY: as above; a terminated string.
        let name = if known { unsafe { CStr::from_ptr(name) }.to_string_lossy() } else { "unknown error".into() };
        let help = "see the errors of the CUDA driver API, or set RGRAPH_CUDA=off";
        Err(Box::new(DeviceError::new(Code::Failed, format!("{call} returned {result} ({name})"), help)))
    }

    /// Calls a function that gives something back, where nobody is left to hear an error.
    pub(super) fn last(&self, call: &str, result: c_int) {
        if let Err(error) = self.called(call, result) {
            log::warn!("{}", error.message);
        }
    }

    /// The device of a UUID.
    ///
    /// # Errors
    /// `RG-E102` if CUDA has no such GPU.
    pub(super) fn device_of(&self, name: &str, uuid: [u8; 16]) -> Result<c_int, Box<DeviceError>> {
        let mut count = 0;
        // SAFETY: the result is written to a local.
        self.called("cuDeviceGetCount", unsafe { (self.device_count)(&raw mut count) })?;
        for ordinal in 0..count {
            let (mut device, mut known) = (0, [0; 16]);
            // SAFETY: as above.
            self.called("cuDeviceGet", unsafe { (self.device)(&raw mut device, ordinal) })?;
            // SAFETY: as above.
            self.called("cuDeviceGetUuid", unsafe { (self.device_uuid)(&raw mut known, device) })?;
            if known == uuid {
                return Ok(device);
            }
        }
        let message = format!("CUDA does not know {name}: no GPU of its {count} has that UUID");
        Err(Box::new(DeviceError::new(Code::Missing, message, "look at CUDA_VISIBLE_DEVICES")))
    }
}

/// How functions of a library are found; or why it cannot be opened. It stays loaded.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn library(path: &str) -> Result<impl Fn(&CStr) -> *mut c_void, String> {
    let name = std::ffi::CString::new(path).map_err(|_| "its name has a zero".to_owned())?;
    // SAFETY: the user names the library; a driver's initialisers are sound.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if handle.is_null() {
        // SAFETY: the text is the linker's for this thread until its next call.
        let text = unsafe { libc::dlerror() };
        // SAFETY: as above; not null behind an error.
        let text = if text.is_null() { path.into() } else { unsafe { CStr::from_ptr(text) }.to_string_lossy() };
        return Err(text.into_owned());
    }
    // SAFETY: the handle is never closed.
    Ok(move |name: &CStr| unsafe { libc::dlsym(handle, name.as_ptr()) })
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn library(path: &str) -> Result<impl Fn(&CStr) -> *mut c_void, String> {
    Err::<fn(&CStr) -> *mut c_void, _>(format!("{path} is loaded on Linux only"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structs_have_the_sizes_of_the_drivers() {
        assert_eq!(size_of::<MemoryKind>(), 32);
        assert_eq!(size_of::<Access>(), 12);
        assert_eq!(size_of::<SemaphoreHandle>(), 96);
        assert_eq!((size_of::<Signal>(), size_of::<Wait>()), (144, 144));
    }

    #[test]
    fn the_environment_switches_cuda_off_and_on_and_names_its_library() {
        let on = |name: &str| Wish::On(name.to_owned());
        assert_eq!(Wish::of(None), Wish::Off);
        assert_eq!([Wish::of(Some("off")), Wish::of(Some("0"))], [Wish::Off, Wish::Off]);
        assert_eq!([Wish::of(Some("on")), Wish::of(Some("1"))], [on(LIBRARY), on(LIBRARY)]);
        assert_eq!(Wish::of(Some("/opt/libcuda.so")), on("/opt/libcuda.so"));
    }

    #[test]
    fn a_driver_that_is_not_there_or_lacks_functions_is_named() {
        let error = Functions::open(&Wish::On("libcuda_that_is_not_there.so.1".to_owned())).expect_err("it is not");
        assert!(error.message.contains("no CUDA driver found: libcuda_that_is_not_there.so.1"), "{}", error.message);
        let error = Functions::open(&Wish::On("libc.so.6".to_owned())).expect_err("it is another library");
        assert_eq!(error.message, "the CUDA driver has no cuInit");
        let error = Functions::open(&Wish::Off).expect_err("it is off");
        assert_eq!((error.code, &*error.message), (Code::Missing, "CUDA is switched off"));
    }
}
