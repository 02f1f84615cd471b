//! Files at paths that anybody may have chosen: read up to a limit, replaced whole or not at all. No device node is
//! read, and nothing but a file is ever replaced; a link stays, and what it names is written.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Most bytes of one file, unless `RGRAPH_MAX_FILE_BYTES` has another number: 1 GiB.
pub const MAX_FILE_BYTES: u64 = 1 << 30;

/// Most bytes of one file that this process reads.
///
/// # Errors
/// [`Fault::Limit`] if `RGRAPH_MAX_FILE_BYTES` is no number; empty counts as unset.
pub fn max_file_bytes() -> Result<u64, Fault> {
    match std::env::var_os("RGRAPH_MAX_FILE_BYTES").filter(|text| !text.is_empty()) {
        None => Ok(MAX_FILE_BYTES),
        Some(text) => limit(&text.to_string_lossy()),
    }
}

fn limit(text: &str) -> Result<u64, Fault> {
    text.trim().parse().map_err(|_| Fault::Limit(text.to_owned()))
}

/// Why a file is not read or written. Each text follows the file's name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The system refuses.
    #[error("cannot be opened: {0}")]
    Io(#[from] io::Error),
    /// The path names something other than a file.
    #[error("is {0}, not a file")]
    Kind(&'static str),
    /// More bytes than the limit.
    #[error("is longer than {0} bytes")]
    TooLong(u64),
    /// The limit that the environment sets is no number.
    #[error("RGRAPH_MAX_FILE_BYTES is {0:?}, which is no number of bytes")]
    Limit(String),
}

impl Fault {
    /// The repair, as help of a message.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Io(_) => "",
            Self::Kind(_) => "name a file",
            Self::TooLong(_) => "split it, or set RGRAPH_MAX_FILE_BYTES to a larger limit",
            Self::Limit(_) => "set it to a whole number, as 1073741824, or unset it",
        }
    }
}

/// What may be opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Allowed {
    /// Files alone.
    Files,
    /// Files and pipes, as a shell's `<(…)` makes them.
    FilesAndPipes,
}

/// The whole contents of a file.
///
/// # Errors
/// If the system refuses, the path names a device, a folder or a socket (or a pipe, where only files are allowed), or
/// the contents are longer than [`max_file_bytes`], or that limit is no number.
pub fn read(path: &Path, allowed: Allowed) -> Result<Vec<u8>, Fault> {
    // Once before it is opened, since opening a pipe waits and opening a device may act; once after, since paths
    // change.
    check(&std::fs::metadata(path)?, allowed)?;
    let file = File::open(path)?;
    check(&file.metadata()?, allowed)?;
    read_all(file)
}

/// All that a source of bytes gives.
///
/// # Errors
/// If it fails, gives more than [`max_file_bytes`], or that limit is no number.
fn read_all(source: impl Read) -> Result<Vec<u8>, Fault> {
    let (most, mut bytes) = (max_file_bytes()?, Vec::new());
    source.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(Fault::TooLong(most)) } else { Ok(bytes) }
}

fn check(metadata: &Metadata, allowed: Allowed) -> Result<(), Fault> {
    match kind(metadata) {
        None => Ok(()),
        Some(PIPE) if allowed == Allowed::FilesAndPipes => Ok(()),
        Some(other) => Err(Fault::Kind(other)),
    }
}

const PIPE: &str = "a pipe";
const CHARACTERS: &str = "a device of characters";

/// What is at a path other than a file.
fn kind(metadata: &Metadata) -> Option<&'static str> {
    let of = metadata.file_type();
    if of.is_file() {
        return None;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let special = [
            (of.is_fifo(), PIPE),
            (of.is_char_device(), CHARACTERS),
            (of.is_block_device(), "a block device"),
            (of.is_socket(), "a socket"),
        ];
        if let Some((_, name)) = special.into_iter().find(|(is, _)| *is) {
            return Some(name);
        }
    }
    Some(if of.is_dir() { "a folder" } else { "something special" })
}

