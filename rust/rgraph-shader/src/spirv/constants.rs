//! Numbers that are known before a module runs: constants, specialization constants, and what is computed of them.

use std::collections::{HashMap, HashSet};

use super::types::Form;
use super::{Binary, HEADER, Instruction, decoration, instructions, op};
use crate::block::{Scalar, Type};
use crate::constant::{Constant, Constants, SpecConstant};
use crate::error::ShaderError;

/// A specialization constant, and where its instruction is.
pub(super) struct Declared {
    /// First word of the instruction.
    pub at: usize,
    pub id: u32,
    pub ty: u32,
}

/// Integers and booleans that are known, by id.
#[derive(Default)]
pub(super) struct Numbers {
    values: HashMap<u32, u64>,
    /// Bits of integer types, and of the numbers of such types.
    bits: HashMap<u32, u32>,
}

impl Numbers {
    /// The value of an integer or boolean.
    pub(super) fn get(&self, id: u32) -> Option<u64> {
        self.values.get(&id).copied()
    }

    /// Takes in an instruction outside functions, if it is a constant or a type of integers.
    pub(super) fn take(&mut self, instruction: Instruction<'_>) {
        let at = |index| instruction.at(index);
        let value = match instruction.op {
            op::TYPE_INT => {
                self.bits.insert(at(0), at(1));
                return;
            }
            op::CONSTANT | op::SPEC_CONSTANT => u64::from(at(2)) | u64::from(at(3)) << 32,
            op::CONSTANT_TRUE | op::SPEC_CONSTANT_TRUE => 1,
            // OpConstantNull: of numbers zero; nothing else is asked for here.
            op::CONSTANT_FALSE | op::SPEC_CONSTANT_FALSE | op::CONSTANT_NULL => 0,
            op::SPEC_CONSTANT_OP => {
                let operand = |index: usize| {
                    let id = at(3 + index);
                    Some(Operand { value: self.get(id)?, bits: self.bits_of(id) })
                };
                match compute(at(2), self.bits_of(at(0)), operand) {
                    Some(value) => value,
                    None => return,
                }
            }
            _ => return,
        };
        let bits = self.bits_of(at(0));
        self.bits.insert(at(1), bits);
        self.values.insert(at(1), value);
    }

    /// The bits of a type or a number; those of booleans do not matter.
    fn bits_of(&self, id: u32) -> u32 {
        self.bits.get(&id).copied().filter(|bits| (1..=64).contains(bits)).unwrap_or(32)
    }
}

/// A number, and how many of its bits its type has. Those above may be copies of its sign.
#[derive(Clone, Copy)]
struct Operand {
    value: u64,
    bits: u32,
}

impl Operand {
    fn unsigned(self) -> u64 {
        self.value & (u64::MAX >> (64 - self.bits))
    }

    fn signed(self) -> i64 {
        let above = 64 - self.bits;
        (self.value << above) as i64 >> above
    }
}

/// The value of an integer or boolean instruction with a result of so many bits; `None`: not one that is computed here,
/// or one that is undefined. Operands of `OpSpecConstantOp` (SPIR-V 1.6, section 3.49.7) behind its opcode.
fn compute(opcode: u32, bits: u32, operand: impl Fn(usize) -> Option<Operand>) -> Option<u64> {
    let (a, b) = (|| operand(0).map(Operand::unsigned), || operand(1).map(Operand::unsigned));
    let signed = |at: usize| operand(at).map(Operand::signed);
    let truth = |truth: bool| Some(u64::from(truth));
    let shift = || b().and_then(|by| u32::try_from(by).ok()).filter(|by| *by < bits);
    let value = match opcode {
        // UConvert, Bitcast.
        113 | 124 => a()?,
        // SConvert.
        114 => signed(0)? as u64,
        126 => a()?.wrapping_neg(),
        128 => a()?.wrapping_add(b()?),
        130 => a()?.wrapping_sub(b()?),
        132 => a()?.wrapping_mul(b()?),
        134 => a()?.checked_div(b()?)?,
        135 => signed(0)?.checked_div(signed(1)?)? as u64,
        137 => a()?.checked_rem(b()?)?,
        138 => signed(0)?.checked_rem(signed(1)?)? as u64,
        139 => {
            let (a, b) = (signed(0)?, signed(1)?);
            let rest = a.checked_rem(b)?;
            (if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }) as u64
        }
        164 | 170 => return truth(a()? == b()?),
        165 | 171 => return truth(a()? != b()?),
        166 => return truth(a()? != 0 || b()? != 0),
        167 => return truth(a()? != 0 && b()? != 0),
        168 => return truth(a()? == 0),
        169 => operand(if a()? != 0 { 1 } else { 2 })?.unsigned(),
        172 => return truth(a()? > b()?),
        173 => return truth(signed(0)? > signed(1)?),
        174 => return truth(a()? >= b()?),
        175 => return truth(signed(0)? >= signed(1)?),
        176 => return truth(a()? < b()?),
        177 => return truth(signed(0)? < signed(1)?),
        178 => return truth(a()? <= b()?),
        179 => return truth(signed(0)? <= signed(1)?),
        194 => a()? >> shift()?,
        195 => (signed(0)? >> shift()?) as u64,
        196 => a()? << shift()?,
        197 => a()? | b()?,
        198 => a()? ^ b()?,
        199 => a()? & b()?,
        200 => !a()?,
        _ => return None,
    };
    Some(Operand { value, bits }.unsigned())
}

/// Integers and booleans of a module that are known before it runs, by id, with the values that its specialization
/// constants have. O(words).
pub fn numbers(spirv: &[u32]) -> HashMap<u32, u64> {
    all(spirv).values
}

