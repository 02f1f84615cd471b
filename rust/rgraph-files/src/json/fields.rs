//! The fields of an object, and the words that a field may hold.

use super::Path;
use super::node::Node;
use super::table::{Key, Kind, Object};
use rgraph_ir::error::Code;

/// The fields of an object.
pub struct Fields<'a, 'p, const N: usize> {
    pub(super) node: Node<'a, 'p>,
    pub(super) table: &'static Object<[Key; N]>,
    pub(super) raws: [Option<&'a str>; N],
}

impl<'a, const N: usize> Fields<'a, '_, N> {
    fn at(&self, key: &str) -> Option<usize> {
        self.table.keys.iter().position(|known| known.name == key)
    }

    fn known(&self, key: &str) -> usize {
        self.at(key).expect("a reader asks for the keys that it knows")
    }

    /// A field by its table: notes it if it must be there and is missing; where `null` counts as missing, it is.
    pub fn get(&self, key: &'static str) -> Option<Node<'a, '_>> {
        let Key { required, nullable, .. } = self.table.keys[self.known(key)];
        let field = if required { self.need(key) } else { self.peek(key) };
        field.filter(|node| !(nullable && node.is_null()))
    }

    /// A field as it is, missing or not.
    pub fn peek(&self, key: &'static str) -> Option<Node<'a, '_>> {
        let raw = self.raws[self.known(key)]?;
        Some(Node { source: self.node.source, raw, path: Path::Key(&self.node.path, key) })
    }

    /// A field, if an object of this kind may have it and it is there.
    pub fn find(&self, key: &'static str) -> Option<Node<'a, '_>> {
        self.at(key).and_then(|_| self.peek(key))
    }

    /// A field that must be there because of another one.
    pub fn need(&self, key: &'static str) -> Option<Node<'a, '_>> {
        let field = self.peek(key);
        if field.is_none() {
            self.node.mistake(Code::BadFile, format_args!("has no \"{key}\""), "");
        }
        field
    }

    /// `true` where it says so.
    pub fn flag(&self, key: &'static str) -> bool {
        self.get(key).and_then(|node| node.boolean()).unwrap_or(false)
    }

    /// The most that its table allows for a field: a whole number, or hexadecimal digits.
    pub fn most(&self, key: &'static str) -> u64 {
        match self.table.keys[self.known(key)].kind {
            Kind::Whole(_, most) | Kind::Hexadecimal(most) => most,
            _ => panic!("a reader asks for the most of what has one"),
        }
    }

    /// The object itself.
    pub fn node(&self) -> Node<'a, '_> {
        self.node
    }
}

/// A closed set of words.
pub trait Word: Sized {
    /// What one is, in messages.
    const WHAT: &'static str;
    /// The value that a text stands for.
    fn from_text(text: &str) -> Option<Self>;
    /// All words, as messages offer them.
    fn words() -> Vec<&'static str>;
    /// Other spellings of them.
    fn others() -> Vec<String> {
        Vec::new()
    }
}

/// Words that make a set together.
pub trait Joined {
    /// The empty set.
    const NOTHING: Self;
    /// Both.
    fn join(self, other: Self) -> Self;
}
