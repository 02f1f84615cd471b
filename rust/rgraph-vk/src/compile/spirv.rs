//! What little of SPIR-V the runtime reads and moves itself: declared capabilities, and where fragment outputs go.
//!
//! Source: SPIR-V specification, "Physical Layout of a SPIR-V Module and Instruction": five words of header, then
//! instructions of `length << 16 | opcode`.

use std::collections::HashMap;

const OP_EXT_INST_IMPORT: u32 = 11;
const OP_ENTRY_POINT: u32 = 15;
const OP_EXECUTION_MODE: u32 = 16;
const OP_CAPABILITY: u32 = 17;
const OP_TYPE_BOOL: u32 = 20;
const OP_TYPE_INT: u32 = 21;
const OP_TYPE_FLOAT: u32 = 22;
const OP_TYPE_VECTOR: u32 = 23;
const OP_TYPE_MATRIX: u32 = 24;
const OP_TYPE_ARRAY: u32 = 28;
const OP_TYPE_STRUCT: u32 = 30;
const OP_TYPE_POINTER: u32 = 32;
const OP_VARIABLE: u32 = 59;
const OP_DECORATE: u32 = 71;
const FRAGMENT: u32 = 4;
const OUTPUT: u32 = 3;
const WORKGROUP: u32 = 4;
const PRIVATE: u32 = 6;
const FUNCTION: u32 = 7;
const LOCATION: u32 = 30;
const HEADER: usize = 5;

/// Instructions of a module: position and opcode with its words.
fn instructions(spirv: &[u32]) -> impl Iterator<Item = (usize, u32, &[u32])> {
    let mut at = HEADER;
    std::iter::from_fn(move || {
        let head = *spirv.get(at)?;
        let length = (head >> 16) as usize;
        let words = spirv.get(at..at + length).filter(|words| !words.is_empty())?;
        let here = at;
        at += length;
        Some((here, head & 0xffff, words))
    })
}

/// The capabilities that a module declares.
pub(crate) fn capabilities(spirv: &[u32]) -> impl Iterator<Item = u32> {
    instructions(spirv)
        .take_while(|(_, opcode, _)| *opcode == OP_CAPABILITY)
        .filter_map(|(_, _, words)| words.get(1).copied())
}

/// Whether a module prints (`debugPrintfEXT`).
pub(crate) fn prints(spirv: &[u32]) -> bool {
    const NAME: &[u8] = b"NonSemantic.DebugPrintf";
    let imports = instructions(spirv).take_while(|(_, opcode, _)| *opcode != OP_ENTRY_POINT);
    imports.filter(|(_, opcode, _)| *opcode == OP_EXT_INST_IMPORT).any(|(_, _, words)| {
        let bytes: Vec<u8> = words.iter().skip(2).flat_map(|word| word.to_le_bytes()).collect();
        bytes.starts_with(NAME)
    })
}

/// The execution modes of a module, each with its first operand (0 without).
pub(crate) fn modes(spirv: &[u32]) -> impl Iterator<Item = (u32, u32)> {
    instructions(spirv)
        .filter(|(_, opcode, _)| *opcode == OP_EXECUTION_MODE)
        .filter_map(|(_, _, words)| Some((*words.get(2)?, words.get(3).copied().unwrap_or(0))))
}

/// The module with the outputs of a fragment entry point moved from location `i` to `to[i]`.
pub(crate) fn moved_outputs(spirv: &[u32], entry: &str, to: &[u32]) -> Vec<u32> {
    let mut moved = spirv.to_vec();
    let mut interface: Vec<u32> = Vec::new();
    for (_, _, words) in instructions(spirv).filter(|(_, opcode, _)| *opcode == OP_ENTRY_POINT) {
        let bytes: Vec<u8> = words.iter().skip(3).flat_map(|word| word.to_le_bytes()).collect();
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        if words.get(1) == Some(&FRAGMENT) && &bytes[..end] == entry.as_bytes() {
            interface.extend(words.iter().skip(3 + end / 4 + 1));
        }
    }
    let outputs: Vec<u32> = instructions(spirv)
        .filter(|(_, opcode, words)| *opcode == OP_VARIABLE && words.get(3) == Some(&OUTPUT))
        .filter_map(|(_, _, words)| words.get(2).copied())
        .filter(|id| interface.contains(id))
        .collect();
    for (at, opcode, words) in instructions(spirv) {
        if opcode == OP_DECORATE
            && let [_, id, LOCATION, location] = *words
            && outputs.contains(&id)
            && let Some(&new) = to.get(location as usize)
        {
            moved[at + 3] = new;
        }
    }
    moved
}

