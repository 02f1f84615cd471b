//! A value of a file: what it is, where it stands, and what is wrong with it.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use serde::Deserializer as _;
use serde_json::value::RawValue;

use super::fields::{Fields, Joined, Word};
use super::table::{Key, Object};
use super::visit::{EachElement, EachEntry, Text};
use super::{Path, Source, bare, shown};
use rgraph_ir::error::{Code, Mistake};
use rgraph_ir::graph::{MAX_NAME, Place};
use rgraph_ir::id::Names;

/// A value in its text.
#[derive(Clone, Copy)]
pub struct Node<'a, 'p> {
    pub(super) source: &'p Source<'a>,
    pub(super) raw: &'a str,
    pub(super) path: Path<'p>,
}

impl<'a, 'p> Node<'a, 'p> {
    /// The text that contains it.
    pub fn source(&self) -> &'p Source<'a> {
        self.source
    }

    /// File and line of its first character.
    pub fn place(&self) -> Place {
        let offset = self.raw.as_ptr() as usize - self.source.text.as_ptr() as usize;
        Place { file: self.source.file.clone(), line: self.source.line(offset) }
    }

    /// Notes a mistake: `problem` follows the path.
    pub fn mistake(&self, code: Code, problem: impl fmt::Display, help: impl Into<String>) {
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
    pub fn wrong(&self, wanted: impl fmt::Display) {
        let option = referred(self.raw).filter(|_| std::ptr::eq(self.referent(), self.raw));
        if let Some(name) = option {
            let known = self.source.options.iter().map(|(known, _)| known.as_str());
            let help = match self.source.suggest(&name, known) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => "declare it with its default: \"options\": {…}".to_owned(),
            };
            let problem = format!("names option \"{}\", which nothing declares", shown(&name));
            return self.mistake(Code::UnknownName, problem, help);
        }
        self.mistake(Code::BadFile, format_args!("is {}, but must be {wanted}", self.found()), "");
    }

    /// What stands there, in a few words.
    pub fn found(&self) -> String {
        let referent = self.referent();
        match referent.as_bytes()[0] {
            b'{' => "an object".to_owned(),
            b'[' => "a list".to_owned(),
            _ => shown(referent),
        }
    }

    /// Its text; of `{"option": NAME}` that of the option.
    fn referent(&self) -> &'p str
    where
        'a: 'p,
    {
        if self.raw.len() > LONGEST_REFERENCE || !self.raw.starts_with('{') {
            return self.raw;
        }
        let Some(name) = referred(self.raw) else { return self.raw };
        self.source.options.iter().find(|(known, _)| *known == name).map_or(self.raw, |(_, value)| value)
    }

    /// The text of a value as JSON.
    pub fn json(&self) -> &'p str
    where
        'a: 'p,
    {
        self.referent()
    }

