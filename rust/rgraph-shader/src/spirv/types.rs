//! Types of SPIR-V as layouts, stage inputs and formats.

use super::{Binary, Instruction, class, decoration, op};
use crate::block::{Block, Member, Scalar, Type};
use crate::interface::{BindingKind, Dimension, SampleKind};
use crate::type_limits::{DEEPEST, MOST_PARTS, too_large};
use rgraph_ir::format::Format;

/// A type as it is declared.
#[derive(Clone, Debug)]
pub(super) enum Form {
    Number(Scalar),
    Vector(u32, u32),
    Matrix(u32, u32),
    Image {
        sampled_type: u32,
        dim: u32,
        depth: u32,
        arrayed: bool,
        multisampled: bool,
        sampled: u32,
        format: u32,
    },
    Sampler,
    AccelerationStructure,
    SampledImage(u32),
    Array(u32, u32),
    RuntimeArray(u32),
    Struct(Vec<u32>),
    Pointer(u32, u32),
    /// Numbers of unusual widths, and types of extensions.
    Other,
}

impl Form {
    /// The type that an instruction declares, and its id.
    pub(super) fn read(instruction: Instruction<'_>) -> Option<(u32, Self)> {
        let at = |index| instruction.at(index);
        let form = match instruction.op {
            op::TYPE_BOOL => Self::Number(Scalar::Bool),
            op::TYPE_INT => match (at(1), at(2)) {
                (32, 0) => Self::Number(Scalar::U32),
                (32, _) => Self::Number(Scalar::I32),
                (8, 0) => Self::Number(Scalar::U8),
                (8, _) => Self::Number(Scalar::I8),
                (16, 0) => Self::Number(Scalar::U16),
                (16, _) => Self::Number(Scalar::I16),
                (64, 0) => Self::Number(Scalar::U64),
                (64, _) => Self::Number(Scalar::I64),
                _ => Self::Other,
            },
            op::TYPE_FLOAT => match at(1) {
                16 => Self::Number(Scalar::F16),
                32 => Self::Number(Scalar::F32),
                64 => Self::Number(Scalar::F64),
                _ => Self::Other,
            },
            op::TYPE_VECTOR => Self::Vector(at(1), at(2)),
            op::TYPE_MATRIX => Self::Matrix(at(1), at(2)),
            op::TYPE_IMAGE => Self::Image {
                sampled_type: at(1),
                dim: at(2),
                depth: at(3),
                arrayed: at(4) != 0,
                multisampled: at(5) != 0,
                sampled: at(6),
                format: at(7),
            },
            op::TYPE_SAMPLER => Self::Sampler,
            op::TYPE_ACCELERATION_STRUCTURE => Self::AccelerationStructure,
            op::TYPE_SAMPLED_IMAGE => Self::SampledImage(at(1)),
            op::TYPE_ARRAY => Self::Array(at(1), at(2)),
            op::TYPE_RUNTIME_ARRAY => Self::RuntimeArray(at(1)),
            op::TYPE_STRUCT => Self::Struct(instruction.from(1).to_vec()),
            op::TYPE_POINTER => Self::Pointer(at(1), at(2)),
            _ => return None,
        };
        Some((at(0), form))
    }
}

/// How a member of a struct says that its matrices lie.
#[derive(Clone, Copy, Default)]
struct Rows {
    stride: u32,
    row_major: bool,
}

