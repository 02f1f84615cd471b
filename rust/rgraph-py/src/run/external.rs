//! Semaphores that a run waits for and signals, and the fence that it signals.

use ash::vk::{self, Handle};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString, PyTuple};
use rgraph_plan::access::{Stages, Usage};
use rgraph_plan::error::Code;
use rgraph_plan::resource::ResourceId;
use rgraph_vk::{BinarySemaphore, Inputs, RunFence, Semaphore, SemaphoreSignal, SemaphoreWait};

use crate::arguments::convert::{Text, one_or_many};
use crate::classes::binary::{PyBinarySemaphore, PyFence};
use crate::classes::compiled::PyCompiled;
use crate::classes::semaphore::PySemaphore;
use crate::run::call::Arguments;
use crate::run::error::bad;
use crate::run::runtime_errors::raised;

const FORM: &str = "give (semaphore, value), or (semaphore, None) for a binary one; an imported resource may stand third, \
                    or usages or stages of a wait";

/// A semaphore of an argument: ours, or a handle.
enum Given {
    Ours(Semaphore),
    Binary(BinarySemaphore),
    Handle(vk::Semaphore),
}

impl Given {
    /// Of a handle: the caller may have it of an object of ours.
    fn of_handle(this: &PyCompiled, py: Python<'_>, raw: u64) -> Self {
        let (device, raw) = (this.device.bind(py).get().device.known(), vk::Semaphore::from_raw(raw));
        let binary = || device.find_binary_semaphore(raw).map(Self::Binary);
        device.find_semaphore(raw).map(Self::Ours).or_else(binary).unwrap_or(Self::Handle(raw))
    }
}

/// Only a part of a run waits.
enum Behind {
    Import(ResourceId),
    At(Stages),
}

/// What stands third in a wait: an import, or usages and stages.
fn behind(this: &PyCompiled, third: &Bound<'_, PyAny>) -> PyResult<Behind> {
    let unknown = match this.find(third) {
        Ok(resource) => return Ok(Behind::Import(resource)),
        Err(unknown) => unknown,
    };
    let Ok(words) = one_or_many(third) else { return Err(unknown) };
    let wrong = |message: String| Err(bad(third.py(), Code::BadInput, message, FORM));
    let mut all = Stages::empty();
    for word in words {
        let name = word.extract::<Text>().map(|Text(name)| name);
        let usage = name.as_ref().ok().and_then(|name| Usage::from_name(name)).map(SemaphoreWait::stages_of);
        match usage.or_else(|| Stages::from_word(name.as_ref().ok()?)) {
            Some(stages) => all |= stages,
            None if third.is_instance_of::<PyString>() => return Err(unknown),
            None => return wrong(format!("a wait names {}, which is no usage and no stage", word.repr()?)),
        }
    }
    match all.is_empty() {
        true => wrong("a wait names no usage and no stage".to_owned()),
        false => Ok(Behind::At(all)),
    }
}

/// Adds the semaphores that a run waits for and signals, and the fence that it signals.
pub(crate) fn given(this: &PyCompiled, arguments: &Arguments<'_, '_>, inputs: &mut Inputs<'static>) -> PyResult<()> {
    inputs.fence = arguments.fence.map(|fence| self::fence(this, fence)).transpose()?;
    for one in arguments.wait.map(one_or_many).transpose()?.unwrap_or_default() {
        let (semaphore, value, third) = parts(this, &one)?;
        let third = third.map(|third| behind(this, &third)).transpose()?;
        let wait = match (semaphore, value) {
            (Given::Ours(ours), Some(value)) => ours.reaches(value),
            (Given::Ours(_), None) => {
                return Err(bad(one.py(), Code::BadInput, "a timeline is waited for by value", FORM));
            }
            (Given::Binary(ours), None) => ours.reached().map_err(|error| raised(one.py(), error))?,
            (Given::Binary(_), Some(_)) => {
                return Err(bad(one.py(), Code::BadInput, "a binary semaphore has no values", FORM));
            }
            // SAFETY: the caller's handle, as those of borrowed devices and resources are.
            (Given::Handle(raw), value) => unsafe { SemaphoreWait::new(raw, value) },
        };
        inputs.waits.push(match third {
            Some(Behind::Import(resource)) => wait.before(resource),
            Some(Behind::At(stages)) => wait.at(stages),
            None => wait,
        });
    }
    for one in arguments.signal.map(one_or_many).transpose()?.unwrap_or_default() {
        let (semaphore, value, resource) = parts(this, &one)?;
        let resource = resource.map(|resource| this.find(&resource)).transpose()?;
        let signal = match (semaphore, value) {
            (Given::Ours(ours), Some(value)) => ours.promised(value).map_err(|error| raised(one.py(), error))?,
            (Given::Ours(_), None) => {
                return Err(bad(one.py(), Code::BadInput, "a timeline is signalled with a value", FORM));
            }
            (Given::Binary(ours), None) => ours.promised().map_err(|error| raised(one.py(), error))?,
            (Given::Binary(_), Some(_)) => {
                return Err(bad(one.py(), Code::BadInput, "a binary semaphore has no values", FORM));
            }
            // SAFETY: as above.
            (Given::Handle(raw), value) => unsafe { SemaphoreSignal::new(raw, value) },
        };
        inputs.signals.push(resource.map_or(signal, |resource| signal.behind(resource)));
    }
    Ok(())
}

