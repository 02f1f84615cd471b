//! Which device each pass runs on.
//!
//! Passes that share a memory that cannot be copied are one *group* with one device. Candidates are: everything open on
//! the first device; each group where it ends first in the serial order; groups that are connected through memories
//! kept together, the longest first, on the device with the least work. The best one by the modelled frame is improved
//! by moving one group at a time.
//!
//! Source of the second: Topcuoglu et al., "Performance-effective and low-complexity task scheduling for heterogeneous
//! computing", 2002 (earliest finish time), in serial order; of the third: Graham, "Bounds on multiprocessing timing
//! anomalies", 1969 (longest processing time first).

use super::memory::{Memories, Stay};
use super::split::split;
use super::{DeviceId, Serial, SerialId};
use crate::cancel::poll_now;
use crate::error::{Code, GraphError, Mistake};
use crate::feature::Features;
use crate::graph::{Graph, PassId};
use crate::id::{Id, IdVec};
use crate::plan::Plan;
use crate::profile::Profile;
use crate::resource::{Life, ResourceId};
use crate::stages::validate::features::{implied, lacking};

crate::id! {
    /// A group, which has the number of its first pass.
    struct GroupId;
}

impl GroupId {
    /// The group whose first pass is `pass`.
    fn of_first(pass: SerialId) -> Self {
        Self::new(pass.index())
    }

    fn first_pass(self) -> SerialId {
        SerialId::new(self.index())
    }
}

/// A split must end the modelled frame this much earlier to be worth its copies.
const GAIN: f64 = 0.98;
/// Moves tried per unit of effort.
const MOVES: usize = 64;

/// The search of places.
pub(super) struct Placing<'a> {
    graph: &'a Graph,
    memories: &'a Memories,
    serial: &'a IdVec<SerialId, Serial>,
    profiles: &'a [Profile],
    /// By pass: its group.
    group: IdVec<SerialId, GroupId>,
    /// By group: the device that one of its passes names.
    pinned: IdVec<GroupId, Option<DeviceId>>,
    /// By group: optional features that its passes need.
    needs: IdVec<GroupId, Features>,
    /// Microseconds of a frame per microsecond of its passes: what the first device overlaps, and what barriers cost.
    pub scale: f64,
    /// Sentences for the plan.
    pub notes: Vec<String>,
    /// Why no pass may leave the device of the others.
    together: Option<String>,
}

impl<'a> Placing<'a> {
    pub(super) fn new(
        graph: &'a Graph,
        one: &Plan,
        memories: &'a Memories,
        serial: &'a IdVec<SerialId, Serial>,
        profiles: &'a [Profile],
    ) -> Result<Self, GraphError> {
        let sum: f64 = serial.iter().map(|one| one.us).sum();
        let scale = if sum > 0.0 { one.report.frame_us / sum } else { 1.0 };
        let together = together(graph, memories);
        let mut placing = Self {
            graph,
            memories,
            serial,
            profiles,
            group: IdVec::new(),
            pinned: IdVec::new(),
            needs: IdVec::new(),
            scale,
            notes: Vec::new(),
            together,
        };
        placing.find_groups()?;
        Ok(placing)
    }

    /// Groups, and the devices that they name.
    fn find_groups(&mut self) -> Result<(), GraphError> {
        let count = self.serial.len();
        let mut sets = Sets::new(count);
        let mut first = IdVec::<ResourceId, Option<SerialId>>::filled(None, self.memories.of.len());
        for (position, one) in self.serial.iter_ids() {
            if self.together.is_some() {
                sets.join(SerialId::new(0), position);
            }
            for used in &self.memories.uses[one.pass] {
                if self.memories.bytes[used.memory].is_none() {
                    let with = *first[used.memory].get_or_insert(position);
                    sets.join(with, position);
                }
            }
        }
        self.group = self.serial.ids().map(|position| GroupId::of_first(sets.first(position))).collect();
        self.pinned = IdVec::filled(None, count);
        // By group: the pass that names its device.
        let mut who = IdVec::<GroupId, SerialId>::filled(SerialId::new(0), count);
        let mut mistakes = Vec::new();
        for position in self.serial.ids() {
            let Some(device) = self.serial[position].pinned else { continue };
            let group = self.group[position];
            match self.pinned[group] {
                Some(known) if known != device => mistakes.push(self.torn(who[group], position)),
                Some(_) => {}
                None => (self.pinned[group], who[group]) = (Some(device), position),
            }
        }
        GraphError::check(mistakes)?;
        self.find_needs()
    }

