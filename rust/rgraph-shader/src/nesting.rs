//! Whether a text is nested so deeply that a recursive compiler would run out of stack.

use rgraph_ir::error::Code;

use crate::error::{self, ShaderError};
use crate::excerpt::{Label, in_text};
use crate::language::Language;
use crate::scan::{LONGEST, without_comments};

/// Deepest nesting of brackets, operators and statements: an upper bound of how deep a compiler recurses.
const DEEPEST: usize = 2000;

/// Refuses texts that are too long, or nested so deeply that compilers, which recurse, would run out of stack.
pub(crate) fn guard(name: &str, language: Language, text: &str) -> Result<(), ShaderError> {
    if text.len() > LONGEST {
        let message = format!("its text has {} bytes (most: {LONGEST})", text.len());
        return Err(error::plain(Code::BadShader, name, message, "split the shader, or give SPIR-V"));
    }
    let bare = without_comments(text, language);
    let refuse = |at: usize| {
        let labels = [Label { span: at..at + 1, text: String::new() }];
        Err(in_text(Code::BadShader, name, text, deep(), &labels, SHALLOWER.to_owned()))
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
