//! Copies between the caller's memory and the device's, through staging blocks. A large one is split, so that the CPU
//! fills one block while the device empties the one before; bytes of page-locked arrays are copied by the device alone.

use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;
use rgraph_plan::access::{Accesses, Layout, Stages};
use rgraph_plan::plan::PlanKind;
use rgraph_plan::profile::Capabilities;

use crate::bulk;
use crate::device::Shared;
use crate::device::external::SemaphoreSignal;
use crate::device::foreign_wait::Waiter;
use crate::device::poll::{Poll, wait_polling};
use crate::device::queue::{DeviceQueueId, Point, Submit, WaitFor};
use crate::error::Error;
use crate::frame::copy::{Piece, Plane, download, finish, packed_bytes, pieces, upload};
use crate::frame::host::Reservation;
use crate::frame::initial_barriers::{self, InitialBarriers};
use crate::memory::blocks::CHUNK;
use crate::memory::command_pools::OneTime;
use crate::memory::physical_resource::PhysicalResource;
use crate::memory::share::released;
use crate::memory::staging::Block;
use crate::memory::state::{Region, ResourceState};

/// Bytes from which on a buffer is copied on a queue that only transfers, while other queues work. Fewer are there
/// sooner without the semaphore between two queues.
const APART: u64 = 256 << 10;

/// The device's queue for transfers of a resource outside of runs. Images go over the graphics queue, which can copy
/// every format and part.
fn queue_for(physical: &PhysicalResource) -> DeviceQueueId {
    match physical.kind {
        PlanKind::Buffer { size } if size >= APART => queue_apart(physical),
        _ => DeviceQueueId::FIRST,
    }
}

/// The queue for transfers alone, where a buffer may be used on it.
fn queue_apart(physical: &PhysicalResource) -> DeviceQueueId {
    let PlanKind::Buffer { .. } = physical.kind else { return DeviceQueueId::FIRST };
    let queues = &physical.shared.queues;
    let apart = queues.iter_ids().find(|(_, queue)| {
        let family = physical.concurrent || queue.family == queues[DeviceQueueId::FIRST].family;
        let other = Capabilities::GRAPHICS | Capabilities::COMPUTE;
        family && queue.capabilities.contains(Capabilities::TRANSFER) && !queue.capabilities.intersects(other)
    });
    apart.map_or(DeviceQueueId::FIRST, |(queue, _)| queue)
}

/// Multiples of the bytes of every texel block (of 1 to 16 bytes), which offsets of copies of images are.
const LOCKED_OFFSETS: u64 = 16;

/// One transfer to or from a resource: acquires it with the first submit, and records the state that it leaves.
struct Transfer<'a> {
    shared: &'a Arc<Shared>,
    physical: &'a Arc<PhysicalResource>,
    queue: DeviceQueueId,
    write: bool,
    region: Region,
    once: OneTime,
    last: Option<Point>,
    /// The point of a submit that was no copy.
    left: Option<Point>,
}

impl<'a> Transfer<'a> {
    fn begin(physical: &'a Arc<PhysicalResource>, write: bool) -> Result<Self, Error> {
        Self::begin_in(physical, write, Region::first_mip(physical.kind))
    }

    fn begin_in(physical: &'a Arc<PhysicalResource>, write: bool, region: Region) -> Result<Self, Error> {
        Self::begin_on(physical, write, region, queue_for(physical))
    }

    fn begin_on(
        physical: &'a Arc<PhysicalResource>,
        write: bool,
        region: Region,
        queue: DeviceQueueId,
    ) -> Result<Self, Error> {
        let shared = &physical.shared;
        let known = {
            let mut transfers = shared.transfers();
            let over = |(_, point): &(OneTime, Option<Point>)| shared.is_over(point).unwrap_or(false);
            transfers.0.iter().position(over).map(|at| transfers.0.swap_remove(at).0)
        };
        let once = known.unwrap_or_default();
        let mut transfer = Self { shared, physical, queue, write, region, once, last: None, left: None };
        transfer.once.reset(shared)?;
        Ok(transfer)
    }

