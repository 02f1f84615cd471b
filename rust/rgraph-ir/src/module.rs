//! Modules as values: a part of a graph is declared once, as a function of its arguments, and instantiated as often as
//! wanted. Each instance has a place in the order of passes, and names of its own below its name.

use std::fmt;
use std::sync::Arc;

use crate::graph::{Graph, Pass, PassId, SlotId};
use crate::resource::{Resource, ResourceId};

/// Declares an instance from its arguments `A`, and returns what others use of it.
type Declare<A, R> = dyn Fn(&mut Instance<'_>, A) -> R + Send + Sync;

/// A part of a graph, declared once. Clones are the same one.
///
/// ```
/// use rgraph_ir::access::{PassQueue, Usage};
/// use rgraph_ir::graph::{Graph, Pass, Use};
/// use rgraph_ir::module::Module;
/// use rgraph_ir::resource::Resource;
///
/// let filled = Module::new(|m, bytes: u64| {
///     let buffer = m.resource("buffer", Resource::buffer(bytes));
///     let fill = m.pass("fill", Pass::new(PassQueue::Graphics));
///     m.graph().access(fill, buffer, &Use::new(Usage::TransferDst), None);
///     buffer
/// });
/// let mut graph = Graph::new("two", [1, 1]);
/// let buffers = [("small", 16), ("large", 4096)].map(|(name, bytes)| filled.instantiate(&mut graph, name, bytes));
/// buffers.iter().for_each(|buffer| graph.root(*buffer));
/// assert!(graph.find_pass("small/fill").is_some() && graph.find_resource("large/buffer") == Some(buffers[1]));
/// ```
pub struct Module<A, R>(Arc<Declare<A, R>>);

impl<A, R> Clone for Module<A, R> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<A, R> fmt::Debug for Module<A, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Module")
    }
}

impl<A, R> Module<A, R> {
    /// A module of a function that declares an instance.
    pub fn new(declare: impl Fn(&mut Instance<'_>, A) -> R + Send + Sync + 'static) -> Self {
        Self(Arc::new(declare))
    }

    /// Makes an instance in a graph; a second one of the same name declares names twice, which the bake reports.
    pub fn instantiate(&self, graph: &mut Graph, name: &str, arguments: A) -> R {
        self.at(graph, (String::new(), None), name, arguments)
    }

    /// Makes an instance in another one.
    pub fn instantiate_in(&self, outer: &mut Instance<'_>, name: &str, arguments: A) -> R {
        let around = (outer.prefix.clone(), Some(outer.slot));
        self.at(outer.graph, around, name, arguments)
    }

    fn at(&self, graph: &mut Graph, (around, parent): (String, Option<SlotId>), name: &str, arguments: A) -> R {
        let full = format!("{around}{name}");
        let slot = graph.add_slot(&full, parent);
        (self.0)(&mut Instance { graph, prefix: format!("{full}/"), slot }, arguments)
    }
}

/// An instance that is being declared.
#[derive(Debug)]
pub struct Instance<'g> {
    graph: &'g mut Graph,
    prefix: String,
    slot: SlotId,
}

impl Instance<'_> {
    /// The graph, for accesses and all else that needs no name.
    pub fn graph(&mut self) -> &mut Graph {
        self.graph
    }

    /// A name in it with those of the instances around it.
    pub fn full(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Declares an image or a buffer.
    pub fn resource(&mut self, name: &str, resource: Resource) -> ResourceId {
        let full = self.full(name);
        self.graph.add_resource(&full, resource, None)
    }

    /// Declares a pass, which stands at the instance's place in the order.
    pub fn pass(&mut self, name: &str, mut pass: Pass) -> PassId {
        pass.slot = Some(self.slot);
        let full = self.full(name);
        self.graph.add_pass(&full, pass, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::PassQueue;

    #[test]
    fn instances_stand_where_they_are_made_and_nest() {
        let inner = Module::new(|m, count: usize| {
            (0..count).map(|at| m.pass(&format!("pass {at}"), Pass::new(PassQueue::Graphics))).collect::<Vec<_>>()
        });
        let outer = {
            let inner = inner.clone();
            Module::new(move |m, ()| {
                m.pass("first", Pass::new(PassQueue::Graphics));
                inner.instantiate_in(m, "inner", 1).len()
            })
        };
        let mut graph = Graph::new("modules", [1, 1]);
        assert_eq!(outer.instantiate(&mut graph, "one", ()), 1);
        graph.add_pass("between", Pass::new(PassQueue::Graphics), None);
        assert_eq!(inner.instantiate(&mut graph, "two", 2).len(), 2);
        let flat = graph.flattened().expect("it has modules");
        let names: Vec<&str> = flat.pass_names().iter().collect();
        assert_eq!(names, ["one/first", "one/inner/pass 0", "between", "two/pass 0", "two/pass 1"]);
        assert!(graph.mistakes().is_empty());
        inner.instantiate(&mut graph, "two", 1);
        assert_eq!(graph.mistakes().len(), 1, "its pass has a name that is taken");
        inner.instantiate(&mut graph, "", 1);
        let unnamed = Module::new(move |m, ()| inner.instantiate_in(m, "", 0).len());
        unnamed.instantiate(&mut graph, "named", ());
        let messages: Vec<&str> = graph.mistakes().iter().skip(1).map(|one| one.message.as_str()).collect();
        let within = "a module or extension point has an empty name within \"named\"";
        assert_eq!(messages, ["a module or extension point has an empty name", within]);
    }
}
