//! Sources of programs: what they are given as, and what the names of their files say.

use std::path::{Path, PathBuf};

use crate::include::Included;
use crate::language::Language;
use crate::scan;
use crate::stage::Stage;

/// A shader as the user has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source<'a> {
    Text(Language, &'a str),
    /// GLSL text of a file.
    Glsl {
        text: &'a str,
        /// The stage that the file's name says.
        stage: Option<Stage>,
        /// The files that it includes.
        included: &'a Included,
    },
    /// SPIR-V, as bytes in either byte order.
    Spirv(&'a [u8]),
}

/// A source of a program, kept as it was given, to be written to a file with the program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Given {
    /// The file that it was read from, if given: see [`Program::of`](crate::Program::of).
    pub path: Option<PathBuf>,
    /// The source.
    pub code: GivenCode,
    /// The files that it includes, if it is GLSL.
    pub included: Included,
    /// The stage that it was given for; `None`: the source or its file says it.
    pub stage: Option<Stage>,
}

impl Given {
    /// The source to compile.
    pub fn borrow(&self) -> Source<'_> {
        match &self.code {
            GivenCode::Text(Language::Glsl, text) => {
                let stage = self.stage.or_else(|| self.path.as_deref().and_then(stage_of));
                Source::Glsl { text, stage, included: &self.included }
            }
            GivenCode::Text(language, text) => Source::Text(*language, text),
            GivenCode::Spirv(bytes) => Source::Spirv(bytes),
        }
    }
}

impl Given {
    /// The files that it was read from: its own and those that it includes.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        let folder = self.path.as_deref().and_then(Path::parent);
        let names = self.included.files().iter().map(|file| file.name.as_str());
        self.path.clone().into_iter().chain(names.filter_map(move |name| Some(named(folder?, name))))
    }
}

/// The path of a file by its name as seen from a folder.
pub fn named(folder: &Path, name: &str) -> PathBuf {
    let mut path = folder.to_owned();
    for part in name.split('/') {
        match part {
            ".." => drop(path.pop()),
            part => path.push(part),
        }
    }
    path
}

impl From<GivenCode> for Given {
    /// A source of no file.
    fn from(code: GivenCode) -> Self {
        Self { path: None, code, included: Included::default(), stage: None }
    }
}

/// See [`Given`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum GivenCode {
    Text(Language, String),
    /// SPIR-V, as bytes in either byte order.
    Spirv(Vec<u8>),
}

impl GivenCode {
    /// What was given, kept.
    pub(crate) fn of(source: Source<'_>) -> Self {
        match source {
            Source::Text(language, text) => Self::Text(language, text.to_owned()),
            Source::Glsl { text, .. } => Self::Text(Language::Glsl, text.to_owned()),
            Source::Spirv(bytes) => Self::Spirv(bytes.to_vec()),
        }
    }

    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(_, text) => text.as_bytes(),
            Self::Spirv(bytes) => bytes,
        }
    }
}

/// Suffixes of shader files, with the stage that they say; no language is SPIR-V.
const SUFFIXES: [(&str, Option<Language>, Option<Stage>); 20] = [
    ("wgsl", Some(Language::Wgsl), None),
    ("glsl", Some(Language::Glsl), None),
    ("comp", Some(Language::Glsl), Some(Stage::Compute)),
    ("vert", Some(Language::Glsl), Some(Stage::Vertex)),
    ("tesc", Some(Language::Glsl), Some(Stage::TessellationControl)),
    ("tese", Some(Language::Glsl), Some(Stage::TessellationEvaluation)),
    ("geom", Some(Language::Glsl), Some(Stage::Geometry)),
    ("task", Some(Language::Glsl), Some(Stage::Task)),
    ("mesh", Some(Language::Glsl), Some(Stage::Mesh)),
    ("frag", Some(Language::Glsl), Some(Stage::Fragment)),
    ("rgen", Some(Language::Glsl), Some(Stage::RayGeneration)),
    ("rmiss", Some(Language::Glsl), Some(Stage::Miss)),
    ("rchit", Some(Language::Glsl), Some(Stage::ClosestHit)),
    ("rahit", Some(Language::Glsl), Some(Stage::AnyHit)),
    ("rint", Some(Language::Glsl), Some(Stage::Intersection)),
    ("rcall", Some(Language::Glsl), Some(Stage::Callable)),
    ("spv", None, None),
    ("vs", Some(Language::Glsl), Some(Stage::Vertex)),
    ("fs", Some(Language::Glsl), Some(Stage::Fragment)),
    ("cs", Some(Language::Glsl), Some(Stage::Compute)),
];

/// The first bytes of a SPIR-V module in little-endian order.
const SPIRV: [u8; 4] = 0x0723_0203_u32.to_le_bytes();

impl GivenCode {
    /// Whether a path ends like a shader file's: `.wgsl`, `.glsl`, `.comp`, `.vert`, `.tesc`, `.tese`, `.geom`,
    /// `.task`, `.mesh`, `.frag`, `.rgen`, `.rmiss`, `.rchit`, `.rahit`, `.rint`, `.rcall`, `.vs`, `.fs`, `.cs`,
    /// `.spv`.
    pub fn is_shader_file(path: &Path) -> bool {
        suffix(path).is_some()
    }

    /// A shader file's bytes, by its suffix; of other suffixes SPIR-V is known by its first bytes, and GLSL says
    /// `#version`.
    ///
    /// # Errors
    /// If it is text that is not UTF-8. GLSL may be: of its comments nobody knows what they are written in, and
    /// elsewhere the compiler refuses such characters.
    pub fn of_file(path: &Path, bytes: Vec<u8>) -> Result<Self, std::string::FromUtf8Error> {
        match suffix(path) {
            Some(None) => Ok(Self::Spirv(bytes)),
            None if bytes.starts_with(&SPIRV) => Ok(Self::Spirv(bytes)),
            Some(Some(Language::Glsl)) => Ok(Self::Text(Language::Glsl, String::from_utf8_lossy(&bytes).into_owned())),
            by_suffix => {
                let text = String::from_utf8(bytes)?;
                Ok(Self::Text(by_suffix.flatten().unwrap_or_else(|| Language::of(&text)), text))
            }
        }
    }
}

fn suffix(path: &Path) -> Option<Option<Language>> {
    let suffix = path.extension()?.to_str()?;
    SUFFIXES.iter().find(|(known, ..)| *known == suffix).map(|(_, language, _)| *language)
}

/// The stage that a file's name says: that of `.vert`, or of `blur.vert.glsl`.
fn stage_of(path: &Path) -> Option<Stage> {
    let of = |suffix: &str| SUFFIXES.iter().find(|(known, ..)| *known == suffix).and_then(|(.., stage)| *stage);
    let name = path.file_name()?.to_str()?;
    name.rsplit('.').take(2).find_map(of)
}

impl Language {
    /// The language that a text seems to be in: GLSL if it says `#version`, else WGSL.
    pub fn of(text: &str) -> Self {
        let glsl = scan::without_comments(text, Self::Glsl).lines().any(|line| {
            line.trim_start().strip_prefix('#').is_some_and(|rest| rest.trim_start().starts_with("version"))
        });
        if glsl { Self::Glsl } else { Self::Wgsl }
    }
}
