//! Mutations of cases that are made of chunks: one of them removed, doubled or exchanged, besides what libFuzzer does
//! with single bytes.

use rgraph_check::generate::CHUNK;

/// Changes the first `size` bytes of `data` as `seed` says; returns how many there are then, or `None` where bytes
/// should be changed one by one instead.
pub fn mutate(data: &mut [u8], size: usize, seed: u32) -> Option<usize> {
    let count = size / CHUNK;
    let (at, other) = ((seed >> 8) as usize % count.max(1), (seed >> 16) as usize % count.max(1));
    let range = |at: usize| at * CHUNK..(at + 1) * CHUNK;
    match seed % 8 {
        0 if count > 2 => {
            data.copy_within((at + 1) * CHUNK..size, at * CHUNK);
            Some(size - CHUNK)
        }
        1 if count > 1 && size + CHUNK <= data.len() => {
            data.copy_within(at * CHUNK..size, (at + 1) * CHUNK);
            Some(size + CHUNK)
        }
        2 if count > 2 && at != other => {
            let (low, high) = (at.min(other), at.max(other));
            let (head, tail) = data.split_at_mut(high * CHUNK);
            head[range(low)].swap_with_slice(&mut tail[..CHUNK]);
            Some(size)
        }
        _ => None,
    }
}
