//! The words of synchronization: usages that a user declares, and the pipeline stages, access kinds and image
//! layouts of Vulkan that a plan speaks. Names only: which accesses a usage means is decided by the planner
//! (`stages/resolve.rs`) and, independently, by the checker.
//!
//! Source: Vulkan 1.3 specification, "Synchronization and Cache Control"; stage and access names are those of
//! `VkPipelineStageFlagBits2` and `VkAccessFlagBits2` in lower case, without prefix and vendor suffix.

mod usage_set;

pub use usage_set::UsageSet;

use bitflags::bitflags;

bitflags! {
    /// Leaf pipeline stages: each bit is a stage that contains no other. `all_transfer` is the four transfer leaves.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
    pub struct Stages: u32 {
        /// Reads of indirect command parameters.
        const DRAW_INDIRECT = 1 << 0;
        /// Index buffer reads.
        const INDEX_INPUT = 1 << 1;
        /// Vertex buffer reads.
        const VERTEX_ATTRIBUTE_INPUT = 1 << 2;
        const VERTEX_SHADER = 1 << 3;
        const TESSELLATION_CONTROL_SHADER = 1 << 4;
        const TESSELLATION_EVALUATION_SHADER = 1 << 5;
        const GEOMETRY_SHADER = 1 << 6;
        const TASK_SHADER = 1 << 7;
        const MESH_SHADER = 1 << 8;
        const FRAGMENT_SHADER = 1 << 9;
        /// Depth and stencil tests before the fragment shader; depth and stencil loads.
        const EARLY_FRAGMENT_TESTS = 1 << 10;
        /// Depth and stencil tests after the fragment shader; depth and stencil stores.
        const LATE_FRAGMENT_TESTS = 1 << 11;
        /// Blending, colour loads, stores and attachment resolves (of depth too).
        const COLOR_ATTACHMENT_OUTPUT = 1 << 12;
        const COMPUTE_SHADER = 1 << 13;
        const RAY_TRACING_SHADER = 1 << 14;
        /// Acceleration structure builds and copies.
        const ACCELERATION_STRUCTURE_BUILD = 1 << 15;
        /// Copy commands.
        const COPY = 1 << 16;
        /// Blit commands.
        const BLIT = 1 << 17;
        /// Resolve commands (not attachment resolves).
        const RESOLVE = 1 << 18;
        /// Clear commands.
        const CLEAR = 1 << 19;
        const HOST = 1 << 20;
        /// All transfer commands; stands for `fill` and `clear`, on whose stage drivers and layers disagree.
        const ALL_TRANSFER = Self::COPY.bits() | Self::BLIT.bits() | Self::RESOLVE.bits() | Self::CLEAR.bits();
    }
}

bitflags! {
    /// Kinds of memory access.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
    pub struct Accesses: u32 {
        /// Indirect command parameters.
        const INDIRECT_COMMAND_READ = 1 << 0;
        /// Index buffer.
        const INDEX_READ = 1 << 1;
        /// Vertex buffer.
        const VERTEX_ATTRIBUTE_READ = 1 << 2;
        /// Uniform buffer.
        const UNIFORM_READ = 1 << 3;
        /// Input attachment in a fragment shader.
        const INPUT_ATTACHMENT_READ = 1 << 4;
        /// Sampled image or uniform texel buffer.
        const SHADER_SAMPLED_READ = 1 << 5;
        /// Storage image or buffer, read.
        const SHADER_STORAGE_READ = 1 << 6;
        /// Storage image or buffer, written.
        const SHADER_STORAGE_WRITE = 1 << 7;
        /// Colour attachment, read (load, blending).
        const COLOR_ATTACHMENT_READ = 1 << 8;
        /// Colour attachment, written (clear, store, resolve).
        const COLOR_ATTACHMENT_WRITE = 1 << 9;
        /// Depth and stencil attachment, read (load, test).
        const DEPTH_STENCIL_ATTACHMENT_READ = 1 << 10;
        /// Depth and stencil attachment, written (clear, store).
        const DEPTH_STENCIL_ATTACHMENT_WRITE = 1 << 11;
        /// Source of a transfer command.
        const TRANSFER_READ = 1 << 12;
        /// Destination of a transfer command.
        const TRANSFER_WRITE = 1 << 13;
        const HOST_READ = 1 << 14;
        /// Host, written.
        const HOST_WRITE = 1 << 15;
        /// Acceleration structure, read (trace, build input, update source).
        const ACCELERATION_STRUCTURE_READ = 1 << 16;
        /// Acceleration structure, written.
        const ACCELERATION_STRUCTURE_WRITE = 1 << 17;

        /// Every kind that writes.
        const WRITES = Self::SHADER_STORAGE_WRITE.bits() | Self::COLOR_ATTACHMENT_WRITE.bits()
            | Self::DEPTH_STENCIL_ATTACHMENT_WRITE.bits() | Self::TRANSFER_WRITE.bits() | Self::HOST_WRITE.bits()
            | Self::ACCELERATION_STRUCTURE_WRITE.bits();
    }
}

