//! Attachments of one pass: they must be of one size, one number of layers and samples, with one depth attachment
//! and no more colours than the profile allows; and what resolve attachments resolve.

use super::words::{counted, describe, texels};
use super::{At, Check, Known};
use crate::access::{Aspects, ResolveMode, Usage};
use crate::error::{Code, Mistake};
use crate::format::{Format, Numbers};
use crate::graph::{Access, Graph};
use crate::id::IdVec;
use crate::plan::PlanKind;
use crate::resource::ResourceId;
use crate::stages::ids::AccessId;
use crate::stages::resolve::declared;
use crate::stages::size::{Shape, mip_size};

/// The attachments of the pass at hand, as far as the next one is compared with them.
#[derive(Default)]
pub(super) struct Raster {
    /// The first one, whose size and layers all others have.
    first: Option<AccessId>,
    /// The first one that is no resolve target, whose samples all others have.
    sampled: Option<AccessId>,
    depth: Option<AccessId>,
    colors: u32,
    pub(super) resolves: bool,
    /// Whether a shader reads one of them in place.
    pub(super) in_place: bool,
}

/// The part of an image that an attachment is.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Extent {
    width: u32,
    height: u32,
    /// A volume is one layer.
    layers: u32,
    samples: u32,
}

fn extent(graph: &Graph, access: &Access, shape: &Shape) -> Option<Extent> {
    let PlanKind::Image { size, layers, samples, volume, .. } = shape.kind else { return None };
    let ranges = graph.ranges_of(access);
    let [width, height, _] = mip_size(size, ranges.mips.map_or(0, |[first, _]| first));
    let layers = ranges.layers.map_or(layers, |[first, end]| end.saturating_sub(first));
    Some(Extent { width, height, layers: if volume { 1 } else { layers }, samples })
}

