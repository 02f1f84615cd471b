//! Images and buffers, and parts of them, as work names them: `"lit"` or `{"resource": "lit", "mip": 1}`.

use rgraph_files::graph::{Here, work};
use rgraph_files::json::{Fields, Node};
use rgraph_files::write::Row;
use rgraph_ir::error::Code;
use rgraph_ir::graph::Ranges;
use rgraph_ir::resource::ResourceId;

use crate::infer::AccessRange;

/// A box of texels: the first one, and how many (`None`: up to the end).
pub(super) type Texels = ([u32; 3], Option<[u32; 3]>);

/// A named resource, or part of one.
pub(super) struct Named<'a, 'p> {
    pub id: ResourceId,
    pub part: AccessRange,
    pub texels: Texels,
    /// The sampler that stands with it.
    pub sampler: Option<Node<'a, 'p>>,
    /// The format of its texels, of a buffer.
    pub format: Option<Node<'a, 'p>>,
}

/// Calls `then` with what a node names; notes what is wrong.
pub(super) fn named<T>(
    node: &Node<'_, '_>,
    here: &Here<'_>,
    then: impl FnOnce(Named<'_, '_>) -> Option<T>,
) -> Option<T> {
    if node.is_text() {
        let id = here.resource(node)?;
        return then(Named { id, part: AccessRange::default(), texels: ([0; 3], None), sampler: None, format: None });
    }
    let fields = node.fields(&work::PART)?;
    let id = fields.get("resource").and_then(|name| here.resource(&name));
    let part = part(&fields)?;
    let three = |key| match fields.get(key) {
        None => Some(None),
        Some(list) => list
            .short_list(&[3], "a list [x, y, z] of texels", |axis| axis.u32())
            .and_then(|list| list.try_into().ok())
            .map(Some),
    };
    let texels = (three("offset")?.unwrap_or_default(), three("size")?);
    then(Named { id: id?, part, texels, sampler: fields.get("sampler"), format: fields.get("format") })
}

/// The mips, layers, aspects and bytes that fields name.
pub(super) fn part<const N: usize>(fields: &Fields<'_, '_, N>) -> Option<AccessRange> {
    let pair = |key: &'static str, several: &'static str| -> Option<Option<[u32; 2]>> {
        match (fields.get(key), fields.get(several)) {
            (Some(one), Some(_)) => {
                one.mistake(Code::BadFile, format_args!("and \"{several}\" are both given"), "keep one of them");
                None
            }
            (Some(one), None) => {
                let first = one.integer(fields.most(key))? as u32;
                Some(Some([first, first + 1]))
            }
            (None, Some(several)) => {
                let [first, end] = several.range32()?;
                whole(&several, first < end).map(|()| Some([first, end]))
            }
            (None, None) => Some(None),
        }
    };
    let (mips, layers) = (pair("mip", "mips"), pair("layer", "layers"));
    let bytes = match fields.find("range") {
        None => Some(None),
        Some(range) => {
            range.range(u64::MAX).and_then(|[first, end]| whole(&range, first < end).map(|()| Some([first, end])))
        }
    };
    let aspects = fields.get("aspects").map_or(Some(Default::default()), |aspects| aspects.joined());
    Some(AccessRange { ranges: Ranges { mips: mips?, layers: layers?, bytes: bytes? }, aspects: aspects? })
}

fn whole(node: &Node<'_, '_>, good: bool) -> Option<()> {
    if !good {
        let help = "give the first one and the one behind the last";
        node.mistake(Code::BadRange, "is an empty range: the end does not count", help);
    }
    good.then_some(())
}

/// Writes the keys of a part behind its resource's.
pub(super) fn write(row: &mut Row<'_>, part: &AccessRange) {
    let Ranges { mips, layers, bytes } = part.ranges;
    for (one, several, range) in [("mip", "mips", mips), ("layer", "layers", layers)] {
        match range {
            Some([first, end]) if end.checked_sub(first) == Some(1) => row.put(one, first),
            range => row.some(several, range),
        };
    }
    row.some("aspects", (!part.aspects.is_empty()).then(|| part.aspects.names().collect::<Vec<_>>()));
    row.some("range", bytes);
}
