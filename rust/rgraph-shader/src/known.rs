//! Programs that were compiled before: graphs are often declared again, files are read again and again, and callbacks
//! record every frame.
//!
//! They are known by what they are made of: a hash of sources, kind and entry point finds one, and comparing the
//! sources proves it. The name is not part of that: what is remembered has none, and is handed out with the one that is
//! asked for. When all slots are taken, a clock picks the slot to reuse: the hand clears the marks of those used since
//! it last passed, and stops at the first without one (F. J. Corbató, "A paging experiment with the Multics system",
//! 1969).

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, TryLockError};
use std::time::{Duration, Instant};

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::constant::Constants;
use crate::error::ShaderError;
use crate::include::IncludedFile;
use crate::interface::Length;
use crate::language::Language;
use crate::program::Program;
use crate::source::{Given, GivenCode, Source};
use crate::stage::Kind;

/// Programs remembered.
pub const MOST_KNOWN: usize = 4096;

static KNOWN: OnceLock<Mutex<Known>> = OnceLock::new();

#[derive(Default)]
struct Known {
    slots: Vec<Slot>,
    /// Positions of slots by their keys.
    at: HashMap<u64, usize>,
    /// Where the clock's hand stands.
    hand: usize,
}

struct Slot {
    key: u64,
    known: Remembered,
}

/// A program that is remembered.
#[derive(Clone, Debug)]
pub struct Remembered {
    program: Arc<Program>,
    /// Set when it was found since the hand last passed.
    used: Arc<AtomicBool>,
}

impl Remembered {
    /// The program, which counts as found again: it stays remembered while those that nobody asks for are forgotten.
    pub fn take(&self) -> Arc<Program> {
        self.used.store(true, Ordering::Relaxed);
        Arc::clone(&self.program)
    }
}

impl Known {
    fn find(&self, key: u64, is_same: impl Fn(&Program) -> bool) -> Option<&Remembered> {
        let slot = &self.slots[*self.at.get(&key)?];
        is_same(&slot.known.program).then_some(&slot.known)
    }

    fn remember(&mut self, key: u64, program: Arc<Program>) {
        let slot = Slot { key, known: Remembered { program, used: Arc::default() } };
        if let Some(&at) = self.at.get(&key) {
            self.slots[at] = slot;
        } else if self.slots.len() < MOST_KNOWN {
            self.at.insert(key, self.slots.len());
            self.slots.push(slot);
        } else {
            while self.slots[self.hand].known.used.swap(false, Ordering::Relaxed) {
                self.hand = (self.hand + 1) % MOST_KNOWN;
            }
            self.at.remove(&self.slots[self.hand].key);
            self.at.insert(key, self.hand);
            self.slots[self.hand] = slot;
            self.hand = (self.hand + 1) % MOST_KNOWN;
        }
    }
}

impl Program {
    /// The program of sources as they were given: compiled, or remembered. `name` is for messages alone: the same
    /// sources under another name are not compiled again.
    ///
    /// # Errors
    /// See [`Program::specialized`].
    pub fn of(
        name: &str,
        kind: Kind,
        sources: Vec<Given>,
        entry: Option<&str>,
        constants: &Constants,
    ) -> Result<Arc<Self>, ShaderError> {
        let choice = Choice { kind, entry, constants, lengths: &[] };
        let key = key(&choice, sources.iter().flat_map(Tagged::of));
        let is_same = |known: &Self| choice.is(known) && known.sources == sources;
        if let Some(program) = find(key, is_same) {
            return Ok(program.called(name));
        }
        let borrowed: Vec<Source<'_>> = sources.iter().map(Given::borrow).collect();
        let made = Self::specialized(name, kind, &borrowed, entry, constants)?.given(sources);
        let program = Arc::new(made.renamed(""));
        if let Some(mut known) = known() {
            known.remember(key, Arc::clone(&program));
        }
        Ok(program.called(name))
    }

    /// The program of one text in the language that it seems to be in, if [`Program::of`] compiled it before and it is
    /// remembered. It has no name, so that all who recall it share one. O(length of the text), and copies nothing of
    /// it.
    pub fn recall(kind: Kind, text: &str, entry: Option<&str>, constants: &Constants) -> Option<Arc<Self>> {
        Self::remembered(kind, text, entry, constants).map(|known| known.take())
    }

    /// The same, to be kept with the text by callers that know it again without comparing it.
    pub fn remembered(kind: Kind, text: &str, entry: Option<&str>, constants: &Constants) -> Option<Remembered> {
        let choice = Choice { kind, entry, constants, lengths: &[] };
        let same_text = |known: &Self| match &*known.sources {
            [Given { path: None, code: GivenCode::Text(_, known), stage: None, .. }] => known == text,
            _ => false,
        };
        let key = key(&choice, [Tagged { tag: SEEMS, path: None, bytes: text.as_bytes() }].into_iter());
        known()?.find(key, |known| choice.is(known) && same_text(known)).cloned()
    }

    /// This program with lengths for the arrays of bindings that its shader leaves open: made, or remembered. Programs
    /// of other lengths have other layouts and pipelines.
    ///
    /// # Errors
    /// As [`Program::specialized`], where the shader is compiled again.
    pub fn with_lengths(self: &Arc<Self>, mut lengths: Vec<Length>) -> Result<Arc<Self>, ShaderError> {
        lengths.sort_unstable();
        if lengths == self.lengths {
            return Ok(Arc::clone(self));
        }
        let (entry, constants) = (self.entry.as_deref(), &self.constants);
        let choice = Choice { kind: self.kind, entry, constants, lengths: &lengths };
        let key = key(&choice, self.sources.iter().flat_map(Tagged::of));
        if let Some(known) = find(key, |known| choice.is(known) && known.sources == self.sources) {
            return Ok(known.called(&self.name));
        }
        let made = Arc::new(self.compile_lengths(&lengths)?.renamed(""));
        if let Some(mut known) = known() {
            known.remember(key, Arc::clone(&made));
        }
        Ok(made.called(&self.name))
    }