    /// What groups need of a device; a mistake for each pass that finds it on none, or not on its own.
    fn find_needs(&mut self) -> Result<(), GraphError> {
        let mut of_pass: IdVec<PassId, Features> =
            self.graph.passes().iter().map(crate::graph::Pass::needed_features).collect();
        for access in self.graph.accesses() {
            of_pass[access.pass] |= implied(access);
        }
        self.needs = IdVec::filled(Features::empty(), self.serial.len());
        for (position, one) in self.serial.iter_ids() {
            self.needs[self.group[position]] |= of_pass[one.pass];
        }
        let devices = (0..self.profiles.len()).map(DeviceId::new);
        let mut mistakes = Vec::new();
        for (position, one) in self.serial.iter_ids() {
            let group = self.group[position];
            let found = match self.pinned[group] {
                Some(device) => self.has(group, device),
                None => devices.clone().any(|device| self.has(group, device)),
            };
            if found || of_pass[one.pass].is_empty() {
                continue;
            }
            // The device that lacks the least; of several the first.
            let missing = |device: DeviceId| {
                let has = self.profiles[device.index()].features.unwrap_or(Features::all());
                self.needs[group] - has
            };
            let nearest =
                devices.clone().min_by_key(|device| missing(*device).bits().count_ones()).unwrap_or(DeviceId::new(0));
            let device = self.pinned[group].unwrap_or(nearest);
            let profile = &self.profiles[device.index()].name;
            mistakes.push(lacking(self.graph, one.pass, profile, missing(device)));
        }
        GraphError::check(mistakes)
    }

    /// Whether a device has the features that a group needs.
    fn has(&self, group: GroupId, device: DeviceId) -> bool {
        let has = self.profiles[device.index()].features;
        has.is_none_or(|has| has.contains(self.needs[group]))
    }

    /// The first device that has what a group needs.
    fn first_with(&self, group: GroupId) -> DeviceId {
        let mut devices = (0..self.profiles.len()).map(DeviceId::new);
        devices.find(|device| self.has(group, *device)).unwrap_or(DeviceId::new(0))
    }

    /// Two passes on two devices that have to be on one.
    fn torn(&self, one: SerialId, other: SerialId) -> Mistake {
        let name = |position: SerialId| self.graph.pass_name(self.serial[position].pass);
        let device = |position: SerialId| self.serial[position].pinned.map_or(0, Id::index);
        let why = match &self.together {
            Some(why) => why.clone(),
            None => match self.uncopied(one, other) {
                Some(memory) => format!("\"{}\" cannot be copied between devices", self.graph.resource_name(memory)),
                None => "passes between them share what cannot be copied between devices".to_owned(),
            },
        };
        let message = format!(
            "pass \"{}\" runs on device {} and pass \"{}\" on device {}, but {why}",
            name(one),
            device(one),
            name(other),
            device(other)
        );
        let help = "name one device for both, or resolve samples before another device reads them";
        let mut mistake = Mistake::new(Code::BadAccess, message, help).pass(name(other));
        for position in [one, other] {
            let place = self.graph.pass_place(self.serial[position].pass).cloned();
            mistake = mistake.side(name(position), format!("device {}", device(position)), place);
        }
        mistake
    }

    /// A memory of both passes that cannot be copied.
    fn uncopied(&self, one: SerialId, other: SerialId) -> Option<ResourceId> {
        let uses = |position: SerialId| &self.memories.uses[self.serial[position].pass];
        let both = |memory: ResourceId| uses(other).iter().any(|used| used.memory == memory);
        uses(one).iter().map(|used| used.memory).find(|&memory| self.memories.bytes[memory].is_none() && both(memory))
    }

