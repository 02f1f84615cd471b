//! Sample masks as Vulkan has them.
//!
//! Naga (30) declares `@builtin(sample_mask)` as one number. In SPIR-V for Vulkan it is an array of them
//! (VUID-SampleMask-SampleMask-04359), so variables become arrays of one, and what loads and stores them goes through
//! its first element.

use std::collections::HashMap;

use super::HEADER;
use super::layout::instructions;
use super::{decoration, op};

const SAMPLE_MASK: u32 = 20;
const BOUND: usize = 3;
const LOAD: u16 = 61;
const STORE: u16 = 62;
const ACCESS_CHAIN: u16 = 65;

fn put(out: &mut Vec<u32>, op: u16, operands: &[u32]) {
    out.push((operands.len() as u32 + 1) << 16 | u32::from(op));
    out.extend(operands);
}

/// Turns the sample masks of a module that naga wrote into arrays, as Vulkan requires. O(words).
pub(crate) fn fix(words: &mut Vec<u32>) {
    let mask = |(op, all): (u16, &[u32])| match (op, all) {
        (op::DECORATE, [_, id, decoration::BUILT_IN, SAMPLE_MASK]) => Some(*id),
        _ => None,
    };
    let masks: Vec<u32> = instructions(words).filter_map(mask).collect();
    if masks.is_empty() {
        return;
    }
    let mut pointees: HashMap<u32, u32> = HashMap::new();
    let mut out = words[..HEADER].to_vec();
    let mut next = words[BOUND];
    let mut fresh = || {
        next += 1;
        next - 1
    };
    // Of each mask: the pointer to its number, and the constant zero.
    let mut found: HashMap<u32, (u32, u32)> = HashMap::new();
    for (op, all) in instructions(words) {
        match (op, all) {
            (op::TYPE_POINTER, [_, id, _, of]) => {
                pointees.insert(*id, *of);
                out.extend(all);
            }
            (op::VARIABLE, [_, pointer, id, class, ..]) if masks.contains(id) && pointees.contains_key(pointer) => {
                let number = pointees[pointer];
                let [zero, one, array, to_array] = [fresh(), fresh(), fresh(), fresh()];
                put(&mut out, op::CONSTANT, &[number, zero, 0]);
                put(&mut out, op::CONSTANT, &[number, one, 1]);
                put(&mut out, op::TYPE_ARRAY, &[array, number, one]);
                put(&mut out, op::TYPE_POINTER, &[to_array, *class, array]);
                // An output is written before the stage ends, so that it needs no value at the start.
                put(&mut out, op::VARIABLE, &[to_array, *id, *class]);
                found.insert(*id, (*pointer, zero));
            }
            (LOAD, [_, _, _, id, ..]) | (STORE, [_, id, ..]) if found.contains_key(id) => {
                let (pointer, zero) = found[id];
                let element = fresh();
                put(&mut out, ACCESS_CHAIN, &[pointer, element, *id, zero]);
                let at = out.len() + if op == LOAD { 3 } else { 1 };
                out.extend(all);
                out[at] = element;
            }
            _ => out.extend(all),
        }
    }
    out[BOUND] = next;
    *words = out;
}
