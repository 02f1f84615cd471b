//! What is read off a text before a compiler sees it: its language, its stage, and whether it is nested so deeply that
//! a recursive compiler would run out of stack.

use rgraph_plan::error::Code;

use crate::error::{self, Label, ShaderError};
use crate::macros;
use crate::program::{Kind, Language, Stage};
use std::borrow::Cow;

/// Largest text in bytes.
const LONGEST: usize = 1 << 20;
/// Deepest nesting of brackets, operators and statements: an upper bound of how deep a compiler recurses.
const DEEPEST: usize = 2000;

/// The text with comments blanked: as long, with the same lines.
pub(crate) fn without_comments(text: &str, language: Language) -> String {
    let mut out = text.as_bytes().to_vec();
    let mut at = 0;
    while at < out.len() {
        let end = match &out[at..] {
            [b'/', b'/', ..] => {
                out[at..].iter().position(|byte| *byte == b'\n').map_or(out.len(), |length| at + length)
            }
            [b'/', b'*', ..] => comment_end(&out, at, language == Language::Wgsl),
            _ => {
                at += 1;
                continue;
            }
        };
        out[at..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        at = end;
    }
    // Whole comments were replaced by spaces and begin and end at ASCII characters, so the rest is as valid as it was.
    String::from_utf8(out).unwrap_or_default()
}

fn comment_end(text: &[u8], start: usize, nests: bool) -> usize {
    let (mut at, mut depth) = (start + 2, 1);
    while at < text.len() {
        match &text[at..] {
            [b'*', b'/', ..] => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            [b'/', b'*', ..] if nests => {
                depth += 1;
                at += 2;
            }
            _ => at += 1,
        }
    }
    text.len()
}

/// The stage that a GLSL text is for: `#pragma shader_stage(…)`, else compute if that is wanted, else what
/// only that stage has.
pub(crate) fn glsl_stage(text: &str, kind: Kind) -> Stage {
    let text = without_comments(text, Language::Glsl);
    for line in text.lines() {
        match pragma_stage(line) {
            Some("compute") => return Stage::Compute,
            Some("vertex") => return Stage::Vertex,
            Some("fragment") => return Stage::Fragment,
            _ => {}
        }
    }
    let mut words = words(&text);
    if kind == Kind::Compute
        || words.clone().any(|word| word.starts_with("local_size_") || word == "gl_GlobalInvocationID")
    {
        Stage::Compute
    } else if words.any(|word| word == "gl_Position") {
        Stage::Vertex
    } else {
        Stage::Fragment
    }
}

/// The stage named by a line `#pragma shader_stage(NAME)`.
fn pragma_stage(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("pragma")?;
    let inner = rest.trim_start().strip_prefix("shader_stage")?.trim_start().strip_prefix('(')?;
    Some(inner.split(')').next()?.trim())
}

/// The text with the pragma of the stage blanked, which naga does not know.
pub(crate) fn without_pragma(text: &str) -> Cow<'_, str> {
    if !text.contains("shader_stage") {
        return Cow::Borrowed(text);
    }
    let blank = |line: &str| line.chars().map(|c| if c.is_whitespace() { c } else { ' ' }).collect::<String>();
    let lines = text.split_inclusive('\n').map(|line| match pragma_stage(line) {
        Some(_) if line.is_ascii() => blank(line),
        _ => line.to_owned(),
    });
    Cow::Owned(lines.collect())
}

