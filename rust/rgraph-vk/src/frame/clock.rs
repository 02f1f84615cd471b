//! The device's clock and the host's: when a timestamp was, as the host counts time.
//!
//! `VK_KHR_calibrated_timestamps` (or the `EXT` of that name) reads the device's clock now; the host's is read before
//! and after, and the middle is taken. Both clocks drift apart by some microseconds per second, so a reading is used
//! for a while.

use std::ffi::CStr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ash::{ext, khr, vk};

use crate::device::context::Context;

/// How long a reading is used: less than a microsecond of drift.
const FRESH: Duration = Duration::from_millis(10);

/// Reads the device's clock.
pub(crate) struct DeviceClock {
    device: Calls,
    /// Microseconds of a tick.
    tick_us: f64,
    read: Mutex<Option<(Instant, u64)>>,
}

/// The two extensions have one set of functions under two names.
enum Calls {
    Khr(khr::calibrated_timestamps::Device),
    Ext(ext::calibrated_timestamps::Device),
}

/// The extension that a device has for it, if it can read its own clock; `has` says which extensions there are.
pub(crate) fn extension(
    context: &Context,
    device: vk::PhysicalDevice,
    has: impl Fn(&CStr) -> bool,
) -> Option<&'static CStr> {
    let names = [khr::calibrated_timestamps::NAME, ext::calibrated_timestamps::NAME];
    let name = names.into_iter().find(|name| has(name))?;
    let (entry, instance) = (context.entry(), context.raw());
    let domains = if name == khr::calibrated_timestamps::NAME {
        let calls = khr::calibrated_timestamps::Instance::new(entry, instance);
        // SAFETY: the device offers the extension, whose physical-device functions need not be enabled.
        unsafe { calls.get_physical_device_calibrateable_time_domains(device) }
    } else {
        let calls = ext::calibrated_timestamps::Instance::new(entry, instance);
        // SAFETY: as above.
        unsafe { calls.get_physical_device_calibrateable_time_domains(device) }
    };
    domains.is_ok_and(|domains| domains.contains(&vk::TimeDomainKHR::DEVICE)).then_some(name)
}

impl DeviceClock {
    /// The clock of a device that was made with the extension.
    pub(crate) fn new(context: &Context, device: &ash::Device, name: &CStr, period_ns: f32) -> Self {
        let instance = context.raw();
        let calls = if name == khr::calibrated_timestamps::NAME {
            Calls::Khr(khr::calibrated_timestamps::Device::new(instance, device))
        } else {
            Calls::Ext(ext::calibrated_timestamps::Device::new(instance, device))
        };
        Self { device: calls, tick_us: f64::from(period_ns) / 1e3, read: Mutex::default() }
    }

    /// When a timestamp of `bits` bits was that is not older than half of their range; `None` if the driver does not
    /// say.
    pub(crate) fn when(&self, ticks: u64, bits: u32) -> Option<Instant> {
        let (host, device) = self.reading()?;
        let us = difference(ticks, device, bits) as f64 * self.tick_us;
        let apart = Duration::try_from_secs_f64(us.abs() / 1e6).ok()?;
        if us < 0.0 { host.checked_sub(apart) } else { host.checked_add(apart) }
    }

    /// A moment of the host, and the device's clock then.
    fn reading(&self) -> Option<(Instant, u64)> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = read.filter(|(host, _)| host.elapsed() < FRESH) {
            return Some(known);
        }
        let before = Instant::now();
        let wanted = [vk::CalibratedTimestampInfoKHR::default().time_domain(vk::TimeDomainKHR::DEVICE)];
        let got = match &self.device {
            // SAFETY: the device was made with the extension, and has that time domain.
            Calls::Khr(calls) => unsafe { calls.get_calibrated_timestamps(&wanted) },
            // SAFETY: as above.
            Calls::Ext(calls) => unsafe { calls.get_calibrated_timestamps(&wanted) },
        };
        let (device, _) = got.ok()?;
        *read = Some((before + before.elapsed() / 2, *device.first()?));
        *read
    }
}

/// Ticks from `from` to `to` on a clock of so many bits that may have begun again between them.
pub(crate) fn difference(to: u64, from: u64, bits: u32) -> i64 {
    let unused = 64 - bits.clamp(1, 64);
    (to.wrapping_sub(from) << unused).cast_signed() >> unused
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn clocks_that_begin_anew_still_count_forward() {
        assert_eq!(difference(5, 3, 64), 2);
        assert_eq!(difference(3, 5, 64), -2);
        let most = (1 << 36) - 1;
        assert_eq!(difference(1, most, 36), 2);
        assert_eq!(difference(most, 1, 36), -2);
        assert_eq!(difference(1, u64::MAX, 64), 2);
        // Bits above those that count do not.
        assert_eq!(difference(1 << 40 | 7, 5, 36), 2);
    }
}
