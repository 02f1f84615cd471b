//! Device memory: chunks from gpu-allocator, split by the planner's offset allocator; what is above a chunk, or what
//! the driver wants alone, has memory of its own. Linear and optimal resources never share a chunk, so
//! `bufferImageGranularity` costs nothing.

pub(crate) mod arena;
pub(crate) mod blocks;
pub(crate) mod command_pools;
pub(crate) mod deferred_deletion;
pub(crate) mod host;
pub(crate) mod host_pages;
pub(crate) mod left;
pub(crate) mod locked;
mod make;
pub(crate) mod needs;
mod objects;
pub(crate) mod onetime;
pub(crate) mod physical_resource;
pub(crate) mod readback;
pub(crate) mod reclaim;
pub(crate) mod requirements;
pub(crate) mod resource;
pub(crate) mod share;
mod source;
pub(crate) mod staged;
pub(crate) mod staging;
pub(crate) mod state;
pub(crate) mod structure;
pub(crate) mod usages;

use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::Arc;

use ash::vk;
use gpu_allocator::AllocationError;
use gpu_allocator::vulkan::AllocationScheme;
use rgraph_plan::access::MemoryDomain;
use rgraph_plan::heap::{DEFAULT_CHUNK, Heap, Range};

use crate::device::functions::Functions;
use crate::device::lend::MemorySource;
use crate::error::{Code, DeviceError, Error};
use source::{Block, Source};

/// Where memory is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Domain {
    /// The device's own.
    Device,
    /// The host's, written by the CPU: uploads.
    Host,
    /// The host's, read by the CPU through its caches, which the device's writes reach by themselves.
    Cached,
    /// As `Cached`, for those who flush what the CPU wrote and invalidate what the device wrote.
    Staging,
    /// The device's own that the CPU can write (a resizable BAR, unified memory); the host's where there is none.
    Linked,
    /// Memory that the device need not back while tiles hold what it would; the device's own where there is none.
    Lazy,
    /// What the caller chose; there is no other where the device has none.
    Chosen(MemoryDomain),
}

impl Domain {
    /// Those that reports have.
    const ALL: [Self; 5] = [Self::Device, Self::Host, Self::Cached, Self::Linked, Self::Lazy];

    /// Its name in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Host => "host",
            Self::Cached | Self::Staging => "cached host",
            Self::Linked => "device-local host",
            Self::Lazy => "lazily allocated",
            Self::Chosen(domain) => domain.name(),
        }
    }

    /// The domain that memory of some properties is in, whatever it was wanted for.
    fn of(flags: vk::MemoryPropertyFlags) -> Self {
        use vk::MemoryPropertyFlags as Flags;
        let has = |wanted| flags.contains(wanted);
        match (has(Flags::DEVICE_LOCAL), has(Flags::HOST_VISIBLE)) {
            _ if has(Flags::LAZILY_ALLOCATED) => Self::Lazy,
            (true, true) => Self::Linked,
            (false, true) if has(Flags::HOST_CACHED) => Self::Cached,
            (false, true) => Self::Host,
            (_, false) => Self::Device,
        }
    }
}

/// What memory is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Want<'a> {
    /// Who wants it, for reports.
    pub name: &'a str,
    /// Size, alignment and types, as the driver says.
    pub requirements: vk::MemoryRequirements,
    pub domain: Domain,
    /// Whether it is for buffers (else for optimal images, or for both behind one planned arena).
    pub linear: bool,
    /// Memory of its own: asked for by the driver.
    pub dedicated: Option<AllocationScheme>,
}

/// A piece of device memory, given back by [`Memory::free`].
#[derive(Debug)]
pub(crate) struct Allocation {
    /// The memory object.
    pub memory: vk::DeviceMemory,
    /// First byte in it.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    mapped: Option<Mapped>,
    /// Whether what one of CPU and device writes reaches the other without flushing or invalidating.
    coherent: bool,
    domain: Domain,
    part: Backing,
}

