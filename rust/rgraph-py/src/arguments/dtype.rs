//! Kinds of elements of arrays: numbers, and records of named fields as numpy's structured dtypes have them.

use std::ffi::CString;
use std::fmt::Write;
use std::sync::Arc;

use pyo3::exceptions::{PyModuleNotFoundError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};
use rgraph_plan::error::Code;
use rgraph_shader::{Scalar, Type};
use rgraph_work::texel::Element;

use crate::arguments::convert::{Text, word};
use crate::run::error::bad;

/// The hint for another byte order than this machine's.
pub(crate) const NATIVE: &str = "convert it: array.astype(array.dtype.newbyteorder(\"=\"))";

/// Kind of the elements of an array.
#[derive(Clone, PartialEq, Debug)]
pub enum Dtype {
    Number(Element),
    /// Named fields.
    Record(Arc<Record>),
}

/// Elements with named fields.
#[derive(PartialEq, Debug)]
pub struct Record {
    /// In the order of their offsets.
    pub fields: Vec<Field>,
    /// Bytes from element to element.
    pub size: usize,
}

/// A field of a record.
#[derive(PartialEq, Debug)]
pub struct Field {
    pub name: String,
    /// First byte.
    pub offset: usize,
    /// Shape of what it holds, tightly packed; empty: one.
    pub shape: Vec<usize>,
    /// Kind of what it holds.
    pub dtype: Dtype,
}

impl Dtype {
    pub const BYTE: Self = Self::Number(Element::Uint(1));

    /// Bytes of one element.
    pub fn size(&self) -> usize {
        match self {
            Self::Number(element) => element.size(),
            Self::Record(record) => record.size,
        }
    }

    /// The kind of number; `None` for records.
    pub fn number(&self) -> Option<Element> {
        match self {
            Self::Number(element) => Some(*element),
            Self::Record(_) => None,
        }
    }

    /// Its name in messages.
    pub fn name(&self) -> String {
        match self {
            Self::Number(element) => element.name().to_owned(),
            Self::Record(record) => {
                let fields: Vec<_> =
                    record.fields.iter().map(|field| format!("{}: {}", field.name, field.what())).collect();
                format!("{{{}}}", fields.join(", "))
            }
        }
    }

    /// Its format in the buffer protocol (PEP 3118), with all padding written out.
    pub fn letters(&self) -> CString {
        let mut text = String::new();
        self.spell(&mut text, false);
        CString::new(text).unwrap_or_default()
    }

    fn spell(&self, text: &mut String, inner: bool) {
        match self {
            Self::Number(element) => {
                // In a record sizes are standard and nothing is aligned.
                text.push_str(if inner { "=" } else { "" });
                text.push_str(element.letter().to_str().unwrap_or("B"));
            }
            Self::Record(record) => {
                text.push_str("T{");
                let mut end = 0;
                for field in &record.fields {
                    pad(text, field.offset - end);
                    if !field.shape.is_empty() {
                        let axes: Vec<_> = field.shape.iter().map(usize::to_string).collect();
                        let _ = write!(text, "({})", axes.join(","));
                    }
                    field.dtype.spell(text, true);
                    let _ = write!(text, ":{}:", field.name);
                    end = field.offset + field.size();
                }
                pad(text, record.size - end);
                text.push('}');
            }
        }
    }

