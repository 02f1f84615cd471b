//! SPIR-V modules of others: read, and reflected as far as a pass needs.
//!
//! A reader of its own, for three reasons: which buffer a function reads or writes is followed through access chains,
//! calls and parameters, which decorations do not tell; unknown instructions must not stop it; and bytes of anybody
//! must neither panic, loop nor fill the memory. Source: SPIR-V specification 1.6; the tests hold it against spirq.

mod access;
pub(crate) mod close;
pub(crate) mod constants;
#[cfg(feature = "wgsl")]
pub(crate) mod layout;
mod reflect;
#[cfg(feature = "wgsl")]
pub(crate) mod sample_mask;
mod types;
mod unneeded;

use rgraph_ir::error::Code;

use crate::error::{self, ShaderError};
use crate::inline::{self, Calls};
use crate::stage::Stage;
use std::collections::{HashMap, HashSet};
use types::Form;

/// Opcodes that are read here.
mod op {
    pub(super) const NAME: u16 = 5;
    pub(super) const MEMBER_NAME: u16 = 6;
    pub(super) const EXT_INST: u16 = 12;
    pub(super) const ENTRY_POINT: u16 = 15;
    pub(super) const EXECUTION_MODE: u16 = 16;
    pub(super) const CAPABILITY: u16 = 17;
    pub(super) const TYPE_BOOL: u16 = 20;
    pub(super) const TYPE_INT: u16 = 21;
    pub(super) const TYPE_FLOAT: u16 = 22;
    pub(super) const TYPE_VECTOR: u16 = 23;
    pub(super) const TYPE_MATRIX: u16 = 24;
    pub(super) const TYPE_IMAGE: u16 = 25;
    pub(super) const TYPE_SAMPLER: u16 = 26;
    pub(super) const TYPE_SAMPLED_IMAGE: u16 = 27;
    pub(super) const TYPE_ARRAY: u16 = 28;
    pub(super) const TYPE_RUNTIME_ARRAY: u16 = 29;
    pub(super) const TYPE_STRUCT: u16 = 30;
    pub(super) const TYPE_POINTER: u16 = 32;
    pub(super) const CONSTANT_TRUE: u16 = 41;
    pub(super) const CONSTANT_FALSE: u16 = 42;
    pub(super) const CONSTANT: u16 = 43;
    pub(super) const CONSTANT_COMPOSITE: u16 = 44;
    pub(super) const CONSTANT_NULL: u16 = 46;
    pub(super) const SPEC_CONSTANT_TRUE: u16 = 48;
    pub(super) const SPEC_CONSTANT_FALSE: u16 = 49;
    pub(super) const SPEC_CONSTANT: u16 = 50;
    pub(super) const SPEC_CONSTANT_COMPOSITE: u16 = 51;
    pub(super) const SPEC_CONSTANT_OP: u16 = 52;
    pub(super) const FUNCTION: u16 = 54;
    pub(super) const FUNCTION_PARAMETER: u16 = 55;
    pub(super) const FUNCTION_END: u16 = 56;
    pub(super) const FUNCTION_CALL: u16 = 57;
    pub(super) const VARIABLE: u16 = 59;
    pub(super) const DECORATE: u16 = 71;
    pub(super) const MEMBER_DECORATE: u16 = 72;
    pub(super) const GROUP_DECORATE: u16 = 74;
    pub(super) const GROUP_MEMBER_DECORATE: u16 = 75;
    pub(super) const EXECUTION_MODE_ID: u16 = 331;
    pub(super) const TRACE_RAY: u16 = 4445;
    pub(super) const RAY_QUERY_INITIALIZE: u16 = 4473;
    pub(super) const TYPE_ACCELERATION_STRUCTURE: u16 = 5341;
}

/// Decorations that are read here.
mod decoration {
    pub(super) const SPEC_ID: u32 = 1;
    pub(super) const BUFFER_BLOCK: u32 = 3;
    pub(super) const ROW_MAJOR: u32 = 4;
    pub(super) const ARRAY_STRIDE: u32 = 6;
    pub(super) const MATRIX_STRIDE: u32 = 7;
    pub(super) const BUILT_IN: u32 = 11;
    pub(super) const PATCH: u32 = 15;
    pub(super) const LOCATION: u32 = 30;
    pub(super) const COMPONENT: u32 = 31;
    pub(super) const INDEX: u32 = 32;
    pub(super) const BINDING: u32 = 33;
    pub(super) const DESCRIPTOR_SET: u32 = 34;
    pub(super) const OFFSET: u32 = 35;
    pub(super) const INPUT_ATTACHMENT_INDEX: u32 = 43;
}

