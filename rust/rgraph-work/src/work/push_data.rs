//! Bytes of push data.

use std::fmt;
use std::ops::Deref;

/// Push data of a step. Up to [`PushData::IN_PLACE`] bytes are part of the step, so that thousands of draws with push
/// data of their own allocate nothing; more lie on the heap. It reads as a slice.
///
/// ```
/// use rgraph_work::PushData;
///
/// let number = PushData::from(7_u32.to_le_bytes());
/// assert_eq!(*number, [7, 0, 0, 0]);
/// ```
#[derive(Clone)]
pub struct PushData(Bytes);

#[derive(Clone)]
enum Bytes {
    InPlace(u8, [u8; PushData::IN_PLACE]),
    Heap(Box<[u8]>),
}

impl PushData {
    /// Most bytes that take no memory of their own: a 4 × 4 matrix of 32-bit numbers and a word.
    pub const IN_PLACE: usize = 68;
}

impl Default for PushData {
    /// No bytes.
    fn default() -> Self {
        Self(Bytes::InPlace(0, [0; Self::IN_PLACE]))
    }
}

impl Deref for PushData {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Bytes::InPlace(length, bytes) => &bytes[..usize::from(*length)],
            Bytes::Heap(bytes) => bytes,
        }
    }
}

impl From<&[u8]> for PushData {
    fn from(given: &[u8]) -> Self {
        let mut bytes = [0; Self::IN_PLACE];
        match bytes.get_mut(..given.len()) {
            Some(place) => {
                place.copy_from_slice(given);
                Self(Bytes::InPlace(given.len() as u8, bytes))
            }
            None => Self(Bytes::Heap(given.into())),
        }
    }
}

impl<const N: usize> From<[u8; N]> for PushData {
    fn from(given: [u8; N]) -> Self {
        Self::from(&given[..])
    }
}

impl From<Vec<u8>> for PushData {
    fn from(given: Vec<u8>) -> Self {
        match given.len() <= Self::IN_PLACE {
            true => Self::from(&given[..]),
            false => Self(Bytes::Heap(given.into())),
        }
    }
}

impl PartialEq for PushData {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for PushData {}

impl fmt::Debug for PushData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_any_length_come_back_and_equal_ones_are_equal() {
        for length in [0, 1, 4, 64, PushData::IN_PLACE, PushData::IN_PLACE + 1, 128, 4096] {
            let bytes: Vec<u8> = (0..length).map(|at| at as u8).collect();
            let (copied, taken) = (PushData::from(&bytes[..]), PushData::from(bytes.clone()));
            assert_eq!((&*copied, &*taken), (&bytes[..], &bytes[..]));
            assert_eq!(copied, taken.clone());
            assert_ne!(copied, PushData::from([bytes, vec![0]].concat()), "one more");
        }
    }
}
