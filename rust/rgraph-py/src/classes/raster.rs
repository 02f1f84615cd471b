//! Passes that draw: `Module.raster`.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use rgraph_plan::access::{Aspects, Load, PassQueue, ResolveMode, Usage};
use rgraph_plan::error::Code;
use rgraph_plan::graph::{Clear, Use};
use rgraph_plan::resource::ResourceId;
use rgraph_shader::{Kind, Program};
use rgraph_vk::work::{RasterState, Step};
use rgraph_work::infer::{self, DepthTarget, Used, Who};

use crate::arguments::bind::{by_position, misfit};
use crate::arguments::convert::{Text, clear, during, items, word_of};
use crate::arguments::declare::given;
use crate::arguments::keywords;
use crate::arguments::raster_state;
use crate::arguments::shader;
use crate::classes::draw::draw;
use crate::classes::module::PyGraphModule;
use crate::classes::pass::PyPass;
use crate::classes::passes::{Arguments, Named, PassArguments, Work};
use crate::classes::view::{AccessRange, PyView};
use crate::run::error::bad;
use crate::run::pending_work::Todo;
use crate::run::target_functions::Functions;

/// The attachments of a pass that draws.
pub(crate) struct Targets {
    /// Colour targets by location; `None`: nothing there.
    color: Vec<Option<(ResourceId, AccessRange)>>,
    /// The pass's depth attachment, if any.
    pub depth: bool,
    /// Arguments that are functions.
    pub per_run: Functions,
}

/// An image or part of one in an argument.
fn attachment(value: &Bound<'_, PyAny>, work: &mut Work) -> PyResult<(ResourceId, AccessRange)> {
    let (resource, part) = match PyView::of(value) {
        Some((resource, part)) => (resource.into_any(), part),
        None => (value.clone(), AccessRange::default()),
    };
    Ok((work.table.add(given(&resource)?.owned()), part))
}

/// One image, or several.
fn listed(value: Option<Bound<'_, PyAny>>) -> PyResult<Vec<Bound<'_, PyAny>>> {
    match value {
        None => Ok(Vec::new()),
        Some(value) if PyView::of(&value).is_some() => Ok(vec![value]),
        Some(value) => crate::arguments::convert::one_or_many(&value),
    }
}

/// One value, or one for each target.
///
/// # Errors
/// `TypeError` for a list of another length.
pub(crate) fn spread<'py>(
    value: Option<Bound<'py, PyAny>>,
    count: usize,
    what: &str,
) -> PyResult<Vec<Option<Bound<'py, PyAny>>>> {
    let Some(value) = value else { return Ok(vec![None; count]) };
    // A colour is a sequence too: several of them are a sequence of sequences, or of None.
    let several = match items(&value) {
        Some(items) => {
            let items = items?;
            let nested =
                items.iter().any(|item| item.is_none() || item.is_instance_of::<PyString>() || item.len().is_ok());
            nested.then_some(items)
        }
        None => None,
    };
    match several {
        None => Ok(vec![Some(value); count]),
        Some(all) if all.len() == count => Ok(all.into_iter().map(|item| (!item.is_none()).then_some(item)).collect()),
        Some(all) => {
            let message = format!("{what} has {} entries for {count} colour targets", all.len());
            Err(PyTypeError::new_err(message))
        }
    }
}

/// A load operation by its name.
pub(crate) fn load(value: &Bound<'_, PyAny>) -> PyResult<Load> {
    let known = Load::ALL.iter().map(|load| load.name());
    word_of(value, "load", Load::from_name, known)
}

