//! Names that are declared once more, and declarations that are taken back.
//!
//! A name that is taken is refused at the call. In a graph that replaces (`Graph(replace=True)`), and after
//! `Graph.remove`, it is declared again in the place of what was declared before: handles and the order of passes stay.
//! What was removed keeps its id until then, and is left out of what is baked.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use rgraph_plan::error::{Code, Mistake};
use rgraph_plan::graph::{Graph, Pass, PassId, Place};
use rgraph_plan::nearest::nearest;
use rgraph_plan::resource::{Resource, ResourceId};

use crate::arguments::setup;
use crate::classes::graph::PyGraph;
use crate::classes::pass::PyPass;
use crate::classes::resource::PyResource;
use crate::run::anew::Dropped;
use crate::run::error::{Refusal, bad, one, refusal};
use crate::run::pending_work::PendingWork;
use crate::run::state::GraphState;
use crate::run::unresolved::Reference;

impl GraphState {
    /// Declares a pass under its full name.
    ///
    /// # Errors
    /// If the name is taken.
    pub fn add_pass(&mut self, name: &str, pass: Pass, place: Option<Place>) -> Result<PassId, Refusal> {
        let Some(known) = self.open()?.find_pass(name) else { return Ok(self.open()?.add_pass(name, pass, place)) };
        if !self.anew.passes.remove(&known) {
            if !self.anew.replaces {
                return Err(Box::new(self.open()?.twice_pass(known, place.as_ref())));
            }
            self.forget_pass(known);
        }
        self.open()?.redeclare_pass(known, pass, place);
        Ok(known)
    }

    /// Declares a resource under its full name.
    ///
    /// # Errors
    /// If the name is taken, or was that of a resource of the other kind.
    pub fn add_resource(
        &mut self,
        name: &str,
        resource: Resource,
        place: Option<Place>,
    ) -> Result<ResourceId, Refusal> {
        let graph = self.open()?;
        let Some(known) = graph.find_resource(name) else { return Ok(graph.add_resource(name, resource, place)) };
        let removed = self.anew.resources.contains(&known);
        let graph = self.open()?;
        if graph.resources()[known].as_image().is_some() != resource.as_image().is_some() {
            let mistake = graph.twice_resource(known, place.as_ref());
            let help = "an image cannot be declared again as a buffer, nor a buffer as an image: use another name";
            return Err(Box::new(Mistake { help: help.to_owned(), ..mistake }));
        }
        if !removed && !self.anew.replaces {
            return Err(Box::new(self.open()?.twice_resource(known, place.as_ref())));
        }
        self.anew.resources.remove(&known);
        self.forget_resource(known);
        self.open()?.redeclare_resource(known, resource, place);
        Ok(known)
    }

    /// Forgets the accesses and work of a pass.
    fn forget_pass(&mut self, id: PassId) {
        self.anew.count += 1;
        let of_pass = |reference: &Reference| match reference {
            Reference::Access(pass, ..) | Reference::After(pass, _) | Reference::Fallback(pass, ..) => *pass == id,
            _ => false,
        };
        self.unresolved.retain(|unresolved| !of_pass(&unresolved.reference));
        let dropped = &mut self.anew.dropped;
        let (gone, kept) = std::mem::take(&mut self.pending).into_iter().partition(|pending| pending.pass == id);
        self.pending = kept;
        dropped.extend::<Vec<_>>((gone as Vec<PendingWork>).into_iter().map(Dropped::Work).collect());
        let (gone, kept): (Vec<_>, _) =
            std::mem::take(&mut self.setups).into_iter().partition(|setup| setup.pass == id);
        self.setups = kept;
        dropped.extend(gone.into_iter().map(Dropped::Setup));
        dropped.extend(self.executes.remove(&id).map(Dropped::Object));
        let (gone, kept): (Vec<_>, _) = std::mem::take(&mut self.per_run).into_iter().partition(|one| one.pass == id);
        self.per_run = kept;
        dropped.extend(gone.into_iter().map(|one| Dropped::Object(one.value)));
        if let Some(graph) = &mut self.graph {
            graph.clear_pass(id);
        }
    }

    /// Forgets the declaration of a resource.
    fn forget_resource(&mut self, id: ResourceId) {
        self.anew.count += 1;
        let of_resource = |reference: &Reference| match reference {
            Reference::Size(of, _)
            | Reference::Modifies(of, _)
            | Reference::History(of, ..)
            | Reference::Like(of, ..) => *of == id,
            _ => false,
        };
        self.unresolved.retain(|unresolved| !of_resource(&unresolved.reference));
        self.anew.dropped.extend(self.arrays.remove(&id).map(Dropped::Object));
        self.pictures.retain(|(of, _)| *of != id);
        self.seen.remove(&id);
        self.first.remove(&id);
    }

    /// Name of a pass or resource of an earlier declaration that was removed since, with its work or contents.
    pub fn removed_since(&self, earlier: &Graph) -> Option<String> {
        let graph = self.graph.as_ref()?;
        let mut passes = self.anew.passes.iter().map(|&id| graph.pass_name(id));
        let mut resources = self.anew.resources.iter().map(|&id| graph.resource_name(id));
        let pass = passes.find(|name| earlier.find_pass(name).is_some()).map(|name| format!("pass \"{name}\""));
        pass.or_else(|| {
            let name = resources.find(|name| earlier.find_resource(name).is_some())?;
            Some(format!("\"{name}\""))
        })
    }

