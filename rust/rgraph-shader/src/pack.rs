//! Values of plain data into the bytes of a layout: every member named, every length and range checked, the place of a
//! mistake named by its path (`params.lights[3].color`).

use crate::block::{Block, Scalar, Type, Value};
use crate::error::{self, ShaderError};
use rgraph_ir::nearest::nearest;

/// Most bytes that values are packed into; more must be given as bytes.
const MOST: u32 = 1 << 28;

impl Type {
    /// Writes a value into bytes that lie as this type does; bytes between members are zero. `shader` and `path` (the
    /// variable's name) are for messages. An array of open length is as long as the value has elements.
    ///
    /// A mapping gives every member of a struct by name; a struct of one member may be given as that member. Lists
    /// give vectors, matrices (a list of columns, each a list) and arrays, with exactly their lengths. Integers and
    /// booleans become floats, floats become integers only if nothing is lost; what is out of range is an error.
    /// `Value::Bytes` stands for any part of the value and must have its size.
    ///
    /// # Errors
    /// `RG-E306`: what the value cannot be, where, and what the shader wants there.
    pub fn pack(&self, shader: &str, path: &str, value: &Value) -> Result<Vec<u8>, ShaderError> {
        let mut out = Vec::new();
        let size = self.size();
        if size > MOST && !matches!(value, Value::Bytes(_)) {
            let message = format!("'{path}' has {size} bytes, too many to be written value by value (most: {MOST})");
            return Err(error::layout(shader, message, "give it as bytes, or as a buffer".to_owned()));
        }
        let fault = match write(self, value, 0, &mut out) {
            Ok(()) => {
                let open = self.open_stride().is_some();
                if !open || out.len() < size as usize {
                    out.resize(size as usize, 0);
                }
                return Ok(out);
            }
            Err(fault) => fault,
        };
        let place: String = fault.path.iter().rev().map(String::as_str).collect();
        Err(error::layout(shader, format!("'{path}{place}' {}", fault.message), fault.help))
    }
}

/// A mistake on its way out of the layout; `path` from the innermost part to the outermost.
struct Fault {
    path: Vec<String>,
    message: String,
    help: String,
}

impl Fault {
    fn new(message: String, help: String) -> Self {
        Self { path: Vec::new(), message, help }
    }

    fn wants(ty: &Type, value: &Value, help: &str) -> Self {
        Self::new(format!("is {ty} in the shader, and {} was given", value.describe()), help.to_owned())
    }

    fn under(mut self, part: impl FnOnce() -> String) -> Self {
        self.path.push(part());
        self
    }
}

fn put(out: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if out.len() < end {
        out.resize(end, 0);
    }
    out[offset..end].copy_from_slice(bytes);
}

fn write(ty: &Type, value: &Value, offset: usize, out: &mut Vec<u8>) -> Result<(), Fault> {
    if let Value::Bytes(bytes) = value {
        return write_bytes(ty, bytes, offset, out);
    }
    match ty {
        Type::Scalar(scalar) => number(*scalar, ty, value, offset, out),
        Type::Vector(scalar, components) => {
            let step = scalar.size() as usize;
            for (index, value) in list(ty, value, *components, "numbers")?.iter().enumerate() {
                number(*scalar, &Type::Scalar(*scalar), value, offset + index * step, out)
                    .map_err(|fault| fault.under(|| format!("[{index}]")))?;
            }
            Ok(())
        }
        Type::Matrix { scalar, columns, rows, stride, row_major } => {
            let (scalar_size, stride) = (scalar.size() as usize, *stride as usize);
            let column_ty = Type::Vector(*scalar, *rows);
            for (c, column) in list(ty, value, *columns, "columns")?.iter().enumerate() {
                let cells =
                    list(&column_ty, column, *rows, "numbers").map_err(|fault| fault.under(|| format!("[{c}]")))?;
                for (r, cell) in cells.iter().enumerate() {
                    let at = if *row_major { r * stride + c * scalar_size } else { c * stride + r * scalar_size };
                    number(*scalar, &Type::Scalar(*scalar), cell, offset + at, out)
                        .map_err(|fault| fault.under(|| format!("[{c}][{r}]")))?;
                }
            }
            Ok(())
        }
        Type::Array { of, len, stride } => {
            let Value::List(values) = value else { return Err(Fault::wants(ty, value, "give a list")) };
            if let Some(len) = len {
                exact(ty, values, *len, "elements")?;
            }
            for (index, value) in values.iter().enumerate() {
                write(of, value, offset + index * *stride as usize, out)
                    .map_err(|fault| fault.under(|| format!("[{index}]")))?;
            }
            let end = offset + values.len() * *stride as usize;
            if out.len() < end {
                out.resize(end, 0);
            }
            Ok(())
        }
        Type::Struct(block) => members(block, ty, value, offset, out),
    }
}

