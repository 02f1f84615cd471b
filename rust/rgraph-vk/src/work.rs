//! What passes do when they run: plain data beside the declaration, so that frames are recorded without asking
//! anybody. Functions stand only where data cannot.

use std::collections::HashMap;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use rgraph_plan::access::Aspects;
use rgraph_plan::graph::{Graph, PassId};
use rgraph_plan::resource::ResourceId;
use rgraph_shader::Program;

use crate::frame::raw::RawWork;
use crate::vertex::VertexFormat;

/// A declaration and what its passes do.
#[derive(Clone, Debug)]
pub struct Workload {
    /// The declaration; ids in `works` are its.
    pub graph: Graph,
    /// What each pass does; a pass without an entry does nothing but be ordered.
    pub works: HashMap<PassId, Work>,
}

impl Workload {
    /// A declaration whose passes do nothing yet.
    pub fn new(graph: Graph) -> Self {
        Self { graph, works: HashMap::new() }
    }
}

/// What a pass does.
#[derive(Clone)]
pub enum Work {
    /// Dispatches, draws and transfers, in this order where keys are equal.
    Steps(Vec<Step>),
    /// A function that runs on the host, beside the GPU, with views of the pass's buffers.
    Host(Arc<dyn HostWork>),
    /// A function that says the steps each time the frame is recorded.
    Record(Arc<dyn RecordWork>),
    /// A function that records Vulkan commands itself.
    Raw(Arc<dyn RawWork>),
}

impl fmt::Debug for Work {
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
    /// of one of the plan's [`sets`](rgraph_plan::plan::Plan::sets) run at once.
    ///
    /// Its run waits for it. Whatever waits for a run of the same device ([`Compiled::run`](crate::Compiled::run),
    /// [`Resource::read`](crate::Resource::read) and `write`) is refused inside of it with `RG-E402`. It must not join
    /// a thread that does so either: nothing can see that, and neither would end.
    ///
    /// # Errors
    /// Whatever it likes: the frame is abandoned and whoever waits for it gets the error.
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
    /// Its name.
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
    /// Whatever it likes: the frame is abandoned and the caller of `run` gets the error.
    fn record(&self, commands: &mut Commands) -> Result<(), CallbackError>;
}

/// Collects the steps of a pass; what they touch is compared with the declaration before anything is recorded.
#[derive(Debug, Default)]
pub struct Commands {
    /// The steps so far.
    pub steps: Vec<Step>,
}

/// One packet of work: a dispatch, a draw or a transfer.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// A dispatch.
    Dispatch(Dispatch),
    /// A draw; only in passes with attachments.
    Draw(Draw),
    /// A transfer.
    Transfer(Transfer),
}

/// A dispatch of a compute program.
#[derive(Clone, PartialEq, Debug)]
pub struct Dispatch {
    /// The program.
    pub program: Arc<Program>,
    /// What its bindings are; each binding exactly once.
    pub bound: Arc<[Bound]>,
    /// Push data, as long as the program's.
    pub push: Vec<u8>,
    /// How many workgroups.
    pub groups: Groups,
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
        /// The buffer.
        buffer: ResourceId,
        /// First byte, a multiple of 4.
        offset: u64,
    },
}

/// A draw of a raster program.
#[derive(Clone, PartialEq, Debug)]
pub struct Draw {
    /// The program.
    pub program: Arc<Program>,
    /// Fixed-function state.
    pub state: Arc<RasterState>,
    /// What its bindings are; each binding exactly once.
    pub bound: Arc<[Bound]>,
    /// Push data, as long as the program's.
    pub push: Vec<u8>,
    /// Vertex buffers.
    pub vertex_buffers: Vec<VertexBuffer>,
    /// Index buffer.
    pub index: Option<IndexBuffer>,
    /// What is drawn.
    pub count: DrawCount,
    /// Viewport and scissor `[x, y, width, height]` in texels; `None`: the whole area.
    pub viewport: Option<[f32; 4]>,
    /// Draws of a pass are sorted by it; equal keys keep their order.
    pub key: u64,
}

/// A vertex buffer and how it is read.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct VertexBuffer {
    /// The buffer.
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

/// An index buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IndexBuffer {
    /// The buffer.
    pub buffer: ResourceId,
    /// First byte.
    pub offset: u64,
    /// 32-bit indices instead of 16-bit ones.
    pub wide: bool,
}

