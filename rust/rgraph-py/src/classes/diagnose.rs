//! `rgraph.diagnose`: what there is of Vulkan here, as plain values.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use rgraph_plan::profile::Capabilities;
use rgraph_vk::{DeviceDiagnosis, DeviceOptions, Diagnosis, Feature};

use crate::arguments::file_path::FilePath;
use crate::arguments::keywords;
use crate::classes::profile::PyProfile;
use crate::run::error::guarded;

/// The Vulkan installation of this machine: for `rgraph doctor`, and for programs that report missing parts.
///
/// The result lists missing and failing parts; they raise no exception. A crash of a driver ends the process, so
/// `rgraph doctor` queries each driver in a process of its own.
///
/// Parameters
/// ----------
/// loader
///     Path of the Vulkan loader, or of a driver itself; default: the system's.
///
/// Returns
/// -------
/// dict
///     Plain values: `"loader"` (path, found, version, error), `"instance"` (error, extensions, messages of the loader
///     and of drivers), `"layers"` and `"devices"`: what identifies each, `"queues"`, `"heaps"` with their budget in
///     bytes, `"needs"` and `"offers"` (features by name, whether it has them, what wants them), `"refused"`: why it
///     cannot be used, or None; and its profile, as `Profile.to_dict` gives it.
///
/// Examples
/// --------
/// >>> import rgraph
/// >>> found = rgraph.diagnose(loader="/no/such/loader.so")
/// >>> found["loader"]["found"], found["devices"]
/// (False, [])
#[pyfunction]
#[pyo3(signature = (*, loader = None, **unknown), text_signature = "(*, loader=None)")]
pub(crate) fn diagnose<'py>(
    py: Python<'py>,
    loader: Option<FilePath>,
    unknown: Option<&Bound<'_, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    keywords::refuse_function("diagnose", unknown)?;
    let options = DeviceOptions { loader: loader.map(|path| path.0), ..DeviceOptions::default() };
    let Diagnosis { loader, version, loader_error, instance_error, extensions, layers, messages, devices } =
        guarded(py, || rgraph_vk::diagnose(&options))?;
    let of_loader = PyDict::new(py);
    of_loader.set_item("path", loader)?;
    of_loader.set_item("found", version.is_some())?;
    of_loader.set_item("version", version)?;
    of_loader.set_item("error", loader_error)?;
    let instance = PyDict::new(py);
    instance.set_item("error", instance_error)?;
    instance.set_item("extensions", extensions)?;
    instance.set_item("messages", messages)?;
    let all_layers = PyList::empty(py);
    for layer in layers {
        let one = PyDict::new(py);
        one.set_item("name", layer.name)?;
        one.set_item("version", layer.version)?;
        one.set_item("revision", layer.revision)?;
        one.set_item("description", layer.description)?;
        all_layers.append(one)?;
    }
    let all_devices = PyList::empty(py);
    for found in devices {
        all_devices.append(device(py, found)?)?;
    }
    let all = PyDict::new(py);
    all.set_item("loader", of_loader)?;
    all.set_item("instance", instance)?;
    all.set_item("layers", all_layers)?;
    all.set_item("devices", all_devices)?;
    Ok(all)
}

fn device(py: Python<'_>, found: DeviceDiagnosis) -> PyResult<Bound<'_, PyDict>> {
    let DeviceDiagnosis { info, budget, needs, offers, refused, profile } = found;
    let queues = PyList::empty(py);
    for (index, family) in info.families.iter().enumerate() {
        let has = [
            ("graphics", Capabilities::GRAPHICS),
            ("compute", Capabilities::COMPUTE),
            ("transfer", Capabilities::TRANSFER),
        ];
        let names = has.into_iter().filter(|(_, one)| family.capabilities.contains(*one)).map(|(name, _)| name);
        let one = PyDict::new(py);
        one.set_item("family", index)?;
        one.set_item("count", family.count)?;
        one.set_item("capabilities", PyList::new(py, names.collect::<Vec<_>>())?)?;
        one.set_item("timestamp_bits", family.timestamp_bits)?;
        queues.append(one)?;
    }
    let heaps = PyList::empty(py);
    for (at, heap) in info.heaps.iter().enumerate() {
        let (used, budget) = budget.as_ref().and_then(|all| all.get(at)).map(|[used, budget]| (used, budget)).unzip();
        let one = PyDict::new(py);
        one.set_item("size", heap.size)?;
        one.set_item("device_local", heap.device_local)?;
        one.set_item("used", used)?;
        one.set_item("budget", budget)?;
        heaps.append(one)?;
    }
    let one = PyDict::new(py);
    one.set_item("index", info.index)?;
    one.set_item("name", &info.name)?;
    one.set_item("kind", info.kind.name())?;
    one.set_item("uuid", info.uuid_text())?;
    one.set_item("pci", info.pci)?;
    one.set_item("driver", &info.driver)?;
    one.set_item("api", info.api)?;
    one.set_item("usable", refused.is_none())?;
    one.set_item("refused", refused)?;
    one.set_item("queues", queues)?;
    one.set_item("heaps", heaps)?;
    one.set_item("needs", features(py, &needs)?)?;
    one.set_item("offers", features(py, &offers)?)?;
    let profile = profile.map(|profile| PyProfile(profile).to_dict(py)).transpose()?;
    one.set_item("profile", profile)?;
    Ok(one)
}

fn features<'py>(py: Python<'py>, all: &[Feature]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for feature in all {
        let one = PyDict::new(py);
        one.set_item("name", feature.name)?;
        one.set_item("has", feature.has)?;
        one.set_item("wanted_by", feature.wanted_by)?;
        list.append(one)?;
    }
    Ok(list)
}
