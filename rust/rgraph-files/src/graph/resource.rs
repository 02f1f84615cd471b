//! Reading images and buffers.

use super::keys::{BufferFields, IMPORTED, ImageFields, LEAVE, RELATIVE_AXIS, RELATIVE_SIZE, SIZE_BY_AXES};
use super::scope::Here;
use super::typed::{self, Typed};
use crate::json::{Fields, Node};
use crate::word::{Contents, FirstFrame};
use rgraph_ir::error::Code;
use rgraph_ir::resource::{
    Axis, Buffer, History, Image, Imported, Kind, Leave, Life, Mips, Resource, ResourceId, Round, Size,
};

/// An image, if nothing prevents reading it.
pub(super) fn read_image(fields: &ImageFields<'_, '_>, here: &Here<'_>) -> Resource {
    let image = Image {
        format: fields.get("format").and_then(|format| format.word()),
        size: fields.get("size").and_then(|size| read_size(size, here)),
        layers: fields.get("layers").and_then(|layers| layers.u32()),
        mips: fields.get("mips").and_then(|mips| match mips.is_text() {
            true if mips.text()? == "full" => Some(Mips::Full),
            true => {
                mips.wrong("a number of levels or \"full\"");
                None
            }
            false => mips.u32().map(Mips::Count),
        }),
        samples: fields.get("samples").and_then(|samples| samples.u32()),
        cube: fields.flag("cube"),
    };
    common(fields, Kind::Image(image), here)
}

/// A buffer, if nothing prevents reading it, and how it is seen as an array.
pub(super) fn read_buffer(fields: &BufferFields<'_, '_>, here: &Here<'_>) -> (Resource, Option<Typed>) {
    let (size, typed) = typed::read(fields);
    let says = ["size", "shape", "modifies", "history_of", "file"].iter().any(|key| fields.get(key).is_some());
    if !says {
        let help = "give its bytes as \"size\", or \"shape\" and \"dtype\" of its array";
        fields.node().mistake(Code::BadFile, "has no \"size\"", help);
    }
    let buffer = Buffer { size, acceleration_structure: fields.flag("acceleration_structure") };
    (common(fields, Kind::Buffer(buffer), here), typed)
}

fn common<const N: usize>(fields: &Fields<'_, '_, N>, kind: Kind, here: &Here<'_>) -> Resource {
    Resource {
        kind,
        life: read_life(fields, here),
        modifies: fields.get("modifies").and_then(|name| here.resource(&name)),
        leave: fields.get("leave").and_then(read_leave),
        sharing: fields.get("sharing").and_then(|sharing| sharing.word()),
        memory_domain: fields.get("memory_domain").and_then(|domain| domain.word()),
    }
}

fn read_life<const N: usize>(fields: &Fields<'_, '_, N>, here: &Here<'_>) -> Life {
    let mut imported = fields.get("imported").and_then(read_imported).flatten();
    let persistent = fields.flag("persistent");
    let fresh = fields.flag("fresh");
    let history = fields.get("history_of");
    // What lives from frame to frame begins with the contents of its file.
    if fields.get("file").is_some() && !persistent && history.is_none() {
        imported = Some(imported.unwrap_or_default());
    }
    let says = [imported.is_some(), persistent, fresh, history.is_some()];
    if says.iter().filter(|present| **present).count() > 1 {
        let help = "keep one: imported, persistent, fresh or history_of";
        fields.node().mistake(Code::BadFile, "has more than one of imported, persistent, fresh and history_of", help);
    }
    let frames = fields.get("frames").map(|frames| frames.u32());
    let first = fields.get("first_frame").map(|first| first.word::<FirstFrame>());
    if history.is_none() {
        for key in ["frames", "first_frame"] {
            if let Some(stray) = fields.get(key) {
                stray.mistake(Code::BadFile, "needs history_of", "add \"history_of\", or leave it out");
            }
        }
    }
    if let Some(name) = history {
        let zero_first = first.flatten().is_none_or(|first| first.0);
        return match here.resource(&name) {
            Some(of) => Life::History(History { of, frames: frames.flatten().unwrap_or(1), zero_first }),
            None => Life::Transient,
        };
    }
    match imported {
        Some(imported) => Life::Imported(imported),
        None if persistent => Life::Persistent,
        None if fresh => Life::Fresh,
        None => Life::Transient,
    }
}

