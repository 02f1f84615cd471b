//! Samplers: named ones in a table, and those written where they are used.

use std::collections::HashMap;

use rgraph_files::graph::work;
use rgraph_files::json::{Node, shown};
use rgraph_files::write::Sheet;
use rgraph_ir::error::Code;

use crate::words::{ADDRESSES, BORDERS, COMPARES, FILTERS, Words, name_of};
use crate::work::{Address, Sampler};

/// Samplers by name.
pub(super) type Samplers = HashMap<String, Sampler>;

/// What a word stands for; notes it if there is no such word.
pub fn word<T: Copy>(node: &Node<'_, '_>, what: &str, words: Words<T>) -> Option<T> {
    let text = node.text()?;
    let found = words.iter().find(|(known, _)| *known == text).map(|(_, value)| *value);
    if found.is_none() {
        let near = node.source().suggest(&text, words.iter().map(|(name, _)| *name));
        let known: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
        let near = near.map_or_else(String::new, |near| format!("did you mean \"{near}\"? "));
        let help = format!("{near}known: {}", known.join(", "));
        node.mistake(Code::BadFile, format_args!("is \"{}\", which is not {what}", shown(&text)), help);
    }
    found
}

/// A sampler, or the name of one.
pub(super) fn named(node: &Node<'_, '_>, samplers: &Samplers) -> Option<Sampler> {
    if !node.is_text() {
        return read(node);
    }
    let name = node.text()?;
    let found = samplers.get(&*name).copied();
    if found.is_none() {
        let mut known: Vec<&str> = samplers.keys().map(String::as_str).collect();
        known.sort_unstable();
        let help = match node.source().suggest(&name, known.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => "declare it: \"samplers\": {NAME: {\"filter\": …}}".to_owned(),
        };
        let problem = format!("names sampler \"{}\", which nothing declares", shown(&name));
        node.mistake(Code::UnknownName, problem, help);
    }
    found
}

/// A sampler.
pub(super) fn read(node: &Node<'_, '_>) -> Option<Sampler> {
    let fields = node.fields(&work::SAMPLER)?;
    let filter = fields.get("filter").map_or(Some(true), |filter| word(&filter, "a filter", FILTERS))?;
    let or = |key| fields.get(key).map_or(Some(filter), |node| word(&node, "a filter", FILTERS));
    let axis = |node: &Node<'_, '_>| word(node, "an address mode", ADDRESSES);
    let address = match fields.get("address") {
        None => Some([Address::Clamp; 3]),
        Some(all) if all.is_text() => axis(&all).map(|all| [all; 3]),
        Some(each) => {
            let list = each.short_list(&[2, 3], "one word, or one for each of two or three axes", |one| axis(&one));
            list.map(|list| [list[0], list[1], list.get(2).copied().unwrap_or(Address::Clamp)])
        }
    };
    let anisotropy = fields.get("anisotropy").map_or(Some(1.0), |node| node.number32());
    let lod = fields.get("lod").map_or(Some([0.0, 1000.0]), |node| {
        node.short_list(&[2], "the least and the most level of detail", |one| one.number32())?.try_into().ok()
    });
    let compare = match fields.get("compare") {
        None => Some(None),
        Some(node) => word(&node, "a comparison", COMPARES).map(Some),
    };
    let border = fields.get("border").map_or(Some(BORDERS[0].1), |node| word(&node, "a border", BORDERS));
    let (mag, min, mip) = (or("mag"), or("min"), or("mip"));
    let (anisotropy, lod) = (anisotropy?, lod?);
    if anisotropy < 1.0 || lod[0] > lod[1] {
        let problem = format!("is a sampler with anisotropy {anisotropy} and lod from {} to {}", lod[0], lod[1]);
        node.mistake(Code::BadNumber, problem, "anisotropy is at least 1, and the least lod below the most");
        return None;
    }
    Some(Sampler {
        mag_linear: mag?,
        min_linear: min?,
        mip_linear: mip?,
        address: address?,
        anisotropy,
        compare: compare?,
        lod,
        border: border?,
    })
}

/// Writes a sampler, without what it has anyway.
pub(super) fn write(sheet: &mut Sheet, sampler: &Sampler) {
    let Sampler { mag_linear, min_linear, mip_linear, address, anisotropy, compare, lod, border } = *sampler;
    let usual = Sampler::default();
    let mut row = sheet.row();
    row.put("filter", name_of(mag_linear, FILTERS));
    row.some("min", (min_linear != mag_linear).then(|| name_of(min_linear, FILTERS)));
    row.some("mip", (mip_linear != mag_linear).then(|| name_of(mip_linear, FILTERS)));
    let [u, v, w] = address.map(|axis| name_of(axis, ADDRESSES));
    match u == v && v == w {
        true if address == usual.address => &mut row,
        true => row.put("address", u),
        false => row.put("address", [u, v, w]),
    };
    row.some("anisotropy", (anisotropy != usual.anisotropy).then_some(anisotropy));
    row.some("compare", compare.map(|compare| name_of(compare, COMPARES)));
    row.some("lod", (lod != usual.lod).then_some(lod));
    row.some("border", (border != usual.border).then(|| name_of(border, BORDERS))).end();
}
