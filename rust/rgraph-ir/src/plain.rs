//! Names on one line, for all that prints them.

use std::borrow::Cow;

/// A name on one line, in its own order, whatever it holds: characters that turn the direction of what follows them
/// (Unicode Standard Annex 9, section 2) or have no width are written as escapes, like control characters.
pub fn plain(name: &str) -> Cow<'_, str> {
    let hidden = |c: char| {
        let turns =
            matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        c.is_control() || turns || matches!(c, '\u{200b}' | '\u{2028}' | '\u{2029}' | '\u{2060}' | '\u{feff}')
    };
    if name.chars().any(hidden) {
        name.chars().flat_map(|c| if hidden(c) { c.escape_debug().collect() } else { vec![c] }).collect()
    } else {
        Cow::Borrowed(name)
    }
}