    /// What `numpy.dtype` takes: a name, or a dict of names, formats, offsets and size.
    pub fn python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let record = match self {
            Self::Number(element) => return Ok(PyString::new(py, element.name()).into_any()),
            Self::Record(record) => record,
        };
        let dict = PyDict::new(py);
        let format = |field: &Field| {
            let one = field.dtype.python(py)?;
            match &*field.shape {
                [] => Ok(one),
                shape => (one, PyTuple::new(py, shape)?).into_pyobject(py).map(Bound::into_any),
            }
        };
        dict.set_item("names", record.fields.iter().map(|field| &*field.name).collect::<Vec<_>>())?;
        dict.set_item("formats", record.fields.iter().map(format).collect::<PyResult<Vec<_>>>()?)?;
        dict.set_item("offsets", record.fields.iter().map(|field| field.offset).collect::<Vec<_>>())?;
        dict.set_item("itemsize", record.size)?;
        Ok(dict.into_any())
    }

    /// Reads `dtype=`: a name (`"float32"`, `"<f4"`), numpy's scalar type or dtype, or what `numpy.dtype` takes for
    /// records.
    pub fn read(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = value.py();
        let spec = value.is_instance_of::<PyDict>() || value.is_instance_of::<pyo3::types::PyList>();
        if spec {
            let without = "without dtype= the buffer's type follows from its shaders";
            return Self::read(&numpy(py, "a dtype of records", without)?.call_method1("dtype", (value,))?);
        }
        let of = |name| Ok::<_, PyErr>(if value.hasattr(name)? { Some(value.getattr(name)?) } else { None });
        if let Some(native) = of("isnative")?
            && !native.extract::<bool>().unwrap_or(true)
        {
            let message = format!("dtype {value} has another byte order than this machine");
            return Err(bad(py, Code::BadArray, message, NATIVE));
        }
        if let Some(names) = of("names")?.filter(|names| !names.is_none()) {
            return Self::record(value, &names.extract::<Vec<String>>()?);
        }
        let name = if value.is_instance_of::<PyType>() { of("__name__")? } else { of("name")? };
        let name = name.unwrap_or_else(|| value.clone());
        let Ok(Text(name)) = name.extract() else {
            return Err(PyTypeError::new_err("a dtype is its name, as \"float32\", or numpy's"));
        };
        // "f4" and "<f4" give the kind and the bytes.
        let bare = name.trim_start_matches(['<', '=', '|']);
        let short = match (bare.chars().next(), bare.get(1..).and_then(|size| size.parse().ok())) {
            (Some('u'), Some(size)) => Some(Element::Uint(size)),
            (Some('i'), Some(size)) => Some(Element::Int(size)),
            (Some('f'), Some(size)) => Some(Element::Float(size)),
            _ => None,
        };
        match short.filter(|short| !short.name().is_empty()) {
            Some(short) => Ok(Self::Number(short)),
            None => word(py, "dtype", name, Element::from_name, Element::names()).map(Self::Number),
        }
    }

    /// A structured dtype of numpy's.
    fn record(value: &Bound<'_, PyAny>, names: &[String]) -> PyResult<Self> {
        let py = value.py();
        let known = value.getattr("fields")?;
        let (mut fields, mut end) = (Vec::new(), 0);
        for name in names {
            let field = known.get_item(name)?;
            let (one, offset) = (field.get_item(0)?, field.get_item(1)?.extract::<usize>()?);
            let sub = one.getattr("subdtype")?;
            let (base, shape) = match sub.is_none() {
                true => (one, Vec::new()),
                false => (sub.get_item(0)?, sub.get_item(1)?.extract::<Vec<usize>>()?),
            };
            let field = Field { name: name.clone(), offset, shape, dtype: Self::read(&base)? };
            if offset < end {
                let message = format!("field \"{name}\" of a dtype overlaps the one before it");
                return Err(bad(py, Code::BadArray, message, "declare the fields in the order of their offsets"));
            }
            end = offset + field.size();
            fields.push(field);
        }
        let size = value.getattr("itemsize")?.extract::<usize>()?;
        if size == 0 || fields.is_empty() {
            return Err(bad(py, Code::BadArray, "a dtype of no bytes", "give it a field"));
        }
        Ok(Self::Record(Arc::new(Record { fields, size })))
    }
}

fn pad(text: &mut String, bytes: usize) {
    if bytes > 0 {
        let _ = write!(text, "{bytes}x");
    }
}

impl Field {
    /// Bytes that it takes.
    pub fn size(&self) -> usize {
        self.shape.iter().product::<usize>() * self.dtype.size()
    }

    fn what(&self) -> String {
        match &*self.shape {
            [] => self.dtype.name(),
            shape => format!("{shape:?} of {}", self.dtype.name()),
        }
    }
}

/// A type of a shader as elements of an array.
pub(crate) struct Item {
    /// Axes within one element, the slowest first.
    pub shape: Vec<usize>,
    /// Kind of what lies along them.
    pub dtype: Dtype,
    /// Bytes of one row along the last axes that lie tightly, and bytes from row to row.
    pub rows: [usize; 2],
    /// Bytes from element to element.
    pub stride: usize,
}

fn number(scalar: Scalar) -> Element {
    let size = scalar.size() as u8;
    match scalar {
        Scalar::F16 | Scalar::F32 | Scalar::F64 => Element::Float(size),
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => Element::Int(size),
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 | Scalar::Bool => Element::Uint(size),
    }
}

impl Item {
    /// The elements of a buffer that a shader declares so: those of its array, or of the one array that its block has;
    /// else as many of the type as there are. `None`: no array has such elements.
    pub(crate) fn of(ty: &Type) -> Option<Self> {
        match ty {
            Type::Array { of, stride, .. } => Self::one(of, *stride as usize),
            Type::Struct(block) => match &*block.members {
                [only] if only.offset == 0 && matches!(only.ty, Type::Array { .. }) => Self::of(&only.ty),
                _ if ty.open_stride().is_some() => None,
                _ => Self::one(ty, ty.size() as usize),
            },
            _ => Self::one(ty, ty.size() as usize),
        }
    }

