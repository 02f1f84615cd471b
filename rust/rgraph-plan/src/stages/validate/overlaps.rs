//! Accesses of one pass to one resource whose parts meet: reads may, and colour attachments that keep their contents
//! with input attachments; all else contradicts itself. Attachments that meet are one: the same mip, the same layers.
//!
//! Each access becomes intervals (of layers per mip and aspect, or of bytes), sorted by where they begin; one sweep
//! then keeps how far the accesses of each class have reached. O(k log k) in the intervals, at most 96 an access.

use super::words::{as_usage, part_words};
use super::{At, Check};
use crate::access::{Aspects, Load, Usage};
use crate::error::Code;
use crate::graph::Access;
use crate::plan::PlanKind;
use crate::resource::ResourceId;
use crate::stages::ids::AccessId;
use crate::stages::resolve::part_of;
use crate::stages::resolve::subresource::SubresourceRange;

/// Memory that the sweep reuses.
#[derive(Default, Debug)]
pub(super) struct Scratch {
    intervals: Vec<Interval>,
}

/// Sorted in this order of fields.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Interval {
    resource: ResourceId,
    /// Mip and aspect of an image; 0 of a buffer.
    plane: u32,
    start: u64,
    access: AccessId,
    end: u64,
    class: Class,
    /// Whether it is an attachment of the render pass.
    attached: bool,
}

/// Two accesses that contradict each other.
#[derive(Clone, Copy, Debug)]
struct Meeting {
    accesses: [AccessId; 2],
    /// They might meet, were their parts the same.
    parts: bool,
}

/// What may meet what.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Class {
    /// Keeps its contents; meets input attachments only.
    Attachment,
    /// Meets attachments and reads.
    Input,
    /// Meets reads and input attachments.
    Read,
    /// Meets nothing.
    Alone,
    /// Mips that are generated once the pass is over; meets reads.
    Generated,
}

impl Class {
    const ALL: [Self; 5] = [Self::Attachment, Self::Input, Self::Read, Self::Alone, Self::Generated];

    /// A load operation that throws contents away leaves none to read in place (Vulkan 1.3, "Render Pass Load
    /// Operations").
    fn of(access: &Access) -> Self {
        match access.usage {
            Usage::ColorAttachment => match access.load {
                Some(Load::Clear | Load::Discard) => Self::Alone,
                Some(Load::Load) | None => Self::Attachment,
            },
            // Early tests write before the shader reads (Vulkan 1.3, "Early Per-Fragment Tests").
            Usage::DepthStencilAttachment => Self::Alone,
            Usage::InputAttachment => Self::Input,
            Usage::Present => Self::Alone,
            usage if usage.writes() => Self::Alone,
            _ => Self::Read,
        }
    }

    fn may_meet(self, other: Self) -> bool {
        matches!(
            (self, other),
            (Self::Read | Self::Input, Self::Read | Self::Input | Self::Generated)
                | (Self::Generated, Self::Read | Self::Input)
                | (Self::Attachment, Self::Input)
                | (Self::Input, Self::Attachment)
        )
    }
}

