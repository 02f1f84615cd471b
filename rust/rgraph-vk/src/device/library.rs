//! Shared libraries that drivers bring stay loaded until the process ends.
//!
//! A loader closes a driver's libraries with the last instance. A thread that has used them may end at that moment, and
//! the C library then calls a destructor of its thread-specific data (POSIX, `pthread_key_create`) whose code is
//! unmapped: with NVIDIA's driver (580.159 on Linux), whose libEGL.so.1 registers one, 33 of 40 processes died so in
//! which threads ended while the last device closed, and none of 16 since. glibc's remedy is `RTLD_NODELETE`
//! (dlopen(3)).

/// The libraries of the process at one moment.
#[derive(Debug)]
pub(super) struct Loaded(platform::Loaded);

impl Loaded {
    /// Those that are loaded now.
    pub(super) fn now() -> Self {
        Self(platform::Loaded::now())
    }

    /// Keeps what was loaded since then.
    pub(super) fn keep_later_ones(&self) {
        self.0.keep_later_ones();
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod platform {
    use std::collections::HashSet;
    use std::ffi::{CStr, CString, c_int, c_void};

    #[derive(Debug, Default)]
    pub(super) struct Loaded {
        names: HashSet<CString>,
        /// How many libraries the process has loaded so far; those that it unloaded count too.
        count: u64,
    }

    impl Loaded {
        pub(super) fn now() -> Self {
            let mut loaded = Self::default();
            // SAFETY: the callback gets the value that this frame holds, and is called before the call returns.
            unsafe { libc::dl_iterate_phdr(Some(each), (&raw mut loaded).cast()) };
            loaded
        }

        pub(super) fn keep_later_ones(&self) {
            let now = Self::now();
            if now.count == self.count {
                return;
            }
            for name in now.names.difference(&self.names) {
                // SAFETY: the library is loaded already, so none of its initialisers runs; one that was unloaded
                // meanwhile stays so. The handle is kept for ever on purpose.
                unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE) };
            }
        }
    }

    unsafe extern "C" fn each(info: *mut libc::dl_phdr_info, _size: usize, loaded: *mut c_void) -> c_int {
        // SAFETY: the linker passes a valid description, and the value of `now`, which nobody else uses.
        let (info, loaded) = unsafe { (&*info, &mut *loaded.cast::<Loaded>()) };
        loaded.count = info.dlpi_adds;
        if !info.dlpi_name.is_null() {
            // SAFETY: a terminated string of the linker's.
            let name = unsafe { CStr::from_ptr(info.dlpi_name) };
            if !name.is_empty() {
                loaded.names.insert(name.to_owned());
            }
        }
        0
    }

    #[cfg(test)]
    mod tests {
        use std::ffi::CStr;

        use crate::device::library::platform::Loaded;

        /// A library of the C library's package that neither Rust's nor the tests' programs use.
        const LIBRARY: &CStr = c"libanl.so.1";

        fn is_loaded() -> bool {
            Loaded::now().names.iter().any(|name| name.to_string_lossy().contains("libanl"))
        }

        fn open_and_close(between: impl FnOnce()) {
            // SAFETY: its initialisers do nothing; the handle is closed once.
            unsafe {
                let handle = libc::dlopen(LIBRARY.as_ptr(), libc::RTLD_LAZY);
                assert!(!handle.is_null(), "{} can be opened", LIBRARY.to_string_lossy());
                between();
                assert_eq!(libc::dlclose(handle), 0);
            }
        }

        #[test]
        fn a_library_that_came_meanwhile_is_not_unloaded() {
            open_and_close(|| ());
            assert!(!is_loaded(), "a closed library goes");
            let before = Loaded::now();
            open_and_close(|| before.keep_later_ones());
            assert!(is_loaded(), "a kept one does not");
        }
    }
}

/// Elsewhere nothing is done: musl's linker never unloads, and no such driver is known of others.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod platform {
    #[derive(Debug)]
    pub(super) struct Loaded;

    impl Loaded {
        pub(super) fn now() -> Self {
            Self
        }

        pub(super) fn keep_later_ones(&self) {}
    }
}