    fn one(ty: &Type, stride: usize) -> Option<Self> {
        let item = match ty {
            Type::Scalar(scalar) => Self::rows(*scalar, Vec::new(), 1, stride, stride),
            Type::Vector(scalar, components) => Self::rows(*scalar, Vec::new(), *components as usize, stride, stride),
            Type::Matrix { scalar, columns, rows, stride: step, row_major } => {
                let (outer, inner) = if *row_major { (*rows, *columns) } else { (*columns, *rows) };
                Self::rows(*scalar, vec![outer as usize], inner as usize, *step as usize, stride)
            }
            Type::Array { of, len, stride: step } => {
                let mut item = Self::one(of, *step as usize)?;
                item.shape.insert(0, (*len)? as usize);
                Some(Self { stride, ..item })
            }
            Type::Struct(block) => {
                let fields = block.members.iter().map(|member| field(&member.name, member.offset as usize, &member.ty));
                let dtype = Dtype::Record(Arc::new(Record { fields: fields.collect::<Option<_>>()?, size: stride }));
                Some(Self { shape: Vec::new(), dtype, rows: [stride, stride], stride })
            }
        }?;
        // Rows must follow each other evenly from element to element, too.
        let count: usize = item.shape.iter().product();
        let even = match item.rows {
            [run, step] if run == step => count * item.dtype.size() == item.stride,
            [run, step] => count * item.dtype.size() / run * step == item.stride,
        };
        (even && item.stride > 0).then_some(item)
    }

    /// Rows of `inner` numbers (1: no axis of their own), `step` bytes from row to row.
    fn rows(scalar: Scalar, mut shape: Vec<usize>, inner: usize, step: usize, stride: usize) -> Option<Self> {
        let element = number(scalar);
        if inner > 1 {
            shape.push(inner);
        }
        Some(Self { shape, dtype: Dtype::Number(element), rows: [inner * element.size(), step], stride })
    }
}

/// A member of a struct as a field. Rows that are padded have their padding along their axis.
fn field(name: &str, offset: usize, ty: &Type) -> Option<Field> {
    let size = ty.size() as usize;
    let Item { mut shape, dtype, rows: [run, step], .. } = Item::one(ty, size)?;
    if run != step {
        let wide = step / dtype.size();
        match run == dtype.size() {
            true => shape.push(wide),
            false => *shape.last_mut()? = wide,
        }
    }
    Some(Field { name: name.to_owned(), offset, shape, dtype })
}

/// The package numpy, imported where something needs it: `what` does, and `without` says what needs none.
///
/// # Errors
/// `ModuleNotFoundError` with the command that brings it; other errors of the import as they are.
pub(crate) fn numpy<'py>(py: Python<'py>, what: &str, without: &str) -> PyResult<Bound<'py, PyModule>> {
    let error = match py.import(intern!(py, "numpy")) {
        Ok(module) => return Ok(module),
        Err(error) => error,
    };
    // A numpy that lacks a package of its own says so itself.
    let named = |name: Bound<'py, PyAny>| name.extract::<String>().is_ok_and(|name| name == "numpy");
    if !error.is_instance_of::<PyModuleNotFoundError>(py) || !error.value(py).getattr("name").is_ok_and(named) {
        return Err(error);
    }
    let message = format!("{what} needs numpy, which is not installed\n  help: pip install numpy; {without}");
    let clear = PyModuleNotFoundError::new_err(message);
    clear.value(py).setattr("name", "numpy")?;
    Err(clear)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(of: Type, stride: u32) -> Type {
        Type::Array { of: Box::new(of), len: None, stride }
    }

    #[test]
    fn vectors_of_three_are_rows_with_padding() {
        let item = Item::of(&array(Type::Vector(Scalar::F32, 3), 16)).unwrap();
        assert_eq!((item.shape, item.rows, item.stride), (vec![3], [12, 16], 16));
        let item = Item::of(&array(Type::Scalar(Scalar::U32), 4)).unwrap();
        assert_eq!((item.shape, item.rows, item.stride), (vec![], [4, 4], 4));
        let matrix = Type::Matrix { scalar: Scalar::F32, columns: 3, rows: 3, stride: 16, row_major: false };
        let item = Item::of(&array(matrix, 48)).unwrap();
        assert_eq!((item.shape, item.rows, item.stride), (vec![3, 3], [12, 16], 48));
    }

    #[test]
    fn records_write_out_their_padding() {
        let fields = vec![
            Field { name: "at".into(), offset: 0, shape: vec![3], dtype: Dtype::Number(Element::Float(4)) },
            Field { name: "id".into(), offset: 16, shape: vec![], dtype: Dtype::Number(Element::Uint(4)) },
        ];
        let record = Dtype::Record(Arc::new(Record { fields, size: 32 }));
        assert_eq!(record.letters().to_str().unwrap(), "T{(3)=f:at:4x=I:id:12x}");
    }
}
