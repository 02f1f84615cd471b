//! The arguments of a run: arrays, flags and parameters by name.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rgraph_plan::error::Code;
use rgraph_plan::graph::{PassId, Ranges};
use rgraph_plan::nearest::nearest;
use rgraph_plan::resource::ResourceId;
use rgraph_shader::{Program, Type};
use rgraph_vk::file::Picture;
use rgraph_vk::work::{Bound as BoundTo, Step, What, Work};
use rgraph_vk::{ChaosOptions, ChaosReport, DeviceResource, Error, Inputs, Upload};
use rgraph_work::infer::Who;

use crate::arguments::adapt;
use crate::arguments::convert::Text;
use crate::arguments::host_arrays::Host;
use crate::arguments::options::Measuring;
use crate::arguments::reads;
use crate::arguments::source;
use crate::arguments::value::value;
use crate::classes::array_layout::ArrayLayout;
use crate::classes::compiled::PyCompiled;
use crate::classes::device_resource::PyDeviceResource;
use crate::classes::devices_compiled::PyCompiledDevices;
use crate::classes::frame::PyFrame;
use crate::classes::graph::PyGraph;
use crate::classes::pass::PyPass;
use crate::classes::resource::PyResource;
use crate::run::call::Arguments;
use crate::run::detached::{Detached, Free, call};
use crate::run::ending::poll;
use crate::run::error::{bad, graph_error, guarded, shader_error};
use crate::run::external;
use crate::run::inside::outside;
use crate::run::lease::{self, Leases, Lent};
use crate::run::per_run::Word;
use crate::run::runnable::{Param, Runnable};
use crate::run::states::Packed;

/// The contents given for an imported resource.
enum Input {
    Host(Host),
    Bytes(Vec<u8>),
    File(Arc<Picture>),
    Owned(Detached<DeviceResource>),
}

impl Input {
    fn upload<'a>(&'a self, free: &Free<'a>) -> Result<Upload<'a>, Error> {
        Ok(match self {
            Self::Host(host) => Upload::Bytes(host.bytes()),
            Self::Bytes(bytes) => Upload::Bytes(bytes),
            Self::File(picture) => Upload::Bytes(&picture.bytes),
            Self::Owned(resource) => Upload::Resource(resource.get(free)?),
        })
    }
}

impl Runnable {
    /// The resource that an argument means: a handle or a name.
    pub fn find(&self, value: &Bound<'_, PyAny>) -> PyResult<ResourceId> {
        let py = value.py();
        let name = match value.cast::<PyResource>() {
            Ok(handle) => handle.get().full_name(),
            Err(_) => Text::of(value.as_borrowed(), "a resource or its name")?.0.to_owned(),
        };
        let graph = &self.load.graph;
        graph.find_resource(&name).ok_or_else(|| {
            let help = match nearest(&name, graph.resource_names().iter()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => "use a name of an image or buffer of the graph".to_owned(),
            };
            let shown: String = name.chars().take(60).collect();
            bad(py, Code::UnknownName, format!("the graph has no image or buffer called \"{shown}\""), &help)
        })
    }

