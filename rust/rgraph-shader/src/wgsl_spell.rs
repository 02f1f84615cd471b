//! WGSL as naga spells it: what other implementations take, and naga names otherwise or lacks.

use std::borrow::Cow;
use std::ops::Range;

use crate::language::Language;
use crate::scan::{without_comments, words};

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
