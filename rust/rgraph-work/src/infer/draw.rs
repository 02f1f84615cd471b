//! Colour targets and vertex buffers of draws, checked against the outputs and inputs of their shaders.

use std::sync::Arc;

use rgraph_ir::error::{Code, GraphError, Mistake};
use rgraph_ir::nearest::nearest;
use rgraph_ir::resource::ResourceId;
use rgraph_shader::{Program, Stage, VertexInput};

use super::check::{Asks, Check};
use super::{AccessRange, Needs, Who};
use crate::error::WorkError;
use crate::vertex::VertexFormat;
use crate::work::VertexBuffer;

/// Compares colour targets by location (`None`: no target there) with what a program writes, and notes in `needs` what
/// it asks of their formats.
///
/// # Errors
/// `GraphError` if an output has no target, or a target no output.
pub fn targets(
    who: Who<'_>,
    program: &Arc<Program>,
    targets: &[Option<(ResourceId, AccessRange)>],
    needs: &mut Needs,
) -> Result<(), WorkError> {
    let outputs = &program.interface.outputs;
    let mut mistakes = Vec::new();
    for (at, output) in outputs.iter().enumerate() {
        let (name, location) = (&output.name, output.location);
        match targets.get(location as usize) {
            Some(Some((id, part))) => {
                let asks = Asks::Target(at);
                needs.checks.push(Check { at: *id, part: *part, program: Arc::clone(program), asks });
            }
            // None says that what is written there is not wanted.
            Some(None) => {}
            None => {
                let count = targets.len();
                let message = format!(
                    "pass \"{}\" has {count} colour targets, but shader \"{}\" writes \"{name}\" at location {location}",
                    who.pass,
                    who.shader(program)
                );
                let help = format!("give a target for location {location} in color=, or None there to drop it");
                mistakes.push(who.mistake(Code::BadTarget, message, format!("{count} colour targets"), help));
            }
        }
    }
    for (location, _) in targets.iter().enumerate().filter(|(_, target)| target.is_some()) {
        if !outputs.iter().any(|output| output.location as usize == location) {
            let message = format!(
                "pass \"{}\" has a colour target at location {location}, where shader \"{}\" writes nothing",
                who.pass,
                who.shader(program)
            );
            let help = "write it in the fragment stage, or put None in its place in color=";
            mistakes.push(who.mistake(Code::BadTarget, message, format!("color[{location}]"), help));
        }
    }
    Ok(GraphError::check(mistakes)?)
}

/// Bytes of the parameters of one indirect draw of a program: three counts of workgroups of a mesh stage
/// (`VkDrawMeshTasksIndirectCommandEXT`), else a `VkDrawIndirectCommand` or a `VkDrawIndexedIndirectCommand`.
pub fn indirect_bytes(program: &Program, indexed: bool) -> u32 {
    match (has_mesh(program), indexed) {
        (true, _) => 12,
        (false, false) => 16,
        (false, true) => 20,
    }
}

/// Whether a program has a mesh stage, so that workgroups are drawn.
pub fn has_mesh(program: &Program) -> bool {
    program.modules.iter().any(|module| module.stage == Stage::Mesh)
}

/// An input's name, and its format and offset in bytes where they are explicit.
pub type Attribute = (String, Option<(VertexFormat, u32)>);

/// A vertex buffer as declared.
#[derive(Clone, Debug)]
pub struct Vertices {
    pub buffer: ResourceId,
    /// First byte.
    pub offset: u64,
    /// Names of inputs, and how each is stored (`None`: as the shader reads it, behind the one before); `None`: the
    /// inputs that no other buffer names, all of them or, of several such buffers, one each.
    pub attributes: Option<Vec<Attribute>>,
    /// Bytes from element to element; `None`: packed.
    pub stride: Option<u32>,
    /// Whether it advances per instance instead of per vertex.
    pub per_instance: bool,
}

/// Where the next attribute of that alignment is; the most bytes, behind the last ones.
fn aligned(end: u32, alignment: u32) -> u32 {
    end.checked_next_multiple_of(alignment).unwrap_or(u32::MAX)
}

