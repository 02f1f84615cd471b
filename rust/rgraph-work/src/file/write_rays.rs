//! Writing builds, instances and traces.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use rgraph_files::write::Row;

use super::write::Writer;
use crate::words::{INDICES, name_of};
use crate::work::{Build, Geometry, HitGroup, Instance, Instances, Trace};

impl Writer<'_> {
    /// A build of an acceleration structure.
    pub(super) fn build(&self, row: &mut Row<'_>, build: &Build) {
        let Build { structure, scratch, geometry, refit, updatable } = build;
        row.put("structure", self.resource(*structure)).put("scratch", self.resource(*scratch));
        let opaque = match geometry {
            Geometry::Triangles { buffer, offset, stride, vertices, index, triangles, opaque } => {
                let mut row = row.key("triangles").row();
                self.bytes(row.key("buffer"), *buffer, *offset, None);
                row.put("stride", stride).put("vertices", vertices);
                if let Some(index) = index {
                    self.bytes(row.key("index"), index.buffer, index.offset, None);
                    row.some("index_format", (!index.wide).then(|| name_of(false, INDICES)));
                }
                row.put("triangles", triangles).end();
                *opaque
            }
            Geometry::Boxes { buffer, offset, stride, boxes, opaque } => {
                let mut row = row.key("boxes").row();
                self.bytes(row.key("buffer"), *buffer, *offset, None);
                row.put("stride", stride).put("boxes", boxes).end();
                *opaque
            }
            Geometry::Instances { buffer, offset, instances, structures } => {
                let mut row = row.key("instances").row();
                self.bytes(row.key("buffer"), *buffer, *offset, None);
                let names: Vec<&str> = structures.iter().map(|structure| self.resource(*structure)).collect();
                row.put("instances", instances).put("structures", names).end();
                true
            }
        };
        row.some("opaque", (!opaque).then_some(false)).flag("refit", *refit).flag("updatable", *updatable).end();
    }

    /// Records of instances.
    pub(super) fn instances(&self, row: &mut Row<'_>, instances: &Instances) {
        let Instances { to, offset, all, transforms } = instances;
        self.bytes(row.key("to"), *to, *offset, None);
        let sheet = row.key("all");
        for (one, at) in all.iter().zip(0..) {
            sheet.text(if at == 0 { "[" } else { ", " });
            let Instance { structure, transform, index, mask, hit } = one;
            let mut row = sheet.row();
            row.put("structure", self.resource(*structure));
            row.some("transform", (*transform != Instance::IDENTITY).then_some(transform));
            row.some("index", (*index != at).then_some(index)).some("mask", (*mask != 0xff).then_some(mask));
            row.some("hit", (*hit != 0).then_some(hit)).end();
        }
        sheet.text(if all.is_empty() { "[]" } else { "]" });
        if let Some((from, at)) = transforms {
            self.bytes(row.key("transforms"), *from, *at, None);
        }
        row.end();
    }

    /// A trace of rays.
    pub(super) fn trace(&self, row: &mut Row<'_>, trace: &Trace) {
        let Trace { program, groups, bound, push, size, depth } = trace;
        let names = self.sources(program);
        let name = |module: u32| names.get(module as usize).copied().unwrap_or_default();
        let list = |all: &[u32]| (!all.is_empty()).then(|| all.iter().map(|one| name(*one)).collect::<Vec<_>>());
        row.put("raygen", name(0)).some("miss", list(&groups.miss));
        if !groups.hit.is_empty() {
            let sheet = row.key("hit");
            for (group, at) in groups.hit.iter().zip(0..) {
                sheet.text(if at == 0 { "[" } else { ", " });
                let HitGroup { closest, any, intersection } = *group;
                let mut row = sheet.row();
                row.some("closest", closest.map(name)).some("any", any.map(name));
                row.some("intersection", intersection.map(name)).end();
            }
            sheet.text("]");
        }
        row.some("callable", list(&groups.callable));
        let data: Vec<String> = groups.records.iter().map(|data| BASE64_STANDARD.encode(data)).collect();
        row.some("records", (!data.is_empty()).then_some(data));
        self.values(row, program, bound, push);
        self.groups(row, "size", (program, bound), *size);
        row.some("depth", (*depth != 1).then_some(depth)).end();
    }
}
