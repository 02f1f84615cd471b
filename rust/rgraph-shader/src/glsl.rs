//! GLSL texts through glslang: compiled to SPIR-V, which this crate's reader then reflects.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

use rgraph_glsl::{Fault, Message, Request};
use rgraph_ir::error::Code;

use crate::constant::{Constants, SpecConstant};
use crate::error::{self, ShaderError};
use crate::excerpt::{Label, in_text};
use crate::include::Included;
use crate::language::Language;
use crate::nesting;
use crate::scan;
use crate::spirv::Binary;
use crate::stage::Stage;
use crate::stage_interface::StageInterface;
use crate::stored::Stored;

/// A text that is valid, of one stage.
pub(crate) struct Glsl<'a> {
    sources: Sources<'a>,
    code: Binary<'a>,
}

/// A text and the files that it includes, as messages name them.
struct Sources<'a> {
    name: &'a str,
    text: &'a str,
    included: &'a Included,
}

impl<'a> Glsl<'a> {
    /// Compiles a text for a stage.
    pub(crate) fn new(name: &'a str, text: &'a str, included: &'a Included, stage: Stage) -> Result<Self, ShaderError> {
        let sources = Sources { name, text, included };
        let all = || (0..).zip(sources.texts());
        if all().map(|(_, text)| text.len()).sum::<usize>() > scan::LONGEST {
            let message = format!("its text and the files that it includes have more than {} bytes", scan::LONGEST);
            return Err(error::plain(Code::BadShader, name, message, "split the shader, or give SPIR-V"));
        }
        for (at, text) in all() {
            nesting::guard(sources.name_of(at), Language::Glsl, text)?;
        }
        // Lines are those of the texts, whatever `#line` says: an excerpt shows these lines.
        let texts: Vec<Cow<'_, str>> = sources.texts().map(scan::without_line_directives).collect();
        let texts: Vec<&str> = texts.iter().map(Cow::as_ref).collect();
        let include = |(within, header, file): &'a (usize, String, usize)| rgraph_glsl::Include {
            within: *within,
            header,
            file: file + 1,
        };
        let includes: Vec<_> = included.lines().iter().map(include).collect();
        let stage = match stage {
            Stage::Compute => rgraph_glsl::Stage::Compute,
            Stage::Vertex => rgraph_glsl::Stage::Vertex,
            Stage::TessellationControl => rgraph_glsl::Stage::TessellationControl,
            Stage::TessellationEvaluation => rgraph_glsl::Stage::TessellationEvaluation,
            Stage::Geometry => rgraph_glsl::Stage::Geometry,
            Stage::Task => rgraph_glsl::Stage::Task,
            Stage::Mesh => rgraph_glsl::Stage::Mesh,
            Stage::Fragment => rgraph_glsl::Stage::Fragment,
            Stage::RayGeneration => rgraph_glsl::Stage::RayGeneration,
            Stage::Miss => rgraph_glsl::Stage::Miss,
            Stage::ClosestHit => rgraph_glsl::Stage::ClosestHit,
            Stage::AnyHit => rgraph_glsl::Stage::AnyHit,
            Stage::Intersection => rgraph_glsl::Stage::Intersection,
            Stage::Callable => rgraph_glsl::Stage::Callable,
        };
        let request = Request { stage, texts: &texts, includes: &includes };
        let stored = Stored::of_environment();
        let asked = stored.as_ref().map(|_| written(&request)).unwrap_or_default();
        if let Some(words) = stored.as_ref().and_then(|stored| stored.find(&asked))
            && let Ok(code) = Binary::of_words(name, words)
        {
            return Ok(Self { sources, code });
        }
        COMPILED.fetch_add(1, Ordering::Relaxed);
        // What is not deep by itself may be once macros and files are expanded; where that fails, compiling says why.
        if texts.iter().any(|text| text.contains("define") || text.contains("include")) {
            match rgraph_glsl::preprocess(&request) {
                Ok(expanded) if nesting::too_deep(&expanded).is_some() => {
                    let message = format!("{} once its macros are expanded", nesting::deep());
                    return Err(error::plain(Code::BadShader, name, message, nesting::SHALLOWER));
                }
                Err(fault @ Fault::TooMuch) => return Err(sources.error(fault)),
                _ => {}
            }
        }
        let words = rgraph_glsl::compile(&request).map_err(|fault| sources.error(fault))?;
        let kept = stored.is_some().then(|| words.clone());
        let code = Binary::of_words(name, words).map_err(|fault| sources.placed(fault))?;
        if let (Some(stored), Some(words)) = (stored, kept) {
            stored.keep(&asked, &words);
        }
        Ok(Self { sources, code })
    }

    /// Its one entry point.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (Stage, &str)> {
        self.code.entries()
    }

    /// The constants that it declares.
    pub(crate) fn constants(&self) -> Vec<SpecConstant> {
        self.code.constants().collect()
    }

    /// Gives its constants values.
    pub(crate) fn specialize(&mut self, given: &Constants) -> Result<(), ShaderError> {
        self.code.specialize(given)
    }

    /// The stage with all that it asks for.
    pub(crate) fn part(&self, stage: Stage, entry: &str) -> Result<StageInterface, ShaderError> {
        let mut part = self.code.part(stage, entry).map_err(|fault| self.sources.placed(fault))?;
        for refused in &mut part.refused {
            refused.fault = self.sources.placed(refused.fault.clone());
        }
        Ok(part)
    }
}

