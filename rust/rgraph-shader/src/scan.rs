//! What is read off a text before a compiler sees it: its language, its stage, and whether it is nested so deeply that
//! a recursive compiler would run out of stack.

use rgraph_ir::error::Code;

use crate::error::{self, Label, ShaderError};
use crate::language::Language;
use crate::stage::{Kind, Stage};
use std::borrow::Cow;
use std::ops::Range;

/// Largest text in bytes.
pub(crate) const LONGEST: usize = 1 << 20;
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

/// The stage that a GLSL text is for: `#pragma shader_stage(…)`, else the one that its file says, else compute if that is
/// wanted, else what only that stage has.
pub(crate) fn glsl_stage(text: &str, kind: Kind, explicit: Option<Stage>) -> Stage {
    let text = without_comments(text, Language::Glsl);
    for line in text.lines() {
        let named = pragma_stage(line).and_then(|word| PRAGMAS.iter().find(|(known, _)| *known == word));
        if let Some((_, stage)) = named {
            return *stage;
        }
    }
    if let Some(explicit) = explicit {
        return explicit;
    }
    let mut words = words(&text);
    // What no other stage has; task and mesh stages have workgroups as compute stages do.
    let own = words.clone().find_map(|word| OWN_WORDS.iter().find(|(known, _)| *known == word));
    if let Some((_, stage)) = own.filter(|_| kind != Kind::Compute) {
        return *stage;
    }
    if kind == Kind::RayTracing {
        Stage::RayGeneration
    } else if kind == Kind::Compute
        || words.clone().any(|word| word.starts_with("local_size_") || word == "gl_GlobalInvocationID")
    {
        Stage::Compute
    } else if words.any(|word| word == "gl_Position") {
        Stage::Vertex
    } else {
        Stage::Fragment
    }
}

/// Names of stages in `#pragma shader_stage(…)`, as glslc has them.
const PRAGMAS: [(&str, Stage); 14] = [
    ("compute", Stage::Compute),
    ("vertex", Stage::Vertex),
    ("tesscontrol", Stage::TessellationControl),
    ("tesseval", Stage::TessellationEvaluation),
    ("geometry", Stage::Geometry),
    ("task", Stage::Task),
    ("mesh", Stage::Mesh),
    ("fragment", Stage::Fragment),
    ("raygen", Stage::RayGeneration),
    ("miss", Stage::Miss),
    ("closesthit", Stage::ClosestHit),
    ("anyhit", Stage::AnyHit),
    ("intersection", Stage::Intersection),
    ("callable", Stage::Callable),
];

/// Words of GLSL that only one stage may write.
const OWN_WORDS: [(&str, Stage); 10] = [
    ("gl_out", Stage::TessellationControl),
    ("gl_TessCoord", Stage::TessellationEvaluation),
    ("EmitVertex", Stage::Geometry),
    ("EmitStreamVertex", Stage::Geometry),
    ("EmitMeshTasksEXT", Stage::Task),
    ("SetMeshOutputsEXT", Stage::Mesh),
    ("reportIntersectionEXT", Stage::Intersection),
    ("ignoreIntersectionEXT", Stage::AnyHit),
    ("terminateRayEXT", Stage::AnyHit),
    ("callableDataInEXT", Stage::Callable),
];

/// The stage named by a line `#pragma shader_stage(NAME)`.
fn pragma_stage(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("pragma")?;
    let inner = rest.trim_start().strip_prefix("shader_stage")?.trim_start().strip_prefix('(')?;
    Some(inner.split(')').next()?.trim())
}

/// The lines of a text without comments that are directives of that name: their bytes, without their end, and what follows
/// the name.
pub(crate) fn directives<'t>(bare: &'t str, name: &'t str) -> impl Iterator<Item = (Range<usize>, &'t str)> {
    let mut next = 0;
    bare.split_inclusive('\n').filter_map(move |line| {
        let start = next;
        next += line.len();
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix(name)?;
        let whole = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        whole.then(|| (start..start + line.trim_end_matches(['\n', '\r']).len(), rest))
    })
}

/// The text with its lines `#line` blanked.
#[cfg(feature = "glsl")]
pub(crate) fn without_line_directives(text: &str) -> Cow<'_, str> {
    if !text.contains("line") {
        return Cow::Borrowed(text);
    }
    let bare = without_comments(text, Language::Glsl);
    let mut out = text.to_owned();
    for (span, _) in directives(&bare, "line") {
        out.replace_range(span.clone(), &" ".repeat(span.len()));
    }
    Cow::Owned(out)
}