/// A pointer into mapped memory; who holds the allocation may use it from any thread.
#[derive(Clone, Copy, Debug)]
struct Mapped(NonNull<u8>);

// SAFETY: the pointer is into memory that stays mapped while the allocation lives; no thread owns it.
unsafe impl Send for Mapped {}
// SAFETY: as above; callers that make slices of it order the access to its bytes.
unsafe impl Sync for Mapped {}

impl Allocation {
    /// Its first byte, if the host can see it and needs neither flush nor invalidate; memory stays mapped as long as it
    /// is held.
    pub(crate) fn mapped(&self) -> Option<NonNull<u8>> {
        self.staged().filter(|_| self.coherent)
    }

    /// Its first byte, if the host can see it: for those who flush and invalidate unless it is coherent.
    pub(crate) fn staged(&self) -> Option<NonNull<u8>> {
        self.mapped.map(|mapped| mapped.0)
    }

    /// Whether nothing needs to be flushed or invalidated.
    pub(crate) fn is_coherent(&self) -> bool {
        self.coherent
    }

    /// The domain that its memory is in.
    pub(crate) fn domain(&self) -> Domain {
        self.domain
    }

    /// Some of its bytes for `vkFlushMappedMemoryRanges`, grown to whole atoms, of which an allocation that is not
    /// coherent has a whole number.
    ///
    /// # Source
    /// Vulkan 1.3 specification, valid usage of `VkMappedMemoryRange`.
    pub(crate) fn atoms(&self, [first, end]: [u64; 2], atom: u64) -> vk::MappedMemoryRange<'static> {
        let (first, end) = (first / atom * atom, end.next_multiple_of(atom).min(self.size));
        vk::MappedMemoryRange::default().memory(self.memory).offset(self.offset + first).size(end - first)
    }
}

#[derive(Debug)]
enum Backing {
    Chunk(Key, Range),
    Own(Box<Block>),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Key {
    linear: bool,
    /// The memory type.
    index: u32,
    /// Bytes of a chunk.
    chunk: u64,
}

#[derive(Debug)]
struct Pool {
    heap: Heap,
    chunks: Vec<Option<Block>>,
}

/// What is held in one domain.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct DomainReport {
    /// The domain's name.
    pub domain: &'static str,
    /// Bytes of device memory objects.
    pub held: u64,
    /// Bytes of them in use.
    pub live: u64,
    /// Memory objects.
    pub blocks: usize,
}

/// One of Vulkan's heaps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct HeapReport {
    /// Bytes.
    pub size: u64,
    /// Whether it is the device's own.
    pub device_local: bool,
    /// Bytes that this process uses of it, where the driver tells.
    pub used: Option<u64>,
    /// Bytes that this process should stay below, where the driver tells.
    pub budget: Option<u64>,
}

/// What is held, what is live, by whom.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct MemoryReport {
    /// By domain; only those that hold something.
    pub domains: Vec<DomainReport>,
    /// Vulkan's heaps.
    pub heaps: Vec<HeapReport>,
    /// Bytes by who wanted them, largest first: those in use, and staging blocks that wait to be used again.
    pub owners: Vec<(String, u64)>,
}

impl MemoryReport {
    /// Bytes held.
    pub fn held(&self) -> u64 {
        self.domains.iter().map(|domain| domain.held).sum()
    }

    /// Bytes in use.
    pub fn live(&self) -> u64 {
        self.domains.iter().map(|domain| domain.live).sum()
    }
}

impl std::fmt::Display for MemoryReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        write!(f, "{:.1} MiB live in {:.1} MiB held", mib(self.live()), mib(self.held()))?;
        for DomainReport { domain, held, live, blocks } in &self.domains {
            write!(f, "\n  {domain}: {:.1} of {:.1} MiB in {blocks} blocks", mib(*live), mib(*held))?;
        }
        for (name, bytes) in &self.owners {
            write!(f, "\n  {:>10.3} MiB  {name}", mib(*bytes))?;
        }
        Ok(())
    }
}

