//! Messages of the runtime on their way to Python's `logging`, logger `rgraph`.
//!
//! Drivers and layers speak on any thread, also where Python's lock cannot be waited for; so messages are kept until
//! the next call of the runtime returns to Python, and are logged there.

use std::sync::{Mutex, PoisonError};

use log::{Level, LevelFilter, Log, Metadata, Record};
use pyo3::prelude::*;
use rgraph_vk::PerProcess;

/// Messages kept between two calls; what comes beyond is counted.
const MOST: usize = 1000;

struct Kept {
    messages: Vec<(Level, &'static str, String)>,
    lost: usize,
}

static KEPT: PerProcess<Mutex<Kept>> = PerProcess::new(|| Mutex::new(Kept { messages: Vec::new(), lost: 0 }));

struct Bridge;

/// The logger of a target; others have none here.
fn logger(target: &str) -> Option<&'static str> {
    ["rgraph", "rgraph.printf"].into_iter().find(|known| *known == target)
}

impl Log for Bridge {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        logger(metadata.target()).is_some() && metadata.level() <= Level::Info
    }

    fn log(&self, record: &Record<'_>) {
        let Some(logger) = logger(record.target()).filter(|_| self.enabled(record.metadata())) else { return };
        let mut kept = KEPT.get().lock().unwrap_or_else(PoisonError::into_inner);
        if kept.messages.len() < MOST {
            kept.messages.push((record.level(), logger, record.args().to_string()));
        } else {
            kept.lost += 1;
        }
    }

    fn flush(&self) {}
}

/// Sends this module's log messages to Python's `logging`; once per process.
pub(crate) fn install() {
    static BRIDGE: Bridge = Bridge;
    // Another logger can only be there if this module was initialised before, in a subinterpreter.
    if log::set_logger(&BRIDGE).is_ok() {
        log::set_max_level(LevelFilter::Info);
    }
}

/// Hands over what was kept.
///
/// # Errors
/// What a handler of the user's raises.
pub(crate) fn deliver(py: Python<'_>) -> PyResult<()> {
    let (messages, lost) = {
        let mut kept = KEPT.get().lock().unwrap_or_else(PoisonError::into_inner);
        if kept.messages.is_empty() {
            return Ok(());
        }
        (std::mem::take(&mut kept.messages), std::mem::take(&mut kept.lost))
    };
    let get = py.import("logging")?.getattr("getLogger")?;
    for (level, logger, message) in messages {
        let method = match level {
            Level::Error => "error",
            Level::Warn => "warning",
            _ => "info",
        };
        get.call1((logger,))?.call_method1(method, ("%s", message))?;
    }
    if lost > 0 {
        get.call1(("rgraph",))?
            .call_method1("warning", ("%s", format!("{lost} more messages came at once and are lost")))?;
    }
    Ok(())
}