/// The first byte of a word that is not in a comment.
#[cfg(feature = "glsl")]
pub(crate) fn find_word(text: &str, word: &str) -> Option<usize> {
    let bare = without_comments(text, Language::Glsl);
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let mut places = bare.match_indices(word).filter(|_| !word.is_empty());
    places.find_map(|(at, _)| {
        let alone = !bare[..at].ends_with(part) && !bare[at + word.len()..].starts_with(part);
        alone.then_some(at)
    })
}

/// The text as naga's WGSL has it, and how many bytes were put before it: `var<push_constant>` is `var<immediate>` and
/// `subgroupElect` a function behind the text (of the same length, so that places stay), `enable subgroups` is blanked
/// (naga has its built-ins without it, and refuses the directive), and arrays of bindings are switched on.
pub(crate) fn spell(text: &str) -> (Cow<'_, str>, usize) {
    let has = |word| text.contains(word);
    if !["push_constant", "binding_array", "subgroups", ELECT].into_iter().any(has) {
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
    blank_enabled(&bare, "subgroups", &mut out);
    let lead = if words(&bare).any(|word| word == "binding_array") { "enable wgpu_binding_array; " } else { "" };
    let tail = elect(&bare, &mut out);
    (Cow::Owned(format!("{lead}{out}{tail}")), lead.len())
}

/// A built-in that naga lacks: whether an invocation is the first active one of its subgroup.
const ELECT: &str = "subgroupElect";

/// Has calls of [`ELECT`] in a WGSL text without comments call the function that is returned: of the active invocations
/// only the first has a sum of 0 before it. A text that declares the name means its own.
fn elect(bare: &str, out: &mut String) -> &'static str {
    let declared = words(bare).zip(words(bare).skip(1)).any(|(before, name)| {
        name == ELECT && ["fn", "var", "let", "const", "override", "alias", "struct"].contains(&before)
    });
    let mut tail = "";
    for (at, word) in bare.match_indices(ELECT) {
        let joins = |c: char| c.is_alphanumeric() || c == '_';
        let whole = !bare[..at].ends_with(joins) && !bare[at + word.len()..].starts_with(joins);
        if whole && !declared {
            out.replace_range(at..at + word.len(), "rgraph_elect_");
            tail = "\nfn rgraph_elect_() -> bool { return subgroupExclusiveAdd(1u) == 0u; }";
        }
    }
    tail
}

/// Blanks an extension in the lists of `enable` before the first declaration of a WGSL text without comments: with its
/// comma if there are others, else with the whole directive.
fn blank_enabled(bare: &str, extension: &str, out: &mut String) {
    let mut start = 0;
    for directive in bare.split_inclusive(';') {
        let end = start + directive.len();
        let head = words(directive).next();
        if let (Some("enable"), Some(list)) = (head, directive.strip_suffix(';')) {
            let names = list.trim_start().trim_start_matches("enable");
            let alone = names.split(',').filter(|name| !name.trim().is_empty()).count() == 1;
            let mut at = end - 1 - names.len();
            for (place, name) in names.split(',').enumerate() {
                let next = at + name.len();
                if name.trim() == extension {
                    let span = match place {
                        _ if alone => end - directive.trim_start().len()..end,
                        0 => at..next + 1,
                        _ => at - 1..next,
                    };
                    blank(out, span);
                }
                at = next + 1;
            }
        } else if !matches!(head, Some("requires" | "diagnostic")) {
            break;
        }
        start = end;
    }
}

/// Replaces whole characters by spaces, one per byte, and keeps the lines.
fn blank(text: &mut String, span: Range<usize>) {
    let spaces = text[span.clone()].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect::<String>();
    text.replace_range(span, &spaces);
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
    let refuse = |at: usize| {
        let labels = [Label { span: at..at + 1, text: String::new() }];
        Err(error::in_text(Code::BadShader, name, text, deep(), &labels, SHALLOWER.to_owned()))
    };
    match too_deep(&bare) {
        Some(at) => refuse(at),
        None => Ok(()),
    }
}

/// What is wrong with a text that is nested too deep.
pub(crate) fn deep() -> String {
    format!("it is nested more than {DEEPEST} deep")
}

/// What helps there.
pub(crate) const SHALLOWER: &str = "name parts of the expression or move them to functions";

/// The byte where the nesting exceeds [`DEEPEST`]. Counted are open brackets, and in each of them the operators,
/// postfixes and statement heads since the last `;` `,` or block: whatever makes a parser or a tree one level deeper.
pub(crate) fn too_deep(text: &str) -> Option<usize> {
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
