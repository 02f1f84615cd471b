//! What stands behind a shader's bindings: keyword arguments matched with its variables by name.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use rgraph_plan::error::{Code, Mistake};
use rgraph_plan::file::nearest::nearest;
use rgraph_plan::graph::Place;
use rgraph_plan::resource::ResourceId;
use rgraph_shader::{Binding, BindingKind, Program};
use rgraph_vk::work::{Bound as BoundTo, Compare, Sampler, View, What};

use crate::check::{Asks, Check, words};
use crate::convert::Text;
use crate::declare::given;
use crate::error::shader_error;
use crate::passes::{Arguments, Work, all};
use crate::sampler::PySampler;
use crate::value::value;
use crate::view::{Part, PyView};

/// A pass in messages.
#[derive(Clone, Copy)]
pub struct Who<'a> {
    /// Its name.
    pub pass: &'a str,
    /// Where it is declared.
    pub place: Option<&'a Place>,
}

impl Who<'_> {
    /// A mistake of this pass; `says` is its side of it.
    pub fn mistake(&self, code: Code, message: String, says: String, help: String) -> Mistake {
        Mistake::new(code, message, help).pass(self.pass).side(self.pass, says, self.place.cloned())
    }
}

/// What a dispatch writes: a position in the table, whether it is an image, and the mip.
pub type Written = (ResourceId, bool, u32);

/// The bindings of one dispatch or draw.
#[derive(Default)]
pub struct Bindings {
    /// What stands behind them.
    pub bound: Vec<BoundTo>,
    /// What of it is written.
    pub written: Vec<Written>,
    /// What is wrong.
    pub mistakes: Vec<Mistake>,
}

/// The values of bindings: those left over of the keyword arguments, and those of `bindings=`.
pub fn values<'py>(arguments: Arguments<'py>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    let more = arguments.take("bindings")?;
    let mut values = arguments.rest()?;
    if let Some(more) = more {
        for (name, value) in more.cast::<PyDict>()?.iter() {
            values.push((name.extract::<Text>()?.0.to_owned(), value));
        }
    }
    Ok(values)
}