    fn called(self: Arc<Self>, name: &str) -> Arc<Self> {
        if *self.name == *name { self } else { Arc::new(self.renamed(name)) }
    }
}

/// What is made of sources.
struct Choice<'a> {
    kind: Kind,
    entry: Option<&'a str>,
    constants: &'a Constants,
    lengths: &'a [Length],
}

impl Choice<'_> {
    fn is(&self, known: &Program) -> bool {
        let Self { kind, entry, constants, lengths } = self;
        known.kind == *kind
            && known.entry.as_deref() == *entry
            && known.constants == **constants
            && known.lengths == **lengths
    }
}

/// A source as it is hashed.
struct Tagged<'a> {
    tag: u8,
    path: Option<&'a [u8]>,
    bytes: &'a [u8],
}

/// The tag of a text of no file in the language that it seems to be in.
const SEEMS: u8 = 0;
/// The tag of a file that is included.
const INCLUDED: u8 = 4;
/// The tag of a source that was given for the first stage.
const STAGED: u8 = 16;
/// The tag of the length of an array that a shader leaves open.
const OPEN: u8 = 5;

impl<'a> Tagged<'a> {
    fn of(given: &'a Given) -> impl Iterator<Item = Self> {
        let tag = match &given.code {
            GivenCode::Text(language, text)
                if given.path.is_none() && given.stage.is_none() && Language::of(text) == *language =>
            {
                SEEMS
            }
            _ if given.stage.is_some() => STAGED + given.stage.map_or(0, |stage| stage as u8),
            GivenCode::Text(Language::Wgsl, _) => 1,
            GivenCode::Text(Language::Glsl, _) => 2,
            GivenCode::Spirv(_) => 3,
        };
        let path = given.path.as_ref().map(|path| path.as_os_str().as_encoded_bytes());
        let file = |file: &'a IncludedFile| Self {
            tag: INCLUDED,
            path: Some(file.name.as_bytes()),
            bytes: file.text.as_bytes(),
        };
        std::iter::once(Self { tag, path, bytes: given.code.bytes() }).chain(given.included.files().iter().map(file))
    }
}

fn key<'a>(choice: &Choice<'_>, sources: impl Iterator<Item = Tagged<'a>>) -> u64 {
    let part = |key: u64, tag: u8, bytes: Option<&[u8]>| {
        let tag = u64::from(tag) << 1 | u64::from(bytes.is_some());
        xxh3_64_with_seed(bytes.unwrap_or_default(), key.wrapping_add(tag))
    };
    let mut first = part(0, choice.kind as u8, choice.entry.map(str::as_bytes));
    for (name, value) in choice.constants.iter() {
        let (tag, bits) = value.key();
        first = part(part(first, tag, Some(name.as_bytes())), tag, Some(&bits));
    }
    for Length { group, binding, count } in choice.lengths {
        let bytes = [group, binding, count].map(|number| number.to_le_bytes()).concat();
        first = part(first, OPEN, Some(&bytes));
    }
    sources.fold(first, |key, source| part(part(key, source.tag, source.path), source.tag, Some(source.bytes)))
}

fn find(key: u64, is_same: impl Fn(&Program) -> bool) -> Option<Arc<Program>> {
    known()?.find(key, is_same).map(Remembered::take)
}

/// How long another thread may have the programs remembered, which takes it microseconds.
const PATIENCE: Duration = Duration::from_secs(1);

/// The process that gave up waiting for a thread that does not exist in it.
static ORPHANED_IN: AtomicU32 = AtomicU32::new(0);

/// The programs remembered. Another thread that has them just now is waited for, but not for ever: in a forked child
/// that thread does not exist, and nothing is remembered there from then on.
fn known() -> Option<MutexGuard<'static, Known>> {
    let known = KNOWN.get_or_init(Mutex::default);
    let mut since = None;
    loop {
        match known.try_lock() {
            Ok(known) => return Some(known),
            Err(TryLockError::Poisoned(known)) => return Some(known.into_inner()),
            Err(TryLockError::WouldBlock) => {}
        }
        let process = std::process::id();
        if ORPHANED_IN.load(Ordering::Relaxed) == process {
            return None;
        }
        if since.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            ORPHANED_IN.store(process, Ordering::Relaxed);
        }
        std::thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::include::Included;

    #[test]
    fn programs_that_are_made_at_the_same_time_are_all_remembered() {
        let text = |thread: u32, at: u32| {
            format!("@compute @workgroup_size(1) fn main() {{ /* at the same time: {thread}, {at} */ }}")
        };
        std::thread::scope(|scope| {
            for thread in 0..8 {
                scope.spawn(move || {
                    for at in 0..16 {
                        let code = GivenCode::Text(Language::Wgsl, text(thread, at));
                        let given = Given { path: None, code, included: Included::default(), stage: None };
                        Program::of("", Kind::Compute, vec![given], None, &Constants::default()).unwrap();
                    }
                });
            }
        });
        for (thread, at) in (0..8).flat_map(|thread| (0..16).map(move |at| (thread, at))) {
            let known = Program::recall(Kind::Compute, &text(thread, at), None, &Constants::default());
            assert!(known.is_some(), "{thread}, {at}");
        }
    }
}
