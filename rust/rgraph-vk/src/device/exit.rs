//! The exit of a process. The libraries of a driver register functions for it (C, `atexit`) which may never return: in
//! a forked child they wait for threads that only the parent has, and behind work that never ends they wait for that
//! work.

use std::time::Duration;

use crate::device::open::wait_for_open_devices;
use crate::device::process::{is_fork_of_user, is_left_at_work};

/// Prepares the exit of the process, whose other threads do not use devices any more: waits until the open devices have
/// done all that was submitted and those that threads destroy are destroyed, but no longer than `timeout`. If they have
/// not or are not, or if the process is the fork of one that had devices, `exit` skips all functions that were
/// registered for it until now: it writes out the streams of C, and the process ends with its status. Nothing is
/// destroyed, and errors are left to those who use the devices.
///
/// Only glibc can skip them (`on_exit`, Linux manual, section 3); elsewhere the driver is trusted.
pub fn prepare_exit(timeout: Duration) {
    if is_fork_of_user() || !wait_for_open_devices(timeout) || is_left_at_work() {
        skip_functions();
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn skip_functions() {
    use std::ffi::{c_int, c_void};

    unsafe extern "C" {
        fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    }

    extern "C" fn end(status: c_int, _argument: *mut c_void) {
        // SAFETY: null means all streams; `_exit` returns to nobody.
        unsafe {
            libc::fflush(std::ptr::null_mut());
            libc::_exit(status)
        }
    }

    // SAFETY: a function of this library, which stays loaded until the process ends: a module of Python is never
    // unloaded. Those that are registered later are called before it.
    if unsafe { on_exit(end, std::ptr::null_mut()) } != 0 {
        log::error!("the driver may keep the process from ending: no function can be registered for its exit");
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn skip_functions() {}
