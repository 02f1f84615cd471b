//! Which copies may wait for their receiver: those through a few slots end only when it has begun to take the contents.

use rgraph_plan::devices::{DeviceCopyId, DeviceId, DeviceStep, DevicesPlan};
use rgraph_plan::id::{Id, IdVec};

/// Those of some copies that may wait for their receiver without a circle of devices that wait for each other; the
/// others need room for all of their contents. O(steps · devices).
///
/// A walk over the steps in which such a send and its receive happen at once. Where it is stuck, the first send that
/// waits gets room. Each device has one order of steps, so how the walk interleaves them makes no difference (Kahn,
/// "The Semantics of a Simple Language for Parallel Programming", 1974).
pub(super) fn meeting(plan: &DevicesPlan, mut meets: IdVec<DeviceCopyId, bool>) -> IdVec<DeviceCopyId, bool> {
    let mut sent: IdVec<DeviceCopyId, bool> = plan.copies.iter().map(|_| false).collect();
    let mut steps: Vec<Vec<DeviceStep>> = (0..plan.profiles.len())
        .map(DeviceId::new)
        .map(|device| plan.steps.iter().copied().filter(|step| plan.device_of(*step) == device).rev().collect())
        .collect();
    loop {
        let mut moved = false;
        for device in 0..steps.len() {
            while let Some(step) = steps[device].last().copied() {
                match step {
                    DeviceStep::Run(_) => {}
                    DeviceStep::Receive(copy) if sent[copy] => {}
                    DeviceStep::Send(copy) if !meets[copy] => sent[copy] = true,
                    DeviceStep::Send(copy) => {
                        let to = &mut steps[plan.copies[copy].to.index()];
                        if !matches!(to.last(), Some(DeviceStep::Receive(other)) if *other == copy) {
                            break;
                        }
                        to.pop();
                    }
                    DeviceStep::Receive(_) => break,
                }
                steps[device].pop();
                moved = true;
            }
        }
        if moved {
            continue;
        }
        let waiting = steps.iter().filter_map(|steps| match steps.last() {
            Some(DeviceStep::Send(copy)) => Some(*copy),
            _ => None,
        });
        match waiting.min() {
            Some(copy) => meets[copy] = false,
            None => return meets,
        }
    }
}

#[cfg(test)]
mod tests {
    use rgraph_plan::devices::DeviceCopy;

    use super::*;

    /// Copies between pairs of devices, and the steps: `s0` sends copy 0, `r0` receives it.
    fn plan(copies: &[(usize, usize)], steps: &str) -> DevicesPlan {
        let mut plan = DevicesPlan { profiles: vec![String::new(); 3], ..DevicesPlan::default() };
        for &(from, to) in copies {
            plan.copies.push(DeviceCopy { resource: None, from: DeviceId::new(from), to: DeviceId::new(to), bytes: 0 });
        }
        for step in steps.split(' ') {
            let copy = DeviceCopyId::new(step[1..].parse().expect("a number"));
            plan.steps.push(if step.starts_with('s') { DeviceStep::Send(copy) } else { DeviceStep::Receive(copy) });
        }
        plan
    }

    fn waits(copies: &[(usize, usize)], steps: &str) -> Vec<bool> {
        let all = copies.iter().map(|_| true).collect();
        meeting(&plan(copies, steps), all).iter().copied().collect()
    }

    #[test]
    fn copies_wait_for_their_receivers_unless_devices_would_wait_in_a_circle() {
        assert_eq!(waits(&[(0, 1), (1, 0)], "s0 r0 s1 r1"), [true, true], "there and back");
        assert_eq!(waits(&[(0, 1), (1, 0)], "s0 s1 r0 r1"), [false, true], "both send first");
        assert_eq!(waits(&[(0, 1), (0, 1)], "s0 s1 r0 r1"), [true, true], "in one order");
        assert_eq!(waits(&[(0, 1), (0, 1)], "s0 s1 r1 r0"), [false, true], "the other way round");
        assert_eq!(waits(&[(0, 1), (1, 2), (2, 0)], "s0 s1 s2 r0 r1 r2"), [false, true, true], "round in a ring");
        assert_eq!(waits(&[(0, 1), (1, 2), (2, 0)], "s0 r0 s1 r1 s2 r2"), [true, true, true], "one after the other");
    }
}