    /// An array that stands for a resource, and how it lies in there.
    fn host(
        &self,
        id: ResourceId,
        array: &Bound<'_, PyAny>,
        what: &str,
        read: fn(&Bound<'_, PyAny>, &str) -> PyResult<Host>,
    ) -> PyResult<(Host, ArrayLayout)> {
        let what = format!("{what} \"{}\"", self.load.graph.resource_name(id));
        let host = read(array, &what)?;
        let layout = self.layout_for(array.py(), id, &host, &what)?;
        Ok((host, layout))
    }

    /// An array as the contents of an imported resource.
    fn input(&self, id: ResourceId, array: &Bound<'_, PyAny>, what: &str) -> PyResult<Input> {
        let (host, layout) = self.host(id, array, what, Host::new)?;
        Ok(match layout.pack(&host.form, host.bytes()) {
            Cow::Owned(bytes) => Input::Bytes(bytes),
            Cow::Borrowed(_) => Input::Host(host),
        })
    }

    /// The arrays that resources were imported from.
    fn arrays(&self, origin: Option<&Bound<'_, PyGraph>>) -> Vec<(ResourceId, Py<PyAny>)> {
        let Some(origin) = origin else { return Vec::new() };
        let py = origin.py();
        origin.get().read(|state| {
            let Some(graph) = &state.graph else { return Vec::new() };
            let here = |id| self.load.graph.find_resource(graph.resource_name(id));
            let mut all: Vec<_> =
                state.arrays.iter().filter_map(|(id, array)| Some((here(*id)?, array.clone_ref(py)))).collect();
            all.sort_by_key(|(id, _)| *id);
            all
        })
    }

    /// The files that resources were read from.
    fn pictures(&self, origin: Option<&Bound<'_, PyGraph>>) -> Vec<(ResourceId, Arc<Picture>)> {
        let Some(origin) = origin else { return Vec::new() };
        origin.get().read(|state| {
            let Some(graph) = &state.graph else { return Vec::new() };
            let here = |id| self.load.graph.find_resource(graph.resource_name(id));
            state.pictures.iter().filter_map(|(id, picture)| Some((here(*id)?, Arc::clone(picture)))).collect()
        })
    }

    fn pass(&self, value: &Bound<'_, PyAny>) -> PyResult<PassId> {
        let name = match value.cast::<PyPass>() {
            Ok(pass) => pass.get().full_name(),
            Err(_) => Text::of(value.as_borrowed(), "a resource or its name")?.0.to_owned(),
        };
        let graph = &self.load.graph;
        graph.find_pass(&name).ok_or_else(|| {
            let help = match nearest(&name, graph.pass_names().iter()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => "params= has passes, or (pass, variable)".to_owned(),
            };
            let shown: String = name.chars().take(60).collect();
            bad(value.py(), Code::UnknownName, format!("the graph has no pass called \"{shown}\""), &help)
        })
    }

    /// The program of a pass's dispatch or draw, what is bound to it, and its push data.
    fn program(&self, pass: PassId) -> Option<(&Program, &[BoundTo], &[u8])> {
        let Work::Steps(steps) = self.load.works.get(&pass)? else { return None };
        steps.iter().find_map(|step| match step {
            Step::Dispatch(dispatch) => Some((&*dispatch.program, &*dispatch.bound, &*dispatch.push)),
            Step::Draw(draw) => Some((&*draw.program, &*draw.bound, &*draw.push)),
            Step::Trace(trace) => Some((&*trace.program, &*trace.bound, &*trace.push)),
            Step::Transfer(_) | Step::Build(_) | Step::Instances(_) => None,
        })
    }

    /// Resets parameters that an earlier run changed and this one does not to those of the declaration.
    fn restore(&self, inputs: &mut Inputs<'_>) {
        let mut changed = self.changed.lock().unwrap_or_else(PoisonError::into_inner);
        let given: BTreeSet<Param> = (inputs.push.iter().map(|(pass, _)| (*pass, None)))
            .chain(inputs.data.iter().map(|(pass, at, _)| (*pass, Some(*at))))
            .collect();
        for (pass, at) in changed.difference(&given) {
            let Some((_, bound, push)) = self.program(*pass) else { continue };
            let declared = |at: u32| bound.iter().find(|bound| bound.binding == at).map(|bound| &bound.what);
            match at.map(|at| (at, declared(at))) {
                None => inputs.push.push((*pass, push.to_vec())),
                Some((at, Some(What::Data(bytes)))) => inputs.data.push((*pass, at, bytes.clone())),
                Some(_) => {}
            }
        }
        *changed = given;
    }

    /// The clear value, load or viewport that a key of `params=` names, where the pass has no data of that name.
    pub fn target_param(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<(PassId, Word)>> {
        let Some(pair) = key.cast::<PyTuple>().ok().filter(|pair| pair.len() == 2) else { return Ok(None) };
        let name = pair.get_item(1)?;
        let Some(word) = name.extract::<Text>().ok().and_then(|Text(name)| Word::from_name(name)) else {
            return Ok(None);
        };
        let pass = self.pass(&pair.get_item(0)?)?;
        let data = self.program(pass).and_then(|(program, ..)| program.interface.find(name.extract::<Text>().ok()?.0));
        Ok(data.is_none().then_some((pass, word)))
    }

    /// Reads one entry of `params=`.
    fn param(&self, key: &Bound<'_, PyAny>, data: &Bound<'_, PyAny>, inputs: &mut Inputs<'_>) -> PyResult<()> {
        let py = key.py();
        let (pass, variable) = match key.cast::<PyTuple>() {
            Ok(pair) if pair.len() == 2 => (self.pass(&pair.get_item(0)?)?, Some(pair.get_item(1)?)),
            _ => (self.pass(key)?, None),
        };
        let graph = &self.load.graph;
        let name = graph.pass_name(pass);
        let refuse = |message: String, help: &str| Err(bad(py, Code::BadData, message, help));
        let Some((program, bound, _)) = self.program(pass) else {
            return refuse(
                format!("pass \"{name}\" has no shader to give data to"),
                "params= is for compute and raster",
            );
        };
        if matches!(self.load.works.get(&pass), Some(Work::Steps(steps)) if steps.len() > 1) {
            let help = "give what changes in a buffer, or declare a pass for each draw";
            return refuse(format!("pass \"{name}\" has several draws, and params= does not name one of them"), help);
        }
        let who = Who { pass: name, place: graph.pass_place(pass) };
        let packed = |ty: &Type, path: &str| {
            let packed = ty.pack(&program.name, path, &value(data, who, path)?);
            packed.map_err(|error| shader_error(py, &error, Some(who)))
        };
        let Some(variable) = variable else {
            let Some(push) = &program.interface.push else {
                let help = "uniform data is given as params={(pass, variable): …}";
                return refuse(format!("the shader of pass \"{name}\" has no push data"), help);
            };
            let mut bytes = packed(&push.ty, &push.name)?;
            bytes.resize(push.size as usize, 0);
            inputs.push.push((pass, bytes));
            return Ok(());
        };
        let Text(variable) = variable.extract()?;
        let found = program.interface.find(variable);
        let is_data =
            |at: usize| bound.iter().any(|bound| bound.binding as usize == at && matches!(bound.what, What::Data(_)));
        match found {
            Some((at, binding)) if is_data(at) => {
                if let Some(ty) = &binding.ty {
                    inputs.data.push((pass, at as u32, packed(ty, variable)?));
                }
                Ok(())
            }
            _ => {
                let help = "it must be a uniform block that the pass was given data for";
                refuse(format!("pass \"{name}\" has no data called \"{variable}\""), help)
            }
        }
    }
}

fn unknown_flag(py: Python<'_>, compiled: &Runnable, name: &str) -> PyErr {
    let flags = compiled.load.graph.flags();
    let help = match nearest(name, flags.iter().map(String::as_str)) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None if flags.is_empty() => "declare it: conditional= of a pass".to_owned(),
        None => {
            let some: Vec<_> = flags.iter().take(6).map(|flag| format!("\"{flag}\"")).collect();
            format!("its flags are {}{}", some.join(", "), if flags.len() > some.len() { ", ..." } else { "" })
        }
    };
    let shown: String = name.chars().take(60).collect();
    bad(py, Code::UnknownName, format!("the graph has no flag called \"{shown}\""), &help)
}

/// An array that a result is written to.
type IntoArray = (ResourceId, Host, ArrayLayout);

/// The arguments of a run, read from Python: contents of imported resources, arrays to read into, and the rest.
struct Given {
    uploads: Vec<(ResourceId, Input)>,
    targets: Vec<IntoArray>,
    /// Contents set before the run, and whether all states are reset.
    states: Vec<Packed>,
    reset: bool,
    inputs: Inputs<'static>,
    leases: Leases,
}

/// The value of a flag.
fn on_or_off(flag: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value.extract().or_else(|_| {
        let kind = value.get_type().name()?;
        Err(PyTypeError::new_err(format!("the flag \"{flag}\" is True or False, not {kind}")))
    })
}

/// Contents of resources before a run.
#[derive(Default)]
struct Contents<'py> {
    /// Of imported resources.
    uploads: Vec<(ResourceId, Input)>,
    /// Of those that live from run to run.
    states: Vec<Packed>,
    /// Imported resources that an object lends.
    lent: Vec<Lent<'py>>,
}

