//! Layout decorations where Vulkan allows none.
//!
//! Naga (30) decorates every array with a stride and every member with an offset. On types of workgroup variables that
//! is an error: their layout is the driver's (SPIR-V specification 1.6, 2.16.2 "explicit layout";
//! VUID-StandaloneSpirv-None-10684). Types that only they have lose their decorations; of types that a buffer has too,
//! they get copies without. A copy is another type, so nothing may be read or written whole but zeros; where a shader
//! does that, its words stay as they are, as drivers take them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::{HEADER, class, decoration, op};

/// The word of the header that all ids are below.
const BOUND: usize = 3;
const COLUMN_MAJOR: u32 = 5;
const WORKGROUP: u32 = 4;
const CONSTANT_NULL: u16 = 46;
const LOAD: u16 = 61;
const STORE: u16 = 62;
const COPY_MEMORY: u16 = 63;
const ACCESS_CHAIN: u16 = 65;
const IN_BOUNDS_ACCESS_CHAIN: u16 = 66;

/// Fixes the layout decorations of a module that naga wrote. O(words).
pub(crate) fn fix(words: &mut Vec<u32>) {
    if let Some(split) = Types::read(words).split(words) {
        *words = split;
    }
    if let Some(stripped) = Types::read(words).stripped(words) {
        *words = stripped;
    }
}

/// Opcodes with all words of their instructions.
pub(super) fn instructions(words: &[u32]) -> impl Iterator<Item = (u16, &[u32])> {
    let mut rest = words.get(HEADER..).unwrap_or_default();
    std::iter::from_fn(move || {
        let head = *rest.first()?;
        let (all, after) = rest.split_at_checked((head >> 16) as usize).filter(|(all, _)| !all.is_empty())?;
        rest = after;
        Some((head as u16, all))
    })
}

/// The type that a layout decoration is of.
fn laid(op: u16, all: &[u32]) -> Option<u32> {
    let (of, what) = match (op, all) {
        (op::DECORATE, [_, of, what, ..]) | (op::MEMBER_DECORATE, [_, of, _, what, ..]) => (*of, *what),
        _ => return None,
    };
    let layout = matches!(
        what,
        decoration::ARRAY_STRIDE
            | decoration::MATRIX_STRIDE
            | decoration::OFFSET
            | decoration::ROW_MAJOR
            | COLUMN_MAJOR
    );
    layout.then_some(of)
}

/// The types of a module that have a layout or must not have one.
#[derive(Default)]
struct Types {
    /// Arrays and structs: their whole instruction, and the types in them.
    parts: HashMap<u32, (Vec<u32>, Vec<u32>)>,
    /// Types in buffers, blocks of uniform data and push data.
    laid_out: HashSet<u32>,
    /// Pointers to workgroup variables and parts of them: to what.
    shared: HashMap<u32, u32>,
}

impl Types {
    fn read(words: &[u32]) -> Self {
        let mut types = Self::default();
        let mut open = Vec::new();
        for (op, all) in instructions(words) {
            match (op, all) {
                (op::TYPE_ARRAY, [_, id, of, _]) | (op::TYPE_RUNTIME_ARRAY, [_, id, of]) => {
                    types.parts.insert(*id, (all.to_vec(), vec![*of]));
                }
                (op::TYPE_STRUCT, [_, id, members @ ..]) => {
                    types.parts.insert(*id, (all.to_vec(), members.to_vec()));
                }
                (op::TYPE_POINTER, [_, id, WORKGROUP, of]) => {
                    types.shared.insert(*id, *of);
                }
                (op::TYPE_POINTER, [_, _, class, of])
                    if matches!(
                        *class,
                        class::UNIFORM | class::PUSH_CONSTANT | class::STORAGE_BUFFER | class::PHYSICAL_STORAGE_BUFFER
                    ) =>
                {
                    open.push(*of);
                }
                _ => {}
            }
        }
        while let Some(id) = open.pop() {
            if types.laid_out.insert(id) {
                open.extend(types.parts.get(&id).into_iter().flat_map(|(_, of)| of));
            }
        }
        types
    }

    /// The words without layout decorations of types that have no layout; `None`: there are none.
    fn stripped(&self, words: &[u32]) -> Option<Vec<u32>> {
        let idle = |(op, all): &(u16, &[u32])| {
            laid(*op, all).is_some_and(|of| self.parts.contains_key(&of) && !self.laid_out.contains(&of))
        };
        instructions(words).any(|one| idle(&one)).then(|| {
            let kept = instructions(words).filter(|one| !idle(one)).flat_map(|(_, all)| all);
            words[..HEADER].iter().chain(kept).copied().collect()
        })
    }

