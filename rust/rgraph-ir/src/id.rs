//! Ids are dense `u32` newtypes; an [`IdVec`] is a vector that only its own kind of id can index.
//! `waits[pass]` compiles, `waits[resource]` does not, and an `Option` of an id is four bytes too.

use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::ops::{Index, IndexMut};

/// A dense index with a niche, so that `Option<Id>` costs nothing.
pub trait Id: Copy + Eq + Ord + fmt::Debug {
    /// The id of the `index`th thing.
    ///
    /// # Panics
    /// If `index` is `u32::MAX` or more: declaration refuses graphs that large.
    fn new(index: usize) -> Self;
    /// Position in the vector that this id indexes.
    fn index(self) -> usize;
}

/// Defines id types: `id! { /// Doc. pub struct PassId; }`.
#[macro_export]
macro_rules! id {
    ($($(#[$doc:meta])* $public:vis struct $name:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $public struct $name($crate::id::NonMax);

        impl $crate::id::Id for $name {
            #[inline]
            fn new(index: usize) -> Self {
                Self($crate::id::NonMax::new(index))
            }
            #[inline]
            fn index(self) -> usize {
                self.0.get()
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), $crate::id::Id::index(*self))
            }
        }
    )+};
}

/// A `u32` other than `u32::MAX`, stored plus one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NonMax(NonZeroU32);

impl NonMax {
    /// The first index.
    pub const ZERO: Self = Self(NonZeroU32::MIN);

    /// Wraps `index`.
    ///
    /// # Panics
    /// If `index` does not fit.
    #[inline]
    pub fn new(index: usize) -> Self {
        // One comparison, after which nothing can overflow.
        assert!(index < u32::MAX as usize, "an id fits in 32 bits: declaration refuses graphs that large");
        Self(NonZeroU32::MIN.saturating_add(index as u32))
    }

    /// The wrapped index.
    #[inline]
    pub fn get(self) -> usize {
        (self.0.get() - 1) as usize
    }
}

/// A vector indexed by one kind of id.
#[derive(PartialEq, Eq, Hash)]
pub struct IdVec<I, T> {
    items: Vec<T>,
    id: PhantomData<fn(I)>,
}

impl<I, T: Clone> Clone for IdVec<I, T> {
    fn clone(&self) -> Self {
        Self { items: self.items.clone(), id: PhantomData }
    }

    /// Keeps the memory.
    fn clone_from(&mut self, source: &Self) {
        self.items.clone_from(&source.items);
    }
}

impl<I: Id> IdVec<I, I> {
    /// The new id of an old one, of a table of new ids; an id that the table does not have stays as it is.
    #[inline]
    pub fn renumbered(&self, id: I) -> I {
        self.get(id).copied().unwrap_or(id)
    }
}

impl<I: Id, T> IdVec<I, T> {
    /// An empty vector.
    pub const fn new() -> Self {
        Self { items: Vec::new(), id: PhantomData }
    }

    /// `len` copies of `value`.
    pub fn filled(value: T, len: usize) -> Self
    where
        T: Clone,
    {
        Self { items: vec![value; len], id: PhantomData }
    }

    /// Empties the vector and fills it again, keeping its memory.
    #[inline]
    pub fn refill(&mut self, value: T, len: usize)
    where
        T: Clone,
    {
        self.items.clear();
        self.items.resize(len, value);
    }

    /// Appends and returns the new id.
    #[inline]
    pub fn push(&mut self, value: T) -> I {
        let id = I::new(self.items.len());
        self.items.push(value);
        id
    }

    /// Number of items.
    #[inline]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is no item.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Makes room for so many items in all.
    pub fn reserve(&mut self, items: usize) {
        self.items.reserve(items.saturating_sub(self.items.len()));
    }

    /// Empties the vector, keeping its memory.
    #[inline]
    pub fn clear(&mut self) {
        self.items.clear();
    }

    /// The item, or `None` for an id of another vector.
    #[inline]
    pub fn get(&self, id: I) -> Option<&T> {
        self.items.get(id.index())
    }

