//! Draws: `"raster": {"shader": …, "color": […], "depth": …, …}`.

use std::sync::Arc;

use rgraph_files::graph::{Here, read_clear, work};
use rgraph_files::json::{Fields, Node};
use rgraph_ir::access::{Aspects, Load, ResolveMode, Usage};
use rgraph_ir::error::Code;
use rgraph_ir::graph::{Clear, Use};
use rgraph_ir::resource::ResourceId;
use rgraph_shader::Kind;

use super::load::Work;
use super::range::{Named, named, part};
use super::state;
use crate::infer::{self, AccessRange, Attribute, DepthTarget, Used, Vertices};
use crate::vertex::VertexFormat;
use crate::work::{Draw, DrawCount, IndexBuffer, Step};

/// The fields of a draw.
type TargetFields<'a, 'p> = Fields<'a, 'p, { work::COLOR_TARGET.keys.len() }>;
pub(super) type RasterFields<'a, 'p> = Fields<'a, 'p, { work::RASTER.keys.len() }>;

impl Work<'_, '_> {
    /// A draw.
    pub(super) fn raster(&mut self, node: Node<'_, '_>) -> Option<Step> {
        let fields = node.fields(&work::RASTER)?;
        let mut program = self.program(&fields, Kind::Raster)?;
        let (count, depth) = self.targets(&node, &fields, &program)?;
        let state = state::read(&fields, count)?;
        match depth {
            Some(target) => self.needs.depth(&target, &state),
            None => self.needs.further_draw(&state),
        }
        let push = self.push(&fields, &program)?;
        let vertex_buffers = self.vertex_buffers(&node, &fields, &program)?;
        let wide = fields
            .get("index_format")
            .map_or(Some(true), |node| super::sampler::word(&node, "an index format", crate::words::INDICES));
        let index = match fields.get("index") {
            None => None,
            Some(index) => {
                let (buffer, offset) = self.buffer(&index, Usage::Index)?;
                Some(IndexBuffer { buffer, offset, wide: wide? })
            }
        };
        let count = self.count(&fields, infer::indirect_bytes(&program, index.is_some()))?;
        let viewport = match fields.get("viewport") {
            None => None,
            Some(node) => {
                let list = node.short_list(&[4], "a list [x, y, width, height]", |one| one.number32())?;
                Some(list.try_into().ok()?)
            }
        };
        let key = fields.get("key").map_or(Some(0), |key| key.u64())?;
        let bound = self.bind(&node, fields.get("bindings"), &mut program)?;
        let state = Arc::new(state);
        Some(Step::Draw(Draw { program, state, bound, push, vertex_buffers, index, count, viewport, key }))
    }

    fn count(&mut self, fields: &RasterFields<'_, '_>, apart: u32) -> Option<DrawCount> {
        let number = |key, usual| fields.get(key).map_or(Some(usual), |node| node.u32());
        let (draws, stride) = (number("draws", 1)?, number("stride", apart)?);
        if let Some(indirect) = fields.get("indirect") {
            let (buffer, offset) = self.buffer(&indirect, Usage::Indirect)?;
            return Some(DrawCount::Indirect { buffer, offset, draws, stride });
        }
        if let Some(groups) = fields.get("groups") {
            if !groups.is_list() {
                return groups.u32().map(|x| DrawCount::Mesh { groups: [x, 1, 1] });
            }
            let axes = groups.short_list(&[1, 2, 3], "a list [x, y, z] of workgroups", |axis| axis.u32())?;
            let axis = |at: usize| axes.get(at).copied().unwrap_or(1);
            return Some(DrawCount::Mesh { groups: [axis(0), axis(1), axis(2)] });
        }
        let vertex_offset = match fields.get("vertex_offset") {
            None => 0,
            Some(node) => match node.json().parse() {
                Ok(offset) => offset,
                Err(_) => {
                    node.wrong("an integer of 32 bits");
                    return None;
                }
            },
        };
        Some(DrawCount::Direct {
            vertices: number("vertices", 3)?,
            instances: number("instances", 1)?,
            first_vertex: number("first_vertex", 0)?,
            first_instance: number("first_instance", 0)?,
            vertex_offset,
        })
    }

