//! Macros of GLSL: how much they may expand to, before anything expands them. Forty lines of macros that use each other
//! twice are a text of 10^12 words.

use std::collections::{HashMap, HashSet};

/// Most words of a text after its macros are expanded.
pub(crate) const MOST_WORDS: u64 = 1 << 20;

/// A definition: its parameters, if it takes any, and what it stands for.
struct Macro<'t> {
    parameters: Option<Vec<&'t str>>,
    body: String,
}

/// Upper bounds of what an expansion adds: words of its own, and how often each word of its arguments.
#[derive(Clone, Copy)]
struct Growth {
    words: u64,
    times: u64,
}

/// What is known of a macro's growth so far.
#[derive(Clone, Copy)]
enum State {
    Open,
    Known(Growth),
}

struct Macros<'t> {
    by_name: HashMap<&'t str, Vec<Macro<'t>>>,
    known: HashMap<&'t str, State>,
    /// How often an argument may be used by a macro that comes as an argument itself.
    passed: u64,
    /// Macros that name each other, if any do.
    cycle: Option<String>,
}

/// Pieces of a text: words, brackets, and everything else, with their places.
fn pieces(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text[at..].trim_start();
        let start = text.len() - rest.len();
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let first = rest.chars().next()?;
        let length = if word(first) { rest.find(|c| !word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        at = start + length;
        Some((start, &text[start..at]))
    })
}

/// The lines that define macros, and the text with them blanked.
fn definitions(text: &str) -> (Vec<(&str, Macro<'_>)>, String) {
    let mut found = Vec::new();
    let mut rest = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let mut end = at;
        // A line that ends with a backslash goes on.
        loop {
            end = text[end..].find('\n').map_or(text.len(), |length| end + length + 1);
            if end == text.len() || !text[at..end].trim_end_matches(['\n', '\r']).ends_with('\\') {
                break;
            }
        }
        let line = &text[at..end];
        let define = line.trim_start().strip_prefix('#').and_then(|line| line.trim_start().strip_prefix("define"));
        match define {
            Some(define) => {
                found.extend(definition(define));
                rest.extend(line.chars().map(|c| if c == '\n' { c } else { ' ' }));
            }
            None => rest.push_str(line),
        }
        at = end;
    }
    (found, rest)
}

fn definition(text: &str) -> Option<(&str, Macro<'_>)> {
    let text = text.trim_start();
    let (_, name) = pieces(text).next()?;
    let after = &text[name.len()..];
    // A bracket right after the name opens parameters; after a space it belongs to the body.
    let (parameters, body) = match after.strip_prefix('(').and_then(|inside| inside.split_once(')')) {
        Some((parameters, body)) => (Some(parameters.split(',').map(str::trim).collect()), body),
        None => (None, after),
    };
    Some((name, Macro { parameters, body: body.replace('\\', " ") }))
}

impl<'t> Macros<'t> {
    /// The growth of every definition of a name together; `None`: no macro.
    fn growth(&mut self, name: &str) -> Option<Growth> {
        let (name, definitions) = self.by_name.get_key_value(name)?;
        let name = *name;
        match self.known.get(name) {
            Some(State::Known(growth)) => return Some(*growth),
            Some(State::Open) => {
                self.cycle.get_or_insert_with(|| name.to_owned());
                return Some(Growth { words: 1, times: 1 });
            }
            None => {}
        }
        let definitions: Vec<_> = definitions.iter().map(|one| (one.parameters.clone(), one.body.clone())).collect();
        self.known.insert(name, State::Open);
        let mut sum = Growth { words: 1, times: 1 };
        for (parameters, body) in definitions {
            let growth = self.measure(&body, parameters.as_deref().unwrap_or(&[]), Some(name)).0;
            sum.words = sum.words.saturating_add(growth.words);
            sum.times = sum.times.max(growth.times);
        }
        self.known.insert(name, State::Known(sum));
        Some(sum)
    }

