//! What each queue knows of every other one, stage by stage: which uses are ordered before a use at one of its stages,
//! and which of their writes are available there. `narrow` keeps them to leave out what is known already.
//!
//! A row has one number for each queue and stage, twice: the position up to which that stage is done, and up to which
//! its writes are available. Positions of the run before are zero and below. Only stages of the frame have rows.
//!
//! Source: Vulkan 1.3 specification, "Execution and Memory Dependencies", "Pipeline Stages" (logical order), "Semaphore
//! Signaling"; clocks as in Mattern, "Virtual Time and Global States of Distributed Systems" (1989).

use crate::access::{Accesses, Stages};

/// Leaf stages, and leaf accesses.
const STAGES: usize = 21;
const ACCESSES: usize = 18;
/// Before everything.
pub const NEVER: i32 = i32::MIN;

/// The graphics pipelines in logical order; other stages are preceded by indirect commands at most.
const PIPELINES: [&[Stages]; 4] = [
    &[
        Stages::DRAW_INDIRECT,
        Stages::INDEX_INPUT,
        Stages::VERTEX_ATTRIBUTE_INPUT,
        Stages::VERTEX_SHADER,
        Stages::TESSELLATION_CONTROL_SHADER,
        Stages::TESSELLATION_EVALUATION_SHADER,
        Stages::GEOMETRY_SHADER,
        Stages::EARLY_FRAGMENT_TESTS,
        Stages::FRAGMENT_SHADER,
        Stages::LATE_FRAGMENT_TESTS,
        Stages::COLOR_ATTACHMENT_OUTPUT,
    ],
    &[
        Stages::DRAW_INDIRECT,
        Stages::TASK_SHADER,
        Stages::MESH_SHADER,
        Stages::EARLY_FRAGMENT_TESTS,
        Stages::FRAGMENT_SHADER,
        Stages::LATE_FRAGMENT_TESTS,
        Stages::COLOR_ATTACHMENT_OUTPUT,
    ],
    &[Stages::DRAW_INDIRECT, Stages::COMPUTE_SHADER],
    &[Stages::DRAW_INDIRECT, Stages::RAY_TRACING_SHADER],
];

/// The accesses that a leaf stage performs.
fn performed_at(stage: Stages) -> Accesses {
    let shader = Accesses::UNIFORM_READ
        | Accesses::SHADER_SAMPLED_READ
        | Accesses::SHADER_STORAGE_READ
        | Accesses::SHADER_STORAGE_WRITE
        | Accesses::ACCELERATION_STRUCTURE_READ;
    match stage {
        Stages::DRAW_INDIRECT => Accesses::INDIRECT_COMMAND_READ,
        Stages::INDEX_INPUT => Accesses::INDEX_READ,
        Stages::VERTEX_ATTRIBUTE_INPUT => Accesses::VERTEX_ATTRIBUTE_READ,
        Stages::FRAGMENT_SHADER => shader | Accesses::INPUT_ATTACHMENT_READ,
        Stages::EARLY_FRAGMENT_TESTS | Stages::LATE_FRAGMENT_TESTS => {
            Accesses::DEPTH_STENCIL_ATTACHMENT_READ | Accesses::DEPTH_STENCIL_ATTACHMENT_WRITE
        }
        Stages::COLOR_ATTACHMENT_OUTPUT => Accesses::COLOR_ATTACHMENT_READ | Accesses::COLOR_ATTACHMENT_WRITE,
        Stages::ACCELERATION_STRUCTURE_BUILD => {
            Accesses::ACCELERATION_STRUCTURE_READ
                | Accesses::ACCELERATION_STRUCTURE_WRITE
                | Accesses::SHADER_STORAGE_READ
                | Accesses::INDIRECT_COMMAND_READ
        }
        Stages::HOST => Accesses::HOST_READ | Accesses::HOST_WRITE,
        _ if Stages::ALL_TRANSFER.contains(stage) => Accesses::TRANSFER_READ | Accesses::TRANSFER_WRITE,
        _ => shader,
    }
}

/// Positions of the bits of a mask.
pub fn bits(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let bit = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            bit
        })
    })
}

