//! Memory of CUDA that torch's pluggable allocator splits: `rgraph_cuda_alloc` and `rgraph_cuda_free`. torch calls them
//! while it holds its allocator's lock, so they take no lock of the interpreter's.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

/// Alignment of what is allocated, as of torch's own segments.
const ALIGNMENT: usize = 512;

/// A range of addresses of a CUDA device, and its used bytes by offset.
struct Arena {
    device: c_int,
    base: usize,
    size: usize,
    used: BTreeMap<usize, usize>,
    /// Whether nothing more is allocated there.
    closed: bool,
}

static ARENAS: Mutex<Vec<Arena>> = Mutex::new(Vec::new());

fn arenas() -> MutexGuard<'static, Vec<Arena>> {
    ARENAS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Arena {
    /// The first free bytes of that size. O(used).
    fn take(&mut self, size: usize) -> Option<usize> {
        let size = size.max(1).checked_next_multiple_of(ALIGNMENT)?;
        let mut start = 0;
        for (&first, &bytes) in &self.used {
            if first - start >= size {
                break;
            }
            start = first + bytes;
        }
        if size > self.size - start {
            return None;
        }
        self.used.insert(start, size);
        Some(self.base + start)
    }
}

/// Allocates of an arena of the device; null: none has so much left.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn rgraph_cuda_alloc(size: isize, device: c_int, _stream: *mut c_void) -> *mut c_void {
    let Ok(size) = usize::try_from(size) else { return std::ptr::null_mut() };
    let mut arenas = arenas();
    let found =
        arenas.iter_mut().filter(|arena| arena.device == device && !arena.closed).find_map(|arena| arena.take(size));
    found.map_or(std::ptr::null_mut(), |address| address as *mut c_void)
}

/// Frees what [`rgraph_cuda_alloc`] returned.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn rgraph_cuda_free(pointer: *mut c_void, _size: isize, _device: c_int, _stream: *mut c_void) {
    let address = pointer as usize;
    for arena in arenas().iter_mut() {
        if let Some(offset) = address.checked_sub(arena.base).filter(|offset| *offset < arena.size) {
            arena.used.remove(&offset);
        }
    }
}

/// Lets torch's allocator have a range of addresses.
#[pyfunction]
pub(crate) fn _arena_open(device: i32, base: usize, size: usize) {
    arenas().push(Arena { device, base, size, used: BTreeMap::new(), closed: false });
}

/// Takes it back: nothing more is allocated there; false: some of it is still used.
#[pyfunction]
pub(crate) fn _arena_close(base: usize) -> bool {
    let mut arenas = arenas();
    arenas.iter_mut().filter(|arena| arena.base == base).for_each(|arena| arena.closed = true);
    arenas.retain(|arena| arena.base != base || !arena.used.is_empty());
    arenas.iter().all(|arena| arena.base != base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn torch_gets_disjoint_memory_of_its_device() {
        let (base, null) = (1 << 40, std::ptr::null_mut());
        _arena_open(91, base, 4096);
        let take = |size, device| rgraph_cuda_alloc(size, device, null) as usize;
        assert_eq!([take(1000, 91), take(1, 91), take(2048, 91)], [base, base + 1024, base + 1536]);
        assert_eq!([take(1000, 91), take(1, 92), take(-1, 91)], [0; 3], "used up, another device, no size");
        rgraph_cuda_free((base + 1024) as *mut c_void, 1, 91, null);
        assert_eq!(take(512, 91), base + 1024, "a hole");
        assert!(!_arena_close(base), "in use");
        assert_eq!(take(1, 91), 0, "closed");
        for offset in [0, 1024, 1536] {
            rgraph_cuda_free((base + offset) as *mut c_void, 0, 91, null);
        }
        assert!(_arena_close(base));
        assert_eq!(take(1, 91), 0);
    }
}
