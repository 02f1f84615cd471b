//! A JSON text whose values know where they stand. `serde_json` does the parsing; each value is kept as the slice of
//! text that it is, so that its line is known, and is parsed when it is asked for. Mistakes are collected.
//!
//! Cost: a value is scanned once for each level that it is nested in, and files nest at most [`DEEPEST`] levels;
//! memory is bounded by the text's size over 4096, the longest name and [`MOST_MISTAKES`].

mod fields;
mod node;
pub mod table;
mod visit;

pub use fields::{Fields, Joined, Word};
pub use node::Node;

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use serde_json::value::RawValue;

use rgraph_ir::error::{Code, GraphError, Mistake};
use rgraph_ir::nearest::nearest;

/// Deepest nesting of lists and objects; the formats need nine.
pub const DEEPEST: usize = 64;
/// Longest text in bytes: positions, and ids, fit in 32 bits.
const LONGEST: usize = 1 << 30;
/// Mistakes after which a reader stops.
pub const MOST_MISTAKES: usize = 1000;
/// Comparisons of names that all the suggestions for one file may cost.
const MOST_COMPARISONS: usize = 1 << 18;
/// Text shown of something that was found, in bytes.
const SHOWN: usize = 64;
const BLOCK: usize = 4096;

/// A text, and what was found wrong with it so far.
pub struct Source<'a> {
    text: &'a str,
    file: Arc<str>,
    /// Line breaks before each [`BLOCK`] of text.
    breaks: Vec<u32>,
    mistakes: RefCell<Vec<Mistake>>,
    comparisons: Cell<usize>,
    stopped: Cell<bool>,
    /// The pass or resource being read: what mistakes name.
    subject: RefCell<Subject>,
    /// Options by name, as JSON: what `{"option": NAME}` stands for.
    options: Vec<(String, String)>,
}

#[derive(Default)]
struct Subject {
    pass: Option<String>,
    resource: Option<String>,
}

