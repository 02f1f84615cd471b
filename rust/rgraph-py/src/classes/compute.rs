//! Passes that dispatch: `Module.compute`.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rgraph_plan::access::{PassQueue, Usage};
use rgraph_plan::resource::ResourceId;
use rgraph_shader::{Kind, Program};
use rgraph_vk::work::{Dispatch, Groups, Step};
use rgraph_work::infer::{self, AccessRange, Who};

use crate::arguments::bind::{bind, by_position, misfit, push, values};
use crate::arguments::convert::{Bytes, Count, Text, during, is_number, items};
use crate::arguments::declare::given;
use crate::arguments::{shader, source};
use crate::classes::module::PyGraphModule;
use crate::classes::pass::PyPass;
use crate::classes::passes::{Arguments, Named, PassArguments, Work};
use crate::classes::view::PyView;
use crate::run::pending_work::Todo;

/// So many workgroups, if a value is a number or up to three of them; `wanted` is the message where it is a sequence of
/// something else, and begins with the argument's name.
pub(crate) fn counted(value: &Bound<'_, PyAny>, wanted: &'static str) -> PyResult<Option<[u32; 3]>> {
    let name = wanted.split(' ').next().unwrap_or_default();
    counts(value, wanted).map_err(|error| during(value.py(), error, name))
}

fn counts(value: &Bound<'_, PyAny>, wanted: &'static str) -> PyResult<Option<[u32; 3]>> {
    let count = |item: &Bound<'_, PyAny>| item.extract::<Count>().map(|Count(count)| count);
    let wrong = || PyTypeError::new_err(wanted);
    let mut groups = [1; 3];
    // The usual ones first: asking a tuple for a number would make an exception.
    if let Ok(tuple) = value.cast::<PyTuple>() {
        let axes = groups.get_mut(..tuple.len()).filter(|axes| !axes.is_empty()).ok_or_else(wrong)?;
        for (axis, item) in axes.iter_mut().zip(tuple.iter_borrowed()) {
            *axis = count(&item)?;
        }
        return Ok(Some(groups));
    }
    match count(value) {
        Ok(x) => return Ok(Some([x, 1, 1])),
        Err(error) if is_number(value) => return Err(error),
        Err(_) => {}
    }
    let Some(items) = items(value).filter(|_| PyView::of(value).is_none()).transpose()? else { return Ok(None) };
    let axes = groups.get_mut(..items.len()).filter(|axes| !axes.is_empty()).ok_or_else(wrong)?;
    for (axis, item) in axes.iter_mut().zip(&items) {
        *axis = count(item)?;
    }
    Ok(Some(groups))
}

/// Reads `groups=` of a draw: workgroups of its mesh stage.
pub(crate) fn fixed_groups(value: &Bound<'_, PyAny>) -> PyResult<[u32; 3]> {
    const WANTED: &str = "groups of a draw is (x, y, z) workgroups of its mesh stage";
    counted(value, WANTED)?.ok_or_else(|| PyTypeError::new_err(WANTED))
}

/// An extent of work as the user gives it.
pub(crate) enum Extent {
    Known(Groups),
    /// A resource, by its position in the table of what the pass is given, and the part of it.
    Of(ResourceId, AccessRange),
}

/// Reads `groups=` or `size=`: counts, a resource, or all of what is written. `wanted` is the error's sentence.
pub(crate) fn extent(
    py: Python<'_>,
    who: Who<'_>,
    program: &Program,
    value: Option<&Bound<'_, PyAny>>,
    wanted: &'static str,
    work: &mut Work,
) -> PyResult<Extent> {
    let Some(value) = value else {
        let covered = infer::covered(who, program, &work.needs.written).map_err(|error| misfit(py, error, who))?;
        return Ok(Extent::Known(covered));
    };
    if let Some(counts) = counted(value, wanted)? {
        return Ok(Extent::Known(Groups::Fixed(counts)));
    }
    let (resource, part) = match PyView::of(value) {
        Some((resource, part)) => (resource.into_any(), part),
        None => (value.clone(), AccessRange::default()),
    };
    Ok(Extent::Of(work.table.add(given(&resource)?.owned()), part))
}