/// Matches values with the variables of a program, and notes in `work` how they are used.
///
/// # Errors
/// `GraphError` with every binding that is missing, unknown or of the wrong kind.
pub fn bind(
    py: Python<'_>,
    who: Who<'_>,
    program: &Arc<Program>,
    values: &[(String, Bound<'_, PyAny>)],
    work: &mut Work,
) -> PyResult<Bindings> {
    let mut bindings = Bindings::default();
    let known: Vec<_> = program.interface.bindings.iter().map(|binding| binding.name.as_str()).collect();
    for (name, _) in values {
        // What the shader declares and does not use takes anything.
        let unused = program.interface.unused.iter().any(|unused| unused == name);
        if !unused && !known.contains(&name.as_str()) {
            bindings.mistakes.push(unknown(who, program, name, &known));
        }
    }
    for (at, binding) in program.interface.bindings.iter().enumerate() {
        let value = values.iter().find(|(name, _)| *name == binding.name).map(|(_, value)| value);
        let value = value.filter(|value| !value.is_none());
        match (value, binding.kind) {
            (None, BindingKind::Sampler { comparison }) => {
                let sampler = Sampler { compare: comparison.then_some(Compare::LessEqual), ..Sampler::default() };
                for element in 0..binding.count {
                    bindings.bound.push(BoundTo { binding: at as u32, element, what: What::Sampler(sampler) });
                }
            }
            (None, _) => bindings.mistakes.push(missing(who, program, binding, values)),
            (Some(value), _) if binding.count == 1 => one(who, (program, at), value, 0, work, &mut bindings)?,
            (Some(value), _) => {
                let items = crate::convert::one_or_many(value)?;
                if items.len() != binding.count as usize {
                    let message = format!(
                        "pass \"{}\" binds {} resources to \"{}\" of shader \"{}\", which is an array of {}",
                        who.pass,
                        items.len(),
                        binding.name,
                        program.name,
                        binding.count
                    );
                    let help = "give a list of as many as the shader has".to_owned();
                    let says = format!("{} for \"{}\"", items.len(), binding.name);
                    bindings.mistakes.push(who.mistake(Code::BadBinding, message, says, help));
                    continue;
                }
                for (element, item) in (0..).zip(&items) {
                    one(who, (program, at), item, element, work, &mut bindings)?;
                }
            }
        }
    }
    if !bindings.mistakes.is_empty() {
        return Err(all(py, bindings.mistakes));
    }
    Ok(bindings)
}

fn unknown(who: Who<'_>, program: &Program, name: &str, known: &[&str]) -> Mistake {
    let shown: String = name.chars().take(60).collect();
    let message = format!("pass \"{}\" binds \"{shown}\", which shader \"{}\" does not have", who.pass, program.name);
    let help = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None if known.is_empty() => "the shader has no bindings".to_owned(),
        None => format!("it has {}", known.join(", ")),
    };
    who.mistake(Code::UnknownBinding, message, format!("binds \"{shown}\""), help)
}

fn missing(who: Who<'_>, program: &Program, binding: &Binding, values: &[(String, Bound<'_, PyAny>)]) -> Mistake {
    let (name, words) = (&binding.name, words(binding));
    let message = format!("pass \"{}\" binds nothing to \"{name}\" of shader \"{}\", {words}", who.pass, program.name);
    let known = |name: &str| program.interface.find(name).is_some();
    let strangers = values.iter().map(|(name, _)| name.as_str()).filter(|name| !known(name));
    let help = match nearest(name, strangers) {
        Some(near) => format!("is \"{near}\" meant for it?"),
        None => format!("give it as {name}=…"),
    };
    who.mistake(Code::MissingBinding, message, format!("binds no \"{name}\""), help)
}