/// Bytes that variables of a module take, at least.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Variables {
    /// Of all workgroup variables; of the largest one where several entry points may have some each.
    pub workgroup: u64,
    /// Of the largest variable that each invocation has for itself.
    pub own: u64,
}

/// How large a module's variables are, without padding.
pub(crate) fn variables(spirv: &[u32]) -> Variables {
    let mut found = Variables { workgroup: 0, own: 0 };
    let (mut sizes, numbers) = (HashMap::<u32, u64>::new(), rgraph_shader::numbers(spirv));
    let mut entries = 0;
    for (_, opcode, words) in instructions(spirv) {
        let size = |id: &u32| sizes.get(id).copied().unwrap_or(0);
        match (opcode, words) {
            (OP_ENTRY_POINT, _) => entries += 1,
            (OP_TYPE_BOOL, [_, id, ..]) => {
                sizes.insert(*id, 4);
            }
            (OP_TYPE_INT | OP_TYPE_FLOAT, [_, id, bits, ..]) => {
                sizes.insert(*id, u64::from(*bits / 8));
            }
            (OP_TYPE_VECTOR | OP_TYPE_MATRIX, [_, id, of, count]) => {
                sizes.insert(*id, size(of).saturating_mul(u64::from(*count)));
            }
            (OP_TYPE_ARRAY, [_, id, of, length]) => {
                let length = numbers.get(length).copied().unwrap_or(0);
                sizes.insert(*id, size(of).saturating_mul(length));
            }
            (OP_TYPE_STRUCT, [_, id, members @ ..]) => {
                sizes.insert(*id, members.iter().map(size).fold(0, u64::saturating_add));
            }
            // A pointer stands for what it points to: variables name only the pointer.
            (OP_TYPE_POINTER, [_, id, WORKGROUP | PRIVATE | FUNCTION, of]) => {
                sizes.insert(*id, size(of));
            }
            (OP_VARIABLE, [_, pointer, _, WORKGROUP, ..]) if entries == 1 => {
                found.workgroup = found.workgroup.saturating_add(size(pointer));
            }
            (OP_VARIABLE, [_, pointer, _, WORKGROUP, ..]) => found.workgroup = found.workgroup.max(size(pointer)),
            (OP_VARIABLE, [_, pointer, _, PRIVATE | FUNCTION, ..]) => found.own = found.own.max(size(pointer)),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Variables, variables};
    use rgraph_shader::{Kind, Language, Program, Source};

    fn of(text: &str) -> Variables {
        let program = Program::new("test", Kind::Compute, &[Source::Text(Language::Wgsl, text)], None);
        program.map_or(Variables { workgroup: 0, own: 0 }, |program| variables(&program.modules[0].spirv))
    }

    #[test]
    fn variables_have_the_sizes_of_their_types() {
        let text = "
        struct Pair { one: vec4<f32>, two: array<u32, 3> }
        @group(0) @binding(0) var<storage, read_write> dst: array<u32>;
        var<workgroup> shared_pairs: array<Pair, 100>;
        var<workgroup> count: atomic<u32>;
        var<private> mine: array<array<u32, 16>, 32>;
        @compute @workgroup_size(1) fn main() {
            mine[dst[0]][1] = 5u;
            atomicAdd(&count, 1u);
            dst[1] = shared_pairs[dst[0]].two[1] + mine[dst[2]][3];
        }";
        assert_eq!(of(text), Variables { workgroup: 100 * 28 + 4, own: 2048 });
    }

    #[test]
    fn sizes_beyond_all_numbers_are_the_largest() {
        let words = |opcode: u32, words: &[u32]| {
            let mut all = vec![(words.len() as u32 + 1) << 16 | opcode];
            all.extend(words);
            all
        };
        let mut spirv = vec![0; 5];
        spirv.extend(words(21, &[1, 32, 0]));
        spirv.extend(words(43, &[1, 2, u32::MAX]));
        for (id, of) in [(3, 1), (4, 3), (5, 4)] {
            spirv.extend(words(28, &[id, of, 2]));
        }
        spirv.extend(words(32, &[6, 7, 5]));
        spirv.extend(words(59, &[6, 7, 7]));
        assert_eq!(variables(&spirv), Variables { workgroup: 0, own: u64::MAX });
    }
}
