//! Copies from one device to another, piece by piece through slots: one device fills a slot while the other one empties
//! those before. The slots are memory of the host that both devices import, or memory of either device between which
//! CUDA copies.

mod cuda;
pub(crate) mod direct;
mod driver;
#[cfg(test)]
pub(crate) mod fake_cuda;
#[cfg(test)]
pub(crate) mod tests;

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rgraph_plan::plan::PlanKind;

use crate::device::Device;
use crate::device::queue::Point;
use crate::error::{DeviceError, Error};
use crate::frame::copy::{Piece, packed_bytes, pieces};
use crate::memory::host::HostMemory;
use crate::memory::physical_resource::PhysicalResource;
use crate::memory::staged::{Outside, Pieces};
use cuda::CudaPair;
use direct::Direct;

pub(crate) use cuda::Cuda;
pub(crate) use driver::Wish;

/// How long a thread waits before it looks whether it should go on.
pub(crate) const SLICE: Duration = Duration::from_millis(50);
/// Slots of the host, and bytes of a piece at most.
const HOST: (u64, u64) = (8, 8 << 20);
/// Slots of each device between which CUDA copies, and bytes of a piece at most. On two H100s a GiB goes at 80, 130 and
/// 169 GB/s with pieces of 32, 64 and 128 MiB: each piece changes sides twice.
const CUDA: (u64, u64) = (4, 128 << 20);
/// Bytes of a piece that is not worth to be cut.
const LEAST: u64 = 1 << 20;
/// Multiple of the bytes of every texel block, and of what drivers want of offsets.
const ALIGNMENT: u64 = 64 << 10;
/// Bytes up to which a queue for transfers alone is faster: it copies a fifth as fast as another queue, but changes to
/// and from CUDA in 40 µs instead of 380 (H200).
const APART: u64 = 32 << 20;

/// How contents go from one device to another, the fastest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum CopyWay {
    /// CUDA copies from GPU to GPU.
    Cuda,
    /// Through memory of the host that both devices have imported.
    Host,
    /// A CPU copies between staging memories of the two.
    Staged,
}

impl CopyWay {
    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cuda => "cuda",
            Self::Host => "host",
            Self::Staged => "staged",
        }
    }
}

/// Why a copy, or a device with it, did not come to its end.
#[derive(Debug)]
pub(crate) enum Ended {
    Failed(Error),
    /// Another one did, or the caller's poll.
    Stopped,
}

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// A piece is in its slot, or will be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filled {
    number: u64,
    /// The point of the first device that the host waits for.
    point: Option<Point>,
    /// Where CUDA finds all of it, without a slot.
    source: Option<u64>,
}

#[derive(Debug)]
enum Link {
    Host(HostMemory),
    Cuda(Box<CudaPair>),
    /// From memory to memory, without slots.
    Direct(Direct),
}

/// Pieces are numbered from 1; number n is in slot (n − 1) mod slots.
#[derive(Debug, Default)]
struct SlotState {
    /// The last piece that fills a slot.
    filled: u64,
    /// The last piece whose copy out of its slot is submitted.
    emptied: u64,
    /// Up to here all slots are empty, whatever was signalled.
    settled: u64,
    /// By slot: the last copies into it and out of it.
    points: Vec<[Option<Point>; 2]>,
    /// A call of CUDA's failed.
    broken: bool,
}

/// Slots between two devices. One thread sends, one receives.
#[derive(Debug)]
pub(crate) struct Bridge {
    from: Device,
    to: Device,
    link: Link,
    slots: u64,
    /// Bytes of a slot.
    slot: u64,
    /// Bytes of a piece at most, images of long rows aside.
    most: u64,
    state: Mutex<SlotState>,
    emptied: Condvar,
}

/// Pieces of a copy: a quarter each, unless that is little or more than `most`.
fn cut(kind: PlanKind, most: u64) -> Vec<Piece> {
    let quarter = packed_bytes(kind).div_ceil(4).next_multiple_of(ALIGNMENT);
    pieces(kind, quarter.clamp(LEAST, most))
}

