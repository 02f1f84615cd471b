//! The tables of objects: what each key is called, whether it must be there, and what its value is. The readers and the
//! schemas are made from the same table, which reads like the one of `docs/reference/formats.md`.

use std::fmt;

use serde_json::Value;

use super::Word;

/// An object of a file. Readers name one with as many keys as it has, everything else has slices of them.
pub struct Object<K: ?Sized = [Key]> {
    /// What it is, in messages: "a pass".
    pub what: &'static str,
    /// Changes its schema where keys depend on each other.
    pub rule: Option<fn(&mut Value)>,
    /// Its keys in the order in which messages list them.
    pub keys: K,
}

// By hand: a derived one would not end, since objects contain themselves.
impl<K: ?Sized> fmt::Debug for Object<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }
}

impl<const N: usize> Object<[Key; N]> {
    /// An object with these keys and no other.
    pub const fn new(what: &'static str, keys: [Key; N]) -> Self {
        Self { what, rule: None, keys }
    }

    /// The same, with keys that depend on each other.
    #[must_use]
    pub const fn with(self, rule: fn(&mut Value)) -> Self {
        Self { what: self.what, rule: Some(rule), keys: self.keys }
    }
}

/// A key of an object.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    pub name: &'static str,
    /// Whether it must be there.
    pub required: bool,
    /// Whether `null` counts as missing.
    pub nullable: bool,
    /// Its values.
    pub kind: Kind,
}

/// A key that must be there.
pub const fn must(name: &'static str, kind: Kind) -> Key {
    Key { name, required: true, nullable: false, kind }
}

/// A key that may be missing.
pub const fn may(name: &'static str, kind: Kind) -> Key {
    Key { name, required: false, nullable: false, kind }
}

/// A key that may be missing or `null`.
pub const fn or_null(name: &'static str, kind: Kind) -> Key {
    Key { name, required: false, nullable: true, kind }
}

/// The keys of some lists, one list after the other.
pub const fn joined<const N: usize>(lists: &[&[Key]]) -> [Key; N] {
    let mut all = [may("", Kind::Any); N];
    let (mut at, mut list) = (0, 0);
    while list < lists.len() {
        let mut key = 0;
        while key < lists[list].len() {
            all[at] = lists[list][key];
            (at, key) = (at + 1, key + 1);
        }
        list += 1;
    }
    assert!(at == N, "a table has as many keys as its type says");
    all
}

/// A kind of value.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Whatever JSON has.
    Any,
    /// `null`, as an element of a list.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A finite number.
    Number,
    /// A finite number, this one or more.
    AtLeast(u64),
    /// An integer within limits, which both count.
    Whole(i64, u64),
    /// One of these integers.
    Integers(&'static [i64]),
    /// Text of any length.
    Line,
    /// Text of at most [`MAX_NAME`](rgraph_ir::graph::MAX_NAME) bytes.
    Title,
    /// The same, but not empty.
    Name,
    /// Text that a regular expression matches.
    Like(&'static str),
    /// Up to so many hexadecimal digits.
    Hexadecimal(u64),
    /// One of these words.
    Words(&'static [&'static str]),
    /// One of the words of a type: see [`words`] and [`spellings`].
    WordsOf(fn() -> Vec<String>),
    /// This word.
    Only(&'static str),
    /// A list of the same, with the fewest and the most that it may have.
    List(&'static Kind, u32, Option<u32>),
    /// A list of these, in this order.
    Row(&'static [Kind]),
    /// An object with names of the user's as keys.
    Named(&'static Kind),
    /// An object with any texts as keys.
    Map(&'static Kind),
    /// An object with a table of its own.
    Object(&'static Object),
    /// An object that has one of these keys and no other.
    OneKeyOf(&'static [Key]),
    /// One of these.
    Either(&'static [Kind]),
    /// A kind that the schema has once, by name: those that contain themselves.
    Shared(&'static Shared),
}

/// A kind that contains itself, and is no object.
pub struct Shared {
    /// Its name under `$defs`.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
}

// As above.
impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The version, the first key of a file.
pub(crate) const VERSION: Kind = Kind::Integers(&[1]);
/// An integer of 32 bits.
pub const U32: Kind = Kind::Whole(0, u32::MAX as u64);
/// An integer of 64 bits.
pub const U64: Kind = Kind::Whole(0, u64::MAX);
/// `[first, end]` of 32 bits.
pub const RANGE32: Kind = tuple(&U32, 2);
/// `[first, end]` of 64 bits.
pub const RANGE64: Kind = tuple(&U64, 2);

/// An integer from 1 on.
pub const fn positive(most: u64) -> Kind {
    Kind::Whole(1, most)
}

/// A list of any length.
pub const fn list(of: &'static Kind) -> Kind {
    Kind::List(of, 0, None)
}

/// A list of exactly `count`.
pub const fn tuple(of: &'static Kind, count: u32) -> Kind {
    Kind::List(of, count, Some(count))
}

/// The words of a type that are offered.
pub fn words<W: Word>() -> Vec<String> {
    W::words().into_iter().map(str::to_owned).collect()
}

/// The words of a type, and the other spellings that its reader takes.
pub fn spellings<W: Word>() -> Vec<String> {
    words::<W>().into_iter().chain(W::others()).collect()
}
