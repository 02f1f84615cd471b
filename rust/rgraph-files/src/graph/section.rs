//! The parts of a graph file: the file itself, modules in it, files that it includes. Each is gone through three times:
//! for names of resources, for what the resources are, and for passes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use super::access::access;
use super::extras::{Extras, Included};
use super::inline::Inlines;
use super::keys::{BUFFER, EXTENSION, GraphFields, IMAGE, MODULE, PASS, POINT, PassFields, ROOT};
use super::layer::Layers;
use super::options::{Settings, holds};
use super::resource::{read_buffer, read_image};
use super::scope::{Here, Scope};
use crate::json::{Fields, Node, Source, shown};
use rgraph_ir::access::PassQueue;
use rgraph_ir::error::{Code, Mistake};
use rgraph_ir::graph::{Graph, Pass, PassId, Place, SlotId};
use rgraph_ir::id::Id;
use rgraph_ir::nearest::nearest;
use rgraph_ir::resource::{Image, Resource, ResourceId};

/// Most passes, and most resources.
const MOST: usize = 1 << 20;
/// Most flags, and most occupancy classes.
const MOST_WORDS: usize = 4096;
/// Most modules and included files, each time that they are.
const MOST_PARTS: usize = 4096;

/// What a part is gone through for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    Names,
    Resources,
    Passes,
}

/// A graph, a module in it, or an extension: the nodes of its keys.
pub(super) struct Section<'a, 'p> {
    images: Option<Node<'a, 'p>>,
    buffers: Option<Node<'a, 'p>>,
    passes: Option<Node<'a, 'p>>,
    roots: Option<Node<'a, 'p>>,
    pub(super) options: &'p Settings,
    /// Whether its text has modules, includes or extension points at all.
    nested: bool,
}

impl<'a, 'p> Section<'a, 'p> {
    /// A whole file.
    pub(super) fn of_file(fields: &'p GraphFields<'a, 'p>, options: &'p Settings) -> Self {
        let text = fields.node().source().whole();
        let nested = ["\"include\"", "\"module\"", "\"extension_point\"", "\"extend\"", "\"use\"", "\"layer\""];
        Self {
            images: fields.get("images"),
            buffers: fields.get("buffers"),
            passes: fields.get("passes"),
            roots: fields.get("roots"),
            options,
            nested: nested.iter().any(|word| text.contains(word)),
        }
    }
}

/// What an entry of `passes` is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entry {
    Pass,
    Module,
    Extend,
    Point,
    Include,
    Use,
    Layer,
}

/// A pass that comes after another, by name; resolved when all passes are known.
struct Ordering {
    pass: PassId,
    /// Names that are looked for, the innermost module first.
    names: Vec<String>,
    place: Place,
    path: String,
}

/// A graph file being read.
pub(super) struct Reader<'e> {
    pub graph: Graph,
    pub extras: &'e mut dyn Extras,
    pub phase: Phase,
    /// The file being read and those that include it: identities and names.
    pub(super) files: Vec<(String, String)>,
    /// The modules that they declare.
    pub(super) inlines: Inlines,
    pub(super) layers: Layers,
    pub(super) known: HashMap<String, Included>,
    /// Names of `resources` that an include or an instance asked for, by its prefix.
    pub(super) asked: HashMap<String, BTreeSet<String>>,
    orderings: Vec<Ordering>,
    /// Resources by the order of their names.
    next: usize,
    ids: Vec<ResourceId>,
    /// Extension points by full name, whether they are declared, and where they are first named.
    points: BTreeMap<String, (SlotId, bool, Place)>,
    parts: usize,
    /// Mistakes of the graph that were reported.
    seen: usize,
}

impl<'e> Reader<'e> {
    pub(super) fn new(graph: Graph, (identity, name): (&str, &str), extras: &'e mut dyn Extras) -> Self {
        Self {
            graph,
            extras,
            phase: Phase::Names,
            files: vec![(identity.to_owned(), name.to_owned())],
            inlines: Vec::new(),
            layers: Layers::default(),
            known: HashMap::new(),
            asked: HashMap::new(),
            orderings: Vec::new(),
            next: 0,
            ids: Vec::new(),
            points: BTreeMap::new(),
            parts: 0,
            seen: 0,
        }
    }

