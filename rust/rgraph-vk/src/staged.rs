//! Copies between the caller's memory and the device's, through staging blocks. A large one is split, so that the CPU
//! fills one block while the device empties the one before; bytes of page-locked arrays are copied by the device alone.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rgraph_plan::access::{Accesses, Layout, Stages};
use rgraph_plan::plan::PlanKind;

use crate::bulk;
use crate::compiled::Poll;
use crate::copy::{Piece, download, finish, packed_bytes, pieces, upload};
use crate::device::Shared;
use crate::enter::{Entering, Target};
use crate::error::Error;
use crate::host::Reservation;
use crate::onetime::OneTime;
use crate::queue::{Point, Submit};
use crate::run::wait_polling;
use crate::staging::{Block, CHUNK};
use crate::state::{Region, ResourceState};
use crate::store::Store;

/// The device's queue for transfers outside of runs: the graphics queue, which can copy every format.
const QUEUE: usize = 0;

/// Multiples of the bytes of every texel block (of 1 to 16 bytes), which offsets of copies of images are.
const LOCKED_OFFSETS: u64 = 16;

/// Command buffers of transfers outside of runs, each used again once the queue is done with it.
#[derive(Debug, Default)]
pub(crate) struct Transfers(Vec<(OneTime, Option<Point>)>);

impl Transfers {
    /// Everything, to be destroyed.
    pub fn take_all(&mut self) -> Vec<crate::garbage::Garbage> {
        std::mem::take(&mut self.0).into_iter().flat_map(|(mut once, _)| once.take().collect::<Vec<_>>()).collect()
    }
}

/// One transfer to or from a resource: takes it over with the first submit, and says at the end how it leaves it.
struct Transfer<'a> {
    shared: &'a Arc<Shared>,
    store: &'a Arc<Store>,
    write: bool,
    once: OneTime,
    last: Option<Point>,
}

impl<'a> Transfer<'a> {
    fn begin(store: &'a Arc<Store>, write: bool) -> Result<Self, Error> {
        let shared = &store.shared;
        let reached = shared.reached(&shared.queues[QUEUE])?;
        let known = {
            let mut transfers = shared.transfers();
            let over = |point: &Option<Point>| point.is_none_or(|point| point.value <= reached);
            transfers.0.iter().position(|(_, point)| over(point)).map(|at| transfers.0.swap_remove(at).0)
        };
        let mut transfer = Self { shared, store, write, once: known.unwrap_or_default(), last: None };
        transfer.once.reset(shared)?;
        Ok(transfer)
    }

    fn region(&self) -> Region {
        Region::first_mip(self.store.kind)
    }

    /// Submits the copy of one piece. The first one is submitted in the resource's turn.
    fn submit(&mut self, piece: &Piece, block: &Block, offset: u64) -> Result<(), Error> {
        let (access, layout) = self.use_of();
        let mut entering = Entering::default();
        if self.last.is_none() {
            let previous = (0, 0);
            let target = Target { queue: QUEUE, stages: Stages::COPY, access, layout, discard: self.write, previous };
            entering.enter(self.shared, self.store, self.region(), target);
        }
        let (device, queue) = (&self.shared.raw, &self.shared.queues[QUEUE]);
        let commands = self.once.record(self.shared, queue.family, |commands| {
            if !entering.is_empty() {
                entering.record(device, commands);
            }
            if self.write {
                upload(device, commands, self.store, piece, block.buffer(), offset);
            } else {
                download(device, commands, self.store, piece, block.buffer(), offset);
                finish(device, commands);
            }
        })?;
        let submit = Submit { waits: entering.waits, commands: vec![commands] };
        let value = self.shared.noted(queue.submit(device, &[submit]))?;
        let point = Point { queue: QUEUE, value };
        block.used_until(point);
        self.last = Some(point);
        Ok(())
    }

    fn use_of(&self) -> (Accesses, Layout) {
        if self.write {
            (Accesses::TRANSFER_WRITE, Layout::TransferDst)
        } else {
            (Accesses::TRANSFER_READ, Layout::TransferSrc)
        }
    }
}

impl Drop for Transfer<'_> {
    /// What was submitted is under way, also where a later piece failed.
    fn drop(&mut self) {
        if let Some(point) = self.last {
            let (access, layout) = self.use_of();
            let state = ResourceState {
                queue: Some(QUEUE),
                family: Some(self.shared.queues[QUEUE].family),
                stages: Stages::COPY,
                access,
                layout,
                points: vec![point],
                user: (0, 0),
            };
            self.store.tracked().set(self.region(), &state);
        }
        self.shared.transfers().0.push((std::mem::take(&mut self.once), self.last));
    }
}

