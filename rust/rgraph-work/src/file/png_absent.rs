//! PNG files without the feature `png`: each is refused.

use std::path::PathBuf;

use super::picture::Picture;
use super::sidecar::Refused;

/// Refuses a picture.
pub(crate) fn decode(_: PathBuf, _: &[u8]) -> Result<Picture, Refused> {
    Err(("is a PNG, and this build reads none".to_owned(), "switch on the feature `png`, or give NPY".to_owned()))
}