/// A fence of an argument: ours, or a handle.
fn fence(this: &PyCompiled, given: &Bound<'_, PyAny>) -> PyResult<RunFence> {
    const HELP: &str = "give a Fence of this device, the VkFence as an integer, or None";
    let py = given.py();
    if let Ok(ours) = given.cast::<PyFence>() {
        if !ours.get().device.bind(py).is(this.device.bind(py)) {
            return Err(bad(py, Code::BadInput, "a fence of another device is given", HELP));
        }
        return ours.get().fence.known().promised().map_err(|error| raised(py, error));
    }
    match given.extract::<u64>() {
        Ok(raw) if raw != 0 && !given.is_instance_of::<PyBool>() => {
            let raw = vk::Fence::from_raw(raw);
            match this.device.bind(py).get().device.known().find_fence(raw) {
                Some(ours) => ours.promised().map_err(|error| raised(py, error)),
                // SAFETY: the caller's handle, as those of borrowed devices and resources are.
                None => Ok(unsafe { RunFence::new(raw) }),
            }
        }
        Ok(0) => Err(bad(py, Code::BadInput, "a fence of 0 is none", HELP)),
        _ => Err(bad(py, Code::BadInput, format!("a fence is {}", given.repr()?), HELP)),
    }
}

type Parts<'py> = (Given, Option<u64>, Option<Bound<'py, PyAny>>);

/// Semaphore, value and resource of an argument.
fn parts<'py>(this: &PyCompiled, one: &Bound<'py, PyAny>) -> PyResult<Parts<'py>> {
    let py = one.py();
    let wrong = |message: String| bad(py, Code::BadInput, message, FORM);
    let Ok(tuple) = one.cast::<PyTuple>() else {
        return Err(wrong(format!("a semaphore is given as {}", one.get_type().name()?)));
    };
    if !(2..=3).contains(&tuple.len()) {
        return Err(wrong(format!("a semaphore is given with {} values", tuple.len())));
    }
    let first = tuple.get_item(0)?;
    let value = tuple.get_item(1)?;
    let Ok(value) = value.extract::<Option<u64>>() else {
        return Err(wrong(format!(
            "the value of a semaphore is {}, and values are integers from 0 to 2**64 - 1",
            value.repr()?
        )));
    };
    if let Ok(ours) = first.cast::<PyBinarySemaphore>() {
        if !ours.get().device.bind(py).is(this.device.bind(py)) {
            return Err(wrong("a semaphore of another device is given".to_owned()));
        }
        let third = if tuple.len() == 3 { Some(tuple.get_item(2)?).filter(|third| !third.is_none()) } else { None };
        return Ok((Given::Binary(ours.get().semaphore.known().clone()), value, third));
    }
    let semaphore = match first.cast::<PySemaphore>() {
        Ok(ours) if !ours.get().device.bind(py).is(this.device.bind(py)) => {
            return Err(wrong("a semaphore of another device is given".to_owned()));
        }
        Ok(ours) => Given::Ours(ours.get().semaphore.known().clone()),
        Err(_) => match first.extract::<u64>() {
            Ok(raw) if raw != 0 && !first.is_instance_of::<PyBool>() => Given::of_handle(this, py, raw),
            _ => return Err(wrong(format!("a semaphore is {}", first.repr()?))),
        },
    };
    let resource =
        if tuple.len() == 3 { Some(tuple.get_item(2)?).filter(|resource| !resource.is_none()) } else { None };
    Ok((semaphore, value, resource))
}
