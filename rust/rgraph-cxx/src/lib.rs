//! For build scripts of rgraph's crates: C++ sources that another crate brings, compiled as few translation units.
//!
//! The crates with the sources would compile every file for itself, with parts that nobody here calls. [`Sources`]
//! finds the folder of such a crate without building it, [`unit()`] includes many files in one, and [`library`] has the
//! settings that all of these libraries have in common.
//!
//! All functions are for build scripts: they read the variables that cargo sets for these, and panic with a sentence
//! where a build cannot go on, as build scripts do.
#![cfg_attr(not(test), warn(unreachable_pub))]
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// A crate with C++ sources.
#[derive(Clone, Copy, Debug)]
pub struct Sources {
    pub name: &'static str,
    /// How the versions that fit begin, as in the manifest that names it: `"0.9."`.
    pub version: &'static str,
    /// The feature of the crate that is being built which makes it a dependency, if it is an optional one.
    pub feature: Option<&'static str>,
}

impl Sources {
    /// The folder of the crate: beside that of the crate that is being built, where both are in a registry or vendored;
    /// else cargo knows it. In a registry the manifest of the crate that is being built need not resolve, since what a
    /// user's lock file does not name may not be downloaded.
    ///
    /// # Panics
    ///
    /// If neither finds it, or cargo does not run.
    pub fn folder(self) -> PathBuf {
        let own = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
        own.parent().and_then(|parent| self.within(parent)).unwrap_or_else(|| self.listed(&own))
    }

    /// The crate in `folder`, of several versions that fit the last by name.
    fn within(self, folder: &Path) -> Option<PathBuf> {
        let paths = std::fs::read_dir(folder).ok()?.filter_map(Result::ok).map(|entry| entry.path());
        paths.filter(|path| self.fits(path)).max()
    }

    /// Whether a folder has the name that registries (with the version) or vendored sources (without) give it.
    fn fits(self, path: &Path) -> bool {
        let file = path.file_name().map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
        let rest = file.strip_prefix(self.name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(&format!("-{}", self.version)))
    }

    /// The folder that cargo lists for the crate as a dependency of the one in `own`.
    fn listed(self, own: &Path) -> PathBuf {
        let asked = |offline: bool| {
            let mut cargo = Command::new(variable("CARGO"));
            cargo.args(["metadata", "--format-version", "1", "--filter-platform", &variable("HOST")]);
            cargo.arg("--manifest-path").arg(own.join("Cargo.toml"));
            cargo.args(self.feature.iter().flat_map(|feature| ["--features", feature]));
            let output = cargo.args(offline.then_some("--offline")).output().expect("cargo runs");
            output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
        };
        let text = asked(true).or_else(|| asked(false)).expect("cargo metadata lists the packages");
        let found = manifests(&text).filter_map(|path| path.parent().map(Path::to_path_buf));
        found.into_iter().find(|folder| self.fits(folder)).unwrap_or_else(|| panic!("{} is a dependency", self.name))
    }
}

/// The manifests that `cargo metadata` names, from its JSON: paths escape nothing but `\`.
fn manifests(text: &str) -> impl Iterator<Item = PathBuf> {
    let paths = text.split("\"manifest_path\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    paths.map(|path| PathBuf::from(path.replace("\\\\", "\\")))
}

/// A variable that cargo sets for build scripts.
///
/// # Panics
///
/// If it is not set.
pub fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}

/// A path as `#include` has it.
pub fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.display().to_string().replace('\\', "/"))
}

/// Writes the translation unit `name` (a file of the folder of outputs): the lines of `before`, then each source.
///
/// # Panics
///
/// If the folder of outputs cannot be written.
pub fn unit(name: &str, before: &str, sources: impl IntoIterator<Item = PathBuf>) -> PathBuf {
    let lines: String = sources.into_iter().map(|source| format!("#include {}\n", quoted(&source))).collect();
    let path = output(name);
    std::fs::write(&path, format!("{before}{lines}")).expect("the folder of outputs can be written");
    path
}

/// A file of the folder of outputs.
pub fn output(name: &str) -> PathBuf {
    Path::new(&variable("OUT_DIR")).join(name)
}

/// The settings of a library of C++17: small where it is released and quickly built elsewhere, without symbols for
/// debuggers, warnings and type information, linked with its own C++ library, since a wheel's system may have an older
/// one.
pub fn library() -> cc::Build {
    let mut build = cc::Build::new();
    let level = if variable("PROFILE") == "release" { "s" } else { "1" };
    build.cpp(true).std("c++17").opt_level_str(level).debug(false).warnings(false).cargo_metadata(true);
    build.flag_if_supported("-fno-rtti");
    if variable("CARGO_CFG_TARGET_OS") == "linux" {
        // zig links its own libc++, always as a part of the library; another compiler's is a separate archive. maturin
        // has zig write symbols of debuggers, which takes 18 GB for a unit of glslang.
        if build.get_compiler().path().to_string_lossy().contains("zig") {
            build.cpp_link_stdlib("c++").flag("-g0");
        } else {
            build.cpp_link_stdlib_static(true);
        }
    }
    build
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCES: Sources = Sources { name: "some-sys", version: "0.9.", feature: None };

    #[test]
    fn folders_of_registries_and_vendored_ones_fit() {
        for (folder, fits) in [
            ("some-sys-0.9.2", true),
            ("some-sys", true),
            ("some-sys-0.10.0", false),
            ("some-sys-extra", false),
            ("other-some-sys-0.9.2", false),
        ] {
            assert_eq!(SOURCES.fits(&Path::new("registry").join(folder)), fits, "{folder}");
        }
    }

    #[test]
    fn the_last_version_that_fits_is_found_beside_the_crate() {
        let folder = std::env::temp_dir().join(format!("rgraph-cxx-{}", std::process::id()));
        for name in ["some-sys-0.9.1", "some-sys-0.9.2", "some-sys-1.0.0", "cc-1.0.0"] {
            std::fs::create_dir_all(folder.join(name)).expect("temporary folders can be made");
        }
        let found = SOURCES.within(&folder);
        let without = Sources { version: "0.7.", ..SOURCES }.within(&folder);
        std::fs::remove_dir_all(&folder).expect("it was made");
        assert_eq!(found, Some(folder.join("some-sys-0.9.2")));
        assert_eq!(without, None);
    }

    #[test]
    fn manifests_are_read_out_of_metadata() {
        let text = r#"{"packages":[{"manifest_path":"/a/b/Cargo.toml"},{"manifest_path":"C:\\c\\Cargo.toml"}]}"#;
        let found: Vec<_> = manifests(text).collect();
        assert_eq!(found, [PathBuf::from("/a/b/Cargo.toml"), PathBuf::from("C:\\c\\Cargo.toml")]);
    }

    #[test]
    fn sources_are_quoted_with_slashes() {
        assert_eq!(quoted(Path::new("C:\\x\\y.cpp")), "\"C:/x/y.cpp\"");
    }
}
