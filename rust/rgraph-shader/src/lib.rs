//! Shaders as the render graph sees them: WGSL, Vulkan GLSL or SPIR-V in; SPIR-V, binding names, accesses and data
//! layouts out. No Vulkan here: what a shader asks of its pass is known before any device is.
#![cfg_attr(not(test), warn(unreachable_pub))]
#![forbid(unsafe_code)]

pub mod block;
mod constant;
pub mod error;
#[cfg_attr(not(feature = "glsl"), path = "glsl_absent.rs")]
mod glsl;
mod handles;
pub mod include;
pub mod inline;
mod interface;
mod known;
mod language;
mod lengths;
mod link;
mod loaded;
mod naga_type;
mod pack;
mod pointers;
mod points;
pub mod program;
mod reflection;
mod scan;
mod source;
mod spirv;
mod stage;
mod stage_interface;
#[cfg(feature = "glsl")]
mod stored;
mod text;
mod unpack;
mod wgsl_absent;

pub use block::{Block, Member, Scalar, Type, Value};
pub use constant::{Constant, Constants, SpecConstant};
pub use error::ShaderError;
pub use include::{Included, IncludedFile};
pub use interface::{
    Binding, BindingKind, Dimension, Interface, Length, Output, Push, Refused, SampleKind, VertexInput,
};
pub use known::{MOST_KNOWN, Remembered};
pub use language::Language;
pub use program::{Parts, Program};
pub use reflection::{Reflection, StageReflection};
pub use source::{Given, GivenCode, Source, named};
pub use spirv::constants::numbers;
pub use stage::{Kind, Module, Stage};
