//! Texts that would overflow a stack, fill the memory or never end are errors, in little time.

use rgraph_shader::{Kind, Language, Program, Source};

use crate::common::{self, CORPUS, Random, fault, glsl, text, wgsl};

/// A compute shader with an expression.
fn with(expression: &str) -> String {
    format!("@compute @workgroup_size(1) fn main() {{ var x = 1; let y = {expression}; }}")
}

/// A GLSL compute shader with statements.
fn statements(text: &str) -> String {
    format!("#version 450\nvoid main() {{ int y = 1; {text} y = 2; }}")
}

fn message(language: Language, text: &str) -> String {
    let fault = fault(Kind::Compute, &[Source::Text(language, text)]);
    assert!(fault.excerpt.len() < 600, "an excerpt is a few lines, whatever the shader");
    format!("{} {}", fault.code, fault.message)
}

#[test]
fn nesting_beyond_2000_is_an_error_and_no_stack_overflow() {
    const N: usize = 100_000;
    let deep = "RG-E301 it is nested more than 2000 deep";
    let blocks = format!("@compute @workgroup_size(1) fn main() {{ {} {} }}", "{".repeat(N), "}".repeat(N));
    let ifs = format!("@compute @workgroup_size(1) fn main() {{ if true {{ }} {} }}", "else if true { }".repeat(N / 2));
    let templates = format!("var<private> x: {}f32{};", "array<".repeat(N), ",2>".repeat(N));
    for text in [
        with(&format!("{}1{}", "(".repeat(N), ")".repeat(N))),
        with(&"(".repeat(N)),
        with(&vec!["x"; N].join("+")),
        with(&format!("{}x", "- ".repeat(N))),
        blocks,
        ifs,
        templates,
    ] {
        assert_eq!(message(Language::Wgsl, &text), deep);
    }
    for text in [
        statements(&format!("y = {}1{};", "(".repeat(N), ")".repeat(N))),
        statements(&format!("y = {};", vec!["y"; N].join("+"))),
        statements(&format!("y{} = 1;", "[0]".repeat(N))),
        statements(&"if(y==1)".repeat(N)),
        statements(&"do ".repeat(N)),
        statements(&format!("if(y==1) y=2; {}", "else if(y==1) y=3;".repeat(N / 2))),
    ] {
        assert_eq!(message(Language::Glsl, &text), deep);
    }
}

#[test]
fn what_is_just_not_too_deep_compiles() {
    let sum = vec!["x"; 1900].join("+");
    let minus = format!("{}x", "- ".repeat(1900));
    for text in [with(&sum), with(&minus)] {
        common::program(Kind::Compute, &[wgsl(&text)]);
    }
    for text in [
        statements(&format!("y = {}1{};", "(".repeat(1900), ")".repeat(1900))),
        statements(&format!("y = {};", vec!["y"; 1900].join("+"))),
        statements(&"if(y==1)".repeat(400)),
        statements(&format!("{}{}", "{".repeat(1900), "}".repeat(1900))),
    ] {
        common::program(Kind::Compute, &[glsl(&text)]);
    }
}

#[test]
fn long_chains_of_declarations_need_no_stack() {
    const N: usize = 20_000;
    let calls: String = (0..N).map(|i| format!("fn f{i}() {{ f{}(); }}\n", i + 1)).collect();
    let calls = format!("{calls} fn f{N}() {{}} @compute @workgroup_size(1) fn main() {{ f0(); }}");
    common::program(Kind::Compute, &[wgsl(&calls)]);
    let nested: String = (0..N).map(|i| format!("struct S{i} {{ a: S{} }}\n", i + 1)).collect();
    let nested = format!(
        "{nested} struct S{N} {{ a: f32 }} @group(0) @binding(0) var<storage> s: S0;
         @compute @workgroup_size(1) fn main() {{ var x = s.a; }}"
    );
    assert!(message(Language::Wgsl, &nested).starts_with("RG-E304 's': its type is nested more than 64 deep"));
}

#[test]
fn a_type_of_a_million_parts_is_refused_before_it_is_spelt_out() {
    let twice: String = (0..20).map(|i| format!("struct S{i} {{ a: S{}, b: S{} }}\n", i + 1, i + 1)).collect();
    let text = format!(
        "{twice} struct S20 {{ a: f32 }} @group(0) @binding(0) var<storage> s: S0;
         @compute @workgroup_size(1) fn main() {{ var x = s{}; }}",
        ".a".repeat(21)
    );
    assert!(message(Language::Wgsl, &text).contains("more than 65536 parts"));
    // The same in many bindings, each of which alone would do.
    let twice = &twice[twice.find("struct S6").expect("the seventh")..];
    let many: String = (0..200).map(|i| format!("@group(0) @binding({i}) var<storage> s{i}: S6; ")).collect();
    let uses: String = (0..200).map(|i| format!("_ = &s{i}; ")).collect();
    let text = format!("{twice} struct S20 {{ a: f32 }} {many} @compute @workgroup_size(1) fn main() {{ {uses} }}");
    assert!(message(Language::Wgsl, &text).starts_with("RG-E304 's1': "));
}