fn all(spirv: &[u32]) -> Numbers {
    let mut numbers = Numbers::default();
    let outside =
        instructions(spirv.get(HEADER..).unwrap_or(&[])).take_while(|instruction| instruction.op != op::FUNCTION);
    outside.for_each(|instruction| numbers.take(instruction));
    numbers
}

impl Binary<'_> {
    /// The specialization constants, in the order of the module. What has no name and the number of one that has (as
    /// glslang writes `local_size_x_id`) is that constant.
    pub(crate) fn constants(&self) -> impl Iterator<Item = SpecConstant> {
        let all: Vec<SpecConstant> = self.specials.iter().filter_map(|declared| self.special(declared)).collect();
        let nameless = |one: &SpecConstant| one.id.is_some_and(|id| one.name == id.to_string());
        let named: HashSet<u32> = all.iter().filter(|one| !nameless(one)).filter_map(|one| one.id).collect();
        all.into_iter().filter(move |one| !nameless(one) || one.id.is_none_or(|id| !named.contains(&id)))
    }

    fn special(&self, Declared { id, ty, .. }: &Declared) -> Option<SpecConstant> {
        let Form::Number(scalar) = self.form(*ty) else { return None };
        let number = self.decoration(*id, decoration::SPEC_ID)?;
        let name = self.names.get(id).filter(|name| !name.is_empty()).cloned().unwrap_or_else(|| number.to_string());
        let value = self.constants.get(*id).unwrap_or(0);
        let default = Type::Scalar(*scalar).unpack(&value.to_le_bytes()[..scalar.size() as usize]);
        let default = default.as_ref().and_then(Constant::of);
        Some(SpecConstant { name, id: Some(number), scalar: *scalar, default, required: false })
    }

    /// Gives specialization constants other values than those of the module: they become their defaults, so that
    /// pipelines, layouts and sizes of workgroups follow.
    ///
    /// # Errors
    /// `RG-E306` if a value does not fit its type.
    pub(crate) fn specialize(&mut self, given: &Constants) -> Result<(), ShaderError> {
        let mut numbered: HashMap<u32, (Scalar, [u32; 2])> = HashMap::new();
        for constant in self.constants() {
            if let (Some(id), Some((_, words))) = (constant.id, given.find(self.name, &constant)?) {
                numbered.insert(id, (constant.scalar, words));
            }
        }
        for declared in &self.specials {
            let Some(constant) = self.special(declared) else { continue };
            let Some((scalar, [low, high])) = constant.id.and_then(|id| numbered.get(&id).copied()) else { continue };
            // Numbers of 32 bits are the same words, signed or not; others of one number and two types keep their own.
            if scalar.size() != constant.scalar.size() {
                continue;
            }
            let at = declared.at;
            if constant.scalar == Scalar::Bool {
                let opcode = if low != 0 { op::SPEC_CONSTANT_TRUE } else { op::SPEC_CONSTANT_FALSE };
                self.words[at] = 3 << 16 | u32::from(opcode);
                continue;
            }
            let length = (self.words[at] >> 16) as usize;
            for (word, value) in self.words[at..at + length].iter_mut().skip(3).zip([low, high]) {
                *word = value;
            }
        }
        self.constants = all(&self.words);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{numbers, op};

    /// A type of so many bits is %1, one of 32 bits %2; constants are %3 and %4, and the result is %5.
    fn computed(opcode: u32, bits: u32, [a, b]: [u64; 2]) -> Option<u64> {
        let mut words = vec![0; 5];
        let mut put = |opcode: u16, operands: &[u32]| {
            words.push((operands.len() as u32 + 1) << 16 | u32::from(opcode));
            words.extend(operands);
        };
        put(op::TYPE_INT, &[1, bits, 0]);
        put(op::TYPE_INT, &[2, 32, 0]);
        for (id, value) in [(3, a), (4, b)] {
            let all = [1, id, value as u32, (value >> 32) as u32];
            put(op::SPEC_CONSTANT, if bits > 32 { &all } else { &all[..3] });
        }
        let result = if (170..180).contains(&opcode) { 2 } else { 1 };
        put(op::SPEC_CONSTANT_OP, &[result, 5, opcode, 3, 4]);
        numbers(&words).get(&5).copied()
    }

    #[test]
    fn constants_are_computed_with_the_bits_of_their_type() {
        let [add, multiply, divide, less, shift] = [128, 132, 135, 177, 196];
        assert_eq!(computed(add, 64, [u64::from(u32::MAX), 1]), Some(1 << 32));
        assert_eq!(computed(add, 32, [u64::from(u32::MAX), 1]), Some(0));
        assert_eq!(computed(multiply, 64, [1 << 20, 1 << 20]), Some(1 << 40));
        assert_eq!(computed(divide, 64, [-6i64 as u64, 2]), Some(-3i64 as u64));
        assert_eq!(computed(divide, 32, [u64::from(-6i32 as u32), 2]), Some(u64::from(-3i32 as u32)));
        assert_eq!(computed(divide, 32, [1, 0]), None);
        // Constants of fewer than 32 bits have their sign in the bits above.
        assert_eq!(computed(add, 16, [u64::from(-1i32 as u32), 3]), Some(2));
        assert_eq!(computed(less, 8, [u64::from(-1i32 as u32), 3]), Some(1));
        assert_eq!(computed(less, 64, [1 << 40, 1]), Some(0));
        assert_eq!(computed(shift, 64, [1, 40]), Some(1 << 40));
        assert_eq!(computed(shift, 32, [1, 40]), None);
    }
}
