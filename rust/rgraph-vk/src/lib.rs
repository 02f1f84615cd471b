//! Runs plans on Vulkan 1.3: an obedient executor that decides nothing.
//!
//! A [`Device`] compiles a [`work::Workload`] (a declaration, and what its passes do) into a [`Compiled`] graph, which
//! runs as often as wanted; each run is a [`Frame`] whose roots can be read.
//!
//! # Features
//!
//! All are on by default, and SPIR-V is always taken.
//!
//! - `wgsl`: WGSL shaders, through naga.
//! - `glsl`: GLSL shaders, through glslang, which takes a C++ compiler and a minute of CPU time to build.
//! - `png`: pictures of graph files may be PNG; without it they are NPY or raw texels.
//! - `parallel`: large plans and raw passes are recorded on several threads, of rayon's global pool unless
//!   [`DeviceOptions`] lends some.
#![cfg_attr(not(test), warn(unreachable_pub))]
#![deny(clippy::undocumented_unsafe_blocks)]

mod bridge;
pub mod bulk;
mod capture;
mod chaos;
mod compile;
mod convert;
#[cfg(test)]
#[path = "../tests/support/demand.rs"]
mod demand;
mod device;
mod devices;
mod error;
pub mod file;
mod frame;
mod memory;
mod run;
mod tune;
pub mod validate;
pub mod walk;
mod window;
pub mod work;

pub use bridge::CopyWay;
pub use capture::{Capture, CaptureFile, Difference, MOST_FRAMES, Replay, ReplayOptions, ReplayedFrame};
pub use chaos::{ChaosFinding, ChaosOptions, ChaosReport, ChaosRow, Switch};
pub use compile::pipeline::pipelines_made_so_far;
pub use device::context::EntryTable;
pub use device::diagnose::{DeviceDiagnosis, Diagnosis, Feature, Layer, diagnose};
pub use device::exit::prepare_exit;
pub use device::external::{RunFence, SemaphoreSignal, SemaphoreWait};
pub use device::fence::Fence;
pub use device::foreign_wait::Patience;
pub use device::lend::{HostAllocator, JobThreads, LentMemory, MemoryRequest, MemorySource};
pub use device::open::give_up_preparations;
pub use device::open_wait::CLOSE_PATIENCE;
pub use device::physical::{DeviceInfo, DeviceKind, HeapInfo, QueueFamily};
pub use device::poll::Poll;
pub use device::process::{PerProcess, Process};
pub use device::queue::{DeviceQueueId, Point, QueueLock};
pub use device::semaphore::Semaphore;
pub use device::{BorrowedDevice, BorrowedQueue, Device, DeviceOptions, EnabledFeatures, devices};
pub use devices::{CompiledDevices, CopyPrice, Devices, DevicesFrame};
pub use error::{BusyError, Code, DeviceError, Error, PlanError};
pub use frame::inputs::{Inputs, Upload};
pub use frame::measure::Measure;
pub use frame::raw::{RawBuffer, RawContext, RawImage, RawRendering, RawView, RawWork};
pub use frame::report::{FrameReport, HostSpan};
pub use frame::target_change::{Target, TargetChange};
pub use frame::timing::PassTime;
pub use memory::left::ResourceLeft;
pub use memory::locked::Locked;
pub use memory::readback::Readback;
pub use memory::resource::{BorrowedHandle, DeviceResource};
pub use memory::share::{BinarySemaphore, Holder, Origin, SemaphoreFd, SharedMemory, SharedMemoryInfo, SharedPlace};
pub use memory::state::ResourceState;
pub use memory::{DomainReport, HeapReport, MemoryReport};
pub use rgraph_work::{texel, vertex};
pub use run::compiled::Compiled;
pub use run::frame::Frame;
pub use run::prepare::{Preparation, PreparationTask};
pub use tune::{Background, Job, Measured, Tuner, TunerOptions};
pub use window::{Color, Fit, PresentMode, Shown, Surface, Window, WindowInfo, WindowOptions};
