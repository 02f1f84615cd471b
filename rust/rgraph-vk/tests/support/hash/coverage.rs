//! Kinds of synchronization in the plans that ran: hazards, layout transitions, ownership transfers, reuse of
//! memory, waits, events, subpasses, the host. A kind that no frame has is one that no frame can find a fault in.

use std::collections::BTreeMap;
use std::fmt;

use rgraph_plan::access::{Layout, Load, Sharing, Stages, Store};
use rgraph_plan::plan::{Attachment, Barriers, Command, Hazard, Plan, PlanLife, PlanPass, Scope, Why};

/// Kinds that frames of hashes must reach, whatever the driver: what one is missing from is not tested.
pub const REQUIRED: [&str; 54] = [
    "alias: by a barrier of all memory",
    "alias: image takes the bytes of a buffer or image",
    "attachment: clear",
    "attachment: contents are not needed",
    "attachment: input",
    "attachment: load",
    "attachment: resolved",
    "attachment: store",
    "attachment: thrown away",
    "edge: history",
    "edge: imported",
    "edge: persistent",
    "event: awaited",
    "event: set",
    "foreign: signal",
    "foreign: wait",
    "hazard: acquire",
    "hazard: alias",
    "hazard: first use",
    "hazard: host",
    "hazard: layout",
    "hazard: leave",
    "hazard: ordered",
    "hazard: read after write",
    "hazard: release",
    "hazard: write after read",
    "hazard: write after write",
    "host: barrier before a read of the host",
    "layout: color_attachment_optimal to shader_read_only_optimal",
    "layout: color_attachment_optimal to transfer_src_optimal",
    "layout: general to shader_read_only_optimal",
    "layout: shader_read_only_optimal to color_attachment_optimal",
    "layout: shader_read_only_optimal to general",
    "layout: transfer_dst_optimal to shader_read_only_optimal",
    "layout: undefined to color_attachment_optimal",
    "layout: undefined to depth_stencil_attachment_optimal",
    "layout: undefined to general",
    "layout: undefined to transfer_dst_optimal",
    "memory: new in each frame under way",
    "owner: buffer acquired",
    "owner: buffer released",
    "owner: image acquired",
    "owner: image released",
    "packets: of dispatches",
    "pass: in a later subpass",
    "pass: in a render pass with others",
    "pass: inserted by the planner",
    "pass: may be switched off",
    "sharing: concurrent",
    "sharing: exclusive",
    "subpass: dependency between subpasses",
    "wait: for another queue",
    "wait: for the host",
    "wait: for the run before",
];

/// How often each kind occurred in a plan that ran.
#[derive(Default, Debug)]
pub struct Coverage(BTreeMap<String, u64>);

impl Coverage {
    /// Counts a plan that runs; `flags` says whether each declared pass may be switched off.
    pub fn add(&mut self, plan: &Plan, conditional: impl Fn(u32) -> bool) {
        for batch in plan.batches.iter() {
            let host = if batch.queue.is_none() { " by the host" } else { "" };
            for wait in &plan.waits[batch.waits.range()] {
                self.count(&match (wait.previous_run, wait.queue) {
                    (true, _) => format!("wait: for the run before{host}"),
                    (false, None) => "wait: for the host".to_owned(),
                    (false, Some(_)) => format!("wait: for another queue{host}"),
                });
            }
            for command in &plan.commands[batch.commands.range()] {
                self.command(plan, command);
            }
        }
        for edge in &plan.edges {
            self.count(match plan.resources[edge.resource].life {
                PlanLife::Imported => "edge: imported",
                PlanLife::Persistent => "edge: persistent",
                PlanLife::History => "edge: history",
                PlanLife::Transient | PlanLife::Fresh | PlanLife::Root => "edge: of the frame",
            });
        }
        for pass in plan.live().map(|id| &plan.passes[id]) {
            match pass.declared {
                None => self.count("pass: inserted by the planner"),
                Some(at) if conditional(at) => self.count("pass: may be switched off"),
                Some(_) => {}
            }
            let together = |other: &&PlanPass| other.physical_pass == pass.physical_pass;
            if pass.physical_pass.is_some() && plan.passes.iter().filter(together).count() > 1 {
                self.count("pass: in a render pass with others");
            }
            if pass.subpass > 0 {
                self.count("pass: in a later subpass");
            }
        }
        for point in &plan.foreign {
            self.count(if point.wait.is_some() { "foreign: wait" } else { "foreign: signal" });
        }
        for group in &plan.packets {
            let first = plan.packet_passes[group.start as usize];
            let draws = plan.passes[first].physical_pass.is_some();
            self.count(if draws { "packets: of draws" } else { "packets: of dispatches" });
        }
        for resource in plan.resources.iter() {
            if resource.life == PlanLife::Fresh {
                self.count("memory: new in each frame under way");
            }
            if let Some(domain) = resource.memory_domain {
                self.count(&format!("memory: chosen domain {domain}"));
            }
            self.count(match resource.sharing {
                Sharing::Exclusive => "sharing: exclusive",
                Sharing::Concurrent => "sharing: concurrent",
            });
        }
    }

