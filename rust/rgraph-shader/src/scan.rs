//! What is read off a text before a compiler sees it: its comments, its stage, its directives.

use crate::language::Language;
use crate::stage::{Kind, Stage};
use std::ops::Range;

/// Largest text in bytes.
pub(crate) const LONGEST: usize = 1 << 20;

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

/// The stage that a GLSL text is for: `#pragma shader_stage(…)`, else the one that its file says, else compute if that
/// is wanted, else what only that stage has.
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

/// The lines of a text without comments that are directives of that name: their bytes, without their end, and what
/// follows the name.
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
pub(crate) fn without_line_directives(text: &str) -> std::borrow::Cow<'_, str> {
    use std::borrow::Cow;

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

/// Identifiers and numbers.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> + Clone {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}