    /// Submits the copy of one piece between the resource, which is reserved, and a block.
    fn submit(&mut self, piece: &Piece, block: &Block, offset: u64) -> Result<Point, Error> {
        let point = self.submit_with(piece, block.buffer(), offset, Outside::default())?;
        block.used_until(point);
        Ok(point)
    }

    /// Submits the copy of one piece between the resource, which is reserved, and a buffer.
    fn submit_with(
        &mut self,
        piece: &Piece,
        buffer: vk::Buffer,
        offset: u64,
        outside: Outside,
    ) -> Result<Point, Error> {
        let initial = self.first_barriers();
        let (device, queue) = (&self.shared.raw, &self.shared.queues[self.queue]);
        let commands = self.once.record(self.shared, queue.family, |commands| {
            if !initial.is_empty() {
                initial.record(device, commands);
            }
            if self.write {
                outside.acquire(device, queue.family, commands, buffer);
                upload(device, commands, self.physical, piece, buffer, offset);
            } else {
                download(device, commands, self.physical, piece, buffer, offset);
                finish(device, commands);
                outside.release(device, queue.family, commands, buffer);
            }
        })?;
        let Outside { mut waits, signals, .. } = outside;
        waits.extend(initial.waits);
        self.submit_commands(commands, waits, signals)
    }

    /// Leaves the resource, a buffer, to a user outside of the device, who waits for the submit; or acquires it from
    /// one for whom the host has waited (`take`).
    fn hand_over(&mut self, take: bool) -> Result<Point, Error> {
        let initial = self.first_barriers();
        let outside = Outside { concurrent: Some(self.physical.concurrent), ..Outside::default() };
        let (device, queue) = (&self.shared.raw, &self.shared.queues[self.queue]);
        let buffer = self.physical.buffer();
        let commands = self.once.record(self.shared, queue.family, |commands| {
            if !initial.is_empty() {
                initial.record(device, commands);
            }
            match take {
                true => outside.acquire(device, queue.family, commands, buffer),
                false => outside.release(device, queue.family, commands, buffer),
            }
        })?;
        self.submit_commands(commands, initial.waits, Vec::new())
    }

    /// Takes the resource over before the first submit.
    fn first_barriers(&self) -> InitialBarriers {
        let (access, layout) = self.use_of();
        let mut initial = InitialBarriers::default();
        if self.last.is_none() {
            let previous = (0, 0);
            let (queue, stages) = (self.queue, Stages::COPY);
            // What one aspect is written into may hold the other.
            let discard = self.write && self.region.aspects.bits().count_ones() <= 1;
            let target = initial_barriers::Target { queue, stages, access, layout, discard, previous };
            initial.acquire(self.shared, self.physical, self.region, target);
        }
        initial
    }

    fn submit_commands(
        &mut self,
        commands: vk::CommandBuffer,
        waits: Vec<WaitFor>,
        signals: Vec<(vk::Semaphore, u64)>,
    ) -> Result<Point, Error> {
        let (device, queue) = (&self.shared.raw, &self.shared.queues[self.queue]);
        let submits = [Submit { waits, commands: vec![commands], signals, ..Submit::default() }];
        let value = self.shared.noted(queue.submit(device, &submits))?;
        let of = if self.write { "a write of" } else { "a read of" };
        let waiter = Waiter { of, name: &self.physical.name, place: None };
        self.shared.note_waits((self.queue, value), &submits, &[], waiter);
        let point = Point { queue: self.queue, value };
        self.last = Some(point);
        Ok(point)
    }

    fn use_of(&self) -> (Accesses, Layout) {
        if self.write {
            (Accesses::TRANSFER_WRITE, Layout::TransferDst)
        } else {
            (Accesses::TRANSFER_READ, Layout::TransferSrc)
        }
    }
}

impl Transfer<'_> {
    /// Gives its command buffers back, without a word on the resource's state.
    fn leave(mut self, point: Point) {
        self.left = Some(point);
    }
}

