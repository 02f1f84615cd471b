//! How data lies in a uniform block, a push-constant block or a storage buffer, and how values are written into it.

use std::fmt;

/// Kinds of number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scalar {
    /// 32-bit float.
    F32,
    /// 16-bit float.
    F16,
    /// 64-bit float.
    F64,
    /// 32-bit signed integer.
    I32,
    /// 32-bit unsigned integer.
    U32,
    /// 64-bit signed integer.
    I64,
    /// 64-bit unsigned integer.
    U64,
    /// 16-bit signed integer.
    I16,
    /// 16-bit unsigned integer.
    U16,
    /// 8-bit signed integer.
    I8,
    /// 8-bit unsigned integer.
    U8,
    /// Boolean, stored as 32 bits.
    Bool,
}

/// A type with its layout in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Type {
    /// One number.
    Scalar(Scalar),
    /// Two to four numbers.
    Vector(Scalar, u32),
    /// Columns of rows; `stride` bytes from column to column, or from row to row where rows come one after the other.
    Matrix {
        /// Kind of number.
        scalar: Scalar,
        /// Number of columns.
        columns: u32,
        /// Number of rows.
        rows: u32,
        /// Bytes from column to column, or from row to row.
        stride: u32,
        /// Whether rows come one after the other (GLSL's `row_major`), not columns.
        row_major: bool,
    },
    /// Several of one type; `len` `None`: as many as the buffer holds.
    Array {
        /// Element type.
        of: Box<Type>,
        /// Number of elements; `None`: as many as the buffer holds.
        len: Option<u32>,
        /// Bytes from element to element.
        stride: u32,
    },
    /// Named members.
    Struct(Block),
}

/// A struct with its layout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// The struct's name.
    pub name: String,
    /// Members in the order of their offsets.
    pub members: Vec<Member>,
    /// Bytes, without a last array of open length.
    pub size: u32,
}

/// A member of a struct.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    pub name: String,
    /// First byte.
    pub offset: u32,
    /// Type and layout.
    pub ty: Type,
}

/// A value of plain data, as scripting languages have it.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// True or false.
    Bool(bool),
    /// An integer.
    Int(i128),
    Float(f64),
    /// Several values: a vector, a matrix (of columns) or an array.
    List(Vec<Value>),
    /// Members by name.
    Map(Vec<(String, Value)>),
    /// Bytes exactly as they lie in memory.
    Bytes(Vec<u8>),
}

impl Scalar {
    /// Bytes of one.
    pub fn size(self) -> u32 {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::F16 | Self::I16 | Self::U16 => 2,
            Self::F32 | Self::I32 | Self::U32 | Self::Bool => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
        }
    }

    /// Whether it is a signed integer of at most 32 bits, as targets and vertex attributes of that kind hold.
    pub fn is_signed(self) -> bool {
        matches!(self, Self::I32 | Self::I16 | Self::I8)
    }

    /// Whether it is an unsigned integer of at most 32 bits.
    pub fn is_unsigned(self) -> bool {
        matches!(self, Self::U32 | Self::U16 | Self::U8)
    }

    /// WGSL's name, or as WGSL would call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::F64 => "f64",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::U64 => "u64",
            Self::I16 => "i16",
            Self::U16 => "u16",
            Self::I8 => "i8",
            Self::U8 => "u8",
            Self::Bool => "bool",
        }
    }
}

impl Type {
    /// Bytes, without an array of open length.
    pub fn size(&self) -> u32 {
        match self {
            Self::Scalar(scalar) => scalar.size(),
            Self::Vector(scalar, components) => scalar.size() * components,
            Self::Matrix { columns, rows, stride, row_major, .. } => stride * if *row_major { rows } else { columns },
            Self::Array { len, stride, .. } => stride.saturating_mul(len.unwrap_or(0)),
            Self::Struct(block) => block.size,
        }
    }

    /// Bytes from element to element of the array of open length that the type is or ends with; `None`: it has a fixed
    /// size.
    pub fn open_stride(&self) -> Option<u32> {
        match self {
            Self::Array { len: None, stride, .. } => Some(*stride),
            Self::Struct(block) => block.members.last().and_then(|member| member.ty.open_stride()),
            _ => None,
        }
    }

    /// The type as WGSL spells it: `vec3<f32>`, `array<Light, 4>`.
    pub fn describe(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(scalar) => f.write_str(scalar.name()),
            Self::Vector(scalar, components) => write!(f, "vec{components}<{}>", scalar.name()),
            Self::Matrix { scalar, columns, rows, .. } => write!(f, "mat{columns}x{rows}<{}>", scalar.name()),
            Self::Array { of, len: Some(len), .. } => write!(f, "array<{of}, {len}>"),
            Self::Array { of, len: None, .. } => write!(f, "array<{of}>"),
            Self::Struct(block) if block.name.is_empty() => f.write_str("struct"),
            Self::Struct(block) => f.write_str(&block.name),
        }
    }
}

impl Value {
    /// What the value is, for messages: `an integer`, `a list of 3`.
    pub fn describe(&self) -> String {
        match self {
            Self::Bool(value) => value.to_string(),
            Self::Int(value) => value.to_string(),
            Self::Float(value) => value.to_string(),
            Self::List(values) => format!("a list of {}", values.len()),
            Self::Map(values) => format!("a mapping of {}", values.len()),
            Self::Bytes(bytes) => format!("{} bytes", bytes.len()),
        }
    }
}
