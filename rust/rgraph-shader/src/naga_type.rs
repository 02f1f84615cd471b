//! Naga's types as layouts, stage inputs and formats.

use crate::block::{Block, Member, Scalar, Type};
use crate::interface::{BindingKind, Dimension, SampleKind};
use crate::type_limits::{DEEPEST, MOST_PARTS, too_large};
use naga::{ArraySize, Handle, ImageClass, ImageDimension, ScalarKind, StorageFormat, TypeInner};
use rgraph_ir::format::Format;

/// The layout of a type; `Err`: why it has none. `parts` counts those of the layouts before it.
pub(crate) fn layout(module: &naga::Module, ty: Handle<naga::Type>, parts: &mut u32) -> Result<Type, String> {
    lay(module, ty, 0, parts)
}

fn lay(module: &naga::Module, ty: Handle<naga::Type>, depth: u32, parts: &mut u32) -> Result<Type, String> {
    *parts += 1;
    if depth > DEEPEST || *parts > MOST_PARTS {
        return Err(too_large());
    }
    let named = &module.types[ty];
    Ok(match &named.inner {
        TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => Type::Scalar(number(*scalar)?),
        TypeInner::Vector { size, scalar } => Type::Vector(number(*scalar)?, *size as u32),
        TypeInner::Matrix { columns, rows, scalar } => Type::Matrix {
            scalar: number(*scalar)?,
            columns: *columns as u32,
            rows: *rows as u32,
            stride: if *rows as u32 == 2 { 2 } else { 4 } * u32::from(scalar.width),
            row_major: false,
        },
        TypeInner::Array { base, size, stride } => Type::Array {
            of: Box::new(lay(module, *base, depth + 1, parts)?),
            len: match size {
                ArraySize::Constant(len) => Some(len.get()),
                ArraySize::Dynamic => None,
                ArraySize::Pending(_) => return Err("an override sizes its array".to_owned()),
            },
            stride: *stride,
        },
        TypeInner::Struct { members, span } => {
            let mut block = Block { name: named.name.clone().unwrap_or_default(), members: Vec::new(), size: *span };
            // Long names count like many parts: they are copied wherever the type occurs.
            let letters = |name: &Option<String>| name.as_ref().map_or(0, String::len);
            *parts += ((letters(&named.name) + members.iter().map(|member| letters(&member.name)).sum::<usize>()) / 64)
                as u32;
            for (index, member) in members.iter().enumerate() {
                block.members.push(Member {
                    name: member.name.clone().unwrap_or_else(|| format!("member{index}")),
                    offset: member.offset,
                    ty: lay(module, member.ty, depth + 1, parts)?,
                });
            }
            if let Some(last) = block.members.last().filter(|last| last.ty.open_stride().is_some()) {
                block.size = last.offset + last.ty.size();
            }
            Type::Struct(block)
        }
        _ => return Err("its type cannot lie in a buffer".to_owned()),
    })
}

/// The kind of a number.
pub(crate) fn number(scalar: naga::Scalar) -> Result<Scalar, String> {
    Ok(match (scalar.kind, scalar.width) {
        (ScalarKind::Float, 2) => Scalar::F16,
        (ScalarKind::Float, 4) => Scalar::F32,
        (ScalarKind::Float, 8) => Scalar::F64,
        (ScalarKind::Sint, 2) => Scalar::I16,
        (ScalarKind::Uint, 2) => Scalar::U16,
        (ScalarKind::Sint, 4) => Scalar::I32,
        (ScalarKind::Sint, 8) => Scalar::I64,
        (ScalarKind::Uint, 4) => Scalar::U32,
        (ScalarKind::Uint, 8) => Scalar::U64,
        (ScalarKind::Bool, _) => Scalar::Bool,
        (kind, width) => return Err(format!("{kind:?} of {width} bytes is not supported")),
    })
}

/// A number or vector as what passes between stages.
pub(crate) fn varying(module: &naga::Module, ty: Handle<naga::Type>) -> Result<(Scalar, u32), String> {
    match module.types[ty].inner {
        TypeInner::Scalar(scalar) => Ok((number(scalar)?, 1)),
        TypeInner::Vector { size, scalar } => Ok((number(scalar)?, size as u32)),
        _ => Err("only numbers and vectors pass between stages".to_owned()),
    }
}

