//! Files that a graph file includes, as modules of it.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::extras::Included;
use super::inline;
use super::keys::{GRAPH, INCLUDE};
use super::options::{DEEPEST, Settings, holds, own_options, with};
use super::scope::{Given, Here, Scope};
use super::section::{Phase, Reader, Section};
use crate::json::{Fields, Node, Source};
use rgraph_ir::error::{Code, Mistake};
use rgraph_ir::nearest::nearest;

impl Reader<'_> {
    pub(super) fn include(&mut self, node: Node<'_, '_>, section: &Section<'_, '_>, scope: &Scope<'_>) {
        let Some(fields) = node.fields(&INCLUDE) else { return };
        if !holds(fields.get("if"), section.options) || !self.may(&node) {
            return;
        }
        let Some(name) = fields.get("include") else { return };
        let Some(file) = name.name() else { return };
        let Some(included) = self.opened(&name, &file) else { return };
        if let Some(first) = self.files.iter().position(|(identity, _)| *identity == included.identity) {
            let chain = self.files[first..].iter().map(|(_, name)| name.as_str()).chain([included.name.as_str()]);
            let problem = format!("includes itself: {}", chain.collect::<Vec<_>>().join(" → "));
            return name.mistake(Code::Cycle, problem, "take one of these includes out");
        }
        if self.files.len() >= DEEPEST {
            let problem = format!("is included more than {DEEPEST} files deep");
            return name.mistake(Code::TooLarge, problem, "include fewer files in each other");
        }
        let stem = file.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or("").to_owned();
        let prefix = fields.get("as").map_or(Some(stem), |name| name.name().map(|name| name.into_owned()));
        let Some(prefix) = prefix.filter(|prefix| !prefix.is_empty()) else {
            return name.mistake(Code::BadName, "has no name of its own", "name the module: \"as\": \"…\"");
        };
        let inner = Scope {
            prefix: scope.full(&format!("{prefix}/")),
            outer: Some(scope),
            given: Rc::new(Given::new(self.given(fields.get("resources"), scope))),
            slot: scope.slot,
            layer: None,
        };
        let settings = with(fields.get("with"));
        self.files.push((included.identity.clone(), included.name.clone()));
        let done = self.file(&included, &settings, &inner);
        self.files.pop();
        self.done(done, &node, &fields, &inner);
    }

    /// Notes what is wrong with an include or an instance: in it, with its options, and with names of its resources.
    pub(super) fn done<const KEYS: usize>(
        &mut self,
        done: Result<Vec<Mistake>, Box<Mistake>>,
        node: &Node<'_, '_>,
        fields: &Fields<'_, '_, KEYS>,
        inner: &Scope<'_>,
    ) {
        match done {
            Ok(mistakes) if mistakes.is_empty() => self.unasked(fields.get("resources"), inner),
            Ok(mistakes) => mistakes.into_iter().for_each(|mistake| node.source().push(mistake)),
            Err(mistake) => fields.get("with").unwrap_or(*node).mistake(mistake.code, mistake.message, mistake.help),
        }
    }

    /// Notes names of `resources` that the part neither declares nor asks for, once all of it was read.
    fn unasked(&mut self, node: Option<Node<'_, '_>>, inner: &Scope<'_>) {
        let Some(node) = node else { return };
        let asked = self.asked.entry(inner.prefix.clone()).or_default();
        asked.extend(inner.given.asked());
        if self.phase != Phase::Passes {
            return;
        }
        let own = self.graph.resource_names().iter().filter_map(|name| name.strip_prefix(inner.prefix.as_str()));
        let known: Vec<&str> = own.chain(asked.iter().map(String::as_str)).collect();
        node.entries(": {NAME THERE: NAME HERE}", |name, value| {
            if !asked.contains(name) {
                let help = match nearest(name, known.iter().copied()) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => "name an image or buffer that it declares".to_owned(),
                };
                value.mistake(Code::UnknownName, format!("replaces \"{name}\", which is not in there"), help);
            }
        });
    }

    /// The bytes of an included file, read once.
    fn opened(&mut self, node: &Node<'_, '_>, file: &str) -> Option<Included> {
        let from = &self.files[self.files.len() - 1].0;
        let key = format!("{from}\n{file}");
        if let Some(known) = self.known.get(&key) {
            return Some(known.clone());
        }
        match self.extras.include(file) {
            Ok(included) => {
                self.known.insert(key, included.clone());
                Some(included)
            }
            Err((problem, help)) => {
                node.mistake(Code::BadFile, problem, help);
                None
            }
        }
    }

    /// The resources that names of an included file stand for.
    pub(super) fn given(&self, node: Option<Node<'_, '_>>, scope: &Scope<'_>) -> HashMap<String, String> {
        let mut given = HashMap::new();
        if let Some(node) = node.filter(|_| self.phase != Phase::Names || node.is_some()) {
            node.entries(": {NAME THERE: NAME HERE}", |inner, outer| {
                let full = match self.phase {
                    // Not all names are known yet; that it is one of the module around it is enough.
                    Phase::Names => outer.text().map(|name| scope.full(&name)),
                    _ => {
                        let here = Here { graph: &self.graph, scope };
                        here.resource(&outer).map(|id| self.graph.resource_name(id).to_owned())
                    }
                };
                given.insert(inner.to_owned(), full.unwrap_or_default());
            });
        }
        given
    }

    /// Goes through an included file; what is wrong with it, or with the options that it is given.
    fn file(&mut self, file: &Included, settings: &Settings, scope: &Scope<'_>) -> Result<Vec<Mistake>, Box<Mistake>> {
        let bytes: Arc<[u8]> = Arc::clone(&file.bytes);
        let mut source = match Source::open(&bytes, &file.name) {
            Ok(source) => source,
            Err(error) => return Ok(error.mistakes().to_vec()),
        };
        if source.root().version("rgraph", "a graph").is_none() {
            return Ok(source.take_mistakes());
        }
        let Some(options) = own_options(&source, settings)? else { return Ok(source.take_mistakes()) };
        source.set_options(options.iter().map(|(name, value)| (name.clone(), value.json())).collect());
        let found = source.count();
        if let Some(fields) = source.root().fields(&GRAPH) {
            source.forget_repeated(found);
            self.extras.enter(&file.identity, &fields, self.phase == Phase::Passes);
            self.inlines.push(inline::declared(&fields, &file.identity));
            self.section(&Section::of_file(&fields, &options), scope);
            self.inlines.pop();
            self.extras.leave();
        }
        Ok(source.take_mistakes())
    }
}
