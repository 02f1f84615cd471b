//! A JSON text whose values know where they stand. `serde_json` does the parsing; each value is kept as the slice of
//! text that it is, so that its line is known, and is parsed when it is asked for. Mistakes are collected.
//!
//! Cost: a value is scanned once for each level that it is nested in, and files nest at most [`DEEPEST`] levels;
//! memory is bounded by the text's size over 4096, the longest name and [`MOST_MISTAKES`].

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::Arc;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::nearest::nearest;
use crate::error::{Code, GraphError, Mistake};
use crate::graph::{MAX_NAME, Place};
use crate::id::Names;

/// Deepest nesting of lists and objects; the formats need nine.
pub(super) const DEEPEST: usize = 64;
/// Longest text in bytes: positions, and ids, fit in 32 bits.
const LONGEST: usize = 1 << 30;
/// Mistakes after which a reader stops.
pub(super) const MOST_MISTAKES: usize = 1000;
/// Comparisons of names that all the suggestions for one file may cost.
const MOST_COMPARISONS: usize = 1 << 18;
/// Text shown of something that was found, in bytes.
const SHOWN: usize = 64;
const BLOCK: usize = 4096;

/// A text, and what was found wrong with it so far.
pub(super) struct Source<'a> {
    text: &'a str,
    file: Arc<str>,
    /// Line breaks before each [`BLOCK`] of text.
    breaks: Vec<u32>,
    mistakes: RefCell<Vec<Mistake>>,
    comparisons: Cell<usize>,
    /// The pass or resource being read: what mistakes name.
    subject: RefCell<Subject>,
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
    pub(super) fn open(bytes: &'a [u8], file: &str) -> Result<Self, GraphError> {
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
        if let Err(error) = serde_json::from_str::<&RawValue>(text) {
            let what = format!("not JSON: {} in column {}", bare(&error), error.column());
            return Err(fail(error.line(), what, ""));
        }
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
            subject: RefCell::default(),
        })
    }

    /// The whole text as a value.
    pub(super) fn root(&self) -> Node<'a, '_> {
        Node { source: self, raw: self.text.trim_ascii(), path: Path::Root }
    }

    /// The value read, if nothing was wrong.
    ///
    /// # Errors
    /// All mistakes found, in the order of the text.
    pub(super) fn finish<T>(self, value: Option<T>) -> Result<T, GraphError> {
        let full = self.full();
        let mut mistakes = self.mistakes.into_inner();
        if full {
            let what = format!("{}: reading stopped after {MOST_MISTAKES} mistakes", self.file);
            mistakes.push(Mistake::new(Code::BadFile, what, "there may be more"));
        }
        GraphError::check(mistakes)?;
        Ok(value.expect("a reader that finds no mistake returns a value"))
    }

    /// Adds a mistake that knows its place already.
    pub(super) fn push(&self, mistake: Mistake) {
        if !self.full() {
            self.mistakes.borrow_mut().push(mistake);
        }
    }

    /// Names the pass that the next mistakes are about.
    pub(super) fn about_pass(&self, name: Option<&str>) {
        self.subject.borrow_mut().pass = name.map(str::to_owned);
    }

    /// Names the resource that the next mistakes are about.
    pub(super) fn about_resource(&self, name: Option<&str>) {
        self.subject.borrow_mut().resource = name.map(str::to_owned);
    }

    fn full(&self) -> bool {
        self.mistakes.borrow().len() >= MOST_MISTAKES
    }

    fn line(&self, offset: usize) -> u32 {
        let block = (offset / BLOCK).min(self.breaks.len().saturating_sub(1));
        let rest = &self.text.as_bytes()[block * BLOCK..offset];
        1 + self.breaks[block] + rest.iter().filter(|b| **b == b'\n').count() as u32
    }

    /// The nearest of `known`, while the budget for comparisons lasts.
    fn suggest<'c>(&self, word: &str, known: impl ExactSizeIterator<Item = &'c str>) -> Option<&'c str> {
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

/// At most [`SHOWN`] bytes of a text, on one line.
pub(super) fn shown(text: &str) -> String {
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

/// A value in its text.
#[derive(Clone, Copy)]
pub(super) struct Node<'a, 'p> {
    source: &'p Source<'a>,
    raw: &'a str,
    path: Path<'p>,
}

/// A key, borrowed where it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrow;
        impl<'de> Visitor<'de> for Borrow {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Borrow)
    }
}

struct EachElement<F>(F);

impl<'de, F: FnMut(usize, &'de RawValue) -> bool> Visitor<'de> for EachElement<F> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }
    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        let mut index = 0;
        while let Some(raw) = seq.next_element()? {
            if !(self.0)(index, raw) {
                while seq.next_element::<serde::de::IgnoredAny>()?.is_some() {}
                break;
            }
            index += 1;
        }
        Ok(())
    }
}