impl<'py> Contents<'py> {
    /// Those of `inputs=`, then those of the graph's own arrays and pictures.
    fn read(
        py: Python<'py>,
        this: &Runnable,
        origin: Option<&Bound<'py, PyGraph>>,
        given: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Self> {
        let (mut all, mut arrays) = (Self::default(), Vec::new());
        for (id, array) in this.arrays(origin) {
            let array = array.into_bound(py);
            match lease::is_lender(&array)? {
                true => all.lent.push(Lent { id, lender: array, given: None }),
                false => arrays.push((id, array)),
            }
        }
        for (key, array) in given.iter().flat_map(|given| given.iter()) {
            all.add(this, this.find(&key)?, array)?;
        }
        for (id, array) in arrays {
            if !all.uploads.iter().any(|(known, _)| *known == id) {
                all.uploads.push((id, this.input(id, &array, "the array of")?));
            }
        }
        all.lent.retain(|lent| !all.uploads.iter().any(|(known, _)| *known == lent.id));
        for (id, picture) in this.pictures(origin) {
            if !all.uploads.iter().any(|(known, _)| *known == id) {
                all.uploads.push((id, Input::File(picture)));
            }
        }
        Ok(all)
    }

    /// One of `inputs=`.
    fn add(&mut self, this: &Runnable, id: ResourceId, array: Bound<'py, PyAny>) -> PyResult<()> {
        let input = match array.cast::<PyDeviceResource>() {
            Ok(owned) => Input::Owned(owned.get().resource.clone()),
            Err(_) if self.lent.iter().any(|lent| lent.id == id) => {
                self.lent.iter_mut().filter(|lent| lent.id == id).for_each(|lent| lent.given = Some(array.clone()));
                return Ok(());
            }
            Err(_) if this.lasts(id) && !this.imports(id) => {
                self.states.push(this.state(id, &array)?);
                return Ok(());
            }
            Err(_) => this.input(id, &array, "the input")?,
        };
        self.uploads.push((id, input));
        Ok(())
    }
}

/// Reads `into=`: arrays that results are written to.
fn targets(py: Python<'_>, this: &Runnable, into: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<IntoArray>> {
    let mut targets = Vec::new();
    for (key, array) in into.iter().flat_map(|into| into.iter()) {
        let id = this.find(&key)?;
        let (host, layout) = this.host(id, &array, "the array for", Host::target)?;
        host.written(py, &format!("the array for \"{}\"", this.load.graph.resource_name(id)))?;
        if host.readonly() {
            let message = format!("the array for \"{}\" cannot be written", this.load.graph.resource_name(id));
            return Err(bad(py, Code::BadArray, message, "give one that owns its memory, as numpy.empty(…)"));
        }
        if let Some((other, ..)) = targets.iter().find(|(_, known, _): &&IntoArray| known.overlaps(&host)) {
            let [first, second] = [*other, id].map(|id| this.load.graph.resource_name(id));
            let message = format!("results \"{first}\" and \"{second}\" are read into the same memory");
            return Err(bad(py, Code::BadInput, message, "give each an array of its own"));
        }
        targets.push((id, host, layout));
    }
    Ok(targets)
}

/// Reads `flags=`. Flags that are not given are on, whatever the run before set.
fn flags(py: Python<'_>, this: &Runnable, given: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<(String, bool)>> {
    let mut all: Vec<_> = this.load.graph.flags().iter().map(|flag| (flag.clone(), true)).collect();
    for (flag, on) in given.iter().flat_map(|flags| flags.iter()) {
        let Text(name) = Text::of(flag.as_borrowed(), "the name of a flag")?;
        match all.iter_mut().find(|(known, _)| known == name) {
            Some(known) => known.1 = on_or_off(name, &on)?,
            None => return Err(unknown_flag(py, this, name)),
        }
    }
    Ok(all)
}

/// Reads arguments; `one` is what runs if it is on one device.
fn gather<'py>(
    py: Python<'py>,
    (this, one): (&Runnable, Option<&PyCompiled>),
    origin: Option<&Bound<'py, PyGraph>>,
    arguments: &Arguments<'_, 'py>,
) -> PyResult<Given> {
    outside(py, &this.numbers)?;
    let Arguments { inputs: given, into, flags: on, params, read, statistics, measure, chaos: _, .. } = *arguments;
    let Contents { mut uploads, mut states, lent } = Contents::read(py, this, origin, given)?;
    let targets = targets(py, this, into)?;
    let mut measuring = this.measuring.or_else(py, measure, None)?;
    // A run that is asked itself is measured.
    measuring.sample = if measure.is_some() { 1 } else { measuring.sample };
    if let (None, Some(one)) = (measure, one) {
        measuring.measure = one.device.get().follow.measure(measuring.measure);
    }
    let Measuring { measure, sample } = measuring;
    let mut inputs = Inputs { measure, sample, anew: true, statistics, ..Inputs::default() };
    inputs.flags = flags(py, this, on)?;
    inputs.targets = this.target_changes(origin, params)?;
    for (key, data) in params.iter().flat_map(|params| params.iter()) {
        if this.target_param(&key)?.is_none() {
            this.param(&key, &data, &mut inputs)?;
        }
    }
    if let Some(read) = read {
        let all = reads::listed(read)?.iter().map(|value| this.find_part(value)).collect::<PyResult<Vec<_>>>()?;
        let (whole, parts): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, ranges)| *ranges == Ranges::default());
        let mut wanted: Vec<_> = whole.into_iter().map(|(id, _)| id).collect();
        inputs.parts = parts;
        wanted.extend(targets.iter().map(|(id, ..)| *id));
        wanted.sort();
        wanted.dedup();
        inputs.read = Some(wanted);
    }
    inputs.unread = lent.iter().map(|lent| lent.id).collect();
    if let Some(one) = one {
        if arguments.wait.is_some() {
            inputs.place = source::place(py);
        }
        external::given(one, arguments, &mut inputs).inspect_err(|_| one.device.get().device.withdraw(&inputs))?;
    }
    let pending = this.pending();
    let set = |id: &ResourceId| states.iter().any(|(known, _)| known == id);
    let before: Vec<_> = pending.states.iter().filter(|(id, _)| !set(id)).cloned().collect();
    states.splice(0..0, before);
    // Last of all: whatever fails after it has to give back.
    let (leases, resources) = match (one, lent.first()) {
        (Some(one), _) => {
            Leases::take(py, &one.device, lent).inspect_err(|_| one.device.get().device.withdraw(&inputs))?
        }
        (None, None) => Default::default(),
        (None, Some(first)) => {
            let message = format!(
                "\"{}\" is memory of CUDA, and the graph runs on several devices",
                this.load.graph.resource_name(first.id)
            );
            return Err(bad(py, Code::BadInput, message, "give an array, or run the graph on one device"));
        }
    };
    uploads.extend(resources.into_iter().map(|(id, resource)| (id, Input::Owned(resource))));
    Ok(Given { uploads, targets, states, reset: pending.reset, inputs, leases })
}

