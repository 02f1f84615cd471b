//! What stands behind a shader's bindings: values matched with its variables by name.

use std::sync::Arc;

use rgraph_ir::error::{Code, GraphError, Mistake};
use rgraph_ir::format::{Format, Numbers};
use rgraph_ir::nearest::nearest;
use rgraph_ir::resource::ResourceId;
use rgraph_shader::{Binding, BindingKind, Length, Program, SampleKind, Value};

use super::check::{Asks, Check, words};
use super::{AccessRange, Needs, Who};
use crate::error::WorkError;
use crate::work::{Bound, Compare, PushData, Sampler, View, What};

/// A value that is bound to a variable.
#[derive(Clone, PartialEq, Debug)]
pub enum Given {
    /// Part of an image or a buffer, and its sampler where the shader has both as one.
    Resource(ResourceId, AccessRange, Option<Sampler>),
    /// Part of a buffer, and the format of its texels.
    Texels(ResourceId, AccessRange, Format),
    Sampler(Sampler),
    /// Data for a uniform block.
    Data(Value),
    /// Something else: what it is, and what would help.
    Other(String, String),
}

/// What a dispatch writes: a resource, whether it is an image, and the mip.
pub type Written = (ResourceId, bool, u32);

/// The values of a variable: one for each element that it has.
#[derive(Clone, PartialEq, Debug)]
pub enum Elements {
    /// Of a variable that is no array, mostly.
    One(Given),
    /// Any number.
    Many(Vec<Given>),
}

impl Elements {
    fn as_slice(&self) -> &[Given] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

/// The bindings of one dispatch or draw, in the making.
struct Bindings<'a> {
    needs: &'a mut Needs,
    mistakes: Vec<Mistake>,
}

/// Matches values with the variables of a program, and notes in `needs` how they are used and what is written. `given`
/// has the values of `names`, one by one (`None`: it is named, but nothing is bound).
///
/// An array of open length gets as many elements as it is given: `program` is then the one of these lengths.
///
/// A sampler that is left out is linear and clamps; one that compares, compares less or equal.
///
/// # Errors
/// `GraphError` with every binding that is missing, unknown or of the wrong kind; `ShaderError` if data does not fit.
pub fn bind<'a>(
    who: Who<'_>,
    program: &mut Arc<Program>,
    names: impl Iterator<Item = &'a str> + Clone,
    given: &[Option<Elements>],
    needs: &mut Needs,
) -> Result<Arc<[Bound]>, WorkError> {
    let open = Arc::clone(program);
    let interface = &open.interface;
    let found = |binding: &Binding| {
        let at = names.clone().position(|name| interface.is_called(binding, name));
        at.and_then(|at| given.get(at)?.as_ref()).map(Elements::as_slice)
    };
    *program = lengthened(program, &found)?;
    let program = &*program;
    needs.bound.clear();
    needs.written.clear();
    if !program.needs.is_empty() {
        needs.features.push((Arc::clone(&program.name), program.needs));
    }
    let mut bindings = Bindings { needs, mistakes: Vec::new() };
    for name in names.clone() {
        // What the shader declares and does not use takes anything.
        let unused = program.interface.unused.iter().any(|unused| unused == name);
        if !unused && program.interface.find(name).is_none() {
            bindings.mistakes.push(unknown(who, program, name));
        }
    }
    for (at, binding) in program.interface.bindings.iter().enumerate() {
        let mut called = names.clone().filter(|name| program.interface.is_called(binding, name));
        if let (Some(one), Some(two)) = (called.next(), called.next()) {
            let message = format!(
                "pass \"{}\" binds \"{one}\" and \"{two}\", which are one binding of shader \"{}\"",
                who.pass,
                who.shader(program)
            );
            let says = format!("binds \"{one}\" and \"{two}\"");
            bindings.mistakes.push(who.mistake(Code::BadBinding, message, says, "give one of them"));
        }
        match (found(binding), binding.kind) {
            (None, BindingKind::Sampler { comparison }) => {
                let sampler = Sampler { compare: comparison.then_some(Compare::LessEqual), ..Sampler::default() };
                for element in 0..binding.count {
                    bindings.needs.bound.push(Bound { binding: at as u32, element, what: What::Sampler(sampler) });
                }
            }
            (None, _) => bindings.mistakes.push(missing(who, program, binding, names.clone())),
            (Some(_), _) if binding.count == 0 => {
                let message = format!(
                    "pass \"{}\" binds no element to \"{}\" of shader \"{}\", an array of open length",
                    who.pass,
                    binding.name,
                    who.shader(program)
                );
                let says = format!("binds \"{}\"", binding.name);
                let help = format!("give a list of at least one: {}=[…]", binding.name);
                bindings.mistakes.push(who.mistake(Code::BadBinding, message, says, help));
            }
            (Some(all), _) if all.len() == binding.count as usize => {
                for (element, given) in (0..).zip(all) {
                    bindings.one(who, (program, at), given, element)?;
                }
            }
            (Some(all), _) => {
                let message = format!(
                    "pass \"{}\" binds {} resources to \"{}\" of shader \"{}\", which is an array of {}",
                    who.pass,
                    all.len(),
                    binding.name,
                    who.shader(program),
                    binding.count
                );
                let help = "give a list of as many as the shader has";
                let says = format!("{} for \"{}\"", all.len(), binding.name);
                bindings.mistakes.push(who.mistake(Code::BadBinding, message, says, help));
            }
        }
    }
    GraphError::check(bindings.mistakes)?;
    Ok(needs.bound.drain(..).collect())
}