    /// Goes through a part, and through the parts in it.
    pub(super) fn section(&mut self, section: &Section<'_, '_>, scope: &Scope<'_>) {
        match self.phase {
            Phase::Names => self.names(section, scope),
            Phase::Resources => self.resources(section, scope),
            Phase::Passes => {}
        }
        let Some(passes) = section.passes else { return };
        if !section.nested && self.phase != Phase::Passes {
            return;
        }
        passes.elements(" of passes", |_, node| {
            let entry = if section.nested { entry(&node) } else { Entry::Pass };
            match entry {
                Entry::Pass if self.phase == Phase::Passes => self.pass(node, section, scope),
                Entry::Pass => {}
                Entry::Module => self.module(node, section, scope),
                Entry::Extend => self.extend(node, section, scope),
                Entry::Point => self.point(node, section, scope),
                Entry::Include => self.include(node, section, scope),
                Entry::Use => self.instance(node, section, scope),
                Entry::Layer => self.layer(node, section, scope),
            }
            node.source().about_pass(None);
        });
    }

    /// Declares all names: sizes, `modifies` and `history_of` may refer to what comes later.
    fn names(&mut self, section: &Section<'_, '_>, scope: &Scope<'_>) {
        for (list, kind) in [(section.images, " of images by name"), (section.buffers, " of buffers by name")] {
            let Some(node) = list else { continue };
            node.entries(kind, |name, value| {
                if !self.is_declared(&value, name, section, scope) {
                    return;
                }
                let image = kind == " of images by name";
                let nothing = if image { Resource::image(Image::default()) } else { Resource::buffer(0) };
                let _: Option<()> = value.check_name(name);
                let id = self.graph.add_resource(&scope.full(name), nothing, Some(value.place()));
                self.ids.push(id);
                self.declared(&value, self.graph.resources().len(), "images and buffers");
            });
        }
    }

    /// Whether a name is declared here: not if its condition says no, or if it stands for one of the module around it.
    fn is_declared(&self, node: &Node<'_, '_>, name: &str, section: &Section<'_, '_>, scope: &Scope<'_>) -> bool {
        if scope.given.get(name).is_some() {
            return false;
        }
        let mut on = true;
        if node.is_object() && node.json().contains("\"if\"") {
            node.entries("", |key, value| on &= key != "if" || holds(Some(value), section.options));
        }
        on
    }

    fn resources(&mut self, section: &Section<'_, '_>, scope: &Scope<'_>) {
        for (list, image) in [(section.images, true), (section.buffers, false)] {
            let Some(node) = list.filter(Node::is_object) else { continue };
            node.entries("", |name, value| {
                if !self.is_declared(&value, name, section, scope) {
                    return;
                }
                let Some(&id) = self.ids.get(self.next) else { return };
                self.next += 1;
                node.source().about_resource(Some(&scope.full(name)));
                let here = Here { graph: &self.graph, scope };
                let read = if image {
                    let fields = value.fields(&IMAGE);
                    fields.map(|fields| (read_image(&fields, &here), None, file_of(&fields)))
                } else {
                    let fields = value.fields(&BUFFER);
                    fields.map(|fields| {
                        let (buffer, typed) = read_buffer(&fields, &here);
                        (buffer, typed, file_of(&fields))
                    })
                };
                if let Some((mut resource, typed, has_file)) = read {
                    if let Some(typed) = typed {
                        self.extras.typed(id, typed);
                    }
                    if has_file {
                        value.entries("", |key, file| {
                            if key == "file" {
                                self.extras.contents(&file, id, &mut resource);
                            }
                        });
                    }
                    *self.graph.resource_mut(id) = resource;
                }
            });
            node.source().about_resource(None);
        }
    }

    /// Reports the mistakes in declaring `count` of something, right after the last of them. Bad names are reported
    /// before.
    pub(super) fn declared(&mut self, node: &Node<'_, '_>, count: usize, what: &str) {
        let mistakes = self.graph.mistakes();
        for mistake in mistakes.iter().skip(self.seen).filter(|mistake| mistake.code != Code::BadName) {
            node.source().push(mistake.clone());
        }
        self.seen = mistakes.len();
        if count > MOST {
            node.mistake(Code::TooLarge, format_args!("is one of more than {MOST} {what}"), "use fewer");
            node.source().stop();
        }
    }

