//! Arguments of a resource's declaration, and the declaration itself.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};
use rgraph_plan::access::{Layout, MemoryDomain, PassQueue, Sharing};
use rgraph_plan::error::Code;
use rgraph_plan::format::Format;
use rgraph_plan::graph::Place;
use rgraph_plan::resource::{History, Image, Imported, Kind, Leave, Life, Mips, Resource, ResourceId, Round};

use crate::arguments::convert::{Count, Number, Text, accesses, during, items, stages, word, word_of};
use crate::arguments::host_arrays::{self, Host};
use crate::arguments::{setup, source};
use crate::classes::array_layout::{Kept, Seen};
use crate::classes::format::{FormatName, PyFormat};
use crate::classes::graph::PyGraph;
use crate::classes::module::PyGraphModule;
use crate::classes::resource::PyResource;
use crate::classes::view::PyView;
use crate::run::error::{Refusal, bad, one};
use rgraph_work::texel::Texel;

use crate::run::state::GraphState;
use crate::run::unresolved::{AxisOf, Given, Reference, SizeOf, Target, Unresolved, size_of};

/// References of a resource's declaration to other resources.
#[derive(Default)]
pub struct Links<'a> {
    pub size: Option<SizeOf<Given<'static>>>,
    pub modifies: Option<Given<'a>>,
    /// The resource whose history it is, frames ago, and whether it starts with zeros.
    pub history: Option<(Given<'a>, u32, bool)>,
    /// The image whose format, layers and depth it has if it declares none, and the scale of the depth.
    pub like: Option<(Given<'a>, Option<f64>)>,
    /// How its array is seen.
    pub seen: Option<Seen>,
    /// What it holds before the first frame.
    pub first: Option<Kept>,
}

/// A resource in an argument: a handle or a name.
#[inline]
pub(crate) fn given<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<Given<'a>> {
    if let Ok(handle) = value.cast::<PyResource>() {
        return Ok(handle.get().given());
    }
    if value.is_instance_of::<PyString>() {
        return value.extract::<Text<'a>>().map(|Text(name)| Given::Name(name.into()));
    }
    let kind = value.get_type().name()?.to_string();
    let help = if value.is_instance_of::<PyView>() { "; run(read=…) reads a part of one" } else { "" };
    Err(PyTypeError::new_err(format!("expected an image, a buffer or the name of one, not {kind}{help}")))
}

/// Declares a resource under its full name.
///
/// # Errors
/// If it names another graph's resource; the graph is then unchanged.
pub(crate) fn add(
    state: &mut GraphState,
    (identity, prefix): (u64, &Arc<str>),
    name: &str,
    mut resource: Resource,
    links: Links<'_>,
    place: Option<Place>,
) -> Result<ResourceId, Refusal> {
    let target = |given: &Given<'_>| state.target(identity, prefix, given);
    let size = links.size.as_ref().map(|size| size.try_map(target)).transpose()?;
    let modifies = links.modifies.as_ref().map(target).transpose()?;
    let history = links.history.as_ref().map(|(of, ..)| target(of)).transpose()?;
    let like = links.like.as_ref().map(|(of, depth)| Ok::<_, Refusal>((target(of)?, *depth))).transpose()?;
    let (frames, zero_first) = links.history.map_or((1, true), |(_, frames, zero_first)| (frames, zero_first));

    if let (Kind::Image(image), Some(size)) = (&mut resource.kind, &size) {
        image.size = size_of(size);
    }
    resource.modifies = modifies.as_ref().and_then(Target::known);
    if let Some(of) = history.as_ref().and_then(Target::known) {
        resource.life = Life::History(History { of, frames, zero_first });
    }
    let id = state.add_resource(name, resource, place.clone())?;
    if let Some(seen) = links.seen {
        state.seen.insert(id, seen);
    }
    if let Some(first) = links.first {
        state.first.insert(id, first);
    }
    let mut wait =
        |reference| state.unresolved.push(Unresolved { prefix: prefix.clone(), place: place.clone(), reference });
    if let Some(size) = size.filter(|size| size_of(size).is_none()) {
        wait(Reference::Size(id, size));
    }
    if let (Some((of, depth)), None, None) = (like, &modifies, &history) {
        wait(Reference::Like(id, of, depth));
    }
    if let Some(of @ Target::Later(_)) = modifies {
        wait(Reference::Modifies(id, of));
    }
    if let Some(of @ Target::Later(_)) = history {
        wait(Reference::History(id, of, frames, zero_first));
    }
    if links.like.is_some() {
        state.resolve_names();
    }
    Ok(id)
}

