//! Functions that grow without bound once their calls are inlined are refused, with the call, before any driver
//! compiles them.

use rgraph_ir::error::Code;
use rgraph_shader::{Kind, Language, Program, ShaderError, Source};

/// `depth` functions, each calling the next one twice.
fn doubling(depth: usize) -> String {
    let mut text = "@group(0) @binding(0) var<storage, read_write> words: array<u32>;\n".to_owned();
    for at in 0..depth {
        text += &format!("fn f{at}() -> u32 {{ return f{next}() + f{next}(); }}\n", next = at + 1);
    }
    text + &format!(
        "fn f{depth}() -> u32 {{ return 1u; }}\n@compute @workgroup_size(64) fn main() {{ words[0] = f0(); }}"
    )
}

fn compile(language: Language, text: &str) -> Result<Program, ShaderError> {
    Program::new("calls", Kind::Compute, &[Source::Text(language, text)], None)
}

#[test]
fn functions_that_each_call_the_next_one_twice_are_refused_at_a_call() {
    let fault = compile(Language::Wgsl, &doubling(40)).unwrap_err();
    assert_eq!(fault.code, Code::BadShader);
    // The last function, f40, is in line 42; sizes double upwards from there.
    let (line, _) = fault.at.expect("a place");
    assert!((20..40).contains(&line), "{fault}");
    assert!(fault.to_string().contains("instructions once its calls are inlined"), "{fault}");
    assert!(fault.help.starts_with("call fewer functions"), "{fault}");
}

#[test]
fn some_doubling_is_fine_in_texts_and_in_spirv() {
    let program = compile(Language::Wgsl, &doubling(10)).expect("a thousand calls are not many");
    let bytes: Vec<u8> = program.modules[0].spirv.iter().flat_map(|word| word.to_le_bytes()).collect();
    Program::new("again", Kind::Compute, &[Source::Spirv(&bytes)], None).expect("the same as SPIR-V");
}

#[test]
fn spirv_that_calls_itself_is_refused() {
    let program = compile(Language::Wgsl, &doubling(2)).expect("small");
    let mut words = program.modules[0].spirv.clone();
    // OpFunction result ids in order, then the first call inside a function: made to call that function.
    let (mut at, mut open) = (5, 0);
    while at < words.len() {
        match words[at] & 0xffff {
            54 => open = words[at + 2],
            57 => {
                words[at + 3] = open;
                break;
            }
            _ => {}
        }
        at += (words[at] >> 16) as usize;
    }
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let fault = Program::new("loop", Kind::Compute, &[Source::Spirv(&bytes)], None).unwrap_err();
    assert_eq!(fault.code, Code::BadSpirv);
    assert!(fault.to_string().contains("one of its functions calls itself"), "{fault}");
}