/// Reads `groups=`: so many, a buffer that says how many, or all of what is written.
fn groups(
    py: Python<'_>,
    who: Who<'_>,
    program: &Program,
    value: Option<&Bound<'_, PyAny>>,
    work: &mut Work,
) -> PyResult<Groups> {
    const WANTED: &str = "groups is (x, y, z) workgroups, or a buffer with their counts";
    Ok(match extent(py, who, program, value, WANTED, work)? {
        Extent::Known(groups) => groups,
        Extent::Of(buffer, part) => {
            work.uses(buffer, Usage::Indirect, part, |_| {});
            Groups::Indirect { buffer, offset: part.ranges.bytes.map_or(0, |[first, _]| first) }
        }
    })
}

/// One dispatch, of arguments that are all its own.
pub(crate) fn dispatch<'py>(
    who: Who<'_>,
    shader: &Bound<'py, PyAny>,
    arguments: Arguments<'py>,
    work: &mut Work,
) -> PyResult<Step> {
    let program = shader::program(shader, Kind::Compute, &arguments, who)?;
    of_program(shader.py(), who, program, arguments, work)
}

/// One dispatch of a program.
fn of_program<'py>(
    py: Python<'py>,
    who: Who<'_>,
    mut program: Arc<Program>,
    arguments: Arguments<'py>,
    work: &mut Work,
) -> PyResult<Step> {
    let push = push(py, who, &program, arguments.take("push")?.as_ref())?;
    let given = arguments.take("groups")?;
    // A variable of that name came first.
    let key = match program.interface.find("key") {
        Some(_) => 0,
        None => arguments.read::<Bytes>("key")?.map_or(0, |Bytes(key)| key),
    };
    let bound = bind(py, who, &mut program, values(arguments)?, work)?;
    let groups = groups(py, who, &program, given.as_ref(), work)?;
    Ok(Step::Dispatch(Dispatch { bound, push, groups, key, program }))
}

