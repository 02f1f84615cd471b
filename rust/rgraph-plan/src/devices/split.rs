//! The cut of a placed serial order into parts and copies.
//!
//! A pass has a *level*: that of the passes of its device before it that share a memory with it, and one more than that
//! of passes elsewhere whose contents it needs. Passes of one device and level are a part. A copy is sent after the
//! part that made the contents and received before the part that needs them. So a level is also above that of earlier
//! sends of a memory that the pass writes, and of earlier uses of a memory that it receives.

use super::memory::{Memories, Stay};
use super::{
    DeviceCopy, DeviceCopyId, DeviceId, DevicePart, DevicePartId, DevicePlace, DeviceStep, DevicesPlan, Serial,
    SerialId, orders_of_live, positions,
};
use crate::graph::{Graph, PassId};
use crate::id::{Id, IdVec};
use crate::profile::Profile;
use crate::resource::ResourceId;

/// A copy with the levels after and before which it happens.
#[derive(Clone, Copy, Debug)]
struct Copy {
    what: DeviceCopy,
    sent: u32,
    received: u32,
}

/// Passes of one device and level.
#[derive(Debug)]
struct Part {
    level: u32,
    device: DeviceId,
    passes: Vec<SerialId>,
}

/// Parts and copies.
#[derive(Debug, Default)]
pub(super) struct Split {
    /// By pass: the level, from 1.
    level: IdVec<SerialId, u32>,
    /// By level and device, those with passes.
    parts: IdVec<DevicePartId, Part>,
    copies: IdVec<DeviceCopyId, Copy>,
    homes: Vec<DevicePlace>,
    results: Vec<DevicePlace>,
    order: Vec<DeviceStep>,
    passes: IdVec<SerialId, PassId>,
}

/// What a device knows of a memory.
#[derive(Clone, Copy, Default)]
struct Held {
    /// From which level on it has the latest contents.
    latest: Option<u32>,
    /// The last level that uses it.
    used: u32,
    /// The last level after which it is sent away.
    sent: Option<u32>,
}

struct Walk<'a> {
    memories: &'a Memories,
    /// By memory and device.
    held: IdVec<ResourceId, IdVec<DeviceId, Held>>,
    /// By memory: whether it holds something.
    filled: IdVec<ResourceId, bool>,
    copies: IdVec<DeviceCopyId, Copy>,
}

/// Cuts a serial order whose passes run on the devices of `place`. O(accesses · devices).
pub(super) fn split(
    graph: &Graph,
    memories: &Memories,
    serial: &IdVec<SerialId, Serial>,
    place: &IdVec<SerialId, DeviceId>,
    devices: usize,
) -> Split {
    let homes = homes(memories, serial, place);
    let mut walk = Walk {
        memories,
        held: IdVec::filled(IdVec::filled(Held::default(), devices), graph.resources().len()),
        filled: memories.filled.clone(),
        copies: IdVec::new(),
    };
    for memory in graph.resources().ids() {
        for device in (0..devices).map(DeviceId::new) {
            let has = match memories.stay[memory] {
                Stay::Frame => false,
                Stay::Given => true,
                Stay::Carried => homes[memory] == device,
                Stay::Past(of) => homes[of] == device,
            };
            if has && memories.filled[memory] {
                walk.held[memory][device].latest = Some(0);
            }
        }
    }
    let at = positions(graph, serial);
    let mut before = IdVec::<SerialId, Vec<SerialId>>::filled(Vec::new(), serial.len());
    for (later, earlier) in orders_of_live(graph, |pass| at[pass].is_some()) {
        if let (Some(later), Some(earlier)) = (at[later], at[earlier]) {
            before[later].push(earlier);
        }
    }
    let mut level = IdVec::filled(1, serial.len());
    for (position, one) in serial.iter_ids() {
        let device = place[position];
        let mut own = 1;
        for &earlier in &before[position] {
            let elsewhere = u32::from(place[earlier] != device);
            own = own.max(level[earlier] + elsewhere);
        }
        own = own.max(walk.level(one, device));
        level[position] = own;
        walk.commit(one, device, own);
        for &earlier in &before[position] {
            walk.come_later(place[earlier], level[earlier], device, own);
        }
    }
    let mut split = Split { level, copies: walk.copies, ..Split::default() };
    split.passes = serial.iter().map(|one| one.pass).collect();
    split.find_parts(place);
    split.find_order(devices);
    let kept = |memory: &ResourceId| memories.stay[*memory] == Stay::Carried;
    let homes_of = |memory: ResourceId| DevicePlace { resource: memory, device: homes[memory] };
    split.homes = graph.resources().ids().filter(kept).map(homes_of).collect();
    let result = |root: &ResourceId| DevicePlace { resource: *root, device: homes[memories.of[*root]] };
    split.results = graph.roots().iter().map(result).collect();
    split
}

