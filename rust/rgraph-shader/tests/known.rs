//! Programs that are remembered: by what they are made of, not by their names, and forgotten one by one.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rgraph_shader::{Constant, Constants, Given, GivenCode, Kind, Language, MOST_KNOWN, Program};

/// One test at a time: what is remembered is the process's, and is not waited for.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn text(number: usize) -> String {
    format!("@compute @workgroup_size(1) fn main() {{ /* {number} */ }}\n@compute @workgroup_size(2) fn other() {{}}")
}

fn given(text: &str) -> Vec<Given> {
    vec![GivenCode::Text(Language::Wgsl, text.to_owned()).into()]
}

fn of(name: &str, text: &str) -> Arc<Program> {
    Program::of(name, Kind::Compute, given(text), Some("main"), &Constants::default())
        .unwrap_or_else(|fault| panic!("{fault}"))
}

#[test]
fn one_text_under_two_names_is_compiled_once() {
    let _alone = alone();
    let text = text(1_000_000);
    let (one, two) = (of("one", &text), of("two", &text));
    assert!(one.shares_code(&two));
    assert_eq!((&*one.name, &*two.name), ("one", "two"));
    let recall =
        || Program::recall(Kind::Compute, &text, Some("main"), &Constants::default()).expect("it is remembered");
    assert!(recall().shares_code(&one) && recall().name.is_empty());
    assert!(Arc::ptr_eq(&recall(), &recall()), "without a name it is the same object");
}

#[test]
fn another_entry_point_kind_or_file_is_another_program() {
    let _alone = alone();
    let text = text(2_000_000);
    let main = of("pass", &text);
    let other =
        Program::of("pass", Kind::Compute, given(&text), Some("other"), &Constants::default()).expect("it compiles");
    assert!(!other.shares_code(&main) && other.interface.workgroup == [2, 1, 1]);
    assert!(Program::recall(Kind::Raster, &text, Some("main"), &Constants::default()).is_none());
    assert!(Program::recall(Kind::Compute, &text, None, &Constants::default()).is_none());
    let file = vec![Given { path: Some(PathBuf::from("/shaders/a.wgsl")), ..given(&text).remove(0) }];
    let of_file =
        Program::of("pass", Kind::Compute, file.clone(), Some("main"), &Constants::default()).expect("it compiles");
    assert!(!of_file.shares_code(&main) && of_file.sources == file, "it says where it was read");
    let spaced = Program::of("pass", Kind::Compute, given(&format!("{text} ")), Some("main"), &Constants::default())
        .expect("it compiles");
    assert!(!spaced.shares_code(&main));
}

#[test]
fn programs_in_use_stay_known_while_others_come_and_go() {
    let _alone = alone();
    let (kept, once, held) = (text(3_000_000), text(3_000_001), text(3_000_002));
    let (first, forgotten, of_held) = (of("kept", &kept), of("once", &once), of("held", &held));
    let by_text = Program::remembered(Kind::Compute, &held, Some("main"), &Constants::default());
    let by_text = by_text.expect("it was just compiled");
    for number in 0..MOST_KNOWN + 100 {
        of("passing", &text(number));
        assert!(by_text.take().shares_code(&of_held));
        assert!(first.shares_code(&of("kept", &kept)), "it was in use before {number} others came");
    }
    let recent = (100..MOST_KNOWN)
        .filter(|&number| Program::recall(Kind::Compute, &text(number), Some("main"), &Constants::default()).is_some());
    assert!(recent.count() > MOST_KNOWN - 200, "only the oldest are forgotten");
    assert!(of_held.shares_code(&of("held", &held)), "what a caller knows by its text counts as used");
    assert!(!forgotten.shares_code(&of("once", &once)), "what nobody used is compiled again");
}

#[test]
fn other_constants_make_another_program() {
    let text = "override N: u32 = 4; @compute @workgroup_size(N) fn main() {}";
    let of = |value: Option<i128>| {
        let constants: Constants = value.map(|value| ("N".to_owned(), Constant::Int(value))).into_iter().collect();
        Program::of("sized", Kind::Compute, given(text), None, &constants).expect("it compiles")
    };
    let sizes = [None, Some(8), Some(16), Some(8)].map(of);
    assert_eq!(sizes.each_ref().map(|one| one.interface.workgroup[0]), [4, 8, 16, 8]);
    assert!(sizes[1].shares_code(&sizes[3]));
    let mut hashes: Vec<u64> = sizes[..3].iter().map(|one| one.hash).collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), 3);
}