#[test]
fn a_text_of_more_than_a_mebibyte_is_refused() {
    assert!(message(Language::Wgsl, &" ".repeat((1 << 20) + 1)).contains("its text has 1048577 bytes"));
}

#[test]
fn macros_that_expand_without_end_are_refused_before_they_do() {
    let double = |first: &str, times: usize, use_: &str| {
        let lines: String = (1..=times).map(|i| format!("#define A{i} A{} {use_} A{}\n", i - 1, i - 1)).collect();
        format!("#version 450\n#define A0 {first}\n{lines}void main() {{ int x = A{times}; }}")
    };
    let bomb = "RG-E301 it is too large once its macros, files and types are expanded";
    assert_eq!(message(Language::Glsl, &double("1", 40, "+")), bomb);
    assert!(message(Language::Glsl, &double("((((((((((", 13, "")).ends_with("once its macros are expanded"));
    let nested =
        format!("#version 450\n#define F(x) x x\nvoid main() {{ int x = {}1{}; }}", "F(".repeat(60), ")".repeat(60));
    assert_eq!(message(Language::Glsl, &nested), bomb);
    let passed = "#version 450
#define F(x) x x
#define A(M, x) M(M(M(M(M(M(M(M(x))))))))
#define B(M, x) A(M, A(M, A(M, x)))
void main() { int x = B(F, 1); }";
    assert_eq!(message(Language::Glsl, passed), bomb);
    let condition = double("1", 40, "+").replace("void main", "#if A40\n#endif\nvoid main");
    assert_eq!(message(Language::Glsl, &condition), bomb);
    let pasted = format!(
        "#version 450\n#define CAT(a, b) a##b\n#define Ax0 1\n{}void main() {{ int x = Ax40; }}",
        (1..=40).map(|i| format!("#define Ax{i} CAT(A, x{}) CAT(A, x{})\n", i - 1, i - 1)).collect::<String>()
    );
    assert!(message(Language::Glsl, &pasted).starts_with("RG-E301"), "it ends");
    let cycle = "#version 450\n#define B C\n#define C B\nvoid main() { int B = 1; }";
    common::program(Kind::Compute, &[glsl(cycle)]);
}

#[test]
fn types_that_hold_two_of_another_type_each_are_no_work_without_end() {
    let twice: String = (0..60).rev().map(|i| format!("struct S{i} {{ S{} a; S{} b; }};\n", i + 1, i + 1)).collect();
    let text = format!("#version 450\nstruct S60 {{ float a; }};\n{twice}buffer B {{ S0 s; }} b;\nvoid main() {{ }}");
    assert!(message(Language::Glsl, &text).starts_with("RG-E30"), "it ends");
}

#[test]
fn ordinary_macros_are_no_obstacle() {
    let text = "#version 450
#define N 4
#define SQUARE(x) ((x) * \\
    (x))
#define APPLY(M, x) M(x)
#define LIST(X) X(1) + X(2)
#define self self
void main() { int self = 1; int x = SQUARE(SQUARE(N)) + APPLY(SQUARE, self) + LIST(SQUARE); }";
    common::program(Kind::Compute, &[glsl(text)]);
}

#[test]
fn texts_with_pieces_moved_about_never_make_the_compiler_fail() {
    let mut random = Random(3);
    for (name, kind) in CORPUS {
        let whole: Vec<&str> = text(name).split_inclusive(|c: char| !c.is_alphanumeric()).collect();
        for _ in 0..1500 {
            let mut pieces = whole.clone();
            for _ in 0..=random.below(4) {
                let (at, other) = (random.below(pieces.len()), random.below(pieces.len()));
                match random.below(4) {
                    0 => drop(pieces.remove(at)),
                    1 => pieces.swap(at, other),
                    2 => pieces.insert(at, pieces[other]),
                    _ => pieces[at] = pieces[other],
                }
            }
            let text = pieces.concat();
            let language = Language::of(self::text(name));
            if let Err(fault) = Program::new(name, kind, &[Source::Text(language, &text)], None) {
                assert!(!fault.message.contains("the compiler failed"), "{fault}\n{text}");
            }
        }
    }
}