/// By memory: the device of the last pass that writes it, else of the first that reads it.
fn homes(
    memories: &Memories,
    serial: &IdVec<SerialId, Serial>,
    place: &IdVec<SerialId, DeviceId>,
) -> IdVec<ResourceId, DeviceId> {
    let mut home: IdVec<ResourceId, Option<(bool, DeviceId)>> = IdVec::filled(None, memories.of.len());
    for (one, &device) in serial.iter().zip(place) {
        for used in &memories.uses[one.pass] {
            let known = &mut home[used.memory];
            if used.writes || known.is_none() {
                *known = Some((used.writes, device));
            }
        }
    }
    let of = |memory: ResourceId| match memories.stay[memory] {
        Stay::Past(of) => home[of].or(home[memory]),
        _ => home[memory],
    };
    memories.of.ids().map(|memory| of(memory).map_or(DeviceId::new(0), |(_, device)| device)).collect()
}

impl Walk<'_> {
    /// Whether a pass on a device has to receive a memory first.
    fn receives(&self, used: &super::memory::MemoryUse, device: DeviceId) -> bool {
        self.filled[used.memory] && !used.replaces && self.held[used.memory][device].latest.is_none()
    }

    /// The device that a memory is copied from: the one that had it first.
    fn source(&self, memory: ResourceId) -> DeviceId {
        let held = self.held[memory].iter_ids();
        let first = held.filter_map(|(device, held)| held.latest.map(|level| (level, device))).min();
        first.expect("a memory that holds something is somewhere").1
    }

    /// The least level of a pass.
    fn level(&self, one: &Serial, device: DeviceId) -> u32 {
        let mut level = 1;
        for used in &self.memories.uses[one.pass] {
            let here = self.held[used.memory][device];
            if self.receives(used, device) {
                let source = self.held[used.memory][self.source(used.memory)];
                let made = source.latest.expect("the source has it");
                level = level.max(made + 1).max(here.used + 1);
            }
            level = level.max(here.used).max(here.latest.unwrap_or(0));
            if let Some(sent) = here.sent.filter(|_| used.writes) {
                level = level.max(sent + 1);
            }
        }
        level
    }

    fn commit(&mut self, one: &Serial, device: DeviceId, level: u32) {
        for used in &self.memories.uses[one.pass] {
            if self.receives(used, device) {
                let from = self.source(used.memory);
                let source = &mut self.held[used.memory][from];
                let sent = source.latest.expect("the source has it");
                source.sent = source.sent.max(Some(sent));
                let bytes = self.memories.bytes[used.memory].unwrap_or(0);
                let what = DeviceCopy { resource: Some(used.memory), from, to: device, bytes };
                self.copies.push(Copy { what, sent, received: level });
                self.held[used.memory][device].latest = Some(level);
            }
            if used.writes {
                self.held[used.memory].iter_mut().for_each(|held| held.latest = None);
                self.held[used.memory][device].latest = Some(level);
                self.filled[used.memory] = true;
            }
            self.held[used.memory][device].used = level;
        }
    }

    /// A pass that only comes later than one elsewhere, if no copy makes it so.
    fn come_later(&mut self, from: DeviceId, sent: u32, to: DeviceId, received: u32) {
        let ordered = |copy: &Copy| {
            (copy.what.from, copy.what.to) == (from, to) && copy.sent >= sent && copy.received <= received
        };
        if from != to && !self.copies.iter().any(ordered) {
            let what = DeviceCopy { resource: None, from, to, bytes: 0 };
            self.copies.push(Copy { what, sent, received });
        }
    }
}