impl Binary<'_> {
    pub(super) fn form(&self, id: u32) -> &Form {
        self.types.get(&id).unwrap_or(&Form::Other)
    }

    /// The value of an integer of 32 bits that is known before the module runs.
    pub(super) fn number(&self, id: u32) -> Option<u32> {
        self.constants.get(id).and_then(|value| u32::try_from(value).ok())
    }

    /// What a pointer type points to.
    pub(super) fn pointee(&self, pointer: u32) -> Option<u32> {
        match self.form(pointer) {
            Form::Pointer(_, to) => Some(*to),
            _ => None,
        }
    }

    /// The layout of data; `Err`: why it has none. `parts` counts those of the layouts before it.
    pub(super) fn layout(&self, id: u32, parts: &mut u32) -> Result<Type, String> {
        self.lay(id, Rows::default(), 0, parts)
    }

    fn lay(&self, id: u32, rows: Rows, depth: u32, parts: &mut u32) -> Result<Type, String> {
        *parts += 1;
        if depth > DEEPEST || *parts > MOST_PARTS {
            return Err(too_large());
        }
        let array = |of: u32, len: Option<u32>, parts: &mut u32| {
            let of = self.lay(of, rows, depth + 1, parts)?;
            let stride = self.decoration(id, decoration::ARRAY_STRIDE).ok_or("an array in it has no ArrayStride")?;
            if stride < of.size() || u64::from(stride) * u64::from(len.unwrap_or(1)) > u64::from(u32::MAX) {
                return Err(format!("an array in it has a stride of {stride} bytes, which does not fit {of}"));
            }
            Ok(Type::Array { of: Box::new(of), len, stride })
        };
        match self.form(id) {
            Form::Number(scalar) => Ok(Type::Scalar(*scalar)),
            Form::Vector(of, len) => match (self.form(*of), *len) {
                (Form::Number(scalar), 2..=4) => Ok(Type::Vector(*scalar, *len)),
                _ => Err("a vector in it is not of two to four numbers".to_owned()),
            },
            Form::Matrix(column, columns) => match (self.lay(*column, rows, depth + 1, parts)?, *columns) {
                (Type::Vector(scalar, height), 2..=4) => {
                    let Rows { stride, row_major } = rows;
                    if stride < scalar.size() * if row_major { *columns } else { height } || stride > 1 << 16 {
                        return Err("a matrix in it has no MatrixStride that fits".to_owned());
                    }
                    Ok(Type::Matrix { scalar, columns: *columns, rows: height, stride, row_major })
                }
                _ => Err("a matrix in it is not of two to four vectors".to_owned()),
            },
            Form::Array(of, len) => {
                let len = self.number(*len).ok_or("an array in it has a length that is computed")?;
                array(*of, Some(len), parts)
            }
            Form::RuntimeArray(of) => array(*of, None, parts),
            Form::Struct(members) => self.block(id, members, depth, parts).map(Type::Struct),
            Form::Pointer(class::PHYSICAL_STORAGE_BUFFER, _) => Ok(Type::Scalar(Scalar::U64)),
            _ => Err("a type in it cannot lie in a buffer, or is not supported there".to_owned()),
        }
    }

    fn block(&self, id: u32, members: &[u32], depth: u32, parts: &mut u32) -> Result<Block, String> {
        let name = self.names.get(&id).cloned().unwrap_or_default();
        // Long names count like many parts: they are copied wherever the type occurs.
        *parts += (name.len() / 64) as u32;
        let mut block = Block { name, members: Vec::new(), size: 0 };
        for (index, ty) in (0_u32..).zip(members) {
            let name = self.member_names.get(&(id, index)).filter(|name| !name.is_empty());
            let name = name.cloned().unwrap_or_else(|| format!("member{index}"));
            *parts += (name.len() / 64) as u32;
            let rows = Rows {
                stride: self.member(id, index, decoration::MATRIX_STRIDE).unwrap_or(0),
                row_major: self.member(id, index, decoration::ROW_MAJOR).is_some(),
            };
            let ty = self.lay(*ty, rows, depth + 1, parts)?;
            let offset = self.member(id, index, decoration::OFFSET).ok_or_else(|| format!("'{name}' has no Offset"))?;
            let end = offset.checked_add(ty.size()).ok_or_else(|| format!("'{name}' ends beyond 4 GiB"))?;
            block.size = block.size.max(end);
            block.members.push(Member { name, offset, ty });
        }
        block.members.sort_by_key(|member| member.offset);
        if block.members.iter().rev().skip(1).any(|member| member.ty.open_stride().is_some()) {
            return Err("an array of open length in it is not the last member".to_owned());
        }
        Ok(block)
    }

    /// The type of a binding without the array around it, and how many there are.
    pub(super) fn elements(&self, mut id: u32) -> Result<(u32, u32), String> {
        let mut count = 1_u32;
        for _ in 0..DEEPEST {
            match self.form(id) {
                Form::Array(of, len) => {
                    let len = self.number(*len).unwrap_or(0);
                    count = count
                        .checked_mul(len)
                        .filter(|count| (1..=1 << 20).contains(count))
                        .ok_or("its length is not supported")?;
                    id = *of;
                }
                // Of an array of open length only the type is known.
                Form::RuntimeArray(of) => return Ok((*of, 0)),
                _ => return Ok((id, count)),
            }
        }
        Err("its type has no end".to_owned())
    }

    /// What an image, a sampler or an acceleration structure is. `index`: of an input attachment.
    pub(super) fn opaque(&self, id: u32, index: u32, compares: bool) -> Result<BindingKind, String> {
        let (image, combined) = match self.form(id) {
            Form::Sampler => return Ok(BindingKind::Sampler { comparison: compares }),
            Form::AccelerationStructure => return Ok(BindingKind::AccelerationStructure),
            Form::SampledImage(image) => (*image, true),
            _ => (id, false),
        };
        let Form::Image { sampled_type, dim, depth, arrayed, multisampled, sampled, format } = *self.form(image) else {
            return Err("its type is not supported".to_owned());
        };
        let sample = match self.form(sampled_type) {
            Form::Number(Scalar::I32 | Scalar::I64) => SampleKind::Int,
            Form::Number(Scalar::U32 | Scalar::U64) => SampleKind::Uint,
            _ if sampled != 2 && (depth == 1 || compares) => SampleKind::Depth,
            _ => SampleKind::Float,
        };
        let dimension = match dim {
            0 => Dimension::D1,
            // Rectangles are planes whose texels are counted: no device of Vulkan takes their capability.
            1 | 4 => Dimension::D2,
            2 => Dimension::D3,
            3 => Dimension::Cube,
            5 => {
                let (storage, named) = (sampled == 2, self::format(format)?);
                let sample = if sample == SampleKind::Depth { SampleKind::Float } else { sample };
                return Ok(BindingKind::Texels { storage, format: named.filter(|_| storage), sample });
            }
            6 => return Ok(BindingKind::InputAttachment { index }),
            _ => return Err(format!("images of dimension {dim} are not supported")),
        };
        match (sampled, combined) {
            (2, false) => Ok(BindingKind::Image { dimension, arrayed, format: self::format(format)?, sample }),
            (_, false) => Ok(BindingKind::Sampled { dimension, arrayed, multisampled, sample }),
            (_, true) => Ok(BindingKind::Combined { dimension, arrayed, multisampled, sample }),
        }
    }

    /// A number or vector between stages, or several at locations one after the other.
    pub(super) fn varyings(&self, id: u32) -> Result<Vec<(Scalar, u32)>, String> {
        self.vary(id, 0)
    }

    fn vary(&self, id: u32, depth: u32) -> Result<Vec<(Scalar, u32)>, String> {
        let repeat = |of: u32, count: u32| {
            let of = self.vary(of, depth + 1)?;
            if of.len() as u64 * u64::from(count) > 256 || depth > DEEPEST {
                return Err("it takes more than 256 locations".to_owned());
            }
            Ok(of.repeat(count as usize))
        };
        match self.form(id) {
            Form::Number(scalar) => Ok(vec![(*scalar, 1)]),
            Form::Vector(of, len) => match (self.form(*of), *len) {
                (Form::Number(scalar), 2..=4) => Ok(vec![(*scalar, *len)]),
                _ => Err("its type is not supported between stages".to_owned()),
            },
            Form::Matrix(of, count) if depth <= DEEPEST => repeat(*of, *count),
            Form::Struct(members) if depth <= DEEPEST => {
                let mut all = Vec::new();
                for member in members {
                    all.extend(self.vary(*member, depth + 1)?);
                    if all.len() > 256 {
                        return Err("it takes more than 256 locations".to_owned());
                    }
                }
                Ok(all)
            }
            Form::Array(of, len) if depth <= DEEPEST => repeat(*of, self.number(*len).unwrap_or(0)),
            _ => Err("its type is not supported between stages".to_owned()),
        }
    }
}