    /// A buffer or part of one, and its first byte.
    fn buffer(&mut self, node: &Node<'_, '_>, usage: Usage) -> Option<(ResourceId, u64)> {
        let here = Here { graph: self.graph, scope: self.scope };
        let (id, part) = named(node, &here, |Named { id, part, .. }| Some((id, part)))?;
        self.needs.uses(id, usage, part, |_| {});
        Some((id, part.ranges.bytes.map_or(0, |[first, _]| first)))
    }

    /// The attachments: those that the draw names, else those of the pass's accesses. How many colours there are, and
    /// the depth target that the draw names.
    fn targets(
        &mut self,
        node: &Node<'_, '_>,
        fields: &RasterFields<'_, '_>,
        program: &Arc<rgraph_shader::Program>,
    ) -> Option<(usize, Option<DepthTarget>)> {
        let (color, depth) = (fields.get("color"), fields.get("depth"));
        let mode = resolve_mode(fields)?;
        if color.is_none() && depth.is_none() {
            let attachment = |usage: &Usage| {
                matches!(usage, Usage::ColorAttachment | Usage::DepthStencilAttachment | Usage::DepthStencilRead)
            };
            // Of several draws of a pass the first names them for all.
            let mut own: Vec<Usage> = self.needs.uses.iter().map(|used| used.how.usage).filter(attachment).collect();
            if own.is_empty() {
                let listed = self.graph.accesses().iter().rev().take_while(|access| access.pass == self.pass);
                own = listed.map(|access| access.usage).filter(attachment).collect();
            }
            let count = own.iter().filter(|usage| **usage == Usage::ColorAttachment).count();
            if own.is_empty() {
                let help = "give \"color\": IMAGE or \"depth\": IMAGE";
                node.mistake(Code::BadTarget, "draws to nothing", help);
                return None;
            }
            return Some((count, None));
        }
        let mut colors = Vec::new();
        if let Some(color) = color {
            if color.is_list() {
                color.list(" of colour targets", |one| {
                    colors.push(if one.is_null() { None } else { Some(self.target(&one, mode)?) });
                    Some(())
                })?;
            } else {
                colors.push(Some(self.target(&color, mode)?));
            }
        }
        let depth = match depth {
            None => None,
            Some(depth) => Some(self.depth(&depth, mode)?),
        };
        let checked = infer::targets(self.who, program, &colors, &mut self.needs);
        self.kept(node, checked)?;
        Some((colors.len(), depth))
    }

    /// A colour target, and what it resolves to.
    fn target(&mut self, node: &Node<'_, '_>, mode: Option<ResolveMode>) -> Option<(ResourceId, AccessRange)> {
        let here = Here { graph: self.graph, scope: self.scope };
        if node.is_text() {
            let id = here.resource(node)?;
            self.needs.uses(id, Usage::ColorAttachment, AccessRange::default(), |_| {});
            return Some((id, AccessRange::default()));
        }
        let fields = node.fields(&work::COLOR_TARGET)?;
        let (id, part) = (here.resource(&fields.get("resource")?)?, part(&fields)?);
        let (load, clear, own_mode) = (load(&fields, "load")?, clear(&fields)?, resolve_mode(&fields)?);
        self.needs.uses(id, Usage::ColorAttachment, part, |how| {
            how.details.clear = clear;
            how.load = load.or(clear.map(|_| Load::Clear));
        });
        self.resolve(&fields, id, own_mode.or(mode))?;
        Some((id, part))
    }

    /// What a target resolves to.
    fn resolve(&mut self, fields: &TargetFields<'_, '_>, of: ResourceId, mode: Option<ResolveMode>) -> Option<()> {
        let Some(resolve) = fields.get("resolve") else { return Some(()) };
        let here = Here { graph: self.graph, scope: self.scope };
        let (to, part) = named(&resolve, &here, |Named { id, part, .. }| Some((id, part)))?;
        let mut how = Use { ranges: part.ranges, aspects: part.aspects, ..Use::new(Usage::ResolveAttachment) };
        how.details.resolve_mode = mode;
        self.needs.uses.push(Used { at: to, how, resolves: Some(of), tested: Aspects::empty() });
        Some(())
    }

