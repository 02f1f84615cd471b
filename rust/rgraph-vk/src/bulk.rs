//! Copies of many bytes within the host's memory.

use std::thread::{available_parallelism, scope};

/// Bytes from which on a copy is worth further threads.
pub(crate) const PARALLEL_BYTES: usize = 8 << 20;
/// Most threads of a copy: four fill the link of a PCIe 5 card.
const MOST_THREADS: usize = 4;

/// Threads that copy together: half of the processor's, so that the caller's own work goes on; one for a few bytes.
pub(crate) fn threads(bytes: usize) -> usize {
    if bytes < PARALLEL_BYTES {
        return 1;
    }
    available_parallelism().map_or(1, |all| all.get() / 2).clamp(1, MOST_THREADS)
}

/// Copies `from` to `to`, on several threads where that is faster.
///
/// # Panics
/// If the lengths differ.
pub fn copy(to: &mut [u8], from: &[u8]) {
    assert_eq!(to.len(), from.len(), "as many bytes as there is room for");
    let share = from.len().div_ceil(threads(from.len())).next_multiple_of(4096).max(4096);
    scope(|scope| {
        let mut pairs = to.chunks_mut(share).zip(from.chunks(share));
        let own = pairs.next();
        for (to, from) in pairs {
            scope.spawn(move || to.copy_from_slice(from));
        }
        if let Some((to, from)) = own {
            to.copy_from_slice(from);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_copied_whatever_the_number_of_threads() {
        for length in [0, 1, 4096, PARALLEL_BYTES - 1, PARALLEL_BYTES + 4097] {
            let from: Vec<u8> = (0..length).map(|at| (at * 7 + at / 4096) as u8).collect();
            let mut to = vec![0; length];
            copy(&mut to, &from);
            assert!(to == from, "{length} bytes");
        }
    }
}
