//! Copies between devices, measured.

use std::sync::Arc;
use std::time::Instant;

use ash::vk;
use rgraph_plan::plan::PlanKind;

use super::Devices;
use crate::bridge::{Bridge, CopyWay};
use crate::device::{Device, Shared};
use crate::error::{Code, DeviceError, Error};
use crate::memory::physical_resource::PhysicalResource;
use crate::memory::usages::Usages;
use crate::memory::{Domain, staged};

/// Bytes of a copy that shows what each byte costs, by CUDA and else, and of one that shows what a copy costs.
const LARGE: [u64; 2] = [256 << 20, 64 << 20];
const SMALL: u64 = 64 << 10;
/// Copies of each size, of which the fastest one counts.
const TIMES: usize = 3;

/// What a copy between devices costs.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct CopyPrice {
    /// Microseconds of any copy.
    pub us: f64,
    /// Gigabytes per second of a large one.
    pub gb_s: f64,
    /// Whether no CPU copies between any pair.
    pub direct: bool,
    /// The way of the pair whose way is the slowest.
    pub way: CopyWay,
}

/// Of the slowest pair, in either direction. One device has nothing to copy: at the price of no copy.
pub(super) fn measure(devices: &Devices) -> Result<CopyPrice, Error> {
    let (mut worst, mut way) = (CopyPrice { us: 0.0, gb_s: 1e6, direct: true, way: CopyWay::Host }, None);
    for from in devices.list() {
        for to in devices.list().iter().filter(|to| !to.is(from)) {
            let price = of_pair(devices, from, to)?;
            worst.us = worst.us.max(price.us);
            worst.gb_s = worst.gb_s.min(price.gb_s);
            worst.direct &= price.direct;
            way = way.max(Some(price.way));
        }
    }
    worst.way = way.unwrap_or(worst.way);
    Ok(worst)
}

fn of_pair(devices: &Devices, from: &Device, to: &Device) -> Result<CopyPrice, Error> {
    let kinds = LARGE.map(|size| PlanKind::Buffer { size });
    let peers = |size| -> Result<Option<[Arc<PhysicalResource>; 2]>, Error> {
        let make = |device, other| devices.peer_buffer(device, &[other], "measured copy", (size, usages()));
        Ok(make(from, to)?.zip(make(to, from)?).map(<[_; 2]>::from))
    };
    let direct = devices.direct_bridge(from, to)?.filter(|_| peers(SMALL).is_ok_and(|made| made.is_some()));
    let is_direct = direct.is_some();
    let bridge = match direct {
        Some(bridge) => Some(bridge),
        None => devices.bridge(from, to, &kinds)?.0,
    };
    let way = bridge.as_ref().map_or(CopyWay::Staged, Bridge::way);
    let large = if way == CopyWay::Cuda { LARGE[0] } else { LARGE[1] };
    let mut us = [f64::INFINITY; 2];
    for (us, size) in us.iter_mut().zip([large, SMALL]) {
        let [source, target] = match is_direct {
            true => {
                peers(size)?.ok_or_else(|| DeviceError::new(Code::NoMemory, "no memory for measured copies", ""))?
            }
            false => [buffer(&from.0, size)?, buffer(&to.0, size)?],
        };
        // The first one is not measured: memory gets its pages by it.
        for time in 0..=TIMES {
            let begin = Instant::now();
            copy(&source, &target, bridge.as_ref())?;
            to.0.wait_idle()?;
            if time > 0 {
                *us = us.min(begin.elapsed().as_secs_f64() * 1e6);
            }
        }
    }
    let bytes = (large - SMALL) as f64;
    let [large, small] = us;
    // A timer that is too coarse for a difference shows the rate with the fixed part in it.
    let bytes_us = if large > small { large - small } else { large };
    let gb_s = (bytes / (bytes_us.max(1e-3) * 1e3)).clamp(1e-3, 1e6);
    Ok(CopyPrice { us: small, gb_s, direct: way != CopyWay::Staged, way })
}

fn buffer(shared: &Arc<Shared>, size: u64) -> Result<Arc<PhysicalResource>, Error> {
    PhysicalResource::new(shared, "measured copy", PlanKind::Buffer { size }, usages(), Domain::Device, true)
}

fn usages() -> Usages {
    let buffer = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
    Usages { buffer, ..Usages::default() }
}

/// One copy as a run makes it.
fn copy(source: &Arc<PhysicalResource>, target: &Arc<PhysicalResource>, bridge: Option<&Bridge>) -> Result<(), Error> {
    let Some(bridge) = bridge else {
        let block = staged::read(source, None)?;
        let PlanKind::Buffer { size } = source.kind else { return Ok(()) };
        // SAFETY: the block is mapped as long as it lives and that large; the source is done with it, and nothing else
        // borrows it.
        let bytes = unsafe { std::slice::from_raw_parts(block.start().as_ptr(), size as usize) };
        return staged::write(target, bytes, None);
    };
    bridge.cross(source, target)
}
