//! What is wrong with a profile, before any graph is looked at.

use super::Check;
use super::queues::MAX_QUEUES;
use crate::error::{Code, Mistake};
use crate::profile::Capabilities;
use crate::stages::size::MAX_ALIGN;

impl Check<'_> {
    pub(super) fn check_profile(&mut self) {
        let profile = self.profile;
        let queues = &profile.queues;
        if queues.is_empty() {
            self.bad_profile("has no queue", "give it at least one queue with graphics, compute or transfer");
        }
        if queues.len() > MAX_QUEUES {
            let says = format!("lists {} queues", queues.len());
            self.bad_profile(
                &says,
                "list each queue family once, at most 16, and give the number of its queues as count",
            );
        }
        for queue in queues {
            if queue.count == 0 {
                let says = format!("has no queue of \"{}\": its count is 0", queue.name);
                self.bad_profile(&says, "leave it out, or give it a count of at least 1");
            }
            if !queue.capabilities.intersects(Capabilities::all()) {
                let says = format!("has a queue \"{}\" that can do nothing", queue.name);
                self.bad_profile(&says, "give it capabilities: graphics, compute or transfer");
            }
        }
        for (name, bytes) in [
            ("buffer_image_granularity", profile.buffer_image_granularity),
            ("image_alignment", profile.image_alignment),
            ("buffer_alignment", profile.buffer_alignment),
        ] {
            if !bytes.is_power_of_two() || bytes > MAX_ALIGN {
                self.bad_profile(&format!("has {name} {bytes}"), "give it a power of two from 1 to 2^30, in bytes");
            }
        }
        for (name, cost) in [
            ("cross_queue_us", profile.cross_queue_us),
            ("barrier_us", profile.barrier_us),
            ("submit_us", profile.submit_us),
            ("pass_us", profile.pass_us),
            ("copy_us", profile.copy_us),
            ("foreign_us", profile.foreign_us),
            ("foreign_transfer_us", profile.foreign_transfer_us),
        ] {
            if !(0.0..=1e12).contains(&cost) {
                self.bad_profile(&format!("has {name} {cost:?}"), "give it a cost in microseconds, 0 to 10^12");
            }
        }
        if !(profile.copy_gb_s > 0.0 && profile.copy_gb_s <= 1e6) {
            let says = format!("has copy_gb_s {:?}", profile.copy_gb_s);
            self.bad_profile(&says, "give it a rate in GB/s, above 0 and up to 10^6");
        }
        if profile.width == 0 {
            self.bad_profile("has width 0", "give it the invocations that fill the device, or leave width out");
        }
        if profile.memory.is_empty() {
            self.bad_profile("has no memory", "give it at least one class of memory, or leave memory out");
        }
        let limits = &profile.limits;
        for (name, limit) in [
            ("max_image_2d", u64::from(limits.max_image_2d)),
            ("max_image_3d", u64::from(limits.max_image_3d)),
            ("max_image_cube", u64::from(limits.max_image_cube)),
            ("max_image_layers", u64::from(limits.max_image_layers)),
            ("max_color_attachments", u64::from(limits.max_color_attachments)),
            ("max_samples", u64::from(limits.max_samples)),
            ("max_buffer", limits.max_buffer),
            ("max_uniform_range", limits.max_uniform_range),
        ] {
            if limit == 0 {
                self.bad_profile(&format!("has limit {name} 0"), "give it the device's limit, or leave it out");
            }
        }
    }

    #[cold]
    fn bad_profile(&mut self, says: &str, help: &str) {
        let message = format!("profile \"{}\" {says}", self.profile.name);
        self.block(Mistake::new(Code::BadProfile, message, help));
    }
}
