//! What passes do when they run: plain data next to the declaration, so that frames are recorded without
//! callbacks. Functions are used only if data does not suffice.

mod bound;
mod pass_hasher;
mod push_data;
mod raster_state;
mod ray;
mod sampler;

pub use pass_hasher::{PassHasher, Works};
pub use push_data::PushData;
pub use raster_state::{Blend, BlendFactor, BlendOp, Cull, RasterState, StencilFace, StencilOp, Topology};
pub use ray::{Build, Geometry, HitGroup, INSTANCE_BYTES, Instance, Instances, RayGroups, TRANSFORM_BYTES, Trace};
pub use sampler::{Address, Border, Compare, Sampler};

use std::convert::Infallible;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use rgraph_ir::access::Aspects;
use rgraph_ir::format::Format;
use rgraph_ir::graph::Graph;
use rgraph_ir::resource::ResourceId;
use rgraph_shader::Program;

use crate::vertex::VertexFormat;

/// A declaration and what its passes do. `R` is that of [`Work`].
pub struct Workload<R: ?Sized = Infallible> {
    /// The declaration; ids in `works` are its.
    pub graph: Graph,
    /// What each pass does; a pass without an entry does nothing but be ordered.
    pub works: Works<R>,
}

impl<R: ?Sized> Workload<R> {
    /// A declaration whose passes do nothing yet.
    pub fn new(graph: Graph) -> Self {
        Self { graph, works: Works::default() }
    }
}

// By hand, as for `Work`: derived ones would ask for `R: Clone` and `R: Debug`.
impl<R: ?Sized> Clone for Workload<R> {
    fn clone(&self) -> Self {
        Self { graph: self.graph.clone(), works: self.works.clone() }
    }
}

impl<R: ?Sized> fmt::Debug for Workload<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { graph, works } = self;
        f.debug_struct("Workload").field("graph", graph).field("works", works).finish()
    }
}

/// What a pass does. `R` is what records commands of a graphics interface itself: a trait of the runtime for it, or
/// [`Infallible`] where there is no such function.
pub enum Work<R: ?Sized = Infallible> {
    /// Dispatches, draws and transfers, in this order where keys are equal.
    Steps(Vec<Step>),
    /// A function that runs on the host, concurrently with the GPU, with views of the pass's buffers.
    Host(Arc<dyn HostWork>),
    /// A function that says the steps each time the frame is recorded.
    Record(Arc<dyn RecordWork>),
    /// A function that records commands of a graphics interface itself.
    Raw(Arc<R>),
}

impl<R: ?Sized> Clone for Work<R> {
    fn clone(&self) -> Self {
        match self {
            Self::Steps(steps) => Self::Steps(steps.clone()),
            Self::Host(function) => Self::Host(Arc::clone(function)),
            Self::Record(function) => Self::Record(Arc::clone(function)),
            Self::Raw(function) => Self::Raw(Arc::clone(function)),
        }
    }
}

impl<R: ?Sized> fmt::Debug for Work<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steps(steps) => f.debug_tuple("Steps").field(steps).finish(),
            Self::Host(_) => f.write_str("Host"),
            Self::Record(_) => f.write_str("Record"),
            Self::Raw(_) => f.write_str("Raw"),
        }
    }
}

/// An error of a caller's function; it arrives unchanged.
pub type CallbackError = Box<dyn StdError + Send + Sync>;

/// A function of the caller's that runs on the host.
pub trait HostWork: Send + Sync {
    /// Runs once per frame, on a thread of its graph or of the job pool, when all that the pass reads is there. Passes
    /// of one of the plan's [`sets`](rgraph_ir::plan::Plan::sets) run at once.
    ///
    /// Its run waits for it. Whatever waits for a run of the same device (`Compiled::run`, `DeviceResource::read` and
    /// `write` of `rgraph-vk`) is refused inside of it with `RG-E402`. It must not join a thread that does so either:
    /// nothing can see that, and neither would end.
    ///
    /// # Errors
    /// Any: the frame is abandoned, and waits for it return the error.
    fn run(&self, views: HostViews<'_>) -> Result<(), CallbackError>;
}

/// The buffers of a host pass.
#[derive(Debug)]
pub struct HostViews<'a> {
    /// Views in the order of the pass's accesses, one per access.
    pub views: Vec<HostView<'a>>,
}

/// A view of part of a host-visible buffer, valid while the function runs.
#[derive(Debug)]
pub struct HostView<'a> {
    /// The buffer.
    pub resource: ResourceId,
    pub name: &'a str,
    /// First byte in the buffer and the one after the last.
    pub range: [u64; 2],
    /// The bytes, mapped.
    pub bytes: HostBytes<'a>,
}

