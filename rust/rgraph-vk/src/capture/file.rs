//! Writing a capture file: [`MAGIC`], the length of the header, the header (JSON), the sections one after the other.
//! `docs/reference/formats.md` says each key.

use std::collections::HashMap;

use rgraph_files::graph::write_clear;
use rgraph_files::write::{Row, Sheet};
use xxhash_rust::xxh3::xxh3_64;

use super::model::{Bytes, Captured, CapturedFrame, Content, Model, Outcome};
use crate::frame::target_change::{Target, TargetChange};

/// First bytes of each capture file.
pub(super) const MAGIC: [u8; 8] = *b"RGCAPTUR";

/// Word of an aspect; buffers have none.
pub(super) const ASPECTS: [(&str, rgraph_plan::access::Aspects); 3] = [
    ("color", rgraph_plan::access::Aspects::COLOR),
    ("depth", rgraph_plan::access::Aspects::DEPTH),
    ("stencil", rgraph_plan::access::Aspects::STENCIL),
];

/// Bytes, each once.
#[derive(Default)]
struct Sections {
    known: HashMap<Bytes, usize>,
    all: Vec<Bytes>,
}

impl Sections {
    fn at(&mut self, bytes: &Bytes) -> usize {
        let Self { known, all } = self;
        *known.entry(bytes.clone()).or_insert_with(|| {
            all.push(bytes.clone());
            all.len() - 1
        })
    }

    fn content(&mut self, row: &mut Row<'_>, content: &Content) {
        row.put("resource", &content.resource);
        row.some("slot", Some(content.slot).filter(|slot| *slot > 0));
        row.some("mip", Some(content.mip).filter(|mip| *mip > 0));
        row.some("aspect", ASPECTS.iter().find(|(_, aspect)| *aspect == content.aspect).map(|(name, _)| name));
        row.put("bytes", self.at(&content.bytes)).end();
    }

    fn contents(&mut self, row: &mut Row<'_>, key: &str, contents: &[Content]) {
        if !contents.is_empty() {
            row.key(key).list("    ", contents, |sheet, content| self.content(&mut sheet.row(), content));
        }
    }

    fn named(&mut self, row: &mut Row<'_>, key: &str, what: &str, named: &[(String, Bytes)]) {
        if !named.is_empty() {
            row.key(key).list("    ", named, |sheet, (name, bytes)| {
                sheet.row().put(what, name).put("bytes", self.at(bytes)).end();
            });
        }
    }

    fn graph(&mut self, sheet: &mut Sheet, graph: &Captured) {
        let mut row = sheet.row();
        row.put("name", &graph.name).put("graph", self.at(&graph.graph));
        row.some("plan", graph.plan.as_ref().map(|plan| self.at(plan))).some("run", graph.run);
        self.contents(&mut row, "before", &graph.before);
        self.contents(&mut row, "after", &graph.after);
        row.end();
    }

    fn frame(&mut self, sheet: &mut Sheet, frame: &CapturedFrame) {
        let mut row = sheet.row();
        row.put("graph", frame.graph).flag("reset", frame.reset);
        if !frame.flags.is_empty() {
            let mut flags = row.key("flags").row();
            for (name, on) in &frame.flags {
                flags.put(name, on);
            }
            flags.end();
        }
        self.contents(&mut row, "inputs", &frame.inputs);
        self.named(&mut row, "first", "resource", &frame.first);
        self.named(&mut row, "states", "resource", &frame.states);
        self.named(&mut row, "push", "pass", &frame.push);
        if !frame.data.is_empty() {
            row.key("data").list("    ", &frame.data, |sheet, (pass, binding, bytes)| {
                sheet.row().put("pass", pass).put("binding", binding).put("bytes", self.at(bytes)).end();
            });
        }
        if !frame.targets.is_empty() {
            row.key("targets").list("    ", &frame.targets, |sheet, (pass, change)| {
                let mut row = sheet.row();
                row.put("pass", pass);
                let target = |row: &mut Row<'_>, target| match target {
                    Target::Color(at) => drop(row.put("target", at)),
                    Target::Depth => drop(row.put("target", "depth")),
                };
                match *change {
                    TargetChange::Clear(of, value) => {
                        target(&mut row, of);
                        write_clear(row.key("clear"), value);
                    }
                    TargetChange::Load(of, load) => {
                        target(&mut row, of);
                        row.put("load", load.name());
                    }
                    TargetChange::Viewport(viewport) => drop(row.put("viewport", viewport)),
                }
                row.end();
            });
        }
        if !frame.host.is_empty() {
            row.key("host").list("    ", &frame.host, |sheet, (pass, buffer, offset, bytes)| {
                let mut row = sheet.row();
                row.put("pass", pass).put("resource", buffer).put("offset", offset).put("bytes", self.at(bytes)).end();
            });
        }
        row.some("steps", frame.steps.as_ref().map(|steps| self.at(steps)));
        row.some("recorded", (!frame.recorded.is_empty()).then_some(&frame.recorded));
        row.key("results").list("    ", &frame.results, |sheet, result| self.result(&mut sheet.row(), result));
        row.end();
    }

    fn result(&mut self, row: &mut Row<'_>, result: &Outcome) {
        row.put("resource", &result.resource).some("mips", result.mips).some("layers", result.layers);
        row.some("range", result.range).put("bytes", self.at(&result.bytes)).end();
    }
}

/// The file of a capture.
pub(super) fn write(model: &Model) -> Vec<u8> {
    let mut sections = Sections::default();
    let mut sheet = Sheet::default();
    sheet.text("{\"rgraph_capture\": 1");
    sheet.key("", "device");
    let mut row = sheet.row();
    row.put("name", &model.device).put("driver", &model.driver).put("uuid", &model.uuid);
    row.put("profile", sections.at(&model.profile)).end();
    sheet.key("", "graphs");
    sheet.list("", &model.graphs, |sheet, graph| sections.graph(sheet, graph));
    sheet.key("", "frames");
    sheet.list("", &model.frames, |sheet, frame| sections.frame(sheet, frame));
    let lengths: Vec<usize> = sections.all.iter().map(|bytes| bytes.len()).collect();
    let body = sections.all.concat();
    sheet.line("", "sections", &lengths);
    sheet.line("", "checksum", &format!("{:016x}", xxh3_64(&body)));
    sheet.text("}\n");
    let header = sheet.finish().into_bytes();
    let mut file = MAGIC.to_vec();
    file.extend((header.len() as u64).to_le_bytes());
    file.extend(header);
    file.extend(body);
    file
}
