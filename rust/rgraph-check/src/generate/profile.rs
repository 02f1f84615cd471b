//! Random devices: one to four kinds of queue in any order, several of a kind, families shared or not, odd
//! granularities, alignments, costs, limits down to the least that Vulkan guarantees, heaps that are large enough.

use rgraph_ir::profile::{Capabilities, LAZY_MEMORY, Limits, MemoryType, Profile, Queue};

use super::Construct;
use super::source::Source;

/// Bytes of the smallest heap: more than all resources of a generated graph have together.
const LARGE_ENOUGH: u64 = 1 << 36;

/// One queue of all capabilities for zeros.
pub(super) fn profile(source: &mut Source, late: &mut Source, limits: super::Limits) -> Profile {
    let allows = |construct: Construct| !limits.without.contains(construct);
    let all = Capabilities::all();
    let compute = Capabilities::COMPUTE | Capabilities::TRANSFER;
    let mut queues = vec![queue("graphics", 0, 1, all)];
    match source.below(8) {
        0 => {}
        1 => queues.push(queue("compute", 1, 1, compute)),
        2 => queues.push(queue("second", 0, 1, all)),
        3 => queues.push(queue("transfer", source.below(2) as u32, 1, Capabilities::TRANSFER)),
        4 => queues.extend([queue("compute", 0, 1, compute), queue("transfer", 1, 1, Capabilities::TRANSFER)]),
        5 | 6 => queues.extend([queue("compute", 2, 1, compute), queue("transfer", 1, 1, Capabilities::TRANSFER)]),
        _ => queues.extend([
            queue("compute", 2, 1, Capabilities::COMPUTE),
            queue("transfer", 1, 1, Capabilities::TRANSFER),
            queue("second", 3, 1, all),
        ]),
    }
    for queue in &mut queues {
        let count = source.pick(&[1, 1, 1, 1, 2, 3]);
        if allows(Construct::SeveralGraphics) || !queue.capabilities.contains(Capabilities::GRAPHICS) {
            queue.count = count;
        }
    }
    let first = source.below(queues.len());
    queues.rotate_left(first);
    let mut profile = Profile::new("generated", queues);
    profile.buffer_image_granularity = source.pick(&[1024, 1, 64, 4096, 65536]);
    profile.image_alignment = source.pick(&[256, 1, 4096, 65536]);
    profile.buffer_alignment = source.pick(&[16, 1, 64, 256, 4096]);
    profile.cross_queue_us = f64::from(source.pick(&[10_u32, 0, 1, 50]));
    profile.barrier_us = f64::from(source.pick(&[2_u32, 0, 20]));
    profile.submit_us = f64::from(source.pick(&[7_u32, 0, 100]));
    if source.chance(1, 3) {
        profile.memory = vec![memory("device", Some(LARGE_ENOUGH))];
    }
    if source.chance(1, 4) {
        profile.memory.push(memory("host", None));
    }
    if source.chance(1, 4) {
        profile.limits = least();
    }
    if late.chance(1, 3) && allows(Construct::LazyMemory) {
        profile.memory.push(memory(LAZY_MEMORY, None));
    }
    profile
}

fn queue(name: &str, family: u32, count: u32, capabilities: Capabilities) -> Queue {
    Queue { name: name.to_owned(), family, count, capabilities }
}

fn memory(name: &str, heap_size: Option<u64>) -> MemoryType {
    MemoryType { name: name.to_owned(), heap_size }
}

/// The least limits that Vulkan 1.3 guarantees.
fn least() -> Limits {
    Profile::minimal().limits
}
