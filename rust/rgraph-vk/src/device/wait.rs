//! Waits for points on the queues of a device.

use std::time::{Duration, Instant};

use ash::vk;

use crate::device::Shared;
use crate::device::poll::{Poll, wait_polling};
use crate::device::queue::{Point, Queue};
use crate::error::{Called, Error};

/// How long a wait looks again and again before it sleeps.
pub(crate) const AWAKE: Duration = Duration::from_micros(50);

/// Bytes that no link moves faster than in a nanosecond.
const FASTEST_LINK: u64 = 64;

impl Shared {
    /// The value that a queue has reached.
    pub(crate) fn reached(&self, queue: &Queue) -> Result<u64, Error> {
        self.context.process.check()?;
        // SAFETY: the semaphore lives as long as the device.
        let value = unsafe { self.raw.get_semaphore_counter_value(queue.semaphore) };
        self.noted(value.called("vkGetSemaphoreCounterValue"))
    }

    /// Whether queues have reached points.
    pub(crate) fn is_over<'a>(&self, points: impl IntoIterator<Item = &'a Point>) -> Result<bool, Error> {
        for point in points {
            if self.reached(&self.queues[point.queue])? < point.value {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits until some bytes have gone over the link: sleeps as long as they must take, then looks again and again,
    /// since what follows is worth more than the processor's time.
    pub(crate) fn wait_for_bytes(&self, point: Point, bytes: u64, poll: Option<Poll<'_>>) -> Result<(), Error> {
        let (begin, least) = (Instant::now(), Duration::from_nanos(bytes / FASTEST_LINK));
        // A sleep takes this much longer than requested.
        std::thread::sleep(least.saturating_sub(AWAKE * 2));
        while begin.elapsed() < least * 2 + AWAKE {
            if self.is_over([&point])? {
                return Ok(());
            }
            std::thread::yield_now();
        }
        wait_polling(poll, |slice| self.wait(&[point], slice))
    }

    /// Waits for points on queues; `false`: the time was over first.
    pub(crate) fn wait(&self, points: &[Point], timeout: Option<Duration>) -> Result<bool, Error> {
        self.wait_awake(points, timeout, AWAKE)
    }

    /// The same. A thread that the driver puts to sleep is awake again 50 µs after short work is over, so it looks
    /// again and again for `awake` before.
    pub(crate) fn wait_awake(
        &self,
        points: &[Point],
        timeout: Option<Duration>,
        awake: Duration,
    ) -> Result<bool, Error> {
        let points: Vec<_> = points.iter().filter(|point| point.value > 0).collect();
        if points.is_empty() {
            return Ok(true);
        }
        if self.is_lost() {
            return self.check().map(|()| true);
        }
        let begin = Instant::now();
        let mut next = Duration::ZERO;
        while timeout.is_none_or(|timeout| !timeout.is_zero()) && begin.elapsed() < awake {
            if begin.elapsed() < next {
                std::hint::spin_loop();
            } else if self.is_over(points.iter().copied())? {
                return Ok(true);
            } else {
                next = begin.elapsed().mul_f64(1.25);
            }
        }
        let semaphores: Vec<_> = points.iter().map(|point| self.queues[point.queue].semaphore).collect();
        let values: Vec<_> = points.iter().map(|point| point.value).collect();
        self.wait_semaphores(&semaphores, &values, timeout)
    }

    /// Waits for timeline semaphores; `false`: the time was over first.
    pub(crate) fn wait_semaphores(
        &self,
        semaphores: &[vk::Semaphore],
        values: &[u64],
        timeout: Option<Duration>,
    ) -> Result<bool, Error> {
        let info = vk::SemaphoreWaitInfo::default().semaphores(semaphores).values(values);
        self.context.process.check()?;
        // A time that no clock reaches is none.
        let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        loop {
            // Drivers differ in how they take very long times, so long waits are many of a second.
            let left = end.map_or(Duration::from_secs(1), |end| end.saturating_duration_since(Instant::now()));
            let slice = left.min(Duration::from_secs(1)).as_nanos() as u64;
            // SAFETY: the semaphores live as long as the device.
            match unsafe { self.raw.wait_semaphores(&info, slice) } {
                Ok(()) => return Ok(true),
                Err(vk::Result::TIMEOUT) => {
                    if end.is_some_and(|end| Instant::now() >= end) {
                        return Ok(false);
                    }
                }
                Err(result) => return self.noted(Err(result).called("vkWaitSemaphores")),
            }
        }
    }

    /// The end of all that was submitted.
    pub(crate) fn submitted(&self) -> Vec<Point> {
        self.queues.iter_ids().map(|(queue, of)| Point { queue, value: of.submitted() }).collect()
    }
}