impl<'a> Source<'a> {
    /// Takes a text that is JSON in UTF-8, with or without a byte order mark, nested at most [`DEEPEST`] levels.
    ///
    /// # Errors
    /// One mistake with the line where the text stops being that.
    pub fn open(bytes: &'a [u8], file: &str) -> Result<Self, GraphError> {
        let fail = |line: usize, what: String, help: &str| {
            GraphError::one(Mistake::new(Code::BadFile, format!("{file}:{line}: {what}"), help))
        };
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let line_of = |offset: usize| 1 + bytes[..offset].iter().filter(|b| **b == b'\n').count();
        if bytes.len() > LONGEST {
            let what = format!("the file has {} bytes", bytes.len());
            let mistake = Mistake::new(Code::TooLarge, format!("{file}:1: {what}"), "files of up to 1 GiB are read");
            return Err(GraphError::one(mistake));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let at = error.valid_up_to();
            let column = at - bytes[..at].iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1) + 1;
            fail(line_of(at), format!("not UTF-8: byte 0x{:02x} in column {column}", bytes[at]), "save it as UTF-8")
        })?;
        if text.trim_ascii().is_empty() {
            return Err(fail(1, "not JSON: there is nothing in it".into(), ""));
        }
        if let Some(at) = too_deep(bytes) {
            let what = format!("lists and objects are nested deeper than {DEEPEST} levels");
            return Err(fail(line_of(at), what, "the formats need nine levels"));
        }
        rgraph_ir::cancel::poll_now();
        if let Err(error) = serde_json::from_str::<&RawValue>(text) {
            let what = format!("not JSON: {} in column {}", bare(&error), error.column());
            return Err(fail(error.line(), what, ""));
        }
        rgraph_ir::cancel::poll_now();
        let mut breaks = Vec::with_capacity(bytes.len() / BLOCK + 1);
        let mut count = 0;
        for block in bytes.chunks(BLOCK) {
            breaks.push(count);
            count += block.iter().filter(|b| **b == b'\n').count() as u32;
        }
        Ok(Self {
            text,
            file: file.into(),
            breaks,
            mistakes: RefCell::default(),
            comparisons: Cell::new(0),
            stopped: Cell::new(false),
            subject: RefCell::default(),
            options: Vec::new(),
        })
    }

    /// Gives values to options: numbers, texts and truths, as JSON.
    pub(crate) fn set_options(&mut self, options: Vec<(String, String)>) {
        self.options = options;
    }

    /// What its options are, as JSON.
    pub fn options(&self) -> &[(String, String)] {
        &self.options
    }

    /// Its name in messages.
    pub fn file(&self) -> &Arc<str> {
        &self.file
    }

    /// The whole text.
    pub fn whole(&self) -> &'a str {
        self.text
    }

    /// How many mistakes were found so far.
    pub fn count(&self) -> usize {
        self.mistakes.borrow().len()
    }

    /// Forgets repeated mistakes from the `first` on, so that a part that is read twice reports each of them once.
    pub(crate) fn forget_repeated(&self, first: usize) {
        let mut mistakes = self.mistakes.borrow_mut();
        let first = first.min(mistakes.len());
        let new = mistakes.split_off(first);
        let known: HashSet<String> = mistakes.iter().map(|mistake| mistake.message.clone()).collect();
        mistakes.extend(new.into_iter().filter(|mistake| !known.contains(&mistake.message)));
    }

    /// The mistakes found, which are no longer its own.
    pub(crate) fn take_mistakes(&self) -> Vec<Mistake> {
        self.mistakes.take()
    }

    /// The whole text as a value.
    pub fn root(&self) -> Node<'a, '_> {
        Node { source: self, raw: self.text.trim_ascii(), path: Path::Root }
    }

    /// The value read, if nothing was wrong.
    ///
    /// # Errors
    /// All mistakes found, in the order of the text.
    pub fn finish<T>(self, value: Option<T>) -> Result<T, GraphError> {
        let mut mistakes = self.mistakes.into_inner();
        if mistakes.len() >= MOST_MISTAKES {
            let what = format!("{}: reading stopped after {MOST_MISTAKES} mistakes", self.file);
            mistakes.push(Mistake::new(Code::BadFile, what, "there may be more"));
        }
        GraphError::check(mistakes)?;
        Ok(value.expect("a reader that finds no mistake returns a value"))
    }

    /// Ends the reading after the last reported mistake.
    pub fn stop(&self) {
        self.stopped.set(true);
    }

    /// Adds a mistake that knows its place already.
    pub fn push(&self, mistake: Mistake) {
        if !self.full() {
            self.mistakes.borrow_mut().push(mistake);
        }
    }

    /// Names the pass that the next mistakes are about.
    pub(crate) fn about_pass(&self, name: Option<&str>) {
        self.subject.borrow_mut().pass = name.map(str::to_owned);
    }

    /// Names the resource that the next mistakes are about.
    pub(crate) fn about_resource(&self, name: Option<&str>) {
        self.subject.borrow_mut().resource = name.map(str::to_owned);
    }

    fn full(&self) -> bool {
        self.stopped.get() || self.mistakes.borrow().len() >= MOST_MISTAKES
    }

    fn line(&self, offset: usize) -> u32 {
        let block = (offset / BLOCK).min(self.breaks.len().saturating_sub(1));
        let rest = &self.text.as_bytes()[block * BLOCK..offset];
        1 + self.breaks[block] + rest.iter().filter(|b| **b == b'\n').count() as u32
    }

    /// The nearest of `known`, while the budget for comparisons lasts.
    pub fn suggest<'c>(&self, word: &str, known: impl ExactSizeIterator<Item = &'c str>) -> Option<&'c str> {
        let spent = self.comparisons.get() + known.len();
        if spent > MOST_COMPARISONS {
            return None;
        }
        self.comparisons.set(spent);
        nearest(word, known)
    }
}

/// Where brackets outside strings nest too deep, if they do. Only a bound, before the parser has seen the text.
fn too_deep(bytes: &[u8]) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    for (at, byte) in bytes.iter().enumerate() {
        if quoted {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => quoted = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => quoted = true,
            b'[' | b'{' => {
                depth += 1;
                if depth > DEEPEST {
                    return Some(at);
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// `serde_json`'s message without its own line and column.
fn bare(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rfind(" at line ").map_or(text.clone(), |end| text[..end].to_owned())
}

/// At most 64 bytes of a text, on one line.
pub fn shown(text: &str) -> String {
    let mut end = text.len().min(SHOWN);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut short: String = text[..end].chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if end < text.len() {
        short.push('…');
    }
    short
}

/// The way to a value.
#[derive(Clone, Copy)]
enum Path<'p> {
    Root,
    Key(&'p Path<'p>, &'p str),
    Index(&'p Path<'p>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Index(parent, index) => write!(f, "{parent}[{index}]"),
            Path::Key(parent, key) => {
                let plain = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
                match (plain, parent) {
                    (true, Path::Root) => f.write_str(&shown(key)),
                    (true, _) => write!(f, "{parent}.{}", shown(key)),
                    (false, _) => write!(f, "{parent}[\"{}\"]", shown(key)),
                }
            }
        }
    }
}