/// Storage classes that are read here.
mod class {
    pub(super) const UNIFORM_CONSTANT: u32 = 0;
    pub(super) const INPUT: u32 = 1;
    pub(super) const UNIFORM: u32 = 2;
    pub(super) const OUTPUT: u32 = 3;
    pub(super) const PUSH_CONSTANT: u32 = 9;
    pub(super) const STORAGE_BUFFER: u32 = 12;
    pub(super) const PHYSICAL_STORAGE_BUFFER: u32 = 5349;
}

/// Words before the first instruction.
const HEADER: usize = 5;

/// The most ids that Vulkan implementations must take ("Universal Limits").
const MOST_IDS: u32 = 4_194_303;

/// An instruction: its opcode and its operands.
#[derive(Clone, Copy)]
struct Instruction<'a> {
    op: u16,
    operands: &'a [u32],
}

impl<'a> Instruction<'a> {
    /// An operand; 0, which is no id, where the instruction ends before it.
    fn at(&self, index: usize) -> u32 {
        self.operands.get(index).copied().unwrap_or(0)
    }

    fn from(&self, index: usize) -> &'a [u32] {
        self.operands.get(index..).unwrap_or(&[])
    }
}

/// An entry point.
struct Entry {
    /// `None`: of a stage that is not supported.
    stage: Option<Stage>,
    function: u32,
    name: String,
    interface: Vec<u32>,
}

/// A variable outside functions.
struct Variable {
    id: u32,
    pointer: u32,
    class: u32,
}

/// A SPIR-V module that was read.
pub(crate) struct Binary<'a> {
    name: &'a str,
    /// Header and instructions in this machine's byte order.
    words: Vec<u32>,
    entries: Vec<Entry>,
    names: HashMap<u32, String>,
    member_names: HashMap<(u32, u32), String>,
    decorations: HashMap<(u32, u32), u32>,
    member_decorations: HashMap<(u32, u32, u32), u32>,
    /// Execution modes: entry point, mode, operands.
    modes: Vec<(u32, u32, [u32; 3])>,
    types: HashMap<u32, Form>,
    /// Integers and booleans that are known before the module runs, by id.
    constants: constants::Numbers,
    /// Specialization constants that are not computed of others.
    specials: Vec<constants::Declared>,
    composites: HashMap<u32, [u32; 3]>,
    variables: Vec<Variable>,
    /// Types of pointers that several resources without a name have.
    shared_blocks: HashSet<u32>,
    /// First and last word of each function, in order.
    functions: Vec<(u32, std::ops::Range<usize>)>,
}

fn bad(name: &str, message: String) -> ShaderError {
    error::plain(Code::BadSpirv, name, message, "give a module that spirv-val accepts")
}

/// The words of a module in this machine's byte order.
fn words(name: &str, bytes: &[u8]) -> Result<Vec<u32>, ShaderError> {
    if !bytes.len().is_multiple_of(4) {
        return Err(bad(name, format!("SPIR-V comes in words of 4 bytes, and this has {} bytes", bytes.len())));
    }
    if bytes.len() < 20 {
        return Err(bad(name, format!("it has {} bytes, and the header of SPIR-V alone has 20", bytes.len())));
    }
    let word = |bytes: &[u8]| [bytes[0], bytes[1], bytes[2], bytes[3]];
    let read: fn([u8; 4]) -> u32 = match word(bytes) {
        [0x03, 0x02, 0x23, 0x07] => u32::from_le_bytes,
        [0x07, 0x23, 0x02, 0x03] => u32::from_be_bytes,
        [a, b, c, d] => {
            let message = format!("it is no SPIR-V: it begins with {a:02x} {b:02x} {c:02x} {d:02x}, not 03 02 23 07");
            return Err(bad(name, message));
        }
    };
    Ok(bytes.chunks_exact(4).map(|bytes| read(word(bytes))).collect())
}

/// A literal string: bytes of little-endian words up to a zero; and the words that follow it.
fn string(words: &[u32]) -> (String, &[u32]) {
    let end = words.iter().position(|word| word.to_le_bytes().contains(&0)).map_or(words.len(), |at| at + 1);
    let bytes: Vec<u8> =
        words[..end].iter().flat_map(|word| word.to_le_bytes()).take_while(|byte| *byte != 0).collect();
    (String::from_utf8_lossy(&bytes).into_owned(), &words[end..])
}