/// A device's memory.
pub(crate) struct Memory {
    source: Source,
    properties: vk::PhysicalDeviceMemoryProperties,
    /// `nonCoherentAtomSize` in bytes.
    atom: u64,
    pools: HashMap<Key, Pool>,
    own: HashMap<Domain, (u64, usize)>,
    owners: HashMap<String, u64>,
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Memory")
    }
}

/// Half of the least bytes of a chunk.
const LEAST: u64 = 4 << 20;

/// Bytes of a small chunk: all that a pool of host memory has, and the first ones of other pools.
const SMALL: u64 = 2 * LEAST;

/// Empty chunks that a pool keeps.
const SPARE_CHUNKS: u32 = 1;

/// Whether all of a device's own memory can be seen by the host.
pub(crate) fn is_unified(properties: &vk::PhysicalDeviceMemoryProperties) -> bool {
    use vk::MemoryPropertyFlags as Flags;
    properties.memory_types_as_slice().iter().all(|one| {
        !one.property_flags.contains(Flags::DEVICE_LOCAL)
            || one.property_flags.contains(Flags::HOST_VISIBLE | Flags::HOST_COHERENT)
    })
}

impl Memory {
    /// The memory of a device, from its driver or from the engine's source. With callbacks of an engine's it takes
    /// memory objects itself, since gpu-allocator has no place for them. `addresses`: buffers in it have some.
    ///
    /// # Errors
    /// If gpu-allocator refuses the device.
    pub(crate) fn new(
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        device: &Functions,
        addresses: bool,
        lent: Option<Arc<dyn MemorySource>>,
    ) -> Result<Self, Error> {
        // SAFETY: the physical device is of this instance.
        let properties = unsafe { instance.get_physical_device_memory_properties(physical) };
        // SAFETY: as above.
        let limits = unsafe { instance.get_physical_device_properties(physical) }.limits;
        let source = Source::new(instance, physical, device, addresses, lent)?;
        let atom = limits.non_coherent_atom_size.max(1);
        Ok(Self { source, properties, atom, pools: HashMap::new(), own: HashMap::new(), owners: HashMap::new() })
    }

    /// Bytes of a large chunk of some memory types: an eighth of the smallest heap among them, and at most 64 MiB; of
    /// the host's memory less, because page-locking is slow and a device with memory of its own needs little of it.
    fn chunk(&self, types: u32) -> u64 {
        let known = self.properties.memory_types_as_slice().iter().zip(0..);
        let allowed = known.filter(|(_, at)| types & 1 << at != 0).map(|(of, _)| of);
        let local = allowed.clone().any(|of| of.property_flags.contains(vk::MemoryPropertyFlags::DEVICE_LOCAL));
        let heaps = allowed.map(|of| self.properties.memory_heaps[of.heap_index as usize].size);
        let most = if local { DEFAULT_CHUNK } else { SMALL };
        1 << (heaps.min().unwrap_or(u64::MAX) / 8).clamp(SMALL, most).ilog2()
    }

