//! What a run reads back: roots, parts of them, and intermediates.

use pyo3::prelude::*;
use rgraph_plan::error::Code;
use rgraph_plan::graph::Ranges;
use rgraph_plan::resource::{Life, ResourceId};

use crate::arguments::convert::{Text, one_or_many};
use crate::classes::graph::PyGraph;
use crate::classes::resource::PyResource;
use crate::classes::view::PyView;
use crate::run::error::bad;
use crate::run::runnable::Runnable;

/// The items of `read=`.
pub(crate) fn listed<'py>(read: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if PyView::of(read).is_some() { Ok(vec![read.clone()]) } else { one_or_many(read) }
}

/// A part of a resource as it is typed: `lit.mip(1).layer(0)`, `words[0:16]`; all of it by its name alone.
pub(crate) fn typed(name: &str, ranges: Ranges) -> String {
    let mut text = name.to_owned();
    for (word, pair) in [("mip", ranges.mips), ("layer", ranges.layers)] {
        match pair {
            Some([first, end]) if end == first + 1 => text += &format!(".{word}({first})"),
            Some([first, end]) => text += &format!(".{word}s({first}, {end})"),
            None => {}
        }
    }
    if let Some([first, end]) = ranges.bytes {
        text += &format!("[{first}:{end}]");
    }
    text
}

impl Runnable {
    /// The resource that an argument means, and which part of it.
    pub fn find_part(&self, value: &Bound<'_, PyAny>) -> PyResult<(ResourceId, Ranges)> {
        match value.cast::<PyView>() {
            Ok(view) => {
                let part = view.get().part;
                if !part.aspects.is_empty() {
                    let help = "read the image: of depth and stencil together it is the depth";
                    return Err(bad(value.py(), Code::BadRange, "aspects of an image are read", help));
                }
                Ok((self.find(view.get().of.bind(value.py()))?, part.ranges))
            }
            Err(_) => Ok((self.find(value)?, Ranges::default())),
        }
    }
}

/// The graph with the items of `read=` as further roots; `None` if they are roots already.
///
/// # Errors
/// If something lives in the graph from frame to frame: the one with further roots would start from initial contents.
pub(crate) fn with_roots<'py>(
    graph: &Bound<'py, PyAny>,
    read: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyGraph>>> {
    let py = graph.py();
    let Ok(graph) = graph.cast::<PyGraph>() else { return Ok(None) };
    let mut names = Vec::new();
    for value in listed(read)? {
        let resource = PyView::of(&value).map(|(resource, _)| resource);
        names.push(match resource.as_ref().map_or_else(|| value.cast::<PyResource>().ok(), Some) {
            Some(handle) => handle.get().full_name(),
            None => Text::of(value.as_borrowed(), "a resource or its name")?.0.to_owned(),
        });
    }
    let (more, lasts) = graph.get().read(|state| {
        let Some(graph) = &state.graph else { return (Vec::new(), None) };
        // Imports that are written are roots too; a name that is unknown is for the run to refuse.
        let root = |id: ResourceId| graph.is_root(id) || matches!(graph.resources()[id].life, Life::Imported(_));
        let more = names.into_iter().filter(|name| graph.find_resource(name).is_some_and(|id| !root(id)));
        let lasting = |life| matches!(life, Life::Persistent | Life::History(_));
        let lasts = graph.resources().iter_ids().find(|(_, resource)| lasting(resource.life));
        (more.collect::<Vec<_>>(), lasts.map(|(id, _)| graph.resource_name(id).to_owned()))
    });
    let Some(first) = more.first() else { return Ok(None) };
    if let Some(lasts) = lasts {
        let message = format!("\"{first}\" is not a root, and \"{lasts}\" lives from frame to frame");
        let help = format!("make it a root of the graph: g.root(\"{first}\")");
        return Err(bad(py, Code::BadInput, message, &help));
    }
    let clone = graph.call_method0("clone")?;
    for name in more {
        clone.call_method1("root", (name,))?;
    }
    Ok(Some(clone.cast_into::<PyGraph>()?))
}
