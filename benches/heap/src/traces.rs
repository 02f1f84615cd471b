//! What is asked of the allocators: lists of operations made before any clock starts, the same for all.

/// Bytes of a chunk, and what `held` counts in.
pub const CHUNK: u64 = 64 << 20;
const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// One operation on a table of live ranges.
#[derive(Clone, Copy)]
pub enum Operation {
    /// A range of this many bytes goes into this empty place.
    Allocate(u32, u64),
    /// The range in this place is freed.
    Free(u32),
}

/// A named list of operations.
pub struct Trace {
    pub name: &'static str,
    pub operations: Vec<Operation>,
    /// The operations before this one fill the table.
    pub filled: usize,
    /// Places in the table.
    pub places: usize,
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Equally likely on a scale of logarithms.
    fn size(&mut self, least: u64, most: u64) -> u64 {
        let unit = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        (least as f64 * (most as f64 / least as f64).powf(unit)) as u64
    }
}

/// Block-compressed and plain textures with their mips, in bytes.
const TEXTURES: [u64; 8] = [87_552, 349_696, 699_392, 1_398_272, 2_796_288, 5_592_576, 11_184_896, 22_369_792];
/// Render targets at 1920 × 1080 and its half, shadow maps, in bytes.
const TARGETS: [u64; 6] = [2_088_960, 4_194_304, 8_355_840, 8_388_608, 16_711_680, 16_777_216];

fn render_size(random: &mut Random) -> u64 {
    match random.below(10) {
        0..6 => random.size(256, 64 * KIB),
        6..9 => TEXTURES[random.below(TEXTURES.len())],
        _ => TARGETS[random.below(TARGETS.len())],
    }
}

/// Fills `live` places, then frees a random range and makes another, `operations` in all. Every `scene` operations, if
/// any, three tenths are dropped and as many made.
fn trace(
    name: &'static str,
    live: usize,
    operations: usize,
    scene: Option<usize>,
    mut size: impl FnMut(&mut Random) -> u64,
) -> Trace {
    let mut random = Random(0x0b5e_55ed);
    let mut list = Vec::with_capacity(live + operations + live);
    let mut taken: Vec<u32> = Vec::with_capacity(live);
    let mut empty: Vec<u32> = (0..live as u32).rev().collect();
    let mut next_scene = live + scene.unwrap_or(usize::MAX - live);
    while list.len() < live + operations {
        if list.len() >= next_scene {
            next_scene += scene.unwrap_or_default();
            for _ in 0..live * 3 / 10 {
                let place = taken.swap_remove(random.below(taken.len()));
                empty.push(place);
                list.push(Operation::Free(place));
            }
        }
        if let Some(place) = empty.pop() {
            taken.push(place);
            list.push(Operation::Allocate(place, size(&mut random)));
        } else {
            let place = taken.swap_remove(random.below(taken.len()));
            empty.push(place);
            list.push(Operation::Free(place));
        }
    }
    Trace { name, operations: list, filled: live, places: live }
}

/// The traces of the tables, `operations` long after the filling.
pub fn all(operations: usize) -> Vec<Trace> {
    vec![
        trace("loguniform", 4096, operations, None, |random| random.size(256, 32 * MIB)),
        trace("render", 4096, operations, Some(20_000), render_size),
        trace("small", 65_536, operations, None, |random| random.size(256, 64 * KIB)),
        trace("equal", 4096, operations, None, |_| MIB),
    ]
}