/// What a draw draws.
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
        /// First instance.
        first_instance: u32,
        /// Added to each index.
        vertex_offset: i32,
    },
    /// Parameters in a buffer, as Vulkan lays them out.
    Indirect {
        /// The buffer.
        buffer: ResourceId,
        /// First byte, a multiple of 4.
        offset: u64,
        /// Number of draws.
        draws: u32,
        /// Bytes from draw to draw.
        stride: u32,
    },
    /// Workgroups of a mesh stage, or of the task stage in front of it; at most 65,535 on each axis and 4,194,304 in all.
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
    /// A sampler.
    Sampler(Sampler),
    /// Bytes in a uniform buffer of their own, which may change from frame to frame without recording anew.
    Data(Vec<u8>),
}

/// Part of a resource as a shader sees it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct View {
    /// The resource.
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

/// How an image is sampled.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sampler {
    /// Linear (else nearest) between texels when magnified.
    pub mag_linear: bool,
    /// Linear (else nearest) between texels when minified.
    pub min_linear: bool,
    /// Linear (else nearest) between mips.
    pub mip_linear: bool,
    /// What lies outside of the image in u, v, w.
    pub address: [Address; 3],
    /// Most anisotropy; 1: none.
    pub anisotropy: f32,
    /// Comparison, for shadow samplers.
    pub compare: Option<Compare>,
    /// Least and most level of detail.
    pub lod: [f32; 2],
    /// Colour outside, for [`Address::Border`].
    pub border: Border,
}

impl Default for Sampler {
    fn default() -> Self {
        Self {
            mag_linear: true,
            min_linear: true,
            mip_linear: true,
            address: [Address::Clamp; 3],
            anisotropy: 1.0,
            compare: None,
            lod: [0.0, 1000.0],
            border: Border::Transparent,
        }
    }
}

/// What lies outside of an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Address {
    /// Its edge.
    Clamp,
    /// The image again.
    Repeat,
    /// The image again, mirrored.
    Mirror,
    /// One colour.
    Border,
}

/// The colour outside of an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Border {
    /// 0, 0, 0, 0.
    Transparent,
    /// 0, 0, 0, 1.
    Black,
    /// 1, 1, 1, 1.
    White,
}

/// Comparisons.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Compare {
    /// Never.
    Never,
    /// Less.
    Less,
    /// Equal.
    Equal,
    /// Less or equal.
    LessEqual,
    /// Greater.
    Greater,
    /// Not equal.
    NotEqual,
    /// Greater or equal.
    GreaterEqual,
    /// Always.
    Always,
}

/// Fixed-function state of a draw.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RasterState {
    /// How vertices become primitives; tessellation stages take patches, and a mesh stage says it itself.
    pub topology: Topology,
    /// Vertices of a patch, 1 to 32, where there are tessellation stages.
    pub patch_vertices: u32,
    /// Whether primitives are filled (else their edges are drawn).
    pub filled: bool,
    /// Which faces are dropped.
    pub cull: Cull,
    /// Whether front faces are clockwise in framebuffer coordinates.
    pub clockwise: bool,
    /// Depth test; `None`: the pass's default (less or equal if it has depth).
    pub depth_compare: Option<Compare>,
    /// Whether depth is written, where the pass writes it.
    pub depth_write: bool,
    /// Constant depth bias and slope bias, as bits of f32.
    pub depth_bias: Option<[u32; 2]>,
    /// Stencil tests of front and back faces.
    pub stencil: Option<[StencilFace; 2]>,
    /// Blending of each colour target in order; missing ones are replaced.
    pub blend: Vec<Option<Blend>>,
    /// Which channels of each colour target are written, bits 0 to 3 for red, green, blue, alpha; missing ones: all.
    pub write_mask: Vec<u8>,
    /// Whether alpha becomes coverage.
    pub alpha_to_coverage: bool,
}

impl Default for RasterState {
    fn default() -> Self {
        Self {
            topology: Topology::Triangles,
            patch_vertices: 3,
            filled: true,
            cull: Cull::None,
            clockwise: false,
            depth_compare: None,
            depth_write: true,
            depth_bias: None,
            stencil: None,
            blend: Vec::new(),
            write_mask: Vec::new(),
            alpha_to_coverage: false,
        }
    }
}

/// How vertices become primitives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Topology {
    /// Points.
    Points,
    /// Pairs of vertices.
    Lines,
    /// Lines that share vertices.
    LineStrip,
    /// Three vertices each.
    Triangles,
    /// Triangles that share vertices.
    TriangleStrip,
}

/// Which faces are dropped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cull {
    /// None.
    None,
    /// Front faces.
    Front,
    /// Back faces.
    Back,
}