/// `true`, `false` or an object; the inner `None` is `false`.
fn read_imported(node: Node<'_, '_>) -> Option<Option<Imported>> {
    if !node.is_object() {
        if !matches!(node.found().as_str(), "true" | "false") {
            node.wrong("true or an object: an import");
            return None;
        }
        return node.boolean().map(|imported| imported.then(Imported::default));
    }
    let fields = node.fields(&IMPORTED)?;
    let mut imported = Imported {
        layout: fields.get("layout").and_then(|layout| layout.word()),
        queue: fields.get("queue").and_then(|queue| queue.word()),
        wait: fields.flag("wait"),
        signal: fields.flag("signal"),
        ..Imported::default()
    };
    if let Some(stages) = fields.get("stages").and_then(|stages| stages.joined()) {
        imported.stages = stages;
    }
    if let Some(access) = fields.get("access").and_then(|access| access.joined()) {
        imported.access = access;
    }
    if let Some(contents) = fields.get("contents").and_then(|contents| contents.word::<Contents>()) {
        imported.defined = contents.0;
    }
    Some(Some(imported))
}

fn read_leave(node: Node<'_, '_>) -> Option<Leave> {
    let fields = node.fields(&LEAVE)?;
    Some(Leave {
        layout: fields.get("layout").and_then(|layout| layout.word()),
        queue: fields.get("queue").and_then(|queue| queue.word()),
    })
}

const SIZE: &str = "[width, height], [width, height, depth], or an object with \"relative_to\" or \"scale\"";

fn read_size(node: Node<'_, '_>, here: &Here<'_>) -> Option<Size> {
    if node.is_list() {
        return match node.short_list(&[2, 3], SIZE, |axis| axis.u32())?[..] {
            [width, height] => Some(Size::absolute(width, height)),
            [width, height, depth] => Some(Size::volume(width, height, depth)),
            _ => None,
        };
    }
    if !node.is_object() {
        node.wrong(SIZE);
        return None;
    }
    let mut per_axis = false;
    node.entries("", |key, _| per_axis |= matches!(key, "x" | "y" | "z"))?;
    if per_axis { per_axis_size(node, here) } else { relative_size(node, here) }
}

fn relative_size(node: Node<'_, '_>, here: &Here<'_>) -> Option<Size> {
    let fields = node.fields(&RELATIVE_SIZE)?;
    let of = fields.get("relative_to").map_or(Some(None), |name| relative_to(&name, here))?;
    let round = fields.get("round").map_or(Some(Round::Down), |round| round.word())?;
    let Some(scale) = fields.get("scale") else { return Some(Size { round, ..Size::scaled(of, 1.0, 1.0) }) };
    match scale.short_list(&[2, 3], "a list of factors [x, y]", |factor| factor.number())?[..] {
        [x, y] => Some(Size { round, ..Size::scaled(of, x, y) }),
        [x, y, z] => Some(Size { round, z: Some(Axis::Scaled(of, z)), ..Size::scaled(of, x, y) }),
        _ => None,
    }
}

fn per_axis_size(node: Node<'_, '_>, here: &Here<'_>) -> Option<Size> {
    let fields = node.fields(&SIZE_BY_AXES)?;
    let mut explicit = fields.get("round").map_or(Some(None), |round| round.word().map(Some))?;
    let mut axis = |key: &'static str| {
        let (axis, round) = read_axis(&fields.get(key)?, here)?;
        match (explicit, round) {
            (Some(one), Some(other)) if one != other => {
                let help = "move \"round\" next to the axes";
                fields.node().mistake(Code::BadFile, "rounds one axis up and another down", help);
            }
            _ => explicit = explicit.or(round),
        }
        Some(axis)
    };
    let (x, y) = (axis("x"), axis("y"));
    let z = if fields.get("z").is_some() { Some(axis("z")?) } else { None };
    Some(Size { x: x?, y: y?, z, round: explicit.unwrap_or_default() })
}

fn read_axis(node: &Node<'_, '_>, here: &Here<'_>) -> Option<(Axis, Option<Round>)> {
    if node.is_number() {
        return node.u32().map(|texels| (Axis::Texels(texels), None));
    }
    if !node.is_object() {
        node.wrong("a number of texels, or an object with \"relative_to\" or \"scale\"");
        return None;
    }
    let fields = node.fields(&RELATIVE_AXIS)?;
    let of = fields.get("relative_to").map_or(Some(None), |name| relative_to(&name, here));
    let scale = fields.get("scale").map_or(Some(1.0), |factor| factor.number());
    let round = fields.get("round").map_or(Some(None), |round| round.word().map(Some));
    Some((Axis::Scaled(of?, scale?), round?))
}

/// The image of that name; `None` for the reference size.
fn relative_to(node: &Node<'_, '_>, here: &Here<'_>) -> Option<Option<ResourceId>> {
    match node.text()?.as_ref() {
        "reference" => Some(None),
        _ => here.resource(node).map(Some),
    }
}