/// Matches vertex buffers with the inputs of a program.
///
/// # Errors
/// `GraphError` if an input is missing, unknown or in two buffers, or if its format or its buffer cannot be inferred.
pub fn vertex_buffers(who: Who<'_>, program: &Program, given: &[Vertices]) -> Result<Vec<VertexBuffer>, WorkError> {
    let inputs = &program.interface.vertex_inputs;
    let mut missing: Vec<&VertexInput> = inputs.iter().collect();
    let mut unnamed = unnamed(who, program, given)?.into_iter();
    let mut buffers = Vec::new();
    for one in given {
        let (mut attributes, mut end) = (Vec::new(), 0u32);
        for (name, explicit) in one.attributes.clone().or_else(|| unnamed.next()).unwrap_or_default() {
            let Some(input) = inputs.iter().find(|input| input.name == name) else {
                return Err(GraphError::one(unknown(who, program, &name)).into());
            };
            let before = missing.len();
            missing.retain(|other| other.location != input.location);
            if missing.len() == before {
                let message = format!("pass \"{}\" has vertex input \"{name}\" in two places of its buffers", who.pass);
                let mistake = who.mistake(Code::BadVertices, message, format!("\"{name}\" again"), "name it once");
                return Err(GraphError::one(mistake).into());
            }
            let (format, at) = match explicit {
                Some(explicit) => explicit,
                None => {
                    let format = own_format(who, program, input)?;
                    (format, aligned(end, format.alignment()))
                }
            };
            attributes.push((input.location, format, at));
            end = end.max(at.saturating_add(format.bytes()));
        }
        let Vertices { buffer, offset, stride, per_instance, .. } = *one;
        let widest = attributes.iter().map(|(_, format, _)| format.alignment()).max().unwrap_or(1);
        let stride = stride.unwrap_or(aligned(end, widest));
        if let Some((name, format, at)) = misaligned(&attributes, stride, inputs) {
            let message = format!(
                "pass \"{}\" stores \"{name}\" ({format}) at byte {at} of {stride} per element, and {format} needs \
                 multiples of {}",
                who.pass,
                format.alignment()
            );
            let help =
                "move the attribute, or pad the elements: offset and stride are multiples of a component's bytes";
            let mistake = who.mistake(Code::BadVertices, message, format!("\"{name}\" at byte {at}"), help);
            return Err(GraphError::one(mistake).into());
        }
        buffers.push(VertexBuffer { buffer, offset, stride, per_instance, attributes });
    }
    if let Some(input) = missing.first() {
        let message = format!(
            "pass \"{}\" has no vertex buffer with \"{}\", which shader \"{}\" reads at location {}",
            who.pass,
            input.name,
            who.shader(program),
            input.location
        );
        let help = "name it among the attributes of a buffer in vertex_buffers=";
        let mistake = who.mistake(Code::BadVertices, message, format!("no \"{}\"", input.name), help);
        return Err(GraphError::one(mistake).into());
    }
    Ok(buffers)
}

/// The inputs of each buffer that names none. One such buffer has all inputs that the others leave; several have one
/// each, by location.
fn unnamed(who: Who<'_>, program: &Program, given: &[Vertices]) -> Result<Vec<Vec<Attribute>>, WorkError> {
    let named: Vec<&str> =
        given.iter().flat_map(|one| one.attributes.iter().flatten()).map(|(name, _)| name.as_str()).collect();
    let inputs = program.interface.vertex_inputs.iter();
    let left: Vec<Attribute> =
        inputs.filter(|input| !named.contains(&&*input.name)).map(|input| (input.name.clone(), None)).collect();
    let open = given.iter().filter(|one| one.attributes.is_none()).count();
    match open {
        0 => Ok(Vec::new()),
        1 => Ok(vec![left]),
        _ if open == left.len() => Ok(left.into_iter().map(|one| vec![one]).collect()),
        _ => {
            let names: Vec<String> = left.iter().map(|(name, _)| format!("\"{name}\"")).collect();
            let names = if names.is_empty() { "no inputs".to_owned() } else { names.join(", ") };
            let message = format!(
                "pass \"{}\" has {open} vertex buffers that name no inputs, for {names} of shader \"{}\"",
                who.pass,
                who.shader(program)
            );
            let help = "name the inputs of each: {\"buffer\": …, \"attributes\": [\"position\", \"normal\"]}";
            let mistake = who.mistake(Code::BadVertices, message, format!("{open} buffers"), help);
            Err(GraphError::one(mistake).into())
        }
    }
}

/// The first attribute whose address is not always a multiple of its component's size (Vulkan,
/// VUID-vkCmdDraw-None-02721): its name, format and offset.
fn misaligned<'a>(
    attributes: &[(u32, VertexFormat, u32)],
    stride: u32,
    inputs: &'a [VertexInput],
) -> Option<(&'a str, VertexFormat, u32)> {
    let off = |(_, format, at): &&(u32, VertexFormat, u32)| {
        !at.is_multiple_of(format.alignment()) || !stride.is_multiple_of(format.alignment())
    };
    let (location, format, at) = attributes.iter().find(off)?;
    let input = inputs.iter().find(|input| input.location == *location)?;
    Some((&input.name, *format, *at))
}

fn unknown(who: Who<'_>, program: &Program, name: &str) -> Mistake {
    let known: Vec<_> = program.interface.vertex_inputs.iter().map(|input| input.name.as_str()).collect();
    let message = format!(
        "pass \"{}\" has vertices with \"{name}\", which shader \"{}\" does not read",
        who.pass,
        who.shader(program)
    );
    let help = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("it reads {}", known.join(", ")),
    };
    who.mistake(Code::BadVertices, message, format!("has \"{name}\""), help)
}

fn own_format(who: Who<'_>, program: &Program, input: &VertexInput) -> Result<VertexFormat, WorkError> {
    VertexFormat::of(input).ok_or_else(|| {
        let message = format!(
            "pass \"{}\" does not declare how vertex input \"{}\" of shader \"{}\" is stored",
            who.pass,
            input.name,
            who.shader(program)
        );
        let help = "give attributes=[(name, format, offset)], such as (\"position\", \"float32x3\", 0)";
        GraphError::one(who.mistake(Code::BadVertices, message, format!("reads \"{}\"", input.name), help)).into()
    })
}
