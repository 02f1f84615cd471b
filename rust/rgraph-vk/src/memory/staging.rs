//! Staging memory of a device: blocks in the host's cached memory that stay mapped and page-locked. Transfers borrow
//! them, and they are lent again once no queue uses them, so that steady work allocates nothing.
//!
//! Cached memory serves both directions: a GPU reads it at the rate of the link, and a CPU writes it faster than
//! write-combined memory and reads it at all.

use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;
use rgraph_plan::plan::PlanKind;

use crate::device::Shared;
use crate::device::poll::Poll;
use crate::device::queue::Point;
use crate::error::{Called, Code, DeviceError, Error};
use crate::memory::blocks::{CHUNK, Found, Free, LEAST, Loan, NAME, Parts, Start};
use crate::memory::deferred_deletion::DeferredDeletion;
use crate::memory::requirements::buffer_info;
use crate::memory::usages::Usages;
use crate::memory::{Domain, Want};

/// Where arrays of all kinds of numbers may begin, and vector instructions of a CPU like to.
const ALIGNMENT: u64 = 64;

/// A lent block: a buffer, its memory, and the moments after which no queue uses it. Dropping the last one of a loan
/// gives it back.
#[derive(Debug)]
pub(crate) struct Block {
    shared: Arc<Shared>,
    /// `None` only while it is dropped.
    loan: Option<Arc<Loan>>,
}

impl Block {
    fn new(shared: &Arc<Shared>, loan: Arc<Loan>) -> Arc<Self> {
        Arc::new(Self { shared: shared.clone(), loan: Some(loan) })
    }

    fn loan(&self) -> &Arc<Loan> {
        self.loan.as_ref().expect("taken only when dropped")
    }

    fn parts(&self) -> &Parts {
        &self.loan().parts
    }

    /// The buffer: all of the block, from byte 0.
    pub(crate) fn buffer(&self) -> vk::Buffer {
        self.parts().buffer
    }

    /// Bytes.
    pub(crate) fn size(&self) -> u64 {
        self.parts().size
    }

    /// First byte.
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.parts().start.0
    }

    /// Lets the device see what the CPU wrote to some of its bytes; to be called before the submit that reads them.
    /// Nothing happens in coherent memory.
    ///
    /// # Errors
    /// If the driver has no memory for it.
    pub(crate) fn flush(&self, bytes: [u64; 2]) -> Result<(), Error> {
        let Some(range) = self.range(bytes) else { return Ok(()) };
        // SAFETY: the memory is mapped, and the range lies in it in whole atoms.
        let flushed = unsafe { self.shared.raw.flush_mapped_memory_ranges(&[range]) };
        self.shared.noted(flushed.called("vkFlushMappedMemoryRanges"))
    }

    /// Lets the CPU see what the device wrote to some of its bytes; to be called after waiting for it. Nothing happens
    /// in coherent memory.
    ///
    /// # Errors
    /// If the driver has no memory for it.
    pub(crate) fn invalidate(&self, bytes: [u64; 2]) -> Result<(), Error> {
        let Some(range) = self.range(bytes) else { return Ok(()) };
        // SAFETY: as above; the device is done with the bytes, and nobody writes them on the CPU.
        let seen = unsafe { self.shared.raw.invalidate_mapped_memory_ranges(&[range]) };
        self.shared.noted(seen.called("vkInvalidateMappedMemoryRanges"))
    }

    fn range(&self, bytes: [u64; 2]) -> Option<vk::MappedMemoryRange<'static>> {
        let memory = &self.parts().memory;
        (!memory.is_coherent() && bytes[0] < bytes[1])
            .then(|| memory.atoms(bytes, self.shared.limits.non_coherent_atom_size.max(1)))
    }

    /// Notes that a queue uses it up to a point. To be called while the block is borrowed.
    pub(crate) fn used_until(&self, point: Point) {
        let mut points = self.loan().points.lock().unwrap_or_else(PoisonError::into_inner);
        match points.iter_mut().find(|known| known.queue == point.queue) {
            Some(known) => known.value = known.value.max(point.value),
            None => points.push(point),
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let Some(loan) = self.loan.take() else { return };
        if !self.shared.is_ours() {
            // A fork's copy: the handles are the parent's, and a thread that is not here may hold the lock.
            std::mem::forget(loan);
            return;
        }
        // A transfer that found a page-locked array has a share of its loan.
        let Some(Loan { parts, points }) = Arc::into_inner(loan) else { return };
        let points = points.into_inner().unwrap_or_else(PoisonError::into_inner);
        let retired = {
            let mut staging = self.shared.staging();
            staging.locked.remove(&parts.start.0.addr().get());
            let since = staging.loans;
            staging.free.push(Free { parts, points, since });
            staging.retire(self.shared.is_closed())
        };
        self.shared.defer_deletion(retired);
    }
}

