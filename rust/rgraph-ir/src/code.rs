//! The one list of error codes: of declarations and files, of shaders, of devices, of everything. Each crate takes its
//! own from here; `python/rgraph/errors.md` explains each, and tests raise each and compare what it says.
//!
//! Codes are stable: a number is never used for something else, and never again once it is gone. The first digit says
//! what is spoken of: 1 devices, 2 declarations, files and runs, 3 shaders and what is bound to them, 4 what is in use,
//! 5 plans, 6 batches over many workers, 9 rgraph itself.

use std::fmt;

/// Which error carries a code, and thus whose fault it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Class {
    /// `DeviceError`: a driver's, or a device that cannot do what is asked.
    Device,
    /// `GraphError`: a declaration, a profile, a file or an input.
    Graph,
    /// `ShaderError`: a shader, or data that does not fit it.
    Shader,
    /// `BusyError`: something is in use.
    Busy,
    /// `NotReadyError`: a graph that a frame may not wait for. Python raises it.
    NotReady,
    /// `PlanError`: a plan that cannot be run.
    Plan,
    /// `BatchError`: tasks, workers and schedulers of `rgraph.batch`. Python raises it.
    Batch,
    /// `InternalError`: rgraph's own.
    Internal,
}

impl Class {
    /// The name of the error, in Rust and in Python.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Device => "DeviceError",
            Self::Graph => "GraphError",
            Self::Shader => "ShaderError",
            Self::Busy => "BusyError",
            Self::NotReady => "NotReadyError",
            Self::Plan => "PlanError",
            Self::Batch => "BatchError",
            Self::Internal => "InternalError",
        }
    }
}

/// Defines the codes: their class, what they mean, their numbers.
macro_rules! codes {
    ($($class:ident { $(#[doc = $means:literal] $variant:ident = $number:literal,)+ })+) => {
        /// What kind of error it is; [`Code::text`] is what messages and the documentation show.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[non_exhaustive]
        pub enum Code { $($(#[doc = $means] $variant,)+)+ }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$($(Self::$variant,)+)+];

            /// `RG-E203`.
            pub const fn text(self) -> &'static str {
                match self { $($(Self::$variant => concat!("RG-E", stringify!($number)),)+)+ }
            }

            /// One sentence.
            pub const fn means(self) -> &'static str {
                match self { $($(Self::$variant => $means.trim_ascii(),)+)+ }
            }

            /// Which error carries it.
            pub const fn class(self) -> Class {
                match self { $($(Self::$variant => Class::$class,)+)+ }
            }
        }
    };
}

codes! {
    Device {
        /// No Vulkan loader or driver found.
        NoDriver = 101,
        /// Device lacks a feature that rgraph, a shader or an image needs.
        Missing = 102,
        /// No device matches the selector.
        NoSuchDevice = 103,
        /// Device of a parent process used in a fork.
        Forked = 105,
        /// Validation layer not installed.
        NoLayer = 106,
        /// Device cannot show windows, or was opened without them.
        NoWindow = 107,
        /// Out of memory on the device or the host.
        NoMemory = 110,
        /// Device lost.
        Lost = 120,
        /// Vulkan call or thread failed.
        Failed = 121,
        /// Surface or window lost.
        WindowLost = 122,
        /// Device is closed.
        Closed = 130,
        /// Object belongs to another device.
        Foreign = 131,
    }
    Graph {
        /// Duplicate name of a pass, resource, flag or key.
        DuplicateName = 201,
        /// Unknown name.
        UnknownName = 202,
        /// Read of a resource that no pass writes.
        NeverWritten = 203,
        /// Cycle of passes or files.
        Cycle = 204,
        /// Invalid size: zero, overflow, or not computable.
        BadSize = 205,
        /// Size mismatch of attachments, resolves or histories.
        SizeMismatch = 206,
        /// Format does not support the usage.
        BadFormat = 207,
        /// Unsupported sample count.
        BadSamples = 208,
        /// Range is empty or outside the resource.
        BadRange = 209,
        /// Invalid `modifies`.
        BadModifies = 210,
        /// Queue does not support the pass.
        BadQueue = 211,
        /// Limit of the profile exceeded.
        OverLimit = 212,
        /// Invalid number: NaN, infinite, fractional or out of range.
        BadNumber = 213,
        /// No root: no pass would run.
        NoRoot = 214,
        /// Conditional output is undefined while the flag is off.
        BadCondition = 215,
        /// Invalid history.
        BadHistory = 216,
        /// Conflicting accesses in one pass.
        BadAccess = 217,
        /// Usage does not fit the kind of resource.
        BadUsage = 218,
        /// Empty or overlong name.
        BadName = 219,
        /// Invalid profile.
        BadProfile = 220,
        /// Memory of the profile exceeded.
        OutOfMemory = 221,
        /// Malformed file.
        BadFile = 222,
        /// Declaration too large to plan.
        TooLarge = 223,
        /// Work does not match the accesses of its pass.
        BadWork = 224,
        /// Input, output array or parameter does not match the graph.
        BadInput = 225,
        /// Result depends on undeclared accesses.
        Undeclared = 226,
        /// Profile lacks an optional feature that a pass needs.
        MissingFeature = 227,
    }
    Shader {
        /// Shader does not compile.
        BadShader = 301,
        /// Entry point missing or ambiguous.
        EntryPoint = 302,
        /// Fragment inputs do not match the vertex outputs.
        StageMismatch = 303,
        /// Conflicting or unsupported binding.
        Unsupported = 304,
        /// Invalid SPIR-V.
        BadSpirv = 305,
        /// Data does not match the type in the shader.
        BadLayout = 306,
        /// SPIR-V refused by the Khronos validator.
        InvalidSpirv = 307,
        /// Unknown constant of a shader.
        UnknownConstant = 308,
    }
    Graph {
        /// Resource does not match the variable of the shader.
        BadBinding = 310,
        /// Unbound variable of a shader.
        MissingBinding = 311,
        /// Unknown binding.
        UnknownBinding = 312,
        /// Shader data missing or unused.
        BadData = 313,
        /// Workgroup count not given and not inferable from the outputs.
        BadGroups = 314,
        /// Colour targets do not match the outputs of the shader.
        BadTarget = 315,
        /// Vertex buffers do not match the inputs of the shader.
        BadVertices = 316,
        /// Invalid transfer.
        BadTransfer = 317,
        /// Array does not fit the resource.
        BadArray = 320,
    }
    Busy {
        // 401 was a device that could not be closed while views of its results were alive.
        /// Callback waits for the device that waits for it.
        WaitsForItself = 402,
        /// Contents of a compiled graph handed over to a later one.
        HandedOver = 403,
        /// Wait for a semaphore that nobody signals.
        NeverSignalled = 404,
    }
    NotReady {
        /// Graph is still being compiled.
        NotReady = 405,
    }
    Plan {
        /// Malformed plan: command, id or range out of bounds.
        Malformed = 501,
        /// Plan deadlocks: its queues wait for each other.
        Deadlock = 502,
        /// Plan is ambiguous: results depend on the order of its queues.
        Diverges = 503,
        /// Plan violates its graph.
        Unsound = 504,
        /// Hazard without synchronization, or invalid certificate.
        Unproven = 505,
    }
    Batch {
        /// Task of a batch failed.
        TaskFailed = 601,
        /// Worker of a batch lost.
        WorkerLost = 602,
        /// No worker or scheduler for a batch.
        NoWorker = 603,
    }
    Internal {
        /// Internal error of rgraph.
        Internal = 901,
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}
