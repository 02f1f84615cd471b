//! Profiles that differ in one field.

use rgraph_ir::feature::Features;
use rgraph_ir::profile::{Capabilities, Limits, MemoryType, Profile, Queue};

use super::{Changed, changed, within};

/// The profile that the others differ from.
pub fn base() -> Profile {
    Profile::discrete()
}

/// Each field of a profile, its queues, its memory and its limits, changed.
pub fn all() -> Vec<Changed<Profile>> {
    let base = base();
    let mut all = changed!(base.clone() => Profile {
        name: "other".to_owned(),
        queues: Vec::new(),
        buffer_image_granularity: 1,
        image_alignment: 1,
        buffer_alignment: 1,
        memory: Vec::new(),
        limits: Limits { max_samples: 1, ..Limits::default() },
        cross_queue_us: 0.5,
        barrier_us: 0.5,
        submit_us: 0.5,
        pass_us: 0.5,
        copy_gb_s: 0.5,
        copy_us: 0.5,
        foreign_us: 0.5,
        foreign_transfer_us: 0.5,
        width: 1,
        draws_overlap_dispatches: false,
        features: Some(Features::RAY_QUERY),
    });
    let queues = changed!(base.queues[0].clone() => Queue {
        name: "other".to_owned(),
        family: 7,
        count: 2,
        capabilities: Capabilities::GRAPHICS,
    });
    all.extend(within(&base, queues, |profile, queue| profile.queues[0] = queue));
    let memory = changed!(base.memory[0].clone() => MemoryType { name: "other".to_owned(), heap_size: Some(1) });
    all.extend(within(&base, memory, |profile, memory| profile.memory[0] = memory));
    let limits = changed!(base.limits.clone() => Limits {
        max_image_2d: 1,
        max_image_3d: 1,
        max_image_cube: 1,
        max_image_layers: 1,
        max_color_attachments: 1,
        max_samples: 2,
        max_buffer: 1,
        max_uniform_range: 1,
    });
    all.extend(within(&base, limits, |profile, limits| profile.limits = limits));
    all
}
