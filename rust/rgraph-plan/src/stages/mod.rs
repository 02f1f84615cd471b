//! The verbs, one module each, in the order in which `bake` runs them.

pub(crate) mod alias;
pub(crate) mod barriers;
pub(crate) mod bound;
pub(crate) mod context;
pub(crate) mod cull;
pub(crate) mod depend;
pub(crate) mod describe;
pub(crate) mod ids;
pub(crate) mod interval_cuts;
pub(crate) mod merge;
pub(crate) mod order;
pub(crate) mod packets;
pub(crate) mod parallel;
pub(crate) mod play;
pub(crate) mod resolve;
pub(crate) mod schedule;
pub(crate) mod size;
pub(crate) mod sort;
pub(crate) mod transient;
pub(crate) mod usages;
pub(crate) mod validate;
pub(crate) mod weigh;
