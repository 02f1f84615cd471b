//! Shaders: named ones in a table, sidecar files, and those written where they are used.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rgraph_files::graph::work;
use rgraph_files::json::{Fields, Node, shown};
use rgraph_ir::error::Code;
use rgraph_shader::{
    Constant, Constants, Given, GivenCode, Included, Kind, Language, Program, ShaderError, Stage, named,
};

use super::{data, sidecar};
use crate::infer::Who;

/// What stands behind the name of the source of one stage, of a shader that has several.
pub(super) fn end_of(stage: Stage) -> &'static str {
    match stage {
        Stage::Compute => ".compute",
        Stage::Task => ".task",
        Stage::Mesh => ".mesh",
        Stage::Vertex => ".vertex",
        Stage::TessellationControl => ".tesscontrol",
        Stage::TessellationEvaluation => ".tesseval",
        Stage::Geometry => ".geometry",
        Stage::Fragment => ".fragment",
        Stage::RayGeneration => ".raygen",
        Stage::Miss => ".miss",
        Stage::ClosestHit => ".closesthit",
        Stage::AnyHit => ".anyhit",
        Stage::Intersection => ".intersection",
        Stage::Callable => ".callable",
    }
}

/// Sources by name.
pub(super) type Shaders = HashMap<String, Given>;

/// What shaders are looked for in.
pub(super) struct Library<'l> {
    /// Named sources.
    pub shaders: &'l Shaders,
    /// The folder of the graph file; `None`: it is text without one.
    pub folder: Option<&'l Path>,
    /// Files that are read.
    pub files: &'l mut Vec<PathBuf>,
}

impl Library<'_> {
    /// A source, and its name if it has one.
    pub(super) fn source(&mut self, node: &Node<'_, '_>) -> Option<(Given, Option<String>)> {
        if !node.is_text() {
            return self.own(node).map(|given| (given, None));
        }
        let name = node.text()?;
        if let Some(known) = self.shaders.get(&*name) {
            return Some((known.clone(), Some(name.into_owned())));
        }
        if GivenCode::is_shader_file(Path::new(&*name)) {
            return self.file(node).map(|given| (given, Some(name.into_owned())));
        }
        let mut known: Vec<&str> = self.shaders.keys().map(String::as_str).collect();
        known.sort_unstable();
        let help = match node.source().suggest(&name, known.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => {
                "name one of \"shaders\", or a file that ends in .wgsl, .glsl, .comp, .vert, .frag or .spv".to_owned()
            }
        };
        let problem = format!("names shader \"{}\", which nothing declares", shown(&name));
        node.mistake(Code::UnknownName, problem, help);
        None
    }

    /// A source that a text names as a file, or that an object has.
    pub(super) fn own(&mut self, node: &Node<'_, '_>) -> Option<Given> {
        if node.is_text() {
            return self.file(node);
        }
        let fields = node.fields(&work::SOURCE)?;
        let sources = work::SOURCE.keys.iter().filter(|key| fields.get(key.name).is_some()).count();
        if sources != 1 {
            node.mistake(Code::BadFile, "is no shader", "give one of \"file\", \"wgsl\", \"glsl\" and \"spirv\"");
            return None;
        }
        if let Some(file) = fields.get("file") {
            return self.file(&file);
        }
        let code = match (fields.get("wgsl"), fields.get("glsl"), fields.get("spirv")) {
            (Some(text), ..) => GivenCode::Text(Language::Wgsl, lines(&text)?),
            (_, Some(text), _) => GivenCode::Text(Language::Glsl, lines(&text)?),
            (.., spirv) => {
                let node = spirv?;
                let bytes = BASE64_STANDARD.decode(lines(&node)?).ok();
                if bytes.is_none() {
                    node.mistake(Code::BadFile, "is not base 64", "write SPIR-V in base 64 (RFC 4648), or name a file");
                }
                GivenCode::Spirv(bytes?)
            }
        };
        Some(code.into())
    }

    fn file(&mut self, node: &Node<'_, '_>) -> Option<Given> {
        let name = node.text()?;
        let Some(folder) = self.folder else {
            let help = "write the shader into the graph: {\"wgsl\": […]}";
            node.mistake(Code::BadFile, "names a file, but the graph has no folder", help);
            return None;
        };
        // A file that is not there yet is one to be looked out for.
        self.files.push(sidecar::absolute(&folder.join(&*name)));
        let read = sidecar::find(folder, &name).and_then(|path| Ok((sidecar::bytes(&path)?, path)));
        let (bytes, path) = match read {
            Ok(read) => read,
            Err((problem, help)) => {
                node.mistake(Code::BadFile, problem, help);
                return None;
            }
        };
        match GivenCode::of_file(&path, bytes) {
            Ok(code) => {
                let included = included(&path, &code, Some(folder), self.files);
                Some(Given { path: Some(path), code, included, stage: None })
            }
            Err(_) => {
                node.mistake(Code::BadFile, format_args!("names file \"{name}\", which is not UTF-8 text"), "");
                None
            }
        }
    }

    /// The program of a dispatch or a draw. `Some(Err(…))`: it does not compile.
    pub(super) fn program<const N: usize>(
        &mut self,
        fields: &Fields<'_, '_, N>,
        kind: Kind,
        who: Who<'_>,
    ) -> Option<Result<Arc<Program>, ShaderError>> {
        let node = fields.get("shader")?;
        let mut name = None;
        let mut source = |node: &Node<'_, '_>| {
            let (given, own_name) = self.source(node)?;
            name = name.take().or(own_name);
            Some(given)
        };
        let sources = if node.is_list() && kind == Kind::Raster {
            let wanted = "two to five shaders in the order of their stages, as [vertex, fragment]";
            node.short_list(&[2, 3, 4, 5], wanted, |stage| source(&stage))?
        } else {
            vec![source(&node)?]
        };
        let name = match &name {
            Some(name) if sources.len() > 1 => title(name),
            Some(name) => name,
            None => who.pass,
        };
        of_sources(fields, name, kind, sources)
    }
}

