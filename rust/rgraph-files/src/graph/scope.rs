//! What names mean where they stand: modules look at their own names first, then outwards.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use crate::json::Node;
use rgraph_ir::graph::{Graph, SlotId};
use rgraph_ir::resource::ResourceId;

/// Names of a module that stand for resources of the module around it.
#[derive(Debug, Default)]
pub struct Given {
    /// Full names there, by name.
    full: HashMap<String, String>,
    /// Those that the module declares or asks for.
    asked: RefCell<BTreeSet<String>>,
}

impl Given {
    /// None of them is asked for yet.
    pub fn new(full: HashMap<String, String>) -> Self {
        Self { full, asked: RefCell::default() }
    }

    /// The full name that a name stands for; it counts as asked for.
    pub fn get(&self, name: &str) -> Option<&str> {
        let (name, full) = self.full.get_key_value(name)?;
        self.asked.borrow_mut().insert(name.clone());
        Some(full)
    }

    /// The names that were asked for.
    pub fn asked(&self) -> Vec<String> {
        self.asked.borrow().iter().cloned().collect()
    }
}

/// A module: the graph itself, a `module`, or an included file.
#[derive(Debug, Default)]
pub struct Scope<'o> {
    /// What stands before its names: empty, or ending in `/`.
    pub prefix: String,
    /// The module around it.
    pub outer: Option<&'o Scope<'o>>,
    /// Names that stand for resources of the module around it.
    pub given: Rc<Given>,
    /// The extension point that its passes stand at.
    pub slot: Option<SlotId>,
    /// Full name of the layer that its passes are added to.
    pub layer: Option<String>,
}

impl Scope<'_> {
    /// A name of the module as the graph has it.
    pub fn full(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// What `find` knows under a name: the module's own, else that of the one around it, and so on.
    pub fn find<T>(&self, name: &str, find: impl Fn(&str) -> Option<T>) -> Option<T> {
        let mut at = Some(self);
        while let Some(scope) = at {
            let found = if scope.prefix.is_empty() { find(name) } else { find(&scope.full(name)) };
            if found.is_some() {
                return found;
            }
            at = scope.outer;
        }
        None
    }

    /// The resource of a name.
    pub fn find_resource(&self, graph: &Graph, name: &str) -> Option<ResourceId> {
        let mut at = Some(self);
        while let Some(scope) = at {
            let full = scope.given.get(name).map_or_else(|| scope.full(name), str::to_owned);
            if let Some(found) = graph.find_resource(&full) {
                return Some(found);
            }
            at = scope.outer;
        }
        None
    }
}

/// A graph as it is seen from a module.
#[derive(Clone, Copy, Debug)]
pub struct Here<'h> {
    /// The graph so far.
    pub graph: &'h Graph,
    /// The module.
    pub scope: &'h Scope<'h>,
}

impl Here<'_> {
    /// The resource that a text names; notes it if there is none.
    pub fn resource(&self, node: &Node<'_, '_>) -> Option<ResourceId> {
        let name = node.text()?;
        let found = self.scope.find_resource(self.graph, &name);
        if found.is_none() {
            node.unknown_name("resource", &name, self.graph.resource_names());
        }
        found
    }
}