impl PyGraphModule {
    /// Declares a resource under its full name.
    pub fn add_resource<'py>(
        slf: &Bound<'py, Self>,
        name: Text<'_>,
        resource: Resource,
        links: Links<'_>,
    ) -> PyResult<(Bound<'py, PyGraph>, ResourceId)> {
        let graph = setup::working(Self::graph(slf)?);
        let place = source::place(slf.py());
        let (module, full) = (slf.get(), slf.get().full(name));
        let scope = (graph.get().identity, module.prefix());
        let added = graph.get().change(|state| add(state, scope, &full, resource, links, place));
        added.map(|id| (graph, id)).map_err(|mistake| one(slf.py(), mistake))
    }
}

/// A size from `size=`, or from `like=` and `scale=`.
pub(crate) fn size(
    size: Option<&Bound<'_, PyAny>>,
    like: Option<&Bound<'_, PyAny>>,
    scale: Option<&Bound<'_, PyAny>>,
    round: Option<Text<'_>>,
    py: Python<'_>,
) -> PyResult<Option<SizeOf<Given<'static>>>> {
    let round = round.map(|name| rounding(py, name)).transpose()?;
    let size = match size {
        Some(_) if like.is_some() || scale.is_some() => {
            return Err(PyTypeError::new_err("size= cannot be given together with like= or scale="));
        }
        Some(size) => sized(size).map_err(|error| during(size.py(), error, "size"))?,
        None if like.is_none() && scale.is_none() && round.is_none() => return Ok(None),
        None => {
            SizeOf { axes: scaled(like.map(relative).transpose()?.flatten().as_ref(), scale)?, round: Round::default() }
        }
    };
    Ok(Some(SizeOf { round: round.unwrap_or(size.round), ..size }))
}

/// A format, from an argument next to `size`: callers easily swap the two.
pub(crate) fn format(size: Option<&Bound<'_, PyAny>>, format: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Format>> {
    let is_text = |value: &Bound<'_, PyAny>| value.is_instance_of::<PyString>() || value.is_instance_of::<PyFormat>();
    let Some(word) = size.filter(|size| is_text(size)) else {
        return match format {
            Some(other) if !is_text(other) => {
                let kind = other.get_type().name()?;
                Err(PyTypeError::new_err(format!("format is a name such as \"rgba8unorm\", not a {kind}")))
            }
            format => Ok(format.map(|name| name.extract::<FormatName>()).transpose()?.map(|FormatName(format)| format)),
        };
    };
    let word = word.repr()?;
    Err(PyTypeError::new_err(match format.filter(|format| !is_text(format)) {
        Some(size) => {
            format!("size and format are in each other's place: write size={}, format={word}", size.repr()?)
        }
        None => format!("size is (width, height) in texels: give the format by its name, format={word}"),
    }))
}

fn rounding(py: Python<'_>, Text(name): Text<'_>) -> PyResult<Round> {
    let known = |name: &str| match name {
        "down" => Some(Round::Down),
        "up" => Some(Round::Up),
        _ => None,
    };
    word(py, "rounding", name, known, ["down", "up"].into_iter())
}