/// The name of a shader with several stages, of that of its first source.
pub(super) fn title(name: &str) -> &str {
    let mut stages = Stage::RASTER.iter().chain(&Stage::RAY_TRACING);
    stages.find_map(|stage| name.strip_suffix(end_of(*stage))).unwrap_or(name)
}

/// The program of sources, with the entry point and the constants that fields say. `Some(Err(…))`: it does not compile.
pub(super) fn of_sources<const N: usize>(
    fields: &Fields<'_, '_, N>,
    name: &str,
    kind: Kind,
    sources: Vec<Given>,
) -> Option<Result<Arc<Program>, ShaderError>> {
    let entry = match fields.get("entry") {
        Some(entry) => Some(entry.text()?),
        None => None,
    };
    let constants = match fields.get("constants") {
        Some(constants) => constants_of(&constants)?,
        None => Constants::default(),
    };
    Some(Program::of(name, kind, sources, entry.as_deref(), &constants))
}

/// The files that GLSL of a file includes, of those below `within`, where somebody says that; `files` grows by each
/// that is looked for.
pub fn included(path: &Path, code: &GivenCode, within: Option<&Path>, files: &mut Vec<PathBuf>) -> Included {
    let (GivenCode::Text(Language::Glsl, text), Some(folder)) = (code, path.parent()) else {
        return Included::default();
    };
    let within = within.map(|within| within.canonicalize().unwrap_or_else(|_| within.to_owned()));
    Included::find(text, |name| {
        let path = named(folder, name);
        let below = match &within {
            None => None,
            // A name that leads out of the folder is not even looked for.
            Some(within) => {
                let name = path.strip_prefix(within).ok()?.to_str()?.replace(std::path::MAIN_SEPARATOR, "/");
                Some((within, name))
            }
        };
        files.push(sidecar::absolute(&path));
        let found = match below {
            None => path,
            Some((within, name)) => sidecar::find(within, &name).ok()?,
        };
        // As the compiler: whatever comments are written in.
        Some(String::from_utf8_lossy(&sidecar::bytes(&found).ok()?).into_owned())
    })
}

/// `{NAME: number or boolean}`.
pub(super) fn constants_of(node: &Node<'_, '_>) -> Option<Constants> {
    let (mut all, mut good) = (Vec::new(), true);
    node.entries(": {NAME: number}", |name, value| match data::read(&value).as_ref().and_then(Constant::of) {
        Some(constant) => all.push((name.to_owned(), constant)),
        None => {
            value.wrong("a number, true or false");
            good = false;
        }
    })?;
    good.then(|| all.into_iter().collect())
}

/// A text, or its lines.
fn lines(node: &Node<'_, '_>) -> Option<String> {
    if node.is_list() {
        let lines = node.list(" of lines", |line| line.text().map(|line| line.into_owned()))?;
        return Some(lines.join("\n"));
    }
    node.text().map(|text| text.into_owned())
}