    /// Declares a pass with its accesses.
    fn pass(&mut self, node: Node<'_, '_>, section: &Section<'_, '_>, scope: &Scope<'_>) {
        let id = PassId::new(self.graph.passes().len());
        let place = Some(node.place());
        let Some(fields) = node.fields(&PASS) else {
            // It keeps its position, so that the passes after it keep theirs.
            self.graph.add_pass(&format!("passes[{}]", id.index()), Pass::new(PassQueue::Graphics), place);
            return;
        };
        if !holds(fields.get("if"), section.options) {
            return;
        }
        let name = fields.get("name").and_then(|name| name.name());
        let shown = name.map_or_else(|| format!("passes[{}]", id.index()), |name| scope.full(&name));
        node.source().about_pass(Some(&shown));
        let pass = self.explicit_pass(&fields, scope);
        self.graph.add_pass(&shown, pass, place.clone());
        self.after(id, &fields, scope);
        if let Some(fallback) = fields.get("fallback") {
            fallback.entries(": {OUTPUT: INPUT}", |output, input| {
                let found = scope.find_resource(&self.graph, output);
                if found.is_none() {
                    input.unknown_name("resource", output, self.graph.resource_names());
                }
                let input = Here { graph: &self.graph, scope }.resource(&input);
                if let (Some(output), Some(input)) = (found, input) {
                    self.graph.fallback(id, output, input);
                }
            });
        }
        if let Some(accesses) = fields.get("accesses") {
            accesses.elements(" of accesses", |_, node| {
                let place = Some(node.place());
                let here = Here { graph: &self.graph, scope };
                if let Some((resource, how)) = access(node, &here, section.options) {
                    self.graph.access(id, resource, &how, place);
                }
            });
        }
        for (resource, how) in self.inherited(&fields, scope) {
            self.graph.access(id, resource, &how, place.clone());
        }
        self.extras.work(&mut self.graph, scope, id, &fields);
        self.declared(&node, self.graph.passes().len(), "passes");
    }

