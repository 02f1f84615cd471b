//! What functions do with the variables outside them: reads and writes followed through access chains, loaded images,
//! calls and parameters.

use super::{Binary, Form, class, op};
use crate::type_limits::DEEPEST;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// How a variable is used.
pub(super) type Uses = u8;
/// It is named at all: its descriptor must be there.
pub(super) const USED: Uses = 1;
/// Its contents are read.
pub(super) const READ: Uses = 2;
/// Its contents are written.
pub(super) const WRITE: Uses = 4;
/// It takes part in a comparison with a reference depth.
pub(super) const COMPARES: Uses = 8;

/// What an id in a function stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Root {
    Global(u32),
    Parameter(usize),
}

/// The image and, of a sampled image, the sampler that an id stands for.
type Roots = [Option<Root>; 2];

/// What one function does.
#[derive(Default)]
struct Function {
    globals: BTreeMap<u32, Uses>,
    parameters: Vec<Uses>,
    calls: Vec<(u32, Vec<Roots>)>,
}

impl Function {
    fn mark(&mut self, roots: Roots, uses: Uses) {
        for root in roots.into_iter().flatten() {
            match root {
                Root::Global(id) => *self.globals.entry(id).or_default() |= uses | USED,
                Root::Parameter(index) => self.parameters[index] |= uses | USED,
            }
        }
    }
}

