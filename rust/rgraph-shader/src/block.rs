//! How data lies in a uniform block, a push-constant block or a storage buffer, and how values are written into it.

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
    /// Columns of rows; `stride` bytes from column to column.
    Matrix {
        /// Kind of number.
        scalar: Scalar,
        /// Number of columns.
        columns: u32,
        /// Number of rows.
        rows: u32,
        /// Bytes from column to column.
        stride: u32,
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
    /// Its name.
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
    /// A float.
    Float(f64),
    /// Several values: a vector, a matrix (of columns) or an array.
    List(Vec<Value>),
    /// Members by name.
    Map(Vec<(String, Value)>),
    /// Bytes exactly as they lie in memory.
    Bytes(Vec<u8>),
}
