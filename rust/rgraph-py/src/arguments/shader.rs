//! Shaders in arguments: text, paths, SPIR-V bytes, or one for each stage.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyInt, PyString, PyTuple};
use rgraph_shader::{Constant, Constants, Given, GivenCode, Kind, Language, Program};
use rgraph_work::file::included;
use rgraph_work::infer::Who;

use crate::arguments::convert::Text;
use crate::arguments::mapped::Mapped;
use crate::arguments::value::number;
use crate::arguments::{files, known_texts};
use crate::classes::passes::Arguments;
use crate::run::error::shader_error;
use crate::run::patient::patiently;

fn of_file(py: Python<'_>, path: &Path) -> PyResult<GivenCode> {
    let bytes = files::read(py, path)?;
    GivenCode::of_file(path, bytes).map_err(|_| PyTypeError::new_err(format!("{} is not UTF-8 text", path.display())))
}

/// Whether a text is the path of a shader and not a shader.
fn is_path(text: &str) -> bool {
    !text.contains('\n') && GivenCode::is_shader_file(Path::new(text))
}

/// One source, and its file's name if it has one.
pub(crate) fn source(value: &Bound<'_, PyAny>) -> PyResult<(GivenCode, Option<PathBuf>)> {
    let py = value.py();
    if value.is_instance_of::<PyString>() {
        let Text(text) = value.extract()?;
        if is_path(text) {
            let path = Path::new(text);
            return Ok((of_file(py, path)?, Some(path.to_owned())));
        }
        return Ok((GivenCode::Text(Language::of(text), text.to_owned()), None));
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok((GivenCode::Spirv(bytes.as_bytes().to_vec()), None));
    }
    if let Ok(bytes) = value.cast::<PyByteArray>() {
        return Ok((GivenCode::Spirv(bytes.to_vec()), None));
    }
    match value.extract::<PathBuf>() {
        Ok(path) => Ok((of_file(py, &path)?, Some(path))),
        Err(_) => {
            let kind = value.get_type().name()?.to_string();
            Err(PyTypeError::new_err(format!("a shader is its text, its path or SPIR-V bytes, not {kind}")))
        }
    }
}

/// Hint of a wrong tuple of shaders.
const STAGES: &str = "a tuple of shaders has one for each stage in order, as (vertex, fragment), for passes that draw";

/// The sources of a `shader=` argument, and the name of the first file among them; empty: there is none.
///
/// # Errors
/// `OSError` if a file cannot be read.
pub(crate) fn sources(shader: &Bound<'_, PyAny>) -> PyResult<(Vec<Given>, String)> {
    let sources = match shader.cast::<PyTuple>() {
        Ok(stages) if !(2..=5).contains(&stages.len()) => return Err(PyTypeError::new_err(STAGES)),
        Ok(stages) => stages.iter().map(|stage| source(&stage)).collect::<PyResult<Vec<_>>>()?,
        Err(_) => vec![source(shader)?],
    };
    let file = sources.iter().find_map(|(_, file)| file.as_ref()).map(|file| file.display().to_string());
    Ok((sources.into_iter().map(|(code, file)| given(code, file.as_deref())).collect(), file.unwrap_or_default()))
}

/// A source with its file and those that it includes.
pub(crate) fn given(code: GivenCode, file: Option<&Path>) -> Given {
    let path = file.and_then(|file| std::path::absolute(file).ok());
    let included = path.as_deref().map(|path| included(path, &code, None, &mut Vec::new())).unwrap_or_default();
    Given { path, code, included, stage: None }
}

/// The values of a `constants=` argument: a dict by names, or by numbers of constants.
///
/// # Errors
/// `TypeError` if it is something else.
pub(crate) fn constants(given: Option<&Bound<'_, PyAny>>) -> PyResult<Constants> {
    let Some(given) = given else { return Ok(Constants::default()) };
    let wrong = |what: &str| PyTypeError::new_err(format!("constants= is a dict of numbers by name, {what}"));
    let Some(dict) = Mapped::of(given)? else {
        return Err(wrong(&format!("not {}", given.get_type().name()?)));
    };
    let one = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let name = match name.cast::<PyInt>() {
            Ok(id) => id.extract::<u32>()?.to_string(),
            Err(_) => name.extract::<Text>()?.0.to_owned(),
        };
        match number(&value).as_ref().and_then(Constant::of) {
            Some(constant) => Ok((name, constant)),
            None => Err(wrong(&format!("but '{name}' is {}", value.get_type().name()?))),
        }
    };
    dict.iter().map(one).collect()
}

/// The program of a `shader=` argument, with `entry=` and `constants=`. That of a text has no name of its own: messages
/// call it by its pass.
///
/// # Errors
/// `ShaderError` with the source line; `OSError` if a file cannot be read.
pub(crate) fn program(
    shader: &Bound<'_, PyAny>,
    kind: Kind,
    arguments: &Arguments<'_>,
    who: Who<'_>,
) -> PyResult<Arc<Program>> {
    let entry = arguments.word("entry")?;
    let entry = entry.as_deref();
    let constants = constants(arguments.take("constants")?.as_ref())?;
    let py = shader.py();
    if let Ok(object) = shader.cast::<PyString>() {
        let is_plain = entry.is_none() && constants.is_empty();
        if let Some(known) = is_plain.then(|| known_texts::find(object, kind)).flatten() {
            return Ok(known);
        }
        let Text(text) = shader.extract()?;
        if let Some(known) = (!is_path(text)).then(|| Program::remembered(kind, text, entry, &constants)).flatten() {
            let program = known.take();
            if is_plain {
                known_texts::keep(object, kind, known);
            }
            return Ok(program);
        }
    }
    if kind == Kind::Compute && shader.is_instance_of::<PyTuple>() {
        return Err(PyTypeError::new_err(STAGES));
    }
    let (given, name) = sources(shader)?;
    compiled(py, (name, given), kind, (entry.map(str::to_owned), constants), who)
}

/// The program of sources, the file's name if they have one, entry points and constants.
///
/// # Errors
/// `ShaderError` with the source line.
pub(crate) fn compiled(
    py: Python<'_>,
    (name, given): (String, Vec<Given>),
    kind: Kind,
    (entry, constants): (Option<String>, Constants),
    who: Who<'_>,
) -> PyResult<Arc<Program>> {
    let made = patiently(py, move || Program::of(&name, kind, given, entry.as_deref(), &constants))?;
    made.map_err(|mut error| {
        if error.shader.is_empty() {
            error.shader = who.pass.to_owned();
        }
        shader_error(py, &error, Some(who))
    })
}
