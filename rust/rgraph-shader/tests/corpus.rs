//! Shaders that the fuzzer kept and found are read or refused, and none makes a reader panic.

#[path = "../../../fuzz/src/shaders.rs"]
mod shaders;

use std::path::Path;

#[test]
fn shaders_of_the_corpus_are_read_or_refused() {
    let mut count = 0;
    for kept in ["corpus-seeds", "regressions"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz").join(kept).join("shader");
        let Ok(files) = std::fs::read_dir(&folder) else { continue };
        for file in files {
            let path = file.unwrap().path();
            println!("{}", path.display());
            shaders::shader(&std::fs::read(&path).unwrap());
            count += 1;
        }
    }
    assert!(count > 5);
}
