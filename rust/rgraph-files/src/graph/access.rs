//! Reading what a pass does to a resource.

use super::keys::ACCESS;
use super::options::{Settings, holds};
use super::scope::Here;
use crate::json::Node;
use crate::word::DeclaredStages;
use rgraph_ir::access::Usage;
use rgraph_ir::graph::{Clear, Details, Ranges, Use};
use rgraph_ir::resource::ResourceId;

pub(super) fn access(node: Node<'_, '_>, here: &Here<'_>, options: &Settings) -> Option<(ResourceId, Use)> {
    let fields = node.fields(&ACCESS)?;
    if !holds(fields.get("if"), options) {
        return None;
    }
    let resource = fields.get("resource").and_then(|name| here.resource(&name));
    let usage = fields.get("usage").and_then(|usage| usage.word());
    let mut how = Use::new(usage.unwrap_or(Usage::Sampled));
    if let Some(stages) = fields.get("stages").and_then(|stages| stages.joined::<DeclaredStages>()) {
        how.stages = stages.0;
    }
    how.ranges = Ranges {
        mips: fields.get("mips").and_then(|range| range.range32()),
        layers: fields.get("layers").and_then(|range| range.range32()),
        bytes: fields.get("range").and_then(|range| range.range(u64::MAX)),
    };
    if let Some(aspects) = fields.get("aspects").and_then(|aspects| aspects.joined()) {
        how.aspects = aspects;
    }
    how.load = fields.get("load").and_then(|load| load.word());
    how.stencil_load = fields.get("stencil_load").and_then(|load| load.word());
    how.details = Details {
        clear: fields.get("clear").and_then(|value| clear(&value)),
        resolves: fields.get("resolves").and_then(|name| here.resource(&name)),
        resolve_mode: fields.get("resolve_mode").and_then(|mode| mode.word()),
    };
    how.transfer = fields.get("transfer").and_then(|transfer| transfer.word());
    how.generate_mips = fields.flag("generate_mips");
    how.unordered = fields.flag("unordered");
    usage?;
    Some((resource?, how))
}

/// One number of a clear value; graphs of other engines have texts that hold one.
fn component(node: &Node<'_, '_>) -> Option<f64> {
    if !node.is_text() {
        return node.number();
    }
    let number = node.text()?.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    if number.is_none() {
        node.wrong("a number");
    }
    number
}

/// `[r, g, b, a]`, `[depth, stencil]` or a depth.
pub fn clear(node: &Node<'_, '_>) -> Option<Clear> {
    const WANTED: &str = "four numbers of a colour, [depth, stencil], or one depth";
    if !node.is_list() {
        if !node.is_number() {
            node.wrong(WANTED);
            return None;
        }
        return node.number().map(|depth| Clear::Depth(depth, None));
    }
    if node.count() == 2 {
        let (mut depth, mut stencil) = (None, None);
        node.elements("", |index, one| match index {
            0 => depth = component(&one),
            _ => stencil = one.u32(),
        })?;
        return Some(Clear::Depth(depth?, Some(stencil?)));
    }
    node.short_list(&[4], WANTED, |one| component(&one))?.try_into().ok().map(Clear::Color)
}
