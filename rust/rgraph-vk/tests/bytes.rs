//! Bytes to the device and back: through staging blocks in pieces, from and into page-locked memory, several at a time,
//! and without allocating once the blocks are there.

use rgraph_plan::format::Format;
use rgraph_vk::{Device, DeviceResource};

use crate::support::bench::device;

/// Bytes that no two places a few MiB apart have in common.
fn noise(length: usize, seed: u32) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    let mut bytes: Vec<u8> = (0..length.div_ceil(4)).flat_map(|_| next().to_le_bytes()).collect();
    bytes.truncate(length);
    bytes
}

/// Bytes of staging blocks that the device holds.
fn staged(device: &Device) -> u64 {
    device.memory().owners.iter().filter(|(name, _)| name == "staging").map(|(_, bytes)| bytes).sum()
}

/// An image whose bytes go through staging blocks also where the host can see the device's memory.
fn image(device: &Device, name: &str, size: [u32; 2], layers: u32) -> DeviceResource {
    device.image(name, Format::R32float, size, 1, layers).unwrap()
}

#[test]
fn every_byte_arrives_whatever_the_size() {
    let Some(device) = device(2) else { return };
    for (size, seed) in [4, 1_000, 65_536, (4 << 20) - 4, 4 << 20, (4 << 20) + 4, 21_000_004].into_iter().zip(1..) {
        let buffer = device.0.buffer("b", size).unwrap();
        let bytes = noise(size as usize, seed);
        buffer.write(&bytes).unwrap();
        assert!(buffer.read().unwrap().bytes() == bytes, "a buffer of {size} bytes");
    }
    let shapes = [([1, 1], 1), ([1_000, 1_000], 1), ([1_500, 1_501], 1), ([300, 300], 40), ([2_000, 1_100], 3)];
    for (([width, height], layers), seed) in shapes.into_iter().zip(10..) {
        let image = image(&device.0, "i", [width, height], layers);
        let bytes = noise((width * height * layers * 4) as usize, seed);
        image.write(&bytes).unwrap();
        assert!(image.read().unwrap().bytes() == bytes, "{layers} layers of {width}x{height}");
    }
    let depth = device.0.image("d", Format::Depth32float, [1_200, 1_200], 1, 1).unwrap();
    let bytes: Vec<u8> = (0..1_200 * 1_200).flat_map(|at| (at as f32 / 1_440_000.0).to_le_bytes()).collect();
    depth.write(&bytes).unwrap();
    assert!(depth.read().unwrap().bytes() == bytes);
}

#[test]
fn steady_transfers_lend_the_same_blocks_again() {
    let Some(device) = device(2) else { return };
    let (small, large) = (image(&device.0, "s", [64, 64], 1), image(&device.0, "l", [2_048, 2_048], 1));
    let bytes = noise(2_048 * 2_048 * 4, 3);
    // Two gigabytes go through blocks that are under way, that threads fill, and that the two reads have.
    let most = (32 << 20) + 4 * (4 << 20) + (16 << 20) + (1 << 20);
    for round in 0..60 {
        small.write(&bytes[round * 4..][..64 * 64 * 4]).unwrap();
        large.write(&bytes).unwrap();
        let (one, two) = (small.read().unwrap(), large.read().unwrap());
        assert!(one.bytes() == &bytes[round * 4..][..64 * 64 * 4] && two.bytes() == bytes);
        drop((one, two));
        assert!(staged(&device.0) <= most, "in round {round}: {}", device.0.memory());
    }
    // Reads are waited for, so each finds the block of the one before. Blocks that the writes needed and the reads do
    // not may go back to the heap meanwhile.
    let (held, blocks) = (device.0.memory().held(), staged(&device.0));
    for _ in 0..20 {
        assert!(large.read().unwrap().bytes() == bytes);
    }
    let after = device.0.memory();
    assert!(after.held() <= held, "{held} bytes held before; {after}");
    assert!(staged(&device.0) <= blocks, "{blocks} bytes before; {after}");
}