#[pymethods]
impl PyGraphModule {
    /// Declare a pass that runs a compute shader.
    ///
    /// The accesses of bound resources follow from the shader. It takes the other keyword arguments of `add_pass`, too:
    /// `weight_us`, `unit`, `device`, `side_effects`, `unordered`, `conditional`, `fallback`, `after`.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name among passes.
    /// shader
    ///     WGSL or GLSL text, the path of a file (`.wgsl`, `.glsl`, `.comp`, `.spv`), or SPIR-V bytes.
    /// groups
    ///     Workgroups (x, y, z); or a buffer (or part of one) with three 32-bit counts; default: one invocation for
    ///     each texel of the one image that the shader writes, or for each 32-bit word of the one buffer.
    /// queue
    ///     See `add_pass`.
    /// push
    ///     Push data: a dict by member, or the value of the only member.
    /// entry
    ///     The entry point, where the shader has several.
    /// constants
    ///     Values of the shader's constants: a dict by name, or by number. Constants are WGSL's `override` and the
    ///     specialization constants of GLSL and SPIR-V; those that are not given keep their defaults. The workgroup
    ///     size may depend on one, and the default of `groups` then does, too.
    /// key
    ///     Dispatches of a pass are recorded in the order of their keys, and so are those of the passes between two
    ///     barrier calls (`Plan.packets`), equal keys by shader; default 0. If the shader has a variable of that name,
    ///     the argument is its binding.
    /// bindings
    ///     Bindings as a dict, for variables whose name clashes with an argument (`push`, `groups`, …).
    /// **variables
    ///     Bindings by the names of the shader's variables: images and buffers, parts of them (`image.mip(2)`,
    ///     `buffer[0:256]`) or names; `Sampler` (one left out is linear); for GLSL's `sampler2D` and its like `(image,
    ///     Sampler(…))`, or the image alone; for texel buffers `(buffer, "r32float")`; a list for an array, of any
    ///     length where the shader leaves it open; for a uniform block also a dict by member, a list, a number or an
    ///     array: small data that is stored with the pass.
    ///
    /// Returns
    /// -------
    /// Pass
    ///     Further accesses may be declared on it.
    ///
    /// Raises
    /// ------
    /// ShaderError
    ///     If the shader does not compile (with its line), data does not fit its layout, or it has no such constant.
    /// GraphError
    ///     If a binding is missing, unknown or of the wrong kind. The graph is left unchanged.
    #[pyo3(signature = (name, shader, *given, **arguments),
           text_signature = "($self, name, shader, *, groups=None, queue='compute', push=None, entry=None, \
                             constants=None, key=0, bindings=None, **variables)")]
    fn compute<'py>(
        slf: &Bound<'py, Self>,
        name: Text<'py>,
        shader: &Bound<'py, PyAny>,
        given: &Bound<'py, PyTuple>,
        arguments: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyPass>> {
        let arguments = Arguments::new(arguments)?;
        if !given.is_empty() {
            let (named, lead) = (Named::here(slf, name), format!("{:?}, shader", name.0));
            return Err(by_position(("compute", &lead), shader, (Kind::Compute, arguments), named.who(), given));
        }
        let pass = PassArguments::take(&arguments, PassQueue::Compute)?;
        let (named, mut work) = (Named::here(slf, name), Work::new());
        let step = dispatch(named.who(), shader, arguments, &mut work)?;
        work.declare(slf, named, pass, Todo::Steps(Arc::new([step])))
    }
    /// Declare many passes that run one compute shader, in one call: for graphs that are made in a loop.
    ///
    /// Parameters
    /// ----------
    /// shader
    ///     See `compute`.
    /// passes
    ///     Names of passes, each with its own arguments of `compute`: a dict by name, or pairs of name and dict.
    /// entry, constants
    ///     See `compute`; for all passes.
    /// **arguments
    ///     Further arguments of `compute` for all passes; those of a pass take precedence.
    ///
    /// Returns
    /// -------
    /// list of Pass
    ///     In the order of `passes`.
    ///
    /// Raises
    /// ------
    /// ShaderError, GraphError
    ///     As `compute`; passes before the one that fails stay declared.
    #[pyo3(signature = (shader, passes, **arguments),
           text_signature = "($self, shader, passes, *, entry=None, constants=None, **arguments)")]
    fn compute_many<'py>(
        slf: &Bound<'py, Self>,
        shader: &Bound<'py, PyAny>,
        passes: &Bound<'py, PyAny>,
        arguments: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Vec<Bound<'py, PyPass>>> {
        const WANTED: &str = "passes is a dict of arguments by name, or pairs of name and dict";
        let py = slf.py();
        let common = Arguments::new(arguments)?;
        let pairs = match passes.cast::<PyDict>() {
            Ok(named) => named.iter().collect(),
            Err(_) => {
                let pair = |pair: PyResult<Bound<'py, PyAny>>| -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
                    pair?.extract().map_err(|_| PyTypeError::new_err(WANTED))
                };
                let all = passes.try_iter().map_err(|_| PyTypeError::new_err(WANTED))?;
                all.map(pair).collect::<PyResult<Vec<_>>>()?
            }
        };
        let Some((first, _)) = pairs.first() else { return Ok(Vec::new()) };
        let place = source::place(py);
        let program = {
            let named = Named::at(slf, first.extract()?, place.clone());
            shader::program(shader, Kind::Compute, &common, named.who())?
        };
        let one = |(name, own): &(Bound<'py, PyAny>, Bound<'py, PyAny>)| {
            let own = own.cast::<PyDict>().map_err(|_| PyTypeError::new_err(WANTED))?;
            let arguments = Arguments::new(Some(own))?.over(py, &common);
            let pass = PassArguments::take(&arguments, PassQueue::Compute)?;
            let (named, mut work) = (Named::at(slf, name.extract()?, place.clone()), Work::new());
            let step = of_program(py, named.who(), Arc::clone(&program), arguments, &mut work)?;
            work.declare(slf, named, pass, Todo::Steps(Arc::new([step])))
        };
        pairs.iter().map(one).collect()
    }
}
