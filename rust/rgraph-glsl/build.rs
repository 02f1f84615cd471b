//! Builds glslang out of the sources that `glslang-sys` brings.
//!
//! That crate would compile every file for itself, HLSL's too, with live assertions that abort: two minutes of CPU
//! time. Three translation units take forty seconds, an assertion that fails is an exception (`cpp/replaced/assert.h`),
//! and two headers get a line that counts work, so that no text makes glslang read or look without end.

use rgraph_cxx::{Sources, library, output, quoted, unit};

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

/// The crate with the sources, as in the workspace's manifest. No build has its feature: it only lets cargo tell the
/// folder.
const SOURCES: Sources = Sources { name: "glslang-sys", version: "0.9.", feature: Some("sources") };

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=cpp");
    // Its builders have no network, and pages link nothing.
    if std::env::var_os("DOCS_RS").is_some() {
        return;
    }
    let native = SOURCES.folder().join("native");
    let root = native.join("glslang");
    // Headers of another place, included first: their guards keep the originals out.
    let mut first = String::new();
    for (header, after, line) in COUNTED {
        let text = std::fs::read_to_string(root.join(header)).expect("the header is there").replace("\r\n", "\n");
        assert_eq!(text.matches(after).count(), 1, "{header} has one such function");
        let copy = output(header.rsplit('/').next().expect("a name"));
        std::fs::write(&copy, text.replace(after, &format!("{after}{line}"))).expect("outputs can be written");
        first = format!("#include {}\n{first}", quoted(&copy));
    }
    let mut build = library();
    build.define("ENABLE_SPIRV", None);
    // Ours before the system's: `assert.h` is there.
    build.include("cpp/replaced").include(&root).include(native.join("build_info"));
    build.include(root.join("glslang/MachineIndependent/preprocessor")).include(root.join("glslang/Include"));
    // Nothing is printed: what is wrong is in the log.
    let before = format!("{first}#include <cstdio>\n#define printf(...) static_cast<void>(0)\n");
    for (name, files) in UNITS {
        let files = files.iter().map(|file| root.join(file).with_extension("cpp"));
        build.file(unit(&format!("{name}.cpp"), &before, files));
    }
    build.file("cpp/glsl.cpp").compile("rgraph_glslang");
}
