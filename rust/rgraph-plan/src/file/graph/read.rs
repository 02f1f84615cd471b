//! Reading a graph file: resources first, so that every name is known, then passes, then what refers to passes.

use super::resource::{read_buffer, read_image};
use crate::access::{PassQueue, Usage};
use crate::error::{Code, GraphError};
use crate::file::json::{Fields, Node, Source};
use crate::file::word::DeclaredStages;
use crate::graph::{Clear, Details, Graph, Pass, PassId, Ranges, Use};
use crate::id::Id;
use crate::resource::{Image, Resource, ResourceId};

/// Keys of a graph file.
pub(in crate::file) const GRAPH_KEYS: [&str; 7] =
    ["rgraph", "name", "reference_size", "images", "buffers", "passes", "roots"];
/// Keys of a pass.
pub(in crate::file) const PASS_KEYS: [&str; 11] = [
    "name",
    "queue",
    "accesses",
    "weight_us",
    "unit",
    "device",
    "side_effects",
    "after",
    "conditional",
    "fallback",
    "setup",
];
/// Keys of an access.
pub(in crate::file) const ACCESS_KEYS: [&str; 15] = [
    "resource",
    "usage",
    "stages",
    "mips",
    "layers",
    "aspects",
    "range",
    "load",
    "stencil_load",
    "clear",
    "generate_mips",
    "resolves",
    "resolve_mode",
    "transfer",
    "unordered",
];

/// Reference size of a graph that says none.
pub(in crate::file) const REFERENCE_SIZE: [u32; 2] = [1920, 1080];

/// Most passes, and most resources.
const MOST: usize = 1 << 20;
/// Most flags, and most occupancy classes.
const MOST_WORDS: usize = 4096;

/// Reads a graph file: UTF-8 with or without a byte order mark, JSON as FORMATS says.
///
/// Every resource, pass and access gets the file and its line as its place. Images get the first ids, then buffers,
/// each in the file's order. O(bytes); a file of other things than a graph is refused before memory is spent on it.
///
/// # Errors
/// Everything that is wrong with the file at once, each mistake with file, line and path of the key; only the first
/// one where the text is not JSON, not UTF-8, or of another version. What is wrong with the declaration itself
/// (sizes, missing writers, …) is said when the graph is baked.
pub fn read_graph(text: &[u8], file_name: &str) -> Result<Graph, GraphError> {
    let source = Source::open(text, file_name)?;
    let graph = source.root().version("rgraph", "a graph").and_then(|()| graph(source.root()));
    source.finish(graph)
}

fn graph(root: Node<'_, '_>) -> Option<Graph> {
    let fields = root.fields("a graph", &GRAPH_KEYS)?;
    let name = fields.get("name").and_then(|node| node.title());
    let size = fields.get("reference_size").and_then(|node| reference_size(&node)).unwrap_or(REFERENCE_SIZE);
    let mut graph = Graph::new(name.as_deref().unwrap_or(""), size);
    resources(&fields, &mut graph);
    let mut orderings = Vec::new();
    if let Some(passes) = fields.get("passes") {
        let mut seen = graph.mistakes().len();
        passes.elements(" of passes", |_, node| {
            pass(node, &mut graph, &mut orderings);
            declared(&node, &graph, &mut seen, graph.passes().len(), "passes");
        });
        root.source().about_pass(None);
        if !orderings.is_empty() {
            passes.elements("", |index, node| after(node, PassId::new(index), &orderings, &mut graph));
        }
        root.source().about_pass(None);
    }
    if let Some(roots) = fields.get("roots") {
        roots.elements(" of resource names", |_, node| {
            if let Some(resource) = resource_named(&node, &graph) {
                graph.root(resource);
            }
        });
    }
    Some(graph)
}

fn reference_size(node: &Node<'_, '_>) -> Option<[u32; 2]> {
    node.short_list(&[2], "a list [width, height]", |axis| axis.u32())?.try_into().ok()
}

