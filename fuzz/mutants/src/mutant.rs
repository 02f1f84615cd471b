//! Which mutant this process runs: `RGRAPH_MUTANT` names it by number. With `RGRAPH_MUTANTS_REACHED` the process writes
//! the number of each mutant that it comes by into that file.

use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{LazyLock, Mutex};

static CHOSEN: LazyLock<u32> =
    LazyLock::new(|| std::env::var("RGRAPH_MUTANT").ok().and_then(|number| number.parse().ok()).unwrap_or(0));
static REACHED: [AtomicBool; 1 << 15] = [const { AtomicBool::new(false) }; 1 << 15];
static LOG: LazyLock<Option<Mutex<File>>> = LazyLock::new(|| {
    let path = std::env::var_os("RGRAPH_MUTANTS_REACHED")?;
    File::options().create(true).append(true).open(path).ok().map(Mutex::new)
});

/// Whether this process runs a mutant.
#[inline]
pub fn on(number: u32) -> bool {
    let chosen = *CHOSEN;
    if chosen == u32::MAX {
        reach(number);
    }
    chosen == number
}

#[cold]
fn reach(number: u32) {
    if !REACHED[number as usize].swap(true, Relaxed)
        && let Some(log) = &*LOG
        && let Ok(mut file) = log.lock()
    {
        let _ = file.write_all(format!("{number}\n").as_bytes());
    }
}
