//! Reading a capture file, which may be a stranger's: memory grows with its length, and what its header names lies in
//! it.

use std::path::Path;
use std::sync::Arc;

use rgraph_files::graph::read_clear;
use rgraph_files::json::table::{Key, Kind, Object, may, must, or_null};
use rgraph_files::json::{Node, Source};
use rgraph_plan::access::{Aspects, Load};
use rgraph_plan::error::Code;
use xxhash_rust::xxh3::xxh3_64;

use super::file::{ASPECTS, MAGIC};
use super::model::{Bytes, Captured, CapturedFrame, Content, Model, Outcome};
use super::{MOST_FRAMES, bad};
use crate::error::Error;
use crate::frame::target_change::{Target, TargetChange};
use rgraph_files::disk::{self, Allowed};
use rgraph_work::file::word;

static CAPTURE: Object<[Key; 6]> = Object::new(
    "a capture",
    [
        must("rgraph_capture", ANY),
        must("device", ANY),
        must("graphs", ANY),
        must("frames", ANY),
        must("sections", ANY),
        must("checksum", ANY),
    ],
);
static DEVICE: Object<[Key; 4]> =
    Object::new("a device", [must("name", ANY), must("driver", ANY), must("uuid", ANY), must("profile", ANY)]);
static GRAPH: Object<[Key; 6]> = Object::new(
    "a captured graph",
    [
        must("name", ANY),
        must("graph", ANY),
        or_null("plan", ANY),
        or_null("run", ANY),
        may("before", ANY),
        may("after", ANY),
    ],
);
static FRAME: Object<[Key; 13]> = Object::new(
    "a captured frame",
    [
        must("graph", ANY),
        may("reset", ANY),
        may("flags", ANY),
        may("inputs", ANY),
        may("first", ANY),
        may("states", ANY),
        may("push", ANY),
        may("data", ANY),
        may("targets", ANY),
        may("host", ANY),
        or_null("steps", ANY),
        may("recorded", ANY),
        must("results", ANY),
    ],
);
static CONTENT: Object<[Key; 5]> = Object::new(
    "contents",
    [must("resource", ANY), may("slot", ANY), may("mip", ANY), may("aspect", ANY), must("bytes", ANY)],
);
static RESOURCE_BYTES: Object<[Key; 2]> = Object::new("contents", [must("resource", ANY), must("bytes", ANY)]);
static PASS_BYTES: Object<[Key; 2]> = Object::new("contents", [must("pass", ANY), must("bytes", ANY)]);
static DATA: Object<[Key; 3]> =
    Object::new("uniform data", [must("pass", ANY), must("binding", ANY), must("bytes", ANY)]);
/// A viewport has no target, a clear value no load.
static TARGET: Object<[Key; 5]> = Object::new(
    "a target of a run",
    [must("pass", ANY), may("target", ANY), may("clear", ANY), may("load", ANY), may("viewport", ANY)],
);
static HOST: Object<[Key; 4]> =
    Object::new("written bytes", [must("pass", ANY), must("resource", ANY), must("offset", ANY), must("bytes", ANY)]);
static RESULT: Object<[Key; 5]> = Object::new(
    "a result",
    [must("resource", ANY), or_null("mips", ANY), or_null("layers", ANY), or_null("range", ANY), must("bytes", ANY)],
);
/// Captures have no schema, so their readers alone know the values of keys.
const ANY: Kind = Kind::Any;
const LOADS: [(&str, Load); 2] = [("load", Load::Load), ("clear", Load::Clear)];

/// A capture that was read from a file.
#[derive(Clone, Debug)]
pub struct CaptureFile {
    pub(super) model: Model,
}