/// The program with the lengths of its arrays that are open: as many elements as each is given.
fn lengthened<'a>(
    program: &Arc<Program>,
    found: &impl Fn(&Binding) -> Option<&'a [Given]>,
) -> Result<Arc<Program>, WorkError> {
    let open = program.interface.bindings.iter().filter(|binding| binding.count == 0);
    let length = |binding: &Binding| {
        // Of samplers that nobody gives there is one.
        let count = match (found(binding), binding.kind) {
            (Some(all), _) => all.len() as u32,
            (None, BindingKind::Sampler { .. }) => 1,
            (None, _) => 0,
        };
        (count > 0).then_some(Length { group: binding.group, binding: binding.binding, count })
    };
    let lengths: Vec<Length> = open.filter_map(length).collect();
    match lengths.is_empty() {
        true => Ok(Arc::clone(program)),
        false => Ok(program.with_lengths(lengths)?),
    }
}

fn unknown(who: Who<'_>, program: &Program, name: &str) -> Mistake {
    let known: Vec<_> = program.interface.bindings.iter().map(|binding| binding.name.as_str()).collect();
    let shown: String = name.chars().take(60).collect();
    let message =
        format!("pass \"{}\" binds \"{shown}\", which shader \"{}\" does not have", who.pass, who.shader(program));
    let help = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None if known.is_empty() => "the shader has no bindings".to_owned(),
        None => format!("it has {}", known.join(", ")),
    };
    who.mistake(Code::UnknownBinding, message, format!("binds \"{shown}\""), help)
}

fn missing<'a>(who: Who<'_>, program: &Program, binding: &Binding, names: impl Iterator<Item = &'a str>) -> Mistake {
    let (name, words) = (&binding.name, words(binding));
    let message =
        format!("pass \"{}\" binds nothing to \"{name}\" of shader \"{}\", {words}", who.pass, who.shader(program));
    let known = |name: &str| program.interface.find(name).is_some();
    let strangers = names.filter(|name| !known(name));
    let help = match nearest(name, strangers) {
        Some(near) => format!("is \"{near}\" meant for it?"),
        // Names of members and of languages with others are no keywords of Python.
        None if name.chars().all(|one| one.is_alphanumeric() || one == '_') => format!("give it as {name}=…"),
        None => format!("give it as **{{\"{name}\": …}}"),
    };
    who.mistake(Code::MissingBinding, message, format!("binds no \"{name}\""), help)
}