impl Drop for Transfer<'_> {
    /// What was submitted is under way, also where a later piece failed.
    fn drop(&mut self) {
        if let Some(point) = self.last {
            let (access, layout) = self.use_of();
            let state = ResourceState {
                queue: Some(self.queue),
                family: Some(self.shared.queues[self.queue].family),
                stages: Stages::COPY,
                access,
                layout,
                points: vec![point],
                released: false,
                user: (0, 0),
            };
            self.physical.tracked().set(self.region, &state);
        }
        self.shared.transfers().0.push((std::mem::take(&mut self.once), self.last.or(self.left)));
    }
}

/// Writes mip 0 of all layers, tightly packed, or a buffer's bytes, as many as that needs. Returns when `bytes` may
/// change: the device may still be at it, and what uses the resource next waits for that.
pub(crate) fn write(physical: &Arc<PhysicalResource>, bytes: &[u8], poll: Option<Poll<'_>>) -> Result<(), Error> {
    let shared = &physical.shared;
    let _reservation = reserve(physical, poll)?;
    if let Some((block, offset)) = locked(shared, bytes) {
        block.flush([offset, offset + bytes.len() as u64])?;
        let point = Transfer::begin(physical, true)?.submit(&Piece::whole(physical.kind), &block, offset)?;
        return shared.wait_for_bytes(point, bytes.len() as u64, poll);
    }
    if let (PlanKind::Buffer { .. }, Some(mapped)) = (physical.kind, physical.mapped()) {
        let points = points(physical);
        wait_polling(poll, |slice| shared.wait(&points, slice))?;
        // SAFETY: the buffer is that large; no queue uses it, and a run that would waits for the reservation.
        bulk::copy(unsafe { std::slice::from_raw_parts_mut(mapped.as_ptr(), bytes.len()) }, bytes);
        let everything = physical.tracked().whole();
        physical.tracked().set(everything, &ResourceState::default());
        return Ok(());
    }
    write_pieces(physical, bytes, poll)
}

/// Reads mip 0 of all layers, tightly packed, or a buffer's bytes; waits until they are there.
pub(crate) fn read(physical: &Arc<PhysicalResource>, poll: Option<Poll<'_>>) -> Result<Arc<Block>, Error> {
    let block = physical.shared.lend(packed_bytes(physical.kind), poll)?;
    let _reservation = reserve(physical, poll)?;
    read_to(physical, &block, 0, poll)?;
    Ok(block)
}

/// What orders a copy with a user outside of the device who has the buffer before or behind it.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    pub waits: Vec<WaitFor>,
    pub signals: Vec<(vk::Semaphore, u64)>,
    /// Whether the buffer belongs to no queue family; `None`: nobody outside has it.
    pub concurrent: Option<bool>,
}

impl Outside {
    /// Takes the buffer over from the other user, whom the submit waits for.
    fn acquire(&self, device: &ash::Device, family: u32, commands: vk::CommandBuffer, buffer: vk::Buffer) {
        let Some(concurrent) = self.concurrent else { return };
        let barrier = vk::BufferMemoryBarrier2::default()
            .src_stage_mask(vk::PipelineStageFlags2::COPY)
            .dst_stage_mask(vk::PipelineStageFlags2::COPY)
            .dst_access_mask(vk::AccessFlags2::TRANSFER_READ)
            .src_queue_family_index(vk::QUEUE_FAMILY_EXTERNAL)
            .dst_queue_family_index(if concurrent { vk::QUEUE_FAMILY_IGNORED } else { family });
        Self::hand_over(device, commands, barrier, buffer);
    }

    /// Leaves the buffer to the other user, who waits for the submit.
    fn release(&self, device: &ash::Device, family: u32, commands: vk::CommandBuffer, buffer: vk::Buffer) {
        let Some(concurrent) = self.concurrent else { return };
        let barrier = vk::BufferMemoryBarrier2::default()
            .src_stage_mask(vk::PipelineStageFlags2::COPY)
            .src_access_mask(vk::AccessFlags2::TRANSFER_WRITE)
            .src_queue_family_index(if concurrent { vk::QUEUE_FAMILY_IGNORED } else { family })
            .dst_queue_family_index(vk::QUEUE_FAMILY_EXTERNAL);
        Self::hand_over(device, commands, barrier, buffer);
    }