    fn depth(&mut self, node: &Node<'_, '_>, mode: Option<ResolveMode>) -> Option<DepthTarget> {
        let here = Here { graph: self.graph, scope: self.scope };
        if node.is_text() {
            let at = here.resource(node)?;
            return Some(DepthTarget { at, part: AccessRange::default(), clear: None, load: None, stencil_load: None });
        }
        let fields = node.fields(&work::DEPTH_TARGET)?;
        let (at, part) = (here.resource(&fields.get("resource")?)?, part(&fields)?);
        let (load, stencil_load, clear) = (load(&fields, "load")?, load(&fields, "stencil_load")?, clear(&fields)?);
        let own_mode = resolve_mode(&fields)?;
        self.resolve(&fields, at, own_mode.or(mode))?;
        Some(DepthTarget { at, part, clear, load, stencil_load })
    }

    fn vertex_buffers(
        &mut self,
        node: &Node<'_, '_>,
        fields: &RasterFields<'_, '_>,
        program: &rgraph_shader::Program,
    ) -> Option<Vec<crate::work::VertexBuffer>> {
        let mut given = Vec::new();
        match fields.get("vertex_buffers") {
            None => {}
            Some(list) if list.is_list() => {
                given = list.list(" of vertex buffers", |one| self.vertices(&one))?;
            }
            Some(one) => given.push(self.vertices(&one)?),
        }
        let made = infer::vertex_buffers(self.who, program, &given);
        self.kept(node, made)
    }

    fn vertices(&mut self, node: &Node<'_, '_>) -> Option<Vertices> {
        if node.is_text() {
            let (buffer, offset) = self.buffer(node, Usage::Vertex)?;
            return Some(Vertices { buffer, offset, attributes: None, stride: None, per_instance: false });
        }
        let fields = node.fields(&work::VERTICES)?;
        let (buffer, first) = self.buffer(&fields.get("buffer")?, Usage::Vertex)?;
        let further = fields.get("offset").map_or(Some(0), |offset| offset.u64())?;
        let attributes = match fields.get("attributes") {
            None => None,
            Some(list) => Some(list.list(" of names, or [name, format, offset]", |one| attribute(&one))?),
        };
        let stride = match fields.get("stride") {
            None => None,
            Some(stride) => Some(stride.u32()?),
        };
        let per_instance = fields.flag("per_instance");
        Some(Vertices { buffer, offset: first.saturating_add(further), attributes, stride, per_instance })
    }
}

/// A name, or `[name, format, offset]`.
fn attribute(node: &Node<'_, '_>) -> Option<Attribute> {
    if node.is_text() {
        return node.text().map(|name| (name.into_owned(), None));
    }
    const WANTED: &str = "the name of an input, or [name, format, offset]";
    if !node.is_list() || node.count() != 3 {
        node.wrong(WANTED);
        return None;
    }
    let (mut name, mut format, mut offset) = (None, None, None);
    node.elements("", |at, one| match at {
        0 => name = one.text().map(|name| name.into_owned()),
        1 => format = one.word::<VertexFormat>(),
        _ => offset = one.u32(),
    })?;
    Some((name?, Some((format?, offset?))))
}

/// A load that may be left out.
fn load<const N: usize>(fields: &Fields<'_, '_, N>, key: &'static str) -> Option<Option<Load>> {
    match fields.get(key) {
        None => Some(None),
        Some(node) => node.word().map(Some),
    }
}

fn resolve_mode<const N: usize>(fields: &Fields<'_, '_, N>) -> Option<Option<ResolveMode>> {
    match fields.get("resolve_mode") {
        None => Some(None),
        Some(node) => node.word().map(Some),
    }
}

fn clear<const N: usize>(fields: &Fields<'_, '_, N>) -> Option<Option<Clear>> {
    match fields.get("clear") {
        None => Some(None),
        Some(node) => read_clear(&node).map(Some),
    }
}