    /// The device of each pass.
    pub(super) fn search(&mut self, effort: u32) -> Result<IdVec<SerialId, DeviceId>, GraphError> {
        let first = self.on_one();
        if self.profiles.len() == 1 || self.group.iter().all(|&group| self.pinned[group].is_some()) {
            return Ok(first);
        }
        if let Some(why) = &self.together {
            self.notes.push(format!("all passes run on one device: {why}"));
            return Ok(first);
        }
        let mut best = (self.price(&first), first.clone());
        for candidate in [self.earliest(), self.components()] {
            let price = self.price(&candidate);
            if price < best.0 {
                best = (price, candidate);
            }
        }
        self.improve(&mut best, effort);
        let alone = self.price(&first);
        if best.0.0 > alone.0 * GAIN {
            let pins = self.pinned.iter().flatten().any(|device| device.index() != 0);
            if !pins {
                let saved = (alone.0 - best.0.0).max(0.0);
                self.notes.push(format!("all passes run on device 0: other devices would save {saved:.0} µs"));
            }
            return Ok(first);
        }
        Ok(best.1)
    }

    /// Everything that names no device on the first one; a graph that stays together where one of its passes is.
    fn on_one(&self) -> IdVec<SerialId, DeviceId> {
        self.group.iter().map(|&group| self.pinned[group].unwrap_or_else(|| self.first_with(group))).collect()
    }

    /// Modelled frame, then bytes copied.
    fn price(&self, place: &IdVec<SerialId, DeviceId>) -> (f64, u64) {
        let split = split(self.graph, self.memories, self.serial, place, self.profiles.len());
        (split.frame_us(self.serial, self.profiles, self.scale), split.bytes())
    }

    /// In serial order, each group where its first pass ends first.
    fn earliest(&self) -> IdVec<SerialId, DeviceId> {
        let devices = self.profiles.len();
        let mut place = self.pinned.clone();
        let mut free = IdVec::<DeviceId, f64>::filled(0.0, devices);
        // By memory: when it was written last, and where.
        let mut made = IdVec::<ResourceId, Option<(f64, DeviceId)>>::filled(None, self.memories.of.len());
        for (position, one) in self.serial.iter_ids() {
            let group = self.group[position];
            let ready = |device: DeviceId| {
                let uses = self.memories.uses[one.pass].iter().filter(|used| !used.replaces);
                let come = uses.filter_map(|used| made[used.memory].map(|made| (made, used.memory)));
                come.map(|((at, on), memory)| at + if on == device { 0.0 } else { self.copy_us(memory, device) })
                    .fold(free[device], f64::max)
            };
            let us = one.us * self.scale;
            let device = place[group].unwrap_or_else(|| {
                let able = (0..devices).map(DeviceId::new).filter(|device| self.has(group, *device));
                let all = able.map(|device| (ready(device), device));
                all.min_by(|a, b| a.partial_cmp(b).expect("times are numbers"))
                    .map_or(DeviceId::new(0), |(_, device)| device)
            });
            place[group] = Some(device);
            let end = ready(device) + us;
            free[device] = end;
            for used in self.memories.uses[one.pass].iter().filter(|used| used.writes) {
                made[used.memory] = Some((end, device));
            }
        }
        self.group.iter().map(|&group| place[group].unwrap_or(DeviceId::new(0))).collect()
    }

    fn copy_us(&self, memory: ResourceId, device: DeviceId) -> f64 {
        let profile = &self.profiles[device.index()];
        let bytes = self.memories.bytes[memory].unwrap_or(0);
        profile.copy_us + bytes as f64 / (profile.copy_gb_s * 1e3)
    }