/// Chaos runs: see `Device.chaos`.
pub(crate) fn chaos<'py>(
    slf: &Bound<'py, PyCompiled>,
    origin: Option<&Bound<'py, PyGraph>>,
    arguments: &Arguments<'_, 'py>,
    options: ChaosOptions,
) -> PyResult<ChaosReport> {
    let (py, this) = (slf.py(), slf.get());
    let Given { uploads, inputs, states, leases, .. } = gather(py, (this, Some(this)), origin, arguments)?;
    match tried(py, this, (&uploads, &states), &inputs, options) {
        Ok(report) => leases.ran(py).map(|_| report),
        Err(error) => Err(leases.failed(py, error)),
    }
}

fn tried(
    py: Python<'_>,
    this: &PyCompiled,
    (uploads, states): (&[(ResourceId, Input)], &[Packed]),
    inputs: &Inputs<'static>,
    options: ChaosOptions,
) -> PyResult<ChaosReport> {
    let options = ChaosOptions { plan: Some(Arc::clone(this.compiled.plan())), ..options };
    let device = &this.device.get().device;
    call(py, |free| {
        let uploads = uploads.iter().map(|(id, input)| Ok((*id, input.upload(free)?)));
        let inputs = Inputs {
            uploads: uploads.collect::<Result<_, Error>>()?,
            anew: true,
            first: this.first.iter().chain(states).map(|(id, bytes)| (*id, &**bytes)).collect(),
            data: inputs.data.clone(),
            push: inputs.push.clone(),
            targets: inputs.targets.clone(),
            flags: inputs.flags.clone(),
            poll: Some(&poll),
            ..Inputs::default()
        };
        device.get(free)?.chaos(&this.load, &inputs, &options)
    })
}