    /// Refuses declarations on a pass that was removed.
    pub fn refuse_removed(&self, pass: PassId) -> Result<(), Refusal> {
        match self.anew.passes.contains(&pass) {
            false => Ok(()),
            true => {
                let name = self.graph.as_ref().map_or("", |graph| graph.pass_name(pass));
                Err(removed(&format!("pass \"{name}\"")))
            }
        }
    }
}

/// Something to be removed.
enum Thing {
    Pass(PassId),
    Resource(ResourceId),
    Name(String),
}

#[pymethods]
impl PyGraph {
    /// Remove declarations: passes, images and buffers.
    ///
    /// Removed passes and resources are not baked. If a pass still uses a removed resource, `bake` reports it. A name
    /// that is declared again gets its earlier place in the order, and its handles are valid again.
    ///
    /// Parameters
    /// ----------
    /// *things
    ///     Passes and resources, or their full names.
    ///
    /// Raises
    /// ------
    /// GraphError
    ///     If there is no such pass or resource, or both a pass and a resource have the name; the graph is then
    ///     unchanged.
    #[pyo3(signature = (*things), text_signature = "($self, *things)")]
    fn remove(slf: &Bound<'_, Self>, things: &Bound<'_, PyTuple>) -> PyResult<()> {
        let read = |thing: Bound<'_, PyAny>| {
            if let Ok(pass) = thing.cast::<PyPass>() {
                return Ok((pass.get().graph.get().identity, Thing::Pass(pass.get().id)));
            }
            if let Ok(resource) = thing.cast::<PyResource>() {
                return Ok((resource.get().identity, Thing::Resource(resource.get().id)));
            }
            if thing.is_instance_of::<PyString>() {
                return Ok((slf.get().identity, Thing::Name(thing.extract()?)));
            }
            let kind = thing.get_type().name()?.to_string();
            Err(PyTypeError::new_err(format!("remove() takes passes, images, buffers and names, not {kind}")))
        };
        let things = things.iter().map(read).collect::<PyResult<Vec<_>>>()?;
        let fine = setup::refuse_lasting(slf.get(), "a declaration is taken back", "take it back before bake()");
        fine.map_err(|mistake| one(slf.py(), mistake))?;
        let removed = slf.get().change(|state| state.remove(slf.get().identity, things));
        removed.map_err(|mistake| one(slf.py(), mistake))
    }
}

impl PyGraph {
    /// Refuses to run a plan of an earlier declaration of which something was removed since.
    pub fn refuse_earlier(&self, py: Python<'_>, earlier: &Graph) -> PyResult<()> {
        let Some(gone) = self.read(|state| state.removed_since(earlier)) else { return Ok(()) };
        let message = format!("the plan has {gone}, which was removed from graph \"{}\" since", earlier.name());
        Err(bad(py, Code::BadFile, message, "bake the graph again"))
    }
}

fn removed(what: &str) -> Refusal {
    refusal(Code::UnknownName, format!("{what} was removed"), "declare it again")
}

impl GraphState {
    fn remove(&mut self, identity: u64, things: Vec<(u64, Thing)>) -> Result<(), Refusal> {
        let (mut passes, mut resources) = (Vec::new(), Vec::new());
        for (of, thing) in things {
            let foreign = || {
                let help = "give handles that this graph returned, or names";
                refusal(Code::UnknownName, "what is to be removed belongs to another graph", help)
            };
            match thing {
                Thing::Pass(id) if self.has_pass(identity, of, id) => {
                    self.refuse_removed(id)?;
                    passes.push(id);
                }
                Thing::Resource(id) if self.has_resource(identity, of, id) => {
                    if self.anew.resources.contains(&id) {
                        let name = self.graph.as_ref().map_or("", |graph| graph.resource_name(id));
                        return Err(removed(&format!("\"{name}\"")));
                    }
                    resources.push(id);
                }
                Thing::Pass(_) | Thing::Resource(_) => return Err(foreign()),
                Thing::Name(name) => match self.named(&name)? {
                    Thing::Pass(id) => passes.push(id),
                    Thing::Resource(id) => resources.push(id),
                    Thing::Name(_) => {}
                },
            }
        }
        for pass in passes {
            self.forget_pass(pass);
            self.anew.passes.insert(pass);
        }
        for resource in resources {
            self.forget_resource(resource);
            self.unresolved.retain(
                |unresolved| !matches!(&unresolved.reference, Reference::Root(of) if of.known() == Some(resource)),
            );
            self.anew.resources.insert(resource);
        }
        Ok(())
    }

    /// The pass or the resource of a full name.
    fn named(&mut self, name: &str) -> Result<Thing, Refusal> {
        let graph = self.open()?;
        let (pass, resource) = (graph.find_pass(name), graph.find_resource(name));
        let pass = pass.filter(|id| !self.anew.passes.contains(id));
        let resource = resource.filter(|id| !self.anew.resources.contains(id));
        match (pass, resource) {
            (Some(pass), None) => Ok(Thing::Pass(pass)),
            (None, Some(resource)) => Ok(Thing::Resource(resource)),
            (Some(_), Some(_)) => {
                let message = format!("\"{name}\" is the name of a pass and of a resource");
                Err(refusal(Code::DuplicateName, message, "give the handle of what is to be removed"))
            }
            (None, None) => {
                let graph = self.open()?;
                let all = graph.pass_names().iter().chain(graph.resource_names().iter());
                if graph.find_pass(name).is_some() || graph.find_resource(name).is_some() {
                    return Err(removed(&format!("\"{name}\"")));
                }
                let help = match nearest(name, all) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => "give a pass, an image or a buffer of this graph".to_owned(),
                };
                let shown: String = name.chars().take(60).collect();
                Err(refusal(Code::UnknownName, format!("nothing is called \"{shown}\""), &help))
            }
        }
    }
}
