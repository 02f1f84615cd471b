//! How many workgroups, or rays, cover what a dispatch or a trace writes.

use rgraph_ir::error::{Code, GraphError};
use rgraph_shader::{Kind, Program};

use super::{Who, Written};
use crate::error::WorkError;
use crate::work::Groups;

/// As many as cover the one image (or else the one buffer) that is written.
///
/// # Errors
/// `GraphError` if nothing or several are.
pub fn covered(who: Who<'_>, program: &Program, written: &[Written]) -> Result<Groups, WorkError> {
    let mut images: Vec<_> = written.iter().filter(|(_, image, _)| *image).collect();
    let mut buffers: Vec<_> = written.iter().filter(|(_, image, _)| !image).collect();
    images.dedup_by_key(|(id, _, mip)| (*id, *mip));
    buffers.dedup_by_key(|(id, ..)| *id);
    match (images.as_slice(), buffers.as_slice()) {
        ([(id, _, mip)], _) => Ok(Groups::Cover(*id, *mip)),
        ([], [(id, ..)]) => Ok(Groups::Cover(*id, 0)),
        (images, buffers) => {
            let outputs = match images.len().max(buffers.len()) {
                0 => "nothing".to_owned(),
                several => format!("{several} {}", if images.is_empty() { "buffers" } else { "images" }),
            };
            let word = if program.kind == Kind::RayTracing { "size" } else { "groups" };
            let message = format!(
                "pass \"{}\" has no {word}=, and shader \"{}\" writes {outputs}, so their number cannot be inferred",
                who.pass,
                who.shader(program)
            );
            let [x, y, z] = program.interface.workgroup;
            let help = match program.kind {
                Kind::RayTracing => "add size=(x, y, z) rays".to_owned(),
                _ => format!("add groups=(x, y, z); a workgroup of the shader is {x} × {y} × {z} invocations"),
            };
            Err(GraphError::one(who.mistake(Code::BadGroups, message, format!("writes {outputs}"), help)).into())
        }
    }
}
