//! Programs by the text object that they were recalled for: a loop gives the same constant for each of its passes, and
//! hashing and comparing a shader takes longer than the rest of a declaration.

use std::cell::RefCell;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyString;
use rgraph_shader::{Kind, Program, Remembered};

/// Texts known per thread, a power of two.
const PLACES: usize = 64;

/// A text and its program without entry point and constants. The text is held, so its address means no other one, and
/// it is exactly a `str`, which never changes.
struct Known {
    text: Py<PyString>,
    kind: Kind,
    program: Remembered,
}

thread_local! {
    /// By the place that an address belongs to; a later text takes the place of an earlier one.
    static KNOWN: RefCell<Vec<Option<Known>>> = const { RefCell::new(Vec::new()) };
}

/// The place of a text object.
fn place(text: &Bound<'_, PyString>) -> usize {
    let address = text.as_ptr() as u64;
    (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % PLACES
}

/// The program that was kept for this very text.
pub(super) fn find(text: &Bound<'_, PyString>, kind: Kind) -> Option<Arc<Program>> {
    KNOWN.with_borrow(|known| {
        let known = known.get(place(text))?.as_ref()?;
        (known.text.is(text) && known.kind == kind).then(|| known.program.take())
    })
}

/// Keeps the program of a text that is no path.
pub(super) fn keep(text: &Bound<'_, PyString>, kind: Kind, program: Remembered) {
    if !text.is_exact_instance_of::<PyString>() {
        return;
    }
    KNOWN.with_borrow_mut(|known| {
        known.resize_with(PLACES, || None);
        known[place(text)] = Some(Known { text: text.clone().unbind(), kind, program });
    });
}