    fn hand_over(
        device: &ash::Device,
        commands: vk::CommandBuffer,
        barrier: vk::BufferMemoryBarrier2<'_>,
        buffer: vk::Buffer,
    ) {
        let barriers = [barrier.buffer(buffer).offset(0).size(vk::WHOLE_SIZE)];
        let info = vk::DependencyInfo::default().buffer_memory_barriers(&barriers);
        // SAFETY: the command buffer is being recorded, outside of a render pass; the buffer lives until it is done.
        unsafe { device.cmd_pipeline_barrier2(commands, &info) };
    }
}

/// Copies of pieces of a resource of one plane, which is reserved meanwhile, between it and buffers of its device.
pub(crate) struct Pieces<'a> {
    transfer: Transfer<'a>,
    _reservation: Reservation,
}

impl<'a> Pieces<'a> {
    /// Waits until runs that have the resource are over. `apart`: whether the copies go over a queue for transfers
    /// alone; `None`: as those of other transfers.
    pub(crate) fn begin(physical: &'a Arc<PhysicalResource>, write: bool, apart: Option<bool>) -> Result<Self, Error> {
        let _reservation = reserve(physical, None)?;
        let queue = match apart {
            None => queue_for(physical),
            Some(true) => queue_apart(physical),
            Some(false) => DeviceQueueId::FIRST,
        };
        let transfer = Transfer::begin_on(physical, write, Region::first_mip(physical.kind), queue)?;
        Ok(Self { transfer, _reservation })
    }

    /// Leaves the resource, a buffer, to a user outside of the device once the point is reached; or acquires it
    /// (`take`) from one for whom the host has waited.
    pub(crate) fn hand_over(&mut self, take: bool) -> Result<Point, Error> {
        self.transfer.hand_over(take)
    }

    /// Submits the copy of one piece.
    pub(crate) fn copy(
        &mut self,
        piece: &Piece,
        buffer: vk::Buffer,
        at: u64,
        outside: Outside,
    ) -> Result<Point, Error> {
        self.transfer.submit_with(piece, buffer, at, outside)
    }
}

/// The layers of one mip; both aspects, which share a layout.
fn around(physical: &PhysicalResource, plane: Plane) -> Region {
    match physical.kind {
        PlanKind::Buffer { .. } => Region::whole(physical.kind),
        PlanKind::Image { .. } => Region { mips: [plane.mip, plane.mip + 1], ..Region::whole(physical.kind) },
    }
}

/// The packed bytes of one plane; waits until they are there.
pub(crate) fn read_plane(physical: &Arc<PhysicalResource>, plane: Plane) -> Result<Vec<u8>, Error> {
    let piece = plane.piece(physical.kind);
    let length = piece.bytes.end;
    let block = physical.shared.lend(length, None)?;
    let _reservation = reserve(physical, None)?;
    let point = Transfer::begin_in(physical, false, around(physical, plane))?.submit(&piece, &block, 0)?;
    physical.shared.wait_for_bytes(point, length, None)?;
    block.invalidate([0, length])?;
    // SAFETY: the block is that large, the device is done with it, and nobody else borrows it.
    Ok(unsafe { std::slice::from_raw_parts(block.start().as_ptr(), length as usize) }.to_vec())
}

/// Writes the packed bytes of one plane, as many as it has. The device may still be at it.
pub(crate) fn write_plane(physical: &Arc<PhysicalResource>, plane: Plane, bytes: &[u8]) -> Result<(), Error> {
    let piece = plane.piece(physical.kind);
    debug_assert_eq!(piece.bytes.end, bytes.len() as u64, "the caller compared");
    let _reservation = reserve(physical, None)?;
    let block = physical.shared.lend(bytes.len() as u64, None)?;
    // SAFETY: the block is that large and nobody else borrows it.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), block.start().as_ptr(), bytes.len()) };
    block.flush([0, bytes.len() as u64])?;
    Transfer::begin_in(physical, true, around(physical, plane))?.submit(&piece, &block, 0).map(|_| ())
}

