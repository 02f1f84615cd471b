//! Measured times of a run, as views show them.

use serde::Serialize;

/// When the passes of one run began and ended.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Measured {
    /// Passes; those of the host may be in `host` instead.
    pub passes: Vec<PassSpan>,
    /// What the host did.
    pub host: Vec<HostSpan>,
    /// Whether `host` counts from the frame's first timestamp on, as `passes` does.
    pub calibrated: bool,
    /// Whether each pass was timed alone, so that none overlapped another.
    pub isolated: bool,
}

/// When a pass began and ended, in microseconds from the frame's first timestamp on.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PassSpan {
    /// The pass.
    pub name: String,
    /// Name of its queue; `None`: the host.
    pub queue: Option<String>,
    pub begin_us: f64,
    pub end_us: f64,
    /// How many passes were timed as one, this one among them; above 1 the span is its share of their time.
    pub group: u32,
}

/// When the host began and ended something, in microseconds.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct HostSpan {
    pub name: String,
    pub begin_us: f64,
    pub end_us: f64,
}