/// Writes mip 0 of all layers, tightly packed, or a buffer's bytes, as many as that needs. Returns when `bytes` may change:
/// the device may still be at it, and what uses the resource next waits for that.
pub(crate) fn write(store: &Arc<Store>, bytes: &[u8], poll: Option<Poll<'_>>) -> Result<(), Error> {
    let shared = &store.shared;
    let stores = std::slice::from_ref(store);
    if let Some((block, offset)) = locked(shared, bytes) {
        let point = {
            let _turn = shared.turn_with(stores, poll)?;
            let mut transfer = Transfer::begin(store, true)?;
            transfer.submit(&Piece::whole(store.kind), &block, offset)?;
            transfer.last
        };
        return wait_polling(poll, |slice| shared.wait(point.as_slice(), slice));
    }
    if shared.unified && store.mapped().is_some() && matches!(store.kind, PlanKind::Buffer { .. }) {
        return write_mapped(store, bytes, poll);
    }
    let pieces = pieces(store.kind, CHUNK);
    let fill = |piece: &Piece, poll: Option<Poll<'_>>| -> Result<Arc<Block>, Error> {
        let from = &bytes[piece.bytes.start as usize..piece.bytes.end as usize];
        let block = shared.lend(from.len() as u64, poll)?;
        // SAFETY: the block is that large and nobody else borrows it.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), block.start().as_ptr(), from.len()) };
        Ok(block)
    };
    let Some((first, rest)) = pieces.split_first() else { return Ok(()) };
    let block = fill(first, poll)?;
    let turn = shared.turn_with(stores, poll)?;
    let mut transfer = Transfer::begin(store, true)?;
    transfer.submit(first, &block, 0)?;
    if rest.is_empty() {
        return Ok(());
    }
    // Others may submit meanwhile, but nothing that uses the resource.
    let reservation = Reservation::of(stores);
    drop((turn, block));
    let (next, transfer) = (AtomicUsize::new(0), Mutex::new(transfer));
    let work = |poll: Option<Poll<'_>>| -> Result<(), Error> {
        while let Some(piece) = rest.get(next.fetch_add(1, Ordering::Relaxed)) {
            let copied = fill(piece, poll)
                .and_then(|block| transfer.lock().unwrap_or_else(PoisonError::into_inner).submit(piece, &block, 0));
            if copied.is_err() {
                // The others stop at their next piece.
                next.store(rest.len(), Ordering::Relaxed);
                return copied;
            }
        }
        Ok(())
    };
    let filled = std::thread::scope(|scope| {
        // Signals are for the caller's thread.
        let helpers: Vec<_> = (1..bulk::threads(bytes.len())).map(|_| scope.spawn(|| work(None))).collect();
        let own = work(poll);
        let joined = helpers.into_iter().map(|helper| helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
        joined.fold(own, Result::and)
    });
    drop(transfer);
    drop(reservation);
    filled
}

/// Writes a buffer in memory that the host and the device share, once nothing uses it.
fn write_mapped(store: &Arc<Store>, bytes: &[u8], poll: Option<Poll<'_>>) -> Result<(), Error> {
    let shared = &store.shared;
    let reservation = {
        let _turn = shared.turn_with(std::slice::from_ref(store), poll)?;
        Reservation::of(std::slice::from_ref(store))
    };
    let points = points(store);
    wait_polling(poll, |slice| shared.wait(&points, slice))?;
    let Some(mapped) = store.mapped() else { return Ok(()) };
    // SAFETY: the buffer is that large; no queue uses it, and whoever would waits for the reservation.
    let to = unsafe { std::slice::from_raw_parts_mut(mapped.as_ptr(), bytes.len()) };
    bulk::copy(to, bytes);
    let everything = store.tracked().whole();
    store.tracked().set(everything, &ResourceState::default());
    drop(reservation);
    Ok(())
}

/// Moments after which no queue uses a resource.
pub(crate) fn points(store: &Store) -> Vec<Point> {
    let mut points = Vec::new();
    let tracked = store.tracked();
    tracked.visit(tracked.whole(), |_, state| points.extend(&state.points));
    points
}

/// Reads mip 0 of all layers, tightly packed, or a buffer's bytes; waits until they are there.
pub(crate) fn read(store: &Arc<Store>) -> Result<Arc<Block>, Error> {
    let block = store.shared.lend(packed_bytes(store.kind), None)?;
    read_to(store, &block, 0)?;
    Ok(block)
}

/// As [`read`], into `bytes`, as many as that needs.
pub(crate) fn read_into(store: &Arc<Store>, bytes: &mut [u8]) -> Result<(), Error> {
    if let Some((block, offset)) = locked(&store.shared, bytes) {
        return read_to(store, &block, offset);
    }
    let block = read(store)?;
    // SAFETY: the block is that large, the device is done with it, and nobody else borrows it.
    bulk::copy(bytes, unsafe { std::slice::from_raw_parts(block.start().as_ptr(), bytes.len()) });
    Ok(())
}

fn read_to(store: &Arc<Store>, block: &Block, offset: u64) -> Result<(), Error> {
    let shared = &store.shared;
    let point = {
        let _turn = shared.turn_with(std::slice::from_ref(store), None)?;
        let mut transfer = Transfer::begin(store, false)?;
        transfer.submit(&Piece::whole(store.kind), block, offset)?;
        transfer.last
    };
    shared.wait(point.as_slice(), None).map(|_| ())
}

/// The page-locked block that bytes lie in, and where, if copies of every format may begin there.
pub(crate) fn locked(shared: &Shared, bytes: &[u8]) -> Option<(Arc<Block>, u64)> {
    shared.locked(bytes).filter(|(_, offset)| offset.is_multiple_of(LOCKED_OFFSETS))
}
