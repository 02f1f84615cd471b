//! Reading a graph file with its work.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rgraph_files::graph::work::STEP;
use rgraph_files::graph::{
    Extras, GraphFields, Included, PassFields, Scope, Settings, Typed, WORK_KEYS, read_graph_with,
};
use rgraph_files::json::Node;
use rgraph_ir::error::{Code, GraphError};
use rgraph_ir::graph::{Graph, PassId};
use rgraph_ir::resource::{Kind, Life, Resource, ResourceId};
use rgraph_shader::ShaderError;

use super::picture::Picture;
use super::sampler::{self, Samplers};
use super::shader::{Library, Shaders};
use super::{Failed, Loaded, access, ahead, sidecar};
use crate::error::WorkError;
use crate::infer::{Needs, Who};
use crate::work::{self, Step, Workload};

/// Reads the bytes of a graph file with its work. Files that it names are searched in the folder of `path`; `None`: it
/// is text that comes from no file, and can name none.
///
/// # Errors
/// See [`super::load`].
pub fn read<R: ?Sized>(bytes: &[u8], path: Option<&Path>, settings: &Settings) -> Result<Loaded<R>, Failed> {
    let identity = path.map(|path| path.canonicalize().unwrap_or_else(|_| sidecar::absolute(path)));
    let path = path.unwrap_or(Path::new("text"));
    let mut loader = Loader {
        files: identity.iter().map(|_| sidecar::absolute(path)).collect(),
        folder: identity.as_ref().and_then(|identity| identity.parent().map(Path::to_owned)),
        entered: Vec::new(),
        works: Vec::new(),
        pictures: Vec::new(),
        typed: Vec::new(),
        fault: None,
    };
    let name = path.to_string_lossy();
    let identity = identity.unwrap_or_default();
    let read = read_graph_with(bytes, &name, &identity.to_string_lossy(), settings, &mut loader);
    let Loader { mut files, works, pictures, typed, fault, .. } = loader;
    let mut seen = std::collections::HashSet::new();
    files.retain(|file| seen.insert(file.clone()));
    let error = match (read, fault) {
        (_, Some(fault)) => WorkError::from(fault),
        (Err(error), None) => error.into(),
        (Ok(graph), None) => {
            let mut load = Workload::new(graph);
            for (pass, steps) in works {
                if let Some(pass) = load.graph.find_pass(&pass) {
                    load.works.insert(pass, work::Work::Steps(steps));
                }
            }
            return Ok(Loaded { load, pictures, typed, files });
        }
    };
    Err(Failed { error, files })
}

/// A file being read: its folder, shaders and samplers.
struct Entered {
    identity: String,
    folder: Option<PathBuf>,
    name: String,
    shaders: Shaders,
    samplers: Samplers,
}

struct Loader {
    files: Vec<PathBuf>,
    /// The folder of the outermost file.
    folder: Option<PathBuf>,
    entered: Vec<Entered>,
    works: Vec<(String, Vec<Step>)>,
    pictures: Vec<(ResourceId, Arc<Picture>)>,
    typed: Vec<(ResourceId, Typed)>,
    fault: Option<ShaderError>,
}

impl Extras for Loader {
    fn include(&mut self, name: &str) -> Result<Included, (String, String)> {
        let Some(Entered { folder: Some(folder), name: from, .. }) = self.entered.last() else {
            let help = "load it from its file, or write what it includes into it";
            return Err(("names a file, but the graph has no folder".to_owned(), help.to_owned()));
        };
        let looked = sidecar::absolute(&folder.join(name));
        if !self.files.contains(&looked) {
            self.files.push(looked);
        }
        let path = sidecar::find(folder, name)?;
        let bytes = sidecar::bytes(&path)?;
        // Called as seen from the outermost file's folder, as the user would type it.
        let shown = Path::new(from).with_file_name("").join(name).to_string_lossy().into_owned();
        Ok(Included { bytes: bytes.into(), name: shown, identity: path.to_string_lossy().into_owned() })
    }

    fn enter(&mut self, identity: &str, fields: &GraphFields<'_, '_>, whole: bool) {
        let folder = match self.entered.is_empty() {
            true => self.folder.clone(),
            false => Path::new(identity).parent().map(Path::to_owned),
        };
        let name = fields.node().source().file().to_string();
        if whole {
            ahead::compile(fields.node().source().whole(), folder.as_deref());
        }
        // A module that a file declares knows the shaders and samplers of the file.
        let around = self.entered.last().filter(|around| whole && around.identity == identity);
        let (mut shaders, mut samplers) =
            around.map_or_else(Default::default, |around| (around.shaders.clone(), around.samplers.clone()));
        if whole {
            let none = Shaders::new();
            let mut library = Library { shaders: &none, folder: folder.as_deref(), files: &mut self.files };
            if let Some(node) = fields.get("shaders") {
                node.entries(" of shaders by name", |name, value| {
                    let _: Option<()> = value.check_name(name);
                    if let Some(given) = library.own(&value) {
                        shaders.insert(name.to_owned(), given);
                    }
                });
            }
            if let Some(node) = fields.get("samplers") {
                node.entries(" of samplers by name", |name, value| {
                    let _: Option<()> = value.check_name(name);
                    if let Some(sampler) = sampler::read(&value) {
                        samplers.insert(name.to_owned(), sampler);
                    }
                });
            }
        }
        self.entered.push(Entered { identity: identity.to_owned(), folder, name, shaders, samplers });
    }

    fn leave(&mut self) {
        self.entered.pop();
    }

    fn typed(&mut self, id: ResourceId, typed: Typed) {
        self.typed.push((id, typed));
    }

