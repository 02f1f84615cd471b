//! Compiled graphs without an owner, kept for the next declaration that is equal: a graph that is declared again
//! for each frame keeps its memory, views, descriptor sets and recorded commands.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rgraph_plan::graph::{Access, PassId};
use rgraph_plan::id::{IdVec, Span};
use rgraph_plan::plan::{PlanLife, PlanPassId};
use rgraph_work::{Dispatch, Draw, Step};

use crate::compile::compiled_graph::{CompiledGraph, Place};
use crate::compile::known_plans::PlanKey;
use crate::compile::packet::Packets;
use crate::error::Error;
use crate::frame::state::RunState;
use crate::memory::reclaim::Reclaim;
use crate::work::{Work, Workload};

/// Compilations and runs of the device for which a spare graph is kept.
const LIFETIME: u64 = 64;

/// A graph without an owner. Its frames may be under way.
struct Spare {
    key: PlanKey,
    compiled: Arc<CompiledGraph>,
    state: RunState,
    /// Ticks of the device when it lost its owner.
    since: u64,
}

impl Drop for Spare {
    fn drop(&mut self) {
        self.state.end(&self.compiled.shared);
    }
}

#[derive(Default)]
struct Kept {
    ticks: u64,
    /// In the order in which they lost their owners.
    spares: Vec<Spare>,
}

/// The spare graphs of a device. The handles of the device own them, since they own the device's inner state.
pub(crate) struct Spares {
    most: usize,
    kept: Mutex<Kept>,
    /// Whether there are some.
    some: AtomicBool,
}

impl std::fmt::Debug for Spares {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Spares")
    }
}

impl Spares {
    /// Of a device that keeps at most so many.
    pub(crate) fn new(most: u32) -> Self {
        Self { most: most as usize, kept: Mutex::default(), some: AtomicBool::new(false) }
    }

    /// Whether some are kept.
    pub(crate) fn keeps(&self) -> bool {
        self.most > 0
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes some of them; they end without the lock, which their memory's release may need.
    fn remove(&self, which: impl Fn(&Kept, &Spare) -> bool) {
        if !self.some.load(Ordering::Acquire) {
            return;
        }
        let mut gone = Vec::new();
        let mut kept = self.lock();
        for at in (0..kept.spares.len()).rev() {
            if which(&kept, &kept.spares[at]) {
                gone.push(kept.spares.remove(at));
            }
        }
        self.some.store(!kept.spares.is_empty(), Ordering::Release);
        drop(kept);
    }

    /// Keeps a graph, maybe in place of the one that is kept for longest.
    pub(crate) fn keep(&self, key: PlanKey, compiled: Arc<CompiledGraph>, state: RunState) {
        let mut kept = self.lock();
        let since = kept.ticks;
        let first = (kept.spares.len() >= self.most).then(|| kept.spares.remove(0));
        kept.spares.push(Spare { key, compiled, state, since });
        self.some.store(true, Ordering::Release);
        drop((kept, first));
    }

    /// A spare graph of an equal declaration that takes the workload and does what it says from now on; else the
    /// workload stays as it is.
    pub(crate) fn find(
        &self,
        key: PlanKey,
        workload: &mut Workload,
        begin: Instant,
    ) -> Option<(Arc<CompiledGraph>, RunState)> {
        let mut kept = self.lock();
        // Of several the first one, whose frames are done first.
        let at = kept.spares.iter().position(|spare| spare.key == key)?;
        let mut spare = kept.spares.remove(at);
        self.some.store(!kept.spares.is_empty(), Ordering::Release);
        drop(kept);
        let mut state = std::mem::take(&mut spare.state);
        let mut compiled = spare.compiled.clone();
        drop(spare);
        match Arc::get_mut(&mut compiled).and_then(|own| own.renew(workload, begin)) {
            Some(commands) => {
                state.renew(&compiled, commands);
                Some((compiled, state))
            }
            None => {
                state.end(&compiled.shared);
                None
            }
        }
    }
}

impl Reclaim for Spares {
    fn tick(&self) {
        if self.some.load(Ordering::Acquire) {
            self.lock().ticks += 1;
            self.remove(|kept, spare| kept.ticks - spare.since > LIFETIME);
        }
    }

    fn clear(&self) {
        self.remove(|_, _| true);
    }
}

/// What a spare graph does with new steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Renewed {
    /// The commands that are recorded, with other bytes of push data and uniform data perhaps.
    Same,
    Other,
}

impl Packets {
    /// Whether both record the same commands but for transfers and the bytes of push data and uniform data. False with
    /// steps of rays, which are not compared.
    fn alike(&self, other: &Self) -> bool {
        let Self {
            packets,
            of_pass,
            sets,
            writes,
            push,
            data,
            blocks,
            draws,
            vertex,
            transfers: _,
            builds,
            instances,
            traces,
        } = self;
        let none = [0; 3];
        [builds.len(), instances.len(), traces.len()] == none
            && [other.builds.len(), other.instances.len(), other.traces.len()] == none
            && (push.len(), data.len()) == (other.push.len(), other.data.len())
            && (packets, of_pass, sets, writes) == (&other.packets, &other.of_pass, &other.sets, &other.writes)
            && (blocks, draws, vertex) == (&other.blocks, &other.draws, &other.vertex)
    }
}

