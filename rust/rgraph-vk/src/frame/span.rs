//! When the host did something.

use std::borrow::Cow;
use std::time::Instant;

/// Something that the host did, in moments.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub name: Cow<'static, str>,
    pub begin: Instant,
    pub end: Instant,
}

impl Span {
    /// What began then and ends now.
    pub(crate) fn since(name: impl Into<Cow<'static, str>>, begin: Instant) -> Self {
        Self { name: name.into(), begin, end: Instant::now() }
    }
}