    /// The words with types of their own for workgroup variables; `None`: none is needed, or none can be.
    fn split(&self, words: &[u32]) -> Option<Vec<u32>> {
        // Arrays and structs that are or have one that is in a buffer too; types come after those that they are made
        // of.
        let mut clash: HashSet<u32> = HashSet::new();
        for (_, all) in instructions(words) {
            let found = all.get(1).and_then(|id| Some((*id, self.parts.get(id).filter(|(whole, _)| whole == all)?)));
            if let Some((id, (_, of))) = found
                && (self.laid_out.contains(&id) || of.iter().any(|of| clash.contains(of)))
            {
                clash.insert(id);
            }
        }
        let wanted: BTreeSet<u32> = self.shared.values().copied().filter(|of| clash.contains(of)).collect();
        if wanted.is_empty() {
            return None;
        }
        let zeros = self.only_zeros(words, &wanted)?;
        let mut next = *words.get(BOUND)?;
        let mut fresh = || {
            next += 1;
            next - 1
        };
        let mut copies: BTreeMap<u32, u32> = BTreeMap::new();
        let zeros: BTreeMap<u32, (u32, u32)> = zeros.into_iter().map(|(id, of)| (id, (fresh(), of))).collect();
        let zero = |of: &u32| zeros.get(of).map_or(*of, |(copy, _)| *copy);
        let mut zeroed: BTreeSet<u32> = BTreeSet::new();
        let mut out = words[..HEADER].to_vec();
        for (op, all) in instructions(words) {
            match (op, all) {
                (op::TYPE_POINTER, [head, id, WORKGROUP, of]) if wanted.contains(of) => {
                    let copy = self.copy(*of, &mut copies, &mut fresh, &mut out);
                    out.extend([*head, *id, WORKGROUP, copy]);
                    let new = zeroed.insert(*of);
                    for (zero, _) in zeros.values().filter(|(_, null)| new && null == of) {
                        out.extend([3 << 16 | u32::from(CONSTANT_NULL), copy, *zero]);
                    }
                }
                (op::VARIABLE, [head, ty, id, WORKGROUP, begin]) => {
                    out.extend([*head, *ty, *id, WORKGROUP, zero(begin)]);
                }
                (STORE, [head, pointer, object, rest @ ..]) => {
                    out.extend([*head, *pointer, zero(object)]);
                    out.extend(rest);
                }
                _ => out.extend(all),
            }
        }
        out[BOUND] = next;
        Some(out)
    }

    /// Writes a copy of a type, and of the arrays and structs in it; returns its id.
    fn copy(
        &self,
        id: u32,
        copies: &mut BTreeMap<u32, u32>,
        fresh: &mut impl FnMut() -> u32,
        out: &mut Vec<u32>,
    ) -> u32 {
        let Some((all, of)) = self.parts.get(&id) else { return id };
        if let Some(copy) = copies.get(&id) {
            return *copy;
        }
        let of: Vec<u32> = of.iter().map(|of| self.copy(*of, copies, fresh, out)).collect();
        let copy = fresh();
        copies.insert(id, copy);
        out.extend([all[0], copy]);
        out.extend(&of);
        out.extend(&all[2 + of.len()..]);
        copy
    }

    /// The zeros of those types, by the type that they are of, if nothing else is read or written whole through
    /// pointers to workgroup variables.
    fn only_zeros(&self, words: &[u32], wanted: &BTreeSet<u32>) -> Option<BTreeMap<u32, u32>> {
        let mut nulls: HashMap<u32, u32> = HashMap::new();
        // What pointers to wanted types point to, by pointer.
        let mut pointers: HashMap<u32, u32> = HashMap::new();
        let mut zeros = BTreeMap::new();
        for (op, all) in instructions(words) {
            match (op, all) {
                (CONSTANT_NULL, [_, ty, id]) => {
                    nulls.insert(*id, *ty);
                }
                (op::VARIABLE, [_, ty, id, _, begin]) if self.of(*ty, wanted).is_some() => {
                    let of = self.of(*ty, wanted)?;
                    if nulls.get(begin) != Some(&of) {
                        return None;
                    }
                    zeros.insert(*begin, of);
                    pointers.insert(*id, of);
                }
                (op::VARIABLE | op::FUNCTION_PARAMETER | ACCESS_CHAIN | IN_BOUNDS_ACCESS_CHAIN, [_, ty, id, ..]) => {
                    if let Some(of) = self.of(*ty, wanted) {
                        pointers.insert(*id, of);
                    }
                }
                (LOAD, [_, _, _, pointer, ..]) if pointers.contains_key(pointer) => return None,
                (COPY_MEMORY, [_, to, from, ..]) if pointers.contains_key(to) || pointers.contains_key(from) => {
                    return None;
                }
                (STORE, [_, pointer, object, ..]) => match (pointers.get(pointer), nulls.get(object)) {
                    (Some(of), Some(null)) if of == null => {
                        zeros.insert(*object, *of);
                    }
                    (Some(_), _) => return None,
                    (None, Some(null)) if wanted.contains(null) => return None,
                    (None, _) => {}
                },
                _ => {}
            }
        }
        Some(zeros)
    }