/// Says what declaring `count` of something found wrong, right after the last of them. Bad names were said already.
fn declared(node: &Node<'_, '_>, graph: &Graph, seen: &mut usize, count: usize, what: &str) {
    for mistake in graph.mistakes().iter().skip(*seen).filter(|mistake| mistake.code != Code::BadName) {
        node.source().push(mistake.clone());
    }
    *seen = graph.mistakes().len();
    if count > MOST {
        node.mistake(Code::TooLarge, format_args!("is one of more than {MOST} {what}"), "use fewer");
        node.source().stop();
    }
}

/// Declares all names first: sizes, `modifies` and `history_of` may refer to what comes later.
fn resources<const N: usize>(fields: &Fields<'_, '_, N>, graph: &mut Graph) {
    let mut seen = 0;
    for (key, kind) in [("images", " of images by name"), ("buffers", " of buffers by name")] {
        if let Some(node) = fields.get(key) {
            node.entries(kind, |name, value| {
                let nothing = if key == "images" { Resource::image(Image::default()) } else { Resource::buffer(0) };
                let _: Option<()> = value.check_name(name);
                graph.add_resource(name, nothing, Some(value.place()));
                declared(&value, graph, &mut seen, graph.resources().len(), "images and buffers");
            });
        }
    }
    let mut next = 0;
    for key in ["images", "buffers"] {
        let Some(node) = fields.get(key).filter(|node| node.is_object()) else { continue };
        node.entries("", |name, value| {
            let id = ResourceId::new(next);
            next += 1;
            node.source().about_resource(Some(name));
            let resource = if key == "images" { read_image(value, graph) } else { read_buffer(value, graph) };
            if let Some(resource) = resource {
                *graph.resource_mut(id) = resource;
            }
        });
        node.source().about_resource(None);
    }
}

/// The resource that a text names.
pub(super) fn resource_named(node: &Node<'_, '_>, graph: &Graph) -> Option<ResourceId> {
    let name = node.text()?;
    let found = graph.find_resource(&name);
    if found.is_none() {
        node.unknown_name("resource", &name, graph.resource_names());
    }
    found
}

/// Declares a pass with its accesses. `orderings` gets the passes that say `after`, to be resolved once all are known.
fn pass(node: Node<'_, '_>, graph: &mut Graph, orderings: &mut Vec<PassId>) {
    let id = PassId::new(graph.passes().len());
    let place = Some(node.place());
    let Some(fields) = node.fields("a pass", &PASS_KEYS) else {
        // It keeps its position, so that the passes after it keep theirs.
        graph.add_pass(&format!("passes[{}]", id.index()), Pass::new(PassQueue::Graphics), place);
        return;
    };
    let name = fields.need("name").and_then(|name| name.name());
    let shown = name.unwrap_or_else(|| format!("passes[{}]", id.index()).into());
    node.source().about_pass(Some(&shown));
    let mut pass = Pass::new(fields.get("queue").and_then(|queue| queue.word()).unwrap_or(PassQueue::Graphics));
    pass.weight_us = fields.get("weight_us").and_then(|weight| weight.number());
    pass.unit = fields.get("unit").and_then(|unit| {
        let name = unit.name()?;
        few(&unit, graph.units().len(), "units").map(|()| graph.unit(&name))
    });
    pass.device = fields.get("device").and_then(|device| match device.is_text() {
        true if device.text()? == "any" => None,
        true => {
            device.wrong("a GPU's index or \"any\"");
            None
        }
        false => device.u32(),
    });
    pass.side_effects = fields.flag("side_effects");
    pass.setup = fields.flag("setup");
    pass.conditional = fields.get("conditional").and_then(|flag| {
        let name = flag.name()?;
        few(&flag, graph.flags().len(), "flags").map(|()| graph.flag(&name))
    });
    graph.add_pass(&shown, pass, place);
    if fields.get("after").is_some() {
        orderings.push(id);
    }
    if let Some(fallback) = fields.get("fallback") {
        fallback.entries(": {OUTPUT: INPUT}", |output, input| {
            let found = graph.find_resource(output);
            if found.is_none() {
                input.unknown_name("resource", output, graph.resource_names());
            }
            if let (Some(output), Some(input)) = (found, resource_named(&input, graph)) {
                graph.fallback(id, output, input);
            }
        });
    }
    if let Some(accesses) = fields.get("accesses") {
        accesses.elements(" of accesses", |_, node| {
            let place = Some(node.place());
            if let Some((resource, how)) = access(node, graph) {
                graph.access(id, resource, &how, place);
            }
        });
    }
}