/// The clear value of an argument.
fn clear_value(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Clear> {
    clear(value).map_err(|error| during(value.py(), error, name))
}

/// The exception of a pass without targets; it offers the name of the argument that a similar one may have meant.
fn untargeted(arguments: Arguments<'_>) -> PyErr {
    let known = ["color", "depth"].map(str::to_owned);
    let typo =
        arguments.rest().into_iter().find_map(|(name, _)| Some((keywords::near(&name, &known)?.to_owned(), name)));
    PyTypeError::new_err(match typo {
        Some((near, name)) => format!("raster() needs color= or depth=, and got '{name}': did you mean '{near}'?"),
        None => "raster() needs color= or depth=".to_owned(),
    })
}

/// Takes `color`, `depth`, `resolve` and their arguments. `state` is called with the number of colour targets; the
/// aspects that its state writes decide about the access of `depth`.
pub(crate) fn targets(
    arguments: &Arguments<'_>,
    work: &mut Work,
    state: impl FnOnce(usize) -> PyResult<RasterState>,
) -> PyResult<(Targets, RasterState)> {
    let some = |value: &Bound<'_, PyAny>, work: &mut Work| match value.is_none() {
        true => Ok(None),
        false => attachment(value, work).map(Some),
    };
    let color = listed(arguments.take("color")?)?;
    if let Some(hole) = color.windows(2).position(|pair| pair[0].is_none() && !pair[1].is_none()) {
        // A plan lists the targets that there are; a draw would write the next one in its place.
        let message = format!("there is no colour target at {hole}, and one at {}", hole + 1);
        let help = "give an image for each output of the shader up to the last that is kept";
        return Err(bad(color[hole].py(), Code::BadTarget, message, help));
    }
    let color = color.iter().map(|value| some(value, work)).collect::<PyResult<Vec<_>>>()?;
    let mut per_run = Functions::default();
    let of_color = per_run.attachment(arguments, ["clear", "load"], Clear::Color([0.0; 4]))?;
    let of_depth = per_run.attachment(arguments, ["clear_depth", "load_depth"], Clear::Depth(1.0, None))?;
    let clears = spread(arguments.take("clear")?, color.len(), "clear")?;
    let loads = spread(arguments.take("load")?, color.len(), "load")?;
    for ((target, value), explicit) in color.iter().zip(&clears).zip(&loads) {
        let Some((id, part)) = target else { continue };
        let value = value.as_ref().map(|value| clear_value(value, "clear")).transpose()?.or(of_color.1);
        let explicit = explicit.as_ref().map(load).transpose()?.or(of_color.0);
        work.uses(*id, Usage::ColorAttachment, *part, |how| {
            how.details.clear = value;
            how.load = explicit.or(value.map(|_| Load::Clear));
        });
    }
    let mode = arguments.take("resolve_mode")?.map(|mode| {
        let known = ResolveMode::ALL.iter().map(|mode| mode.name());
        word_of(&mode, "resolve mode", ResolveMode::from_name, known)
    });
    let mode = mode.transpose()?;
    for (at, value) in listed(arguments.take("resolve")?)?.iter().enumerate() {
        let Some((id, part)) = some(value, work)? else { continue };
        let Some(Some((of, _))) = color.get(at) else {
            let message = format!("resolve has {} entries, but there is no colour target at {at}", at + 1);
            return Err(bad(value.py(), Code::BadTarget, message, "give one for each colour target, or None"));
        };
        let mut how = Use { ranges: part.ranges, ..Use::new(Usage::ResolveAttachment) };
        how.details.resolve_mode = mode;
        work.needs.uses.push(Used { at: id, how, resolves: Some(*of), tested: Aspects::empty() });
    }
    let state = state(color.len())?;
    let depth = arguments.take("depth")?;
    let (clear_depth, load_depth) = (arguments.take("clear_depth")?, arguments.take("load_depth")?);
    if let Some(depth) = &depth {
        let (at, part) = attachment(depth, work)?;
        let clear = clear_depth.as_ref().map(|value| clear_value(value, "clear_depth")).transpose()?.or(of_depth.1);
        let load = load_depth.as_ref().map(load).transpose()?.or(of_depth.0);
        work.needs.depth(&DepthTarget { at, part, clear, load, stencil_load: None }, &state);
    } else if clear_depth.is_some() || load_depth.is_some() || of_depth != (None, None) {
        return Err(PyTypeError::new_err("clear_depth= and load_depth= need depth="));
    }
    Ok((Targets { color, depth: depth.is_some(), per_run }, state))
}

