//! Bytes that lie as a type says, back into values: what files show of push data and uniform data.

use crate::block::{Scalar, Type, Value};

impl Type {
    /// The value that [`Type::pack`] makes these bytes of; `None` if there is none: too few bytes, numbers that are not
    /// finite, something between the members.
    ///
    /// Floats of 32 and 16 bits become the shortest decimal number that is theirs, so that 0.1 is 0.1.
    pub fn unpack(&self, bytes: &[u8]) -> Option<Value> {
        let value = read(self, bytes)?;
        // Only what comes back as it was is shown as a value.
        let again = self.pack("", "", &value).ok()?;
        let rest = bytes.get(again.len()..)?;
        (bytes.starts_with(&again) && rest.iter().all(|byte| *byte == 0)).then_some(value)
    }
}

fn read(ty: &Type, bytes: &[u8]) -> Option<Value> {
    match ty {
        Type::Scalar(scalar) => number(*scalar, bytes),
        Type::Vector(scalar, components) => {
            let step = scalar.size() as usize;
            let one = |at: u32| number(*scalar, bytes.get(at as usize * step..)?);
            (0..*components).map(one).collect::<Option<_>>().map(Value::List)
        }
        Type::Matrix { scalar, columns, rows, stride, row_major } => {
            let (size, stride) = (scalar.size() as usize, *stride as usize);
            let cell = |c: u32, r: u32| {
                let (c, r) = (c as usize, r as usize);
                let at = if *row_major { r * stride + c * size } else { c * stride + r * size };
                number(*scalar, bytes.get(at..)?)
            };
            let column = |c: u32| (0..*rows).map(|r| cell(c, r)).collect::<Option<_>>().map(Value::List);
            (0..*columns).map(column).collect::<Option<_>>().map(Value::List)
        }
        Type::Array { of, len, stride } => {
            let stride = (*stride).max(1) as usize;
            let count = len.map_or(bytes.len() / stride, |len| len as usize);
            let one = |at: usize| read(of, bytes.get(at * stride..)?);
            (0..count).map(one).collect::<Option<_>>().map(Value::List)
        }
        Type::Struct(block) => {
            let members = block.members.iter();
            let one = members
                .map(|member| Some((member.name.clone(), read(&member.ty, bytes.get(member.offset as usize..)?)?)));
            one.collect::<Option<_>>().map(Value::Map)
        }
    }
}

fn number(scalar: Scalar, bytes: &[u8]) -> Option<Value> {
    let float = |value: f64| value.is_finite().then_some(Value::Float(value));
    Some(match scalar {
        Scalar::F64 => return float(f64::from_le_bytes(*bytes.first_chunk()?)),
        Scalar::F32 => {
            let narrow = f32::from_le_bytes(*bytes.first_chunk()?);
            return float(narrow.to_string().parse().ok()?);
        }
        Scalar::F16 => return float(wide(u16::from_le_bytes(*bytes.first_chunk()?))),
        Scalar::I32 => Value::Int(i32::from_le_bytes(*bytes.first_chunk()?).into()),
        Scalar::U32 => Value::Int(u32::from_le_bytes(*bytes.first_chunk()?).into()),
        Scalar::I64 => Value::Int(i64::from_le_bytes(*bytes.first_chunk()?).into()),
        Scalar::U64 => Value::Int(u64::from_le_bytes(*bytes.first_chunk()?).into()),
        Scalar::I16 => Value::Int(i16::from_le_bytes(*bytes.first_chunk()?).into()),
        Scalar::U16 => Value::Int(u16::from_le_bytes(*bytes.first_chunk()?).into()),
        Scalar::I8 => Value::Int(i8::from_le_bytes(*bytes.first_chunk()?).into()),
        Scalar::U8 => Value::Int(u8::from_le_bytes(*bytes.first_chunk()?).into()),
        Scalar::Bool => Value::Bool(u32::from_le_bytes(*bytes.first_chunk()?) != 0),
    })
}

/// What a half float is worth.
///
/// # Source
/// IEEE 754-2019, binary16.
fn wide(bits: u16) -> f64 {
    let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match exponent {
        0 => mantissa * 2f64.powi(-24),
        31 => f64::INFINITY,
        _ => (1024.0 + mantissa) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{Block, Member};

    fn light() -> Type {
        let member = |name: &str, offset, ty| Member { name: name.to_owned(), offset, ty };
        Type::Struct(Block {
            name: "Light".to_owned(),
            members: vec![
                member("color", 0, Type::Vector(Scalar::F32, 3)),
                member("on", 12, Type::Scalar(Scalar::Bool)),
                member(
                    "turn",
                    16,
                    Type::Matrix { scalar: Scalar::F32, columns: 2, rows: 2, stride: 8, row_major: true },
                ),
                member("ids", 32, Type::Array { of: Box::new(Type::Scalar(Scalar::I32)), len: Some(2), stride: 16 }),
            ],
            size: 64,
        })
    }

    #[test]
    fn what_was_packed_comes_back() {
        let list = |values: &[f64]| Value::List(values.iter().map(|v| Value::Float(*v)).collect());
        let value = Value::Map(vec![
            ("color".to_owned(), list(&[0.1, -2.5, 1e-20])),
            ("on".to_owned(), Value::Bool(true)),
            ("turn".to_owned(), Value::List(vec![list(&[1.0, 2.0]), list(&[3.0, 4.0])])),
            ("ids".to_owned(), Value::List(vec![Value::Int(-7), Value::Int(8)])),
        ]);
        let bytes = light().pack("shader", "light", &value).expect("the value fits");
        assert_eq!(light().unpack(&bytes), Some(value));
    }

    #[test]
    fn bytes_that_no_value_makes_are_none() {
        let mut bytes = vec![0; 64];
        assert!(light().unpack(&bytes).is_some());
        bytes[60] = 1;
        assert_eq!(light().unpack(&bytes), None, "between the members");
        assert_eq!(light().unpack(&bytes[..40]), None, "too few");
        assert_eq!(Type::Scalar(Scalar::F32).unpack(&f32::NAN.to_le_bytes()), None);
        assert_eq!(Type::Scalar(Scalar::F16).unpack(&0x7c00_u16.to_le_bytes()), None);
    }
}
