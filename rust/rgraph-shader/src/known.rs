//! Programs that were compiled before: graphs are often declared anew, files are read again and again, and callbacks
//! record every frame.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, TryLockError};

use crate::error::ShaderError;
use crate::program::{Given, Kind, Program, Source};

/// All that a program is made of, its name in messages included.
type Key = (String, Kind, Vec<Given>, Option<String>);

static KNOWN: OnceLock<Mutex<HashMap<Key, Arc<Program>>>> = OnceLock::new();

/// Programs remembered; then all are forgotten.
const MOST_KNOWN: usize = 512;

impl Program {
    /// The program of sources as they were given: compiled, or remembered.
    ///
    /// # Errors
    /// See [`Program::new`].
    pub fn of(name: &str, kind: Kind, sources: Vec<Given>, entry: Option<&str>) -> Result<Arc<Self>, ShaderError> {
        let key = (name.to_owned(), kind, sources, entry.map(str::to_owned));
        if let Some(program) = known().and_then(|known| known.get(&key).cloned()) {
            return Ok(program);
        }
        let borrowed: Vec<Source<'_>> = key.2.iter().map(|given| given.code.borrow()).collect();
        let program = Arc::new(Self::new(name, kind, &borrowed, entry)?.given(&key.2));
        if let Some(mut known) = known() {
            if known.len() == MOST_KNOWN {
                known.clear();
            }
            known.insert(key, Arc::clone(&program));
        }
        Ok(program)
    }
}

/// What is remembered, unless another thread has it just now. It is not waited for: in a forked child that thread does not
/// exist.
fn known() -> Option<MutexGuard<'static, HashMap<Key, Arc<Program>>>> {
    match KNOWN.get_or_init(Mutex::default).try_lock() {
        Ok(known) => Some(known),
        Err(TryLockError::Poisoned(known)) => Some(known.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
