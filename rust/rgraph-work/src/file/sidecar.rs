//! Sidecar files of a graph file: below its folder, whatever their names say.

use std::path::{Component, Path, PathBuf};

use rgraph_files::disk::{self, Allowed};

/// The message about a name, which follows the path of its key, and the hint.
pub(super) type Refused = (String, String);

/// The path without dependence on where the process is.
pub(super) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The path of a name below a folder. Links are followed, but not out of the folder.
///
/// # Errors
/// If it is absolute, has `..` in it, leads out of the folder, or is no file.
pub(super) fn find(folder: &Path, name: &str) -> Result<PathBuf, Refused> {
    let help = || "name a file below the folder of the graph file, as \"shaders/blur.wgsl\"".to_owned();
    let plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    if name.is_empty() || !plain || name.contains(['\\', '\0', ':']) || name.starts_with('/') {
        let shown: String = name.chars().take(60).collect();
        return Err((format!("names file \"{shown}\", which is no plain relative path"), help()));
    }
    let given = folder.join(name);
    let missing = |fault: std::io::Error| {
        let message = format!("names file \"{name}\", which cannot be read: {fault}");
        (message, format!("it is looked for at {}", given.display()))
    };
    let real = given.canonicalize().map_err(missing)?;
    let inside = folder.canonicalize().map_err(missing)?;
    if !real.starts_with(&inside) {
        return Err((format!("names file \"{name}\", which is a link out of the folder"), help()));
    }
    if !real.is_file() {
        return Err((format!("names file \"{name}\", which is no file"), help()));
    }
    Ok(real)
}

/// The bytes of a file.
///
/// # Errors
/// If it cannot be read, or is too long.
pub(super) fn bytes(path: &Path) -> Result<Vec<u8>, Refused> {
    disk::read(path, Allowed::Files)
        .map_err(|fault| (format!("names {}, which {fault}", path.display()), fault.help().to_owned()))
}

/// The name of a file below a folder, with `/` between its parts; `None`: it lies elsewhere.
pub fn name_below(folder: &Path, path: &Path) -> Option<String> {
    let (folder, path) = (folder.canonicalize().ok()?, path.canonicalize().ok()?);
    let parts = path.strip_prefix(folder).ok()?.components();
    let names: Option<Vec<&str>> = parts.map(|part| part.as_os_str().to_str()).collect();
    let name = names?.join("/");
    find(&absolute(path.ancestors().nth(name.split('/').count())?), &name).ok().map(|_| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_below_the_folder_are_found() {
        let folder = std::env::temp_dir().join(format!("rgraph-sidecar-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("in/sub")).unwrap();
        std::fs::write(folder.join("in/sub/a.wgsl"), "x").unwrap();
        std::fs::write(folder.join("out.wgsl"), "x").unwrap();
        let inside = folder.join("in");
        let found = find(&inside, "sub/a.wgsl").unwrap();
        assert_eq!(name_below(&inside, &found).as_deref(), Some("sub/a.wgsl"));
        assert_eq!(name_below(&inside, &folder.join("out.wgsl")), None);
        for name in ["", "../out.wgsl", "/etc/passwd", "sub/../sub/a.wgsl", "sub\\a.wgsl", "C:a", "sub", "none", "a\0b"]
        {
            assert!(find(&inside, name).is_err(), "{name}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(folder.join("out.wgsl"), inside.join("link.wgsl")).unwrap();
            assert!(find(&inside, "link.wgsl").unwrap_err().0.contains("link out of the folder"));
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