fn exact<'v>(ty: &Type, values: &'v [Value], len: u32, what: &str) -> Result<&'v [Value], Fault> {
    if values.len() == len as usize {
        return Ok(values);
    }
    Err(Fault::new(
        format!("is {ty} in the shader, and a list of {} was given", values.len()),
        format!("give {len} {what}"),
    ))
}

fn list<'v>(ty: &Type, value: &'v Value, len: u32, what: &str) -> Result<&'v [Value], Fault> {
    match value {
        Value::List(values) => exact(ty, values, len, what),
        _ => Err(Fault::wants(ty, value, &format!("give a list of {len} {what}"))),
    }
}

fn write_bytes(ty: &Type, bytes: &[u8], offset: usize, out: &mut Vec<u8>) -> Result<(), Fault> {
    let size = ty.size() as usize;
    let fits = match ty.open_stride() {
        Some(stride) => bytes.len() >= size && (bytes.len() - size).is_multiple_of(stride.max(1) as usize),
        // What lies behind the last member up to a multiple of 16 belongs to a block of std140, and is read by nothing.
        None => bytes.len() == size || matches!(ty, Type::Struct(_)) && bytes.len() == size.next_multiple_of(16),
    };
    if !fits {
        let want = match ty.open_stride() {
            Some(stride) if size > 0 => format!("{size} bytes and a multiple of {stride}"),
            Some(stride) => format!("a multiple of {stride} bytes"),
            None => format!("{size} bytes"),
        };
        let message = format!("is {ty} in the shader, and {} bytes were given", bytes.len());
        return Err(Fault::new(message, format!("give {want}")));
    }
    put(out, offset, if ty.open_stride().is_none() { &bytes[..size] } else { bytes });
    Ok(())
}

fn members(block: &Block, ty: &Type, value: &Value, offset: usize, out: &mut Vec<u8>) -> Result<(), Fault> {
    let Value::Map(given) = value else {
        if let [member] = block.members.as_slice() {
            return write(&member.ty, value, offset + member.offset as usize, out)
                .map_err(|fault| fault.under(|| format!(".{}", member.name)));
        }
        let names: Vec<&str> = block.members.iter().map(|member| member.name.as_str()).collect();
        return Err(Fault::wants(ty, value, &format!("give a mapping with {}", names.join(", "))));
    };
    for (place, (name, _)) in given.iter().enumerate() {
        if !block.members.iter().any(|member| member.name == *name) {
            let names = || block.members.iter().map(|member| member.name.as_str());
            let help = match nearest(name, names()) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!("its members are {}", names().collect::<Vec<_>>().join(", ")),
            };
            return Err(Fault::new(format!("is {ty} in the shader, which has no member '{name}'"), help));
        }
        if given[..place].iter().any(|(earlier, _)| earlier == name) {
            return Err(Fault::new(format!("was given member '{name}' twice"), "give it once".to_owned()));
        }
    }
    for member in &block.members {
        let Some((_, value)) = given.iter().find(|(name, _)| *name == member.name) else {
            let message =
                format!("is {ty} in the shader, and its member '{}' ({}) was not given", member.name, member.ty);
            return Err(Fault::new(message, format!("add '{}'", member.name)));
        };
        write(&member.ty, value, offset + member.offset as usize, out)
            .map_err(|fault| fault.under(|| format!(".{}", member.name)))?;
    }
    Ok(())
}

fn number(scalar: Scalar, ty: &Type, value: &Value, offset: usize, out: &mut Vec<u8>) -> Result<(), Fault> {
    let range = || Fault::wants(ty, value, &format!("give a number that {ty} can hold"));
    match scalar {
        Scalar::F64 => put(out, offset, &float(ty, value)?.to_le_bytes()),
        Scalar::F32 => {
            let wide = float(ty, value)?;
            let narrow = wide as f32;
            if narrow.is_infinite() && wide.is_finite() {
                return Err(range());
            }
            put(out, offset, &narrow.to_le_bytes());
        }
        Scalar::F16 => {
            let wide = float(ty, value)?;
            let narrow = half(wide);
            if narrow & 0x7fff == 0x7c00 && wide.is_finite() {
                return Err(range());
            }
            put(out, offset, &narrow.to_le_bytes());
        }
        Scalar::I32 => put(out, offset, &i32::try_from(integer(ty, value)?).map_err(|_| range())?.to_le_bytes()),
        Scalar::U32 => put(out, offset, &u32::try_from(integer(ty, value)?).map_err(|_| range())?.to_le_bytes()),
        Scalar::I64 => put(out, offset, &i64::try_from(integer(ty, value)?).map_err(|_| range())?.to_le_bytes()),
        Scalar::U64 => put(out, offset, &u64::try_from(integer(ty, value)?).map_err(|_| range())?.to_le_bytes()),
        Scalar::I16 => put(out, offset, &i16::try_from(integer(ty, value)?).map_err(|_| range())?.to_le_bytes()),
        Scalar::U16 => put(out, offset, &u16::try_from(integer(ty, value)?).map_err(|_| range())?.to_le_bytes()),
        Scalar::I8 => put(out, offset, &i8::try_from(integer(ty, value)?).map_err(|_| range())?.to_le_bytes()),
        Scalar::U8 => put(out, offset, &u8::try_from(integer(ty, value)?).map_err(|_| range())?.to_le_bytes()),
        Scalar::Bool => match integer(ty, value)? {
            bit @ (0 | 1) => put(out, offset, &(bit as u32).to_le_bytes()),
            _ => return Err(Fault::wants(ty, value, "give true or false")),
        },
    }
    Ok(())
}

