//! Constants that get their values when a pipeline is made: WGSL's `override`, specialization constants of GLSL and
//! SPIR-V.

use rgraph_ir::error::Code;
use rgraph_ir::nearest::nearest;

use crate::block::{Scalar, Type, Value};
use crate::error::{self, ShaderError};

/// A constant as a shader declares it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SpecConstant {
    /// Its name; of one without a name, its number.
    pub name: String,
    /// Its number: `constant_id` of GLSL, `SpecId` of SPIR-V, `@id` of WGSL.
    pub id: Option<u32>,
    /// Its type.
    pub scalar: Scalar,
    /// Its value where none is given; `None`: it has none, or it follows from other constants.
    pub default: Option<Constant>,
    /// Whether it has no value unless one is given (WGSL).
    pub required: bool,
}

/// The value of a constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Constant {
    /// True or false.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A float, as the bits of an `f64`, so that values are compared exactly.
    Float(u64),
}

impl Constant {
    /// A constant of plain data; `None`: it is no number.
    pub fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(value) => Some(Self::Bool(*value)),
            Value::Int(value) => Some(Self::Int(*value)),
            Value::Float(value) => Some(Self::Float(value.to_bits())),
            Value::List(_) | Value::Map(_) | Value::Bytes(_) => None,
        }
    }

    /// It as plain data.
    pub fn value(self) -> Value {
        match self {
            Self::Bool(value) => Value::Bool(value),
            Self::Int(value) => Value::Int(value),
            Self::Float(bits) => Value::Float(f64::from_bits(bits)),
        }
    }

    /// Its kind and its bits.
    pub(crate) fn key(self) -> (u8, [u8; 16]) {
        match self {
            Self::Bool(value) => (0, i128::from(value).to_le_bytes()),
            Self::Int(value) => (1, value.to_le_bytes()),
            Self::Float(bits) => (2, i128::from(bits).to_le_bytes()),
        }
    }

    /// It as a float: exact for all numbers of at most 32 bits.
    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Self::Bool(value) => f64::from(u8::from(value)),
            Self::Int(value) => value as f64,
            Self::Float(bits) => f64::from_bits(bits),
        }
    }
}

/// Values of constants by their names or, as decimal text, their numbers.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Constants(Vec<(String, Constant)>);

/// No values.
pub(crate) static NONE: Constants = Constants(Vec::new());

impl FromIterator<(String, Constant)> for Constants {
    /// Of values under one name the last is taken.
    fn from_iter<T: IntoIterator<Item = (String, Constant)>>(all: T) -> Self {
        let mut sorted = std::collections::BTreeMap::new();
        sorted.extend(all);
        Self(sorted.into_iter().collect())
    }
}

impl Constants {
    /// Whether none is given.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Names and values in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Constant)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// The value given to a constant, and its bytes: four, or those of the type where it has more.
    ///
    /// # Errors
    /// `RG-E306` if the value does not fit the type.
    pub(crate) fn find(
        &self,
        shader: &str,
        constant: &SpecConstant,
    ) -> Result<Option<(Constant, [u32; 2])>, ShaderError> {
        let id = constant.id.map(|id| id.to_string());
        let given = self.iter().find(|(name, _)| *name == constant.name).or_else(|| {
            let id = id?;
            self.iter().find(|(name, _)| *name == id)
        });
        let Some((_, value)) = given else { return Ok(None) };
        if !value.as_f64().is_finite() {
            let message = format!("'{}' is {}, which is no number", constant.name, value.as_f64());
            return Err(error::layout(shader, message, "give a finite number".to_owned()));
        }
        let bytes = Type::Scalar(constant.scalar).pack(shader, &constant.name, &value.value())?;
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(&bytes);
        let [a, b, c, d, e, f, g, h] = wide;
        let mut words = [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])];
        // Signed integers below 32 bits fill their word with the sign (SPIR-V, "Literal").
        words[0] = match constant.scalar {
            Scalar::I8 => i32::from(words[0] as i8) as u32,
            Scalar::I16 => i32::from(words[0] as i16) as u32,
            _ => words[0],
        };
        Ok(Some((value, words)))
    }

    /// Refuses values of constants that no source declares.
    ///
    /// # Errors
    /// `RG-E308`.
    pub(crate) fn check(&self, shader: &str, declared: &[SpecConstant]) -> Result<(), ShaderError> {
        let known =
            |name: &str| declared.iter().any(|one| one.name == name || one.id.is_some_and(|id| id.to_string() == name));
        let given = |name: &str| self.iter().any(|(one, _)| one == name);
        let mut by_number = declared.iter().filter_map(|one| Some((one, one.id.filter(|id| given(&id.to_string()))?)));
        if let Some((one, id)) = by_number.find(|(one, id)| one.name != id.to_string() && given(&one.name)) {
            let message = format!("'{}' is given twice, by its name and by its number {id}", one.name);
            return Err(error::layout(shader, message, "give one value of it".to_owned()));
        }
        let Some((stranger, _)) = self.iter().find(|(name, _)| !known(name)) else { return Ok(()) };
        let shown: String = stranger.chars().take(60).collect();
        let mut names: Vec<&str> = declared.iter().map(|one| one.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let help = match nearest(stranger, names.iter().copied()) {
            Some(near) => format!("did you mean '{near}'?"),
            None if names.is_empty() => {
                "declare one: `override N: u32 = 8;` (WGSL), `layout(constant_id = 0) const uint N = 8;` (GLSL)"
                    .to_owned()
            }
            None => format!("it has {}", names.join(", ")),
        };
        Err(error::plain(Code::UnknownConstant, shader, format!("it has no constant '{shown}'"), help))
    }
}