/// The format of a storage image; `None`: the shader names none.
fn format(number: u32) -> Result<Option<Format>, String> {
    const FORMATS: [Format; 39] = [
        Format::Rgba32float,
        Format::Rgba16float,
        Format::R32float,
        Format::Rgba8unorm,
        Format::Rgba8snorm,
        Format::Rg32float,
        Format::Rg16float,
        Format::Rg11b10ufloat,
        Format::R16float,
        Format::Rgba16unorm,
        Format::Rgb10a2unorm,
        Format::Rg16unorm,
        Format::Rg8unorm,
        Format::R16unorm,
        Format::R8unorm,
        Format::Rgba16snorm,
        Format::Rg16snorm,
        Format::Rg8snorm,
        Format::R16snorm,
        Format::R8snorm,
        Format::Rgba32sint,
        Format::Rgba16sint,
        Format::Rgba8sint,
        Format::R32sint,
        Format::Rg32sint,
        Format::Rg16sint,
        Format::Rg8sint,
        Format::R16sint,
        Format::R8sint,
        Format::Rgba32uint,
        Format::Rgba16uint,
        Format::Rgba8uint,
        Format::R32uint,
        Format::Rgb10a2uint,
        Format::Rg32uint,
        Format::Rg16uint,
        Format::Rg8uint,
        Format::R16uint,
        Format::R8uint,
    ];
    match number.checked_sub(1) {
        None => Ok(None),
        Some(index) => match FORMATS.get(index as usize) {
            Some(format) => Ok(Some(*format)),
            None => Err(match number {
                40 | 41 => {
                    let name = if number == 40 { "r64ui" } else { "r64i" };
                    format!("storage images of {name} are not supported: VK_EXT_shader_image_atomic_int64")
                }
                _ => format!("storage images of SPIR-V format {number} are not supported"),
            }),
        },
    }
}
