//! Values of each noun that differ from a given one in one field. A new field does not compile until it has a line
//! here.
#![allow(dead_code, reason = "the tests of two crates use a part each")]

pub mod declared;
pub mod plan;
pub mod profile;

use rgraph_ir::id::Id;

/// A value with the name of what was changed in it.
pub type Changed<T> = (&'static str, T);

/// The id at a position.
pub fn id<I: Id>(index: usize) -> I {
    I::new(index)
}

/// Values of a struct that differ from one in one field each, with the names of type and field.
macro_rules! changed {
    ($base:expr => $noun:ident { $($field:ident: $value:expr),+ $(,)? }) => {{
        let base = $base;
        // Without `..`, so that each field has a value.
        let $noun { $($field: _),+ } = &base;
        vec![$((concat!(stringify!($noun), ".", stringify!($field)), $noun { $field: $value, ..base.clone() })),+]
    }};
}
pub(crate) use changed;

/// Puts each value into a whole of its own.
pub fn within<T, W: Clone>(base: &W, changed: Vec<Changed<T>>, put: impl Fn(&mut W, T)) -> Vec<Changed<W>> {
    let one = |(what, value)| {
        let mut whole = base.clone();
        put(&mut whole, value);
        (what, whole)
    };
    changed.into_iter().map(one).collect()
}