impl Split {
    fn find_parts(&mut self, place: &IdVec<SerialId, DeviceId>) {
        let mut order: Vec<SerialId> = place.ids().collect();
        order.sort_by_key(|&position| (self.level[position], place[position], position));
        for passes in order.chunk_by(|a, b| (self.level[*a], place[*a]) == (self.level[*b], place[*b])) {
            let first = passes[0];
            self.parts.push(Part { level: self.level[first], device: place[first], passes: passes.to_vec() });
        }
    }

    /// Level by level: receives, parts, sends.
    fn find_order(&mut self, devices: usize) {
        let last = self.parts.iter().map(|part| part.level).max().unwrap_or(0);
        let mut order = Vec::new();
        for level in 0..=last {
            let received = self.copies.iter_ids().filter(|(_, copy)| copy.received == level);
            order.extend(received.map(|(copy, _)| DeviceStep::Receive(copy)));
            let here = self.parts.iter_ids().filter(|(_, part)| part.level == level);
            order.extend(here.map(|(part, _)| DeviceStep::Run(part)));
            let sent = self.copies.iter_ids().filter(|(_, copy)| copy.sent == level);
            order.extend(sent.map(|(copy, _)| DeviceStep::Send(copy)));
        }
        debug_assert!(self.parts.iter().all(|part| part.device.index() < devices), "places are devices");
        self.order = order;
    }

    /// Modelled frame in microseconds: a device's steps follow each other, a receive waits for its send.
    pub(super) fn frame_us(&self, serial: &IdVec<SerialId, Serial>, profiles: &[Profile], scale: f64) -> f64 {
        let mut free = IdVec::<DeviceId, f64>::filled(0.0, profiles.len());
        let mut sent = IdVec::<DeviceCopyId, f64>::filled(0.0, self.copies.len());
        for step in &self.order {
            match *step {
                DeviceStep::Run(part) => {
                    let Part { device, passes, .. } = &self.parts[part];
                    free[*device] += passes.iter().map(|&at| serial[at].us * scale).sum::<f64>();
                }
                DeviceStep::Send(copy) => {
                    let what = self.copies[copy].what;
                    free[what.from] += half_us(&profiles[what.from.index()], what.bytes);
                    sent[copy] = free[what.from];
                }
                DeviceStep::Receive(copy) => {
                    let what = self.copies[copy].what;
                    let to = &mut free[what.to];
                    *to = to.max(sent[copy]) + half_us(&profiles[what.to.index()], what.bytes);
                }
            }
        }
        free.iter().copied().fold(0.0, f64::max)
    }

    /// Bytes of all copies.
    pub(super) fn bytes(&self) -> u64 {
        self.copies.iter().map(|copy| copy.what.bytes).sum()
    }

    /// Writes parts, copies and steps into a plan.
    pub(super) fn into_plan(self, plan: &mut DevicesPlan) {
        let part = |part: &Part| DevicePart {
            device: part.device,
            passes: part.passes.iter().map(|&position| self.passes[position]).collect(),
        };
        plan.parts = self.parts.iter().map(part).collect();
        plan.copies = self.copies.iter().map(|copy| copy.what).collect();
        plan.steps = self.order;
        plan.homes = self.homes;
        plan.results = self.results;
    }
}

/// Half of what a copy costs, in microseconds: either side of it.
fn half_us(profile: &Profile, bytes: u64) -> f64 {
    0.5 * (profile.copy_us + bytes as f64 / (profile.copy_gb_s * 1e3))
}
