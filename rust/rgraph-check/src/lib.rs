//! Judges plans. Knows the nouns of `rgraph-plan` and cannot reach its stages.
#![forbid(unsafe_code)]
