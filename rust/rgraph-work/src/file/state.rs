//! Fixed-function state of draws in files.

use rgraph_files::graph::work;
use rgraph_files::json::{Node, shown};
use rgraph_files::write::{Row, Sheet};
use rgraph_ir::error::Code;

use super::raster::RasterFields;
use super::sampler::word;
use crate::words::{BLEND_OPS, BLENDS, COMPARES, CULLS, FACTORS, STENCIL_OPS, TOPOLOGIES, WINDINGS, name_of};
use crate::work::{Blend, BlendFactor, BlendOp, Compare, RasterState, StencilFace, StencilOp};

/// Channels that are written by default.
const ALL_CHANNELS: u8 = 15;

/// The state of a draw with so many colour targets.
pub(super) fn read(fields: &RasterFields<'_, '_>, targets: usize) -> Option<RasterState> {
    let usual = RasterState::default();
    let topology = fields.get("topology").map_or(Some(usual.topology), |node| word(&node, "a topology", TOPOLOGIES));
    let cull = fields.get("cull").map_or(Some(usual.cull), |node| word(&node, "a kind of culling", CULLS));
    let front = fields.get("front").map_or(Some(false), |node| word(&node, "a winding", WINDINGS));
    let test = match fields.get("depth_test") {
        None => Some(None),
        Some(node) => word(&node, "a comparison", COMPARES).map(Some),
    };
    let bias = match fields.get("depth_bias") {
        None => Some(None),
        Some(node) => {
            let list = node.short_list(&[2], "a list [constant, slope]", |one| one.number32().map(f32::to_bits));
            list.and_then(|list| list.try_into().ok()).map(Some)
        }
    };
    let stencil = match fields.get("stencil") {
        None => Some(None),
        Some(node) if node.is_list() => {
            let faces = node.short_list(&[2], "[front, back]", |one| face(&one));
            faces.map(|faces| Some([faces[0], faces[1]]))
        }
        Some(node) => face(&node).map(|face| Some([face; 2])),
    };
    let blend = each(fields.get("blend"), targets, |node| blend(node).map(Some), None);
    let masks = each(fields.get("write_mask"), targets, mask, ALL_CHANNELS);
    Some(RasterState {
        topology: topology?,
        patch_vertices: fields.get("patch_vertices").map_or(Some(usual.patch_vertices), |node| node.u32())?,
        filled: !fields.flag("wireframe"),
        cull: cull?,
        clockwise: front?,
        depth_compare: test?,
        depth_write: fields.get("depth_write").map_or(Some(true), |node| node.boolean())?,
        depth_bias: bias?,
        stencil: stencil?,
        blend: blend?,
        write_mask: masks?,
        alpha_to_coverage: fields.flag("alpha_to_coverage"),
    })
}

/// One value for all targets, or a list of one for each; `null` is `otherwise`.
fn each<T: Copy>(
    node: Option<Node<'_, '_>>,
    targets: usize,
    read: impl Fn(&Node<'_, '_>) -> Option<T>,
    otherwise: T,
) -> Option<Vec<T>> {
    let Some(node) = node else { return Some(Vec::new()) };
    if !node.is_list() {
        return Some(vec![read(&node)?; targets]);
    }
    let wanted = format!("one value, or a list of one for each of {targets} colour targets");
    node.short_list(&[targets], &wanted, |one| if one.is_null() { Some(otherwise) } else { read(&one) })
}

fn mask(node: &Node<'_, '_>) -> Option<u8> {
    let text = node.text()?;
    let bits = text.chars().try_fold(0, |mask, channel| Some(mask | 1 << "rgba".find(channel)?));
    if bits.is_none() {
        let problem = format!("is \"{}\", but must be some of \"rgba\"", shown(&text));
        node.mistake(Code::BadFile, problem, "");
    }
    bits
}

type Equation = (BlendFactor, BlendFactor, BlendOp);

fn blend(node: &Node<'_, '_>) -> Option<Blend> {
    if node.is_text() {
        return word(node, "a kind of blending", BLENDS);
    }
    let fields = node.fields(&work::BLEND)?;
    let color = equation(&fields.get("color")?)?;
    let alpha = fields.get("alpha").map_or(Some(color), |node| equation(&node))?;
    Some(Blend { color, alpha })
}

fn equation(node: &Node<'_, '_>) -> Option<Equation> {
    const WANTED: &str = "[factor of the source, factor of the destination, operation]";
    if !node.is_list() || node.count() != 3 {
        node.wrong(WANTED);
        return None;
    }
    let (mut source, mut destination, mut op) = (None, None, None);
    node.elements("", |at, one| match at {
        0 => source = word(&one, "a blend factor", FACTORS),
        1 => destination = word(&one, "a blend factor", FACTORS),
        _ => op = word(&one, "a blend operation", BLEND_OPS),
    })?;
    Some((source?, destination?, op?))
}

