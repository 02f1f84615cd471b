//! Shaders in arguments: text, paths, SPIR-V bytes, or one for each stage.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyString, PyTuple};
use rgraph_shader::{Kind, Language, Program, Source};
use xxhash_rust::xxh3::Xxh3;

use crate::bind::Who;
use crate::convert::Text;
use crate::error::{guarded, shader_error};
use crate::files;

/// Suffixes of shader files; `None` is SPIR-V.
const SUFFIXES: [(&str, Option<Language>); 9] = [
    ("wgsl", Some(Language::Wgsl)),
    ("glsl", Some(Language::Glsl)),
    ("comp", Some(Language::Glsl)),
    ("vert", Some(Language::Glsl)),
    ("frag", Some(Language::Glsl)),
    ("spv", None),
    ("vs", Some(Language::Glsl)),
    ("fs", Some(Language::Glsl)),
    ("cs", Some(Language::Glsl)),
];

enum Owned {
    Text(Language, String),
    Spirv(Vec<u8>),
}

impl Owned {
    fn borrow(&self) -> Source<'_> {
        match self {
            Self::Text(language, text) => Source::Text(*language, text),
            Self::Spirv(bytes) => Source::Spirv(bytes),
        }
    }
}

fn suffix(path: &Path) -> Option<Option<Language>> {
    let suffix = path.extension()?.to_str()?;
    SUFFIXES.iter().find(|(known, _)| *known == suffix).map(|(_, language)| *language)
}

fn of_file(py: Python<'_>, path: &Path) -> PyResult<Owned> {
    let bytes = files::read(py, path)?;
    let said = suffix(path).unwrap_or_else(|| (!bytes.starts_with(&SPIRV)).then_some(Language::Wgsl));
    let Some(said) = said else { return Ok(Owned::Spirv(bytes)) };
    let text =
        String::from_utf8(bytes).map_err(|_| PyTypeError::new_err(format!("{} is not UTF-8 text", path.display())))?;
    Ok(Owned::Text(if suffix(path).is_some() { said } else { Language::of(&text) }, text))
}

/// The first bytes of a SPIR-V module in little-endian order.
const SPIRV: [u8; 4] = 0x0723_0203_u32.to_le_bytes();

/// One source, and its file's name if it has one.
fn source(value: &Bound<'_, PyAny>) -> PyResult<(Owned, Option<PathBuf>)> {
    let py = value.py();
    if value.is_instance_of::<PyString>() {
        let Text(text) = value.extract()?;
        let path = Path::new(text);
        if !text.contains('\n') && suffix(path).is_some() {
            return Ok((of_file(py, path)?, Some(path.to_owned())));
        }
        return Ok((Owned::Text(Language::of(text), text.to_owned()), None));
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok((Owned::Spirv(bytes.as_bytes().to_vec()), None));
    }
    if let Ok(bytes) = value.cast::<PyByteArray>() {
        return Ok((Owned::Spirv(bytes.to_vec()), None));
    }
    match value.extract::<PathBuf>() {
        Ok(path) => Ok((of_file(py, &path)?, Some(path))),
        Err(_) => {
            let kind = value.get_type().name()?.to_string();
            Err(PyTypeError::new_err(format!("a shader is its text, its path or SPIR-V bytes, not {kind}")))
        }
    }
}

/// The program of a `shader=` argument; a text is called by the name of its pass.
///
/// # Errors
/// `ShaderError` with the source line; `OSError` if a file cannot be read.
pub fn program(shader: &Bound<'_, PyAny>, kind: Kind, entry: Option<&str>, who: Who<'_>) -> PyResult<Arc<Program>> {
    let py = shader.py();
    let sources = match shader.cast::<PyTuple>() {
        Ok(stages) => {
            if kind == Kind::Compute || stages.len() != 2 {
                return Err(PyTypeError::new_err("a tuple of shaders is (vertex, fragment), for passes that draw"));
            }
            stages.iter().map(|stage| source(&stage)).collect::<PyResult<Vec<_>>>()?
        }
        Err(_) => vec![source(shader)?],
    };
    let file = sources.iter().find_map(|(_, file)| file.as_ref()).map(|file| file.display().to_string());
    let name = file.unwrap_or_else(|| who.pass.to_owned());
    let key = key(kind, entry, &name, sources.iter().map(|(source, _)| source));
    if let Some(program) = KNOWN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Ok(Arc::clone(program));
    }
    let made = guarded(py, || {
        let sources: Vec<_> = sources.iter().map(|(source, _)| source.borrow()).collect();
        Program::new(&name, kind, &sources, entry)
    })?;
    let program = Arc::new(made.map_err(|error| shader_error(py, &error, Some(who)))?);
    let mut known = KNOWN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if known.len() == MOST_KNOWN {
        known.clear();
    }
    known.insert(key, Arc::clone(&program));
    Ok(program)
}

/// Programs that were compiled before: graphs are often declared anew, and callbacks record again and again.
static KNOWN: OnceLock<Mutex<HashMap<u128, Arc<Program>>>> = OnceLock::new();

/// Programs remembered; then all are forgotten.
const MOST_KNOWN: usize = 512;

/// Hash of all that a program is made of, its name in messages included.
fn key<'a>(kind: Kind, entry: Option<&str>, name: &str, sources: impl Iterator<Item = &'a Owned>) -> u128 {
    let mut hash = Xxh3::new();
    let mut part = |tag: u8, bytes: &[u8]| {
        hash.update(&[tag]);
        hash.update(&bytes.len().to_le_bytes());
        hash.update(bytes);
    };
    part(kind as u8, name.as_bytes());
    part(u8::from(entry.is_some()), entry.unwrap_or("").as_bytes());
    for source in sources {
        match source {
            Owned::Text(language, text) => part(*language as u8, text.as_bytes()),
            Owned::Spirv(bytes) => part(u8::MAX, bytes),
        }
    }
    hash.digest128()
}