/// The text as naga's WGSL has it, and how many bytes were put before it: `var<push_constant>` is `var<immediate>` (of
/// the same length, so that places stay), and arrays of bindings are switched on.
pub(crate) fn spell(text: &str) -> (Cow<'_, str>, usize) {
    let has = |word| text.contains(word);
    if !has("push_constant") && !has("binding_array") {
        return (Cow::Borrowed(text), 0);
    }
    let bare = without_comments(text, Language::Wgsl);
    let mut out = text.to_owned();
    for (at, word) in bare.match_indices("push_constant") {
        let before = bare[..at].trim_end();
        let opens = before.strip_suffix('<').is_some_and(|before| before.trim_end().ends_with("var"));
        if opens && bare[at + word.len()..].trim_start().starts_with(['>', ',']) {
            out.replace_range(at..at + word.len(), "immediate    ");
        }
    }
    let lead = if words(&bare).any(|word| word == "binding_array") { "enable wgpu_binding_array; " } else { "" };
    (Cow::Owned(format!("{lead}{out}")), lead.len())
}

/// Identifiers and numbers.
fn words(text: &str) -> impl Iterator<Item = &str> + Clone {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Refuses texts that are too long, or nested so deeply that compilers, which recurse, would run out of stack.
pub(crate) fn guard(name: &str, language: Language, text: &str) -> Result<(), ShaderError> {
    if text.len() > LONGEST {
        let message = format!("its text has {} bytes (most: {LONGEST})", text.len());
        return Err(error::plain(Code::BadShader, name, message, "split the shader, or give SPIR-V"));
    }
    let bare = without_comments(text, language);
    let refuse = |at: Option<usize>, message: String, help: &str| {
        let labels: Vec<Label> = at.map(|at| Label { span: at..at + 1, text: String::new() }).into_iter().collect();
        Err(error::in_text(Code::BadShader, name, text, message, &labels, help.to_owned()))
    };
    let deep = format!("it is nested more than {DEEPEST} deep");
    let shallower = "name parts of the expression or move them to functions";
    if let Some(at) = too_deep(&bare) {
        return refuse(Some(at), deep, shallower);
    }
    if language == Language::Glsl && bare.contains("define") {
        if let Some((at, message)) = macros::too_much(&bare) {
            return refuse(Some(at), message, "use functions");
        }
        // Where expanding fails, naga says why.
        if macros::expanded(&without_pragma(&bare)).is_some_and(|expanded| too_deep(&expanded).is_some()) {
            return refuse(None, format!("{deep} once its macros are expanded"), shallower);
        }
    }
    Ok(())
}

/// The byte where the nesting exceeds [`DEEPEST`]. Counted are open brackets, and in each of them the operators,
/// postfixes and statement heads since the last `;` `,` or block: whatever makes a parser or a tree one level deeper.
fn too_deep(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    // Counts of the brackets that are open; the innermost in `chain`; `depth` is the sum of all and of the brackets.
    let (mut open, mut chain, mut depth) = (Vec::new(), 0usize, 0usize);
    let mut at = 0;
    while at < bytes.len() {
        let mut end = at + 1;
        match bytes[at] {
            b'(' | b'[' | b'{' => {
                open.push(chain);
                chain = 0;
                depth += 1;
            }
            close @ (b')' | b']' | b'}') => {
                depth -= chain;
                chain = open.pop().inspect(|_| depth -= 1).unwrap_or(0);
                if close == b'}' && !else_follows(text, end) {
                    depth -= chain;
                    chain = 0;
                } else {
                    chain += 1;
                    depth += 1;
                }
            }
            b';' | b',' if !else_follows(text, end) => {
                depth -= chain;
                chain = 0;
            }
            b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^' | b'!' | b'~' | b'<' | b'>' | b'=' | b'?' | b':'
            | b'.' => {
                chain += 1;
                depth += 1;
            }
            byte if byte.is_ascii_alphanumeric() || byte == b'_' => {
                while bytes.get(end).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
                    end += 1;
                }
                if matches!(&text[at..end], "else" | "do" | "if" | "for" | "while") {
                    chain += 1;
                    depth += 1;
                }
            }
            _ => {}
        }
        if depth > DEEPEST {
            return Some(at);
        }
        at = end;
    }
    None
}

fn else_follows(text: &str, at: usize) -> bool {
    text[at..]
        .trim_start()
        .strip_prefix("else")
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}
