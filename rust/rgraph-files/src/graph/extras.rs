//! What a reader of graph files leaves to others: files around the graph, and the work of passes.

use std::sync::Arc;

use super::keys::{GraphFields, PassFields};
use super::scope::Scope;
use super::typed::Typed;
use crate::json::Node;
use rgraph_ir::graph::{Graph, PassId};
use rgraph_ir::resource::{Resource, ResourceId};

/// A file that a graph file includes.
#[derive(Clone, Debug)]
pub struct Included {
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
    /// The message, which follows the path of the key, and the hint.
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
