//! GLSL as SPIR-V: Khronos' glslang behind one safe function, with limits of work.
//!
//! glslang is C++. A text of a stranger must not end the process, so `cpp/glsl.cpp` catches all exceptions, a failed
//! assertion is an exception, and tokens and types are counted while they are read (`build.rs`). What remains is the
//! stack: glslang recurses as deep as a text nests, so callers bound the nesting and give it a thread with a large
//! stack.
#![cfg_attr(not(test), warn(unreachable_pub))]
#![deny(clippy::undocumented_unsafe_blocks)]

use std::ffi::{CString, c_char, c_int};

/// The inputs of a compilation besides the request: the version of this crate, which pins glslang, and how glslang
/// is called.
pub const COMPILER: [&str; 2] = [env!("CARGO_PKG_VERSION"), include_str!("../cpp/glsl.cpp")];

/// A stage of a pipeline, with glslang's number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    Vertex = 0,
    TessellationControl = 1,
    TessellationEvaluation = 2,
    Geometry = 3,
    Fragment = 4,
    Compute = 5,
    /// Ray generation (`GL_EXT_ray_tracing`).
    RayGeneration = 6,
    /// Intersection (`GL_EXT_ray_tracing`).
    Intersection = 7,
    /// Any hit (`GL_EXT_ray_tracing`).
    AnyHit = 8,
    /// Closest hit (`GL_EXT_ray_tracing`).
    ClosestHit = 9,
    /// Miss (`GL_EXT_ray_tracing`).
    Miss = 10,
    /// Callable (`GL_EXT_ray_tracing`).
    Callable = 11,
    /// Task (`GL_EXT_mesh_shader`).
    Task = 12,
    /// Mesh (`GL_EXT_mesh_shader`).
    Mesh = 13,
}

/// A line `#include` that was resolved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Include<'a> {
    /// The file that has the line, by its number.
    pub within: usize,
    /// The name as the line has it.
    pub header: &'a str,
    /// The file that it names, by its number.
    pub file: usize,
}

/// A text to compile.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The stage that it is for.
    pub stage: Stage,
    /// The text, and behind it the files that may be included: each has its position as its number.
    pub texts: &'a [&'a str],
    /// What lines `#include` name. A line that is not listed is an error if it is reached.
    pub includes: &'a [Include<'a>],
}

/// Why there is no SPIR-V.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Errors in the text, at least one.
    Refused(Vec<Message>),
    /// It reads more than 2^21 tokens once macros and files are expanded, nests types without end, or asks for more
    /// memory than there is.
    TooMuch,
    /// An invariant of glslang's does not hold.
    Failed(String),
}

/// An error of glslang's.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Message {
    /// The file, its line and its column, both from 1; `None`: the text as a whole.
    pub at: Option<(usize, u32, u32)>,
    /// The word that it is about; may be empty.
    pub word: String,
    /// What is wrong.
    pub text: String,
}

#[repr(C)]
struct RawInclude {
    within: usize,
    header: *const c_char,
    file: usize,
}

#[repr(C)]
struct RawRequest {
    stage: c_int,
    preprocess: bool,
    texts: *const *const c_char,
    lengths: *const c_int,
    names: *const *const c_char,
    files: usize,
    includes: *const RawInclude,
    include_count: usize,
}

#[repr(C)]
struct RawOutput {
    words: *mut u32,
    count: usize,
    text: *mut c_char,
    length: usize,
}

unsafe extern "C" {
    /// `cpp/glsl.cpp`.
    fn rgraph_glsl_compile(request: *const RawRequest, output: *mut RawOutput) -> c_int;
    fn rgraph_glsl_free(output: *mut RawOutput);
}

impl Drop for RawOutput {
    fn drop(&mut self) {
        // SAFETY: both pointers are null or what the call that filled the struct allocated; nothing uses them
        // afterwards.
        unsafe { rgraph_glsl_free(self) }
    }
}

/// Compiles a text to SPIR-V 1.6 for Vulkan 1.3, with names and without optimisation. Texts without `#version` are of
/// 450.
///
/// The caller bounds how deep the text nests: see the crate's documentation.
///
/// # Errors
/// See [`Fault`].
pub fn compile(request: &Request<'_>) -> Result<Vec<u32>, Fault> {
    let output = call(request, false)?;
    if output.count == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the call made that many words, which live until `output` is dropped.
    Ok(unsafe { std::slice::from_raw_parts(output.words, output.count) }.to_vec())
}

/// The text with its macros and files expanded, and its lines of directives gone.
///
/// # Errors
/// See [`Fault`].
pub fn preprocess(request: &Request<'_>) -> Result<String, Fault> {
    call(request, true).map(|output| text(&output))
}

