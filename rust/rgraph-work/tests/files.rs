//! Graph files from Rust: loaded with their work and options, written, and loaded again.

use std::convert::Infallible;
use std::path::PathBuf;

use rgraph_ir::access::Usage;
use rgraph_work::file::{Arrays, Callbacks, Loaded, Setting, Settings, load, write};
use rgraph_work::{Groups, Step, Work, WorkError};

const COUNT: &str = "@group(0) @binding(0) var<storage, read_write> counts: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) { counts[id.x] = id.x; }";

const GRAPH: &str = r#"{"rgraph": 1, "options": {"size": 256},
"buffers": {"counts": {"size": {"option": "size"}}},
"passes": [{"name": "count", "compute": {"shader": "count.wgsl", "bindings": {"counts": "counts"}}}],
"roots": ["counts"]}"#;

/// A folder that goes away with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("rgraph-files-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for the test");
        Self(folder)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).expect("a file for the test");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left in the folder of temporary files harms nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_file_is_a_workload_and_is_the_same_after_writing() {
    let folder = Folder::new("same");
    let (shader, path) = (folder.file("count.wgsl", COUNT), folder.file("count.rgraph.json", GRAPH));
    let settings = Settings::from([("size".to_owned(), Setting::Int(512))]);

    let loaded: Loaded = load(&path, &settings).expect("the file is good");

    assert_eq!(loaded.files, [path, shader]);
    let graph = &loaded.load.graph;
    let counts = graph.find_resource("counts").expect("it is declared");
    assert_eq!(graph.resources()[counts].as_buffer().and_then(|buffer| buffer.size), Some(512));
    assert_eq!(graph.accesses()[0].usage, Usage::StorageWrite);
    let Some(Work::Steps(steps)) = loaded.load.works.values().next() else { panic!("the pass does something") };
    let [Step::Dispatch(dispatch)] = steps.as_slice() else { panic!("it dispatches") };
    assert_eq!(dispatch.groups, Groups::Cover(counts, 0));

    let text = write(&loaded.load, Arrays::default(), Some(&folder.0), Callbacks::Refuse).expect("it can be written");
    assert!(text.contains("\"shader\": \"count.wgsl\""), "{text}");
    let again: Loaded =
        load(&folder.file("again.rgraph.json", &text), &Settings::new()).expect("what is written is read");
    assert_eq!(again.load.graph.content_hash(), graph.content_hash());
    let alone = write(&again.load, Arrays::default(), None, Callbacks::Refuse).expect("it can be written");
    assert!(alone.contains("\"wgsl\""), "shaders of a text without a folder are written into it");
}

#[test]
fn what_is_wrong_says_which_files_were_looked_at() {
    let folder = Folder::new("wrong");
    let path = folder.file("count.rgraph.json", GRAPH);

    let missing = load::<Infallible>(&path, &Settings::new()).expect_err("the shader is missing");
    assert_eq!(missing.files, [path.clone(), folder.0.join("count.wgsl")]);
    assert!(missing.to_string().contains("count.rgraph.json:3: passes[0].compute.shader names file"), "{missing}");

    folder.file("count.wgsl", "fn main( {");
    let broken = load::<Infallible>(&path, &Settings::new()).expect_err("the shader is broken");
    assert!(matches!(broken.error, WorkError::Shader(_)), "{broken}");

    let nothing =
        load::<Infallible>(&folder.0.join("none.rgraph.json"), &Settings::new()).expect_err("there is no file");
    assert!(nothing.to_string().contains("cannot be opened"), "{nothing}");
}
