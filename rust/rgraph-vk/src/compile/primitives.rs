//! What kinds of primitives the stages of a raster program hand to each other: drivers trust that they agree.
//!
//! Source: Vulkan 1.3 specification, "Graphics Pipelines" (`VUID-VkGraphicsPipelineCreateInfo-topology-08773`,
//! `-pStages-00738`, `-pStages-00739`) and "Required Limits"; SPIR-V specification, "Execution Mode".

use rgraph_shader::{Program, Stage};
use rgraph_work::{RasterState, Topology};

use crate::compile::spirv;
use crate::error::{Code, DeviceError, Error};

const POINT_MODE: u32 = 10;
const INPUT_POINTS: u32 = 19;
const INPUT_LINES: u32 = 20;
const INPUT_LINES_ADJACENCY: u32 = 21;
const TRIANGLES: u32 = 22;
const INPUT_TRIANGLES_ADJACENCY: u32 = 23;
const ISOLINES: u32 = 25;
const OUTPUT_VERTICES: u32 = 26;
const OUTPUT_PRIMITIVES: u32 = 5270;

/// Most vertices of a patch, and vertices and primitives of a mesh workgroup, that every device takes.
const MOST_PATCH: u32 = 32;
const MOST_MESH: u32 = 256;

/// Compares what stages read with what the ones before them, or the draw, give.
///
/// # Errors
/// `RG-E106` (the device lacks it): kinds of primitives that differ, or more of them than devices take.
pub(crate) fn check(program: &Program, state: &RasterState) -> Result<(), Error> {
    let modes = |stage: Stage| program.modules.iter().find(|module| module.stage == stage).map(|it| &it.spirv);
    let refuse = |message: String, help: &str| Err(DeviceError::new(Code::Missing, message, help).into());
    let (name, mut given) = (&program.name, of_topology(state.topology));
    if let Some(evaluation) = modes(Stage::TessellationEvaluation) {
        if !(1..=MOST_PATCH).contains(&state.patch_vertices) {
            let message = format!("shader \"{name}\" takes patches, and a patch has {} vertices", state.patch_vertices);
            return refuse(message, "give patch_vertices= from 1 to 32");
        }
        given = "triangles";
        // The control stage may say it as well.
        let control = modes(Stage::TessellationControl).into_iter().flat_map(|spirv| spirv::modes(spirv));
        for (mode, _) in control.chain(spirv::modes(evaluation)) {
            given = match mode {
                ISOLINES if given == "triangles" => "lines",
                POINT_MODE => "points",
                _ => given,
            };
        }
    }
    if let Some(geometry) = modes(Stage::Geometry) {
        let taken = spirv::modes(geometry).find_map(|(mode, _)| match mode {
            INPUT_POINTS => Some("points"),
            INPUT_LINES => Some("lines"),
            TRIANGLES => Some("triangles"),
            INPUT_LINES_ADJACENCY | INPUT_TRIANGLES_ADJACENCY => Some("primitives with adjacency"),
            _ => None,
        });
        let taken = taken.unwrap_or("nothing");
        if taken != given {
            let message = format!("the geometry stage of shader \"{name}\" takes {taken}, and is given {given}");
            return refuse(message, "set topology= as the geometry stage's layout(…) in has it");
        }
    }
    for (mode, most) in modes(Stage::Mesh).into_iter().flat_map(|spirv| spirv::modes(spirv)) {
        if matches!(mode, OUTPUT_VERTICES | OUTPUT_PRIMITIVES) && most > MOST_MESH {
            let what = if mode == OUTPUT_VERTICES { "vertices" } else { "primitives" };
            let message = format!("a workgroup of the mesh stage of shader \"{name}\" makes {most} {what}");
            return refuse(message, "make at most 256 of each in a workgroup");
        }
    }
    Ok(())
}

fn of_topology(topology: Topology) -> &'static str {
    match topology {
        Topology::Points => "points",
        Topology::Lines | Topology::LineStrip => "lines",
        Topology::Triangles | Topology::TriangleStrip => "triangles",
    }
}
