//! Shaders as the render graph sees them: WGSL, Vulkan GLSL or SPIR-V in; SPIR-V, binding names, accesses and data
//! layouts out. No Vulkan here: what a shader asks of its pass is known before any device is.
//!
//! # Features
//!
//! All are on by default, and SPIR-V is always taken.
//!
//! - `wgsl`: WGSL through naga; without it WGSL texts are refused, and so are programs that have a fragment stage
//!   alone.
//! - `glsl`: GLSL through glslang, built with a C++ compiler; without it GLSL texts are refused.
#![cfg_attr(not(test), warn(unreachable_pub))]
#![forbid(unsafe_code)]

pub mod block;
mod constant;
pub mod error;
#[cfg(any(feature = "wgsl", feature = "glsl"))]
mod excerpt;
#[cfg_attr(not(feature = "glsl"), path = "glsl_absent.rs")]
mod glsl;
#[cfg(feature = "wgsl")]
mod handles;
pub mod include;
pub mod inline;
mod interface;
mod known;
mod language;
mod lengths;
mod link;
mod loaded;
#[cfg(feature = "wgsl")]
mod naga_type;
#[cfg(any(feature = "wgsl", feature = "glsl"))]
mod nesting;
mod pack;
#[cfg(feature = "wgsl")]
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
#[cfg_attr(not(feature = "wgsl"), path = "text_absent.rs")]
mod text;
mod type_limits;
mod unpack;
#[cfg(feature = "wgsl")]
mod wgsl_absent;
#[cfg(feature = "wgsl")]
mod wgsl_inline;
#[cfg(feature = "wgsl")]
mod wgsl_spell;

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
