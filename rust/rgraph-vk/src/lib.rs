//! Runs plans on Vulkan 1.3: an obedient executor that decides nothing.
//!
//! A [`Device`] compiles a [`work::Workload`] (a declaration, and what its passes do) into a [`Compiled`] graph, which
//! runs as often as wanted; each run is a [`Frame`] whose roots can be read.
#![deny(clippy::undocumented_unsafe_blocks)]

mod bind;
pub mod bulk;
mod cache;
mod chaos;
mod chunk;
mod clock;
mod compiled;
mod context;
mod convert;
mod copy;
mod create;
mod descriptor;
mod device;
mod diagnose;
pub mod disk;
mod draw_checks;
mod driver;
mod enter;
mod error;
pub mod file;
mod foreign;
mod frame;
pub mod front;
mod garbage;
mod host;
mod inside;
mod locked;
mod memory;
mod onetime;
mod physical;
mod pipeline;
mod prepared;
mod process;
mod queue;
mod raster;
mod record;
mod rendering;
mod report;
mod resource;
mod run;
mod scene;
mod sets;
mod spirv;
mod staged;
mod staging;
mod state;
mod store;
mod submit;
mod subpass;
pub mod texel;
mod timing;
mod transfer;
pub mod validate;
mod variant;
pub mod words;
pub mod work;

pub use chaos::{ChaosOptions, ChaosReport, ChaosRow, Finding, Switch};
pub use compiled::{Compiled, Inputs, Poll, Upload};
pub use context::{EntryTable, INSTALL};
pub use device::{BorrowedDevice, Device, DeviceOptions, devices};
pub use diagnose::{DeviceDiagnosis, Diagnosis, Feature, Layer, diagnose};
pub use error::{BusyError, Code, DeviceError, Error, PlanError};
pub use frame::{Frame, Readback};
pub use locked::Locked;
pub use memory::{DomainReport, HeapReport, MemoryReport};
pub use physical::{DeviceInfo, DeviceKind, Family, HeapInfo};
pub use process::{PerProcess, Process};
pub use queue::Point;
pub use report::{FrameReport, HostSpan, PassTime};
pub use resource::{BorrowedHandle, Resource};
pub use state::ResourceState;
