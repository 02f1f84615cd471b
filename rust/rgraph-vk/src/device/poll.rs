//! Waits that the caller can end: cut into slices, with a call of the caller's function between them.

use std::time::Duration;

use rgraph_work::CallbackError;

use crate::error::Error;

/// Called while a run waits; an error ends the wait and the run.
pub type Poll<'a> = &'a (dyn Fn() -> Result<(), CallbackError> + Sync);

/// Waits in slices of 50 ms, calling `poll` between.
pub(crate) fn wait_polling(
    poll: Option<Poll<'_>>,
    wait: impl Fn(Option<Duration>) -> Result<bool, Error>,
) -> Result<(), Error> {
    let Some(poll) = poll else { return wait(None).map(|_| ()) };
    while !wait(Some(Duration::from_millis(50)))? {
        poll().map_err(Error::Callback)?;
    }
    Ok(())
}