    /// What is connected through memories stays together: the longest first, where there is least to do.
    fn components(&self) -> IdVec<SerialId, DeviceId> {
        let count = self.serial.len();
        let mut sets = Sets::new(count);
        let mut first = IdVec::<ResourceId, Option<SerialId>>::filled(None, self.memories.of.len());
        for (position, one) in self.serial.iter_ids() {
            sets.join(self.group[position].first_pass(), position);
            for used in &self.memories.uses[one.pass] {
                // What is only read connects nothing.
                let memory = match self.memories.stay[used.memory] {
                    Stay::Given => continue,
                    Stay::Past(of) => of,
                    Stay::Frame | Stay::Carried => used.memory,
                };
                let with = *first[memory].get_or_insert(position);
                sets.join(with, position);
            }
        }
        let mut load = IdVec::<DeviceId, f64>::filled(0.0, self.profiles.len());
        // By the first pass of a set.
        let mut lengths = IdVec::<SerialId, f64>::filled(0.0, count);
        let mut place = IdVec::<SerialId, Option<DeviceId>>::filled(None, count);
        let mut needs = IdVec::<SerialId, Features>::filled(Features::empty(), count);
        for position in self.serial.ids() {
            let set = sets.first(position);
            lengths[set] += self.serial[position].us;
            needs[set] |= self.needs[self.group[position]];
            place[set] = place[set].or(self.pinned[self.group[position]]);
        }
        let mut order: Vec<SerialId> = self.serial.ids().filter(|&set| sets.first(set) == set).collect();
        let open = |set: &SerialId| place[*set].is_none();
        order.sort_by(|a, b| {
            let by_length = lengths[*b].partial_cmp(&lengths[*a]).expect("durations are numbers");
            open(a).cmp(&open(b)).then(by_length).then(a.cmp(b))
        });
        for set in order {
            let has =
                |device: &DeviceId| self.profiles[device.index()].features.is_none_or(|has| has.contains(needs[set]));
            let able = load.ids().filter(has);
            let least = able.min_by(|a, b| load[*a].partial_cmp(&load[*b]).expect("sums are numbers"));
            let device = place[set].or(least).unwrap_or(DeviceId::new(0));
            load[device] += lengths[set];
            place[set] = Some(device);
        }
        let mut of = |position: SerialId| {
            let group = self.group[position];
            // No device may have what all groups of a set need together.
            let with_set = place[sets.first(position)].filter(|device| self.has(group, *device));
            self.pinned[group].or(with_set).unwrap_or_else(|| self.first_with(group))
        };
        self.serial.ids().map(&mut of).collect()
    }

    /// Moves one group at a time to another device while that makes the frame shorter.
    fn improve(&self, best: &mut ((f64, u64), IdVec<SerialId, DeviceId>), effort: u32) {
        let mut left = MOVES.saturating_mul(effort as usize);
        let open = |group: &GroupId| self.group[group.first_pass()] == *group && self.pinned[*group].is_none();
        let mut groups: Vec<GroupId> = self.pinned.ids().filter(open).collect();
        let us = |group: &GroupId| self.serial[group.first_pass()].us;
        groups.sort_by(|a, b| us(b).partial_cmp(&us(a)).expect("durations are numbers"));
        let mut better = true;
        while better {
            better = false;
            for &group in &groups {
                for device in (0..self.profiles.len()).map(DeviceId::new) {
                    if best.1[group.first_pass()] == device || !self.has(group, device) {
                        continue;
                    }
                    if left == 0 {
                        return;
                    }
                    left -= 1;
                    poll_now();
                    let mut moved = best.1.clone();
                    let own = self.group.ids().filter(|position| self.group[*position] == group);
                    own.for_each(|position| moved[position] = device);
                    let price = self.price(&moved);
                    if price < best.0 {
                        (*best, better) = ((price, moved), true);
                    }
                }
            }
        }
    }
}

/// Why the passes of a graph have to stay on one device, if they have to.
fn together(graph: &Graph, memories: &Memories) -> Option<String> {
    if let Some(fallback) = graph.fallbacks().first() {
        let (name, other) = (graph.pass_name(fallback.pass), graph.resource_name(fallback.input));
        return Some(format!(
            "pass \"{name}\" has a fallback \"{other}\", which is not supported over several devices"
        ));
    }
    let mut known = std::collections::HashMap::new();
    for (id, resource) in graph.resources().iter_ids() {
        let Life::History(history) = resource.life else { continue };
        if let Some(first) = known.insert((memories.of[history.of], history.frames), id) {
            let (first, name) = (graph.resource_name(first), graph.resource_name(id));
            let what = format!("\"{first}\" and \"{name}\" are one history");
            return Some(format!("{what}, which is not supported over several devices: use one of the two"));
        }
    }
    let [base, resource] = memories.scaled?;
    let (base, name) = (graph.resource_name(base), graph.resource_name(resource));
    Some(format!("\"{name}\" modifies \"{base}\" of another size, which is not supported over several devices"))
}

/// Disjoint sets of passes, each known by its first one.
struct Sets(IdVec<SerialId, SerialId>);

impl Sets {
    fn new(count: usize) -> Self {
        Self((0..count).map(SerialId::new).collect())
    }

    fn first(&mut self, mut at: SerialId) -> SerialId {
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, one: SerialId, other: SerialId) {
        let (one, other) = (self.first(one), self.first(other));
        self.0[one.max(other)] = one.min(other);
    }
}
