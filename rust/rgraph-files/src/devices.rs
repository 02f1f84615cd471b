//! Files of plans for several devices (`*.rdevices.json`).

use super::json::table::{Key, Kind, Object, U64, VERSION, list, may, must, or_null, words};
use super::json::{Node, Source, Word};
use super::plan::{ID, MOST_ID, hexadecimal};
use super::write::Sheet;
use rgraph_ir::devices::{
    DeviceCopy, DeviceCopyId, DevicePart, DevicePartId, DevicePlace, DeviceStep, DevicesPlan, DevicesReport,
};
use rgraph_ir::error::GraphError;
use rgraph_ir::graph::PassId;
use rgraph_ir::id::Id;

/// A plan for several devices.
pub(super) static DEVICES: Object<[Key; 10]> = Object::new(
    "a plan for several devices",
    [
        must("rdevices", VERSION),
        may("graph", Kind::Title),
        must("graph_hash", Kind::Hexadecimal(32)),
        must("devices", list(&Kind::Object(&DEVICE))),
        must("parts", list(&Kind::Object(&PART))),
        must("copies", list(&Kind::Object(&COPY))),
        must("steps", list(&Kind::Object(&STEP))),
        may("homes", list(&Kind::Object(&PLACE))),
        may("results", list(&Kind::Object(&PLACE))),
        may("report", Kind::Object(&REPORT)),
    ],
);

static DEVICE: Object<[Key; 1]> = Object::new("a device", [must("profile", Kind::Title)]);

static PART: Object<[Key; 2]> = Object::new("a part", [must("device", ID), must("passes", list(&ID))]);

static COPY: Object<[Key; 4]> =
    Object::new("a copy", [or_null("resource", ID), must("from", ID), must("to", ID), may("bytes", U64)]);

static STEP: Object<[Key; 2]> = Object::new("a step", [must("do", Kind::WordsOf(words::<StepKind>)), must("of", ID)]);

static PLACE: Object<[Key; 2]> = Object::new("a place", [must("resource", ID), must("device", ID)]);

static REPORT: Object<[Key; 3]> = Object::new(
    "a report",
    [may("frame_us", Kind::Number), may("one_device_us", Kind::Number), may("notes", list(&Kind::Line))],
);

/// What a step does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StepKind {
    Run,
    Send,
    Receive,
}

impl Word for StepKind {
    const WHAT: &'static str = "a step";
    fn from_text(text: &str) -> Option<Self> {
        match text {
            "run" => Some(Self::Run),
            "send" => Some(Self::Send),
            "receive" => Some(Self::Receive),
            _ => None,
        }
    }
    fn words() -> Vec<&'static str> {
        vec!["run", "send", "receive"]
    }
}

/// Writes a plan for several devices. Equal plans are the same bytes on every machine; reading gives an equal plan.
pub fn write_devices_plan(plan: &DevicesPlan) -> String {
    let mut sheet = Sheet::default();
    sheet.text("{\n  \"rdevices\": 1");
    sheet.line("  ", "graph", &plan.graph);
    sheet.line("  ", "graph_hash", &format!("{:032x}", plan.graph_hash));
    sheet.key("  ", "devices");
    sheet.list("  ", &plan.profiles, |sheet, profile| sheet.row().put("profile", profile).end());
    sheet.key("  ", "parts");
    sheet.list("  ", plan.parts.iter(), |sheet, part| {
        let passes: Vec<usize> = part.passes.iter().map(|pass| pass.index()).collect();
        sheet.row().put("device", part.device.index()).put("passes", passes).end();
    });
    sheet.key("  ", "copies");
    sheet.list("  ", plan.copies.iter(), |sheet, copy| {
        let mut row = sheet.row();
        row.put("resource", copy.resource.map(Id::index)).put("from", copy.from.index()).put("to", copy.to.index());
        row.put("bytes", copy.bytes).end();
    });
    sheet.key("  ", "steps");
    sheet.list("  ", &plan.steps, |sheet, step| {
        let (word, of) = match *step {
            DeviceStep::Run(part) => ("run", part.index()),
            DeviceStep::Send(copy) => ("send", copy.index()),
            DeviceStep::Receive(copy) => ("receive", copy.index()),
        };
        sheet.row().put("do", word).put("of", of).end();
    });
    for (key, places) in [("homes", &plan.homes), ("results", &plan.results)] {
        sheet.key("  ", key);
        sheet.list("  ", places, |sheet, place| {
            sheet.row().put("resource", place.resource.index()).put("device", place.device.index()).end();
        });
    }
    sheet.key("  ", "report");
    let mut row = sheet.row();
    row.put("frame_us", plan.report.frame_us).put("one_device_us", plan.report.one_device_us);
    row.put("notes", &plan.report.notes).end();
    sheet.text("\n}\n");
    sheet.finish()
}

