//! Copies, blits, clears and fills, of what the two sides are.

use rgraph_ir::access::{Load, Transfer as Which, Usage};
use rgraph_ir::error::{Code, GraphError};
use rgraph_ir::format::{Format, Numbers};
use rgraph_ir::graph::{Clear, Graph, Ranges};
use rgraph_ir::resource::ResourceId;

use super::{AccessRange, Needs, Who, format_of};
use crate::work::{ClearValue, Level, Step, Transfer, View};

/// One side of a transfer. Images and buffers are copied differently, so it is known which it is.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    pub at: ResourceId,
    pub part: AccessRange,
    /// `None`: a buffer; else whether its format is known, and which.
    pub image: Option<Option<Format>>,
    /// First texel within the mip, and how many in x, y, z (`None`: up to the end).
    pub texels: ([u32; 3], Option<[u32; 3]>),
}

/// A transfer that cannot be.
fn refuse(who: Who<'_>, says: impl Into<String>, help: &str) -> GraphError {
    let says = says.into();
    GraphError::one(who.mistake(Code::BadTransfer, format!("pass \"{}\" {says}", who.pass), says, help))
}

impl Side {
    /// Part of a resource of a graph; `at` is what the steps call it.
    pub fn of(graph: &Graph, id: ResourceId, at: ResourceId, part: AccessRange) -> Self {
        let image = graph.resources()[id].as_image().map(|_| format_of(graph, id));
        Self { at, part, image, texels: ([0; 3], None) }
    }

    fn level(&self, who: Who<'_>) -> Result<Level, GraphError> {
        let mip = match self.part.ranges.mips {
            None => 0,
            Some([first, end]) if end.checked_sub(first) == Some(1) => first,
            Some([first, end]) => {
                let says = format!("transfers mips {first} to {end} at once");
                return Err(refuse(who, says, "copy one level after the other, as image.mip(1)"));
            }
        };
        let (layers, aspects) = (self.part.ranges.layers, self.part.aspects);
        let (offset, size) = self.texels;
        Ok(Level { layers, aspects, offset, size, ..Level::of(self.at, mip) })
    }

    fn bytes(&self) -> (u64, Option<u64>) {
        self.part.ranges.bytes.map_or((0, None), |[first, end]| (first, Some(end.saturating_sub(first))))
    }

    /// The part of one mip.
    fn used(&self, level: Option<&Level>) -> AccessRange {
        let mips = level.map(|level| [level.mip, level.mip + 1]);
        AccessRange { ranges: Ranges { mips: mips.or(self.part.ranges.mips), ..self.part.ranges }, ..self.part }
    }
}

fn uses(needs: &mut Needs, from: &Side, to: &Side, levels: [Option<&Level>; 2], which: Which) {
    needs.uses(from.at, Usage::TransferSrc, from.used(levels[0]), |how| how.transfer = Some(which));
    needs.uses(to.at, Usage::TransferDst, to.used(levels[1]), |how| how.transfer = Some(which));
}

/// A copy, whatever the two sides are.
///
/// # Errors
/// If they have different lengths, or several mips.
pub fn copy(who: Who<'_>, from: &Side, to: &Side, needs: &mut Needs) -> Result<Step, GraphError> {
    let step = match (from.image, to.image) {
        (None, None) => {
            let ((from_offset, size), (to_offset, most)) = (from.bytes(), to.bytes());
            let size = match (size, most) {
                (Some(size), Some(most)) if size != most => {
                    let says = format!("copies {size} bytes to {most} bytes");
                    return Err(refuse(who, says, "give slices of equal length"));
                }
                (size, most) => size.or(most),
            };
            uses(needs, from, to, [None; 2], Which::Copy);
            Transfer::CopyBuffer { from: from.at, from_offset, to: to.at, to_offset, size }
        }
        (None, Some(_)) => {
            let level = to.level(who)?;
            uses(needs, from, to, [None, Some(&level)], Which::Copy);
            Transfer::BufferToImage { from: from.at, offset: from.bytes().0, to: level }
        }
        (Some(_), None) => {
            let level = from.level(who)?;
            uses(needs, from, to, [Some(&level), None], Which::Copy);
            Transfer::ImageToBuffer { from: level, to: to.at, offset: to.bytes().0 }
        }
        (Some(_), Some(_)) => {
            let (from_level, to_level) = (from.level(who)?, to.level(who)?);
            uses(needs, from, to, [Some(&from_level), Some(&to_level)], Which::Copy);
            Transfer::CopyImage { from: from_level, to: to_level }
        }
    };
    Ok(Step::Transfer(step))
}