/// Runs a frame with the arrays of `origin`.
pub(crate) fn run<'py>(
    slf: &Bound<'py, PyCompiled>,
    origin: Option<&Bound<'py, PyGraph>>,
    arguments: &Arguments<'_, 'py>,
) -> PyResult<Bound<'py, PyFrame>> {
    let (py, this) = (slf.py(), slf.get());
    let tuned = adapt::tuned(slf, arguments.adapt)?;
    let Given { uploads, targets, states, reset, mut inputs, leases } =
        gather(py, (this, Some(this)), origin, arguments)?;
    if let Some(seed) = arguments.chaos {
        let options = ChaosOptions { seed, ..ChaosOptions::default() };
        let report = tried(py, this, (&uploads, &states), &inputs, options);
        let checked = report.and_then(|report| report.check().map_err(|error| graph_error(py, &error)));
        if let Err(error) = checked {
            return Err(leases.failed(py, error));
        }
    }
    this.restore(&mut inputs);
    let mut inputs: Inputs<'_> = inputs;
    inputs.poll = Some(&poll);
    inputs.first = this.first.iter().map(|(id, bytes)| (*id, &**bytes)).collect();
    inputs.states = states.iter().map(|(id, bytes)| (*id, &**bytes)).collect();
    inputs.reset = reset;
    let frame = this.compiled.make(py, |compiled, free| {
        let uploads = uploads.iter().map(|(id, input)| Ok((*id, input.upload(free)?)));
        let inputs = Inputs { uploads: uploads.collect::<Result<_, Error>>()?, ..inputs };
        match &tuned {
            None => compiled.run(&inputs),
            Some((tuned, true)) => tuned.tuner().get(free)?.run(inputs),
            Some((tuned, false)) => tuned.tuner().get(free)?.run_kept(inputs),
        }
    });
    let frame = match frame {
        Ok(frame) => frame,
        Err(error) => return Err(leases.failed(py, error)),
    };
    this.done(reset, &states);
    let frame = PyFrame::of_one(slf, frame, leases.ran(py)?)?;
    hand_over(&frame, targets)?;
    this.device.get().follow.ran(slf.as_any(), frame.as_any());
    Ok(frame)
}

