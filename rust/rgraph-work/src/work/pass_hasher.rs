//! What each pass does, by pass: ids are small numbers, and a graph that is declared for each frame looks each up a few
//! times.

use std::collections::HashMap;
use std::convert::Infallible;
use std::hash::{BuildHasherDefault, Hasher};

use rgraph_ir::graph::PassId;

use super::Work;

/// What each pass does. `R` is that of [`Work`].
pub type Works<R = Infallible> = HashMap<PassId, Work<R>, BuildHasherDefault<PassHasher>>;

/// Hashes ids of passes: a multiplication spreads neighbours over all bits (Knuth, "The Art of Computer Programming",
/// volume 3, 6.4).
#[derive(Clone, Copy, Debug, Default)]
pub struct PassHasher(u64);

/// 2⁶⁴ divided by the golden ratio, odd.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for PassHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32(u32::from(*byte)));
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0 ^ u64::from(number)).wrapping_mul(GOLDEN);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::hash::{BuildHasher, BuildHasherDefault};

    use rgraph_ir::id::Id;

    use super::{PassHasher, PassId};

    #[test]
    fn neighbours_differ_in_the_bits_that_tables_look_at() {
        let hashes = (0..128).map(|at| BuildHasherDefault::<PassHasher>::default().hash_one(PassId::new(at)));
        let hashes: Vec<u64> = hashes.collect();
        let different = |bits: fn(u64) -> u64| hashes.iter().map(|hash| bits(*hash)).collect::<BTreeSet<_>>().len();
        // The lowest bits find a group of slots, the highest seven tell the slots of a group apart.
        assert_eq!(different(|hash| hash & 127), 128);
        assert!(different(|hash| hash >> 57) > 100);
    }
}