type Axes = [Option<AxisOf<Given<'static>>>; 3];

/// `(width, height)`, `(width, height, depth)`, or a dict as in a graph file.
fn sized(value: &Bound<'_, PyAny>) -> PyResult<SizeOf<Given<'static>>> {
    if let Ok(dict) = value.cast::<PyDict>() {
        let round = dict.get_item("round")?.map(|name| rounding(dict.py(), name.extract()?)).transpose()?;
        return size_dict(dict).map(|axes| SizeOf { axes, round: round.unwrap_or_default() });
    }
    let axes = match items(value).transpose()?.as_deref() {
        Some([x, y]) => [Some(axis(x)?), Some(axis(y)?), None],
        Some([x, y, z]) => [Some(axis(x)?), Some(axis(y)?), Some(axis(z)?)],
        _ => return Err(PyTypeError::new_err("size is (width, height) or (width, height, depth) in texels")),
    };
    Ok(SizeOf { axes, round: Round::default() })
}

fn size_dict(dict: &Bound<'_, PyDict>) -> PyResult<Axes> {
    if let Some(of) = dict.get_item("relative_to")? {
        only(dict, &["relative_to", "scale", "round"])?;
        return scaled(relative(&of)?.as_ref(), dict.get_item("scale")?.as_ref());
    }
    only(dict, &["x", "y", "z", "round"])?;
    let of = |name| dict.get_item(name)?.map(|value| axis(&value)).transpose();
    match [of("x")?, of("y")?, of("z")?] {
        [Some(x), Some(y), z] => Ok([Some(x), Some(y), z]),
        _ => Err(PyTypeError::new_err("a size given axis by axis needs at least \"x\" and \"y\"")),
    }
}

/// So many texels, or `{"relative_to": …, "scale": …}`.
fn axis(value: &Bound<'_, PyAny>) -> PyResult<AxisOf<Given<'static>>> {
    let Ok(dict) = value.cast::<PyDict>() else {
        return value.extract::<Count>().map(|Count(texels)| AxisOf::Texels(texels));
    };
    only(dict, &["relative_to", "scale"])?;
    let of = dict.get_item("relative_to")?.map(|of| relative(&of)).transpose()?.flatten();
    let scale = dict.get_item("scale")?.map(|scale| scale.extract::<Number>()).transpose()?;
    Ok(AxisOf::Scaled(of, scale.map_or(1.0, |Number(scale)| scale)))
}

/// `None` for `"reference"`, else an image.
fn relative(value: &Bound<'_, PyAny>) -> PyResult<Option<Given<'static>>> {
    given(value).map(|given| match given {
        Given::Name(name) if name == "reference" => None,
        given => Some(given.owned()),
    })
}

fn scaled(of: Option<&Given<'static>>, scale: Option<&Bound<'_, PyAny>>) -> PyResult<Axes> {
    let one = |item: &Bound<'_, PyAny>| {
        let scale = item.extract::<Number>().map_err(|error| during(item.py(), error, "scale"));
        scale.map(|Number(scale)| Some(AxisOf::Scaled(of.cloned(), scale)))
    };
    let Some(scale) = scale else {
        let whole = AxisOf::Scaled(of.cloned(), 1.0);
        return Ok([Some(whole.clone()), Some(whole), None]);
    };
    match items(scale).transpose()?.as_deref() {
        None => Ok([one(scale)?, one(scale)?, None]),
        Some([x, y]) => Ok([one(x)?, one(y)?, None]),
        Some([x, y, z]) => Ok([one(x)?, one(y)?, one(z)?]),
        Some(_) => Err(PyTypeError::new_err("scale is one number, or one for each axis")),
    }
}

/// Refuses unknown keys.
pub(crate) fn only(dict: &Bound<'_, PyDict>, known: &[&'static str]) -> PyResult<()> {
    for key in dict.keys() {
        let Text(name) = key.extract()?;
        word(dict.py(), "key", name, |name| known.contains(&name).then_some(()), known.iter().copied())?;
    }
    Ok(())
}

/// `persistent=` and `fresh=` of a resource.
#[derive(Clone, Copy, Default)]
pub(crate) struct Lasting {
    /// Contents stay from frame to frame.
    pub persistent: bool,
    /// Each frame has other memory.
    pub fresh: bool,
}

/// How long contents live: at most one of the three ways to outlive the frame, or fresh.
pub(crate) fn life(py: Python<'_>, imported: Option<Imported>, lasting: Lasting, history: bool) -> PyResult<Life> {
    let Lasting { persistent, fresh } = lasting;
    if [imported.is_some(), persistent, fresh, history].into_iter().filter(|is| *is).count() > 1 {
        let message = "a resource is only one of imported, persistent, fresh and a history";
        return Err(bad(py, Code::BadHistory, message, "leave out all but one"));
    }
    Ok(match imported {
        Some(imported) => Life::Imported(imported),
        None if persistent => Life::Persistent,
        None if fresh => Life::Fresh,
        None => Life::Transient,
    })
}

/// `imported=`: a bool, or a dict as in a graph file.
pub(crate) fn imported(value: &Bound<'_, PyAny>) -> PyResult<Option<Imported>> {
    if let Ok(dict) = value.cast::<PyDict>() {
        only(dict, &["layout", "queue", "stages", "access", "contents", "wait", "signal"])?;
        let of = |name| dict.get_item(name);
        let (layout, queue, contents) = (of("layout")?, of("queue")?, of("contents")?);
        let flag = |name| of(name)?.map_or(Ok(false), |value| value.extract::<bool>());
        let points = [flag("wait")?, flag("signal")?];
        return state(
            value.py(),
            [layout.as_ref(), queue.as_ref(), of("stages")?.as_ref(), of("access")?.as_ref(), contents.as_ref()],
            points,
        )
        .map(Some);
    }
    Ok(value.cast::<PyBool>().map_err(PyErr::from)?.is_true().then(Imported::default))
}

/// The state of an imported resource: layout, queue, stages, access, contents; and whether runs wait for its other user
/// and signal it.
pub(crate) fn state(
    py: Python<'_>,
    given: [Option<&Bound<'_, PyAny>>; 5],
    [wait, signal]: [bool; 2],
) -> PyResult<Imported> {
    let [layout, queue, by, how, contents] = given.map(|value| value.filter(|value| !value.is_none()));
    let known = |name: &str| match name {
        "defined" => Some(true),
        "undefined" => Some(false),
        _ => None,
    };
    let defined = contents.map(|value| {
        value
            .extract::<Text>()
            .and_then(|Text(name)| word(py, "kind of contents", name, known, ["defined", "undefined"].into_iter()))
    });
    Ok(Imported {
        layout: layout.map(self::layout).transpose()?,
        queue: queue.map(self::queue).transpose()?,
        stages: by.map(stages).transpose()?.unwrap_or_default(),
        access: how.map(accesses).transpose()?.unwrap_or_default(),
        defined: defined.transpose()?.unwrap_or(true),
        wait,
        signal,
    })
}

/// `leave=`: a layout, or a dict as in a graph file.
pub(crate) fn leave(value: &Bound<'_, PyAny>) -> PyResult<Leave> {
    let Ok(dict) = value.cast::<PyDict>() else {
        return layout(value).map(|layout| Leave { layout: Some(layout), queue: None });
    };
    only(dict, &["layout", "queue"])?;
    Ok(Leave {
        layout: dict.get_item("layout")?.map(|value| layout(&value)).transpose()?,
        queue: dict.get_item("queue")?.map(|value| queue(&value)).transpose()?,
    })
}

fn layout(value: &Bound<'_, PyAny>) -> PyResult<Layout> {
    let known = Layout::ALL.iter().map(|layout| layout.name());
    word_of(value, "layout", Layout::from_name, known)
}

/// A queue's word.
pub(crate) fn queue(value: &Bound<'_, PyAny>) -> PyResult<PassQueue> {
    let known = PassQueue::ALL.iter().map(|queue| queue.name());
    word_of(value, "queue", PassQueue::from_name, known)
}

/// `mips=` of an image: a number, or `"full"`.
pub(crate) fn mips(value: &Bound<'_, PyAny>) -> PyResult<Mips> {
    if value.is_instance_of::<PyString>() {
        let Text(name) = value.extract()?;
        let message = format!("there is no number of mips called \"{}\"", name.chars().take(60).collect::<String>());
        let unknown = || bad(value.py(), Code::UnknownName, message, "give a number, or \"full\" for all there can be");
        return (name == "full").then_some(Mips::Full).ok_or_else(unknown);
    }
    let mips = value.extract::<Count>().map_err(|error| during(value.py(), error, "mips"));
    mips.map(|Count(mips)| Mips::Count(mips))
}

/// Refuses more channels than a format has, and none.
pub(crate) fn channels(py: Python<'_>, channels: u32, format: Option<Format>) -> PyResult<()> {
    let has = format.map_or(4, |format| Texel::of(format).channels);
    if channels == 0 || channels as usize > has {
        let of = format.map_or("an image".to_owned(), |format| format.to_string());
        let message = format!("{of} has no {channels} channels to be shown");
        return Err(bad(py, Code::BadArray, message, &format!("channels= is from 1 to {has}")));
    }
    Ok(())
}

/// `persistent=`: a bool, or an array of what it holds before the first frame.
pub(crate) fn persistent<'py>(value: Option<&Bound<'py, PyAny>>) -> PyResult<(bool, Option<Host>)> {
    match value {
        None => Ok((false, None)),
        Some(value) if value.is_instance_of::<PyBool>() => Ok((value.extract()?, None)),
        Some(value) => Ok((true, Some(Host::new(value, "persistent= (True, False or an array)")?))),
    }
}

/// An image without its size, from arguments.
pub(crate) fn image(
    format: Option<Format>,
    layers: Option<Count>,
    mips: Option<&Bound<'_, PyAny>>,
    samples: Option<Count>,
    cube: bool,
) -> PyResult<Image> {
    Ok(Image {
        format,
        size: None,
        layers: layers.map(|Count(layers)| layers),
        mips: mips.map(self::mips).transpose()?,
        samples: samples.map(|Count(samples)| samples),
        cube,
    })
}

/// References of a resource's declaration to others, from arguments.
pub(crate) fn links<'a>(
    modifies: Option<&'a Bound<'_, PyAny>>,
    history_of: Option<&'a Bound<'_, PyAny>>,
    frames: Count,
    first_frame: Option<&Bound<'_, PyAny>>,
) -> PyResult<Links<'a>> {
    let (zero_first, first) = host_arrays::first_frame(first_frame)?;
    if let (Some(value), Some(_), None) = (first_frame, &first, history_of) {
        let help = "give it to the history, as state.previous(first_frame=array), or persistent=array of what is continued in place";
        return Err(bad(value.py(), Code::BadHistory, "first_frame= of what is no history", help));
    }
    let history = history_of.map(|of| Ok::<_, PyErr>((given(of)?, frames.0, zero_first))).transpose()?;
    Ok(Links { modifies: modifies.map(given).transpose()?, history, first, ..Links::default() })
}