impl CaptureFile {
    /// Reads a capture file.
    ///
    /// # Errors
    /// `RG-E222` with everything that is wrong with it.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let name = path.to_string_lossy();
        let bytes = disk::read(path, Allowed::FilesAndPipes);
        Self::read(&bytes.map_err(|fault| bad(format!("{name}: {fault}"), fault.help()))?, &name)
    }

    /// Reads the bytes of a capture file; `name` is what messages call it.
    ///
    /// # Errors
    /// As [`CaptureFile::load`].
    pub fn read(bytes: &[u8], name: &str) -> Result<Self, Error> {
        let broken = |what: &str| bad(format!("{name}: {what}"), "capture the frames again");
        let rest = bytes
            .strip_prefix(&MAGIC)
            .ok_or_else(|| bad(format!("{name}: no capture file"), "write one with Compiled.capture"))?;
        let (length, rest) = rest.split_first_chunk::<8>().ok_or_else(|| broken("the file ends in its header"))?;
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        if length > rest.len() {
            return Err(broken("the file ends in its header"));
        }
        let (header, body) = rest.split_at(length);
        let source = Source::open(header, name).map_err(Error::Graph)?;
        let model = source.root().version("rgraph_capture", "a capture").and_then(|()| model(source.root(), body));
        Ok(Self { model: source.finish(model).map_err(Error::Graph)? })
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.model.frames.len()
    }

    /// Device and driver that it was captured on.
    pub fn device(&self) -> (&str, &str) {
        (&self.model.device, &self.model.driver)
    }

    /// Name, graph file and plan file of each captured graph. The plan is missing where the graph was not declared in
    /// the order of its file.
    pub fn graphs(&self) -> impl Iterator<Item = (&str, &[u8], Option<&[u8]>)> {
        self.model.graphs.iter().map(|graph| (&*graph.name, &*graph.graph, graph.plan.as_deref()))
    }

    /// Name and bytes of each root that the last captured run of a graph left, in the order of the run: of an image the
    /// texels of mip 0, layer by layer. Roots that were read in parts are left out.
    pub fn results(&self, graph: usize) -> impl Iterator<Item = (&str, Arc<[u8]>)> {
        let last = self.model.frames.iter().rev().find(|frame| frame.graph == graph);
        let results = last.map_or(&[][..], |frame| &frame.results);
        let whole = |one: &&Outcome| one.mips.is_none() && one.layers.is_none() && one.range.is_none();
        results.iter().filter(whole).map(|one| (&*one.resource, Arc::clone(&one.bytes)))
    }

    /// The profile file of its device.
    pub fn profile(&self) -> &[u8] {
        &self.model.profile
    }
}

/// The sections of a file.
struct Body(Vec<Bytes>);

impl Body {
    /// The section that a number names.
    fn section(&self, node: Node<'_, '_>) -> Option<Bytes> {
        let at = node.u64()?;
        let found = usize::try_from(at).ok().and_then(|at| self.0.get(at)).cloned();
        if found.is_none() {
            node.mistake(Code::BadFile, format_args!("is {at}, and the file has {} sections", self.0.len()), "");
        }
        found
    }

    fn content(&self, node: Node<'_, '_>) -> Option<Content> {
        let fields = node.fields(&CONTENT)?;
        let aspect = fields.get("aspect").map_or(Some(Aspects::empty()), |word| {
            let text = word.text()?;
            let found = ASPECTS.iter().find(|(name, _)| *name == text).map(|(_, aspect)| *aspect);
            if found.is_none() {
                word.wrong("\"color\", \"depth\" or \"stencil\"");
            }
            found
        });
        let number = |key| fields.get(key).map_or(Some(0), |number| number.u32());
        Some(Content {
            resource: fields.get("resource")?.name()?.into_owned(),
            slot: number("slot")?,
            mip: number("mip")?,
            aspect: aspect?,
            bytes: self.section(fields.get("bytes")?)?,
        })
    }

    fn named(&self, node: Node<'_, '_>, table: &'static Object<[Key; 2]>) -> Option<(String, Bytes)> {
        let fields = node.fields(table)?;
        Some((fields.get(table.keys[0].name)?.name()?.into_owned(), self.section(fields.get("bytes")?)?))
    }

    fn graph(&self, node: Node<'_, '_>) -> Option<Captured> {
        let fields = node.fields(&GRAPH)?;
        let contents =
            |key| fields.get(key).map_or(Some(Vec::new()), |list| list.list(" of contents", |node| self.content(node)));
        Some(Captured {
            name: fields.get("name")?.title()?.into_owned(),
            graph: self.section(fields.get("graph")?)?,
            plan: fields.get("plan").map_or(Some(None), |plan| self.section(plan).map(Some))?,
            run: fields.get("run").map_or(Some(None), |run| run.integer(u64::MAX >> 1).map(Some))?,
            before: contents("before")?,
            after: contents("after")?,
        })
    }