/// Mapped bytes of a host pass, which reads as a slice.
#[derive(Debug)]
pub enum HostBytes<'a> {
    /// The pass declares that it reads them.
    Read(&'a [u8]),
    /// The pass declares that it writes them.
    Write(&'a mut [u8]),
}

impl HostBytes<'_> {
    /// The bytes to write, if the pass declares that it writes them.
    pub fn writable(&mut self) -> Option<&mut [u8]> {
        match self {
            Self::Read(_) => None,
            Self::Write(bytes) => Some(bytes),
        }
    }
}

impl std::ops::Deref for HostBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Read(bytes) => bytes,
            Self::Write(bytes) => bytes,
        }
    }
}

/// A function of the caller's that says a pass's steps.
pub trait RecordWork: Send + Sync {
    /// Adds steps. Called each time that the pass is recorded, on the thread that runs the frame or on one of the job
    /// pool; those of several passes are called at once. As in [`HostWork::run`], waiting for a run of the same device
    /// is refused.
    ///
    /// # Errors
    /// Any: the frame is abandoned, and `run` returns the error.
    fn record(&self, commands: &mut Commands) -> Result<(), CallbackError>;
}

/// Collects the steps of a pass; their accesses are compared with the declaration before anything is recorded.
#[derive(Debug, Default)]
pub struct Commands {
    /// The steps so far.
    pub steps: Vec<Step>,
}

/// One packet of work: a dispatch, a draw, a transfer, a build or a trace.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    Dispatch(Dispatch),
    /// A draw; only in passes with attachments.
    Draw(Draw),
    Transfer(Transfer),
    /// A build of an acceleration structure; no other step of its pass uses the structure or its scratch memory.
    Build(Build),
    /// Records of instances, for a build in a later pass.
    Instances(Instances),
    /// A trace of rays; only in passes without attachments.
    Trace(Trace),
}

/// A dispatch of a compute program.
#[derive(Clone, PartialEq, Debug)]
pub struct Dispatch {
    pub program: Arc<Program>,
    /// What its bindings are; each binding exactly once.
    pub bound: Arc<[Bound]>,
    /// Push data, as long as the program's.
    pub push: PushData,
    /// How many workgroups.
    pub groups: Groups,
    /// Dispatches of a pass, and of the passes that a run sorts together, are recorded in the order of their keys.
    pub key: u64,
}

/// How many workgroups a dispatch has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Groups {
    /// So many in x, y, z.
    Fixed([u32; 3]),
    /// One invocation a texel of mip `mip` of an image (layers in z), or a 32-bit word of a buffer (in x).
    Cover(ResourceId, u32),
    /// Three 32-bit counts in a buffer.
    Indirect {
        buffer: ResourceId,
        /// First byte, a multiple of 4.
        offset: u64,
    },
}

/// A draw of a raster program.
#[derive(Clone, PartialEq, Debug)]
pub struct Draw {
    pub program: Arc<Program>,
    /// Fixed-function state.
    pub state: Arc<RasterState>,
    /// What its bindings are; each binding exactly once.
    pub bound: Arc<[Bound]>,
    /// Push data, as long as the program's.
    pub push: PushData,
    pub vertex_buffers: Vec<VertexBuffer>,
    pub index: Option<IndexBuffer>,
    /// What is drawn.
    pub count: DrawCount,
    /// Viewport and scissor `[x, y, width, height]` in texels; `None`: the whole area.
    pub viewport: Option<[f32; 4]>,
    /// Draws of a pass are sorted by it, equal keys in their order; so are those of `unordered` passes of a render
    /// pass, equal keys by what they bind.
    pub key: u64,
}

/// A vertex buffer and how it is read.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct VertexBuffer {
    pub buffer: ResourceId,
    /// First byte.
    pub offset: u64,
    /// Bytes from element to element.
    pub stride: u32,
    /// Whether it advances per instance instead of per vertex.
    pub per_instance: bool,
    /// Shader location, format and byte offset of each attribute.
    pub attributes: Vec<(u32, VertexFormat, u32)>,
}

/// The indices of a draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IndexBuffer {
    pub buffer: ResourceId,
    /// First byte.
    pub offset: u64,
    /// 32-bit indices instead of 16-bit ones.
    pub wide: bool,
}

/// How many vertices, indices or workgroups a draw has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DrawCount {
    /// Vertices (or indices) and instances.
    Direct {
        /// Number of vertices or indices.
        vertices: u32,
        /// Number of instances.
        instances: u32,
        /// First vertex or index.
        first_vertex: u32,
        first_instance: u32,
        /// Added to each index.
        vertex_offset: i32,
    },
    /// Parameters in a buffer, as Vulkan lays them out: vertices or indices, or three counts of workgroups of a mesh
    /// stage, which keep within the limits of [`DrawCount::Mesh`].
    Indirect {
        buffer: ResourceId,
        /// First byte, a multiple of 4.
        offset: u64,
        /// Number of draws.
        draws: u32,
        /// Bytes from draw to draw.
        stride: u32,
    },
    /// Workgroups of a mesh stage, or of the task stage in front of it; at most 65,535 on each axis and 4,194,304 in
    /// all.
    Mesh {
        /// Their number on each axis.
        groups: [u32; 3],
    },
}