/// The latest of two rows, number by number.
pub fn join(into: &mut [i32], from: &[i32]) {
    for (a, b) in into.iter_mut().zip(from) {
        *a = (*a).max(*b);
    }
}

/// Rows of all queues. Sets of the frame's stages are masks of their positions in `leaves`.
#[derive(Default, Debug)]
pub struct Lanes {
    queues: usize,
    /// The frame's stages.
    leaves: Vec<Stages>,
    position_of: [u8; STAGES],
    performed: Vec<Accesses>,
    /// By stage: it and the logically earlier ones; it and the later ones.
    earlier: Vec<u32>,
    later: Vec<u32>,
    /// By queue and stage: what is ordered before a use there.
    order: Vec<i32>,
    /// By queue and stage: what waits made visible to a use there.
    seen: Vec<i32>,
    /// By queue, stage and access: what barriers about memory made visible to it, in `rows`.
    shown: Vec<u16>,
    rows: Vec<i32>,
}

impl Lanes {
    /// Begins a frame with these stages, knowing nothing.
    pub fn start(&mut self, queues: usize, stages: Stages) {
        self.queues = queues;
        self.leaves.clear();
        self.leaves.extend(stages.iter());
        self.position_of = [u8::MAX; STAGES];
        for (at, leaf) in self.leaves.iter().enumerate() {
            self.position_of[leaf.bits().trailing_zeros() as usize] = at as u8;
        }
        self.performed.clear();
        self.performed.extend(self.leaves.iter().map(|&leaf| performed_at(leaf)));
        self.earlier.clear();
        self.later.clear();
        for at in 0..self.leaves.len() {
            let (mut earlier, mut later) = (self.leaves[at], self.leaves[at]);
            for pipeline in PIPELINES {
                if let Some(place) = pipeline.iter().position(|stage| *stage == self.leaves[at]) {
                    earlier = pipeline[..place].iter().fold(earlier, |all, stage| all | *stage);
                    later = pipeline[place..].iter().fold(later, |all, stage| all | *stage);
                }
            }
            self.earlier.push(self.mask(earlier));
            self.later.push(self.mask(later));
        }
        let count = queues * self.leaves.len() * self.width();
        self.order.clear();
        self.order.resize(count, NEVER);
        self.seen.clear();
        self.seen.resize(count, NEVER);
        self.shown.clear();
        self.shown.resize(queues * self.leaves.len() * ACCESSES, u16::MAX);
        self.rows.clear();
    }

    /// Begins the next run: everything known is of the run before, in which queues had so many positions.
    pub fn next_run(&mut self, stops: &[i32]) {
        let stages = self.leaves.len();
        for rows in [&mut self.order, &mut self.seen, &mut self.rows] {
            for row in rows.chunks_exact_mut(2 * self.queues * stages) {
                shift(row, stops, stages);
            }
        }
    }

    /// Numbers of a row.
    pub fn width(&self) -> usize {
        2 * self.queues * self.leaves.len()
    }

    /// The mask of those stages that the frame has.
    pub fn mask(&self, stages: Stages) -> u32 {
        let mut left = stages.bits();
        let mut mask = 0;
        while left != 0 {
            let at = self.position_of[left.trailing_zeros() as usize];
            left &= left - 1;
            mask |= if at == u8::MAX { 0 } else { 1 << at };
        }
        mask
    }

    /// The stages of a mask.
    pub fn stages(&self, mask: u32) -> Stages {
        bits(mask).fold(Stages::empty(), |all, at| all | self.leaves[at])
    }

    /// The accesses that the stages of a mask perform.
    pub fn performed(&self, mask: u32) -> Accesses {
        bits(mask).fold(Accesses::empty(), |all, at| all | self.performed[at])
    }

    /// A first scope: the stages and the logically earlier ones.
    pub fn with_earlier(&self, mask: u32) -> u32 {
        bits(mask).fold(0, |all, at| all | self.earlier[at])
    }

    /// A second scope: the stages and the logically later ones.
    pub fn with_later(&self, mask: u32) -> u32 {
        bits(mask).fold(0, |all, at| all | self.later[at])
    }

    /// Where a row says up to where a stage of a queue is done.
    pub fn done(&self, queue: usize, stage: usize) -> usize {
        queue * self.leaves.len() + stage
    }

