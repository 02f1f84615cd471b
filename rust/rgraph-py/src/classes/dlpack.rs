//! DLPack's capsules of memory that another object keeps.
//!
//! Source: DLPack 1.0, `dlpack.h`, and the Python array API's "Data interchange mechanisms".

use std::ffi::{CStr, c_void};

use pyo3::ffi;
use pyo3::prelude::*;

/// DLTensor.
#[repr(C)]
struct View {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    ndim: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// DLManagedTensor.
#[repr(C)]
struct Plain {
    view: View,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Self)>,
}

/// DLManagedTensorVersioned.
#[repr(C)]
struct Versioned {
    version: [u32; 2],
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Self)>,
    flags: u64,
    view: View,
}

/// The two kinds of tensors that capsules hold.
trait Managed: Sized {
    /// Name of a capsule that nobody took yet.
    const NAME: &CStr;
    fn new(view: View) -> Self;
}

impl Managed for Plain {
    const NAME: &CStr = c"dltensor";

    fn new(view: View) -> Self {
        Self { view, context: std::ptr::null_mut(), deleter: Some(delete::<Self>) }
    }
}

impl Managed for Versioned {
    const NAME: &CStr = c"dltensor_versioned";

    fn new(view: View) -> Self {
        Self { version: [1, 0], context: std::ptr::null_mut(), deleter: Some(delete::<Self>), flags: 0, view }
    }
}

/// A tensor, its axes, and the object that keeps its memory. The tensor is first: both have one address.
#[repr(C)]
struct Held<T> {
    managed: T,
    axes: Box<[i64]>,
    owner: Option<Py<PyAny>>,
}

/// Drops a tensor, from any thread.
unsafe extern "C" fn delete<T: Managed>(managed: *mut T) {
    if managed.is_null() {
        return;
    }
    // SAFETY: `hold` made it of a box, and the consumer of the capsule calls this once.
    let mut held = unsafe { Box::from_raw(managed.cast::<Held<T>>()) };
    let owner = held.owner.take();
    drop(held);
    // SAFETY: always safe to call.
    let alive = unsafe { ffi::Py_IsInitialized() } != 0;
    let mut owner = owner;
    if alive {
        Python::try_attach(|_| drop(owner.take()));
    }
    // The interpreter ends: its objects go with the process.
    std::mem::forget(owner);
}

/// Drops the tensor of a capsule that nobody took.
unsafe extern "C" fn unused<T: Managed>(capsule: *mut ffi::PyObject) {
    // SAFETY: the interpreter calls it with a capsule, attached; a consumer of the tensor renames the capsule.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, T::NAME.as_ptr()) == 1 {
            delete(ffi::PyCapsule_GetPointer(capsule, T::NAME.as_ptr()).cast::<T>());
        }
    }
}

fn hold<T: Managed>(py: Python<'_>, owner: Py<PyAny>, mut axes: Box<[i64]>, view: View) -> PyResult<Bound<'_, PyAny>> {
    let ndim = axes.len() / 2;
    let (shape, strides) = axes.split_at_mut(ndim);
    // A box does not move what it holds.
    let view = View { ndim: ndim as i32, shape: shape.as_mut_ptr(), strides: strides.as_mut_ptr(), ..view };
    let held = Box::into_raw(Box::new(Held { managed: T::new(view), axes, owner: Some(owner) }));
    // SAFETY: not null; the name is static; the destructor takes capsules of that name.
    let capsule = unsafe { ffi::PyCapsule_New(held.cast(), T::NAME.as_ptr(), Some(unused::<T>)) };
    if capsule.is_null() {
        // SAFETY: no capsule has it.
        unsafe { delete(held.cast::<T>()) };
    }
    // SAFETY: a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_err(py, capsule) }
}

/// A capsule of contiguous memory of a CUDA device, which `owner` keeps.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "the parts of a DLTensor")]
pub(crate) fn _dlpack_capsule<'py>(
    py: Python<'py>,
    owner: Py<PyAny>,
    pointer: usize,
    shape: Vec<i64>,
    code: u8,
    bits: u8,
    device: i32,
    versioned: bool,
) -> PyResult<Bound<'py, PyAny>> {
    const CUDA: i32 = 2;
    let mut axes = shape.clone();
    let mut stride = 1;
    axes.extend(std::iter::repeat_n(0, shape.len()));
    for (at, size) in shape.iter().enumerate().rev() {
        axes[shape.len() + at] = stride;
        stride *= size.max(&1);
    }
    let view = View {
        data: pointer as *mut c_void,
        device_type: CUDA,
        device_id: device,
        ndim: 0,
        code,
        bits,
        lanes: 1,
        shape: std::ptr::null_mut(),
        strides: std::ptr::null_mut(),
        byte_offset: 0,
    };
    let axes = axes.into_boxed_slice();
    if versioned { hold::<Versioned>(py, owner, axes, view) } else { hold::<Plain>(py, owner, axes, view) }
}
