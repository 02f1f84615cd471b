//! Reading a graph file: options first, then resources, so that every name is known, then passes, then what refers to
//! passes.

use std::sync::Arc;

use super::inline;
use super::options::{Settings, alone, holds, options};
use super::part::{MOST_WORDS, Part, Phase, Reader};
use super::scope::{Here, Scope};
use super::typed::Typed;
use crate::json::{Fields, Node, Source};
use crate::word::DeclaredStages;
use rgraph_ir::access::Usage;
use rgraph_ir::error::{Code, GraphError, Mistake};
use rgraph_ir::graph::{Clear, Details, Graph, PassId, Ranges, Use};
use rgraph_ir::resource::{Resource, ResourceId};

/// Keys of a graph file.
pub const GRAPH_KEYS: [&str; 11] = [
    "rgraph",
    "name",
    "reference_size",
    "options",
    "shaders",
    "samplers",
    "modules",
    "images",
    "buffers",
    "passes",
    "roots",
];
/// Keys of a pass.
pub const PASS_KEYS: [&str; 24] = [
    "name",
    "queue",
    "accesses",
    "weight_us",
    "unit",
    "device",
    "side_effects",
    "unordered",
    "after",
    "conditional",
    "fallback",
    "setup",
    "if",
    "compute",
    "raster",
    "copy",
    "blit",
    "clear",
    "fill",
    "resolve",
    "build",
    "instances",
    "trace",
    "steps",
];
/// Those of a pass's keys that say what it does.
pub const WORK_KEYS: [&str; 11] =
    ["compute", "raster", "copy", "blit", "clear", "fill", "resolve", "build", "instances", "trace", "steps"];
/// Keys of an access.
pub const ACCESS_KEYS: [&str; 16] = [
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
    "if",
];

/// Reference size of a graph that says none.
pub(crate) const REFERENCE_SIZE: [u32; 2] = [1920, 1080];

/// The fields of a graph.
pub type GraphFields<'a, 'p> = Fields<'a, 'p, { GRAPH_KEYS.len() }>;
/// The fields of a pass.
pub type PassFields<'a, 'p> = Fields<'a, 'p, { PASS_KEYS.len() }>;

/// A file that a graph file includes.
#[derive(Clone, Debug)]
pub struct Included {
    /// Its bytes.
    pub bytes: Arc<[u8]>,
    /// Its name in messages.
    pub name: String,
    /// What tells files apart, whatever they are called.
    pub identity: String,
}

/// What a reader of graph files does with what is not declaration: files around the graph, and the work of passes.
pub trait Extras {
    /// The file of that name, as seen from the file that is being read.
    ///
    /// # Errors
    /// What is wrong, as it follows the path of the key, and how to mend it.
    fn include(&mut self, name: &str) -> Result<Included, (String, String)>;

    /// A file is begun: its shaders and samplers. `false`: it is only being looked through for names.
    fn enter(&mut self, identity: &str, fields: &GraphFields<'_, '_>, whole: bool);

    /// The file that was begun last is done.
    fn leave(&mut self);

    /// A buffer is seen as an array.
    fn typed(&mut self, _: ResourceId, _: Typed) {}

    /// An image or a buffer has its contents, or what it holds before the first frame, from the file that `node` names.
    fn contents(&mut self, node: &Node<'_, '_>, id: ResourceId, resource: &mut Resource);

