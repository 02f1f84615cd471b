//! Reading a graph file: options first, then resources, so that every name is known, then passes, then what refers to
//! passes.

use super::extras::{Extras, Included};
use super::inline;
use super::keys::{GRAPH, GraphFields, PassFields};
use super::options::{Settings, alone, own_options};
use super::scope::Scope;
use super::section::{Phase, Reader, Section};
use crate::json::{Node, Source};
use rgraph_ir::error::GraphError;
use rgraph_ir::graph::{Graph, PassId};
use rgraph_ir::resource::{Resource, ResourceId};

/// Reference size of a graph that says none.
pub(crate) const REFERENCE_SIZE: [u32; 2] = [1920, 1080];

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
/// (sizes, missing writers, …) is reported when the graph is baked.
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

fn graph(source: &Source<'_>, identity: &str, options: Settings, extras: &mut dyn Extras) -> Option<Graph> {
    let found = source.count();
    let fields = source.root().fields(&GRAPH)?;
    source.forget_repeated(found);
    let name = fields.get("name").and_then(|node| node.title());
    let size = fields.get("reference_size").and_then(|node| reference_size(&node)).unwrap_or(REFERENCE_SIZE);
    let graph = Graph::new(name.as_deref().unwrap_or(""), size);
    let mut reader = Reader::new(graph, (identity, source.file()), extras);
    reader.inlines.push(inline::declared(&fields, identity));
    let scope = Scope::default();
    let section = Section::of_file(&fields, &options);
    for phase in [Phase::Names, Phase::Resources, Phase::Passes] {
        // Only files with modules in them are gone through again for the names of those.
        reader.phase = phase;
        let found = source.count();
        reader.extras.enter(identity, &fields, phase == Phase::Passes);
        reader.section(&section, &scope);
        reader.extras.leave();
        source.forget_repeated(found);
    }
    reader.orderings(source);
    reader.undeclared_points(source);
    reader.roots(&section, &scope);
    Some(reader.graph.flattened().unwrap_or(reader.graph))
}

fn reference_size(node: &Node<'_, '_>) -> Option<[u32; 2]> {
    node.short_list(&[2], "a list [width, height]", |axis| axis.u32())?.try_into().ok()
}
