//! A hash of all that a declaration means, and equality by it. Every noun is taken apart here, so that a new field does
//! not compile until somebody decides whether it counts; each field has words of its own, so that no two values meet.

use xxhash_rust::xxh3::xxh3_128;

use super::{Access, Clear, Details, Fallback, Graph, Pass, Ranges, Slot, Use};
use crate::access::{Accesses, Stages};
use crate::error::Mistake;
use crate::id::Id;
use crate::resource::{Axis, Buffer, History, Image, Imported, Kind, Leave, Life, Mips, Resource, Size};

impl Graph {
    /// A hash of all that the declaration means: equal declarations have equal hashes on every machine; places
    /// (file and line) do not count, nor does how accesses of several passes interleave. Accesses were hashed when
    /// declared, so this is O(passes + resources).
    pub fn content_hash(&self) -> u128 {
        let Self {
            name,
            reference_size: [width, height],
            passes,
            pass_names,
            pass_sequence,
            pass_hash,
            pass_places: _,
            pass_index: _,
            resources,
            resource_names,
            resource_places: _,
            resource_index: _,
            // Of these the hash of each pass is made.
            accesses: _,
            access_places: _,
            ranges: _,
            details: _,
            after,
            fallbacks,
            roots,
            // As in `roots`.
            is_root: _,
            units,
            flags,
            slots,
            slot_names,
            mistakes,
            // Beyond all sequence numbers in use.
            sequence: _,
            stray: _,
        } = self;
        let mut hash = Mixer(0);
        hash.text(name);
        let counts = [after.len(), fallbacks.len(), roots.len(), units.len(), flags.len(), slots.len(), mistakes.len()];
        hash.words(&[u64::from(*width), u64::from(*height)]);
        hash.words(&counts.map(|count| count as u64));
        for names in [pass_names, resource_names, slot_names] {
            hash.bytes(names.bytes().0);
            hash.ends(names.bytes().1);
        }
        for (id, pass) in passes.iter_ids() {
            hash_pass(&mut hash, pass, pass_hash[id]);
        }
        for resource in resources {
            hash_resource(&mut hash, resource);
        }
        for (later, earlier) in after {
            hash.words(&[later.index() as u64, earlier.index() as u64]);
        }
        for Fallback { pass, output, input } in fallbacks {
            hash.words(&[pass.index() as u64, output.index() as u64, input.index() as u64]);
        }
        for root in roots {
            hash.words(&[root.index() as u64]);
        }
        for text in units.iter().chain(flags) {
            hash.text(text);
        }
        if !slots.is_empty() {
            for Slot { parent, sequence } in slots {
                hash.words(&[id(*parent), u64::from(*sequence)]);
            }
            hash.ends(pass_sequence);
        }
        for Mistake { code, message, pass: _, resource: _, sides: _, help } in mistakes {
            hash.words(&[*code as u64]);
            hash.text(message);
            hash.text(help);
        }
        hash.0
    }
}

impl PartialEq for Graph {
    /// Equal declarations; where they were declared does not count.
    fn eq(&self, other: &Self) -> bool {
        self.content_hash() == other.content_hash()
    }
}

/// Zero, or one more than a value of 32 bits.
fn option(value: Option<u32>) -> u64 {
    value.map_or(0, |value| u64::from(value) + 1)
}

fn id<I: Id>(id: Option<I>) -> u64 {
    id.map_or(0, |id| id.index() as u64 + 1)
}

/// A running 128-bit hash: each step hashes the state before it together with the new bytes (XXH3).
struct Mixer(u128);