    /// What a text grows to, and the place where it passes [`MOST_WORDS`].
    fn measure(&mut self, text: &str, parameters: &[&str], itself: Option<&str>) -> (Growth, Option<usize>) {
        let mut sum = Growth { words: 0, times: 0 };
        let mut place = None;
        // How often what stands inside the open brackets is repeated; and the same for a bracket that opens next.
        let (mut open, mut factor, mut next) = (Vec::new(), 1_u64, None);
        for (at, piece) in pieces(text) {
            match piece {
                "(" => {
                    open.push(factor);
                    factor = factor.saturating_mul(next.take().unwrap_or(1));
                }
                ")" => factor = open.pop().unwrap_or(1),
                _ => next = None,
            }
            if parameters.contains(&piece) {
                sum.times = sum.times.saturating_add(factor);
                next = Some(self.passed);
            } else {
                let growth = if itself == Some(piece) { None } else { self.growth(piece) };
                next = growth.map(|growth| growth.times).or(next.filter(|_| piece == "("));
                sum.words = sum.words.saturating_add(factor.saturating_mul(growth.map_or(1, |growth| growth.words)));
            }
            if place.is_none() && sum.words > MOST_WORDS {
                place = Some(at);
            }
        }
        (sum, place)
    }
}

/// Words that no bracket follows: macros that are named here are handed on, not used.
fn bare_names(text: &str) -> Vec<&str> {
    let all: Vec<&str> = pieces(text).map(|(_, piece)| piece).collect();
    (0..all.len()).filter(|at| all.get(at + 1) != Some(&"(")).map(|at| all[at]).collect()
}

/// Why the macros of a text (without comments) may not be expanded, and where; `None`: they may.
pub(crate) fn too_much(text: &str) -> Option<(usize, String)> {
    let (found, rest) = definitions(text);
    let mut by_name: HashMap<&str, Vec<Macro<'_>>> = HashMap::new();
    for (name, one) in found {
        by_name.entry(name).or_default().push(one);
    }
    let mut macros = Macros { by_name, known: HashMap::new(), passed: 1, cycle: None };
    let mut all: Vec<&str> = macros.by_name.keys().copied().collect();
    all.sort_unstable();
    let bodies = macros.by_name.values().flatten().map(|one| one.body.as_str());
    let passed: HashSet<&str> = bodies.chain([rest.as_str()]).flat_map(bare_names).collect();
    let passed: Vec<&str> = all.iter().copied().filter(|name| passed.contains(name)).collect();
    // A macro that is passed to another by name uses its arguments as often as any such: grown until it grows no more.
    for _ in 0..8 {
        let most = passed.iter().filter_map(|name| macros.growth(name)).map(|growth| growth.times).max().unwrap_or(1);
        for name in &all {
            macros.growth(name);
        }
        if let Some(name) = &macros.cycle {
            return Some((
                text.find(name.as_str()).unwrap_or(0),
                format!("the macro '{name}' uses itself through others"),
            ));
        }
        if most <= macros.passed {
            let place = macros.measure(&rest, &[], None).1;
            return place.map(|at| (at, format!("its macros expand to more than {MOST_WORDS} words")));
        }
        macros.passed = most;
        macros.known.clear();
    }
    Some((0, format!("its macros may expand to more than {MOST_WORDS} words")))
}

/// The text as macros leave it, its brackets and operators in one word each; `None`: it does not even expand.
pub(crate) fn expanded(text: &str) -> Option<String> {
    use pp_rs::token::{Punct, TokenValue};
    let mut out = String::new();
    for token in pp_rs::pp::Preprocessor::new(text).take(4 << 20) {
        match token.ok()?.value {
            TokenValue::Ident(name) => out.push_str(&name),
            TokenValue::Punct(punct) => out.push(match punct {
                Punct::LeftParen => '(',
                Punct::RightParen => ')',
                Punct::LeftBracket => '[',
                Punct::RightBracket => ']',
                Punct::LeftBrace => '{',
                Punct::RightBrace => '}',
                Punct::Semicolon => ';',
                Punct::Comma => ',',
                _ => '+',
            }),
            _ => out.push('0'),
        }
        out.push(' ');
    }
    Some(out)
}
