//! SPIR-V: what this crate reads of modules is what naga says of the texts that they were made from, and what spirq
//! reads; bytes of anybody are errors.

use std::collections::HashMap;

use rgraph_ir::error::Code;
use rgraph_shader::{BindingKind, Interface, Kind, Program, Source, Stage, Type};

use crate::common::{CORPUS, Random, corpus, glsl, wgsl};

fn bytes(words: &[u32], big: bool) -> Vec<u8> {
    words.iter().flat_map(|word| if big { word.to_be_bytes() } else { word.to_le_bytes() }).collect()
}

/// What SPIR-V does not say: names of structs around bare globals, samplers that compare although nothing samples so.
fn comparable(mut interface: Interface) -> Interface {
    fn bare(ty: &mut Type) {
        while let Type::Struct(block) = ty {
            match block.members.as_mut_slice() {
                [one] if block.name.is_empty() || one.offset == 0 && one.name.starts_with("member") => {
                    *ty = one.ty.clone()
                }
                _ => break,
            }
        }
        trim(ty);
    }
    // Naga rounds the size of a struct up to its alignment, which SPIR-V does not write down.
    fn trim(ty: &mut Type) {
        match ty {
            Type::Struct(block) => {
                block.members.iter_mut().for_each(|member| trim(&mut member.ty));
                block.size = block.members.iter().map(|member| member.offset + member.ty.size()).max().unwrap_or(0);
            }
            Type::Array { of, .. } => trim(of),
            _ => {}
        }
    }
    interface.bindings.iter_mut().filter_map(|binding| binding.ty.as_mut()).for_each(bare);
    interface.push.iter_mut().for_each(|push| {
        bare(&mut push.ty);
        push.size = push.ty.size();
        push.name = String::new();
    });
    interface.outputs.iter_mut().for_each(|output| output.name = String::new());
    interface.vertex_inputs.iter_mut().for_each(|input| input.name = String::new());
    interface.unused.clear();
    interface
}

#[test]
fn a_module_asks_for_what_the_text_it_was_made_from_asks_for() {
    for (name, kind) in CORPUS {
        let program = corpus(name, kind);
        for big in [false, true] {
            let modules: Vec<Vec<u8>> = program.modules.iter().map(|module| bytes(&module.spirv, big)).collect();
            let sources: Vec<Source<'_>> = modules.iter().map(|bytes| Source::Spirv(bytes)).collect();
            let again = Program::new(name, kind, &sources, None).unwrap_or_else(|fault| panic!("{name}: {fault}"));
            assert_eq!(comparable(again.interface.clone()), comparable(program.interface.clone()), "{name}");
            assert_eq!(again.modules, program.modules, "{name}: words in this machine's order");
            assert_eq!(again.hash, program.hash);
        }
    }
}

/// Spirq takes only loads and stores for accesses: a buffer that is merely asked for its length it leaves out.
fn query(name: &str) -> bool {
    name == "only_asked"
}

#[test]
fn spirq_finds_the_same_bindings() {
    for (name, kind) in CORPUS {
        let program = corpus(name, kind);
        for module in program.modules.iter() {
            let points = spirq::ReflectConfig::new()
                .spv(module.spirv.as_slice())
                .reflect()
                .expect("spirq reads what naga writes");
            let [point] = points.as_slice() else { panic!("{name}: one entry point") };
            assert_eq!(point.name, module.entry);
            let mut theirs: Vec<(u32, u32, u32)> = Vec::new();
            for variable in &point.vars {
                if let spirq::var::Variable::Descriptor { desc_bind, nbind, .. } = variable {
                    theirs.push((desc_bind.set(), desc_bind.bind(), *nbind));
                }
            }
            theirs.sort();
            let stage = module.stage.stages();
            let ours: Vec<(u32, u32, u32)> = program
                .interface
                .bindings
                .iter()
                .filter(|binding| binding.stages.contains(stage) && !query(&binding.name))
                .map(|binding| (binding.group, binding.binding, binding.count))
                .collect();
            assert_eq!(ours, theirs, "{name}");
        }
    }
}

fn fault(bytes: &[u8]) -> rgraph_shader::ShaderError {
    Program::new("bytes", Kind::Compute, &[Source::Spirv(bytes)], None).expect_err("these bytes are no program")
}

