//! Running: what a graph holds until then, functions, plans kept, waits without the interpreter, errors.

pub(crate) mod anew;
pub(crate) mod arena;
pub(crate) mod borrowed;
pub(crate) mod call;
#[cfg(debug_assertions)]
#[path = "../../../rgraph-plan/tests/common/counting.rs"]
mod counting;
pub(crate) mod counts;
pub(crate) mod detached;
pub(crate) mod ending;
pub(crate) mod error;
pub(crate) mod external;
pub(crate) mod fit;
pub(crate) mod follow;
pub(crate) mod functions;
pub(crate) mod inputs;
pub(crate) mod inside;
pub(crate) mod interface;
pub(crate) mod last_bakes;
pub(crate) mod lasting;
pub(crate) mod lease;
pub(crate) mod locked;
pub(crate) mod logging;
pub(crate) mod patient;
pub(crate) mod pending_work;
pub(crate) mod per_run;
pub(crate) mod plan_cache;
pub(crate) mod record;
pub(crate) mod remembered;
pub(crate) mod resolve;
pub(crate) mod runnable;
pub(crate) mod runtime_errors;
pub(crate) mod spare;
pub(crate) mod state;
pub(crate) mod states;
pub(crate) mod target_changes;
pub(crate) mod target_functions;
pub(crate) mod targets;
pub(crate) mod tuned;
pub(crate) mod unresolved;
pub(crate) mod workload;
