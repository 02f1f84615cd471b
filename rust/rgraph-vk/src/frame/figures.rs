//! What is known of a frame when it is submitted.

use std::time::Instant;

use crate::frame::span::Span;

/// What is known when a frame is submitted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    pub run: u64,
    /// The first run of its compiled graph.
    pub first: u64,
    pub record_us: f64,
    pub submit_us: f64,
    pub upload_us: f64,
    pub submits: u32,
    pub entry_barriers: u32,
    pub recorded: bool,
    pub notes: Vec<String>,
    /// What the host did until the frame was submitted.
    pub spans: Vec<Span>,
}

impl Figures {
    /// Remembers what the host did since `begin`; returns the microseconds of it.
    pub(crate) fn took(&mut self, what: &'static str, begin: Instant) -> f64 {
        let span = Span::since(what, begin);
        let us = span.end.duration_since(begin).as_secs_f64() * 1e6;
        self.spans.push(span);
        us
    }
}