/// Reads a plan for several devices. Ids of passes, resources and devices are numbers; whether they fit a graph, and
/// whether the plan is right, is the checker's to say. O(bytes).
///
/// # Errors
/// Everything that is wrong with the file at once, with file, line and path of the key; only the first mistake where
/// the text is not JSON, not UTF-8, or of another version.
pub fn read_devices_plan(text: &[u8], file_name: &str) -> Result<DevicesPlan, GraphError> {
    let source = Source::open(text, file_name)?;
    let plan = source.root().version("rdevices", "a plan for several devices").and_then(|()| read(source.root()));
    source.finish(plan)
}

fn read(root: Node<'_, '_>) -> Option<DevicesPlan> {
    let fields = root.fields(&DEVICES)?;
    let graph = fields.get("graph").and_then(|name| name.title()).unwrap_or_default().into_owned();
    let graph_hash = fields.get("graph_hash").and_then(|hash| hexadecimal(&hash, fields.most("graph_hash")));
    let profiles = fields.get("devices").and_then(|list| {
        list.list(" of devices", |node| {
            let fields = node.fields(&DEVICE)?;
            fields.get("profile")?.title().map(std::borrow::Cow::into_owned)
        })
    });
    let parts: Option<Vec<DevicePart>> = fields.get("parts").and_then(|list| list.list(" of parts", part));
    let copies: Option<Vec<DeviceCopy>> = fields.get("copies").and_then(|list| list.list(" of copies", copy));
    let steps = fields.get("steps").and_then(|list| list.list(" of steps", step));
    let homes = fields.get("homes").map_or(Some(Vec::new()), |list| list.list(" of homes", place));
    let results = fields.get("results").map_or(Some(Vec::new()), |list| list.list(" of results", place));
    let report = fields.get("report").map_or(Some(DevicesReport::default()), report);
    Some(DevicesPlan {
        graph,
        graph_hash: graph_hash?,
        profiles: profiles?,
        parts: parts?.into_iter().collect(),
        copies: copies?.into_iter().collect(),
        steps: steps?,
        homes: homes?,
        results: results?,
        report: report?,
    })
}

fn id<I: Id>(node: &Node<'_, '_>) -> Option<I> {
    node.integer(MOST_ID).map(|index| I::new(index as usize))
}

fn part(node: Node<'_, '_>) -> Option<DevicePart> {
    let fields = node.fields(&PART)?;
    let device = fields.get("device").and_then(|device| id(&device));
    let passes = fields.get("passes").and_then(|list| list.list(" of passes", |pass| id::<PassId>(&pass)));
    Some(DevicePart { device: device?, passes: passes? })
}

fn copy(node: Node<'_, '_>) -> Option<DeviceCopy> {
    let fields = node.fields(&COPY)?;
    let resource = fields.get("resource").map_or(Some(None), |resource| id(&resource).map(Some));
    let from = fields.get("from").and_then(|device| id(&device));
    let to = fields.get("to").and_then(|device| id(&device));
    let bytes = fields.get("bytes").map_or(Some(0), |bytes| bytes.u64());
    Some(DeviceCopy { resource: resource?, from: from?, to: to?, bytes: bytes? })
}

fn step(node: Node<'_, '_>) -> Option<DeviceStep> {
    let fields = node.fields(&STEP)?;
    let kind = fields.get("do").and_then(|word| word.word::<StepKind>());
    let of = fields.get("of").and_then(|of| of.integer(MOST_ID)).map(|of| of as usize);
    let (kind, of) = (kind?, of?);
    Some(match kind {
        StepKind::Run => DeviceStep::Run(DevicePartId::new(of)),
        StepKind::Send => DeviceStep::Send(DeviceCopyId::new(of)),
        StepKind::Receive => DeviceStep::Receive(DeviceCopyId::new(of)),
    })
}

fn place(node: Node<'_, '_>) -> Option<DevicePlace> {
    let fields = node.fields(&PLACE)?;
    let resource = fields.get("resource").and_then(|resource| id(&resource));
    let device = fields.get("device").and_then(|device| id(&device));
    Some(DevicePlace { resource: resource?, device: device? })
}

fn report(node: Node<'_, '_>) -> Option<DevicesReport> {
    let fields = node.fields(&REPORT)?;
    let number = |key| fields.get(key).map_or(Some(0.0), |number| number.number());
    let notes = fields
        .get("notes")
        .map_or(Some(Vec::new()), |list| list.list(" of notes", |note| note.text().map(std::borrow::Cow::into_owned)));
    let (frame_us, one_device_us) = (number("frame_us"), number("one_device_us"));
    Some(DevicesReport { frame_us: frame_us?, one_device_us: one_device_us?, notes: notes? })
}