    /// What a pointer type to a wanted type points to.
    fn of(&self, pointer: u32, wanted: &BTreeSet<u32>) -> Option<u32> {
        self.shared.get(&pointer).copied().filter(|of| wanted.contains(of))
    }
}

#[cfg(test)]
mod tests {
    use super::{Types, fix, instructions, laid};
    use crate::spirv::op;
    use crate::{Kind, Language, Program, Source};
    use std::collections::BTreeSet;

    fn words(text: &str) -> Vec<u32> {
        match Program::new("test", Kind::Compute, &[Source::Text(Language::Wgsl, text)], None) {
            Ok(program) => program.modules[0].spirv.clone(),
            Err(error) => panic!("{error}"),
        }
    }

    fn laid_out(words: &[u32]) -> BTreeSet<u32> {
        instructions(words).filter_map(|(op, all)| laid(op, all)).collect()
    }

    /// Types that workgroup variables are made of.
    fn shared(words: &[u32]) -> BTreeSet<u32> {
        let types = Types::read(words);
        let mut open: Vec<u32> = types.shared.values().copied().collect();
        let mut found = BTreeSet::new();
        while let Some(id) = open.pop() {
            if found.insert(id) {
                open.extend(types.parts.get(&id).into_iter().flat_map(|(_, of)| of));
            }
        }
        found
    }

    #[test]
    fn types_of_workgroup_variables_only_have_no_layout() {
        let spirv = words(
            "
            struct Mine { one: f32, two: array<mat2x2<f32>, 3> }
            @group(0) @binding(1) var<storage, read_write> dst: array<f32>;
            var<workgroup> tile: array<Mine, 8>;
            var<private> own: array<array<u32, 4>, 2>;
            @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) at: u32) {
                own[at % 2u][at % 4u] = at;
                tile[at].one = f32(own[0][at % 4u]);
                tile[at].two[at % 3u] = mat2x2<f32>(1.0, 2.0, 3.0, 4.0);
                workgroupBarrier();
                let whole = tile[7u - at];
                dst[at] = whole.one + whole.two[0][0].x;
            }",
        );
        assert!(shared(&spirv).len() > 4);
        assert!(shared(&spirv).is_disjoint(&laid_out(&spirv)));
        // The buffer's array and the struct around it.
        assert_eq!(laid_out(&spirv).len(), 2);
    }

    #[test]
    fn types_that_buffers_have_too_are_split() {
        let spirv = words(
            "
            struct Light { colour: vec3<f32>, weights: array<f32, 4> }
            @group(0) @binding(0) var<storage, read> lights: array<Light, 16>;
            @group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>, 64>;
            var<workgroup> near: array<Light, 16>;
            var<workgroup> bins: array<atomic<u32>, 64>;
            @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) at: u32) {
                near[at % 16u].colour = lights[at % 16u].colour;
                near[at % 16u].weights[at % 4u] = lights[at % 16u].weights[at % 4u];
                atomicAdd(&bins[at], 1u);
                workgroupBarrier();
                atomicAdd(&counts[at], atomicLoad(&bins[at]) + u32(near[at % 16u].weights[0]));
            }",
        );
        let (shared, laid_out) = (shared(&spirv), laid_out(&spirv));
        assert!(shared.is_disjoint(&laid_out), "{shared:?} {laid_out:?}");
        assert!(laid_out.len() >= 4);
        // No id is used twice, and all are below the bound.
        let declared = |op: &u16| matches!(*op, op::TYPE_ARRAY | op::TYPE_STRUCT);
        let types: Vec<u32> = instructions(&spirv).filter(|(op, _)| declared(op)).map(|(_, all)| all[1]).collect();
        assert_eq!(types.iter().collect::<BTreeSet<_>>().len(), types.len());
        assert!(types.iter().all(|id| *id < spirv[3]));
        // Read again, it is the same.
        let mut again = spirv.clone();
        fix(&mut again);
        assert_eq!(again, spirv);
    }

    #[test]
    fn a_type_that_is_read_whole_and_is_a_buffers_too_stays() {
        let spirv = words(
            "
            struct Both { factor: vec4<f32> }
            @group(0) @binding(0) var<storage, read_write> dst: array<Both>;
            var<workgroup> tile: array<Both, 4>;
            @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) at: u32) {
                tile[at] = dst[at];
                workgroupBarrier();
                dst[at] = tile[3u - at];
            }",
        );
        assert!(!shared(&spirv).is_disjoint(&laid_out(&spirv)));
    }

    #[test]
    fn words_of_anybody_are_left_alone() {
        for words in [vec![], vec![0; 3], vec![0; 9], vec![7, 7, 7, 7, 7, 0xffff_0047, 1, 6]] {
            let mut same = words.clone();
            fix(&mut same);
            assert_eq!(same, words);
        }
    }
}
