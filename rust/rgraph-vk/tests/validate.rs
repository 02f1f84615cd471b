//! SPIR-V of others: the Khronos validator stands before the driver.

use std::collections::BTreeMap;
use std::sync::Arc;

use rgraph_plan::access::PassQueue;
use rgraph_plan::bake::Options;
use rgraph_shader::{Kind, Program, Source};
use rgraph_vk::validate::validate;
use rgraph_vk::work::Groups;
use rgraph_vk::{Code, Compiled, Device, Error};

use crate::support::bench::{self, Bench, device, program, whole};

/// A compute module with one buffer, `words`.
const ORIGINAL: &[u8] = include_bytes!("data/original.comp.spv");
/// The same with one word changed (word 223, 262176 to 262175): lavapipe ended the process over it.
const HOSTILE: &[u8] = include_bytes!("data/hostile.comp.spv");
/// A fragment stage with an input attachment, from glslang.
const INPUT: &[u8] = include_bytes!("data/input.frag.spv");

const BLUR: &str = "
struct Params { radius: i32, strength: f32 }
@group(0) @binding(0) var src: texture_2d<f32>;
@group(0) @binding(1) var dst: texture_storage_2d<rgba8unorm, write>;
@group(0) @binding(2) var<uniform> params: Params;
@compute @workgroup_size(8, 8) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var sum = vec4<f32>();
    for (var x = -params.radius; x <= params.radius; x++) {
        sum += textureLoad(src, vec2<i32>(id.xy) + vec2(x, 0), 0) * params.strength;
    }
    textureStore(dst, id.xy, sum);
}";

const SHARED: &str = "
var<workgroup> tile: array<vec2<u32>, 64>;
@group(0) @binding(0) var<storage, read_write> dst: array<u32>;
fn mix_in(a: u32, b: vec2<u32>) -> u32 { if a > b.x { return a * b.y; } switch b.y { case 1u: { return a; } default: { return b.x; } } }
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) at: u32) {
    tile[at] = vec2(at, dst[at]);
    workgroupBarrier();
    dst[at] = mix_in(at, tile[63u - at]);
}";

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