struct EachEntry<F>(F);

impl<'de, F: FnMut(Cow<'de, str>, &'de RawValue) -> bool> Visitor<'de> for EachEntry<F> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(Key(key)) = map.next_key()? {
            if !(self.0)(key, map.next_value()?) {
                while map.next_entry::<serde::de::IgnoredAny, serde::de::IgnoredAny>()?.is_some() {}
                break;
            }
        }
        Ok(())
    }
}

impl<'a, 'p> Node<'a, 'p> {
    /// The text that it stands in.
    pub(super) fn source(&self) -> &'p Source<'a> {
        self.source
    }

    /// File and line of its first character.
    pub(super) fn place(&self) -> Place {
        let offset = self.raw.as_ptr() as usize - self.source.text.as_ptr() as usize;
        Place { file: self.source.file.clone(), line: self.source.line(offset) }
    }

    /// Notes a mistake: `problem` follows the path.
    pub(super) fn mistake(&self, code: Code, problem: impl fmt::Display, help: impl Into<String>) {
        if self.source.full() {
            return;
        }
        let place = self.place();
        let message = match self.path {
            Path::Root => format!("{place}: the file {problem}"),
            path => format!("{place}: {path} {problem}"),
        };
        let mut mistake = Mistake::new(code, message, help);
        let subject = self.source.subject.borrow();
        mistake.pass.clone_from(&subject.pass);
        mistake.resource.clone_from(&subject.resource);
        self.source.push(mistake);
    }

    /// Notes that it is of the wrong kind or out of range.
    pub(super) fn wrong(&self, wanted: impl fmt::Display) {
        self.mistake(Code::BadFile, format_args!("is {}, but must be {wanted}", self.found()), "");
    }

    /// What stands there, in a few words.
    pub(super) fn found(&self) -> String {
        match self.raw.as_bytes()[0] {
            b'{' => "an object".to_owned(),
            b'[' => "a list".to_owned(),
            _ => shown(self.raw),
        }
    }

    fn starts_with(&self, byte: u8) -> bool {
        self.raw.as_bytes()[0] == byte
    }

    /// Whether it is an object.
    pub(super) fn is_object(&self) -> bool {
        self.starts_with(b'{')
    }

    /// Whether it is a list.
    pub(super) fn is_list(&self) -> bool {
        self.starts_with(b'[')
    }

    /// Whether it is text.
    pub(super) fn is_text(&self) -> bool {
        self.starts_with(b'"')
    }

    /// Whether it is `null`.
    pub(super) fn is_null(&self) -> bool {
        self.raw == "null"
    }

    /// Itself unless it is `null`.
    pub(super) fn non_null(self) -> Option<Self> {
        (!self.is_null()).then_some(self)
    }

    /// Whether it is a number.
    pub(super) fn is_number(&self) -> bool {
        matches!(self.raw.as_bytes()[0], b'-' | b'0'..=b'9')
    }

    fn broken(&self, error: &serde_json::Error) {
        let help = "escape characters beyond U+FFFF as two halves, or write them as they are";
        self.mistake(Code::BadFile, format_args!("cannot be read: {}", bare(error)), help);
    }