/// Stencil test of one face.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StencilFace {
    /// The test.
    pub compare: Compare,
    /// What happens if the stencil test fails.
    pub fail: StencilOp,
    /// What happens if the depth test fails.
    pub depth_fail: StencilOp,
    /// What happens if both pass.
    pub pass: StencilOp,
    /// Reference value.
    pub reference: u32,
    /// Bits compared.
    pub read_mask: u32,
    /// Bits written.
    pub write_mask: u32,
}

/// What happens to a stencil value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StencilOp {
    /// Kept.
    Keep,
    /// Zero.
    Zero,
    /// The reference value.
    Replace,
    /// One more, up to the most.
    Increment,
    /// One less, down to zero.
    Decrement,
    /// All bits flipped.
    Invert,
}

/// Blending of one colour target: `source · source_factor op destination · destination_factor`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Blend {
    /// Of colour: factor of the source, factor of the destination, operation.
    pub color: (BlendFactor, BlendFactor, BlendOp),
    /// The same of alpha.
    pub alpha: (BlendFactor, BlendFactor, BlendOp),
}

impl Blend {
    /// Over: `source + destination · (1 − source alpha)` of premultiplied colours.
    pub const PREMULTIPLIED: Self = Self {
        color: (BlendFactor::One, BlendFactor::OneMinusSourceAlpha, BlendOp::Add),
        alpha: (BlendFactor::One, BlendFactor::OneMinusSourceAlpha, BlendOp::Add),
    };
    /// Over, of colours that alpha was not multiplied into.
    pub const ALPHA: Self = Self {
        color: (BlendFactor::SourceAlpha, BlendFactor::OneMinusSourceAlpha, BlendOp::Add),
        alpha: (BlendFactor::One, BlendFactor::OneMinusSourceAlpha, BlendOp::Add),
    };
    /// Sum.
    pub const ADD: Self = Self {
        color: (BlendFactor::One, BlendFactor::One, BlendOp::Add),
        alpha: (BlendFactor::One, BlendFactor::One, BlendOp::Add),
    };
    /// Product.
    pub const MULTIPLY: Self = Self {
        color: (BlendFactor::DestinationColor, BlendFactor::Zero, BlendOp::Add),
        alpha: (BlendFactor::DestinationAlpha, BlendFactor::Zero, BlendOp::Add),
    };
}

/// Factors of blending.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BlendFactor {
    /// 0.
    Zero,
    /// 1.
    One,
    /// Source colour.
    SourceColor,
    /// 1 − source colour.
    OneMinusSourceColor,
    /// Destination colour.
    DestinationColor,
    /// 1 − destination colour.
    OneMinusDestinationColor,
    /// Source alpha.
    SourceAlpha,
    /// 1 − source alpha.
    OneMinusSourceAlpha,
    /// Destination alpha.
    DestinationAlpha,
    /// 1 − destination alpha.
    OneMinusDestinationAlpha,
}

/// Operations of blending.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BlendOp {
    /// Source + destination.
    Add,
    /// Source − destination.
    Subtract,
    /// Destination − source.
    ReverseSubtract,
    /// Least.
    Min,
    /// Largest.
    Max,
}

/// One mip level of some layers of an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level {
    /// The image.
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
        /// From.
        from: ResourceId,
        /// First byte there.
        from_offset: u64,
        /// To.
        to: ResourceId,
        /// First byte there.
        to_offset: u64,
        /// Bytes; `None`: as many as both have from there.
        size: Option<u64>,
    },
    /// Texels from image to image of compatible formats.
    CopyImage {
        /// From.
        from: Level,
        /// To; its size is the source's.
        to: Level,
    },
    /// Tightly packed texels from a buffer.
    BufferToImage {
        /// From.
        from: ResourceId,
        /// First byte there.
        offset: u64,
        /// To.
        to: Level,
    },
    /// Tightly packed texels into a buffer.
    ImageToBuffer {
        /// From.
        from: Level,
        /// To.
        to: ResourceId,
        /// First byte there.
        offset: u64,
    },
    /// Scaled and converted.
    Blit {
        /// From.
        from: Level,
        /// To.
        to: Level,
        /// Linear (else nearest) between texels.
        linear: bool,
    },
    /// One value everywhere.
    Clear {
        /// The image, or the part of it; what it does not say is that of the pass's access.
        image: View,
        /// The value.
        value: ClearValue,
    },
    /// One 32-bit word again and again.
    Fill {
        /// The buffer.
        buffer: ResourceId,
        /// First byte, a multiple of 4.
        offset: u64,
        /// Bytes, a multiple of 4; `None`: up to the end.
        size: Option<u64>,
        /// The word.
        word: u32,
    },
    /// Samples become one.
    Resolve {
        /// From.
        from: Level,
        /// To.
        to: Level,
    },
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