fn one(
    who: Who<'_>,
    (program, at): (&Arc<Program>, usize),
    value: &Bound<'_, PyAny>,
    element: u32,
    work: &mut Work,
    bindings: &mut Bindings,
) -> PyResult<()> {
    let binding = &program.interface.bindings[at];
    let mut push = |what| bindings.bound.push(BoundTo { binding: at as u32, element, what });
    let wrong = |got: String, help: &str| {
        let message = format!(
            "pass \"{}\": binding \"{}\" of shader \"{}\" is {}, got {got}",
            who.pass,
            binding.name,
            program.name,
            words(binding)
        );
        let says = format!("binds {got} to \"{}\"", binding.name);
        who.mistake(Code::BadBinding, message, says, help.to_owned())
    };
    if let Ok(sampler) = value.cast::<PySampler>() {
        let sampler = sampler.get().0;
        let BindingKind::Sampler { comparison } = binding.kind else {
            bindings.mistakes.push(wrong("a sampler".to_owned(), "bind a resource, and the sampler by its own name"));
            return Ok(());
        };
        if comparison != sampler.compare.is_some() {
            let got = if comparison { "a sampler that does not compare" } else { "a sampler that compares" };
            bindings
                .mistakes
                .push(wrong(got.to_owned(), "say compare= of the sampler exactly where the shader compares"));
            return Ok(());
        }
        push(What::Sampler(sampler));
        return Ok(());
    }
    // An image together with its sampler.
    let (value, sampler) = match value.cast::<PyTuple>() {
        Ok(pair) if pair.len() == 2 && pair.get_item(1)?.is_instance_of::<PySampler>() => {
            (pair.get_item(0)?, Some(pair.get_item(1)?.cast::<PySampler>()?.get().0))
        }
        _ => (value.clone(), None),
    };
    let part = PyView::of(&value).map(|(resource, part)| (resource.into_any(), part));
    let part = part.or_else(|| value.is_instance_of::<PyString>().then(|| (value.clone(), Part::default())));
    let Some((resource, part)) = part else {
        if binding.kind != BindingKind::Uniform {
            let (got, help) = data_words(&value, binding)?;
            bindings.mistakes.push(wrong(got, &help));
            return Ok(());
        }
        let data = crate::value::value(&value)?;
        match binding.ty.as_ref().map(|ty| ty.pack(&program.name, &binding.name, &data)) {
            Some(Ok(bytes)) => push(What::Data(bytes)),
            Some(Err(error)) => return Err(shader_error(value.py(), &error, Some(who))),
            None => bindings.mistakes.push(wrong("plain data".to_owned(), "bind a buffer: the layout is not known")),
        }
        return Ok(());
    };
    let id = work.table.add(given(&resource)?.owned());
    let mut part = part;
    // A storage image is one mip.
    let image = matches!(binding.kind, BindingKind::Image { .. });
    if image {
        part.ranges.mips = part.ranges.mips.or(Some([0, 1]));
    }
    let view = View {
        resource: id,
        mips: part.ranges.mips,
        layers: part.ranges.layers,
        aspects: part.aspects,
        range: part.ranges.bytes,
    };
    work.checks.push(Check { at: id, part, program: Arc::clone(program), asks: Asks::Binding(at) });
    if let Some(usage) = binding.usage() {
        work.uses(id, usage, part, |how| how.stages = binding.stages);
    }
    if binding.writes {
        bindings.written.push((id, image, part.ranges.mips.map_or(0, |[first, _]| first)));
    }
    push(match (binding.kind, sampler) {
        (BindingKind::Combined { .. }, sampler) => What::Combined(view, sampler.unwrap_or_default()),
        (_, None) => What::Resource(view),
        (_, Some(_)) => {
            bindings.mistakes.push(wrong("an image with a sampler".to_owned(), "bind the sampler by its own name"));
            return Ok(());
        }
    });
    Ok(())
}

fn data_words(value: &Bound<'_, PyAny>, binding: &Binding) -> PyResult<(String, String)> {
    let kind = value.get_type().name()?.to_string();
    let help = match binding.kind {
        BindingKind::Storage => "import it: g.import_array(name, array, as_buffer=True)",
        BindingKind::Sampler { .. } => "bind an rgraph.Sampler",
        _ if value.is_instance_of::<PyList>() => "bind one image, or make it an array in the shader",
        _ => "import it: g.import_array(name, array)",
    };
    Ok((format!("plain data ({kind})"), help.to_owned()))
}

/// The push data of a program.
///
/// # Errors
/// `GraphError` if it does not fit, is missing, or is not asked for.
pub fn push(py: Python<'_>, who: Who<'_>, program: &Program, given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<u8>> {
    let mistake = match (&program.interface.push, given) {
        (None, None) => return Ok(Vec::new()),
        (None, Some(_)) => {
            let message = format!("pass \"{}\" has push=, but shader \"{}\" has no push data", who.pass, program.name);
            let help = "declare a push constant (WGSL: var<immediate>, GLSL: push_constant), or leave push= out";
            who.mistake(Code::BadData, message, "has push=".to_owned(), help.to_owned())
        }
        (Some(push), None) => {
            let message = format!(
                "pass \"{}\" has no push=, but shader \"{}\" reads \"{}\" of {} bytes",
                who.pass, program.name, push.name, push.size
            );
            who.mistake(Code::BadData, message, "has no push=".to_owned(), "give push={…} by member".to_owned())
        }
        (Some(push), Some(given)) => {
            let packed = push.ty.pack(&program.name, &push.name, &value(given)?);
            let mut bytes = packed.map_err(|error| shader_error(py, &error, Some(who)))?;
            bytes.resize(push.size as usize, 0);
            return Ok(bytes);
        }
    };
    Err(all(py, vec![mistake]))
}
