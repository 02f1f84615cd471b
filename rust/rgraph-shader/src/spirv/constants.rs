//! Numbers that are known before a module runs: constants, specialization constants, and what is computed of them.

use std::collections::{HashMap, HashSet};

use super::types::Form;
use super::{Binary, Instruction, decoration, instructions, op};
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

/// The value of an integer or boolean instruction of 32 bits; `None`: not one that is computed here. Operands of
/// `OpSpecConstantOp` (SPIR-V 1.6, section 3.49.7) behind its opcode.
fn compute(opcode: u32, value: impl Fn(usize) -> Option<u32>) -> Option<u32> {
    let (a, b) = (|| value(0), || value(1));
    let truth = |truth: bool| Some(u32::from(truth));
    let signed = |of: Option<u32>| of.map(|of| of as i32);
    match opcode {
        // UConvert, SConvert, Bitcast.
        113 | 114 | 124 => a(),
        126 => Some(a()?.wrapping_neg()),
        128 => Some(a()?.wrapping_add(b()?)),
        130 => Some(a()?.wrapping_sub(b()?)),
        132 => Some(a()?.wrapping_mul(b()?)),
        134 => a()?.checked_div(b()?),
        135 => Some(signed(a())?.checked_div(signed(b())?)? as u32),
        137 => a()?.checked_rem(b()?),
        138 => Some(signed(a())?.checked_rem(signed(b())?)? as u32),
        139 => {
            let (a, b) = (signed(a())?, signed(b())?);
            let rest = a.checked_rem(b)?;
            Some(if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest } as u32)
        }
        164 | 170 => truth(a()? == b()?),
        165 | 171 => truth(a()? != b()?),
        166 => truth(a()? != 0 || b()? != 0),
        167 => truth(a()? != 0 && b()? != 0),
        168 => truth(a()? == 0),
        169 => {
            if a()? != 0 {
                b()
            } else {
                value(2)
            }
        }
        172 => truth(a()? > b()?),
        173 => truth(signed(a())? > signed(b())?),
        174 => truth(a()? >= b()?),
        175 => truth(signed(a())? >= signed(b())?),
        176 => truth(a()? < b()?),
        177 => truth(signed(a())? < signed(b())?),
        178 => truth(a()? <= b()?),
        179 => truth(signed(a())? <= signed(b())?),
        194 => a()?.checked_shr(b()?),
        195 => Some(signed(a())?.checked_shr(b()?)? as u32),
        196 => a()?.checked_shl(b()?),
        197 => Some(a()? | b()?),
        198 => Some(a()? ^ b()?),
        199 => Some(a()? & b()?),
        200 => Some(!a()?),
        _ => None,
    }
}

/// Takes in an instruction outside functions if it is a constant. Results of `OpSpecConstantOp` have 32 bits.
pub(super) fn take(numbers: &mut HashMap<u32, u64>, instruction: Instruction<'_>) {
    let at = |index| instruction.at(index);
    let value = match instruction.op {
        op::CONSTANT | op::SPEC_CONSTANT => u64::from(at(2)) | u64::from(at(3)) << 32,
        op::CONSTANT_TRUE | op::SPEC_CONSTANT_TRUE => 1,
        // OpConstantNull: of numbers zero; nothing else is asked for here.
        op::CONSTANT_FALSE | op::SPEC_CONSTANT_FALSE | op::CONSTANT_NULL => 0,
        op::SPEC_CONSTANT_OP => {
            let known = |index: usize| numbers.get(&at(3 + index)).map(|value| *value as u32);
            match compute(at(2), known) {
                Some(value) => u64::from(value),
                None => return,
            }
        }
        _ => return,
    };
    numbers.insert(at(1), value);
}

/// Integers and booleans of a module that are known before it runs, by id, with the values that its specialization
/// constants have. O(words).
pub fn numbers(spirv: &[u32]) -> HashMap<u32, u64> {
    let mut numbers = HashMap::new();
    let outside = instructions(spirv.get(5..).unwrap_or(&[])).take_while(|instruction| instruction.op != op::FUNCTION);
    outside.for_each(|instruction| take(&mut numbers, instruction));
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
        let value = self.constants.get(id).copied().unwrap_or(0);
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
        self.constants = numbers(&self.words);
        Ok(())
    }
}
