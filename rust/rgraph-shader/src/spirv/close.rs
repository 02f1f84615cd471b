//! Arrays of descriptors that a module leaves open get their lengths, once these are known: devices without
//! `runtimeDescriptorArray` then run them, and drivers know how many descriptors there are.
//!
//! Source: SPIR-V specification 1.6, "OpTypeRuntimeArray", and Vulkan 1.3, "Standalone SPIR-V Validation".

use std::collections::HashMap;

use super::{HEADER, class, decoration, instructions, op};
use crate::interface::Length;

/// The capability of variables that are arrays of open length.
const RUNTIME_DESCRIPTOR_ARRAY: u32 = 5302;
const ACCESS_CHAIN: u16 = 65;
const IN_BOUNDS_ACCESS_CHAIN: u16 = 66;

/// What a module declares, as far as lengths go.
#[derive(Default)]
struct Declared {
    /// Elements of arrays of open length.
    open: HashMap<u32, u32>,
    /// What pointers point to.
    pointers: HashMap<u32, u32>,
    /// Sets and bindings of variables.
    places: HashMap<(u32, u32), u32>,
    /// Variables outside functions with the types of their pointers.
    variables: Vec<(u32, u32)>,
    /// The type of unsigned integers of 32 bits.
    number: Option<u32>,
}

/// Gives variables their lengths. A module that uses such a variable in another way than by its elements stays as it
/// is.
pub(crate) fn close(words: &[u32], lengths: &[Length]) -> Option<Vec<u32>> {
    let bound = *words.get(3)?;
    let body = words.get(HEADER..)?;
    let declared = read(body);
    let open_of = |pointer: &u32| declared.open.get(declared.pointers.get(pointer)?).copied();
    let length_of = |variable: u32| {
        let place = |what| declared.places.get(&(variable, what)).copied();
        let (group, binding) = (place(decoration::DESCRIPTOR_SET)?, place(decoration::BINDING)?);
        lengths.iter().find(|length| (length.group, length.binding) == (group, binding)).map(|length| length.count)
    };
    let open = declared.variables.iter().filter_map(|(id, pointer)| Some((*id, (open_of(pointer)?, length_of(*id)))));
    let open: HashMap<u32, (u32, Option<u32>)> = open.collect();
    if open.values().all(|(_, count)| count.is_none()) || is_used_whole(body, &open) {
        return None;
    }
    let stays_open = open.values().any(|(_, count)| count.is_none());
    let mut next = bound;
    let mut fresh = || {
        next += 1;
        next - 1
    };
    let mut out = words[..HEADER].to_vec();
    let mut number = declared.number;
    for instruction in instructions(body) {
        let at = |index| instruction.at(index);
        match instruction.op {
            op::CAPABILITY if at(0) == RUNTIME_DESCRIPTOR_ARRAY && !stays_open => {}
            op::VARIABLE => match open.get(&at(1)) {
                Some((element, Some(count))) => {
                    let number = *number.get_or_insert_with(|| {
                        let id = fresh();
                        put(&mut out, op::TYPE_INT, &[id, 32, 0]);
                        id
                    });
                    let (length, array, pointer) = (fresh(), fresh(), fresh());
                    put(&mut out, op::CONSTANT, &[number, length, *count]);
                    put(&mut out, op::TYPE_ARRAY, &[array, *element, length]);
                    put(&mut out, op::TYPE_POINTER, &[pointer, at(2), array]);
                    put(&mut out, op::VARIABLE, &[pointer, at(1), at(2)]);
                }
                _ => put(&mut out, instruction.op, instruction.operands),
            },
            other => put(&mut out, other, instruction.operands),
        }
    }
    out[3] = next;
    Some(out)
}

fn put(out: &mut Vec<u32>, op: u16, operands: &[u32]) {
    out.push((operands.len() as u32 + 1) << 16 | u32::from(op));
    out.extend_from_slice(operands);
}

fn read(body: &[u32]) -> Declared {
    let mut declared = Declared::default();
    for instruction in instructions(body) {
        let at = |index| instruction.at(index);
        match instruction.op {
            op::TYPE_RUNTIME_ARRAY => {
                declared.open.insert(at(0), at(1));
            }
            op::TYPE_POINTER => {
                declared.pointers.insert(at(0), at(2));
            }
            op::TYPE_INT if (at(1), at(2)) == (32, 0) => declared.number = Some(at(0)),
            op::DECORATE if matches!(at(1), decoration::DESCRIPTOR_SET | decoration::BINDING) => {
                declared.places.insert((at(0), at(1)), at(2));
            }
            op::VARIABLE if matches!(at(2), class::UNIFORM_CONSTANT | class::UNIFORM | class::STORAGE_BUFFER) => {
                declared.variables.push((at(1), at(0)));
            }
            op::FUNCTION => break,
            _ => {}
        }
    }
    declared
}

/// Whether an instruction of a function names such a variable, and not one of its elements. Literals that happen to be
/// its number count too.
fn is_used_whole(body: &[u32], open: &HashMap<u32, (u32, Option<u32>)>) -> bool {
    let code = instructions(body).skip_while(|instruction| instruction.op != op::FUNCTION);
    let mut code = code.filter(|instruction| !matches!(instruction.op, op::NAME | op::DECORATE));
    code.any(|instruction| {
        let element = matches!(instruction.op, ACCESS_CHAIN | IN_BOUNDS_ACCESS_CHAIN);
        let named = |(index, id): (usize, &u32)| open.contains_key(id) && !(element && index == 2);
        instruction.operands.iter().enumerate().any(named)
    })
}
