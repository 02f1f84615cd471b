//! Builds of acceleration structures, records of instances and traces of rays:
//! `"build": {"structure": …, "scratch": …, "triangles": {…}}`, `"instances": {"to": …, "all": […]}`,
//! `"trace": {"raygen": …, "miss": […], "hit": […]}`.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use std::sync::Arc;

use rgraph_files::graph::{Here, work};
use rgraph_files::json::{Fields, Node};
use rgraph_ir::error::Code;
use rgraph_ir::resource::ResourceId;
use rgraph_shader::{Kind, Stage};

use super::load::Work;
use super::range::{Named, named};
use super::sampler::word;
use super::shader;
use crate::error::WorkError;
use crate::infer::{self, RaySources};
use crate::words::INDICES;
use crate::work::{Build, Geometry, HitGroup, IndexBuffer, Instance, Instances, RayGroups, Step, Trace};

impl Work<'_, '_> {
    fn here(&self) -> Here<'_> {
        Here { graph: self.graph, scope: self.scope }
    }

    fn structure(&self, node: &Node<'_, '_>) -> Option<ResourceId> {
        self.here().resource(node)
    }

    /// A buffer and the first byte of the part of it.
    fn from<const N: usize>(&self, fields: &Fields<'_, '_, N>, key: &'static str) -> Option<(ResourceId, u64)> {
        self.part_of(&fields.get(key)?)
    }

    fn part_of(&self, node: &Node<'_, '_>) -> Option<(ResourceId, u64)> {
        let here = self.here();
        let offset = |part: infer::AccessRange| part.ranges.bytes.map_or(0, |[first, _]| first);
        named(node, &here, |Named { id, part, .. }| Some((id, offset(part))))
    }

    pub(super) fn build(&mut self, node: Node<'_, '_>) -> Option<Step> {
        let fields = node.fields(&work::BUILD)?;
        let (structure, scratch) = (fields.get("structure"), fields.get("scratch"));
        let (structure, scratch) = (self.structure(&structure?)?, self.structure(&scratch?)?);
        let opaque = fields.get("opaque").map_or(Some(true), |opaque| opaque.boolean())?;
        let given = [fields.get("triangles"), fields.get("boxes"), fields.get("instances")];
        let geometry = match given {
            [Some(triangles), None, None] => self.triangles(&triangles, opaque)?,
            [None, Some(boxes), None] => {
                let fields = boxes.fields(&work::BOXES)?;
                let (buffer, offset) = self.from(&fields, "buffer")?;
                let stride = fields.get("stride").map_or(Some(24), |stride| stride.u32())?;
                Geometry::Boxes { buffer, offset, stride, boxes: fields.get("boxes")?.u32()?, opaque }
            }
            [None, None, Some(instances)] => {
                let fields = instances.fields(&work::BUILD_INSTANCES)?;
                let (buffer, offset) = self.from(&fields, "buffer")?;
                let structures = fields.get("structures")?.list(" of structures", |one| self.structure(&one))?;
                Geometry::Instances { buffer, offset, instances: fields.get("instances")?.u32()?, structures }
            }
            _ => {
                let help = "give one of \"triangles\", \"boxes\" and \"instances\"";
                node.mistake(Code::BadFile, "is no build", help);
                return None;
            }
        };
        let (refit, updatable) = (fields.flag("refit"), fields.flag("updatable"));
        Some(infer::build(Build { structure, scratch, geometry, refit, updatable }, &mut self.needs))
    }

    fn triangles(&self, node: &Node<'_, '_>, opaque: bool) -> Option<Geometry> {
        let fields = node.fields(&work::TRIANGLES)?;
        let (buffer, offset) = self.from(&fields, "buffer")?;
        let index = match fields.get("index") {
            Some(index) => {
                let (buffer, offset) = self.part_of(&index)?;
                let format = fields.get("index_format");
                let wide = format.map_or(Some(true), |format| word(&format, "an index format", INDICES))?;
                Some(IndexBuffer { buffer, offset, wide })
            }
            None => None,
        };
        let stride = fields.get("stride").map_or(Some(12), |stride| stride.u32())?;
        let (vertices, triangles) = (fields.get("vertices")?.u32()?, fields.get("triangles")?.u32()?);
        Some(Geometry::Triangles { buffer, offset, stride, vertices, index, triangles, opaque })
    }

    /// Records of instances.
    pub(super) fn instances(&mut self, node: Node<'_, '_>) -> Option<Step> {
        let fields = node.fields(&work::INSTANCES)?;
        let (to, offset) = self.from(&fields, "to")?;
        let transforms = match fields.get("transforms") {
            Some(transforms) => Some(self.part_of(&transforms)?),
            None => None,
        };
        let mut count = 0;
        let all = fields.get("all")?.list(" of instances", |one| {
            count += 1;
            self.instance(&one, count - 1)
        })?;
        Some(infer::instances(Instances { to, offset, all, transforms }, &mut self.needs))
    }

    fn instance(&self, node: &Node<'_, '_>, at: u32) -> Option<Instance> {
        let fields = node.fields(&work::INSTANCE)?;
        let structure = self.structure(&fields.get("structure")?)?;
        let transform = match fields.get("transform") {
            Some(rows) => {
                let rows = rows.short_list(&[12], "three rows of four numbers", |number| number.number32())?;
                rows.try_into().ok()?
            }
            None => Instance::IDENTITY,
        };
        let index =
            fields.get("index").map_or(Some(u64::from(at)), |index| index.integer(fields.most("index")))? as u32;
        let mask = fields.get("mask").map_or(Some(0xff), |mask| mask.integer(fields.most("mask")))? as u8;
        let hit = fields.get("hit").map_or(Some(0), |hit| hit.integer(fields.most("hit")))? as u32;
        Some(Instance { structure, transform, index, mask, hit })
    }

    /// A trace of rays.
    pub(super) fn trace(&mut self, node: Node<'_, '_>) -> Option<Step> {
        let fields = node.fields(&work::TRACE)?;
        let (mut sources, mut name) = (RaySources::default(), None);
        let library = &mut self.library;
        let mut add = |node: &Node<'_, '_>, stage: Stage| {
            let (given, own_name) = library.source(node)?;
            name = name.take().or(own_name);
            Some(sources.add(given, stage))
        };
        add(&fields.get("raygen")?, Stage::RayGeneration)?;
        let mut groups = RayGroups::default();
        if let Some(miss) = fields.get("miss") {
            groups.miss = miss.list(" of shaders", |one| add(&one, Stage::Miss))?;
        }
        if let Some(hit) = fields.get("hit") {
            groups.hit = hit.list(" of hit groups", |one| {
                let fields = one.fields(&work::HIT)?;
                let mut shader = |key, stage| match fields.get(key) {
                    Some(node) => add(&node, stage).map(Some),
                    None => Some(None),
                };
                let closest = shader("closest", Stage::ClosestHit)?;
                let (any, intersection) = (shader("any", Stage::AnyHit)?, shader("intersection", Stage::Intersection)?);
                Some(HitGroup { closest, any, intersection })
            })?;
        }
        if let Some(callable) = fields.get("callable") {
            groups.callable = callable.list(" of shaders", |one| add(&one, Stage::Callable))?;
        }
        if let Some(records) = fields.get("records") {
            groups.records = records.list(" of data of shader groups", |data| {
                let bytes = BASE64_STANDARD.decode(data.text()?.as_bytes()).ok();
                if bytes.is_none() {
                    data.mistake(Code::BadFile, "is not base 64", "write the data in base 64 (RFC 4648)");
                }
                bytes
            })?;
        }
        let title = shader::title(name.as_deref().unwrap_or(self.who.pass));
        let made = shader::of_sources(&fields, title, Kind::RayTracing, sources.sources)?;
        let mut program = match made {
            Ok(program) => program,
            Err(fault) => {
                self.fault(fault);
                return None;
            }
        };
        let checked = infer::check_groups(self.who, &program, &groups).map_err(WorkError::from);
        self.kept(&node, checked)?;
        let push = self.push(&fields, &program)?;
        let bound = self.bind(&node, fields.get("bindings"), &mut program)?;
        let size = match fields.get("size") {
            Some(size) => self.rays(&size)?,
            None => self.covered(&node, &program)?,
        };
        let depth = fields.get("depth").map_or(Some(1), |depth| depth.u32())?;
        Some(Step::Trace(Trace { program, groups: Arc::new(groups), bound, push, size, depth }))
    }
}