impl Binary<'_> {
    /// How an entry point's function, and what it calls, uses the variables outside functions. Parameters of functions
    /// grow to their fixed point through a queue of callers, so chains and cycles of calls need no stack. O(calls).
    pub(super) fn uses(&self, entry: u32) -> BTreeMap<u32, Uses> {
        let globals: HashMap<u32, u32> = self.variables.iter().map(|variable| (variable.id, variable.class)).collect();
        let mut index = HashMap::new();
        let mut functions: Vec<Function> = Vec::with_capacity(self.functions.len());
        for (place, (id, range)) in self.functions.iter().enumerate() {
            index.insert(*id, place);
            functions.push(self.function(range.clone(), &globals));
        }
        let mut callers = vec![Vec::new(); functions.len()];
        for (place, function) in functions.iter().enumerate() {
            for (callee, _) in &function.calls {
                if let Some(callee) = index.get(callee) {
                    callers[*callee].push(place);
                }
            }
        }
        callers.iter_mut().for_each(Vec::dedup);
        let mut queue: VecDeque<usize> = (0..functions.len()).collect();
        let mut queued = vec![true; functions.len()];
        while let Some(place) = queue.pop_front() {
            queued[place] = false;
            let calls = std::mem::take(&mut functions[place].calls);
            let before = functions[place].parameters.clone();
            for (callee, arguments) in &calls {
                for (number, roots) in arguments.iter().enumerate() {
                    let uses = index.get(callee).and_then(|callee| functions[*callee].parameters.get(number)).copied();
                    functions[place].mark(*roots, uses.unwrap_or(READ | WRITE));
                }
            }
            functions[place].calls = calls;
            if functions[place].parameters != before {
                for caller in &callers[place] {
                    if !std::mem::replace(&mut queued[*caller], true) {
                        queue.push_back(*caller);
                    }
                }
            }
        }
        let mut out: BTreeMap<u32, Uses> = BTreeMap::new();
        let mut seen = vec![false; functions.len()];
        let mut next: Vec<usize> = index.get(&entry).copied().into_iter().collect();
        while let Some(place) = next.pop() {
            if std::mem::replace(&mut seen[place], true) {
                continue;
            }
            for (id, uses) in &functions[place].globals {
                *out.entry(*id).or_default() |= uses;
            }
            next.extend(functions[place].calls.iter().filter_map(|(callee, _)| index.get(callee).copied()));
        }
        out
    }

    /// What the instructions of one function do, calls aside.
    fn function(&self, range: std::ops::Range<usize>, globals: &HashMap<u32, u32>) -> Function {
        let mut out = Function::default();
        let mut local: HashMap<u32, Roots> = HashMap::new();
        for instruction in self.instructions(range) {
            let at = |index: usize| instruction.at(index);
            let roots = |id: u32, local: &HashMap<u32, Roots>| match local.get(&id) {
                Some(roots) => *roots,
                None => [globals.contains_key(&id).then_some(Root::Global(id)), None],
            };
            match instruction.op {
                op::FUNCTION_PARAMETER => {
                    local.insert(at(1), [Some(Root::Parameter(out.parameters.len())), None]);
                    out.parameters.push(0);
                }
                // Access chains of all kinds, CopyObject, Image, ImageTexelPointer, CopyLogical, RawAccessChain;
                // CompositeExtract: a handle out of an array that was loaded whole.
                65..=67 | 70 | 81 | 83 | 100 | 60 | 400 | 5398 => {
                    let of = roots(at(2), &local);
                    out.mark(of, 0);
                    if of != [None; 2] {
                        local.insert(at(1), of);
                    }
                }
                // SampledImage joins image and sampler.
                86 => {
                    let both = [roots(at(2), &local)[0], roots(at(3), &local)[0]];
                    out.mark(both, 0);
                    local.insert(at(1), both);
                }
                // Load: of a handle it gives the handle, of data it reads.
                61 => {
                    let of = roots(at(2), &local);
                    if self.is_handle(at(0)) {
                        out.mark(of, 0);
                        if of != [None; 2] {
                            local.insert(at(1), of);
                        }
                    } else {
                        out.mark(of, READ);
                    }
                }
                // Store. A pointer that is stored itself may be used for anything.
                62 => {
                    out.mark(roots(at(0), &local), WRITE);
                    out.mark(roots(at(1), &local), READ | WRITE);
                }
                // CopyMemory, CopyMemorySized.
                63 | 64 => {
                    out.mark(roots(at(0), &local), WRITE);
                    out.mark(roots(at(1), &local), READ);
                }
                // ArrayLength and queries of images look at no contents.
                68 | 103..=107 => out.mark(roots(at(2), &local), 0),
                // Sampling with a reference depth, dense and sparse.
                89 | 90 | 93 | 94 | 97 | 307 | 308 | 311 | 312 | 315 => out.mark(roots(at(2), &local), READ | COMPARES),
                // Sampling, fetching, gathering, reading, dense and sparse.
                87..=98 | 305..=315 | 320 => out.mark(roots(at(2), &local), READ),
                // ImageWrite.
                99 => out.mark(roots(at(0), &local), WRITE),
                // AtomicLoad, AtomicStore, AtomicFlagClear, and all that read and write.
                227 => out.mark(roots(at(2), &local), READ),
                228 | 319 => out.mark(roots(at(0), &local), WRITE),
                229..=242 | 318 | 5614 | 5615 | 6035 => out.mark(roots(at(2), &local), READ | WRITE),
                57 => {
                    let arguments: Vec<Roots> = instruction.from(3).iter().map(|id| roots(*id, &local)).collect();
                    arguments.iter().for_each(|roots| out.mark(*roots, 0));
                    out.calls.push((at(2), arguments));
                }
                // Traces and queries look into their structure.
                op::TRACE_RAY => out.mark(roots(at(0), &local), READ),
                op::RAY_QUERY_INITIALIZE => out.mark(roots(at(1), &local), READ),
                // CompositeConstruct, CompositeInsert, Select, Phi, ReturnValue and extended instructions let a pointer
                // out of sight, and of what extensions do nothing is known: anything may happen to what they name.
                80 | 82 | 169 | 245 | 254 | op::EXT_INST | 4096.. => {
                    // An extended instruction's number is no id.
                    let first = if instruction.op == op::EXT_INST { 4 } else { 0 };
                    for id in instruction.from(first) {
                        out.mark(roots(*id, &local), READ | WRITE);
                    }
                }
                _ => {}
            }
        }
        out
    }

    /// Whether a type is an image, a sampler, an acceleration structure or an array of them, which are handles and no
    /// data.
    fn is_handle(&self, mut ty: u32) -> bool {
        for _ in 0..DEEPEST {
            match self.form(ty) {
                Form::Image { .. } | Form::Sampler | Form::SampledImage(_) | Form::AccelerationStructure => {
                    return true;
                }
                Form::Array(of, _) | Form::RuntimeArray(of) => ty = *of,
                _ => return false,
            }
        }
        false
    }

    /// Whether variables of a storage class are resources or push data.
    pub(super) fn is_resource(class: u32) -> bool {
        matches!(class, class::UNIFORM_CONSTANT | class::UNIFORM | class::STORAGE_BUFFER | class::PUSH_CONSTANT)
    }
}