/// Texts that glslang compiled, or tried to.
static COMPILED: AtomicU64 = AtomicU64::new(0);

/// How many texts of GLSL this process compiled or tried to, so far: what was found on disk is not counted.
pub(crate) fn compiled_so_far() -> u64 {
    COMPILED.load(Ordering::Relaxed)
}

/// A request with the compiler that it is for, as bytes that differ where the answer may.
fn written(request: &Request<'_>) -> Vec<u8> {
    let Request { stage, texts, includes } = request;
    let mut out = Vec::new();
    let mut text = |text: &str| {
        out.extend_from_slice(&(text.len() as u64).to_le_bytes());
        out.extend_from_slice(text.as_bytes());
    };
    rgraph_glsl::COMPILER.iter().for_each(|part| text(part));
    texts.iter().for_each(|one| text(one));
    includes.iter().for_each(|one| text(one.header));
    let numbers = includes.iter().flat_map(|one| [one.within, one.file]);
    let lengths = [*stage as usize, texts.len(), includes.len()];
    numbers.chain(lengths).for_each(|number| out.extend_from_slice(&(number as u64).to_le_bytes()));
    out
}

impl Sources<'_> {
    fn texts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.text).chain(self.included.files().iter().map(|file| file.text.as_str()))
    }

    /// What messages call a text: the shader's name, or that of the file.
    fn name_of(&self, at: usize) -> &str {
        at.checked_sub(1).and_then(|at| self.included.files().get(at)).map_or(self.name, |file| file.name.as_str())
    }

    fn error(&self, fault: Fault) -> ShaderError {
        let plain = |message: String, help: &str| error::plain(Code::BadShader, self.name, message, help);
        match fault {
            Fault::Refused(all) => self.refused(&all),
            Fault::TooMuch => {
                plain("it is too large once its macros, files and types are expanded".to_owned(), "use functions")
            }
            Fault::Failed(what) => plain(
                format!("the compiler failed on it: {what}"),
                "simplify the shader, or give it as SPIR-V; please report the shader",
            ),
        }
    }

    /// The first error that has a place, else the first.
    fn refused(&self, all: &[Message]) -> ShaderError {
        let first = all.iter().find(|message| message.at.is_some()).or(all.first()).cloned().unwrap_or_default();
        if first.text.contains("Missing entry point") {
            return error::plain(
                Code::EntryPoint,
                self.name,
                "it has no function main".to_owned(),
                "add `void main()`",
            );
        }
        let more = match all.len().saturating_sub(1) {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        let (summary, help) = worded(&first);
        let place = first.at.and_then(|(file, line, column)| {
            let text = self.texts().nth(file)?;
            Some((file, text, span(text, line, column, &first.word)))
        });
        // A version that there is not has no place of its own.
        let version = || {
            let bare = scan::without_comments(self.text, Language::Glsl);
            let (span, _) = scan::directives(&bare, "version").next().filter(|_| first.text.starts_with("#version"))?;
            Some((0, self.text, span))
        };
        let Some((file, text, span)) = place.or_else(version) else {
            return error::plain(Code::BadShader, self.name, format!("{summary}{more}"), help);
        };
        // A byte that is no ASCII is the part of a character.
        let summary = match text[span.start.min(text.len())..].chars().next() {
            Some(letter) if first.word.contains('\u{fffd}') => format!("unexpected character: '{letter}'"),
            _ => summary,
        };
        let labels = [Label { span, text: String::new() }];
        in_text(Code::BadShader, self.name_of(file), text, format!("{summary}{more}"), &labels, help.to_owned())
    }

    /// An error of the reader's with the place of the variable that it names: `'name': …`.
    fn placed(&self, mut fault: ShaderError) -> ShaderError {
        // SPIR-V that contradicts itself, or grows without bound, comes of the text.
        if fault.code == Code::BadSpirv {
            fault.code = Code::BadShader;
            fault.help = String::new();
        }
        let named = fault.message.strip_prefix('\'').and_then(|rest| rest.split_once("':"));
        let Some((name, _)) = named.filter(|_| fault.at.is_none()) else { return fault };
        let place = (0..).zip(self.texts()).find_map(|(file, text)| Some((file, text, scan::find_word(text, name)?)));
        match place {
            Some((file, text, at)) => {
                let labels = [Label { span: at..at + name.len(), text: String::new() }];
                in_text(fault.code, self.name_of(file), text, fault.message, &labels, fault.help)
            }
            None => fault,
        }
    }
}

