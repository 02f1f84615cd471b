//! Builds the Khronos validator for SPIR-V out of the sources that `spirv-tools-sys` brings.
//!
//! That crate would compile the optimizer too, every file for itself: ten minutes. The validator as three translation
//! units takes twenty seconds. Level 1 in all profiles: it runs once per module.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Sources that the validator needs besides its own.
const SHARED: [&str; 24] = [
    "util/bit_vector",
    "util/parse_number",
    "util/string_utils",
    "assembly_grammar",
    "binary",
    "diagnostic",
    "disassemble",
    "ext_inst",
    "extensions",
    "libspirv",
    "name_mapper",
    "opcode",
    "operand",
    "parsed_operand",
    "print",
    "software_version",
    "spirv_endian",
    "spirv_target_env",
    "spirv_validator_options",
    "table",
    "table2",
    "text",
    "text_handler",
    "to_string",
];

/// A source of the validator whose names clash with those of the others.
const APART: &str = "validate_ray_tracing_reorder.cpp";

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}

/// The crate with the sources, and how the versions that fit begin, as in the workspace's manifest.
const SOURCES: [&str; 2] = ["spirv-tools-sys", "0.13."];

/// The folder of the sources: beside this crate's, where both are in the registry or vendored; else cargo knows it. In a
/// registry this crate's own manifest need not resolve: what a user's lock file does not name may not be downloaded.
fn sources() -> PathBuf {
    beside().unwrap_or_else(listed)
}

fn beside() -> Option<PathBuf> {
    let [name, version] = SOURCES;
    let folder = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let entries = std::fs::read_dir(folder.parent()?).ok()?.filter_map(Result::ok).map(|entry| entry.path());
    let fits = |path: &PathBuf| {
        let file = path.file_name().map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
        file == name || file.strip_prefix(name).is_some_and(|rest| rest.starts_with(&format!("-{version}")))
    };
    entries.filter(fits).max()
}

/// The folder that cargo lists for the sources' crate.
fn listed() -> PathBuf {
    let manifest = Path::new(&variable("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let asked = |offline: bool| {
        let mut cargo = Command::new(variable("CARGO"));
        cargo.args(["metadata", "--format-version", "1", "--filter-platform", &variable("HOST"), "--manifest-path"]);
        cargo.arg(&manifest).args(offline.then_some("--offline"));
        let output = cargo.output().expect("cargo runs");
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let text = asked(true).or_else(|| asked(false)).expect("cargo metadata lists the packages");
    let paths = text.split("\"manifest_path\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    let folders =
        paths.map(|path| PathBuf::from(path.replace("\\\\", "\\"))).filter_map(|mut path| path.pop().then_some(path));
    let ours = |folder: &PathBuf| folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(SOURCES[0]));
    folders.into_iter().find(ours).expect("spirv-tools-sys is a build dependency")
}

/// A translation unit of several sources.
fn unit(name: &str, files: impl Iterator<Item = PathBuf>) -> PathBuf {
    let lines: Vec<_> =
        files.map(|file| format!("#include \"{}\"\n", file.display().to_string().replace('\\', "/"))).collect();
    let path = Path::new(&variable("OUT_DIR")).join(name);
    std::fs::write(&path, lines.concat()).expect("the folder of outputs can be written");
    path
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=cpp/validate.cpp");
    let root = sources();
    let source = root.join("spirv-tools/source");
    let folder = std::fs::read_dir(source.join("val")).expect("the validator's folder is there");
    let mut validator: Vec<_> = folder.map(|entry| entry.expect("an entry of a folder").path()).collect();
    validator.retain(|path| path.extension().is_some_and(|suffix| suffix == "cpp"));
    validator.sort();
    let (apart, together): (Vec<_>, Vec<_>) = validator.into_iter().partition(|path| path.ends_with(APART));
    let mut build = cc::Build::new();
    // Tests want it soon, users small.
    let level = if variable("PROFILE") == "release" { "s" } else { "1" };
    build.cpp(true).std("c++17").opt_level_str(level).debug(false).warnings(false).cargo_metadata(true);
    // Its assertions are for its authors: strangers' bytes must not end the process.
    build.define("NDEBUG", None);
    build.flag_if_supported("-fno-exceptions").flag_if_supported("-fno-rtti");
    build.flag_if_supported("-fno-asynchronous-unwind-tables").flag_if_supported("-fno-unwind-tables");
    let includes = [
        "spirv-tools",
        "spirv-tools/include",
        "generated",
        "spirv-headers/include",
        "spirv-headers/include/spirv/unified1",
    ];
    build.includes(includes.map(|folder| root.join(folder)));
    let system = match variable("CARGO_CFG_TARGET_OS").as_str() {
        "windows" => "SPIRV_WINDOWS",
        "macos" => "SPIRV_MAC",
        "android" => "SPIRV_ANDROID",
        "freebsd" => "SPIRV_FREEBSD",
        _ => "SPIRV_LINUX",
    };
    build.define(system, None);
    // Wheels are for systems whose C++ library may be older.
    if system == "SPIRV_LINUX" {
        // zig links its own libc++, always as a part of the library; another compiler's is a separate archive. maturin
        // has zig write symbols of debuggers, which takes 18 GB for a unit of glslang.
        if build.get_compiler().path().to_string_lossy().contains("zig") {
            build.cpp_link_stdlib("c++").flag("-g0");
        } else {
            build.cpp_link_stdlib_static(true);
        }
    }
    let shared = SHARED.iter().map(|name| source.join(name).with_extension("cpp"));
    build.file(unit("shared.cpp", shared)).file(unit("validator.cpp", together.into_iter()));
    build.files(apart).file("cpp/validate.cpp").compile("rgraph_spirv_val");
}
