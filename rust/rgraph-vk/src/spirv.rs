//! What little of SPIR-V the runtime reads and moves itself: declared capabilities, and where fragment outputs go.
//!
//! Source: SPIR-V specification, "Physical Layout of a SPIR-V Module and Instruction": five words of header, then
//! instructions of `length << 16 | opcode`.

const OP_ENTRY_POINT: u32 = 15;
const OP_CAPABILITY: u32 = 17;
const OP_VARIABLE: u32 = 59;
const OP_DECORATE: u32 = 71;
const FRAGMENT: u32 = 4;
const OUTPUT: u32 = 3;
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