impl Check<'_> {
    /// Finds the first contradiction of each resource that the pass of `of_pass` names twice.
    pub(super) fn check_overlaps(&mut self, of_pass: &[AccessId], scratch: &mut Scratch) {
        scratch.intervals.clear();
        for &id in of_pass {
            self.add_intervals(id, &mut scratch.intervals);
        }
        scratch.intervals.sort_unstable();
        for of_resource in scratch.intervals.chunk_by(|a, b| a.resource == b.resource) {
            for plane in of_resource.chunk_by(|a, b| a.plane == b.plane) {
                if let Some(Meeting { accesses: [a, b], parts }) = first_meeting(plane) {
                    self.contradiction(a.min(b), a.max(b), parts);
                    break;
                }
            }
        }
    }

    fn add_intervals(&self, id: AccessId, intervals: &mut Vec<Interval>) {
        let access = self.access(id);
        let Some(shape) = self.shapes.get(access.resource) else { return };
        let part = part_of(self.graph, access, shape);
        let interval = |plane: u32, [start, end]: [u64; 2]| Interval {
            resource: access.resource,
            plane,
            start,
            access: id,
            end,
            class: Class::of(access),
            attached: access.usage.is_attachment() || access.usage == Usage::InputAttachment,
        };
        match shape.kind {
            PlanKind::Buffer { .. } => {
                if part.bytes[0] < part.bytes[1] {
                    intervals.push(interval(0, part.bytes));
                }
            }
            PlanKind::Image { mips, .. } => {
                let layers = part.layers.map(u64::from);
                if layers[0] >= layers[1] {
                    return;
                }
                for mip in part.mips[0]..part.mips[1].min(mips) {
                    for (at, aspect) in [Aspects::COLOR, Aspects::DEPTH, Aspects::STENCIL].into_iter().enumerate() {
                        if part.aspects.contains(aspect) {
                            intervals.push(interval(mip * 4 + at as u32, layers));
                        }
                    }
                }
                for mip in part.mips[1]..mips * u32::from(access.generate_mips) {
                    let generated = interval(mip * 4, layers);
                    intervals.push(Interval { class: Class::Generated, attached: false, ..generated });
                }
            }
        }
    }

    #[cold]
    fn contradiction(&mut self, first: AccessId, second: AccessId, parts: bool) {
        let access = self.access(second);
        let other = self.access(first);
        let shape = &self.shapes[access.resource];
        let at = At { id: second, access, shape };
        let name = self.resource_name(access.resource);
        let whole = SubresourceRange::whole(shape);
        let words = |id: AccessId| {
            let access = self.access(id);
            format!("{}{}", as_usage(access.usage), part_words(&part_of(self.graph, access, shape), &whole))
        };
        let says = format!("uses \"{name}\" {} and {}, and the two conflict", words(first), words(second));
        let storage = |usage| matches!(usage, Usage::StorageRead | Usage::StorageWrite);
        let apart = |[a, b]: [[u32; 2]; 2]| a[1] <= b[0] || b[1] <= a[0];
        let generated = (other.generate_mips || access.generate_mips)
            && apart([other, access].map(|access| part_of(self.graph, access, shape).mips));
        let help = match (other.usage, access.usage) {
            _ if generated => {
                "leave generate_mips out, which fills the mips after those that it writes, or write them in another pass"
            }
            _ if parts => "name the same mip and layers in both, or split the pass",
            (a, b) if a == b => "declare it once, or make the ranges disjoint",
            (a, b) if storage(a) && storage(b) => "use storage_read_write once",
            (Usage::Present, _) | (_, Usage::Present) => "present it in a pass of its own",
            (Usage::ColorAttachment, Usage::Sampled) | (Usage::Sampled, Usage::ColorAttachment) => {
                "use input_attachment to read the texel under the fragment, or split the pass"
            }
            (Usage::DepthStencilAttachment, Usage::Sampled) | (Usage::Sampled, Usage::DepthStencilAttachment) => {
                "use depth_stencil_read if the pass only tests, or split the pass"
            }
            (Usage::DepthStencilAttachment, Usage::InputAttachment)
            | (Usage::InputAttachment, Usage::DepthStencilAttachment) => {
                "use depth_stencil_read if the pass only tests, or split the pass"
            }
            (Usage::ColorAttachment, Usage::InputAttachment) | (Usage::InputAttachment, Usage::ColorAttachment) => {
                "use load: load to read in place what was there, or leave out the input attachment"
            }
            _ => "split the pass, or make the ranges disjoint",
        };
        let mistake = self.of_access(Code::BadAccess, at, &says, help);
        self.add(self.with_other(mistake, first));
    }
}

/// Two accesses among intervals of one plane, sorted by where they begin, that meet and may not.
fn first_meeting(plane: &[Interval]) -> Option<Meeting> {
    // How far each class has reached, and which access did.
    let mut reached: [Option<(u64, AccessId)>; 5] = [None; 5];
    let mut attached: Option<&Interval> = None;
    for interval in plane {
        for (class, reached) in Class::ALL.into_iter().zip(reached) {
            if let Some((end, access)) = reached
                && end > interval.start
                && !class.may_meet(interval.class)
            {
                return Some(Meeting { accesses: [access, interval.access], parts: false });
            }
        }
        if interval.attached {
            let apart = |a: &&Interval| a.end > interval.start && [a.start, a.end] != [interval.start, interval.end];
            if let Some(other) = attached.filter(apart) {
                return Some(Meeting { accesses: [other.access, interval.access], parts: true });
            }
            attached = Some(interval);
        }
        let own = &mut reached[interval.class as usize];
        if own.is_none_or(|(end, _)| interval.end > end) {
            *own = Some((interval.end, interval.access));
        }
    }
    None
}
