//! Ids, stages, accesses and layouts of a certificate in the words of plan files.

use rgraph_ir::access::{Accesses, Layout, Stages};

/// Whether a value can be left out.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Sets with names.
pub(super) trait Words: Sized {
    fn words(&self) -> Vec<&'static str>;
    fn none() -> Self;
    fn with(self, word: &str) -> Option<Self>;
}

impl Words for Stages {
    fn words(&self) -> Vec<&'static str> {
        self.names().collect()
    }
    fn none() -> Self {
        Self::empty()
    }
    fn with(self, word: &str) -> Option<Self> {
        Some(self | Self::from_word(word)?)
    }
}

impl Words for Accesses {
    fn words(&self) -> Vec<&'static str> {
        self.names().collect()
    }
    fn none() -> Self {
        Self::empty()
    }
    fn with(self, word: &str) -> Option<Self> {
        Some(self | Self::from_word(word)?)
    }
}

/// Stages and accesses as lists of words.
pub(super) mod flags {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Words;

    pub(crate) fn serialize<T: Words, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
        value.words().serialize(to)
    }

    pub(crate) fn deserialize<'de, T: Words, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        Vec::<String>::deserialize(from)?.iter().try_fold(T::none(), |all, word| {
            all.with(word).ok_or_else(|| D::Error::custom(format!("\"{word}\" is no stage or access")))
        })
    }
}

/// Layouts as words.
pub(super) mod layouts {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Layout;

    #[allow(clippy::ptr_arg, reason = "serde calls it with the field's type")]
    pub(crate) fn serialize<S: Serializer>(value: &Vec<Layout>, to: S) -> Result<S::Ok, S::Error> {
        value.iter().map(|layout| layout.name()).collect::<Vec<_>>().serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Layout>, D::Error> {
        let words = Vec::<String>::deserialize(from)?;
        let layout =
            |word: &String| Layout::from_name(word).ok_or_else(|| D::Error::custom(format!("\"{word}\" is no layout")));
        words.iter().map(layout).collect()
    }
}

/// Ids as numbers.
pub(super) mod id {
    use rgraph_ir::id::Id;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<I: Id, S: Serializer>(value: &I, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u32(value.index() as u32)
    }

    pub(crate) fn deserialize<'de, I: Id, D: Deserializer<'de>>(from: D) -> Result<I, D::Error> {
        of(u32::deserialize(from)?)
    }

    pub(super) fn of<I: Id, E: Error>(number: u32) -> Result<I, E> {
        match number {
            u32::MAX => Err(E::custom("an id is below 4294967295")),
            index => Ok(I::new(index as usize)),
        }
    }
}

/// Ids that may be missing, as numbers from 1; 0 is none.
pub(super) mod from_one {
    use rgraph_ir::id::Id;
    use serde::{Deserialize, Deserializer, Serializer};

    #[allow(clippy::ref_option, reason = "serde calls it with the field's type")]
    pub(crate) fn serialize<I: Id, S: Serializer>(value: &Option<I>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u32(value.map_or(0, |id| id.index() as u32 + 1))
    }

    pub(crate) fn deserialize<'de, I: Id, D: Deserializer<'de>>(from: D) -> Result<Option<I>, D::Error> {
        Ok(u32::deserialize(from)?.checked_sub(1).map(|index| I::new(index as usize)))
    }
}

/// Lists of ids, as lists of numbers.
pub(super) mod ids {
    use rgraph_ir::id::Id;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<I: Id, S: Serializer>(value: &[I], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(value.iter().map(|id| id.index() as u32))
    }

    pub(crate) fn deserialize<'de, I: Id, D: Deserializer<'de>>(from: D) -> Result<Vec<I>, D::Error> {
        Vec::<u32>::deserialize(from)?.into_iter().map(super::id::of).collect()
    }
}

/// Ids with a switch each, as lists of a number and a truth value.
pub(super) mod switched_ids {
    use rgraph_ir::id::Id;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<I: Id, S: Serializer>(value: &[(I, bool)], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(value.iter().map(|(id, on)| (id.index() as u32, *on)))
    }

    pub(crate) fn deserialize<'de, I: Id, D: Deserializer<'de>>(from: D) -> Result<Vec<(I, bool)>, D::Error> {
        let numbers = Vec::<(u32, bool)>::deserialize(from)?;
        numbers.into_iter().map(|(number, on)| Ok((super::id::of(number)?, on))).collect()
    }
}

/// Ids that may be missing, as numbers.
pub(super) mod optional_id {
    use rgraph_ir::id::Id;
    use serde::{Deserializer, Serializer};

    #[allow(clippy::ref_option, reason = "serde calls it with the field's type")]
    pub(crate) fn serialize<I: Id, S: Serializer>(value: &Option<I>, to: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(id) => super::id::serialize(id, to),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, I: Id, D: Deserializer<'de>>(from: D) -> Result<Option<I>, D::Error> {
        super::id::deserialize(from).map(Some)
    }
}