    fn command(&mut self, plan: &Plan, command: &Command) {
        match *command {
            Command::Barriers(barriers) => self.barriers(plan, barriers),
            Command::SetEvent(_, barriers) => {
                self.count("event: set");
                self.barriers(plan, barriers);
            }
            Command::WaitEvents(..) => self.count("event: awaited"),
            Command::BeginRendering { attachments, .. } => {
                plan.attachments[attachments.range()].iter().for_each(|one| self.attachment(one));
            }
            Command::Pass { .. } | Command::EndRendering => {}
        }
    }

    fn barriers(&mut self, plan: &Plan, barriers: Barriers) {
        if barriers.by_region {
            self.count("subpass: dependency between subpasses");
        }
        for one in &plan.memory_barriers[barriers.memory.range()] {
            self.scope(&one.scope, &one.why);
            if one.why.hazard == Hazard::Alias {
                self.count("alias: by a barrier of all memory");
            }
        }
        for one in &plan.buffer_barriers[barriers.buffers.range()] {
            self.scope(&one.scope, &one.why);
            if one.why.hazard == Hazard::Alias {
                self.count("alias: buffer takes the bytes of a buffer or image");
            }
            if one.families.is_some() {
                self.count(if one.why.hazard == Hazard::Release {
                    "owner: buffer released"
                } else {
                    "owner: buffer acquired"
                });
            }
        }
        for one in &plan.image_barriers[barriers.images.range()] {
            self.scope(&one.scope, &one.why);
            if one.why.hazard == Hazard::Alias {
                self.count("alias: image takes the bytes of a buffer or image");
            }
            if one.families.is_some() {
                self.count(if one.why.hazard == Hazard::Release {
                    "owner: image released"
                } else {
                    "owner: image acquired"
                });
            }
            if one.old_layout != one.new_layout {
                let name = |layout: Layout| layout.name();
                self.count(&format!("layout: {} to {}", name(one.old_layout), name(one.new_layout)));
            }
        }
    }

    fn scope(&mut self, scope: &Scope, why: &Why) {
        self.count(match why.hazard {
            Hazard::ReadAfterWrite => "hazard: read after write",
            Hazard::WriteAfterRead => "hazard: write after read",
            Hazard::WriteAfterWrite => "hazard: write after write",
            Hazard::FirstUse => "hazard: first use",
            Hazard::Alias => "hazard: alias",
            Hazard::Layout => "hazard: layout",
            Hazard::Release => "hazard: release",
            Hazard::Acquire => "hazard: acquire",
            Hazard::Host => "hazard: host",
            Hazard::Leave => "hazard: leave",
            Hazard::Ordered => "hazard: ordered",
        });
        if scope.dst_stages.contains(Stages::HOST) {
            self.count("host: barrier before a read of the host");
        }
        if scope.src_stages.contains(Stages::HOST) {
            self.count("host: barrier after a write of the host");
        }
    }

    fn attachment(&mut self, attachment: &Attachment) {
        if let Some((load, _)) = attachment.stencil.filter(|(load, _)| *load != attachment.load) {
            self.count(&format!("attachment: {} of depth, {} of stencil", attachment.load.name(), load.name()));
        }
        if attachment.input {
            self.count("attachment: input");
            return;
        }
        self.count(match attachment.load {
            Load::Load => "attachment: load",
            Load::Clear => "attachment: clear",
            Load::Discard => "attachment: contents are not needed",
        });
        self.count(match attachment.store {
            Store::Store => "attachment: store",
            _ => "attachment: thrown away",
        });
        if attachment.resolve_to.is_some() {
            self.count("attachment: resolved");
        }
    }

    fn count(&mut self, kind: &str) {
        match self.0.get_mut(kind) {
            Some(count) => *count += 1,
            None => drop(self.0.insert(kind.to_owned(), 1)),
        }
    }

    /// The kinds of a list that never occurred in a plan.
    pub fn missing<'a>(&self, kinds: &[&'a str]) -> Vec<&'a str> {
        kinds.iter().copied().filter(|kind| !self.0.contains_key(*kind)).collect()
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(kind, count)| writeln!(f, "  {count:>8} {kind}"))
    }
}
