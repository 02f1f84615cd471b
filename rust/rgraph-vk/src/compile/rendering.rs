//! Render passes of a plan: what each draws to, in which layouts, and how each pass's colour outputs map onto it.
//!
//! A physical pass becomes one dynamic rendering. Where its passes read what others of them drew (input attachments),
//! it becomes a render pass with one subpass each, which every Vulkan 1.3 device has.

use ash::vk;
use rgraph_plan::access::{Aspects, Layout, Usage};
use rgraph_plan::declared::mip_size;
use rgraph_plan::format::Format;
use rgraph_plan::graph::Graph;
use rgraph_plan::id::{Id, IdVec, Span};
use rgraph_plan::plan::{Attachment, Command, Plan, PlanKind, PlanPassId};

use crate::compile::keys::Targets;
use crate::compile::pass_table::{PassAccess, PassTable};
use crate::error::{Code, DeviceError, Error};

rgraph_plan::id! {
    /// A physical pass with attachments, in the order of the plan's commands.
    pub(crate) struct RenderingId;
    /// A command, by its position in [`Plan::commands`].
    pub(crate) struct CommandId;
    /// An attachment of a render pass.
    pub(crate) struct AttachmentId;
    /// An attachment, by its position in [`Plan::attachments`].
    pub(crate) struct PlanAttachmentId;
}

/// A render pass.
#[derive(Clone, Debug)]
pub(crate) struct Rendering {
    /// Its attachments in the plan.
    pub attachments: Span,
    /// Width and height in texels.
    pub area: [u32; 2],
    /// Layers rendered to.
    pub layers: u32,
    /// Layouts of each attachment (of dynamic rendering: throughout): of colour or depth, and of stencil.
    pub layouts: IdVec<AttachmentId, [Layout; 2]>,
    /// What each attachment resolves to.
    pub resolves: IdVec<AttachmentId, Option<Resolve>>,
    /// Its colour attachments, in order.
    pub colors: Vec<AttachmentId>,
    pub depth: Option<AttachmentId>,
    /// Its passes, in order.
    pub passes: Vec<PlanPassId>,
    /// Its render pass, if it needs subpasses.
    pub subpasses: Option<vk::RenderPass>,
    /// Barriers within it, each before the pass at that position.
    pub within: Vec<(usize, Span, Span)>,
}

/// Where samples are resolved to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Resolve {
    pub access: PassAccess,
    pub mode: vk::ResolveModeFlags,
    pub layout: Layout,
}

impl PartialEq for PassAccess {
    /// Where it is declared does not count.
    fn eq(&self, other: &Self) -> bool {
        let Self { resource, usage, region, declared: _ } = *self;
        (resource, usage, region) == (other.resource, other.usage, other.region)
    }
}

impl Eq for PassAccess {}

/// All render passes of a plan, by physical pass, and the targets of each pass that is part of one.
#[derive(Debug, Default)]
pub(crate) struct Renderings {
    pub passes: IdVec<RenderingId, Rendering>,
    /// The command at which each begins, ascending.
    begins: Vec<CommandId>,
    /// By pass: its render pass, and its position there.
    pub of_pass: IdVec<PlanPassId, Option<(RenderingId, u32)>>,
}

impl Renderings {
    /// Finds them.
    pub(crate) fn new(graph: &Graph, plan: &Plan, table: &PassTable) -> Self {
        let of_pass = IdVec::filled(None, plan.passes.len());
        let mut out = Self { passes: IdVec::new(), begins: Vec::new(), of_pass };
        let mut open: Option<Rendering> = None;
        for (command, at) in plan.commands.iter().zip((0..).map(CommandId::new)) {
            match command {
                Command::BeginRendering { attachments, .. } => {
                    out.begins.push(at);
                    open = Some(Rendering {
                        attachments: *attachments,
                        area: [1, 1],
                        layers: 1,
                        layouts: IdVec::new(),
                        resolves: IdVec::new(),
                        colors: Vec::new(),
                        depth: None,
                        passes: Vec::new(),
                        subpasses: None,
                        within: Vec::new(),
                    });
                }
                Command::Pass { pass, .. } => {
                    if let Some(open) = &mut open {
                        out.of_pass[*pass] = Some((out.passes.next_id(), open.passes.len() as u32));
                        open.passes.push(*pass);
                    }
                }
                Command::Barriers(barriers) => {
                    if let Some(open) = &mut open {
                        open.within.push((open.passes.len(), barriers.memory, barriers.images));
                    }
                }
                Command::EndRendering => {
                    if let Some(mut open) = open.take() {
                        open.complete(graph, plan, table);
                        out.passes.push(open);
                    }
                }
                Command::SetEvent(..) | Command::WaitEvents(..) => {}
            }
        }
        out
    }

