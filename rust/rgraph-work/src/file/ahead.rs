//! The shaders of a graph file, compiled on all cores before the file is read: reading then finds them remembered. What
//! is wrong with the file or with a shader is found again, and reported, where it is read.

use std::collections::HashSet;
use std::path::Path;

use rgraph_files::json::{Node, Source};
use rgraph_shader::{Constants, Given, Kind, Program};

use super::shader::{Library, Shaders, constants_of};
use crate::cores::on_all_cores;

/// One program to be.
#[derive(PartialEq, Eq, Hash)]
struct Job {
    kind: Kind,
    sources: Vec<Given>,
    entry: Option<String>,
    constants: Constants,
}

/// Compiles what the passes of a graph file dispatch and draw, but those under a condition, which may be left out.
pub(super) fn compile(text: &str, folder: Option<&Path>) {
    // Mistakes go to a source of their own, which nobody asks.
    let Ok(source) = Source::open(text.as_bytes(), "") else { return };
    let jobs: Vec<Job> = jobs(&source.root(), folder).into_iter().collect();
    on_all_cores("rgraph shader", &jobs, |Job { kind, sources, entry, constants }| {
        let _ = Program::of("", *kind, sources.clone(), entry.as_deref(), constants);
    });
}

fn jobs(root: &Node<'_, '_>, folder: Option<&Path>) -> HashSet<Job> {
    let (none, mut named, mut files) = (Shaders::new(), Shaders::new(), Vec::new());
    let mut library = Library { shaders: &none, folder, files: &mut files };
    let mut shader = |name: &str, value: Node<'_, '_>| {
        if let Some(given) = library.own(&value) {
            named.insert(name.to_owned(), given);
        }
    };
    let _ = root.entries("", |key, value| {
        if key == "shaders" {
            let _ = value.entries("", &mut shader);
        }
    });
    let mut library = Library { shaders: &named, folder, files: &mut files };
    let mut found = HashSet::new();
    let mut work = |key: &str, value: Node<'_, '_>| {
        let kind = match key {
            "compute" => Kind::Compute,
            "raster" => Kind::Raster,
            _ => return,
        };
        found.extend(job(&mut library, kind, &value));
    };
    let mut pass = |pass: Node<'_, '_>| {
        let mut open = false;
        let _ = pass.entries("", |key, _| open |= key == "if");
        let _ = (!open).then(|| {
            pass.entries("", |key, value| {
                if key == "steps" {
                    let _ = value.elements("", |_, step| {
                        let _ = step.entries("", &mut work);
                    });
                } else {
                    work(key, value);
                }
            })
        });
    };
    let _ = root.entries("", |key, value| {
        if key == "passes" {
            let _ = value.elements("", |_, one| pass(one));
        }
    });
    found
}

/// What a dispatch or a draw compiles; `None`: something is wrong with it.
fn job(library: &mut Library<'_>, kind: Kind, node: &Node<'_, '_>) -> Option<Job> {
    let mut job = Job { kind, sources: Vec::new(), entry: None, constants: Constants::default() };
    let mut good = true;
    node.entries("", |key, value| match key {
        "shader" if value.is_list() => {
            let sources = value.list("", |stage| Some(library.source(&stage)?.0));
            good &= sources.is_some_and(|sources| {
                job.sources = sources;
                true
            });
        }
        "shader" => match library.source(&value) {
            Some((given, _)) => job.sources.push(given),
            None => good = false,
        },
        "entry" => job.entry = value.text().map(Into::into),
        "constants" => match constants_of(&value) {
            Some(constants) => job.constants = constants,
            None => good = false,
        },
        _ => {}
    })?;
    (good && !job.sources.is_empty()).then_some(job)
}

#[cfg(test)]
mod tests {
    use rgraph_shader::{Constants, Kind, Program};

    use super::compile;

    fn shader(name: &str) -> String {
        format!("@compute @workgroup_size(1) fn main() {{ /* ahead: {name} */ }}")
    }

    fn is_known(name: &str) -> bool {
        Program::recall(Kind::Compute, &shader(name), None, &Constants::default()).is_some()
    }

    #[test]
    fn what_passes_surely_dispatch_is_known_before_the_file_is_read() {
        let compute = |name| format!(r#""compute": {{"shader": {{"wgsl": "{}"}}}}"#, shader(name));
        let passes = [
            format!(r#"{{"name": "a", {}}}"#, compute("one")),
            format!(r#"{{"name": "b", "steps": [{{{}}}]}}"#, compute("a step")),
            format!(r#"{{"name": "c", "if": "sometimes", {}}}"#, compute("conditional")),
            r#"{"name": "d", "compute": {"shader": {"wgsl": "no shader at all"}}}"#.to_owned(),
            r#"{"name": "e", "compute": {"shader": "named"}}"#.to_owned(),
        ];
        let named = shader("named");
        let shaders = format!(r#""shaders": {{"named": {{"wgsl": "{named}"}}}}"#);
        compile(&format!(r#"{{"rgraph": 1, {shaders}, "passes": [{}]}}"#, passes.join(", ")), None);
        let known = ["one", "a step", "conditional", "named"].map(is_known);
        assert_eq!(known, [true, true, false, true]);
    }

    #[test]
    fn one_shader_alone_and_a_file_that_is_no_json_are_left_to_the_reader() {
        let text = shader("alone");
        compile(&format!(r#"{{"passes": [{{"compute": {{"shader": {{"wgsl": "{text}"}}}}}}]}}"#), None);
        compile("no file", None);
        assert!(!is_known("alone"));
    }
}
