//! What a shader asks of its pass: bindings with their accesses, push data, vertex inputs, colour outputs.

use crate::block::{Scalar, Type};
use crate::constant::SpecConstant;
use crate::error::ShaderError;
use rgraph_ir::access::{Stages, Usage};

/// The length of an array of bindings that its shader leaves open.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Length {
    /// Descriptor set.
    pub group: u32,
    /// Binding within the set.
    pub binding: u32,
    /// How many descriptors, at least one.
    pub count: u32,
}

/// Everything that a program asks of its pass; stages merged.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Interface {
    /// Bindings by (group, binding).
    pub bindings: Vec<Binding>,
    /// Push data, if any.
    pub push: Option<Push>,
    /// Invocations of a workgroup in x, y, z; zeros for raster and ray-tracing programs.
    pub workgroup: [u32; 3],
    /// Inputs of the vertex stage by location.
    pub vertex_inputs: Vec<VertexInput>,
    /// Colour outputs of the fragment stage by location.
    pub outputs: Vec<Output>,
    /// Whether the fragment stage writes the depth itself.
    pub writes_depth: bool,
    /// Further names of bindings: variables of one group and binding are one resource under several names (Vulkan 1.3,
    /// "Descriptor Set and Binding Assignment"). Name, group, binding.
    pub aliases: Vec<(String, u32, u32)>,
    /// Bindings that no pass can fill: of a [`Program`](crate::Program) none, since the first of them refuses it.
    pub refused: Vec<Refused>,
    /// Names of bindings that the shader declares and does not use: they take nothing.
    pub unused: Vec<String>,
    /// Whether the shader declares push data and uses none: it takes any, and nothing is pushed.
    pub unused_push: bool,
    /// Constants that take values when the program is made, by name; with the defaults of the shader.
    pub constants: Vec<SpecConstant>,
}

/// A resource that a shader uses.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Binding {
    /// The variable's name; of a block without instance name, the block's.
    pub name: String,
    /// Descriptor set.
    pub group: u32,
    /// Binding within the set.
    pub binding: u32,
    /// Number of descriptors: 1, or the length of an array; 0: an array of open length, which gets one when it is bound
    /// ([`Program::with_lengths`](crate::Program::with_lengths)).
    pub count: u32,
    /// What it is.
    pub kind: BindingKind,
    /// Stages that use it.
    pub stages: Stages,
    /// Whether any stage reads it.
    pub reads: bool,
    /// Whether any stage writes it.
    pub writes: bool,
    /// Layout of the data, of buffers.
    pub ty: Option<Type>,
}

/// A binding that no pass can fill.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// The variable's name; of a block without instance name, the block's.
    pub name: String,
    /// Descriptor set, if it has one.
    pub group: Option<u32>,
    /// Binding within the set, if it has one.
    pub binding: Option<u32>,
    pub fault: ShaderError,
}

/// What a binding is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BindingKind {
    /// Uniform buffer.
    Uniform,
    /// Storage buffer.
    Storage,
    /// Image that is sampled or fetched from, without a sampler of its own.
    Sampled {
        /// Shape of its view.
        dimension: Dimension,
        /// Whether it is an array of layers.
        arrayed: bool,
        /// Whether it is multisampled.
        multisampled: bool,
        /// What a texel reads as.
        sample: SampleKind,
    },
    /// The same together with its sampler (GLSL and SPIR-V).
    Combined {
        /// Shape of its view.
        dimension: Dimension,
        /// Whether it is an array of layers.
        arrayed: bool,
        /// Whether it is multisampled.
        multisampled: bool,
        /// What a texel reads as.
        sample: SampleKind,
    },
    /// Storage image.
    Image {
        /// Shape of its view.
        dimension: Dimension,
        /// Whether it is an array of layers.
        arrayed: bool,
        /// The format that the shader names, if it names one.
        format: Option<rgraph_ir::format::Format>,
        /// What a texel reads as.
        sample: SampleKind,
    },
    /// Buffer read as texels of a format: a texel buffer (GLSL and SPIR-V).
    Texels {
        /// Whether it is a storage texel buffer, which stages write too.
        storage: bool,
        /// The format that the shader names, if it names one.
        format: Option<rgraph_ir::format::Format>,
        /// What a texel reads as.
        sample: SampleKind,
    },
    Sampler {
        /// Whether it compares.
        comparison: bool,
    },
    /// Acceleration structure that rays are traced through (GLSL and SPIR-V).
    AccelerationStructure,
    /// Input attachment (GLSL and SPIR-V).
    InputAttachment { index: u32 },
}

/// Shapes of image views.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dimension {
    /// A line.
    D1,
    /// A plane.
    D2,
    /// A volume.
    D3,
    /// Six planes.
    Cube,
}

/// What a texel reads as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SampleKind {
    Float,
    /// Signed integers.
    Int,
    /// Unsigned integers.
    Uint,
    Depth,
}

/// Push data: one block over all stages.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Push {
    /// The variable's name.
    pub name: String,
    /// Layout.
    pub ty: Type,
    /// Bytes, a multiple of 4.
    pub size: u32,
    /// Stages that read it.
    pub stages: Stages,
}

/// An input of the vertex stage.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VertexInput {
    pub name: String,
    pub location: u32,
    /// Kind of number.
    pub scalar: Scalar,
    /// One to four.
    pub components: u32,
}

/// A colour output of the fragment stage.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Output {
    pub name: String,
    /// Its location: the position of the colour target.
    pub location: u32,
    /// Kind of number.
    pub scalar: Scalar,
    /// One to four.
    pub components: u32,
}

impl Binding {
    /// The usage that this binding makes of its resource; `None`: a sampler, which is no resource.
    pub fn usage(&self) -> Option<Usage> {
        Some(match self.kind {
            BindingKind::Uniform => Usage::Uniform,
            BindingKind::Sampled { .. } | BindingKind::Combined { .. } | BindingKind::Texels { storage: false, .. } => {
                Usage::Sampled
            }
            BindingKind::InputAttachment { .. } => Usage::InputAttachment,
            BindingKind::AccelerationStructure => Usage::AccelerationRead,
            BindingKind::Sampler { .. } => return None,
            BindingKind::Storage | BindingKind::Image { .. } | BindingKind::Texels { .. } => {
                match (self.reads, self.writes) {
                    (_, false) => Usage::StorageRead,
                    (false, true) => Usage::StorageWrite,
                    (true, true) => Usage::StorageReadWrite,
                }
            }
        })
    }
}

impl Interface {
    /// The binding of that name.
    pub fn find(&self, name: &str) -> Option<(usize, &Binding)> {
        self.bindings.iter().enumerate().find(|(_, binding)| self.is_called(binding, name))
    }

    /// Whether a binding has that name, or it is one of its further names.
    pub fn is_called(&self, binding: &Binding, name: &str) -> bool {
        let place = (binding.group, binding.binding);
        binding.name == name
            || self.aliases.iter().any(|(alias, group, slot)| alias == name && (*group, *slot) == place)
    }
}