    fn frame(&self, node: Node<'_, '_>, graphs: usize) -> Option<CapturedFrame> {
        let fields = node.fields(&FRAME)?;
        let graph = fields.get("graph")?;
        let at = graph.u64()? as usize;
        if at >= graphs {
            graph.mistake(Code::BadFile, format_args!("is {at}, and the file has {graphs} graphs"), "");
            return None;
        }
        let mut flags = Vec::new();
        if let Some(given) = fields.get("flags") {
            given.entries(" of flags", |name, on| {
                if let Some(on) = on.boolean() {
                    flags.push((name.to_owned(), on));
                }
            })?;
        }
        let named = |key, table: &'static Object<[Key; 2]>| {
            fields.get(key).map_or(Some(Vec::new()), |list| list.list(" of contents", |node| self.named(node, table)))
        };
        let data = |node: Node<'_, '_>| {
            let fields = node.fields(&DATA)?;
            let bytes = self.section(fields.get("bytes")?)?;
            Some((fields.get("pass")?.name()?.into_owned(), fields.get("binding")?.u32()?, bytes))
        };
        let host = |node: Node<'_, '_>| {
            let fields = node.fields(&HOST)?;
            let [pass, buffer] = ["pass", "resource"].map(|key| Some(fields.get(key)?.name()?.into_owned()));
            Some((pass?, buffer?, fields.get("offset")?.u64()?, self.section(fields.get("bytes")?)?))
        };
        let result = |node: Node<'_, '_>| {
            let fields = node.fields(&RESULT)?;
            let part = |key| fields.get(key).map_or(Some(None), |range| range.range32().map(Some));
            Some(Outcome {
                resource: fields.get("resource")?.name()?.into_owned(),
                mips: part("mips")?,
                layers: part("layers")?,
                range: fields.get("range").map_or(Some(None), |range| range.range(u64::MAX >> 1).map(Some))?,
                bytes: self.section(fields.get("bytes")?)?,
            })
        };
        let or_none = |key| fields.get(key);
        Some(CapturedFrame {
            graph: at,
            reset: fields.flag("reset"),
            flags,
            inputs: or_none("inputs").map_or(Some(Vec::new()), |list| list.list("", |node| self.content(node)))?,
            first: named("first", &RESOURCE_BYTES)?,
            states: named("states", &RESOURCE_BYTES)?,
            push: named("push", &PASS_BYTES)?,
            data: or_none("data").map_or(Some(Vec::new()), |list| list.list("", data))?,
            targets: or_none("targets").map_or(Some(Vec::new()), |list| list.list("", target_change))?,
            host: or_none("host").map_or(Some(Vec::new()), |list| list.list("", host))?,
            steps: fields.get("steps").map_or(Some(None), |steps| self.section(steps).map(Some))?,
            recorded: or_none("recorded").map_or(Some(Vec::new()), |list| {
                list.list(" of passes", |name| name.name().map(|name| name.into_owned()))
            })?,
            results: fields.get("results")?.list(" of results", result)?,
        })
    }
}

/// A clear value, a load or a viewport of a run.
fn target_change(node: Node<'_, '_>) -> Option<(String, TargetChange)> {
    let fields = node.fields(&TARGET)?;
    let pass = fields.get("pass")?.name()?.into_owned();
    if let Some(viewport) = fields.get("viewport") {
        let list = viewport.short_list(&[4], "a list [x, y, width, height]", |one| one.number32())?;
        return Some((pass, TargetChange::Viewport(list.try_into().ok()?)));
    }
    let at = fields.need("target")?;
    let target =
        if at.is_number() { Target::Color(at.u32()?) } else { word(&at, "a target", &[("depth", Target::Depth)])? };
    if let Some(clear) = fields.get("clear") {
        return Some((pass, TargetChange::Clear(target, read_clear(&clear)?)));
    }
    Some((pass, TargetChange::Load(target, word(&fields.need("load")?, "a load", &LOADS)?)))
}

/// Cuts the body into its sections.
fn cut(sections: Node<'_, '_>, body: &[u8]) -> Option<Body> {
    let mut rest = body;
    let mut all = Vec::new();
    let mut long = false;
    sections.elements(" of lengths", |_, length| {
        let Some(length) = length.u64().and_then(|length| usize::try_from(length).ok()) else { return };
        match rest.split_at_checked(length) {
            Some((section, behind)) if !long => {
                all.push(Bytes::from(section));
                rest = behind;
            }
            _ => long = true,
        }
    })?;
    if long || !rest.is_empty() {
        sections.mistake(
            Code::BadFile,
            format_args!("do not add up to the {} bytes behind the header", body.len()),
            "",
        );
        return None;
    }
    Some(Body(all))
}

fn model(root: Node<'_, '_>, body: &[u8]) -> Option<Model> {
    let fields = root.fields(&CAPTURE)?;
    let checksum = fields.get("checksum")?;
    if checksum.text()? != format!("{:016x}", xxh3_64(body)) {
        checksum.mistake(Code::BadFile, "is not that of the bytes behind the header", "copy the file again");
        return None;
    }
    let body = cut(fields.get("sections")?, body)?;
    let device = fields.get("device")?;
    let device = device.fields(&DEVICE)?;
    let text = |key| Some(device.get(key)?.text()?.into_owned());
    let graphs = fields.get("graphs")?.list(" of graphs", |node| body.graph(node))?;
    let frames = fields.get("frames")?;
    if frames.count() > MOST_FRAMES || graphs.len() > MOST_FRAMES {
        frames.mistake(Code::BadFile, format_args!("are more than {MOST_FRAMES}"), "capture fewer frames");
        return None;
    }
    Some(Model {
        device: text("name")?,
        driver: text("driver")?,
        uuid: text("uuid")?,
        profile: body.section(device.get("profile")?)?,
        frames: frames.list(" of frames", |node| body.frame(node, graphs.len()))?,
        graphs,
    })
}
