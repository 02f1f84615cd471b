//! A device as numbers: queues, limits, memory, costs. Plain data, so that plans for any device can be baked,
//! tested and read on any other machine.

use bitflags::bitflags;

use crate::feature::Features;

bitflags! {
    /// What a queue can do.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct Capabilities: u8 {
        /// Draws, blits, resolves.
        const GRAPHICS = 1;
        /// Dispatches, ray tracing.
        const COMPUTE = 2;
        /// Copies; every graphics or compute queue has it too.
        const TRANSFER = 4;
    }
}

impl Capabilities {
    /// Each capability and its word in files.
    pub const NAMES: [(&str, Self); 3] =
        [("graphics", Self::GRAPHICS), ("compute", Self::COMPUTE), ("transfer", Self::TRANSFER)];

    /// The words of the capabilities that are set.
    pub fn names(self) -> Vec<&'static str> {
        Self::NAMES.iter().filter(|(_, one)| self.contains(*one)).map(|(name, _)| *name).collect()
    }
}

/// One kind of queue that a device has.
#[derive(Clone, PartialEq, Debug)]
pub struct Queue {
    /// Its name in plans.
    pub name: String,
    /// Its family: ownership is a family's.
    pub family: u32,
    /// How many queues of this kind there are, at least 1.
    pub count: u32,
    /// What it can do.
    pub capabilities: Capabilities,
}

/// A class of memory.
#[derive(Clone, PartialEq, Debug)]
pub struct MemoryType {
    /// `device`, `host`, …: what a plan's heaps are called.
    pub name: String,
    /// Bytes that may be held; `None`: no limit.
    pub heap_size: Option<u64>,
}

/// The device's limits that a declaration can exceed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Largest width and height of a 2D image, in texels.
    pub max_image_2d: u32,
    /// Largest width, height and depth of a 3D image, in texels.
    pub max_image_3d: u32,
    /// Largest width and height of a cube image, in texels.
    pub max_image_cube: u32,
    /// Most array layers.
    pub max_image_layers: u32,
    /// Most colour attachments of a pass.
    pub max_color_attachments: u32,
    /// Most samples per texel.
    pub max_samples: u32,
    /// Largest buffer, in bytes.
    pub max_buffer: u64,
    /// Largest range of a uniform access, in bytes.
    pub max_uniform_range: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_image_2d: 16384,
            max_image_3d: 2048,
            max_image_cube: 16384,
            max_image_layers: 2048,
            max_color_attachments: 8,
            max_samples: 8,
            max_buffer: 4 << 30,
            max_uniform_range: 65536,
        }
    }
}

/// A device as the planner sees it.
#[derive(Clone, PartialEq, Debug)]
pub struct Profile {
    /// Its name in plans.
    pub name: String,
    /// Its queues, at least one.
    pub queues: Vec<Queue>,
    /// Bytes within which linear and optimal resources may not meet; a power of two.
    pub buffer_image_granularity: u64,
    /// Alignment of images, and what their sizes are rounded up to, in bytes; a power of two.
    pub image_alignment: u64,
    /// Alignment of buffers, and what their sizes are rounded up to, in bytes; a power of two.
    pub buffer_alignment: u64,
    /// Classes of memory; the first is where transients go.
    pub memory: Vec<MemoryType>,
    /// Limits of declarations.
    pub limits: Limits,
    /// Cost of a hop from queue to queue, in microseconds.
    pub cross_queue_us: f64,
    /// Cost of a barrier call, in microseconds.
    pub barrier_us: f64,
    /// Cost of a submit, in microseconds.
    pub submit_us: f64,
    /// Least time between the starts of two passes of one queue, in microseconds.
    pub pass_us: f64,
    /// Rate at which contents go from this device to another or come from one, in GB/s; above 0.
    pub copy_gb_s: f64,
    /// Cost of one such copy besides its bytes, in microseconds.
    pub copy_us: f64,
    /// Cost of a change of side between a graphics or compute queue and another API on the same GPU, in microseconds.
    pub foreign_us: f64,
    /// The same of a queue that only transfers.
    pub foreign_transfer_us: f64,
    /// Invocations that fill the device; a pass of fewer leaves room for others. At least 1.
    pub width: u64,
    /// Whether draws and dispatches of a queue overlap between two barrier calls; where not, the device drains whenever
    /// one follows the other.
    pub draws_overlap_dispatches: bool,
    /// Optional features that the device has; `None`: unknown, and no pass is refused because of them.
    pub features: Option<Features>,
}