const USUAL_FACE: StencilFace = StencilFace {
    compare: Compare::Always,
    fail: StencilOp::Keep,
    depth_fail: StencilOp::Keep,
    pass: StencilOp::Keep,
    reference: 0,
    read_mask: 255,
    write_mask: 255,
};

fn face(node: &Node<'_, '_>) -> Option<StencilFace> {
    let fields = node.fields(&work::STENCIL)?;
    let op =
        |key| fields.get(key).map_or(Some(StencilOp::Keep), |node| word(&node, "a stencil operation", STENCIL_OPS));
    let number = |key, usual| fields.get(key).map_or(Some(usual), |node| node.u32());
    let compare = fields.get("compare").map_or(Some(USUAL_FACE.compare), |node| word(&node, "a comparison", COMPARES));
    Some(StencilFace {
        compare: compare?,
        fail: op("fail")?,
        depth_fail: op("depth_fail")?,
        pass: op("pass")?,
        reference: number("reference", USUAL_FACE.reference)?,
        read_mask: number("read_mask", USUAL_FACE.read_mask)?,
        write_mask: number("write_mask", USUAL_FACE.write_mask)?,
    })
}

/// Writes the state of a draw, without what it has anyway.
pub(super) fn write(row: &mut Row<'_>, state: &RasterState) {
    let usual = RasterState::default();
    row.some("topology", (state.topology != usual.topology).then(|| name_of(state.topology, TOPOLOGIES)));
    row.some("patch_vertices", (state.patch_vertices != usual.patch_vertices).then_some(state.patch_vertices));
    row.some("cull", (state.cull != usual.cull).then(|| name_of(state.cull, CULLS)));
    row.some("front", state.clockwise.then(|| name_of(true, WINDINGS)));
    row.flag("wireframe", !state.filled);
    row.some("depth_test", state.depth_compare.map(|compare| name_of(compare, COMPARES)));
    row.some("depth_write", (!state.depth_write).then_some(false));
    row.some("depth_bias", state.depth_bias.map(|bias| bias.map(f32::from_bits)));
    match &state.stencil {
        None => {}
        Some([front, back]) if front == back => write_face(row.key("stencil"), front),
        Some(faces) => {
            let sheet = row.key("stencil");
            list(sheet, faces, write_face);
        }
    }
    if !state.blend.is_empty() {
        list(row.key("blend"), &state.blend, |sheet, blend| match blend {
            None => sheet.value(&()),
            Some(blend) => write_blend(sheet, blend),
        });
    }
    if !state.write_mask.is_empty() {
        list(row.key("write_mask"), &state.write_mask, |sheet, mask| {
            let channels: String =
                "rgba".chars().enumerate().filter(|(bit, _)| mask & 1 << bit != 0).map(|(_, c)| c).collect();
            sheet.value(&channels);
        });
    }
    row.flag("alpha_to_coverage", state.alpha_to_coverage);
}

fn list<T>(sheet: &mut Sheet, items: &[T], each: impl Fn(&mut Sheet, &T)) {
    sheet.text("[");
    for (at, item) in items.iter().enumerate() {
        sheet.text(if at == 0 { "" } else { ", " });
        each(sheet, item);
    }
    sheet.text("]");
}

fn write_blend(sheet: &mut Sheet, blend: &Blend) {
    let name = name_of(*blend, BLENDS);
    if !name.is_empty() {
        return sheet.value(name);
    }
    let words = |(source, destination, op): Equation| {
        [name_of(source, FACTORS), name_of(destination, FACTORS), name_of(op, BLEND_OPS)]
    };
    let mut row = sheet.row();
    row.put("color", words(blend.color));
    row.some("alpha", (blend.alpha != blend.color).then(|| words(blend.alpha))).end();
}

fn write_face(sheet: &mut Sheet, face: &StencilFace) {
    let StencilFace { compare, fail, depth_fail, pass, reference, read_mask, write_mask } = *face;
    let op = |op: StencilOp| (op != StencilOp::Keep).then(|| name_of(op, STENCIL_OPS));
    let mut row = sheet.row();
    row.put("compare", name_of(compare, COMPARES));
    row.some("fail", op(fail)).some("depth_fail", op(depth_fail)).some("pass", op(pass));
    row.some("reference", (reference != USUAL_FACE.reference).then_some(reference));
    row.some("read_mask", (read_mask != USUAL_FACE.read_mask).then_some(read_mask));
    row.some("write_mask", (write_mask != USUAL_FACE.write_mask).then_some(write_mask)).end();
}
