//! `rgraph.Module`: declarations of images, buffers, passes and roots.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rgraph_plan::graph::Pass;
use rgraph_plan::resource::{Buffer, Kind};

use crate::arguments::convert::{Bytes, Count, Number, Text, one_or_many};
use crate::arguments::declare::{self, Lasting, Links, Wishes, given};
use crate::arguments::imports;
use crate::arguments::keywords;
use crate::arguments::pass_links;
use crate::arguments::setup;
use crate::arguments::source;
use crate::arguments::typed;
use crate::classes::array_layout::Seen;
use crate::classes::format::FormatName;
use crate::classes::module::PyGraphModule;
use crate::classes::pass::PyPass;
use crate::classes::passes::{Named, PassArguments};
use crate::classes::resource::{PyBuffer, PyImage, PyResource};
use crate::run::error::one;
use crate::run::pending_work::Setup;
use crate::run::unresolved::{Reference, SizeOf, Unresolved};

#[pymethods]
impl PyGraphModule {
    /// Declare an image.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name among resources.
    /// size
    ///     (width, height) or (width, height, depth) in texels, or a dict as in a graph file; default: the graph's.
    /// format
    ///     Texel format, WebGPU's name (`"rgba8unorm"`) or Vulkan's (`"R8G8B8A8_UNORM"`).
    /// like
    ///     An image: its size, times `scale`, and its format, layers and shape of arrays where these are not given; not
    ///     its mips, samples and whether it is a cube. Or `"reference"`: the graph's reference size.
    /// scale
    ///     One number, or one for each axis; default 1. Without `like`: of the graph's reference size.
    /// round
    ///     How a scaled size is rounded: `"down"` (default) or `"up"`; never below 1.
    /// layers
    ///     Array layers; default 1, or 6 for a cube.
    /// mips
    ///     Mip levels: a number, or `"full"` for all down to one texel; default 1.
    /// samples
    ///     Samples per texel; default 1.
    /// cube
    ///     If true, it is viewed as cubes.
    /// modifies
    ///     An image whose contents it starts with, in the same memory.
    /// history_of
    ///     An image whose contents of `frames` frames ago it holds; see also `Resource.previous`.
    /// frames
    ///     See `history_of`.
    /// first_frame
    ///     Contents of a history in the first frames: `"zero"`, `"undefined"`, or an array, which is copied.
    /// persistent
    ///     Keep the contents from frame to frame. An array (copied) is what it holds before the first frame, else
    ///     zeros; format, size and layers are those of the array where they are not given, as in `import_array`.
    /// fresh
    ///     If true, each frame in flight has memory of its own for it: no barrier and no wait orders its first use
    ///     after the frame before. Costs its bytes once per frame in flight (`frames_in_flight`).
    /// imported
    ///     The caller's image: True, or a dict of `layout`, `queue`, `stages`, `access` and `contents`; see
    ///     `import_image`.
    /// leave
    ///     The state to be left in: a layout, or a dict of `layout` and `queue`.
    /// sharing
    ///     `"exclusive"` or `"concurrent"`; default: the planner's choice.
    /// memory_domain
    ///     Memory of a persistent or imported resource: `"device"`, `"host"` (coherent), `"cached_host"` (the CPU reads
    ///     it fast) or `"device_local_host"` (device memory that the CPU writes). `compile` and `run` raise on a device
    ///     without it. Default: the runtime's choice. A resource given by `inputs=` stays in its own memory.
    /// channels
    ///     Number of channels of its arrays: 3 leaves out the fourth one of `rgba8unorm`. Default: all channels of the
    ///     format.
    ///
    /// Returns
    /// -------
    /// Image
    ///     A handle to be used in passes of this graph.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If a word is unknown or a number out of range. The graph is left unchanged. `bake` validates the rest.
    #[pyo3(signature = (name, size = None, format = None, *, like = None, scale = None, round = None, layers = None,
                        mips = None, samples = None, cube = false, modifies = None, history_of = None,
                        frames = Count(1), first_frame = None, persistent = None, fresh = false, imported = None,
                        leave = None, sharing = None, memory_domain = None, channels = None, **unknown),
           text_signature = "($self, name, size=None, format=None, *, like=None, scale=None, round=None, layers=None, \
                             mips=None, samples=None, cube=False, modifies=None, history_of=None, frames=1, \
                             first_frame='zero', persistent=False, fresh=False, imported=None, leave=None, sharing=None, \
                             memory_domain=None, channels=None)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn image<'py>(
        slf: &Bound<'py, Self>,
        name: Text<'_>,
        size: Option<&Bound<'py, PyAny>>,
        format: Option<&Bound<'_, PyAny>>,
        like: Option<&Bound<'py, PyAny>>,
        scale: Option<&Bound<'py, PyAny>>,
        round: Option<Text<'_>>,
        layers: Option<Count>,
        mips: Option<&Bound<'py, PyAny>>,
        samples: Option<Count>,
        cube: bool,
        modifies: Option<&Bound<'py, PyAny>>,
        history_of: Option<&Bound<'py, PyAny>>,
        frames: Count,
        first_frame: Option<&Bound<'py, PyAny>>,
        persistent: Option<&Bound<'py, PyAny>>,
        fresh: bool,
        imported: Option<&Bound<'py, PyAny>>,
        leave: Option<&Bound<'py, PyAny>>,
        sharing: Option<Text<'_>>,
        memory_domain: Option<Text<'_>>,
        channels: Option<Count>,
        unknown: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyImage>> {
        let py = slf.py();
        keywords::refuse_in(slf.as_any(), "image", unknown)?;
        let format = declare::format(size, format)?;
        let mut image = declare::image(format, layers, mips, samples, cube)?;
        let mut links = declare::links(modifies, history_of, frames, first_frame)?;
        links.size = declare::size(size, like, scale, round, py)?;
        links.like = like.map(|of| declare::like(of, scale)).transpose()?.flatten();
        let (persistent, array) = declare::persistent(persistent)?;
        if let Some(array) = array {
            let (own, seen) = imports::image(py, &array, format, false, false)?;
            image.format = image.format.or(own.format);
            image.layers = image.layers.or(own.layers);
            links.size = links.size.or_else(|| own.size.map(SizeOf::from));
            (links.seen, links.first) = (Some(seen), Some(array.kept()));
        }
        if let Some(Count(channels)) = channels {
            declare::channels(py, channels, image.format)?;
            let batch = matches!(links.seen, Some(Seen::Texels(true, _)));
            links.seen = Some(Seen::Texels(batch, Some(channels as usize)));
        }
        let imported = imported.map(declare::imported).transpose()?.flatten();
        let (lasting, wishes) = (Lasting { persistent, fresh }, Wishes { sharing, memory_domain });
        let resource = declare::resource(py, Kind::Image(image), imported, lasting, &links, leave, wishes)?;
        let (graph, id) = Self::add_resource(slf, name, resource, links)?;
        PyResource::image(&graph, id)
    }

    /// Declare an image that the caller supplies.
    ///
    /// If it is written, it is a root.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name among resources.
    /// size
    ///     See `image`.
    /// format
    ///     See `image`.
    /// layout
    ///     The layout that it arrives in; default: known at submit.
    /// queue
    ///     The queue that used it last.
    /// stages
    ///     The stages that used it last, one name or several.
    /// access
    ///     How they used it, one name or several.
    /// contents
    ///     `"defined"`, or `"undefined"` where they need not be kept.
    /// wait
    ///     If true, another user has it between runs, and each run waits for that user's semaphore before the first
    ///     use: `device.run(graph, wait=[(semaphore, value, "name")])`. Passes before that use do not wait.
    /// signal
    ///     If true, each run may signal the other user behind the last use: `signal=[(semaphore, value, "name")]`.
    /// layers, mips, samples, cube, leave, sharing, memory_domain
    ///     See `image`.
    ///
    /// Returns
    /// -------
    /// Image
    ///     A handle to be used in passes of this graph.
    #[pyo3(signature = (name, size = None, format = None, *, layout = None, queue = None, stages = None, access = None,
                        contents = None, wait = false, signal = false, layers = None, mips = None, samples = None,
                        cube = false, leave = None, sharing = None, memory_domain = None, **unknown),
           text_signature = "($self, name, size=None, format=None, *, layout=None, queue=None, stages=None, \
                             access=None, contents='defined', wait=False, signal=False, layers=None, mips=None, \
                             samples=None, cube=False, leave=None, sharing=None, memory_domain=None)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn import_image<'py>(
        slf: &Bound<'py, Self>,
        name: Text<'_>,
        size: Option<&Bound<'py, PyAny>>,
        format: Option<FormatName>,
        layout: Option<&Bound<'py, PyAny>>,
        queue: Option<&Bound<'py, PyAny>>,
        stages: Option<&Bound<'py, PyAny>>,
        access: Option<&Bound<'py, PyAny>>,
        contents: Option<&Bound<'py, PyAny>>,
        wait: bool,
        signal: bool,
        layers: Option<Count>,
        mips: Option<&Bound<'py, PyAny>>,
        samples: Option<Count>,
        cube: bool,
        leave: Option<&Bound<'py, PyAny>>,
        sharing: Option<Text<'_>>,
        memory_domain: Option<Text<'_>>,
        unknown: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyImage>> {
        let py = slf.py();
        keywords::refuse_in(slf.as_any(), "import_image", unknown)?;
        let format = format.map(|FormatName(format)| format);
        let image = declare::image(format, layers, mips, samples, cube)?;
        let imported = declare::state(py, [layout, queue, stages, access, contents], [wait, signal])?;
        let links = Links { size: declare::size(size, None, None, None, py)?, ..Links::default() };
        let (lasting, wishes) = (Lasting::default(), Wishes { sharing, memory_domain });
        let resource = declare::resource(py, Kind::Image(image), Some(imported), lasting, &links, leave, wishes)?;
        let (graph, id) = Self::add_resource(slf, name, resource, links)?;
        PyResource::image(&graph, id)
    }

    /// Declare a buffer.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name among resources.
    /// size
    ///     Bytes; may be left out where `shape`, `like` or an array gives them, or where it modifies or remembers
    ///     another buffer.
    /// shape
    ///     Shape of its array, an integer or several; needs `dtype`.
    /// dtype
    ///     Element type: a name (`"float32"`), or what `numpy.dtype` takes, records included. Results have this shape
    ///     and dtype. Default: the type that shaders declare, else bytes. A shader's `array<vec3<f32>>` has 16 bytes
    ///     from element to element: declare no dtype, or four numbers (rows of three are refused, RG-E310).
    /// like
    ///     A buffer: its size, shape and dtype.
    /// acceleration_structure
    ///     If true, it holds an acceleration structure.
    /// modifies, history_of, frames, first_frame, persistent, fresh, imported, leave, sharing, memory_domain
    ///     See `image`; an array of `persistent` may be of any shape and dtype.
    ///
    /// Returns
    /// -------
    /// Buffer
    ///     A handle to be used in passes of this graph.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If size, shape, dtype and array contradict each other. The graph is left unchanged.
    #[pyo3(signature = (name, size = None, *, shape = None, dtype = None, like = None, modifies = None,
                        history_of = None, frames = Count(1), first_frame = None, persistent = None, fresh = false, imported = None,
                        leave = None, sharing = None, memory_domain = None, acceleration_structure = false, **unknown),
           text_signature = "($self, name, size=None, *, shape=None, dtype=None, like=None, modifies=None, \
                             history_of=None, frames=1, first_frame='zero', persistent=False, fresh=False, imported=None, \
                             leave=None, sharing=None, memory_domain=None, \
                             acceleration_structure=False)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn buffer<'py>(
        slf: &Bound<'py, Self>,
        name: Text<'_>,
        size: Option<Bytes>,
        shape: Option<&Bound<'py, PyAny>>,
        dtype: Option<&Bound<'py, PyAny>>,
        like: Option<&Bound<'py, PyAny>>,
        modifies: Option<&Bound<'py, PyAny>>,
        history_of: Option<&Bound<'py, PyAny>>,
        frames: Count,
        first_frame: Option<&Bound<'py, PyAny>>,
        persistent: Option<&Bound<'py, PyAny>>,
        fresh: bool,
        imported: Option<&Bound<'py, PyAny>>,
        leave: Option<&Bound<'py, PyAny>>,
        sharing: Option<Text<'_>>,
        memory_domain: Option<Text<'_>>,
        acceleration_structure: bool,
        unknown: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyBuffer>> {
        let py = slf.py();
        keywords::refuse_in(slf.as_any(), "buffer", unknown)?;
        let mut links = declare::links(modifies, history_of, frames, first_frame)?;
        let (persistent, array) = declare::persistent(persistent)?;
        let size = size.map(|Bytes(size)| size);
        let typed = typed::Typed { size, shape, dtype, like, array: array.as_ref() };
        let (size, seen) = typed.read(slf, name.0)?;
        (links.seen, links.first) = (seen, links.first.or(array.map(|array| array.kept())));
        let buffer = Buffer { size, acceleration_structure };
        let imported = imported.map(declare::imported).transpose()?.flatten();
        let (lasting, wishes) = (Lasting { persistent, fresh }, Wishes { sharing, memory_domain });
        let resource = declare::resource(py, Kind::Buffer(buffer), imported, lasting, &links, leave, wishes)?;
        let (graph, id) = Self::add_resource(slf, name, resource, links)?;
        PyResource::buffer(&graph, id)
    }

    /// Declare a buffer that the caller supplies.
    ///
    /// If it is written, it is a root.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name among resources.
    /// size
    ///     Bytes.
    /// queue, stages, access, contents, wait, signal
    ///     See `import_image`.
    /// leave, sharing, memory_domain, acceleration_structure
    ///     See `buffer`.
    ///
    /// Returns
    /// -------
    /// Buffer
    ///     A handle to be used in passes of this graph.
    #[pyo3(signature = (name, size, *, queue = None, stages = None, access = None, contents = None, wait = false,
                        signal = false, leave = None, sharing = None, memory_domain = None,
                        acceleration_structure = false, **unknown),
           text_signature = "($self, name, size, *, queue=None, stages=None, access=None, contents='defined', \
                             wait=False, signal=False, leave=None, sharing=None, memory_domain=None, \
                             acceleration_structure=False)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn import_buffer<'py>(
        slf: &Bound<'py, Self>,
        name: Text<'_>,
        size: Bytes,
        queue: Option<&Bound<'py, PyAny>>,
        stages: Option<&Bound<'py, PyAny>>,
        access: Option<&Bound<'py, PyAny>>,
        contents: Option<&Bound<'py, PyAny>>,
        wait: bool,
        signal: bool,
        leave: Option<&Bound<'py, PyAny>>,
        sharing: Option<Text<'_>>,
        memory_domain: Option<Text<'_>>,
        acceleration_structure: bool,
        unknown: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyBuffer>> {
        let py = slf.py();
        keywords::refuse_in(slf.as_any(), "import_buffer", unknown)?;
        let buffer = Buffer { size: Some(size.0), acceleration_structure };
        let imported = declare::state(py, [None, queue, stages, access, contents], [wait, signal])?;
        let links = Links::default();
        let (lasting, wishes) = (Lasting::default(), Wishes { sharing, memory_domain });
        let resource = declare::resource(py, Kind::Buffer(buffer), Some(imported), lasting, &links, leave, wishes)?;
        let (graph, id) = Self::add_resource(slf, name, resource, links)?;
        PyResource::buffer(&graph, id)
    }

    /// Declare a pass.
    ///
    /// Parameters
    /// ----------
    /// name
    ///     Its name among passes.
    /// queue
    ///     `"graphics"`; `"compute"` (on the graphics queue); `"async_compute"` and `"transfer"` (a queue of that kind
    ///     other than graphics, where the device has one); `"cpu"`; `"any"` (the planner picks).
    /// weight_us
    ///     Duration in microseconds, measured or estimated; default: a static estimate.
    /// unit
    ///     Label for passes that compete for the same hardware; the planner avoids overlapping them.
    /// device
    ///     Index of the GPU that it must run on, or `"any"`.
    /// side_effects
    ///     If true, it runs even if nothing reads its output.
    /// unordered
    ///     If true, its draws commute with those of other `unordered` passes: in one render pass a run may record them
    ///     in any order, sorted by their keys, then by their bindings.
    /// conditional
    ///     Name of the flag that switches it on and off.
    /// fallback
    ///     Resources that readers get while the flag is off: {output: input}, resources or names.
    /// after
    ///     Passes that must come first, or their names.
    /// setup
    ///     Called with the pass when the graph is baked, to declare its accesses; if it declares none, the pass is
    ///     culled. Images and buffers that it declares on the graph are part of that bake alone.
    /// execute
    ///     The work of the pass: called with a `Commands` as in `callback`, or on queue `"cpu"` with views as
    ///     in `cpu`. Kept as `Pass.execute`.
    ///
    /// Returns
    /// -------
    /// Pass
    ///     Its methods declare accesses and return it again, so that calls can be chained.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If a word is unknown or a number out of range. The graph is left unchanged. `bake` validates the rest.
    #[pyo3(signature = (name, *, queue = None, weight_us = None, unit = None, device = None, side_effects = false,
                        unordered = false, conditional = None, fallback = None, after = None, setup = None, execute = None, **unknown),
           text_signature = "($self, name, *, queue='graphics', weight_us=None, unit=None, device=None, \
                             side_effects=False, unordered=False, conditional=None, fallback=None, after=None, \
                             setup=None, execute=None)")]
    #[allow(clippy::too_many_arguments, reason = "keyword arguments, each with a default")]
    fn add_pass<'py>(
        slf: &Bound<'py, Self>,
        name: Text<'_>,
        queue: Option<&Bound<'py, PyAny>>,
        weight_us: Option<Number>,
        unit: Option<Text<'_>>,
        device: Option<&Bound<'py, PyAny>>,
        side_effects: bool,
        unordered: bool,
        conditional: Option<Text<'_>>,
        fallback: Option<&Bound<'py, PyAny>>,
        after: Option<&Bound<'py, PyAny>>,
        setup: Option<Bound<'py, PyAny>>,
        execute: Option<Bound<'py, PyAny>>,
        unknown: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyPass>> {
        let py = slf.py();
        keywords::refuse_in(slf.as_any(), "add_pass", unknown)?;
        let queue = queue.map_or(Ok(rgraph_plan::access::PassQueue::Graphics), declare::queue)?;
        let mut pass = Pass::new(queue);
        pass.weight_us = weight_us.map(|Number(weight)| weight);
        pass.device = device.map(pass_links::device_index).transpose()?.flatten();
        pass.side_effects = side_effects;
        pass.unordered = unordered;
        let fallbacks = fallback.map(pass_links::fallbacks).transpose()?.unwrap_or_default();
        let after = after
            .map(|after| one_or_many(after)?.iter().map(pass_links::earlier).collect())
            .unwrap_or(Ok(Vec::new()))?;
        let (setup, execute) = (pass_links::function(setup, "setup")?, pass_links::function(execute, "execute")?);
        pass.setup = setup.is_some();
        let owned = |text: Option<Text<'_>>| text.map(|Text(text)| text.to_owned());
        let pass = PassArguments { pass, unit: owned(unit), conditional: owned(conditional), fallbacks, after };
        let graph = Self::graph(slf)?;
        let (module, named) = (slf.get(), Named::here(slf, name));
        let identity = graph.get().identity;
        let added = graph.get().change(|state| {
            let id = pass.add(state, (identity, module), &named)?;
            if let Some(function) = setup {
                state.setups.push(Setup { pass: id, prefix: module.prefix().clone(), function });
            }
            if let Some(execute) = execute {
                state.executes.insert(id, execute);
            }
            Ok(id)
        });
        let id = added.map_err(|mistake| one(py, mistake))?;
        PyPass::handle(&graph, id, module.prefix().clone())
    }

    /// Declare roots, resources that are kept for the caller: passes that contribute to a root run.
    ///
    /// Parameters
    /// ----------
    /// *resources
    ///     Images and buffers, or their names; lists of them too.
    #[pyo3(signature = (*resources, **unknown), text_signature = "($self, *resources)")]
    fn root(
        slf: &Bound<'_, Self>,
        resources: &Bound<'_, PyTuple>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        keywords::refuse_of::<Self>("root", unknown)?;
        let py = slf.py();
        if resources.is_empty() {
            return Err(PyTypeError::new_err("expected at least one resource"));
        }
        let items: Vec<_> = resources.iter().map(|value| one_or_many(&value)).collect::<PyResult<Vec<_>>>()?.concat();
        let wanted = items.iter().map(given).collect::<PyResult<Vec<_>>>()?;
        let graph = Self::graph(slf)?;
        let place = source::place(py);
        let (identity, prefix) = (graph.get().identity, slf.get().prefix());
        let help = "name roots before bake(): a setup function declares accesses of its pass, images and buffers";
        setup::refuse_lasting(graph.get(), "a root is named", help).map_err(|mistake| one(py, mistake))?;
        let rooted = graph.get().change(|state| {
            let targets =
                wanted.iter().map(|given| state.target(identity, prefix, given)).collect::<Result<Vec<_>, _>>()?;
            state.open()?;
            let unresolved = |target| Unresolved {
                prefix: prefix.clone(),
                place: place.clone(),
                reference: Reference::Root(target),
            };
            state.unresolved.extend(targets.into_iter().map(unresolved));
            state.resolve_names();
            Ok(())
        });
        rooted.map_err(|mistake| one(py, mistake))
    }
}
