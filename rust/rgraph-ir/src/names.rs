//! Names by their text: a hash of it leads to the position, and comparing the name proves it. No text is copied.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};

use xxhash_rust::xxh3::xxh3_64;

use crate::graph::clipped;
use crate::id::Names;

/// Positions in a list of names, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameIndex {
    at: HashMap<u64, u32, BuildHasherDefault<Hashed>>,
    /// Names whose hash another name has: next to never one.
    clashes: Vec<(u64, u32)>,
}

/// Keys are hashes already.
#[derive(Clone, Copy, Debug, Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64(bytes);
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

impl NameIndex {
    /// The position of a name.
    pub(crate) fn find(&self, names: &Names, name: &str) -> Option<usize> {
        self.find_hashed(names, name, xxh3_64(name.as_bytes()))
    }

    fn find_hashed(&self, names: &Names, name: &str, hash: u64) -> Option<usize> {
        let is_it = |at: &u32| names.get(*at as usize) == clipped(name);
        let first = self.at.get(&hash)?;
        let clashing = self.clashes.iter().filter(|(of, _)| *of == hash).map(|(_, at)| at);
        std::iter::once(first).chain(clashing).find(|at| is_it(at)).map(|at| *at as usize)
    }

    /// Notes where a name stands, or says where it stood before.
    pub(crate) fn insert(&mut self, names: &Names, name: &str, at: usize) -> Result<(), usize> {
        let hash = xxh3_64(name.as_bytes());
        match self.find_hashed(names, name, hash) {
            Some(first) => Err(first),
            None => {
                match self.at.entry(hash) {
                    Entry::Occupied(_) => self.clashes.push((hash, at as u32)),
                    Entry::Vacant(free) => {
                        free.insert(at as u32);
                    }
                }
                Ok(())
            }
        }
    }

    /// Forgets all names, keeping the memory.
    pub(crate) fn clear(&mut self) {
        self.at.clear();
        self.clashes.clear();
    }

    /// Follows names to their new positions.
    pub(crate) fn renumber(&mut self, new: impl Fn(usize) -> usize) {
        for at in self.at.values_mut().chain(self.clashes.iter_mut().map(|(_, at)| at)) {
            *at = new(*at as usize) as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::NameIndex;
    use crate::id::Names;

    #[test]
    fn names_with_one_hash_are_told_apart() {
        let (mut names, mut index) = (Names::default(), NameIndex::default());
        for name in ["one", "two", "three"] {
            let at = names.push(name);
            assert_eq!(index.insert(&names, name, at), Ok(()));
        }
        // As if all three had the hash of the first.
        let hashes: Vec<u64> = index.at.keys().copied().collect();
        let one = xxhash_rust::xxh3::xxh3_64(b"one");
        for hash in hashes.into_iter().filter(|hash| *hash != one) {
            let at = index.at.remove(&hash).expect("it was there");
            index.clashes.push((one, at));
        }
        for (at, name) in ["one", "two", "three"].into_iter().enumerate() {
            assert_eq!(index.find_hashed(&names, name, one), Some(at));
        }
        assert_eq!(index.find_hashed(&names, "four", one), None);
    }

    #[test]
    fn a_name_stands_where_it_stood_first_and_follows_it() {
        let (mut names, mut index) = (Names::default(), NameIndex::default());
        for name in ["a", "b", "a"] {
            let at = names.push(name);
            assert_eq!(index.insert(&names, name, at), if at == 2 { Err(0) } else { Ok(()) });
        }
        index.renumber(|at| 2 - at);
        assert_eq!(index.find(&names, "a"), Some(2));
    }
}
