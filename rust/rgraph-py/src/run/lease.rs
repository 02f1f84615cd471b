//! Imported resources that an object lends for one run: tensors of CUDA, see `rgraph.cuda`.
//!
//! The array of such a resource is a lender. Each run calls `lender.__rgraph_lend__(device, given)` with what `inputs`
//! has for it, or None, and gets a lease: `lease.resource` is bound to the import; `lease.ran()` is called when the run
//! was submitted, and what it returns is a result of the frame; `lease.failed()` if it was not.

use pyo3::intern;
use pyo3::prelude::*;
use rgraph_plan::resource::ResourceId;
use rgraph_vk::DeviceResource;

use crate::classes::device::PyDevice;
use crate::classes::device_resource::PyDeviceResource;
use crate::classes::resource::PyResource;
use crate::run::detached::Detached;
use crate::run::error::one;

/// Has an object lend an imported resource's buffer for each run.
#[pyfunction]
pub(crate) fn _lend(resource: &Bound<'_, PyResource>, lender: &Bound<'_, PyAny>) -> PyResult<()> {
    let (py, this) = (resource.py(), resource.get());
    let lender = lender.clone().unbind();
    let replaced = this.graph.get().change(|state| {
        state.open()?;
        Ok(state.arrays.insert(this.id, lender))
    });
    replaced.map(drop).map_err(|mistake| one(py, mistake))
}

/// A resource that is lent, its lender, and its value in `inputs`.
pub(crate) struct Lent<'py> {
    pub id: ResourceId,
    pub lender: Bound<'py, PyAny>,
    pub given: Option<Bound<'py, PyAny>>,
}

/// An imported resource, and what is bound to it for one run.
pub(crate) type Borrowed = (ResourceId, Detached<DeviceResource>);

/// Whether an object lends resources.
pub(crate) fn is_lender(array: &Bound<'_, PyAny>) -> PyResult<bool> {
    array.hasattr(intern!(array.py(), "__rgraph_lend__"))
}

/// What was lent for a run that is about to begin.
#[derive(Default)]
pub(crate) struct Leases(Vec<(ResourceId, Py<PyAny>)>);

impl Leases {
    /// Asks the lenders; the resources that are bound. If one refuses, the others get theirs back.
    pub(crate) fn take(py: Python<'_>, device: &Py<PyDevice>, lent: Vec<Lent<'_>>) -> PyResult<(Self, Vec<Borrowed>)> {
        let (mut leases, mut resources) = (Self::default(), Vec::with_capacity(lent.len()));
        for Lent { id, lender, given } in lent {
            let lend = || -> PyResult<_> {
                let lease = lender.call_method1(intern!(py, "__rgraph_lend__"), (device, given))?;
                let resource = lease.getattr(intern!(py, "resource"))?.cast_into::<PyDeviceResource>()?;
                Ok((lease.unbind(), resource.get().resource.clone()))
            };
            match lend() {
                Ok((lease, resource)) => {
                    leases.0.push((id, lease));
                    resources.push((id, resource));
                }
                Err(error) => return Err(leases.failed(py, error)),
            }
        }
        Ok((leases, resources))
    }

    /// The run was submitted: results of the frame.
    pub(crate) fn ran(self, py: Python<'_>) -> PyResult<Vec<(ResourceId, Py<PyAny>)>> {
        let (mut results, mut first) = (Vec::new(), None);
        for (id, lease) in self.0 {
            match lease.call_method0(py, intern!(py, "ran")) {
                Ok(result) if result.is_none(py) => {}
                Ok(result) => results.push((id, result)),
                Err(error) => first = first.or(Some(error)),
            }
        }
        first.map_or(Ok(results), Err)
    }

    /// The run was not submitted; returns its error.
    pub(crate) fn failed(self, py: Python<'_>, error: PyErr) -> PyErr {
        for (_, lease) in self.0 {
            if let Err(other) = lease.call_method0(py, intern!(py, "failed")) {
                other.write_unraisable(py, None);
            }
        }
        error
    }
}