/// As [`read`], into `bytes`, as many as that needs.
pub(crate) fn read_into(
    physical: &Arc<PhysicalResource>,
    bytes: &mut [u8],
    poll: Option<Poll<'_>>,
) -> Result<(), Error> {
    let shared = &physical.shared;
    let _reservation = reserve(physical, poll)?;
    if let Some((block, offset)) = locked(shared, bytes) {
        return read_to(physical, &block, offset, poll);
    }
    read_pieces(physical, bytes, poll)
}

/// Pieces of a read that are under way before the first of them is waited for.
const AHEAD: usize = 4;

/// Reads a reserved resource piece by piece, each through a block. One thread waits, since drivers let threads that
/// wait at once wait for each other; of a large one others copy what has come.
fn read_pieces(physical: &Arc<PhysicalResource>, bytes: &mut [u8], poll: Option<Poll<'_>>) -> Result<(), Error> {
    let shared = &physical.shared;
    let helpers = bulk::threads(bytes.len()) - 1;
    let copy = |to: &mut [u8], block: &Block| {
        // SAFETY: the block is that large, the device is done with it, and nobody else borrows it.
        to.copy_from_slice(unsafe { std::slice::from_raw_parts(block.start().as_ptr(), to.len()) });
    };
    // Bounded, so that a link that is faster than the copies does not fill memory.
    let (there, come) = sync_channel::<(&mut [u8], Arc<Block>)>(AHEAD);
    let come = Mutex::new(come);
    let copies = || {
        // Not held while copying.
        let next = || come.lock().unwrap_or_else(PoisonError::into_inner).recv();
        while let Ok((to, block)) = next() {
            copy(to, &block);
        }
    };
    std::thread::scope(|scope| {
        // Dropped whatever happens, so that the helpers end.
        let there = there;
        for _ in 0..helpers {
            scope.spawn(copies);
        }
        let mut transfer = Transfer::begin(physical, false)?;
        let (mut pieces, mut rest, mut under_way) = (pieces(physical.kind, CHUNK).into_iter(), bytes, VecDeque::new());
        loop {
            while under_way.len() < AHEAD
                && let Some(piece) = pieces.next()
            {
                let length = piece.bytes.end - piece.bytes.start;
                let (to, behind) = std::mem::take(&mut rest).split_at_mut(length as usize);
                rest = behind;
                let block = shared.lend(length, None)?;
                let point = transfer.submit(&piece, &block, 0)?;
                under_way.push_back((to, block, point));
            }
            let Some((to, block, point)) = under_way.pop_front() else { break };
            shared.wait_for_bytes(point, to.len() as u64, poll)?;
            block.invalidate([0, to.len() as u64])?;
            if helpers == 0 {
                copy(to, &block);
            } else {
                there.send((to, block)).expect("the receiver lives as long as the scope");
            }
        }
        drop(there);
        copies();
        Ok(())
    })
}

/// Leaves a resource of a shared block to a user outside of the device, behind all uses so far; images in layout
/// `general`. Returns when that is submitted; the signals follow it.
///
/// Source: Vulkan 1.3 specification, "Queue Family Ownership Transfer", of external queue families.
pub(crate) fn release(
    physical: &Arc<PhysicalResource>,
    signals: &[SemaphoreSignal],
    poll: Option<Poll<'_>>,
) -> Result<Point, Error> {
    const QUEUE: DeviceQueueId = DeviceQueueId::FIRST;
    let shared = &physical.shared;
    let _turn = shared.turn_with(std::slice::from_ref(physical), poll)?;
    let mut transfer = Transfer::begin(physical, false)?;
    let mut initial = InitialBarriers::default();
    let (stages, access, layout) = (Stages::COPY, Accesses::TRANSFER_READ, Layout::General);
    let target = initial_barriers::Target { queue: QUEUE, stages, access, layout, discard: false, previous: (0, 0) };
    initial.acquire(shared, physical, Region::whole(physical.kind), target);
    let queue = &shared.queues[QUEUE];
    let commands = transfer.once.record(shared, queue.family, |commands| {
        if !initial.is_empty() {
            initial.record(&shared.raw, commands);
        }
        initial_barriers::release(shared, physical, queue.family, commands);
    })?;
    let signals = signals.iter().map(|signal| (signal.semaphore, signal.value)).collect();
    let submits = [Submit { waits: initial.waits, commands: vec![commands], signals, ..Submit::default() }];
    let point = Point { queue: QUEUE, value: shared.noted(queue.submit(&shared.raw, &submits))? };
    let waiter = Waiter { of: "the release of", name: &physical.name, place: None };
    shared.note_waits((QUEUE, point.value), &submits, &[], waiter);
    let left = released(QUEUE, point);
    let mut tracked = physical.tracked();
    let whole = tracked.whole();
    tracked.set(whole, &left);
    drop(tracked);
    transfer.leave(point);
    Ok(point)
}

