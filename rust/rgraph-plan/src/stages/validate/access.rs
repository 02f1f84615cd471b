//! What can be wrong with one access by itself: kind, queue, stages, format, samples, load, clear value, ranges.

use std::cmp::Ordering;

use super::queues::{Needs, access_needs, stage_needs};
use super::usages::{alike, blends, kinds, stages_of, unfit, unfit_transfer};
use super::words::{as_usage, aspect_list, capability_list, counted, listed, stage_list};
use super::{At, Check, Known, Runs};
use crate::access::{Aspects, Load, PassQueue, Stages, Transfer, Usage};
use crate::error::{Code, Mistake};
use crate::graph::{Clear, Details};
use crate::plan::PlanKind;
use crate::resource::{Kind, Life};
use crate::stages::ids::AccessId;
use crate::stages::resolve::meaning::meaning;
use crate::stages::resolve::part_of;
use crate::stages::resolve::subresource::SubresourceRange;

impl Check<'_> {
    /// Checks one access. Whether what it names is sound enough to be compared with others, and what it asks.
    pub(super) fn check_access(&mut self, at: At<'_>, runs: Runs, known: Known) -> (bool, Needs) {
        let At { access, shape, .. } = at;
        let usage = access.usage;
        let image = match shape.kind {
            PlanKind::Image { format, samples, volume, .. } => Some((format, samples, volume)),
            PlanKind::Buffer { .. } => None,
        };
        let (images, buffers) = kinds(usage);
        if !(if image.is_some() { images } else { buffers }) {
            self.wrong_kind(at, image.is_some());
            return (false, Needs::empty());
        }
        let mut needs = access_needs(access, shape);
        if let Runs::Queue(_, _, offers) = runs
            && offers.contains(needs)
            && !offers.contains(Needs::COMPUTE)
        {
            needs |= self.default_stage_needs(at);
        }
        let allowed = match runs {
            Runs::Queue(_, _, offers) => offers.contains(needs),
            Runs::Host => needs == Needs::HOST,
            Runs::Anywhere => !needs.contains(Needs::HOST),
            Runs::Nowhere => true,
        };
        if !allowed {
            self.wrong_queue(at, runs, needs);
        }
        if !stages_of(usage).contains(access.stages) {
            self.wrong_stage(at);
        }
        if let Some((format, samples, volume)) = image
            && !known.placeholder
            && let Some(why) = unfit(usage, format, samples, volume)
        {
            self.unfit_image(at, why);
        }
        if access.transfer.is_some() {
            self.check_transfer(at, known);
        }
        if access.load.is_some() || access.stencil_load.is_some() {
            self.check_load(at);
        }
        if access.generate_mips {
            self.check_generated(at, known);
        }
        if access.details.is_some() {
            self.check_details(at, self.graph.details_of(access));
        }
        let resource = &self.graph.resources()[access.resource];
        if let Kind::Buffer(buffer) = &resource.kind
            && buffer.acceleration_structure
        {
            self.check_structure(at);
        }
        if usage.writes() && matches!(resource.life, Life::History(_)) {
            self.written_history(at);
        }
        let ranged = access.ranges.is_some() || !access.aspects.is_empty();
        (!ranged || self.check_ranges(at, known), needs)
    }

    /// What the stages of an access that names none ask of its queue: a compute pass needs a queue that can dispatch.
    #[cold]
    fn default_stage_needs(&self, at: At<'_>) -> Needs {
        let queue = self.graph.passes()[at.access.pass].queue;
        stage_needs(meaning(at.access, queue, true, Aspects::empty()).stages)
    }

    #[cold]
    fn wrong_kind(&mut self, at: At<'_>, image: bool) {
        let name = self.resource_name(at.access.resource);
        let usage = at.access.usage;
        let kind = if image { "an image" } else { "a buffer" };
        let help = match usage {
            Usage::HostWrite => {
                "write a buffer and copy it to the image: the CPU cannot know how an image lies in memory".to_owned()
            }
            _ => {
                // The plain usages of that kind that write as this one does, or read as this one does.
                let fits = |other: &&Usage| {
                    let plain = **other <= Usage::TransferDst;
                    let fits = if image { kinds(**other).0 } else { kinds(**other).1 };
                    plain && fits && other.writes() == usage.writes()
                };
                let fitting = listed(Usage::ALL.iter().filter(fits), "or");
                format!("use {}, or {fitting}", if image { "a buffer" } else { "an image" })
            }
        };
        let says = format!("uses \"{name}\" {}, but it is {kind}", as_usage(usage));
        self.block(self.of_access(Code::BadUsage, at, &says, &help));
    }

    #[cold]
    fn wrong_queue(&mut self, at: At<'_>, runs: Runs, needs: Needs) {
        let name = self.resource_name(at.access.resource);
        let queue = self.graph.passes()[at.access.pass].queue;
        let mut how = as_usage(at.access.usage);
        if let Some(transfer) = at.access.transfer {
            how = format!("{how} of a {transfer}");
        }
        if !at.access.stages.is_empty() {
            how = format!("{how} at {}", stage_list(at.access.stages, "and"));
        }
        let (why, help) = match runs {
            Runs::Queue(position, capabilities, _) => {
                let real = &self.profile.queues[position];
                let can = capability_list(super::queues::effective(capabilities));
                let why = format!("needs {}, but queue {queue} is \"{}\" and can {can}", needs.words(), real.name);
                let fits = |other: &&PassQueue| match self.queues[**other as usize] {
                    Runs::Queue(_, _, offers) => offers.contains(needs),
                    _ => false,
                };
                let fitting: Vec<_> = PassQueue::ALL.iter().filter(fits).collect();
                let help = if needs.contains(Needs::HOST) {
                    "use it in a pass on queue cpu".to_owned()
                } else if fitting.is_empty() {
                    format!("profile \"{}\" has no queue that can; plan for another device", self.profile.name)
                } else {
                    format!("run the pass on queue {}", listed(fitting, "or"))
                };
                (why, help)
            }
            Runs::Host => {
                let why = "needs a queue, but the pass runs on the CPU".to_owned();
                (why, "use host_read or host_write, or give the pass another queue".to_owned())
            }
            _ => {
                let why = format!("needs the CPU, but the pass runs on queue {queue}");
                (why, "use it in a pass on queue cpu".to_owned())
            }
        };
        let says = format!("uses \"{name}\" {how}, which {why}");
        self.add(self.of_access(Code::BadQueue, at, &says, &help));
    }

    #[cold]
    fn wrong_stage(&mut self, at: At<'_>) {
        let name = self.resource_name(at.access.resource);
        let usage = at.access.usage;
        let allowed = stages_of(usage);
        let wrong = stage_list(at.access.stages - allowed, "and");
        let help = if allowed.is_empty() {
            "leave stages out: presentation is no stage".to_owned()
        } else {
            format!("leave stages out, or use {}", stage_list(allowed, "or"))
        };
        let says = format!("uses \"{name}\" {} at {wrong}, where that cannot happen", as_usage(usage));
        self.add(self.of_access(Code::BadUsage, at, &says, &help));
    }

    #[cold]
    fn unfit_image(&mut self, at: At<'_>, (code, why, help): (Code, &str, &str)) {
        let name = self.resource_name(at.access.resource);
        let what = match at.shape.kind {
            PlanKind::Image { format, .. } if code == Code::BadFormat => format!("{format} {why}"),
            _ => format!("it {why}"),
        };
        let says = format!("uses \"{name}\" {}, but {what}", as_usage(at.access.usage));
        self.add(self.of_access(code, at, &says, help));
    }

    /// The transfer command and what it can be done to.
    fn check_transfer(&mut self, at: At<'_>, known: Known) {
        let Some(transfer) = at.access.transfer else { return };
        let usage = at.access.usage;
        let name = self.resource_name(at.access.resource);
        if !matches!(usage, Usage::TransferSrc | Usage::TransferDst) {
            let says = format!("uses \"{name}\" {} and declares transfer: {transfer}", as_usage(usage));
            self.add(self.of_access(
                Code::BadUsage,
                at,
                &says,
                "leave transfer out, or use transfer_src or transfer_dst",
            ));
            return;
        }
        let leaf = match transfer {
            Transfer::Copy => Stages::COPY,
            Transfer::Blit => Stages::BLIT,
            Transfer::Resolve => Stages::RESOLVE,
            Transfer::Clear | Transfer::Fill => Stages::empty(),
        };
        if !at.access.stages.is_empty() && !at.access.stages.contains(leaf) {
            let says = format!("uses \"{name}\" in a {transfer} at {}", stage_list(at.access.stages, "and"));
            self.add(self.of_access(Code::BadUsage, at, &says, "leave stages out: the transfer has its own"));
        }
        let source = usage == Usage::TransferSrc;
        let wrong = match (transfer, at.shape.kind) {
            (Transfer::Clear | Transfer::Fill, _) if source => Some((
                Code::BadUsage,
                format!("reads \"{name}\" in a {transfer}, which only writes"),
                "use transfer_dst",
            )),
            (Transfer::Blit | Transfer::Resolve, PlanKind::Buffer { .. }) => {
                Some((Code::BadUsage, format!("uses \"{name}\" in a {transfer}, but it is a buffer"), "use a copy"))
            }
            (Transfer::Clear, PlanKind::Buffer { .. }) => {
                Some((Code::BadUsage, format!("clears \"{name}\", but it is a buffer"), "use transfer: fill"))
            }
            (Transfer::Fill, PlanKind::Image { .. }) => {
                Some((Code::BadUsage, format!("fills \"{name}\", but it is an image"), "use transfer: clear"))
            }
            (_, PlanKind::Image { format, samples, .. }) if !known.placeholder => {
                unfit_transfer(transfer, source, format, samples).map(|(code, why, help)| {
                    (code, format!("uses \"{name}\" {} of a {transfer}, but {why}", as_usage(usage)), help)
                })
            }
            _ => None,
        };
        if let Some((code, says, help)) = wrong {
            self.add(self.of_access(code, at, &says, help));
        }
    }

    /// What becomes of old contents must go with what the usage does.
    fn check_load(&mut self, at: At<'_>) {
        let access = at.access;
        let usage = access.usage;
        let name = self.resource_name(access.resource);
        let lost = |load: Option<Load>| matches!(load, Some(Load::Clear | Load::Discard));
        let loses = lost(access.load) || lost(access.stencil_load);
        let losing =
            if lost(access.load) { access.load } else { access.stencil_load.filter(|_| loses).or(access.load) };
        let losing = losing.map_or("", Load::name);
        let replaces =
            matches!(usage, Usage::ResolveAttachment | Usage::AccelerationBuild | Usage::AccelerationScratch);
        let wrong = if access.stencil_load.is_some() && !at.shape.aspects.contains(Aspects::STENCIL) {
            Some(("with stencil_load, but it has no stencil".to_owned(), "leave stencil_load out"))
        } else if loses && (!usage.writes() || matches!(usage, Usage::StorageReadWrite | Usage::AccelerationUpdate)) {
            Some((format!("with load: {losing}, which drops the contents that it reads"), "leave load out"))
        } else if access.load == Some(Load::Load) && replaces {
            Some(("with load: load, but it replaces all contents".to_owned(), "leave load out"))
        } else if loses && access.unordered {
            let says = format!("unordered with load: {losing}, which drops what other unordered passes wrote");
            Some((says, "clear it in a pass before, or leave unordered out"))
        } else {
            None
        };
        if let Some((why, help)) = wrong {
            let says = format!("uses \"{name}\" {} {why}", as_usage(usage));
            self.add(self.of_access(Code::BadAccess, at, &says, help));
        }
    }

    /// Mips are filled by linear blits on the graphics queue.
    #[cold]
    fn check_generated(&mut self, at: At<'_>, known: Known) {
        let name = self.resource_name(at.access.resource);
        let wrong = match at.shape.kind {
            PlanKind::Buffer { .. } => Some((Code::BadUsage, "but it is a buffer", "leave generate_mips out")),
            _ if !at.access.usage.writes() => {
                Some((Code::BadUsage, "but only reads it", "declare generate_mips where its first mip is written"))
            }
            _ if known.placeholder => None,
            PlanKind::Image { format, .. } if !blends(format) => Some((
                Code::BadFormat,
                "but its format cannot be filtered",
                "write the mips in passes of your own, or use a format that can be filtered",
            )),
            _ if matches!(self.queues[PassQueue::Graphics as usize], Runs::Nowhere) => Some((
                Code::BadQueue,
                "but the profile has no graphics queue to blit on",
                "write the mips in passes of your own",
            )),
            _ => None,
        };
        if let Some((code, why, help)) = wrong {
            let says = format!("generates mips of \"{name}\", {why}");
            // Nobody may look for mips where there are none.
            self.block(self.of_access(code, at, &says, help));
        }
    }

    /// Clear values; what resolve attachments say is checked with the whole pass.
    fn check_details(&mut self, at: At<'_>, details: Details) {
        let access = at.access;
        let usage = access.usage;
        let name = self.resource_name(access.resource);
        if usage != Usage::ResolveAttachment && (details.resolves.is_some() || details.resolve_mode.is_some()) {
            let says = format!("uses \"{name}\" {}, which takes no resolves or mode", as_usage(usage));
            self.add(self.of_access(Code::BadAccess, at, &says, "use resolve_attachment, or leave resolves out"));
        }
        let Some(clear) = details.clear else { return };
        let clears = match usage {
            Usage::TransferDst => matches!(access.transfer, Some(Transfer::Clear | Transfer::Fill)),
            _ => usage.writes(),
        };
        let kept = access.load.is_some_and(|load| load != Load::Clear) && access.stencil_load != Some(Load::Clear);
        if !clears || kept {
            let help = if kept { "use load: clear" } else { "leave the clear value out" };
            let says = format!("gives a clear value for \"{name}\", but does not clear it");
            self.add(self.of_access(Code::BadAccess, at, &says, help));
            return;
        }
        let depth = at.shape.aspects.intersects(Aspects::DEPTH | Aspects::STENCIL);
        let (wrong_kind, bad) = match clear {
            Clear::Color(values) => (depth, values.into_iter().find(|value| !value.is_finite())),
            Clear::Depth(value, _) => (!depth, Some(value).filter(|value| !(0.0..=1.0).contains(value))),
        };
        if wrong_kind && at.shape.aspects != Aspects::empty() {
            let (given, wanted) =
                if depth { ("a colour", "a depth or [depth, stencil]") } else { ("a depth", "four numbers") };
            let says = format!("clears \"{name}\" to {given}");
            self.add(self.of_access(Code::BadAccess, at, &says, &format!("give it {wanted}")));
        } else if let Some(bad) = bad {
            let says = format!("clears \"{name}\" to {bad:?}");
            let help = if depth { "give it a depth from 0 to 1" } else { "give it finite numbers" };
            self.add(self.of_access(Code::BadNumber, at, &says, help));
        } else if let Clear::Depth(_, Some(stencil @ 256..)) = clear {
            let says = format!("clears the stencil of \"{name}\" to {stencil}");
            self.add(self.of_access(Code::BadNumber, at, &says, "give it a stencil from 0 to 255"));
        }
    }

    /// What an acceleration structure holds is opaque to everything but builds, traces, copies and shaders' storage.
    fn check_structure(&mut self, at: At<'_>) {
        let usage = at.access.usage;
        if matches!(
            usage,
            Usage::Uniform
                | Usage::Vertex
                | Usage::Index
                | Usage::Indirect
                | Usage::Sampled
                | Usage::AccelerationInput
                | Usage::AccelerationScratch
        ) {
            let name = self.resource_name(at.access.resource);
            let says = format!("uses \"{name}\" {}, but it is an acceleration structure", as_usage(usage));
            let help = "use acceleration_read, or a buffer that is no acceleration structure";
            self.add(self.of_access(Code::BadUsage, at, &says, help));
        }
    }

    #[cold]
    fn written_history(&mut self, at: At<'_>) {
        let name = self.resource_name(at.access.resource);
        let Life::History(history) = self.graph.resources()[at.access.resource].life else { return };
        let of = if self.known(history.of) { self.resource_name(history.of) } else { "what it remembers" };
        let says = format!("writes \"{name}\" {}, but a history can only be read", as_usage(at.access.usage));
        let help = format!("write \"{of}\", whose past it is");
        self.add(self.of_access(Code::BadHistory, at, &says, &help));
    }

    /// Whether the ranges that an access says lie within the resource.
    fn check_ranges(&mut self, at: At<'_>, known: Known) -> bool {
        let ranges = self.graph.ranges_of(at.access);
        let mut wrong: Option<Outside> = None;
        match at.shape.kind {
            PlanKind::Buffer { size } => {
                if ranges.mips.is_some() || ranges.layers.is_some() || !at.access.aspects.is_empty() {
                    wrong = Some(Outside::new("mips, layers or aspects", "is a buffer", "use range, in bytes"));
                } else if let Some(bytes) = ranges.bytes {
                    wrong = outside("bytes", bytes, size, known);
                    self.check_uniform(at, bytes);
                }
            }
            PlanKind::Image { mips, layers, .. } => {
                let missing = at.access.aspects - at.shape.aspects;
                if ranges.bytes.is_some() {
                    wrong = Some(Outside::new("bytes", "is an image", "use mips, layers and aspects"));
                } else if !missing.is_empty() && !known.placeholder {
                    let has = aspect_list(at.shape.aspects);
                    let help = format!("use {has}, or a format that has what you want");
                    wrong = Some(Outside::new(&aspect_list(missing), &format!("has only {has}"), &help));
                } else {
                    let beyond = |range: Option<[u32; 2]>, noun, count: u32| {
                        range.and_then(|range| outside(noun, range.map(u64::from), u64::from(count), known))
                    };
                    wrong = beyond(ranges.mips, "mips", mips).or_else(|| beyond(ranges.layers, "layers", layers));
                    if wrong.is_none()
                        && at.access.usage.is_attachment()
                        && let Some([first, end]) = ranges.mips
                        && end - first > 1
                    {
                        let why = format!("can be {} one mip at a time", at.access.usage);
                        let help = format!("use one mip, such as [{first}, {})", first + 1);
                        wrong = Some(Outside::new(&format!("mips [{first}, {end})"), &why, &help));
                    }
                }
            }
        }
        let Some(Outside { what, why, help }) = wrong else {
            // The shape's own mistake is reported already, and a placeholder has no range to exceed.
            let part = part_of(self.graph, at.access, at.shape);
            let whole = SubresourceRange::whole(at.shape);
            self.found.resolvable &= part.mips[1] <= whole.mips[1]
                && part.layers[1] <= whole.layers[1]
                && part.bytes[1] <= whole.bytes[1]
                && whole.aspects.contains(at.access.aspects);
            return !known.placeholder;
        };
        let name = self.resource_name(at.access.resource);
        let says = format!("uses {what} of \"{name}\", which {why}");
        self.block(self.of_access(Code::BadRange, at, &says, &help));
        false
    }

    fn check_uniform(&mut self, at: At<'_>, [first, end]: [u64; 2]) {
        let most = self.profile.limits.max_uniform_range;
        let bytes = end.saturating_sub(first);
        if at.access.usage == Usage::Uniform && bytes > most {
            let name = self.resource_name(at.access.resource);
            let says = format!(
                "uses {} of \"{name}\" as uniform; profile \"{}\" allows {most}",
                counted(bytes, "byte"),
                self.profile.name
            );
            self.add(self.of_access(Code::OverLimit, at, &says, "use a smaller range, or storage_read"));
        }
    }

    /// The blit and resolve of a pass with one source and one destination must go together.
    #[cold]
    pub(super) fn check_transfers(&mut self, of_pass: &[AccessId]) {
        for transfer in [Transfer::Blit, Transfer::Resolve] {
            let of_kind = |usage: Usage| {
                let mut found = of_pass
                    .iter()
                    .map(|&id| (id, self.access(id)))
                    .filter(move |(_, access)| access.transfer == Some(transfer) && access.usage == usage);
                let only = found.next()?;
                found.next().is_none().then_some(only)
            };
            let (Some((_, from)), Some((id, into))) = (of_kind(Usage::TransferSrc), of_kind(Usage::TransferDst)) else {
                continue;
            };
            let (Some(source), Some(shape)) = (self.shapes.get(from.resource), self.shapes.get(into.resource)) else {
                continue;
            };
            let (PlanKind::Image { format: a, .. }, PlanKind::Image { format: b, .. }) = (source.kind, shape.kind)
            else {
                continue;
            };
            let fits = if transfer == Transfer::Resolve {
                a == b
            } else {
                a == b || alike(a) == alike(b) && !a.is_depth_stencil()
            };
            if !fits {
                let [first, second] = [from.resource, into.resource].map(|resource| self.resource_name(resource));
                let says = format!(
                    "{} \"{first}\" ({a}) to \"{second}\" ({b}), which cannot be converted",
                    if transfer == Transfer::Blit { "blits" } else { "resolves" }
                );
                let help = if transfer == Transfer::Blit {
                    "use formats of one kind: both signed integers, both unsigned, both neither; depth only to the same"
                } else {
                    "use one format for both"
                };
                let at = At { id, access: into, shape };
                let place = self.graph.resource_place(from.resource).cloned();
                let mistake: Mistake = self.of_access(Code::BadFormat, at, &says, help);
                self.add(mistake.side(first, super::describe(source), place));
            }
        }
    }
}

/// A range that is not in the resource: the range, the reason, the repair.
struct Outside {
    what: String,
    why: String,
    help: String,
}

impl Outside {
    fn new(what: &str, why: &str, help: &str) -> Self {
        Self { what: what.to_owned(), why: why.to_owned(), help: help.to_owned() }
    }
}

/// What is wrong with a half-open range of `count` things.
fn outside(noun: &str, [first, end]: [u64; 2], count: u64, known: Known) -> Option<Outside> {
    if first < end && (end <= count || known.placeholder) {
        return None;
    }
    let what = format!("{noun} [{first}, {end})");
    let forwards = "ranges are [first, one past the last)";
    Some(match first.cmp(&end) {
        Ordering::Equal => Outside::new(&what, "is an empty range", forwards),
        Ordering::Greater => Outside::new(&what, "is a range that runs backwards", forwards),
        Ordering::Less => Outside::new(&what, &format!("has {count}"), &format!("use at most [0, {count})")),
    })
}
