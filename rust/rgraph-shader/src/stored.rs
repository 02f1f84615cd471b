//! Compiled GLSL on disk, by content, so that a process that starts again does not compile again. WGSL is not kept:
//! naga takes about as long as reading a file.
//!
//! An entry holds the whole request with its answer and a checksum of both: its name is a hash, and comparing the
//! request proves it. Whatever else is in the folder (entries cut short, damaged, of other compilers) is ignored.
//! Processes share the folder without locks: an entry is written to a temporary file and renamed, so no process sees
//! half of one, and an entry that another process has open can be removed.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// The first bytes of an entry.
const MAGIC: &[u8; 8] = b"rgraphs1";
/// The end of an entry's name; before it are the 32 digits of the hash.
const SUFFIX: &str = ".rgs";
/// The end of the name of an entry that is being written.
const PART: &str = ".part";
/// Most bytes of one entry.
const MOST_ENTRY: u64 = 16 << 20;
/// Most bytes of all entries together. What was not used for longest goes first, until a quarter is free.
const MOST_BYTES: u64 = 256 << 20;
/// Bytes that a process writes before it looks again how much there is.
const BETWEEN_LOOKS: u64 = 8 << 20;
/// How old the time of an entry is before its use renews it.
const RENEW: Duration = Duration::from_secs(24 * 3600);
/// After that, nobody writes a part any more.
const STALE: Duration = Duration::from_secs(3600);

/// Bytes written by this process since it looked; at first enough to look.
static WRITTEN: AtomicU64 = AtomicU64::new(BETWEEN_LOOKS);
static PARTS: AtomicU64 = AtomicU64::new(0);

/// A folder of compiled shaders.
pub(crate) struct Stored {
    folder: PathBuf,
    most: u64,
}

impl Stored {
    /// The folder that the environment names in `RGRAPH_SHADER_CACHE`, else `rgraph/shaders` in the user's folder for
    /// caches. `None`: it says `0` or nothing, or the user has no such folder.
    pub(crate) fn of_environment() -> Option<Self> {
        let folder = match std::env::var_os("RGRAPH_SHADER_CACHE") {
            Some(off) if off.is_empty() || off == "0" => return None,
            Some(folder) => PathBuf::from(folder),
            None => caches()?.join("rgraph").join("shaders"),
        };
        Some(Self { folder, most: MOST_BYTES })
    }

    fn path(&self, request: &[u8]) -> PathBuf {
        self.folder.join(format!("{:032x}{SUFFIX}", xxh3_128(request)))
    }

    /// What was kept for a request.
    pub(crate) fn find(&self, request: &[u8]) -> Option<Vec<u32>> {
        let path = self.path(request);
        let file = open(&path).ok()?;
        let metadata = file.metadata().ok()?;
        let mut bytes = Vec::new();
        (&file).take(MOST_ENTRY + 1).read_to_end(&mut bytes).ok()?;
        let words = unpacked(&bytes, request)?;
        let age = metadata.modified().ok().and_then(|time| SystemTime::now().duration_since(time).ok());
        if age.is_some_and(|age| age > RENEW) {
            // A folder that cannot be written still serves.
            let _ = File::options().write(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        }
        Some(words)
    }

    /// Keeps the answer to a request. Where that fails (no room, no right to write), the next process compiles.
    pub(crate) fn keep(&self, request: &[u8], words: &[u32]) {
        let bytes = packed(request, words);
        if bytes.len() as u64 <= MOST_ENTRY && self.write(&self.path(request), &bytes).is_ok() {
            let written = WRITTEN.fetch_add(bytes.len() as u64, Ordering::Relaxed);
            if written >= BETWEEN_LOOKS {
                WRITTEN.store(0, Ordering::Relaxed);
                self.prune();
            }
        }
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.folder)?;
        let part = PARTS.fetch_add(1, Ordering::Relaxed);
        let beside = path.with_extension(format!("{}.{part}{PART}", std::process::id()));
        let done = fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, path));
        if done.is_err() {
            // It may not even have been made.
            let _ = fs::remove_file(&beside);
        }
        done
    }

    /// Removes entries, those used longest ago first, while there are too many bytes; and parts that nobody finished.
    fn prune(&self) {
        let Ok(all) = fs::read_dir(&self.folder) else { return };
        let mut entries = Vec::new();
        for entry in all.flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            let time = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let (name, path) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
            let is_old = || SystemTime::now().duration_since(time).is_ok_and(|age| age > STALE);
            match () {
                () if !metadata.is_file() || !is_ours(&name) => {}
                () if name.ends_with(SUFFIX) => entries.push((time, path, metadata.len())),
                () if is_old() => drop(fs::remove_file(path)),
                () => {}
            }
        }
        let mut total: u64 = entries.iter().map(|(_, _, bytes)| bytes).sum();
        if total <= self.most {
            return;
        }
        entries.sort();
        for (_, path, bytes) in entries {
            if total <= self.most / 4 * 3 {
                break;
            }
            if fs::remove_file(path).is_ok() {
                total -= bytes;
            }
        }
    }
}

/// Whether a file's name is one of an entry or of a part: nothing else is ever removed.
fn is_ours(name: &str) -> bool {
    let digits = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    name.split_at_checked(32)
        .is_some_and(|(hash, end)| digits(hash) && (end == SUFFIX || end.starts_with('.') && end.ends_with(PART)))
}

/// Opens a file, and nothing else: opening a pipe waits.
fn open(path: &Path) -> io::Result<File> {
    match fs::symlink_metadata(path)?.is_file() {
        true => File::open(path),
        false => Err(io::ErrorKind::InvalidInput.into()),
    }
}

