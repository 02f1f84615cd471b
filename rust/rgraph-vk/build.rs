//! Builds the Khronos validator for SPIR-V out of the sources that `spirv-tools-sys` brings.
//!
//! That crate would compile the optimizer too, every file for itself: ten minutes. The validator as three translation
//! units takes twenty seconds.

use rgraph_cxx::{Sources, library, unit, variable};

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

/// The crate with the sources, as in the workspace's manifest.
const SOURCES: Sources = Sources { name: "spirv-tools-sys", version: "0.13.", feature: None };

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=cpp/validate.cpp");
    let root = SOURCES.folder();
    let source = root.join("spirv-tools/source");
    let folder = std::fs::read_dir(source.join("val")).expect("the validator's folder is there");
    let mut validator: Vec<_> = folder.map(|entry| entry.expect("an entry of a folder").path()).collect();
    validator.retain(|path| path.extension().is_some_and(|suffix| suffix == "cpp"));
    validator.sort();
    let (apart, together): (Vec<_>, Vec<_>) = validator.into_iter().partition(|path| path.ends_with(APART));
    let mut build = library();
    // Its assertions are for its authors: strangers' bytes must not end the process.
    build.define("NDEBUG", None);
    build.flag_if_supported("-fno-exceptions");
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
    let shared = SHARED.iter().map(|name| source.join(name).with_extension("cpp"));
    build.file(unit("shared.cpp", "", shared)).file(unit("validator.cpp", "", together));
    build.files(apart).file("cpp/validate.cpp").compile("rgraph_spirv_val");
}
