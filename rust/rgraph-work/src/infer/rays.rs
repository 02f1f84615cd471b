//! Builds of acceleration structures and traces of rays, as passes say them.

use rgraph_ir::access::{Load, Stages, Transfer, Usage};
use rgraph_ir::error::{Code, GraphError};
use rgraph_shader::{Given, GivenCode, Program, Stage};

use super::{AccessRange, Needs, Who};
use crate::work::{Build, Geometry, Instances, RayGroups, Step};

/// Bytes of an acceleration structure that its declaration gives for each primitive, and for the structure itself.
/// Drivers ask for 60 to 200 per triangle; if one asks for more, the error says how many.
const STRUCTURE_BYTES: [u64; 2] = [256, 16 << 10];

/// Bytes that a declaration gives to the structure, or to the scratch memory, of so many primitives.
pub fn structure_bytes(primitives: u32) -> u64 {
    let [each, all] = STRUCTURE_BYTES;
    u64::from(primitives) * each + all
}

/// The sources of a ray-tracing program, each shader once.
#[derive(Clone, Debug, Default)]
pub struct RaySources {
    /// In the order in which they were given, the one that generates the rays first.
    pub sources: Vec<Given>,
}

impl RaySources {
    /// The position of a shader of a stage.
    pub fn add(&mut self, mut source: Given, stage: Stage) -> u32 {
        // SPIR-V says its stages itself.
        source.stage = matches!(source.code, GivenCode::Text(..)).then_some(stage);
        let known = self.sources.iter().position(|known| *known == source);
        let at = known.unwrap_or_else(|| {
            self.sources.push(source);
            self.sources.len() - 1
        });
        at as u32
    }
}

/// Refuses groups with shaders of other stages than their places want.
///
/// # Errors
/// RG-E224.
pub fn check_groups(who: Who<'_>, program: &Program, groups: &RayGroups) -> Result<(), GraphError> {
    let Some((_, wanted, found)) = groups.misplaced(program) else { return Ok(()) };
    let is = found.map_or("nothing", Stage::name);
    let says = format!("has a {is} shader in the place of a {} shader", wanted.name());
    let message = format!("pass \"{}\" {says}", who.pass);
    Err(GraphError::one(who.mistake(Code::BadWork, message, says, "give each shader in the place of its stage")))
}

/// A build, and how it uses its buffers.
pub fn build(build: Build, needs: &mut Needs) -> Step {
    let usage = if build.refit { Usage::AccelerationUpdate } else { Usage::AccelerationBuild };
    let mut uses = |at, usage, stages| needs.uses(at, usage, AccessRange::default(), |how| how.stages = stages);
    uses(build.structure, usage, Stages::empty());
    uses(build.scratch, Usage::AccelerationScratch, Stages::empty());
    match &build.geometry {
        Geometry::Triangles { buffer, index, .. } => {
            uses(*buffer, Usage::AccelerationInput, Stages::empty());
            if let Some(index) = index {
                uses(index.buffer, Usage::AccelerationInput, Stages::empty());
            }
        }
        Geometry::Boxes { buffer, .. } => uses(*buffer, Usage::AccelerationInput, Stages::empty()),
        Geometry::Instances { buffer, structures, .. } => {
            uses(*buffer, Usage::AccelerationInput, Stages::empty());
            for structure in structures {
                uses(*structure, Usage::AccelerationRead, Stages::ACCELERATION_STRUCTURE_BUILD);
            }
        }
    }
    Step::Build(build)
}

/// Records of instances, and how they use their buffers. Structures are not used: only where they are is written.
pub fn instances(instances: Instances, needs: &mut Needs) -> Step {
    needs.uses(instances.to, Usage::TransferDst, AccessRange::default(), |how| {
        how.transfer = Some(Transfer::Fill);
        how.load = Some(Load::Discard);
    });
    if let Some((from, _)) = instances.transforms {
        needs.uses(from, Usage::TransferSrc, AccessRange::default(), |how| how.transfer = Some(Transfer::Copy));
    }
    Step::Instances(instances)
}
