//! Errors about a place in a text: its line and column, and the lines around it with carets.

use rgraph_ir::error::Code;

use crate::error::ShaderError;

/// A range of a text, in bytes, and its contents.
pub(crate) struct Label {
    /// First byte and the one after the last.
    pub span: std::ops::Range<usize>,
    /// What is there; may be empty.
    pub text: String,
}

/// Most characters of a source line that an excerpt shows.
const WIDEST: usize = 120;
/// Most labels that an excerpt shows.
const LABELS: usize = 3;

/// An error about a place in a text: the first label is the place, the excerpt shows all of them (at most three).
pub(crate) fn in_text(
    code: Code,
    shader: &str,
    text: &str,
    message: String,
    labels: &[Label],
    help: String,
) -> ShaderError {
    let at = labels.first().map(|label| position(text, label.span.start));
    let mut excerpt = String::new();
    let width =
        labels.iter().take(LABELS).map(|label| position(text, label.span.start).0.to_string().len()).max().unwrap_or(0);
    for (index, label) in labels.iter().take(LABELS).enumerate() {
        show(text, label, width, index == 0, &mut excerpt);
    }
    ShaderError { code, message: sentence(&message), shader: shader.to_owned(), at, excerpt: excerpt.into(), help }
}

/// Messages of compilers come with and without capitals and full stops.
fn sentence(message: &str) -> String {
    message.trim().trim_end_matches('.').to_owned()
}

/// The last boundary between characters that is not beyond the byte.
fn floor(text: &str, byte: usize) -> usize {
    let byte = byte.min(text.len());
    (0..=byte).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Line and column (in characters) of a byte, from 1. A byte beyond the end or inside a character is the one before.
fn position(text: &str, byte: usize) -> (u32, u32) {
    let before = &text[..floor(text, byte)];
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (line as u32, before[start..].chars().count() as u32 + 1)
}

/// Adds a label's source line and the carets under it.
fn show(text: &str, label: &Label, width: usize, first: bool, out: &mut String) {
    use std::fmt::Write;
    let start = floor(text, label.span.start);
    let end = floor(text, label.span.end).max(start);
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    let column = text[line_start..start].chars().count();
    let marked = text[start..end.min(line_end).max(start)].chars().count().max(1);
    // Of a long line, the part around the place.
    let skip = if column + marked.min(WIDEST / 2) > WIDEST { column - WIDEST / 4 } else { 0 };
    let clean = |c: char| if c == '\t' || (c.is_control()) { ' ' } else { c };
    let line: String = text[line_start..line_end].chars().skip(skip).take(WIDEST).map(clean).collect();
    let shown = marked.min(WIDEST.saturating_sub(column - skip)).max(1);
    let number = position(text, start).0;
    let mark = if first { "^" } else { "-" };
    // Writing to a string cannot fail.
    let _ = writeln!(out, "  {number:>width$} | {}", line.trim_end());
    let _ = writeln!(
        out,
        "  {:width$} | {}{}{}{}",
        "",
        " ".repeat(column - skip),
        mark.repeat(shown),
        if label.text.is_empty() { "" } else { " " },
        label.text
    );
}