    /// A pass is declared, with the accesses that the file says: what it does.
    fn work(&mut self, graph: &mut Graph, scope: &Scope<'_>, pass: PassId, fields: &PassFields<'_, '_>);
}

/// Reads the declaration only.
struct Declaration;

impl Extras for Declaration {
    fn include(&mut self, _: &str) -> Result<Included, (String, String)> {
        let help = "load the file as a whole, and save it: what is saved includes nothing";
        Err(("includes another file, which cannot be read here".to_owned(), help.to_owned()))
    }
    fn enter(&mut self, _: &str, _: &GraphFields<'_, '_>, _: bool) {}
    fn leave(&mut self) {}
    fn contents(&mut self, _: &Node<'_, '_>, _: ResourceId, _: &mut Resource) {}
    fn work(&mut self, _: &mut Graph, _: &Scope<'_>, _: PassId, _: &PassFields<'_, '_>) {}
}

/// Reads the declaration of a graph file (`docs/reference/formats.md`): JSON in UTF-8, with or without a byte order
/// mark. The work of passes is ignored, so accesses that follow from it must be in the file, as in saved ones.
///
/// Every resource, pass and access gets the file and its line as its place. Images get the first ids, then buffers,
/// each in the file's order. O(bytes); a file of other things than a graph is refused before memory is spent on it.
///
/// # Errors
/// Everything that is wrong with the file at once, each mistake with file, line and path of the key; only the first
/// one where the text is not JSON, not UTF-8, or of another version. What is wrong with the declaration itself
/// (sizes, missing writers, …) is said when the graph is baked.
pub fn read_graph(text: &[u8], file_name: &str) -> Result<Graph, GraphError> {
    read_graph_with(text, file_name, file_name, &Settings::new(), &mut Declaration)
}

/// The same of the whole file, which is `identity` among those that it includes: `extras` gets what is not
/// declaration. Modules, includes and extension points are flattened.
///
/// # Errors
/// See [`read_graph`].
pub fn read_graph_with(
    text: &[u8],
    file_name: &str,
    identity: &str,
    settings: &Settings,
    extras: &mut dyn Extras,
) -> Result<Graph, GraphError> {
    let mut source = Source::open(text, file_name)?;
    let options =
        if source.root().version("rgraph", "a graph").is_some() { own_options(&source, settings) } else { Ok(None) };
    let Some(options) = options.map_err(|mistake| alone(file_name, *mistake))? else {
        return source.finish(None);
    };
    source.set_options(options.iter().map(|(name, value)| (name.clone(), value.json())).collect());
    let graph = graph(&source, identity, options, extras);
    source.finish(graph)
}

/// The options of a file with the values that it is read with.
pub(super) fn own_options(source: &Source<'_>, settings: &Settings) -> Result<Option<Settings>, Box<Mistake>> {
    let Some(fields) = source.root().fields("a graph", &GRAPH_KEYS) else { return Ok(None) };
    options(fields.get("options"), settings).map(Some)
}

fn graph(source: &Source<'_>, identity: &str, options: Settings, extras: &mut dyn Extras) -> Option<Graph> {
    let found = source.count();
    let fields = source.root().fields("a graph", &GRAPH_KEYS)?;
    source.forget_repeated(found);
    let name = fields.get("name").and_then(|node| node.title());
    let size = fields.get("reference_size").and_then(|node| reference_size(&node)).unwrap_or(REFERENCE_SIZE);
    let graph = Graph::new(name.as_deref().unwrap_or(""), size);
    let mut reader = Reader::new(graph, (identity, source.file()), extras);
    reader.inlines.push(inline::declared(&fields, identity));
    let scope = Scope::default();
    let part = Part::of_file(&fields, &options);
    for phase in [Phase::Names, Phase::Resources, Phase::Passes] {
        // Only files with modules in them are gone through again for the names of those.
        reader.phase = phase;
        let found = source.count();
        reader.extras.enter(identity, &fields, phase == Phase::Passes);
        reader.part(&part, &scope);
        reader.extras.leave();
        source.forget_repeated(found);
    }
    reader.orderings(source);
    reader.undeclared_points(source);
    reader.roots(&part, &scope);
    Some(reader.graph.flattened().unwrap_or(reader.graph))
}

fn reference_size(node: &Node<'_, '_>) -> Option<[u32; 2]> {
    node.short_list(&[2], "a list [width, height]", |axis| axis.u32())?.try_into().ok()
}

/// Flags and occupancy classes are found by looking at all of them, so there may not be many.
pub(super) fn few(node: &Node<'_, '_>, count: usize, what: &str) -> Option<()> {
    if count > MOST_WORDS {
        node.mistake(Code::TooLarge, format_args!("is one of more than {MOST_WORDS} {what}"), "use fewer");
        return None;
    }
    Some(())
}

pub(super) fn access(node: Node<'_, '_>, here: &Here<'_>, options: &Settings) -> Option<(ResourceId, Use)> {
    let fields = node.fields("an access", &ACCESS_KEYS)?;
    if !holds(fields.get("if"), options) {
        return None;
    }
    let resource = fields.need("resource").and_then(|name| here.resource(&name));
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
        resolves: fields.get("resolves").and_then(|name| here.resource(&name)),
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
pub fn clear(node: &Node<'_, '_>) -> Option<Clear> {
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