#[test]
fn a_write_needs_a_few_blocks_however_large_it_is() {
    let Some(device) = device(2) else { return };
    let layers = 16;
    let image = image(&device.0, "i", [1_024, 1_024], layers);
    let bytes = noise((1_024 * 1_024 * 4 * layers) as usize, 5);
    for _ in 0..3 {
        image.write(&bytes).unwrap();
    }
    let most = 32 << 20;
    assert!(staged(&device.0) <= most + (4 << 20) * 4, "{} bytes", staged(&device.0));
    assert!(image.read().unwrap().bytes() == bytes);
}

#[test]
fn reads_under_way_keep_their_bytes_while_others_follow() {
    let Some(device) = device(2) else { return };
    let image = image(&device.0, "i", [256, 256], 1);
    let contents: Vec<_> = (0..6).map(|seed| noise(256 * 256 * 4, seed + 20)).collect();
    let read = |bytes: &Vec<u8>| {
        image.write(bytes).unwrap();
        image.read().unwrap()
    };
    let reads: Vec<_> = contents.iter().map(read).collect();
    assert!(reads.iter().zip(&contents).all(|(read, bytes)| read.bytes() == bytes));
}

#[test]
fn bytes_of_locked_memory_are_copied_by_the_device_alone() {
    let Some(device) = device(2) else { return };
    let length = 1_024 * 1_024 * 4;
    let image = image(&device.0, "i", [1_024, 1_024], 1);
    let (mut from, mut to) = (device.0.locked(length + 4_096).unwrap(), device.0.locked(length).unwrap());
    let bytes = noise(length, 7);
    from.bytes_mut()[4_096..].copy_from_slice(&bytes);
    let before = staged(&device.0);
    image.write(&from.bytes()[4_096..]).unwrap();
    // Written at once, so it has to be over.
    from.bytes_mut().fill(0);
    image.read_into(to.bytes_mut()).unwrap();
    assert!(to.bytes() == bytes);
    assert_eq!(staged(&device.0), before, "no block but those of the two arrays");
    // Where a copy of texels could not begin it goes through a block.
    from.bytes_mut()[1..=length].copy_from_slice(&bytes);
    image.write(&from.bytes()[1..=length]).unwrap();
    image.read_into(&mut from.bytes_mut()[3..length + 3]).unwrap();
    assert!(from.bytes()[3..length + 3] == bytes);
}

#[test]
fn locked_memory_outlives_its_device() {
    let Some(device) = device(2) else { return };
    let mut memory = device.0.locked(100).unwrap();
    device.0.close().unwrap();
    drop(device);
    memory.bytes_mut().fill(9);
    assert_eq!(memory.bytes(), [9; 100]);
}

#[test]
fn a_wrong_number_of_bytes_is_refused() {
    let Some(device) = device(2) else { return };
    let buffer = device.0.buffer("b", 64).unwrap();
    let refused = buffer.write(&[0; 60]).unwrap_err().to_string();
    assert!(refused.contains("\"b\" takes 64 bytes, and 60 are given"), "{refused}");
    let refused = buffer.read_into(&mut [0; 65]).unwrap_err().to_string();
    assert!(refused.contains("\"b\" has 64 bytes, and there is room for 65"), "{refused}");
}

#[test]
fn threads_write_and_read_beside_each_other() {
    let Some(device) = device(2) else { return };
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let device = &device.0;
            scope.spawn(move || {
                let image = image(device, "i", [700, 3_000], 1);
                for round in 0..4 {
                    let bytes = noise(700 * 3_000 * 4, seed * 16 + round + 1);
                    image.write(&bytes).unwrap();
                    assert!(image.read().unwrap().bytes() == bytes, "thread {seed}, round {round}");
                }
            });
        }
    });
}

#[test]
fn reads_into_an_array_of_any_size_fill_all_of_it() {
    let Some(device) = device(2) else { return };
    for (size, seed) in [4, (4 << 20) + 4, 12 << 20, 41_000_004].into_iter().zip(1..) {
        let buffer = device.0.buffer("b", size).unwrap();
        let bytes = noise(size as usize, seed);
        buffer.write(&bytes).unwrap();
        let mut into = vec![0; size as usize];
        for _ in 0..3 {
            into.fill(0);
            buffer.read_into(&mut into).unwrap();
            assert!(into == bytes, "a buffer of {size} bytes");
        }
    }
    let most = 48 << 20;
    assert!(staged(&device.0) <= most, "{} bytes", staged(&device.0));
}
