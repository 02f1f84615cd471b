//! What callers pass: words, names, shapes, arrays, declarations.

pub(crate) mod access;
pub(crate) mod bind;
pub(crate) mod convert;
pub(crate) mod declare;
pub(crate) mod details;
pub(crate) mod dtype;
pub(crate) mod files;
pub(crate) mod host_arrays;
pub(crate) mod imports;
pub(crate) mod keywords;
pub(crate) mod options;
pub(crate) mod pass_links;
pub(crate) mod picture;
pub(crate) mod propose;
pub(crate) mod raster_state;
pub(crate) mod reads;
pub(crate) mod redeclare;
pub(crate) mod setup;
pub(crate) mod shader;
pub(crate) mod shape;
pub(crate) mod sidecar;
pub(crate) mod source;
pub(crate) mod typed;
pub(crate) mod value;
pub(crate) mod weights;
pub(crate) mod words;