/// The instructions of words that were checked when they were read.
fn instructions(words: &[u32]) -> impl Iterator<Item = Instruction<'_>> {
    let mut rest = words;
    std::iter::from_fn(move || {
        let head = *rest.first()?;
        let (now, next) = rest.split_at_checked((head >> 16) as usize)?;
        rest = next;
        Some(Instruction { op: head as u16, operands: now.get(1..)? })
    })
}

impl<'a> Binary<'a> {
    /// Reads a module, in either byte order. O(bytes) in time and memory.
    ///
    /// # Errors
    /// `RG-E305`: no SPIR-V, of a version beyond 1.6, truncated, or with instructions that contradict each other.
    pub(crate) fn new(name: &'a str, bytes: &[u8]) -> Result<Self, ShaderError> {
        Self::of_words(name, words(name, bytes)?)
    }

    /// Reads a module of words, at least the five of the header.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(crate) fn of_words(name: &'a str, words: Vec<u32>) -> Result<Self, ShaderError> {
        let (version, bound) = (words[1], words[3]);
        if !(0x1_0000..=0x1_06ff).contains(&version) {
            let message = format!(
                "it is of SPIR-V version {}.{}; Vulkan 1.3 takes 1.0 to 1.6",
                version >> 16,
                version >> 8 & 0xff
            );
            return Err(bad(name, message));
        }
        if bound > MOST_IDS {
            return Err(bad(name, format!("its ids go up to {bound}; Vulkan takes {MOST_IDS}")));
        }
        let mut new = Self {
            name,
            words,
            entries: Vec::new(),
            names: HashMap::new(),
            member_names: HashMap::new(),
            decorations: HashMap::new(),
            member_decorations: HashMap::new(),
            modes: Vec::new(),
            types: HashMap::new(),
            constants: constants::Numbers::default(),
            specials: Vec::new(),
            composites: HashMap::new(),
            variables: Vec::new(),
            shared_blocks: HashSet::new(),
            functions: Vec::new(),
        };
        unneeded::drop(&mut new.words);
        let words = std::mem::take(&mut new.words);
        let read = new.read(&words);
        new.words = words;
        read?;
        let unnamed = |variable: &&Variable| {
            Self::is_resource(variable.class) && new.names.get(&variable.id).is_none_or(String::is_empty)
        };
        let mut once = HashSet::new();
        let again =
            new.variables.iter().filter(unnamed).map(|variable| variable.pointer).filter(|of| !once.insert(*of));
        new.shared_blocks = again.collect();
        Ok(new)
    }

    fn read(&mut self, words: &[u32]) -> Result<(), ShaderError> {
        let mut at = 5;
        let mut function: Option<(u32, usize)> = None;
        while at < words.len() {
            let length = (words[at] >> 16) as usize;
            let Some(operands) = words.get(at + 1..at + length).filter(|_| length > 0) else {
                let message =
                    format!("the instruction at word {at} has {length} words, and {} are left", words.len() - at);
                return Err(bad(self.name, message));
            };
            let instruction = Instruction { op: words[at] as u16, operands };
            match instruction.op {
                op::FUNCTION if function.is_none() => function = Some((instruction.at(1), at)),
                op::FUNCTION => return Err(bad(self.name, format!("a function begins inside another, at word {at}"))),
                op::FUNCTION_END => match function.take() {
                    Some((id, start)) => self.functions.push((id, start..at)),
                    None => return Err(bad(self.name, format!("a function ends before it begins, at word {at}"))),
                },
                _ if function.is_none() => {
                    if matches!(instruction.op, op::SPEC_CONSTANT_TRUE..=op::SPEC_CONSTANT) {
                        let (ty, id) = (instruction.at(0), instruction.at(1));
                        self.specials.push(constants::Declared { at, id, ty });
                    }
                    self.declare(instruction)?;
                }
                _ => {}
            }
            at += length;
        }
        if function.is_some() {
            return Err(bad(self.name, "its last function does not end".to_owned()));
        }
        self.check_calls(words)?;
        if self.entries.is_empty() {
            return Err(error::plain(Code::EntryPoint, self.name, "the SPIR-V has no entry point".to_owned(), ""));
        }
        Ok(())
    }

    /// Refuses recursion, which Vulkan lacks, and functions that grow too large once their calls are inlined.
    fn check_calls(&self, words: &[u32]) -> Result<(), ShaderError> {
        let positions: HashMap<u32, usize> = self.functions.iter().zip(0..).map(|((id, _), at)| (*id, at)).collect();
        let function = |(_, range): &(u32, std::ops::Range<usize>)| {
            let (mut count, mut callees) = (0, Vec::new());
            for instruction in instructions(&words[range.clone()]) {
                count += 1;
                if instruction.op == op::FUNCTION_CALL {
                    callees.extend(positions.get(&instruction.at(2)));
                }
            }
            (count, callees)
        };
        let functions: Vec<_> = self.functions.iter().map(function).collect();
        inline::check_calls(&functions).map_err(|calls| match calls {
            Calls::Recursive => bad(self.name, "one of its functions calls itself".to_owned()),
            Calls::Explode => {
                let most = inline::MOST_INSTRUCTIONS;
                let message = format!("it has more than {most} instructions once its calls are inlined");
                error::plain(Code::BadSpirv, self.name, message, "call fewer functions, or loop")
            }
        })
    }

    /// Takes in an instruction outside functions.
    fn declare(&mut self, instruction: Instruction<'_>) -> Result<(), ShaderError> {
        let at = |index| instruction.at(index);
        match instruction.op {
            op::NAME => {
                self.names.insert(at(0), string(instruction.from(1)).0);
            }
            op::MEMBER_NAME => {
                self.member_names.insert((at(0), at(1)), string(instruction.from(2)).0);
            }
            op::ENTRY_POINT => {
                let stage = match at(0) {
                    0 => Some(Stage::Vertex),
                    1 => Some(Stage::TessellationControl),
                    2 => Some(Stage::TessellationEvaluation),
                    3 => Some(Stage::Geometry),
                    4 => Some(Stage::Fragment),
                    5 => Some(Stage::Compute),
                    5313 => Some(Stage::RayGeneration),
                    5314 => Some(Stage::Intersection),
                    5315 => Some(Stage::AnyHit),
                    5316 => Some(Stage::ClosestHit),
                    5317 => Some(Stage::Miss),
                    5318 => Some(Stage::Callable),
                    // Of VK_NV_mesh_shader, whose capability compiling refuses, and of VK_EXT_mesh_shader.
                    5267 | 5364 => Some(Stage::Task),
                    5268 | 5365 => Some(Stage::Mesh),
                    _ => None,
                };
                let (name, rest) = string(instruction.from(2));
                self.entries.push(Entry { stage, function: at(1), name, interface: rest.to_vec() });
            }
            op::EXECUTION_MODE | op::EXECUTION_MODE_ID => self.modes.push((at(0), at(1), [at(2), at(3), at(4)])),
            op::DECORATE => {
                self.decorations.insert((at(0), at(1)), at(2));
            }
            op::MEMBER_DECORATE => {
                self.member_decorations.insert((at(0), at(1), at(2)), at(3));
            }
            op::GROUP_DECORATE | op::GROUP_MEMBER_DECORATE => {
                let message = "it has decoration groups, which are not supported".to_owned();
                return Err(error::plain(
                    Code::BadSpirv,
                    self.name,
                    message,
                    "run spirv-opt --flatten-decorations over it",
                ));
            }
            op::CONSTANT_COMPOSITE | op::SPEC_CONSTANT_COMPOSITE => {
                self.composites.insert(at(1), [at(2), at(3), at(4)]);
            }
            op::VARIABLE => self.variables.push(Variable { pointer: at(0), id: at(1), class: at(2) }),
            _ => {
                self.constants.take(instruction);
                if let Some((id, form)) = Form::read(instruction) {
                    self.types.insert(id, form);
                }
            }
        }
        Ok(())
    }

    /// Entry points in order; those of stages that are not supported are left out.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (Stage, &str)> {
        self.entries.iter().filter_map(|entry| Some((entry.stage?, entry.name.as_str())))
    }

    fn decoration(&self, id: u32, decoration: u32) -> Option<u32> {
        self.decorations.get(&(id, decoration)).copied()
    }

    fn member(&self, id: u32, member: u32, decoration: u32) -> Option<u32> {
        self.member_decorations.get(&(id, member, decoration)).copied()
    }

    /// The instructions of a range of words, which was checked when it was read.
    fn instructions(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = Instruction<'_>> {
        instructions(&self.words[range])
    }
}
