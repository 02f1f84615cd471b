//! Layers: a pass that is opened by name with its attachments, among other layers by its order. Extensions with a key
//! add passes to it from anywhere; they draw to its attachments, lower keys first.

use std::collections::HashMap;

use super::access::access;
use super::keys::{LAYER, PassFields};
use super::options::holds;
use super::scope::{Here, Scope};
use super::section::{Phase, Reader, Section};
use crate::json::{Fields, Node, shown};
use rgraph_ir::access::{PassQueue, Usage};
use rgraph_ir::error::Code;
use rgraph_ir::graph::{Graph, Pass, SlotId, Use};
use rgraph_ir::resource::ResourceId;

/// Where the parts of a layer stand within it.
const OPENING: u32 = 0;
const KEYS: u32 = 1;
/// Where those of one key stand.
const BEHIND: u32 = 0;
const DRAWN: u32 = 1;

/// A layer of the graph that is being read.
struct Layer {
    slot: Option<SlotId>,
    /// Its attachments, as passes that are added to it use them.
    targets: Vec<(ResourceId, Use)>,
}

/// Layers and their places.
#[derive(Default)]
pub(super) struct Layers {
    by_name: HashMap<String, Layer>,
    /// The place of all layers of a module, extension or file.
    groups: HashMap<Option<SlotId>, SlotId>,
    keyed: HashMap<(SlotId, u32), SlotId>,
}

impl Layers {
    fn at(&mut self, graph: &mut Graph, parent: SlotId, at: u32) -> SlotId {
        *self.keyed.entry((parent, at)).or_insert_with(|| graph.add_slot_at("", parent, at))
    }

    /// The place of a layer, which may not have been opened yet.
    fn place(&mut self, graph: &mut Graph, name: &str) -> Option<SlotId> {
        let layer = self.by_name.get_mut(name)?;
        Some(*layer.slot.get_or_insert_with(|| graph.add_slot(name, None)))
    }
}

fn attaches(usage: Usage) -> bool {
    matches!(usage, Usage::ColorAttachment | Usage::DepthStencilAttachment | Usage::DepthStencilRead)
}

impl Reader<'_> {
    /// Opens a layer.
    pub(super) fn layer(&mut self, node: Node<'_, '_>, section: &Section<'_, '_>, scope: &Scope<'_>) {
        let Some(fields) = node.fields(&LAYER) else { return };
        if !holds(fields.get("if"), section.options) || self.phase == Phase::Names {
            return;
        }
        let Some(name) = fields.get("layer").and_then(|name| name.name()) else { return };
        let full = scope.full(&name);
        let order = fields.get("order").map_or(Some(0), |order| order.u32()).unwrap_or(0);
        if self.phase == Phase::Resources {
            return self.targets(node, &fields, (full, scope), section);
        }
        let group = *self.layers.groups.entry(scope.slot).or_insert_with(|| self.graph.add_group(scope.slot));
        let parent = self.layers.at(&mut self.graph, group, order);
        let Some(slot) = self.layers.place(&mut self.graph, &full) else { return };
        if !self.graph.place_slot(slot, Some(parent)) {
            return node.mistake(Code::Cycle, "is a layer inside itself", "open it outside of what extends it");
        }
        let opening = self.layers.at(&mut self.graph, slot, OPENING);
        let pass = Pass { slot: Some(opening), ..Pass::new(PassQueue::Graphics) };
        let id = self.graph.add_pass(&full, pass, Some(node.place()));
        if let Some(accesses) = fields.peek("accesses") {
            accesses.elements(" of accesses", |_, node| {
                let here = Here { graph: &self.graph, scope };
                if let Some((resource, how)) = access(node, &here, section.options) {
                    self.graph.access(id, resource, &how, Some(node.place()));
                }
            });
        }
        self.declared(&node, self.graph.passes().len(), "passes");
    }

    /// Notes the attachments of a layer: what adds to it may stand before it in the file.
    fn targets(
        &mut self,
        node: Node<'_, '_>,
        fields: &Fields<'_, '_, { LAYER.keys.len() }>,
        (full, scope): (String, &Scope<'_>),
        section: &Section<'_, '_>,
    ) {
        if self.layers.by_name.contains_key(&full) {
            let problem = format!("is the second layer called \"{}\"", shown(&full));
            return node.mistake(Code::DuplicateName, problem, "rename one of them");
        }
        let mut targets = Vec::new();
        if let Some(accesses) = fields.get("accesses") {
            accesses.elements(" of accesses", |_, node| {
                let here = Here { graph: &self.graph, scope };
                let found = access(node, &here, section.options).filter(|(_, how)| attaches(how.usage));
                targets.extend(found.map(|(resource, how)| {
                    let kept =
                        Use { stages: how.stages, ranges: how.ranges, aspects: how.aspects, ..Use::new(how.usage) };
                    (resource, kept)
                }));
            });
        }
        self.layers.by_name.insert(full, Layer { slot: None, targets });
    }

    /// The places of an extension of a layer by key: what stands behind its passes, and the passes.
    pub(super) fn keyed(
        &mut self,
        node: &Node<'_, '_>,
        name: &str,
        key: u64,
        scope: &Scope<'_>,
    ) -> Option<[SlotId; 2]> {
        let Self { graph, layers, .. } = self;
        let full = scope.find(name, |full| layers.by_name.contains_key(full).then(|| full.to_owned()));
        let Some(full) = full else {
            let known: Vec<&str> = layers.by_name.keys().map(String::as_str).collect();
            let help = match node.source().suggest(name, known.into_iter()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => "open it: {\"layer\": NAME, \"accesses\": […]} among the passes".to_owned(),
            };
            let problem = format!("extends layer \"{}\", which nothing opens", shown(name));
            node.mistake(Code::UnknownName, problem, help);
            return None;
        };
        let layer = layers.place(graph, &full)?;
        let mut slot = layers.at(graph, layer, KEYS);
        for word in [(key >> 32) as u32, key as u32] {
            slot = layers.at(graph, slot, word);
        }
        Some([layers.at(graph, slot, BEHIND), layers.at(graph, slot, DRAWN)])
    }

    /// The full name of the layer that an extension adds to.
    pub(super) fn layer_of(&self, name: &str, scope: &Scope<'_>) -> Option<String> {
        scope.find(name, |full| self.layers.by_name.contains_key(full).then(|| full.to_owned()))
    }

    /// The attachments that a pass has because it is added to a layer and names none itself.
    pub(super) fn inherited(&self, fields: &PassFields<'_, '_>, scope: &Scope<'_>) -> Vec<(ResourceId, Use)> {
        let Some(layer) = scope.layer.as_ref().and_then(|name| self.layers.by_name.get(name)) else {
            return Vec::new();
        };
        let mut draws = fields.get("raster").is_some_and(|node| is_without_color(&node));
        if let Some(steps) = fields.get("steps").filter(Node::is_list) {
            steps.elements("", |_, step| {
                if step.is_object() {
                    step.entries("", |key, node| draws |= key == "raster" && is_without_color(&node));
                }
            });
        }
        if draws { layer.targets.clone() } else { Vec::new() }
    }
}

fn is_without_color(node: &Node<'_, '_>) -> bool {
    let mut has = false;
    if node.is_object() {
        node.entries("", |key, _| has |= key == "color" || key == "depth");
    }
    !has
}