impl Targets {
    /// Number of colour targets.
    pub(crate) fn len(&self) -> usize {
        self.color.len()
    }

    /// Compares the colour targets with what a program writes.
    ///
    /// # Errors
    /// See [`infer::targets`].
    pub(crate) fn check(&self, py: Python<'_>, who: Who<'_>, program: &Arc<Program>, work: &mut Work) -> PyResult<()> {
        infer::targets(who, program, &self.color, &mut work.needs).map_err(|error| misfit(py, error, who))
    }
}

#[pymethods]
impl PyGraphModule {
    /// Declare a pass that draws.
    ///
    /// The accesses of bound resources follow from the shader. It takes the other keyword arguments of `add_pass`, too:
    /// `weight_us`, `unit`, `device`, `side_effects`, `unordered`, `conditional`, `fallback`, `after`.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name among passes.
    /// shader
    ///     See `compute`; with a vertex and a fragment stage, or a tuple with a shader for each stage in the order of a
    ///     pipeline: (vertex, fragment), (vertex, geometry, fragment), (vertex, tessellation control, tessellation
    ///     evaluation, fragment), (mesh, fragment), (task, mesh, fragment). Those between are GLSL or SPIR-V.
    /// color
    ///     Colour targets by location: images, parts of them (`image.mip(1)`) or names. Locations after the last target
    ///     may be None.
    /// depth
    ///     Depth (and stencil) attachment.
    /// vertices
    ///     Number of vertices, or of indices if `index` is given; default: 3.
    /// instances
    ///     Number of instances; default: 1.
    /// push, entry, constants
    ///     See `compute`.
    /// queue
    ///     See `add_pass`.
    /// vertex_buffers
    ///     A buffer with all inputs of the vertex stage one behind the other; a list with a buffer for each input, by
    ///     location; or a list of dicts of `buffer`, `attributes` (names, or (name, format, offset in bytes)), `stride`
    ///     in bytes, `offset` and `per_instance`.
    ///     Formats are WebGPU's vertex formats: `"float32x3"`, `"unorm8x4"`. Where only the name is given, the
    ///     attribute is stored as the shader reads it: a `vec3<f32>` is three floats, 12 bytes, without padding.
    /// index
    ///     Buffer of indices.
    /// index_format
    ///     `"uint32"` (default) or `"uint16"`.
    /// indirect
    ///     Buffer (or part of one) with the parameters of the draws, in Vulkan's layout.
    /// draws, stride
    ///     Number of draws in `indirect`, and bytes from one to the next; default: 1, packed.
    /// groups
    ///     (x, y, z) workgroups of a mesh stage, or of the task stage in front of it, instead of vertices; at most
    ///     65,535 on an axis.
    /// clear
    ///     Clear colour of the targets, or a list with one per target. A function without arguments is called at each
    ///     run; `params` of a run can change the value, too.
    /// load
    ///     Load operation of the targets: `"clear"`, `"load"` or `"discard"`, or a list with one per target. A function
    ///     returns `"load"` or `"clear"` at each run; the pass is planned as one that loads, which is valid for both.
    /// clear_depth, load_depth
    ///     The same of `depth`; `clear_depth` is depth or (depth, stencil), 1 and 0 by default.
    /// resolve
    ///     Images that multisampled targets are resolved to, one for each (or None).
    /// resolve_mode
    ///     How samples become one: `"average"` (default), `"sample_zero"`, `"min"`, `"max"`.
    /// blend
    ///     `"alpha"`, `"premultiplied"`, `"add"`, `"multiply"`, or a dict of `color` and `alpha`, each (factor of the
    ///     source, factor of the destination, operation); or a list of one for each target.
    /// write_mask
    ///     Channels that are written, such as `"rgb"`; or a list with one per target.
    /// cull
    ///     Faces that are culled: `"none"`, `"front"`, `"back"`.
    /// front
    ///     Which faces are front faces in the image: `"ccw"` (default) or `"cw"`.
    /// topology
    ///     `"triangles"`, `"triangle_strip"`, `"lines"`, `"line_strip"`, `"points"`. Tessellation stages take patches.
    /// patch_vertices
    ///     Vertices of a patch, 1 to 32; default: 3.
    /// wireframe
    ///     If true, only the edges of triangles are drawn.
    /// depth_test
    ///     Comparison with `depth`; default: `"less_equal"`.
    /// depth_write
    ///     If false, depth is tested and not written (`clear_depth` still clears it); neither is stencil if `stencil`
    ///     does not write it.
    /// depth_bias
    ///     (constant, slope).
    /// stencil
    ///     Stencil test: a dict of `compare`, `fail`, `depth_fail`, `pass`, `reference`, `read_mask`, `write_mask`; or
    ///     (front, back).
    /// alpha_to_coverage
    ///     If true, coverage follows from alpha.
    /// viewport
    ///     (x, y, width, height) in texels, or a function that is called at each run; default: the whole target.
    /// bindings
    ///     See `compute`.
    /// **variables
    ///     See `compute`.
    ///
    /// Returns
    /// -------
    /// Pass
    ///     Further accesses may be declared on it, and further draws with `Pass.draw`.
    ///
    /// Raises
    /// ------
    /// ShaderError
    ///     If the shader does not compile (with its line), or data does not fit its layout.
    /// GraphError
    ///     If bindings, targets or vertex buffers do not match the shader. The graph is left unchanged.
    #[pyo3(signature = (name, shader, *given, **arguments),
           text_signature = "($self, name, shader, *, color=None, depth=None, vertices=3, instances=1, push=None, \
                             entry=None, constants=None, queue='graphics', vertex_buffers=None, index=None, index_format='uint32', \
                             indirect=None, draws=1, stride=None, groups=None, clear=None, load=None, clear_depth=None, \
                             load_depth=None, resolve=None, resolve_mode=None, blend=None, write_mask=None, \
                             cull='none', front='ccw', topology='triangles', patch_vertices=3, wireframe=False, \
                             depth_test=None, depth_write=True, depth_bias=None, stencil=None, \
                             alpha_to_coverage=False, viewport=None, bindings=None, **variables)")]
    fn raster<'py>(
        slf: &Bound<'py, Self>,
        name: Text<'py>,
        shader: &Bound<'py, PyAny>,
        given: &Bound<'py, PyTuple>,
        arguments: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyPass>> {
        let py = slf.py();
        let arguments = Arguments::new(arguments)?;
        if !given.is_empty() {
            let (named, lead) = (Named::here(slf, name), format!("{:?}, shader", name.0));
            return Err(by_position(("raster", &lead), shader, (Kind::Raster, arguments), named.who(), given));
        }
        let pass = PassArguments::take(&arguments, PassQueue::Graphics)?;
        let (named, mut work) = (Named::here(slf, name), Work::new());
        let who = named.who();
        let state = |count| raster_state::state(&arguments, count);
        let (mut targets, state) = targets(&arguments, &mut work, state)?;
        if targets.len() == 0 && !targets.depth {
            return Err(untargeted(arguments));
        }
        let program = shader::program(shader, Kind::Raster, &arguments, who)?;
        targets.check(py, who, &program, &mut work)?;
        targets.per_run.viewport(&arguments);
        let draw = draw(py, who, program, state, arguments, &mut work)?;
        targets.per_run.keep(work.declare(slf, named, pass, Todo::Steps(Arc::new([Step::Draw(draw)])))?)
    }
}
