//! Shape and dtype of a buffer: how its bytes are seen as an array.

use super::keys::BufferFields;
use crate::json::{Node, Word};
use rgraph_ir::error::Code;

/// How the bytes of a buffer are seen as an array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Typed {
    /// Axes, the slowest first.
    pub shape: Vec<u64>,
    /// Kind of its numbers.
    pub dtype: Dtype,
}

/// A kind of number, by NumPy's name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dtype {
    name: &'static str,
    bytes: u64,
}

const DTYPES: [Dtype; 11] = [
    Dtype { name: "uint8", bytes: 1 },
    Dtype { name: "int8", bytes: 1 },
    Dtype { name: "uint16", bytes: 2 },
    Dtype { name: "int16", bytes: 2 },
    Dtype { name: "float16", bytes: 2 },
    Dtype { name: "uint32", bytes: 4 },
    Dtype { name: "int32", bytes: 4 },
    Dtype { name: "float32", bytes: 4 },
    Dtype { name: "uint64", bytes: 8 },
    Dtype { name: "int64", bytes: 8 },
    Dtype { name: "float64", bytes: 8 },
];

const MOST_AXES: usize = 32;

impl Dtype {
    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        DTYPES.into_iter().find(|dtype| dtype.name == name)
    }

    /// NumPy's name.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Bytes of one number.
    pub fn bytes(self) -> u64 {
        self.bytes
    }
}

impl Word for Dtype {
    const WHAT: &'static str = "a kind of number";
    fn from_text(text: &str) -> Option<Self> {
        Self::from_name(text)
    }
    fn words() -> Vec<&'static str> {
        DTYPES.iter().map(|dtype| dtype.name).collect()
    }
}

/// The array that `shape` and `dtype` declare, and the buffer's bytes: those of `size`, else the array's.
pub(super) fn read(fields: &BufferFields<'_, '_>) -> (Option<u64>, Option<Typed>) {
    let size = fields.get("size").and_then(|size| size.u64());
    let (shape, dtype) = (fields.get("shape"), fields.get("dtype"));
    let alone = |node: &Node<'_, '_>, problem: &str, help: &str| node.mistake(Code::BadFile, problem, help);
    let (shape, dtype) = match (shape, dtype) {
        (None, None) => return (size, None),
        (Some(shape), None) => {
            alone(&shape, "needs dtype", "add its kind of numbers, as \"dtype\": \"float32\"");
            return (size, None);
        }
        (None, Some(dtype)) if fields.get("size").is_none() => {
            alone(&dtype, "needs shape or size", "add its axes, as \"shape\": [1024]");
            return (size, None);
        }
        (shape, Some(dtype)) => (shape, dtype),
    };
    let Some(dtype) = dtype.word::<Dtype>() else { return (size, None) };
    let axes = match (&shape, size) {
        (Some(shape), _) if shape.is_list() => shape.list(" of axes", |axis| axis.u64()),
        (Some(shape), _) => shape.u64().map(|axis| vec![axis]),
        (None, size) => size.map(|size| vec![size / dtype.bytes]),
    };
    let Some(axes) = axes else { return (size, None) };
    let place = shape.unwrap_or_else(|| fields.node());
    let bytes = axes.iter().try_fold(dtype.bytes, |bytes, axis| bytes.checked_mul(*axis));
    let wrong = match bytes {
        _ if axes.len() > MOST_AXES => Some(format!("has {} axes, and the most are {MOST_AXES}", axes.len())),
        None => Some("has more than 2^64 bytes".to_owned()),
        Some(bytes) if size.is_some_and(|size| size != bytes) => {
            Some(format!("has {bytes} bytes as {}, which are not those of size", dtype.name))
        }
        Some(_) => None,
    };
    match wrong {
        Some(problem) => {
            place.mistake(Code::BadSize, problem, "leave out \"size\", or declare the shape that it has");
            (size, None)
        }
        None => (size.or(bytes), Some(Typed { shape: axes, dtype })),
    }
}