impl Bindings<'_> {
    fn one(
        &mut self,
        who: Who<'_>,
        (program, at): (&Arc<Program>, usize),
        given: &Given,
        element: u32,
    ) -> Result<(), WorkError> {
        let binding = &program.interface.bindings[at];
        let wrong = |got: &str, help: &str| {
            let message = format!(
                "pass \"{}\": binding \"{}\" of shader \"{}\" is {}, got {got}",
                who.pass,
                binding.name,
                who.shader(program),
                words(binding)
            );
            who.mistake(Code::BadBinding, message, format!("binds {got} to \"{}\"", binding.name), help)
        };
        let what = match given {
            Given::Sampler(sampler) => self::sampler(binding, *sampler).map_err(|(got, help)| wrong(got, help)),
            Given::Other(got, help) => Err(wrong(got, help)),
            Given::Data(_) if binding.kind != BindingKind::Uniform => {
                Err(wrong("plain data", "bind an image or a buffer"))
            }
            Given::Data(data) => match &binding.ty {
                Some(ty) => Ok(What::Data(ty.pack(who.shader(program), &binding.name, data)?)),
                None => Err(wrong("plain data", "bind a buffer: the layout is not known")),
            },
            Given::Texels(id, part, format) => match binding.kind {
                BindingKind::Texels { format: Some(named), .. } if named != *format => {
                    Err(wrong(&format!("a buffer of {format}"), &format!("the shader names {named}: leave it out")))
                }
                BindingKind::Texels { sample, .. } if !texel_formats(*format).contains(&sample) => {
                    let help = "use a format whose numbers the shader reads: float, sint or uint";
                    Err(wrong(&format!("a buffer of {format}"), help))
                }
                BindingKind::Texels { .. } => Ok(What::Texels(self.view((program, at), *id, *part), *format)),
                _ => Err(wrong("a resource with a format", "leave the format out: only texel buffers have one")),
            },
            Given::Resource(id, part, sampler) => {
                let view = self.view((program, at), *id, *part);
                match (&binding.kind, sampler) {
                    (BindingKind::Combined { sample: SampleKind::Depth, .. }, None) => {
                        let compare = Some(Compare::LessEqual);
                        Ok(What::Combined(view, Sampler { compare, ..Sampler::default() }))
                    }
                    (BindingKind::Combined { sample, .. }, sampler) => {
                        let sampler = sampler.unwrap_or_default();
                        match (*sample == SampleKind::Depth, sampler.compare.is_some()) {
                            (compares, given) if compares == given => Ok(What::Combined(view, sampler)),
                            (true, _) => Err(wrong("a sampler that does not compare", COMPARES)),
                            (false, _) => Err(wrong("a sampler that compares", COMPARES)),
                        }
                    }
                    (BindingKind::Texels { format: Some(format), .. }, None) => Ok(What::Texels(view, *format)),
                    (BindingKind::Texels { .. }, None) => {
                        let help = "give the format of its texels: (buffer, \"r32float\"), in files \"format\"";
                        Err(wrong("a buffer without a format", help))
                    }
                    (_, None) => Ok(What::Resource(view)),
                    (_, Some(_)) => Err(wrong("an image with a sampler", "bind the sampler by its own name")),
                }
            }
        };
        match what {
            Ok(what) => self.needs.bound.push(Bound { binding: at as u32, element, what }),
            Err(mistake) => self.mistakes.push(mistake),
        }
        Ok(())
    }

    /// Notes that part of a resource is bound.
    fn view(&mut self, (program, at): (&Arc<Program>, usize), id: ResourceId, mut part: AccessRange) -> View {
        let binding = &program.interface.bindings[at];
        // A storage image is one mip.
        let image = matches!(binding.kind, BindingKind::Image { .. });
        if image {
            part.ranges.mips = part.ranges.mips.or(Some([0, 1]));
        }
        self.needs.checks.push(Check { at: id, part, program: Arc::clone(program), asks: Asks::Binding(at) });
        if let Some(usage) = binding.usage() {
            self.needs.uses(id, usage, part, |how| how.stages = binding.stages);
        }
        if binding.writes {
            self.needs.written.push((id, image, part.ranges.mips.map_or(0, |[first, _]| first)));
        }
        View {
            resource: id,
            mips: part.ranges.mips,
            layers: part.ranges.layers,
            aspects: part.aspects,
            range: part.ranges.bytes,
        }
    }
}

/// What texels of a buffer of a format read as; nothing where no texel buffer has it.
fn texel_formats(format: Format) -> &'static [SampleKind] {
    match format.numbers() {
        Numbers::Float | Numbers::Unorm | Numbers::Snorm if !format.name().ends_with("-srgb") => &[SampleKind::Float],
        Numbers::Uint => &[SampleKind::Uint],
        Numbers::Sint => &[SampleKind::Int],
        _ => &[],
    }
}

/// What helps where a sampler compares and should not, or the other way round.
const COMPARES: &str = "set compare= of the sampler if and only if the shader compares";

fn sampler(binding: &Binding, sampler: Sampler) -> Result<What, (&'static str, &'static str)> {
    match binding.kind {
        BindingKind::Sampler { comparison } if comparison == sampler.compare.is_some() => Ok(What::Sampler(sampler)),
        BindingKind::Sampler { comparison } => {
            let got = if comparison { "a sampler that does not compare" } else { "a sampler that compares" };
            Err((got, COMPARES))
        }
        _ => Err(("a sampler", "bind a resource, and the sampler by its own name")),
    }
}

/// The push data of a program.
///
/// # Errors
/// `GraphError` if it is missing or not asked for, `ShaderError` if it does not fit.
pub fn push(who: Who<'_>, program: &Program, given: Option<&Value>) -> Result<PushData, WorkError> {
    let mistake = match (&program.interface.push, given) {
        (None, None) => return Ok(PushData::default()),
        (None, Some(_)) if program.interface.unused_push => return Ok(PushData::default()),
        (None, Some(_)) => {
            let message =
                format!("pass \"{}\" has push=, but shader \"{}\" has no push data", who.pass, who.shader(program));
            let help = "declare a push constant (WGSL: var<immediate>, GLSL: push_constant), or leave push= out";
            who.mistake(Code::BadData, message, "has push=", help)
        }
        (Some(push), None) => {
            let message = format!(
                "pass \"{}\" has no push=, but shader \"{}\" reads \"{}\" of {} bytes",
                who.pass,
                who.shader(program),
                push.name,
                push.size
            );
            who.mistake(Code::BadData, message, "has no push=", "give push={…} by member")
        }
        (Some(push), Some(given)) => {
            let mut bytes = push.ty.pack(who.shader(program), &push.name, given)?;
            bytes.resize(push.size as usize, 0);
            return Ok(bytes.into());
        }
    };
    Err(GraphError::one(mistake).into())
}