impl CompiledGraph {
    /// Whether it may do the work of an equal declaration after its owner is gone: nothing lasts from run to run, and
    /// no function of the caller's has a part in it.
    pub(crate) fn is_renewable(&self) -> bool {
        let fleeting = |(memory, place): (_, &Place)| match place {
            Place::Unused | Place::PerContext(_) | Place::Import(..) => true,
            Place::Fixed(_) => self.plan.resources[memory].life != PlanLife::Persistent,
            Place::Ring(_) => false,
        };
        self.chaos.is_none()
            && self.structures.is_empty()
            && self.workload.works.values().all(has_steps)
            && self.places.iter_ids().all(fleeting)
    }

    /// Takes an equal declaration and does its work from now on; `None`: it cannot, and took nothing.
    fn renew(&mut self, workload: &mut Workload, begin: Instant) -> Option<Renewed> {
        // Positions of accesses are kept, which may be declared in several orders.
        let named = |access: &Access| (access.pass, access.resource, access.usage);
        let [known, given] = [&self.workload, &*workload].map(|one| one.graph.accesses().iter().map(named));
        if !known.eq(given) || !workload.works.values().all(has_steps) {
            return None;
        }
        let mut renewed = Renewed::Same;
        if !self.set_push(workload) {
            let packets = self.bind(workload).ok()?;
            if !packets.alike(&self.packets) || !self.equal_transfers(workload) {
                renewed = Renewed::Other;
            }
            self.packets = packets;
        }
        std::mem::swap(&mut self.workload, workload);
        self.bake_us = begin.elapsed().as_secs_f64() * 1e6;
        self.id = Self::next_id();
        Some(renewed)
    }

    /// Copies the push data from other work of the same passes, if they differ in nothing else and each step has one
    /// packet, in their order; `false`: they do differ, and some of the push data may be copied.
    fn set_push(&mut self, workload: &Workload) -> bool {
        for pass in self.plan.live() {
            let Some(declared) = self.table.pass_of[pass] else { continue };
            let given = steps(workload, declared);
            match difference(steps(&self.workload, declared), given) {
                Difference::None => continue,
                Difference::Push => {}
                Difference::Steps => return false,
            }
            let packets = &self.packets.packets[self.packets.of_pass[pass].range()];
            let keys = given.iter().map(|step| pushed(step).map(|(_, key)| key));
            if packets.len() != given.len() || !keys.is_sorted() {
                return false;
            }
            for (packet, step) in packets.iter().zip(given) {
                let known = &mut self.packets.push[packet.push.range()];
                let Some((push, _)) = pushed(step).filter(|(push, _)| push.len() == known.len()) else { return false };
                known.copy_from_slice(push);
            }
        }
        true
    }

    /// The packets of other work of the same passes.
    fn bind(&self, workload: &Workload) -> Result<Packets, Error> {
        let mut packets =
            Packets { of_pass: IdVec::filled(Span::default(), self.plan.passes.len()), ..Packets::default() };
        let binder = self.binder();
        for pass in self.plan.live() {
            match self.table.pass_of[pass] {
                None => binder.add_inserted(pass, &mut packets),
                Some(declared) => binder.add(pass, steps(workload, declared), &mut packets)?,
            }
        }
        Ok(packets)
    }

    fn equal_transfers(&self, workload: &Workload) -> bool {
        let equal = |pass: PlanPassId| {
            let Some(declared) = self.table.pass_of[pass] else { return true };
            let of = |one| steps(one, declared).iter().filter(|step| matches!(step, Step::Transfer(_)));
            of(&self.workload).eq(of(workload))
        };
        self.plan.live().all(equal)
    }
}

fn has_steps(work: &Work) -> bool {
    matches!(work, Work::Steps(_))
}

fn steps(workload: &Workload, pass: PassId) -> &[Step] {
    match workload.works.get(&pass) {
        Some(Work::Steps(steps)) => steps,
        _ => &[],
    }
}

/// How steps differ from those of the same pass before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Difference {
    None,
    /// In bytes of push data alone.
    Push,
    Steps,
}

fn difference(known: &[Step], given: &[Step]) -> Difference {
    if known.len() != given.len() {
        return Difference::Steps;
    }
    known.iter().zip(given).map(difference_of).max().unwrap_or(Difference::None)
}

fn difference_of((known, given): (&Step, &Step)) -> Difference {
    let (same, [one, two]) = match (known, given) {
        (Step::Dispatch(known), Step::Dispatch(given)) => {
            let Dispatch { program, bound, push, groups, key } = known;
            let same = (program, bound, groups, key) == (&given.program, &given.bound, &given.groups, &given.key);
            (same, [push, &given.push])
        }
        (Step::Draw(known), Step::Draw(given)) => {
            let Draw { program, state, bound, push, vertex_buffers, index, count, viewport, key } = known;
            let same = (program, state, bound) == (&given.program, &given.state, &given.bound)
                && (vertex_buffers, index) == (&given.vertex_buffers, &given.index)
                && (count, viewport, key) == (&given.count, &given.viewport, &given.key);
            (same, [push, &given.push])
        }
        _ => return if known == given { Difference::None } else { Difference::Steps },
    };
    match same && one.len() == two.len() {
        true if one == two => Difference::None,
        true => Difference::Push,
        false => Difference::Steps,
    }
}

/// Push data and key of a dispatch or a draw.
fn pushed(step: &Step) -> Option<(&[u8], u64)> {
    match step {
        Step::Dispatch(Dispatch { push, key, .. }) | Step::Draw(Draw { push, key, .. }) => Some((&**push, *key)),
        Step::Transfer(_) | Step::Build(_) | Step::Instances(_) | Step::Trace(_) => None,
    }
}