/// The user's folder for caches.
fn caches() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
    if cfg!(windows) {
        return folder("LOCALAPPDATA");
    }
    if cfg!(target_os = "macos") {
        return Some(folder("HOME")?.join("Library/Caches"));
    }
    // XDG Base Directory Specification 0.8.
    folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")))
}

fn packed(request: &[u8], words: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(request.len() + words.len() * 4 + 24);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&(request.len() as u64).to_le_bytes());
    bytes.extend_from_slice(request);
    words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
    let sum = xxh3_64(&bytes);
    bytes.extend_from_slice(&sum.to_le_bytes());
    bytes
}

fn unpacked(bytes: &[u8], request: &[u8]) -> Option<Vec<u32>> {
    let (summed, sum) = bytes.split_last_chunk::<8>()?;
    if xxh3_64(summed).to_le_bytes() != *sum {
        return None;
    }
    let (length, rest) = summed.strip_prefix(MAGIC)?.split_first_chunk::<8>()?;
    let (known, words) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    let (words, left) = words.as_chunks::<4>();
    (known == request && left.is_empty() && !words.is_empty())
        .then(|| words.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(Stored);

    impl Folder {
        fn new(name: &str, most: u64) -> Self {
            let folder = std::env::temp_dir().join(format!("rgraph-stored-{name}-{}", std::process::id()));
            drop(fs::remove_dir_all(&folder));
            Self(Stored { folder, most })
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            drop(fs::remove_dir_all(&self.0.folder));
        }
    }

    #[test]
    fn an_entry_is_found_by_its_whole_request_alone() {
        let folder = Folder::new("found", MOST_BYTES);
        let stored = &folder.0;
        assert_eq!(stored.find(b"one"), None);
        stored.keep(b"one", &[1, 2, 3]);
        assert_eq!(stored.find(b"one"), Some(vec![1, 2, 3]));
        assert_eq!(stored.find(b"two"), None);
        // An entry under the name of another request, as if their hashes were equal.
        fs::copy(stored.path(b"one"), stored.path(b"two")).unwrap();
        assert_eq!(stored.find(b"two"), None);
        let left: Vec<_> = fs::read_dir(&stored.folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| !name.to_string_lossy().ends_with(PART)), "{left:?}");
    }

    #[test]
    fn damaged_entries_are_ignored_and_written_anew() {
        let folder = Folder::new("damaged", MOST_BYTES);
        let stored = &folder.0;
        stored.keep(b"request", &[7, 8]);
        let path = stored.path(b"request");
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(stored.find(b"request"), None, "cut to {length} bytes");
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&path, &damaged).unwrap();
            assert_eq!(stored.find(b"request"), None, "byte {at} changed");
        }
        stored.keep(b"request", &[7, 8]);
        assert_eq!(stored.find(b"request"), Some(vec![7, 8]));
    }

    #[test]
    fn what_was_not_used_for_longest_goes_first_and_foreign_files_stay() {
        let folder = Folder::new("bounded", 10_000);
        let stored = &folder.0;
        let foreign = stored.folder.join("notes.txt");
        let requests: Vec<Vec<u8>> = (0..20_u8).map(|one| vec![one; 900]).collect();
        for (age, request) in (0..).zip(&requests) {
            stored.keep(request, &[1]);
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + age);
            File::options().write(true).open(stored.path(request)).unwrap().set_modified(time).unwrap();
        }
        fs::write(&foreign, vec![0; 50_000]).unwrap();
        let stale = stored.path(b"x").with_extension("1.2.part");
        fs::write(&stale, b"half").unwrap();
        File::options().write(true).open(&stale).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        // The oldest is used, which renews it.
        assert!(stored.find(&requests[0]).is_some());
        stored.prune();
        let kept: Vec<bool> = requests.iter().map(|request| stored.find(request).is_some()).collect();
        assert!(kept[0] && kept[19] && !kept[1] && !kept[10], "{kept:?}");
        let bytes: u64 =
            requests.iter().filter_map(|request| fs::metadata(stored.path(request)).ok()).map(|m| m.len()).sum();
        assert!((5_000..=7_500).contains(&bytes), "{bytes}");
        assert!(foreign.exists() && !stale.exists());
    }

    #[test]
    fn writers_of_one_entry_do_not_disturb_each_other() {
        let folder = Folder::new("writers", MOST_BYTES);
        let stored = &folder.0;
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for round in 0..50 {
                        stored.keep(b"shared", &[9; 500]);
                        assert_eq!(stored.find(b"shared"), Some(vec![9; 500]), "round {round}");
                    }
                });
            }
        });
    }

    #[cfg(unix)]
    #[test]
    fn a_link_a_pipe_and_a_folder_without_rights_are_no_cache() {
        let folder = Folder::new("strange", MOST_BYTES);
        let stored = &folder.0;
        stored.keep(b"real", &[1]);
        std::os::unix::fs::symlink(stored.path(b"real"), stored.path(b"link")).unwrap();
        assert_eq!(stored.find(b"link"), None);
        let pipe = std::process::Command::new("mkfifo").arg(stored.path(b"pipe")).status().unwrap();
        assert!(pipe.success());
        assert_eq!(stored.find(b"pipe"), None);
        let nowhere = Stored { folder: PathBuf::from("/proc/nothing/here"), most: 1 };
        nowhere.keep(b"real", &[1]);
        assert_eq!(nowhere.find(b"real"), None);
    }
}