#[test]
fn bytes_that_are_no_spirv_are_refused_with_the_reason() {
    let words = corpus("lights.wgsl", Kind::Compute).modules[0].spirv.clone();
    let whole = bytes(&words, false);
    assert_eq!(
        fault(&whole[..whole.len() - 1]).to_string(),
        format!(
            "RG-E305 shader \"bytes\": SPIR-V comes in words of 4 bytes, and this has {} bytes\n  help: give a module that spirv-val accepts",
            whole.len() - 1
        )
    );
    assert!(fault(&[]).message.contains("it has 0 bytes"));
    assert!(fault(b"this is no SPIR-V module").message.contains("begins with 74 68 69 73, not 03 02 23 07"));
    assert!(
        fault(&whole[..whole.len() - 4]).message.contains("does not end"),
        "cut before the end of the last function"
    );
    let mut future = words.clone();
    future[1] = 0x2_0000;
    assert!(fault(&bytes(&future, false)).message.contains("version 2.0"));
    let mut greedy = words.clone();
    greedy[3] = u32::MAX;
    assert!(fault(&bytes(&greedy, false)).message.contains("ids"));
    let mut stuck = words;
    stuck[5] = 0;
    assert!(fault(&bytes(&stuck, false)).message.contains("the instruction at word 5 has 0 words"));
}

#[test]
fn mutated_modules_neither_panic_nor_hang() {
    let mut random = Random(7);
    for (name, kind) in CORPUS {
        for module in corpus(name, kind).modules.iter() {
            for _ in 0..1500 {
                let mut words = module.spirv.clone();
                for _ in 0..=random.below(6) {
                    let at = random.below(words.len());
                    match random.below(6) {
                        0 => words[at] ^= 1 << random.below(32),
                        1 => words[at] = random.below(200) as u32,
                        2 => words[at] = u32::MAX - random.below(2) as u32,
                        3 => words.truncate(at.max(6)),
                        4 => {
                            let other = random.below(words.len());
                            words.swap(at, other);
                        }
                        _ => words[at] = words[random.below(words.len())],
                    }
                }
                // The compiler's thread would turn a panic into RG-E301, which SPIR-V never has.
                if let Err(fault) = Program::new(name, kind, &[Source::Spirv(&bytes(&words, false))], None) {
                    assert_ne!(fault.code, Code::BadShader, "{fault}");
                }
            }
        }
    }
}

#[test]
fn a_sampled_image_that_is_compared_is_a_depth_image_and_its_sampler_compares() {
    let program = corpus("lights.wgsl", Kind::Compute);
    let module = bytes(&program.modules[0].spirv, false);
    let again = Program::new("shadow", Kind::Compute, &[Source::Spirv(&module)], None).expect("valid");
    let (_, compare) = again.interface.find("compare").expect("used");
    assert_eq!(compare.kind, BindingKind::Sampler { comparison: true });
}

#[test]
fn stages_of_spirv_and_text_go_together() {
    let program = corpus("mesh.wgsl", Kind::Raster);
    let vertex = bytes(&program.modules[0].spirv, true);
    let fragment =
        "@fragment fn f(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> { return vec4(uv, 0.0, 1.0); }";
    let both = Program::new("mixed", Kind::Raster, &[Source::Spirv(&vertex), wgsl(fragment)], None).expect("fits");
    assert_eq!(both.modules.iter().map(|module| module.stage).collect::<Vec<_>>(), [Stage::Vertex, Stage::Fragment]);
    assert_eq!(both.interface.vertex_inputs.len(), 3);
}

/// The module with each image that is loaded out of an array taken out of the array, which is loaded whole.
fn loading_whole_arrays(words: &[u32]) -> Vec<u32> {
    let mut out = words.to_vec();
    let (mut pointees, mut variables, mut numbers) = (HashMap::new(), HashMap::new(), HashMap::new());
    let (mut at, mut changed) = (5, 0);
    while at < words.len() {
        let length = (words[at] >> 16) as usize;
        match (words[at] & 0xffff, &words[at + 1..at + length]) {
            (32, [id, _, of]) => drop(pointees.insert(*id, *of)),
            (43, [_, id, value]) => drop(numbers.insert(*id, *value)),
            (59, [pointer, id, ..]) => drop(variables.insert(*id, pointees[pointer])),
            // An access chain, and the load of what it points to.
            (65, [_, chain, of, indices @ ..])
                if words[at + length] == 4 << 16 | 61 && words[at + length + 3] == *chain =>
            {
                let (ty, image) = (words[at + length + 1], words[at + length + 2]);
                let mut new = vec![4 << 16 | 61, variables[of], *chain, *of];
                new.extend([(indices.len() as u32 + 4) << 16 | 81, ty, image, *chain]);
                new.extend(indices.iter().map(|index| numbers[index]));
                out[at..at + new.len()].copy_from_slice(&new);
                changed += 1;
            }
            _ => {}
        }
        at += length;
    }
    assert_eq!(changed, 2, "one image is written and one is read");
    out
}