    /// Calls `each` with every element of a list; `None` if it is none.
    pub(super) fn elements(&self, what: &str, mut each: impl FnMut(usize, Node<'a, '_>)) -> Option<()> {
        if !self.is_list() {
            self.wrong(format_args!("a list{what}"));
            return None;
        }
        let visitor = EachElement(|index, raw: &'a RawValue| {
            each(index, Node { source: self.source, raw: raw.get(), path: Path::Index(&self.path, index) });
            !self.source.full()
        });
        let result = serde_json::Deserializer::from_str(self.raw).deserialize_seq(visitor);
        result.map_err(|error| self.broken(&error)).ok()
    }

    /// Calls `each` with every key and value of an object; `None` if it is none.
    pub(super) fn entries(&self, what: &str, mut each: impl FnMut(&str, Node<'a, '_>)) -> Option<()> {
        if !self.is_object() {
            self.wrong(format_args!("an object{what}"));
            return None;
        }
        let visitor = EachEntry(|key: Cow<'a, str>, raw: &'a RawValue| {
            each(&key, Node { source: self.source, raw: raw.get(), path: Path::Key(&self.path, &key) });
            !self.source.full()
        });
        let result = serde_json::Deserializer::from_str(self.raw).deserialize_map(visitor);
        result.map_err(|error| self.broken(&error)).ok()
    }

    /// The fields of an object that may have `keys` only; `what` it is goes into messages ("a pass").
    pub(super) fn fields<const N: usize>(
        self,
        what: &'static str,
        keys: &'static [&'static str; N],
    ) -> Option<Fields<'a, 'p, N>> {
        let mut raws = [None; N];
        self.entries(&format!(": {what}"), |key, value| match keys.iter().position(|known| *known == key) {
            Some(at) if raws[at].is_none() => raws[at] = Some(value.raw),
            Some(_) => value.mistake(Code::DuplicateName, "is given twice", "keep one of them"),
            None => {
                let help = did_you_mean(self.source.suggest(key, keys.iter().copied()), keys);
                value.mistake(Code::BadFile, format_args!("is not a key of {what}"), help);
            }
        })?;
        Some(Fields { node: self, keys, raws })
    }

    /// A text.
    pub(super) fn text(&self) -> Option<Cow<'a, str>> {
        if !self.is_text() {
            self.wrong("text");
            return None;
        }
        serde_json::from_str::<Key<'a>>(self.raw).map(|key| key.0).map_err(|error| self.broken(&error)).ok()
    }

    /// A text of at most [`MAX_NAME`] bytes, which may be empty.
    pub(super) fn title(&self) -> Option<Cow<'a, str>> {
        let title = self.text()?;
        if title.is_empty() { Some(title) } else { self.checked_name(title) }
    }

    /// A text that names something: not empty, at most [`MAX_NAME`] bytes.
    pub(super) fn name(&self) -> Option<Cow<'a, str>> {
        self.checked_name(self.text()?)
    }

    fn checked_name(&self, name: Cow<'a, str>) -> Option<Cow<'a, str>> {
        self.check_name(&name).map(|()| name)
    }

    /// Notes it if a name is empty or longer than [`MAX_NAME`].
    pub(super) fn check_name(&self, name: &str) -> Option<()> {
        if name.is_empty() || name.len() > MAX_NAME {
            let problem = format!("has a name of {} bytes: \"{}\"", name.len(), shown(name));
            self.mistake(Code::BadName, problem, format!("give it a name of 1 to {MAX_NAME} bytes"));
            return None;
        }
        Some(())
    }

    /// `true` or `false`.
    pub(super) fn boolean(&self) -> Option<bool> {
        match self.raw {
            "true" => Some(true),
            "false" => Some(false),
            _ => {
                self.wrong("true or false");
                None
            }
        }
    }

    /// A finite number.
    pub(super) fn number(&self) -> Option<f64> {
        // The text is a JSON number, and Rust's parser reads all of those, correctly rounded.
        let number = self.is_number().then(|| self.raw.parse::<f64>().ok()).flatten();
        match number {
            Some(number) if number.is_finite() => Some(number),
            Some(_) => {
                self.mistake(Code::BadNumber, format_args!("is {}, too large for a number", shown(self.raw)), "");
                None
            }
            None => {
                self.wrong("a number");
                None
            }
        }
    }

    /// An integer from 0 to `most`; `4.0` is one too.
    pub(super) fn integer(&self, most: u64) -> Option<u64> {
        if !self.is_number() {
            self.wrong("an integer");
            return None;
        }
        let exact = self.raw.parse::<u64>().ok().or_else(|| {
            let number = self.raw.parse::<f64>().ok()?;
            (number.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&number)).then_some(number as u64)
        });
        match exact {
            Some(integer) if integer <= most => return Some(integer),
            _ => {}
        }
        let number = self.raw.parse::<f64>().unwrap_or(f64::NAN);
        let wanted = if number < 0.0 {
            "0 or more".to_owned()
        } else if number.fract() != 0.0 && number.is_finite() {
            "an integer".to_owned()
        } else {
            format!("at most {most}")
        };
        self.mistake(Code::BadNumber, format_args!("is {}, but must be {wanted}", shown(self.raw)), "");
        None
    }

    /// An integer of 32 bits.
    pub(super) fn u32(&self) -> Option<u32> {
        self.integer(u32::MAX.into()).map(|integer| integer as u32)
    }

    /// An integer of 64 bits.
    pub(super) fn u64(&self) -> Option<u64> {
        self.integer(u64::MAX)
    }

    /// One of the words of `T`.
    pub(super) fn word<T: Word>(&self) -> Option<T> {
        if !self.is_text() {
            self.wrong(T::WHAT);
            return None;
        }
        let text = self.text()?;
        let word = T::from_text(&text);
        if word.is_none() {
            let words = T::words();
            let help = did_you_mean(self.source.suggest(&text, words.iter().copied()), &words);
            self.mistake(Code::BadFile, format_args!("is \"{}\", which is not {}", shown(&text), T::WHAT), help);
        }
        word
    }

    /// A list of words, joined.
    pub(super) fn joined<T: Word + Joined>(&self) -> Option<T> {
        let mut all = Some(T::NOTHING);
        self.elements(" of words", |_, node| {
            all = node.word::<T>().and_then(|one| all.take().map(|others| others.join(one)));
        })?;
        all
    }

    /// A list of whatever `each` reads.
    pub(super) fn list<T>(&self, what: &str, mut each: impl FnMut(Node<'a, '_>) -> Option<T>) -> Option<Vec<T>> {
        let mut all = Some(Vec::new());
        self.elements(what, |_, node| match (each(node), &mut all) {
            (Some(one), Some(list)) => list.push(one),
            _ => all = None,
        })?;
        all
    }

    /// A half-open range `[first, end)` of integers up to `most`.
    pub(super) fn range(&self, most: u64) -> Option<[u64; 2]> {
        let wrong = || self.wrong("a range [first, end]");
        if !self.is_list() {
            wrong();
            return None;
        }
        let list = self.list("", |node| node.integer(most))?;
        <[u64; 2]>::try_from(list).map_err(|_| wrong()).ok()
    }

    /// The same of 32 bits.
    pub(super) fn range32(&self) -> Option<[u32; 2]> {
        self.range(u32::MAX.into()).map(|range| range.map(|end| end as u32))
    }

    /// Notes that it names nothing that is known.
    pub(super) fn unknown_name(&self, kind: &str, name: &str, known: &Names) {
        let help = match self.source.suggest(name, known.iter()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("declare a {kind} of that name, or correct it"),
        };
        let problem = format!("names {kind} \"{}\", which nothing declares", shown(name));
        self.mistake(Code::UnknownName, problem, help);
    }

    /// The version of a file of which only version 1 is known; `key` is the key that says it.
    pub(super) fn version(&self, key: &'static str, kind: &str) -> Option<()> {
        const KEYS: [(&str, &str); 3] = [("rgraph", "a graph"), ("rprofile", "a profile"), ("rplan", "a plan")];
        let (mut good, mut seen, mut other) = (None, false, None);
        self.entries(&format!(": {kind} file"), |name, value| {
            if name == key && !seen {
                seen = true;
                good = value.u64().filter(|version| *version == 1).map(|_| ());
                if good.is_none() && self.source.mistakes.borrow().is_empty() {
                    let help = format!("this reader knows version 1: \"{key}\": 1");
                    value.mistake(Code::BadFile, format_args!("is version {}", value.found()), help);
                }
            } else if let Some((_, kind)) = KEYS.iter().find(|(known, _)| *known == name) {
                other = other.or(Some(*kind));
            }
        })?;
        if !seen {
            let help = match other {
                Some(other) => format!("this is {other} file"),
                None => format!("begin it with {{\"{key}\": 1, …"),
            };
            self.mistake(Code::BadFile, format_args!("has no \"{key}\" that says its version"), help);
        }
        good
    }
}

