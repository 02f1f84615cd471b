//! Attachments and viewports of one run: clear values, loads and viewports other than declared. The plan stays as it
//! is.
//!
//! A clear value and a viewport are parameters of commands. A load changes contents, so not every change fits a plan: a
//! pass that is planned to load may clear, because its dependencies, layouts and store operations hold for any new
//! contents, whether they depend on the old ones or not. A pass that is planned to clear cannot load, because its plan
//! keeps no old contents: earlier writers may be culled, the image's bytes may be another's, its layout is undefined.
//! The same holds for a pass that only tests depth: its plan orders no write. So a pass with a load per run is
//! declared, planned and checked as one that loads.

use std::collections::BTreeMap;

use ash::vk;
use rgraph_plan::access::{Aspects, Load, Usage};
use rgraph_plan::error::{Code, GraphError, Mistake};
use rgraph_plan::graph::{Access, Clear, Graph, PassId};
use rgraph_plan::id::Id;
use rgraph_plan::plan::PlanPassId;
use rgraph_plan::resource::ResourceId;

use crate::compile::compiled_graph::CompiledGraph;
use crate::compile::draw_checks::misplaced;
use crate::compile::rendering::{AttachmentId, PlanAttachmentId, Rendering};
use crate::error::Error;
use crate::frame::inputs::Inputs;
use crate::frame::target_change::{Target, TargetChange};

/// The changes of a run by the plan's attachments and passes.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct RunTargets {
    /// By position in the plan's attachments.
    begun: BTreeMap<PlanAttachmentId, Begun>,
    /// Attachments that are cleared inside of a render pass, before the draws of a pass.
    inside: BTreeMap<PlanPassId, Vec<Inside>>,
    viewports: BTreeMap<PlanPassId, [f32; 4]>,
}

/// How a render pass begins with an attachment.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Begun {
    /// Aspects that are cleared, whatever the plan says.
    pub clears: Aspects,
    pub value: Clear,
}

/// An attachment that is cleared before the draws of a pass.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Inside {
    pub attachment: PlanAttachmentId,
    pub aspects: Aspects,
    /// Position among the colour attachments of the render pass, or of the subpass.
    pub color: u32,
    pub value: Clear,
}

/// What a run asks of one attachment.
#[derive(Clone, Copy, Default)]
struct Asked {
    clear: Option<Clear>,
    load: Option<Load>,
}

/// An attachment of a pass in the declaration.
struct Declared {
    resource: ResourceId,
    /// Position in the graph's accesses.
    access: u32,
    load: Option<Load>,
    clear: Option<Clear>,
    /// Aspects that the pass may write; colour is one.
    written: Aspects,
}

impl RunTargets {
    /// Reads the changes of a run.
    ///
    /// # Errors
    /// `RG-E225` if a pass has no such attachment, cannot do the operation, or a number does not fit.
    pub(crate) fn new(compiled: &CompiledGraph, inputs: &Inputs<'_>) -> Result<Self, Error> {
        let mut out = Self::default();
        let graph = &compiled.workload.graph;
        let mut asked: BTreeMap<(PassId, Target), Asked> = BTreeMap::new();
        for &(pass, change) in &inputs.targets {
            if graph.passes().get(pass).is_none() {
                return Err(Error::input("?", "a pass of another graph is changed", "use this graph's handles"));
            }
            match change {
                TargetChange::Clear(target, value) => asked.entry((pass, target)).or_default().clear = Some(value),
                TargetChange::Load(target, load) => asked.entry((pass, target)).or_default().load = Some(load),
                TargetChange::Viewport(viewport) => {
                    if let Some((says, help)) = misplaced(&compiled.shared.limits, viewport) {
                        return Err(refused(graph, pass, &says, &help));
                    }
                    if !graph.accesses().iter().any(|access| access.pass == pass && attaches(access.usage)) {
                        return Err(refused(graph, pass, "has no attachments", "give viewports to passes that draw"));
                    }
                    if let Some(&planned) = compiled.planned.get(&pass) {
                        out.viewports.insert(planned, viewport);
                    }
                }
            }
        }
        for ((pass, target), asked) in asked {
            let declared = declared(compiled, pass, target)?;
            out.attachment(compiled, (pass, target), &declared, asked)?;
        }
        Ok(out)
    }