    /// Memory types of a domain among those allowed.
    pub(crate) fn types(&self, domain: Domain, allowed: u32) -> u32 {
        use vk::MemoryPropertyFlags as Flags;
        let count = self.properties.memory_type_count;
        let with = |wanted: Flags, unwanted: Flags| {
            (0..count).fold(0, |mask, at| {
                let flags = self.properties.memory_types[at as usize].property_flags;
                let lazy =
                    if wanted.contains(Flags::LAZILY_ALLOCATED) { Flags::empty() } else { Flags::LAZILY_ALLOCATED };
                let unwanted = unwanted | Flags::PROTECTED | lazy;
                let fits = flags.contains(wanted) && !flags.intersects(unwanted);
                mask | u32::from(fits && allowed & 1 << at != 0) << at
            })
        };
        let visible = Flags::HOST_VISIBLE | Flags::HOST_COHERENT;
        let tries = match domain {
            Domain::Chosen(chosen) => {
                let (best, good) = match chosen {
                    MemoryDomain::Device => {
                        return self.types(Domain::Device, with(Flags::DEVICE_LOCAL, Flags::empty()));
                    }
                    MemoryDomain::Host => ((visible, Flags::DEVICE_LOCAL), visible),
                    MemoryDomain::CachedHost => {
                        ((visible | Flags::HOST_CACHED, Flags::empty()), Flags::HOST_VISIBLE | Flags::HOST_CACHED)
                    }
                    MemoryDomain::DeviceLocalHost => {
                        ((visible | Flags::DEVICE_LOCAL, Flags::empty()), visible | Flags::DEVICE_LOCAL)
                    }
                };
                let best = with(best.0, best.1);
                return if best == 0 { with(good, Flags::empty()) } else { best };
            }
            Domain::Device => [(Flags::DEVICE_LOCAL, Flags::HOST_VISIBLE), (Flags::DEVICE_LOCAL, Flags::empty())],
            Domain::Host => [(visible, Flags::DEVICE_LOCAL), (visible, Flags::empty())],
            Domain::Cached => [(visible | Flags::HOST_CACHED, Flags::empty()), (visible, Flags::empty())],
            Domain::Staging if with(visible | Flags::HOST_CACHED, Flags::empty()) == 0 => {
                [(Flags::HOST_VISIBLE | Flags::HOST_CACHED, Flags::empty()), (visible, Flags::empty())]
            }
            Domain::Staging => [(visible | Flags::HOST_CACHED, Flags::empty()), (visible, Flags::empty())],
            Domain::Linked => [(visible | Flags::DEVICE_LOCAL, Flags::empty()), (visible, Flags::empty())],
            Domain::Lazy => {
                let lazy = Flags::DEVICE_LOCAL | Flags::LAZILY_ALLOCATED;
                [(lazy, Flags::empty()), (Flags::DEVICE_LOCAL, Flags::empty())]
            }
        };
        let found = tries.into_iter().map(|(wanted, unwanted)| with(wanted, unwanted)).find(|mask| *mask != 0);
        found.unwrap_or_else(|| with(Flags::empty(), Flags::empty()))
    }

    /// Whether the device's own memory is the host's too, so that staging is a waste.
    pub(crate) fn is_unified(&self) -> bool {
        is_unified(&self.properties)
    }