fn did_you_mean(near: Option<&str>, known: &[&str]) -> String {
    let list = if known.len() <= 24 { format!("known: {}", known.join(", ")) } else { String::new() };
    match (near, list.is_empty()) {
        (Some(near), true) => format!("did you mean \"{near}\"?"),
        (Some(near), false) => format!("did you mean \"{near}\"? {list}"),
        (None, _) => list,
    }
}

/// The fields of an object.
pub(super) struct Fields<'a, 'p, const N: usize> {
    node: Node<'a, 'p>,
    keys: &'static [&'static str; N],
    raws: [Option<&'a str>; N],
}

impl<'a, const N: usize> Fields<'a, '_, N> {
    /// A field, if it is there.
    pub(super) fn get(&self, key: &'static str) -> Option<Node<'a, '_>> {
        let at = self.keys.iter().position(|known| *known == key).expect("a reader asks for the keys that it knows");
        Some(Node { source: self.node.source, raw: self.raws[at]?, path: Path::Key(&self.node.path, key) })
    }

    /// A field that must be there.
    pub(super) fn need(&self, key: &'static str) -> Option<Node<'a, '_>> {
        let field = self.get(key);
        if field.is_none() {
            self.node.mistake(Code::BadFile, format_args!("has no \"{key}\""), "");
        }
        field
    }

    /// A field that may be missing or `null`.
    pub(super) fn given(&self, key: &'static str) -> Option<Node<'a, '_>> {
        self.get(key)?.non_null()
    }

    /// `true` where it says so.
    pub(super) fn flag(&self, key: &'static str) -> bool {
        self.get(key).and_then(|node| node.boolean()).unwrap_or(false)
    }

    /// The object itself.
    pub(super) fn node(&self) -> Node<'a, '_> {
        self.node
    }
}

/// A closed set of words.
pub(super) trait Word: Sized {
    /// What one is, in messages.
    const WHAT: &'static str;
    /// The value that a text stands for.
    fn from_text(text: &str) -> Option<Self>;
    /// All words.
    fn words() -> Vec<&'static str>;
}

/// Words that make a set together.
pub(super) trait Joined {
    /// The empty set.
    const NOTHING: Self;
    /// Both.
    fn join(self, other: Self) -> Self;
}