impl Shared {
    /// Lends a block of at least so many bytes, which nothing uses. Waits only for what was submitted, calling `poll`
    /// meanwhile.
    ///
    /// # Errors
    /// If the driver fails or has no memory, or `poll` says so.
    pub(crate) fn lend(self: &Arc<Self>, bytes: u64, poll: Option<Poll<'_>>) -> Result<Arc<Block>, Error> {
        loop {
            let found = self.staging().find(bytes, |points| self.is_over(points));
            let parts = match found? {
                Found::Block(parts) => parts,
                Found::Nothing => self.make_block(bytes)?,
                Found::Pending(points) => {
                    // A block at the rate of a link, and then as long as it takes.
                    for point in points {
                        self.wait_for_bytes(point, bytes, poll)?;
                    }
                    continue;
                }
            };
            return Ok(Block::new(self, Arc::new(Loan { parts, points: Mutex::default() })));
        }
    }

    /// Lends a block for the caller's array: transfers of what lies in it need no copy.
    pub(crate) fn lend_locked(self: &Arc<Self>, bytes: u64) -> Result<Arc<Block>, Error> {
        let block = self.lend(bytes, None)?;
        self.staging().locked.insert(block.start().addr().get(), Arc::downgrade(block.loan()));
        Ok(block)
    }

    /// The page-locked block that bytes lie in, and where; `None` for memory of other origin.
    pub(crate) fn locked(self: &Arc<Self>, bytes: &[u8]) -> Option<(Arc<Block>, u64)> {
        let first = bytes.as_ptr().addr();
        // Out of the lock again before the block may be dropped, which takes it.
        let loan = { self.staging().locked.range(..=first).next_back()?.1.upgrade()? };
        let block = Block::new(self, loan);
        let offset = (first - block.start().addr().get()) as u64;
        let inside = offset + bytes.len() as u64 <= block.size();
        inside.then_some((block, offset))
    }

    /// Gives back every block that nobody borrows.
    pub(crate) fn trim_staging(&self) {
        let retired = self.staging().retire(true);
        self.defer_deletion(retired);
    }

    fn make_block(&self, bytes: u64) -> Result<Parts, Error> {
        let size = if bytes <= CHUNK { bytes.max(LEAST).next_power_of_two() } else { bytes.next_multiple_of(LEAST) };
        let buffer = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        let usages = Usages { buffer, ..Usages::default() };
        let families = self.families();
        let info = buffer_info(PlanKind::Buffer { size }, usages, families.len() > 1, &families);
        // SAFETY: the size is not zero; transfers are for every buffer.
        let buffer = self.noted(unsafe { self.raw.create_buffer(&info, self.raw.host()) }.called("vkCreateBuffer"))?;
        self.name(buffer, NAME);
        let discard = |error: Error| {
            self.defer_deletion([DeferredDeletion::Buffer(buffer)]);
            error
        };
        // SAFETY: the buffer was just made.
        let needs = unsafe { self.raw.get_buffer_memory_requirements(buffer) };
        let requirements = vk::MemoryRequirements { alignment: needs.alignment.max(ALIGNMENT), ..needs };
        let want = Want { name: NAME, requirements, domain: Domain::Staging, linear: true, dedicated: None };
        let memory = self.allocate(want).map_err(discard)?;
        // SAFETY: size, alignment and type were asked from the driver; bound once.
        let bound = unsafe { self.raw.bind_buffer_memory(buffer, memory.memory, memory.offset) };
        let bound = self.noted(bound.called("vkBindBufferMemory"));
        let start = memory.staged().map(Start).ok_or_else(|| {
            DeviceError::new(Code::Missing, "the device has no memory that the host can see", "use another device")
                .into()
        });
        match bound.and(start) {
            Ok(start) => Ok(Parts { buffer, memory, size, start }),
            Err(error) => {
                let domain = memory.domain();
                let deferred =
                    [DeferredDeletion::Buffer(buffer), DeferredDeletion::Memory(memory, NAME.to_owned(), domain)];
                self.defer_deletion(deferred);
                Err(error)
            }
        }
    }
}
