//! The calling thread's own time.

/// Microseconds that this thread has run: other threads that take its core do not count.
#[cfg(target_os = "linux")]
pub fn thread_us() -> f64 {
    #[repr(C)]
    struct Time {
        seconds: i64,
        nanoseconds: i64,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: i32, time: *mut Time) -> i32;
    }
    const CLOCK_THREAD_CPUTIME_ID: i32 = 3;
    let mut time = Time { seconds: 0, nanoseconds: 0 };
    // SAFETY: the C library's function fills the structure, laid out as on 64-bit Linux.
    unsafe { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.seconds as f64 * 1e6 + time.nanoseconds as f64 / 1e3
}

/// Microseconds since the first call; this system has no clock that the bench knows for less.
#[cfg(not(target_os = "linux"))]
pub fn thread_us() -> f64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed().as_secs_f64() * 1e6
}