/// Bytes of a slot that takes every piece.
fn slot(kinds: &[PlanKind], most: u64) -> u64 {
    let all = kinds.iter().flat_map(|kind| cut(*kind, most));
    all.map(|piece| piece.bytes.end - piece.bytes.start).max().unwrap_or(0).max(1).next_multiple_of(ALIGNMENT)
}

impl Bridge {
    /// A bridge for copies of these kinds by CUDA.
    ///
    /// # Errors
    /// If CUDA, a device or a driver cannot do that.
    pub(crate) fn by_cuda(cuda: Cuda, from: &Device, to: &Device, kinds: &[PlanKind]) -> Result<Self, Error> {
        let (slots, most) = CUDA;
        let slot = slot(kinds, most);
        let link = Link::Cuda(Box::new(CudaPair::new(cuda, from, to, slots * slot)?));
        Ok(Self::new(from, to, link, (slots, slot, most)))
    }

    /// A bridge for copies by CUDA between buffers that [`direct::buffer`] made.
    ///
    /// # Errors
    /// If CUDA or a device cannot do that.
    pub(crate) fn direct(cuda: Cuda, from: &Device, to: &Device) -> Result<Self, Error> {
        let link = Link::Direct(Direct::new(cuda, from, to)?);
        Ok(Self::new(from, to, link, (1, 0, u64::MAX)))
    }

    /// A bridge for copies of these kinds through memory of the host; `None` where a driver imports none. With `whole`
    /// it holds all pieces of one copy, so that nobody waits for the receiver.
    ///
    /// # Errors
    /// If a device is lost.
    pub(crate) fn by_host(from: &Device, to: &Device, kinds: &[PlanKind], whole: bool) -> Result<Option<Self>, Error> {
        let (mut slots, most) = HOST;
        if whole {
            slots = kinds.iter().map(|kind| cut(*kind, most).len() as u64).max().unwrap_or(1).max(1);
        }
        let slot = slot(kinds, most);
        let memory = HostMemory::between(&from.0, &to.0, slots * slot)?;
        Ok(memory.map(|memory| Self::new(from, to, Link::Host(memory), (slots, slot, most))))
    }

    fn new(from: &Device, to: &Device, link: Link, (slots, slot, most): (u64, u64, u64)) -> Self {
        let state = SlotState { points: vec![[None; 2]; slots as usize], ..SlotState::default() };
        let (from, to, state) = (from.clone(), to.clone(), Mutex::new(state));
        Self { from, to, link, slots, slot, most, state, emptied: Condvar::new() }
    }

    /// The way of its copies.
    pub(crate) fn way(&self) -> CopyWay {
        match self.link {
            Link::Host(_) => CopyWay::Host,
            Link::Cuda(_) | Link::Direct(_) => CopyWay::Cuda,
        }
    }