    fn attachment(
        &mut self,
        compiled: &CompiledGraph,
        (pass, target): (PassId, Target),
        declared: &Declared,
        asked: Asked,
    ) -> Result<(), Error> {
        let graph = &compiled.workload.graph;
        let name = graph.resource_name(declared.resource);
        if let Some(value) = asked.clear {
            check_value(graph, (pass, name), target, value)?;
        }
        let clears_always = declared.load == Some(Load::Clear);
        let load = asked.load.or(asked.clear.map(|_| Load::Clear));
        let planned = compiled.planned.get(&pass).and_then(|planned| {
            let (at, position) = compiled.renderings.of_pass[*planned]?;
            let rendering = &compiled.renderings.passes[at];
            let access = compiled.table.of(*planned).iter().find(|one| one.declared == Some(declared.access))?;
            let attachment = rendering.attachment_of(&compiled.plan, access)?;
            Some((*planned, rendering, position as usize, attachment))
        });
        let first = |rendering: &Rendering, position: usize, attachment: AttachmentId| {
            let uses = |pass: &PlanPassId| {
                let accesses = compiled.table.of(*pass).iter();
                let mut attached = accesses.filter(|one| attaches(one.usage));
                attached.any(|one| rendering.attachment_of(&compiled.plan, one) == Some(attachment))
            };
            !rendering.passes[..position].iter().any(uses)
        };
        match load {
            Some(Load::Load) => {
                let begins = planned.map(|(_, rendering, position, at)| {
                    let index = rendering.in_plan(at).index();
                    first(rendering, position, at).then(|| compiled.plan.attachments[index].load)
                });
                let loads = match (declared.load, begins) {
                    (Some(load), _) => load == Load::Load,
                    (None, Some(Some(load))) => load == Load::Load,
                    (None, _) => true,
                };
                if loads {
                    return Ok(());
                }
                let says = format!("cannot load \"{name}\": its plan keeps no contents");
                Err(refused(graph, pass, &says, "declare it with load \"load\"; a run may then clear it"))
            }
            Some(Load::Discard) => {
                let says = format!("cannot discard \"{name}\" in one run");
                Err(refused(graph, pass, &says, "choose \"load\" or \"clear\", or declare it with load \"discard\""))
            }
            Some(Load::Clear) => {
                if declared.written.is_empty() {
                    let (says, help) = match target {
                        Target::Color(_) => ("it reads it as an input attachment", "clear it in a pass before"),
                        Target::Depth => ("it only tests it", "declare the pass with depth_write, or clear it before"),
                    };
                    return Err(refused(graph, pass, &format!("cannot clear \"{name}\": {says}"), help));
                }
                let Some((planned, rendering, position, at)) = planned else { return Ok(()) };
                let value = asked.clear.or(declared.clear).unwrap_or(match target {
                    Target::Color(_) => Clear::Color([0.0; 4]),
                    Target::Depth => Clear::Depth(0.0, None),
                });
                let attachment = rendering.in_plan(at);
                let begins = first(rendering, position, at);
                let alone = rendering.passes.len() == 1 || graph.passes()[pass].conditional.is_none();
                if begins && (clears_always || alone && rendering.subpasses.is_none()) {
                    // What the plan clears it clears; other aspects keep what the plan has for them.
                    let clears = if clears_always { Aspects::empty() } else { declared.written };
                    self.begun.insert(attachment, Begun { clears, value });
                    return Ok(());
                }
                let color = match target {
                    Target::Color(location) if rendering.subpasses.is_some() => location,
                    _ => rendering.colors.iter().position(|color| *color == at).unwrap_or(0) as u32,
                };
                let inside = Inside { attachment, aspects: declared.written, color, value };
                self.inside.entry(planned).or_default().push(inside);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// How a render pass begins with an attachment, if this run changes it.
    pub(crate) fn begun(&self, attachment: PlanAttachmentId) -> Option<Begun> {
        self.begun.get(&attachment).copied()
    }

    /// What is cleared before the draws of a pass.
    pub(crate) fn inside(&self, pass: PlanPassId) -> &[Inside] {
        self.inside.get(&pass).map_or(&[], Vec::as_slice)
    }

    /// The viewport of a pass, if this run changes it.
    pub(crate) fn viewport(&self, pass: PlanPassId) -> Option<[f32; 4]> {
        self.viewports.get(&pass).copied()
    }
}

/// Clears attachments inside of a render pass, over its whole area and all its layers.
pub(crate) fn clear_inside(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    rendering: &Rendering,
    all: impl Iterator<Item = vk::ClearAttachment>,
) {
    let [width, height] = rendering.area;
    let rect = vk::Rect2D { offset: vk::Offset2D::default(), extent: vk::Extent2D { width, height } };
    let rect = vk::ClearRect { rect, base_array_layer: 0, layer_count: rendering.layers };
    for one in all {
        // SAFETY: inside of a render pass whose area that is, which has the attachment; the pass writes it.
        unsafe { device.cmd_clear_attachments(commands, &[one], &[rect]) };
    }
}

/// The attachment in the declaration.
fn declared(compiled: &CompiledGraph, pass: PassId, target: Target) -> Result<Declared, Error> {
    let graph = &compiled.workload.graph;
    let own = graph.accesses().iter().zip(0..).filter(|(access, _)| access.pass == pass);
    let reads_itself = |resource| {
        let mut all = graph.accesses().iter();
        all.any(|one| one.pass == pass && one.resource == resource && one.usage == Usage::InputAttachment)
    };
    match target {
        Target::Color(at) => {
            let mut colors = own.filter(|(access, _)| access.usage == Usage::ColorAttachment);
            let Some((access, id)) = colors.nth(at as usize) else {
                let says = format!("has no colour attachment at {at}");
                return Err(refused(graph, pass, &says, "count the colour attachments of the pass from 0"));
            };
            let (load, clear) = explicit_load(graph, access);
            let resource = access.resource;
            // A draw that reads the old contents would read them before or after the clear.
            let written = if reads_itself(resource) { Aspects::empty() } else { Aspects::COLOR };
            Ok(Declared { resource, access: id, load, clear, written })
        }
        Target::Depth => {
            let is_depth = |usage| matches!(usage, Usage::DepthStencilAttachment | Usage::DepthStencilRead);
            let depths: Vec<_> = own.filter(|(access, _)| is_depth(access.usage)).collect();
            // Where depth is tested only, stencil is not cleared without it.
            let tested = depths.iter().find(|(access, _)| access.usage == Usage::DepthStencilRead);
            let Some(&(access, id)) = tested.or(depths.first()) else {
                return Err(refused(graph, pass, "has no depth attachment", "change passes with a depth attachment"));
            };
            let writes = access.usage == Usage::DepthStencilAttachment;
            let (load, clear) = explicit_load(graph, access);
            let planned = compiled.planned.get(&pass).map(|planned| compiled.table.of(*planned));
            let region = planned.and_then(|all| all.iter().find(|one| one.declared == Some(id)));
            let aspects = region.map_or(Aspects::DEPTH, |one| one.region.aspects);
            let written = if writes { aspects } else { Aspects::empty() };
            Ok(Declared { resource: access.resource, access: id, load, clear, written })
        }
    }
}

/// The load and the clear value of an access; a clear value alone means that it clears.
fn explicit_load(graph: &Graph, access: &Access) -> (Option<Load>, Option<Clear>) {
    let clear = graph.details_of(access).clear;
    (access.load.or(clear.map(|_| Load::Clear)), clear)
}

/// Whether a usage is an attachment of a render pass that draws begin with.
fn attaches(usage: Usage) -> bool {
    use Usage::{ColorAttachment, DepthStencilAttachment, DepthStencilRead, InputAttachment};
    matches!(usage, ColorAttachment | DepthStencilAttachment | DepthStencilRead | InputAttachment)
}

fn check_value(graph: &Graph, (pass, name): (PassId, &str), target: Target, value: Clear) -> Result<(), Error> {
    let (says, help) = match (target, value) {
        (Target::Color(_), Clear::Depth(..)) => ("a depth".to_owned(), "give it four numbers"),
        (Target::Depth, Clear::Color(_)) => ("a colour".to_owned(), "give it a depth or (depth, stencil)"),
        (_, Clear::Color(values)) => match values.into_iter().find(|value| !value.is_finite()) {
            Some(bad) => (format!("{bad:?}"), "give it finite numbers"),
            None => return Ok(()),
        },
        (_, Clear::Depth(depth, _)) if !(0.0..=1.0).contains(&depth) => {
            (format!("{depth:?}"), "give it a depth from 0 to 1")
        }
        (_, Clear::Depth(_, Some(stencil @ 256..))) => (format!("stencil {stencil}"), "give a stencil from 0 to 255"),
        _ => return Ok(()),
    };
    Err(refused(graph, pass, &format!("clears \"{name}\" to {says}"), help))
}

fn refused(graph: &Graph, pass: PassId, says: &str, help: &str) -> Error {
    let name = graph.pass_name(pass);
    Error::Graph(GraphError::one(Mistake::new(Code::BadInput, format!("pass \"{name}\" {says}"), help).pass(name)))
}