/// Keeps runs away from a resource, once those that have it are over.
fn reserve(physical: &Arc<PhysicalResource>, poll: Option<Poll<'_>>) -> Result<Reservation, Error> {
    let physicals = std::slice::from_ref(physical);
    let _turn = physical.shared.turn_with(physicals, poll)?;
    Ok(Reservation::of(physicals))
}

fn read_to(physical: &Arc<PhysicalResource>, block: &Block, offset: u64, poll: Option<Poll<'_>>) -> Result<(), Error> {
    let point = Transfer::begin(physical, false)?.submit(&Piece::whole(physical.kind), block, offset)?;
    let bytes = packed_bytes(physical.kind);
    physical.shared.wait_for_bytes(point, bytes, poll)?;
    block.invalidate([offset, offset + bytes])
}

/// Writes a reserved resource piece by piece, each through a block; several threads fill those of a large one.
fn write_pieces(physical: &Arc<PhysicalResource>, bytes: &[u8], poll: Option<Poll<'_>>) -> Result<(), Error> {
    let pieces = pieces(physical.kind, CHUNK);
    let (next, transfer) = (AtomicUsize::new(0), Mutex::new(Transfer::begin(physical, true)?));
    let write = |piece: &Piece, poll: Option<Poll<'_>>| {
        let from = &bytes[piece.bytes.start as usize..piece.bytes.end as usize];
        let block = physical.shared.lend(from.len() as u64, poll)?;
        // SAFETY: the block is that large and nobody else borrows it.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), block.start().as_ptr(), from.len()) };
        block.flush([0, from.len() as u64])?;
        transfer.lock().unwrap_or_else(PoisonError::into_inner).submit(piece, &block, 0).map(|_| ())
    };
    let work = |poll: Option<Poll<'_>>| -> Result<(), Error> {
        while let Some(piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
            let written = write(piece, poll);
            if written.is_err() {
                // The others stop at their next piece.
                next.store(pieces.len(), Ordering::Relaxed);
                return written;
            }
        }
        Ok(())
    };
    let helpers = bulk::threads(bytes.len()) - 1;
    std::thread::scope(|scope| {
        // Signals are for the caller's thread.
        let helpers: Vec<_> = (0..helpers).map(|_| scope.spawn(|| work(None))).collect();
        let own = work(poll);
        let joined = helpers.into_iter().map(|helper| helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
        joined.fold(own, Result::and)
    })
}

/// Moments after which no queue uses a resource.
pub(crate) fn points(physical: &PhysicalResource) -> Vec<Point> {
    let mut points = Vec::new();
    let tracked = physical.tracked();
    tracked.visit(tracked.whole(), |_, state| points.extend(&state.points));
    points
}

/// The page-locked block that bytes lie in, and where, if copies of every format may begin there.
pub(crate) fn locked(shared: &Arc<Shared>, bytes: &[u8]) -> Option<(Arc<Block>, u64)> {
    shared.locked(bytes).filter(|(_, offset)| offset.is_multiple_of(LOCKED_OFFSETS))
}