    /// The render pass that begins at a command.
    pub(crate) fn begun_at(&self, command: CommandId) -> Option<RenderingId> {
        self.begins.binary_search(&command).ok().map(RenderingId::new)
    }

    /// Refuses a render pass with more colour attachments than the device has: passes merged for another device.
    pub(crate) fn check(&self, plan: &Plan, most: u32) -> Result<(), Error> {
        let Some(wide) = self.passes.iter().find(|one| one.colors.len() > most as usize) else { return Ok(()) };
        let first = wide.passes.first().map_or("", |pass| plan.pass_name(*pass));
        let count = wide.colors.len();
        let message = format!("its render pass has {count} colour attachments, and the device allows {most}");
        Err(DeviceError::new(Code::Missing, message, "run the graph itself").in_pass(first).into())
    }

    /// What a pass draws to.
    pub(crate) fn targets(&self, plan: &Plan, table: &PassTable, pass: PlanPassId) -> Option<Targets> {
        let (at, position) = self.of_pass[pass]?;
        let rendering = &self.passes[at];
        Some(rendering.targets(plan, table, pass, position))
    }
}

impl Rendering {
    fn complete(&mut self, graph: &Graph, plan: &Plan, table: &PassTable) {
        let attachments = &plan.attachments[self.attachments.range()];
        self.layouts = attachments
            .iter()
            .map(|attachment| {
                let at = [attachment.mip, attachment.layers[0]];
                let first = |aspects: Aspects| {
                    let mut passes = self.passes.iter();
                    passes.find_map(|pass| table.layout(plan, *pass, attachment.resource, at, aspects))
                };
                let main = first(Aspects::COLOR | Aspects::DEPTH);
                let stencil = first(Aspects::STENCIL);
                [main.or(stencil), stencil.or(main)].map(|layout| layout.unwrap_or(Layout::General))
            })
            .collect();
        for (attachment, at) in attachments.iter().zip(self.layouts.ids()) {
            let PlanKind::Image { format, size, .. } = plan.resources[attachment.resource].kind else { continue };
            let [width, height, _] = mip_size(size, attachment.mip);
            self.area = [width, height];
            self.layers = attachment.layers[1] - attachment.layers[0];
            if format.is_depth_stencil() && !attachment.input {
                self.depth = Some(at);
            } else if !attachment.input {
                self.colors.push(at);
            }
        }
        self.resolves = IdVec::filled(None, attachments.len());
        for at in 0..self.passes.len() {
            let pass = self.passes[at];
            for access in table.of(pass).iter().filter(|access| access.usage == Usage::ResolveAttachment) {
                self.add_resolve(graph, plan, table, pass, *access);
            }
        }
    }

    fn add_resolve(&mut self, graph: &Graph, plan: &Plan, table: &PassTable, pass: PlanPassId, access: PassAccess) {
        let attachments = &plan.attachments[self.attachments.range()];
        let to =
            |attachment: &Attachment| attachment.resolve_to.is_some_and(|to| plan.is_same_memory(to, access.resource));
        let Some(from) = attachments.iter().position(to).map(AttachmentId::new) else { return };
        let PlanKind::Image { format, .. } = plan.resources[access.resource].kind else { return };
        let details = access.declared.map(|at| graph.details_of(&graph.accesses()[at as usize]));
        let default = if format.is_depth_stencil() || is_integer(format) {
            vk::ResolveModeFlags::SAMPLE_ZERO
        } else {
            vk::ResolveModeFlags::AVERAGE
        };
        let mode = details.and_then(|details| details.resolve_mode).map_or(default, crate::convert::resolve_mode);
        let at = [access.region.mips[0], access.region.layers[0]];
        let layout = table.layout(plan, pass, access.resource, at, Aspects::all()).unwrap_or(Layout::General);
        self.resolves[from] = Some(Resolve { access, mode, layout });
    }

