//! SPIR-V of others, checked by the Khronos validator before a driver sees it: drivers crash on what it refuses.
//!
//! So is what glslang made of GLSL: it takes more than it writes rightly. What naga wrote is not asked for. Each module
//! is checked once per process.

use std::collections::HashSet;
use std::ffi::{CStr, c_char, c_int};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rgraph_shader::{GivenCode, Language, Program, ShaderError};

use crate::error::Code;

/// Words of a module: 64 MiB. The validator's memory grows with them.
const MOST_WORDS: usize = 1 << 24;

/// Words of modules that are remembered as good.
const REMEMBERED: usize = 1 << 22;

/// Stack of the thread that validates: the validator recurses through types. Reserved, not used.
const STACK: usize = 64 << 20;

unsafe extern "C" {
    /// `cpp/validate.cpp`.
    fn rgraph_validate_spirv(
        words: *const u32,
        count: usize,
        reason: *mut c_char,
        capacity: usize,
        at: *mut usize,
    ) -> c_int;
}

/// Modules that the validator accepted, whole: a hash of them could be forged.
#[derive(Default)]
struct Accepted {
    modules: HashSet<Arc<[u32]>>,
    words: usize,
}

static ACCEPTED: LazyLock<Mutex<Accepted>> = LazyLock::new(Mutex::default);

/// Whether the code of a program is, in part, not naga's.
pub(crate) fn is_foreign(program: &Program) -> bool {
    program.sources.iter().any(|source| !matches!(source.code, GivenCode::Text(Language::Wgsl, _)))
}

/// Whether a driver of Vulkan 1.3 may see a module; 1.3 is what devices are asked for, whatever else they have.
///
/// # Errors
/// `RG-E307` with the validator's reason.
pub fn validate(shader: &str, spirv: &[u32]) -> Result<(), ShaderError> {
    let accepted = || ACCEPTED.lock().unwrap_or_else(PoisonError::into_inner);
    if accepted().modules.contains(spirv) {
        return Ok(());
    }
    if let Some(reason) = refused(spirv) {
        return Err(ShaderError {
            code: Code::InvalidSpirv,
            message: reason,
            shader: shader.to_owned(),
            at: None,
            excerpt: Box::default(),
            help: "give a module that spirv-val --target-env vulkan1.3 accepts".to_owned(),
        });
    }
    let mut known = accepted();
    if known.words + spirv.len() > REMEMBERED {
        *known = Accepted::default();
    }
    known.words += spirv.len();
    known.modules.insert(spirv.into());
    Ok(())
}

/// Why the validator refuses a module; `None`: it does not.
fn refused(spirv: &[u32]) -> Option<String> {
    if spirv.len() > MOST_WORDS {
        return Some(format!("it has {} words, and at most {MOST_WORDS} are validated", spirv.len()));
    }
    let check = || {
        let mut reason = [0u8; 1024];
        let mut at = 0;
        // SAFETY: the words and the buffer outlive the call, with their lengths; the function keeps none of them.
        let result = unsafe {
            rgraph_validate_spirv(spirv.as_ptr(), spirv.len(), reason.as_mut_ptr().cast(), reason.len(), &raw mut at)
        };
        let text = CStr::from_bytes_until_nul(&reason).unwrap_or_default().to_string_lossy();
        let first = text.lines().next().unwrap_or_default().trim();
        let first = if first.is_empty() { "the validator refuses it" } else { first };
        (result != 0).then(|| format!("invalid SPIR-V at instruction {at}: {first}"))
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("rgraph spirv".to_owned()).stack_size(STACK);
        match thread.spawn_scoped(scope, check) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(error) => Some(format!("no thread for its validation: {error}")),
        }
    })
}
