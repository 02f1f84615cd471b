//! Arrays of bindings that a shader leaves open: they are as long as what is bound to them.

use crate::error::ShaderError;
use crate::interface::Length;
use crate::language::Language;
use crate::program::{self, Parts, Program};
use crate::source::{Given, GivenCode, Source};
use crate::spirv::close::close;
use crate::stage::Module;

impl Program {
    /// The same program with lengths for its arrays of open length. WGSL is compiled again, because its indices are
    /// kept inside of the array; in the code of the other languages the arrays get their lengths.
    ///
    /// # Errors
    /// As [`Program::specialized`].
    pub(crate) fn compile_lengths(&self, lengths: &[Length]) -> Result<Self, ShaderError> {
        let is_wgsl = |given: &Given| matches!(given.code, GivenCode::Text(Language::Wgsl, _));
        let Parts { kind, sources, entry, constants, .. } = &**self;
        let mut new = if sources.iter().any(is_wgsl) {
            let borrowed: Vec<Source<'_>> = sources.iter().map(Given::borrow).collect();
            Self::with(&self.name, *kind, &borrowed, entry.as_deref(), constants, lengths)?.given(sources.clone())
        } else {
            self.clone()
        };
        let parts = new.parts_mut();
        let closed = |module: &Module| {
            let spirv = close(&module.spirv, lengths).unwrap_or_else(|| module.spirv.clone());
            Module { spirv, ..module.clone() }
        };
        parts.modules = parts.modules.iter().map(closed).collect();
        parts.hash = program::hash(&parts.modules);
        parts.needs = program::needs(&parts.modules, &parts.interface);
        parts.lengths = lengths.to_vec();
        for binding in parts.interface.bindings.iter_mut().filter(|binding| binding.count == 0) {
            let same = |length: &&Length| (length.group, length.binding) == (binding.group, binding.binding);
            binding.count = lengths.iter().find(same).map_or(0, |length| length.count);
        }
        Ok(new)
    }
}
