//! What several tests need.

use rgraph_shader::{Kind, Language, Program, ShaderError, Source};

/// The shaders in `corpus/`, and what they are for.
pub const CORPUS: [(&str, Kind); 4] = [
    ("lights.wgsl", Kind::Compute),
    ("mesh.wgsl", Kind::Raster),
    ("blocks.comp", Kind::Compute),
    ("arrays.wgsl", Kind::Raster),
];

/// The text of a shader in `corpus/`.
pub fn text(name: &str) -> &'static str {
    match name {
        "lights.wgsl" => include_str!("../corpus/lights.wgsl"),
        "mesh.wgsl" => include_str!("../corpus/mesh.wgsl"),
        "blocks.comp" => include_str!("../corpus/blocks.comp"),
        "arrays.wgsl" => include_str!("../corpus/arrays.wgsl"),
        _ => panic!("no shader {name} in the corpus"),
    }
}

/// A shader of `corpus/`, compiled.
pub fn corpus(name: &str, kind: Kind) -> Program {
    let text = text(name);
    Program::new(name, kind, &[Source::Text(Language::of(text), text)], None).unwrap_or_else(|fault| panic!("{fault}"))
}

/// A WGSL source.
pub fn wgsl(text: &str) -> Source<'_> {
    Source::Text(Language::Wgsl, text)
}

/// A GLSL source.
pub fn glsl(text: &str) -> Source<'_> {
    Source::Text(Language::Glsl, text)
}

/// A program of these sources, called `test`.
pub fn program(kind: Kind, sources: &[Source<'_>]) -> Program {
    Program::new("test", kind, sources, None).unwrap_or_else(|fault| panic!("{fault}"))
}

/// What is wrong with these sources.
pub fn fault(kind: Kind, sources: &[Source<'_>]) -> ShaderError {
    Program::new("test", kind, sources, None).expect_err("it should not compile")
}

/// SplitMix64: the same numbers everywhere.
pub struct Random(pub u64);

impl Random {
    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % end as u64) as usize
    }
}
