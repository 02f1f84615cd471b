//! What passes do with rays: structures built, records of instances written, rays traced.

use std::sync::Arc;

use rgraph_ir::resource::ResourceId;
use rgraph_shader::{Program, Stage};

use super::{Bound, Groups, IndexBuffer, PushData};

/// A trace of rays by a ray-tracing program.
#[derive(Clone, PartialEq, Debug)]
pub struct Trace {
    /// The program; its first module generates the rays.
    pub program: Arc<Program>,
    /// Which of its modules are shaders of which group.
    pub groups: Arc<RayGroups>,
    /// What its bindings are; each binding exactly once.
    pub bound: Arc<[Bound]>,
    /// Push data, as long as the program's.
    pub push: PushData,
    /// How many rays are generated: so many in x, y, z, or one per texel of an image; never indirect.
    pub size: Groups,
    /// How deep traces nest: 1 if only the ray generation shader traces rays.
    pub depth: u32,
}

/// The shader groups of a trace, which the runtime puts into its shader binding table in this order: the ray generation
/// shader, misses, hit groups, callables. Shaders are positions among the program's modules.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct RayGroups {
    /// Miss shaders; `traceRayEXT` chooses one by its miss index.
    pub miss: Vec<u32>,
    /// Hit groups; chosen by instance, geometry and the record offset and stride of `traceRayEXT`.
    pub hit: Vec<HitGroup>,
    /// Callable shaders; `executeCallableEXT` chooses one.
    pub callable: Vec<u32>,
    /// What shaders read as `shaderRecordEXT`, in the order of all groups; groups beyond its end have no data.
    pub records: Vec<Vec<u8>>,
}

impl RayGroups {
    /// How many groups there are: ray generation, misses, hit groups, callables.
    pub fn count(&self) -> usize {
        1 + self.miss.len() + self.hit.len() + self.callable.len()
    }

    /// The shaders of all groups with the stages that their places want, the one that generates rays first.
    pub fn places(&self) -> impl Iterator<Item = (u32, Stage)> {
        let general = |all: &'_ [u32], stage| all.iter().map(move |module| (*module, stage)).collect::<Vec<_>>();
        let of_hit = self.hit.iter().flat_map(|group| {
            let HitGroup { closest, any, intersection } = *group;
            let stages = [(closest, Stage::ClosestHit), (any, Stage::AnyHit), (intersection, Stage::Intersection)];
            stages.into_iter().filter_map(|(module, stage)| Some((module?, stage)))
        });
        let first = std::iter::once((0, Stage::RayGeneration)).chain(general(&self.miss, Stage::Miss));
        first.chain(of_hit).chain(general(&self.callable, Stage::Callable))
    }

    /// The first shader that is not of the stage that its place wants: its position, that stage, and its own.
    pub fn misplaced(&self, program: &Program) -> Option<(u32, Stage, Option<Stage>)> {
        let of = |module: u32| program.modules.get(module as usize).map(|module| module.stage);
        self.places().map(|(module, wanted)| (module, wanted, of(module))).find(|(_, wanted, is)| *is != Some(*wanted))
    }
}

/// The shaders of a hit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct HitGroup {
    /// What becomes of the closest hit.
    pub closest: Option<u32>,
    /// Whether a hit counts.
    pub any: Option<u32>,
    /// Where a ray hits what is in a box; without it, the group is one of triangles.
    pub intersection: Option<u32>,
}

/// Builds an acceleration structure, or refits one in place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Build {
    /// The buffer of the structure, which holds nothing else.
    pub structure: ResourceId,
    /// Memory for the build: what the driver asks for, and 256 bytes to align it.
    pub scratch: ResourceId,
    /// What it is built of.
    pub geometry: Geometry,
    /// Whether it updates the earlier structure, of as many primitives: faster, and slower to trace the more they
    /// moved.
    pub refit: bool,
    /// Whether it can be refitted later; a refit has it as its build had it.
    pub updatable: bool,
}

/// What an acceleration structure is built of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Geometry {
    /// Triangles of positions of three 32-bit floats. An index beyond `vertices` is undefined.
    Triangles {
        /// The buffer of the positions.
        buffer: ResourceId,
        /// First byte, a multiple of 4.
        offset: u64,
        /// Bytes from position to position, a multiple of 4.
        stride: u32,
        /// Number of positions.
        vertices: u32,
        /// Three indices for each triangle.
        index: Option<IndexBuffer>,
        /// Number of triangles.
        triangles: u32,
        /// Whether any-hit shaders are left out.
        opaque: bool,
    },
    /// Boxes of six 32-bit floats: the least x, y, z, then the greatest.
    Boxes {
        buffer: ResourceId,
        /// First byte, a multiple of 8.
        offset: u64,
        /// Bytes from box to box, a multiple of 8.
        stride: u32,
        /// Number of boxes.
        boxes: u32,
        /// Whether any-hit shaders are left out.
        opaque: bool,
    },
    /// Instances of other structures: a structure of the top level.
    Instances {
        /// The buffer of records that [`Instances`] wrote.
        buffer: ResourceId,
        /// First byte, a multiple of 16.
        offset: u64,
        /// Number of instances.
        instances: u32,
        /// The structures that the records name.
        structures: Vec<ResourceId>,
    },
}

impl Geometry {
    /// The number of triangles, boxes or instances.
    pub fn primitives(&self) -> u32 {
        match self {
            Self::Triangles { triangles, .. } => *triangles,
            Self::Boxes { boxes, .. } => *boxes,
            Self::Instances { instances, .. } => *instances,
        }
    }
}

/// Bytes of a record of an instance (`VkAccelerationStructureInstanceKHR`).
pub const INSTANCE_BYTES: u64 = 64;
/// Bytes of the transform in front of each of them: three rows of four 32-bit floats.
pub const TRANSFORM_BYTES: u64 = 48;

/// Writes records of instances into a buffer, for a build.
#[derive(Clone, PartialEq, Debug)]
pub struct Instances {
    /// The buffer that is written.
    pub to: ResourceId,
    /// First byte, a multiple of 16.
    pub offset: u64,
    pub all: Vec<Instance>,
    /// A buffer with a transform for each instance, and its first byte, a multiple of 4; `None`: their own.
    pub transforms: Option<(ResourceId, u64)>,
}

/// An instance of an acceleration structure.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Instance {
    pub structure: ResourceId,
    /// Three rows of four numbers: a point of the instance in the world.
    pub transform: [f32; 12],
    /// What shaders read as `gl_InstanceCustomIndexEXT`, 24 bits.
    pub index: u32,
    /// Rays whose mask shares no bit with it miss it.
    pub mask: u8,
    /// Its first hit group, 24 bits.
    pub hit: u32,
}

impl Instance {
    /// The identity: three rows of four numbers.
    pub const IDENTITY: [f32; 12] = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];

    /// An instance where its structure is, that all rays may hit, with the first hit group.
    pub fn of(structure: ResourceId, index: u32) -> Self {
        Self { structure, transform: Self::IDENTITY, index, mask: 0xff, hit: 0 }
    }
}