    /// The item of an id, to change it; `None` if there is none.
    #[inline]
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.items.get_mut(id.index())
    }

    /// The id of the next item.
    #[inline]
    pub fn next_id(&self) -> I {
        I::new(self.items.len())
    }

    /// All ids, ascending.
    #[inline]
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + Clone + use<I, T> {
        (0..self.items.len()).map(I::new)
    }

    /// Ids and items, ascending.
    #[inline]
    pub fn iter_ids(&self) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator + Clone {
        self.items.iter().enumerate().map(|(i, item)| (I::new(i), item))
    }

    /// Items, ascending.
    #[inline]
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// Items, ascending, to be changed.
    #[inline]
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    /// The items of consecutive ids.
    #[inline]
    pub fn slice(&self, ids: IdSpan<I>) -> &[T] {
        &self.items[ids.range()]
    }

    /// The items of consecutive ids, to change them.
    #[inline]
    pub fn slice_mut(&mut self, ids: IdSpan<I>) -> &mut [T] {
        &mut self.items[ids.range()]
    }

    /// The plain slice.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        &self.items
    }

    /// The plain vector.
    #[inline]
    pub fn as_vec_mut(&mut self) -> &mut Vec<T> {
        &mut self.items
    }
}

impl<I: Id, T> Default for IdVec<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Id, T: fmt::Debug> fmt::Debug for IdVec<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.items).finish()
    }
}

impl<I: Id, T> FromIterator<T> for IdVec<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(iter: It) -> Self {
        Self { items: iter.into_iter().collect(), id: PhantomData }
    }
}

impl<I: Id, T> Index<I> for IdVec<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for IdVec<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}

impl<I: Id, T> Extend<T> for IdVec<I, T> {
    #[inline]
    fn extend<It: IntoIterator<Item = T>>(&mut self, iter: It) {
        self.items.extend(iter);
    }
}

impl<'a, I: Id, T> IntoIterator for &'a IdVec<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

/// A half-open range of positions in a flat array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Span {
    /// First position.
    pub start: u32,
    /// One past the last position.
    pub end: u32,
}

impl Span {
    /// `start..end`.
    #[inline]
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    /// As a range to slice with.
    #[inline]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Number of positions.
    #[inline]
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether it holds no position.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// A half-open range of ids of one vector.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct IdSpan<I> {
    span: Span,
    id: PhantomData<fn(I)>,
}

impl<I: Id> IdSpan<I> {
    /// The ids of positions `start..end`.
    #[inline]
    pub fn new(start: usize, end: usize) -> Self {
        Self { span: Span::new(start, end), id: PhantomData }
    }

    /// `count` ids, `first` and those behind it.
    #[inline]
    pub fn from(first: I, count: usize) -> Self {
        Self::new(first.index(), first.index() + count)
    }

    /// The ids, ascending.
    #[inline]
    pub fn ids(self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + Clone + use<I> {
        self.range().map(I::new)
    }

    /// The first id; that of the vector's next item if it holds none.
    #[inline]
    pub fn first(self) -> I {
        I::new(self.span.start as usize)
    }

    /// As a range of positions.
    #[inline]
    pub fn range(self) -> std::ops::Range<usize> {
        self.span.range()
    }

    /// Number of ids.
    #[inline]
    pub fn len(self) -> usize {
        self.span.len()
    }

    /// Whether it holds no id.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.span.is_empty()
    }

    /// Whether it holds an id.
    #[inline]
    pub fn contains(self, id: I) -> bool {
        self.range().contains(&id.index())
    }

    /// Whether it has an id in common with another.
    #[inline]
    pub fn meets(self, other: Self) -> bool {
        self.span.start < other.span.end && other.span.start < self.span.end
    }

    /// Takes in the id behind its last one, and returns it.
    #[inline]
    pub fn grow(&mut self) -> I {
        self.span.end += 1;
        I::new(self.span.end as usize - 1)
    }
}

impl<I> Default for IdSpan<I> {
    fn default() -> Self {
        Self { span: Span::default(), id: PhantomData }
    }
}

impl<I> fmt::Debug for IdSpan<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.span.range())
    }
}

/// Names in one arena: a copy of all of them is one `memcpy`, and none of them allocates by itself.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Names {
    text: String,
    ends: Vec<u32>,
}

impl Names {
    /// Appends a name and returns its position.
    pub fn push(&mut self, name: &str) -> usize {
        self.text.push_str(name);
        self.ends.push(u32::try_from(self.text.len()).expect("names of one graph fit in 4 GiB"));
        self.ends.len() - 1
    }

    /// The name at `index`.
    #[inline]
    pub fn get(&self, index: usize) -> &str {
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.text[start..self.ends[index] as usize]
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Removes all names, keeping the memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    /// Becomes a copy of `other`, keeping the memory.
    pub fn copy_from(&mut self, other: &Self) {
        self.text.clear();
        self.text.push_str(&other.text);
        self.ends.clear();
        self.ends.extend_from_slice(&other.ends);
    }

    /// Names in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|i| self.get(i))
    }

    /// The bytes that tell two lists of names apart: all text, then where each name ends.
    pub fn bytes(&self) -> (&[u8], &[u32]) {
        (self.text.as_bytes(), &self.ends)
    }
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