    /// Where a row says up to where its writes are available.
    pub fn available(&self, queue: usize, stage: usize) -> usize {
        (self.queues + queue) * self.leaves.len() + stage
    }

    /// Rows of a queue, one a stage.
    pub fn of_queue(&self, queue: usize) -> &[i32] {
        let size = self.leaves.len() * self.width();
        &self.order[queue * size..(queue + 1) * size]
    }

    /// What is ordered before a use of a queue at a stage.
    pub fn ordered(&self, queue: usize, stage: usize) -> &[i32] {
        row(&self.order, queue * self.leaves.len() + stage, self.width())
    }

    /// What waits made visible to a use of a queue at a stage.
    pub fn seen(&self, queue: usize, stage: usize) -> &[i32] {
        row(&self.seen, queue * self.leaves.len() + stage, self.width())
    }

    /// Whether a number of a row is reached for every one of these accesses at a stage, by waits or barriers.
    pub fn is_visible(&self, queue: usize, stage: usize, accesses: Accesses, column: usize, position: i32) -> bool {
        let lane = queue * self.leaves.len() + stage;
        self.seen(queue, stage)[column] >= position
            || bits((accesses & self.performed[stage]).bits()).all(|access| {
                let at = self.shown[lane * ACCESSES + access];
                at != u16::MAX && row(&self.rows, usize::from(at), self.width())[column] >= position
            })
    }

    /// What is ordered before a barrier of a queue with this first scope at a position; `before` are the queue's rows.
    pub fn enter(&self, before: &[i32], queue: usize, position: i32, first: u32, into: &mut Vec<i32>) {
        let width = self.width();
        into.clear();
        into.resize(width, NEVER);
        let first = self.with_earlier(first);
        for stage in bits(first) {
            join(into, row(before, stage, width));
        }
        for stage in bits(first) {
            into[self.done(queue, stage)] = position;
        }
    }

    /// Lets what follows on a queue at these stages be ordered after a row.
    pub fn order_after(&mut self, queue: usize, second: u32, from: &[i32]) {
        let width = self.width();
        for stage in bits(self.with_later(second)) {
            let at = (queue * self.leaves.len() + stage) * width;
            join(&mut self.order[at..at + width], from);
        }
    }

    /// A wait of a queue at these stages.
    pub fn wait(&mut self, queue: usize, second: u32, from: &[i32]) {
        self.order_after(queue, second, from);
        let width = self.width();
        for stage in bits(second) {
            let at = (queue * self.leaves.len() + stage) * width;
            join(&mut self.seen[at..at + width], from);
        }
    }

    /// A barrier about memory shows what is available at it.
    pub fn show(&mut self, queue: usize, second: u32, accesses: Accesses, from: &[i32]) {
        let width = self.width();
        for stage in bits(second) {
            for access in bits((accesses & self.performed[stage]).bits()) {
                let at = &mut self.shown[(queue * self.leaves.len() + stage) * ACCESSES + access];
                if *at == u16::MAX {
                    *at = (self.rows.len() / width) as u16;
                    self.rows.resize(self.rows.len() + width, NEVER);
                }
                let start = usize::from(*at) * width;
                join(&mut self.rows[start..start + width], from);
            }
        }
    }

    /// What a signal of a queue at a position has before it: everything there, and all that was waited for.
    pub fn signal(&self, queue: usize, position: i32, met: &[i32], into: &mut Vec<i32>) {
        let start = into.len();
        into.extend_from_slice(met);
        for stage in 0..self.leaves.len() {
            join(&mut into[start..], self.ordered(queue, stage));
        }
        for stage in 0..self.leaves.len() {
            into[start + self.done(queue, stage)] = position;
            into[start + self.available(queue, stage)] = position;
        }
    }
}

fn row(rows: &[i32], at: usize, width: usize) -> &[i32] {
    &rows[at * width..(at + 1) * width]
}

/// Makes a row of this run one of the run before.
pub fn shift(row: &mut [i32], stops: &[i32], stages: usize) {
    for (lane, numbers) in row.chunks_exact_mut(stages).enumerate() {
        for number in numbers.iter_mut().filter(|number| **number != NEVER) {
            *number -= stops[lane % stops.len()];
        }
    }
}
