//! Capabilities that a module declares and does not use.
//!
//! Slang (2026.12) declares that a shader reads and writes storage images without a format where it has such an image,
//! even if it only writes it. Devices without `shaderStorageImageReadWithoutFormat` would then refuse shaders that they
//! can run. Source: SPIR-V specification 1.6, "OpImageRead", "OpImageWrite".

use std::collections::HashSet;

use super::{HEADER, instructions, op};
use crate::stage::capabilities;

const IMAGE_READ: u16 = 98;
const IMAGE_WRITE: u16 = 99;
const IMAGE_SPARSE_READ: u16 = 320;
const READ_WITHOUT_FORMAT: u32 = 55;
const WRITE_WITHOUT_FORMAT: u32 = 56;
/// Input attachments: they have no format, and are read without this capability.
const SUBPASS_DATA: u32 = 6;

/// Takes out the capabilities of storage images without a format that no instruction needs. O(words).
pub(super) fn drop(words: &mut Vec<u32>) {
    let of_images = |word: &u32| matches!(*word, READ_WITHOUT_FORMAT | WRITE_WITHOUT_FORMAT);
    let declared: Vec<u32> = capabilities(words).collect();
    if !declared.iter().any(of_images) {
        return;
    }
    let (mut types, mut images) = (HashSet::new(), HashSet::new());
    let (mut reads, mut writes) = (false, false);
    for instruction in instructions(&words[HEADER..]) {
        let at = |index| instruction.at(index);
        match instruction.op {
            op::TYPE_IMAGE if at(7) == 0 && at(2) != SUBPASS_DATA => {
                types.insert(at(0));
            }
            IMAGE_READ | IMAGE_SPARSE_READ => reads |= images.contains(&at(2)),
            IMAGE_WRITE => writes |= images.contains(&at(0)),
            // Whatever gives a value of such a type: its type comes first, then its id.
            _ if types.contains(&at(0)) => {
                images.insert(at(1));
            }
            _ => {}
        }
    }
    let needed = |word: u32| match word {
        READ_WITHOUT_FORMAT => reads,
        WRITE_WITHOUT_FORMAT => writes,
        _ => true,
    };
    let kept = declared.iter().filter(|capability| needed(**capability));
    let kept: Vec<u32> = kept.flat_map(|capability| [2 << 16 | u32::from(op::CAPABILITY), *capability]).collect();
    words.splice(HEADER..HEADER + 2 * declared.len(), kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(format: u32, use_: &[u32]) -> Vec<u32> {
        let mut words = vec![0x0723_0203, 0x1_0500, 0, 20, 0];
        for capability in [1, READ_WITHOUT_FORMAT, WRITE_WITHOUT_FORMAT, 50] {
            words.extend([2 << 16 | u32::from(op::CAPABILITY), capability]);
        }
        words.extend([9 << 16 | u32::from(op::TYPE_IMAGE), 7, 3, 1, 0, 0, 0, 2, format]);
        // A load of the image, as id 9.
        words.extend([4 << 16 | 61, 7, 9, 8]);
        words.extend(use_);
        words
    }

    fn left(mut words: Vec<u32>) -> Vec<u32> {
        let rest = words.len() - HEADER - 8;
        drop(&mut words);
        let count = (words.len() - HEADER - rest) / 2;
        words[HEADER..].chunks_exact(2).take(count).map(|pair| pair[1]).collect()
    }

    #[test]
    fn images_without_a_format_need_what_is_done_with_them() {
        let read = [5 << 16 | u32::from(IMAGE_READ), 4, 10, 9, 11];
        let write = [4 << 16 | u32::from(IMAGE_WRITE), 9, 11, 12];
        assert_eq!(left(module(0, &[])), [1, 50]);
        assert_eq!(left(module(0, &read)), [1, READ_WITHOUT_FORMAT, 50]);
        assert_eq!(left(module(0, &write)), [1, WRITE_WITHOUT_FORMAT, 50]);
        assert_eq!(left(module(3, &[read.as_slice(), &write].concat())), [1, 50]);
    }

    #[test]
    fn words_of_anybody_are_left_alone() {
        for words in [vec![], vec![0; 3], vec![0; 9], vec![7, 7, 7, 7, 7, 2 << 16 | 17, 1, 0xffff_0047]] {
            let mut same = words.clone();
            drop(&mut same);
            assert_eq!(same, words);
        }
    }
}
