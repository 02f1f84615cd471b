//! Builds a copy of the workspace in which the stages have all their mutants, and leaves out those that do not compile.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::find::{self, Place};
use crate::write::{self, Written};

/// A change of the source that some test should notice.
#[derive(Clone, Serialize, Deserialize)]
pub struct Mutant {
    pub id: u32,
    pub file: String,
    pub line: usize,
    pub function: String,
    pub what: String,
}

/// The tests of one module of a test program, and the folder in which they run; both paths are below the home.
#[derive(Clone, Serialize, Deserialize)]
pub struct Program {
    pub name: String,
    pub path: PathBuf,
    pub folder: PathBuf,
    /// Whole names.
    pub tests: Vec<String>,
}

/// What a build made.
#[derive(Serialize, Deserialize)]
pub struct Built {
    pub mutants: Vec<Mutant>,
    /// How many did not compile.
    pub unviable: usize,
    pub programs: Vec<Program>,
}

struct Source {
    /// From the tree's root.
    name: String,
    text: String,
    places: Vec<Place>,
    numbers: Vec<Vec<u32>>,
    written: Option<Written>,
}

/// Mutate the stages in a copy of the workspace under `home`, and build the tests of planner and checker.
pub fn build(root: &Path, home: &Path, stages: &str) -> Built {
    let tree = home.join("tree");
    copy(root, &tree);
    let library = tree.join("rust/rgraph-plan/src");
    fs::write(library.join("mutant.rs"), include_str!("mutant.rs")).expect("the tree can be written");
    let lib = fs::read_to_string(library.join("lib.rs")).expect("the planner has a lib.rs");
    fs::write(library.join("lib.rs"), format!("{lib}\nmod mutant;\n")).expect("the tree can be written");
    let (mut sources, mutants) = sources(&tree, stages);
    let mut dropped = BTreeSet::new();
    // Types first, which is quick; a few lints of arithmetic come with the code.
    let tests = ["test", "--no-run", "--tests", "--package", "rgraph-plan", "--package", "rgraph-check", "--locked"];
    let mut messages = Vec::new();
    for command in [&["check", "--package", "rgraph-plan", "--locked"][..], &tests] {
        messages = compiled(&tree, home, command, &mut sources, &mut dropped);
    }
    let programs = programs(&messages, home);
    let viable = mutants.into_iter().filter(|each| !dropped.contains(&each.id)).collect();
    Built { mutants: viable, unviable: dropped.len(), programs }
}

/// Compile without what does not compile, which is added to `dropped`; the last messages.
fn compiled(
    tree: &Path,
    home: &Path,
    command: &[&str],
    sources: &mut [Source],
    dropped: &mut BTreeSet<u32>,
) -> Vec<Value> {
    loop {
        for source in &mut *sources {
            let numbers: Vec<Vec<u32>> = source.numbers.iter().map(|list| kept(list, dropped)).collect();
            let written = write::instrument(&source.text, &source.places, &numbers);
            let path = tree.join(&source.name);
            if fs::read_to_string(&path).ok().as_ref() != Some(&written.text) {
                fs::write(path, &written.text).expect("the tree can be written");
            }
            source.written = Some(written);
        }
        let (messages, fine) = cargo(tree, home, command);
        if fine {
            return messages;
        }
        let blamed = blame(&messages, sources);
        assert!(blamed.iter().any(|id| !dropped.contains(id)), "an error that no mutant explains");
        dropped.extend(blamed);
        eprintln!("{} mutants do not compile", dropped.len());
    }
}

fn kept(list: &[u32], dropped: &BTreeSet<u32>) -> Vec<u32> {
    list.iter().map(|&id| if dropped.contains(&id) { 0 } else { id }).collect()
}

/// Copy the files that git knows; one whose text is the same keeps its time.
fn copy(root: &Path, tree: &Path) {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output().expect("git runs");
    for name in String::from_utf8_lossy(&listed.stdout).split('\0').filter(|name| !name.is_empty()) {
        let (from, to) = (root.join(name), tree.join(name));
        if !from.is_file() {
            continue;
        }
        let bytes = fs::read(&from).expect("a file of the tree can be read");
        if fs::read(&to).ok().as_deref() != Some(&bytes) {
            fs::create_dir_all(to.parent().expect("a file has a folder")).expect("the tree can be written");
            fs::write(&to, bytes).expect("the tree can be written");
        }
    }
}

