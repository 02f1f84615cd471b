//! The one list of error codes: of declarations and files, of shaders, of devices, of everything. Each crate takes its own
//! from here; `python/rgraph/errors.md` explains each, and tests raise each and compare what it says.
//!
//! Codes are stable: a number is never used for something else, and never again once it is gone. The first digit says
//! what is spoken of: 1 devices, 2 declarations, files and runs, 3 shaders and what is bound to them, 4 what is in use,
//! 5 plans, 9 rgraph itself.

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
    /// `PlanError`: a plan that cannot be run.
    Plan,
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
            Self::Plan => "PlanError",
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
        /// There is no Vulkan loader, or no driver that answers it.
        NoDriver = 101,
        /// A device lacks something that rgraph, a shader or an image needs.
        Missing = 102,
        /// No device is the one that was asked for.
        NoSuchDevice = 103,
        /// A device was opened in one process and used in its fork.
        Forked = 105,
        /// The validation layer is asked for and not installed.
        NoLayer = 106,
        /// The device or the host is out of memory.
        NoMemory = 110,
        /// The device is lost.
        Lost = 120,
        /// A Vulkan call or a thread failed.
        Failed = 121,
        /// The device is closed.
        Closed = 130,
        /// An object of another device.
        Foreign = 131,
    }
    Graph {
        /// Two passes, two resources or two flags of one kind have the same name.
        DuplicateName = 201,
        /// A name that nothing declared.
        UnknownName = 202,
        /// A read of what nobody writes.
        NeverWritten = 203,
        /// Passes that must run before each other.
        Cycle = 204,
        /// A size of zero, one that overflows, or one that cannot be computed.
        BadSize = 205,
        /// Attachments, resolves or histories whose sizes cannot match.
        SizeMismatch = 206,
        /// A format that a usage cannot have.
        BadFormat = 207,
        /// A number of samples that cannot be.
        BadSamples = 208,
        /// Mips, layers, aspects or bytes outside the resource, or an empty range.
        BadRange = 209,
        /// A `modifies` that cannot hold.
        BadModifies = 210,
        /// A queue that cannot do what a pass asks.
        BadQueue = 211,
        /// More than the profile's limits.
        OverLimit = 212,
        /// A number that is not one: NaN, infinite or negative where it may not be.
        BadNumber = 213,
        /// No root: nothing would run.
        NoRoot = 214,
        /// A conditional pass whose output holds nothing while the flag is off.
        BadCondition = 215,
        /// A history that cannot be kept.
        BadHistory = 216,
        /// Two accesses of one pass that contradict each other.
        BadAccess = 217,
        /// A usage on a resource of the wrong kind.
        BadUsage = 218,
        /// A name that is empty or too long.
        BadName = 219,
        /// A profile that cannot be used.
        BadProfile = 220,
        /// More memory than the profile has.
        OutOfMemory = 221,
        /// A file that is not what its format says.
        BadFile = 222,
        /// A declaration that is too large to plan.
        TooLarge = 223,
        /// Work of a pass that does not fit what the pass declares.
        BadWork = 224,
        /// An input, an output array or a parameter of a run that does not fit the graph.
        BadInput = 225,
        /// A result that depends on what nothing declares.
        Undeclared = 226,
    }
    Shader {
        /// A shader that does not compile.
        BadShader = 301,
        /// An entry point that is missing, or one of several that nobody chose.
        EntryPoint = 302,
        /// A fragment stage that reads what the vertex stage does not write.
        StageMismatch = 303,
        /// A binding that clashes with another, or is of a kind that is not supported.
        Unsupported = 304,
        /// SPIR-V that is none.
        BadSpirv = 305,
        /// Data that does not fit the type that a shader reads.
        BadLayout = 306,
        /// SPIR-V that the Khronos validator refuses.
        InvalidSpirv = 307,
    }
    Graph {
        /// A resource that is not what the shader's variable is.
        BadBinding = 310,
        /// A variable of a shader that nothing is bound to.
        MissingBinding = 311,
        /// A binding that the shader does not have.
        UnknownBinding = 312,
        /// Data that a shader does not read, or reads and is not given.
        BadData = 313,
        /// Workgroups that are not said and cannot be told from what is written.
        BadGroups = 314,
        /// Colour targets that are not what the shader writes.
        BadTarget = 315,
        /// Vertex buffers that are not what the shader reads.
        BadVertices = 316,
        /// A transfer that cannot be.
        BadTransfer = 317,
        /// An array that cannot be read or written as the resource it stands for.
        BadArray = 320,
    }
    Busy {
        // 401 was a device that could not be closed while views of its results were alive.
        /// A function of a pass waits for the device that waits for it.
        WaitsForItself = 402,
    }
    Plan {
        /// A plan whose commands, ids or ranges cannot be.
        Malformed = 501,
        /// A plan whose queues wait for each other.
        Deadlock = 502,
        /// A plan that computes different things in different orders of its queues.
        Diverges = 503,
        /// A plan that breaks rules of its graph, so it does not run.
        Unsound = 504,
        /// A hazard that no synchronization of a plan covers, or a certificate that does not prove its plan.
        Unproven = 505,
    }
    Internal {
        /// A fault of rgraph's own.
        Internal = 901,
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}
