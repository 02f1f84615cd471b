//! Byte offsets of transient resources.