    /// A pass with the fields that the file gives it.
    fn explicit_pass(&mut self, fields: &PassFields<'_, '_>, scope: &Scope<'_>) -> Pass {
        let works_on = ["compute", "build", "instances", "trace"].map(|key| (key, PassQueue::Compute));
        let usual = works_on.iter().find(|(key, _)| fields.get(key).is_some()).map(|(_, queue)| *queue);
        let usual = usual.unwrap_or(PassQueue::Graphics);
        let mut pass = Pass::new(fields.get("queue").and_then(|queue| queue.word()).unwrap_or(usual));
        pass.slot = scope.slot;
        pass.weight_us = fields.get("weight_us").and_then(|weight| weight.number());
        pass.unit = fields.get("unit").and_then(|unit| {
            let name = unit.name()?;
            few(&unit, self.graph.units().len(), "units").map(|()| self.graph.unit(&name))
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
        pass.unordered = fields.flag("unordered");
        pass.setup = fields.flag("setup");
        if let Some(features) = fields.get("needs").and_then(|features| features.joined()) {
            pass.need(&Arc::from(""), features);
        }
        pass.conditional = fields.get("conditional").and_then(|flag| {
            let name = flag.name()?;
            few(&flag, self.graph.flags().len(), "flags").map(|()| self.graph.flag(&name))
        });
        pass
    }

    /// Notes the passes that a pass comes after.
    fn after(&mut self, pass: PassId, fields: &PassFields<'_, '_>, scope: &Scope<'_>) {
        let Some(list) = fields.get("after") else { return };
        list.elements(" of pass names", |_, earlier| {
            let Some(name) = earlier.text() else { return };
            let mut names = Vec::new();
            let mut at = Some(scope);
            while let Some(scope) = at {
                names.push(scope.full(&name));
                at = scope.outer;
            }
            let (place, path) = (earlier.place(), earlier.path());
            self.orderings.push(Ordering { pass, names, place, path });
        });
    }

    /// Resolves what comes after what.
    pub(super) fn orderings(&mut self, source: &Source<'_>) {
        for Ordering { pass, names, place, path } in std::mem::take(&mut self.orderings) {
            let found = names.iter().find_map(|name| self.graph.find_pass(name));
            if let Some(earlier) = found {
                self.graph.order_after(pass, earlier);
                continue;
            }
            let name = names.last().map_or("", String::as_str);
            let help = match source.suggest(name, self.graph.pass_names().iter()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => "declare a pass of that name, or correct it".to_owned(),
            };
            let message = format!("{place}: {path} names pass \"{}\", which nothing declares", shown(name));
            source.push(Mistake::new(Code::UnknownName, message, help).pass(self.graph.pass_name(pass)));
        }
    }

    /// Says which extension points are extended and declared by nothing.
    pub(super) fn undeclared_points(&self, source: &Source<'_>) {
        let declared = || self.points.iter().filter(|(_, (_, declared, _))| *declared).map(|(name, _)| name.as_str());
        for (name, (_, _, place)) in self.points.iter().filter(|(_, (_, declared, _))| !declared) {
            let help = match nearest(name, declared()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => "declare it: {\"extension_point\": NAME} among the passes".to_owned(),
            };
            let message = format!("{place}: extension point \"{}\" is extended, but nothing declares it", shown(name));
            source.push(Mistake::new(Code::UnknownName, message, help));
        }
    }

    /// The roots that a part names.
    pub(super) fn roots(&mut self, section: &Section<'_, '_>, scope: &Scope<'_>) {
        let Some(roots) = section.roots else { return };
        roots.elements(" of resource names", |_, node| {
            let here = Here { graph: &self.graph, scope };
            let found = if node.is_object() {
                let Some(fields) = node.fields(&ROOT) else { return };
                let on = holds(fields.get("if"), section.options);
                fields.get("resource").filter(|_| on).and_then(|name| here.resource(&name))
            } else {
                here.resource(&node)
            };
            if let Some(resource) = found {
                self.graph.root(resource);
            }
        });
    }

    fn module(&mut self, node: Node<'_, '_>, section: &Section<'_, '_>, scope: &Scope<'_>) {
        let Some(fields) = node.fields(&MODULE) else { return };
        if !holds(fields.get("if"), section.options) || !self.may(&node) {
            return;
        }
        let Some(name) = fields.get("module").and_then(|name| name.name()) else { return };
        let inner = Scope {
            prefix: scope.full(&format!("{name}/")),
            outer: Some(scope),
            given: Rc::default(),
            slot: scope.slot,
            layer: None,
        };
        self.block(&fields, section, &inner);
    }

    /// The resources, passes and roots of a module or an extension.
    fn block<const N: usize>(&mut self, fields: &Fields<'_, '_, N>, section: &Section<'_, '_>, scope: &Scope<'_>) {
        let inner = Section {
            images: fields.get("images"),
            buffers: fields.get("buffers"),
            passes: fields.get("passes"),
            roots: fields.get("roots"),
            options: section.options,
            nested: true,
        };
        self.section(&inner, scope);
        if self.phase == Phase::Passes {
            self.roots(&inner, scope);
        }
    }

    fn extend(&mut self, node: Node<'_, '_>, section: &Section<'_, '_>, scope: &Scope<'_>) {
        let Some(fields) = node.fields(&EXTENSION) else { return };
        if !holds(fields.get("if"), section.options) || !self.may(&node) {
            return;
        }
        let Some(name) = fields.get("extend").and_then(|name| name.name()) else { return };
        let key = fields.get("key");
        if fields.get("behind").is_some() && key.is_none() {
            return node.mistake(
                Code::BadFile,
                "has \"behind\" without \"key\"",
                "add its place in the layer: \"key\": 0",
            );
        }
        if let Some(key) = key {
            return self.extend_layer(&node, (&fields, &key), &name, section, scope);
        }
        let mut slot = scope.slot;
        if self.phase == Phase::Passes {
            let known = scope.find(&name, |full| self.points.get(full).map(|(slot, ..)| *slot));
            slot = Some(known.unwrap_or_else(|| {
                let slot = self.graph.add_slot(&name, None);
                self.points.insert(name.to_string(), (slot, false, node.place()));
                slot
            }));
        }
        self.block(&fields, section, &same_names(scope, slot, None));
    }

    /// An extension of a layer: what stands behind its passes, and the passes, which draw to the layer's attachments.
    fn extend_layer(
        &mut self,
        node: &Node<'_, '_>,
        (fields, key): (&Fields<'_, '_, { EXTENSION.keys.len() }>, &Node<'_, '_>),
        name: &str,
        section: &Section<'_, '_>,
        scope: &Scope<'_>,
    ) {
        let mut slots = [scope.slot; 2];
        let mut layer = None;
        if self.phase == Phase::Passes {
            let Some(key) = key.u64() else { return };
            let Some(found) = self.keyed(node, name, key, scope) else { return };
            (slots, layer) = (found.map(Some), self.layer_of(name, scope));
        }
        let [behind, drawn] = slots;
        self.block(fields, section, &same_names(scope, drawn, layer));
        if let Some(passes) = fields.get("behind") {
            let inner = Section { images: None, buffers: None, passes: Some(passes), roots: None, ..*section };
            self.section(&Section { nested: true, ..inner }, &same_names(scope, behind, None));
        }
    }

    fn point(&mut self, node: Node<'_, '_>, section: &Section<'_, '_>, scope: &Scope<'_>) {
        let Some(fields) = node.fields(&POINT) else { return };
        if !holds(fields.get("if"), section.options) || self.phase != Phase::Passes {
            return;
        }
        let Some(name) = fields.get("extension_point").and_then(|name| name.name()) else { return };
        let full = scope.full(&name);
        match self.points.get(&full) {
            Some((_, true, first)) => {
                let problem =
                    format!("is the second extension point called \"{}\"; {first} is the first", shown(&full));
                node.mistake(Code::DuplicateName, problem, "rename one of them");
            }
            Some((slot, false, _)) => {
                let slot = *slot;
                if self.graph.place_slot(slot, scope.slot) {
                    self.points.insert(full, (slot, true, node.place()));
                } else {
                    let help = "declare it outside of what extends it";
                    node.mistake(Code::Cycle, "is an extension point inside itself", help);
                }
            }
            None => {
                let slot = self.graph.add_slot(&full, scope.slot);
                self.points.insert(full, (slot, true, node.place()));
            }
        }
    }

    /// Whether there may be one more part.
    pub(super) fn may(&mut self, node: &Node<'_, '_>) -> bool {
        self.parts += usize::from(self.phase == Phase::Names);
        if self.parts > MOST_PARTS {
            let problem = format!("is one of more than {MOST_PARTS} modules and includes");
            node.mistake(Code::TooLarge, problem, "include fewer");
            node.source().stop();
            return false;
        }
        true
    }
}

/// A scope with the names of another, for passes that stand elsewhere.
fn same_names<'o>(scope: &Scope<'o>, slot: Option<SlotId>, layer: Option<String>) -> Scope<'o> {
    Scope { prefix: scope.prefix.clone(), outer: scope.outer, given: Rc::clone(&scope.given), slot, layer }
}

fn file_of<const N: usize>(fields: &Fields<'_, '_, N>) -> bool {
    fields.get("file").is_some()
}

/// What the first of an entry's keys that decides says that it is.
fn entry(node: &Node<'_, '_>) -> Entry {
    let mut entry = Entry::Pass;
    if node.is_object() {
        node.entries_while("", |key, _| {
            entry = match key {
                "module" => Entry::Module,
                "extend" => Entry::Extend,
                "extension_point" => Entry::Point,
                "include" => Entry::Include,
                "use" => Entry::Use,
                "layer" => Entry::Layer,
                _ => return key != "name",
            };
            false
        });
    }
    entry
}

/// Flags and occupancy classes are found by looking at all of them, so there may not be many.
fn few(node: &Node<'_, '_>, count: usize, what: &str) -> Option<()> {
    if count > MOST_WORDS {
        node.mistake(Code::TooLarge, format_args!("is one of more than {MOST_WORDS} {what}"), "use fewer");
        return None;
    }
    Some(())
}