impl Check<'_> {
    /// Compares an attachment with those of the pass before it.
    pub(super) fn add_attachment(&mut self, at: At<'_>, known: Known, raster: &mut Raster) {
        let access = at.access;
        match access.usage {
            Usage::ColorAttachment => {
                raster.colors += 1;
                if raster.colors == self.profile.limits.max_color_attachments.saturating_add(1) {
                    self.too_many_colors(at);
                }
            }
            Usage::DepthStencilAttachment | Usage::DepthStencilRead => match raster.depth {
                None => raster.depth = Some(at.id),
                Some(first) => self.second_depth(at, first),
            },
            Usage::ResolveAttachment => raster.resolves = true,
            Usage::InputAttachment => raster.in_place = true,
            _ => {}
        }
        if known.placeholder {
            return;
        }
        let Some(own) = extent(self.graph, access, at.shape) else { return };
        let extent_of = |check: &Self, id: AccessId| {
            let other = check.access(id);
            extent(check.graph, other, &check.shapes[other.resource])
        };
        let first = *raster.first.get_or_insert(at.id);
        if let Some(other) = extent_of(self, first) {
            if (own.width, own.height) != (other.width, other.height) {
                let sizes = [own, other].map(|extent| texels([extent.width, extent.height, 1], false));
                self.differing(at, first, Code::SizeMismatch, &sizes, "give all attachments of a pass one size");
            } else if own.layers != other.layers {
                let counts = [own.layers, other.layers].map(|count| counted(u64::from(count), "layer"));
                let help = "give all attachments of a pass the same number of layers";
                self.differing(at, first, Code::SizeMismatch, &counts, help);
            }
        }
        if access.usage == Usage::ResolveAttachment {
            return;
        }
        let first = *raster.sampled.get_or_insert(at.id);
        if let Some(other) = extent_of(self, first)
            && own.samples != other.samples
        {
            let counts = [own.samples, other.samples].map(|count| counted(u64::from(count), "sample"));
            let help = "give all attachments of a pass the same number of samples, or use resolve_attachment";
            self.differing(at, first, Code::BadSamples, &counts, help);
        }
    }

    #[cold]
    fn differing(&mut self, at: At<'_>, first: AccessId, code: Code, [own, others]: &[String; 2], help: &str) {
        let name = self.resource_name(at.access.resource);
        let other = self.access(first);
        let against = self.resource_name(other.resource);
        let says = format!("has attachments that cannot match: \"{name}\" has {own}, \"{against}\" {others}");
        let mistake = self.with_other(self.of_access(code, at, &says, help), first);
        self.add(mistake);
    }

    /// Adds the resource of another access of the same pass as a side.
    pub(super) fn with_other(&self, mistake: Mistake, other: AccessId) -> Mistake {
        let access = self.access(other);
        let says = format!("{}, {}", access.usage, describe(&self.shapes[access.resource]));
        mistake.side(self.resource_name(access.resource), says, self.access_place(other))
    }

    #[cold]
    fn too_many_colors(&mut self, at: At<'_>) {
        let most = self.profile.limits.max_color_attachments;
        let says = format!(
            "has more than {}, the most of profile \"{}\"",
            counted(u64::from(most), "colour attachment"),
            self.profile.name
        );
        self.add(self.of_access(Code::OverLimit, at, &says, "split the pass, or pack what it writes"));
    }

    fn second_depth(&mut self, at: At<'_>, first: AccessId) {
        let other = self.access(first);
        let part =
            |access: &Access| (access.resource, self.graph.ranges_of(access).mips, self.graph.ranges_of(access).layers);
        if part(at.access) == part(other) {
            // Depth and stencil of one image, each in its own way: whether they meet is seen with the overlaps.
            return;
        }
        let [name, against] = [at.access.resource, other.resource].map(|resource| self.resource_name(resource));
        let says = format!("has two depth attachments, \"{against}\" and \"{name}\"");
        let help = "keep one of them, or split the pass";
        let mistake = self.with_other(self.of_access(Code::BadAccess, at, &says, help), first);
        self.add(mistake);
    }

    /// Finds attachments of depth or of stencil alone in a pass that reads in place. Its render pass has subpasses, and
    /// so it attaches whole images (Vulkan 1.3, `VkSubpassDescription2`): the pass says how it finds the other aspect.
    #[cold]
    pub(super) fn check_whole(&mut self, of_pass: &[AccessId]) {
        let graph = self.graph;
        for &id in of_pass {
            let access = self.access(id);
            let Some(shape) = self.shapes.get(access.resource) else { continue };
            let tests = matches!(
                access.usage,
                Usage::DepthStencilAttachment | Usage::DepthStencilRead | Usage::InputAttachment
            );
            if !tests || access.aspects.is_empty() {
                continue;
            }
            let own = graph.ranges_of(access);
            let [mip, layers] = [own.mips.unwrap_or([0, 1]), own.layers.unwrap_or([0, u32::MAX])];
            let within = |[first, end]: [u32; 2], of: Option<[u32; 2]>| {
                of.is_none_or(|[begins, ends]| begins <= first && end <= ends)
            };
            let finds = |other: &&Access| {
                let ranges = graph.ranges_of(other);
                let mips = if other.usage == Usage::Sampled { ranges.mips } else { ranges.mips.or(Some([0, 1])) };
                (other.usage.is_attachment() || other.usage == Usage::Sampled)
                    && other.resource == access.resource
                    && within(mip, mips)
                    && within(layers, ranges.layers)
            };
            let all = of_pass.iter().map(|&other| self.access(other)).filter(finds);
            let named = all.fold(Aspects::empty(), |named, other| {
                named | if other.aspects.is_empty() { shape.aspects } else { other.aspects }
            });
            let left = shape.aspects - named;
            if left.is_empty() {
                continue;
            }
            let [has, lacks] = [access.aspects, left].map(|of| of.names().collect::<Vec<_>>().join(" and "));
            let name = self.resource_name(access.resource);
            let says =
                format!("reads attachments in place, which attaches all of \"{name}\", but declares only its {has}");
            let help = format!("leave aspects out, or add an access of its {lacks}");
            self.add(self.of_access(Code::BadAccess, At { id, access, shape }, &says, &help));
            return;
        }
    }

    /// Checks what the resolve attachments of a pass resolve.
    #[cold]
    pub(super) fn check_resolves(&mut self, of_pass: &[AccessId], known: &IdVec<ResourceId, Known>) {
        // More resolves than attachments are a mistake, and comparing each with each would be quadratic.
        const MOST: usize = 64;
        let (mut taken, mut count) = ([None; MOST], 0);
        for &id in of_pass {
            let access = self.access(id);
            let Some(shape) = self.shapes.get(access.resource) else { continue };
            if access.usage != Usage::ResolveAttachment || !matches!(shape.kind, PlanKind::Image { .. }) {
                continue;
            }
            let at = At { id, access, shape };
            let details = self.graph.details_of(access);
            if details.resolves.is_some_and(|resolves| !self.known(resolves)) {
                let says = "resolves a resource of another graph";
                self.block(self.of_access(Code::UnknownName, at, says, "resolve an attachment of the same pass"));
                continue;
            }
            if count == MOST {
                let says = format!("has more than {MOST} resolve attachments");
                self.add(self.of_access(Code::OverLimit, at, &says, "resolve each attachment once"));
                return;
            }
            let name = self.resource_name(access.resource);
            let Some(from) = resolved_access(self.graph, self.shapes, of_pass, access) else {
                let (says, help) = match details.resolves {
                    Some(of) => {
                        let of = self.resource_name(of);
                        let says = format!("resolves \"{of}\" to \"{name}\", but \"{of}\" is no attachment of it");
                        (says, format!("add \"{of}\" to the pass as an attachment"))
                    }
                    None => {
                        let says = format!("resolves to \"{name}\", but names no source");
                        (says, "set resolves to the multisampled attachment".to_owned())
                    }
                };
                self.add(self.of_access(Code::BadAccess, at, &says, &help));
                count += 1;
                continue;
            };
            if taken[..count].contains(&Some(from)) {
                let of = self.resource_name(self.access(from).resource);
                let says = format!("resolves \"{of}\" twice");
                let mistake = self.of_access(Code::BadAccess, at, &says, "resolve it once and copy the result");
                self.add(self.with_other(mistake, from));
            }
            taken[count] = Some(from);
            count += 1;
            let source = self.access(from).resource;
            if !known[access.resource].placeholder && !known[source].placeholder {
                self.check_resolve(at, from, details.resolve_mode);
            }
        }
    }

    fn check_resolve(&mut self, at: At<'_>, from: AccessId, mode: Option<ResolveMode>) {
        let source = &self.shapes[self.access(from).resource];
        let (PlanKind::Image { format: a, samples: many, .. }, PlanKind::Image { format: b, samples: one, .. }) =
            (source.kind, at.shape.kind)
        else {
            return;
        };
        let [of, name] = [self.access(from).resource, at.access.resource].map(|id| self.resource_name(id));
        let aspects = if at.access.aspects.is_empty() { at.shape.aspects } else { at.access.aspects };
        let wrong = if many == 1 {
            Some((Code::BadSamples, format!("but \"{of}\" has one sample per texel"), "give it several samples"))
        } else if one != 1 {
            Some((Code::BadSamples, format!("but \"{name}\" has {one} samples per texel"), "give it one sample"))
        } else if a != b {
            Some((Code::BadFormat, format!("but their formats are {a} and {b}"), "give both one format"))
        } else {
            mode.and_then(|mode| unfit_mode(mode, a, aspects)).map(|(why, help)| {
                (Code::BadFormat, format!("by {mode}, {why}", mode = mode.map_or("", ResolveMode::name)), help)
            })
        };
        if let Some((code, why, help)) = wrong {
            let says = format!("resolves \"{of}\" to \"{name}\", {why}");
            let mistake = self.of_access(code, at, &says, help);
            self.add(self.with_other(mistake, from));
        }
    }
}

