//! Builds glslang out of the sources that `glslang-sys` brings.
//!
//! That crate would compile every file for itself, HLSL's too, with live assertions that abort: two minutes of CPU time.
//! Three translation units take forty seconds, an assertion that fails is an exception (`cpp/replaced/assert.h`), and two
//! headers get a line that counts work, so that no text makes glslang read or look without end.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The units: sources below `glslang/`, without their suffix. The last file of the first one has names of its own for
/// the others' parameters, so it comes last.
const UNITS: [(&str, &[&str]); 3] = [
    (
        "parse",
        &[
            "glslang/MachineIndependent/ParseHelper",
            "glslang/MachineIndependent/ParseContextBase",
            "glslang/MachineIndependent/Scan",
            "glslang/MachineIndependent/attribute",
            "glslang/MachineIndependent/preprocessor/Pp",
            "glslang/MachineIndependent/preprocessor/PpAtom",
            "glslang/MachineIndependent/preprocessor/PpContext",
            "glslang/MachineIndependent/preprocessor/PpScanner",
            "glslang/MachineIndependent/preprocessor/PpTokens",
            "glslang/MachineIndependent/glslang_tab",
        ],
    ),
    (
        "tree",
        &[
            "glslang/MachineIndependent/Constant",
            "glslang/MachineIndependent/InfoSink",
            "glslang/MachineIndependent/Initialize",
            "glslang/MachineIndependent/IntermTraverse",
            "glslang/MachineIndependent/Intermediate",
            "glslang/MachineIndependent/PoolAlloc",
            "glslang/MachineIndependent/RemoveTree",
            "glslang/MachineIndependent/ShaderLang",
            "glslang/MachineIndependent/SpirvIntrinsics",
            "glslang/MachineIndependent/SymbolTable",
            "glslang/MachineIndependent/Versions",
            "glslang/MachineIndependent/intermOut",
            "glslang/MachineIndependent/iomapper",
            "glslang/MachineIndependent/limits",
            "glslang/MachineIndependent/linkValidate",
            "glslang/MachineIndependent/parseConst",
            "glslang/MachineIndependent/propagateNoContraction",
            "glslang/MachineIndependent/reflection",
            "glslang/GenericCodeGen/CodeGen",
            "glslang/GenericCodeGen/Link",
            "glslang/ResourceLimits/ResourceLimits",
        ],
    ),
    (
        "write",
        &[
            "SPIRV/GlslangToSpv",
            "SPIRV/InReadableOrder",
            "SPIRV/Logger",
            "SPIRV/SpvBuilder",
            "SPIRV/SpvPostProcess",
            "SPIRV/SpvTools",
            "SPIRV/doc",
        ],
    ),
];

/// Headers with a line more: the header, the line after which, and the line.
const COUNTED: [(&str, &str, &str); 2] = [
    (
        "glslang/MachineIndependent/preprocessor/PpContext.h",
        "    int scanToken(TPpToken* ppToken)\n    {\n",
        "        ::rgraph::read(&includer);\n",
    ),
    ("glslang/Include/Types.h", "    bool contains(P predicate) const\n    {\n", "        ::rgraph::look();\n"),
];

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}

/// The crate with the sources, and how the versions that fit begin, as in the workspace's manifest.
const SOURCES: [&str; 2] = ["glslang-sys", "0.9."];

/// The folder of the sources: beside this crate's, where both are in the registry or vendored; else cargo knows it. In a
/// registry this crate's own manifest need not resolve: what a user's lock file does not name may not be downloaded.
fn sources() -> PathBuf {
    beside().unwrap_or_else(listed).join("native")
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
        cargo.args(["metadata", "--format-version", "1", "--features", "sources"]);
        cargo.args(["--filter-platform", &variable("HOST"), "--manifest-path"]);
        cargo.arg(&manifest).args(offline.then_some("--offline"));
        let output = cargo.output().expect("cargo runs");
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let text = asked(true).or_else(|| asked(false)).expect("cargo metadata lists the packages");
    let paths = text.split("\"manifest_path\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    let folders =
        paths.map(|path| PathBuf::from(path.replace("\\\\", "\\"))).filter_map(|mut path| path.pop().then_some(path));
    let ours = |folder: &PathBuf| folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(SOURCES[0]));
    folders.into_iter().find(ours).expect("glslang-sys is an optional dependency")
}

fn file(name: &str) -> PathBuf {
    Path::new(&variable("OUT_DIR")).join(name)
}

fn name(path: &Path) -> String {
    path.display().to_string().replace('\\', "/")
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=cpp");
    // Its builders have no network, and pages link nothing.
    if std::env::var_os("DOCS_RS").is_some() {
        return;
    }
    let native = sources();
    let root = native.join("glslang");
    // Headers of another place, included first: their guards keep the originals out.
    let mut first = String::new();
    for (header, after, line) in COUNTED {
        let text = std::fs::read_to_string(root.join(header)).expect("the header is there").replace("\r\n", "\n");
        assert_eq!(text.matches(after).count(), 1, "{header} has one such function");
        let copy = file(header.rsplit('/').next().expect("a name"));
        std::fs::write(&copy, text.replace(after, &format!("{after}{line}"))).expect("outputs can be written");
        first = format!("#include \"{}\"\n{first}", name(&copy));
    }
    let mut build = cc::Build::new();
    // Tests want it soon, users small.
    let level = if variable("PROFILE") == "release" { "s" } else { "1" };
    build.cpp(true).std("c++17").opt_level_str(level).debug(false).warnings(false).cargo_metadata(true);
    build.flag_if_supported("-fno-rtti").define("ENABLE_SPIRV", None);
    // Ours before the system's: `assert.h` is there.
    build.include("cpp/replaced").include(&root).include(native.join("build_info"));
    build.include(root.join("glslang/MachineIndependent/preprocessor")).include(root.join("glslang/Include"));
    // Wheels are for systems whose C++ library may be older.
    if variable("CARGO_CFG_TARGET_OS") == "linux" {
        // zig links its own libc++, always as a part of the library; another compiler's is a separate archive. maturin
        // has zig write symbols of debuggers, which takes 18 GB for a unit of glslang.
        if build.get_compiler().path().to_string_lossy().contains("zig") {
            build.cpp_link_stdlib("c++").flag("-g0");
        } else {
            build.cpp_link_stdlib_static(true);
        }
    }
    for (unit, files) in UNITS {
        let lines: String = files
            .iter()
            .map(|file| format!("#include \"{}\"\n", name(&root.join(file).with_extension("cpp"))))
            .collect();
        let path = file(&format!("{unit}.cpp"));
        // Nothing is printed: what is wrong is in the log.
        let quiet = "#include <cstdio>\n#define printf(...) static_cast<void>(0)\n";
        std::fs::write(&path, format!("{first}{quiet}{lines}")).expect("outputs can be written");
        build.file(path);
    }
    build.file("cpp/glsl.cpp").compile("rgraph_glslang");
}