    fn state(&self) -> MutexGuard<'_, SlotState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pieces(&self, kind: PlanKind) -> Vec<Piece> {
        cut(kind, self.most)
    }

    /// Where a piece lies.
    fn place(&self, number: u64) -> (usize, u64) {
        let slot = (number - 1) % self.slots;
        (slot as usize, slot * self.slot)
    }

    fn copies<'a>(&self, physical: &'a Arc<PhysicalResource>, write: bool) -> Result<Pieces<'a>, Error> {
        let apart = match self.link {
            Link::Host(_) | Link::Direct(_) => None,
            Link::Cuda(_) => Some(packed_bytes(physical.kind) <= APART),
        };
        Pieces::begin(physical, write, apart)
    }

    /// Copies all of a resource into slots, each as soon as it is empty, and says so to `there`. Returns when the last
    /// copy is submitted.
    pub(crate) fn send(
        &self,
        physical: &Arc<PhysicalResource>,
        go_on: &dyn Fn() -> Result<(), Ended>,
        there: &mut dyn FnMut(Filled) -> Result<(), Ended>,
    ) -> Result<(), Ended> {
        if let Link::Direct(_) = self.link {
            return self.send_whole(physical, go_on, there);
        }
        let mut reading = self.copies(physical, false)?;
        for piece in self.pieces(physical.kind) {
            let (number, before) = self.empty_slot(go_on)?;
            let (slot, at) = self.place(number);
            let mut filled = Filled { number, point: None, source: None };
            match &self.link {
                Link::Host(memory) => {
                    let point = reading.copy(&piece, memory.source(), at, Outside::default())?;
                    self.state().points[slot][0] = Some(point);
                    filled.point = Some(point);
                }
                Link::Cuda(pair) => {
                    let (buffer, outside) = pair.filling(number, before);
                    reading.copy(&piece, buffer, at, outside)?;
                    let copied = pair.copy(number, before, at, piece.bytes.end - piece.bytes.start);
                    copied.inspect_err(|_| self.state().broken = true)?;
                }
                // It sends all at once.
                Link::Direct(_) => {}
            }
            there(filled)?;
        }
        Ok(())
    }

    /// The next piece's number, when its slot is empty or will be; and which piece is in it, if anything was signalled
    /// of that.
    fn empty_slot(&self, go_on: &dyn Fn() -> Result<(), Ended>) -> Result<(u64, Option<u64>), Ended> {
        let mut state = self.state();
        let number = state.filled + 1;
        let before = number.saturating_sub(self.slots);
        while state.emptied < before {
            let waited = self.emptied.wait_timeout(state, SLICE).unwrap_or_else(PoisonError::into_inner);
            state = waited.0;
            go_on()?;
        }
        state.filled = number;
        let signalled = (before > state.settled).then_some(before);
        let points = state.points[self.place(number).0];
        drop(state);
        for (device, point) in [&self.from, &self.to].into_iter().zip(points) {
            let Some(point) = point else { continue };
            while !device.0.wait(&[point], Some(SLICE))? {
                go_on()?;
            }
        }
        Ok((number, signalled))
    }

    /// Copies pieces out of their slots into all of a resource, as `next` says that they come. Returns when the last
    /// copy is submitted.
    pub(crate) fn receive(
        &self,
        physical: &Arc<PhysicalResource>,
        go_on: &dyn Fn() -> Result<(), Ended>,
        next: &mut dyn FnMut() -> Result<Filled, Ended>,
    ) -> Result<(), Ended> {
        if let Link::Direct(direct) = &self.link {
            return self.receive_whole(direct, physical, go_on, next);
        }
        let mut writing = self.copies(physical, true)?;
        for piece in self.pieces(physical.kind) {
            let filled = next()?;
            let (slot, at) = self.place(filled.number);
            if let Some(point) = filled.point {
                while !self.from.0.wait(&[point], Some(SLICE))? {
                    go_on()?;
                }
            }
            let (buffer, outside) = match &self.link {
                Link::Host(memory) => (memory.target(), Outside::default()),
                Link::Direct(_) => continue,
                Link::Cuda(pair) => pair.emptying(filled.number),
            };
            let point = writing.copy(&piece, buffer, at, outside)?;
            let mut state = self.state();
            if matches!(self.link, Link::Host(_)) {
                state.points[slot][1] = Some(point);
            }
            state.emptied = filled.number;
            drop(state);
            self.emptied.notify_one();
        }
        Ok(())
    }

    /// Lets the receiver copy all of a buffer. Returns when that is over.
    fn send_whole(
        &self,
        physical: &Arc<PhysicalResource>,
        go_on: &dyn Fn() -> Result<(), Ended>,
        there: &mut dyn FnMut(Filled) -> Result<(), Ended>,
    ) -> Result<(), Ended> {
        let mut reading = Pieces::begin(physical, false, Some(true))?;
        let left = reading.hand_over(false)?;
        while !self.from.0.wait(&[left], Some(SLICE))? {
            go_on()?;
        }
        let number = {
            let mut state = self.state();
            state.filled += 1;
            state.filled
        };
        there(Filled { number, point: None, source: physical.peer_address() })?;
        let mut state = self.state();
        while state.emptied < number {
            let waited = self.emptied.wait_timeout(state, SLICE).unwrap_or_else(PoisonError::into_inner);
            state = waited.0;
            go_on()?;
        }
        drop(state);
        reading.hand_over(true)?;
        Ok(())
    }

    /// Copies all of a buffer, and waits for it.
    fn receive_whole(
        &self,
        direct: &Direct,
        physical: &Arc<PhysicalResource>,
        go_on: &dyn Fn() -> Result<(), Ended>,
        next: &mut dyn FnMut() -> Result<Filled, Ended>,
    ) -> Result<(), Ended> {
        let mut writing = Pieces::begin(physical, true, Some(true))?;
        let left = writing.hand_over(false)?;
        let Filled { number, source, .. } = next()?;
        while !self.to.0.wait(&[left], Some(SLICE))? {
            go_on()?;
        }
        if let (Some(source), Some(target)) = (source, physical.peer_address()) {
            let begin = Instant::now();
            let copied = direct.copy(target, source, packed_bytes(physical.kind));
            let mut over = copied.and_then(|()| direct.wait(begin, SLICE));
            while let Ok(false) = over {
                go_on()?;
                over = direct.wait(begin, SLICE);
            }
            over.inspect_err(|_| self.state().broken = true)?;
        }
        self.state().emptied = number;
        self.emptied.notify_one();
        writing.hand_over(true)?;
        Ok(())
    }

    /// Copies all of a resource into another one of its shape. Returns when the last copy is submitted.
    ///
    /// # Errors
    /// The first one of either device; then the bridge can be used no more.
    pub(crate) fn cross(&self, source: &Arc<PhysicalResource>, target: &Arc<PhysicalResource>) -> Result<(), Error> {
        let (there, come) = channel();
        let stop = AtomicBool::new(false);
        let go_on = || if stop.load(Ordering::Relaxed) { Err(Ended::Stopped) } else { Ok(()) };
        let ended = |result: Result<(), Ended>| {
            stop.fetch_or(result.is_err(), Ordering::Relaxed);
            match result {
                Err(Ended::Failed(error)) => Err(error),
                Ok(()) | Err(Ended::Stopped) => Ok(()),
            }
        };
        std::thread::scope(|scope| {
            let sender = scope.spawn(|| {
                // Its end is the receiver's, too.
                let there = there;
                ended(self.send(source, &go_on, &mut |filled| there.send(filled).map_err(|_| Ended::Stopped)))
            });
            let received = {
                let come = come;
                ended(self.receive(target, &go_on, &mut || come.recv().map_err(|_| Ended::Stopped)))
            };
            let sent = sender.join().unwrap_or_else(|panic| resume_unwind(panic));
            sent.and(received)
        })
    }

    /// Behind a copy that did not come to its end: all slots are empty. `false`: it can be used no more.
    pub(crate) fn settle(&self) -> bool {
        let lost = self.from.0.is_lost() || self.to.0.is_lost();
        let drained = || match &self.link {
            Link::Host(_) => true,
            Link::Cuda(pair) => pair.drain(),
            Link::Direct(direct) => direct.drain(),
        };
        if self.way() == CopyWay::Cuda && (self.state().broken || lost || !drained()) {
            return false;
        }
        let mut state = self.state();
        (state.emptied, state.settled) = (state.filled, state.filled);
        true
    }
}

/// Why copies do not go by CUDA, for people.
pub(crate) fn why_not(error: &Error) -> String {
    match error {
        Error::Device(error) => {
            let DeviceError { message, call, .. } = &**error;
            match (message.is_empty(), call) {
                (true, Some(call)) => format!("{call} failed"),
                _ => message.clone(),
            }
        }
        other => other.to_string(),
    }
}