/// `like=` of an image, with the scale of its depth.
pub(crate) fn like<'a>(
    value: &'a Bound<'_, PyAny>,
    scale: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<(Given<'a>, Option<f64>)>> {
    let depth = match scale {
        None => Some(1.0),
        Some(scale) => scale.extract::<Number>().ok().map(|Number(scale)| scale),
    };
    let of = given(value)?;
    Ok(if matches!(&of, Given::Name(name) if name == "reference") { None } else { Some((of, depth)) })
}

/// Reads `sharing=`.
pub(crate) fn sharing(py: Python<'_>, value: Option<Text<'_>>) -> PyResult<Option<Sharing>> {
    let known = || Sharing::ALL.iter().map(|sharing| sharing.name());
    value.map(|Text(name)| word(py, "sharing", name, Sharing::from_name, known())).transpose()
}

/// Reads `memory_domain=`.
pub(crate) fn memory_domain(py: Python<'_>, value: Option<Text<'_>>) -> PyResult<Option<MemoryDomain>> {
    let known = || MemoryDomain::ALL.iter().map(|domain| domain.name());
    value.map(|Text(name)| word(py, "memory domain", name, MemoryDomain::from_name, known())).transpose()
}

/// Requests about the memory of a resource: `sharing=` and `memory_domain=`.
pub(crate) struct Wishes<'a> {
    pub sharing: Option<Text<'a>>,
    pub memory_domain: Option<Text<'a>>,
}

/// A resource without its links, from arguments.
pub(crate) fn resource(
    py: Python<'_>,
    kind: Kind,
    imported: Option<Imported>,
    lasting: Lasting,
    links: &Links<'_>,
    leave: Option<&Bound<'_, PyAny>>,
    wishes: Wishes<'_>,
) -> PyResult<Resource> {
    let sharing = sharing(py, wishes.sharing)?;
    let memory_domain = memory_domain(py, wishes.memory_domain)?;
    let life = life(py, imported, lasting, links.history.is_some())?;
    let leave = leave.map(self::leave).transpose()?;
    Ok(Resource { leave, sharing, memory_domain, ..Resource::new(kind, life) })
}