fn text(output: &RawOutput) -> String {
    if output.text.is_null() {
        return String::new();
    }
    // SAFETY: the call made that many bytes, which live until `output` is dropped.
    let bytes = unsafe { std::slice::from_raw_parts(output.text.cast::<u8>(), output.length) };
    String::from_utf8_lossy(bytes).into_owned()
}

fn call(request: &Request<'_>, preprocess: bool) -> Result<RawOutput, Fault> {
    let pointers: Vec<*const c_char> = request.texts.iter().map(|text| text.as_ptr().cast()).collect();
    let lengths: Vec<c_int> = request
        .texts
        .iter()
        .map(|text| c_int::try_from(text.len()))
        .collect::<Result<_, _>>()
        .map_err(|_| Fault::TooMuch)?;
    // Files are named by their numbers, so that messages can be read whatever a file is called.
    let names: Vec<CString> =
        (0..request.texts.len()).map(|at| CString::new(at.to_string()).unwrap_or_default()).collect();
    let name_pointers: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
    let named = |include: &&Include<'_>| include.within.max(include.file) < request.texts.len();
    let headers: Vec<(CString, usize, usize)> = request
        .includes
        .iter()
        .filter(named)
        .filter_map(|include| Some((CString::new(include.header).ok()?, include.within, include.file)))
        .collect();
    let includes: Vec<RawInclude> = headers
        .iter()
        .map(|(header, within, file)| RawInclude { within: *within, header: header.as_ptr(), file: *file })
        .collect();
    if request.texts.is_empty() {
        return Err(Fault::Refused(vec![Message { text: "there is no text".to_owned(), ..Message::default() }]));
    }
    let raw = RawRequest {
        stage: request.stage as c_int,
        preprocess,
        texts: pointers.as_ptr(),
        lengths: lengths.as_ptr(),
        names: name_pointers.as_ptr(),
        files: pointers.len(),
        includes: includes.as_ptr(),
        include_count: includes.len(),
    };
    let mut output = RawOutput { words: std::ptr::null_mut(), count: 0, text: std::ptr::null_mut(), length: 0 };
    // SAFETY: all that the request points to outlives the call, with its lengths; numbers of files are below their
    // count.
    match unsafe { rgraph_glsl_compile(&raw const raw, &raw mut output) } {
        0 => Ok(output),
        1 => Err(Fault::Refused(messages(&text(&output)))),
        2 => Err(Fault::TooMuch),
        _ => Err(Fault::Failed(text(&output))),
    }
}

/// The errors of a log: lines `ERROR: file:line:column: 'word' : text`.
fn messages(log: &str) -> Vec<Message> {
    let mut found: Vec<Message> =
        log.lines().filter_map(|line| line.trim().strip_prefix("ERROR:")).filter_map(message).collect();
    if found.is_empty() {
        let text = log.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it does not compile");
        found.push(Message { text: text.to_owned(), ..Message::default() });
    }
    found
}

fn message(line: &str) -> Option<Message> {
    let line = line.trim();
    // The last lines count the errors, or say that there could be more.
    if line.ends_with("No code generated.") || line.ends_with(": compilation terminated") {
        return None;
    }
    let mut parts = line.splitn(4, ':');
    let mut number = || parts.next()?.trim().parse::<u32>().ok();
    let at = (number(), number(), number());
    let (at, rest) = match (at, parts.next()) {
        ((Some(file), Some(line), Some(column)), Some(rest)) => (Some((file as usize, line, column)), rest),
        _ => (None, line),
    };
    let rest = rest.trim();
    let (word, text) = match rest.strip_prefix('\'').and_then(|rest| rest.split_once("' :")) {
        Some((word, text)) => (word, text),
        None => ("", rest),
    };
    Some(Message { at, word: word.to_owned(), text: text.trim().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(stage: Stage, text: &str) -> Result<Vec<u32>, Fault> {
        compile(&Request { stage, texts: &[text], includes: &[] })
    }

    #[test]
    fn a_combined_sampler_becomes_spirv() {
        let text = "#version 450
layout(location = 0) out vec4 o;
layout(binding = 0) uniform sampler2D t;
void main() { o = texture(t, vec2(0.5)); }";
        assert_eq!(run(Stage::Fragment, text).expect("it is valid")[..2], [0x0723_0203, 0x1_0600]);
    }

    #[test]
    fn errors_have_places_and_words() {
        let Err(Fault::Refused(all)) = run(Stage::Compute, "#version 450\nvoid main() {\n    float x = colour;\n}")
        else {
            panic!("it is wrong");
        };
        let expected =
            Message { at: Some((0, 3, 15)), word: "colour".to_owned(), text: "undeclared identifier".to_owned() };
        assert_eq!(all, [expected]);
    }
}