fn float(ty: &Type, value: &Value) -> Result<f64, Fault> {
    match value {
        Value::Bool(bit) => Ok(f64::from(u8::from(*bit))),
        Value::Int(int) => Ok(*int as f64),
        Value::Float(float) => Ok(*float),
        _ => Err(Fault::wants(ty, value, "give a number")),
    }
}

fn integer(ty: &Type, value: &Value) -> Result<i128, Fault> {
    match value {
        Value::Bool(bit) => Ok(i128::from(*bit)),
        Value::Int(int) => Ok(*int),
        // Beyond 2^64 no integer type has the value; the cast would saturate and hide it.
        Value::Float(float) if float.fract() == 0.0 && float.abs() <= 18_446_744_073_709_551_616.0 => {
            Ok(*float as i128)
        }
        Value::Float(_) => Err(Fault::wants(ty, value, &format!("give an integer that {ty} can hold"))),
        _ => Err(Fault::wants(ty, value, "give an integer")),
    }
}

/// The nearest half float, ties to even; what is too large becomes infinite.
///
/// # Source
/// IEEE 754-2019, binary16; rounding on the bits of the double, once, so that nothing is rounded twice.
pub(crate) fn half(value: f64) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 48) as u16 & 0x8000;
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1023;
    let mantissa = bits & ((1 << 52) - 1);
    if exponent == 1024 {
        return sign | if mantissa == 0 { 0x7c00 } else { 0x7e00 };
    }
    if exponent > 15 {
        return sign | 0x7c00;
    }
    // What the last place of the result is worth decides how many bits of the double go: 42 for normal numbers, more
    // for subnormal ones; below half of the smallest of those nothing is left.
    if exponent < -25 {
        return sign;
    }
    let (whole, drop) = match exponent {
        -14.. => (mantissa | (((exponent + 15) as u64) << 52), 42),
        _ => (mantissa | 1 << 52, 28 - exponent),
    };
    let kept = whole >> drop;
    let rest = whole & ((1 << drop) - 1);
    let tie = 1 << (drop - 1);
    // A carry out of the mantissa raises the exponent, up to infinity, as it should.
    sign | (kept + u64::from(rest > tie || rest == tie && kept & 1 == 1)) as u16
}

#[cfg(test)]
mod tests {
    use super::half;

    /// What a half float is worth, by the definition.
    fn worth(bits: u16) -> f64 {
        let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
        let size = match exponent {
            0 => mantissa * 2f64.powi(-24),
            _ => (1024.0 + mantissa) * 2f64.powi(exponent - 25),
        };
        if bits >> 15 == 1 { -size } else { size }
    }

    #[test]
    fn every_half_float_is_itself_and_what_lies_between_two_goes_to_the_nearer_and_ties_to_the_even_one() {
        for bits in (0..0x7c00_u16).chain(0x8000..0xfc00) {
            assert_eq!(half(worth(bits)), bits, "{bits:#x}");
        }
        for bits in 0..0x7bff_u16 {
            let middle = (worth(bits) + worth(bits + 1)) / 2.0;
            assert_eq!(half(middle), bits + (bits & 1), "{bits:#x} and the next");
            assert_eq!(half(middle.next_down()), bits);
            assert_eq!(half(middle.next_up()), bits + 1);
        }
        assert_eq!(half(65519.99), 0x7bff);
        assert_eq!(half(65520.0), 0x7c00);
        assert_eq!(half(f64::NEG_INFINITY), 0xfc00);
        assert_eq!(half(f64::NAN) & 0x7e00, 0x7e00);
        assert_eq!(half(1e-300), 0);
    }
}