    fn contents(&mut self, node: &Node<'_, '_>, id: ResourceId, resource: &mut Resource) {
        let (Some(file), Some(name)) = (self.entered.last(), node.text()) else { return };
        let Some(folder) = &file.folder else {
            let help = "load it from its file, or give the contents as an input of each run";
            return node.mistake(Code::BadFile, "names a file, but the graph has no folder", help);
        };
        // A file that is not there yet is one to be looked out for.
        self.files.push(sidecar::absolute(&folder.join(&*name)));
        let read = sidecar::find(folder, &name).and_then(|path| Ok((sidecar::bytes(&path)?, path)));
        let about = |(problem, help): sidecar::Refused| (format!("names file \"{name}\", which {problem}"), help);
        let read = read.and_then(|(bytes, path)| {
            let picture = Picture::read(&path, bytes).map_err(about)?;
            match &mut resource.kind {
                // It is as large as what it remembers.
                _ if matches!(resource.life, Life::History(_)) => {}
                Kind::Image(image) => picture.complete(image).map_err(about)?,
                Kind::Buffer(buffer) => {
                    let size = *buffer.size.get_or_insert(picture.bytes.len() as u64);
                    if size != picture.bytes.len() as u64 || size == 0 {
                        let problem = format!("has {} bytes", picture.bytes.len());
                        return Err(about((problem, "leave the size out, or declare that of the file".to_owned())));
                    }
                }
            }
            Ok(picture)
        });
        match read {
            Ok(picture) => self.pictures.push((id, Arc::new(picture))),
            Err((problem, help)) => node.mistake(Code::BadFile, problem, help),
        }
    }

    fn work(&mut self, graph: &mut Graph, scope: &Scope<'_>, pass: PassId, fields: &PassFields<'_, '_>) {
        let Some(file) = self.entered.last() else { return };
        let keys: Vec<&'static str> = WORK_KEYS.into_iter().filter(|key| fields.get(key).is_some()).collect();
        let Some(&key) = keys.first() else { return };
        if let [_, second, ..] = keys[..] {
            let help = "make two passes, or use \"steps\": [{…}, {…}]";
            let problem = format!("does two things at once: \"{key}\" and \"{second}\"");
            fields.node().mistake(Code::BadFile, problem, help);
            return;
        }
        let (name, place) = (graph.pass_name(pass).to_owned(), graph.pass_place(pass).cloned());
        let who = Who { pass: &name, place: place.as_ref() };
        let library = Library { shaders: &file.shaders, folder: file.folder.as_deref(), files: &mut self.files };
        let mut work = Work {
            who,
            graph,
            scope,
            pass,
            library,
            samplers: &file.samplers,
            needs: Needs::default(),
            fault: &mut self.fault,
        };
        let Some(node) = fields.get(key) else { return };
        let steps = if key == "steps" { work.steps(&node) } else { work.step(key, node).map(|step| vec![step]) };
        let needs = work.needs;
        access::declare(graph, pass, place.as_ref(), &needs);
        for check in &needs.checks {
            if let Some(mistake) = check.mistake(graph, (&name, place.as_ref()), Some) {
                node.source().push(mistake);
            }
        }
        if let Some(steps) = steps {
            self.works.push((name, steps));
        }
    }
}

/// The work of one pass, being read.
pub(super) struct Work<'w, 'l> {
    /// The pass.
    pub who: Who<'w>,
    /// The graph so far.
    pub graph: &'w Graph,
    /// The module that contains it.
    pub scope: &'w Scope<'w>,
    pub pass: PassId,
    /// Where shaders are found.
    pub library: Library<'l>,
    /// Named samplers.
    pub samplers: &'w Samplers,
    /// What its work needs.
    pub needs: Needs,
    /// The first shader that does not compile.
    fault: &'w mut Option<ShaderError>,
}

impl Work<'_, '_> {
    fn steps(&mut self, node: &Node<'_, '_>) -> Option<Vec<Step>> {
        node.list(" of steps", |one| {
            let before = one.source().count();
            let fields = one.fields(&STEP)?;
            let given: Vec<&'static str> =
                STEP.keys.iter().map(|key| key.name).filter(|key| fields.peek(key).is_some()).collect();
            match given[..] {
                [key] => self.step(key, fields.get(key)?),
                // Its only key is an unknown one.
                [] if one.source().count() > before => None,
                _ => {
                    let help = "each step is one of {\"compute\": …}, {\"raster\": …}, {\"copy\": …}, …";
                    one.mistake(Code::BadFile, "is no single step", help);
                    None
                }
            }
        })
    }

    fn step(&mut self, key: &str, node: Node<'_, '_>) -> Option<Step> {
        match key {
            "compute" => self.compute(node),
            "raster" => self.raster(node),
            "build" => self.build(node),
            "instances" => self.instances(node),
            "trace" => self.trace(node),
            _ => self.transfer(key, node),
        }
    }

    /// Keeps the first shader that does not compile.
    pub(super) fn fault(&mut self, fault: ShaderError) {
        self.fault.get_or_insert(fault);
    }

    /// What was made of a node, or its mistakes noted.
    pub(super) fn kept<T>(&mut self, node: &Node<'_, '_>, made: Result<T, WorkError>) -> Option<T> {
        match made {
            Ok(made) => Some(made),
            Err(WorkError::Shader(fault)) => {
                self.fault(*fault);
                None
            }
            Err(WorkError::Graph(error)) => {
                self.note(node, &error);
                None
            }
        }
    }

    fn note(&self, node: &Node<'_, '_>, error: &GraphError) {
        error.mistakes().iter().for_each(|mistake| node.source().push(mistake.clone()));
    }
}