/// What stands behind a binding.
#[derive(Clone, PartialEq, Debug)]
pub struct Bound {
    /// Position in the program's [`Interface::bindings`](rgraph_shader::Interface::bindings).
    pub binding: u32,
    /// Which element of an array of descriptors; 0 without.
    pub element: u32,
    /// What it is.
    pub what: What,
}

/// See [`Bound`].
#[derive(Clone, PartialEq, Debug)]
pub enum What {
    /// Part of a resource of the graph.
    Resource(View),
    /// An image together with its sampler.
    Combined(View, Sampler),
    /// Part of a buffer, read as texels of a format.
    Texels(View, Format),
    Sampler(Sampler),
    /// Bytes in a uniform buffer of their own, which may change from frame to frame without recording again.
    Data(Vec<u8>),
}

/// Part of a resource as a shader sees it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct View {
    pub resource: ResourceId,
    /// Mip levels, half-open; `None`: those of the pass's access.
    pub mips: Option<[u32; 2]>,
    /// Array layers, half-open; `None`: those of the pass's access.
    pub layers: Option<[u32; 2]>,
    /// Aspect; empty: the access's (of depth-stencil images: depth).
    pub aspects: Aspects,
    /// Bytes of a buffer, half-open; `None`: those of the pass's access.
    pub range: Option<[u64; 2]>,
}

impl View {
    /// All of what the pass accesses.
    pub fn whole(resource: ResourceId) -> Self {
        Self { resource, mips: None, layers: None, aspects: Aspects::empty(), range: None }
    }
}

/// One mip level of some layers of an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level {
    pub image: ResourceId,
    /// Mip level.
    pub mip: u32,
    /// Array layers, half-open; `None`: all.
    pub layers: Option<[u32; 2]>,
    /// Aspects; empty: all.
    pub aspects: Aspects,
    /// First texel.
    pub offset: [u32; 3],
    /// Texels; `None`: up to the end.
    pub size: Option<[u32; 3]>,
}

impl Level {
    /// All of one mip level.
    pub fn of(image: ResourceId, mip: u32) -> Self {
        Self { image, mip, layers: None, aspects: Aspects::empty(), offset: [0; 3], size: None }
    }
}

/// A transfer command.
#[derive(Clone, PartialEq, Debug)]
pub enum Transfer {
    /// Bytes from buffer to buffer.
    CopyBuffer {
        from: ResourceId,
        /// First byte there.
        from_offset: u64,
        to: ResourceId,
        /// First byte there.
        to_offset: u64,
        /// Bytes; `None`: as many as both have from there.
        size: Option<u64>,
    },
    /// Texels from image to image of compatible formats.
    CopyImage {
        from: Level,
        /// To; its size is the source's.
        to: Level,
    },
    /// Tightly packed texels from a buffer.
    BufferToImage {
        from: ResourceId,
        /// First byte there.
        offset: u64,
        to: Level,
    },
    /// Tightly packed texels into a buffer.
    ImageToBuffer {
        from: Level,
        to: ResourceId,
        /// First byte there.
        offset: u64,
    },
    /// Scaled and converted.
    Blit {
        from: Level,
        to: Level,
        /// Linear (else nearest) between texels.
        linear: bool,
    },
    /// One value everywhere.
    Clear {
        /// The image, or the part of it; what it does not say is that of the pass's access.
        image: View,
        value: ClearValue,
    },
    /// One 32-bit word again and again.
    Fill {
        buffer: ResourceId,
        /// First byte, a multiple of 4.
        offset: u64,
        /// Bytes, a multiple of 4; `None`: up to the end.
        size: Option<u64>,
        word: u32,
    },
    /// Samples become one.
    Resolve { from: Level, to: Level },
}

/// Values of clears. Equal ones leave equal bits.
#[derive(Clone, Copy, Debug)]
pub enum ClearValue {
    /// Floats, for float and normalised formats.
    Float([f32; 4]),
    /// For signed integer formats.
    Int([i32; 4]),
    /// For unsigned integer formats.
    Uint([u32; 4]),
    /// Depth and stencil.
    Depth(f32, u32),
}

impl PartialEq for ClearValue {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Float(one), Self::Float(two)) => one.map(f32::to_bits) == two.map(f32::to_bits),
            (Self::Int(one), Self::Int(two)) => one == two,
            (Self::Uint(one), Self::Uint(two)) => one == two,
            (Self::Depth(one, stencil), Self::Depth(two, other)) => one.to_bits() == two.to_bits() && stencil == other,
            _ => false,
        }
    }
}

impl Eq for ClearValue {}