bitflags! {
    /// Aspects of an image.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
    pub struct Aspects: u8 {
        /// Colour.
        const COLOR = 1;
        const DEPTH = 2;
        const STENCIL = 4;
    }
}

/// Defines an enum whose variants have one name each in files, with its inverse.
macro_rules! named {
    ($(#[$doc:meta])* pub enum $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal $(| $alias:literal)*,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $name { $($(#[$vdoc])* $variant,)+ }

        impl $name {
            /// Every value, in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Its name in files.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// The value that a name in a file stands for.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text $(| $alias)* => Some(Self::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
named! {
    /// Image layouts.
    pub enum Layout {
        /// Contents are undefined or may become undefined.
        Undefined = "undefined",
        /// Any access.
        General = "general",
        /// Colour attachment.
        ColorAttachment = "color_attachment_optimal" | "color_attachment",
        /// Depth and stencil attachment.
        DepthStencilAttachment = "depth_stencil_attachment_optimal" | "depth_stencil_attachment",
        /// Depth and stencil, read only: as attachment and sampled.
        DepthStencilReadOnly = "depth_stencil_read_only_optimal" | "depth_stencil_read_only",
        /// Sampled or input attachment.
        ShaderReadOnly = "shader_read_only_optimal" | "shader_read_only",
        /// Source of transfers.
        TransferSrc = "transfer_src_optimal" | "transfer_src",
        /// Destination of transfers.
        TransferDst = "transfer_dst_optimal" | "transfer_dst",
        /// To be presented.
        PresentSrc = "present_src" | "present_src_khr",
        /// Any attachment (Vulkan 1.3).
        Attachment = "attachment_optimal",
        /// Any read (Vulkan 1.3).
        ReadOnly = "read_only_optimal",
    }
}

named! {
    /// What a pass does with a resource.
    pub enum Usage {
        /// Colour attachment of a raster pass.
        ColorAttachment = "color_attachment",
        /// Depth and stencil attachment, tested and written.
        DepthStencilAttachment = "depth_stencil_attachment",
        /// Depth and stencil attachment, tested only.
        DepthStencilRead = "depth_stencil_read",
        /// Input attachment: the texel under the fragment, from the same render pass.
        InputAttachment = "input_attachment",
        /// Target of a multisample resolve at the end of the render pass.
        ResolveAttachment = "resolve_attachment",
        /// Sampled image, or uniform texel buffer.
        Sampled = "sampled",
        /// Storage image or buffer, read.
        StorageRead = "storage_read",
        /// Storage image or buffer, written.
        StorageWrite = "storage_write",
        /// Storage image or buffer, read and written.
        StorageReadWrite = "storage_read_write",
        /// Uniform buffer.
        Uniform = "uniform",
        /// Vertex buffer.
        Vertex = "vertex",
        /// Index buffer.
        Index = "index",
        /// Indirect draw or dispatch parameters.
        Indirect = "indirect",
        /// Source of a copy, blit or resolve.
        TransferSrc = "transfer_src",
        /// Destination of a copy, blit, resolve, clear or fill.
        TransferDst = "transfer_dst",
        /// Read by the CPU.
        HostRead = "host_read",
        /// Written by the CPU.
        HostWrite = "host_write",
        /// Presented on a surface.
        Present = "present",
        /// Input of an acceleration structure build (vertices, indices, instances).
        AccelerationInput = "acceleration_input",
        /// Acceleration structure built from nothing.
        AccelerationBuild = "acceleration_build",
        /// Acceleration structure updated in place.
        AccelerationUpdate = "acceleration_update",
        /// Scratch memory of a build.
        AccelerationScratch = "acceleration_scratch",
        /// Acceleration structure traced or queried, or instanced by a build.
        AccelerationRead = "acceleration_read",
    }
}

impl Usage {
    /// Whether an access of this usage makes its pass a raster pass: an attachment of a render pass, or an input
    /// attachment. The checker has a table of its own.
    pub const fn is_attachment(self) -> bool {
        matches!(
            self,
            Self::ColorAttachment
                | Self::DepthStencilAttachment
                | Self::DepthStencilRead
                | Self::InputAttachment
                | Self::ResolveAttachment
        )
    }

    /// Whether an access of this usage changes contents. The checker has a table of its own.
    pub const fn writes(self) -> bool {
        matches!(
            self,
            Self::ColorAttachment
                | Self::DepthStencilAttachment
                | Self::ResolveAttachment
                | Self::StorageWrite
                | Self::StorageReadWrite
                | Self::TransferDst
                | Self::HostWrite
                | Self::AccelerationBuild
                | Self::AccelerationUpdate
                | Self::AccelerationScratch
        )
    }
}

named! {
    /// Which transfer command an access belongs to.
    pub enum Transfer {
        /// Copy, texel by texel.
        Copy = "copy",
        /// Scaled, format-converting blit; graphics queues only.
        Blit = "blit",
        /// Clear of an image.
        Clear = "clear",
        /// Fill of a buffer.
        Fill = "fill",
        /// Multisample resolve; graphics queues only.
        Resolve = "resolve",
    }
}

named! {
    /// How samples become one.
    pub enum ResolveMode {
        /// Mean of the samples.
        Average = "average",
        /// The first sample.
        SampleZero = "sample_zero",
        /// Least value.
        Min = "min",
        /// Largest value.
        Max = "max",
    }
}

named! {
    /// What happens to an attachment's (or a write's) old contents.
    pub enum Load {
        /// Replaced by the clear value.
        Clear = "clear",
        /// Kept.
        Load = "load",
        /// Not needed.
        Discard = "discard" | "dont_care",
    }
}

named! {
    /// What happens to an attachment's contents at the end of a render pass.
    pub enum Store {
        /// Written to memory.
        Store = "store",
        /// Nobody looks.
        Discard = "dont_care",
        /// Not written: read-only attachment, memory keeps what it has.
        Nothing = "none",
    }
}

named! {
    /// Who may use a resource without a transfer of ownership.
    pub enum Sharing {
        /// One queue family at a time.
        Exclusive = "exclusive",
        /// All queue families.
        Concurrent = "concurrent",
    }
}

named! {
    /// The memory that the caller chooses for a resource, by what memory types of Vulkan promise.
    pub enum MemoryDomain {
        /// Device memory.
        Device = "device",
        /// Host memory that CPU and device see without flushes.
        Host = "host",
        /// Host memory that the CPU reads through its caches.
        CachedHost = "cached_host",
        /// Device memory that the CPU writes: a resizable BAR, unified memory.
        DeviceLocalHost = "device_local_host",
    }
}

named! {
    /// Where a pass runs.
    pub enum PassQueue {
        /// The graphics queue.
        Graphics = "graphics",
        /// Compute work on the graphics queue.
        Compute = "compute",
        /// A compute queue other than the graphics queue where the profile has one.
        AsyncCompute = "async_compute",
        /// A transfer queue other than the graphics queue where the profile has one.
        Transfer = "transfer",
        /// The host.
        Cpu = "cpu",
        /// The planner picks.
        Any = "any",
    }
}

/// Stage names of plan files, one a leaf, in bit order.
pub const STAGE_NAMES: [&str; 21] = [
    "draw_indirect",
    "index_input",
    "vertex_attribute_input",
    "vertex_shader",
    "tessellation_control_shader",
    "tessellation_evaluation_shader",
    "geometry_shader",
    "task_shader",
    "mesh_shader",
    "fragment_shader",
    "early_fragment_tests",
    "late_fragment_tests",
    "color_attachment_output",
    "compute_shader",
    "ray_tracing_shader",
    "acceleration_structure_build",
    "copy",
    "blit",
    "resolve",
    "clear",
    "host",
];

/// Stage names that a graph file uses (without `_shader`; `docs/reference/formats.md`), in the same order.
pub const DECLARED_STAGE_NAMES: [&str; 21] = [
    "draw_indirect",
    "index_input",
    "vertex_attribute_input",
    "vertex",
    "tessellation_control",
    "tessellation_evaluation",
    "geometry",
    "task",
    "mesh",
    "fragment",
    "early_fragment_tests",
    "late_fragment_tests",
    "color_attachment_output",
    "compute",
    "ray_tracing",
    "acceleration_structure_build",
    "copy",
    "blit",
    "resolve",
    "clear",
    "host",
];

/// Access names of plan files, in bit order.
pub const ACCESS_NAMES: [&str; 18] = [
    "indirect_command_read",
    "index_read",
    "vertex_attribute_read",
    "uniform_read",
    "input_attachment_read",
    "shader_sampled_read",
    "shader_storage_read",
    "shader_storage_write",
    "color_attachment_read",
    "color_attachment_write",
    "depth_stencil_attachment_read",
    "depth_stencil_attachment_write",
    "transfer_read",
    "transfer_write",
    "host_read",
    "host_write",
    "acceleration_structure_read",
    "acceleration_structure_write",
];

impl Stages {
    /// Names in plan files, in bit order; the four transfer leaves together are `all_transfer`.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let whole = self.contains(Self::ALL_TRANSFER);
        let rest = if whole { self - Self::ALL_TRANSFER } else { self };
        STAGE_NAMES
            .iter()
            .enumerate()
            .filter(move |(bit, _)| rest.bits() & (1 << bit) != 0)
            .map(|(_, name)| *name)
            .chain(whole.then_some("all_transfer"))
    }

    /// The stage that a name stands for, in a graph file (`fragment`) or a plan file (`fragment_shader`).
    pub fn from_word(name: &str) -> Option<Self> {
        if name == "all_transfer" {
            return Some(Self::ALL_TRANSFER);
        }
        let at = |names: &[&str]| names.iter().position(|n| *n == name);
        at(&STAGE_NAMES).or_else(|| at(&DECLARED_STAGE_NAMES)).map(|bit| Self::from_bits_retain(1 << bit))
    }
}

impl Accesses {
    /// Names in plan files, in bit order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        ACCESS_NAMES.iter().enumerate().filter(move |(bit, _)| self.bits() & (1 << bit) != 0).map(|(_, name)| *name)
    }

    /// The access kind that a name stands for.
    pub fn from_word(name: &str) -> Option<Self> {
        ACCESS_NAMES.iter().position(|n| *n == name).map(|bit| Self::from_bits_retain(1 << bit))
    }
}

impl Aspects {
    /// Names in files.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        [(Self::COLOR, "color"), (Self::DEPTH, "depth"), (Self::STENCIL, "stencil")]
            .into_iter()
            .filter(move |(aspect, _)| self.contains(*aspect))
            .map(|(_, name)| name)
    }

    /// The aspect that a name stands for.
    pub fn from_word(name: &str) -> Option<Self> {
        match name {
            "color" => Some(Self::COLOR),
            "depth" => Some(Self::DEPTH),
            "stencil" => Some(Self::STENCIL),
            _ => None,
        }
    }
}
