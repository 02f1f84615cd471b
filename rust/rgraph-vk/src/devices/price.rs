//! Copies between devices, measured.

use std::sync::Arc;
use std::time::Instant;

use ash::vk;
use rgraph_plan::plan::PlanKind;

use crate::device::{Device, Shared};
use crate::error::Error;
use crate::frame::copy::pieces;
use crate::memory::host::{HostMemory, PIECE};
use crate::memory::physical_resource::{PhysicalResource, Usages};
use crate::memory::{Domain, staged};

/// Bytes of a copy that shows what each byte costs, and of one that shows what a copy costs.
const SIZES: [u64; 2] = [64 << 20, 64 << 10];
/// Copies of each size, of which the fastest one counts.
const TIMES: usize = 3;

/// What a copy between devices costs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CopyPrice {
    /// Microseconds of any copy.
    pub us: f64,
    /// Gigabytes per second of a large one.
    pub gb_s: f64,
    /// Whether all pairs copy through memory that both have imported; else a CPU copies between two staging memories.
    pub direct: bool,
}

/// Of the slowest pair, in either direction. One device has nothing to copy: at the price of no copy.
pub(super) fn measure(devices: &[Device]) -> Result<CopyPrice, Error> {
    let mut worst = CopyPrice { us: 0.0, gb_s: 1e6, direct: true };
    for from in devices {
        for to in devices.iter().filter(|to| !to.is(from)) {
            let price = of_pair(&from.0, &to.0)?;
            worst.us = worst.us.max(price.us);
            worst.gb_s = worst.gb_s.min(price.gb_s);
            worst.direct &= price.direct;
        }
    }
    Ok(worst)
}

fn of_pair(from: &Arc<Shared>, to: &Arc<Shared>) -> Result<CopyPrice, Error> {
    let host = HostMemory::between(from, to, SIZES[0])?;
    let mut us = [f64::INFINITY; 2];
    for (us, size) in us.iter_mut().zip(SIZES) {
        let [source, target] = [buffer(from, size)?, buffer(to, size)?];
        for _ in 0..TIMES {
            let begin = Instant::now();
            copy(&source, &target, host.as_ref())?;
            to.wait_idle()?;
            *us = us.min(begin.elapsed().as_secs_f64() * 1e6);
        }
    }
    let [large, small] = us;
    // A timer that is too coarse for a difference shows the rate with the fixed part in it.
    let bytes_us = if large > small { large - small } else { large };
    let gb_s = (SIZES[0] - SIZES[1]) as f64 / (bytes_us.max(1e-3) * 1e3);
    Ok(CopyPrice { us: small, gb_s: gb_s.clamp(1e-3, 1e6), direct: host.is_some() })
}

fn buffer(shared: &Arc<Shared>, size: u64) -> Result<Arc<PhysicalResource>, Error> {
    let buffer = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
    let usages = Usages { buffer, ..Usages::default() };
    PhysicalResource::new(shared, "measured copy", PlanKind::Buffer { size }, usages, Domain::Device, true)
}

/// One copy as a run makes it, but with one thread.
fn copy(
    source: &Arc<PhysicalResource>,
    target: &Arc<PhysicalResource>,
    host: Option<&HostMemory>,
) -> Result<(), Error> {
    let Some(host) = host else {
        let block = staged::read(source, None)?;
        let PlanKind::Buffer { size } = source.kind else { return Ok(()) };
        // SAFETY: the block is mapped as long as it lives and that large; the source is done with it, and nothing else
        // borrows it.
        let bytes = unsafe { std::slice::from_raw_parts(block.start().as_ptr(), size as usize) };
        return staged::write(target, bytes, None);
    };
    let pieces = pieces(source.kind, PIECE);
    let mut points = staged::read_pieces_into(source, &pieces, host.source())?.into_iter();
    staged::write_pieces_from(target, &pieces, host.target(), || match points.next() {
        Some(point) => source.shared.wait(&[point], None).map(drop),
        None => Ok(()),
    })
    .map(drop)
}