/// Copies results into the arrays of `into=`.
fn hand_over(frame: &Bound<'_, PyFrame>, targets: Vec<IntoArray>) -> PyResult<()> {
    let py = frame.py();
    for (id, mut host, layout) in targets {
        let array = frame.get().array(py, (id, Ranges::default()))?;
        let bytes = array.get().bytes();
        if bytes.len() != layout.bytes() || layout.len() != host.len() {
            return Err(PyTypeError::new_err("the array's memory was changed while the frame ran"));
        }
        let to = host.bytes_mut();
        guarded(py, || match layout.is_packed() {
            true => rgraph_vk::bulk::copy(to, bytes),
            false => layout.unpack(bytes, to),
        })?;
    }
    Ok(())
}

/// Runs a frame on several devices with the arrays of `origin`; it is done when this returns.
pub(crate) fn run_devices<'py>(
    slf: &Bound<'py, PyCompiledDevices>,
    origin: Option<&Bound<'py, PyGraph>>,
    arguments: &Arguments<'_, 'py>,
) -> PyResult<Bound<'py, PyFrame>> {
    let (py, this) = (slf.py(), slf.get());
    let Given { uploads, targets, states, reset, mut inputs, .. } = gather(py, (this, None), origin, arguments)?;
    this.restore(&mut inputs);
    let mut inputs: Inputs<'_> = inputs;
    inputs.poll = Some(&poll);
    inputs.first = this.first.iter().map(|(id, bytes)| (*id, &**bytes)).collect();
    inputs.states = states.iter().map(|(id, bytes)| (*id, &**bytes)).collect();
    inputs.reset = reset;
    let frame = this.compiled.make(py, |compiled, free| {
        let uploads = uploads.iter().map(|(id, input)| Ok((*id, input.upload(free)?)));
        compiled.run(&Inputs { uploads: uploads.collect::<Result<_, Error>>()?, ..inputs })
    })?;
    this.done(reset, &states);
    let frame = PyFrame::of_several(slf, frame)?;
    hand_over(&frame, targets)?;
    Ok(frame)
}