    /// The name in it if it is `{"option": NAME}`.
    pub fn reference(&self) -> Option<Cow<'_, str>> {
        if self.raw.starts_with('{') { referred(self.raw) } else { None }
    }

    /// The way to it, as messages say it.
    pub fn path(&self) -> String {
        self.path.to_string()
    }

    fn starts_with(&self, byte: u8) -> bool {
        self.referent().as_bytes()[0] == byte
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        self.starts_with(b'{')
    }

    /// Whether it is a list.
    pub fn is_list(&self) -> bool {
        self.starts_with(b'[')
    }

    /// Whether it is text.
    pub fn is_text(&self) -> bool {
        self.starts_with(b'"')
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        self.referent() == "null"
    }

    /// Whether it is a number.
    pub fn is_number(&self) -> bool {
        matches!(self.referent().as_bytes()[0], b'-' | b'0'..=b'9')
    }

    fn broken(&self, error: &serde_json::Error) {
        let help = "escape characters beyond U+FFFF as two halves, or write them as they are";
        self.mistake(Code::BadFile, format_args!("cannot be read: {}", bare(error)), help);
    }

    /// Calls `each` with the elements of a list until it returns `false`; `None` if it is none.
    pub(crate) fn elements_while(&self, what: &str, mut each: impl FnMut(usize, Node<'a, '_>) -> bool) -> Option<()> {
        if !self.is_list() {
            self.wrong(format_args!("a list{what}"));
            return None;
        }
        let stopped = Cell::new(false);
        let visitor = EachElement(|index, raw: &'a RawValue| {
            let node = Node { source: self.source, raw: raw.get(), path: Path::Index(&self.path, index) };
            stopped.set(!each(index, node) || self.source.full());
            !stopped.get()
        });
        self.walked(&stopped, serde_json::Deserializer::from_str(self.raw).deserialize_seq(visitor))
    }

    /// Calls `each` with the keys and values of an object until it returns `false`; `None` if it is none.
    pub(crate) fn entries_while(&self, what: &str, mut each: impl FnMut(&str, Node<'a, '_>) -> bool) -> Option<()> {
        if !self.is_object() {
            self.wrong(format_args!("an object{what}"));
            return None;
        }
        let stopped = Cell::new(false);
        let visitor = EachEntry(|key: Cow<'a, str>, raw: &'a RawValue| {
            let node = Node { source: self.source, raw: raw.get(), path: Path::Key(&self.path, &key) };
            stopped.set(!each(&key, node) || self.source.full());
            !stopped.get()
        });
        self.walked(&stopped, serde_json::Deserializer::from_str(self.raw).deserialize_map(visitor))
    }

    fn walked(&self, stopped: &Cell<bool>, result: Result<(), serde_json::Error>) -> Option<()> {
        match result {
            Err(error) if !stopped.get() => {
                self.broken(&error);
                None
            }
            _ => Some(()),
        }
    }

    /// Calls `each` with every element of a list; `None` if it is none.
    pub fn elements(&self, what: &str, mut each: impl FnMut(usize, Node<'a, '_>)) -> Option<()> {
        self.elements_while(what, |index, node| {
            each(index, node);
            true
        })
    }

    /// Calls `each` with every key and value of an object; `None` if it is none.
    pub fn entries(&self, what: &str, mut each: impl FnMut(&str, Node<'a, '_>)) -> Option<()> {
        self.entries_while(what, |key, node| {
            each(key, node);
            true
        })
    }

    /// The fields of an object that may have the keys of `table` only.
    pub fn fields<const N: usize>(self, table: &'static Object<[Key; N]>) -> Option<Fields<'a, 'p, N>> {
        let what = table.what;
        let mut raws = [None; N];
        self.entries(&format!(": {what}"), |key, value| match table.keys.iter().position(|known| known.name == key) {
            Some(at) if raws[at].is_none() => raws[at] = Some(value.raw),
            Some(_) => value.mistake(Code::DuplicateName, "is given twice", "keep one of them"),
            None => {
                let keys = table.keys.each_ref().map(|known| known.name);
                let help = did_you_mean(self.source.suggest(key, keys.into_iter()), &keys);
                value.mistake(Code::BadFile, format_args!("is not a key of {what}"), help);
            }
        })?;
        Some(Fields { node: self, table, raws })
    }

    pub fn text(&self) -> Option<Cow<'a, str>> {
        if !self.is_text() {
            self.wrong("text");
            return None;
        }
        let referent = self.referent();
        if !std::ptr::eq(referent, self.raw) {
            let text = serde_json::from_str::<Text<'_>>(referent).map(|key| key.0.into_owned());
            return text.map(Cow::Owned).map_err(|error| self.broken(&error)).ok();
        }
        serde_json::from_str::<Text<'a>>(self.raw).map(|key| key.0).map_err(|error| self.broken(&error)).ok()
    }

    /// A text of at most [`MAX_NAME`] bytes, which may be empty.
    pub fn title(&self) -> Option<Cow<'a, str>> {
        let title = self.text()?;
        if title.is_empty() { Some(title) } else { self.checked_name(title) }
    }

    /// A text that names something: not empty, at most [`MAX_NAME`] bytes.
    pub fn name(&self) -> Option<Cow<'a, str>> {
        self.checked_name(self.text()?)
    }

    fn checked_name(&self, name: Cow<'a, str>) -> Option<Cow<'a, str>> {
        self.check_name(&name).map(|()| name)
    }

    /// Notes it if a name is empty or longer than [`MAX_NAME`].
    pub fn check_name(&self, name: &str) -> Option<()> {
        if name.is_empty() || name.len() > MAX_NAME {
            let problem = format!("has a name of {} bytes: \"{}\"", name.len(), shown(name));
            self.mistake(Code::BadName, problem, format!("give it a name of 1 to {MAX_NAME} bytes"));
            return None;
        }
        Some(())
    }

    /// `true` or `false`.
    pub fn boolean(&self) -> Option<bool> {
        match self.referent() {
            "true" => Some(true),
            "false" => Some(false),
            _ => {
                self.wrong("true or false");
                None
            }
        }
    }

    /// A finite number.
    pub fn number(&self) -> Option<f64> {
        // The text is a JSON number, and Rust's parser reads all of those, correctly rounded.
        let number = self.is_number().then(|| self.referent().parse::<f64>().ok()).flatten();
        match number {
            Some(number) if number.is_finite() => Some(number),
            Some(_) => {
                self.mistake(
                    Code::BadNumber,
                    format_args!("is {}, too large for a number", shown(self.referent())),
                    "",
                );
                None
            }
            None => {
                self.wrong("a number");
                None
            }
        }
    }

    /// A finite number of 32 bits, the nearest to what stands there.
    pub fn number32(&self) -> Option<f32> {
        let wide = self.number()?;
        let number = self.referent().parse::<f32>().unwrap_or(wide as f32);
        if number.is_infinite() {
            self.mistake(Code::BadNumber, format_args!("is {}, too large for a number", shown(self.referent())), "");
            return None;
        }
        Some(number)
    }

    /// An integer from 0 to `most`; `4.0` is one too.
    pub fn integer(&self, most: u64) -> Option<u64> {
        if !self.is_number() {
            self.wrong("an integer");
            return None;
        }
        let exact = self.referent().parse::<u64>().ok().or_else(|| {
            let number = self.referent().parse::<f64>().ok()?;
            (number.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&number)).then_some(number as u64)
        });
        match exact {
            Some(integer) if integer <= most => return Some(integer),
            _ => {}
        }
        let number = self.referent().parse::<f64>().unwrap_or(f64::NAN);
        let wanted = if number < 0.0 {
            "0 or more".to_owned()
        } else if number.fract() != 0.0 && number.is_finite() {
            "an integer".to_owned()
        } else {
            format!("at most {most}")
        };
        self.mistake(Code::BadNumber, format_args!("is {}, but must be {wanted}", shown(self.referent())), "");
        None
    }

    /// An integer of 32 bits.
    pub fn u32(&self) -> Option<u32> {
        self.integer(u32::MAX.into()).map(|integer| integer as u32)
    }

    /// An integer of 64 bits.
    pub fn u64(&self) -> Option<u64> {
        self.integer(u64::MAX)
    }

    /// One of the words of `T`.
    pub fn word<T: Word>(&self) -> Option<T> {
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
    pub fn joined<T: Word + Joined>(&self) -> Option<T> {
        let mut all = Some(T::NOTHING);
        self.elements(" of words", |_, node| {
            all = node.word::<T>().and_then(|one| all.take().map(|others| others.join(one)));
        })?;
        all
    }

    /// A list of whatever `each` reads.
    pub fn list<T>(&self, what: &str, mut each: impl FnMut(Node<'a, '_>) -> Option<T>) -> Option<Vec<T>> {
        let mut all = Some(Vec::new());
        self.elements(what, |_, node| match (each(node), &mut all) {
            (Some(one), Some(list)) => list.push(one),
            _ => all = None,
        })?;
        all
    }

    /// How many elements a list has; 0 where it is none.
    pub fn count(&self) -> usize {
        let mut count = 0;
        if self.is_list() {
            self.elements("", |_, _| count += 1);
        }
        count
    }

    /// A list whose length is one of `lengths`; `wanted` is what it must be, in messages.
    pub fn short_list<T>(
        &self,
        lengths: &[usize],
        wanted: &str,
        each: impl FnMut(Node<'a, '_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        if !self.is_list() {
            self.wrong(wanted);
            return None;
        }
        let count = self.count();
        if !lengths.contains(&count) {
            self.mistake(Code::BadFile, format_args!("is a list of {count}, but must be {wanted}"), "");
            return None;
        }
        self.list("", each)
    }

    /// A half-open range `[first, end)` of integers up to `most`.
    pub fn range(&self, most: u64) -> Option<[u64; 2]> {
        self.short_list(&[2], "a range [first, end]", |node| node.integer(most))?.try_into().ok()
    }

    /// The same of 32 bits.
    pub fn range32(&self) -> Option<[u32; 2]> {
        self.range(u32::MAX.into()).map(|range| range.map(|end| end as u32))
    }

    /// Notes that it names nothing that is known.
    pub(crate) fn unknown_name(&self, kind: &str, name: &str, known: &Names) {
        let help = match self.source.suggest(name, known.iter()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("declare a {kind} of that name, or correct it"),
        };
        let problem = format!("names {kind} \"{}\", which nothing declares", shown(name));
        self.mistake(Code::UnknownName, problem, help);
    }

    /// The version of a file of which only version 1 is known; `key` is the key that says it.
    pub fn version(&self, key: &'static str, kind: &str) -> Option<()> {
        const KEYS: [(&str, &str); 4] =
            [("rgraph", "a graph"), ("rprofile", "a profile"), ("rplan", "a plan"), ("rgraph_capture", "a capture")];
        let (mut good, mut seen, mut other) = (None, false, None);
        self.entries_while(&format!(": {kind} file"), |name, value| {
            if name == key {
                seen = true;
                good = value.u64().filter(|version| *version == 1).map(|_| ());
                if good.is_none() && self.source.mistakes.borrow().is_empty() {
                    let help = format!("this reader knows version 1: \"{key}\": 1");
                    value.mistake(Code::BadFile, format_args!("is version {}", value.found()), help);
                }
            } else if let Some((_, kind)) = KEYS.iter().find(|(known, _)| *known == name) {
                other = other.or(Some(*kind));
            }
            !seen
        })?;
        if !seen {
            let help = match other {
                Some(other) => format!("this is {other} file"),
                None => format!("begin it with {{\"{key}\": 1, …"),
            };
            self.mistake(Code::BadFile, format_args!("has no \"{key}\" with its version"), help);
        }
        good
    }
}

/// Longest text of a reference to an option.
const LONGEST_REFERENCE: usize = 2 * MAX_NAME;

/// The name in `{"option": NAME}`.
fn referred(raw: &str) -> Option<Cow<'_, str>> {
    let inside = raw.strip_prefix('{')?.trim_ascii_start().strip_prefix("\"option\"")?;
    let value = inside.trim_ascii_start().strip_prefix(':')?.strip_suffix('}')?.trim_ascii();
    serde_json::from_str::<Text<'_>>(value).map(|key| key.0).ok()
}

fn did_you_mean(near: Option<&str>, known: &[&str]) -> String {
    // As many as a pass has keys.
    let list = if known.len() <= 25 { format!("known: {}", known.join(", ")) } else { String::new() };
    match (near, list.is_empty()) {
        (Some(near), true) => format!("did you mean \"{near}\"?"),
        (Some(near), false) => format!("did you mean \"{near}\"? {list}"),
        (None, _) => list,
    }
}
