//! Readers of shaders never panic, and end.

use rgraph_shader::{Kind, Language, Program, Source};

/// The first byte chooses language and kind; the rest is the shader.
pub fn shader(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let kind = if first & 4 == 0 { Kind::Compute } else { Kind::Raster };
    let text = String::from_utf8_lossy(rest);
    let source = match first % 3 {
        0 => Source::Text(Language::Wgsl, &text),
        1 => Source::Text(Language::Glsl, &text),
        _ => Source::Spirv(rest),
    };
    if let Ok(program) = Program::new("fuzz", kind, &[source], None) {
        assert!(program.interface.bindings.len() <= rest.len() + 1);
    }
}