impl Mixer {
    /// At most 16 words. Their number is a constant, so that the hash of each length is straight code.
    fn words<const N: usize>(&mut self, words: &[u64; N]) {
        const { assert!(N <= 16) };
        let mut block = [0u8; 16 + 8 * 16];
        block[..16].copy_from_slice(&self.0.to_le_bytes());
        for (at, word) in words.iter().enumerate() {
            block[16 + at * 8..24 + at * 8].copy_from_slice(&word.to_le_bytes());
        }
        self.0 = xxh3_128(&block[..16 + N * 8]);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        let inner = xxh3_128(bytes);
        self.words(&[inner as u64, (inner >> 64) as u64, bytes.len() as u64]);
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn ends(&mut self, ends: &[u32]) {
        for chunk in ends.chunks(32) {
            let mut words = [0u64; 16];
            for (at, end) in chunk.iter().enumerate() {
                words[at / 2] |= u64::from(*end) << (32 * (at % 2));
            }
            self.words(&words);
        }
        self.words(&[ends.len() as u64]);
    }
}

fn hash_pass(hash: &mut Mixer, pass: &Pass, accesses: u128) {
    let Pass { queue, weight_us, unit, device, side_effects, unordered, conditional, setup, slot, needs: _ } = pass;
    hash.words(&[
        accesses as u64,
        (accesses >> 64) as u64,
        *queue as u64,
        u64::from(weight_us.is_some()),
        weight_us.map_or(0, f64::to_bits),
        id(*unit),
        option(*device),
        u64::from(*side_effects) | u64::from(*setup) << 1 | u64::from(*unordered) << 2,
        id(*conditional),
        id(*slot),
    ]);
    // Which shader needs a feature is for messages.
    let features = pass.needed_features();
    if !features.is_empty() {
        hash.words(&[features.bits()]);
    }
}

/// The hash of a pass's accesses with one more.
pub(super) fn hash_access(before: u128, access: &Access, how: &Use) -> u128 {
    let Access {
        pass: _,
        resource,
        stages,
        ranges,
        details,
        usage,
        load,
        stencil_load,
        transfer,
        aspects,
        generate_mips,
        unordered,
    } = access;
    let mut hash = Mixer(before);
    let small = |value: Option<u8>| u64::from(value.map_or(0, |value| u16::from(value) + 1));
    hash.words(&[
        resource.index() as u64 | u64::from(stages.bits()) << 32,
        *usage as u64 | u64::from(aspects.bits()) << 32,
        small(load.map(|load| load as u8)) | small(stencil_load.map(|load| load as u8)) << 16,
        small(transfer.map(|transfer| transfer as u8))
            | u64::from(*generate_mips) << 16
            | u64::from(*unordered) << 17
            | u64::from(ranges.is_some()) << 18
            | u64::from(details.is_some()) << 19,
    ]);
    if ranges.is_some() {
        let Ranges { mips, layers, bytes } = how.ranges;
        let pair = |pair: Option<[u32; 2]>| pair.map_or(0, |[first, end]| u64::from(first) << 32 | u64::from(end));
        let explicit = u64::from(mips.is_some()) | u64::from(layers.is_some()) << 1 | u64::from(bytes.is_some()) << 2;
        let [first, end] = bytes.unwrap_or([0, 0]);
        hash.words(&[explicit, pair(mips), pair(layers), first, end]);
    }
    if details.is_some() {
        let Details { clear, resolves, resolve_mode } = how.details;
        let clear = match clear {
            None => [0; 5],
            Some(Clear::Color([red, green, blue, alpha])) => {
                [1, red.to_bits(), green.to_bits(), blue.to_bits(), alpha.to_bits()]
            }
            Some(Clear::Depth(depth, stencil)) => [2, depth.to_bits(), option(stencil), 0, 0],
        };
        hash.words(&clear);
        hash.words(&[id(resolves), small(resolve_mode.map(|mode| mode as u8))]);
    }
    hash.0
}

fn hash_resource(hash: &mut Mixer, resource: &Resource) {
    let Resource { kind, life, modifies, leave, sharing, memory_domain } = resource;
    match kind {
        Kind::Image(image) => hash_image(hash, image),
        Kind::Buffer(Buffer { size, acceleration_structure }) => {
            let explicit = u64::from(size.is_some()) | u64::from(*acceleration_structure) << 1;
            hash.words(&[2, explicit, size.unwrap_or(0)]);
        }
    }
    let leave = leave.map_or([0; 3], |Leave { layout, queue }| {
        [1, option(layout.map(|layout| layout as u32)), option(queue.map(|queue| queue as u32))]
    });
    let life = match *life {
        Life::Transient => [0; 4],
        Life::Persistent => [1, 0, 0, 0],
        Life::Fresh => [4, 0, 0, 0],
        Life::History(History { of, frames, zero_first }) => {
            [2, of.index() as u64, u64::from(frames), u64::from(zero_first)]
        }
        Life::Imported(Imported { layout, queue, stages, access, defined, wait, signal }) => {
            let layout = option(layout.map(|layout| layout as u32));
            [
                3 | u64::from(defined) << 8 | u64::from(wait) << 9 | u64::from(signal) << 10,
                layout,
                option(queue.map(|queue| queue as u32)),
                scope(stages, access),
            ]
        }
    };
    hash.words(&leave);
    hash.words(&life);
    // Above the word of `sharing`, so that graphs without a domain keep the hashes that files have of them.
    let domain = option(memory_domain.map(|domain| domain as u32)) << 32;
    hash.words(&[id(*modifies), option(sharing.map(|sharing| sharing as u32)) | domain]);
}

fn scope(stages: Stages, access: Accesses) -> u64 {
    u64::from(stages.bits()) << 32 | u64::from(access.bits())
}

fn hash_image(hash: &mut Mixer, image: &Image) {
    let Image { format, size, layers, mips, samples, cube } = image;
    let mips = match mips {
        None => 0,
        Some(Mips::Full) => 1,
        Some(Mips::Count(count)) => 2 + u64::from(*count),
    };
    let format = option(format.map(|format| format as u32));
    hash.words(&[1, format, option(*layers), mips, option(*samples), u64::from(*cube)]);
    let axis = |axis: Option<Axis>| match axis {
        None => [0, 0, 0],
        Some(Axis::Texels(texels)) => [1, u64::from(texels), 0],
        Some(Axis::Scaled(of, scale)) => [2, id(of), scale.to_bits()],
    };
    if let Some(Size { x, y, z, round }) = *size {
        hash.words(&[1 + round as u64]);
        for axis in [Some(x), Some(y), z].map(axis) {
            hash.words(&axis);
        }
    }
}