/// Why samples of a format cannot become one that way.
///
/// # Source
/// Vulkan 1.3 specification, valid usage of `VkRenderingAttachmentInfo`; `VkResolveModeFlagBits`.
fn unfit_mode(mode: ResolveMode, format: Format, aspects: Aspects) -> Option<(&'static str, &'static str)> {
    match (mode, format.numbers()) {
        (ResolveMode::Average, Numbers::Uint | Numbers::Sint) => Some(("but integers have no mean", "use sample_zero")),
        (ResolveMode::Average, Numbers::Depth) if aspects.contains(Aspects::STENCIL) => {
            Some(("but stencils have no mean", "use sample_zero, min or max"))
        }
        (ResolveMode::Average, _) | (ResolveMode::SampleZero, Numbers::Uint | Numbers::Sint | Numbers::Depth) => None,
        (_, Numbers::Depth) => None,
        (_, Numbers::Uint | Numbers::Sint) => Some(("which is for depth and stencil only", "use sample_zero")),
        _ => Some(("but colours can only be averaged", "use average")),
    }
}

/// The access that resolve attachment `resolve` resolves: the one that it names, or where it names none
/// the only attachment of the pass with several samples and the same format. O(accesses of the pass).
pub(super) fn resolved_access(
    graph: &Graph,
    shapes: &IdVec<ResourceId, Shape>,
    of_pass: &[AccessId],
    resolve: &Access,
) -> Option<AccessId> {
    let attachments = || {
        of_pass.iter().map(|&id| (id, declared(graph, id))).filter(|(_, access)| {
            access.usage.is_attachment() && !matches!(access.usage, Usage::ResolveAttachment | Usage::InputAttachment)
        })
    };
    if let Some(named) = graph.details_of(resolve).resolves {
        return attachments().find(|(_, access)| access.resource == named).map(|(id, _)| id);
    }
    let format = |resource: ResourceId| match shapes.get(resource)?.kind {
        PlanKind::Image { format, samples, .. } => Some((format, samples)),
        PlanKind::Buffer { .. } => None,
    };
    let wanted = format(resolve.resource)?.0;
    let mut fitting = attachments()
        .filter(|(_, access)| format(access.resource).is_some_and(|(format, samples)| format == wanted && samples > 1));
    let (only, _) = fitting.next()?;
    fitting.next().is_none().then_some(only)
}