fn sources(tree: &Path, stages: &str) -> (Vec<Source>, Vec<Mutant>) {
    let mut files = Vec::new();
    walk(&tree.join(stages), &mut files);
    files.sort();
    let (mut sources, mut mutants) = (Vec::new(), Vec::new());
    for path in files {
        let name = path.strip_prefix(tree).expect("it is in the tree").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("a stage can be read");
        let places = find::places(&text);
        let mut numbers = Vec::new();
        for place in &places {
            let mut list = Vec::new();
            for what in place.kind.names(&text) {
                let id = u32::try_from(mutants.len() + 1).expect("few mutants");
                let (file, function) = (name.clone(), place.function.clone());
                mutants.push(Mutant { id, file, line: place.line, function, what });
                list.push(id);
            }
            numbers.push(list);
        }
        sources.push(Source { name, text, places, numbers, written: None });
    }
    (sources, mutants)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the stages are there").flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs") && path.file_name().is_some_and(|n| n != "tests.rs") {
            files.push(path);
        }
    }
}

/// Run cargo; its messages, and whether it succeeded.
fn cargo(tree: &Path, home: &Path, arguments: &[&str]) -> (Vec<Value>, bool) {
    let output = Command::new("cargo")
        .args(arguments)
        .args(["--message-format", "json", "--target-dir"])
        .arg(home.join("target"))
        .current_dir(tree)
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo runs");
    let lines = String::from_utf8_lossy(&output.stdout);
    (lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(), output.status.success())
}

/// The mutants in which the compiler found its errors.
fn blame(messages: &[Value], sources: &[Source]) -> BTreeSet<u32> {
    let by_name: BTreeMap<&str, &Source> = sources.iter().map(|source| (source.name.as_str(), source)).collect();
    let mut blamed = BTreeSet::new();
    for message in messages.iter().filter(|each| each["message"]["level"] == "error") {
        let spans = message["message"]["spans"].as_array().cloned().unwrap_or_default();
        let (primary, others): (Vec<Value>, Vec<Value>) =
            spans.into_iter().partition(|span| span["is_primary"] == true);
        let found = primary.iter().chain(&others).find_map(|span| {
            let written = by_name.get(span["file_name"].as_str()?)?.written.as_ref()?;
            let bytes = span["byte_start"].as_u64()? as usize..span["byte_end"].as_u64()? as usize;
            written.blamed(&bytes)
        });
        match found {
            Some(ids) => blamed.extend(ids),
            None => eprintln!("{}", message["message"]["rendered"].as_str().unwrap_or("an error without words")),
        }
    }
    blamed
}

fn programs(messages: &[Value], home: &Path) -> Vec<Program> {
    let folder = home.join("programs");
    fs::create_dir_all(&folder).expect("the folder can be written");
    let built = messages.iter().filter(|each| each["reason"] == "compiler-artifact");
    built
        .filter_map(|each| {
            let package = Path::new(each["manifest_path"].as_str()?).parent()?;
            let name = format!("{}-{}", package.file_name()?.to_str()?, each["target"]["name"].as_str()?);
            let path = folder.join(&name);
            // One that still runs keeps its file.
            let _ = fs::remove_file(&path);
            fs::copy(each["executable"].as_str()?, &path).expect("a program can be copied");
            let below = |path: &Path| path.strip_prefix(home).expect("it is below the home").to_owned();
            Some(parts(&name, home, &below(&path), &below(package)))
        })
        .flatten()
        .collect()
}

/// The outermost modules of a test program, each to be run by itself: a mutant meets the shortest of them first.
fn parts(name: &str, home: &Path, path: &Path, folder: &Path) -> Vec<Program> {
    let output =
        Command::new(home.join(path)).args(["--list", "--format", "terse"]).current_dir(home.join(folder)).output();
    let listed = output.expect("a test program lists its tests").stdout;
    let mut parts = BTreeMap::<String, Vec<String>>::new();
    for test in String::from_utf8_lossy(&listed).lines().filter_map(|line| line.strip_suffix(": test")) {
        let module = test.split_once("::").map_or("", |(module, _)| module);
        parts.entry(module.to_owned()).or_default().push(test.to_owned());
    }
    let part = |(module, tests)| Program {
        name: format!("{name}-{module}"),
        path: path.to_owned(),
        folder: folder.to_owned(),
        tests,
    };
    parts.into_iter().map(part).collect()
}
