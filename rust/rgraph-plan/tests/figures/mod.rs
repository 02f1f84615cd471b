//! What single stages decide and what their searches cost, summed over random input. The sums are kept in tables
//! beside these files; a hash at the end of each row shows changes that cost as much as before.

mod answers;
mod orders;
mod placements;

use xxhash_rust::xxh3::xxh3_64;

/// Takes one more result into the hash of a row.
fn mix(hash: &mut u64, result: &str) {
    *hash = hash.rotate_left(1) ^ xxh3_64(result.as_bytes());
}
