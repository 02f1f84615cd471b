//! The fields of an object, and the words that a field may hold.

use super::Path;
use super::node::Node;
use rgraph_ir::error::Code;

/// The fields of an object.
pub struct Fields<'a, 'p, const N: usize> {
    pub(super) node: Node<'a, 'p>,
    pub(super) keys: &'static [&'static str; N],
    pub(super) raws: [Option<&'a str>; N],
}

impl<'a, const N: usize> Fields<'a, '_, N> {
    /// A field, if it is there.
    pub fn get(&self, key: &'static str) -> Option<Node<'a, '_>> {
        let at = self.keys.iter().position(|known| *known == key).expect("a reader asks for the keys that it knows");
        Some(Node { source: self.node.source, raw: self.raws[at]?, path: Path::Key(&self.node.path, key) })
    }

    /// A field, if an object of this kind may have it and it is there.
    pub fn find(&self, key: &'static str) -> Option<Node<'a, '_>> {
        if self.keys.contains(&key) { self.get(key) } else { None }
    }

    /// A field that must be there.
    pub fn need(&self, key: &'static str) -> Option<Node<'a, '_>> {
        let field = self.get(key);
        if field.is_none() {
            self.node.mistake(Code::BadFile, format_args!("has no \"{key}\""), "");
        }
        field
    }

    /// A field that may be missing or `null`.
    pub fn given(&self, key: &'static str) -> Option<Node<'a, '_>> {
        self.get(key)?.non_null()
    }

    /// `true` where it says so.
    pub fn flag(&self, key: &'static str) -> bool {
        self.get(key).and_then(|node| node.boolean()).unwrap_or(false)
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
    /// All words.
    fn words() -> Vec<&'static str>;
}

/// Words that make a set together.
pub trait Joined {
    /// The empty set.
    const NOTHING: Self;
    /// Both.
    fn join(self, other: Self) -> Self;
}