    /// One of its attachments among those of the plan.
    pub(crate) fn in_plan(&self, at: AttachmentId) -> PlanAttachmentId {
        PlanAttachmentId::new(self.attachments.start as usize + at.index())
    }

    /// Whether it is a render pass with subpasses: where the plan numbers some, or a pass reads an input attachment,
    /// which dynamic rendering lacks.
    pub(crate) fn needs_subpasses(&self, plan: &Plan, table: &PassTable) -> bool {
        self.passes.iter().any(|pass| {
            plan.passes[*pass].subpass > 0
                || table.of(*pass).iter().any(|access| access.usage == Usage::InputAttachment)
        })
    }

    /// The attachment that an access draws to.
    pub(crate) fn attachment_of(&self, plan: &Plan, access: &PassAccess) -> Option<AttachmentId> {
        let attachments = &plan.attachments[self.attachments.range()];
        let found = attachments.iter().position(|attachment| {
            plan.is_same_memory(attachment.resource, access.resource)
                && attachment.mip == access.region.mips[0]
                && attachment.layers == access.region.layers
        });
        found.map(AttachmentId::new)
    }

    fn targets(&self, plan: &Plan, table: &PassTable, pass: PlanPassId, position: u32) -> Targets {
        let attachments = &plan.attachments[self.attachments.range()];
        let format = |at: AttachmentId| format_of(plan, &attachments[at.index()]);
        let mut remap = Vec::new();
        let mut own = Vec::new();
        let (mut depth_tests, mut depth_writes) = (Aspects::empty(), Aspects::empty());
        for access in table.of(pass) {
            match access.usage {
                Usage::ColorAttachment => {
                    let at = self.attachment_of(plan, access);
                    own.extend(at);
                    let among = at.and_then(|at| self.colors.iter().position(|color| *color == at));
                    remap.extend(among.map(|at| at as u32));
                }
                Usage::DepthStencilAttachment => {
                    depth_tests |= access.region.aspects;
                    depth_writes |= access.region.aspects;
                }
                Usage::DepthStencilRead => depth_tests |= access.region.aspects,
                _ => {}
            }
        }
        let mut samples = 1;
        if let Some(first) = attachments.first()
            && let PlanKind::Image { samples: of, .. } = plan.resources[first.resource].kind
        {
            samples = of;
        }
        let depth = self.depth.and_then(format);
        if let Some(raw) = self.subpasses {
            let depth = depth.filter(|_| !depth_tests.is_empty());
            let depth_aspects = depth.map_or(Aspects::empty(), |format| format.aspects());
            let colors = own.into_iter().map(format).collect();
            let (subpass, remap) = (Some((raw, position)), Vec::new());
            return Targets { colors, depth, depth_aspects, samples, subpass, depth_tests, depth_writes, remap };
        }
        if remap.iter().zip(0..).all(|(to, at)| *to == at) {
            remap.clear();
        }
        let colors = self.colors.iter().map(|at| format(*at)).collect();
        let depth_aspects = self.depth.map_or(Aspects::empty(), |at| attachments[at.index()].aspects);
        Targets { colors, depth, depth_aspects, samples, subpass: None, depth_tests, depth_writes, remap }
    }
}

fn format_of(plan: &Plan, attachment: &Attachment) -> Option<Format> {
    match plan.resources[attachment.resource].kind {
        PlanKind::Image { format, .. } => Some(format),
        PlanKind::Buffer { .. } => None,
    }
}

/// Whether samples of a format cannot be averaged.
fn is_integer(format: Format) -> bool {
    use rgraph_plan::format::Numbers;
    matches!(format.numbers(), Numbers::Uint | Numbers::Sint)
}
