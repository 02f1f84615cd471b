//! How mistakes name things: resources with their shape, ranges, lists, and the nearest known name.

use std::fmt::{Display, Write};

use crate::access::{Aspects, Stages};
use crate::access::{DECLARED_STAGE_NAMES, Usage};
use crate::plan::PlanKind;
use crate::profile::Capabilities;
use crate::stages::resolve::subresource::SubresourceRange;
use crate::stages::size::{Measure, Shape};

/// `rgba8unorm, 1920×1080, 4 layers`, or `buffer of 256 bytes`.
pub(super) fn describe(shape: &Shape) -> String {
    let PlanKind::Image { format, size, mips, layers, samples, volume, cube } = shape.kind else {
        let PlanKind::Buffer { size } = shape.kind else { unreachable!("a resource is an image or a buffer") };
        return format!("buffer of {}", counted(size, "byte"));
    };
    let mut text = format!("{format}, {}", texels(size, volume));
    if cube {
        text.push_str(", cube");
    }
    for (count, noun) in [(layers, "layer"), (mips, "mip"), (samples, "sample")] {
        if count > 1 {
            let _ = write!(text, ", {count} {noun}s");
        }
    }
    text
}

/// `1920×1080`, or `32×32×32` of a volume.
pub(super) fn texels([width, height, depth]: [u32; 3], volume: bool) -> String {
    if volume { format!("{width}×{height}×{depth}") } else { format!("{width}×{height}") }
}

/// `1 byte`, `2 bytes`.
pub(super) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// `a, b and c`.
pub(super) fn listed<T: Display>(items: impl IntoIterator<Item = T>, last: &str) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    match items.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((end, rest)) => format!("{} {last} {end}", rest.join(", ")),
    }
}

/// Stages as a graph file names them.
pub(super) fn stage_list(stages: Stages, last: &str) -> String {
    let bits = DECLARED_STAGE_NAMES.iter().enumerate();
    listed(bits.filter(|(bit, _)| stages.bits() & (1 << bit) != 0).map(|(_, name)| *name), last)
}

/// `graphics, compute and transfer`.
pub(super) fn capability_list(capabilities: Capabilities) -> String {
    let all = [
        (Capabilities::GRAPHICS, "graphics"),
        (Capabilities::COMPUTE, "compute"),
        (Capabilities::TRANSFER, "transfer"),
    ];
    listed(all.into_iter().filter(|(bit, _)| capabilities.contains(*bit)).map(|(_, name)| name), "and")
}

/// `depth and stencil`.
pub(super) fn aspect_list(aspects: Aspects) -> String {
    listed(aspects.names(), "and")
}

/// What is measured, as a noun.
pub(super) fn measured(measure: Measure) -> &'static str {
    match measure {
        Measure::Width => "width",
        Measure::Height => "height",
        Measure::Depth => "depth",
        Measure::Layers => "layers",
        Measure::Mips => "mips",
        Measure::Samples => "samples",
        Measure::Bytes => "bytes",
    }
}

/// The part of a resource that differs from the whole, or nothing: ` (mips [1, 3), layers [0, 1))`.
pub(super) fn part_words(part: &SubresourceRange, whole: &SubresourceRange) -> String {
    let mut parts = Vec::new();
    if part.mips != whole.mips {
        parts.push(format!("mips [{}, {})", part.mips[0], part.mips[1]));
    }
    if part.layers != whole.layers {
        parts.push(format!("layers [{}, {})", part.layers[0], part.layers[1]));
    }
    if part.aspects != whole.aspects {
        parts.push(aspect_list(part.aspects));
    }
    if part.bytes != whole.bytes {
        parts.push(format!("bytes [{}, {})", part.bytes[0], part.bytes[1]));
    }
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

/// `as sampled`, `as color_attachment`.
pub(super) fn as_usage(usage: Usage) -> String {
    format!("as {usage}")
}