/// A scaled and converted copy of an image.
///
/// # Errors
/// If a side is a buffer, or has several mips.
pub fn blit(who: Who<'_>, from: &Side, to: &Side, linear: bool, needs: &mut Needs) -> Result<Step, GraphError> {
    let (Some(_), Some(_)) = (from.image, to.image) else {
        return Err(refuse(who, "blits a buffer", "use copy(): blits work on images only"));
    };
    let (from_level, to_level) = (from.level(who)?, to.level(who)?);
    uses(needs, from, to, [Some(&from_level), Some(&to_level)], Which::Blit);
    Ok(Step::Transfer(Transfer::Blit { from: from_level, to: to_level, linear }))
}

/// The mean of an image's samples.
///
/// # Errors
/// If a side is a buffer, or has several mips.
pub fn resolve(who: Who<'_>, from: &Side, to: &Side, needs: &mut Needs) -> Result<Step, GraphError> {
    let (Some(_), Some(_)) = (from.image, to.image) else {
        return Err(refuse(who, "resolves a buffer", "resolves are of images with several samples"));
    };
    let (from_level, to_level) = (from.level(who)?, to.level(who)?);
    uses(needs, from, to, [Some(&from_level), Some(&to_level)], Which::Resolve);
    Ok(Step::Transfer(Transfer::Resolve { from: from_level, to: to_level }))
}

/// One value everywhere in an image.
///
/// # Errors
/// If it is a buffer, or the value is not one of its format.
pub fn clear(who: Who<'_>, image: &Side, clear_to: Clear, needs: &mut Needs) -> Result<Step, GraphError> {
    let Some(format) = image.image else {
        return Err(refuse(who, "clears a buffer", "clears are of images; fill() is for buffers"));
    };
    let numbers = format.map_or(Numbers::Float, Format::numbers);
    let value = match clear_to {
        Clear::Depth(depth, stencil) => ClearValue::Depth(depth as f32, stencil.unwrap_or(0)),
        Clear::Color(color) => match numbers {
            Numbers::Uint => ClearValue::Uint(color.map(|channel| channel as u32)),
            Numbers::Sint => ClearValue::Int(color.map(|channel| channel as i32)),
            _ => ClearValue::Float(color.map(|channel| channel as f32)),
        },
    };
    let (depth, wants) = (matches!(clear_to, Clear::Depth(..)), numbers == Numbers::Depth);
    if depth != wants {
        let help = if wants { "give depth, or (depth, stencil)" } else { "give (red, green, blue, alpha)" };
        return Err(refuse(who, "clears to a value that is not one of the image's format", help));
    }
    needs.uses(image.at, Usage::TransferDst, image.part, |how| {
        how.transfer = Some(Which::Clear);
        how.details.clear = Some(clear_to);
        how.load = Some(Load::Clear);
    });
    let AccessRange { ranges, aspects } = image.part;
    let image = View { mips: ranges.mips, layers: ranges.layers, aspects, ..View::whole(image.at) };
    Ok(Step::Transfer(Transfer::Clear { image, value }))
}

/// One word again and again in a buffer.
///
/// # Errors
/// If it is an image.
pub fn fill(who: Who<'_>, buffer: &Side, word: u32, needs: &mut Needs) -> Result<Step, GraphError> {
    if buffer.image.is_some() {
        return Err(refuse(who, "fills an image", "fills are of buffers; clear() is for images"));
    }
    let (offset, size) = buffer.bytes();
    needs.uses(buffer.at, Usage::TransferDst, buffer.part, |how| {
        how.transfer = Some(Which::Fill);
        how.load = Some(Load::Discard);
    });
    Ok(Step::Transfer(Transfer::Fill { buffer: buffer.at, offset, size, word }))
}
