//! Pages of `bufferImageGranularity`: in one page a buffer and an image alias each other although they share no byte
//! (Vulkan 1.3, "Buffer-Image Granularity").

use std::collections::HashMap;

/// Bytes of a heap, half-open.
#[derive(Clone, Copy)]
pub(super) struct Bytes {
    pub heap: usize,
    pub begin: u64,
    pub end: u64,
    pub is_image: bool,
}

/// By placement: whether it is a buffer that shares a page, but no byte, with an image. A plan for the device's own
/// profile has none; one from elsewhere may be made for smaller pages. O(placements).
pub(super) fn strays(placed: &[Bytes], granularity: u64) -> Vec<bool> {
    if granularity <= 1 {
        return vec![false; placed.len()];
    }
    let page = |byte: u64| byte / granularity;
    // The smallest end of an image in a page, and the largest begin.
    let (mut ends, mut begins) = (HashMap::new(), HashMap::new());
    for image in placed.iter().filter(|one| one.is_image && one.begin < one.end) {
        let end = ends.entry((image.heap, page(image.end - 1))).or_insert(image.end);
        *end = image.end.min(*end);
        let begin = begins.entry((image.heap, page(image.begin))).or_insert(image.begin);
        *begin = image.begin.max(*begin);
    }
    let is_stray = |one: &Bytes| {
        let is_behind = |end: &u64| *end <= one.begin;
        let is_before = |begin: &u64| *begin >= one.end;
        !one.is_image
            && one.begin < one.end
            && (ends.get(&(one.heap, page(one.begin))).is_some_and(is_behind)
                || begins.get(&(one.heap, page(one.end - 1))).is_some_and(is_before))
    };
    placed.iter().map(is_stray).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(begin: u64, end: u64) -> Bytes {
        Bytes { heap: 0, begin, end, is_image: true }
    }

    fn buffer(begin: u64, end: u64) -> Bytes {
        Bytes { is_image: false, ..image(begin, end) }
    }

    #[test]
    fn buffers_in_a_page_with_an_image_are_strays() {
        for (placed, expected) in [
            // Behind it, before it, and between two.
            (vec![image(0, 1536), buffer(1536, 2048)], vec![false, true]),
            (vec![buffer(0, 256), image(256, 4096)], vec![true, false]),
            (vec![image(0, 256), buffer(256, 512), image(512, 1024)], vec![false, true, false]),
            // Pages of their own.
            (vec![image(0, 2048), buffer(2048, 2304), image(3072, 4096)], vec![false, false, false]),
            // Bytes of both: the plan orders them.
            (vec![image(0, 1536), buffer(1024, 1280)], vec![false, false]),
            (vec![image(256, 1536), buffer(0, 4096)], vec![false, false]),
            // An image with the same bytes does not hide another one in the page.
            (vec![image(0, 1536), image(0, 2048), buffer(1536, 2048)], vec![false, false, true]),
            // Another heap, and nothing.
            (vec![Bytes { heap: 1, ..image(0, 256) }, buffer(256, 512)], vec![false, false]),
            (vec![image(0, 256), buffer(256, 256)], vec![false, false]),
        ] {
            assert_eq!(strays(&placed, 1024), expected);
            assert!(strays(&placed, 1).iter().all(|stray| !stray), "a page of one byte is shared by its owners alone");
        }
    }
}
