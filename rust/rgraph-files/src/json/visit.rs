//! Values as `serde` visits them: keys, and every element or entry as its slice of the text.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A key, borrowed where it has no escapes.
pub(super) struct Text<'a>(pub(super) Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrow;
        impl<'de> Visitor<'de> for Borrow {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Borrow)
    }
}

/// Calls its function with every element of a list; an error if that says to stop.
pub(super) struct EachElement<F>(pub(super) F);

impl<'de, F: FnMut(usize, &'de RawValue) -> bool> Visitor<'de> for EachElement<F> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }
    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        let mut index = 0;
        while let Some(raw) = seq.next_element()? {
            rgraph_ir::cancel::poll();
            if !(self.0)(index, raw) {
                return Err(A::Error::custom("stopped"));
            }
            index += 1;
        }
        Ok(())
    }
}

/// Calls its function with every key and value of an object; an error if that says to stop.
pub(super) struct EachEntry<F>(pub(super) F);

impl<'de, F: FnMut(Cow<'de, str>, &'de RawValue) -> bool> Visitor<'de> for EachEntry<F> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(Text(key)) = map.next_key()? {
            rgraph_ir::cancel::poll();
            if !(self.0)(key, map.next_value()?) {
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}