/// Replaces the contents of a file, or makes it: written to a temporary file in the same folder, then renamed, so that
/// no reader sees half of it. Where the path is a link, the file that it names is replaced.
///
/// # Errors
/// If the system refuses, or the path names anything but a file; nothing is left behind.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    if path.file_name().is_none() {
        return Err(io::Error::from(io::ErrorKind::InvalidFilename).into());
    }
    if let Ok(metadata) = path.metadata() {
        check(&metadata, Allowed::Files)?;
    }
    let target = target(path)?;
    static WRITTEN: AtomicU64 = AtomicU64::new(0);
    let count = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let aside = target.with_file_name(format!(".rgraph-{}-{count}.part", std::process::id()));
    let done = std::fs::write(&aside, bytes).and_then(|()| std::fs::rename(&aside, &target));
    if done.is_err() {
        // The first error is what the user needs; that the rest could not be cleared away adds nothing.
        let _ = std::fs::remove_file(&aside);
    }
    Ok(done?)
}

/// The path behind links; of a link to nothing, what it names.
fn target(path: &Path) -> io::Result<std::path::PathBuf> {
    let mut path = path.to_owned();
    // The system's own limit of links in a row.
    for _ in 0..40 {
        match std::fs::read_link(&path) {
            Ok(named) => path = path.parent().unwrap_or(Path::new("")).join(named),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many links"))
}

/// Writes a file as [`replace`] does; into a pipe or a device of characters, as `/dev/stdout`, it writes the bytes as
/// they are.
///
/// # Errors
/// As [`replace`]; a block device is never written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    match path.metadata().ok().and_then(|metadata| kind(&metadata)) {
        Some(PIPE | CHARACTERS) => Ok(std::fs::write(path, bytes)?),
        _ => replace(path, bytes),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    struct Folder(std::path::PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("rgraph-disk-{name}-{}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[test]
    fn devices_pipes_and_folders_are_not_read_as_files() {
        let folder = Folder::new("read");
        let pipe = folder.0.join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for (path, kind) in [(Path::new("/dev/zero"), CHARACTERS), (&pipe, PIPE), (&folder.0, "a folder")] {
            assert!(matches!(read(path, Allowed::Files), Err(Fault::Kind(found)) if found == kind), "{path:?}");
        }
        let link = folder.0.join("link");
        symlink("/dev/zero", &link).unwrap();
        assert!(matches!(read(&link, Allowed::FilesAndPipes), Err(Fault::Kind(CHARACTERS))));
    }

    #[test]
    fn a_source_without_an_end_is_read_up_to_the_limit() {
        let given = read_all(io::repeat(0).take(max_file_bytes().unwrap().min(1 << 20)));
        assert_eq!(given.unwrap().len(), 1 << 20);
        // The limit itself is tried in a process of its own, by the tests of the command line.
    }

    #[test]
    fn a_limit_that_is_no_number_is_refused() {
        assert_eq!(limit("4096").unwrap(), 4096);
        assert_eq!(limit(" 4096 ").unwrap(), 4096);
        for text in ["1e9", "1 GiB", "-1", "99999999999999999999999"] {
            let fault = limit(text).unwrap_err().to_string();
            assert_eq!(fault, format!("RGRAPH_MAX_FILE_BYTES is {text:?}, which is no number of bytes"));
        }
    }

    #[test]
    fn links_stay_and_special_nodes_are_never_replaced() {
        let folder = Folder::new("replace");
        let (real, link, dangling, pipe) =
            (folder.0.join("real"), folder.0.join("link"), folder.0.join("dangling"), folder.0.join("pipe"));
        std::fs::write(&real, "before").unwrap();
        symlink("real", &link).unwrap();
        symlink("made", &dangling).unwrap();
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        replace(&link, b"after").unwrap();
        replace(&dangling, b"new").unwrap();
        assert_eq!(std::fs::read(&real).unwrap(), b"after");
        assert_eq!(std::fs::read(folder.0.join("made")).unwrap(), b"new");
        assert!(link.is_symlink() && dangling.is_symlink());
        assert!(matches!(replace(&pipe, b"x"), Err(Fault::Kind(PIPE))));
        assert_eq!(kind(&pipe.metadata().unwrap()), Some(PIPE));
        assert!(matches!(replace(Path::new("/dev/null"), b"x"), Err(Fault::Kind(CHARACTERS))));
        write(Path::new("/dev/null"), b"x").unwrap();
        assert_eq!(kind(&Path::new("/dev/null").metadata().unwrap()), Some(CHARACTERS));
        assert!(
            std::fs::read_dir(&folder.0)
                .unwrap()
                .all(|one| { !one.unwrap().file_name().to_string_lossy().ends_with(".part") })
        );
    }
}