/// Flags and occupancy classes are found by looking at all of them, so there may not be many.
fn few(node: &Node<'_, '_>, count: usize, what: &str) -> Option<()> {
    if count > MOST_WORDS {
        node.mistake(Code::TooLarge, format_args!("is one of more than {MOST_WORDS} {what}"), "use fewer");
        return None;
    }
    Some(())
}

fn after(node: Node<'_, '_>, pass: PassId, orderings: &[PassId], graph: &mut Graph) {
    // Only passes that say `after` are read again.
    if orderings.binary_search(&pass).is_err() {
        return;
    }
    node.source().about_pass(Some(graph.pass_name(pass)));
    let mut list = None;
    node.entries("", |key, value| {
        if key == "after" && list.is_none() {
            list = value.list(" of pass names", |earlier| {
                let name = earlier.text()?;
                let found = graph.find_pass(&name);
                if found.is_none() {
                    earlier.unknown_name("pass", &name, graph.pass_names());
                }
                found
            });
        }
    });
    for earlier in list.unwrap_or_default() {
        graph.order_after(pass, earlier);
    }
}

fn access(node: Node<'_, '_>, graph: &Graph) -> Option<(ResourceId, Use)> {
    let fields = node.fields("an access", &ACCESS_KEYS)?;
    let resource = fields.need("resource").and_then(|name| resource_named(&name, graph));
    let usage = fields.need("usage").and_then(|usage| usage.word());
    let mut how = Use::new(usage.unwrap_or(Usage::Sampled));
    if let Some(stages) = fields.get("stages").and_then(|stages| stages.joined::<DeclaredStages>()) {
        how.stages = stages.0;
    }
    how.ranges = Ranges {
        mips: fields.get("mips").and_then(|range| range.range32()),
        layers: fields.get("layers").and_then(|range| range.range32()),
        bytes: fields.get("range").and_then(|range| range.range(u64::MAX)),
    };
    if let Some(aspects) = fields.get("aspects").and_then(|aspects| aspects.joined()) {
        how.aspects = aspects;
    }
    how.load = fields.get("load").and_then(|load| load.word());
    how.stencil_load = fields.get("stencil_load").and_then(|load| load.word());
    how.details = Details {
        clear: fields.get("clear").and_then(|value| clear(&value)),
        resolves: fields.get("resolves").and_then(|name| resource_named(&name, graph)),
        resolve_mode: fields.get("resolve_mode").and_then(|mode| mode.word()),
    };
    how.transfer = fields.get("transfer").and_then(|transfer| transfer.word());
    how.generate_mips = fields.flag("generate_mips");
    how.unordered = fields.flag("unordered");
    usage?;
    Some((resource?, how))
}

/// One number of a clear value; graphs of other engines have texts that hold one.
fn component(node: &Node<'_, '_>) -> Option<f64> {
    if !node.is_text() {
        return node.number();
    }
    let number = node.text()?.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    if number.is_none() {
        node.wrong("a number");
    }
    number
}

/// `[r, g, b, a]`, `[depth, stencil]` or a depth.
pub(in crate::file) fn clear(node: &Node<'_, '_>) -> Option<Clear> {
    const WANTED: &str = "four numbers of a colour, [depth, stencil], or one depth";
    if !node.is_list() {
        if !node.is_number() {
            node.wrong(WANTED);
            return None;
        }
        return node.number().map(|depth| Clear::Depth(depth, None));
    }
    if node.count() == 2 {
        let (mut depth, mut stencil) = (None, None);
        node.elements("", |index, one| match index {
            0 => depth = component(&one),
            _ => stencil = one.u32(),
        })?;
        return Some(Clear::Depth(depth?, Some(stencil?)));
    }
    node.short_list(&[4], WANTED, |one| component(&one))?.try_into().ok().map(Clear::Color)
}
