//! Subsets of the queues: for each, the scheduler plans the passes that may run on several queues.
//!
//! With an additional queue, a list scheduler may return a longer frame (Graham's anomalies). Taking the best over all
//! subsets prevents that, since the schedules for fewer queues are among the candidates for more.

use super::instance::{HOST, Instance};
use super::model::QUEUES;
use super::weighted::Ranked;
use crate::id::IdVec;
use crate::stages::ids::LiveId;

/// Most subsets that are all tried; if there are more, only the prefixes of the sorted queues are.
const MOST_CHOICES: u64 = 1024;

/// Working memory.
#[derive(Default, Debug)]
pub(super) struct Subsets {
    /// The queues that each pass may run on in the current choice.
    pub masks: IdVec<LiveId, u32>,
    queues: Vec<Known>,
    /// Queues that some pass needs, as bits: they are in every choice.
    required: u32,
    /// Number of queues that the current choice takes of each class of equal queues, at the position of its first
    /// queue.
    take: Vec<u8>,
    prefix: Option<usize>,
    started: bool,
    open: bool,
}

/// A queue that some pass may run on. Queues of equal signatures may run the same passes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Known {
    /// Minus the number of passes, so that the queue that may run the most comes first.
    users: i64,
    signature: u64,
    queue: u8,
}

impl Subsets {
    /// Prepares the choices. O(passes · queues that each may run on).
    pub(super) fn begin(&mut self, instance: &Instance<'_>) {
        let mut known = [(0i64, 0u64); QUEUES];
        self.required = 0;
        self.open = false;
        for (pass, &mask) in instance.queues.iter().enumerate() {
            let mut left = mask.max(1);
            if left.is_power_of_two() {
                self.required |= left;
            } else {
                self.open = true;
            }
            let mixed = mix(pass as u64 + 1);
            while left != 0 {
                let queue = &mut known[left.trailing_zeros() as usize];
                queue.0 -= 1;
                queue.1 = queue.1.wrapping_add(mixed);
                left &= left - 1;
            }
        }
        self.queues.clear();
        self.queues.extend(known.iter().enumerate().filter(|(_, known)| known.0 < 0).map(|(queue, known)| Known {
            users: known.0,
            signature: known.1,
            queue: queue as u8,
        }));
        // Queues are ranked by the passes that they may run, not by number, so the rank of two queues does not change
        // when the device has further ones.
        self.queues.sort_unstable();
        self.take.clear();
        let mut choices = 1u64;
        for i in 0..self.queues.len() {
            let size = self.class_size(i);
            self.take.push(size);
            choices = choices.saturating_mul(u64::from(size) + 1);
        }
        self.prefix = (choices > MOST_CHOICES).then_some(self.queues.len());
        self.started = false;
    }

    /// Number of queues in the class that begins with the `i`th queue; 0 if none begins there or the queue is required.
    fn class_size(&self, i: usize) -> u8 {
        let class = |known: &Known| (known.users, known.signature);
        let first = &self.queues[i];
        if self.required & (1 << first.queue) != 0 || (i > 0 && class(&self.queues[i - 1]) == class(first)) {
            return 0;
        }
        self.queues[i..].iter().take_while(|known| class(known) == class(first)).count() as u8
    }

    /// The next choice of queues, all of them first; `None` after the last. O(passes) per choice.
    pub(super) fn next(&mut self, instance: &Instance<'_>) -> Option<Ranked> {
        loop {
            crate::cancel::poll();
            if self.started && !self.step() {
                return None;
            }
            self.started = true;
            let ranked = self.ranked();
            let chosen = ranked.as_slice().iter().fold(0u32, |mask, &queue| mask | 1 << queue);
            self.masks.clear();
            self.masks.extend(instance.queues.iter().map(|&mask| mask.max(1) & chosen));
            if self.masks.iter().all(|&mask| mask != 0) {
                return Some(ranked);
            }
        }
    }

    /// Number of queues that some pass may run on, the host included.
    pub(super) fn len(&self) -> usize {
        self.queues.len()
    }

    /// Whether some pass may run on several queues.
    pub(super) fn open(&self) -> bool {
        self.open
    }

    /// Number of queues of the device that some pass may run on.
    pub(super) fn queues(&self) -> usize {
        self.queues.iter().filter(|known| known.queue != HOST).count()
    }

    /// Counts the choice down; `false` after the last.
    fn step(&mut self) -> bool {
        if let Some(prefix) = &mut self.prefix {
            *prefix = prefix.saturating_sub(1);
            return *prefix > 0;
        }
        for i in 0..self.take.len() {
            if self.take[i] > 0 {
                self.take[i] -= 1;
                return true;
            }
            self.take[i] = self.class_size(i);
        }
        false
    }

    fn ranked(&self) -> Ranked {
        let mut ranked = Ranked::new();
        let mut left = 0;
        for (i, known) in self.queues.iter().enumerate() {
            let in_class = self.class_size(i) > 0;
            if in_class {
                left = self.take[i];
            }
            let chosen = match self.prefix {
                Some(prefix) => i < prefix,
                None => left > 0,
            };
            if self.required & (1 << known.queue) != 0 {
                ranked.push(known.queue);
            } else if chosen {
                ranked.push(known.queue);
                left = left.saturating_sub(1);
            }
        }
        ranked
    }
}

/// A hash of a number, so that sums of hashes differ for different sets.
///
/// # Source
/// The finaliser of Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
pub(super) fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::MemoryBudget;
    use crate::stages::schedule::{Bytes, Costs, Csr, Deps};

    fn choices(queues: &[u32]) -> Vec<Vec<u8>> {
        let mut deps = Deps::default();
        deps.refill(queues.len(), std::iter::empty());
        let (users, uses) = (Csr::default(), Csr::default());
        let instance = Instance {
            deps: &deps,
            weight_us: &IdVec::filled(1.0, queues.len()),
            measured: false,
            certain: false,
            size: &IdVec::filled(1.0, queues.len()),
            draws: &IdVec::new(),
            graphics: 0,
            queues: &queues.iter().copied().collect(),
            queue_count: 8,
            class: &IdVec::filled(0, queues.len()),
            merges: &[],
            bytes: Bytes { bytes: &IdVec::new(), kept: &IdVec::new(), users: &users, uses: &uses },
            memory: MemoryBudget::default(),
            heap: None,
            costs: Costs::default(),
        };
        let mut subsets = Subsets::default();
        subsets.begin(&instance);
        std::iter::from_fn(|| subsets.next(&instance)).map(|ranked| ranked.as_slice().to_vec()).collect()
    }

    #[test]
    fn named_queues_leave_one_choice() {
        assert_eq!(choices(&[1, 4, 1]), [vec![0, 2]]);
    }

    #[test]
    fn equal_queues_are_counted_not_permuted() {
        assert_eq!(choices(&[0b111, 0b111]), [vec![0, 1, 2], vec![0, 1], vec![0]]);
    }

    #[test]
    fn every_choice_leaves_each_pass_a_queue() {
        let sorted = |mut sets: Vec<Vec<u8>>| {
            sets.iter_mut().for_each(|set| set.sort_unstable());
            sets.sort();
            sets
        };
        assert_eq!(sorted(choices(&[1, 0b11, 0b110])), [vec![0, 1], vec![0, 1, 2], vec![0, 2]]);
    }

    #[test]
    fn very_many_choices_become_prefixes() {
        let queues: Vec<u32> = (0..16).map(|i| 1 | 1 << i | 1 << ((i + 1) % 16)).collect();
        let sets = choices(&queues);
        assert!(sets.len() <= 16 && sets[0].len() == 16, "{sets:?}");
    }
}