/// The class of memory that a device need not back: transient attachments go there.
pub const LAZY_MEMORY: &str = "lazy";

impl Profile {
    /// A profile of the given queues with default limits, memory and costs.
    pub fn new(name: &str, queues: Vec<Queue>) -> Self {
        Self {
            name: name.to_owned(),
            queues,
            buffer_image_granularity: 1024,
            image_alignment: 65536,
            buffer_alignment: 256,
            memory: vec![MemoryType { name: "device".to_owned(), heap_size: None }],
            limits: Limits::default(),
            cross_queue_us: 10.0,
            barrier_us: 2.0,
            submit_us: 7.0,
            // Measured on an H200: 314 µs for eight chains of 40 passes, 112 for one.
            pass_us: 0.7,
            // Measured between two H200s through memory of the host: 10 GB/s by two transfers and a copy of the CPU.
            copy_gb_s: 10.0,
            copy_us: 100.0,
            // Measured on an H200 between Vulkan and CUDA.
            foreign_us: 160.0,
            foreign_transfer_us: 21.0,
            // 64 compute units of 2,048 invocations.
            width: 1 << 17,
            draws_overlap_dispatches: true,
            features: None,
        }
    }

    /// This profile with the costs of another: what synchronization, passes and copies cost there, and its width.
    #[must_use]
    pub fn with_costs_of(self, other: &Self) -> Self {
        let Self { name, queues, buffer_image_granularity, image_alignment, buffer_alignment, memory, .. } = self;
        let (limits, features) = (self.limits, self.features);
        Self {
            name,
            queues,
            buffer_image_granularity,
            image_alignment,
            buffer_alignment,
            memory,
            limits,
            cross_queue_us: other.cross_queue_us,
            barrier_us: other.barrier_us,
            submit_us: other.submit_us,
            pass_us: other.pass_us,
            copy_gb_s: other.copy_gb_s,
            copy_us: other.copy_us,
            foreign_us: other.foreign_us,
            foreign_transfer_us: other.foreign_transfer_us,
            width: other.width,
            draws_overlap_dispatches: other.draws_overlap_dispatches,
            features,
        }
    }

    /// A discrete GPU: graphics, async compute and transfer queues of three families.
    pub fn discrete() -> Self {
        let all = Capabilities::all();
        Self::new(
            "discrete",
            vec![
                queue("graphics", 0, all),
                queue("compute", 2, Capabilities::COMPUTE | Capabilities::TRANSFER),
                queue("transfer", 1, Capabilities::TRANSFER),
            ],
        )
    }

    /// One queue that does everything.
    pub fn single_queue() -> Self {
        Self::new("single_queue", vec![queue("graphics", 0, Capabilities::all())])
    }

    /// One queue and the least limits that Vulkan 1.3 guarantees.
    ///
    /// # Source
    /// Vulkan 1.3 specification, "Required Limits".
    pub fn minimal() -> Self {
        Self {
            limits: Limits {
                max_image_2d: 4096,
                max_image_3d: 256,
                max_image_cube: 4096,
                max_image_layers: 256,
                max_color_attachments: 4,
                max_samples: 4,
                max_buffer: 1 << 30,
                max_uniform_range: 16384,
            },
            ..Self::new("minimal", vec![queue("graphics", 0, Capabilities::all())])
        }
    }

    /// The built-in profile of that name.
    pub fn built_in(name: &str) -> Option<Self> {
        match name {
            "discrete" => Some(Self::discrete()),
            "single_queue" => Some(Self::single_queue()),
            "minimal" => Some(Self::minimal()),
            _ => None,
        }
    }

    /// Names of the built-in profiles.
    pub const BUILT_IN: [&str; 3] = ["minimal", "single_queue", "discrete"];
}

fn queue(name: &str, family: u32, capabilities: Capabilities) -> Queue {
    Queue { name: name.to_owned(), family, count: 1, capabilities }
}