#[test]
fn images_of_an_array_that_is_loaded_whole_are_read_and_written() {
    for [length, index] in [["[2]", "[1]"], ["[2][3]", "[1][2]"]] {
        let text = format!(
            "#version 450
            layout(local_size_x = 1) in;
            layout(set = 0, binding = 0, rgba8) uniform writeonly image2D to{length};
            layout(set = 0, binding = 8) uniform texture2D from{length};
            void main() {{ imageStore(to{index}, ivec2(0), texelFetch(from{index}, ivec2(0), 0)); }}"
        );
        let program =
            Program::new("arrays", Kind::Compute, &[glsl(&text)], None).unwrap_or_else(|fault| panic!("{fault}"));
        let changed = bytes(&loading_whole_arrays(&program.modules[0].spirv), false);
        let again = Program::new("arrays", Kind::Compute, &[Source::Spirv(&changed)], None);
        let again = again.unwrap_or_else(|fault| panic!("{fault}"));
        let uses = |of: &Program| -> Vec<(String, bool, bool)> {
            of.interface.bindings.iter().map(|one| (one.name.clone(), one.reads, one.writes)).collect()
        };
        assert_eq!(uses(&again), uses(&program), "{length}");
        assert_eq!(uses(&again), [("to".to_owned(), false, true), ("from".to_owned(), true, false)], "{length}");
    }
}

/// A module of instructions, and bytes of the words of a name.
fn module(instructions: &[(u16, &[u32])]) -> Vec<u8> {
    let mut words = vec![0x0723_0203, 0x1_0600, 0, 64, 0];
    for (op, operands) in instructions {
        words.push((operands.len() as u32 + 1) << 16 | u32::from(*op));
        words.extend(*operands);
    }
    bytes(&words, false)
}

/// Blocks name variables that have no name, unless several such variables have the block: then their places do.
#[test]
fn variables_of_one_block_and_without_names_are_called_by_their_places() {
    let main = u32::from_le_bytes(*b"main");
    let block = u32::from_le_bytes(*b"Data");
    let found = module(&[
        (17, &[1]),
        (14, &[0, 1]),
        (15, &[5, 1, main, 0, 20, 21, 22]),
        (16, &[1, 17, 1, 1, 1]),
        (5, &[10, block, 0]),
        (71, &[9, 6, 4]),
        (71, &[10, 2]),
        (72, &[10, 0, 35, 0]),
        (71, &[14, 2]),
        (72, &[14, 0, 35, 0]),
        (71, &[20, 34, 0]),
        (71, &[20, 33, 3]),
        (71, &[21, 34, 1]),
        (71, &[21, 33, 0]),
        (19, &[2]),
        (33, &[3, 2]),
        (21, &[4, 32, 0]),
        (29, &[9, 4]),
        (30, &[10, 9]),
        (32, &[11, 12, 10]),
        (32, &[12, 12, 4]),
        (43, &[4, 13, 0]),
        (30, &[14, 4]),
        (32, &[15, 9, 14]),
        (32, &[16, 9, 4]),
        (59, &[11, 20, 12]),
        (59, &[11, 21, 12]),
        (59, &[15, 22, 9]),
        (54, &[2, 1, 0, 3]),
        (248, &[30]),
        (65, &[16, 31, 22, 13]),
        (61, &[4, 32, 31]),
        (65, &[12, 33, 20, 13, 32]),
        (61, &[4, 34, 33]),
        (65, &[12, 35, 21, 13, 32]),
        (62, &[35, 34]),
        (253, &[]),
        (56, &[]),
    ]);
    let program =
        Program::new("test", Kind::Compute, &[Source::Spirv(&found)], None).unwrap_or_else(|it| panic!("{it}"));
    let names: Vec<_> =
        program.interface.bindings.iter().map(|one| (one.name.as_str(), one.reads, one.writes)).collect();
    assert_eq!(names, [("group0_binding3", true, false), ("group1_binding0", false, true)]);
    assert_eq!(program.interface.push.as_ref().map(|push| push.name.as_str()), Some("push"));
}
