//! Input attachments in shaders: WGSL has none, so a function that stands for one gets a body of SPIR-V that loads it.

const CAPABILITY: u32 = 17;
const NAME: u32 = 5;
const MEMORY_MODEL: u32 = 14;
const TYPE_INT: u32 = 21;
const TYPE_FLOAT: u32 = 22;
const TYPE_VECTOR: u32 = 23;
const TYPE_IMAGE: u32 = 25;
const TYPE_POINTER: u32 = 32;
const CONSTANT_NULL: u32 = 46;
const FUNCTION: u32 = 54;
const FUNCTION_END: u32 = 56;
const VARIABLE: u32 = 59;
const LOAD: u32 = 61;
const DECORATE: u32 = 71;
const COMPOSITE_EXTRACT: u32 = 81;
const IMAGE_READ: u32 = 98;
const CONVERT_F_TO_U: u32 = 109;
const LABEL: u32 = 248;
const RETURN_VALUE: u32 = 254;

/// An input attachment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Input {
    /// Position of its read, which says where it is bound.
    pub at: usize,
    /// Whether its texels are floats.
    pub float: bool,
}

/// The function that stands for an input attachment in a text; another text for floats, since programs are known by
/// theirs.
pub fn stub(input: Input) -> String {
    format!("fn input{}() -> u32 {{ return {}u; }}\n", input.at, u32::from(input.float))
}

/// A module of fragment shaders in which the functions of [`stub`] load their input attachments.
pub fn patched(spirv: &[u32], inputs: &[Input]) -> Vec<u8> {
    let mut module = Module { header: spirv[..5].to_vec(), code: split(&spirv[5..]) };
    for (number, &input) in inputs.iter().enumerate() {
        module.patch(number as u32, input);
    }
    let words = module.header.into_iter().chain(module.code.into_iter().flatten());
    words.flat_map(u32::to_le_bytes).collect()
}

struct Module {
    header: Vec<u32>,
    code: Vec<Vec<u32>>,
}

fn split(mut words: &[u32]) -> Vec<Vec<u32>> {
    let mut out = Vec::new();
    while let Some(&first) = words.first() {
        let (one, rest) = words.split_at((first >> 16) as usize);
        out.push(one.to_vec());
        words = rest;
    }
    out
}

fn op(code: &[u32]) -> u32 {
    code[0] & 0xffff
}

fn instruction(op: u32, operands: &[u32]) -> Vec<u32> {
    let mut out = vec![(operands.len() as u32 + 1) << 16 | op];
    out.extend(operands);
    out
}

fn text(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(bytes.len() / 4 * 4 + 4, 0);
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

impl Module {
    fn id(&mut self) -> u32 {
        self.header[3] += 1;
        self.header[3] - 1
    }

    fn first(&self, wanted: u32) -> usize {
        self.code.iter().position(|one| op(one) == wanted).expect("every module has one")
    }

    /// A type, as it is declared, or declared before the first function.
    fn ty(&mut self, of: u32, operands: &[u32]) -> u32 {
        if let Some(known) = self.code.iter().find(|one| op(one) == of && one[2..] == *operands) {
            return known[1];
        }
        let id = self.id();
        let all: Vec<u32> = [id].iter().chain(operands).copied().collect();
        self.declare(instruction(of, &all));
        id
    }

    fn declare(&mut self, code: Vec<u32>) {
        let at = self.first(FUNCTION);
        self.code.insert(at, code);
    }

    fn patch(&mut self, number: u32, input: Input) {
        let name = text(&format!("input{}", input.at));
        let named = self.code.iter().find(|one| op(one) == NAME && one[2..] == name[..]);
        let function = named.expect("the function has its name")[1];
        let uint = self.ty(TYPE_INT, &[32, 0]);
        let int = self.ty(TYPE_INT, &[32, 1]);
        let texel = if input.float { self.ty(TYPE_FLOAT, &[32]) } else { uint };
        let texels = self.ty(TYPE_VECTOR, &[texel, 4]);
        let corner = self.ty(TYPE_VECTOR, &[int, 2]);
        // Of subpass data, which is read without a sampler.
        let image = self.ty(TYPE_IMAGE, &[texel, 6, 0, 0, 0, 2, 0]);
        let pointer = self.ty(TYPE_POINTER, &[0, image]);
        let [variable, zero, label, loaded, read, first, number_read] = std::array::from_fn(|_| self.id());
        self.declare(instruction(CONSTANT_NULL, &[corner, zero]));
        self.declare(instruction(VARIABLE, &[pointer, variable, 0]));
        let at = self.code.iter().position(|one| op(one) == FUNCTION && one[2] == function).expect("it has a body");
        let length = self.code[at..].iter().position(|one| op(one) == FUNCTION_END).expect("which ends");
        let mut body = vec![
            instruction(LABEL, &[label]),
            instruction(LOAD, &[image, loaded, variable]),
            instruction(IMAGE_READ, &[texels, read, loaded, zero]),
            instruction(COMPOSITE_EXTRACT, &[texel, first, read, 0]),
        ];
        if input.float {
            body.push(instruction(CONVERT_F_TO_U, &[uint, number_read, first]));
        }
        body.push(instruction(RETURN_VALUE, &[if input.float { number_read } else { first }]));
        self.code.splice(at + 1..at + length, body);
        // Descriptor set, binding and number of the input attachment.
        let at = self.first(DECORATE);
        for (what, value) in [(34, 0), (33, input.at as u32 + 1), (43, number)] {
            self.code.insert(at, instruction(DECORATE, &[variable, what, value]));
        }
        let at = self.first(NAME);
        let operands: Vec<u32> = [variable].into_iter().chain(text(&format!("r{}", input.at))).collect();
        self.code.insert(at, instruction(NAME, &operands));
        if number == 0 {
            let at = self.first(MEMORY_MODEL).min(self.first(CAPABILITY) + 1);
            self.code.insert(at, instruction(CAPABILITY, &[40]));
        }
    }
}