/// glslang's words as a sentence, and what helps.
fn worded(message: &Message) -> (String, &'static str) {
    let text = message.text.trim();
    if let Some(name) = text.strip_prefix("Could not process include directive for header name:") {
        let help = "name a file as seen from the shader's, in a graph file below its folder; a shader that is given as text has no folder";
        return (format!("no file to include: '{}'", name.trim()), help);
    }
    let text =
        text.split_once(" stage: ").filter(|(stage, _)| stage.starts_with("Linking")).map_or(text, |(_, text)| text);
    match message.word.as_str() {
        "" => (text.to_owned(), ""),
        word @ "non-opaque uniforms outside a block" => {
            (format!("{text}: '{word}'"), "put it into a block: `layout(binding = 0) uniform Block { float x; };`")
        }
        word => (format!("{text}: '{word}'"), ""),
    }
}

/// The bytes of a word at a line and a column, both from 1: there, or nearest before in that line.
fn span(text: &str, line: u32, column: u32, word: &str) -> std::ops::Range<usize> {
    let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    let start = starts.take(line.max(1) as usize).last().unwrap_or(0);
    let end = text[start..].find('\n').map_or(text.len(), |length| start + length);
    let at = (start + column.max(1) as usize - 1).min(end);
    let whole = &text.as_bytes()[start..end];
    if !word.is_empty() {
        let near = (0..=at - start).rev().find(|from| whole[*from..].starts_with(word.as_bytes()));
        if let Some(from) = near {
            return start + from..start + from + word.len();
        }
        // glslang has read a directive's line whole before it says what is wrong with it.
        if let Some(from) = text[..start].rfind(word).filter(|_| word.starts_with('#')) {
            return from..from + word.len();
        }
    }
    // Where a macro stands for the word, glslang counts to the macro's end.
    let part = |at: &usize| text.as_bytes().get(*at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let from = (start..at).rev().take_while(|at| part(at)).last().filter(|_| part(&at)).unwrap_or(at);
    from..(at..end).find(|at| !part(at)).unwrap_or(end).max(at + 1)
}