    /// Memory for what a driver requires. O(1) unless a new memory object is needed.
    ///
    /// # Errors
    /// RG-E110 if there is none: what was asked for, what is held, what would help.
    pub(crate) fn allocate(&mut self, want: Want<'_>) -> Result<Allocation, Error> {
        let types = self.types(want.domain, want.requirements.memory_type_bits);
        if types == 0 {
            return Err(match want.domain {
                Domain::Chosen(domain) => self.no_domain(want, domain),
                _ => self.out_of_memory(want, AllocationError::NoCompatibleMemoryTypeFound),
            });
        }
        // The first of the best.
        let index = types.trailing_zeros();
        let types = 1 << index;
        let mut requirements = vk::MemoryRequirements { memory_type_bits: types, ..want.requirements };
        let flags = self.properties.memory_types[index as usize].property_flags;
        let coherent = flags.contains(vk::MemoryPropertyFlags::HOST_COHERENT);
        let domain = Domain::of(flags);
        if flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE) && !coherent {
            // Two allocations share no atom: flushing one would write old bytes of the other.
            requirements.alignment = requirements.alignment.max(self.atom);
            requirements.size = requirements.size.next_multiple_of(self.atom);
        }
        let most = self.chunk(types);
        // Small chunks until they hold as much as a large one: a device with little to hold leaves the rest to others.
        let sizes = if most > SMALL { [Some(SMALL), Some(most)] } else { [Some(most), None] };
        let sizes = sizes.into_iter().flatten().filter(|chunk| want.dedicated.is_none() && requirements.size <= *chunk);
        for chunk in sizes {
            let key = Key { linear: want.linear, index, chunk };
            let Self { pools, source, properties, .. } = self;
            let pool =
                pools.entry(key).or_insert_with(|| Pool { heap: Heap::new(chunk, SPARE_CHUNKS), chunks: Vec::new() });
            let Pool { heap, chunks } = pool;
            let full = chunk < most && heap.held() >= most;
            let range = heap.allocate(requirements.size, requirements.alignment, |at| {
                if full {
                    return Err(AllocationError::OutOfMemory);
                }
                let requirements = vk::MemoryRequirements { size: chunk, alignment: 1 << 16, memory_type_bits: types };
                let visible = is_visible(properties, index);
                let block = source.allocate(want, requirements, AllocationScheme::GpuAllocatorManaged, visible)?;
                let at = at as usize;
                if chunks.len() <= at {
                    chunks.resize_with(at + 1, || None);
                }
                chunks[at] = Some(block);
                Ok(())
            });
            match range {
                Ok(Some(range)) => {
                    let block = chunks[range.chunk() as usize].as_ref().expect("a chunk that ranges lie in is held");
                    let mapped = block.mapped_ptr().map(|start| {
                        // SAFETY: the range lies in the chunk, which is mapped as a whole.
                        Mapped(unsafe { start.cast::<u8>().add(range.offset() as usize) })
                    });
                    let memory = block.memory();
                    *self.owners.entry(want.name.to_owned()).or_default() += range.size();
                    return Ok(Allocation {
                        memory,
                        offset: block.offset() + range.offset(),
                        size: range.size(),
                        mapped,
                        coherent,
                        domain,
                        part: Backing::Chunk(key, range),
                    });
                }
                // No more chunks of this size; or a whole chunk is too large and the requested range is not.
                Ok(None) | Err(AllocationError::OutOfMemory) => {}
                Err(error) => return Err(self.out_of_memory(want, error)),
            }
        }
        let scheme = want.dedicated.unwrap_or(AllocationScheme::GpuAllocatorManaged);
        let visible = is_visible(&self.properties, index);
        let block = match self.source.allocate(want, requirements, scheme, visible) {
            Ok(block) => block,
            Err(error) => return Err(self.out_of_memory(want, error)),
        };
        let own = self.own.entry(domain).or_default();
        (own.0, own.1) = (own.0 + block.size(), own.1 + 1);
        *self.owners.entry(want.name.to_owned()).or_default() += block.size();
        Ok(Allocation {
            memory: block.memory(),
            offset: block.offset(),
            size: block.size(),
            mapped: block.mapped_ptr().map(|start| Mapped(start.cast())),
            coherent,
            domain,
            part: Backing::Own(Box::new(block)),
        })
    }

    /// Gives memory back. `name` and `domain` are those it was wanted with.
    pub(crate) fn free(&mut self, allocation: Allocation, name: &str, domain: Domain) {
        self.disown(name, allocation.size);
        let block = match allocation.part {
            Backing::Own(block) => {
                let own = self.own.entry(domain).or_default();
                (own.0, own.1) = (own.0.saturating_sub(block.size()), own.1.saturating_sub(1));
                Some(*block)
            }
            Backing::Chunk(key, range) => {
                let pool = self.pools.get_mut(&key).expect("pools live as long as the device");
                let emptied = pool.heap.free(range).expect("an allocation is freed once, by the memory that made it");
                emptied.and_then(|chunk| pool.chunks[chunk as usize].take())
            }
        };
        if let Some(block) = block {
            self.source.free(block);
        }
    }

    /// Counts a block that is shared with others, and that its owner frees.
    pub(crate) fn count_shared(&mut self, name: &str, bytes: u64) {
        let own = self.own.entry(Domain::Device).or_default();
        (own.0, own.1) = (own.0 + bytes, own.1 + 1);
        *self.owners.entry(name.to_owned()).or_default() += bytes;
    }

    /// Takes a shared block out of the count; one of no bytes was never in it.
    pub(crate) fn uncount_shared(&mut self, name: &str, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let own = self.own.entry(Domain::Device).or_default();
        (own.0, own.1) = (own.0.saturating_sub(bytes), own.1.saturating_sub(1));
        self.disown(name, bytes);
    }

    fn disown(&mut self, name: &str, bytes: u64) {
        if let Some(owned) = self.owners.get_mut(name) {
            *owned = owned.saturating_sub(bytes);
            if *owned == 0 {
                self.owners.remove(name);
            }
        }
    }

    /// Gives back empty chunks that were kept for later.
    pub(crate) fn trim(&mut self) {
        let mut blocks = Vec::new();
        for pool in self.pools.values_mut() {
            for chunk in pool.heap.trim() {
                blocks.extend(pool.chunks[chunk as usize].take());
            }
        }
        for block in blocks {
            self.source.free(block);
        }
    }

    /// What is held and live, by domain and by who wanted it.
    pub(crate) fn report(&self) -> MemoryReport {
        let mut report = MemoryReport::default();
        for domain in Domain::ALL {
            let (mut held, mut blocks) = self.own.get(&domain).copied().unwrap_or_default();
            let mut live = held;
            let flags = |key: &Key| self.properties.memory_types[key.index as usize].property_flags;
            for (_, pool) in self.pools.iter().filter(|(key, _)| Domain::of(flags(key)) == domain) {
                held += pool.heap.held();
                live += pool.heap.live();
                blocks += pool.chunks.iter().flatten().count();
            }
            if held > 0 {
                report.domains.push(DomainReport { domain: domain.name(), held, live, blocks });
            }
        }
        let heaps = &self.properties.memory_heaps[..self.properties.memory_heap_count as usize];
        report.heaps.extend(heaps.iter().map(|heap| HeapReport {
            size: heap.size,
            device_local: heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL),
            used: None,
            budget: None,
        }));
        report.owners.extend(self.owners.iter().map(|(name, bytes)| (name.clone(), *bytes)));
        report.owners.sort_by(|a, b| (std::cmp::Reverse(a.1), &a.0).cmp(&(std::cmp::Reverse(b.1), &b.0)));
        report
    }

    /// The device has no memory of the chosen domain that suits.
    fn no_domain(&self, want: Want<'_>, domain: MemoryDomain) -> Error {
        let allowed = want.requirements.memory_type_bits;
        let has = |one: &&MemoryDomain| self.types(Domain::Chosen(**one), allowed) != 0;
        let others: Vec<_> = MemoryDomain::ALL.iter().filter(has).map(|one| format!("\"{one}\"")).collect();
        let message = format!("\"{}\" is to lie in {domain} memory, and the device has none that suits it", want.name);
        let help = format!("use {}, or leave memory_domain out", others.join(" or "));
        DeviceError::new(Code::Missing, message, help).of(want.name).into()
    }

    fn out_of_memory(&self, want: Want<'_>, error: AllocationError) -> Error {
        let report = self.report();
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        let (name, asked) = (want.name, mib(want.requirements.size));
        let message = format!("\"{name}\" needs {asked:.1} MiB of {} memory: {error}", want.domain.name());
        let result = match error {
            AllocationError::OutOfMemory => Some(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY),
            _ => None,
        };
        let help = "drop results and compiled graphs that are not needed, or use smaller images";
        let mut error = DeviceError::new(Code::NoMemory, message, help).of(name);
        (error.call, error.result) = (Some("vkAllocateMemory"), result);
        if result.is_none() {
            error.call = None;
        }
        report.to_string().lines().take(8).fold(error, |error, line| error.note(line.trim_start())).into()
    }
}

fn is_visible(properties: &vk::PhysicalDeviceMemoryProperties, index: u32) -> bool {
    properties.memory_types[index as usize].property_flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE)
}