/// What an image or sampler is; `None`: neither.
pub(crate) fn opaque(inner: &TypeInner) -> Option<Result<BindingKind, String>> {
    match *inner {
        TypeInner::Sampler { comparison } => Some(Ok(BindingKind::Sampler { comparison })),
        TypeInner::Image { dim, arrayed, class } => Some(image(dim, arrayed, class)),
        TypeInner::AccelerationStructure { .. } => Some(Err("acceleration structures are not supported".to_owned())),
        _ => None,
    }
}

fn image(dim: ImageDimension, arrayed: bool, class: ImageClass) -> Result<BindingKind, String> {
    let dimension = match dim {
        ImageDimension::D1 => Dimension::D1,
        ImageDimension::D2 => Dimension::D2,
        ImageDimension::D3 => Dimension::D3,
        ImageDimension::Cube => Dimension::Cube,
    };
    Ok(match class {
        ImageClass::Sampled { kind, multi: multisampled } => {
            BindingKind::Sampled { dimension, arrayed, multisampled, sample: sample(kind) }
        }
        ImageClass::Depth { multi: multisampled } => {
            BindingKind::Sampled { dimension, arrayed, multisampled, sample: SampleKind::Depth }
        }
        ImageClass::Storage { format, .. } => {
            let sample = sample(naga::Scalar::from(format).kind);
            BindingKind::Image { dimension, arrayed, format: Some(storage(format)?), sample }
        }
        ImageClass::External => return Err("external textures are not supported".to_owned()),
    })
}

fn sample(kind: ScalarKind) -> SampleKind {
    match kind {
        ScalarKind::Sint => SampleKind::Int,
        ScalarKind::Uint => SampleKind::Uint,
        _ => SampleKind::Float,
    }
}

fn storage(format: StorageFormat) -> Result<Format, String> {
    use StorageFormat as S;
    Ok(match format {
        S::R8Unorm => Format::R8unorm,
        S::R8Snorm => Format::R8snorm,
        S::R8Uint => Format::R8uint,
        S::R8Sint => Format::R8sint,
        S::R16Uint => Format::R16uint,
        S::R16Sint => Format::R16sint,
        S::R16Float => Format::R16float,
        S::Rg8Unorm => Format::Rg8unorm,
        S::Rg8Snorm => Format::Rg8snorm,
        S::Rg8Uint => Format::Rg8uint,
        S::Rg8Sint => Format::Rg8sint,
        S::R32Uint => Format::R32uint,
        S::R32Sint => Format::R32sint,
        S::R32Float => Format::R32float,
        S::Rg16Uint => Format::Rg16uint,
        S::Rg16Sint => Format::Rg16sint,
        S::Rg16Float => Format::Rg16float,
        S::Rgba8Unorm => Format::Rgba8unorm,
        S::Rgba8Snorm => Format::Rgba8snorm,
        S::Rgba8Uint => Format::Rgba8uint,
        S::Rgba8Sint => Format::Rgba8sint,
        S::Bgra8Unorm => Format::Bgra8unorm,
        S::Rgb10a2Uint => Format::Rgb10a2uint,
        S::Rgb10a2Unorm => Format::Rgb10a2unorm,
        S::Rg11b10Ufloat => Format::Rg11b10ufloat,
        S::Rg32Uint => Format::Rg32uint,
        S::Rg32Sint => Format::Rg32sint,
        S::Rg32Float => Format::Rg32float,
        S::Rgba16Uint => Format::Rgba16uint,
        S::Rgba16Sint => Format::Rgba16sint,
        S::Rgba16Float => Format::Rgba16float,
        S::Rgba32Uint => Format::Rgba32uint,
        S::Rgba32Sint => Format::Rgba32sint,
        S::Rgba32Float => Format::Rgba32float,
        S::R16Unorm => Format::R16unorm,
        S::R16Snorm => Format::R16snorm,
        S::Rg16Unorm => Format::Rg16unorm,
        S::Rg16Snorm => Format::Rg16snorm,
        S::Rgba16Unorm => Format::Rgba16unorm,
        S::Rgba16Snorm => Format::Rgba16snorm,
        S::R64Uint => return Err("storage images of format r64uint are not supported".to_owned()),
    })
}