fn modules() -> [(Kind, Vec<u8>); 5] {
    let written = |text| (Kind::Compute, bytes(&program(Kind::Compute, text).modules[0].spirv));
    let drawn = "@fragment fn main(@location(0) uv: vec2<f32>) -> @location(0) vec4<f32> { return vec4(uv, sin(uv)); }";
    let drawn = program(Kind::Raster, drawn);
    let fragment = drawn.modules.last().expect("there is a fragment stage");
    let [blur, shared] = [BLUR, SHARED].map(written);
    [
        (Kind::Compute, ORIGINAL.to_vec()),
        (Kind::Raster, INPUT.to_vec()),
        blur,
        shared,
        (Kind::Raster, bytes(&fragment.spirv)),
    ]
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

/// One to three faults: bits, bytes, words exchanged, added, removed, made another id, or the end cut off.
fn mutant(module: &[u8], random: &mut Random) -> Vec<u8> {
    let mut words = words(module);
    for _ in 0..=random.below(3) {
        let at = 5 + random.below(words.len() - 5);
        match random.below(7) {
            0 => words[at] ^= 1 << random.below(32),
            1 => words[at] = words[at] & !0xff | random.below(256) as u32,
            2 => {
                let other = 5 + random.below(words.len() - 5);
                words.swap(at, other);
            }
            3 => words.insert(at, random.below(70_000) as u32),
            4 if words.len() > 40 => drop(words.splice(at..at + 1, [])),
            5 => words[at] = random.below(words[3] as usize + 2) as u32,
            _ => words[at] = words[at].wrapping_add(1),
        }
    }
    if random.below(20) == 0 {
        words.truncate(6 + random.below(words.len() - 6));
    }
    bytes(&words)
}

/// A dispatch of a program of `ORIGINAL`'s interface.
fn compiled(device: &Device, program: Program) -> Result<Compiled, Error> {
    let mut bench = Bench::new([8, 8]);
    let x = bench.graph().buffer("x", 1024);
    bench.graph().root(x);
    let binds = [("words", whole(x))];
    let uses = bench::uses(&program, &binds);
    let pass = bench.pass("c", PassQueue::Compute, &uses);
    bench.dispatch(pass, &Arc::new(program), Groups::Fixed([1, 1, 1]), &binds, Vec::new());
    device.compile(bench.workload.clone(), &Options::default())
}

#[test]
fn modules_of_compilers_are_valid_and_are_checked_once() {
    for (at, (_, module)) in modules().iter().enumerate() {
        for _ in 0..2 {
            validate("shader", &words(module)).unwrap_or_else(|error| panic!("module {at}: {error}"));
        }
    }
}

#[test]
fn a_module_that_ends_a_driver_does_not_reach_it() {
    let error = validate("c", &words(HOSTILE)).unwrap_err();
    assert_eq!(error.code, Code::InvalidSpirv);
    assert!(error.message.starts_with("invalid SPIR-V at instruction "), "{error}");
    assert!(error.help.contains("spirv-val"), "{error}");
    let Some(device) = device(2) else { return };
    let hostile = Program::new("c", Kind::Compute, &[Source::Spirv(HOSTILE)], None).expect("its structure is right");
    let Err(Error::Shader(refused)) = compiled(&device.0, hostile) else { panic!("the driver has it") };
    assert_eq!(*refused, error);
    let original = Program::new("c", Kind::Compute, &[Source::Spirv(ORIGINAL)], None).unwrap();
    compiled(&device.0, original).unwrap();
}

/// Mutants that the reader lets pass and the validator does not: none of them is compiled. `RGRAPH_SPIRV_MUTANTS` asks
/// for more of them.
#[test]
fn mutants_that_the_validator_refuses_do_not_reach_a_driver() {
    let count: usize = std::env::var("RGRAPH_SPIRV_MUTANTS").ok().and_then(|count| count.parse().ok()).unwrap_or(1000);
    let device = device(2);
    let modules = modules();
    let interface = Program::new("c", Kind::Compute, &[Source::Spirv(ORIGINAL)], None).unwrap().interface.clone();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for at in 0..count {
        let (kind, module) = &modules[at % modules.len()];
        let changed = mutant(module, &mut random);
        let valid = validate("c", &words(&changed));
        let read = Program::new("c", *kind, &[Source::Spirv(&changed)], None);
        let outcome = match (&read, &valid) {
            (Err(_), Ok(())) => "valid, of a kind that is not supported",
            (Err(_), Err(_)) => "refused by the reader and the validator",
            (Ok(_), Ok(())) => "accepted",
            (Ok(_), Err(_)) => "refused by the validator alone",
        };
        *counts.entry(outcome).or_default() += 1;
        let (Some(device), Ok(program), Err(reason)) = (&device, read, valid) else { continue };
        if program.interface == interface && *kind == Kind::Compute {
            *counts.entry("held back from the driver").or_default() += 1;
            match compiled(&device.0, program) {
                Err(Error::Shader(refused)) => assert_eq!(*refused, reason, "mutant {at}"),
                Err(other) => panic!("mutant {at}: {other}"),
                Ok(_) => panic!("mutant {at} reached the driver: {reason}"),
            }
        }
    }
    println!("{counts:#?}");
    assert!(counts["refused by the validator alone"] * 10 > count, "{counts:?}");
    assert!(counts["accepted"] > 0 && (device.is_none() || counts["held back from the driver"] > count / 100));
}

#[test]
fn sample_masks_of_wgsl_are_arrays_in_spirv() {
    let text = "
    struct Out { @location(0) color: vec4<f32>, @builtin(sample_mask) mask: u32 }
    @fragment fn main(@location(0) uv: vec2<f32>, @builtin(sample_mask) mask: u32) -> Out {
        return Out(vec4(uv, f32(mask), 1.0), mask & 3u);
    }";
    let drawn = program(Kind::Raster, text);
    let fragment = drawn.modules.last().expect("there is a fragment stage");
    validate("mask", &fragment.spirv).unwrap_or_else(|fault| panic!("{fault}"));
}
